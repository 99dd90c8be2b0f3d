"""Test the words and missing values of a user's file that algorithms receive."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier

from boostbench import MCBoost
from boostbench.data.loading import load
from boostbench.execution.verification import plan_refit
from boostbench.records.index import Records
from fitting.toy import experiment_from_config, run, spec_from_config


class RecordingClassifier(ClassifierMixin, BaseEstimator):
    """Classifier that stores its training data, with tags for the supported types."""

    def __init__(self, takes=()):
        self.takes = takes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        for name in self.takes:
            setattr(tags.input_tags, name, True)
        return tags

    def fit(self, X, y):
        self.X_, self.classes_ = X, np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    y = np.arange(120) % 2
    town = np.array(["Bern", "Chur", "Genf", "Olten"])[(rng.integers(0, 2, 120) + 2 * y) % 4]
    town = np.where(rng.random(120) < 0.3, rng.choice(["Bern", "Chur"], 120), town)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(120) < 0.2, np.nan, y + rng.normal(size=120)),
            "town": pd.Series(town).where(rng.random(120) > 0.1),
            "flag": rng.choice(["no", "yes"], 120),
            "noise": rng.normal(size=120),
            "class": y,
        }
    )


@pytest.fixture
def path(frame, tmp_path):
    frame.to_csv(tmp_path / "towns.csv", index=False)
    return tmp_path / "towns.csv"


def load_table(path, **settings):
    return load({"name": "towns", "path": str(path), "missing": None, **settings})


def experiment(
    dataset, algo=f"{__name__}.RecordingClassifier", measure="prediction", protocol=(), **params
):
    config = {
        "algo": {"_target_": algo, "name": "it", **params},
        "protocol": {"n_splits": 3, "checkpoints": [], **dict(protocol)},
        "measure": measure,
    }
    return experiment_from_config(config, dataset)


def fit_first_split(asked):
    """Return the fit of the first split, and the split."""
    split = asked.splits[0]
    return asked.trial(split, {}).fit(asked.dataset.X, asked.dataset.class_indices), split


def test_missing_values_and_categories_are_passed_on(path, frame):
    asked = experiment(load_table(path), takes=["allow_nan", "categorical"])
    fit, split = fit_first_split(asked)
    for part, rows in ((fit.X_train, split.train), (fit.X_test, split.test)):
        of_file = frame.iloc[rows].reset_index(drop=True)
        assert part.shape == (len(rows), 4)
        words = part[1].cat.rename_categories(["Bern", "Chur", "Genf", "Olten"])
        pd.testing.assert_series_equal(
            words.astype(object), of_file["town"].astype(object), check_names=False
        )
        np.testing.assert_array_equal(part[0].isna(), of_file["size"].isna())
        np.testing.assert_array_equal(part[2] > 0, of_file["flag"] == "yes")
    low, high = (getattr(frame["size"].iloc[split.train], name)() for name in ("min", "max"))
    scaled = 2 * (frame["size"].iloc[split.train] - low) / (high - low) - 1
    np.testing.assert_allclose(fit.X_train[0], scaled, atol=1e-12)
    assert asked.config.data.missing == "keep"
    assert asked.config.data.text_encoding == "categories"


def test_missing_values_alone_are_passed_on(path):
    asked = experiment(load_table(path), takes=["allow_nan"])
    [fit, _] = fit_first_split(asked)
    assert isinstance(fit.X_train, np.ndarray)
    assert fit.X_train.shape[1] == 7
    assert np.isnan(fit.X_train).any(axis=0).tolist() == [True] * 5 + [False] * 2
    assert asked.config.data.missing == "keep"
    assert asked.config.data.text_encoding is None


def test_other_algorithms_get_medians_and_numbers(path):
    asked, filled = (experiment(load_table(path, missing=choice)) for choice in (None, "median"))
    [fit, split] = fit_first_split(asked)
    assert not np.isnan(fit.X_train).any()
    assert not np.isnan(fit.X_test).any()
    assert asked.config.content == filled.config.content | {"data": asked.config.content["data"]}
    assert asked.key(split) == filled.key(split)


@pytest.mark.parametrize("choice", ["mean", "median", "most_frequent"])
def test_requested_imputation_applies_to_all_algorithms(path, choice):
    asked = experiment(load_table(path, missing=choice), takes=["allow_nan", "categorical"])
    [fit, _] = fit_first_split(asked)
    assert fit.X_train.shape[1] == 7
    assert not np.isnan(fit.X_train).any()
    assert asked.config.data.missing == choice


@pytest.mark.parametrize("protocol", [{"pca": 0.9}, {"scale": "unit"}])
def test_projection_and_unit_norm_need_numbers(path, protocol):
    asked = experiment(load_table(path), takes=["allow_nan", "categorical"], protocol=protocol)
    [fit, _] = fit_first_split(asked)
    assert not np.isnan(fit.X_train).any()
    assert asked.config.data.missing == "median"


def test_named_data_sets_are_numbers(path, monkeypatch):
    """Check that keys of named data sets do not change."""
    whole = path.read_text().splitlines()
    path.write_text("\n".join(line for line in whole if ",," not in line and line[0] != ","))
    monkeypatch.setenv("BOOSTBENCH_DATA", str(path.parent))
    named, local = load({"name": "towns"}), load_table(path)
    assert named.checksum == local.checksum
    assert named.categories == ()
    assert local.categories == ((1, ("Bern", "Chur", "Genf", "Olten")),)
    np.testing.assert_array_equal(local.one_hot_encoded().X, named.X)
    assert local.n_features == named.n_features == 7
    asked = experiment(named, takes=["allow_nan", "categorical"])
    assert asked.config.data.text_encoding is None
    assert fit_first_split(asked)[0].X_train.shape[1] == 7


def test_encoded_features_are_counted(path):
    asked = experiment(load_table(path), "boostbench.AdaBoostMH", "feature_use", n_iterations=5)
    [record] = [asked.trial(asked.splits[0], {})]
    taken = asked.measure.take(record, asked.dataset.X, asked.dataset.class_indices)
    assert len(taken.counts) == 7


@pytest.mark.parametrize(
    ("target", "model"),
    [
        (
            "sklearn.ensemble.HistGradientBoostingClassifier",
            HistGradientBoostingClassifier(max_iter=10, random_state=0),
        ),
        ("boostbench.MCBoost", MCBoost(n_iterations=10)),
    ],
)
def test_errors_equal_a_fit_on_the_frame(path, frame, tmp_path, target, model):
    """Record fits, find them without the data and fit them again from the records."""
    dataset = load_table(path)
    rounds = {"max_iter": 10} if "Hist" in target else {"n_iterations": 10}
    asked = experiment(dataset, target, protocol={"scale": "none"}, **rounds)
    [outcome] = run([asked], results=tmp_path / "results").results
    assert not outcome.failures
    X, y = frame.drop(columns="class"), frame["class"].to_numpy()
    X["town"], X["flag"] = X["town"].astype("category"), X["flag"] == "yes"
    for record, split in zip(outcome.records, asked.splits, strict=True):
        if "random_state" in model.get_params():
            model.set_params(random_state=split.seed)
        model.fit(X.iloc[split.train], y[split.train])
        error = np.mean(model.predict(X.iloc[split.test]) != y[split.test])
        assert record.test_error == pytest.approx(error)
        trial = plan_refit(record, dataset)
        assert (trial.imputation, trial.categories) == ("keep", ((1, 4),))
        assert trial.takes_categories
    config = {
        "algo": {"_target_": target, "name": "it", **rounds},
        "protocol": {"n_splits": 3, "checkpoints": [], "scale": "none"},
        "data": dataset.spec.to_config(),
    }
    assert len(Records(tmp_path / "results").find(spec_from_config(config)).records) == 3
    config["data"]["missing"] = "median"
    assert not Records(tmp_path / "results").find(spec_from_config(config)).records
