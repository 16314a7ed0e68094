"""Fuzz all readers in turn for some minutes and print totals: ``python -m fuzz MINUTES [FIRST]``.

Inputs are numbered from FIRST on, by default from a number that depends on the time. A failure is printed, and the run
goes on.
"""

import sys
import tempfile
import time
from pathlib import Path

from fuzz.checks import peak
from fuzz.readers import READERS
from fuzz.samples import Sample

ROUND = 200
"""Inputs of a reader before the next one has its turn."""


def main(minutes: float, first: int) -> int:
    """Fuzz; returns the number of failures."""
    count, failures, slowest, most = 0, 0, (0.0, ""), (0.0, "")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        samples = []
        for number, name in enumerate(READERS):
            folder = Path(place, str(number))
            folder.mkdir()
            samples.append(Sample(name, folder))
        number = first
        while time.monotonic() - began < 60.0 * minutes:
            for sample in samples:
                for each in range(number, number + ROUND):
                    start = time.process_time()
                    try:
                        sample.fuzz(each)
                    except BaseException as error:
                        if isinstance(error, KeyboardInterrupt):
                            raise
                        failures += 1
                        print(f"{type(error).__name__}: {error} {error.__notes__}", flush=True)
                    slowest = max(slowest, (time.process_time() - start, f"{sample.name} {each}"))
                    count += 1
                most = max(most, (peak(), sample.name))
            number += ROUND
            passed = (time.monotonic() - began) / 60.0
            print(
                f"{count:,} inputs in {passed:.1f} min, {failures} failures; slowest {slowest[0]:.2f} s of processor "
                f"time ({slowest[1]}); peak memory of the process {1e-6 * most[0]:,.0f} MB ({most[1]})",
                flush=True,
            )
    return failures


if __name__ == "__main__":
    sys.exit(bool(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000 * int(time.time()))))
