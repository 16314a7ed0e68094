"""The stages in which the climber that comes with the package was trained.

First all kinds of obstacles; then more and more stairs so steep that belts along their edges slip, and on which a robot
must step from tread to tread. The later stages dwell on the treads where that is hardest: near 0.2 and near 0.35 m.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from sandlot.errors import ModelError
from sandlot.learning.climber import ClimberTraining, train
from sandlot.learning.climbing import Randomness
from sandlot.learning.obstacle_pool import SteepStairs
from sandlot.learning.ppo import Ppo, Update
from sandlot.models.card import Card
from sandlot.models.dense import Dense, load_dense, save_dense
from sandlot.robots.climber import Climber


def _steep(seed: int, iterations: int, deviation: float, friction: float, steep: SteepStairs) -> ClimberTraining:
    """A stage on steep stairs: fewer robots, which differ less in friction and have longer to find the next step."""
    return ClimberTraining(
        robots=1024,
        patience=6.0,
        ppo=Ppo(iterations=iterations, deviation=deviation),
        randomness=Randomness(friction=friction),
        steep=steep,
        seed=seed,
    )


STAGES = (
    ClimberTraining(),
    ClimberTraining(ppo=Ppo(iterations=200, deviation=0.4), steep=SteepStairs(share=0.4), seed=11),
    _steep(12, 200, 0.35, 0.12, SteepStairs(
        share=0.55, treads=((0.4, 0.17, 0.23), (0.75, 0.29, 0.38), (1.0, 0.12, 0.5)), slopes=(39.0, 49.0), least=0.97,
        both=0.3,
    )),
    _steep(13, 200, 0.4, 0.12, SteepStairs(
        share=0.6, treads=((0.65, 0.31, 0.39), (0.6, 0.17, 0.23), (1.0, 0.12, 0.5)), slopes=(41.0, 48.0), least=0.98,
        both=0.2,
    )),
    _steep(14, 240, 0.3, 0.1, SteepStairs(
        share=0.6, treads=((0.5, 0.31, 0.38), (0.5, 0.17, 0.24), (1.0, 0.24, 0.5)), slopes=(37.0, 48.0), least=0.97,
        both=0.3,
    )),
    _steep(15, 200, 0.25, 0.1, SteepStairs(
        share=0.6, treads=((0.45, 0.31, 0.38), (0.6, 0.17, 0.24), (1.0, 0.24, 0.5)), slopes=(40.0, 48.0), least=0.97,
        both=0.3,
    )),
)  # fmt: skip


def train_in_stages(
    climber: Climber,
    stages: Sequence[ClimberTraining],
    folder: Path,
    threads: int = 1,
    progress: Callable[[int, Update], None] = lambda stage, update: None,
) -> tuple[Dense, Card]:
    """Train a climber in one stage after another.

    Args:
        climber: The robot that all robots are like.
        stages: Settings of each, at least one.
        folder: Where the climber of each finished stage is kept. Those that are there are not trained again.
        threads: That simulate robots; the result does not depend on it.
        progress: Called after each iteration with the number of the stage, from 0.

    Returns:
        The net and its card, which holds the settings of all stages.

    Raises:
        ModelError: If the folder holds a climber that was trained otherwise.
    """
    found: tuple[Dense, Card] | None = None
    for number, stage in enumerate(stages):
        kept = folder / f"stage-{number + 1}"
        if kept.exists():
            net, card = load_dense(kept)
            given = {**card.settings.get("training", {})}
            given.pop("before", None)
            if given != stage.model_dump(mode="json"):
                raise ModelError(f"{kept} was trained with other settings; remove {folder} to train anew")
            found = net, card
            continue

        def report(update: Update, _: object, number: int = number) -> None:
            progress(number, update)

        found = train(climber, stage, threads, report, found)
        save_dense(kept, *found)
    if found is None:
        raise ValueError("no stage is given")
    return found
