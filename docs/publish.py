"""Runs studies at full size and keeps what the docs show: ``make docs-results``, or ``... STUDIES="water.turn"``.

Runs are kept in ``runs``: a study that was stopped goes on where it was, and one that is finished is not run again.
"""

import sys
from pathlib import Path

from sandlot.cli.work import progress_bar
from sandlot.studies import all_studies, find
from sandlot.studies.published import publish
from sandlot.studies.runner import run

RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> None:
    """Run the studies of these names, or all, and publish each as soon as it is finished."""
    chosen = [find(name)() for name in names or all_studies()]
    with progress_bar("job") as show:
        for study in chosen:
            publish(run(study, Path("runs/full") / study.name, None, progress=show(study.name)), RESULTS)


main(sys.argv[1:])
