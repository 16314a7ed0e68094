"""The tab "Replay": a recording with a time line, forwards and backwards, and as one HTML file."""

import html
import threading
import time
from pathlib import Path
from typing import Any

from sandlot.errors import SandlotError
from sandlot.lab.replay import read_moments, to_html, trail, with_trail
from sandlot.lab.stage import Stage
from sandlot.worlds.replay import Moment
from sandlot.worlds.scene import Lines, Scene

SPEEDS = ("0.25x", "0.5x", "1x", "2x", "5x", "20x")
NOTHING = "nothing"
TICK = 0.05
"""Time between two steps of the time line [s]."""


class ReplayTab:
    """The tab, and the recording that it shows.

    Attributes:
        moments: Of the recording that is open.
        position: Number of the moment that is shown.
    """

    def __init__(self, server: Any, stage: Stage) -> None:
        """Put the tab's elements on the page, where the present context of viser is."""
        self._stage, self.moments, self.position = stage, list[Moment](), 0
        self._trail: Lines | None = None
        self._shown: tuple[int, Lines | None, Scene] | None = None
        self._way, self._time, self._closed = 0, 0.0, False
        gui = server.gui
        self._path = gui.add_text(
            "Recording", "recordings/terrain", hint="As `sandlot record` or `sandlot rover serve --record` writes it"
        )
        gui.add_button("Open").on_click(lambda _: self._tried(lambda: self.open(Path(self._path.value))))
        self._status = gui.add_markdown("Record a world with `sandlot record terrain`, then open it here.")
        self._line = gui.add_slider("Time line", 0, 1, 1, 0)
        self._play = gui.add_button_group("Play", ("back", "pause", "play"))
        self._speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1x")
        self._colour = gui.add_dropdown("Colour by", (NOTHING,), hint="Colours the path by a quantity")
        save = gui.add_button("Save as HTML", hint="One file that plays in any browser, offline")
        self._line.on_update(lambda event: self._scrub(event))
        self._play.on_click(lambda event: self._go(event.target.value))
        self._colour.on_update(lambda _: self._paint())
        save.on_click(lambda event: self._tried(lambda: self._save(event.client)))
        threading.Thread(target=self._loop, name="replay tab", daemon=True).start()

    def open(self, path: Path) -> None:
        """Read a recording and show its first moment.

        Raises:
            SandlotError: If it cannot be replayed.
        """
        self._way = 0
        self._status.content = "Reading ..."
        self.moments = read_moments(path, self._progress)
        self.position, self._time = 0, self.moments[0].time
        self._line.max, self._line.value = max(len(self.moments) - 1, 1), 0
        names = dict.fromkeys(name for each in self.moments[:50] for name in each.numbers)
        self._colour.options, self._colour.value = (NOTHING, *names), NOTHING
        self._trail = self._shown = None
        self._stage.show(self, self._scenes)
        self._say()

    def show(self, position: int) -> None:
        """Show a moment, by its number."""
        self.position = min(max(position, 0), max(len(self.moments) - 1, 0))
        if self.moments:
            self._time = self.moments[self.position].time
            self._say()
            if not self._stage.shows(self):
                self._stage.show(self, self._scenes)

    def close(self) -> None:
        """Stop playing."""
        self._closed = True

    def _scenes(self) -> tuple[Scene, ...]:
        if self._shown is None or self._shown[0] != self.position or self._shown[1] is not self._trail:
            scene = self.moments[self.position].scene
            self._shown = self.position, self._trail, with_trail(scene, self._trail)
        return (self._shown[2],)

    def _progress(self, done: int, total: int) -> None:
        if done % 20 == 1:
            self._status.content = f"Reading frame {done:,} of {total:,} ..."

    def _tried(self, what: Any) -> None:
        try:
            what()
        except SandlotError as error:
            self._status.content = f"**Not possible:** {html.escape(str(error))}"

    def _scrub(self, event: Any) -> None:
        if event.client is not None:  # a viewer, and not the tab itself
            self._way = 0
            self.show(int(self._line.value))

    def _go(self, button: str) -> None:
        self._way = {"back": -1, "pause": 0, "play": 1}[button]
        if self.moments and self._way == 1 and self.position == len(self.moments) - 1:
            self.show(0)

    def _paint(self) -> None:
        self._trail = None if self._colour.value == NOTHING else trail(self.moments, self._colour.value)

    def _save(self, client: Any) -> None:
        if not self.moments:
            raise SandlotError("open a recording first")
        self._status.content = "Writing the page ..."
        name = f"{Path(self._path.value).name or 'recording'}.html"
        client.send_file_download(name, to_html(self.moments, self._trail).encode())
        self._status.content = f"Saved as `{name}`, where your browser puts downloads."

    def _say(self) -> None:
        moment = self.moments[self.position]
        value = moment.numbers.get(self._colour.value)
        said = "" if value is None else f", {self._colour.value} {value:.3g}"
        self._status.content = f"**{moment.time:.2f} s**, frame {moment.number:,}, episode {moment.episode + 1}{said}"

    def _loop(self) -> None:
        while not self._closed:
            time.sleep(TICK)
            if self._way == 0 or not self.moments:
                continue
            self._time += self._way * TICK * float(self._speed.value.removesuffix("x"))
            k = self.position
            while (
                0 <= k + self._way < len(self.moments)
                and self._way * (self._time - self.moments[k + self._way].time) >= 0
            ):
                k += self._way
            if k != self.position:
                self.position = k
                self._line.value = k
                self._say()
            if not 0 <= self.position + self._way < len(self.moments):
                self._way = 0
