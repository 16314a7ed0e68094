"""A plate pressed into soil, lifted and pressed again, compared with Bekker's pressure-sinkage curve."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sandlot.physics.soil import PRESETS, Soil
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain import chrono
from sandlot.studies.terrain.shared import SOILS, PositiveValues, at_most, rows
from sandlot.typing import Array

LENGTH, WIDTH = 0.4, 0.2
"""Of the plate [m]."""
AREA = LENGTH * WIDTH
SIDE = 1.2
"""Of the ground [m]."""
DEPTHS = np.linspace(0.00125, 0.05, 40)
"""Depths of the first loading [m]."""
LIFTS = np.linspace(0.0, 0.9, 10)
"""Lifts of the unloading and reloading, as shares of the soil's elastic rebound."""
SECOND_DEPTHS = np.linspace(0.04, 0.08, 41)
"""Depths of the second loading [m], after the plate was lifted to the first of them."""
TOLERANCE = 0.02

MODEL = f"""
<mujoco>
  <option timestep="0.001" gravity="0 0 0"/>
  <worldbody>
    <body pos="0 0 0.05">
      <joint type="slide" axis="0 0 1"/>
      <geom type="box" size="{LENGTH / 2} {WIDTH / 2} 0.05" mass="1e9"/>
    </body>
  </worldbody>
</mujoco>"""


def bekker(ground: str, depth: Array) -> Array:
    """Force that presses the plate to a depth [m], by Bekker's law [N]."""
    soil = PRESETS[ground]
    return AREA * (soil.kc / WIDTH + soil.kphi) * depth**soil.exponent


@study("terrain.plate", source="Bekker 1969; Project Chrono's soil contact model")
class Plate(Study):
    """Does a plate sink into soil as Bekker's law says, whatever the grid?

    A plate of 0.4 m x 0.2 m is held at one depth after the other: pressed to 5 cm, lifted by part of the soil's elastic
    rebound, pressed back, lifted by 1 cm, and pressed again to 8 cm. The plate's edges do not line up with grid nodes.

    Attributes:
        spacings: Grid spacings of the soil [m].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "loading": Quantity("N", "force while the plate is first pressed down", ("depth",), (0,)),
        "unloading": Quantity("N", "force while it is lifted slightly", ("lift",), (0,)),
        "reloading": Quantity("N", "force while it is pressed back, by lift", ("lift",), (0,)),
        "second_loading": Quantity(
            "N", "force while it is pressed again after a lift of 1 cm", ("second_depth",), (0,)
        ),
    }

    spacings: PositiveValues = (0.02, 0.013, 0.01, 0.005)

    def jobs(self) -> Iterator[Job]:
        """Every soil at every grid spacing [m]."""
        return self.cross(ground=SOILS, spacing=self.spacings)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Press, lift slightly, press back, lift by 1 cm, press again."""
        ground, spacing = str(job.parameters["ground"]), float(job.parameters["spacing"])
        model = mujoco.MjModel.from_xml_string(MODEL)
        data, count = mujoco.MjData(model), round(SIDE / spacing) + 1
        corner = (-0.5 * SIDE - 0.003, -0.5 * SIDE - 0.007)  # so that the plate's edges do not line up with nodes
        soil = Soil(np.zeros((count, count)), spacing, ground, corner).attach(model)

        def hold(depth: float) -> float:
            data.qpos[0], data.qvel[0] = -depth, 0.0
            soil.step(data)
            return float(soil.forces[0, 2])

        loading = [hold(depth) for depth in DEPTHS]
        rebound = loading[-1] / (soil.kind.elastic * AREA)
        unloading = [hold(DEPTHS[-1] - share * rebound) for share in LIFTS]
        reloading = [hold(DEPTHS[-1] - share * rebound) for share in LIFTS[::-1]][::-1]
        for depth in np.linspace(DEPTHS[-1], SECOND_DEPTHS[0], 9):
            hold(depth)
        second = [hold(depth) for depth in SECOND_DEPTHS]
        forces = {"loading": loading, "unloading": unloading, "reloading": reloading, "second_loading": second}
        return {name: np.array(values) for name, values in forces.items()}

    def figure(self, results: xr.Dataset) -> Figure:
        """Force over depth on soft soil, for each grid spacing, with Bekker's curve and Project Chrono's values."""
        figure, (axes,) = canvas()
        depth = np.linspace(0.0, SECOND_DEPTHS[-1], 100)
        axes.plot(1000 * depth, bekker("soft", depth), color="0.8", linewidth=4, label="Bekker's curve")
        known = np.array(list(chrono.PLATE.items()))
        axes.plot(1000 * known[:, 0], known[:, 1], "x", color=COLOURS[5], label="Project Chrono")
        for k, row in enumerate(rows(pick(results, ground="soft"))):
            x = 1000 * np.concatenate([DEPTHS, SECOND_DEPTHS])
            y = np.concatenate([row["loading"].values, row["second_loading"].values])
            axes.plot(x, y, ".", markersize=3, color=COLOURS[k], label=f"grid of {1000 * row['spacing'].item():g} mm")
        axes.set(xlabel="depth [mm]", ylabel="force [N]", ylim=(0, None))
        axes.legend(frameon=False, fontsize=8)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Bekker's curve while loading, the elastic line while unloading and reloading."""
        beyond = SECOND_DEPTHS - float(DEPTHS[-1])
        sinking, unloading, reloading, early, late = {}, {}, {}, {}, {}
        for row in rows(results):
            ground = row["ground"].item()
            where = f"{ground}, {1000 * row['spacing'].item():g} mm"
            load, second = float(row["loading"][-1]), row["second_loading"].values
            sinking[where] = _largest(row["loading"].values / bekker(ground, DEPTHS) - 1.0)
            unloading[where] = _largest(row["unloading"].values / load - (1.0 - LIFTS))
            reloading[where] = _largest((row["reloading"].values - row["unloading"].values) / load)
            # Within 2 mm of the previous depth the plate is on the steep elastic line.
            early[where] = _largest((second / load)[beyond < -0.002])
            late[where] = _largest((second / bekker(ground, SECOND_DEPTHS))[beyond > 0.001] - 1.0)
        deepest = max(chrono.PLATE)
        excess = chrono.PLATE[deepest] / float(bekker("soft", np.array(deepest))) - 1.0
        grids = ", ".join(f"{1000 * spacing:g}" for spacing in self.spacings)
        where = f"on {', '.join(SOILS)} with grids of {grids} mm"
        cells = (
            f"Project Chrono's force is {excess:+.0%} on soft at 20 mm, because it counts every touched cell in full"
        )
        return [
            _claim("A plate sinks along Bekker's curve, at any grid spacing.", "within 2%", sinking,
                   f"{where}; {cells}"),
            _claim("Lifted slightly, it unloads along the elastic line.", "within 2% of the load", unloading, where),
            _claim("Pressed back, it follows the same line.", "within 2% of the load", reloading, where),
            _claim("Lifted off by 1 cm and pressed again, it meets no resistance above its previous depth.",
                   "within 2% of the load", early, where),
            _claim("Below its previous depth, it follows Bekker's curve again.", "within 2%", late, where),
        ]  # fmt: skip


def _largest(errors: Array) -> float:
    return float(np.abs(errors).max())


def _claim(text: str, source: str, errors: Mapping[str, float], note: str) -> Claim:
    """That all errors are within the tolerance, and where the largest is."""
    where = max(errors, key=lambda each: np.nan_to_num(errors[each], nan=np.inf))
    holds = at_most(list(errors.values()), TOLERANCE)
    return Claim(text, source, f"at most {errors[where]:.2%} ({where})", holds, note)
