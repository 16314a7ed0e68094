"""Draws the learning curves in ``docs/images/training.png``; ``python docs/curves.py WORLD OUT`` keeps one.

``OUT`` is what ``sandlot train WORLD --out OUT`` writes; the log lies beside it.
"""

import csv
import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parent
RESULTS = DOCS / "results"
COLUMNS = ("time/total_timesteps", "rollout/success_rate")
"""Of the log: steps of all worlds together, and the share of the last 100 episodes that reached their goal."""
TITLES = {
    "water": "water: swim to the ball",
    "indoor": "indoor: drive to a pose",
    "terrain": "terrain: drive to a goal",
}


def keep(world: str, controller: Path) -> None:
    """Keep the curve of a training, from the logs of all its parts.

    It begins when the longest episode of every member has ended: before, only episodes that succeed early count.
    """
    training = json.loads((controller / "card.json").read_text(encoding="utf-8"))["settings"]["training"]
    first = training["members"] * training["longest"]
    folder = controller.with_name(f"{controller.name}.training")
    logs = sorted(folder.glob("from-*/progress.csv"), key=lambda path: int(path.parent.name.removeprefix("from-")))
    rows = [row for log in logs for row in csv.DictReader(log.read_text(encoding="utf-8").splitlines())]
    lines = [
        ",".join(row[name] for name in COLUMNS) for row in rows if row.get(COLUMNS[1]) and int(row[COLUMNS[0]]) > first
    ]
    (RESULTS / f"training.{world}.csv").write_text("\n".join(["steps,success", *lines]) + "\n", encoding="utf-8")


def draw() -> None:
    """Draw all curves that are kept."""
    figure, all_axes = plt.subplots(1, len(TITLES), figsize=(12.0, 3.2), sharey=True, layout="constrained")
    for axes, (world, title) in zip(all_axes, TITLES.items(), strict=True):
        lines = (RESULTS / f"training.{world}.csv").read_text(encoding="utf-8").splitlines()[1:]
        steps, success = zip(*([float(value) for value in line.split(",")] for line in lines), strict=True)
        axes.plot([step / 1e6 for step in steps], success)
        axes.set(title=title, xlabel="million steps of all worlds", ylim=(0.0, 1.02))
        axes.grid(alpha=0.3)
    all_axes[0].set_ylabel("share of the last 100 episodes\nthat succeed, while exploring")
    figure.savefig(DOCS / "images" / "training.png", dpi=110)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        keep(sys.argv[1], Path(sys.argv[2]))
    draw()
