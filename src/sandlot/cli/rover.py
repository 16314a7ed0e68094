"""Commands of the rover link: ``rover keys``, ``rover serve`` and ``rover drive``."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from sandlot.cli.work import Set
from sandlot.errors import LinkError, RecordingError, SettingError
from sandlot.reading import check_regular
from sandlot.writing import check_suffix, refuse_existing

if TYPE_CHECKING:
    import ssl

    from sandlot.link.client import Client
    from sandlot.link.recording import Recorder

app = typer.Typer(no_args_is_help=True, help="Serve a rover, real or simulated, and drive it over a network.")
LOCAL = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
"""Addresses that listen at all of a machine's own."""
DEFAULT_PORT = 4760
EMULATED = "emulated"
"""Stands for the port of a lidar on a simulated rover."""
NEAR = 1.0
"""Distance of an obstacle at which the avoider takes over, as in the study indoor.avoider [m]."""
KeysFolder = Annotated[
    Path | None, typer.Option("--keys", help="Folder that `sandlot rover keys` made.", show_default=False)
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Of the rover.")]


@app.command()
def keys(
    out: Annotated[Path, typer.Option("--out", help="Folder to make.")] = Path("rover-keys"),
    names: Annotated[
        list[str] | None,
        typer.Option("--name", help="Host name or address of the rover, as controllers use it; may be repeated."),
    ] = None,
) -> None:
    """Make the keys of a rover: a token, and certificates for the rover and for its controllers.

    Copy token, authority.pem, controller.pem and controller.key to each controller; rover.key stays on the rover.
    """
    from sandlot.link.keys import make_keys

    made = make_keys(out, names or ())
    Console(highlight=False).print(
        f"Keys are in [bold]{escape(str(made.folder))}[/bold]. On the rover: sandlot rover serve --host 0.0.0.0 "
        f"--keys {escape(str(made.folder))}",
        soft_wrap=True,
    )


@app.command()
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="To listen at; 0 for any that is free.")] = DEFAULT_PORT,
    host: Annotated[str, typer.Option(help="Address to listen at. Any but this machine's own needs --keys.")] = LOCAL[
        0
    ],
    keys_: KeysFolder = None,
    plan: Annotated[str, typer.Option(help="Floor plan of the simulated rover.")] = "apartment",
    seed: Annotated[int, typer.Option(min=0, help="Of the simulation.")] = 0,
    pace: Annotated[float, typer.Option(min=0.1, max=20.0, help="Simulated seconds in a second.")] = 1.0,
    assignments: Set = None,
    record: Annotated[
        Path | None, typer.Option(help="Write all that is sent and sensed to this .mcap file.", show_default=False)
    ] = None,
    lidar: Annotated[
        str | None,
        typer.Option(
            help="Port of an RPLIDAR: a serial device, or tcp://HOST:PORT; `emulated` on a simulated rover.",
            show_default=False,
        ),
    ] = None,
    pins: Annotated[
        Path | None,
        typer.Option(help="Wiring of a real rover: a .toml file, see docs/hardware.md.", show_default=False),
    ] = None,
    avoider: Annotated[
        bool,
        typer.Option("--avoider", help="Let the trained avoider steer near obstacles; otherwise the planner does."),
    ] = False,
) -> None:
    """Serve a rover until Ctrl-C: a simulated one, or with --pins and --lidar a real one.

    With --lidar emulated, the scans of the simulated rover come as the bytes of a real lidar, in real time.

    Without --keys, only programs of the same user on this machine can drive it.
    """
    if host not in LOCAL and keys_ is None:
        raise SettingError(
            f"--host {host} lets others in; make keys with `sandlot rover keys` and give them with --keys"
        )
    emulated = lidar == EMULATED and pins is None
    if (lidar is None) != (pins is None) and not emulated:
        raise SettingError("a real rover needs both --pins and --lidar; without both it is simulated")
    if emulated and pace != 1.0:
        raise SettingError(f"an emulated lidar measures in real time; --pace {pace:g} is not possible with it")
    if record is not None:
        check_suffix(record, "a recording of a rover", (".mcap",), SettingError)
        refuse_existing(record, RecordingError)
    if keys_ is not None:
        from sandlot.link.keys import Keys

        Keys(keys_).rover_context()
    if pins is not None:
        check_regular(pins)
    else:
        from sandlot import declared
        from sandlot.places.plan_names import check_plan
        from sandlot.settings import read_settings

        check_plan(plan)
        declared.check("world indoor", read_settings(None, assignments or ()))
    from sandlot.cli.rover_parts import real_rover, simulated_rover
    from sandlot.robots.driver import Driver

    console = Console(highlight=False)
    recorder = None
    if record is not None:
        from sandlot.link.recording import Recorder

        recorder = Recorder(record)
    try:
        if pins is not None and lidar is not None:
            driver: Driver
            driver, board = real_rover(pins, lidar)
            pace = 0.0
        else:
            driver, board = simulated_rover(plan, seed, assignments or (), emulated), None
            pace = 0.0 if emulated else pace
        try:
            _serve(console, host, port, keys_, driver, board, pace, recorder, avoider)
        finally:
            if (close := getattr(driver, "close", None)) is not None:  # a simulated rover has nothing to close
                close()
    finally:
        if recorder is not None:
            recorder.close()
            console.print(f"{recorder.written:,} messages are in {escape(str(record))}", soft_wrap=True)


def _serve(
    console: Console,
    host: str,
    port: int,
    folder: Path | None,
    driver: Any,
    board: Any,
    pace: float,
    recorder: "Recorder | None",
    avoider: bool,
) -> None:
    import asyncio

    from sandlot.control.navigation.avoiding import load_avoider
    from sandlot.control.navigation.near import Avoidance, Near
    from sandlot.link.keys import Keys, local_token, write_token
    from sandlot.link.proofs import new_token
    from sandlot.link.server import Server, ask_for_priority
    from sandlot.link.warming import warm_up

    token, tls = _known_token(port) or new_token(), None
    if folder is not None:
        given = Keys(folder)
        token, tls = given.token, given.rover_context()
    console.print("Preparing ...")
    warm_up()
    ask_for_priority()

    async def run() -> None:
        avoidance = Avoidance(load_avoider(), Near(threshold=NEAR)) if avoider else None
        server = Server(driver, token, board, pace, recorder, avoidance)
        await server.open(host, port, tls)
        left = None
        if folder is None:
            left = local_token(server.address[1])
            write_token(left, token)
        shown = "localhost" if host in EVERYWHERE else host
        where = "" if folder is None else f" --host {shown} --keys {folder}"
        console.print(
            f"The rover listens at {server.address[0]}:{server.address[1]}. Drive it with: "
            f"[bold]sandlot rover drive --port {server.address[1]}{escape(where)}[/bold]  (Ctrl-C ends it)",
            soft_wrap=True,
        )
        try:
            while True:
                await asyncio.sleep(1.0)
        finally:
            if left is not None:
                left.unlink(missing_ok=True)
            await server.close()

    asyncio.run(run())


def _known_token(port: int) -> str:
    """The token of a server at this port that was killed, so that its controllers may go on; empty if there is none."""
    from sandlot.link.keys import local_token, read_token

    path = local_token(port)
    with suppress(LinkError):
        return read_token(path) if port and path.exists() else ""
    return ""


@app.command()
def drive(
    port: Port = DEFAULT_PORT,
    host: Annotated[str, typer.Option(help="Of the rover.")] = LOCAL[0],
    keys_: KeysFolder = None,
    words: Annotated[
        list[str] | None,
        typer.Option("--do", help='An order, such as --do "mode SEMI" --do "go -0.5 0"; `help` lists them. Then end.'),
    ] = None,
) -> None:
    """Drive a rover from this terminal, by keys, or by words if they come from a pipe or with --do.

    With --do, the first order that fails ends the command with status 1.
    """
    console = Console(highlight=False, soft_wrap=True)
    with open_client(host, port, keys_) as client:
        from sandlot.cli.terminal import drive_by_keys
        from sandlot.link.console import Console as Orders

        orders = Orders(client)
        if not words and sys.stdin.isatty():
            drive_by_keys(client, orders)
            return
        for line in words or sys.stdin:
            if line.strip() in ("quit", "q"):
                break
            answer = orders.run(line)
            if answer:
                console.print(escape(answer))
            if words and orders.failed:
                raise typer.Exit(1)


def open_client(host: str, port: int, folder: Path | None) -> "Client":
    """Connect to a rover with its keys, or with the token that it left on this machine."""
    from sandlot.link.keys import Keys, local_token, read_token

    tls: ssl.SSLContext | None = None
    if folder is not None:
        token, tls = Keys(folder).token, Keys(folder).controller_context()
    elif host in LOCAL:
        path = local_token(port)
        if not path.exists():
            raise SettingError(f"no rover of yours at port {port} of this machine; start one with: sandlot rover serve")
        token = read_token(path)
    else:
        raise SettingError(f"a rover at {host} needs the keys that belong to it; give them with --keys")
    from sandlot.link.client import Client

    return Client(host, port, token, tls)
