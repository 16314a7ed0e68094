"""Ruts across an untouched plain: the soil of the reference beside that of the learned rover.

Run it as it is: it prints how deep the ruts are, and draws ``ruts.png``.
"""

import matplotlib.pyplot as plt
import numpy as np

from sandlot.places.terrains import shade
from sandlot.worlds.terrain.world import Terrain

SOILS = ("soft", "mid", "LETE sand")
SHAPE, SPACING = (90, 150), 0.01  # nodes, and their distance [m]
START = -0.55  # x of the rover at first [m]
COMMANDS = ((300, (0.2, 0.0)), (250, (0.2, 0.6)))  # frames, and forward speed [m/s] and turn rate [rad/s]
SECTION = 55  # column of the nodes whose heights are compared


def ruts(fidelity: str, soil: str) -> np.ndarray:
    """How much higher the ground is after a drive than before [m]."""
    pose = (START, -0.15, 0.0)
    world = Terrain(fidelity=fidelity, soil=soil, terrain="flat", shape=SHAPE, spacing=SPACING, poses=(pose,))
    world.reset(seed=0)
    for frames, command in COMMANDS:
        for _ in range(frames):
            world.task.rovers.drive(np.array([command]))
            world.task.ground.change(world.task.state, world.task.state)
    return world.task.ground.heights - world.task.ground.initial


def main() -> None:
    """Drive on three soils, and look at the ground from above and across."""
    figure, axes = plt.subplots(3, 3, figsize=(11.0, 7.0), layout="constrained")
    found: list[list[float]] = []
    half = 0.5 * SPACING * np.array(SHAPE)
    across = 100.0 * SPACING * (np.arange(SHAPE[0]) - 0.5 * (SHAPE[0] - 1))
    for row, soil in zip(axes, SOILS, strict=True):
        trusted, learned = (ruts(fidelity, soil) for fidelity in ("reference", "learned"))
        for panel, change, name in zip(row, (trusted, learned), ("reference", "learned"), strict=False):
            extent = (-half[1], half[1], -half[0], half[0])
            panel.imshow(shade(change, SPACING), cmap="copper", vmin=0.0, vmax=1.0, origin="lower", extent=extent)
            panel.set(title=f"{soil}: {name}", ylabel="y [m]")
        for change, name, colour in ((trusted, "reference", "0.5"), (learned, "learned", "tab:orange")):
            row[2].plot(across, 1000.0 * change[:, SECTION], color=colour, label=name)
        row[2].set(title="across the ruts", xlabel="y [cm]", ylabel="height [mm]", xlim=(-35.0, 5.0))
        depths = [1000.0 * float(-change[:, SECTION].min()) for change in (trusted, learned)]
        alike = np.corrcoef(trusted[:, SECTION], learned[:, SECTION])[0, 1]
        print(f"{soil}: {depths[0]:.1f} mm deep, learned {depths[1]:.1f} mm; across, they correlate by {alike:.2f}")
        assert abs(learned.sum()) < 1e-9, "no soil should be lost or made"
        found.append(depths)
    assert sorted(found, reverse=True) == found, "the softer the soil, the deeper should ruts be"
    assert all(np.diff(np.array(found)[:, 1]) < 0.0), "also those of the learned rover"
    axes[0, 2].legend(frameon=False)
    figure.savefig("ruts.png", dpi=100)


if __name__ == "__main__":
    main()
