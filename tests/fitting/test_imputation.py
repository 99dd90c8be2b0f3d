from dataclasses import replace

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from boostbench.data.loading import load
from boostbench.fitting.tuning import inner_splits
from boostbench.records.index import Records
from boostbench.records.store import read_records
from boostbench.util.errors import UserError
from fitting.toy import experiment_from_config, run, spec_from_config

TREE = {"name": "tree", "_target_": "sklearn.tree.DecisionTreeClassifier", "grid": {}}


@pytest.fixture
def holes(tmp_path):
    """Write a file with missing cells; return a function that loads it."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = y[:, None] + rng.normal(size=(60, 3))
    cells = np.where(rng.random(X.shape) < 0.2, "", X.round(3).astype(str))
    path = tmp_path / "holes.csv"
    lines = [",".join([*row, str(label)]) for row, label in zip(cells, y, strict=True)]
    path.write_text("a,b,c,class\n" + "\n".join(lines) + "\n")
    return lambda missing: load({"name": "holes", "path": str(path), "missing": missing})


def experiment(dataset, **protocol):
    config = {
        "algo": TREE | protocol.pop("algo", {}),
        "protocol": {"n_splits": 2, "checkpoints": [], **protocol},
    }
    return experiment_from_config(config, dataset)


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent"])
def test_imputation_equals_a_scikit_learn_pipeline(holes, tmp_path, strategy):
    dataset = holes(strategy)
    asked = experiment(dataset)
    [outcome] = run([asked], results=tmp_path / strategy).results
    for record, split in zip(outcome.records, asked.splits, strict=True):
        tree = DecisionTreeClassifier(random_state=split.seed)
        model = make_pipeline(SimpleImputer(strategy=strategy), MinMaxScaler((-1, 1)), tree)
        model.fit(dataset.X[split.train], dataset.class_indices[split.train])
        predicted = model.predict(dataset.X[split.test])
        error = np.mean(predicted != dataset.class_indices[split.test])
        assert record.test_error == pytest.approx(error)
        assert record.config.data.missing == strategy


def test_imputation_ignores_test_rows(holes):
    """Check that huge values in the test rows of a split or fold change no fitted model."""
    dataset = holes("mean")
    asked = experiment(dataset)
    [split, _] = asked.splits
    trial = asked.trial(split, {})
    other = dataset.X.copy()
    other[split.test] = 1e6
    for X in (dataset.X, other):
        fit = trial.fit(X, dataset.class_indices)
        assert not np.isnan(fit.X_train).any()
        assert not np.isnan(fit.X_test).any()
    before = trial.fit(dataset.X, dataset.class_indices).X_train
    np.testing.assert_array_equal(before, fit.X_train)


def test_tuning_imputes_by_the_rows_of_its_fold(holes, tmp_path):
    dataset = holes("mean")
    asked = experiment(dataset, n_folds=3, algo={"grid": {"max_depth": [1, 3, 5]}})
    report = run([asked], results=tmp_path)
    assert not report.failed
    X, y, outer = dataset.X, dataset.class_indices, asked.splits[0]
    inner = list(inner_splits(outer, y[outer.train], 3, ""))
    errors = []
    for record in read_records(asked.path(tmp_path, tuning=True))[0]:
        fold = inner[record.fold]
        for rows in (fold.train, outer.train):
            filled = SimpleImputer(strategy="mean").fit(X[rows]).transform(X)
            tree = DecisionTreeClassifier(random_state=fold.seed, **record.points[0])
            model = make_pipeline(MinMaxScaler((-1, 1)), tree).fit(
                filled[fold.train], y[fold.train]
            )
            errors.append(np.mean(model.predict(filled[fold.test]) != y[fold.test]))
        assert record.validation_error == pytest.approx(errors[-2])
    # Medians of the whole training part would give other errors.
    assert len(errors) == 18
    assert errors[::2] != errors[1::2]


def test_imputation_strategies_have_different_keys(holes, tmp_path):
    datasets = [holes(strategy) for strategy in ("mean", "median")]
    mean, median = map(experiment, datasets)
    assert mean.key(mean.splits[0]) != median.key(median.splits[0])
    run([mean, median], results=tmp_path)
    for strategy, dataset in zip(("mean", "median"), datasets, strict=True):
        settings = {"n_splits": 2, "checkpoints": []}
        config = {"algo": TREE, "protocol": settings, "data": dataset.spec}
        records = Records(tmp_path).find(spec_from_config(config)).records
        assert [record.config.data.missing for record in records] == [strategy] * 2


def test_complete_data_are_unchanged():
    dataset = load({"name": "wine", "sklearn": "load_wine", "missing": "median"})
    assert experiment(dataset).imputation is None
    assert experiment(dataset).config.data.missing is None


def test_infinite_values_are_not_missing(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, x=np.array([[1.0, np.inf], [np.nan, 1.0]]), y=np.array([0, 1]))
    with pytest.raises(UserError, match="1 NaN or infinite features, the first in row 1"):
        load({"name": "bad", "path": str(path), "missing": "median"})


def test_imputation_includes_additional_rows_of_a_measure(holes, tmp_path):
    """Use the spare rows of retrieval and the points of a boundary."""
    dataset = holes("mean")
    algo = {"name": "bits", "_target_": "fake_hashing.RandomBits", "grid": {}}
    settings = {"n_splits": 1, "checkpoints": [], "train_size": 20}
    config = {"algo": algo, "protocol": settings, "measure": "retrieval"}
    [outcome] = run([experiment_from_config(config, dataset)], results=tmp_path).results
    assert [record.n_database for record in outcome.records] == [45]
    plane = replace(dataset, X=dataset.X[:, :2])
    config = {"algo": TREE, "protocol": {"checkpoints": [1]}, "measure": "boundary"}
    [outcome] = run([experiment_from_config(config, plane)], results=tmp_path).results
    [record] = outcome.records
    assert np.isfinite([*record.points.x, *record.extent]).all()
