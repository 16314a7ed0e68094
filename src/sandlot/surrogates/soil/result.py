"""A fitted soil: parameters with intervals, what is not identified, and the files that keep it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sandlot.errors import ModelError
from sandlot.models.card import Card, TrainingData
from sandlot.physics.soil import SoilKind
from sandlot.physics.soil.files import save_soil
from sandlot.surrogates.soil.fit import Estimate, quantile
from sandlot.surrogates.soil.parameters import FITTED, SHORT, kind_of, parameters_of
from sandlot.typing import Array
from sandlot.writing import drafted

SHARE = 0.9
"""Of intervals."""
UNKNOWN = 0.5
"""A direction in which the standard deviation is more than this share of that before the fit is not identified."""
MAIN = 0.4
"""Coordinates with at least this share of a direction are named."""
DRAWS = 4000
"""Soils that intervals are found from."""


@dataclass(frozen=True, eq=False)
class FittedSoil:
    """The soil that explains measurements.

    Attributes:
        kind: The soil.
        estimate: The search.
        width: Of the wheels or plate that the measurements were made with [m].
    """

    kind: SoilKind
    estimate: Estimate
    width: float

    @classmethod
    def of(cls, estimate: Estimate, width: float) -> "FittedSoil":
        """The soil of a search; ``width`` is that of the first evidence [m]."""
        return cls(kind_of(estimate.best, width), estimate, width)

    def values(self) -> dict[str, float]:
        """Parameters by name, as `FITTED` lists them."""
        return {name: float(each) for name, each in parameters_of(self.estimate.best, self.width).items()}

    def intervals(self) -> dict[str, tuple[float, float]]:
        """90% intervals of the same."""
        found = self.estimate
        rng = np.random.default_rng(0)
        drawn = rng.multivariate_normal(np.zeros(len(found.best)), found.covariance, DRAWS, method="eigh")
        wider = quantile(found.freedom, SHARE) / quantile(10**6, SHARE)
        tails = 0.5 - 0.5 * SHARE, 0.5 + 0.5 * SHARE
        return {
            name: (float(np.quantile(each, tails[0])), float(np.quantile(each, tails[1])))
            for name, each in parameters_of(found.best + wider * drawn, self.width).items()
        }

    def unidentified(self) -> list[str]:
        """What the measurements do not determine, a sentence each."""
        covariance = self.estimate.covariance
        alone = unknown_alone(covariance)
        rest = [k for k in range(len(covariance)) if k not in alone]
        lines = [f"{SHORT[k]} is not identified" for k in alone]
        names = [SHORT[k] for k in rest]
        return lines + [sentence(names, each) for each in unknown_directions(covariance[np.ix_(rest, rest)])]

    def errors(self) -> dict[str, float]:
        """Root mean square of predicted less measured values, by kind of measurement."""
        found, layout = self.estimate, self.estimate.layout
        away = found.predicted - found.measured
        return {
            channel.name: float(np.sqrt(np.nanmean(away[layout.channel == k] ** 2)))
            for k, channel in enumerate(layout.channels)
        }

    def facts(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        values, intervals = self.values(), self.intervals()
        return {
            "parameters": {
                name: {"value": values[name], "interval": list(intervals[name]), "unit": unit, "meaning": meaning}
                for name, (unit, meaning) in FITTED.items()
            },
            "width": self.width,
            "not_identified": self.unidentified(),
            "errors": self.errors(),
            "coordinates": self.estimate.best.tolist(),
            "covariance": self.estimate.covariance.tolist(),
        }

    def save(self, folder: Path, page: str, trained_on: Sequence[TrainingData] = ()) -> None:
        """Write a new directory with ``soil.toml``, ``fit.json`` and ``report.html``.

        Raises:
            ModelError: If it exists, or cannot be written.
        """
        card = Card(
            kind="soil",
            description="a soil that was fitted to measurements",
            trained_on=tuple(trained_on),
            errors={name: float(f"{value:.4g}") for name, value in self.errors().items()},
        )
        with drafted(folder, ModelError) as draft:
            draft.mkdir()
            save_soil(draft / "soil.toml", self.kind, card)
            (draft / "fit.json").write_text(json.dumps(self.facts(), indent=2, allow_nan=False), encoding="utf-8")
            (draft / "report.html").write_text(page, encoding="utf-8")


def unknown_alone(covariance: Array) -> list[int]:
    """Coordinates that would not be identified even if all others were known."""
    certainty = np.diag(np.linalg.inv(covariance))
    return [k for k in range(len(covariance)) if certainty[k] < 1.0 / UNKNOWN**2]


def unknown_directions(covariance: Array) -> list[Array]:
    """Directions (n,) in which a covariance (n, n) is nearly that before the fit, 1; the least certain first."""
    variances, directions = np.linalg.eigh(covariance)
    return [directions[:, k] for k in range(len(variances))[::-1] if variances[k] > UNKNOWN**2]


def sentence(names: Sequence[str], direction: Array) -> str:
    """Says that a direction is not identified."""
    main = [names[k] for k in np.argsort(-np.abs(direction)) if abs(direction[k]) >= MAIN] or ["all parameters"]
    if len(main) == 1:
        return f"{main[0]} is not identified"
    return f"{', '.join(main[:-1])} and {main[-1]} are identified only together"
