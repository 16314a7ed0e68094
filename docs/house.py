"""Draws the house from the imports: which room uses which, as `docs/images/house.svg`. Run it after adding an import.

Rooms are in the order of the layers of `pyproject.toml` (import-linter). Since a room imports only from rooms below it,
every dot lies to the right of the diagonal.
"""

import html
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/sandlot"
IMAGE = Path(__file__).parent / "images/house.svg"
IMPORT = re.compile(r"^[ \t]*(?:from|import) sandlot\.(\w+)", re.MULTILINE)
CELL, NAME, ABOUT, HEAD = 30, 120, 490, 96
"""Of the picture: side of a cell, width of a room's name and of what it is for, height of the heading [pixel]."""


def layers() -> list[list[str]]:
    """Rooms from top to bottom, as import-linter knows them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    rows = [re.findall(r"sandlot\.(\w+)", layer) for layer in contract["layers"]]
    return [row for row in rows if row]


def imports() -> dict[str, set[str]]:
    """The rooms that each room imports."""
    found: dict[str, set[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        found.setdefault(room, set()).update(IMPORT.findall(file.read_text(encoding="utf-8")))
    return {room: used - {room} for room, used in found.items() if room != "__init__"}


def about(room: str) -> str:
    """The first sentence of a room's docstring."""
    file = PACKAGE / f"{room}.py"
    text = (file if file.is_file() else PACKAGE / room / "__init__.py").read_text(encoding="utf-8")
    return html.escape(text.split('"""')[1].split("\n")[0].split(". ")[0].rstrip(".").replace("`", ""))


def draw() -> str:
    """The picture as SVG: a row for each room, a dot in the column of each room that it imports."""
    rows, used = layers(), imports()
    rooms = [room for row in rows for room in row]
    left = NAME + ABOUT
    wide, tall = left + CELL * len(rooms) + 40, HEAD + CELL * len(rooms) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="14">',
        f'<rect width="{wide}" height="{tall}" fill="#fbfaf7"/>',
    ]
    top = HEAD
    for k, row in enumerate(rows):
        shade = "#f1eee6" if k % 2 else "#fbfaf7"
        parts.append(f'<rect y="{top}" width="{wide}" height="{CELL * len(row)}" fill="{shade}"/>')
        top += CELL * len(row)
    for k, room in enumerate(rooms):
        x, y = left + CELL * (k + 0.5), HEAD + CELL * (k + 0.5)
        parts.append(f'<text x="10" y="{y + 5:.0f}" font-weight="bold" fill="#222">{room}</text>')
        parts.append(f'<text x="{NAME}" y="{y + 5:.0f}" font-size="12" fill="#555">{about(room)}</text>')
        turned = f'transform="translate({x + 5:.0f} {HEAD - 8}) rotate(-55)"'
        parts.append(f'<text {turned} fill="#222">{room}</text>')
        parts.append(f'<rect x="{x - 6:.0f}" y="{y - 6:.0f}" width="12" height="12" fill="#d8d2c4"/>')
        for m, other in enumerate(rooms):
            if other in used.get(room, set()):
                at = left + CELL * (m + 0.5)
                parts.append(
                    f'<circle cx="{at:.0f}" cy="{y:.0f}" r="6" fill="#4a6fa5">'
                    f"<title>{room} imports {other}</title></circle>"
                )
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    IMAGE.write_text(draw(), encoding="utf-8")
    sys.stdout.write(f"{IMAGE}\n")
