import inspect

import pytest
from sklearn.base import BaseEstimator, clone

from boostbench.algorithms import MCBoost, ProjectedAdaBoostMH
from boostbench.algorithms.shared_parameters import share


class Estimator(BaseEstimator):
    def __init_subclass__(cls):
        share(cls, {"more": 1, "own": 2})


class First(Estimator):
    def __init__(self, own=3):
        self.own = own


class Second(First):
    def __init__(self, own=4, other=5):
        super().__init__(own)
        self.other = other


class Heir(Second):
    pass


def test_they_are_parameters_like_others():
    assert First().get_params() == {"own": 3, "more": 1}
    assert Second(6, more=7).get_params() == {"own": 6, "other": 5, "more": 7}
    assert clone(Heir(more=8)).set_params(own=9).get_params() == {"own": 9, "other": 5, "more": 8}
    assert str(inspect.signature(Heir)) == "(own=4, other=5, *, more=1)"
    assert repr(Second(more=7)) == "Second(more=7)"


def test_they_are_keywords():
    with pytest.raises(TypeError, match="positional"):
        First(1, 2)
    with pytest.raises(TypeError, match="unknown"):
        First(unknown=1)


def test_a_class_without_constructor_has_none():
    class Empty(Estimator):
        pass

    assert Empty().get_params() == {}


def test_of_boosters():
    for booster in (MCBoost(), ProjectedAdaBoostMH()):
        params = booster.get_params()
        shared = ("n_iter_no_change", "validation_fraction", "verbose")
        assert [params[name] for name in shared] == [None, 0.1, 0]
