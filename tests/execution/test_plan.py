import numpy as np
import pytest
from fitting.toy import experiment_from_config
from scipy import sparse

from boostbench.data.dataset import Dataset
from boostbench.execution.plan import tuning_tasks
from boostbench.fitting.measures.base import Measure
from boostbench.spec import measures
from boostbench.spec.data import DataSpec
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError


def make_experiment(X=None, **protocol):
    X = np.arange(48.0).reshape(24, 2) if X is None else X
    dataset = Dataset("toy", X, np.repeat([1, 2], X.shape[0] // 2), "made here")
    algo = {"_target_": "sklearn.linear_model.LogisticRegression", "C": 1.0}
    config = {
        "algo": {"name": "fake", **algo, "grid": {"C": [0.1, 1.0]}},
        "protocol": {"samples_per_class": 8, **protocol},
        "seed": 3,
    }
    return experiment_from_config(config, dataset)


def keys(experiment):
    trials = [task.key for task in tuning_tasks(experiment, experiment.splits[0])]
    return experiment.key(experiment.splits[0]), trials[:2]


def test_keys_do_not_change():
    """Check keys of existing records; they contain no defaults of scikit-learn."""
    expected = ("96f43a78e0ddf8c9", ["c6802ca7b796adb0", "a8194cd62803f979"])
    assert keys(make_experiment()) == expected
    assert keys(make_experiment(pca=None)) == expected


@pytest.mark.parametrize("changed", [{"pca": 0.9}, {"pca": 0.8}, {"scale": "unit"}])
def test_preparation_of_features_is_in_every_key(changed):
    plain, other = keys(make_experiment(pca=0.7)), keys(make_experiment(**changed))
    assert {plain[0], *plain[1]}.isdisjoint({other[0], *other[1]})


def test_trials_have_the_projection():
    experiment = make_experiment(pca=0.9)
    split = experiment.splits[0]
    assert experiment.trial(split, {}).protocol.pca == 0.9
    assert {task.trial.protocol.pca for task in tuning_tasks(experiment, split)} == {0.9}


def test_projected_sparse_features_suit_dense_algorithms():
    dataset = Dataset("toy", sparse.csr_matrix(np.eye(24)), np.repeat([1, 2], 12), "made here")
    algo = {"name": "multiboost", "_target_": "boostbench.algorithms.MultiBoost"}
    plain, projected = (
        experiment_from_config({"algo": algo, "protocol": {"pca": pca}}, dataset)
        for pca in (None, 0.9)
    )
    with pytest.raises(UserError, match="takes no sparse features"):
        plain.check()
    projected.check()


def test_projection_of_large_sparse_features_is_refused():
    few, many = sparse.csr_matrix((24, 10**7)), sparse.csr_matrix((24000, 10**7))
    make_experiment(few, pca=0.9).check()
    with pytest.raises(UserError, match="24000 x up to 18000 are too many"):
        make_experiment(many, pca=0.9, samples_per_class=None).check()
    make_experiment(many).check()


def test_measure_names_the_methods_that_an_estimator_needs():
    algo = {"name": "scaler", "_target_": "sklearn.preprocessing.MinMaxScaler"}
    dataset = Dataset("toy", np.eye(24), np.repeat([1, 2], 12), "made here")
    with pytest.raises(UserError, match=r"MinMaxScaler is no classifier: it has no predict$"):
        experiment_from_config({"algo": algo, "protocol": {}}, dataset)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("predicton", "unknown measure 'predicton'; did you mean prediction"),
        ("nosuch.module.Measure", "cannot find measure=nosuch.module.Measure: "),
        ("sklearn.svm.SVC", "measure=sklearn.svm.SVC is no boostbench"),
        ("os.getcwd", "cannot find measure=os.getcwd: os is a module of Python itself"),
        (5, "unknown measure 5; there are: boundary, codewords, feature_use"),
        (None, "unknown measure None; there are"),
        (["prediction"], "unknown measure"),
    ],
)
def test_unknown_measures_are_refused(name, message):
    with pytest.raises(UserError, match=message):
        measures.find(name)


def test_measures_are_found_by_their_files():
    assert {"prediction", "boundary", "feature_use", "paths"} <= set(measures.names())
    assert all(isinstance(measures.find(name), Measure) for name in measures.names())


@pytest.mark.parametrize("name", measures.names())
def test_every_measure_keeps_the_time_limit(name):
    assert measures.find(name).arrange(ProtocolSpec(time_limit=9)).time_limit == 9


def test_path_that_is_not_unicode_is_refused():
    """Check the path early, as its record could not be written."""
    spec = DataSpec("toy", path="\udcff.csv")
    dataset = Dataset("toy", np.eye(24), np.repeat([1, 2], 12), "made here", spec=spec)
    algo = {"name": "tree", "_target_": "sklearn.tree.DecisionTreeClassifier"}
    with pytest.raises(UserError, match=r"data.path is '\\udcff.csv', which is not Unicode"):
        experiment_from_config({"algo": algo, "protocol": {}}, dataset)


@pytest.mark.parametrize("name", ["tree.tuning", "../tree"])
def test_names_unfit_for_record_files_are_refused(name):
    dataset = Dataset("toy", np.eye(24), np.repeat([1, 2], 12), "made here")
    config = {"algo": {"_target_": "sklearn.tree.DecisionTreeClassifier", "name": name}}
    with pytest.raises(UserError, match=f"^'{name}' names a file of records; use letters"):
        experiment_from_config(config | {"protocol": {}}, dataset)
