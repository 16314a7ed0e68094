"""Rovers whose motors are off must not gain energy from the ground."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain.ride import Ride
from sandlot.studies.terrain.shared import GROUNDS, ROVERS, rows
from sandlot.typing import Array

SAMPLE, WINDOW = 0.01, 0.25
"""Time between samples of energy, and in which the soil's springs return what they stored [s]."""
ROUNDING, SLACK = 1e-6, 1e-3
"""Shares of the energy lost: rounding errors, and what springs that are not quite at rest may return."""
STARTS = {"dropped": (0.1, 0.0, 0.0), "coasting": (0.0, 0.0, 0.25), "on a slope": (0.0, 15.0, 0.0)}
"""How rovers start: height above the ground [m], slope [deg], speed [m/s]."""
STYLES = ("-", "--", ":")


@study("terrain.energy", source="conservation of energy, and our own")
class Energy(Study):
    """Does the ground ever give energy to a rover whose motors are off?

    Rovers are dropped, coast, or stand on a slope, on every ground. Their kinetic and potential energy is counted; the
    energy in the soil's springs is not.

    Attributes:
        seconds: Duration of a run [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "energy": Quantity("J", "mechanical energy of a rover", ("start", "time"), (0, 0)),
    }

    seconds: float = Field(4.0, ge=2 * WINDOW, le=100.0)

    def jobs(self) -> Iterator[Job]:
        """Both rovers on every ground."""
        return self.cross(rover=ROVERS, ground=GROUNDS)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Let a rover go from every start."""
        rover, ground = str(job.parameters["rover"]), str(job.parameters["ground"])
        return {"energy": np.array([self._energies(rover, ground, *start) for start in STARTS.values()])}

    def _energies(self, rover: str, ground: str, above: float, slope: float, speed: float) -> list[float]:
        ride = Ride(rover, ground, slope=slope, above=above)
        ride.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        ride.data.qvel[ride.parts.dof] = speed
        for wheel in ride.parts.wheels:
            ride.data.qvel[wheel.dof] = speed / ride.parts.radius
        scratch = mujoco.MjData(ride.model)
        energies = [_energy(ride, scratch)]
        for _ in range(round(self.seconds / SAMPLE)):
            ride.wait(SAMPLE)
            energies.append(_energy(ride, scratch))
        return energies

    def figure(self, results: xr.Dataset) -> Figure:
        """Energy of the wheeled rover over time, as a share of what it loses."""
        figure, (axes,) = canvas()
        time = SAMPLE * np.arange(results.sizes["time"])
        for row in rows(results):
            if row["rover"].item() != "wheeled":
                continue
            ground = row["ground"].item()
            for k, energy in enumerate(row["energy"].values):
                share = (energy - energy.min()) / max(energy[0] - energy.min(), 1e-12)
                colour, label = COLOURS[GROUNDS.index(ground)], ground if k == 0 else None
                axes.plot(time, share, STYLES[k], color=colour, linewidth=1, label=label)
        for style, start in zip(STYLES, STARTS, strict=True):
            axes.plot([], [], style, color=COLOURS[5], label=start)
        axes.set(xlabel="time [s]", ylabel="energy, of what is lost", ylim=(0, 1.05))
        axes.legend(frameon=False, fontsize=8, loc="upper right")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Energy only falls."""
        excess, rises = {}, {}
        for row in rows(results):
            for start, energy in zip(STARTS, row["energy"].values, strict=True):
                name = f"{row['rover'].item()} {start}, {row['ground'].item()}"
                lost = max(float(energy[0] - energy.min()), 1e-12)
                excess[name] = float(energy.max() - energy[0]) / lost
                rises[name] = float(np.diff(peaks(energy)).max()) / lost
        above = [name for name, share in excess.items() if not share <= ROUNDING]
        grown = [name for name, share in rises.items() if not share <= SLACK]
        largest = max(rises, key=lambda name: rises[name])
        return [
            Claim(
                "With motors off, rovers never have more energy than at the start.",
                "never",
                ", ".join(above) or f"never in {len(excess)} runs",
                not above,
                f"{', '.join(STARTS)}; {ROUNDING:g} of the energy lost is allowed for rounding",
            ),
            Claim(
                "Nor does their energy grow later on.",
                f"at most {SLACK:.1%}",
                f"{max(rises[largest], 0.0):.2%} ({largest})",
                not grown,
                f"as a share of the energy lost, between peaks in windows of {WINDOW:g} s, because the soil's springs "
                "return at once what they stored. " + (f"It grows: {', '.join(grown)}" if grown else "On all grounds"),
            ),
        ]


def _energy(ride: Ride, scratch: mujoco.MjData) -> float:
    """Kinetic and potential energy [J], both of the same moment."""
    scratch.qpos[:], scratch.qvel[:] = ride.data.qpos, ride.data.qvel
    mujoco.mj_forward(ride.model, scratch)
    mujoco.mj_energyPos(ride.model, scratch)
    mujoco.mj_energyVel(ride.model, scratch)
    return float(scratch.energy.sum())


def peaks(energy: Array) -> Array:
    """The maximum of every whole window after the first sample; an incomplete last window is left out."""
    each = round(WINDOW / SAMPLE)
    count = (len(energy) - 1) // each
    return np.asarray(energy[1 : 1 + count * each].reshape(count, each).max(axis=1))
