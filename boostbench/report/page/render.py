"""Rendering of the page as one string of HTML, from tables and figures alone."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from boostbench import __version__
from boostbench.analysis.runs import RecordedExperiment
from boostbench.analysis.tables import Table
from boostbench.analysis.verdicts import VERDICTS, Tally, counts
from boostbench.papers.metadata import citation, title
from boostbench.report import overview
from boostbench.report.blocks import CellDetails, Document, Entry, Listing
from boostbench.report.document import make_document
from boostbench.report.findings import runs_listing
from boostbench.report.page.details import cell_details, find_machines, source
from boostbench.report.page.html import Figure, html_id, typeset, verdict_class, verdict_variables
from boostbench.report.wording import PARTIAL, STALE
from boostbench.util.terminal import printable

#: Mark of a number with a known reason for its difference from the published number.
NOTE = "*"


class View(NamedTuple):
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
    algorithms: Mapping[str, str] | None = None,
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
    algorithms : mapping of str to str, default=None
        Titles of algorithms by name; by default, names are titles.
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
    # `groupby` below joins consecutive tables of a paper.
    tables = overview.sort_by_paper(tables)
    views = [
        View(table, make_document(table), Tally.from_cells(table.cells.values()))
        for table in tables
    ]
    counted = counts(tables)
    cells = [cell for table in tables for cell in table.cells.values()]
    if about_runs:
        cells += [run.cell for run in runs]
    all_records = source(cells)
    page = (
        _environment()
        .get_template("page.html")
        .render(
            version=__version__,
            css=Markup(verdict_variables()) + _asset("page.css"),
            js=_asset("page.js"),
            papers=[
                (paper, list(group))
                for paper, group in groupby(views, lambda view: view.table.paper)
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
            algorithm_lines=overview.algorithm_lines(counted, algorithms or {}),
            source_of_all=all_records,
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
        "citation": citation,
        "paper_title": title,
        "source": source,
        "about": VERDICTS,
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
