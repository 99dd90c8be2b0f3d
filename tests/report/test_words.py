import pytest

from boostbench.report.words import caption


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
