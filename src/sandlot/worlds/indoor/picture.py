"""A picture of a floor plan from above, with a robot and what its laser sees."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from sandlot.places.plans import Plan
from sandlot.typing import Array

SIZE = 640
"""Of the longer side of a picture [pixel]."""
FINER = 2
"""Drawn so many times as large, then made smaller: edges become smooth."""
BORDER = 16
"""Around the plan [pixel]."""
FLOOR, LINES = (246, 243, 236), (232, 227, 216)
MATT, GLASS = np.array([62.0, 56.0, 52.0]), np.array([70.0, 160.0, 200.0])
LIGHT, POINT = (240, 150, 60, 60), (214, 60, 40)
BODY, EDGE, NOSE = (70, 110, 150), (30, 50, 75), (245, 240, 230)


class Picture:
    """Draws a plan once, and then robots on it."""

    def __init__(self, plan: Plan) -> None:
        """Draw the plan; shiny surfaces are blue."""
        low, high = plan.bounds[:2], plan.bounds[2:]
        self._scale = FINER * (SIZE - 2 * BORDER) / float(max(*(high - low), 1e-3))
        size = np.ceil((high - low) * self._scale / FINER).astype(int) + 2 * BORDER
        self._size = (int(size[0]) * FINER, int(size[1]) * FINER)
        self._low = low
        image = Image.new("RGB", self._size, FLOOR)
        pen = ImageDraw.Draw(image)
        # A grid of metres, or of ten, or of a hundred.
        gap = 10.0 ** max(0.0, np.ceil(np.log10(float(max(high - low)) / 40.0)))
        for axis in (0, 1):
            for at in np.arange(np.ceil(low[axis] / gap) * gap, high[axis], gap):
                ends = np.array([low, high])
                ends[:, axis] = at
                pen.line(self._place(ends).ravel().tolist(), fill=LINES, width=FINER)
        lines = self._place(plan.segments.reshape(-1, 2)).reshape(-1, 4)
        colours = (MATT + plan.shine[:, None] * (GLASS - MATT)).astype(int).tolist()
        for line, colour in zip(lines.tolist(), colours[: len(lines)], strict=True):
            pen.line(line, fill=tuple(colour), width=2 * FINER)
        for (x, y, radius), colour in zip(plan.circles, colours[len(lines) :], strict=True):
            pen.ellipse(self._box(np.array([x, y]), radius), outline=tuple(colour), width=2 * FINER)
        self._image = image

    def draw(self, pose: Array, radius: float, bearings: Array, ranges: NDArray[np.floating]) -> NDArray[np.uint8]:
        """A robot, what its laser sees, and where it looks.

        Args:
            pose: (3,) x, y [m], heading [rad].
            radius: Of the robot [m].
            bearings: (beams,) of the laser [rad].
            ranges: (beams,) what it measured [m]; not a number where nothing came back.

        Returns:
            (rows, columns, 3), the longer side of 640 pixels; y points up.
        """
        seen = np.isfinite(ranges)
        directions = pose[2] + bearings[seen]
        ends = pose[:2] + ranges[seen, None] * np.column_stack([np.cos(directions), np.sin(directions)])
        points = self._place(ends)
        image = self._image.copy()
        if len(points) > 1:
            fan = Image.new("RGBA", self._size, (0, 0, 0, 0))
            outline = np.concatenate([self._place(pose[None, :2]), points])
            ImageDraw.Draw(fan).polygon(outline.ravel().tolist(), fill=LIGHT)
            image.paste(fan, (0, 0), fan)
        pen = ImageDraw.Draw(image)
        for x, y in points.tolist():
            pen.ellipse((x - 1.5 * FINER, y - 1.5 * FINER, x + 1.5 * FINER, y + 1.5 * FINER), fill=POINT)
        pen.ellipse(self._box(pose[:2], radius), fill=BODY, outline=EDGE, width=FINER)
        nose = np.array([(0.85, 0.0), (0.25, 0.4), (0.25, -0.4)]) * radius
        turn = np.array([(np.cos(pose[2]), np.sin(pose[2])), (-np.sin(pose[2]), np.cos(pose[2]))])
        pen.polygon(self._place(pose[:2] + nose @ turn).ravel().tolist(), fill=NOSE)
        return np.asarray(image.reduce(FINER))

    def _place(self, points: Array) -> Array:
        """Points (n, 2) [m] in the picture [pixel]."""
        placed = (points - self._low) * self._scale + BORDER * FINER
        return np.column_stack([placed[:, 0], self._size[1] - placed[:, 1]])

    def _box(self, middle: Array, radius: float) -> tuple[float, float, float, float]:
        (x, y), reach = self._place(middle[None])[0].tolist(), radius * self._scale
        return x - reach, y - reach, x + reach, y + reach
