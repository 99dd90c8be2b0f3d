import re
from dataclasses import replace

import pytest

from boostbench.report.document import make_document
from boostbench.report.renderers.latex import escape, latex, latex_notes


def body(text, environment="tabular"):
    """Return the cells of each line of an environment, without rules."""
    inside = re.search(rf"\\begin{{{environment}}}.*?\n(.*?)\\end{{{environment}}}", text, re.S)[1]
    lines = [line for line in inside.splitlines() if line.endswith(r"\\") and "&" in line]
    return [[cell.strip() for cell in line.removesuffix(r"\\").split("&")] for line in lines]


@pytest.mark.parametrize("name", ["table", "table_of_rounds", "timed_table"])
@pytest.mark.parametrize("write", [latex, latex_notes])
def test_every_environment_is_closed_and_every_brace(request, name, write):
    shown = request.getfixturevalue(name)
    text = write(make_document(shown))
    begun, ended = (re.findall(rf"\\{word}{{(\w+)}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")


@pytest.mark.parametrize("name", ["table", "table_of_rounds", "timed_table"])
def test_every_line_has_as_many_cells_as_the_table_has_columns(request, name):
    table = request.getfixturevalue(name)
    document = make_document(table)
    text = latex(document)
    assert rf"\begin{{tabular}}{{l{'r' * len(document.heads)}}}" in text
    lines = [line for line in body(text) if "multicolumn" not in line[1]]
    assert {len(line) for line in lines} == {1 + len(document.heads)}


def test_the_table_stands_alone(table):
    text = latex(make_document(table))
    assert text.split("\n\n", 1)[1].startswith(r"\begin{table}")
    assert text.endswith("\\end{table}\n")
    assert "over a part of the splits" not in text
    assert "over a part of the splits" in latex_notes(make_document(table))


def test_layout(table):
    text = latex(make_document(table))
    assert body(text) == [
        ["Data set", "A", "B"],
        ["wine", r"\textbf{2.0 (1.0)}", r"4.1 (0.2)\textdagger{}"],
        ["glass", r"\textbf{25.0 (7.1)\textdaggerdbl{}}", "failed"],
        ["dna", "data not available", "data not available"],
    ]
    assert r"\caption{Title. Test error in percent" in text
    assert "over 2 to 3 splits" in text
    for rule in ("toprule", "midrule", "bottomrule"):
        assert rf"\{rule}" in text


def test_titles_are_no_arguments_of_the_line_before(table):
    odd = dict(zip(table.rows, ("[wine]", "*glass", "d[n]a"), strict=True))
    document = make_document(replace(table, rows=odd))
    assert [cells[0] for cells in body(latex(document))[1:]] == ["{}[wine]", "{}*glass", "d[n]a"]
    listed = body(latex_notes(document), "longtable")
    assert {cells[0] for cells in listed} >= {"{}[wine]", "{}*glass"}


def test_groups_span_their_columns(table_of_rounds):
    text = latex(make_document(table_of_rounds))
    assert r" & \multicolumn{2}{c}{A} & \multicolumn{2}{c}{B} \\" in text
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in text
    assert body(text)[1] == ["Data set", "Test 50", "Test 100", "Test 50", "Test 100"]


def test_published_numbers(table, timed_table):
    assert body(latex_notes(make_document(table)), "longtable")[2] == [
        *("wine", "B", "1.0 (0.2)", r"4.1 (0.2)\textdagger{}"),
        *(r"+3.1 $\pm$ 0.3", "0.5", "worse"),
    ]
    assert r"80\% power" in latex_notes(make_document(table))
    assert "wine & A & 13.7 & 2.00" in latex_notes(make_document(timed_table))


def test_changes_are_told(table, make_table):
    text = latex_notes(make_document(make_table(table.cells, changes=["algo.n_iterations=5"])))
    assert r"\textbf{Not as the table is defined: algo.n\_iterations=5.}" in text


def test_escape():
    assert escape("-1.0 ± 2.0") == r"$-$1.0 $\pm$ 2.0"
    assert escape("-") == "-"
    assert escape("λ = 10, η ≤ ω") == r"$\lambda$ = 10, $\eta$ $\le$ $\omega$"
    assert escape("RBoost^rank (TC)") == r"RBoost\textsuperscript{rank} (TC)"
    assert escape(r"95% of $a_b & {c} # ~ ^ \x") == (
        r"95\% of \$a\_b \& \{c\} \# \textasciitilde{} \textasciicircum{} \textbackslash{}x"
    )
