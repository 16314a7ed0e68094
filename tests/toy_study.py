"""A study whose jobs take no time, and fail, wait or kill their worker if a file says so; workers can import it."""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from matplotlib.figure import Figure

from sandlot.errors import SandlotError
from sandlot.recordings import Quantity
from sandlot.studies import Claim, Job, Study


class Toy(Study):
    """Does it add up?"""

    name = "toy"
    source = "a test"
    outcomes: ClassVar[Mapping[str, Quantity]] = {"sum": Quantity("m", "sum of both"), "chance": Quantity("1", "luck")}

    place: str = ""
    """Directory where jobs log that they ran, and who runs them. A file there named after a job makes that job fail;
    one named ``kill-JOB`` kills its worker as often as its text says."""
    size: int = 3
    seconds: float = 0.02

    def jobs(self) -> Iterator[Job]:
        return self.cross(a=range(self.size), b=(10, 20))

    def run(self, job: Job) -> dict[str, float]:
        with Path(self.place, "log").open("a") as log:
            log.write(f"{job.index}\n")
        if Path(self.place, str(job.index)).exists():
            raise ValueError("stepped into the trap")
        running = Path(self.place, f"running-{job.index}")
        running.write_text(str(os.getppid()))
        time.sleep(self.seconds)
        running.unlink(missing_ok=True)
        trap = Path(self.place, f"kill-{job.index}")
        if trap.exists() and (left := int(trap.read_text())) > 0:
            trap.write_text(str(left - 1))
            os.kill(os.getpid(), signal.SIGKILL)
        chance = job.seed.generate_state(1)[0]
        return {"chance": chance, "sum": job.parameters["a"] + job.parameters["b"], "ignored": 3.0}

    def check(self) -> None:
        if self.size > 100:
            raise SandlotError(f"size={self.size} is too much for a toy")

    def figure(self, results) -> Figure:
        return Figure()

    def claims(self, results) -> list[Claim]:
        total = float(results["sum"].sum())
        return [Claim("The sum is 96.", 96.0, total, total == 96.0), Claim("Pigs fly.", "yes", "no", False)]
