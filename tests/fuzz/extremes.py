"""Worlds and studies with one extreme setting: the list of all cases, and a process that tries them.

A compiled loop cannot be interrupted, so cases are tried in a process of their own, which is killed if one takes too
long.
"""

import json
import math
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fuzz.checks import check
from sandlot.schema import resolve
from sandlot.settings import build
from sandlot.studies import all_studies
from sandlot.worlds import WORLDS, load

TESTS = Path(__file__).parents[1]
VALUES = (0, -1, 1e-300, 1e-9, 1e300, math.nan, math.inf, 65536, 2**63)
MAX_SECONDS = 60.0
"""For one case: make the world, reset it, and step it three times. Processor time is limited to 10 s; compiled code,
which cannot be interrupted, to this."""
MAX_JOBS = 1_000_000
"""Of a study."""
SMALL: dict[str, dict[str, dict[str, Any]]] = {
    "leveling": {"": {}},
    "avoid": {"fast": {}, "reference": {"fidelity": "reference"}},
    "indoor": {"": {"laser": {"beams": 36}}},
    "obstacles": {
        "mixed": {},
        "box": {"course": {"kind": "box"}},
        "stairs": {"course": {"kind": "stairs"}},
        "rubble": {"course": {"kind": "rubble"}},
        "reference": {"fidelity": "reference", "course": {"kind": "ramp"}},
    },
    "water": {
        "fast": {"snake": {"links": 6, "mass": 112.5}},
        "reference": {"fidelity": "reference", "snake": {"links": 6, "mass": 112.5}},
    },
    "terrain": {
        "soil": {"shape": [64, 64], "terrain": "flat"},
        "hills": {"shape": [64, 64], "terrain": "hills"},
        "rigid": {"shape": [64, 64], "terrain": "flat", "ground": "rigid"},
        "particles": {"shape": [48, 48], "terrain": "flat", "ground": "particles", "particles": {"settle": False}},
    },
}
"""Settings of each world that take little time, by variant."""


@dataclass(frozen=True)
class Case:
    """One setting with one value.

    Attributes:
        kind: ``world`` or ``study``.
        name: Of the world or study.
        variant: Of the world.
        key: Dotted.
        value: As JSON.
    """

    kind: str
    name: str
    variant: str
    key: str
    value: Any


def cases(kind: str, name: str, variant: str = "") -> Iterator[Case]:
    """All numeric settings of a world or study, each with every extreme value; of a list, each element and all."""
    model = load(name).Settings if kind == "world" else all_studies()[name]
    for key, count in numeric(model):
        for value in VALUES:
            if count is None:
                yield Case(kind, name, variant, key, value)
            else:
                yield Case(kind, name, variant, key, [value] * count)
                if count > 1:
                    yield Case(kind, name, variant, key, [value] + [1] * (count - 1))


def numeric(model: type[BaseModel]) -> Iterator[tuple[str, int | None]]:
    """Dotted keys of all numeric settings; with the length of those that are lists of numbers."""
    schema = model.model_json_schema()

    def walk(node: dict[str, Any], key: str) -> Iterator[tuple[str, int | None]]:
        node = resolve(node, schema)
        for option in node.get("anyOf", node.get("oneOf", [node])):
            option = resolve(option, schema)
            if option.get("type") in ("number", "integer"):
                yield key, None
            elif option.get("type") == "array":
                items = option.get("prefixItems") or [option.get("items", {})]
                if all(resolve(each, schema).get("type") in ("number", "integer") for each in items):
                    yield key, len(items)
            for name, inner in option.get("properties", {}).items():
                yield from walk(inner, f"{key}.{name}" if key else name)

    yield from dict.fromkeys(walk(schema, ""))


def attempt(case: Case) -> None:
    """Make the world, reset it and step it three times; or make the study and list its jobs."""
    keys = case.key.split(".")
    values: dict[str, Any] = {}
    if case.kind == "world":
        values = json.loads(json.dumps(SMALL[case.name][case.variant]))
    table = values
    for name in keys[:-1]:
        # A table that is usually a name, such as a soil, starts from a preset.
        table = table.setdefault(name, dict(SOIL) if name == "soil" else {})
    table[keys[-1]] = case.value
    if case.kind == "study":
        study = build(all_studies()[case.name], values)
        study.check()
        assert sum(1 for _ in islice(study.jobs(), MAX_JOBS + 1)) <= MAX_JOBS, "endless jobs"
        return
    world = load(case.name)(**values)
    world.reset(seed=0)
    world.action_space.seed(0)
    for _ in range(3):
        world.step(world.action_space.sample())
    world.close()


SOIL = {"kphi": 2e6, "exponent": 1.1, "friction": 30.0, "shear": 0.01, "elastic": 2e8, "damping": 3e4}


class Attempts:
    """A process that tries cases; a new one replaces it when it is killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def attempt(self, case: Case) -> tuple[str, float]:
        """Try a case.

        Returns:
            Its message, empty if the value was taken, or ``!`` and what went wrong; and the time it took [s].
        """
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fuzz.extremes"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=tempfile.gettempdir(),  # MuJoCo writes a log of its warnings
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
            )
            self._read(300.0)
        assert self._process.stdin
        self._process.stdin.write(json.dumps(case.__dict__) + "\n")
        self._process.stdin.flush()
        began = time.monotonic()
        answer = self._read(MAX_SECONDS)
        return answer, time.monotonic() - began

    def _read(self, patience: float) -> str:
        assert self._process
        assert self._process.stdout
        if select.select([self._process.stdout], [], [], patience)[0] and (line := self._process.stdout.readline()):
            return str(json.loads(line))
        status = self._process.poll()
        self.close()
        return "!hang" if status is None else f"!crash, status {status}"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def serve() -> None:
    """Answer each case on standard input with one line on standard output, both JSON."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34))
    for name in WORLDS:  # compiled before the first case is timed
        for variant in SMALL[name]:
            attempt(
                Case("world", name, variant, "fidelity", load(name).fidelities()[0 if variant != "reference" else -1])
            )
    answers = sys.stdout
    sys.stdout = sys.stderr
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        case = Case(**json.loads(line))
        try:
            answer = check(lambda case=case: attempt(case))
        except BaseException as error:
            answer = f"!{type(error).__name__}: {str(error)[:300]}"
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve()
