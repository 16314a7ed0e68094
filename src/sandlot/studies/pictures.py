"""The pictures of a run: drawn once, and kept in its directory until its results or the code that draws them change."""

import base64
import hashlib
import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandlot.errors import RunError
from sandlot.kernels.cache import digest
from sandlot.studies.base import Picture, Study
from sandlot.studies.plots import save_figure
from sandlot.studies.runner import Outcome
from sandlot.writing import drafted

FIGURE, LIST = "figure.png", "pictures.json"


@dataclass(frozen=True)
class Drawn:
    """A picture as a page shows it: its caption, and a PNG image in base64."""

    caption: str
    png: str


def draw(outcome: Outcome) -> list[Drawn]:
    """The figure of a run, then its scenes.

    Raises:
        RunError: If they cannot be written.
    """
    directory, key = outcome.directory, _key(outcome)
    kept = _read(directory / LIST)
    if kept.get("key") == key:
        captions: dict[str, str] = kept["captions"]
        if all((directory / name).is_file() for name in captions):
            return [_encode(directory / name, caption) for name, caption in captions.items()]
    study = outcome.study
    pictures = [Picture(inspect.getdoc(study.figure) or "", study.figure(outcome.results))]
    pictures += study.scenes(outcome.results)
    names = [FIGURE, *(f"scene-{k}.png" for k in range(1, len(pictures)))]
    for name, picture in zip(names, pictures, strict=True):
        save_figure(picture.figure, directory / name, error=RunError)
    captions = {name: picture.caption for name, picture in zip(names, pictures, strict=True)}
    with drafted(directory / LIST, RunError, overwrite=True) as draft:
        draft.write_text(json.dumps({"key": key, "captions": captions}, indent=1), encoding="utf-8")
    return [_encode(directory / name, caption) for name, caption in captions.items()]


def _key(outcome: Outcome) -> str:
    """Of everything that decides how pictures look: settings, results and sources."""
    study: Study = outcome.study
    parts = (study.model_dump_json(), outcome.digest, digest(Path(inspect.getfile(type(study))).resolve()))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _read(file: Path) -> dict[str, Any]:
    """What is kept about pictures; empty if there is nothing, or nothing that can be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return found if isinstance(found["captions"], dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _encode(file: Path, caption: str) -> Drawn:
    return Drawn(caption, base64.b64encode(file.read_bytes()).decode())
