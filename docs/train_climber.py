"""Train the climber that comes with the package: python docs/train_climber.py OUT [ITERATIONS] [THREADS].

The package keeps the net of 220 iterations in src/sandlot/control/climbing/trained. The same iterations give the same
net on the same machine, with any number of threads.
"""

import sys
import time
from pathlib import Path

import torch

from sandlot.learning.climber import ClimberTraining, train
from sandlot.learning.ppo import Ppo, Update
from sandlot.models.dense import save_dense
from sandlot.robots.climber import load_climber

EVERY = 10
"""Iterations between two lines of the log."""


def main(out: Path, iterations: int = 220, threads: int = 2) -> None:
    """Train and save."""
    torch.set_num_threads(1)  # its batches are small: more threads wait for each other
    settings = ClimberTraining(ppo=Ppo(iterations=iterations))

    def show(update: Update, kinds: dict[str, tuple[float, float]]) -> None:
        if update.number % EVERY == 0:
            listed = "  ".join(f"{name} {level:.1f} {share:.2f}" for name, (level, share) in kinds.items())
            print(f"{update.number:5d} {update.seconds:5.0f} s  reward {update.reward:.4f}  {listed}", flush=True)

    began = time.monotonic()
    net, card = train(load_climber(), settings, threads, show)
    save_dense(out, net, card)
    print(f"{out}: trained in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(int(each) for each in sys.argv[2:]))
