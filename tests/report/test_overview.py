from dataclasses import replace

import pytest
from fitting.examples import with_records

from boostbench.analysis.frame import ResultFrame
from boostbench.analysis.verdicts import count_tables, count_verdicts
from boostbench.report import overview
from boostbench.report.overview import make_readme


@pytest.fixture
def tables(table, table_of_rounds, timed_table):
    """Tables of three papers and of a user, not in the order of the papers."""
    return [
        replace(table_of_rounds, name="mine", title="Mine"),
        replace(table, name="mcboost1", title="MCBoost, Table I: x^y", paper="mcboost"),
        replace(
            timed_table,
            name="randomboost3",
            title="RandomBoost, Table III: times",
            paper="randomboost",
        ),
        replace(table, name="thesis1", title="Table 1", paper="thesis"),
    ]


def test_tables_of_a_paper_stand_together(tables):
    shuffled = [tables[1], tables[0], tables[3], tables[2], replace(tables[1], name="mcboost2")]
    assert [table.name for table in overview.sort_by_paper(shuffled)] == [
        "randomboost3",
        "mcboost1",
        "mcboost2",
        "thesis1",
        "mine",
    ]


def test_short_title_omits_the_paper(tables):
    assert [overview.short_title(table) for table in tables] == [
        "Mine",
        "Table I: x^y",
        "Table III: times",
        "Table 1",
    ]


def test_tables_follow_their_paper(tables):
    tables = overview.sort_by_paper(tables)
    lines = overview.table_lines(count_tables(tables), tables)
    assert [(line.name, line.title, line.subtitle, line.is_paper) for line in lines] == [
        ("randomboost", "RandomBoost", "", True),
        ("randomboost3", "Table III", "times", False),
        ("mcboost", "MCBoost", "", True),
        ("mcboost1", "Table I", "x^y", False),
        ("thesis", "thesis", "", True),
        ("thesis1", "Table 1", "", False),
    ]
    assert [line.tally.published for line in lines] == [2, 2, 3, 3, 3, 3]


def test_algorithms_are_sorted_by_published_numbers(tables):
    lines = overview.algorithm_lines(count_tables(tables))
    assert [(line.title, line.tally.published) for line in lines] == [("b", 5), ("a", 3)]


def test_absent_verdicts_have_no_column(tables):
    assert count_tables(tables).total.verdicts == ["worse", "undecided", "failed"]


def test_headline_without_results(table):
    cells = {
        key: replace(cell, finished_splits=ResultFrame(), failed_splits=ResultFrame())
        for key, cell in table.cells.items()
    }
    total = count_tables([replace(table, cells=cells, paper="mcboost")]).total
    assert overview.counts_paragraph(total) == (
        "The tables hold 3 published numbers. For none of them there is a number of ours yet."
    )


def test_sharpness_states_the_detectable_difference(make_cell):
    cells = [
        make_cell([1, 2, 3], published=(3.0, 1.0)),
        make_cell([49, 50, 51], published=(50.0, 1.0)),
        make_cell([49, 50, 51], published=(50.0, 1.0)),
        make_cell([0], published=(0.0, float("nan")), n=1),
    ]
    cells[3] = with_records(cells[3], n_test=0)
    small, detectable = (cell.agreement.detectable for cell in cells[:2])
    assert small == pytest.approx(detectable)
    assert overview.detectable_sentences(count_verdicts(cells)) == (
        f"In half of the cells a difference of {detectable:.1f} percentage points, or "
        f"{detectable / 50:.0%} of the published error, would have been detected with a "
        "probability of 80%. 1 of the undecided numbers could not be shown to lie within 20% by "
        "any number of splits of ours: the paper has too few splits, or drew them from one pool of "
        "samples."
    )
    assert overview.detectable_sentences(count_verdicts(cells[3:])) == ""


def test_headline_counts_corrected_verdicts(make_cell):
    alike = [make_cell([49, 50, 51], published=(50.0, 1.0))] * 19
    total = count_verdicts([*alike, make_cell([64.9, 65, 65.1], "iris", published=(50.0, 19.0))])
    assert overview.counts_paragraph(total) == (
        "The tables hold 20 published numbers. For 20 of them there is a number of ours. 19 are "
        "reproduced (95%; 95% interval over data sets 0% to 100%), 0 are better, 1 is worse and 0 "
        "are undecided. 95%, 95% and 95% of the numbers are shown to lie within 10%, 20% and 30% "
        "of the published error. 19 can be decided: a difference of 20% of the published error "
        "would have been detected: 19 are reproduced (100%), 0 are better, 0 are worse and 0 are "
        "undecided. Corrected for the number of tests, 19 are reproduced, 0 are better, 0 are "
        "worse."
    )


def test_headline_counts_decidable_numbers(make_cell):
    cells = [make_cell([49, 50, 51], published=(50.0, 1.0))]
    cells += [make_cell(errors, published=(3.0, 1.0)) for errors in ([2, 3, 4], [12, 13, 14], [])]
    headline = overview.counts_paragraph(count_verdicts(cells))
    assert headline.startswith(
        "The tables hold 4 published numbers. For 3 of them there is a number of ours. 1 is "
        "reproduced (33%), 0 are better, 1 is worse and 1 is undecided. 33%, 33% and 33% of the "
        "numbers are shown to lie within 10%, 20% and 30% of the published error. 1 can be "
        "decided: a difference of 20% of the published error would have been detected: 1 is "
        "reproduced (100%), 0 are better, 0 are worse and 0 are undecided."
    )


def test_readme_lists_papers_and_tables(tables):
    text = make_readme(tables, "figures/overview.svg", ["mcboost1"])
    assert text.startswith("# Results\n\nWritten by `boostbench report`")
    assert text.endswith(".\n")
    sentences = overview.counts_sentences(count_tables(tables).total)
    assert " ".join(sentences) == overview.counts_paragraph(count_tables(tables).total)
    assert "".join(f"- {sentence}\n" for sentence in sentences) in text
    assert (
        text.index("- *worse*: ours is worse") < text.index(sentences[0]) < text.index("](figures/")
    )
    assert "](figures/overview.svg)" in text
    rows = [
        [c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]
    pairs = [overview.SWAPS_HEAD, overview.EFFECTS_HEAD]
    assert rows[0] == ["table", "published", "worse", "undecided", "failed", *pairs]
    assert ["**RandomBoost**", "**2**", "**0**", "**2**", "**0**", "**0% / 0%**", "**-**"] in rows
    assert ["[Table I](tables/mcboost1.md): x^y", "3", "1", "1", "1", "0% / 0%", "-"] in rows
    assert ["Table III: times", "2", "0", "2", "0", "0% / 0%", "-"] in rows
    assert "Mine" not in text
