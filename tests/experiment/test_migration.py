import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from boostbench.errors import UserError
from boostbench.experiment.protocol import Protocol
from boostbench.experiment.records import read
from boostbench.experiment.splits import splits
from boostbench.experiment.tuning import inner_splits

from .examples import RECORD
from .toy import make_dataset

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from migrate_records import History, Made, Rows, migrate  # noqa: E402

TARGET = "boostbench.algorithms.SAMME"
CODE = "000a50203c12e23f"
DATASET = make_dataset()
PROTOCOL = {
    "checkpoints": [1, 2],
    "n_folds": 3,
    "samples_per_class": None,
    "sampling": "stratified",
    "scale": "minmax",
    "test_size": 0.25,
    "tune": "first_split",
}
GRID = {"shrinkage": [1, 2]}


def digest(content):
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def make_config(**params):
    data = {
        "name": "toy",
        "checksum": DATASET.checksum,
        "n_samples": 120,
        "n_features": 3,
        "n_classes": 3,
    }
    algo = {"_target_": TARGET, "n_iterations": 7, **params}
    return {"algo": algo, "data": data, "grid": GRID, "protocol": PROTOCOL, "seed": 3}


def labels(config):
    return {
        "algo": "samme",
        "data": "toy",
        "seed": 3,
        "config_hash": digest(config),
        "fingerprint": CODE,
    }


def split_line(index, config=None, **changes):
    """Make a line as the first schema had it."""
    config = config or make_config()
    split = splits(DATASET, Protocol(n_splits=9), 3)[index]
    results = {name: value for name, value in RECORD.items() if name in RESULTS}
    return {
        **labels(config),
        **results,
        "config": config,
        "split": index,
        "key": digest([digest(config), index, split.checksum]),
        **changes,
    }


RESULTS = RECORD.keys() - {"config", "code", "commit", "rows", "split"}


def trial_line(fold, point, config=None):
    config = config or make_config()
    split = splits(DATASET, Protocol(n_splits=1), 3)[0]
    inner = list(inner_splits(split, DATASET.y[split.train], 3, "here"))[fold]
    parts = {name: config[name] for name in ("algo", "data")}
    name = "points" if isinstance(point, list) else "point"
    error = (
        {"validation_errors": [0.1] * len(point)} if name == "points" else {"validation_error": 0.1}
    )
    return {
        **labels(config),
        "split": 0,
        "fold": fold,
        name: point,
        "key": digest([parts, "minmax", point, inner.seed, inner.checksum]),
        "finished": "2026-11-21T11:32:26Z",
        "seconds": {"fit": 0.1},
        **error,
    }


class KnownRows(Rows):
    def dataset(self, facts):
        assert facts["checksum"] == DATASET.checksum
        return DATASET


class KnownHistory:
    def made(self, config, fingerprint):
        assert (config["algo"]["_target_"], fingerprint) == (TARGET, CODE)
        return Made("c0ffee0", {"n_iterations": 50, "shrinkage": 1.0, "max_bins": None})


@pytest.fixture
def results(tmp_path):
    """Give a function that writes the lines of two files, and migrates them."""
    folder = tmp_path / "records" / "toy"
    folder.mkdir(parents=True)
    paths = folder / "samme.jsonl", folder / "samme.tuning.jsonl"

    def migrated(lines, trials=()):
        for path, content in zip(paths, (lines, trials), strict=True):
            path.write_text("".join(json.dumps(line) + "\n" for line in content))
        migrate(paths, KnownHistory(), KnownRows())
        return paths

    return migrated


def test_all_that_was_recorded_is_there(results):
    lines = [split_line(0), split_line(2, test_error=0.2), split_line(1, error="no", where="x:1")]
    trials = [trial_line(2, {"shrinkage": 1}), trial_line(0, [{"shrinkage": 1}, {"shrinkage": 2}])]
    for path, before in zip(results(lines, trials), (lines, trials), strict=True):
        after, warnings = read(path)
        assert warnings == []
        assert [record["split"] for record in after] == [line["split"] for line in before]
        for record, line in zip(after, before, strict=True):
            assert {name: record[name] for name in line.keys() & RESULTS} == {
                name: line[name] for name in line.keys() & RESULTS
            }
            assert (record["code"], record["commit"]) == (CODE, "c0ffee0")
            assert record["environment"] == line.get("environment")
            # The grid decides the shrinkage.
            completed = {"_target_": TARGET, "n_iterations": 7, "max_bins": None}
            assert record["config"] == {
                **make_config(),
                "algo": completed,
                "protocol": {**PROTOCOL, "pca": None},
            }
    trial = read(path)[0][0]
    split = splits(DATASET, Protocol(n_splits=1), 3)[0]
    assert trial["rows"] == list(inner_splits(split, DATASET.y[split.train], 3, ""))[2].checksum


def test_lines_that_later_ones_supersede_are_kept(results):
    path, _ = results([split_line(0), split_line(0, test_error=0.2), split_line(1)])
    assert path.read_text().count('"schema":2') == 3
    assert [record["test_error"] for record in read(path)[0]] == [0.2, 1 / 30]


def test_a_second_time_nothing_happens(results):
    lines = [split_line(0)]
    path, _ = results(lines)
    before = path.read_bytes()
    migrate([path], KnownHistory(), KnownRows())
    assert path.read_bytes() == before


def test_configs_that_only_trials_name(results):
    """Those of before a parameter existed, which no split has on record."""
    older = make_config()
    newer = make_config(positive=True, tol=0.1)
    _, path = results([split_line(0, newer)], [trial_line(0, {"shrinkage": 1}, older)])
    assert read(path)[0][0]["config"]["algo"].keys() == {"_target_", "n_iterations", "max_bins"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (split_line(0, key="0123456789abcdef"), "the rows of record 0123.* are not as they were"),
        (split_line(0) | {"split": 1}, "are not as they were"),
        (split_line(0, config_hash="0"), "config of record .* is not what its hash says"),
        (trial_line(0, {"shrinkage": 1}, make_config(n_iterations=8)), "is nowhere on record"),
    ],
)
def test_what_is_not_exact_is_not_rewritten(results, tmp_path, line, message):
    with pytest.raises(UserError, match=message):
        results([split_line(0), line])
    assert "schema" not in (tmp_path / "records" / "toy" / "samme.jsonl").read_text()


def _git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)


@pytest.mark.skipif(
    _git("cat-file", "-e", "b17bc98").returncode != 0, reason="the history is not here"
)
def test_the_history_knows_who_made_a_line():
    history, config = History(ROOT), {"algo": {"_target_": TARGET}}
    made = history.made(config, CODE)
    assert made.commit == "b17bc98"
    assert made.defaults["n_iterations"] == 1000
    with pytest.raises(UserError, match="is not of this repository"):
        history.made({"algo": {"_target_": "lbfgsb.MultiBoost"}}, CODE)


def test_rows_are_those_of_recorded_facts():
    facts = {"name": "wine", "checksum": "0" * 16, "n_samples": 1, "n_classes": 3}
    with pytest.raises(UserError, match="data set 'wine' is not as it was"):
        Rows().dataset(facts)
