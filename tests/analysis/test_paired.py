import numpy as np
import pytest
from fitting.examples import with_records

from boostbench.analysis.comparison import pair_columns
from boostbench.report.column_tests import summarize_tests


def test_pairs_are_means_of_data_sets(table):
    pairs = pair_columns(table, ["a", "b"])
    np.testing.assert_allclose(pairs.numbers, [[2.0, 4.1]])
    assert pairs.unit == "data sets"
    assert pairs.note == "2 data sets are left out, where a number is missing: glass, dna."


def test_requested_columns_must_have_numbers(table):
    pairs = pair_columns(table, ["a"])
    np.testing.assert_allclose(pairs.numbers, [[2.0], [25.0]])
    assert pairs.note == "1 data set is left out, where a number is missing: dna."


def test_single_data_set_gives_paired_splits(make_cell, make_table):
    # The splits that all columns have are paired, in their order.
    cells = {("wine", "a"): make_cell([1, 2, 3, 4]), ("wine", "b"): make_cell([2, 4, 6])}
    pairs = pair_columns(make_table(cells), ["b", "a"])
    np.testing.assert_allclose(pairs.numbers, [[2, 1], [4, 2], [6, 3]])
    assert (pairs.unit, pairs.note) == ("paired splits", None)


@pytest.mark.parametrize("rows", [["wine"], ["wine", "iris"]])
def test_pairs_without_numbers_are_empty(make_cell, make_table, rows):
    cells = {(row, column): make_cell([]) for row in rows for column in "ab"}
    pairs = pair_columns(make_table(cells), ["a", "b"])
    assert pairs.numbers.shape == (0, 2)
    assert pairs.left_out == rows


def test_uncounted_data_sets_are_not_paired(make_cell, make_table):
    cells = {(row, column): make_cell([1]) for row in ("vowel", "vowel528") for column in "ab"}
    assert len(pair_columns(make_table(cells, uncounted={"vowel528"}), ["a", "b"]).numbers) == 1


@pytest.mark.parametrize("n", [1, 2])
def test_repeated_data_set_counts_once(make_cell, make_table, n):
    """Rows with equal data and settings count once; other settings are other experiments."""
    cells = {
        (row, column): make_cell([errors, errors + 1], checksum=row[0])
        for column, errors in (("a", 1), ("b", 2))
        for row in ("wine", "wine2", "wine3", "iris")[: 2 + n]
    }
    table = make_table(cells)
    pairs = pair_columns(table, ["a", "b"])
    assert (len(pairs.numbers), pairs.repeated) == (n, ["wine2", "wine3"])
    assert pairs.note == "The data and settings of a row before, which count once: wine2, wine3."
    assert summarize_tests(table).endswith(pairs.note)
    cells["wine2", "b"] = with_records(cells["wine2", "b"], config__protocol__sampling="bootstrap")
    assert pair_columns(make_table(cells), ["a", "b"]).repeated == ["wine3"]
