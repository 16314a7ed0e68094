"""Put any MuJoCo model on soft ground, print what carries it, and make a moving picture.

Run it as it is for a quadruped of 12 kg, or for a model of your own and another preset of soil:
``python your_robot.py path/to/scene.xml mid``.
"""

import os
import sys
from ctypes.util import find_library

# Without a screen MuJoCo draws with EGL, but must be told so before it is imported.
if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ) and find_library("EGL"):
    os.environ.setdefault("MUJOCO_GL", "egl")

import mujoco
import numpy as np
from PIL import Image

from sandlot.physics.soil import Soil
from sandlot.robots.legged import ROBOTS, legged_spec

SECONDS, FRAMES = 4.0, 25  # duration [s], pictures per second
LIFT = 0.03  # how high above the ground it starts [m]


def main(scene: str | None = None, kind: str = "soft", out: str = "your_robot.gif") -> Soil:
    """Let it stand on soil; gives the ground as it is afterwards."""
    spec = mujoco.MjSpec.from_file(scene) if scene else legged_spec(ROBOTS["small quadruped"], above=LIFT)
    spec.visual.headlight.ambient = [0.5, 0.5, 0.5]
    spec.worldbody.add_light(pos=[0.5, 0.5, 3.0], dir=[-0.1, -0.2, -1.0])
    soil = Soil(np.zeros((201, 201)), 0.01, kind)  # 2 by 2 m, a node every centimetre
    soil.add_to(spec)  # draws the surface
    model = spec.compile()
    data = mujoco.MjData(model)
    if model.nkey:  # many models have the pose in which they stand as a keyframe
        mujoco.mj_resetDataKeyframe(model, data, 0)
    soil.attach(model, replaces=True)  # the floor of the scene, if it has one, no longer carries the robot

    camera = mujoco.MjvCamera()
    camera.lookat, camera.distance, camera.azimuth, camera.elevation = [0.0, 0.0, 0.15], 1.6, 130.0, -18.0
    pictures, steps = [], round(1.0 / FRAMES / model.opt.timestep)
    try:
        renderer = mujoco.Renderer(model, 360, 480)
    except Exception as error:  # of OpenGL, in many forms
        sys.exit(f"MuJoCo cannot draw here: install libegl1, or draw on a computer with a screen ({error})")
    with renderer:
        for _ in range(round(SECONDS * FRAMES)):
            soil.step(data, steps)
            mujoco.mjr_uploadHField(model, renderer._mjr_context, soil.write_to(model))
            renderer.update_scene(data, camera)
            pictures.append(Image.fromarray(renderer.render()))
    pictures[0].save(out, save_all=True, append_images=pictures[1:], duration=1000 // FRAMES, loop=0)

    for contact in soil.contacts():
        if contact.in_contact:
            print(f"{contact.name}: {contact.force[2]:.0f} N, {1000 * contact.sinkage:.0f} mm deep")
    print(f"The moving picture is {out}.")
    return soil


if __name__ == "__main__":
    main(*sys.argv[1:])
