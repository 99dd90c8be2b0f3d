import pytest

from boostbench.errors import UserError
from boostbench.experiment.protocol import Protocol


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampling": "stratifed"}, "sampling is 'stratifed'; did you mean stratified"),
        ({"scale": "max"}, "scale is 'max'; did you mean minmax"),
        ({"tune": "yes"}, "tune is 'yes'; there are: first_split"),
        ({"n_splits": 0}, "n_splits is 0"),
        ({"n_splits": 1, "sampling": "kfold"}, "n_splits is 1"),
        ({"n_splits": 2.5}, "n_splits is 2.5"),
        ({"n_folds": 1}, "n_folds is 1"),
        ({"test_size": 1}, "test_size is 1"),
        ({"test_size": "big"}, "test_size is 'big'"),
        ({"pca": 0}, "pca is 0, not between 0 and 1"),
        ({"pca": "yes"}, "pca is 'yes'"),
        ({"samples_per_class": 1}, "samples_per_class is 1"),
        ({"samples_per_class": 9, "sampling": "fixed"}, "cannot go with"),
        ({"checkpoints": [0]}, "checkpoints is 0"),
        ({"n_split": 3}, "no setting 'n_split'; did you mean n_splits"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(UserError, match=message):
        Protocol.from_config(settings)


def test_config_leaves_out_what_does_not_decide():
    assert Protocol(name="x", n_splits=3).to_config() == Protocol(name="y").to_config()
    kfold = Protocol(sampling="kfold", n_splits=3).to_config()
    assert kfold != Protocol(sampling="kfold").to_config()
