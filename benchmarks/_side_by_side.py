"""The common form of the benchmarks: what is compared, how it is timed, how it is shown.

A benchmark makes a list of `Comparison` and hands it to `main`; ``--json`` prints one line per comparison, for
programs. If a bar does not hold, the exit status is 1.
"""

import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parents[1] / "docs/results"


@dataclass(frozen=True)
class Comparison:
    """One quantity, measured here and, where there is one, on a peer in the same run.

    Attributes:
        name: What is measured.
        ours: What this project makes.
        peer: What the peer makes; None where there is none.
        unit: Of both.
        at_least: Bar that the ratio, or ``ours`` where there is no peer, must reach.
        at_most: Bar that it must not exceed.
        note: Under what conditions it was measured, where they were not the usual ones.
    """

    name: str
    ours: float
    unit: str
    peer: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over the peer's."""
        return None if self.peer is None else self.ours / self.peer

    @property
    def bar(self) -> float | None:
        """The bar; None where there is none."""
        return self.at_most if self.at_least is None else self.at_least

    @property
    def holds(self) -> bool | None:
        """Whether the bar is met; None where there is none."""
        if self.bar is None:
            return None
        judged = float(self.ours if self.ratio is None else self.ratio)
        return (self.at_least is None or judged >= self.at_least) and (self.at_most is None or judged <= self.at_most)

    def row(self) -> dict[str, Any]:
        """What ``--json`` prints; ``bar`` and ``holds`` only where there is a bar, ``note`` only where there is one."""
        row = {"name": self.name, "ours": self.ours, "peer": self.peer, "ratio": self.ratio, "unit": self.unit}
        judged = {} if self.bar is None else {"bar": self.bar, "holds": self.holds}
        return {**row, **judged, **({"note": self.note} if self.note else {})}


def number(value: float | None) -> str:
    """Three significant digits, or whole with thousands marked; empty for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def best_rates(
    repetitions: int, *works: Callable[[], float], before: Callable[[], object] = lambda: None
) -> list[float]:
    """Time several pieces of work in turns, so that a busy machine slows all of them, and keep the best rate of each.

    Time is that of the processor, over all threads: other programs take turns on it too, and are not our cost.

    Args:
        repetitions: How often each work is done.
        works: Each does its work once and returns how much it was.
        before: Called before each turn, without being timed.

    Returns:
        Amount of work per second, for each.
    """
    rates = [0.0] * len(works)
    for _ in range(repetitions):
        before()
        for k, work in enumerate(works):
            start = time.process_time()
            amount = work()
            rates[k] = max(rates[k], amount / (time.process_time() - start))
    return rates


def keep(comparisons: Sequence[Comparison], name: str) -> None:
    """Write one JSON object per line to ``docs/results/benchmark.NAME.jsonl``."""
    lines = [json.dumps(each.row()) + "\n" for each in comparisons]
    (RESULTS / f"benchmark.{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def show(comparisons: Sequence[Comparison], as_json: bool) -> None:
    """Print a table, or one JSON object per line.

    Raises:
        SystemExit: With status 1, if a bar does not hold.
    """
    if as_json:
        for each in comparisons:
            print(json.dumps(each.row()), flush=True)
    else:
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("what")
        for column in ("ours", "peer", "ratio"):
            table.add_column(column, justify="right")
        for column in ("unit", "bar", "holds"):
            table.add_column(column)
        for each in comparisons:
            holds = {True: "[green]yes", False: "[red]no", None: ""}[each.holds]
            numbers = (number(value) for value in (each.ours, each.peer, each.ratio))
            word = "at least" if each.at_most is None else "at most"
            bar = "" if each.bar is None else f"{word} {number(each.bar)}"
            table.add_row(each.name, *numbers, each.unit, bar, holds)
        Console().print(table)
    if any(each.holds is False for each in comparisons):
        raise SystemExit(1)


def main(compare: Callable[..., Sequence[Comparison]], folder: str = "") -> None:
    """Run a benchmark from the command line; its help is the docstring of ``compare``.

    Args:
        compare: Measures.
        folder: Help of a folder that may be given on the command line: ``compare`` gets it, or None.
    """
    parser = ArgumentParser(description=compare.__doc__)
    if folder:
        parser.add_argument("folder", nargs="?", help=folder)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line, for programs")
    parser.add_argument("--keep", action="store_true", help="keep the lines in docs/results")
    parser.add_argument("--note", default="", help="keep this with every line, such as that the machine was busy")
    chosen = parser.parse_args()
    comparisons = [
        replace(each, note=chosen.note or each.note) for each in (compare(chosen.folder) if folder else compare())
    ]
    if chosen.keep and comparisons:
        keep(comparisons, Path(sys.argv[0]).stem)
    show(comparisons, chosen.json)
