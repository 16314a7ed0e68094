"""The indoor world: ray casting compared with ir-sim's lidar, and NARMAX fits compared with SysIdentPy's.

For rays, the plan has 250 segments: a room of 20 x 20 m with 61 boxes and two partitions, always the same. Both cast
the same 360 beams over 180 degrees from the same poses, and must measure the same ranges. Rates against peers are per
second of processor time of one core; the rate of all cores is per second of wall-clock time.

Models are fitted to the log of a robot that wanders through the arena for 1,400 scans, as in Nehmzow et al. (2009).
SysIdentPy gets the same lagged data, and must select the same terms; fits without lags are those of sensor models.
Where BIC decides the number of terms, both must choose models of the same quality: as many terms, and the same error
on the last fifth of the log after a fit to the rest. SysIdentPy's own rule stops before the first rise of BIC, so it is
given the number of terms at the minimum of the BIC that it computed; rows without a bar show its own choice.
Predictions are of all six segments of a scan, for many poses in one call. The bar of 1 us is for the model that is more
accurate than the source's tables on further drives.

Worlds are stepped in one compiled batch, and one after the other as Gymnasium does; both give the same observations,
bit for bit.
"""

import math
import sys
import tempfile
import time
from contextlib import redirect_stdout
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from _indoor_grids import compare_grids
from _indoor_logs import compare_logs
from _side_by_side import Comparison, best_rates, main
from sandlot.places.plan_files import outline
from sandlot.places.plans import Plan, load_plan, make_plan
from sandlot.sensing.laser import Laser
from sandlot.studies.indoor.shared import ENOUGH, errors
from sandlot.studies.indoor.source import BEST
from sandlot.surrogates.local import Local
from sandlot.surrogates.narmax import Narmax
from sandlot.surrogates.sensor_models import Headings, Sectors, SensorModel
from sandlot.surrogates.sensorgraph import Sensorgraph
from sandlot.surrogates.terms import NONE
from sandlot.worlds import register
from sandlot.worlds.indoor.learned import explore
from sandlot.worlds.indoor.settings import IndoorSettings

Array = NDArray[np.float64]
REPETITIONS = 7
LASER = Laser(max_range=30.0).exact()
SIDE, BOXES = 20.0, 61
ROOM = ((0.0, 0.0), (SIDE, 0.0), (SIDE, SIDE), (0.0, SIDE), (0.0, 0.0))
PARTITIONS = (((5.0, 0.0), (5.0, 6.0)), ((SIDE, 12.0), (14.0, 12.0)))
POSES, PEER_POSES = 20_000, 100
ROBOTS = 64
DEGREE, TERMS = 4, 15
FITS = 10
"""Fits per measurement, since one is too short to time."""
HELD_OUT = 0.2
"""Share of the log, at its end, on which the models that BIC chooses are compared."""
SEGMENT = 3
"""Index of the segment whose medians are the output."""


def boxes() -> list[list[tuple[float, float]]]:
    """Corners of the boxes [m]."""
    rng = np.random.default_rng(0)
    centres, sizes = rng.uniform(1.0, SIDE - 1.0, (BOXES, 2)), rng.uniform(0.4, 1.2, (BOXES, 2))
    angles = rng.uniform(0.0, math.pi, BOXES)
    made = zip(centres.tolist(), sizes.tolist(), angles.tolist(), strict=True)
    return [[(x, y) for x, y, _, _ in outline(tuple(c), tuple(s), a)] for c, s, a in made]


def room() -> Plan:
    """The plan of 250 segments."""
    walls = [(*one, *other) for one, other in pairwise(ROOM)]
    walls += [(*one, *other) for one, other in PARTITIONS]
    for corners in boxes():
        walls += [(*one, *other) for one, other in zip(corners, corners[1:] + corners[:1], strict=True)]
    return make_plan(walls)


def places(plan: Plan, count: int) -> Array:
    """Poses (count, 3) [m, rad] with room for a robot."""
    rng = np.random.default_rng(1)
    points = rng.uniform(0.5, SIDE - 0.5, (4 * count, 2))
    points = points[plan.clearance(points) > 0.3][:count]
    return np.column_stack([points, rng.uniform(-math.pi, math.pi, len(points))])


def peer() -> Any:
    """The lidar of a robot of ir-sim's, in the same plan."""

    def shape(name: str, corners: Any) -> str:
        points = ", ".join(f"[{x!r}, {y!r}]" for x, y in corners)
        return f"  - {{shape: {{name: {name}, vertices: [{points}]}}, state: [0, 0, 0]}}\n"

    # Its outer beams are at the ends of the field of view; ours are at the centres of bins.
    across = LASER.field_of_view * (1.0 - 1.0 / LASER.beams)
    sensor = (
        f"{{type: lidar2d, range_min: 0, range_max: {LASER.max_range}, angle_range: {across!r}, number: {LASER.beams}}}"
    )
    text = f"world: {{height: {SIDE}, width: {SIDE}}}\nrobot:\n"
    text += "  - {kinematics: {name: diff}, shape: {name: circle, radius: 0.2}, state: [10, 10, 0], "
    text += f"sensors: [{sensor}]}}\nobstacle:\n" + shape("linestring", ROOM)
    text += "".join(shape("linestring", line) for line in PARTITIONS)
    text += "".join(shape("polygon", corners) for corners in boxes())
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        import irsim  # it prints which windows it could not open

        path = Path(folder) / "room.yaml"
        path.write_text(text)
        return irsim.make(str(path), headless=True, log_level="ERROR")


def cast(plan: Plan, poses: Array, threads: int) -> float:
    """Cast rays; returns the number of rays."""
    return float(LASER.cast(plan, poses, threads).ranges.size)


def scan(plan: Plan, poses: Array) -> float:
    """Scan with all errors of a laser; returns the number of rays."""
    return float(Laser().scan(plan, poses, np.random.default_rng(0), threads=1).size)


def cast_peer(lidar: Any, poses: Array) -> float:
    """Let the peer cast rays; returns the number of rays."""
    for pose in poses:
        lidar.step(pose[:, None])
    return float(LASER.beams * len(poses))


def compare_rays() -> list[Comparison]:
    """Compare ray casting with ir-sim's."""
    plan = room()
    poses = places(plan, POSES)
    env = peer()
    lidar = env.robot.sensors[0]
    for pose in poses[:20]:
        lidar.step(pose[:, None])
        ours = np.minimum(LASER.cast(plan, pose).ranges[0], LASER.max_range)
        if not np.allclose(lidar.range_data, ours, atol=1e-6):
            raise SystemExit("ir-sim and Sandlot do not measure the same")
    office = load_plan("office")
    works = [partial(cast, plan, poses, 1), partial(cast_peer, lidar, poses[:PEER_POSES]), partial(scan, plan, poses)]
    one, other, noisy = best_rates(REPETITIONS, *works)
    shipped = best_rates(REPETITIONS, partial(cast, office, poses * (1.0, 0.6, 1.0), 1))[0]
    return [
        Comparison("rays among 250 segments, all cores, by the clock", wall_rate(plan, poses), "rays/s", at_least=20e6),
        Comparison("the same on one core, against ir-sim's lidar", one, "rays/s", other),
        Comparison("the same with noise, missing returns and mixed edges", noisy, "rays/s"),
        Comparison("rays in the office that is shipped, one core", shipped, "rays/s"),
    ]


def fit(model: Narmax, inputs: Array, output: Array) -> float:
    """Fit several times; returns the number of fits."""
    for _ in range(FITS):
        model.fit(inputs, output)
    return float(FITS)


def peer_model(decides: bool = False, terms: int | None = None) -> Any:
    """SysIdentPy's forward regression with the same candidates.

    Args:
        decides: Whether it computes BIC for every number of terms.
        terms: Number of terms; left out, its own rule decides by BIC.
    """
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.model_structure_selection import FROLS
    from sysidentpy.parameter_estimation import LeastSquares

    estimator = LeastSquares(unbiased=False)
    lags: dict[str, Any] = {"ylag": 1, "xlag": [[1], [1]], "order_selection": decides, "err_tol": None}
    lags |= {"n_info_values": TERMS, "info_criteria": "bic"} if decides else {}
    return FROLS(basis_function=Polynomial(degree=DEGREE), estimator=estimator, n_terms=terms, **lags)


def peer_at_minimum(inputs: Array, output: Array) -> Any:
    """As `peer_model` with BIC, at the minimum of the BIC that it computes."""
    probe = peer_model(True)
    fit_peer(probe, inputs, output)
    return peer_model(True, int(np.argmin(probe.info_values)) + 1)


def fit_peer(model: Any, inputs: Array, output: Array) -> float:
    """Let the peer fit once; returns 1."""
    model.fit(X=inputs, y=output[:, None])
    return 1.0


Terms = list[tuple[int, ...]]
"""For each term, the indices of its factors: the output and both inputs, all one step back."""


def our_terms(model: Narmax) -> Terms:
    """Terms of a fitted model."""
    return [tuple(sorted(f for f in term if f != NONE)) for term in model.factors_.tolist()]


def their_terms(model: Any) -> Terms:
    """Terms of SysIdentPy's. Its codes of y, x1 and x2 at lag 1: 1001, 2001, 3001."""
    codes = {1001: 0, 2001: 1, 3001: 2}
    return [tuple(sorted(codes[code] for code in term if code)) for term in model.final_model.tolist()]


def predict(model: SensorModel, poses: Array) -> float:
    """Predict scans; returns the number of scans."""
    return float(len(model.predict(poses)))


def compare_fits(log: Sensorgraph) -> list[Comparison]:
    """Compare fitting with SysIdentPy's."""
    medians = log.segments()[:, SEGMENT]
    inputs, output = log.poses[:, :2], np.where(np.isnan(medians), np.nanmedian(medians), medians)
    ours = Narmax(DEGREE, input_lags=(1,), output_lags=(1,), n_terms=TERMS)
    static, other = Narmax(DEGREE, n_terms=TERMS), peer_model(terms=TERMS)
    works = [partial(fit, ours, inputs, output), partial(fit, static, inputs, output)]
    for work in works:
        work()
    with threadpool_limits(1):  # more BLAS threads would slow down the peer
        lagged, plain, peers = best_rates(3 * REPETITIONS, *works, partial(fit_peer, other, inputs, output))
    deciding = Narmax(DEGREE, input_lags=(1,), output_lags=(1,), max_terms=TERMS)
    works = [partial(fit, deciding, inputs, output), partial(fit_peer, peer_at_minimum(inputs, output), inputs, output)]
    with threadpool_limits(1):
        decided, peers_decided = best_rates(REPETITIONS, *works)
    same = len({*our_terms(ours)} & {*their_terms(other)})
    name = f"{len(log):,} samples, two inputs, degree {DEGREE}, {TERMS} terms"
    return [
        Comparison(
            f"fits: {name} at most, as BIC decides; SysIdentPy", decided, "fits/s", peers_decided, at_least=50.0
        ),
        Comparison("the same with a given number of terms; SysIdentPy", lagged, "fits/s", peers, at_least=50.0),
        Comparison("terms of these that SysIdentPy chooses too", same, "terms", at_least=TERMS),
        Comparison("the same without lags", plain, "fits/s"),
        *compare_choices(inputs, output),
    ]


def compare_choices(inputs: Array, output: Array) -> list[Comparison]:
    """Compare the quality of the models that BIC chooses, on the end of the log, which neither is fitted to."""
    end = round(len(output) * (1.0 - HELD_OUT))
    ours = Narmax(DEGREE, input_lags=(1,), output_lags=(1,), max_terms=TERMS).fit(inputs[:end], output[:end])
    peers = {"at its minimum": peer_at_minimum(inputs[:end], output[:end]), "by its own rule": peer_model(True)}
    rows = []
    for rule, peer in peers.items():
        fit_peer(peer, inputs[:end], output[:end])
        bar, name = 1.0 if rule == "at its minimum" else None, f"SysIdentPy {rule}"
        terms = len(ours.coefficients_), len(peer.final_model)
        rows.append(
            Comparison(f"terms of the model that BIC chooses; {name}", terms[0], "terms", terms[1], at_most=bar)
        )
        for steps, words in ((1, "one step ahead"), (None, "in a free run")):
            predicted = ours.set_params(steps_ahead=steps).predict(inputs[end:], output[end:])
            other = np.ravel(peer.predict(X=inputs[end:], y=output[end:, None], steps_ahead=steps))
            errors = [float(np.sqrt(np.mean((each - output[end:])[1:] ** 2))) for each in (predicted, other)]
            if bar is not None and not math.isclose(*errors, rel_tol=1e-6):
                raise SystemExit(f"BIC chooses models of different quality {words}: {errors[0]} and {errors[1]} m")
            rows.append(Comparison(f"its held-out error {words}; {name}", errors[0], "m", errors[1]))
    return rows


def compare_predictions(log: Sensorgraph) -> list[Comparison]:
    """Time the prediction of scans, and check that the model with a bar is accurate on further drives."""
    rng = np.random.default_rng(2)
    poses = rng.uniform((0.5, 0.5, -math.pi), (9.5, 9.5, math.pi), (POSES, 3))
    models: dict[str, SensorModel] = {"sectors": Sectors(), "headings": Headings(), "local": Local()}
    works = [partial(predict, model.fit(log), poses) for model in models.values()]
    for work in works:
        work()
    rates = dict(zip(models, best_rates(3 * REPETITIONS, *works), strict=True))
    drives = Sensorgraph.join([explore(IndoorSettings(), 240, seed) for seed in (1, 2)])
    found = []
    for name, rate in rates.items():
        wrong, _, ranks = errors(models[name].predict(drives.poses), drives.segments())
        bars: dict[str, float | None] = dict.fromkeys(("us", "cm", "rank"))
        if name == "local":
            bars = {"us": 1.0, "cm": BEST, "rank": ENOUGH}
        found += [
            Comparison(f"a scan of six segments by {name}, in batch", 1e6 / rate, "us", at_most=bars["us"]),
            Comparison("its mean absolute error on two further drives", 100.0 * wrong.mean(), "cm", at_most=bars["cm"]),
            Comparison("its smallest rank correlation there", ranks.min(), "1", at_least=bars["rank"]),
        ]
    return found


def wall_rate(plan: Plan, poses: Array) -> float:
    """Rays per second of wall-clock time on all cores, best of several runs."""
    best = 0.0
    for _ in range(2 * REPETITIONS):
        start = time.perf_counter()
        rays = LASER.cast(plan, poses).ranges.size
        best = max(best, rays / (time.perf_counter() - start))
    return best


def drive(world: Any, actions: list[Any]) -> float:
    """Let all robots drive; returns the number of steps."""
    world.reset(seed=0)
    for wanted in actions:
        world.step(wanted)
    return float(world.num_envs * len(actions))


def compare_worlds() -> list[Comparison]:
    """Compare a compiled batch of indoor worlds with Gymnasium's SyncVectorEnv."""
    register()
    modes = (None, "sync")
    given: dict[str, Any] = {"num_envs": ROBOTS, "interface": "units"}
    worlds = [gymnasium.make_vec("sandlot/Indoor-v0", vectorization_mode=mode, **given) for mode in modes]
    worlds[0].action_space.seed(0)
    actions = [worlds[0].action_space.sample() for _ in range(50)]
    ours, peer = best_rates(5, *(partial(drive, world, actions) for world in worlds))
    return [Comparison(f"{ROBOTS} robots in the arena, as one; Gymnasium's SyncVectorEnv", ours, "steps/s", peer)]


def compare() -> list[Comparison]:
    """All comparisons."""
    log = explore(IndoorSettings())
    peers = [*compare_rays(), *compare_fits(log), *compare_predictions(log), *compare_worlds()]
    return [*peers, *compare_logs(), *compare_grids()]


if __name__ == "__main__":
    main(compare)
