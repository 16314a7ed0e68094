"""The wheeled rover as it comes, heavier, and with a blade: URDF files made from the shipped one."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from sandlot.robots.rover import BODIES

LOAD = 4.0
"""Mass that the heavy rover carries [kg]; without it, it has 2 kg."""
BLADE = (0.01, 0.23, 0.04)
"""Length, width and height of the blade [m]."""
BLADE_AT = (0.15, 0.0, -0.031)
"""Its middle, from that of the body [m]. Its edge is level with the lowest point of the wheels."""
BLADE_MASS = 0.1
"""[kg]"""
KINDS = ("plain", "heavy", "blade")


def make_body(kind: str, folder: Path) -> str:
    """Write a rover of one of the kinds into a folder; returns what ``rovers`` of the terrain world takes."""
    if kind == "plain":
        return "wheeled"
    tree = ElementTree.parse(BODIES / "wheeled.urdf")
    robot = tree.getroot()
    if kind == "heavy":
        mass = robot.find("link[@name='Body']/inertial/mass")
        assert mass is not None
        mass.set("value", str(float(mass.get("value", "0")) + LOAD))
    else:
        _add_blade(robot)
    tree.write(folder / f"{kind}.urdf")
    file = folder / f"{kind}.toml"
    file.write_text(f'urdf = "{kind}.urdf"\n', encoding="utf-8")
    return str(file)


def _add_blade(robot: ElementTree.Element) -> None:
    """Fix a plate to the front of the body."""
    link = ElementTree.SubElement(robot, "link", name="Blade")
    for part in ("visual", "collision"):
        shape = ElementTree.SubElement(ElementTree.SubElement(link, part), "geometry")
        ElementTree.SubElement(shape, "box", size=" ".join(map(str, BLADE)))
    inertial = ElementTree.SubElement(link, "inertial")
    ElementTree.SubElement(inertial, "mass", value=str(BLADE_MASS))
    x, y, z = (BLADE_MASS / 12.0 * side**2 for side in BLADE)
    moments = {"ixx": y + z, "iyy": x + z, "izz": x + y, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}
    ElementTree.SubElement(inertial, "inertia", {name: f"{value:.6g}" for name, value in moments.items()})
    joint = ElementTree.SubElement(robot, "joint", name="blade_mount", type="fixed")
    ElementTree.SubElement(joint, "origin", xyz=" ".join(map(str, BLADE_AT)))
    ElementTree.SubElement(joint, "parent", link="Body")
    ElementTree.SubElement(joint, "child", link="Blade")
