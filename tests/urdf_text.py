"""Pieces of URDF, for the tests of its readers."""


def robot(*parts):
    return "<robot name='r'>" + "".join(parts) + "</robot>"


def link(name="a", inner=""):
    return f"<link name='{name}'>{inner}</link>"


def collision(geometry, origin=""):
    return f"<collision>{origin}<geometry>{geometry}</geometry></collision>"


def joint(name="j", parent="a", child="b", kind="fixed", inner=""):
    return f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>{inner}</joint>"


def inertial(mass="1", moments=("1", "1", "1"), inner=""):
    keys = " ".join(f"{key}='{value}'" for key, value in zip(("ixx", "iyy", "izz"), moments, strict=True))
    return f"<inertial>{inner}<mass value='{mass}'/><inertia {keys}/></inertial>"
