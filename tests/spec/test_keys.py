import copy
import sys
import types

import pytest
from fitting.toy import spec_from_config

from boostbench.spec import class_facts, keys
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.data import DataSpec
from boostbench.spec.experiment import ExperimentSpec
from boostbench.spec.keys import RecordKeys, digest, remove_defaults
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError

FOREST = "sklearn.ensemble.RandomForestClassifier"
DATA = {
    "name": "toy",
    "checksum": "0123456789abcdef",
    "n_samples": 9,
    "n_features": 2,
    "n_classes": 2,
}


def config(target, params=None, grid=None, seed=0, **protocol):
    algorithm = AlgorithmSpec("one", target, params or {}, grid or {})
    return {
        "data": DATA,
        **ExperimentSpec(algorithm, DataSpec("toy"), ProtocolSpec(**protocol), seed=seed).settings,
    }


@pytest.mark.parametrize("measure", ["prediction", "boundary"])
@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True])
def test_invalid_seed_is_refused(measure, seed):
    """Check measures with and without random splits."""
    asked = {
        "algo": {"name": "one", "_target_": FOREST},
        "data": {"name": "toy"},
        "protocol": {},
        "measure": measure,
    }
    with pytest.raises(UserError, match=f"^seed is {seed!r}; it must be a whole number"):
        spec_from_config({**asked, "seed": seed})


def have_same_keys(first, second):
    return RecordKeys.from_config(first) == RecordKeys.from_config(second)


@pytest.fixture
def versions(monkeypatch):
    """Return a function that defines the current version of a class."""

    def version(source):
        module = types.ModuleType("zoo")
        exec(f"class Lion:\n    def __init__(self, {source}): pass\n", module.__dict__)
        monkeypatch.setitem(sys.modules, "zoo", module)
        clear_caches()

    def clear_caches():
        for cached in (class_facts.constructor_defaults, keys.json_defaults, keys._default_texts):
            cached.cache_clear()

    yield version
    clear_caches()


def test_new_parameter_at_its_default_keeps_the_keys(versions):
    versions("claws=1")
    old = config("zoo.Lion", {"claws": 2})
    before = RecordKeys.from_config(old)
    versions("claws=1, roar='loud', seed=None")
    new = config("zoo.Lion", {"claws": 2})
    assert new["algo"] == {"_target_": "zoo.Lion", "claws": 2, "roar": "loud", "seed": None}
    assert RecordKeys.from_config(old) == RecordKeys.from_config(new) == before
    assert not have_same_keys(old, config("zoo.Lion", {"claws": 2, "roar": "soft"}))


def test_changed_default_changes_the_keys(versions):
    versions("claws=1")
    old = config("zoo.Lion")
    assert old["algo"]["claws"] == 1
    versions("claws=2")
    assert not have_same_keys(old, config("zoo.Lion"))
    assert have_same_keys(old, config("zoo.Lion", {"claws": 1}))


def test_deprecated_parameter_is_no_setting(versions):
    versions("claws=1, roar='deprecated'")
    newer = config("zoo.Lion", {"claws": 2})
    versions("claws=1, roar=False")
    assert have_same_keys(newer, config("zoo.Lion", {"claws": 2}))
    assert not have_same_keys(newer, config("zoo.Lion", {"claws": 2, "roar": True}))


def test_removed_parameters_are_dropped():
    cgens = {"_target_": "boostbench.CGENS", "C": 0.5, "n_iter_no_change": None}
    assert keys.drop_removed_parameters(
        {"_target_": "boostbench.BaggedBooster", "estimator": cgens}
    ) == {
        "_target_": "boostbench.BaggedBooster",
        "estimator": {"_target_": "boostbench.CGENS", "C": 0.5},
    }
    # Values other than the default are kept.
    other = {**cgens, "n_iter_no_change": 5}
    assert keys.drop_removed_parameters(other) == other


def test_parameter_of_the_grid_has_no_default(versions):
    versions("claws=1")
    asked = config("zoo.Lion", grid={"claws": [1, 2]})
    assert asked["algo"] == {"_target_": "zoo.Lion"}
    assert not have_same_keys(asked, config("zoo.Lion"))


def test_parameters_of_removed_classes_are_kept(versions):
    versions("claws=1")
    old = config("zoo.Lion")
    versions("claws=1")
    del sys.modules["zoo"].Lion
    assert remove_defaults(old)["algo"] == {"_target_": "zoo.Lion", "claws": 1}
    RecordKeys.from_config(old)


def test_defaults_of_other_packages_are_removed():
    asked = config(FOREST, {"n_estimators": 100, "max_depth": 3})
    assert asked["algo"]["criterion"] == "gini"
    assert remove_defaults(asked)["algo"] == {"_target_": FOREST, "max_depth": 3}
    assert have_same_keys(asked, config(FOREST, {"max_depth": 3}))
    bare = copy.deepcopy(asked)
    bare["algo"] = {"_target_": FOREST, "max_depth": 3}
    assert have_same_keys(asked, bare)


def test_integers_and_floats_have_different_keys():
    """The setting max_features=1 of a forest is one feature, but 1.0 all features."""
    default, integer, fraction = (
        config(FOREST, params) for params in ({}, {"max_features": 1}, {"max_features": 1.0})
    )
    assert len({RecordKeys.from_config(asked).split for asked in (default, integer, fraction)}) == 3


def test_defaults_of_nested_estimators_are_removed():
    ada, tree = "sklearn.ensemble.AdaBoostClassifier", "sklearn.tree.DecisionTreeClassifier"
    asked = config(ada, {"estimator": {"_target_": tree, "max_depth": 1}})
    assert asked["algo"]["estimator"]["criterion"] == "gini"
    assert remove_defaults(asked)["algo"]["estimator"] == {"_target_": tree, "max_depth": 1}
    assert have_same_keys(
        asked, config(ada, {"estimator": {"_target_": tree, "max_depth": 1, "splitter": "best"}})
    )
    assert not have_same_keys(asked, config(ada, {"estimator": {"_target_": tree}}))


def test_protocol_settings_at_their_default_are_removed():
    asked = config(FOREST, test_size=0.25, scale="unit")
    assert asked["protocol"]["sampling"] == "stratified"
    assert remove_defaults(asked)["protocol"] == {"scale": "unit"}
    older = copy.deepcopy(asked)
    del older["protocol"]["pca"]
    assert have_same_keys(asked, older)
    assert not have_same_keys(asked, config(FOREST, scale="unit", pca=0.9))


def test_keys_ignore_name_and_number_of_splits():
    assert have_same_keys(config(FOREST), config(FOREST, name="mine", n_splits=50))
    assert not have_same_keys(
        config(FOREST, sampling="kfold"), config(FOREST, sampling="kfold", n_splits=5)
    )


def test_keys_ignore_tuning_without_a_choice():
    single, several = {"max_depth": [1]}, {"max_depth": [1, 2]}
    assert have_same_keys(
        config(FOREST, grid=single), config(FOREST, grid=single, n_folds=3, tune="every_split")
    )
    assert not have_same_keys(config(FOREST, grid=several), config(FOREST, grid=several, n_folds=3))
    assert not have_same_keys(
        config(FOREST, grid=several), config(FOREST, grid=several, tune="none")
    )


def test_trial_key_ignores_grid():
    small, large = (
        config(FOREST, grid={"max_depth": [1, 2]}),
        config(FOREST, grid={"max_depth": [1]}),
    )
    assert RecordKeys.from_config(small).split != RecordKeys.from_config(large).split
    assert RecordKeys.from_config(small).trial == RecordKeys.from_config(large).trial
    record_keys = RecordKeys.from_config(small)
    key = record_keys.trial_key(0, 1, [{"max_depth": 1}], "rows")
    other_keys = {
        record_keys.trial_key(1, 1, [{"max_depth": 1}], "rows"),
        record_keys.trial_key(0, 2, [{"max_depth": 1}], "rows"),
        record_keys.trial_key(0, 1, [{"max_depth": 2}], "rows"),
        record_keys.trial_key(0, 1, [{"max_depth": 1}, {"max_depth": 2}], "rows"),
        record_keys.trial_key(0, 1, [{"max_depth": 1}], "others"),
        record_keys.split_key(0, "rows"),
    }
    assert len(other_keys | {key}) == 7


@pytest.mark.parametrize("changes", [{"scale": "unit"}, {"pca": 0.9}, {"seed": 1}])
def test_trial_key_changes_with_every_setting_that_affects_the_fit(changes):
    assert (
        RecordKeys.from_config(config(FOREST)).trial
        != RecordKeys.from_config(config(FOREST, **changes)).trial
    )


def test_settings_ignore_the_data_and_keys_do_not():
    one = config(FOREST)
    other = {**one, "data": {**DATA, "checksum": "f" * 16}}
    assert RecordKeys.from_config(one).settings == RecordKeys.from_config(other).settings
    assert RecordKeys.from_config(one).split != RecordKeys.from_config(other).split
    assert RecordKeys.from_config(one).trial != RecordKeys.from_config(other).trial


def test_digest_needs_json():
    assert digest({"a": [1, 2]}) != digest({"a": [2, 1]})
    for value in (object(), float("nan"), "\ud800"):
        with pytest.raises(UserError, match="cannot be written down"):
            digest({"a": value})


def test_split_key_is_a_digest():
    identity = RecordKeys("a" * 16, "b" * 16, "c" * 16)
    assert identity.split_key(3, "d" * 16) == digest(["b" * 16, 3, "d" * 16])


def test_infinite_and_nan_parameters_are_refused():
    for params, grid, where in (
        ({"C": float("inf")}, {}, "algo.C is inf"),
        ({"base": {"_target_": FOREST, "x": [1, {"y": float("nan")}]}}, {}, "algo.base.x.y is nan"),
        ({}, {"C": [1.0, float("inf")]}, "an entry of algo.grid.C is inf"),
    ):
        with pytest.raises(UserError, match=f"^{where}, which no record can hold; give a finite"):
            config(FOREST, params, grid, tune="every_split")
