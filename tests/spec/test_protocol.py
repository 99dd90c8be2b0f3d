import pytest

from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError
from boostbench.util.validation import struct_from_config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampling": "stratifed"}, "sampling is 'stratifed'; did you mean stratified"),
        ({"scale": "max"}, "scale is 'max'; did you mean minmax"),
        ({"tune": "yes"}, "tune is 'yes'; there are: first_split"),
        ({"n_splits": 0}, "n_splits is 0"),
        ({"n_splits": 1, "sampling": "kfold"}, "n_splits=1 cannot go with protocol.sampling=kfold"),
        ({"n_splits": 2.5}, "n_splits is 2.5"),
        ({"n_folds": 1}, "n_folds is 1"),
        ({"test_size": 1}, "test_size is 1"),
        ({"test_size": "big"}, "test_size is 'big'"),
        ({"pca": 0}, "pca is 0; it must be between 0 and 1"),
        ({"pca": "yes"}, "pca is 'yes'"),
        ({"samples_per_class": 1}, "samples_per_class is 1"),
        ({"samples_per_class": 9, "sampling": "fixed"}, "cannot go with"),
        ({"samples_per_class": 9, "sampling": "official"}, "cannot go with"),
        ({"checkpoints": [0]}, r"checkpoints is \[0\]"),
        ({"checkpoints": None}, "checkpoints is None; it must be a list"),
        ({"checkpoints": 10}, "checkpoints is 10; it must be a list"),
        ({"checkpoints": "all"}, "checkpoints is 'all'; it must be a list"),
        ({"checkpoints": ["a"]}, r"checkpoints is \['a'\]; it must be a list of numbers"),
        ({"n_splits": 10**9}, "n_splits is 1000000000; it must be a whole number from 1 to 10000"),
        ({"n_splits": 1e9}, "n_splits is 1000000000.0"),
        ({"n_splits": None}, "n_splits=null cannot go with protocol.sampling=stratified"),
        ({"n_splits": True}, "n_splits is True"),
        ({"n_folds": 10**9}, "n_folds is 1000000000"),
        ({"n_repeats": 0, "sampling": "kfold"}, "n_repeats is 0"),
        ({"n_repeats": 2}, "n_repeats cannot go with protocol.sampling=stratified"),
        ({"test_size": True}, "test_size is True"),
        ({"test_size": 1.5}, "test_size is 1.5"),
        ({"train_size": 0.5}, "train_size is 0.5"),
        ({"train_size": 9, "train_per_class": 3}, "train_per_class cannot go with .*train_size"),
        ({"test": "rset"}, "test is 'rset'; did you mean rest"),
        ({"test": "official", "sampling": "fixed"}, "test=official cannot go with"),
        ({"sampling": ["kfold"]}, "sampling is .'kfold'.; did you mean kfold"),
        ({"name": []}, r"protocol.name is \[\]; it must be text"),
        ({"time_limit": 0}, "time_limit is 0; it must be a number of seconds"),
        ({"time_limit": "1h"}, "time_limit is '1h'; it must be a number of seconds"),
        ({"time_limit": True}, "time_limit is True"),
        ({"n_split": 3}, "unknown key of protocol 'n_split'; did you mean n_splits"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(UserError, match=message):
        struct_from_config(ProtocolSpec, settings, "protocol")


def test_config_omits_settings_without_effect_on_results():
    assert ProtocolSpec(name="x", n_splits=3).to_config() == ProtocolSpec(name="y").to_config()
    kfold = ProtocolSpec(sampling="kfold", n_splits=3).to_config()
    assert kfold != ProtocolSpec(sampling="kfold").to_config()


def test_config_has_all_settings_that_decide_results():
    left_out = {"name", "n_splits", "n_repeats", "time_limit"}
    assert ProtocolSpec().to_config().keys() == set(ProtocolSpec.__struct_fields__) - left_out
    for setting in ({"train_size": 9}, {"train_per_class": 9}, {"test": "all"}, {"time_limit": 9}):
        assert ProtocolSpec(**setting).to_config() == {**ProtocolSpec().to_config(), **setting}
    repeated = ProtocolSpec(sampling="kfold", n_repeats=2)
    assert repeated.to_config() == ProtocolSpec(sampling="kfold").to_config()
    assert repeated.total_splits == 20
