"""The tour: a few studies of every world, on one page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandlot.studies import find
from sandlot.studies.base import Study
from sandlot.studies.report import PAGE, write_page, write_report
from sandlot.studies.runner import run

STOPS: dict[str, dict[str, Any]] = {
    "indoor.arena": {"replicates": 2},
    "leveling.probabilities": {},
    "leveling.memetic": {"replicates": 10},
    "terrain.drive": {"grounds": ("soft", "mid", "rigid"), "frames": 640, "replicates": 5},
    "water.shared": {"replicates": 4, "genetic": {"population": 64, "generations": 30}},
    "water.deliver": {"targets": 4, "seconds": 150.0},
}
"""What the tour shows, and what it changes so that nobody has to wait long."""


def take_tour(directory: Path, workers: int, progress: Callable[[Study], Callable[[int, int], None]]) -> Path:
    """Run the tour's studies and write its page.

    Args:
        directory: Where to keep everything; what has been run there before is not run again.
        workers: How many jobs at a time.
        progress: Called with each study, gives what is called with its finished jobs and all jobs.

    Returns:
        Path of the page.
    """
    outcomes = []
    for name, changes in STOPS.items():
        study = find(name)(**changes)
        outcomes.append(run(study, directory / name, workers, progress=progress(study)))
        write_report(outcomes[-1])
    lead = (
        "Published studies, run again on this machine: what their sources claim, beside what was measured. Some are "
        "made smaller here, so that nobody has to wait long; the documentation shows them at full size."
    )
    return write_page(directory / PAGE, "A tour of Sandlot", lead, outcomes)
