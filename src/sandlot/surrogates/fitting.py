"""Fits a sensor model to recordings: tests it on scans that were held out, then fits it to all scans and saves it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandlot import recordings
from sandlot.errors import ModelError, SandlotError
from sandlot.models.card import TrainingData
from sandlot.recordings.digests import digest
from sandlot.surrogates.files import KINDS, SUFFIXES, check_found, save, save_equations
from sandlot.surrogates.local import Local
from sandlot.surrogates.sensor_models import Headings, Sectors, assess
from sandlot.surrogates.sensorgraph import Sensorgraph


@dataclass(frozen=True)
class Target:
    """Where a model is written; checked before the fit, which may take long.

    Attributes:
        model: Directory to make.
        kind: One of `KINDS`.
        form: Format of the equations beside the model, one of `SUFFIXES`; none if not given.

    Raises:
        ModelError: If a path exists, the model's ends in .json or .toml, or the kind has no equations to write.
    """

    model: Path
    kind: str = "local"
    form: str | None = None

    def __post_init__(self) -> None:
        if self.model.suffix in (".json", ".toml"):
            raise ModelError(f"{self.model}: a sensor model is a directory; leave out {self.model.suffix}")
        if self.form is not None and self.kind == "local":
            raise ModelError(
                "a local model has too many equations to print, one for each of its cells; "
                "leave --equations out, or choose --kind sectors or headings"
            )
        for path in (self.model, self.equations):
            if path is not None and path.exists():
                raise ModelError(f"{path} already exists; choose another path or remove it first")

    @property
    def equations(self) -> Path | None:
        """File of the equations."""
        return None if self.form is None else self.model.with_name(self.model.name + SUFFIXES[self.form])


@dataclass(frozen=True)
class Fit:
    """A fitted sensor model.

    Attributes:
        model: Fitted to all scans.
        graph: All scans.
        sources: The recordings they are from.
        errors: Mean absolute error of each segment on the held-out scans [m]; NaN where there was no return. Empty if
            nothing was held out.
        held_out: Number of scans that were held out.
    """

    model: Sectors | Headings | Local
    graph: Sensorgraph = field(repr=False)
    sources: tuple[TrainingData, ...]
    errors: tuple[float, ...]
    held_out: int

    @property
    def error(self) -> float | None:
        """Mean of the known errors [m]."""
        known = [error for error in self.errors if math.isfinite(error)]
        return sum(known) / len(known) if known else None

    def save(self, target: Target) -> None:
        """Write the model with its card, and the equations if they are wanted.

        Raises:
            ModelError: If they cannot be written.
        """
        if target.equations is not None and target.form is not None and not isinstance(self.model, Local):
            save_equations(self.model, target.equations, target.form)
        named = {} if self.error is None else {"mean absolute error on held-out scans [m]": self.error}
        for k, error in enumerate(self.errors):
            if math.isfinite(error):
                named[f"mean absolute error of segment {k} [m]"] = error
        low, high = self.graph.poses.min(0).tolist(), self.graph.poses.max(0).tolist()
        valid = {"x [m]": (low[0], high[0]), "y [m]": (low[1], high[1])}
        save(self.model, target.model, self.sources, named, valid)

    def facts(self) -> dict[str, Any]:
        """The fit as JSON values; unknown numbers are null."""
        return {
            "recordings": [each.model_dump() for each in self.sources],
            "scans": len(self.graph),
            "beams": len(self.graph.bearings),
            "thin": self.graph.thin(),
            "held_out": self.held_out,
            "errors": [error if math.isfinite(error) else None for error in self.errors],
            "error": self.error,
            "size": self.model.size,
            "equation": self.model.equation(),
        }


def fit_sensor(
    paths: Sequence[Path],
    kind: str = "local",
    holdout: float = 0.2,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Fit:
    """Fit a sensor model.

    Args:
        paths: Of recordings of the same laser.
        kind: One of `KINDS`.
        holdout: Share at the end of each recording that tests the model.
        progress: Called with the number of finished fits and of all fits.

    Raises:
        SandlotError: If a recording cannot be read or has no scans, or the fit found no coefficients.
    """
    logs, sources = zip(*(_read(path) for path in paths), strict=True)
    graph, model = Sensorgraph.join(logs), KINDS[kind]()
    graph.check(model.segments)
    errors = assess(model, logs, holdout).tolist() if holdout else []
    progress(1, 2)
    model.fit(graph)
    progress(2, 2)
    check_found(model)
    return Fit(model, graph, sources, tuple(errors), sum(len(log.split(holdout)[1]) for log in logs))


def _read(path: Path) -> tuple[Sensorgraph, TrainingData]:
    with recordings.open(path) as recording:
        try:
            source = TrainingData(path=str(path), digest=digest(recording), frames=recording.sizes["time"])
            return Sensorgraph.of(recording), source
        except SandlotError as error:
            raise type(error)(f"{path}: {error}") from error
