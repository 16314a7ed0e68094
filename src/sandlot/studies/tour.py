"""The tour: a few studies, on one page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandlot.studies import find
from sandlot.studies.base import Study
from sandlot.studies.report import PAGE, write_page, write_report
from sandlot.studies.runner import run

STOPS: dict[str, dict[str, Any]] = {
    "terrain.drive": {"grounds": ("soft", "mid"), "frames": 320, "replicates": 5},
    "water.deliver": {"targets": 4, "sets": 1, "seconds": 90.0},
    "leveling.probabilities": {},
}
"""The studies of the tour, and the settings that make them short: what there is to see first."""
MORE: dict[str, dict[str, Any]] = {
    "indoor.arena": {"replicates": 2},
    "indoor.semi": {"replicates": 1, "maps": ("occupancy",)},
    "indoor.scenarios": {"controllers": ("straight", "shipped"), "tested": 200},
    "leveling.memetic": {"replicates": 10},
    "obstacles.stuck": {"situations": ("a", "b", "h"), "patience": 30.0},
    "water.shared": {"replicates": 4, "genetic": {"population": 64, "generations": 30}},
}
"""What the full tour runs, too."""


def take_tour(
    directory: Path,
    workers: int | None,
    progress: Callable[[Study], Callable[[int, int], None]],
    full: bool = False,
) -> Path:
    """Run the tour's studies and write its page.

    Args:
        directory: Where to keep the runs; finished jobs in it are not run again.
        workers: Jobs at a time; as many as there are processors if None.
        progress: Called with each study; returns a function that is called with its finished jobs and all jobs.
        full: Whether to run more studies, of every world.

    Returns:
        Path of the page.
    """
    outcomes = []
    for name, changes in (STOPS | MORE if full else STOPS).items():
        study = find(name)(**changes)
        outcomes.append(run(study, directory / name, workers, progress=progress(study)))
        write_report(outcomes[-1])
    lead = (
        "Published studies, run again on this machine: what their sources claim, beside what was measured. Some are "
        "made smaller here to take less time; the documentation shows them at full size."
    )
    return write_page(directory / PAGE, "A tour of Sandlot", lead, outcomes)
