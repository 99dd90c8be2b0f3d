from dataclasses import replace

from boostbench.analysis.algorithm_pairs import Swaps, compare_rows, count_swaps
from boostbench.analysis.verdicts import count_tables
from boostbench.report.overview import swaps_sentence
from tests.analysis.groups import find_group


def test_each_number_is_compared_with_other_algorithms(make_cell, make_table):
    """Algorithms a and b are equal on wine, and c differs; b2 is another column of b's number."""
    near, far = (50.0, 1.0), (80.0, 1.0)
    wine = {
        "a": make_cell([49, 50, 51], algo="a", published=near, source="t:0"),
        "b": make_cell([49, 50, 51], algo="b", published=near, source="t:1"),
        "b2": make_cell([80, 80, 81], algo="b", published=near, source="t:1"),
        "c": make_cell([49, 50, 51], algo="c", published=far, source="t:2"),
    }
    glass = {
        "a": make_cell([49, 50, 51], algo="a", published=near, source="t:3"),
        **{name: make_cell([49, 50, 51], algo=name[0]) for name in ("b", "b2", "c")},
    }
    cells = {("wine", name): cell for name, cell in wine.items()}
    cells |= {("glass", name): cell for name, cell in glass.items()}
    table = make_table(cells, paper="mcboost")
    # Own numbers: a and b agree, c does not. Numbers of others: 1, 1 and 2 agree. glass has none.
    assert count_swaps(compare_rows(table)) == Swaps(
        own=2, own_alike=2, n_own=3, other=4, other_alike=4, n_other=6
    )
    tallies = count_tables([table, make_table(cells)])
    assert (
        tallies.swaps
        == find_group(tallies.papers, "mcboost").swaps
        == count_swaps(compare_rows(table))
    )
    assert tallies.table("name").swaps is None  # the last table of this name has no paper
    assert "67% of 3 numbers are reproduced, and 67% do not differ" in swaps_sentence(tallies.swaps)
    assert str(count_swaps(compare_rows(table))) == "67% / 67%"


def test_repeated_number_counts_once(make_cell, make_table):
    """A repeated number counts in the table that has other algorithms, as in the tally."""
    near, far = (50.0, 1.0), (80.0, 1.0)
    a = make_cell([49, 50, 51], algo="a", published=near, source="t:0")
    b = make_cell([49, 50, 51], algo="b", published=far, source="t:1")
    c = make_cell([49, 50, 51], algo="c", published=near, source="t:2")
    alone = {("wine", "a"): a}
    again = {(row, cell.algo): cell for row in ("wine", "generated") for cell in (a, b)}
    other = {("wine", "b"): b, ("wine", "c"): c}
    tables = [
        replace(make_table(cells, paper="mcboost"), name=name)
        for name, cells in (("alone", alone), ("again", again), ("other", other))
    ]
    tallies = count_tables(tables)
    assert tallies.table("alone").swaps == Swaps()
    # Own numbers: a agrees, b does not. Numbers of the other: b agrees, a does not.
    assert tallies.table("again").swaps == Swaps(1, 1, 2, 1, 1, 2)
    assert tallies.table("other").swaps == Swaps(1, 1, 2, 1, 1, 2)
    # The table "other" adds c, which agrees with its own number only; b is already counted.
    assert find_group(tallies.papers, "mcboost").swaps == tallies.swaps == Swaps(2, 2, 3, 1, 1, 3)
    assert tallies.swaps.n_own == tallies.total.compared == 3


def test_rounds_of_one_algorithm_are_not_swapped(table_of_rounds):
    result = count_swaps(compare_rows(table_of_rounds))
    n_cells = sum(cell.agreement is not None for cell in table_of_rounds.cells.values())
    # b on glass was not run for 100 rounds, so that a has nobody beside it there.
    assert (result.n_own, result.n_other) == (n_cells - 1, n_cells - 1)


def test_difference_within_the_margin_is_reproduced(make_cell, make_table):
    cells = {
        ("wine", "a"): make_cell([49, 50, 51] * 9, algo="a", published=(50.0, 1.0)),
        ("wine", "b"): make_cell([52, 53, 54] * 9, algo="b", published=(53.0, 1.0)),
    }
    assert count_swaps(compare_rows(make_table(cells))) == Swaps(2, 2, 2, 2, 0, 2)


def test_single_algorithm_has_no_swaps(make_cell, make_table):
    table = make_table({("wine", "a"): make_cell([1, 2], published=(1.0, 1.0))}, compare=[])
    assert str(count_swaps(compare_rows(table))) == "-"
    assert swaps_sentence(count_swaps(compare_rows(table))) == ""
