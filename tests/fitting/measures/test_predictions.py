import numpy as np
import pytest

import boostbench
from boostbench.records.schema import BadLine
from fitting.toy import experiment_from_config, run

from ..examples import RECORD, measured
from ..toy import make_dataset


def test_predictions_of_each_tested_sample(tmp_path):
    dataset = make_dataset()
    algo = {"name": "one", "grid": {}, "_target_": "boostbench.algorithms.MCBoost"}
    algo |= {"n_iterations": 5, "loss": "logistic"}
    other = {"name": "other", "grid": {}, "_target_": "sklearn.svm.LinearSVC"}
    asked = [
        experiment_from_config(
            {"algo": one, "protocol": {"n_splits": 2, "checkpoints": []}, "measure": "predictions"},
            dataset,
        )
        for one in (algo, other)
    ]
    run(asked, results=tmp_path)
    frame = boostbench.predictions(tmp_path)
    shares = [name for name in frame if name.startswith("p") and name[1:].isdigit()]
    assert len(shares) == dataset.n_classes
    for split in asked[0].splits:
        rows = frame.query(f"algo == 'one' and split == {split.index}")
        np.testing.assert_array_equal(rows["row"], split.test)
        np.testing.assert_array_equal(rows["truth"], dataset.class_indices[split.test])
        fit = asked[0].trial(split, {}).fit(dataset.X, dataset.class_indices)
        np.testing.assert_array_equal(rows["predicted"], fit.estimator.predict(fit.X_test))
        expected = fit.estimator.predict_proba(fit.X_test)
        np.testing.assert_allclose(rows[shares], expected, rtol=0, atol=5.1e-7)
    assert frame.query("algo == 'other'")[shares].isna().all(axis=None)
    errors = (frame["truth"] != frame["predicted"]).groupby([frame["algo"], frame["split"]]).mean()
    recorded = boostbench.results(tmp_path).set_index(["algo", "split"])["test_error"]
    np.testing.assert_allclose(errors.sort_index(), recorded.sort_index() / 100)


def test_lists_of_other_lengths_are_no_record():
    written = {name: [0] * RECORD["n_test"] for name in ("tested", "truth", "predicted")}
    written |= {"test_error": 0.5, "n_iterations": 5, "probabilities": None}
    measured("predictions", **written)
    shares = [[0.5, 0.5]] * RECORD["n_test"]
    measured("predictions", **written | {"probabilities": shares})
    for changes in (
        {"truth": [0]},
        {"probabilities": shares[1:]},
        {"probabilities": [[1.0], *shares[1:]]},
    ):
        with pytest.raises(BadLine, match="a prediction for each tested row"):
            measured("predictions", **written | changes)
