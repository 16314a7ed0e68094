"""What a study is: settings, seeded jobs, a figure, and claims."""

import inspect
import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeVar

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
"""What a job can find: a number, a text, or numbers along the dims of its quantity."""


@dataclass(frozen=True)
class Job:
    """One independent piece of a study.

    Attributes:
        index: Its place in the order of jobs.
        parameters: What sets it apart from the others.
        seed: Its own randomness, a child of the study's seed by index.
    """

    index: int
    parameters: Mapping[str, Value]
    seed: np.random.SeedSequence


@dataclass(frozen=True)
class Claim:
    """What a source reports, what was measured, and whether it holds.

    Attributes:
        text: The claim, in a sentence.
        source: The source's value.
        measured: Ours.
        holds: Whether ours supports the claim.
        note: By which test, or why not.
    """

    text: str
    source: float | str
    measured: float | str
    holds: bool
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # comparisons of arrays give NumPy's


@dataclass(frozen=True)
class Picture:
    """A figure with a sentence beneath it."""

    caption: str
    figure: Figure = field(repr=False)


class Study(Settings):
    """An experiment with a question; its fields are its settings, its docstring the question.

    A subclass gives `jobs`, `run`, `figure` and `claims`, and names in ``outcomes`` what a job returns. An outcome with
    dims is an array, whose shape may differ from study to study: ``outcomes`` says 0 for it.

    Attributes:
        seed: Where all randomness comes from; every job has its own part of it.
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
        """A job for every combination of the values of ``axes``, the last axis running fastest."""
        for index, values in enumerate(itertools.product(*axes.values())):
            seed = np.random.SeedSequence(self.seed, spawn_key=(index,))
            yield Job(index, dict(zip(axes, values, strict=True)), seed)

    def check(self) -> None:
        """Called before the first job: refuse settings that no job could run with.

        Raises:
            SandlotError: What is wrong with them.
        """
        return

    @abstractmethod
    def jobs(self) -> Iterator[Job]:
        """All jobs, in order."""

    @abstractmethod
    def run(self, job: Job) -> Mapping[str, Found]:
        """Do one job, in a worker; returns its outcomes."""

    @abstractmethod
    def figure(self, results: xr.Dataset) -> Figure:
        """The picture that answers the question; a study's docstring here is the caption."""

    @abstractmethod
    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What the source says, beside what was measured."""

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Pictures of what went on, shown beside the figure."""
        return iter(())

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """Files worth keeping beside the results, such as the best controller: their text by name."""
        return {}

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Tests between groups of jobs, for the report's table."""
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
    """Name a study and say where its question comes from."""

    def add(cls: S) -> S:
        cls.name, cls.source = name, source
        STUDIES[name] = cls
        return cls

    return add
