"""The tab "Studies": what there is, how long it takes, and a run with its progress, figure and claims."""

import hashlib
import html
import io
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Pillow

from sandlot.errors import SandlotError
from sandlot.lab.door import Door
from sandlot.studies.catalogue import catalogue, in_words
from sandlot.studies.runner import load, progress_of
from sandlot.studies.states import describe_studies, last_runs

COMMAND = "from sandlot.cli import main; main()"
POLLED = 0.5
"""Time between two looks at a run [s]."""
LONGEST = 12
"""Claims that are listed; the report has all."""
WIDTH = 760
"""Of the figure [pixel]."""


class StudiesTab:
    """The tab, and the run that it shows."""

    def __init__(self, server: Any, door: Door, runs: Path) -> None:
        """Put the tab's elements on the page, where the present context of viser is; runs are below ``runs``."""
        self._door, self._runs = door, runs
        self._process: subprocess.Popen[str] | None = None
        self._worker: threading.Thread | None = None
        self._directory = runs
        self._gui = gui = server.gui
        self._entries = catalogue()
        self._study = gui.add_dropdown("Study", tuple(sorted(self._entries)), initial_value="leveling.probabilities")
        self._about = gui.add_markdown("")
        self._settings = gui.add_text(
            "Settings", "", hint="As for `sandlot run --set`, such as replicates=3; several with spaces"
        )
        self._press = gui.add_button_group("Run", ("run", "stop"))
        self._progress = gui.add_progress_bar(0.0)
        self._status = gui.add_markdown("")
        blank = np.full((4, 4, 3), 255, np.uint8)
        self._figure = gui.add_image(blank, visible=False)
        self._claims = gui.add_markdown("")
        self._study.on_update(lambda _: self.choose(self._study.value))
        self._press.on_click(lambda event: self.run() if event.target.value == "run" else self.stop())
        self.choose(self._study.value)

    def choose(self, name: str) -> None:
        """Show a study, and its last run."""
        self._study.value = name
        row = next(each for each in describe_studies(last_runs(self._runs)) if each["study"] == name)
        entry = self._entries[name]
        self._about.content = (
            f"**{entry.question}**\n\nSource: {entry.source}. Full size: {in_words(entry.seconds)} on two cores. "
            f"Last run here: {row['last_run'] or 'none'}."
        )
        self._figure.visible, self._claims.content, self._progress.value, self._status.content = False, "", 0.0, ""
        self._directory = self._runs / name
        if self._directory.is_dir():
            self._finish(name)

    def run(self) -> None:
        """Run the study that is chosen, or resume it, in a process of its own."""
        if self._worker is not None and self._worker.is_alive():
            return
        name, given = self._study.value, self._settings.value.split()
        self._directory = self._runs / name
        if given:  # a directory keeps runs of one set of settings
            self._directory = self._runs / f"{name}-{hashlib.sha256(repr(sorted(given)).encode()).hexdigest()[:8]}"
        words = ["run", name, "--out", str(self._directory)]
        words += [word for each in given for word in ("--set", each)]
        self._status.content = "Starting ..."
        self._worker = threading.Thread(
            target=self._work, args=(name, self._directory, words), name="study", daemon=True
        )
        self._worker.start()

    def stop(self) -> None:
        """Stop the run; finished jobs are kept, and running it again goes on."""
        if self._process is not None:
            self._process.terminate()

    def close(self) -> None:
        """Stop the run."""
        self.stop()

    def _work(self, name: str, directory: Path, words: list[str]) -> None:
        """Run a study in a process, and show how far it is."""
        command = [sys.executable, "-c", COMMAND, *words]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:  # a pipe that nobody reads would fill up
            self._process = process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=output, text=True)
            self._follow(name, directory, process)
            self._process = None
            output.seek(0)
            said = output.read().strip().splitlines()
        if self._study.value != name:  # another study is shown; this run is found when its study is chosen again
            return
        if process.returncode == 0:
            self._progress.value, self._directory = 100.0, directory
            self._finish(name)
        else:
            self._status.content = f"**Stopped.** {html.escape(said[-1]) if said else ''}"

    def _follow(self, name: str, directory: Path, process: "subprocess.Popen[str]") -> None:
        """Show the progress of a run until it ends."""
        began = time.monotonic()
        while process.poll() is None:
            time.sleep(POLLED)
            try:
                _, done, total = progress_of(directory)
            except SandlotError:  # the run has not begun to write yet
                continue
            if self._study.value != name:
                continue
            self._progress.value = 100.0 * done / max(total, 1)
            spent = time.monotonic() - began
            left = f", about {in_words(spent * (total - done) / done)} left" if done else ""
            self._status.content = f"{done:,} of {total:,} jobs{left}"

    def _finish(self, name: str) -> None:
        """Show the figure and the claims of a finished run."""
        try:
            outcome = load(self._directory)
        except SandlotError as error:
            self._status.content = html.escape(str(error))
            return
        report = self._directory / "index.html"
        link = ""
        if report.is_file():
            address = self._door.offer(f"{self._directory.name}/index.html", report)
            link = f" <a href='{address}' target='_blank'>Open the report</a>"
        holds = sum(claim.verdict == "holds" for claim in outcome.claims)
        self._status.content = f"Done: {holds} of {len(outcome.claims)} claims hold.{link}"
        lines = [f"- **{claim.verdict}**: {claim.text}" for claim in outcome.claims[:LONGEST]]
        lines += [f"- and {len(outcome.claims) - LONGEST} more in the report"] if len(outcome.claims) > LONGEST else []
        self._claims.content = "\n".join(lines)
        self._draw(outcome)

    def _draw(self, outcome: Any) -> None:
        figure, data = outcome.study.figure(outcome.results), io.BytesIO()
        figure.savefig(data, format="png", dpi=110)
        picture = Pillow.open(data).convert("RGB")
        picture.thumbnail((WIDTH, 4 * WIDTH))
        self._figure.image, self._figure.visible = np.asarray(picture), True
