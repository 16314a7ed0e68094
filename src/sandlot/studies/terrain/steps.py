"""Whether the length of a step matters, and whether anything gains energy when motors are off."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import Field

from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found
from sandlot.studies.plots import COLOURS
from sandlot.studies.terrain.ride import Ride
from sandlot.studies.terrain.trial import ROVERS, YIELDING, Case, Trial, below, rows
from sandlot.typing import Array

GROUNDS = (*YIELDING, "rigid")
EVERY = 0.1
"""Between samples of a course [s]."""
SHARE = 0.02
MOMENT, WINDOW = 0.01, 0.25
"""Between samples of energy, and time in which the soil's springs have given back what they took [s]."""
ROUNDING, SLACK = 1e-6, 1e-3
"""Of the energy lost: what is rounding, and what springs may do that are not quite at rest."""


class Halving(Trial):
    """The same winding drive, with the usual step and with half of it.

    Attributes:
        step: The usual one [s].
        seconds: [s]
    """

    name: ClassVar[str] = "halving"
    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "halving_away": Quantity("m", "how far apart the two drives are", ("halving_time",), (0,)),
        "halving_length": Quantity("m", "length of the drive with half the step"),
    }

    step: float = Field(0.001, gt=0.0, le=0.01)
    seconds: float = Field(10.0, ge=EVERY, le=100.0)

    def lengths(self) -> Mapping[str, int]:
        """Times."""
        return {"halving_time": round(self.seconds / EVERY)}

    def cases(self) -> Iterator[Case]:
        """Both rovers on every ground."""
        for body in ROVERS:
            for ground in GROUNDS:
                yield Case(body, ground)

    def measure(self, case: Case, seed: np.random.SeedSequence) -> Mapping[str, Found]:
        """Drive twice."""
        one, half = (self._course(case, step) for step in (self.step, 0.5 * self.step))
        length = float(np.linalg.norm(np.diff(half, axis=0), axis=1).sum())
        return {"halving_away": np.linalg.norm(one - half, axis=1)[1:], "halving_length": length}

    def _course(self, case: Case, step: float) -> Array:
        """Where a rover was: (samples + 1, 2) [m]."""
        ride = Ride(case.body, case.ground, step=step)
        ride.wait(0.5)
        course = [ride.place]
        for k in range(round(self.seconds / EVERY)):
            ride.go(0.15, 0.6 * np.sin(2.0 * np.pi * k * EVERY / 5.0), EVERY)
            course.append(ride.place)
        return np.array(course)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """It hardly matters."""
        found = {}
        for case, row in rows(results):
            found[f"{case.body}, {case.ground}"] = float(row["halving_away"].max() / row["halving_length"])
        return [
            Claim(
                f"Half the step changes a drive of {self.seconds:g} s by little.",
                f"under {SHARE:.0%} of its length",
                "; ".join(f"{name}: {share:.2%}" for name, share in found.items()),
                below(list(found.values()), SHARE),
                f"steps of {1000 * self.step:g} and {500 * self.step:g} ms; the greatest distance at any time",
            )
        ]

    def draw(self, panels: Sequence[Axes], results: xr.Dataset) -> None:
        """How far apart over time."""
        (axes,) = panels
        time = EVERY * (1 + np.arange(results.sizes["halving_time"]))
        for case, row in rows(results):
            style, colour = "-" if case.body == "wheeled" else "--", COLOURS[GROUNDS.index(case.ground)]
            away = 100 * row["halving_away"] / row["halving_length"]
            axes.plot(time, away, style, color=colour, label=case.ground if style == "-" else None)
        axes.plot([], [], "--", color=COLOURS[5], label="the same, tracked")
        axes.axhline(100 * SHARE, color=COLOURS[5], linestyle=":", label="allowed")
        # Room for the legend above all lines.
        axes.set(title="half the step", xlabel="time [s]", ylabel="apart [% of the way]")
        axes.set_ylim(0, 1.3 * axes.get_ylim()[1])
        axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper left")


WAYS = {"dropped": (0.1, 0.0, 0.0), "coasting": (0.0, 0.0, 0.25), "on a slope": (0.0, 15.0, 0.0)}
"""How rovers are left alone: height [m], slope [deg], speed [m/s]."""


class Energy(Trial):
    """Energy of rovers whose motors are off: of motion and of height, not of the soil's springs.

    Attributes:
        seconds: [s]
    """

    name: ClassVar[str] = "energy"
    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "energy": Quantity("J", "mechanical energy of a rover", ("energy_way", "energy_time"), (0, 0)),
    }

    seconds: float = Field(4.0, ge=2 * WINDOW, le=100.0)

    def lengths(self) -> Mapping[str, int]:
        """Ways, and times."""
        return {"energy_way": len(WAYS), "energy_time": 1 + round(self.seconds / MOMENT)}

    def cases(self) -> Iterator[Case]:
        """Both rovers on every ground."""
        for body in ROVERS:
            for ground in GROUNDS:
                yield Case(body, ground)

    def measure(self, case: Case, seed: np.random.SeedSequence) -> Mapping[str, Found]:
        """Leave it alone in every way."""
        return {"energy": np.array([self._course(case, *way) for way in WAYS.values()])}

    def _course(self, case: Case, above: float, slope: float, speed: float) -> list[float]:
        ride = Ride(case.body, case.ground, slope=slope, above=above)
        ride.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        ride.data.qvel[ride.parts.dof] = speed
        for wheel in ride.parts.wheels:
            ride.data.qvel[wheel.dof] = speed / ride.parts.radius
        now = mujoco.MjData(ride.model)
        course = [_energy(ride, now)]
        for _ in range(round(self.seconds / MOMENT)):
            ride.wait(MOMENT)
            course.append(_energy(ride, now))
        return course

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """It only falls."""
        above, rises = {}, {}
        for case, row in rows(results):
            for way, course in zip(WAYS, row["energy"].values, strict=True):
                name = f"{case.body} {way}, {case.ground}"
                lost = max(float(course[0] - course.min()), 1e-12)
                above[name] = float(course.max() - course[0]) / lost
                rises[name] = float(np.diff(peaks(course)).max()) / lost
        more, grown = (
            [name for name, value in values.items() if not value <= slack]
            for values, slack in ((above, ROUNDING), (rises, SLACK))
        )
        most = max(rises, key=lambda name: rises[name])
        return [
            Claim(
                "With motors off, rovers never have more energy than at the start.",
                "never",
                ", ".join(more) or f"never in {len(above)} runs",
                not more,
                f"{', '.join(WAYS)}; by {ROUNDING:g} of what they lose is rounding",
            ),
            Claim(
                "Nor does their energy grow later on.",
                f"at most {SLACK:.1%}",
                f"{max(rises[most], 0.0):.2%} ({most})",
                not grown,
                f"of what they lose; of the peaks in {WINDOW:g} s, as the soil's springs give back at once what "
                "they took. " + (f"It does: {', '.join(grown)}" if grown else "On all grounds"),
            ),
        ]

    def draw(self, panels: Sequence[Axes], results: xr.Dataset) -> None:
        """Energy over time, since the start and as a share of what is lost."""
        (axes,) = panels
        time = MOMENT * np.arange(results.sizes["energy_time"])
        for case, row in rows(results):
            if case.body != "wheeled":
                continue
            for k, course in enumerate(row["energy"].values):
                share = (course - course.min()) / max(course[0] - course.min(), 1e-12)
                style = ("-", "--", ":")[k]
                label = case.ground if k == 0 else None
                axes.plot(time, share, style, color=COLOURS[GROUNDS.index(case.ground)], linewidth=1, label=label)
        for style, way in zip(("-", "--", ":"), WAYS, strict=True):
            axes.plot([], [], style, color=COLOURS[5], label=way)
        axes.set(title="motors off, wheeled", xlabel="time [s]", ylabel="energy, of what is lost", ylim=(0, 1.05))
        axes.legend(frameon=False, fontsize=8, loc="upper right")


def _energy(ride: Ride, now: mujoco.MjData) -> float:
    """Of motion and of height [J], both of the same moment."""
    now.qpos[:], now.qvel[:] = ride.data.qpos, ride.data.qvel
    mujoco.mj_forward(ride.model, now)
    mujoco.mj_energyPos(ride.model, now)
    mujoco.mj_energyVel(ride.model, now)
    return float(now.energy.sum())


def peaks(course: Array) -> Array:
    """The greatest of every window of a quarter of a second; a rest is left out."""
    each = round(WINDOW / MOMENT)
    count = (len(course) - 1) // each
    return np.asarray(course[1 : 1 + count * each].reshape(count, each).max(axis=1))
