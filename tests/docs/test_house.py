"""The picture of the house shows the imports as they are."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_picture_is_up_to_date():
    drawn = runpy.run_path(str(DOCS / "house.py"))["draw"]()
    kept = (DOCS / "images/house.svg").read_text(encoding="utf-8")
    assert drawn == kept, "run: python docs/house.py"


def test_every_room_is_in_a_layer():
    house = runpy.run_path(str(DOCS / "house.py"))
    assert set(house["imports"]()) == {room for row in house["layers"]() for room in row}
