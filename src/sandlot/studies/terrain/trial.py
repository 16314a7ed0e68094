"""What the parts of `terrain.validation` have in common: a trial is one kind of measurement."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from pydantic import AfterValidator, Field

from sandlot.recordings import Quantity
from sandlot.settings import Settings, distinct
from sandlot.studies.base import Claim, Found
from sandlot.typing import Array

Positive = Annotated[float, Field(gt=0.0)]
Several = Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(distinct)]
YIELDING = ("soft", "mid", "LETE sand")
ROVERS = ("wheeled", "tracked")


class Case(NamedTuple):
    """What sets a job of a trial apart from its others.

    Attributes:
        body: What moves.
        ground: On what.
        detail: A number that the trial gives its meaning; 0 if there is none.
    """

    body: str
    ground: str
    detail: float = 0.0


class Trial(Settings):
    """One kind of measurement; its fields are its settings.

    Every job of the study has the outcomes of all trials: those of the others are not a number. So no two trials have
    an outcome or a dim of the same name.
    """

    name: ClassVar[str]
    panels: ClassVar[int] = 1
    outcomes: ClassVar[Mapping[str, Quantity]]

    def lengths(self) -> Mapping[str, int]:
        """How many there are along each dim of the outcomes."""
        return {}

    @abstractmethod
    def cases(self) -> Iterator[Case]:
        """A job for each."""

    @abstractmethod
    def measure(self, case: Case, seed: np.random.SeedSequence) -> Mapping[str, Found]:
        """Do one job; returns the trial's own outcomes."""

    @abstractmethod
    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What should be so, and whether it is; given are the trial's own jobs."""

    def draw(self, panels: Sequence[Axes], results: xr.Dataset) -> None:
        """Show what was measured."""
        return

    def nothing(self) -> dict[str, Array]:
        """The outcomes of a job of another trial."""
        sizes = self.lengths()
        return {
            name: np.full(tuple(sizes[dim] for dim in quantity.dims), np.nan)
            for name, quantity in self.outcomes.items()
        }


def rows(results: xr.Dataset) -> Iterator[tuple[Case, xr.Dataset]]:
    """Every job, and what it is."""
    for k in range(results.sizes["job"]):
        row = results.isel(job=k)
        yield Case(str(row["body"].values), str(row["ground"].values), float(row["detail"].values)), row


def below(values: ArrayLike, limit: float) -> bool:
    """Whether all are at most a limit; what is not a number is not."""
    return bool(np.all(np.asarray(values, np.float64) <= limit))
