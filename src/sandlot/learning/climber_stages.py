"""The stages in which the climber that comes with the package was trained.

First all kinds of obstacles; then mostly stairs so steep that belts along their edges slip, and on which a robot must
step from tread to tread. These stages dwell on the treads where that is hardest, near 0.2 and near 0.34 m. There, robots
find the next step only if they keep exploring, which a reward of the entropy sees to; the last stage goes without.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from sandlot.errors import ModelError
from sandlot.learning.climber import ClimberTraining, train
from sandlot.learning.climbing import Randomness
from sandlot.learning.obstacle_pool import SteepStairs
from sandlot.learning.ppo import Nets, Ppo, Update
from sandlot.models.card import Card
from sandlot.models.dense import load_dense, save_dense
from sandlot.robots.climber import Climber


def _steep(
    seed: int,
    iterations: int,
    deviation: float,
    entropy: float,
    treads: tuple[tuple[float, float, float], ...],
    slopes: tuple[float, float],
) -> ClimberTraining:
    """A stage on steep stairs: robots differ less in friction and have longer to find the next step."""
    return ClimberTraining(
        robots=1024,
        patience=6.0,
        ppo=Ppo(iterations=iterations, deviation=deviation, entropy=entropy),
        randomness=Randomness(friction=0.12),
        steep=SteepStairs(share=0.6, treads=treads, slopes=slopes, least=0.97, both=0.2),
        seed=seed,
    )


STAGES = (
    ClimberTraining(robots=1024, ppo=Ppo(iterations=450), steep=SteepStairs(share=0.25, slopes=(20.0, 50.0))),
    _steep(1, 350, 0.6, 0.006, ((0.35, 0.17, 0.24), (0.7, 0.3, 0.37), (1.0, 0.12, 0.6)), (38.0, 49.0)),
    _steep(2, 350, 0.5, 0.006, ((0.35, 0.17, 0.24), (0.7, 0.31, 0.36), (1.0, 0.12, 0.6)), (40.0, 48.0)),
    _steep(3, 150, 0.3, 0.002, ((0.35, 0.17, 0.24), (0.7, 0.31, 0.36), (1.0, 0.12, 0.6)), (40.0, 48.0)),
)


def train_in_stages(
    climber: Climber,
    stages: Sequence[ClimberTraining],
    folder: Path,
    threads: int = 1,
    progress: Callable[[int, Update], None] = lambda stage, update: None,
) -> tuple[Nets, Card]:
    """Train a climber in one stage after another.

    Args:
        climber: The robot that all robots are like.
        stages: Settings of each, at least one.
        folder: Where the nets of each finished stage are kept. Those that are there are not trained again.
        threads: That simulate robots; the result does not depend on it.
        progress: Called after each iteration with the number of the stage, from 0.

    Returns:
        The nets and the card of the policy, which holds the settings of all stages.

    Raises:
        ModelError: If the folder holds a climber that was trained otherwise.
    """
    found: tuple[Nets, Card] | None = None
    for number, stage in enumerate(stages):
        kept, value = folder / f"stage-{number + 1}", folder / f"value-{number + 1}"
        if kept.exists():
            net, card = load_dense(kept)
            given = {**card.settings.get("training", {})}
            given.pop("before", None)
            if given != stage.model_dump(mode="json"):
                raise ModelError(f"{kept} was trained with other settings; remove {folder} to train anew")
            found = Nets(net, load_dense(value)[0]), card
            continue

        def report(update: Update, _: object, number: int = number) -> None:
            progress(number, update)

        found = train(climber, stage, threads, report, found)
        nets, card = found
        if nets.value is not None:
            shutil.rmtree(value, ignore_errors=True)  # of a run that was killed between the two
            save_dense(value, nets.value, card)
        save_dense(kept, nets.policy, card)
    if found is None:
        raise ValueError("no stage is given")
    return found
