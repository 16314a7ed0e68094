"""Recordings as a list of moments to be shown, and as one HTML file that plays them without a server."""

import contextlib
import io
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.extras import need
from sandlot.lab.canvas import Canvas
from sandlot.lab.door import SOFTWARE, Door, guarded, with_scripts
from sandlot.lab.drive_replay import drive_moments
from sandlot.lab.ground import HIDDEN
from sandlot.lab.keys import Keys, handle
from sandlot.lab.stage import FIELD_OF_VIEW, VIEWS, light
from sandlot.typing import Array
from sandlot.worlds.replay import Moment, moments
from sandlot.worlds.scene import HeightField, Lines, Scene
from sandlot.writing import drafted

MOST, BYTES = 900, 400_000_000
"""Moments that are kept of a recording, and the memory of their ground [byte]; more are thinned evenly."""
LOW, MIDDLE, HIGH = np.array([(40, 70, 160), (90, 190, 150), (250, 210, 60)], np.float64)
"""Colours of the lowest, the middle and the highest value of a quantity."""


def read_moments(path: Path, progress: Callable[[int, int], None] = lambda done, total: None) -> list[Moment]:
    """Replay a recording, or the drive of a rover, and keep as many of its moments as memory allows.

    Raises:
        RecordingError: If it cannot be replayed.
    """
    if path.suffix == ".mcap":
        return drive_moments(path, MOST, progress)
    with recordings.open(path) as dataset:
        frames = int(dataset.sizes["time"])
    first = next(moments(path, 1))
    size = sum(7 * each.heights.size for each in first.scene.items if isinstance(each, HeightField))
    every = max(-(-frames // min(MOST, max(BYTES // max(size, 1), 2))), 1)
    kept = []
    for moment in moments(path, every):
        kept.append(replace(moment, scene=_smaller(moment.scene)))
        progress(moment.number + 1, frames)
    return kept


def _smaller(scene: Scene) -> Scene:
    """The scene, with heights of ground in half the memory."""
    items = tuple(
        replace(each, heights=each.heights.astype(np.float32)) if isinstance(each, HeightField) else each
        for each in scene.items
    )
    return replace(scene, items=items)


def trail(kept: Sequence[Moment], name: str) -> Lines | None:
    """The path of what the scenes look at, coloured by a quantity: blue is its lowest value, yellow its highest."""
    values = np.array([each.numbers.get(name, np.nan) for each in kept])
    known = np.isfinite(values)
    if len(kept) < 2 or not known.any():
        return None
    places = np.array([each.scene.looked_at[0] for each in kept])
    same = np.array([a.episode == b.episode for a, b in pairwise(kept)])
    ends = np.stack([places[:-1], places[1:]], axis=1)[same]
    colours = _scale(values[1:][same], float(values[known].min()), float(values[known].max()))
    return Lines("trail", ends, tuple(tuple(each) for each in colours.tolist()), 4.0)


def _scale(values: Array, low: float, high: float) -> Array:
    """Colours (n, 3) of values (n,)."""
    share = np.nan_to_num((values - low) / max(high - low, 1e-12))[:, None]
    colours = np.where(share < 0.5, LOW + 2.0 * share * (MIDDLE - LOW), MIDDLE + (2.0 * share - 1.0) * (HIGH - MIDDLE))
    return colours.astype(int)


def with_trail(scene: Scene, line: Lines | None) -> Scene:
    """The scene, with a path in it."""
    return scene if line is None else replace(scene, items=(*scene.items, line))


def write_page(path: Path, out: Path, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
    """Write one HTML page that plays a recording, or the drive of a rover.

    Args:
        path: The recording.
        out: The page, which must not exist.
        progress: Called with the number of frames that are read, and of all.

    Returns:
        How many moments it has.

    Raises:
        SandlotError: If the recording cannot be replayed, or the page not be written.
    """
    need("viser", "lab")
    with drafted(out, RecordingError) as draft:
        kept = read_moments(path, progress)
        draft.write_text(to_html(kept))
    return len(kept)


def to_html(kept: Sequence[Moment], line: Lines | None = None) -> str:
    """One HTML page with a time line that plays the moments in any browser, offline."""
    viser = need("viser", "lab")
    # The server is only needed to collect what a page would be sent; nobody knows its token.
    with guarded(Door(secrets.token_hex(16), handle(Keys()))), contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        light(server)
        first = kept[0].scene
        reach = max(moment.scene.looked_at[1] for moment in kept)
        server.initial_camera.position = tuple(1.75 * reach * np.array(VIEWS["side" if first.side else "3D"]))
        server.initial_camera.look_at = (0.0, 0.0, 0.0)
        server.initial_camera.fov = FIELD_OF_VIEW
        canvas = Canvas(server.scene, "/stage", at_once=None)  # no browser has to keep up
        canvas.draw(with_trail(first, line), kept[0].time)
        canvas.frame.position = tuple(-first.looked_at[0])
        serializer = server.get_scene_serializer()
        for before, moment in pairwise(kept):
            serializer.insert_sleep(max(moment.time - before.time, 0.0))
            canvas.draw(with_trail(moment.scene, line), moment.time)
            canvas.frame.position = tuple(-moment.scene.looked_at[0])
        now = kept[-1].time
        for _ in range(2):  # a tile that was being prepared may have changed since
            now += HIDDEN
            serializer.insert_sleep(HIDDEN)
            canvas.settle(now)
        serializer.insert_sleep(1.0)
        html: str = serializer.as_html()
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()
    return with_scripts(html, SOFTWARE)
