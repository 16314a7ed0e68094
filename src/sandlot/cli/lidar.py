"""The command ``lidar``: a live scan, from a device, an emulated one or a recording; recorded, and mapped."""

import contextlib
import math
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from sandlot import declared
from sandlot.cli.maps import check_has_scans
from sandlot.cli.show import Json, print_json
from sandlot.errors import MapError, RecordingError, SandlotError, SettingError
from sandlot.reading import check_log
from sandlot.writing import refuse_existing

if TYPE_CHECKING:
    from rich.live import Live as LiveText
    from rich.text import Text

    from sandlot.lab.lidar_page import LidarPage
    from sandlot.link.live_scans import LiveScans, Source
    from sandlot.recordings.scans import Scan

KINDS = ("A1", "A2", "S2")
"""Of emulated lidars."""
MAX_COLUMNS, MAX_ROWS = 120, 48
"""Of the picture in the terminal."""
EVERY = 0.1
"""Time between two pictures in the terminal [s]."""


def lidar(
    port: Annotated[str | None, typer.Option(help="Serial port, as /dev/ttyUSB0.", show_default=False)] = None,
    baud: Annotated[int | None, typer.Option(min=9600, help="Of that port.", show_default="tried")] = None,
    tcp: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Or a TCP port.", show_default=False)] = None,
    emulate: Annotated[
        str | None,
        typer.Option(metavar="PLAN", help="Or an emulated lidar in a floor plan.", show_default=False),
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(help="Or a recording, or a log of a robot.", show_default=False)
    ] = None,
    mode: Annotated[str | None, typer.Option(help="Scan mode.", show_default="what the device recommends")] = None,
    yaw: Annotated[float, typer.Option(help=r"Of the lidar's front on the robot, to the left \[rad].")] = 0.0,
    record: Annotated[Path | None, typer.Option(help="Recording to make.", show_default=False)] = None,
    chart: Annotated[
        Path | None, typer.Option("--map", help="Map live, and write the map to this folder.", show_default=False)
    ] = None,
    page: Annotated[bool, typer.Option("--page", help="Show it on a page in the browser too.")] = False,
    page_port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0 for any that is free.")] = 8080,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
    seconds: Annotated[
        float, typer.Option(min=0.0, help=r"End so long after the first turn \[s].", show_default="never")
    ] = 0.0,
    kind: Annotated[str, typer.Option(help="Of the emulated lidar: A1, A2 or S2.")] = "A1",
    seed: Annotated[int, typer.Option(min=0, help="Of the emulated lidar.")] = 0,
    faults: Annotated[
        list[str] | None,
        typer.Option("--fault", metavar="KEY=VALUE", help="Of its line: lost, flipped, stall ...", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the live scan of an RPLIDAR, until Ctrl-C.

    With --record it is recorded; with --map it is mapped from the scans alone, while the lidar is carried about.
    Without a device: sandlot lidar --emulate apartment
    """
    if record is not None:
        refuse_existing(record, RecordingError)
    if chart is not None:
        refuse_existing(chart, MapError)
    with contextlib.ExitStack() as stack:
        ways = (port, tcp, emulate, recording)
        if sum(each is not None for each in ways) != 1:
            raise SettingError("say where scans come from: one of --port, --tcp, --emulate and --recording")
        if recording is not None:
            source = _recorded(recording)
        else:
            if emulate is not None:
                port, tcp = _emulated(stack, emulate, kind, seed, mode, faults or [])
            source = _device(stack, port, tcp, baud, mode, yaw)
        from sandlot.link.live_scans import LiveScans

        live = LiveScans(source, record, chart is not None)
        console = Console(highlight=False, quiet=as_json)
        console.print(escape(source.name), soft_wrap=True)
        shown = _open_page(stack, page_port, source.name, browser, console) if page else None
        problem = _watch(live, source, console, shown, seconds)
    facts: dict[str, Any] = {"source": source.name, "turns": live.count, "damaged": live.damaged}
    facts |= {"lost_bytes": source.losses.bytes, "breaks": source.losses.breaks, "gaps": source.losses.gaps}
    facts |= {"recording": None if record is None else str(record), "map": None}
    if chart is not None and live.count:
        facts["map"] = _write_map(live, chart)
    if as_json and problem is None:
        print_json(facts)
    else:
        _summary(console, facts)
    if problem is not None:
        raise problem


def _recorded(path: Path) -> "Source":
    check_log(path)
    check_has_scans(path)
    from sandlot.link.live_scans import RecordedSource

    return RecordedSource(path)


def _emulated(
    stack: contextlib.ExitStack, plan: str, kind: str, seed: int, mode: str | None, faults: list[str]
) -> tuple[str | None, str | None]:
    """Serve an emulated lidar; returns its serial port and its TCP port, one of which is None."""
    from sandlot.places.plan_names import check_plan

    check_plan(plan)
    from sandlot.settings import build, read_settings

    given = read_settings(None, faults)
    declared.check("fault of a lidar", given)
    if kind.upper() not in KINDS:
        raise SettingError(f"--kind {kind} is not possible; allowed: {', '.join(KINDS)}")
    from sandlot.sensing.rplidar.device import KINDS as DEVICES
    from sandlot.sensing.rplidar.talks import choose

    choose(DEVICES[kind.upper()].modes, DEVICES[kind.upper()].typical, mode)  # a mistake shows before it is built
    from sandlot.link.lidar_emulator import emulate
    from sandlot.sensing.rplidar.faults import Faults
    from sandlot.sensing.rplidar.serving import serve_tcp, serve_terminal

    device = emulate(plan, kind.upper(), seed, faults=build(Faults, given))
    try:
        return stack.enter_context(serve_terminal(device)).address, None
    except SandlotError:  # no pseudo-terminals here
        return None, stack.enter_context(serve_tcp(device)).address


def _device(
    stack: contextlib.ExitStack, port: str | None, tcp: str | None, baud: int | None, mode: str | None, yaw: float
) -> "Source":
    from sandlot.sensing.rplidar import open_lidar

    device = stack.enter_context(open_lidar(port, tcp, baud))
    device.start(mode)
    from sandlot.link.live_scans import LidarSource

    return LidarSource(device, yaw)


def _open_page(stack: contextlib.ExitStack, port: int, title: str, browser: bool, console: Console) -> "LidarPage":
    from sandlot.lab.lidar_page import LidarPage

    page = LidarPage(port, title)
    stack.callback(page.close)
    console.print(f"The page is at [bold]{escape(page.lab.address)}[/bold]", soft_wrap=True)
    if browser:
        import webbrowser

        webbrowser.open(page.lab.address)
    return page


def _watch(
    live: "LiveScans", source: "Source", console: Console, page: "LidarPage | None", seconds: float
) -> SandlotError | None:
    """Show scans until they end, the time is over or Ctrl-C; returns what ended them before."""
    from sandlot.cli.scan_picture import reach_of

    begun, drawn, reach = math.inf, -math.inf, 1.0
    try:
        with contextlib.closing(live.run()) as scans, _terminal(console) as text:
            for scan in scans:
                now = time.monotonic()
                begun = min(begun, now)
                status = _status(live, source, scan)
                if page is not None:
                    page.show(scan, live.mapper, status)
                if text is not None and now - drawn > EVERY:
                    reach, drawn = max(reach, reach_of(scan)), now
                    text.update(_picture(scan, reach, status))
                if seconds and now - begun > seconds:
                    break
    except KeyboardInterrupt:
        pass
    except SandlotError as error:
        return error
    return None


@contextlib.contextmanager
def _terminal(console: Console) -> Iterator["_Drawn | None"]:
    """A part of the terminal that is drawn again and again; None if the output is not a terminal."""
    if not console.is_terminal or console.quiet:
        yield None
        return
    from rich.live import Live as LiveText

    with LiveText(console=console, auto_refresh=False) as text:
        yield _Drawn(text)


class _Drawn:
    """Draws at once."""

    def __init__(self, text: "LiveText") -> None:
        self._text = text

    def update(self, picture: "Text") -> None:
        self._text.update(picture, refresh=True)


def _picture(scan: "Scan", reach: float, status: str) -> "Text":
    from rich.text import Text

    from sandlot.cli.scan_picture import scan_picture

    size = shutil.get_terminal_size()
    columns, rows = min(size.columns - 1, MAX_COLUMNS), min(size.lines - 4, MAX_ROWS)
    picture = "\n".join(scan_picture(scan, max(columns, 8), max(rows, 4), reach))
    return Text(f"{picture}\n{status}\n{reach:g} m from the middle to the edge; Ctrl-C ends")


def _status(live: "LiveScans", source: "Source", scan: "Scan") -> str:
    import numpy as np

    returns = int(np.isfinite(scan.ranges).sum())
    text = f"turn {live.count:,}, {live.rate:.1f} 1/s, {len(scan.ranges):,} samples, {returns:,} returns"
    if source.losses.bytes or source.losses.gaps:
        text += f", {source.losses.bytes:,} bytes lost"
    if live.pose is not None and live.mapper is not None:
        x, y, yaw = live.pose
        text += f"; x {x:.2f} m, y {y:.2f} m, yaw {math.degrees(yaw):.0f}°, {len(live.mapper.keyframes):,} keyframes"
    return text


def _write_map(live: "LiveScans", out: Path) -> str:
    from sandlot.mapping.map_logs import write_result
    from sandlot.recordings.logs import ScanLog

    mapper = live.mapper
    if mapper is None or not mapper.keyframes:
        raise MapError("no turn could be used for a map; the lidar must see walls around it")
    mapper.finish()
    write_result(mapper, ScanLog([], mapper.mount, live.started, ()), out, 0.0)
    return str(out)


def _summary(console: Console, facts: dict[str, Any]) -> None:
    console.print(
        f"{facts['turns']:,} turns, {facts['damaged']:,} of them with losses; {facts['lost_bytes']:,} bytes lost, "
        f"{facts['breaks']:,} breaks, {facts['gaps']:,} gaps",
        soft_wrap=True,
    )
    if facts["recording"] and facts["turns"]:
        console.print(f"Recording: [bold]{escape(facts['recording'])}[/bold]", soft_wrap=True)
    if facts["map"]:
        console.print(f"Map: [bold]{escape(facts['map'])}/map.yaml[/bold]", soft_wrap=True)
