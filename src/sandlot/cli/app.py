"""The command's frame: its help, its version, and how errors are shown."""

import inspect
import re
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

import sandlot
from sandlot.cli import fit, gap, lab, lidar, logs, maps, models, recorded, rover, shape, show, train, work
from sandlot.cli.caution import one_line_warnings
from sandlot.cli.stop import stoppable
from sandlot.errors import SandlotError, quote

HELP = """A robot lab: worlds, controllers and studies.

New here? [bold]sandlot lab[/bold] opens a page to watch and drive worlds,
[bold]sandlot tour[/bold] runs a few studies and writes a page about them,
[bold]sandlot studies[/bold] lists them all, [bold]sandlot run leveling.probabilities[/bold] runs one.
"""

INTERRUPTED = 130
"""Exit status after Ctrl-C, as in shells."""
LONGEST = 400
"""Characters of a message about options; a longer one is cut in the middle."""
RESUMABLE = ("run", "tour")
"""Commands that continue where they were stopped."""


class Commands(TyperGroup):
    """Lists groups of commands last; Typer would list them before all others."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of the help."""
        return sorted(super().list_commands(ctx), key=lambda name: isinstance(self.commands[name], TyperGroup))


app = typer.Typer(cls=Commands, help=HELP, rich_markup_mode="rich", pretty_exceptions_enable=False)
app.command()(work.tour)
app.command()(lab.lab)
app.command()(lab.play)
app.command()(show.worlds)
app.command()(show.studies)
app.command()(work.run)
app.command()(work.report)
app.command()(work.record)
app.command()(recorded.show)
app.command("import")(logs.import_)
app.command()(logs.export)
app.command("map")(maps.map_)
app.command()(maps.locate)
app.command()(lidar.lidar)
app.command()(gap.gap)
app.command()(models.models)
app.command(context_settings=shape.CONTEXT)(shape.shape)
app.add_typer(fit.app, name="fit")
app.add_typer(train.app, name="train")
app.add_typer(rover.app, name="rover")


def _join_lines(group: typer.Typer) -> None:
    """Let the terminal break the lines of every help: Typer keeps those of docstrings, longer than 80 columns."""
    for each in group.registered_commands:
        written = each.help or inspect.getdoc(each.callback) or ""
        each.help = re.sub(r"(?<!\n)\n(?!\n)", " ", written)
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _join_lines(inner.typer_instance)


_join_lines(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sandlot {sandlot.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options that stand before or after any command."""


def main() -> None:
    """Run the command; a mistake gets one clear line on standard error and exit status 2."""
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"] or ["--help"]
    try:
        with stoppable(), one_line_warnings():
            status = app(args=arguments, prog_name="sandlot", standalone_mode=False)
        if status == INTERRUPTED:
            goes_on = " Finished jobs are kept; the same command goes on." if arguments[0] in RESUMABLE else ""
            Console(stderr=True).print(f"Stopped.{goes_on}", soft_wrap=True)
        sys.exit(status)
    except Exception as error:
        message = _explain(error)
        if debug or message is None:
            raise
        console = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)  # `module:car: ...` is no emoji
        console.print(f"[bold red]error:[/] {escape(message)}")
        sys.exit(2)


def _explain(error: Exception) -> str | None:
    """The one line for a mistake of the user or a fault of the disk; None for an error of the program."""
    if isinstance(error, SandlotError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{quote(error.filename)}: {error.strerror}" if error.filename else error.strerror
    explain = getattr(error, "format_message", None)  # Typer's own errors, about options and arguments
    if explain is None:
        return None
    message = explain()
    return message if len(message) <= LONGEST else f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
