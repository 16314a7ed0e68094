"""A rover drives over endless ground with stripes of soft and of firmer soil.

Run it as it is: it prints how fast the rover is on each, how deep its wheels sink and how much memory that takes, and
draws ``endless.png``.
"""

import matplotlib.pyplot as plt
import mujoco
import numpy as np

from sandlot.physics.soil import EndlessSoil
from sandlot.places.terrains import shade
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive

KINDS, STRIPE = ("soft", "mid"), 0.5  # what the ground is made of, and how wide a stripe of it is [m]
SIZE, SPACING = (1.2, 0.8), 0.01  # of the window around the rover, and of its nodes [m]
SPEED, SECONDS = 0.25, 60.0  # that the motors are set to [m/s], and how long it drives [s]


def height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of the ground before the rover came [m]."""
    return 0.02 * np.sin(1.7 * x) * np.cos(1.1 * y)


def which(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Number of the kind of soil."""
    return (np.floor(x / STRIPE) % len(KINDS)).astype(int)


def main() -> None:
    """Drive, and look at the ground from above."""
    rover = build_model([load_rover("wheeled")], [[0.0, 0.0, 0.06, 0.0, 0.0, 0.0]])
    data, parts = mujoco.MjData(rover.model), rover.rovers[0]
    soil = EndlessSoil(height, SIZE, SPACING, KINDS, which=which).attach(rover.model, parts.ground, parts.tracks)
    soil.step(data, 500)
    drive(rover, data, [[SPEED, 0.0]])
    path, depths = [data.qpos[:2].copy()], []
    for _ in range(round(SECONDS / 0.1)):
        soil.step(data, 100)
        path.append(data.qpos[:2].copy())
        depths.append([contact.sinkage for contact in soil.contacts()])
    places = np.array(path)
    speed, on = np.diff(places[:, 0]) / 0.1, which(places[1:, 0], places[1:, 1])

    figure, axes = plt.subplots(2, 1, figsize=(8.0, 6.4), layout="constrained", height_ratios=(3, 2))
    (left, low), (right, high) = soil.corner, soil.corner + SIZE
    light = shade(soil.surface(), SPACING)
    axes[0].imshow(light, cmap="copper", vmin=0.0, vmax=1.0, origin="lower", extent=(left, right, low, high))
    axes[0].plot(*places[places[:, 0] > left].T, color="white", linewidth=1.0)
    axes[0].set(title="the window after the drive, from above", ylabel="y [m]")
    axes[1].plot(places[1:, 0], speed, color="0.2")
    for k in range(int(places[:, 0].max() / STRIPE) + 1):
        if k % 2 == 0:
            axes[1].axvspan(k * STRIPE, (k + 1) * STRIPE, color="tan", alpha=0.5, linewidth=0.0)
    axes[1].set(xlabel="x [m]; soft soil where it is brown", ylabel="speed [m/s]", xlim=(0.0, places[:, 0].max()))
    figure.savefig("endless.png", dpi=110)

    memory = sum(each.nbytes for each in soil.state().values()) / 1e6
    soft, firm = (float(speed[on == kind].mean()) for kind in (0, 1))
    print(
        f"{places[-1, 0]:.1f} m with {memory:.1f} MB of ground: {soft:.2f} m/s on soft soil, {firm:.2f} m/s on mid soil"
    )
    print(f"wheels sink in by up to {1000.0 * np.max(depths):.0f} mm")
    assert places[-1, 0] > 3.0 * SIZE[0], "it should leave where it started far behind"
    assert soft < firm, "on soft soil the rover should be slower"


if __name__ == "__main__":
    main()
