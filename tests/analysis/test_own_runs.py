from dataclasses import replace

from fitting.examples import flat, modify_record, recorded

from boostbench.analysis.frame import ResultFrame
from boostbench.analysis.runs import RecordedExperiment, table_of_runs


def run(make_cell, algo, splits):
    cell = make_cell([0.0] * len(splits), algo=algo, checksum="0" * 16)
    records = [
        recorded(modify_record(flat(record), split=split, config__algo={"_target_": algo}))
        for record, split in zip(cell.rows.records, splits, strict=True)
    ]
    return RecordedExperiment(replace(cell, rows=ResultFrame(records)), "", "")


def test_runs_without_a_common_split_are_left_out(make_cell):
    """Shards and damaged files give runs without a common split."""
    runs = [run(make_cell, "a", [0, 2]), run(make_cell, "b", [1, 3])]
    assert table_of_runs(runs, ["a", "b"]) is None
    table = table_of_runs([run(make_cell, "a", [0, 1]), runs[1]], ["a", "b"])
    assert [list(cell.values) for cell in table.cells.values()] == [[1], [1]]
