import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from boostbench.records.index import Records
from boostbench.report.assemble import read_tables
from boostbench.report.document import make_document, make_rank_row
from boostbench.report.renderers.latex import escape, latex, latex_notes
from boostbench.report.renderers.latex_layout import (
    COLUMN_WIDTH,
    PAGE_WIDTHS,
    Abbreviation,
    Cell,
    Grid,
    Heading,
    Row,
    abbreviate,
    choose_layouts,
    paginate,
    text_width,
)
from boostbench.util import configs

ROOT = Path(__file__).parents[3]
FIXTURES = ["table", "table_of_rounds", "timed_table"]


def cells(text, number=0):
    """Return the cells of each row of a tabular environment, without rules."""
    inside = re.findall(r"\\begin{tabular}.*?\n(.*?)\\end{tabular}", text, re.S)[number]
    lines = [line for line in inside.splitlines() if line.endswith(r"\\") and "&" in line]
    return [[cell.strip() for cell in line.removesuffix(r"\\").split("&")] for line in lines]


@pytest.mark.parametrize("name", FIXTURES)
@pytest.mark.parametrize("write", [latex, latex_notes])
def test_environments_and_braces_are_closed(request, name, write):
    text = write(make_document(request.getfixturevalue(name)))
    begun, ended = (re.findall(rf"\\{word}{{(\w+\*?)}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")


@pytest.mark.parametrize("name", FIXTURES)
def test_rows_have_as_many_cells_as_alignments(request, name):
    text = latex(make_document(request.getfixturevalue(name)), "normal")
    (alignments,) = re.findall(r"\\begin{tabular}{(\w+)}", text)
    rows = [row for row in cells(text) if "multicolumn" not in row[1]]
    assert {len(row) for row in rows} == {len(alignments)}


def test_table_layout(table):
    text = latex(make_document(table))
    assert text.split("\n\n", 1)[1].startswith(r"\begin{table}")
    assert text.endswith("\\end{table}\n")
    assert cells(text) == [
        ["Data set", "A", "B"],
        ["wine", r"\textbf{2.0} (1.0)", r"4.1 (0.2)\textdagger{}"],
        ["glass", r"\textbf{25.0} (7.1)\textdaggerdbl{}", "--"],
        ["dna", "--", "--"],
    ]
    assert r"\caption{Title. Test error in percent" in text
    assert "over 2 to 3 splits" in text
    assert {r"\toprule", r"\midrule", r"\bottomrule"} <= set(text.split())


def test_table_note_explains_marks_and_missing_numbers(table):
    text = latex(make_document(table))
    assert "-- failed or data not available." in text
    assert r"\textdagger{} of an older edition" in text
    assert r"\textdaggerdbl{} over a part of the splits." in text


def test_orientation_follows_the_shape(table, table_of_rounds):
    wide = make_document(table_of_rounds)
    assert len(wide.heads) > len(wide.rows)
    assert latex(wide) == latex(wide, "transposed") != latex(wide, "normal")
    high = make_document(table)
    assert latex(high) == latex(high, "normal")
    assert cells(latex(high, "transposed"))[:2] == [
        ["Algorithm", "wine", "glass", "dna"],
        ["A", r"\textbf{2.0} (1.0)", r"\textbf{25.0} (7.1)\textdaggerdbl{}", "--"],
    ]


def test_groups_span_their_columns(table_of_rounds):
    text = latex(make_document(table_of_rounds), "normal")
    assert r" & \multicolumn{2}{c}{A} & \multicolumn{2}{c}{B} \\" in text
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in text
    headings = [
        re.sub(r"\\shortstack\[r\]{(\w+) \\\\ (\w+)}", r"\1 \2", cell) for cell in cells(text)[1]
    ]
    assert headings == ["Data set", "Test 50", "Test 100", "Test 50", "Test 100"]


def test_groups_name_the_first_of_their_transposed_rows(table_of_rounds):
    rows = cells(latex(make_document(table_of_rounds), "transposed"))
    assert [row[:2] for row in rows[1:]] == [
        ["A", "Test 50"],
        ["", "Test 100"],
        ["B", "Test 50"],
        ["", "Test 100"],
    ]


def test_titles_are_no_arguments_of_the_line_before(table):
    odd = dict(zip(table.rows, ("[wine]", "*glass", "d[n]a"), strict=True))
    document = make_document(replace(table, rows=odd))
    assert [row[0] for row in cells(latex(document))[1:]] == ["{}[wine]", "{}*glass", "d[n]a"]
    assert {row[0] for row in cells(latex_notes(document))} >= {"{}[wine]", "{}*glass"}


def test_ranks_mark_algorithms_that_differ_from_the_best(make_cell, make_table):
    errors = {"a": 10, "b": 20, "c": 10.5}
    numbers = {
        (f"data{number}", name): make_cell([error + number / 10])
        for number in range(12)
        for name, error in errors.items()
    }
    table = make_table(numbers)
    ranks = make_rank_row(table)
    assert [entry.printed for entry in ranks.entries] == ["1.0", "3.0*", "2.0*"]
    assert [entry.best for entry in ranks.entries] == [True, False, False]
    assert cells(latex(make_document(table)))[-1] == [
        "Average rank",
        r"\textbf{1.0}",
        "3.0*",
        "2.0*",
    ]


def test_ranks_need_two_data_sets_with_all_numbers(table):
    assert make_rank_row(table) is None


def test_notes_are_one_paragraph_without_verification(table):
    text = latex_notes(make_document(table))
    before = text.split("\n\n", 1)[1].split(r"\begin{table")[0]
    assert before.count(r"\par") <= 1
    assert "over a part of the splits" in before
    assert "by refits" not in text
    assert "reference job" not in text


def test_published_numbers_are_listed(table, timed_table):
    text = latex_notes(make_document(table))
    assert cells(text)[2] == [
        *("wine", "B", "1.0 (0.2)", r"4.1 (0.2)\textdagger{}"),
        *(r"+3.1 $\pm$ 0.3", "0.5", "worse"),
    ]
    assert r"80\% power" in text
    assert "wine & A & 13.7 & 2.00" in latex_notes(make_document(timed_table))


@pytest.mark.parametrize("write", [latex, latex_notes])
def test_changes_are_stated(table, make_table, write):
    text = write(make_document(make_table(table.cells, changes=["algo.n_iterations=5"])))
    assert r"Not as the table is defined: algo.n\_iterations=5." in text


def test_escape_covers_special_characters():
    assert escape("-1.0 ± 2.0") == r"$-$1.0 $\pm$ 2.0"
    assert escape("-") == "-"
    assert escape("λ = 10, η ≤ ω") == r"$\lambda$ = 10, $\eta$ $\le$ $\omega$"
    assert escape("RBoost^rank (TC)") == r"RBoost\textsuperscript{rank} (TC)"
    assert escape(r"95% of $a_b & {c} # ~ ^ \x") == (
        r"95\% of \$a\_b \& \{c\} \# \textasciitilde{} \textasciicircum{} \textbackslash{}x"
    )


@pytest.fixture(scope="module")
def documents():
    """Return the documents of all tables of the project, from the records."""
    names = configs.list_options("table")
    return [make_document(table) for table in read_tables(names, Records(ROOT / "results"))]


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
@pytest.mark.parametrize("orientation", ["auto", "normal", "transposed"])
@pytest.mark.parametrize("options", ["10pt", "11pt", "12pt", "10pt,twocolumn", "12pt,twocolumn"])
def test_tables_fit_the_page(documents, options, orientation, tmp_path):
    lines = [rf"\documentclass[{options}]{{article}}", r"\usepackage{booktabs}", r"\hfuzz=1pt"]
    lines.append(r"\begin{document}")
    for document in documents:
        texts = [latex(document, orientation)]
        texts += [latex_notes(document)] if orientation == "auto" else []
        for text in texts:
            lines += [rf"\typeout{{table {document.name}}}", text, r"\clearpage"]
    lines.append(r"\end{document}")
    (tmp_path / "all.tex").write_text("\n".join(lines))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:]
    log = (tmp_path / "all.log").read_text(errors="replace")
    assert log.count("\ntable ") >= len(documents)
    faults = re.findall(r"^(?:table .*|Overfull .*|LaTeX Warning: Float too large.*)$", log, re.M)
    assert not [fault for fault in faults if not fault.startswith("table ")], faults


def make_grid(n_rows=5, n_columns=3, title="AdaBoost.ECC", cell="12.3 (4.5)"):
    rows = [Row([f"data {index}"], [Cell.from_string(cell)] * n_columns) for index in range(n_rows)]
    heads = [Heading("", f"{title} {index}") for index in range(n_columns)]
    return Grid(["Data set"], heads, rows)


def test_narrow_table_keeps_full_headings():
    (layout,) = choose_layouts(make_grid(n_columns=2))
    assert layout.style.size == "small"
    assert not layout.legend
    assert layout.width < COLUMN_WIDTH


@pytest.mark.parametrize("n_columns", [1, 3, 6, 8, 10, 14, 30])
def test_every_part_fits_the_page(n_columns):
    layouts = choose_layouts(make_grid(n_columns=n_columns))
    assert all(layout.width <= PAGE_WIDTHS[layout.style.size] for layout in layouts)
    heads = [head for layout in layouts for head in layout.grid.cell_heads]
    assert heads == make_grid(n_columns=n_columns).cell_heads


def test_dense_table_has_a_key_and_stacked_deviations():
    (layout,) = choose_layouts(make_grid(n_columns=8))
    assert layout.style.stacks_deviations
    assert Abbreviation("AB.ECC0", "AdaBoost.ECC 0") in layout.legend


def test_abbreviations_are_unique():
    titles = ["MultiBoost, at its minimum", "MiniBoost, minimum", "MegaBoost, maximum"]
    rows = [Row(["data"], [Cell.from_string("1.2 (0.1)")] * 6)]
    grid = Grid(["Data set"], [Heading("", title) for title in titles * 2], rows)
    (layout,) = choose_layouts(grid)
    assert sorted(title for _, title in layout.legend) == sorted(titles)
    assert len({short for short, _ in layout.legend}) == 3


@pytest.mark.parametrize(
    ("title", "short"),
    [("GradBoost", "GB"), ("RBoost^proj", "RB^p"), ("PCA + MCBoost", "PCA+MCB"), ("LADDER", "LA")],
)
def test_abbreviate(title, short):
    assert abbreviate(title) == short


def test_titles_in_other_scripts_are_not_abbreviated():
    rows = [Row(["data"], [Cell.from_string("1.2 (0.1)")] * 12)]
    grid = Grid(["Data set"], [Heading("", "提升算法的一个很长的名字")] * 12, rows)
    assert not any(layout.legend for layout in choose_layouts(grid))


def test_raised_and_bold_widths():
    assert text_width("a^bc") < text_width("abc")
    assert text_width("12.3", bold=True) > text_width("12.3")


def test_transposing_swaps_rows_and_columns():
    grid = make_grid(n_rows=2, n_columns=3)
    turned = grid.transposed()
    assert [head.title for head in turned.cell_heads] == ["data 0", "data 1"]
    assert [row.labels for row in turned.rows] == [[head.title] for head in grid.cell_heads]


def test_pages_hold_all_rows_once():
    grid = make_grid(n_rows=200)
    pages = paginate(choose_layouts(grid), caption="word " * 100, note="word " * 40)
    assert len(pages) > 4
    assert [row for page in pages for part in page for row in part.grid.rows] == grid.rows


def test_part_that_fits_one_page_is_not_divided():
    layouts = choose_layouts(make_grid(n_rows=20, n_columns=30))
    pages = paginate(layouts, caption="", note="")
    assert len(layouts) > 2
    assert [part for page in pages for part in page] == layouts
