"""One vocabulary: the name, unit and meaning of every quantity of a frame, the same in every world and every log.

A world or an importer takes its quantities from here with `quantity`, and adds only their axes. To record another
quantity, add a line here. SI units, radians, x forward, y left, z up (ROS REP-103); angles are positive to the left.
"""

from sandlot.recordings.frames import Quantity

VOCABULARY: dict[str, tuple[str, str]] = {
    # time and pose
    "time": ("s", "time since the start"),
    "x": ("m", "position along x"),
    "y": ("m", "position along y"),
    "z": ("m", "height of the body above zero"),
    "roll": ("rad", "roll, positive with the left side up"),
    "pitch": ("rad", "pitch, positive with the nose down"),
    "yaw": ("rad", "yaw, counter-clockwise from x"),
    "dx": ("m", "change of x since the last frame"),
    "dy": ("m", "change of y since the last frame"),
    "dyaw": ("rad", "change of yaw since the last frame"),
    "odometry_x": ("m", "x by odometry"),
    "odometry_y": ("m", "y by odometry"),
    "odometry_yaw": ("rad", "yaw by odometry"),
    "path_length": ("m", "length of the path driven since the start"),
    # motion and commands
    "speed": ("m/s", "measured forward speed"),
    "turn_rate": ("rad/s", "measured rate of turning to the left"),
    "velocity_x": ("m/s", "velocity of the centre of mass along x"),
    "velocity_y": ("m/s", "velocity of the centre of mass along y"),
    "wheel_speed_left": ("rad/s", "speed of the left wheels"),
    "wheel_speed_right": ("rad/s", "speed of the right wheels"),
    "command_speed": ("m/s", "commanded forward speed"),
    "command_turn_rate": ("rad/s", "commanded rate of turning to the left"),
    # a lidar
    "ranges": ("m", "range of each beam; NaN without a return"),
    "bearings": ("rad", "direction of each beam relative to the yaw, counter-clockwise"),
    "ages": ("s", "how long before the time of the frame each beam was measured"),
    "bumped": ("1", "whether the robot touched a wall since the last frame"),
    # the tracked rover, and what is around it
    "count_left": ("1", "counts of the encoder of the left track since the start"),
    "count_right": ("1", "counts of the encoder of the right track since the start"),
    "person_x": ("m", "x of each person"),
    "person_y": ("m", "y of each person"),
    "goal_x": ("m", "x of the goal"),
    "goal_y": ("m", "y of the goal"),
    "goal_distance": ("m", "measured distance to the goal"),
    "goal_bearing": ("rad", "measured direction of the goal relative to the yaw, counter-clockwise"),
    "obstacle_distance": ("m", "measured distance to the nearest obstacle"),
    "obstacle_bearing": ("rad", "measured direction of the nearest obstacle relative to the yaw, counter-clockwise"),
    # the ground
    "heights": ("m", "height of the ground at each node"),
    "height_change": ("m", "change of the heights in a window around each rover"),
    "window_row": ("1", "row of the map of the window's first node"),
    "window_column": ("1", "column of the map of the window's first node"),
    # the snake
    "joint_angles": ("rad", "joint angles, from the head on"),
    "joint_rates": ("rad/s", "joint rates, from the head on"),
    "link_x": ("m", "x of the centre of each link"),
    "link_y": ("m", "y of the centre of each link"),
    "target_x": ("m", "x of the ball, or of the mark to swim to"),
    "target_y": ("m", "y of the ball, or of the mark to swim to"),
    "drive": ("1", "mean share of motors below their torque limit"),
    # the climbing robot
    "velocity_forward": ("m/s", "velocity of the middle of the body along its heading"),
    "velocity_left": ("m/s", "velocity of the middle of the body to its left"),
    "velocity_up": ("m/s", "velocity of the middle of the body upwards"),
    "roll_rate": ("rad/s", "rate of the body about its heading"),
    "pitch_rate": ("rad/s", "rate of the body about the horizontal to its left, positive with the nose going down"),
    "yaw_rate": ("rad/s", "rate of the body about the vertical"),
    "axle_angles": ("rad", "angles of the front axle, positive with its tips up, and the rear one, with its tips down"),
    "axle_rates": ("rad/s", "rates of the front and the rear axle"),
    "axle_torques": ("N*m", "torques of the motors of the front and the rear axle"),
    "belt_speeds": ("m/s", "speeds of the belts, front left, front right, rear left, rear right"),
    "belt_forces": ("N", "forces of the motors of the belts, in the same order"),
    "elevation": ("m", "height of the ground above the middle of the body in each cell ahead"),
    # the swarm, whose world counts in cells, cycles and units of material
    "cycles": ("cycle", "cycles of the source since the start"),
    "cell_heights": ("unit", "height of each cell"),
    "agent_column": ("cell", "column of each agent"),
    "agent_row": ("cell", "row of each agent"),
    "carrying": ("1", "whether the agent holds a unit"),
    "mean_estimate": ("unit", "the agent's estimate of the mean height"),
    "height_range": ("unit", "highest minus lowest cell"),
    "units_moved": ("unit", "units put down since the start"),
    # what a recording adds
    "action": ("1", "action that led here"),
    "reward": ("1", "reward of the step that led here"),
    "episode": ("1", "number of the episode, from 0"),
    "observation": ("mixed", "observation after the step, as the page of the world describes it"),
    "terminated": ("1", "whether the task ended the episode with this frame"),
    "truncated": ("1", "whether the episode was cut off with this frame"),
    "exploded": ("1", "whether the simulation has exploded and the frame means nothing"),
}
"""Name to unit and meaning."""


def quantity(
    name: str, dims: tuple[str, ...] = (), shape: tuple[int, ...] = (), dtype: str = "float64", every: int = 1
) -> Quantity:
    """A quantity of the vocabulary.

    Args:
        name: One of `VOCABULARY`.
        dims: Names of its axes within one frame; empty for a number.
        shape: Lengths of these axes.
        dtype: NumPy type it is kept in.
        every: A recording keeps it in every so many frames, beginning with the first.

    Raises:
        KeyError: If the vocabulary has no such name.
    """
    units, long_name = VOCABULARY[name]
    return Quantity(units, long_name, dims, shape, dtype, every)
