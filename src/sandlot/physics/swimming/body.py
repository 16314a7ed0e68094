"""The record by which the compiled functions know a swimming body."""

import numpy as np

SWIMMER = np.dtype(
    [
        ("links", np.int64),
        ("length", np.float64),  # of a link [m]
        ("mass", np.float64),  # of a link [kg]
        ("inertia", np.float64),  # of a link about its centre [kg*m^2]
        ("side_drag", np.float64),  # across a link [N*s/m]
        ("end_drag", np.float64),  # along every link [N*s/m]; 0 with open faces
        ("tip_drag", np.float64),  # along the head and the tail only [N*s/m]; 0 without open faces
        ("gain", np.float64),  # commanded rate of a joint over the error of its angle [1/s]
        ("max_torque", np.float64),  # of a motor [N*m]
        ("max_rate", np.float64),  # that is commanded [rad/s]
        ("max_angle", np.float64),  # of a joint, to either side [rad]
        ("interval", np.float64),  # between commands [s]
        ("substeps", np.int64),  # steps between commands
    ]
)
"""Size, mass, drag and motors of a body. `sandlot.robots.snake.Snake.record` makes one."""
