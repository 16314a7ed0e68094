"""Recognizes xacro, the macro language in which many URDF files are written, and says how to write them out."""

import re
import xml.etree.ElementTree as ET

from sandlot.errors import RobotError, quote

_EXPRESSION = re.compile(r"\$[{(]")


def check_macros(text: str, file: str) -> None:
    """Refuse text with tags such as ``<xacro:include>``.

    Raises:
        RobotError: One line that names the first of them.
    """
    if tag := re.search(r"<(xacro:\w+)", text):
        raise RobotError(f"{file}: <{tag[1]}> is xacro, {_advice(file)}")


def check_written_out(robot: ET.Element, file: str) -> None:
    """Refuse macros, and expressions such as ``${radius}`` in links and joints.

    Raises:
        RobotError: One line that names the first of them.
    """
    for element in robot:
        if "xacro}" in element.tag:
            raise RobotError(f"{file}: <xacro:{element.tag.rpartition('}')[2]}> is xacro, {_advice(file)}")
        if element.tag not in ("link", "joint"):
            continue
        for part in element.iter():
            for key, value in part.items():
                if _EXPRESSION.search(value):
                    where = f'{element.tag} "{quote(element.get("name", ""))}"'
                    raise RobotError(f'{file}: {where}: <{part.tag} {key}="{quote(value)}"> is xacro, {_advice(file)}')


def _advice(file: str) -> str:
    stem = re.sub(r"(\.urdf|\.xacro)+$", "", file)
    return f"which is not read; write it out first: xacro {file} > {stem}.plain.urdf"
