"""The page: one string of HTML, made of tables and figures alone."""

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
from boostbench.report.blocks import Document, Listing
from boostbench.report.document import make_document
from boostbench.report.findings import listed
from boostbench.report.page.colours import style
from boostbench.report.page.details import details
from boostbench.report.page.figures import Figure
from boostbench.report.page.provenance import environments, source
from boostbench.report.page.typeset import css, identifier, typeset
from boostbench.report.wording import PARTIAL, STALE
from boostbench.util.printable import printable

#: Stands behind a number with a note on why it differs.
NOTE = "*"


class View(NamedTuple):
    """A table, what is said of it, and how many of its numbers are reproduced."""

    table: Table
    document: Document
    tally: Tally

    @property
    def id(self) -> str:
        """Names its section."""
        return identifier("table", self.table.name)

    @property
    def listings(self) -> list[Listing]:
        """Its lists that are shown."""
        return [listing for listing in self.document.listings if not listing.is_appendix]


def render_page(
    tables: Sequence[Table],
    figures: Sequence[Figure] = (),
    algorithms: Mapping[str, str] | None = None,
    runs: Sequence[RecordedExperiment] = (),
    lead: bool = False,
) -> str:
    """Make the page.

    Equal arguments give equal text: there is no date in it but those of the records.

    Parameters
    ----------
    tables : sequence of Table
        Tables, in any order: those of a paper are put together.
    figures : sequence of Figure, default=()
        Figures.
    algorithms : mapping of str to str, default=None
        Titles of algorithms by name; one that is not in it goes by its name.
    runs : sequence of RecordedExperiment, default=()
        What is on record, experiment by experiment.
    lead : bool, default=False
        Whether they come before the tables: they are what the folder is about.

    Returns
    -------
    str
        HTML that needs no other file and no network.
    """
    tables = overview.in_order(tables)
    views = [View(table, make_document(table), Tally.of(table.cells.values())) for table in tables]
    counted = counts(tables)
    cells = [cell for table in tables for cell in table.cells.values()]
    everything = source([*cells, *(run.cell for run in runs if lead)])
    page = (
        _environment()
        .get_template("page.html")
        .render(
            version=__version__,
            css=Markup(style()) + _asset("page.css"),
            js=_asset("page.js"),
            papers=[
                (paper, list(group))
                for paper, group in groupby(views, lambda view: view.table.paper)
            ],
            figures=figures,
            runs=listed(runs) if runs else None,
            lead=lead,
            own_title="Tables of your own" if lead else "Other tables",
            total=counted.total,
            headline=overview.headline(counted.total),
            sharpness=overview.sharpness(counted.total),
            swapped=overview.swapped(counted.swaps[""]),
            replicated=overview.replicated(counted.effects[""]),
            counting=overview.counting(counted.total, tables),
            verdicts=counted.total.verdicts,
            by_table=overview.by_table(counted, tables),
            by_algorithm=overview.by_algorithm(counted, algorithms or {}),
            source_of_all=everything,
            environments=environments(everything),
        )
    )
    return printable(page)


@cache
def _environment() -> Environment:
    """Give what compiles the templates: the filters and names that all of them may use."""
    environment = Environment(
        loader=PackageLoader("boostbench.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"typeset": typeset, "css": css, "thousands": _thousands}
    environment.globals |= {
        "identifier": identifier,
        "details": details,
        "short_title": overview.short_title,
        "citation": citation,
        "paper_title": title,
        "source": source,
        "about": VERDICTS,
        "swapped_head": overview.SWAPPED,
        "swapped_explanation": overview.SWAPPED_EXPLANATION,
        "replicated_head": overview.REPLICATED,
        "replicated_explanation": overview.REPLICATED_EXPLANATION,
        "stale": STALE,
        "partial": PARTIAL,
        "note": NOTE,
    }
    return environment


def _asset(name: str) -> Markup:
    """Read what is inlined; it is ours, so that it is not escaped."""
    return Markup((files(__package__) / "assets" / name).read_text(encoding="utf-8"))


def _thousands(number: int) -> str:
    """Group digits with thin spaces, as the papers' style guides ask for."""
    return f"{number:,}".replace(",", "\u202f")
