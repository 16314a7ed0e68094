"""What a study is: settings, seeded jobs, a figure, and claims."""

import inspect
import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import Field

from sandlot.recordings import Quantity
from sandlot.settings import Settings
from sandlot.studies.statistics import Comparison

Value: TypeAlias = float | int | str
Found: TypeAlias = float | str | NDArray[Any]
"""An outcome of a job: a number, text, or an array along the dims of its quantity."""
Verdict: TypeAlias = Literal["holds", "does not hold", "undecided"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
PLURALS: dict[Verdict, str] = {"holds": "hold", "does not hold": "do not hold"}


def in_number(verdict: Verdict, count: int) -> str:
    """How many claims have a verdict, such as ``1 holds`` or ``5 hold``."""
    return f"{count} {verdict if count == 1 else PLURALS.get(verdict, verdict)}"


@dataclass(frozen=True)
class Job:
    """One independent simulation or fit of a study.

    Attributes:
        index: Its place in the order of jobs, from 0.
        parameters: The values in which it differs from other jobs.
        seed: Its own seed, a child of the study's seed by index.
    """

    index: int
    parameters: Mapping[str, Value]
    seed: np.random.SeedSequence


@dataclass(frozen=True)
class Claim:
    """What a source reports, what was measured, and whether it holds.

    Attributes:
        text: The claim, in a sentence.
        source: The value that the source reports.
        measured: The value of this run.
        holds: Whether the measured value supports the claim.
        note: Which test decides, or why the claim fails.
        undecided: Why the run cannot tell whether the claim fails; empty if it can.
    """

    text: str
    source: float | str
    measured: float | str
    holds: bool
    note: str = ""
    undecided: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "holds", bool(self.holds)
        )  # a comparison of arrays gives a NumPy bool, which JSON refuses

    @property
    def verdict(self) -> Verdict:
        """Whether it holds, does not hold, or cannot be decided by this run."""
        if self.undecided:
            return "undecided"
        return "holds" if self.holds else "does not hold"


@dataclass(frozen=True)
class Picture:
    """A figure with a sentence beneath it."""

    caption: str
    figure: Figure = field(repr=False)


class Study(Settings):
    """An experiment with a question; its fields are its settings, its docstring the question.

    A subclass defines `jobs`, `run`, `figure` and `claims`, and lists in ``outcomes`` what a job returns. An outcome
    with dims is an array; its shape depends on the settings, so ``outcomes`` gives 0 for it.

    Attributes:
        seed: Seed of the study; every job gets a child of it.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    outcomes: ClassVar[Mapping[str, Quantity]]

    seed: int = Field(0, ge=0)

    @classmethod
    def question(cls) -> str:
        """The first paragraph of the docstring."""
        return cls._paragraphs()[0]

    @classmethod
    def about(cls) -> str:
        """The rest of the docstring, up to its list of settings."""
        return " ".join(cls._paragraphs()[1:])

    @classmethod
    def _paragraphs(cls) -> list[str]:
        text, _, _ = (inspect.getdoc(cls) or "").partition("\n\nAttributes:")
        return [" ".join(paragraph.replace("``", "").split()) for paragraph in text.split("\n\n")]

    def cross(self, **axes: Iterable[Value]) -> Iterator[Job]:
        """A job for every combination of the values of ``axes``; the last axis varies fastest."""
        return self.each(dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))

    def each(self, parameters: Iterable[Mapping[str, Value]]) -> Iterator[Job]:
        """A job for each of the parameters, in their order."""
        for index, given in enumerate(parameters):
            yield Job(index, given, np.random.SeedSequence(self.seed, spawn_key=(index,)))

    def check(self) -> None:
        """Refuse settings with which no job could run; called before the first job.

        Raises:
            SandlotError: If the settings are impossible.
        """
        return

    @abstractmethod
    def jobs(self) -> Iterator[Job]:
        """All jobs, in order."""

    @abstractmethod
    def run(self, job: Job) -> Mapping[str, Found]:
        """Do one job in a worker, and return its outcomes."""

    @abstractmethod
    def figure(self, results: xr.Dataset) -> Figure:
        """The figure that answers the question; the docstring of a study's own method is the caption."""

    @abstractmethod
    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What the source reports, beside what was measured."""

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Pictures of the simulations, shown beside the figure."""
        return iter(())

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """Text files to keep beside the results, such as the best controller: their content by name."""
        return {}

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Statistical tests between groups of jobs, for the report."""
        return []


def pick(results: xr.Dataset, **parameters: object) -> xr.Dataset:
    """The jobs with these parameters."""
    mine = np.ones(results.sizes["job"], np.bool_)
    for name, value in parameters.items():
        mine &= results[name].values == value
    return results.isel(job=mine)


STUDIES: dict[str, type[Study]] = {}
S = TypeVar("S", bound=type[Study])


def study(name: str, source: str) -> Callable[[S], S]:
    """Register a study under a name, with the source of its question."""

    def add(cls: S) -> S:
        cls.name, cls.source = name, source
        STUDIES[name] = cls
        return cls

    return add
