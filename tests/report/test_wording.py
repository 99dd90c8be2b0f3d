from dataclasses import replace

import pytest
from fitting.examples import with_records

from boostbench.records.verified import Finding
from boostbench.report.wording import FOLD_NOTE, caption, freshness_notes, table_notes


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([[]], "over the splits."),
        ([[1], [2]], "over 1 split."),
        ([[1], [2, 3]], "over 1 to 2 splits."),
        ([[1, 2]], "over 2 splits."),
    ],
)
def test_caption_counts_splits(make_cell, make_table, numbers, expected):
    cells = {("wine", name): make_cell(errors) for name, errors in zip("ab", numbers, strict=False)}
    assert f"mean (standard deviation) {expected}" in caption(make_table(cells))


def test_intervals_of_folds_are_explained(make_cell, make_table):
    cell = make_cell([9.0, 11.0] * 10, published=(10.0, 1.0), n=20)
    table = make_table({("wine", "a"): cell}, compare=())
    assert FOLD_NOTE not in table_notes(table)
    kfold = {"config__protocol__sampling": "kfold", "config__protocol__n_splits": 10}
    folds = make_table({("wine", "a"): with_records(cell, **kfold)}, compare=())
    assert FOLD_NOTE in table_notes(folds)


def test_freshness_notes_count_verified_results(make_cell):
    """The first finding confirms all records, and the second contradicts one."""
    facts = {"target": "t", "choices": "", "data": "wine", "commit": "b17bc98", "total": 1}
    keys = {"Haswell": ["0" * 16]}
    same = Finding(**facts, state="same", when="2026-11-27T10:00:00Z", same=keys)
    different = Finding(**facts, state="different", when="2026-11-28T10:00:00Z")
    cells = [replace(make_cell([1, 2]), finding=finding) for finding in (same, different, None)]
    assert freshness_notes(cells, cells) == [
        "1 of 3 results are verified by refits; last on 2026-11-28 (commit b17bc98)."
    ]
