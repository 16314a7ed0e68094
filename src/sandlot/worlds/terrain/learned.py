"""Learned physics of the terrain world: nets move rovers, and footprints change the ground."""

import math
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sandlot.errors import RobotWarning, SettingError
from sandlot.geometry.rotations import rotation_matrix
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_layout import find_layout
from sandlot.robots.rover_shapes import DrawnShape, drawn_shapes
from sandlot.robots.rover_state import RoverState
from sandlot.surrogates.terrain import motion_model
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.inputs import NO_SOIL, SOIL_INPUTS, soil_inputs
from sandlot.surrogates.terrain.looking import width_of
from sandlot.surrogates.terrain.motion_model import MotionModel, load_motion
from sandlot.surrogates.terrain.shape import Shape, measure
from sandlot.surrogates.terrain.step import NEVER, STATE, advance, make_maps, make_scratch, put_down
from sandlot.typing import Array
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.places import check_places, side_by_side
from sandlot.worlds.terrain.settings import TerrainSettings

GRAVITY = 9.81
"""[m/s^2]"""
SAME = 1e-4
"""Feet of the rover that a model was fitted to agree with those of the world's rover to this [m]."""


class LearnedGround:
    """A `sandlot.worlds.terrain.seam.Ground` that rovers leave their footprints in.

    Attributes:
        maps: For kernels; the only map is the ground.
    """

    def __init__(self, grid: Grid) -> None:
        """Prepare the ground; `restart` comes before the first step."""
        self.grid, self.grain = grid, 0.0
        shape = (1, *grid.shape)
        x0, y0 = grid.corner.tolist()
        self.maps = make_maps(np.zeros(shape), np.zeros(shape), x0, y0, grid.spacing, grid.wrap)
        self.initial: Array = self.maps.initial[0]

    @property
    def heights(self) -> Array:
        """Of the surface: (ny, nx) [m]. Not a copy: it changes with the next step; read only."""
        return self.maps.heights[0]

    def restart(self, heights: Array) -> None:
        """Lay new ground that nothing has touched: (ny, nx) [m]."""
        self.maps.heights[0], self.maps.initial[0] = heights, heights
        self.maps.marks[:], self.maps.above[:], self.maps.frames[:] = 0, 0, 0

    def change(self, before: RoverState, after: RoverState) -> None:
        """Do nothing: the ground has changed with the rovers."""
        return


class LearnedFleet:
    """A `sandlot.worlds.terrain.seam.Drive` of learned rovers, all of the same kind or of several.

    Attributes:
        models: How each rover moves.
        states: (count,) of STATE.
    """

    def __init__(self, settings: TerrainSettings, ground: LearnedGround) -> None:
        """Load the models.

        Raises:
            SandlotError: If a rover or a model cannot be read, or there is none for a rover or this ground.
        """
        self.ground, self.count = ground, len(settings.rovers)
        layouts = {name: find_layout(load_rover(name)) for name in dict.fromkeys(settings.rovers)}
        self.models = {name: _model(settings, name, measure(layouts[name])) for name in layouts}
        self._groups = {name: np.flatnonzero([each == name for each in settings.rovers]) for name in layouts}
        each = [self.models[name].shape for name in settings.rovers]
        linear = np.array([shape.top_speed * shape.radius for shape in each])
        self.top_speeds = np.column_stack([linear, 2.0 * linear / np.array([shape.base for shape in each])])
        self.wheel_radius = np.array([shape.radius for shape in each])
        self.shapes: Sequence[Sequence[DrawnShape]] = [drawn_shapes(layouts[name]) for name in settings.rovers]
        reach = np.array([_reach(shape) for shape in each])
        self.poses = side_by_side(reach) if settings.poses is None else np.array(settings.poses, np.float64)
        check_places(ground.grid, self.poses, reach)
        kind = _kind(settings)
        model = GroundModel() if settings.ground_model is None else GroundModel.load(settings.ground_model)
        self._deforms = settings.ground != "rigid"
        self._soils = {
            name: model.soils(NO_SOIL[None] if kind is None else soil_inputs(kind, model.shape.width)[None])
            for name, model in self.models.items()
        }
        self._spreading = np.tile(model.spreading(kind), (self.count, 1))
        self._learned = {name: self.models[name].learned() for name in self.models}
        self._scratch = {name: make_scratch(each) for name, each in self._learned.items()}
        self._interval = settings.interval
        self._wheels = [np.stack([s.feet["x"], s.feet["y"]], axis=1)[s.feet["radius"] > 0.0] for s in each]
        self.states = np.zeros(self.count, STATE)
        seen = max(width_of(len(shape.samples), len(shape.groups)) for shape in each)
        self._seen = np.zeros((self.count, seen))
        self._velocity = np.zeros((self.count, 3))
        self.state = self._read(None)

    def restart(self) -> None:
        """Put all rovers on the ground."""
        self.states[:] = np.zeros((), STATE)
        self.states["since"] = NEVER
        self.states["position"][:, :2], self.states["attitude"][:, 2] = self.poses[:, :2], self.poses[:, 2]
        self._advance(None)
        self.state = self._read(None)

    def drive(self, commands: Array) -> None:
        """Drive until the next frame; commands (count, 2) forward speed [m/s] and turn rate to the left [rad/s]."""
        self._advance(commands)
        self.state = self._read(self.state)

    def _advance(self, commands: Array | None) -> None:
        """Drive for one frame; without commands, put the rovers down."""
        for name, which in self._groups.items():
            learned, whole = self._learned[name], len(which) == self.count
            width = width_of(len(learned.support.samples), len(learned.support.groups))
            states = self.states if whole else self.states[which]
            seen = np.ascontiguousarray(self._seen[which, :width])
            maps, where = self.ground.maps, np.zeros(len(which), np.int64)
            spreading, scratch = self._spreading[which], self._scratch[name]
            soils = np.repeat(self._soils[name], len(which), axis=0)
            if commands is None:
                put_down(learned, states, seen, soils, maps, where, spreading, self._deforms, scratch)
            else:
                given = np.ascontiguousarray(commands[which], np.float64)
                advance(learned, states, seen, soils, given, maps, where, spreading, self._deforms, scratch)
            self._seen[which, :width] = seen
            if not whole:
                self.states[which] = states

    def _read(self, before: RoverState | None) -> RoverState:
        """The present state; rates and accelerations are differences to the frame before."""
        states, dt = self.states, self._interval
        rotation = np.stack([rotation_matrix(*attitude) for attitude in states["attitude"].tolist()])
        position = states["position"].copy()
        rates, velocity = np.zeros((self.count, 3)), np.zeros((self.count, 3))
        acceleration, angular = np.zeros((self.count, 3)), np.zeros((self.count, 3))
        if before is not None:
            turn = np.einsum("nji,njk->nik", before.rotation, rotation)
            rates = np.stack(
                [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1
            )
            rates *= 0.5 / dt
            velocity = (position - before.position) / dt
            acceleration, angular = (velocity - self._velocity) / dt, (rates - before.rates) / dt
        self._velocity = velocity
        force = np.einsum("nji,nj->ni", rotation, acceleration + np.array([0.0, 0.0, GRAVITY]))
        wrong = ~np.isfinite(position).all(axis=1)
        wheels, angles = states["wheels"].copy(), states["angles"].copy()
        return RoverState(position, rotation, rates, angular, force, angles, wheels, wrong)

    @property
    def footprint(self) -> Array:
        """Of every chassis, wheel and belt: (points, 2) x and y [m]."""
        points = [self.states["position"][:, :2]]
        for state, wheels in zip(self.states, self._wheels, strict=True):
            c, s = math.cos(state["attitude"][2]), math.sin(state["attitude"][2])
            points.append(state["position"][:2] + wheels @ np.array([[c, s], [-s, c]]))
        return np.concatenate(points)


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
    fitted = model.shape.feet
    if len(fitted) != len(shape.feet) or any(
        np.abs(fitted[k] - shape.feet[k]).max() > SAME for k in fitted.dtype.names or ()
    ):
        warnings.warn(
            f"the model {given} was fitted to another rover than {name}; it moves as that one",
            RobotWarning,
            stacklevel=2,
        )
    kind = _kind(settings)
    for k, value in enumerate(() if kind is None else soil_inputs(kind, shape.width).tolist()):
        low, high = model.card.valid_ranges.get(f"soil: {SOIL_INPUTS[k]}", (-math.inf, math.inf))
        if not low - 1e-9 <= value <= high + 1e-9:
            warnings.warn(
                f"the model {given.name} was fitted to soils with {SOIL_INPUTS[k]} from {low:.3g} to {high:.3g}; "
                f"this one has {value:.3g}",
                RobotWarning,
                stacklevel=2,
            )
    return model


def _reach(shape: Shape) -> float:
    """Largest horizontal distance of a foot from the middle of the chassis [m]."""
    feet = shape.feet
    return float(
        np.hypot(np.abs(feet["x"]) + feet["straight"] + feet["radius"], np.abs(feet["y"]) + feet["half_width"]).max()
    )
