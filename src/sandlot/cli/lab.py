"""Commands that open the lab, a page in the browser: ``lab`` and ``play``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from sandlot.cli.work import Controller, Set, SettingsFile
from sandlot.errors import SettingError, quote
from sandlot.worlds import WORLDS

if TYPE_CHECKING:
    from sandlot.lab.lab import Lab
    from sandlot.robots.remote import RemoteRover

Port = Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0 for any that is free.")]
Host = Annotated[str, typer.Option(help="Address to listen at. Any but this machine's own needs --token.")]
Token = Annotated[str | None, typer.Option(help="Secret that viewers must know.", show_default=False)]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")]
DEFAULT_PORT, THIS_MACHINE = 8080, "127.0.0.1"


def lab(
    port: Port = DEFAULT_PORT,
    host: Host = THIS_MACHINE,
    token: Token = None,
    browser: Browser = True,
    runs: Annotated[Path, typer.Option(help="Directory in which studies run.")] = Path("runs"),
    rover: Annotated[
        str | None, typer.Option(help="HOST:PORT of a rover to show and drive.", show_default=False)
    ] = None,
    keys: Annotated[Path | None, typer.Option(help="Keys of that rover.", show_default=False)] = None,
) -> None:
    """Open the lab: a page to watch and drive worlds, replay recordings, run studies, map logs and drive a rover.

    It is served on this machine only, until Ctrl-C. To let others in, give --host and --token.
    """
    from sandlot.lab.door import check_token

    check_token(host, token)
    if rover is not None:
        _host_and_port(rover)
    from sandlot.lab.lab import Lab

    page = Lab(port, host, token, runs, connect=lambda address: connect(address, keys))
    if rover is None:
        page.worlds.open("terrain")
    else:
        page.rover.open(rover)
    _serve(page, browser)


def connect(address: str, keys: Path | None) -> "RemoteRover":
    """A link to the rover at ``HOST:PORT``."""
    from sandlot.cli.rover import open_client
    from sandlot.link.remote import Remote

    return Remote(open_client(*_host_and_port(address), keys))


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal() and int(port) < 65536):
        raise SettingError(f"{quote(address)} is no address of a rover; write HOST:PORT")
    return host, int(port)


def play(
    world: Annotated[
        str, typer.Argument(help="Name of a world; see: sandlot worlds", autocompletion=lambda: [*WORLDS])
    ],
    fidelity: Annotated[str | None, typer.Option(help="Which physics.", show_default="the world's first")] = None,
    controller: Controller = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the first episode.")] = 0,
    assignments: Set = None,
    settings: SettingsFile = None,
    port: Port = DEFAULT_PORT,
    host: Host = THIS_MACHINE,
    token: Token = None,
    browser: Browser = True,
) -> None:
    """Watch a world in the lab, or drive it yourself: --controller keys.

    Other worlds, and all else of the lab, are on the same page.
    """
    from sandlot.lab.door import check_token
    from sandlot.settings import read_settings
    from sandlot.worlds import check_controller, check_fidelity, check_name, check_settings

    check_token(host, token)
    check_name(world)
    check_fidelity(world, fidelity)
    check_controller(world, controller, ("keys",))
    values = read_settings(settings, assignments or ())
    check_settings(world, values if fidelity is None else {**values, "fidelity": fidelity}, controller)
    from sandlot.lab.lab import Lab

    page = Lab(port, host, token)
    try:
        page.worlds.open(world, fidelity, controller, seed, values)
    except BaseException:
        page.close()
        raise
    _serve(page, browser)


def _serve(page: "Lab", browser: bool) -> None:
    """Say where the page is, and serve it until Ctrl-C."""
    Console().print(f"The lab is at [bold]{escape(page.address)}[/bold]  (Ctrl-C ends it)", soft_wrap=True)
    if browser:
        import webbrowser

        webbrowser.open(page.address)
    try:
        page.wait()
    finally:
        page.close()
