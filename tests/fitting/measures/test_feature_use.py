from functools import partial

import numpy as np
import pytest

from boostbench.data.dataset import Dataset
from boostbench.fitting.measures.fitted_model import MAX_FEATURES
from boostbench.records.store import read_records
from boostbench.util.errors import UserError
from fitting.toy import run

from ..toy import make_experiment

STUMPS = "boostbench.algorithms.AdaBoostMH"
experiment = partial(make_experiment, measure="feature_use", n_splits=3, checkpoints=[1, 20])


def test_record_counts_the_stumps_of_each_feature(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    # The labels depend on the second feature only, and the third one is constant.
    X = np.stack([rng.normal(size=80), y + rng.normal(size=80), np.zeros(80)], axis=1)
    asked = experiment(STUMPS, data=Dataset("one", X, y, "made here"), n_iterations=20)
    [outcome] = run([asked], results=tmp_path).results
    assert len(outcome.records) == 3
    for record in outcome.records:
        assert sum(record.counts) == record.n_iterations == 20
        assert record.counts[2] == 0
        assert record.counts[1] > 0
    path = tmp_path / "records" / "one" / "fake.features.jsonl"
    assert read_records(path) == (outcome.records, [])


def test_error_equals_the_same_split_of_a_table(tmp_path):
    names = ("feature_use", "prediction")
    asked = [experiment(STUMPS, measure=name, n_iterations=20) for name in names]
    [used], [whole] = (run([one], results=tmp_path).results for one in asked)
    errors = [[record.test_error for record in each.records] for each in (used, whole)]
    assert errors[0] == errors[1]


@pytest.mark.parametrize(
    "target", ["sklearn.tree.DecisionTreeClassifier", "boostbench.algorithms.ProjectedAdaBoostMH"]
)
def test_estimator_without_stumps_fails_with_a_reason(tmp_path, target):
    asked = experiment(target)
    [outcome] = run([asked], results=tmp_path).results
    assert {record.error for record in outcome.failures} == {
        f"ValueError: {target.rpartition('.')[2]} has no stumps on single features"
    }


def test_unsupported_settings_raise():
    with pytest.raises(UserError, match="no feature of the data is left"):
        experiment(STUMPS, pca=0.9)
    wide = Dataset("wide", np.zeros((4, MAX_FEATURES + 1)), np.arange(4) % 2, "made here")
    with pytest.raises(UserError, match=f"recorded up to {MAX_FEATURES}"):
        experiment(STUMPS, data=wide)
