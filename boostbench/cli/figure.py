"""Run the missing fits of a figure, and draw it."""

from argparse import ArgumentParser, Namespace

from boostbench.cli._commands import add_definition_argument, add_overrides_argument
from boostbench.util import configs
from boostbench.util.errors import UserError
from boostbench.util.files import atomic_write_text, writing_to
from boostbench.util.terminal import echo, spinner


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    add_definition_argument(parser, "figure")
    add_overrides_argument(parser, "for all of it, e.g. algo.n_iterations=2000")


def complete(before: list[str], word: str) -> list[str]:
    """Return the names that may come next."""
    return [] if before else configs.list_options("figure")


def run(args: Namespace) -> int:
    """Draw a figure as PNG, SVG and PDF under ``results/figures``, with a page about it."""
    if any(override.startswith("shard=") for override in args.words):
        raise UserError("shard= is for run and table; a figure needs all that it shows")
    from boostbench.figures.definition import require_matplotlib

    require_matplotlib()
    with spinner("starting"):
        from boostbench.figures.definition import page_text, read_figure
        from boostbench.figures.style import save
        from boostbench.report.renderers.console import short_names
        from boostbench.util.terminal import make_console

    definition = read_figure(args.name)
    drawing = definition.draw(args.words)
    path = drawing.results / "figures" / definition.name
    written = save(drawing.figure, path, definition.title, definition.caption)
    written.append(path.with_name(f"{path.name}.md"))  # names may have dots
    with writing_to(written[-1], depth=1):
        atomic_write_text(written[-1], page_text(definition, drawing))
    console = make_console()
    for line in (definition.title, definition.caption, *drawing.notes):
        console.print(line)
    echo(f"\nwritten: {short_names(written)}")
    return int(drawing.failed > 0)
