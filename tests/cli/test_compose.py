import inspect
import itertools

import pytest
from hydra.utils import get_class

from boostbench import configs
from boostbench.cli.compose import experiments
from boostbench.errors import UserError

RESERVED = {"_target_", "name", "title", "paper", "grid"}


def compose(*overrides):
    (spec,) = experiments([overrides])
    return spec


@pytest.mark.parametrize("name", configs.names("algo"))
def test_algorithm_configs_are_the_defaults_of_their_class(name):
    algo = compose(f"algo={name}")["algo"]
    assert RESERVED <= algo.keys()
    assert algo["name"] == name
    parameters = inspect.signature(get_class(algo["_target_"])).parameters
    # random_state is drawn from the seed, for each split anew.
    defaults = {key: p.default for key, p in parameters.items() if key != "random_state"}
    assert {key: value for key, value in algo.items() if key not in RESERVED} == defaults
    assert algo["grid"].keys() <= defaults.keys()


@pytest.mark.parametrize(
    ("algo", "protocol"), [*itertools.product(configs.names("algo"), configs.names("protocol"))]
)
def test_every_algorithm_under_every_protocol(algo, protocol):
    spec = compose(f"algo={algo}", f"protocol={protocol}")
    assert spec.keys() == {"algo", "data", "protocol", "parallel", "seed", "results", "rerun"}
    assert spec["protocol"]["name"] == protocol
    assert spec["protocol"].keys() == compose()["protocol"].keys()


def test_grid_of_the_paper():
    nu = compose("algo=rboost_proj")["algo"]["grid"]["nu"]
    assert len(nu) == 25
    assert nu == sorted(nu, reverse=True)
    assert (nu[0], nu[1], nu[-1]) == (1e-2, 7.5e-3, 1e-8)


def test_another_class_inherits_no_parameters():
    algo = compose("algo._target_=sklearn.svm.SVC", "+algo.C=2", "algo.n_iterations=7")["algo"]
    assert algo == {
        "_target_": "sklearn.svm.SVC",
        "C": 2,
        "n_iterations": 7,  # as given, and for the class to refuse
        "name": "SVC",
        "title": "SVC",
        "paper": None,
        "grid": {},
    }


def test_another_class_keeps_what_is_given():
    algo = compose("algo._target_=sklearn.svm.SVC", "algo.name=svm", "+algo.grid.C=[1,2]")["algo"]
    assert algo["name"] == "svm"
    assert algo["grid"]["C"] == [1, 2]


def test_the_same_class_keeps_its_parameters():
    target = configs.read("algo", "rboost_proj")["_target_"]
    assert compose(f"algo._target_={target}") == compose()


@pytest.mark.parametrize("path", ["/x/my.csv", "/x/my.svm.gz"])
def test_a_file_is_not_the_default_data_set(path):
    data = compose(f"data.path={path}")["data"]
    assert data == {"name": "my", "path": path, "labels": None, "missing": None}


def test_a_file_takes_the_name_it_is_given():
    assert compose("data.path=/x/my.csv", "data.name=yours")["data"]["name"] == "yours"


def test_a_file_of_a_named_data_set_must_be_it():
    data = compose("data=glass", "data.path=/x/my.csv")["data"]
    assert data["name"] == "glass"
    assert data["expect"]["samples"] == 214


def test_hydra_errors_become_one_line():
    with pytest.raises(UserError, match="as an override: KEY=VALUE is expected"):
        compose("a.b[0]=3")
    with pytest.raises(UserError, match="Could not delete") as caught:
        compose("~algo.foo")
    assert "\n" not in str(caught.value)
