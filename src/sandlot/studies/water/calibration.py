"""Which constants of water and motors explain the numbers that the source publishes."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field
from scipy.interpolate import RegularGridInterpolator

from sandlot.control.snake.gaits import Gait, Schedule, fold, round_head, square_head
from sandlot.learning.evolution import Genetic, evolve
from sandlot.recordings import Quantity
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import DRAG, GAIN, Snake
from sandlot.robots.swimmers import start_centre
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.base import HIGH, LOW, SHORT, near, score, shared_waves
from sandlot.typing import Array

Values = Annotated[tuple[Annotated[float, Field(gt=0.0)], ...], Field(min_length=1), AfterValidator(distinct)]
FREQUENCIES = (0.2, 0.4, 0.6, 1.0, 2.0, 3.0, 4.0)
"""That section 7.4 tries [Hz]."""
OWN_GAIT = (0.46, 2.00, 0.68)
"""Best gait of section 7.7: amplitude [rad], frequency [Hz], phase [rad]."""
HEADS = {"square": (0.73, 1.72, 0.92), "circle": (0.75, 1.79, 0.93)}
"""Best gaits of section 7.8."""


class Number(NamedTuple):
    """A number that the source publishes.

    Attributes:
        text: What it is.
        value: Distances in metres, or in body lengths in section 7.4.
        fitted: Whether constants are fitted to it; the others test the fit.
    """

    text: str
    value: float
    fitted: bool


NUMBERS = (
    Number("7.7: distance of its best gait", 97.20, True),
    Number("7.4, before: distance after 10 s", 0.90, True),
    Number("7.4, before: final distance", 0.96, True),
    Number("7.4, after: distance after 10 s", 5.72, True),
    Number("7.4, after: velocity at 10 s", 0.69, True),
    Number("7.4, after: final distance", 8.0, True),
    Number("7.8: distance of its best gait, square head", 24.07, False),
    Number("7.8: distance of its best gait, circular head", 23.18, False),
)
FITTED = np.array([number.fitted for number in NUMBERS])
NO_LIMIT = 100.0
"""A rate that no command asks for [rad/s]."""


@study("water.calibration", source="Draschwandtner 2015, sections 7.4, 7.7 and 7.8")
class Calibration(Study):
    """Which constants of water and motors explain the numbers that the source publishes?

    The source gives masses, sizes and the largest torques of its motors. It gives neither the drag coefficient nor how
    a motor follows its commanded angle. Here a motor is told a rate: the gain times the error of its angle, which is a
    first-order lag of one over the gain. Drag and gain are fitted to six numbers of sections 7.4 and 7.7; two numbers
    of section 7.8 and the positions of two optima test them. Where the source contradicts itself or its optimum is not
    found, other constants are tried: the mass of the short body, weaker motors, a limit of joint rates, and the
    intervals between commands and between steps.

    Attributes:
        drags: Drag coefficients that are tried with every other choice [N*s/m^3].
        gains: Of the motors [1/s].
        masses: Of the short body of section 7.4 [kg]; the first is the one that its density gives.
        torques: Largest torques of motors, as shares of the printed ones.
        rates: Largest rates that motors are told [rad/s].
        intervals: Between commands [s].
        steps: Of the physics [s].
        genetic: The search for the best gait of section 7.7, shorter than the source's.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "numbers": Quantity("1", "the published numbers, as they come out", ("drag", "number"), (0, 0)),
        "frequency": Quantity("s^-1", "frequency that swims furthest in section 7.4", ("drag",), (0,)),
        "fitted": Quantity("N*s/m^3", "drag that fits the numbers best"),
        "best": Quantity("m", "distance of the best gait of section 7.7 at that drag"),
        "gait": Quantity("1", "its amplitude, frequency and phase", ("gene",), (0,)),
    }

    drags: Values = (
        13.0,
        14.0,
        15.0,
        16.0,
        17.0,
        17.5,
        18.0,
        18.5,
        19.0,
        19.5,
        20.0,
        20.5,
        21.0,
        22.0,
        23.0,
        25.0,
        28.0,
    )
    gains: Values = (8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 36.0, 42.0, 50.0, 65.0)
    masses: Values = (15.625, 5.0)
    torques: Values = (1.0, 0.5, 0.35, 0.25, 0.18, 0.125)
    rates: Values = (NO_LIMIT, 12.0, 8.0, 7.0, 6.0, 5.0)
    intervals: Values = (0.02, 0.005, 0.01, 0.04)
    steps: Values = (0.01, 0.005, 0.0025)
    genetic: Genetic = Genetic(generations=30)

    def jobs(self) -> Iterator[Job]:
        """Gains and masses; torques and rates with the fitted gain; intervals."""
        plain = {"gain": GAIN, "mass": self.masses[0], "torque": 1.0, "rate": NO_LIMIT, "interval": 0.02, "step": 0.01}
        changes = [{"gain": gain, "mass": mass} for mass in self.masses for gain in self.gains]
        changes += [{"torque": torque, "rate": rate} for torque in self.torques for rate in self.rates]
        changes += [{"interval": interval, "step": min(0.01, interval)} for interval in self.intervals]
        changes += [{"step": step} for step in self.steps] + [{}]
        chosen = {tuple({**plain, **change}.values()): {**plain, **change} for change in changes}
        return self.each(chosen.values())

    def bodies(self, job: Job, drag: float) -> tuple[Snake, Snake]:
        """The long body of 7.7 and 7.8, and the short one of 7.4 after its change."""
        chosen = {name: float(value) for name, value in job.parameters.items() if name != "mass"}
        torque, rate = chosen.pop("torque"), chosen.pop("rate")
        step = chosen.pop("step")
        both = {**chosen, "drag": drag, "max_rate": rate}
        short = {"mass": float(job.parameters["mass"]), "faces": "open", "max_torque": 1000.0 * torque}
        short["step"] = min(SHORT.step, step)
        return Snake(max_torque=1e5 * torque, step=step, **both), SHORT.model_copy(update={**both, **short})

    def run(self, job: Job) -> Mapping[str, Found]:
        """Compute the numbers with every drag, and search for the best gait with the drag that fits them best."""
        found = [measure(*self.bodies(job, drag)) for drag in self.drags]
        numbers = np.array([row for row, _ in found])
        fitted = self.drags[int(np.nanargmin(misfit(numbers)))]
        snake = self.bodies(job, fitted)[0]
        history = evolve(lambda genes: swum(snake, genes), LOW, HIGH, self.genetic, job.seed)
        return {
            "numbers": numbers,
            "frequency": np.array([frequency for _, frequency in found]),
            "fitted": fitted,
            "best": float(np.nanmax(history.best)),
            "gait": history.champion,
        }

    def surface(self, results: xr.Dataset, mass: float) -> Array:
        """Misfit of every gain and drag with the printed limits: (gains, drags)."""
        mine = pick(results, mass=mass, torque=1.0, rate=NO_LIMIT, interval=0.02, step=0.01)
        rows = {float(gain): k for k, gain in enumerate(mine["gain"].values)}
        return np.array([misfit(mine["numbers"].values[rows[gain]]) for gain in self.gains])

    def likelihood(self, results: xr.Dataset) -> Array:
        """Of every gain and drag, relative to the best: (gains, drags).

        Errors of the logarithms are taken as independent and normal, with the standard deviation that the best fit
        leaves, for six numbers and two fitted constants.
        """
        squares = FITTED.sum() * self.surface(results, self.masses[0]) ** 2
        variance = np.nanmin(squares) / (FITTED.sum() - 2)
        return np.asarray(np.exp(-0.5 * (squares - np.nanmin(squares)) / variance))

    def confident(self) -> float:
        """Likelihood at the edge of the 68% confidence region of two constants, with an estimated variance."""
        free = int(FITTED.sum()) - 2
        from scipy import stats  # loaded when needed: it takes a second, in each worker

        return float(np.exp(-stats.f.ppf(0.68, 2, free)))

    def at_constants(self, levels: Array) -> float:
        """A quantity (gains, drags) at the constants that Sandlot uses, interpolated."""
        find = RegularGridInterpolator(
            (sorted(self.gains), sorted(self.drags)), levels, bounds_error=False, fill_value=0.0
        )
        return float(find((GAIN, DRAG)))

    def best(self, results: xr.Dataset, mass: float) -> tuple[float, float, float]:
        """Gain [1/s], drag [N*s/m^3] and misfit of the best fit with the printed limits."""
        surface = self.surface(results, mass)
        g, d = np.unravel_index(np.nanargmin(surface), surface.shape)
        return self.gains[g], self.drags[d], float(surface[g, d])

    def figure(self, results: xr.Dataset) -> Figure:
        """Likelihood; numbers at the best fit over the published ones; misfit and best frequency with other motors."""
        figure, axes = canvas(4, 17.0, 4.4)
        levels = self.likelihood(results)
        edge = self.confident()
        filled = axes[0].contourf(self.drags, self.gains, levels, np.linspace(0.0, 1.0, 11), cmap="viridis")
        figure.colorbar(filled, ax=axes[0], label="likelihood")
        axes[0].contour(self.drags, self.gains, levels, [edge], colors="white", linewidths=1.0)
        axes[0].plot(DRAG, GAIN, "r+", markersize=12, label="used")
        axes[0].set(xlabel="drag [N s/m$^3$]", ylabel="gain [1/s]", title="white: 68% confidence region")
        axes[0].legend(frameon=False, labelcolor="white")
        for colour, mass in zip(COLOURS, self.masses, strict=False):
            self._draw_numbers(axes[1], results, mass, colour)
        axes[1].set_yticks(range(len(NUMBERS)), [number.text for number in NUMBERS], fontsize=7)
        axes[1].axvline(1.0, color="black", linewidth=0.7)
        axes[1].axhline(FITTED.sum() - 0.5, color="black", linewidth=0.7, linestyle=":")
        axes[1].set(xlabel="measured over published", ylim=(len(NUMBERS) - 0.5, -0.5), title="above the line: fitted")
        axes[1].legend(frameon=False, fontsize=8)
        misfits, frequencies = self._other_motors(results)
        for each, values, title in zip(
            axes[2:], (misfits, frequencies), ("misfit with other motors", "7.7: best frequency [Hz]"), strict=True
        ):
            each.imshow(values, cmap="viridis_r" if each is axes[2] else "viridis", aspect="auto")
            for (row, column), value in np.ndenumerate(values):
                each.text(column, row, f"{value:.2f}", ha="center", va="center", color="white", fontsize=8)
            names = ["none" if rate == NO_LIMIT else f"{rate:g}" for rate in self.rates]
            each.set_xticks(range(len(self.rates)), names)
            each.set_yticks(range(len(self.torques)), [f"{torque:g}" for torque in self.torques])
            each.set(xlabel="limit of the rate [rad/s]", ylabel="share of the printed torque", title=title)
        return figure

    def _draw_numbers(self, axes: Axes, results: xr.Dataset, mass: float, colour: str) -> None:
        ratios = self.numbers(results, mass) / [number.value for number in NUMBERS]
        axes.plot(ratios, range(len(NUMBERS)), "o", color=colour, label=f"short body of {mass:g} kg")

    def numbers(self, results: xr.Dataset, mass: float) -> Array:
        """The numbers at the best fit with the printed limits: (numbers,)."""
        gain, drag, _ = self.best(results, mass)
        mine = pick(results, gain=gain, mass=mass, torque=1.0, rate=NO_LIMIT, interval=0.02, step=0.01)
        return np.asarray(mine["numbers"].values[0, self.drags.index(drag)])

    def _other_motors(self, results: xr.Dataset) -> tuple[Array, Array]:
        """Least misfit over drags, and frequency of the best gait: (torques, rates) each."""
        misfits, frequencies = np.empty((2, len(self.torques), len(self.rates)))
        for row, torque in enumerate(self.torques):
            for column, rate in enumerate(self.rates):
                mine = pick(results, gain=GAIN, mass=self.masses[0], torque=torque, rate=rate, interval=0.02, step=0.01)
                misfits[row, column] = np.nanmin(misfit(mine["numbers"].values[0]))
                frequencies[row, column] = mine["gait"].values[0, 1]
        return misfits, frequencies

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The fit, its tests, and what stays open."""
        gain, drag, error = self.best(results, self.masses[0])
        numbers = self.numbers(results, self.masses[0])
        levels = self.likelihood(results)
        inside, used = levels >= self.confident(), self.at_constants(levels)
        drags, gains = np.array(self.drags)[inside.any(axis=0)], np.array(self.gains)[inside.any(axis=1)]
        worst = int(np.argmax(np.abs(np.log(numbers / [number.value for number in NUMBERS])[FITTED])))
        fit = f"drag {drag:g} N s/m^3, gain {gain:g}/s: within {error:.1%} in the root mean square"
        claims = [
            Claim(
                "One drag and one gain explain the numbers of sections 7.4 and 7.7.",
                "six numbers",
                fit,
                bool(np.abs(numbers / [number.value for number in NUMBERS] - 1.0)[FITTED].max() <= 0.15),
                f"holds if each is within 15%; worst: {NUMBERS[worst].text}, {numbers[worst]:.3g} instead of "
                f"{NUMBERS[worst].value:g}",
            ),
            Claim(
                "The constants that Sandlot uses are likely ones.",
                f"drag {DRAG:g}, gain {GAIN:g}",
                f"drag {drags.min():g} to {drags.max():g}, gain {gains.min():g} to {gains.max():g}",
                used >= self.confident(),
                f"the 68% confidence region; their likelihood is {used:.2f} of the largest",
            ),
        ]
        for number, measured in zip(NUMBERS, numbers, strict=True):
            if number.fitted:
                continue
            text = f"With nothing else fitted, the source's gait with a {number.text.split(', ')[1]} swims"
            claims.append(near(f"{text} {number.value:g} m.", number.value, measured, 0.1, "section 7.8"))
        return claims + self._open_claims(results, error)

    @staticmethod
    def _optimum(job: xr.Dataset) -> float:
        """Frequency of the best gait of section 7.7 [Hz]."""
        return float(job["gait"].values[0, 1])

    def _open_claims(self, results: xr.Dataset, error: float) -> list[Claim]:
        """About constants that contradict each other, and the optimum of section 7.7."""
        _, _, other = self.best(results, self.masses[-1])
        plain = {"gain": GAIN, "mass": self.masses[0], "torque": 1.0, "rate": NO_LIMIT}
        here = pick(results, **plain, interval=0.02, step=0.01)
        frequency = float(here["frequency"].values[0, int(np.argmin(np.abs(np.array(self.drags) - DRAG)))])
        misfits, frequencies = self._other_motors(results)
        inside = frequencies <= 2.5
        able = inside & (misfits <= 1.5 * error)
        best = float(here["gait"].values[0, 1])
        said = f"{int(inside.sum())} of {inside.size} put it below 2.5 Hz"
        if inside.any():
            said += f", with a misfit of at least {misfits[inside].min():.1%}"
        intervals = {
            each: self._optimum(pick(results, **plain, interval=each, step=min(0.01, each))) for each in self.intervals
        }
        steps = {each: self._optimum(pick(results, **plain, interval=0.02, step=each)) for each in self.steps}
        return [
            Claim(
                f"The density of 6.25 explains section 7.4, and the mass of {self.masses[-1]:g} kg does not.",
                "both are printed, and contradict each other",
                f"misfit {error:.1%} and {other:.1%}",
                bool(other > 2.0 * error),
                "holds if the misfit with the printed mass is more than twice as large",
            ),
            Claim("In section 7.4 a frequency of 2 Hz swims furthest.", 2.0, frequency, frequency == 2.0),
            near("The best gait of section 7.7 has 2.00 Hz.", 2.0, best, 0.1, "with the printed limits of the motors"),
            Claim(
                "With this gain, no limits of torque and rate explain the optimum of 7.7 and the other numbers.",
                "the printed torques, and no limit of rates",
                said,
                not able.any(),
                "holds if none has a misfit of at most 1.5 times that of the printed limits",
            ),
            not_by("The interval between commands", "0.02 s", intervals),
            not_by("The step of the physics", "0.005 s", steps),
        ]


def not_by(what: str, source: str, optima: Mapping[float, float]) -> Claim:
    """The claim that a duration does not explain the optimum of section 7.7.

    Args:
        what: The duration.
        source: Its value in the source.
        optima: Frequency of the best gait [Hz] by duration [s].
    """
    said = ", ".join(f"{seconds:g} s: {frequency:.2f} Hz" for seconds, frequency in optima.items())
    note = "frequency of the best gait; holds if it is above 2.5 Hz for all"
    return Claim(f"{what} does not explain the optimum of section 7.7.", source, said, min(optima.values()) > 2.5, note)


def misfit(numbers: Array) -> Array:
    """Root mean square of the logarithms of measured over published values, for the fitted numbers.

    Args:
        numbers: (..., numbers); values that are not positive give infinity.
    """
    ratios = numbers[..., FITTED] / np.array([number.value for number in NUMBERS])[FITTED]
    logs = np.log(np.where(ratios > 0.0, ratios, 1.0))
    return np.where((ratios > 0.0).all(axis=-1), np.sqrt((logs**2).mean(axis=-1)), np.inf)


def swum(snake: Snake, genes: Array) -> Array:
    """Distance along x in 10 s: (individuals,) [m], from amplitude, frequency and phase (individuals, 3)."""
    swimmers = FastSwimmers(snake, len(genes))
    swimmers.swim([0.0], shared_waves(genes, snake.joints)[None], 10.0)
    return score(swimmers, swimmers.centre[:, 0] - start_centre(snake)[0])


def with_head(snake: Snake, head: str) -> float:
    """Distance along x in 10 s [m] of a body that folds its head within 3 s, then swims with the source's gait."""
    pose = (square_head if head == "square" else round_head)(snake.joints)
    swimmers = FastSwimmers(snake, 1)
    plan = fold(np.zeros(snake.joints), pose, 2.5, snake.interval)
    swimmers.swim(plan.starts, plan.waves(snake.joints)[..., None], 3.0)
    swimmers.swim([0.0], shared_waves(np.array([HEADS[head]]), snake.joints, 8, pose)[None], 7.0)
    return float(swimmers.centre[0, 0] - start_centre(snake)[0])


def drifted(snake: Snake, frequencies: tuple[float, ...]) -> Array:
    """Section 7.4: (3, frequencies), distance after 10 s, mean velocity in the last of them, distance after 20 s.

    All are in body lengths: the body swims for 10 s, then straightens.
    """
    swimmers, at = FastSwimmers(snake, len(frequencies)), []
    gaits = [Gait(amplitude=1.0, frequency=each, phase=2.0 * np.pi / 7.0) for each in frequencies]
    for start, end, all_ in ((0.0, 9.0, gaits), (9.0, 10.0, gaits), (10.0, 20.0, [Gait()] * len(gaits))):
        plans = [Schedule((0.0,), (gait.later(-start),)).waves(snake.joints) for gait in all_]
        swimmers.swim([0.0], np.stack(plans, axis=-1), end - start)
        at.append(swimmers.centre - start_centre(snake))
    distances = [np.linalg.norm(each, axis=1) for each in at]
    return np.stack([distances[1], np.linalg.norm(at[1] - at[0], axis=1), distances[2]]) / snake.arclength


def measure(long: Snake, short: Snake) -> tuple[Array, float]:
    """The numbers of `NUMBERS`: (numbers,), and the frequency that swims furthest in section 7.4 [Hz]."""
    before = short.model_copy(update={"faces": "all", "max_torque": 0.1 * short.max_torque})
    first, _, end = drifted(before, (0.6,))[:, 0]
    after = drifted(short, FREQUENCIES)
    own = swum(long, np.array([OWN_GAIT]))[0]
    numbers = [own, first, end, *after[:, FREQUENCIES.index(2.0)], *(with_head(long, head) for head in HEADS)]
    return np.array(numbers), FREQUENCIES[int(after[0].argmax())]
