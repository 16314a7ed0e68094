"""A cart in plain Python."""

from math import copysign

from sandlot.physics.cart import END, TOP_SPEED


def roll(position, velocity, force, mass, dt):
    velocity = min(max(velocity + force / mass * dt, -TOP_SPEED), TOP_SPEED)
    position += velocity * dt
    if abs(position) >= END:
        return copysign(END, position), 0.0
    return position, velocity
