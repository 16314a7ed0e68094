"""Models of a laser: from a pose to the medians of a scan's segments, all with the same `fit` and `predict`."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.kernels import kernel
from sandlot.surrogates import equations
from sandlot.surrogates.narmax import FitWarning, Narmax
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses
from sandlot.surrogates.terms import NONE
from sandlot.typing import Array, IntArray

FEW = 5
"""A heading with fewer scans has no model of its own, but the mean of all scans."""


class SensorModel(Protocol):
    """What a sensor model is.

    Attributes:
        segments: How many a scan has.
        spread_: The field of view of the laser it was fitted to [rad].
        middle_: Where the middle of that is, from straight ahead [rad].
    """

    segments: int
    spread_: float
    middle_: float

    def fit(self, graph: Sensorgraph) -> Self:
        """Learn from scans and their poses."""

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from the right to the left: (poses, segments) [m]."""

    @property
    def size(self) -> int:
        """How many numbers it consists of."""


def assess(model: SensorModel, logs: Sequence[Sensorgraph], share: float) -> Array:
    """How wrong a model is about the last part of every log if it is fitted to what comes before.

    Args:
        model: Fitted on the way.
        logs: Of the same laser.
        share: Of each log that is left out.

    Returns:
        (segments,) mean absolute error [m], not a number where nothing came back.

    Raises:
        SandlotError: If nothing is left to fit, or to compare with.
    """
    parts = [log.split(share) for log in logs]
    known, asked = (Sensorgraph.join([part[k] for part in parts]) for k in (0, 1))
    if not (len(known) and len(asked)):
        raise SandlotError(f"{len(known) + len(asked)} scans are too few to hold out {share:g} of them")
    wrong = np.abs(model.fit(known).predict(asked.poses) - asked.segments(model.segments))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a segment without a return
        result: Array = np.nanmean(wrong, 0)
    return result


class Products(NamedTuple):
    """Products that several polynomials share, each made of an earlier one, and which of them each polynomial has.

    Attributes:
        parents: (products, 2) the earlier product, and the variable it is multiplied by; the first product is 1.
        places: (sets, outputs, terms) which product each term is.
        counts: (sets, outputs) how many terms there are.
    """

    parents: IntArray
    places: IntArray
    counts: IntArray


def products(factors: IntArray, coefficients: Array) -> Products:
    """Find what polynomials share.

    Args:
        factors: (sets, outputs, terms, degree) as `terms.monomials`.
        coefficients: (sets, outputs, terms), 0 from the first term on that there is none.
    """
    counts = (np.cumprod(coefficients != 0.0, 2)).sum(2)
    known: dict[tuple[int, ...], int] = {(): 0}
    parents, places = [(0, 0)], np.zeros(coefficients.shape, np.int64)
    for s, o in np.ndindex(counts.shape):
        for t in range(counts[s, o]):
            used = tuple(f for f in sorted(factors[s, o, t].tolist()) if f != NONE)
            for size in range(1, len(used) + 1):
                if used[:size] not in known:
                    known[used[:size]] = len(parents)
                    parents.append((known[used[: size - 1]], used[size - 1]))
            places[s, o, t] = known[used]
    return Products(np.array(parents, np.int64), places, counts)


@kernel(nogil=True)
def polynomials(
    values: Array, which: IntArray, shared: Products, coefficients: Array, lowest: Array, highest: Array
) -> Array:
    """Several polynomials at every sample, within limits.

    Args:
        values: (samples, variables)
        which: (samples,) the set of polynomials to take.
        shared: As `products` makes.
        coefficients: (sets, outputs, terms)
        lowest: (outputs,)
        highest: (outputs,)

    Returns:
        (samples, outputs)
    """
    parents, places, counts = shared.parents, shared.places, shared.counts
    result, products = np.empty((values.shape[0], counts.shape[1])), np.ones(parents.shape[0])
    for i in range(values.shape[0]):
        for k in range(1, products.size):
            products[k] = products[parents[k, 0]] * values[i, parents[k, 1]]
        for o in range(counts.shape[1]):
            total = 0.0
            for t in range(counts[which[i], o]):
                total += coefficients[which[i], o, t] * products[places[which[i], o, t]]
            if not total > lowest[o]:  # or not a number
                total = lowest[o]
            result[i, o] = min(total, highest[o])
    return result


class _Polynomials(ABC):
    """What `Sectors` and `Headings` share: a polynomial for each segment, and for each group of headings."""

    groups = 1

    def __init__(self, degree: int, most: int, segments: int) -> None:
        self.degree, self.most, self.segments = degree, most, segments

    names: tuple[str, ...] = ()

    @abstractmethod
    def inputs(self, poses: Array) -> Array:
        """What polynomials are of: (poses, inputs)."""

    def group(self, poses: Array) -> NDArray[np.int64]:
        """Which polynomials to take: (poses,)."""
        return np.zeros(len(poses), np.int64)

    def fit(self, graph: Sensorgraph) -> Self:
        """Find terms and coefficients; a segment without any return says nothing about itself."""
        graph.check(self.segments)
        low, high = graph.poses[:, :2].min(0), graph.poses[:, :2].max(0)
        self.origin_ = 0.5 * (low + high)
        medians, group, values = graph.segments(self.segments), self.group(graph.poses), self.inputs(graph.poses)
        never = np.isnan(medians).all(0)
        usual, lowest, highest = (
            function(np.where(never, function(medians), medians), 0)
            for function in (np.nanmedian, np.nanmin, np.nanmax)
        )
        self.models_: list[list[Narmax | None]] = []
        for name in range(self.groups):
            row: list[Narmax | None] = []
            for segment in range(self.segments):
                known = (group == name) & np.isfinite(medians[:, segment])
                row.append(self._fit_one(values[known], medians[known, segment]) if known.sum() >= FEW else None)
            self.models_.append(row)
        kept = [model for row in self.models_ for model in row if model is not None]
        terms = max([len(model.factors_) for model in kept], default=1)
        self.factors_ = np.full((self.groups, self.segments, terms, self.degree), NONE, np.int64)
        self.coefficients_ = np.zeros((self.groups, self.segments, terms))
        self.coefficients_[:, :, 0] = usual
        for g, row in enumerate(self.models_):
            for s, model in enumerate(row):
                if model is not None:
                    used = model.coefficients_ != 0.0
                    count = int(used.sum())
                    self.factors_[g, s, :count], self.coefficients_[g, s] = model.factors_[used], 0.0
                    self.coefficients_[g, s, :count] = model.coefficients_[used]
        self.spread_, self.middle_ = graph.spread, graph.middle
        self.lowest_, self.highest_ = lowest, highest
        self.prepare()
        return self

    def prepare(self) -> None:
        """Find what polynomials share, once they are known."""
        self._shared = products(self.factors_, self.coefficients_)

    def _fit_one(self, values: Array, medians: Array) -> Narmax:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # few scans in some headings are no surprise
            return Narmax(self.degree, most=self.most, names=self.names).fit(values, medians)

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from the right to the left: (poses, segments) [m]; never beyond what was seen."""
        poses = check_poses(poses)
        packed = (self._shared, self.coefficients_, self.lowest_, self.highest_)
        return polynomials(self.inputs(poses), self.group(poses), *packed)

    def narmax(self, group: int, segment: int) -> Narmax:
        """The polynomial of a segment, and of a group of headings; where there were too few scans, a constant.

        Raises:
            SandlotError: If the model comes from a file, which holds only what is needed to predict.
        """
        if not hasattr(self, "models_"):
            raise SandlotError("a model from a file does not know its equations; fit it again")
        found = self.models_[group][segment]
        if found is None:
            found = self._fit_one(np.zeros((2, len(self.names))), np.full(2, self.coefficients_[group, segment, 0]))
        return found

    def equation(self) -> str:
        """The polynomial of the segment left of the middle, straight along x, for people."""
        return equations.text(self.narmax(0, self.segments // 2), "range").partition("\n")[0]

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return int((self.coefficients_ != 0.0).sum())


class Sectors(_Polynomials):
    """As in the source: for each of 12 headings and each segment, a polynomial of x and y, from the middle of the log.

    Args:
        sectors: Into how many equal parts headings are divided.
        degree: Of the polynomials.
        most: Terms of each; how many there are is decided by Bayes' information criterion.
        segments: Of a scan.

    Attributes:
        models_: Those of each heading, from straight along x on counter-clockwise, and of each segment; None where
            there were too few scans.
    """

    names = ("x", "y")

    def __init__(self, sectors: int = 12, degree: int = 4, most: int = 15, segments: int = SEGMENTS) -> None:
        super().__init__(degree, most, segments)
        self.groups = self.sectors = sectors

    def inputs(self, poses: Array) -> Array:
        """How far x and y are from the middle of the log [m]."""
        return poses[:, :2] - self.origin_

    def group(self, poses: Array) -> NDArray[np.int64]:
        """The nearest of the headings."""
        return np.floor(poses[:, 2] / (2.0 * np.pi / self.sectors) + 0.5).astype(np.int64) % self.sectors


class Headings(_Polynomials):
    """One polynomial for each segment, of x, y and the cosine and sine of the heading.

    Args:
        degree: Of the polynomials.
        most: Terms of each; how many there are is decided by Bayes' information criterion.
        segments: Of a scan.

    Attributes:
        models_: One row: the model of each segment.
    """

    names = ("x", "y", "c", "s")

    def __init__(self, degree: int = 6, most: int = 60, segments: int = SEGMENTS) -> None:
        super().__init__(degree, most, segments)

    def inputs(self, poses: Array) -> Array:
        """How far x and y are from the middle of the log [m], and cosine and sine of the heading."""
        return np.column_stack([poses[:, :2] - self.origin_, np.cos(poses[:, 2]), np.sin(poses[:, 2])])
