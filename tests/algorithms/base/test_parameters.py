import inspect
import pickle
import re
from dataclasses import KW_ONLY, is_dataclass
from typing import ClassVar, Literal

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from boostbench import algorithms
from boostbench.algorithms import AdaBoost, BaggedBooster, MCBoost, PerceptronAdaBoost
from boostbench.algorithms.base.parameters import (
    DeclaredParameters,
    FractionOrOne,
    PositiveInt,
    Seed,
)

ESTIMATORS = [
    estimator
    for estimator in (getattr(algorithms, name) for name in algorithms.__all__)
    if isinstance(estimator, type)
]


class Base(DeclaredParameters):
    rounds: PositiveInt = 10
    _: KW_ONLY
    seed: Seed = None
    loss: Literal["square", "log"] = "log"


class Weighted(Base):
    _: KW_ONLY
    weight: dict | Literal["balanced"] | None = None


class Heir(Weighted, Base):
    rounds: PositiveInt = 20
    nu: FractionOrOne | None = 0.5
    loss: ClassVar = "square"
    sparse: bool = False


class OfItsOwn(Base):
    def __init__(self, other=5):
        self.other = other


class HeirOfItsOwn(OfItsOwn):
    pass


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_docstring_describes_every_parameter(estimator):
    text = inspect.getdoc(estimator).partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n\w[^\n]*\n-{3,}", text)[0]
    named = re.findall(r"^(\w+(?:, \w+)*)(?: :|$)", section, re.MULTILINE)
    assert sorted(", ".join(named).split(", ")) == sorted(inspect.signature(estimator).parameters)


def test_signature_merges_the_parameters_of_all_bases():
    signature = "(rounds=20, nu=0.5, sparse=False, *, seed=None, weight=None)"
    assert str(inspect.signature(Heir)) == signature
    assert str(inspect.signature(Base)) == "(rounds=10, *, seed=None, loss='log')"
    assert Heir(3, 0.1, seed=4).get_params() == {
        "rounds": 3,
        "nu": 0.1,
        "sparse": False,
        "seed": 4,
        "weight": None,
    }
    assert Heir().loss == "square"


def test_get_and_set_params():
    model = clone(Heir(nu=None)).set_params(rounds=7)
    assert repr(model) == "Heir(nu=None, rounds=7)"
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()


def test_annotations_of_other_bases_and_as_strings():
    class Mixin:
        fitted: int

    class Quoted(Mixin, Base):
        nu: "PositiveInt | None" = None

    assert set(Quoted().get_params()) == {"rounds", "seed", "loss", "nu"}
    with pytest.raises(InvalidParameterError, match="nu"):
        Quoted(nu=0)._validate_params()


def test_invalid_arguments_raise_type_error():
    with pytest.raises(TypeError, match="Heir too many positional arguments"):
        Heir(1, 0.5, True, 4)
    with pytest.raises(TypeError, match="Heir got an unexpected keyword argument 'loss'"):
        Heir(loss="log")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("rounds", value) for value in (0, 1.5, True)),
        *(("nu", value) for value in (0, 1.1, "0.5")),
        *(("weight", value) for value in ("equal", [])),
        ("sparse", 2),
        ("seed", "a"),
    ],
)
def test_rejected_values(name, value):
    Heir()._validate_params()
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of Heir must"):
        Heir(**{name: value})._validate_params()


def test_accepted_values():
    for params in ({"nu": None}, {"nu": 1}, {"weight": {0: 2.0}}, {"sparse": True}, {"seed": 3}):
        Heir(**params)._validate_params()
    Base(loss="square")._validate_params()


@pytest.mark.parametrize("kind", [OfItsOwn, HeirOfItsOwn])
def test_explicit_constructor_is_kept(kind):
    assert kind(6).get_params() == {"other": 6}
    assert kind().rounds == 10
    kind()._validate_params()


def test_explicit_constraints_are_kept():
    class Model(Base):
        _parameter_constraints: ClassVar = {
            **Base._parameter_constraints,
            "other": [StrOptions({"a"})],
        }

        def __init__(self, other="a"):
            self.other = other

    with pytest.raises(InvalidParameterError, match="other"):
        Model("b")._validate_params()


@pytest.mark.parametrize("kind", ESTIMATORS)
class TestEveryEstimator:
    def test_every_parameter_has_allowed_values(self, kind):
        assert all(kind._parameter_constraints[name] for name in kind().get_params())

    def test_defaults_are_allowed(self, kind):
        kind()._validate_params()

    def test_estimator_is_not_a_dataclass(self, kind):
        """OmegaConf would take estimators within lists for settings."""
        assert not is_dataclass(kind)


def test_signatures_of_boosters():
    assert MCBoost(5).n_iterations == 5
    assert BaggedBooster(MCBoost(), 3).n_estimators == 3
    assert "max_bins" not in PerceptronAdaBoost().get_params()
    assert isinstance(MCBoost._parameter_constraints["eta"][0], Interval)
    assert isinstance(AdaBoost(), BaseEstimator)
