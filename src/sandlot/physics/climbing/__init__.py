"""The planar model of a climbing robot: three rigid parts against the outline of the ground, compiled and batched.

`step.advance` simulates, `ground.Ground` holds the outlines, `robot.ROBOT` the parameters of each robot.
"""
