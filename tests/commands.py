"""The output of a command, and settings of a study that takes little time, for the tests of the command line."""

import json
from dataclasses import dataclass

PROBABILITIES = "leveling.probabilities"
SMALL = ["--set", "world.shape=[12,12]", "--set", "replicates=2", "--set", "probabilities=[0.5,0.3,0.1]"]


@dataclass(frozen=True)
class Said:
    status: int
    out: str
    err: str

    def json(self):
        assert self.status == 0, self.err
        return json.loads(self.out)


def assert_one_clear_line(said: Said, *words: str) -> None:
    assert said.status == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1, said.err
    assert said.err.startswith("error: ")
    assert all(word in said.err for word in words), said.err
