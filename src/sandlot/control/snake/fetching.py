"""Fetching a ball with a swimming snake: one state machine for the whole task.

    approach -> grasp -> carry -> release -> retreat
        ^         |        |
        +-- back off <-----+    if the ball is not, or no longer, held

The default settings follow Draschwandtner (2015), sections 7.11 and 7.12. With them a fast body may circle around its
goal; `CAREFUL` is reliable from anywhere, as it also considers what the source leaves out:

- A body of this mass keeps gliding and rotating. It is slowed down in time, by a slower or reversed wave (section 7.5),
  and stopped before it lets go.
- The body closes a circle around what lies beside its middle, so it passes the ball sideways and does not meet it
  head-on.
- A body does not swim exactly in the direction it points, and in a current its velocity over ground differs from that
  through the water. A ball that is not touched drifts with the water, which gives an estimate of the current.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from pydantic import Field

from sandlot.control.snake.gaits import Gait, grasp_poses
from sandlot.control.snake.steering import Average, Rate, Seen, Speed, angle_between, see
from sandlot.errors import SandlotError
from sandlot.geometry.planar import rotate_one
from sandlot.robots.snake import Snake
from sandlot.settings import Settings
from sandlot.typing import Array

State = Literal["approach", "grasp", "carry", "release", "retreat", "back off"]
BLEND = 1.0
"""Time of the transition between two shapes when the state changes [s]."""
WIND = 4.0
"""Maximum rate of change of a wave's frequency [Hz/s]."""
FAST = 1.0
"""Speed deficit from which on the wave has its full frequency [m/s]."""
BENDING = 0.25
"""Maximum rate of change of the bend [rad/s]."""
RATE = 9.0
"""Maximum rate of change of a command [rad/s]."""
GIVE = 0.3
"""Maximum difference between a command and the present joint angle [rad], so that a blocked joint yields."""
OPEN = 1.5
"""How long the body opens before it swims away [s]."""
PATIENCE = 60.0
"""Maximum duration of an approach [s]; in a longer one the head may be pushing the ball."""
HALTING, LETTING_GO = 3.0, 4.0
"""Typical time to stop with the ball, and then to be clear of it [s]."""


class FetchSettings(Settings):
    """Settings of fetching; the defaults are those of the source.

    Attributes:
        swim: Gait of approach, back off and retreat.
        carry: Gait of the joints that do not hold, while the ball is carried.
        gain: Bend of every joint per angle to the goal [1].
        damping: Angle subtracted per turn rate of the body [s], if careful.
        course: Share of the angle between the velocity and the direction to the goal that is added, if careful.
        bend: Maximum bend [rad].
        window: Length of the moving average of the angle to the goal [commands].
        grasping: Number of joints that hold the ball.
        circle: Time to close the circle [s].
        tighten: Time of each step that makes the circle smaller [s].
        reach: Grasp when the centre of mass is closer to the ball than so many body lengths.
        retreat: After a failure, move away to a distance of so many body lengths.
        release: Let go when the ball is closer to its destination than this [m].
        careful: Pass the ball sideways and slowly, compensate drift and current, and stop before letting go.
        aside: Distance at which to pass the ball [m], if careful.
        slow: Speed at which to pass it [m/s], if careful.
        lead: How long before the ball is beside the middle to begin to grasp [s], if careful.
        brake: Deceleration before the grasp [m/s^2], if careful.
        stop: Deceleration before letting go [m/s^2], if careful.
    """

    swim: Gait = Gait(amplitude=0.7, frequency=0.9, phase=0.8)
    carry: Gait = Gait(amplitude=0.61, frequency=1.82, phase=0.75)
    gain: float = Field(0.2 / math.pi, gt=0.0)
    damping: float = Field(3.0, ge=0.0)
    course: float = Field(1.0, ge=0.0)
    bend: float = Field(0.2, gt=0.0)
    window: int = Field(30, ge=1)
    grasping: int = Field(3, ge=3)
    circle: float = Field(1.0, gt=0.0)
    tighten: float = Field(0.12, gt=0.0)
    reach: float = Field(1.0 / math.pi, gt=0.0)
    retreat: float = Field(2.0, gt=0.0)
    release: float = Field(4.0, gt=0.0)
    careful: bool = False
    aside: float = Field(1.8, ge=0.0)
    slow: float = Field(3.5, gt=0.0)
    lead: float = Field(1.0, ge=0.0)
    brake: float = Field(0.4, gt=0.0)
    stop: float = Field(0.7, gt=0.0)


CAREFUL = FetchSettings(careful=True, window=55, gain=0.2, retreat=1.2, release=5.5)
"""Settings that deliver reliably. The average is over one period; the ball may end up to 8 m from its destination."""


def give_way(wanted: Array, angles: Array) -> Array:
    """Commands ``wanted``, limited to within `GIVE` of the present joint angles ``angles`` [rad]."""
    return np.minimum(np.maximum(wanted, angles - GIVE), angles + GIVE)


def check_can_hold(snake: Snake, grasping: int) -> None:
    """Refuse a body with too few joints to hold a ball with ``grasping`` of them and swim with the others.

    Raises:
        SandlotError: If it has too few.
    """
    if snake.joints < grasping + 4:
        raise SandlotError(
            f"{snake.joints} joints are too few to hold with {grasping} and swim with at least 4; "
            f"allowed: at least {grasping + 4}"
        )


class Fetcher:
    """A policy for the water world that fetches the ball; for one episode.

    Attributes:
        snake: The body.
        settings: Of fetching.
        state: The present state.
        attempts: Number of grasps.
        failures: Number of grasps after which the ball was not held.
    """

    def __init__(self, snake: Snake, settings: FetchSettings | None = None) -> None:
        """Begin an episode.

        Raises:
            SandlotError: If the body has too few joints to hold a ball and swim, or a gait has no travelling wave.
        """
        self.snake, self.settings = snake, settings or FetchSettings()
        check_can_hold(snake, self.settings.grasping)
        gaits = (self.settings.swim, self.settings.carry)
        self._beats = [gait.beat() for gait in gaits]
        self._wave = round(1.0 / (self._beats[0] * snake.interval))
        self.state: State = "approach"
        self.attempts = self.failures = 0
        self._since = 0.0
        self._left, self._forwards = True, True
        self._axis, self._angle = Average(self.settings.window), Average(self.settings.window)
        self._speed, self._drift = Speed(self._wave), Speed(self._wave)
        self._velocity, self._current, self._heading = np.zeros(2), np.zeros(2), np.array([1.0, 0.0])
        self._clock, self._frequency, self._bent = 0.0, 0.0, 0.0
        self._last = self._from = np.zeros(snake.joints)
        self._waves = [gait.waves(snake.joints)[[0, 2]] for gait in gaits]
        self._lost, self._free, self._past, self._halting = 0, 0, False, False
        self._spin, self._turn_rate = Rate(25, snake.interval), 0.0

    def __call__(self, observation: Array) -> Array:
        """Target angles of the joints: (joints,) [rad]."""
        seen = see(observation, self.snake)
        self._estimate(seen)
        act: dict[State, Callable[[Seen], Array]] = {
            "approach": self._approach,
            "grasp": self._grasp,
            "carry": self._carry,
            "release": self._release,
            "retreat": self._retreat,
            "back off": self._back_off,
        }
        wanted = act[self.state](seen)
        share = min((seen.time - self._since) / BLEND, 1.0)
        wanted = self._from + (wanted - self._from) * share * share * (3.0 - 2.0 * share)
        limit = RATE * self.snake.interval
        wanted = np.minimum(np.maximum(wanted, self._last - limit), self._last + limit)
        self._last = give_way(wanted, seen.angles)
        return self._last

    # Estimates.

    def _estimate(self, seen: Seen) -> None:
        """Update velocity, heading and current."""
        self._velocity = self._speed(seen.time, seen.centre)
        front = seen.links[self.settings.grasping + 1 if self.state == "carry" else 0]
        axis = self._axis(math.atan2(*(front - seen.links[-1])[::-1]))
        self._heading = np.array([math.cos(axis), math.sin(axis)])
        self._turn_rate = self._spin(axis)
        drift = self._drift(seen.time, seen.target)
        gap = seen.links - seen.target
        self._free = self._free + 1 if (gap * gap).sum(axis=1).min() > (2.0 * self.snake.length) ** 2 else 0
        if self._free > self._wave:
            self._current = drift

    def holds(self, seen: Seen) -> bool:
        """Whether the ball is inside the bounding box of the links that should hold it (section 7.12)."""
        ring = seen.links[: self.settings.grasping + 1]
        return bool((ring.min(axis=0) <= seen.target).all() and (seen.target <= ring.max(axis=0)).all())

    # States.

    def _become(self, state: State, seen: Seen) -> None:
        self.state, self._since, self._from = state, seen.time, self._last
        self._lost = 0

    def _approach(self, seen: Seen) -> Array:
        """Swim to the ball, and determine on which side it is."""
        s, offset = self.settings, seen.target - seen.centre
        distance = float(np.linalg.norm(offset))
        angle = angle_between(self._heading if s.careful else seen.links[0] - seen.centre, offset)
        if not s.careful:
            if distance < s.reach * self.snake.arclength:
                self._become("grasp", seen)
            else:
                self._left = angle >= 0.0
            return self._swim(s.swim, self._bend(self._angle(angle)))
        through = self._velocity - self._current
        along = float(through @ self._heading)
        ahead, beside = distance * math.cos(angle), distance * math.sin(angle)
        if distance > self.snake.arclength or seen.time - self._since < 1.0:
            self._left = beside >= 0.0
        near, passed = abs(beside) < 0.22 * self.snake.arclength, ahead < max(along, 0.0) * s.lead
        if near and passed and ahead > -0.2 * self.snake.arclength:
            self._left = beside >= 0.0
            self._become("grasp", seen)
            return self._last
        missed = distance < self.snake.arclength and (passed or (abs(angle) > 1.0 and not near))
        if missed or seen.time - self._since > PATIENCE:
            self._forwards = ahead < 0.0
            self._become("back off", seen)
            return self._last
        side = math.asin(min(s.aside / max(distance, s.aside), 0.5))
        goal = rotate_one(offset, -side if self._left else side)
        wanted = math.sqrt(s.slow**2 + 2.0 * s.brake * max(ahead - 2.0, 0.0))
        return self._swim(s.swim, self._bend(self._course(through, goal)), wanted - along)

    def _grasp(self, seen: Seen) -> Array:
        """Close a circle around the ball, tighten it (algorithm 3.1), and check whether the ball is inside."""
        s = self.settings
        poses = grasp_poses(self.snake.joints, s.grasping, self._left)
        step = max(seen.time - self._since - s.circle, 0.0) / s.tighten
        if step > len(poses) + 4:
            held = self.holds(seen)
            self.attempts += 1
            self.failures += not held
            self._forwards = False
            self._become("carry" if held else "back off", seen)
        k = min(int(step), len(poses) - 1)
        after = poses[min(k + 1, len(poses) - 1)]
        return poses[k] + (after - poses[k]) * (min(step, len(poses) - 1) - k)

    def _carry(self, seen: Seen) -> Array:
        """Swim to the destination with the ball."""
        s, offset = self.settings, seen.destination - seen.target
        distance = float(np.linalg.norm(offset))
        self._lost = 0 if self.holds(seen) else self._lost + 1
        if self._lost * self.snake.interval > 1.0:
            self._forwards = False
            self._become("back off", seen)
            return self._last
        if not s.careful:
            if distance < s.release:
                self._become("release", seen)
            angle = angle_between(seen.links[0] - seen.centre, seen.destination - seen.centre)
            return self._holding(self._swim(s.carry, self._bend(self._angle(angle))))
        # A released ball drifts with the current, so it is released upstream.
        offset = offset - self._current * LETTING_GO
        distance = float(np.linalg.norm(offset))
        if self._halting:
            along = float((self._velocity - self._current) @ self._heading)
            if along < 0.0:
                self._halting = False
                if distance < s.release + 0.5:
                    self._become("release", seen)
            return self._holding(self._swim(s.carry, 0.0, -1.0 - along))
        along = float(self._velocity @ self._heading)
        ahead = offset - self._current * HALTING
        distance = float(np.linalg.norm(ahead))
        self._halting = distance < s.release
        if distance > s.retreat * self.snake.arclength:
            self._past = False
        elif abs(angle_between(self._heading, ahead)) > 1.2 and distance < 0.8 * self.snake.arclength:
            self._past = True
        if self._past:
            return self._holding(self._swim(s.carry, self._bend(-s.damping * self._turn_rate)))
        wanted = math.sqrt(2.0 * s.stop * distance)
        return self._holding(self._swim(s.carry, self._bend(self._course(self._velocity, ahead)), wanted - along))

    def _holding(self, wave: Array) -> Array:
        """The wave, with the first joints around the ball, and the next one bent so that the ball is straight ahead."""
        s, side = self.settings, 1.0 if self._left else -1.0
        held = s.grasping
        wave[:held] = side * 2.0 * math.pi / (held + 1)
        wave[held] = -side * (math.pi / 2.0 - math.pi / (held + 1))
        return wave

    def _release(self, seen: Seen) -> Array:
        """Open the body: at once or, if careful, joint by joint from the head on, so as not to push the ball."""
        s, since = self.settings, seen.time - self._since
        if since > OPEN:
            self._become("retreat", seen)
        if not s.careful:
            return self._swim(s.swim, 0.0, -FAST)
        shape = self._holding(self._swim(s.carry, 0.0, -0.3))
        for joint in range(s.grasping):
            shape[joint] *= 1.0 - min(max((since - 0.3 * joint) / 0.6, 0.0), 1.0)
        return shape

    def _retreat(self, seen: Seen) -> Array:
        """Swim backwards, away from the ball; if careful, return if it did not stay near its destination."""
        s = self.settings
        wave = self._swim(s.swim, 0.0, -FAST)
        if s.careful:
            # The front half moves little, so that it does not hit the ball.
            wave[: self.snake.joints // 2] *= 0.2
            stayed = np.linalg.norm(seen.target - seen.destination) < 1.5 * s.release
            if self._clear(seen) and not stayed:
                self._become("approach", seen)
        return wave

    def _clear(self, seen: Seen) -> bool:
        """Whether the ball is far enough away for another approach."""
        return bool(np.linalg.norm(seen.target - seen.centre) > self.settings.retreat * self.snake.arclength)

    def _back_off(self, seen: Seen) -> Array:
        """After a failure, move away from the ball for another approach."""
        if self._clear(seen):
            self._become("approach", seen)
        return self._swim(self.settings.swim, 0.0, FAST if self._forwards else -FAST)

    # Swimming.

    def _swim(self, gait: Gait, bend: float, haste: float = FAST) -> Array:
        """Advance the wave by one command; a reversed wave slows the body down.

        Args:
            gait: The wave.
            bend: Of every joint [rad].
            haste: By how much the body should be faster [m/s]; from 1 on, the wave has its full frequency.
        """
        carries = gait is self.settings.carry
        wanted = self._beats[carries] * min(max(haste / FAST, -1.0), 1.0)
        limit = WIND * self.snake.interval
        self._frequency += min(max(wanted - self._frequency, -limit), limit)
        self._clock += self._frequency * self.snake.interval
        limit = BENDING * self.snake.interval
        self._bent += min(max(bend - self._bent, -limit), limit)
        amplitude, phase = self._waves[carries]
        return amplitude * np.sin(2.0 * math.pi * self._clock - phase) + self._bent

    def _bend(self, angle: float) -> float:
        return min(max(self.settings.gain * angle, -self.settings.bend), self.settings.bend)

    def _course(self, velocity: Array, goal: Array) -> float:
        """The angle to turn by, so that the velocity, and not only the body, points to the goal [rad]."""
        s, angle = self.settings, angle_between(self._heading, goal)
        course = angle - s.damping * self._turn_rate
        if abs(angle) < 1.0 and np.linalg.norm(velocity) > 1.0:
            course += s.course * min(max(angle_between(velocity, goal), -0.7), 0.7)
        return course
