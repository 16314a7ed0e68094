"""A valid sample of what a reader reads, and mutated inputs made from it."""

import random
from pathlib import Path

from fuzz.checks import check
from fuzz.mutations import mutate
from fuzz.readers import READERS


class Sample:
    """A valid sample of what a reader reads, of which one file at a time is mutated."""

    def __init__(self, name: str, folder: Path) -> None:
        self.reader, self.name, self.folder = READERS[name], name, folder
        self.reader.make(folder)
        self.files = {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
        assert check(lambda: self.reader.read(folder)) == "", "the valid sample is refused"

    def fuzz(self, number: int) -> None:
        """Read a mutated input; the number and the reader's name decide which."""
        rng = random.Random(f"{self.name} {number}")
        file, donor = rng.choice(list(self.files)), rng.choice(list(self.files.values()))
        data = mutate(self.files[file], donor, rng)
        file.write_bytes(data)
        try:
            check(lambda: self.reader.read(self.folder))
        except BaseException as error:
            error.add_note(f"{self.name}, input {number}, {file.name}: {data[:300]!r}")
            raise
        finally:
            self._restore(file)

    def _restore(self, mutated: Path) -> None:
        for file, content in self.files.items():
            if file == mutated or file.name == "card.json":  # some readers change the digest in a card
                file.write_bytes(content)
        for other in self.folder.rglob("*"):
            if other.is_file() and other not in self.files:
                other.unlink()
