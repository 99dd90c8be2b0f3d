from functools import partial

import numpy as np

from fitting.toy import run

from ..toy import make_dataset, make_experiment

experiment = partial(make_experiment, measure="support", n_splits=2, n_iterations=20)


def test_record_counts_nonzero_coefficients(tmp_path):
    dataset = make_dataset()
    target = "boostbench.algorithms.RBoostProj"
    asked = experiment(target, data=dataset, rule="paper", nu=1e-3, tol=0)
    [outcome] = run([asked], results=tmp_path).results
    assert len(outcome.records) == 2
    for record, split in zip(outcome.records, asked.splits, strict=True):
        model = asked.trial(split, {}).fit(dataset.X, dataset.y).estimator
        w = model.weight_path_.toarray()[-1]
        assert record.n_nonzero == np.sum(w > 0) > 1
        assert record.n_iterations == model.n_iterations_
    assert (tmp_path / "records" / "toy" / "fake.support.jsonl").is_file()


def test_estimator_without_coefficients_fails(tmp_path):
    asked = experiment("boostbench.algorithms.AdaBoostMH")
    [outcome] = run([asked], results=tmp_path).results
    (error,) = {failure.error for failure in outcome.failures}
    assert error == "ValueError: AdaBoostMH has no weight_path_, whose last row is counted"
