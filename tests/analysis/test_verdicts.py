from dataclasses import replace

from fitting.examples import with_records
from scipy.stats import false_discovery_control

from boostbench.analysis.cells import unique_by_number
from boostbench.analysis.verdicts import VERDICTS, count_tables, count_verdicts
from boostbench.fitting.quantities import QUANTITIES
from boostbench.report.findings import verdict_summary
from tests.analysis.groups import find_group


def test_every_cell_is_counted_once(table):
    tally = count_tables([replace(table, paper="randomboost")]).total
    assert list(tally.numbers) == list(VERDICTS)
    assert sum(tally.numbers.values()) == len(table.cells)
    assert tally.shown == {"worse": 1, "undecided": 1, "failed": 1}
    assert tally["not published"] == 3
    assert (tally.published, tally.compared) == (3, 2)
    assert str(tally) == "3 published numbers: 1 worse, 1 undecided, 1 failed"


def test_counts_are_grouped_by_paper_table_and_algorithm(table, table_of_rounds):
    tallies = count_tables(
        [
            replace(table, name="one", paper="randomboost"),
            replace(table, name="two", paper="mcboost"),
            replace(table_of_rounds, name="three", paper="randomboost"),
        ]
    )
    assert [group.name for group in tallies.papers] == ["randomboost", "mcboost"]
    assert find_group(tallies.papers, "mcboost").tally.published == 3
    assert find_group(tallies.papers, "randomboost").tally.published == 3 + 8
    assert {group.name: group.tally.published for group in tallies.tables} == {
        "one": 3,
        "two": 3,
        "three": 8,
    }
    assert (
        sum(group.tally.published for group in tallies.algorithms) == tallies.total.published == 14
    )
    assert sum(group.tally["worse"] for group in tallies.algorithms) == tallies.total["worse"]


def test_table_without_a_paper_is_not_in_the_total(table):
    tallies = count_tables([table])
    assert tallies.table(table.name).tally.published == 3
    assert tallies.total.published == 0
    assert tallies.papers == tallies.algorithms == []
    assert str(tallies.total) == "0 published numbers"


def test_published_number_counts_once(make_cell, make_table):
    """Two columns of one number, as SAMME's, and one that another table of the paper has too."""
    first = {
        ("wine", "a"): make_cell([9, 9.1], published=(3.0, 0.1), source="t1:0"),
        ("wine", "b"): make_cell([3, 3.1, 3], published=(3.0, 0.1), source="t1:0"),
        ("iris", "a"): make_cell([], published=(4.0, 0.1), source="t1:1"),
        ("iris", "b"): make_cell([], published=(4.0, 0.1), source="t1:1"),
    }
    second = {
        ("wine", "a"): make_cell([3, 3.1, 3], published=(3.0, 0.1), source="t1:0"),
        ("wine", "b"): make_cell([5, 5.1, 5], published=(5.0, 0.1), source="t2:0"),
    }
    one, two = (make_table(cells, paper="mcboost") for cells in (first, second))
    tallies = count_tables([replace(one, name="one"), replace(two, name="two")])
    # The first cell counts.
    assert tallies.table("one").tally.shown == {"worse": 1, "not run": 1}
    assert tallies.table("two").tally.shown == {"reproduced": 2}
    assert tallies.total.shown == find_group(tallies.papers, "mcboost").tally.shown
    assert tallies.total.shown == {"reproduced": 1, "worse": 1, "not run": 1}
    assert (tallies.table("one").tally.repeated, tallies.total.repeated) == (2, 3)
    assert verdict_summary(one) == (
        "2 published numbers: 1 worse, 1 not run. "
        "2 more cells are beside a number that counts already."
    )


def test_first_finished_cell_of_a_number_counts(make_cell):
    missing, finished, later = (
        make_cell(values, published=(4.0, 0.1), source="t1:0")
        for values in ([], [4, 4.1], [9, 9.1])
    )
    other = make_cell([4, 4.1], published=(4.0, 0.1), source="t1:1")
    assert unique_by_number([missing, other, finished, later]) == [other, finished]
    assert unique_by_number([finished, missing, other]) == [finished, other]
    assert unique_by_number([missing, missing]) == [missing]


def test_numbers_of_two_quantities_count_separately(make_cell):
    cells = [
        make_cell([1, 2], published=(3.0, 1.0), source="t:0", quantity=QUANTITIES[name])
        for name in ("test_error", "accuracy", "test_error")
    ]
    assert unique_by_number(cells) == cells[:2]


def test_cells_without_a_published_number_all_count(make_cell):
    assert count_verdicts([make_cell([1]), make_cell([1])])["not published"] == 2


def test_verdicts_are_corrected_for_false_discoveries(make_cell, make_table):
    """Chance explains one small p-value in twenty, but not a tiny one."""
    alike = [make_cell([49, 50, 51], published=(50.0 + i / 20, 1.0)) for i in range(18)]
    near = make_cell([64.9, 65, 65.1], published=(50.0, 19.0))
    far = make_cell([70, 70.1, 70.2], published=(50.0, 1.0))
    assert near.verdict == far.verdict == "worse"
    adjusted = false_discovery_control([cell.agreement.p for cell in [*alike, near, far]])
    assert near.agreement.p < 0.05 < adjusted[-2]
    tally = count_verdicts([*alike, near, far])
    assert (tally["worse"], tally.corrected) == (2, {"reproduced": 18, "better": 0, "worse": 1})
    assert str(tally) == "20 published numbers: 18 reproduced, 2 (1) worse"
    # The correction for two tests changes no verdict.
    assert count_verdicts([near, far]).count_text("worse") == "2"
    table = make_table({(f"d{i}", "a"): cell for i, cell in enumerate([*alike, near, far])})
    assert "2 (1) worse. In brackets: the count after Benjamini" in verdict_summary(table)


def test_verdicts_by_rounding_are_not_corrected(make_cell):
    cell = make_cell([1.9], published=(1.0, float("nan")), n=1)
    cell = with_records(cell, n_test=0)
    assert (cell.verdict, cell.agreement.basis) == ("worse", "rounding")
    assert count_verdicts([cell]).corrected == {"reproduced": 0, "better": 0, "worse": 1}


def test_equivalence_is_corrected_for_the_number_of_tests(make_cell):
    """Chance explains one small p-value in twenty for numbers at the margin, too."""
    barely = make_cell([49.5, 51.5, 53.5], published=(46.0, 3.0))
    unclear = make_cell([30, 50, 70], published=(46.0, 3.0))
    assert barely.verdict == "reproduced"
    assert 0.025 < barely.agreement.p_within < 0.05
    tally = count_verdicts([barely, *[unclear] * 19])
    assert (tally["reproduced"], tally.corrected["reproduced"]) == (1, 0)
    assert str(tally) == "20 published numbers: 1 (0) reproduced, 19 undecided"


def test_shares_within_each_margin_and_interval_of_the_headline(make_cell):
    """Numbers of one data set depend on each other, so that data sets are drawn again."""
    spread = {"a": 50.0, "b": 54.0, "c": 58.0, "d": 70.0}
    cells = [
        make_cell([x - 0.1, x, x + 0.1] * 9, d, published=(50.0, 1.0)) for d, x in spread.items()
    ]
    tally = count_verdicts([*cells, *cells])
    assert tally.within == {0.1: 4, 0.2: 6, 0.3: 6}
    assert tally.interval == count_verdicts(cells).interval
    low, high = tally.interval
    # The ends are quantiles of the binomial distribution for 3 of 4 reproduced data sets.
    assert (low, high) == (0.25, 1.0)


def test_counts_with_and_without_the_variance_of_one_pool(make_cell, make_table):
    """A cell that only this luck keeps from being worse, and one that knows of no pool."""
    finished = make_cell([62.5, 63, 63.5, 63] * 10, published=(50.0, 15.0), n=50)
    target = replace(finished.target, pool_share=0.18)
    pooled = replace(finished, published=(target,))
    assert (pooled.agreement.basis, pooled.verdict) == ("pool", "undecided")
    assert (pooled.unpooled.agreement.basis, pooled.unpooled.verdict) == ("welch", "worse")
    tally = count_verdicts([pooled, finished])
    assert tally.shown == {"worse": 1, "undecided": 1}
    assert tally.without_pool.shown == {"worse": 2}
    assert [tally.count_text(v) for v in ("undecided", "better", "worse")] == [
        "1 / 0",
        "0",
        "1 / 2",
    ]
    assert str(tally) == "2 published numbers: 1 / 2 worse, 1 / 0 undecided"
    assert "Behind a slash: without the variance of one pool" in verdict_summary(
        make_table({("wine", "a"): pooled, ("iris", "a"): finished})
    )
    assert count_verdicts([finished]).without_pool is None


def test_tally_counts_decidable_numbers(make_cell):
    sharp, blunt = (50.0, 1.0), (3.0, 1.0)
    cells = [make_cell([mean - 1, mean, mean + 1], published=sharp) for mean in (50, 60)]
    cells += [make_cell([mean - 1, mean, mean + 1], published=blunt) for mean in (3, 13)]
    tally = count_verdicts(cells)
    assert tally.shown == {"reproduced": 1, "worse": 2, "undecided": 1}
    assert tally.decidable == {"reproduced": 1, "worse": 1}
