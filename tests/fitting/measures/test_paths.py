import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from boostbench.algorithms import MCBoost
from boostbench.core.losses.objective import get_loss
from boostbench.core.losses.restricted_problems import PairwiseLoss
from boostbench.data.dataset import Dataset
from boostbench.fitting.measures.fitted_model import N_ROUNDS, N_STUMPS, STEP
from boostbench.records.store import read_records
from boostbench.util.errors import UserError
from fitting.toy import run

from ..toy import make_experiment


def digits():
    X, y = load_digits(return_X_y=True)
    rows = np.isin(y, [3, 6, 9])
    return Dataset("digits", X[rows], y[rows], "scikit-learn")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    results = tmp_path_factory.mktemp("results")
    dataset = digits()
    (outcome,) = run([experiment(dataset)], results=results).results
    assert not outcome.failures
    (record,) = outcome.records
    assert read_records(results / "records" / "digits" / "fake.path.jsonl") == ([record], [])
    return dataset, record


def experiment(dataset):
    about = {
        "n_iterations": 1,
        "samples_per_class": 20,
        "n_splits": 5,
        "checkpoints": [1],
        "seed": 1,
    }
    return make_experiment("boostbench.algorithms.MCBoost", data=dataset, measure="paths", **about)


def draw_paths(dataset):
    (split,) = experiment(dataset).splits
    return np.sort(np.concatenate([split.train, split.test]))


def test_all_samples_and_stumps_are_used(recorded):
    dataset, record = recorded
    assert record.n_train + record.n_test == 60
    assert np.unique(dataset.y[draw_paths(dataset)], return_counts=True)[1].tolist() == [20, 20, 20]
    assert len(record.stumps) == N_STUMPS
    assert record.norms[-1] == pytest.approx(N_ROUNDS * STEP)


def test_stumps_are_the_best_ones_of_their_feature(recorded):
    dataset, record = recorded
    rows = draw_paths(dataset)
    X, y = dataset.X[rows], dataset.y[rows]
    features = [stump.feature for stump in record.stumps]
    assert len(set(features)) == N_STUMPS
    for stump in record.stumps:
        best = MCBoost(1).fit(X[:, [stump.feature]], y).hypotheses_
        assert best.threshold[0] == stump.threshold


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_boosting_follows_the_exact_path(recorded, loss):
    dataset, record = recorded
    norms = np.array(record.norms)
    exact = np.array(record.paths[loss].exact)
    steps = np.array(record.paths[loss].stage_wise)
    assert exact.shape == steps.shape == (len(norms), 3, N_STUMPS)
    np.testing.assert_allclose(steps.sum(axis=(1, 2)), norms, atol=1e-3)
    assert (exact.sum(axis=(1, 2)) < norms + 1e-3).all()
    apart = np.abs(exact - steps).sum(axis=(1, 2)) / norms
    assert apart[-1] < 0.05
    # The exact path has smaller losses, evaluated with the recorded stumps.
    rows = draw_paths(dataset)
    X, is_label = dataset.X[rows], np.array([3, 6, 9])[:, None] == dataset.y[rows]
    above = np.array([X[:, s.feature] > s.threshold for s in record.stumps])
    values = []
    for signs in np.ndindex(*[2] * N_STUMPS):  # the record has no polarities
        H = np.where(above, 1.0, -1.0) * (1 - 2 * np.array(signs))[:, None]
        values.append(
            [PairwiseLoss(H, is_label, get_loss(loss)).move(W[-1])[0] for W in (exact, steps)]
        )
    of_exact, of_steps = min(values)
    assert of_exact <= of_steps + 1e-6


def test_too_few_stumps_raise(tmp_path):
    y = np.repeat([0, 1, 2], 30)
    few = Dataset("few", np.stack([y, y], axis=1).astype(float), y, "made here")
    (outcome,) = run([experiment(few)], results=tmp_path).results
    assert "only 1 different stumps, of 8" in outcome.failures[0].error


def test_sparse_features_raise():
    y = np.repeat([0, 1, 2], 30)
    with pytest.raises(UserError, match="need dense features"):
        experiment(Dataset("s", sparse.csr_matrix(np.eye(90)), y, "made here"))
