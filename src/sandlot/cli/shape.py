"""The command ``shape``: a picture of a body, bent in empty space."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from sandlot.errors import SandlotError

if TYPE_CHECKING:
    from sandlot.control.snake.shape import Shape

CONTEXT = {"ignore_unknown_options": True}
"""For the command line: or else negative angles would be taken for options."""


def shape(
    angles: Annotated[
        list[str] | None, typer.Argument(help="Of the joints, from the head on, in degrees; as many as joints.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The picture: .png, .svg or .pdf.")] = Path("shape.png"),
    circle: Annotated[bool, typer.Option("--circle", help="All joints at 360 deg / (links + 1).")] = False,
    amplitude: Annotated[float | None, typer.Option(help="Of a wave along the body, in radians.")] = None,
    frequency: Annotated[float, typer.Option(help="Of the wave, in Hz.")] = 1.0,
    phase: Annotated[
        float | None, typer.Option(help="From joint to joint, in radians; one wave along the body.")
    ] = None,
    veer: Annotated[float, typer.Option(help="Added to every joint, in radians.")] = 0.0,
    time: Annotated[float, typer.Option(help="When the wave is looked at, in seconds.")] = 0.0,
    links: Annotated[int, typer.Option(min=3, max=512, help="For --circle and --amplitude.")] = 8,
) -> None:
    """Draw the shape of a body from its joint angles, its centre of mass held, and warn of links that cross.

    Give the angles, or --circle, or --amplitude for a gait at one moment.
    """
    import numpy as np

    from sandlot.control.snake import shape as shapes
    from sandlot.control.snake.gaits import Gait
    from sandlot.robots.snake import Snake
    from sandlot.settings import build

    if sum((bool(angles), circle, amplitude is not None)) != 1:
        raise SandlotError("give the angles of all joints [deg], or --circle, or --amplitude; one of them")
    count = len(angles) + 1 if angles else links
    snake = build(Snake, {"links": count, "mass": 18.75 * count})
    if angles:
        bent = np.radians([_angle(word) for word in angles])
    elif circle:
        bent = shapes.circle(snake.joints)
    else:
        wave = 2.0 * np.pi / snake.joints if phase is None else phase
        gait = build(Gait, {"amplitude": amplitude, "frequency": frequency, "phase": wave, "veer": veer})
        bent = gait.targets(time, snake.joints)
    found = shapes.shape(bent, snake)
    _draw(found, out)
    console = Console(highlight=False, soft_wrap=True)
    x, y = (round(float(value), 2) + 0.0 for value in found.centres.mean(axis=0))
    console.print(escape(f"{out}: {snake.links} links, centre of mass at ({x:g}, {y:g}) m"))
    crossing = found.crossing()
    for i, j in found.touching():
        word = "cross" if (i, j) in crossing else "touch"
        console.print(f"[bold yellow]warning:[/] links {i} and {j} {word}")


def _angle(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SandlotError(f"{word!r} is not an angle [deg]; see: sandlot shape --help")
    return value


def _draw(found: "Shape", out: Path) -> None:
    from sandlot.studies.plots import canvas
    from sandlot.studies.water.drawing import draw_body

    figure, (axes,) = canvas(width=8.0, height=5.0)
    axes.plot(*found.ends.reshape(-1, 2).T, color="black", linewidth=0.8, zorder=4)
    draw_body(axes, found.centres, found.directions, found.snake, alpha=0.6)
    axes.plot(*found.centres.mean(axis=0), "k+", markersize=10, zorder=5)
    axes.set(xlabel="x [m]", ylabel="y [m]")
    axes.margins(0.1)
    try:
        figure.savefig(out, dpi=120)
    except (OSError, ValueError) as error:
        raise SandlotError(f"cannot write {out}: {error}") from None
