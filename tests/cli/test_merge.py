import json

RUN = [
    *("run", "data=wine", "algo._target_=sklearn.tree.DecisionTreeClassifier"),
    *("+algo.grid={max_depth: [1, 2]}", "protocol.tune=every_split", "protocol.n_splits=6"),
    *("protocol.n_folds=2", "parallel=serial"),
]


def reproducible_text(path):
    """Return the text of a record file without times and provenance."""
    lines = []
    for line in map(json.loads, path.read_text().splitlines()):
        for name in ("seconds", "started", "finished", "provenance"):
            line.pop(name, None)
        lines.append(json.dumps(line))
    return "\n".join(line for line in lines if line != "{}" and not line.startswith('{"hash"'))


def test_merged_shards_equal_one_run(call, done, folder):
    assert [call(*RUN, f"shard={i}/3").code for i in (1, 2, 3)] == [0, 0, 0]
    result = call("merge", *(f"results/shards/{i}-of-3" for i in (2, 3, 1)))
    assert (result.code, result.out) == (0, "results: 30 records added, 0 were there\n")
    assert call(*RUN, "results=one").code == 0
    names = sorted(path.name for path in (folder / "one/records/wine").glob("*.jsonl"))
    assert len(names) == 2
    for name in names:
        single, merged = (folder / top / "records/wine" / name for top in ("one", "results"))
        assert reproducible_text(single) == reproducible_text(merged)
    # All splits are on record, so that none runs again.
    again = done(*RUN)
    assert "DecisionTreeClassifier" in again.out
    assert "to run" not in again.err


def test_table_is_written_after_the_merge_of_its_shards(call, folder, define_table):
    table = define_table(rows=["wine"], columns=["adaboost_mh"], overrides=["protocol.n_splits=2"])
    quick = ["algo.n_iterations=2", "parallel=serial"]
    reports = [call("table", table, *quick, f"shard={i}/2").out for i in (1, 2)]
    assert all(
        text.startswith("shard ") and "'boostbench merge results'" in text for text in reports
    )
    assert not (folder / "results" / "tables").exists()
    assert call("merge", "results").out == "results: 2 records added, 0 were there\n"
    assert call("table", table, *quick, "rerun=never").code == 0
    # Shards are found in the folder of results that they were run in.
    assert call("merge", "results", "results=all").out == "all: 2 records added, 2 were there\n"
    (folder / "nothing" / "shards").mkdir(parents=True)
    assert "holds no records, nor do shards in it" in call("merge", "nothing").err


def test_conflicts_are_reported_with_exit_code_1(call, folder):
    quick = ["run", "data=wine", "algo=adaboost_mh", "protocol.n_splits=2", "parallel=serial"]
    for top in ("a", "b"):
        call(*quick, "algo.n_iterations=2", f"results={top}")
    path = folder / "b/records/wine/adaboost_mh.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[-1]["n_test_wrong"] += 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = call("merge", "a", "b", "results=all")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "split 1 of b/records/wine/adaboost_mh.jsonl has another test_error" in result.err


def test_paths_expand_the_tilde(done, folder, home):
    done(*RUN, 'results="~/a"')
    assert f"{home / 'b'}: 30 records added" in done("merge", "~/a", "results=~/b").out
    assert list(folder.iterdir()) == []


def test_wrong_arguments_are_refused(refused):
    assert "write shard=3/20" in refused("run", "algo=adaboost_mh", "data=wine", "shard=7")
    assert "shard= is for run and table" in refused("figure", "mcboost1", "shard=1/2")
    assert "holds no records" in refused("merge", "nowhere")
