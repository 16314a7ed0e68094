"""Learned physics of the terrain world: nets move rovers, and footprints change the ground."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from sandlot.errors import RobotWarning, SettingError
from sandlot.kernels import kernel
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_layout import find_layout
from sandlot.robots.rover_shapes import DrawnShape, drawn_shapes
from sandlot.robots.rover_state import RoverState
from sandlot.surrogates.terrain import motion_model
from sandlot.surrogates.terrain.contact import SEEN
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.inputs import NO_SOIL, SOIL_INPUTS, soil_inputs
from sandlot.surrogates.terrain.looking import NEVER, STATE
from sandlot.surrogates.terrain.motion_model import MotionModel, load_motion
from sandlot.surrogates.terrain.shape import Shape, measure
from sandlot.surrogates.terrain.step import advance, make_maps, make_scratch, put_down
from sandlot.typing import Array, IntArray
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.places import check_places, side_by_side
from sandlot.worlds.terrain.settings import TerrainSettings

GRAVITY = 9.81
"""[m/s^2]"""


class LearnedGround:
    """A `sandlot.worlds.terrain.seam.Ground` that rovers leave their footprints in.

    Attributes:
        maps: For kernels; the first is the ground of a single world, and each member of a vector world has one.
    """

    def __init__(self, grid: Grid, members: int = 1) -> None:
        """Prepare the ground; `restart` comes before the first step."""
        self.grid, self.grain = grid, 0.0
        shape = (members, *grid.shape)
        x0, y0 = grid.corner.tolist()
        self.maps = make_maps(np.zeros(shape), np.zeros(shape), x0, y0, grid.spacing, grid.wrap)
        self.initial: Array = self.maps.initial[0]

    @property
    def heights(self) -> Array:
        """Of the surface: (ny, nx) [m]. Not a copy: it changes with the next step; read only."""
        return self.maps.heights[0]

    def restart(self, heights: Array, member: int = 0) -> None:
        """Lay new ground that nothing has touched: (ny, nx) [m]."""
        maps = self.maps
        maps.heights[member], maps.initial[member], maps.firm[member] = heights, heights, heights
        maps.marks[member], maps.frames[member] = 0, 0

    def change(self, before: RoverState, after: RoverState) -> None:
        """Do nothing: the ground has changed with the rovers."""
        return


class LearnedFleet:
    """A `sandlot.worlds.terrain.seam.Drive` of learned rovers, all of the same kind or of several.

    In a vector world, it drives the rovers of all members: those of the first, then those of the second, and so on.

    Attributes:
        models: How each rover moves.
        states: (count,) of STATE.
    """

    def __init__(self, settings: TerrainSettings, ground: LearnedGround, members: int = 1) -> None:
        """Load the models.

        Raises:
            SandlotError: If a rover or a model cannot be read, or there is none for a rover or this ground.
        """
        names = settings.rovers * members
        self.ground, self.count = ground, len(names)
        self._where = np.repeat(np.arange(members), len(settings.rovers))
        layouts = {name: find_layout(load_rover(name)) for name in dict.fromkeys(settings.rovers)}
        self.models = {name: _model(settings, name, measure(layouts[name])) for name in layouts}
        self._groups = {name: np.flatnonzero([each == name for each in names]) for name in layouts}
        each = [self.models[name].shape for name in names]
        linear = np.array([shape.top_speed * shape.radius for shape in each])
        self.top_speeds = np.column_stack([linear, 2.0 * linear / np.array([shape.base for shape in each])])
        self.wheel_radius = np.array([shape.radius for shape in each])
        self.shapes: Sequence[Sequence[DrawnShape]] = [drawn_shapes(layouts[name]) for name in names]
        reach = np.array([shape.reach for shape in each[: len(settings.rovers)]])
        poses = side_by_side(reach) if settings.poses is None else np.array(settings.poses, np.float64)
        check_places(ground.grid, poses, reach)
        self.poses = np.tile(poses, (members, 1))
        kind = _kind(settings)
        model = GroundModel() if settings.ground_model is None else GroundModel.load(settings.ground_model)
        self._deforms = settings.ground != "rigid"
        self._soils = {
            name: model.soils(NO_SOIL[None] if kind is None else soil_inputs(kind, model.shape)[None])
            for name, model in self.models.items()
        }
        self._spreading = np.tile(model.spreading(kind), (self.count, 1))
        self._learned = {name: self.models[name].learned() for name in self.models}
        self._scratch = {name: make_scratch(each, ground.grid.spacing) for name, each in self._learned.items()}
        self._interval = settings.interval
        # From the chassis, whose own place is one of them; rovers with fewer wheels have it more than once.
        wheels = [np.stack([s.feet["x"], s.feet["y"]])[:, s.feet["radius"] > 0.0] for s in each]
        self._wheels = np.zeros((2, self.count, 1 + max(found.shape[1] for found in wheels)))
        for k, found in enumerate(wheels):
            self._wheels[:, k, : found.shape[1]] = found
        self.states = np.zeros(self.count, STATE)
        self._seen = np.zeros((self.count, SEEN))
        self._velocity = np.zeros((self.count, 3))
        self.state = self._read(None)

    def restart(self, which: IntArray | None = None) -> None:
        """Put rovers on the ground; all, if none are named."""
        some: IntArray = np.arange(self.count) if which is None else which
        self.states[some] = np.zeros((), STATE)
        self.states["since"][some] = NEVER
        self.states["position"][some, :2], self.states["attitude"][some, 2] = self.poses[some, :2], self.poses[some, 2]
        self._advance(None, some)
        before, velocity = self.state, self._velocity
        self.state = self._read(before, some)
        self._keep_others(some, before, velocity)

    def drive(self, commands: Array, which: IntArray | None = None) -> None:
        """Drive until the next frame; commands (count, 2) forward speed [m/s] and turn rate to the left [rad/s].

        Args:
            commands: Of all rovers.
            which: Rovers that drive; all if left out. The others stand still.
        """
        some: IntArray = np.arange(self.count) if which is None else which
        self._advance(commands, some)
        before, velocity = self.state, self._velocity
        self.state = self._read(before)
        self._keep_others(some, before, velocity)

    def _keep_others(self, some: IntArray, before: RoverState, velocity: Array) -> None:
        """Give all rovers but some the state and velocity (count, 3) [m/s] of their last frame again."""
        if len(some) == self.count:
            return
        new = np.isin(np.arange(self.count), some)
        self._velocity = np.where(new[:, None], self._velocity, velocity)
        both = ((getattr(self.state, each.name), getattr(before, each.name)) for each in fields(RoverState))
        self.state = RoverState(*(np.where(new.reshape(-1, *[1] * (now.ndim - 1)), now, old) for now, old in both))

    def _advance(self, commands: Array | None, some: IntArray) -> None:
        """Drive some rovers for one frame; without commands, put them down."""
        for name, group in self._groups.items():
            which = group if len(some) == self.count else np.intersect1d(group, some)
            learned, whole = self._learned[name], len(which) == self.count
            states = self.states if whole else self.states[which]
            seen = self._seen[which]
            maps, where = self.ground.maps, self._where[which]
            spreading, scratch = self._spreading[which], self._scratch[name]
            soils = np.repeat(self._soils[name], len(which), axis=0)
            if commands is None:
                put_down(learned, states, seen, soils, maps, where, spreading, self._deforms, scratch)
            else:
                given = np.ascontiguousarray(commands[which], np.float64)
                advance(learned, states, seen, soils, given, maps, where, spreading, self._deforms, scratch)
            self._seen[which] = seen
            if not whole:
                self.states[which] = states

    def _read(self, before: RoverState | None, begun: IntArray | None = None) -> RoverState:
        """The present state; rates and accelerations are differences to the frame before, 0 for those that began."""
        states, dt = self.states, self._interval
        rotation, position = np.empty((self.count, 3, 3)), states["position"].copy()
        rotations(states["attitude"], rotation)
        if before is None:
            still, unturned = np.zeros((self.count, 3)), np.zeros((self.count, 2))
            fine = np.zeros(self.count, np.bool_)
            before = RoverState(position, rotation, still, still, still, unturned, unturned, fine)
        turn = np.einsum("nji,njk->nik", before.rotation, rotation)
        rates = np.stack(
            [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1
        )
        rates *= 0.5 / dt
        velocity = (position - before.position) / dt
        acceleration, angular = (velocity - self._velocity) / dt, (rates - before.rates) / dt
        if begun is not None:
            for each in (rates, velocity, acceleration, angular):
                each[begun] = 0.0
        self._velocity = velocity
        force = np.einsum("nji,nj->ni", rotation, acceleration + np.array([0.0, 0.0, GRAVITY]))
        wrong = ~np.isfinite(position).all(axis=1)
        wheels, angles = states["wheels"].copy(), states["angles"].copy()
        return RoverState(position, rotation, rates, angular, force, angles, wheels, wrong)

    @property
    def footprint(self) -> Array:
        """Of every chassis, wheel and belt: (points, 2) x and y [m]."""
        yaw, (ahead, left) = np.ascontiguousarray(self.states["attitude"][:, 2:]), self._wheels
        turned = np.stack([np.cos(yaw) * ahead - np.sin(yaw) * left, np.sin(yaw) * ahead + np.cos(yaw) * left], axis=2)
        return (self.states["position"][:, None, :2] + turned).reshape(-1, 2)


@kernel(error_model="numpy", allocates=False)
def rotations(attitudes: Array, found: Array) -> None:
    """Fill rotations (n, 3, 3) by roll, pitch and yaw (n, 3) [rad], as `rotation_matrix`, alike for any number."""
    for k in range(len(attitudes)):
        sr, sp, sy = math.sin(attitudes[k, 0]), math.sin(attitudes[k, 1]), math.sin(attitudes[k, 2])
        cr, cp, cy = math.cos(attitudes[k, 0]), math.cos(attitudes[k, 1]), math.cos(attitudes[k, 2])
        found[k, 0, 0], found[k, 0, 1], found[k, 0, 2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
        found[k, 1, 0], found[k, 1, 1], found[k, 1, 2] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
        found[k, 2, 0], found[k, 2, 1], found[k, 2, 2] = -sp, cp * sr, cp * cr


def _kind(settings: TerrainSettings) -> SoilKind | None:
    if settings.ground == "particles":
        return None
    soil = "rigid" if settings.ground == "rigid" else settings.soil
    return PRESETS[soil] if isinstance(soil, str) else soil


def _model(settings: TerrainSettings, name: str, shape: Shape) -> MotionModel:
    """The model of a rover: the given one, or that which comes with Sandlot."""
    given = settings.motion_model
    if given is None:
        given = motion_model.SHIPPED / Path(name).name
        if not given.is_dir() or settings.ground == "particles":
            what = "particles" if settings.ground == "particles" else f"the rover {Path(name).name}"
            raise SettingError(
                f"no learned model of {what} comes with Sandlot; make one with sandlot fit motion or sandlot train "
                "rover, and set motion_model to it"
            )
    model = load_motion(given)
    if abs(model.interval - settings.interval) > 1e-9:
        raise SettingError(f"interval={settings.interval:g} is not that of the model, {model.interval:g} s")
    if not model.shape.is_like(shape):
        warnings.warn(
            f"the model {given} was fitted to another rover than {name}; it moves as that one",
            RobotWarning,
            stacklevel=2,
        )
    kind = _kind(settings)
    outside = []
    for name_, value in zip(SOIL_INPUTS, (NO_SOIL if kind is None else soil_inputs(kind, shape)).tolist(), strict=True):
        low, high = model.card.valid_ranges.get(f"soil: {name_}", (-math.inf, math.inf))
        if not low - 1e-9 <= value <= high + 1e-9:
            outside.append(f"was fitted to soils with {name_} from {low:.3g} to {high:.3g}; this one has {value:.3g}")
    if outside and kind is None:
        outside = ["was fitted to soil; say which one this ground is like: ground=soil, and soil=NAME or FILE"]
    for each in outside:
        warnings.warn(f"the model {given.name} {each}", RobotWarning, stacklevel=2)
    return model
