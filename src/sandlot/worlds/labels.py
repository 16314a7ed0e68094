"""Text on pictures: a scale, and below the picture a caption and a legend."""

from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from sandlot.typing import Image
from sandlot.worlds.scene import EDGE, Colour

TEXT, LINE, MARGIN, SWATCH = 14, 22, 10, 11
"""Sizes of text, of a line of text, of the margin and of the squares in the legend [pixel]."""
PAPER: Colour = (252, 251, 248)
SCALE_SHARE = 0.2
"""The scale is at most this share of the width of a picture."""


@lru_cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size)


def label(drawn: Image, caption: str, legend: tuple[tuple[str, Colour], ...]) -> Image:
    """Add a caption and a legend below a picture; both sides of the result are even."""
    font = _font(TEXT)
    columns = drawn.shape[1] + drawn.shape[1] % 2
    lines: list[list[tuple[str, Colour | None]]] = [[(caption, None)]] if caption else []
    room = 0.0
    for name, colour in legend:
        wide = SWATCH + 5 + font.getlength(name) + 14
        if wide > room:
            lines.append([])
            room = columns - 2.0 * MARGIN
        lines[-1].append((name, colour))
        room -= wide
    rows = drawn.shape[0] + (LINE * len(lines) + MARGIN if lines else 0)
    whole = Pillow.new("RGB", (columns, rows + rows % 2), PAPER)
    whole.paste(Pillow.fromarray(drawn), (0, 0))
    pen = ImageDraw.Draw(whole)
    for number, line in enumerate(lines):
        x, y = float(MARGIN), drawn.shape[0] + MARGIN // 2 + (number + 0.5) * LINE
        for name, swatch in line:
            if swatch is not None:
                box = (x, y - SWATCH // 2, x + SWATCH - 1, y - SWATCH // 2 + SWATCH - 1)
                pen.rectangle(box, fill=swatch[:3], outline=EDGE)
                x += SWATCH + 5
            pen.text((x, y), name, fill=EDGE, font=font, anchor="lm")
            x += font.getlength(name) + 14
    return np.asarray(whole)


def add_scale(drawn: Image, per_metre: float) -> Image:
    """Draw a bar of 1, 2 or 5 times a power of ten metres in the lower left corner; so many pixels are a metre."""
    most = SCALE_SHARE * drawn.shape[1] / per_metre
    power = 10.0 ** np.floor(np.log10(most))
    length = power * max(each for each in (1, 2, 5) if each * power <= most * (1.0 + 1e-9))
    whole = Pillow.fromarray(drawn)
    pen, y = ImageDraw.Draw(whole), drawn.shape[0] - MARGIN
    x = MARGIN + length * per_metre
    for width, colour in ((5, PAPER), (2, EDGE)):
        pen.line((MARGIN, y, x, y), fill=colour, width=width)
        for end in (MARGIN, x):
            pen.line((end, y - 4, end, y + 3), fill=colour, width=width)
    text = f"{length:g} m" if length >= 0.1 else f"{100.0 * length:g} cm"
    pen.text((MARGIN + 3, y - 5), text, fill=EDGE, font=_font(TEXT - 2), anchor="ls", stroke_width=2, stroke_fill=PAPER)
    return np.asarray(whole)
