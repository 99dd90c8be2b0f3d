from dataclasses import replace

import pytest

from boostbench.report.wording import FOLD_NOTE, caption, notes


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([[]], "over the splits."),
        ([[1], [2]], "over 1 split."),
        ([[1], [2, 3]], "over 1 to 2 splits."),
        ([[1, 2]], "over 2 splits."),
    ],
)
def test_how_many_splits_there_are(make_cell, make_table, numbers, told):
    cells = {("wine", name): make_cell(own) for name, own in zip("ab", numbers, strict=False)}
    assert f"mean (standard deviation) {told}" in caption(make_table(cells))


def test_intervals_of_folds_are_explained(make_cell, make_table):
    cell = make_cell([9.0, 11.0] * 10, published=(10.0, 1.0), n=20)
    table = make_table({("wine", "a"): cell}, compare=())
    assert FOLD_NOTE not in notes(table)
    for record in cell.rows.records:
        record["config"]["protocol"] |= {"sampling": "kfold", "n_splits": 10}
    folds = make_table({("wine", "a"): replace(cell)}, compare=())
    assert FOLD_NOTE in notes(folds)
