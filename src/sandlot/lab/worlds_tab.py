"""The tab "Worlds": pick a world, let it run, drive it, turn its knobs, and compare two of its fidelities."""

import html
import threading
import time
from collections.abc import Mapping
from typing import Any

from sandlot.control.controller import Controller
from sandlot.control.snake.gaits import Gait, GaitController
from sandlot.errors import SandlotError
from sandlot.lab.keys import HINTS, Driven, Keys, can_be_driven
from sandlot.lab.knobs import PANELS, Knob, merge, shown, without
from sandlot.lab.plots import Plot
from sandlot.lab.simulation import FASTEST, Run, Simulation
from sandlot.lab.stage import VIEWS, Stage
from sandlot.models.policies import settings_for
from sandlot.settings import build
from sandlot.worlds import WORLDS, load
from sandlot.worlds.base import World
from sandlot.worlds.gap import BETTER
from sandlot.worlds.water.settings import WaterSettings
from sandlot.worlds.water.world import Water

DRIVE = "keys"
"""Name of the controller that the keyboard drives."""
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x", "50x", "fastest")
NOTHING = "nothing"
PAD = {"left": "ArrowLeft", "forward": "ArrowUp", "back": "ArrowDown", "right": "ArrowRight"}
PLOTTED = 0.25
"""Time between two drawings of the plots [s]."""
GAIT = ("amplitude", "frequency", "phase", "veer")


class WorldsTab:
    """The tab, and the simulation that it shows.

    Attributes:
        simulation: What runs now; None before a world was opened.
    """

    def __init__(self, server: Any, stage: Stage, keys: Keys) -> None:
        """Put the tab's elements on the page, where the present context of viser is."""
        self._server, self._gui, self._stage, self._keys = server, server.gui, stage, keys
        self.simulation: Simulation | None = None
        self._given: Mapping[str, Any] = {}
        self._quiet, self._closed = False, False
        self._lock = threading.RLock()
        self._knobs: dict[str, Any] = {}
        self._removable: list[Any] = []
        self._name, self._problem = "", ""
        self._build()
        threading.Thread(target=self._watch, name="worlds tab", daemon=True).start()

    def _build(self) -> None:
        gui = self._gui
        self._world = gui.add_dropdown("World", tuple(WORLDS), initial_value="terrain", hint="Where to go")
        self._fidelity = gui.add_dropdown("Fidelity", ("reference",), hint="Which physics the world runs on")
        self._beside = gui.add_dropdown(
            "Beside it", (NOTHING,), hint="The same controller and seed at another fidelity"
        )
        self._robot = gui.add_dropdown("Robot", ("wheeled",))
        self._controller = gui.add_dropdown("Controller", ("session",))
        self._run = gui.add_button_group("Run", ("start", "pause", "step", "restart"))
        self._speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1x", hint="Simulated time over real time")
        self._seed = gui.add_number("Seed", 0, min=0, max=2**31, step=1)
        self._status = gui.add_markdown("")
        self._driving = gui.add_folder("Drive")
        with self._driving:
            self._hint = gui.add_markdown("")
            self._pad = gui.add_button_group("Pad", tuple(PAD))
        self._settings = gui.add_folder("Settings")
        with gui.add_folder("Plots"):
            self._plots = [Plot(gui, "Upper"), Plot(gui, "Lower")]
        with gui.add_folder("View"):
            view = gui.add_button_group("Camera", tuple(VIEWS))
            follow = gui.add_checkbox("Camera follows", True)
            shadows = gui.add_checkbox("Shadows", False, hint="Slow without a graphics card")
        view.on_click(lambda event: self._stage.view(event.target.value))
        follow.on_update(lambda _: setattr(self._stage, "follow", follow.value))
        shadows.on_update(lambda _: self._stage.shadows(shadows.value))
        self._run.on_click(lambda event: self._press(event.target.value))
        self._pad.on_click(lambda event: self._keys.press(PAD[event.target.value]))
        self._world.on_update(lambda _: self._changed(self._new_world))
        self._robot.on_update(lambda _: self._changed(self._restart))
        for each in (self._fidelity, self._beside, self._controller, self._seed):
            each.on_update(lambda _: self._changed(self._restart))
        self._speed.on_update(lambda _: self._changed(self._hurry))

    def open(
        self,
        world: str,
        fidelity: str | None = None,
        controller: str | None = None,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        start: bool = True,
    ) -> None:
        """Show a world.

        Args:
            world: Its name.
            fidelity: By default its first.
            controller: By default its first; or the path of one.
            seed: Of the first episode.
            settings: Shown by the knobs, or else in place of theirs.
            start: Whether it runs at once.

        Raises:
            SandlotError: If a name or a setting is wrong.
        """
        load(world)
        with self._lock:
            self._silently(lambda: self._fill(world, fidelity, controller, seed))
            self._silently(lambda: self._turn(dict(settings or {})))
            self._make(start)

    def close(self) -> None:
        """Stop the simulation."""
        self._closed = True
        if self.simulation is not None:
            self.simulation.close()

    def _changed(self, what: Any) -> None:
        """React to a viewer, unless it was the tab itself that changed an element."""
        if self._quiet:
            return
        with self._lock:
            self._problem = ""
            try:
                what()
            except SandlotError as error:
                self._problem = self._status.content = f"**Not possible:** {html.escape(str(error))}"

    def _silently(self, what: Any) -> None:
        self._quiet = True
        try:
            what()
        finally:
            self._quiet = False

    def _fill(
        self, world: str, fidelity: str | None = None, controller: str | None = None, seed: int | None = None
    ) -> None:
        """Set all elements for a world."""
        kind, panel = load(world), PANELS[world]
        self._name, self._world.value = world, world
        fidelities = kind.fidelities()
        if fidelity is not None and fidelity not in fidelities:
            build(kind.Settings, {"fidelity": fidelity})  # explains what is possible
        self._fidelity.options, self._fidelity.value = fidelities, fidelity or fidelities[0]
        self._beside.options, self._beside.value = (NOTHING, *fidelities), NOTHING
        self._beside.visible = len(fidelities) > 1
        self._robot.options, self._robot.value = panel.robots, panel.robots[0]
        self._robot.visible = len(panel.robots) > 1
        self._speed.value = panel.speed
        if seed is not None:
            self._seed.value = seed
        self._given = {}
        for each in self._removable:
            each.remove()
        with self._settings:
            self._knobs = {knob.name: self._knob(knob) for knob in panel.knobs}
        self._removable = list(self._knobs.values())
        names = [*kind(settings=build(kind.Settings, self._values())).controllers()]
        names += [DRIVE] if can_be_driven(world) else []
        names += [controller] if controller and controller not in names else []
        self._controller.options, self._controller.value = names, controller or names[0]
        self._driving.visible = can_be_driven(world)
        self._hint.content = HINTS.get(world, "")

    def _turn(self, given: dict[str, Any]) -> None:
        """Let the knobs show what was given; what they cannot show is kept beside them."""
        panel = PANELS[self._name]
        build(load(self._name).Settings, given | {"fidelity": self._fidelity.value})  # explains a mistake
        found = panel.read(given)
        if found.get("robot") in panel.robots:
            self._robot.value = found["robot"]
        for knob in panel.knobs:
            if knob.name in found and shown(knob, found[knob.name]):
                self._knobs[knob.name].value = found[knob.name]
        values = {name: knob.value for name, knob in self._knobs.items()}
        self._given = without(given, panel.settings(values, self._robot.value))

    def _knob(self, knob: Knob) -> Any:
        if knob.options:
            made = self._gui.add_dropdown(knob.label, knob.options, initial_value=knob.value)
        else:
            made = self._gui.add_slider(knob.label, knob.low, knob.high, knob.step, knob.value)
        made.on_update(lambda _: self._changed(self._live if knob.live else self._restart))
        return made

    def _values(self, fidelity: str | None = None) -> dict[str, Any]:
        """Settings of the world, from what the page shows."""
        values = {name: knob.value for name, knob in self._knobs.items()}
        settings = merge(PANELS[self._name].settings(values, self._robot.value), self._given)
        return settings | {"fidelity": fidelity or self._fidelity.value}

    def _new_world(self) -> None:
        self._silently(lambda: self._fill(self._world.value))
        self._make(True)

    def _restart(self) -> None:
        self._make(self.simulation is None or self.simulation.running)

    def _make(self, start: bool) -> None:
        """Make the worlds that the page asks for, in place of those before."""
        kind = load(self._name)
        chosen = [self._fidelity.value]
        if self._beside.value not in (NOTHING, chosen[0]):
            chosen = sorted([*chosen, self._beside.value], key=BETTER.index)
        self._status.content = "Preparing ..."
        runs = []
        for fidelity in chosen:
            needed = settings_for(self._controller.value, self._name)
            world = kind(settings=build(kind.Settings, needed | self._values(fidelity)))
            runs.append(Run(world, self._driver(world)))
        if self.simulation is not None:
            self.simulation.close()
        made = Simulation(runs, int(self._seed.value), self._pace())
        self.simulation = made
        for plot, first in zip(self._plots, PANELS[self._name].plotted, strict=True):
            plot.offer(runs[0].world.quantities, first, chosen)
        self._stage.show(self, lambda: made.latest.scenes, chosen)
        if start:
            made.start()

    def _driver(self, world: World) -> Controller:
        name = self._controller.value
        if name == DRIVE:
            return Driven(self._keys, world)
        if isinstance(world, Water) and name == "swim":
            return GaitController(self._gait(), world.settings.snake)
        return world.controller(name)

    def _gait(self) -> Gait:
        return Gait(**{name: self._knobs[name].value for name in GAIT})

    def _live(self) -> None:
        """Swim with the gait of the knobs from now on."""
        if self.simulation is None:
            return
        if self._controller.value != "swim":
            self._silently(lambda: setattr(self._controller, "value", "swim"))
        for run in self.simulation.runs:
            if isinstance(run.world.settings, WaterSettings):
                run.take(GaitController(self._gait(), run.world.settings.snake), self.simulation.episode_seed)

    def _press(self, button: str) -> None:
        if self.simulation is None:
            return
        if not self._stage.shows(self):
            made = self.simulation
            self._stage.show(self, lambda: made.latest.scenes, [run.world.settings.fidelity for run in made.runs])
        getattr(self.simulation, button)()

    def _hurry(self) -> None:
        if self.simulation is not None:
            self.simulation.speed = self._pace()

    def _pace(self) -> float:
        chosen = self._speed.value
        return FASTEST if chosen == "fastest" else float(chosen.removesuffix("x"))

    def _watch(self) -> None:
        """Keep status and plots up to date."""
        seen = None
        drawn = 0.0
        while not self._closed:
            time.sleep(0.05)
            simulation = self.simulation
            if simulation is None:
                continue
            snapshot = simulation.latest
            if snapshot is not seen:
                seen = snapshot
                for plot in self._plots:
                    plot.add(snapshot.time, snapshot.frames)
            now = time.monotonic()
            if now - drawn > PLOTTED:
                drawn = now
                self._say(simulation)
                for plot in self._plots:
                    plot.draw()

    def _say(self, simulation: Simulation) -> None:
        snapshot = simulation.latest
        if self._problem:  # stays until something else is chosen
            text = self._problem
        elif simulation.error:
            text = f"**Stopped:** {html.escape(simulation.error)}"
        else:
            state = snapshot.ended or ("running" if simulation.running else "paused")
            pace = f", {snapshot.pace:.2g}x real time" if simulation.running and not snapshot.ended else ""
            text = f"**{snapshot.time:.1f} s** of episode {snapshot.episode + 1}: {state}{pace}"
        if self._status.content != text:
            self._status.content = text
