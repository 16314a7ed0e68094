"""Makes the pictures of ``docs/images`` that the README and the guides show: ``python docs/pictures.py [NAME ...]``.

Each is made of pictures of studies at full size, or by an example. `docs/house.py` makes the one of the house.
"""

import io
import itertools
import subprocess
import sys
from pathlib import Path

import xarray as xr
from PIL import Image

from sandlot.studies import find

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
OF_STUDIES: dict[str, tuple[tuple[str, int], ...]] = {
    "climbing": (("obstacles.stuck", 0), ("obstacles.stuck", 1)),
    "leveling": (("leveling.probabilities", 0),),
    "maps": (("indoor.logs", 0), ("indoor.logs", 1)),
    "sensor-models": (("indoor.arena", 0), ("indoor.arena", 2)),
    "terrain": (("terrain.drive", 0), ("terrain.particles", 0)),
    "water": (("water.deliver", 0),),
}
"""Pictures of studies, one below the other: the study, and which of its pictures."""
FEW_COLOURS = {"maps"}
"""Pictures that are much smaller with a palette, and look the same."""
OF_EXAMPLES = {
    "walking": "examples/walking.py",
    "endless": "examples/endless.py",
    "ruts": "examples/ruts.py",
    "your_robot": "examples/your_robot.py",
}


def draw(name: str) -> None:
    """Make a picture."""
    if name in OF_EXAMPLES:
        # In a process of its own: MuJoCo chooses what it draws with when it is imported.
        subprocess.run([sys.executable, DOCS / OF_EXAMPLES[name]], cwd=IMAGES, check=True)
        return
    parts = [picture_of(study, number) for study, number in OF_STUDIES[name]]
    wide = max(part.width for part in parts)
    whole, top = Image.new("RGB", (wide, sum(part.height for part in parts)), "white"), 0
    for part in parts:
        whole.paste(part, ((wide - part.width) // 2, top))
        top += part.height
    if name in FEW_COLOURS:
        whole = whole.quantize(32)
    whole.save(IMAGES / f"{name}.png", optimize=True)


def picture_of(study: str, number: int) -> Image.Image:
    """One of the pictures of a study; it does not depend on results."""
    (picture,) = itertools.islice(find(study)().scenes(xr.Dataset()), number, number + 1)
    file = io.BytesIO()
    picture.figure.savefig(file, format="png", dpi=100, bbox_inches="tight")
    return Image.open(file).convert("RGB")


def main() -> None:
    """Make all pictures, or those that are named on the command line."""
    for name in sys.argv[1:] or [*OF_STUDIES, *OF_EXAMPLES]:
        draw(name)


if __name__ == "__main__":
    main()
