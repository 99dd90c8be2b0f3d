"""Test transformers, binary classifiers and measures of a user."""

import csv

import numpy as np
import pytest
from fitting.examples import FAKES

from boostbench.records.store import read_records

MEASURE = """
from boostbench.fitting.measures.base import Measure


class Spread(Measure):
    '''Number of bits of a code that differ between samples.'''

    suffix = "spread"
    settings = {"spread": "bits"}
    needs = ("transform",)
    kind = "transformer"

    def take(self, trial, X, y):
        fit = trial.fit(X, y)
        bits = fit.estimator.transform(fit.X_test) > 0
        return {"test_error": float((bits.std(axis=0) == 0).mean()), "seconds": fit.times()}
"""


@pytest.fixture
def user_modules(folder, monkeypatch):
    (folder / "spreading.py").write_text(MEASURE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.syspath_prepend(FAKES)


FEW = ["protocol.n_splits=3", "parallel=serial"]
BITS = {
    f"bits{n}": {"_target_": "fake_hashing.RandomBits", "overrides": f"+algo.n_bits={n}"}
    for n in (1, 16)
}


def read_cells(folder, name="mine"):
    [path] = (folder / "results" / "tables").glob(f"{name}*.csv")
    return list(csv.DictReader(path.read_text().splitlines()))


def test_retrieval_table_shows_the_mean_precision(call, folder, user_modules, define_table):
    name = define_table(
        rows=["iris", "wine"],
        columns=[{column: content} for column, content in BITS.items()],
        overrides=["measure=retrieval"],
        seconds="hash_per_instance",
    )
    result = call("table", name, *FEW)
    assert result.code == 0, result.err
    assert "failed" not in result.err
    for data in ("iris", "wine"):
        records, _ = read_records(
            folder / "results" / "records" / data / "RandomBits.retrieval.jsonl"
        )
        values = [r.mean_average_precision for r in records if r.n_bits == 16]
        [cell] = [c for c in read_cells(folder) if (c["data"], c["column"]) == (data, "bits16")]
        assert len(values) == int(cell["n_splits"]) == 3
        assert f"{np.mean(values):.3f}" in result.out
        assert 0.4 < np.mean(values) < 1
    assert "Mean average precision: mean (standard deviation) over 3 splits." in result.out
    assert "CPU time: microseconds to hash an instance." in " ".join(result.out.split())
    again = call("table", name, *FEW)
    assert again.out == result.out


def test_transformer_requires_a_retrieval_measure(call, user_modules):
    argv = ["algo._target_=fake_hashing.RandomBits", "data=iris", "measure=retrieval", *FEW]
    result = call("run", *argv)
    assert result.code == 0, result.err
    assert "precision" in result.out.lower()
    refused = call("run", *argv[:2], *FEW)
    assert refused.code == 2
    assert "fake_hashing.RandomBits is no classifier: it has no predict" in refused.err


def test_binary_classifier_stands_in_a_table(call, folder, user_modules, define_table):
    name = define_table(
        rows=[{"two": {"data": "iris", "overrides": ["++data.classes=2"]}}],
        columns=[
            {"sides": {"_target_": "fake_classifiers.BinaryWithoutProbabilities"}},
            {"adaboost_mh": ["algo.n_iterations=5"]},
        ],
    )
    result = call("table", name, *FEW)
    assert result.code == 0, result.err
    # The first two species are far apart.
    assert [cell["test_error_mean"] for cell in read_cells(folder)] == ["0", "0"]


def test_measure_of_a_user_module_is_recorded(call, folder, user_modules):
    argv = ["algo._target_=fake_hashing.RandomBits", "data=iris", "measure=spreading.Spread", *FEW]
    result = call("run", *argv)
    assert result.code == 0, result.err
    records, _ = read_records(folder / "results" / "records" / "iris" / "RandomBits.spread.jsonl")
    assert len(records) == 3
    assert "unknown measure 'retreival'; did you mean retrieval" in (
        call("run", *argv[:2], "measure=retreival", *FEW).err
    )
