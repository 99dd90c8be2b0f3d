from boostbench.analysis.runs import RecordedExperiment, table_of_runs


def run(make_cell, algo, splits):
    cell = make_cell([0.0] * len(splits), algo=algo, checksum="0" * 16)
    for record, split in zip(cell.rows.records, splits, strict=True):
        record["split"] = split
        record["config"] |= {"algo": {"_target_": algo}, "seed": 0}
    return RecordedExperiment(cell, "", "")


def test_runs_without_a_common_split_are_left_out(make_cell):
    """Shards and damaged files give runs without a common split."""
    runs = [run(make_cell, "a", [0, 2]), run(make_cell, "b", [1, 3])]
    assert table_of_runs(runs, ["a", "b"]) is None
    table = table_of_runs([run(make_cell, "a", [0, 1]), runs[1]], ["a", "b"])
    assert [list(cell.values) for cell in table.cells.values()] == [[1], [1]]
