"""Rendering of the page as one string of HTML, from tables and figures alone.

The first functions make the parts of the page: texts, the colours of verdicts, and the Markdown
pages of figures. `render_page` puts them into the templates of this folder.
"""

import base64
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from boostbench import __version__
from boostbench.analysis.recorded_experiments import RecordedExperiment
from boostbench.analysis.result_table import Table
from boostbench.analysis.verdicts import VERDICTS, Tally, count_tables, count_verdicts
from boostbench.papers.metadata import paper_citation, paper_title
from boostbench.report import overview
from boostbench.report.blocks import CellDetails, Document, Entry, Listing
from boostbench.report.document import make_document
from boostbench.report.findings import runs_listing
from boostbench.report.page.details import cell_details, collect_records, find_machines
from boostbench.report.wording import PARTIAL, STALE
from boostbench.util.errors import first_line, print_error
from boostbench.util.terminal import printable


def typeset(text: object) -> Markup:
    """Escape a text, and set a word behind ``^`` as a superscript.

    Examples
    --------
    >>> print(typeset("RBoost^proj <exp>"))
    RBoost<sup>proj</sup> &lt;exp&gt;
    """
    return Markup(re.sub(r"\^(\w+)", r"<sup>\1</sup>", str(escape(text))))


def html_id(*parts: object) -> str:
    """Return an HTML id made of names; different names give different ids.

    Examples
    --------
    >>> html_id("table", "randomboost5"), html_id("table", "my table")
    ('table-randomboost5', 'table-my.20.table')
    """
    return "-".join(re.sub(r"[^\w-]", _character_code, str(part)) for part in parts)


def verdict_class(verdict: str, kind: str) -> str:
    """Return the CSS class of a verdict.

    Parameters
    ----------
    verdict : str
        One of `boostbench.analysis.verdicts.VERDICTS`, such as ``"not run"``.
    kind : {"verdict", "bar"}
        Element that has the verdict's colour: a cell or a word, as in ``"v-not-run"``; or a part of
        a bar, as in ``"b-not-run"``.
    """
    return f"{kind[0]}-{verdict.replace(' ', '-')}"


def _character_code(character: re.Match) -> str:
    """Return the hexadecimal code of a character between points, ``".20."`` for a space."""
    return f".{ord(character[0]):x}."


#: Verdicts with a colour of their own in cells and words; the others are grey.
_COLOURED = ("reproduced", "better", "worse", "failed")

_WHITE, _BLACK = "#ffffff", "#000000"
#: The background of the dark theme, as in ``page.css``.
_DARK = "#14171b"


def verdict_variables() -> str:
    """Return the CSS variables of the verdicts' colours, for a light and a dark theme.

    Each verdict x has ``--bar-x``, the colour of its part of a bar. Verdicts in `_COLOURED` also
    have ``--x``, the colour of text, and ``--on-x``, the background of the text; the contrast ratio
    of both is at least 4.5.
    """
    lines = []
    for name in _COLOURED:
        colour = VERDICTS[name].colour
        lines += [
            f"--bar-{name}: {colour};",
            f"--{name}: light-dark({mix(colour, _BLACK, 0.6)}, {mix(colour, _WHITE, 0.75)});",
            f"--on-{name}: light-dark({mix(colour, _WHITE, 0.12)}, {mix(colour, _DARK, 0.2)});",
        ]
    for verdict, (colour, *_) in VERDICTS.items():
        if colour and verdict not in _COLOURED:
            name = verdict.replace(" ", "-")
            lines.append(f"--bar-{name}: light-dark({colour}, {mix(colour, _DARK, 0.4)});")
    return ":root {\n  " + "\n  ".join(lines) + "\n}\n"


def mix(first: str, second: str, share: float) -> str:
    """Return the mixture of two colours, with `share` of the first one.

    Examples
    --------
    >>> mix("#ff0000", "#ffffff", 0.5)
    '#ff8080'
    """
    pairs = ((int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}

#: An SVG stays sharp in print; it is used unless the PNG has less than this share of its bytes.
_MUCH_SMALLER = 0.5


class Figure(NamedTuple):
    """A figure with its title and caption.

    Attributes
    ----------
    name : str
        Name of its Markdown page, without ``.md``.
    title : str
        Heading.
    pictures : list of (str, str)
        Alternative text and data URI of each picture; the URI is empty if the file is missing.
    caption : Markup
        Rest of the Markdown page, as HTML.
    """

    name: str
    title: str
    pictures: list[tuple[str, str]]
    caption: Markup


def find_figures(folder: Path) -> list[Figure]:
    """Read the figures of a folder in the natural order of their names.

    Parameters
    ----------
    folder : Path
        Folder with pictures and a page ``NAME.md`` per figure, as written by
        `boostbench.figures.definition.page_text`.

    Returns
    -------
    list of Figure
        Empty if there is no such folder. Unreadable pages are omitted with a message.
    """
    figures = []
    for path in sorted(folder.glob("*.md"), key=_natural_order):
        try:
            figures.append(read_figure_page(path))
        except (OSError, UnicodeDecodeError) as error:
            print_error(f"{path} is no page of a figure ({first_line(error)}); left out")
    return figures


def read_figure_page(path: Path) -> Figure:
    """Read the Markdown page of a figure, and the pictures that it shows.

    Parameters
    ----------
    path : Path
        Markdown file with a heading, pictures in the same folder, and text.

    Returns
    -------
    Figure
        HTML in the file is escaped; pictures in other folders are not read.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("text", _render_text)
    title, pictures, caption = path.stem, [], []
    blocks = _split_into_blocks(markdown.parse(path.read_text(encoding="utf-8")))
    for position, block in enumerate(blocks):
        inline = [token for token in block if token.type == "inline"]
        shown = [child for token in inline for child in token.children if child.type == "image"]
        if position == 0 and block[0].type == "heading_open":
            title = inline[0].content
        elif shown:
            pictures += [_embed_picture(image, path.parent) for image in shown]
        else:
            html = markdown.renderer.render(block, markdown.options, {})
            caption.append(_wrap_wide_table(html) if block[0].type == "table_open" else html)
    return Figure(path.stem, title, pictures, Markup("".join(caption)))


def _split_into_blocks(tokens: list[Token]) -> list[list[Token]]:
    """Divide the tokens of a page into blocks, such as paragraphs, tables and lists."""
    blocks, depth = [[]], 0
    for token in tokens:
        blocks[-1].append(token)
        depth += token.nesting
        if depth == 0:
            blocks.append([])
    return blocks[:-1]


def _render_text(renderer: RendererHTML, tokens: list[Token], index: int, *_) -> str:
    """Return the HTML of one of the text tokens; markdown-it calls it with this signature."""
    return typeset(tokens[index].content)


def _wrap_wide_table(table: str) -> str:
    """Return a table in a box that scrolls, so that a wide one does not widen the page."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Facts">{table}</div>'


def _embed_picture(image: Token, folder: Path) -> tuple[str, str]:
    """Return the alternative text of a picture and its data URI, in the preferred format."""
    # The file name alone is used, so that a page cannot include files of other folders.
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


def _natural_order(path: Path) -> list:
    """Return a sort key that orders ``table10`` after ``table9``."""
    parts = re.split(r"(\d+)", path.stem)
    return [int(part) if part.isdecimal() else part for part in parts]


#: Mark of a number with a known reason for its difference from the published number.
NOTE = "*"


class TableSection(NamedTuple):
    """A table as a section of the page, for the templates.

    Attributes
    ----------
    table : Table
        Cells and columns.
    document : Document
        Printed rows, sentences and lists of the table.
    tally : Tally
        Counts of verdicts.
    id : str
        HTML id of the section. A property, as the next ones.
    is_empty : bool
        Whether nothing of the table is on record.
    listings : list of Listing
        Lists of the document that the page shows.
    """

    table: Table
    document: Document
    tally: Tally

    @property
    def id(self) -> str:
        """HTML id of the section."""
        return html_id("table", self.table.name)

    @property
    def is_empty(self) -> bool:
        """True if nothing of the table is on record."""
        return not any(cell.n_finished for cell in self.table.cells.values())

    def details(self, entry: Entry) -> CellDetails:
        """Return the facts about the table cell behind a printed entry."""
        return cell_details(self.table, *entry.place)

    @property
    def listings(self) -> list[Listing]:
        """Lists of the document that the page shows: all but appendices."""
        return [listing for listing in self.document.listings if not listing.is_appendix]


def render_page(
    tables: Sequence[Table],
    figures: Sequence[Figure] = (),
    runs: Sequence[RecordedExperiment] = (),
    about_runs: bool = False,
) -> str:
    """Return the page as HTML.

    Equal arguments give equal text, as all dates come from the records.

    Parameters
    ----------
    tables : sequence of Table
        Tables in any order; the page groups them by paper.
    figures : sequence of Figure, default=()
        Figures of the folder of results, in their order.
    runs : sequence of RecordedExperiment, default=()
        Recorded experiments that the page lists one by one.
    about_runs : bool, default=False
        True: the page is about the runs of a user's own experiments. They stand first, and their
        records count as records behind the page. False: the page is about the tables, and the runs
        follow them.

    Returns
    -------
    str
        HTML that requires no other file and no network.
    """
    # 1) Make a section for each table, in the order of papers, as `groupby` joins consecutive ones.
    tables = overview.sort_by_paper(tables)
    sections = [
        TableSection(table, make_document(table), count_verdicts(table.cells.values()))
        for table in tables
    ]
    counted = count_tables(tables)
    # 2) Collect the records behind the page.
    cells = [cell for table in tables for cell in table.cells.values()]
    if about_runs:
        cells += [run.cell for run in runs]
    all_records = collect_records(cells)
    # 3) Fill the template.
    page = (
        _environment()
        .get_template("page.html")
        .render(
            version=__version__,
            css=Markup(verdict_variables()) + _asset("page.css"),
            js=_asset("page.js"),
            papers=[
                (paper, list(group))
                for paper, group in groupby(sections, lambda section: section.table.paper)
            ],
            figures=figures,
            runs=runs_listing(runs) if runs else None,
            about_runs=about_runs,
            own_title="Tables of your own" if about_runs else "Other tables",
            total=counted.total,
            headline=overview.counts_paragraph(counted.total),
            detectable_sentences=overview.detectable_sentences(counted.total),
            swaps_sentence=overview.swaps_sentence(counted.swaps),
            effects_sentence=overview.effects_sentence(counted.effects),
            counting_sentences=overview.counting_sentences(counted.total, tables),
            verdicts=counted.total.verdicts,
            table_lines=overview.table_lines(counted, tables),
            algorithm_lines=overview.algorithm_lines(counted),
            all_records=all_records,
            environments=find_machines(all_records),
        )
    )
    # Names and notes of a user may hold control characters.
    return printable(page)


@cache
def _environment() -> Environment:
    """Return the template environment, with the filters and globals of all templates.

    It is cached, since compiled templates belong to it. A misspelt variable raises an error.
    """
    environment = Environment(
        loader=PackageLoader("boostbench.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "typeset": typeset,
        "verdict_class": verdict_class,
        "thousands": _thousands,
    }
    environment.globals |= {
        "html_id": html_id,
        "short_title": overview.short_title,
        "citation": paper_citation,
        "paper_title": paper_title,
        "collect_records": collect_records,
        "verdict_facts": VERDICTS,
        "swaps_head": overview.SWAPS_HEAD,
        "swaps_explanation": overview.SWAPS_EXPLANATION,
        "effects_head": overview.EFFECTS_HEAD,
        "effects_explanation": overview.EFFECTS_EXPLANATION,
        "stale": STALE,
        "partial": PARTIAL,
        "note": NOTE,
    }
    return environment


def _asset(name: str) -> Markup:
    """Read a style sheet or script to be inlined; as a file of the package, it is not escaped."""
    return Markup((files(__package__) / "assets" / name).read_text(encoding="utf-8"))


def _thousands(number: int) -> str:
    """Format an integer with thin spaces between groups of three digits."""
    return f"{number:,}".replace(",", "\u202f")
