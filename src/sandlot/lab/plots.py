"""Live plots of quantities of frames."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sandlot.recordings import Frame, Quantity

SAMPLES = 450
"""Of a plot; older ones are forgotten."""
SEPARATE = 8
"""A quantity with at most so many elements has a line in the list for each; of a larger one, the mean is plotted."""
NOTHING = "nothing"
COLOURS = ("#2f6690", "#c8463c")


def choices(quantities: Mapping[str, Quantity]) -> dict[str, tuple[str, int | None]]:
    """What can be plotted: text in the list, to name of the quantity and index of its element, None for the mean."""
    found: dict[str, tuple[str, int | None]] = {}
    for name, quantity in quantities.items():
        size = int(np.prod(quantity.shape))
        unit = "" if quantity.units == "1" else f" [{quantity.units}]"
        if name == "time" or size == 0:
            continue
        if size == 1:
            found[f"{name}{unit}"] = name, 0
        elif size <= SEPARATE:
            found |= {f"{name} {k}{unit}": (name, k) for k in range(size)}
        else:
            found[f"mean of {name}{unit}"] = name, None
    return found


def number(frame: Frame, name: str, index: int | None) -> float:
    """A number of a frame, by what `choices` names."""
    values = np.asarray(frame[name], np.float64).ravel()
    return float(values.mean() if index is None else values[index])


class Plot:
    """A plot of one quantity over time, with a line for each of one or two runs.

    Attributes:
        chosen: The list of quantities on the page.
    """

    def __init__(self, gui: Any, label: str, quantities: Mapping[str, Quantity] | None = None) -> None:
        """Put it on the page, below a list to choose from."""
        self._choices = choices(quantities or {}) or {NOTHING: ("", None)}
        self._names: tuple[str, ...] = ()
        self._history: deque[tuple[float, ...]] = deque(maxlen=SAMPLES)
        self.chosen = gui.add_dropdown(label, tuple(self._choices))
        self._chart = gui.add_uplot(
            (np.zeros(2), np.zeros(2), np.zeros(2)),
            self._series(),
            scales={"x": {"time": False}},
            axes=({"size": 32}, {"size": 50}),
            legend={"show": False},
            height=140,
        )
        self.chosen.on_update(lambda _: self.restart())

    def offer(self, quantities: Mapping[str, Quantity], first: str, names: Sequence[str]) -> None:
        """Plot quantities of these, at first the one called ``first``; ``names`` are of the runs."""
        self._choices, self._names = choices(quantities), tuple(names)
        self.chosen.options = tuple(self._choices)
        self.chosen.value = next(
            (text for text, (name, _) in self._choices.items() if name == first), self.chosen.value
        )
        self._chart.series, self._chart.legend = self._series(), {"show": len(names) > 1}
        self.restart()

    def _series(self) -> tuple[dict[str, Any], ...]:
        """Both lines of the chart; with one run, they are the same."""
        names, colours = self._names or ("",), COLOURS[: max(len(self._names), 1)]
        lines = [{"label": names[k % len(names)], "stroke": colours[k % len(colours)], "width": 2} for k in range(2)]
        return ({}, *lines)

    def restart(self) -> None:
        """Forget what was plotted."""
        self._history.clear()

    def add(self, time: float, frames: Sequence[Frame]) -> None:
        """Add a moment [s], and the frame of each run."""
        if self._history and time < self._history[-1][0]:
            self.restart()
        name, index = self._choices.get(self.chosen.value, ("", None))
        if name and all(name in frame for frame in frames):
            values = [number(frame, name, index) for frame in frames]
            self._history.append((time, values[0], values[-1]))

    def draw(self) -> None:
        """Send what was added."""
        if len(self._history) > 1:
            self._chart.data = tuple(np.array(column) for column in zip(*tuple(self._history), strict=True))
