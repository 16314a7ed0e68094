"""The command ``shape``: a picture of a snake's body, bent by joint angles or by a gait."""

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from sandlot.errors import SandlotError, SettingError, quote
from sandlot.writing import PICTURES, check_suffix

CONTEXT = {"ignore_unknown_options": True}
"""Without it, negative angles would be taken for options."""


def shape(
    angles: Annotated[
        list[str] | None, typer.Argument(help="One for each joint, from the head on, in degrees.")
    ] = None,
    out: Annotated[Path, typer.Option(help="File of the picture: .png, .svg or .pdf.")] = Path("shape.png"),
    circle: Annotated[bool, typer.Option("--circle", help="Bend all joints by 360 deg / (links + 1).")] = False,
    amplitude: Annotated[float | None, typer.Option(help="Amplitude of a wave along the body, in radians.")] = None,
    frequency: Annotated[float, typer.Option(help="Frequency of the wave, in Hz.")] = 1.0,
    phase: Annotated[
        float | None, typer.Option(help="Phase from joint to joint, in radians; by default one wave along the body.")
    ] = None,
    veer: Annotated[float, typer.Option(help="Added to every joint, in radians.")] = 0.0,
    time: Annotated[float, typer.Option(help="Time at which the wave is drawn, in seconds.")] = 0.0,
    links: Annotated[int, typer.Option(min=3, max=512, help="Links of the body, for --circle and --amplitude.")] = 8,
) -> None:
    """Draw a snake's body from its joint angles, with its centre of mass fixed, and warn of links that cross.

    Give the angles, or --circle, or --amplitude for a gait at one moment.
    """
    if sum((bool(angles), circle, amplitude is not None)) != 1:
        raise SettingError("give the angles of all joints [deg], or --circle, or --amplitude; one of them")
    check_suffix(out, "a picture", PICTURES, SandlotError)
    degrees = [_angle(word) for word in angles or ()]
    from sandlot.studies.water.posture import bent_body, draw_posture

    gait = {"amplitude": amplitude, "frequency": frequency, "phase": phase, "veer": veer}
    body = bent_body(degrees, circle, gait, time, links)
    draw_posture(body, out)
    console = Console(highlight=False, soft_wrap=True)
    x, y = (round(float(value), 2) + 0.0 for value in body.centres.mean(axis=0))
    console.print(escape(f"{out}: {body.snake.links} links, centre of mass at ({x:g}, {y:g}) m"))
    crossing = body.crossing()
    for i, j in body.touching():
        word = "cross" if (i, j) in crossing else "touch"
        console.print(f"[bold yellow]warning:[/] links {i} and {j} {word}")


def _angle(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SettingError(f"{quote(word)!r} is not an angle [deg]; see: sandlot shape --help")
    return value
