"""A `Client` as a `sandlot.robots.remote.RemoteRover`, for pages such as the lab's."""

import math

import numpy as np

from sandlot.geometry.planar import rotate
from sandlot.link.client import Client, Ticket
from sandlot.link.messages import ModeChange
from sandlot.recordings.scans import Pose
from sandlot.robots.remote import RemoteDirection, RemoteMap, RemoteMode, View

MM = 1000.0


class Remote:
    """A rover at the other end of a link."""

    def __init__(self, client: Client) -> None:
        """Of a link that is open."""
        self._client = client
        self._last: Ticket | None = None

    def view(self) -> View:
        """What is known now."""
        client, status, latest = self._client, self._client.status, dict(self._client.latest)
        if status is None:
            return View(client.connected, client.problem)
        pose = Pose(status.x / MM, status.y / MM, math.radians(status.yaw))
        points = np.zeros((0, 2))
        if "SCAN" in latest:
            descriptor, array = latest["SCAN"]
            bearings, ranges = np.radians(array[:, 0]), array[:, 1] / MM
            x, y, yaw = descriptor.pose
            own = np.column_stack([ranges * np.cos(bearings), ranges * np.sin(bearings)]).astype(np.float64)
            points = rotate(own, math.radians(yaw)) + np.array([x, y]) / MM
        telemetry = {}
        if "TELEMETRY" in latest:
            descriptor, array = latest["TELEMETRY"]
            telemetry = dict(zip(descriptor.names, array.tolist(), strict=False))
        known = math.nan
        return View(
            connected=client.connected,
            problem=client.problem,
            mode=status.mode,
            state=status.state,
            report=self._refused() or status.report,
            held=status.held,
            pose=pose,
            path=np.array(status.path, np.float64).reshape(-1, 2) / MM,
            waypoint=None if status.waypoint is None else np.array(status.waypoint) / MM,
            map=self._map() if status.mode != "MANUAL" else None,
            points=points,
            charge=known if status.charge is None else status.charge,
            time_left=known if status.time_left is None else status.time_left,
            backup=status.backup,
            telemetry=telemetry,
        )

    def halt(self) -> None:
        """Stop the motors at once."""
        self._last = self._client.halt()

    def go_on(self) -> None:
        """Go on after a lost link."""
        self._last = self._client.go_on()

    def set_mode(self, mode: RemoteMode) -> None:
        """Change the mode."""
        self._client.latest.pop("MAP", None)
        self._last = self._client.give(ModeChange(mode=mode))

    def go_to(self, x: float, y: float) -> None:
        """Drive to a waypoint [m]."""
        self._last = self._client.go_to(x, y)

    def move(self, direction: RemoteDirection, seconds: float) -> None:
        """Drive by hand for a time [s]."""
        self._last = self._client.move(direction, seconds)

    def close(self) -> None:
        """End the link."""
        self._client.close()

    def _refused(self) -> str:
        """Why the last order was not done; empty if it was, or has not ended."""
        if self._last is None or not self._last.done:
            return ""
        result = self._last.wait(0.0)
        return "" if result.outcome == "done" else f"{result.outcome}: {result.report}"

    def _map(self) -> RemoteMap | None:
        found = self._client.latest.get("MAP")
        if found is None or 0 in found[1].shape:
            return None
        descriptor, (kinds, reputation) = found
        x, y = descriptor.corner
        return RemoteMap(kinds, (reputation / 255.0).astype(np.float32), (x / MM, y / MM), descriptor.resolution / MM)
