"""Writes ``docs/reproduction.md``, every published claim with its origin, from ``docs/results``: ``make docs-pages``.

Also writes the list of studies that ``sandlot studies`` shows, and the schemas of settings (`sandlot.declared`).

``docs/origins.toml`` says where claims come from, and why they fail.
"""

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from sandlot import declared
from sandlot.errors import RunError
from sandlot.learning.avoider import AvoiderTraining
from sandlot.learning.climber import ClimberTraining
from sandlot.learning.rover import RoverTraining
from sandlot.learning.training_settings import Training
from sandlot.sensing.rplidar.faults import Faults
from sandlot.studies import all_studies
from sandlot.studies.catalogue import Entry, entry, write
from sandlot.surrogates.soil.fit import FitSettings
from sandlot.surrogates.terrain.training import Training as Fitting
from sandlot.worlds import SHIPPED
from sandlot.worlds import load as load_world

DOCS = Path(__file__).parent
PAGE, ORIGINS, RESULTS = DOCS / "reproduction.md", DOCS / "origins.toml", DOCS / "results"
OURS, LAWS = "ours", "theory and Project Chrono"
LEAD = """\
Every claim of the kept results, one per line: the value of its source, and the line where the source says so; the value
measured here; and whether the claim holds. The tests and tolerances that decide are on the page of each study.

Lines are counted in the sources' plain text. A law, another program or *ours* in place of a line means that none of the
sources makes the claim. A failure has a reason only if a claim that holds shows it; otherwise it is *unexplained*.
`make docs-pages` makes this page from `docs/results` and `docs/origins.toml`."""

Claim = Mapping[str, Any]


def load(folder: Path = RESULTS) -> dict[str, Mapping[str, Any]]:
    """The published summary of every study."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))}


def waiting(kept: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Studies without a published summary, because they changed since they were run."""
    return [name for name in all_studies() if name not in kept]


class Origins:
    """What ``origins.toml`` says about published claims.

    Attributes:
        before: Claims that held and all claims before the sources were read again, by whose they are.
    """

    def __init__(self, kept: Mapping[str, Mapping[str, Any]], file: Path = ORIGINS) -> None:
        """Read it.

        Args:
            kept: The published summary of every study.
            file: Another file of this form.

        Raises:
            RunError: If it has no entry for one of the claims, or an entry for none.
        """
        read = tomllib.loads(file.read_text(encoding="utf-8"))
        claims = {study: summary["claims"] for study, summary in kept.items()}
        self._claims, self._sources, self._lines = claims, read["sources"], read["claims"]
        self._reasons = read.get("reasons", {})
        self.before: Mapping[str, tuple[int, int]] = {name: tuple(both) for name, both in read["before"].items()}
        for study, found in claims.items():
            for claim in found:
                if _entry(self._lines.get(study, {}), claim["text"]) is None:
                    raise RunError(f'{file.name}: [claims."{study}"] has no entry for {claim["text"]!r}')
        for study in claims:
            if not {study, study.partition(".")[0]} & set(self._sources):
                raise RunError(f"{file.name}: [sources] has no entry for {study.partition('.')[0]!r}")
        later = set(waiting(kept))
        for study, entries in self._reasons.items():
            for key, reason in entries.items():
                if study in later:
                    continue
                by, begins = reason[1:] if len(reason) == 3 else (None, "")
                if not any(claim["text"].startswith(begins) for claim in claims.get(by, ())):
                    raise RunError(f'{file.name}: [reasons."{study}"]: the reason of {key!r} names no published claim')
        for kind, table in (("claims", self._lines), ("reasons", self._reasons)):
            for study, entries in table.items():
                if study in later:
                    continue
                texts = [claim["text"] for claim in claims.get(study, ())]
                unused = [key for key in entries if not any(text.startswith(key) for text in texts)]
                if unused:
                    raise RunError(f'{file.name}: [{kind}."{study}"]: no published claim begins with {unused[0]!r}')

    def line(self, study: str, claim: Claim) -> str:
        """Where a claim comes from: ``line 736``, a law such as ``Bekker 1969``, or ``ours``."""
        return str(_entry(self._lines[study], claim["text"]))

    def whose(self, study: str, claim: Claim) -> str:
        """Whose claim it is: the name of a source, ``LAWS`` or ``OURS``."""
        line = self.line(study, claim)
        if line.startswith("line"):
            return str(self._sources.get(study) or self._sources[study.partition(".")[0]])
        return OURS if line.startswith(OURS) else LAWS

    def reason(self, study: str, claim: Claim, to_studies: str = "studies/") -> str:
        """Why a claim fails, with a link to the study whose claim shows it, or ``unexplained``."""
        found = _entry(self._reasons.get(study, {}), claim["text"])
        if found is None:
            return "unexplained"
        text, by, begins = found
        shown = [each["holds"] for each in self._claims.get(by, ()) if each["text"].startswith(begins)]
        return f"{text} ([{by}]({to_studies}{by}.md))" if shown and all(shown) else "unexplained"


def _entry(table: Mapping[str, Any], text: str) -> Any:
    """The value of the longest key with which a text begins, or None."""
    fits = [key for key in table if text.startswith(key)]
    return table[max(fits, key=len)] if fits else None


def page(kept: Mapping[str, Mapping[str, Any]], origins: Origins, later: Sequence[str] = ()) -> str:
    """The whole page; ``later`` are studies that have changed since they were run."""
    parts = ["---\nhide: [navigation]\n---", "# Reproduction", LEAD, counts(kept, origins)]
    if later:
        parts.append(f"Not counted, because they were not run since they were written or changed: {', '.join(later)}.")
    for study, summary in kept.items():
        found = summary["claims"]
        holding = f"{sum(claim['holds'] for claim in found)} of {len(found)} claims hold."
        parts += [f"## {study}", f"[{summary['source']}](studies/{study}.md). {holding}", rows(study, found, origins)]
    return "\n\n".join(parts) + "\n"


def counts(kept: Mapping[str, Mapping[str, Any]], origins: Origins) -> str:
    """How many claims hold, for each source and together, before and now."""
    held: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for study, summary in kept.items():
        for claim in summary["claims"]:
            whose = origins.whose(study, claim)
            every[whose] += 1
            held[whose] += claim["holds"]
    order = [*sorted(set(every) - {LAWS, OURS}), LAWS, OURS]
    lines = [(name, *origins.before.get(name, (0, 0)), held[name], every[name]) for name in order]
    total = [sum(column) for column in list(zip(*lines, strict=True))[1:]]
    cells = [(name, f"{a} of {b}", f"{c} of {d}") for name, a, b, c, d in [*lines, ("**all**", *total)]]
    return table(("claims of", "held before", "hold now"), cells)


def rows(study: str, found: Iterable[Claim], origins: Origins) -> str:
    """One line for each claim of a study."""
    cells = []
    for claim in found:
        verdict = "✓" if claim["holds"] else f"✗ {origins.reason(study, claim)}"
        source, measured = (_short(claim[key]) for key in ("source", "measured"))
        cells.append((claim["text"], source, origins.line(study, claim), measured, verdict))
    return table(("claim", "source", "origin", "here", "holds"), cells)


def entries(kept: Mapping[str, Mapping[str, Any]]) -> list[Entry]:
    """The list of studies, with how long their published runs took."""
    times = {name: (each["wall_time"], each["jobs"]) for name, each in kept.items()}
    return [entry(study, times.get(name)) for name, study in all_studies().items()]


def models() -> dict[str, type[BaseModel]]:
    """Everything that has settings on the command line."""
    trained = {"climber": ClimberTraining, "avoider": AvoiderTraining, "rover": RoverTraining, "world": Training}
    return {
        **{f"study {name}": each for name, each in all_studies().items()},
        **{f"world {name}": load_world(name).Settings for name in SHIPPED},
        **{f"train {name}": each for name, each in trained.items()},
        "fit motion": Fitting,
        "fit soil": FitSettings,
        "fault of a lidar": Faults,
    }


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def table(header: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *([cell.replace("|", r"\|") for cell in row] for row in cells)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    published = load()
    write(entries(published))
    declared.FILE.write_text(declared.declare(models()), encoding="utf-8")
    try:
        PAGE.write_text(page(published, Origins(published), waiting(published)), encoding="utf-8")
    except RunError as error:
        sys.exit(f"error: {error}")
