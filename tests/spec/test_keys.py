import copy
import sys
import types

import pytest

from boostbench.spec import class_facts, experiment, keys
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
def test_bad_seed(measure, seed):
    """Whether a measure draws anything or not."""
    asked = {
        "algo": {"name": "one", "_target_": FOREST},
        "data": {"name": "toy"},
        "protocol": {},
        "measure": measure,
    }
    with pytest.raises(UserError, match=f"^seed is {seed!r}; it must be a whole number"):
        ExperimentSpec.from_config({**asked, "seed": seed})


def same(one, other):
    return RecordKeys.from_config(one) == RecordKeys.from_config(other)


@pytest.fixture
def versions(monkeypatch):
    """Give configs under several versions of one class, and make the last version today's."""

    def version(source):
        module = types.ModuleType("zoo")
        exec(f"class Lion:\n    def __init__(self, {source}): pass\n", module.__dict__)
        monkeypatch.setitem(sys.modules, "zoo", module)
        forget()

    def forget():
        for cached in (class_facts.constructor_defaults, keys.json_defaults, keys._default_texts):
            cached.cache_clear()
        experiment._settings.clear()

    yield version
    forget()


def test_a_new_parameter_whose_default_changes_nothing_costs_nothing(versions):
    versions("claws=1")
    old = config("zoo.Lion", {"claws": 2})
    before = RecordKeys.from_config(old)
    versions("claws=1, roar='loud', seed=None")
    new = config("zoo.Lion", {"claws": 2})
    assert new["algo"] == {"_target_": "zoo.Lion", "claws": 2, "roar": "loud", "seed": None}
    assert RecordKeys.from_config(old) == RecordKeys.from_config(new) == before
    assert not same(old, config("zoo.Lion", {"claws": 2, "roar": "soft"}))


def test_a_record_of_an_old_default_is_another(versions):
    versions("claws=1")
    old = config("zoo.Lion")
    assert old["algo"]["claws"] == 1
    versions("claws=2")
    assert not same(old, config("zoo.Lion"))
    assert same(old, config("zoo.Lion", {"claws": 1}))


def test_a_parameter_that_is_given_up_is_no_setting(versions):
    versions("claws=1, roar='deprecated'")
    newer = config("zoo.Lion", {"claws": 2})
    versions("claws=1, roar=False")
    assert same(newer, config("zoo.Lion", {"claws": 2}))
    assert not same(newer, config("zoo.Lion", {"claws": 2, "roar": True}))


def test_a_parameter_that_a_class_fixes_is_no_setting_any_more():
    cgens = {"_target_": "boostbench.CGENS", "C": 0.5, "n_iter_no_change": None}
    assert keys.drop_removed_parameters(
        {"_target_": "boostbench.BaggedBooster", "estimator": cgens}
    ) == {
        "_target_": "boostbench.BaggedBooster",
        "estimator": {"_target_": "boostbench.CGENS", "C": 0.5},
    }
    # Another value is no default of today.
    other = {**cgens, "n_iter_no_change": 5}
    assert keys.drop_removed_parameters(other) == other


def test_a_parameter_of_the_grid_has_no_default(versions):
    versions("claws=1")
    asked = config("zoo.Lion", grid={"claws": [1, 2]})
    assert asked["algo"] == {"_target_": "zoo.Lion"}
    assert not same(asked, config("zoo.Lion"))


def test_classes_that_are_gone_keep_what_is_written_down(versions):
    versions("claws=1")
    old = config("zoo.Lion")
    versions("claws=1")
    del sys.modules["zoo"].Lion
    assert remove_defaults(old)["algo"] == {"_target_": "zoo.Lion", "claws": 1}
    RecordKeys.from_config(old)


def test_third_parties_through_their_signature():
    asked = config(FOREST, {"n_estimators": 100, "max_depth": 3})
    assert asked["algo"]["criterion"] == "gini"
    assert remove_defaults(asked)["algo"] == {"_target_": FOREST, "max_depth": 3}
    assert same(asked, config(FOREST, {"max_depth": 3}))
    bare = copy.deepcopy(asked)
    bare["algo"] = {"_target_": FOREST, "max_depth": 3}
    assert same(asked, bare)


def test_numbers_of_different_kinds_differ():
    """To a forest max_features=1 is one feature, and 1.0 are all."""
    plain, one, all_ = (
        config(FOREST, params) for params in ({}, {"max_features": 1}, {"max_features": 1.0})
    )
    assert len({RecordKeys.from_config(asked).split for asked in (plain, one, all_)}) == 3


def test_objects_within_are_shortened_too():
    ada, tree = "sklearn.ensemble.AdaBoostClassifier", "sklearn.tree.DecisionTreeClassifier"
    asked = config(ada, {"estimator": {"_target_": tree, "max_depth": 1}})
    assert asked["algo"]["estimator"]["criterion"] == "gini"
    assert remove_defaults(asked)["algo"]["estimator"] == {"_target_": tree, "max_depth": 1}
    assert same(
        asked, config(ada, {"estimator": {"_target_": tree, "max_depth": 1, "splitter": "best"}})
    )
    assert not same(asked, config(ada, {"estimator": {"_target_": tree}}))


def test_settings_at_their_default_are_left_out():
    asked = config(FOREST, test_size=0.25, scale="unit")
    assert asked["protocol"]["sampling"] == "stratified"
    assert remove_defaults(asked)["protocol"] == {"scale": "unit"}
    older = copy.deepcopy(asked)
    del older["protocol"]["pca"]
    assert same(asked, older)
    assert not same(asked, config(FOREST, scale="unit", pca=0.9))


def test_the_name_and_how_far_to_go_do_not_count():
    assert same(config(FOREST), config(FOREST, name="mine", n_splits=50))
    assert not same(config(FOREST, sampling="kfold"), config(FOREST, sampling="kfold", n_splits=5))


def test_tuning_counts_only_where_there_is_something_to_choose():
    one, two = {"max_depth": [1]}, {"max_depth": [1, 2]}
    assert same(config(FOREST, grid=one), config(FOREST, grid=one, n_folds=3, tune="every_split"))
    assert not same(config(FOREST, grid=two), config(FOREST, grid=two, n_folds=3))
    assert not same(config(FOREST, grid=two), config(FOREST, grid=two, tune="none"))


def test_trials_outlive_a_grid_that_grows():
    small, large = (
        config(FOREST, grid={"max_depth": [1, 2]}),
        config(FOREST, grid={"max_depth": [1]}),
    )
    assert RecordKeys.from_config(small).split != RecordKeys.from_config(large).split
    assert RecordKeys.from_config(small).trial == RecordKeys.from_config(large).trial
    one = RecordKeys.from_config(small)
    key = one.trial_key(0, 1, [{"max_depth": 1}], "rows")
    others = {
        one.trial_key(1, 1, [{"max_depth": 1}], "rows"),
        one.trial_key(0, 2, [{"max_depth": 1}], "rows"),
        one.trial_key(0, 1, [{"max_depth": 2}], "rows"),
        one.trial_key(0, 1, [{"max_depth": 1}, {"max_depth": 2}], "rows"),
        one.trial_key(0, 1, [{"max_depth": 1}], "others"),
        one.split_key(0, "rows"),
    }
    assert len(others | {key}) == 7


@pytest.mark.parametrize("changes", [{"scale": "unit"}, {"pca": 0.9}, {"seed": 1}])
def test_what_touches_a_trial_counts(changes):
    assert (
        RecordKeys.from_config(config(FOREST)).trial
        != RecordKeys.from_config(config(FOREST, **changes)).trial
    )


def test_the_data_are_no_part_of_what_was_asked():
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


def test_a_split_key_is_a_digest():
    identity = RecordKeys("a" * 16, "b" * 16, "c" * 16)
    assert identity.split_key(3, "d" * 16) == digest(["b" * 16, 3, "d" * 16])


def test_numbers_that_no_record_can_hold():
    for params, grid, where in (
        ({"C": float("inf")}, {}, "algo.C is inf"),
        ({"base": {"_target_": FOREST, "x": [1, {"y": float("nan")}]}}, {}, "algo.base.x.y is nan"),
        ({}, {"C": [1.0, float("inf")]}, "an entry of algo.grid.C is inf"),
    ):
        with pytest.raises(UserError, match=f"^{where}, which no record can hold; give a finite"):
            config(FOREST, params, grid, tune="every_split")
