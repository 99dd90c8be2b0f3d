"""Console of rich for texts from outside."""

from operator import itemgetter

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

from boostbench.util.terminal import printable


def make_console(**options) -> Console:
    """Return a console without markup, emoji and highlighting; `options` belong to `Console`.

    Titles and paths come from the user: their brackets and colons are neither markup nor emoji.
    Control characters are escaped.
    """
    console = Console(markup=False, emoji=False, highlight=False, **options)
    console.push_render_hook(_EscapeControls())
    return console


class _EscapeControls(RenderHook):
    """Hook of a console that escapes control characters in texts, not in the console's commands."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return list(map(_Escaped, renderables))


class _Escaped:
    """Renderable that prints another one with its control characters escaped."""

    def __init__(self, renderable: ConsoleRenderable):
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        segments = list(console.render(self._renderable, options))
        if "".join(map(itemgetter(0), segments)).replace("\n", "").isprintable():
            return segments
        return [
            Segment(text if control else printable(text), style, control)
            for text, style, control in segments
        ]
