import numpy as np

from boostbench.algorithms import LADDER
from fitting.toy import run

from ..toy import make_dataset, make_experiment


def test_record_has_codewords_before_and_after_training(tmp_path):
    dataset = make_dataset()
    target = "boostbench.algorithms.LADDER"
    asked, plain = (
        make_experiment(target, data=dataset, measure=measure, n_splits=2, checkpoints=[])
        for measure in ("codewords", "prediction")
    )
    [outcome] = run([asked], results=tmp_path).results
    [other] = run([plain], results=tmp_path).results
    assert len(outcome.records) == 2
    for record, error, split in zip(outcome.records, other.records, asked.splits, strict=True):
        fitted = asked.trial(split, {}).fit(dataset.X, dataset.y).estimator
        assert isinstance(fitted, LADDER)
        np.testing.assert_allclose(record.last, fitted.codewords_, atol=1e-5)
        np.testing.assert_allclose(record.first, fitted.first_codewords_, atol=1e-5)
        assert record.test_error == error.test_error
    assert (tmp_path / "records" / "toy" / "fake.codewords.jsonl").is_file()


def test_estimator_without_codewords_fails(tmp_path):
    asked = make_experiment("boostbench.algorithms.AdaBoostMH", measure="codewords")
    [outcome] = run([asked], results=tmp_path).results
    assert {f.error for f in outcome.failures} == {"ValueError: AdaBoostMH has no codewords"}
