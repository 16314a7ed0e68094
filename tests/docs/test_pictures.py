"""Every picture of the docs is made by a script, and every one that is shown is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
SCRIPTS = ("house", "pictures", "moving_pictures", "curves", "screenshots")
"""In ``docs``; `make docs-pictures` runs them."""


def made():
    """Names of the pictures, without suffix, that each script makes."""
    names = {"house": {"house"}, "curves": {"training"}}
    for script in ("pictures", "moving_pictures", "screenshots"):
        names[script] = set()
        for node in ast.parse((DOCS / f"{script}.py").read_text(encoding="utf-8")).body:
            target = node.target if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])[0]
            if not isinstance(target, ast.Name) or target.id not in (
                "OF_STUDIES",
                "OF_EXAMPLES",
                "OF_COMMANDS",
                "PICTURES",
            ):
                continue
            if isinstance(node.value, ast.Dict):
                names[script] |= {key.value for key in node.value.keys}
            else:  # a function for each
                prefix = "lab-" if script == "screenshots" else ""
                names[script] |= {prefix + each.id for each in node.value.generators[0].iter.elts}
    return names


def test_every_picture_is_made_by_one_script():
    scripts = made()
    kept = {path.name for path in IMAGES.iterdir()}
    suffixes = {
        "house": (".svg",),
        "pictures": (".png", ".gif"),
        "moving_pictures": (".webp",),
        "curves": (".png",),
        "screenshots": (".png",),
    }
    owners = {
        file: [each for each in SCRIPTS if Path(file).stem in scripts[each] and Path(file).suffix in suffixes[each]]
        for file in kept
    }
    assert {file: found for file, found in owners.items() if len(found) != 1} == {}
    stems = {Path(file).stem for file in kept}
    assert {name for names in scripts.values() for name in names} <= stems


@pytest.mark.parametrize("script", SCRIPTS)
def test_make_runs_every_script(script):
    (recipe,) = re.findall(r"^docs-pictures:.*\n(?:\t.*\n)+", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert re.search(rf"\b{script}\b", recipe)
    assert "docs-pictures" in re.search(r"^docs-results:.*\n(?:\t.*\n)+", (ROOT / "Makefile").read_text(), re.M)[0]


def test_every_picture_that_is_shown_is_there():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w.-]+\.\w+)", page.read_text(encoding="utf-8"))}
    assert shown <= {path.name for path in IMAGES.iterdir()}
