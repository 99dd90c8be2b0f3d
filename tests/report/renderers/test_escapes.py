"""Names and titles of a user's own table are text in every format."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from boostbench.figures.definition import Drawing, FigureDefinition, page_text
from boostbench.report.data_files import table_as_csv
from boostbench.report.document import make_document
from boostbench.report.renderers.latex import latex
from boostbench.report.renderers.markdown import escape, markdown

ODD = "a | b\n<script>x</script>\n# no heading"


@pytest.fixture
def odd(table):
    rows = {row: f"{title} {ODD}" for row, title in table.rows.items()}
    columns = {
        name: replace(one, title=f"{one.title} {ODD}", label=f"{one.label} {ODD}")
        for name, one in table.columns.items()
    }
    return replace(table, title=ODD, rows=rows, columns=columns, remarks=[ODD], changes=[ODD])


def test_markdown_keeps_its_columns_and_lines(table, odd):
    plain, text = markdown(make_document(table)), markdown(make_document(odd))
    assert "<script" not in text
    n_columns = [
        line.replace(r"\|", "").count("|") for line in text.splitlines() if line[:1] == "|"
    ]
    assert n_columns == [line.count("|") for line in plain.splitlines() if line[:1] == "|"]
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [f"# {escape(ODD)}", "## Beside the published numbers", "## CPU seconds"]


def test_figure_page_escapes_its_title(table):
    definition = FigureDefinition(name="name", title=ODD, caption=ODD)
    text = page_text(definition, Drawing(None, Path(), [ODD], [[ODD, "1"]], ["a", "b"]))
    assert "<script" not in text
    assert [line for line in text.splitlines() if line.startswith("#")] == [f"# {escape(ODD)}"]


@pytest.mark.parametrize(
    "text",
    [
        "*bold*, **bold** and _slanted_ or __this__ and snake_case_name",
        "`code` ~~gone~~ a~b~c",
        "[link](http://x) and ![picture](x.png) (plain)",
        "&lt;b&gt; &amp; R&D; &#35;",
        r"\*back\slash\\ \_ \& \a",
        "# heading",
        "- list",
        "+ list",
        "1. list",
        "2) list",
        "> quotation",
        "a | b",
        "<i>x</i>",
    ],
)
def test_markup_in_a_text_is_escaped(text):
    parser = MarkdownIt("gfm-like", {"linkify": False})
    (_, inline, _) = parser.parse(escape(text))
    shown = "".join(token.content for token in inline.children)
    assert {token.type for token in inline.children} <= {"text", "text_special"}
    # A bar is taken for itself in tables alone.
    assert shown == text


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x", "\t=x", "\r=x"])
def test_names_are_no_formulas_in_a_spreadsheet(make_cell, make_table, name):
    table = make_table({(name, name): make_cell([1, 2])}, compare=())
    (line,) = csv.DictReader(io.StringIO(table_as_csv(table), newline=""))
    assert line["data"] == line["column"] == f"'{name.strip()}"


def test_latex_labels_have_no_special_characters(table):
    text = latex(make_document(replace(table, name="my {x} 50%#")))
    assert r"\label{tab:my--x--50--}" in text
