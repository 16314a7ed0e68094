"""Makes the pages that come from the code: worlds, studies and the API. Run by mkdocs-gen-files.

The page of a study shows what ``docs/results`` holds of it: ``<study>.json``, the summary of a run; ``<study>.png``,
its figure; and ``<study>.md``, further text. `make docs-results` writes the first two. If they are out of date, this
fails.
"""

import importlib
import inspect
import pkgutil
import runpy
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import mkdocs_gen_files
from griffe import Docstring, DocstringSectionKind
from PIL import Image
from pydantic import BaseModel

from sandlot.settings import describe
from sandlot.studies import MODULES, Study, all_studies
from sandlot.studies.published import published
from sandlot.studies.runner import Outcome, command
from sandlot.worlds import WORLDS, load, world_id

DOCS = Path(__file__).parent
RESULTS = DOCS / "results"
NOTEBOOKS = runpy.run_path(str(DOCS / "notebooks.py"))
REPRODUCTION = runpy.run_path(str(DOCS / "reproduction.py"))
ORIGINS = REPRODUCTION["Origins"](REPRODUCTION["load"]())
ROOMS = (
    "geometry",
    "kernels",
    "recordings",
    "models",
    "physics",
    "places",
    "robots",
    "sensing",
    "surrogates",
    "control",
    "worlds",
    "learning",
    "studies",
    "lab",
    "link",
)
"""From the bottom to the top: a room imports only from rooms before it."""
LEARNERS = """## Interface
Actions and observations above are those of `interface="units"`. `gymnasium.make` gives
[learners](../training.md#what-learners-assume) `interface="normalised"` unless told otherwise: one row of float32, with
actions in [-1, 1]; discrete actions stay as they are."""
GUIDES = {
    "Soil": "soil.md",
    "Your robot": "your-robot.md",
    "Many robots": "many-robots.md",
    "Particles": "particles.md",
    "Rovers": "rovers.md",
    "The lab": "lab.md",
    "Climbing": "climbing.md",
    "Training": "training.md",
    "Rendering": "rendering.md",
    "Logs": "logs.md",
    "ROS bags and Foxglove": "rosbags-and-foxglove.md",
    "Map your own log": "map-your-log.md",
    "A live lidar": "lidar.md",
    "Navigate": "navigate.md",
    "Avoid obstacles": "avoid.md",
    "The rover link": "rover-link.md",
    "Build the rover": "hardware.md",
    "Sensor models": "sensor-models.md",
    "NARMAX": "narmax.md",
    "Learned simulation": "learned.md",
    "What controllers compute": "controllers.md",
    "Reliability": "reliability.md",
    "Add a world": "add-a-world.md",
}
MOVING = {"obstacles": ("stairs", "box")}
"""Moving pictures of a world in ``docs/images``, if they have other names than the world."""


def main() -> None:
    """Write every page and the navigation."""
    outcomes = {name: published(study, RESULTS) for name, study in all_studies().items()}
    for name in WORLDS:
        write(f"worlds/{name}.md", world_page(name))
    write("studies/index.md", studies_page(outcomes))
    for name, outcome in outcomes.items():
        write(f"studies/{name}.md", study_page(all_studies()[name], outcome))
    for name in NOTEBOOKS["NAMES"].values():
        write(f"notebooks/{name}.md", NOTEBOOKS["page"](name, keep_figure))
    mkdocs_gen_files.config.nav = [
        {"Home": "index.md"},
        {"Quick start": "quick-start.md"},
        {"Worlds": [{name.capitalize(): f"worlds/{name}.md"} for name in WORLDS]},
        {"Reproduction": "reproduction.md"},
        {"Studies": ["studies/index.md", *({name: f"studies/{name}.md"} for name in outcomes)]},
        {"Guides": [{name: page} for name, page in GUIDES.items()]},
        {"Notebooks": [{name: f"notebooks/{page}.md"} for name, page in NOTEBOOKS["NAMES"].items()]},
        {"API": [{room: api_pages(room)} for room in ROOMS]},
    ]


def write(path: str, text: str) -> None:
    """Add a page to the site."""
    with mkdocs_gen_files.open(path, "w") as file:
        file.write(text)


def keep_figure(name: str, data: bytes) -> None:
    """Add a figure of a notebook to the site."""
    with mkdocs_gen_files.open(f"notebooks/{name}", "wb") as file:
        file.write(data)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def prose(cls: type) -> str:
    """A class docstring, without its sections about attributes and the like."""
    sections = Docstring(inspect.cleandoc(cls.__doc__ or "")).parse("google", warnings=False)
    return "".join(each.value + "\n\n" for each in sections if each.kind is DocstringSectionKind.text)


def settings_table(model: type[BaseModel]) -> str:
    """Every setting, by the name that ``--set`` knows it by."""
    rows = [(f"`{each.key}`", each.allowed, f"`{each.default}`", each.meaning) for each in describe(model)]
    return table(("setting", "allowed", "default", "meaning"), rows)


def world_page(name: str) -> str:
    """The docstring of a world, then its settings, frames and studies."""
    world = load(name)()
    frames = [
        (f"`{key}`", f"`{each.units}`", f"({', '.join(each.dims)})" if each.dims else "one number", each.long_name)
        for key, each in world.recorder().quantities.items()
    ]
    asked = [f"- [{key}](../studies/{key}.md): {each.question()}" for key, each in all_studies().items()]
    return "\n\n".join(
        [
            f"# {name.capitalize()}",
            f"`{world_id(name)}`",
            picture(name),
            inspect.getdoc(type(world)) or "",
            LEARNERS,
            "## Settings",
            f'`gymnasium.make("{world_id(name)}", ...)` and `sandlot record {name} --set ...` take:',
            settings_table(world.Settings),
            "## Frames",
            "Every step gives one; a [recording](../quick-start.md#record-a-world) keeps them.",
            table(("quantity", "unit", "shape", "meaning"), frames),
            "## Studies",
            "\n".join(line for line in asked if line.startswith(f"- [{name}.")) or "None yet.",
        ]
    )


def picture(name: str) -> str:
    """Moving pictures of a world, and a picture of it when it starts, as `render` draws it."""
    world = load(name)(render_mode="rgb_array")
    world.reset(seed=0)
    with mkdocs_gen_files.open(f"worlds/{name}.png", "wb") as file:
        Image.fromarray(world.render()).save(file, "png")
    moving = "\n".join(f"![A drive in this world](../images/{each}.webp)" for each in MOVING.get(name, (name,)))
    start = f"![What `render` shows when the world starts]({name}.png)"
    return f'<div class="strip" markdown>\n{moving}\n{start}\n</div>'


def studies_page(outcomes: dict[str, Outcome | None]) -> str:
    """All studies, and how many of their claims hold."""
    rows = []
    for name, outcome in outcomes.items():
        study = all_studies()[name]
        found = outcome.claims if outcome else []
        holding = f"{sum(claim.holds for claim in found)} of {len(found)}" if outcome else "not run yet"
        rows.append((f"[{name}]({name}.md)", study.question(), study.source, holding))
    lead = "A study asks a question and answers it by experiment. Where a source has answered it before, each of its "
    lead += "claims stands beside what was measured. A claim that does not hold stays, and says so. "
    lead += "[Reproduction](../reproduction.md) lists all claims with the lines of their sources."
    return "\n\n".join(["# Studies", lead, table(("study", "question", "source", "claims that hold"), rows)])


def study_page(study: type[Study], outcome: Outcome | None) -> str:
    """The docstring of a study, its claims and figure, then its settings."""
    more = RESULTS / f"{study.name}.md"
    _, _, rest = prose(study).partition("\n\n")
    return "\n\n".join(
        [
            f"# {study.name}",
            f"{study.question()}\n{{ .lead }}",
            rest,
            f"Source: {study.source}.",
            claims(outcome) if outcome else f"Not run yet. To run it: `sandlot run {study.name}`",
            more.read_text() if more.exists() else "",
            again(outcome) if outcome else "",
            "## Settings",
            f"`sandlot run {study.name} --set ...` takes:",
            settings_table(study),
        ]
    )


def claims(outcome: Outcome) -> str:
    """The claims and the figure of a run."""
    rows = []
    for each in outcome.claims:
        known = {"text": each.text}
        source = f"{each.source}<br><small>{ORIGINS.line(outcome.study.name, known)}</small>"
        why = "" if each.holds else f"<br><small>{ORIGINS.reason(outcome.study.name, known, '')}</small>"
        verdict = "**✓ holds**{ .yes }" if each.holds else f"**✗ does not hold**{{ .no }}{why}"
        rows.append((f"{each.text}<br><small>{each.note}</small>", source, str(each.measured), verdict))
    caption = inspect.getdoc(outcome.study.figure)
    figure = f"![{caption}](../results/{outcome.study.name}.png)\n<figcaption>{caption}</figcaption>"
    return "\n\n".join(
        [
            "## Claims",
            table(("claim", "source", "measured", ""), rows),
            f'<figure markdown="span">\n{figure}\n</figure>',
        ]
    )


def again(outcome: Outcome) -> str:
    """How to repeat a run, and the digest to compare it with."""
    jobs = outcome.results.sizes["job"]
    return "\n\n".join(
        [
            "## Run it again",
            f"```sh\n{command(outcome.study)}\n```",
            f"These {jobs} jobs took {outcome.wall_time:.0f} s. The same settings give the same numbers; the SHA-256 "
            "over them, in job order, is",
            f"```text\n{outcome.digest}\n```",
        ]
    )


def api_pages(room: str) -> list[Any]:
    """Write a page for every module of a room, and one that lists them; returns their navigation.

    Modules of studies are left out: studies have pages of their own.
    """
    package = importlib.import_module(f"sandlot.{room}")
    rows, pages = [], []
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if found.ispkg or found.name.rpartition(".")[0] in MODULES:
            continue
        about = (inspect.getdoc(importlib.import_module(found.name)) or "").split("\n")[0]
        short = found.name.removeprefix(f"{package.__name__}.")
        page = f"{short.replace('.', '/')}.md"
        write(f"api/{room}/{page}", f"::: {found.name}\n    options: {{heading_level: 1}}")
        rows.append((f"[{short}]({page})", about))
        pages.append({short: f"api/{room}/{page}"})
    lead = inspect.getdoc(package) or ""
    own = f"::: {package.__name__}\n    options: {{heading_level: 2, show_root_toc_entry: false}}"
    offered = own if getattr(package, "__all__", None) else ""
    parts = [f"# sandlot.{room}", "" if offered else lead, offered, table(("module", "what it is for"), rows)]
    write(f"api/{room}/index.md", "\n\n".join(filter(None, parts)))
    return [f"api/{room}/index.md", *pages]


main()
