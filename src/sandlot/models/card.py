"""The card of a model: what it is, what it was trained on, how wrong it is, and where it is valid."""

from typing import Any

from pydantic import Field, field_validator

from sandlot.settings import Settings, nearest
from sandlot.version import __version__

KINDS = {
    "gait": "gait of a swimming snake",
    "net": "recurrent neural net that moves a swimming snake",
    "sensor": "sensor model: laser ranges from the pose",
    "dense": "feed-forward neural net",
    "policy": "controller of a world at its normalised interface, trained by reinforcement",
    "motion": "how a rover moves and stands on the ground",
    "ground": "how a rover changes the ground",
    "soil": "soil, by its parameters",
}
"""Every kind of model. To keep a new kind, add a line here, and save and load it with `sandlot.models.store`."""
FORMAT_VERSION = 1
"""Raised when an older Sandlot would misread a newer file."""


class TrainingData(Settings):
    """One recording that a model was trained on.

    Attributes:
        path: Where it was.
        digest: As `sandlot.recordings.digests.digest` computes it.
        frames: Number of frames.
    """

    path: str
    digest: str
    frames: int = Field(ge=0)


class Card(Settings):
    """What a model says about itself.

    Attributes:
        kind: One of `KINDS`.
        description: One line for people.
        trained_on: Recordings it was trained on.
        errors: Name of an error, with its unit, to its value.
        valid_ranges: Name of an input, with its unit, to its smallest and largest value in the training data.
        settings: Plain values that this kind of model needs besides its arrays.
        content_digest: SHA-256 of the file with the arrays or the ONNX graph; `store.save` fills it in.
        sandlot_version: Version of Sandlot that wrote it.
        format_version: Version of the layout on disk.
    """

    kind: str
    description: str = ""
    trained_on: tuple[TrainingData, ...] = ()
    errors: dict[str, float] = Field(default_factory=dict)
    valid_ranges: dict[str, tuple[float, float]] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    content_digest: str = ""
    sandlot_version: str = Field(default_factory=lambda: __version__)
    format_version: int = FORMAT_VERSION

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        if kind not in KINDS:
            raise ValueError(f"no such kind of model; {nearest(kind, list(KINDS))}")
        return kind
