"""Videos: pictures of a world as MP4, GIF or animated WebP, in real time or faster."""

import math
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from PIL import Image as Pillow

from sandlot.errors import RecordingError, SettingError, quote
from sandlot.extras import need
from sandlot.typing import Image
from sandlot.writing import VIDEOS, check_suffix, drafted

FORMATS = dict(zip(VIDEOS, (30.0, 12.5, 20.0), strict=True))
"""Suffixes, and the most pictures a second that a video of each has."""
PALETTE, GIF_SIDE, QUALITY = 64, 480, 75
"""Colours of a GIF, and the quality of a WebP, of 100."""


def check_video(path: Path, speed: float = 1.0) -> None:
    """Find mistakes before long work begins.

    Raises:
        SandlotError: The suffix or the speed is not possible, the file exists, or the encoder is not installed.
    """
    check_suffix(path, "a video", list(FORMATS), SettingError)
    if not 0.0 < speed < math.inf:
        raise SettingError(f"a video speed of {speed:g} is not possible; allowed: greater than 0")
    if path.exists():
        raise RecordingError(f"{quote(path)} already exists; choose another path or remove it first")
    if path.suffix.lower() == ".mp4":
        need("imageio_ffmpeg", "video")


class Video:
    """A video that is being written.

    Attributes:
        every: A picture is taken of every so many steps.
        rate: Pictures a second.

    Examples:
        >>> with Video(Path("drive.mp4"), world.metadata["render_fps"]) as video:
        ...     for step in rollout(world, controller, seed=1, steps=1000):
        ...         video.add(world.render)
    """

    def __init__(self, path: Path, steps_a_second: float, speed: float = 1.0) -> None:
        """Begin a video.

        Args:
            path: Of the file, which must not exist: ``.mp4``, ``.gif`` or ``.webp``.
            steps_a_second: Of the world, in real time: its ``metadata["render_fps"]``.
            speed: How much faster than real time.

        Raises:
            SandlotError: See `check_video`.
        """
        check_video(path, speed)
        wanted = steps_a_second * speed
        self.every = max(1, math.ceil(wanted / FORMATS[path.suffix.lower()] - 1e-9))
        self.rate = wanted / self.every
        self._path, self._steps, self._count = path, 0, 0
        self._stack = ExitStack()
        self._pipe: Any = None
        self._pictures: list[Pillow.Image] = []

    def __enter__(self) -> Self:
        self._draft = self._stack.enter_context(drafted(self._path, RecordingError))
        return self

    def add(self, draw: Callable[[], Image]) -> None:
        """Take note of a step; ``draw`` is called if it is one that the video shows."""
        if self._steps % self.every == 0:
            self.put(draw())
        self._steps += 1

    def put(self, picture: Image) -> None:
        """Add a picture: the next one that the video shows."""
        picture = np.ascontiguousarray(picture)
        if self._path.suffix.lower() != ".mp4":
            image = Pillow.fromarray(picture)
            if self._path.suffix.lower() == ".gif":
                image.thumbnail((GIF_SIDE, GIF_SIDE))
                image = image.quantize(PALETTE, dither=Pillow.Dither.NONE)
            self._pictures.append(image)
            return
        if self._pipe is None:
            rows, columns, _ = picture.shape
            self._shape = picture.shape
            self._pipe = need("imageio_ffmpeg", "video").write_frames(
                str(self._draft),
                (columns, rows),
                fps=self.rate,
                quality=7,
                macro_block_size=2,
                ffmpeg_log_level="error",
            )
            self._pipe.send(None)
        self._pipe.send(_fitted(picture, self._shape))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._pipe is not None:
                self._pipe.close()
            elif kind is None and self._pictures:
                self._save()
        finally:
            self._stack.__exit__(kind, error, trace)

    def _save(self) -> None:
        """Write a GIF or a WebP; its durations are whole hundredths or thousandths of a second."""
        unit = 10 if self._path.suffix.lower() == ".gif" else 1
        ends = [unit * round(1000.0 / unit * (k + 1) / self.rate) for k in range(len(self._pictures))]
        durations = np.diff([0, *ends]).tolist()
        first, *others = self._pictures
        shape = (first.height, first.width, 3)
        size = (first.width, first.height)
        others = [
            each if each.size == size else Pillow.fromarray(_fitted(np.asarray(each.convert("RGB")), shape))
            for each in others
        ]
        options = {"optimize": True} if unit == 10 else {"quality": QUALITY, "method": 4}
        first.save(self._draft, save_all=True, append_images=others, duration=durations, loop=0, **options)


def _fitted(picture: Image, shape: tuple[int, ...]) -> Image:
    """A picture with so many rows and columns: cut, or with its last row and column repeated."""
    if picture.shape == shape:
        return picture
    rows, columns = (max(0, shape[k] - picture.shape[k]) for k in (0, 1))
    return np.pad(picture, ((0, rows), (0, columns), (0, 0)), mode="edge")[: shape[0], : shape[1]]
