"""A quadruped of 12 kg with point feet, for the tests.

Masses and lengths are those that Unitree publishes for the Go1 (trunk 5.2 kg, hips 0.59 kg, thighs 0.92 kg, shanks and
feet 0.2 kg; thighs and shanks of 0.213 m; feet of 2 cm radius). Inertias are those of the shapes here.
"""

import mujoco
import numpy as np

LEGS = {"FR": (1, -1), "FL": (1, 1), "RR": (-1, -1), "RL": (-1, 1)}
CROUCH = (0.0, 0.8, -1.5)
"""Hip, thigh and knee of a standing leg [rad]."""
LENGTH, FOOT = 0.213, 0.02
HEIGHT = LENGTH * (np.cos(CROUCH[1]) + np.cos(CROUCH[1] + CROUCH[2])) + FOOT
"""Of the hips above the ground while it stands [m]."""


def _leg(name, x, y):
    return f"""
    <body name="{name} hip" pos="{0.1881 * x} {0.04675 * y} 0">
      <joint name="{name} hip" axis="1 0 0"/>
      <geom type="sphere" size="0.04" mass="0.591"/>
      <body name="{name} thigh" pos="0 {0.08 * y} 0">
        <joint name="{name} thigh" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -{LENGTH}" size="0.015" mass="0.92"/>
        <body name="{name} shank" pos="0 0 -{LENGTH}">
          <joint name="{name} knee" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 -{LENGTH}" size="0.01" mass="0.136"/>
          <geom name="{name} foot" type="sphere" pos="0 0 -{LENGTH}" size="{FOOT}" mass="0.06"/>
        </body>
      </body>
    </body>"""


def quadruped(height, timestep=0.002):
    """Model and data of a quadruped whose feet stand at a height [m]; servos hold its joints."""
    legs = "".join(_leg(name, x, y) for name, (x, y) in LEGS.items())
    joints = [f"{name} {joint}" for name in LEGS for joint in ("hip", "thigh", "knee")]
    servos = "".join(f'<position joint="{joint}" kp="100" kv="3" forcerange="-33 33"/>' for joint in joints)
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco>
      <option timestep="{timestep}" integrator="implicitfast"/>
      <default><joint armature="0.01" damping="0.1"/><geom contype="0" conaffinity="0"/></default>
      <worldbody>
        <body name="trunk" pos="0 0 {height + HEIGHT}">
          <freejoint/>
          <geom type="box" size="0.1881 0.04675 0.057" mass="5.204"/>{legs}
        </body>
      </worldbody>
      <actuator>{servos}</actuator>
    </mujoco>""")
    data = mujoco.MjData(model)
    data.qpos[7:] = data.ctrl[:] = CROUCH * 4
    return model, data
