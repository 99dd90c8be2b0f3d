"""Figures on the page: pictures inlined, with what the page about each says."""

import base64
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from boostbench.report.page.typeset import typeset
from boostbench.util.errors import first_line, print_error

_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}

#: An SVG stays sharp on paper; it is taken unless the PNG has less than this part of its bytes.
_MUCH_SMALLER = 0.5


class Figure(NamedTuple):
    """A figure with its words.

    Attributes
    ----------
    name : str
        Of its page, without ``.md``.
    title : str
        Heading.
    pictures : list of (str, str)
        What each shows in words, and its data URI; empty where the file is not there.
    caption : Markup
        The rest of the page about it, as HTML.
    """

    name: str
    title: str
    pictures: list[tuple[str, str]]
    caption: Markup


def find_figures(folder: Path) -> list[Figure]:
    """Read the figures of a folder, in the order of their names, numbers in it as numbers.

    Parameters
    ----------
    folder : Path
        Holds pictures, and a page ``NAME.md`` about each figure, as
        `boostbench.figures.definition.write_page` makes it.

    Returns
    -------
    list of Figure
        Empty when there is no such folder. What cannot be read is complained of and left out.
    """
    figures = []
    for path in sorted(folder.glob("*.md"), key=_natural):
        try:
            figures.append(read_written_figure(path))
        except (OSError, UnicodeDecodeError) as error:
            print_error(f"{path} is no page of a figure ({first_line(error)}); left out")
    return figures


def read_written_figure(path: Path) -> Figure:
    """Read the page about a figure, and the pictures that it shows.

    Parameters
    ----------
    path : Path
        A Markdown file: a heading, pictures in the same folder, and words.

    Returns
    -------
    Figure
        HTML and pictures of other places in the file are shown as text.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("text", _text)
    title, pictures, caption = path.stem, [], []
    blocks = _blocks(markdown.parse(path.read_text(encoding="utf-8")))
    for position, block in enumerate(blocks):
        inline = [token for token in block if token.type == "inline"]
        shown = [child for token in inline for child in token.children if child.type == "image"]
        if position == 0 and block[0].type == "heading_open":
            title = inline[0].content
        elif shown:
            pictures += [_picture(image, path.parent) for image in shown]
        else:
            html = markdown.renderer.render(block, markdown.options, {})
            caption.append(_boxed(html) if block[0].type == "table_open" else html)
    return Figure(path.stem, title, pictures, Markup("".join(caption)))


def _blocks(tokens: list[Token]) -> list[list[Token]]:
    """Cut the tokens of a page into those of its paragraphs, tables, lists."""
    blocks, depth = [[]], 0
    for token in tokens:
        blocks[-1].append(token)
        depth += token.nesting
        if depth == 0:
            blocks.append([])
    return blocks[:-1]


def _text(renderer: RendererHTML, tokens: list[Token], index: int, *_) -> str:
    return typeset(tokens[index].content)


def _boxed(table: str) -> str:
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Facts">{table}</div>'


def _picture(image: Token, folder: Path) -> tuple[str, str]:
    """Inline a picture, in the format that serves best."""
    # Only files of the folder itself: what else is named is not the figure's.
    path = folder / Path(unquote(str(image.attrs["src"]))).name
    sizes = {
        suffix: path.with_suffix(suffix).stat().st_size
        for suffix in _TYPES
        if path.with_suffix(suffix).is_file()
    }
    if not sizes:
        return image.content, ""
    suffix = min(sizes, key=sizes.get)
    if ".svg" in sizes and sizes[suffix] >= _MUCH_SMALLER * sizes[".svg"]:
        suffix = ".svg"
    content = base64.b64encode(path.with_suffix(suffix).read_bytes()).decode()
    return image.content, f"data:{_TYPES[suffix]};base64,{content}"


def _natural(path: Path) -> list:
    """Order ``table10`` after ``table9``."""
    parts = re.split(r"(\d+)", path.stem)
    return [int(part) if part.isdecimal() else part for part in parts]
