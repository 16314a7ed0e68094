"""What a swimming body can do besides: drift on, stop, and turn on the spot."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from sandlot.control.gaits import STRAIGHT, Gait, Schedule, fold, spin, then
from sandlot.recordings import Quantity
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import FastSwimmers, ReferenceSwimmers, Swimmers
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.base import FOLLOWED, LIGHT, SHORT, near
from sandlot.studies.water.strips import strip

Array = NDArray[np.float64]
Positive = Annotated[float, Field(gt=0.0)]
FIDELITIES = ("fast", "reference")
UNITS = {"distance": "distance [body lengths]", "velocity": "velocity [body lengths/s]"}
EVERY = 0.1
"""Between samples [s]."""
FORWARD = Gait(amplitude=1.0, frequency=2.0, phase=2.0 * np.pi / 7.0)
"""How the eight-link body swims in sections 7.4 and 7.5."""


@dataclass(frozen=True)
class Track:
    """Where a body went, every 0.1 s from the start on; not a number if the simulation exploded.

    Attributes:
        centre: (samples, 2) centre of mass, from where it was at the start [m].
        forward: (samples,) its velocity along the body's mean direction [m/s].
        heading: (samples,) mean direction of the links [rad].
        drive: Mean share of the wanted acceleration that the motors could give.
    """

    centre: Array
    forward: Array
    heading: Array
    drive: float

    @property
    def distance(self) -> Array:
        """From the start: (samples,) [m]."""
        return np.linalg.norm(self.centre, axis=1)


def follow(fidelity: str, snake: Snake, plan: Schedule, seconds: float) -> Track:
    """Let one body follow a schedule."""
    swimmers: Swimmers = (FastSwimmers if fidelity == "fast" else ReferenceSwimmers)(snake, 1)
    rows, each = [_sample(swimmers)], round(EVERY / snake.interval)
    for k in range(1, round(seconds / snake.interval) + 1):
        swimmers.command(plan.targets(k * snake.interval, snake.joints)[None])
        if k % each == 0:
            rows.append(_sample(swimmers))
    x, y, forward, heading = np.array(rows).T
    ways = np.stack([x - x[0], y - y[0]], axis=1)
    lost = np.nan if swimmers.exploded[0] else 1.0
    return Track(lost * ways, lost * forward, lost * heading, lost * float(swimmers.drive[0]))


def _sample(swimmers: Swimmers) -> tuple[float, float, float, float]:
    heading, velocity = float(swimmers.directions[0].mean()), swimmers.velocity[0]
    forward = float(velocity[0] * np.cos(heading) + velocity[1] * np.sin(heading))
    return (*swimmers.centre[0].tolist(), forward, heading)


def at(seconds: float) -> int:
    """The sample at a time."""
    return round(seconds / EVERY)


def pick(results: xr.Dataset, **parameters: object) -> xr.Dataset:
    """The one job with these parameters."""
    mine = np.ones(results.sizes["job"], np.bool_)
    for name, value in parameters.items():
        mine &= results[name].values == value
    return results.isel(job=int(np.flatnonzero(mine)[0]))


def draw_both(axes: Axes, results: xr.Dataset, quantity: str, colour: str, label: str, **parameters: object) -> None:
    """A quantity over time at both fidelities: fast as a line, the reference as a dotted one over it."""
    for fidelity, style in (("fast", {"alpha": 0.5, "linewidth": 2.5}), ("reference", {"linestyle": ":"})):
        values = pick(results, fidelity=fidelity, **parameters)[quantity].values
        time = np.arange(values.shape[0]) * EVERY
        axes.plot(time, values, color=colour, label=label if fidelity == "fast" else None, **style)


@study("water.drift", source="Draschwandtner 2015, section 7.4")
class Drift(Study):
    """How far does a body drift when it stops swimming, and at which frequency does it swim furthest?

    Before: all faces of all links feel the water, the motors have 100 N m, the wave runs at 0.6 Hz. After: the faces
    between links are hidden, the motors have 1000 N m, the wave runs at 2 Hz, or at other frequencies. It swims for
    10 s, then straightens. The source's body is "similar to section 7.1", which is 12 m long and weighs 0.3 kg, while
    that of sections 7.2, 7.3 and 7.5 weighs 5 kg. Drag along the body stops 0.3 kg in 0.2 s and 5 kg in 3.3 s, and the
    source reports a drift of (8 - 5.72) body lengths from a velocity of 0.69 per second, that is 3.3 s: so it must
    have been the latter. Both are tried; the claims are about the last of ``masses``, in the reference.

    Attributes:
        masses: Of the body [kg].
        frequencies: After the change [Hz].
        swims: For how long it swims [s].
        seconds: In all [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "distance": Quantity("1", "distance from the start, in body lengths", ("sample",), (0,)),
        "velocity": Quantity("1/s", "velocity along the body, in body lengths per second", ("sample",), (0,)),
        "drive": Quantity("1", "mean share of the wanted acceleration that the motors could give"),
    }

    masses: Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(distinct)] = (0.3, 5.0)
    frequencies: Annotated[tuple[Positive, ...], Field(min_length=2), AfterValidator(distinct)] = (
        0.2,
        0.4,
        0.6,
        1.0,
        2.0,
        3.0,
        4.0,
    )
    swims: float = Field(10.0, ge=2.0)
    seconds: float = Field(20.0, ge=4.0)

    def jobs(self) -> Iterator[Job]:
        """Before the change, and after it at every frequency."""
        after = [f"{frequency:g} Hz" for frequency in self.frequencies]
        return self.cross(mass=self.masses, case=["before", *after], fidelity=FIDELITIES)

    def setup(self, mass: float, case: str) -> tuple[Snake, Schedule]:
        """The body, and what it does."""
        before = case == "before"
        changes = {"faces": "all", "max_torque": 100.0} if before else {"faces": "open", "max_torque": 1000.0}
        frequency = 0.6 if before else float(case.removesuffix(" Hz"))
        gait = FORWARD.model_copy(update={"frequency": frequency})
        return LIGHT.model_copy(update={"mass": mass, **changes}), Schedule((0.0, self.swims), (gait, STRAIGHT))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Swim, then drift."""
        snake, plan = self.setup(float(job.parameters["mass"]), str(job.parameters["case"]))
        track = follow(str(job.parameters["fidelity"]), snake, plan, self.seconds)
        body = snake.arclength
        return {"distance": track.distance / body, "velocity": track.forward / body, "drive": track.drive}

    def figure(self, results: xr.Dataset) -> Figure:
        """Before and after the change, with the source's values as crosses, and frequencies; dotted: the reference."""
        figure, axes = canvas(4, 15.0, 4.0)
        cases = [(mass, case) for mass in self.masses for case in ("before", self._after)]
        for colour, (mass, case) in zip(COLOURS, cases, strict=False):
            label = f"{case}, {mass:g} kg"
            draw_both(axes[0], results, "distance", colour, label, mass=mass, case=case)
            draw_both(axes[1], results, "velocity", colour, label, mass=mass, case=case)
        axes[0].plot([10, 20, 10, 20], [0.9, 0.96, 5.72, 8.0], "kx", label="the source's")
        axes[1].plot([10], [0.69], "kx", label="the source's")
        colours = (*COLOURS, "black", "red")
        for colour, frequency in zip(colours, self.frequencies, strict=False):
            chosen = {"mass": self.masses[-1], "case": f"{frequency:g} Hz"}
            draw_both(axes[2], results, "distance", colour, f"{frequency:g} Hz", **chosen)
            draw_both(axes[3], results, "velocity", colour, f"{frequency:g} Hz", **chosen)
        for each, quantity in zip(axes, ("distance", "velocity") * 2, strict=True):
            each.axvline(self.swims, color=COLOURS[5], linewidth=0.7)
            each.set(xlabel="time [s]", ylabel=UNITS[quantity])
        axes[0].legend(frameon=False, fontsize=8)
        axes[2].legend(frameon=False, fontsize=8, title=f"{self.masses[-1]:g} kg")
        return figure

    @property
    def _after(self) -> str:
        """The case that the source compares with the one before: 2 Hz, or what comes closest."""
        return f"{min(self.frequencies, key=lambda frequency: abs(frequency - 2.0)):g} Hz"

    def best(self, results: xr.Dataset) -> float:
        """The frequency at which it has swum furthest by the time it stops [Hz]."""
        return max(self.frequencies, key=lambda frequency: self._at_stop(results, f"{frequency:g} Hz")[0])

    def _at_stop(self, results: xr.Dataset, case: str, mass: float | None = None) -> tuple[float, float, float]:
        """Distance and velocity when it stops swimming, averaged over a second, and distance in the end."""
        mine = pick(results, mass=mass or self.masses[-1], case=case, fidelity="reference")["distance"].values
        stop = at(self.swims)
        return float(mine[stop]), float(mine[stop] - mine[stop - at(1.0)]), float(mine[-1])

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances, velocity, drift, and the best frequency."""
        (d0, v0, e0), (d1, v1, e1) = (self._at_stop(results, case) for case in ("before", self._after))
        light0, light1 = (self._at_stop(results, case, self.masses[0]) for case in ("before", self._after))
        first = f"{self.masses[0]:g} kg:"

        def way(frequency: float) -> float:
            return self._at_stop(results, f"{frequency:g} Hz")[0]

        drives = {
            frequency: float(
                pick(results, mass=self.masses[-1], case=f"{frequency:g} Hz", fidelity="reference")["drive"]
            )
            for frequency in self.frequencies
        }
        able = [frequency for frequency, share in drives.items() if share >= FOLLOWED]
        among = f"of those that the motors can follow, {max(able, key=way):g} Hz; " if able else ""
        best, shares = self.best(results), ", ".join(f"{f:g} Hz {share:.2f}" for f, share in drives.items())
        servo = "these servos follow their commands, those of the source may lag"
        spikes = [self._spike(results, frequency) for frequency in sorted(self.frequencies)[:2]]
        found = [
            near("Before the change it swims 0.9 body lengths in 10 s.", 0.9, d0, note=f"{first} {light0[0]:.2f}"),
            near("Before the change it stops at 0.96 body lengths.", 0.96, e0, note=f"{first} {light0[2]:.2f}"),
            near("After the change it swims 5.72 body lengths.", 5.72, d1, note=f"{first} {light1[0]:.2f}; {servo}"),
            near("After the change it drifts on to 8 body lengths.", 8.0, e1, note=f"{first} {light1[2]:.2f}; {servo}"),
            near("It reaches 0.69 body lengths per second.", 0.69, v1, note=f"{first} {light1[1]:.2f}; {servo}"),
            near(
                "It drifts on for 3.3 s' worth of its velocity: (8 - 5.72) / 0.69.",
                3.3,
                (e1 - d1) / v1,
                note=f"{first} {(light1[2] - light1[0]) / light1[1]:.2f}",
            ),
            Claim(
                "After the change it swims more than 5 times as far and more than 6 times as fast.",
                "> 5 and > 6",
                f"{d1 / d0:.1f} and {v1 / v0:.1f}",
                bool(d1 > 5.0 * d0 and v1 > 6.0 * v0),
            ),
            Claim(
                "After the change it drifts for longer, for its velocity.",
                "3.3 s instead of 0.7 s",
                f"{(e1 - d1) / v1:.1f} s instead of {(e0 - d0) / v0:.1f} s",
                bool((e1 - d1) / v1 > 2.0 * (e0 - d0) / v0),
                "way after 10 s over velocity at 10 s; holds if more than twice as long",
            ),
            Claim(
                "A frequency of 2 Hz swims furthest.",
                2.0,
                best,
                best == 2.0,
                f"{among}share of the wanted acceleration that they could give: {shares}; {servo}",
            ),
            Claim(
                "The two lowest frequencies show a spike in velocity when the body straightens.",
                "a spike",
                ", ".join(f"{before:.2f} to {after:.2f}" for before, after in spikes),
                all(after > 1.5 * before for before, after in spikes),
                "greatest velocity within 1 s after, to that within 1 s before; holds if half as much again",
            ),
        ]
        weak = float(pick(results, mass=self.masses[-1], case="before", fidelity="reference")["drive"])
        if weak < FOLLOWED:
            why = f"the motors could give {weak:.2f} of what was wanted: no gait to compare with"
            for k in (0, 1, 6):
                found[k] = replace(found[k], holds=False, note="; ".join(filter(None, (why, found[k].note))))
        return found

    def _spike(self, results: xr.Dataset, frequency: float) -> tuple[float, float]:
        mine = pick(results, mass=self.masses[-1], case=f"{frequency:g} Hz", fidelity="reference")["velocity"].values
        stop, second = at(self.swims), at(1.0)
        return float(mine[stop - second : stop].max()), float(mine[stop + 1 : stop + second].max())

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The body after the change."""
        snake, plan = self.setup(self.masses[-1], self._after)
        yield strip(snake, plan, self.seconds, f"It swims for {self.swims:g} s, then straightens and drifts.")


@study("water.stop", source="Draschwandtner 2015, section 7.5")
class Stop(Study):
    """Does swimming backwards for a moment bring a drifting body to rest?

    The body of section 7.2 with the faces of 7.4 and motors of 10000 N m swims for 5 s, drifts, at 9 s sends its wave
    the other way for a while, and straightens. The source found the while by trying: 0.25 s. Here all are tried.

    Attributes:
        durations: Of swimming backwards [s], the first of them 0.
        seconds: In all [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "distance": Quantity("1", "distance from the start, in body lengths", ("sample",), (0,)),
        "velocity": Quantity("1/s", "velocity along the body, in body lengths per second", ("sample",), (0,)),
        "rest": Quantity("s", "from 9 s on, until it stands still"),
    }
    SWIMS: ClassVar[float] = 5.0
    BRAKES: ClassVar[float] = 9.0
    STILL: ClassVar[float] = 0.01
    """Slower than this, it stands still [body lengths/s]."""

    durations: Annotated[
        tuple[Annotated[float, Field(ge=0.0, le=2.0)], ...], Field(min_length=2), AfterValidator(distinct)
    ] = (0.0, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5)
    seconds: float = Field(30.0, ge=12.0)

    def jobs(self) -> Iterator[Job]:
        """Every duration."""
        return self.cross(duration=self.durations, fidelity=FIDELITIES)

    def setup(self, duration: float) -> tuple[Snake, Schedule]:
        """The body, and what it does."""
        snake = SHORT.model_copy(update={"faces": "open", "max_torque": 1e4})
        if duration == 0.0:
            return snake, Schedule((0.0, self.SWIMS), (FORWARD, STRAIGHT))
        starts = (0.0, self.SWIMS, self.BRAKES, self.BRAKES + duration)
        return snake, Schedule(starts, (FORWARD, STRAIGHT, FORWARD.reversed(), STRAIGHT))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Swim, drift, brake, and wait."""
        snake, plan = self.setup(float(job.parameters["duration"]))
        track = follow(str(job.parameters["fidelity"]), snake, plan, self.seconds)
        velocity = track.forward / snake.arclength
        moving = np.flatnonzero(~(np.abs(velocity) < self.STILL))
        rest = np.nan if moving[-1] == velocity.size - 1 else (moving[-1] + 1) * EVERY - self.BRAKES
        return {"distance": track.distance / snake.arclength, "velocity": velocity, "rest": float(rest)}

    def figure(self, results: xr.Dataset) -> Figure:
        """Velocity and distance over time, and the time to standstill over the duration; dotted: the reference."""
        figure, axes = canvas(3, 13.0, 4.0)
        best = self.best(results)
        shown = sorted({0.0, best, 0.25} & set(self.durations))
        for colour, duration in zip(COLOURS, shown, strict=False):
            label = f"{duration:g} s backwards" if duration else "drift alone"
            draw_both(axes[0], results, "velocity", colour, label, duration=duration)
            draw_both(axes[1], results, "distance", colour, label, duration=duration)
        for each, quantity in zip(axes, ("velocity", "distance"), strict=False):
            each.set(xlabel="time [s]", ylabel=UNITS[quantity])
            each.axvline(self.BRAKES, color=COLOURS[5], linewidth=0.7)
        axes[0].legend(frameon=False)
        for fidelity, style in (("fast", "o-"), ("reference", "k:")):
            rests = [float(pick(results, duration=d, fidelity=fidelity)["rest"]) for d in self.durations]
            axes[2].plot(self.durations, rests, style, label=fidelity)
        axes[2].axvline(0.25, color=COLOURS[1], linewidth=0.7, label="the source's, 0.25 s")
        axes[2].set(xlabel="time backwards [s]", ylabel="time to standstill [s]", ylim=(0, None))
        axes[2].legend(frameon=False)
        return figure

    def best(self, results: xr.Dataset) -> float:
        """The duration after which it stands still soonest [s]."""
        rests = {d: float(pick(results, duration=d, fidelity="reference")["rest"]) for d in self.durations}
        return min(rests, key=lambda d: np.nan_to_num(rests[d], nan=np.inf))

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Less momentum, and an earlier standstill."""
        source = min(self.durations, key=lambda d: abs(d - 0.25))
        best, after = self.best(results), at(self.BRAKES + 1.0)
        alone, braked, found = (pick(results, duration=d, fidelity="reference") for d in (0.0, source, best))
        v0, v1, v2 = (float(each["velocity"][after]) for each in (alone, braked, found))
        t0, t1, t2 = (float(each["rest"]) for each in (alone, braked, found))
        way = [float(each["distance"][-1] - each["distance"][at(self.BRAKES)]) for each in (alone, found)]
        return [
            Claim(
                "Swimming backwards reduces forward momentum.",
                "reduced",
                f"{v2:.3f} instead of {v0:.3f} body lengths/s at 10 s, after {best:g} s",
                bool(v2 < 0.5 * v0),
                "holds if by more than half",
            ),
            Claim(
                "It stands still in less time than by drifting.",
                "less",
                f"{t2:.1f} s instead of {t0:.1f} s, after {best:g} s",
                bool(t2 < t0),
                f"slower than {self.STILL:g} body lengths/s; it goes on for {way[1]:.2f} instead of {way[0]:.2f} "
                "body lengths",
            ),
            Claim(
                "The duration that brings it to rest is 0.25 s.",
                0.25,
                best,
                bool(abs(best - 0.25) <= 0.02),
                f"within one command; after {source:g} s it swims backwards, at {v1:.2f} body lengths/s, and stands "
                f"still after {t1:.1f} s: these servos follow at once, the source's need time",
            ),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The body that stops soonest."""
        best = self.best(results)
        snake, plan = self.setup(best)
        yield strip(snake, plan, 14.0, f"It swims, drifts, swims backwards for {best:g} s, and stands still.")


@study("water.spin", source="Draschwandtner 2015, section 7.6")
class Spin(Study):
    """Can a body turn without going anywhere?

    Waves run from its middle to both ends, bent to opposite sides (equations 3.6 and 3.7): amplitude 0.2, 1 Hz, phase
    2 pi / 16, bent by 0.3. Beside it the turn that does go somewhere: one wave, bent by 0.05 all along (section 3.3).
    The source's body is told to be bent from one moment to the next, for which no motor is strong enough; here it is
    given a second before the waves begin, and what it does in that second is not counted.

    Attributes:
        snake: The body.
        seconds: For how long the waves run [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "centre": Quantity("m", "centre of mass, from the start", ("sample", "axis"), (0, 2)),
        "heading": Quantity("rad", "mean direction of the links", ("sample",), (0,)),
        "drive": Quantity("1", "mean share of the wanted acceleration that the motors could give"),
    }
    GAIT: ClassVar[Gait] = Gait(amplitude=0.2, frequency=1.0, phase=2.0 * np.pi / 16.0, veer=0.3)
    CASES: ClassVar[tuple[str, ...]] = ("spin left", "spin right", "veer left")
    BENDS: ClassVar[float] = 1.0
    """For how long, before the waves begin [s]."""

    snake: Snake = Snake()
    seconds: float = Field(10.0, ge=1.0)

    def jobs(self) -> Iterator[Job]:
        """Both directions, and veering."""
        return self.cross(case=self.CASES, fidelity=FIDELITIES)

    def plan(self, case: str) -> Schedule:
        """What the body does."""
        gait = self.GAIT.veering(0.05)
        if case.startswith("spin"):
            gait = spin(self.GAIT, self.snake.joints, left=case.endswith("left"))
        bent = gait.targets(self.BENDS, self.snake.joints)
        return then(fold(np.zeros_like(bent), bent, self.BENDS), Schedule((self.BENDS,), (gait,)))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Turn."""
        plan = self.plan(str(job.parameters["case"]))
        track = follow(str(job.parameters["fidelity"]), self.snake, plan, self.BENDS + self.seconds)
        centre, heading = track.centre[at(self.BENDS) :], track.heading[at(self.BENDS) :]
        return {"centre": centre - centre[0], "heading": heading - heading[0], "drive": track.drive}

    def figure(self, results: xr.Dataset) -> Figure:
        """Heading over time, and the ways of the centres of mass; dotted: the reference."""
        figure, axes = canvas(2, 10.0, 4.2)
        turns = results.assign(heading=np.degrees(results["heading"]))
        for colour, case in zip(COLOURS, self.CASES, strict=False):
            draw_both(axes[0], turns, "heading", colour, case, case=case)
            for fidelity, style in (("fast", "-"), ("reference", ":")):
                x, y = pick(results, case=case, fidelity=fidelity)["centre"].values.T
                axes[1].plot(x, y, style, color=colour, label=case if fidelity == "fast" else None)
        axes[0].set(xlabel="time [s]", ylabel="turned to the left [deg]")
        axes[1].set(xlabel="x of the centre of mass [m]", ylabel="y [m]", aspect="equal", adjustable="datalim")
        axes[0].legend(frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """It turns, both ways, and stays where it is."""
        left, right, veer = (pick(results, case=case, fidelity="reference") for case in self.CASES)
        turns = [float(np.degrees(each["heading"].values[-1])) for each in (left, right, veer)]
        away, gone = (float(np.linalg.norm(each["centre"].values, axis=-1).max()) for each in (left, veer))
        body = self.snake.arclength
        fast = float(np.degrees(pick(results, case="spin left", fidelity="fast")["heading"].values[-1]))
        return [
            Claim(
                "It turns counter-clockwise.",
                "counter-clockwise",
                f"{turns[0]:.1f} deg in {self.seconds:g} s",
                turns[0] > 10.0,
                f"fast: {fast:.1f} deg; holds if more than 10 deg",
            ),
            Claim(
                "The centre of mass stays where it is.",
                "no forward velocity",
                f"at most {away:.2f} m away, {away / body:.1%} of the body's length",
                away < 0.05 * body,
                f"holds below 5%; veering takes it {gone:.1f} m away. Equations 3.6 and 3.7 bend one joint more than "
                "half of them one way, so that the two waves do not quite cancel",
            ),
            Claim(
                "With the other sign it turns the other way.",
                "reversed",
                f"{turns[1]:.1f} deg",
                turns[1] < -10.0,
                "holds if more than 10 deg; not quite as far, since only the bend is mirrored, not the wave",
            ),
            Claim(
                "Veering needs forward motion: it turns to the left along a curve.",
                "a curve",
                f"{turns[2]:.1f} deg on a way of {gone:.1f} m",
                bool(turns[2] > 10.0 and gone > 0.05 * body),
                "section 3.3, bent by 0.05",
            ),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The turn on the spot."""
        seconds = self.BENDS + self.seconds
        yield strip(self.snake, self.plan("spin left"), seconds, "Turning on the spot, counter-clockwise.")
