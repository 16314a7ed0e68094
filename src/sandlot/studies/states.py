"""Which studies there are, and how the newest run of each ended."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandlot.errors import SandlotError
from sandlot.settings import describe
from sandlot.studies import find
from sandlot.studies.catalogue import Entry, catalogue
from sandlot.studies.runner import RUNS, load, progress_of
from sandlot.studies.store import Store


@dataclass(frozen=True)
class State:
    """How far the newest run of a study has come.

    Attributes:
        state: ``never run``, ``unfinished`` or ``finished``.
        run_directory: Where it is, if anywhere.
        done: Finished jobs.
        jobs: All jobs.
        holding: Claims that hold, if finished.
        undecided: Claims that the run is too small to decide, if finished.
        claims: All claims, if finished.
        usual: Whether it was run with the default settings of the study.
    """

    state: str = "never run"
    run_directory: str | None = None
    done: int = 0
    jobs: int = 0
    holding: int = 0
    undecided: int = 0
    claims: int = 0
    usual: bool = True

    def __str__(self) -> str:
        """The state in a few words."""
        if self.state == "finished":
            open_ = f", {self.undecided} undecided" if self.undecided else ""
            return f"{self.holding} of {self.claims} claims hold{open_}"
        return f"{self.done} of {self.jobs} jobs done" if self.state == "unfinished" else self.state


@dataclass(frozen=True)
class Runs:
    """What was found below a directory.

    Attributes:
        states: The state of the newest run of each study, by the name of the study.
        skipped: Why a run cannot be read, by its directory.
    """

    states: dict[str, State]
    skipped: dict[str, str]


def last_runs(root: Path | None = None) -> Runs:
    """The newest run of each study in or below ``root``, by default ``runs``; runs that cannot be read are named."""
    found = Runs({}, {})
    for file in sorted((root or RUNS).rglob(Store.FILE), key=_changed):
        directory = str(file.parent)
        try:
            study, done, jobs = progress_of(file.parent)
            claims = load(file.parent).claims if done == jobs else []
        except SandlotError as error:
            found.skipped[directory] = str(error)
            continue
        state = "finished" if done == jobs else "unfinished"
        counts = Counter(claim.verdict for claim in claims)
        judged = (counts["holds"], counts["undecided"], len(claims))
        usual = not study.model_dump(exclude_defaults=True)
        found.states[study.name] = State(state, directory, done, jobs, *judged, usual)
    return found


def describe_studies(runs: Runs) -> list[dict[str, Any]]:
    """Every study, its question and source, how long it takes, and the state of its newest run."""
    return [_outline(each, runs) for each in catalogue().values()]


def describe_study(name: str, runs: Runs) -> dict[str, Any]:
    """The same for one study, with more about it and its settings.

    Raises:
        SettingError: If there is no study of that name.
    """
    study = find(name)
    settings = [asdict(setting) for setting in describe(study)]
    return {**_outline(catalogue()[name], runs), "about": study.about(), "settings": settings}


def _outline(study: Entry, runs: Runs) -> dict[str, Any]:
    state = runs.states.get(study.name, State())
    about = {"study": study.name, "source": study.source, "question": study.question, "seconds": study.seconds}
    return {**about, **asdict(state), "last_run": str(state)}


def _changed(file: Path) -> float:
    """When a run was last written to; while it is running, that is when its write-ahead log was."""
    log = file.with_name(f"{file.name}-wal")
    return max((path.stat().st_mtime for path in (file, log) if path.exists()), default=0.0)
