"""The lab: one page with a stage and its tabs, on a server of this machine."""

import contextlib
import io
import socket
import time
from pathlib import Path
from typing import Any

from sandlot.errors import SandlotError
from sandlot.extras import need
from sandlot.lab.door import Door, check_token, guarded
from sandlot.lab.keys import Keys, handle
from sandlot.lab.maps_tab import MapsTab
from sandlot.lab.replay_tab import ReplayTab
from sandlot.lab.rover_tab import Connect, RoverTab
from sandlot.lab.stage import Stage
from sandlot.lab.studies_tab import StudiesTab
from sandlot.lab.worlds_tab import WorldsTab

PORT = 8080
BRAND = (47, 102, 144)
WIDTH = 380
"""Of the panel [pixel]."""


class Lab:
    """A page that is served until it is closed.

    Attributes:
        address: Where a browser finds it.
        door: Who may see it.
        server: The server of viser.
        stage: What is drawn.
        worlds: The tab of worlds; as the next four, only on a page with tabs.
        replay: The tab of recordings.
        studies: The tab of studies.
        maps: The tab of logs.
        rover: The tab of a rover.
    """

    def __init__(
        self,
        port: int = PORT,
        host: str = "127.0.0.1",
        token: str | None = None,
        runs: Path = Path("runs"),
        tabs: bool = True,
        connect: Connect | None = None,
    ) -> None:
        """Start the server and build the page.

        Args:
            port: 0 for any that is free.
            host: Address to listen at; any but this machine's own needs a token.
            token: Viewers must know it, if given.
            runs: Where studies are run.
            tabs: Whether the page has its tabs, and not only a stage.
            connect: Opens a link to a rover, for its tab.

        Raises:
            SandlotError: If the port is in use, the token is missing, or viser is not installed.
        """
        check_token(host, token)
        viser = need("viser", "lab")
        _check_free(host, port)
        keys = Keys()
        self.door = Door(token, handle(keys))
        with guarded(self.door), contextlib.redirect_stdout(io.StringIO()):
            self.server: Any = viser.ViserServer(host=host, port=port, label="Sandlot lab", verbose=False)
        shown = {"127.0.0.1": "localhost", "0.0.0.0": socket.gethostname()}.get(host, host)
        self.address = f"http://{shown}:{self.server.get_port()}/" + (f"?token={token}" if token else "")
        self.server.request_share_url = lambda *_, **__: None  # viser would open a tunnel to its public server
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
        self.stage = Stage(self.server)
        self._tabs: list[Any] = []
        if not tabs:
            gui.main_panel.minimize()
            return
        gui.main_panel.dock_right()
        gui.main_panel.set_width(WIDTH)
        group = gui.add_tab_group()
        with group.add_tab("Worlds"):
            self.worlds = WorldsTab(self.server, self.stage, keys)
        with group.add_tab("Replay"):
            self.replay = ReplayTab(self.server, self.stage)
        with group.add_tab("Studies"):
            self.studies = StudiesTab(self.server, self.door, runs)
        with group.add_tab("Maps"):
            self.maps = MapsTab(self.server, self.stage)
        with group.add_tab("Rover"):
            self.rover = RoverTab(self.server, self.stage, connect)
        self._tabs = [self.worlds, self.replay, self.studies, self.maps, self.rover]

    def wait(self) -> None:
        """Serve until interrupted."""
        while True:
            time.sleep(1.0)

    def close(self) -> None:
        """Stop everything."""
        for tab in self._tabs:
            tab.close()
        self.stage.close()
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()


def _check_free(host: str, port: int) -> None:
    """Refuse a port that is in use; viser would silently take another."""
    if port and (why := _refused(host, port)):
        raise SandlotError(f"port {port} of {host} cannot be used ({why}); choose another with --port")


def free_port(wanted: int) -> int:
    """The wanted port of this machine, or 0, which stands for any other, if it is in use."""
    return 0 if _refused("127.0.0.1", wanted) else wanted


def _refused(host: str, port: int) -> str:
    """Why a port cannot be used; empty if it can."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.strerror or "unknown"
    return ""
