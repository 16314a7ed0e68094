"""URDF text of robots of several kinds, from published masses and dimensions, for the tests of rovers."""


def body(name, size, mass, centre="0 0 0", inner=""):
    """A link that is a box of even density; its inertia is that of a box."""
    x, y, z = size
    moments = [mass / 12.0 * each for each in (y * y + z * z, x * x + z * z, x * x + y * y)]
    origin = f'<origin xyz="{centre}"/>'
    return (
        f'<link name="{name}">{inner}<collision>{origin}<geometry><box size="{x} {y} {z}"/></geometry></collision>'
        f"{_inertial(mass, moments, origin)}</link>"
    )


def wheel(name, radius, width, mass, inner=""):
    """A link that is a cylinder along y, with the inertia of an even one."""
    across = mass * (3.0 * radius**2 + width**2) / 12.0
    return (
        f'<link name="{name}">{inner}<collision><origin rpy="1.5707963267948966 0 0"/><geometry>'
        f'<cylinder radius="{radius}" length="{width}"/></geometry></collision>'
        f"{_inertial(mass, (across, 0.5 * mass * radius**2, across))}</link>"
    )


def bracket(name, mass=0.2):
    """A link without shapes."""
    return f'<link name="{name}">{_inertial(mass, [1e-3 * mass] * 3)}</link>'


def _inertial(mass, moments, origin=""):
    keys = " ".join(f'{key}="{value:.9g}"' for key, value in zip(("ixx", "iyy", "izz"), moments, strict=True))
    return f'<inertial>{origin}<mass value="{mass}"/><inertia {keys}/></inertial>'


def joint(name, kind, parent, child, xyz="0 0 0", axis="0 1 0", limit=""):
    """A joint; ``limit`` are the attributes of its <limit>, if it has one."""
    limits = f"<limit {limit}/>" if limit else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        f'<axis xyz="{axis}"/>{limits}</joint>'
    )


def four_wheels(size, mass, centre, radius, width, wheel_mass, wheelbase, track, limit=""):
    """A chassis whose origin is at the height of the axles, and a driven wheel at each corner."""
    parts = [body("base_link", size, mass, centre)]
    for place, x, y in corners(wheelbase, track):
        parts.append(wheel(f"{place}_wheel", radius, width, wheel_mass))
        parts.append(joint(f"{place}_joint", "continuous", "base_link", f"{place}_wheel", f"{x} {y} 0", limit=limit))
    return robot(*parts)


def corners(wheelbase, track):
    """Name, x and y [m] of each corner."""
    x, y = 0.5 * wheelbase, 0.5 * track
    return ("front_left", x, y), ("rear_left", -x, y), ("front_right", x, -y), ("rear_right", -x, -y)


def robot(*parts):
    """The whole text."""
    return '<robot name="r">' + "".join(parts) + "</robot>"


FOUR = {
    "chassis": "base_link",
    "left": ("front_left_wheel", "rear_left_wheel"),
    "right": ("front_right_wheel", "rear_right_wheel"),
}
"""Settings of a robot with a wheel at each corner."""

HUSKY = four_wheels((0.96, 0.4, 0.24), 40.0, "0 0 0.08", 0.165, 0.114, 2.5, 0.512, 0.57)
"""A Clearpath Husky A200: 50 kg, wheels of 330 mm, wheelbase 512 mm, track 570 mm, 1 m/s. Guessed: mass of wheels."""
HUSKY_SPEED = 1.0 / 0.165
"""Of its motors, at the wheel [rad/s]."""

JACKAL = four_wheels((0.42, 0.31, 0.18), 15.0, "0 0 0.06", 0.098, 0.04, 0.5, 0.262, 0.376, 'effort="6" velocity="20.4"')
"""A Clearpath Jackal: 17 kg, wheels of 196 mm, wheelbase 262 mm, track 376 mm, 2 m/s. Guessed: torque, wheels' mass."""

TURTLEBOT = robot(
    body("base_link", (0.13, 0.12, 0.1), 0.9, "-0.03 0 0.05"),
    *(wheel(f"{side}_wheel", 0.033, 0.018, 0.03) for side in ("left", "right")),
    joint("left_joint", "continuous", "base_link", "left_wheel", "0 0.08 0"),
    joint("right_joint", "continuous", "base_link", "right_wheel", "0 -0.08 0"),
    bracket("fork", 0.01),
    joint("swivel", "continuous", "base_link", "fork", "-0.09 0 -0.01", "0 0 1"),
    wheel("caster", 0.015, 0.01, 0.01),
    joint("caster_axle", "continuous", "fork", "caster", "-0.012 0 -0.008"),
)
"""Of the size of a TurtleBot3 Burger: 1 kg, wheels of 66 mm, 160 mm apart, and a caster with 12 mm trail."""
TWO = {"chassis": "base_link", "left": ("left_wheel",), "right": ("right_wheel",)}
"""Settings of a robot with a wheel on each side."""


def steered(steer, wheelbase=0.36, track=0.3, trail=0.0, limit='lower="-0.6" upper="0.6" effort="3" velocity="5"'):
    """A car of 4.4 kg with wheels of 110 mm; the wheels at the corners in ``steer`` hang on joints that steer them."""
    parts = [body("base_link", (0.4, 0.2, 0.08), 3.0, "0 0 0.04")]
    for place, x, y in corners(wheelbase, track):
        above, at = "base_link", f"{x} {y} 0"
        if place in steer:
            above, hub = f"{place}_hub", f"{at}"
            parts += [
                bracket(above, 0.1),
                joint(f"{place}_steering", "revolute", "base_link", above, hub, "0 0 1", limit),
            ]
            at = f"{-trail} 0 0"
        parts.append(wheel(f"{place}_wheel", 0.055, 0.04, 0.3))
        parts.append(joint(f"{place}_joint", "continuous", above, f"{place}_wheel", at))
    return robot(*parts)


FRONT = ("front_left", "front_right")
ALL = ("front_left", "rear_left", "front_right", "rear_right")


def suspended(kind="prismatic"):
    """A Husky whose wheels hang on slides along z."""
    parts = [body("base_link", (0.96, 0.4, 0.24), 36.0, "0 0 0.08")]
    for place, x, y in corners(0.512, 0.57):
        parts += [bracket(f"{place}_arm", 1.0), wheel(f"{place}_wheel", 0.165, 0.114, 2.5)]
        limit = 'lower="-0.05" upper="0.05" effort="500" velocity="1"'
        parts.append(joint(f"{place}_slide", kind, "base_link", f"{place}_arm", f"{x} {y} 0", "0 0 1", limit))
        parts.append(joint(f"{place}_joint", "continuous", f"{place}_arm", f"{place}_wheel"))
    return robot(*parts)
