"""The command's frame: its help, its version, and how errors are shown."""

import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

import sandlot
from sandlot.cli import fit, gap, logs, shape, show, work
from sandlot.errors import SandlotError

HELP = """A robot lab: worlds, controllers and studies.

New here? [bold]sandlot tour[/bold] runs a few studies and writes a page about them,
[bold]sandlot studies[/bold] lists them all, [bold]sandlot run leveling.probabilities[/bold] runs one.
"""

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


class Commands(TyperGroup):
    """Lists groups of commands last; Typer would list them first, before the tour."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return sorted(super().list_commands(ctx), key=lambda name: isinstance(self.commands[name], TyperGroup))


app = typer.Typer(cls=Commands, help=HELP, rich_markup_mode="rich", pretty_exceptions_enable=False)
app.command()(work.tour)
app.command()(show.worlds)
app.command()(show.studies)
app.command()(work.run)
app.command()(work.report)
app.command()(work.record)
app.command("import")(logs.import_)
app.command()(logs.export)
app.command()(gap.gap)
app.command(context_settings=shape.CONTEXT)(shape.shape)
app.add_typer(fit.app, name="fit")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sandlot {sandlot.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Options that stand before or after any command."""


def main() -> None:
    """Run the command; a mistake gets one clear line on standard error and exit status 2."""
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        status = app(args=arguments or ["--help"], prog_name="sandlot", standalone_mode=False)
        if status == INTERRUPTED:
            Console(stderr=True).print("Stopped. What had been finished is kept; the same command goes on.")
        sys.exit(status)
    except Exception as error:
        explain = str if isinstance(error, SandlotError) else getattr(type(error), "format_message", None)
        if debug or explain is None:
            raise
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"[bold red]error:[/] {escape(explain(error))}")
        sys.exit(2)
