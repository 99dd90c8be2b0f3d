import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import boostbench
from boostbench import algorithms

ROOT = Path(__file__).parents[1]


def test_all_algorithms_have_a_short_name():
    assert sorted(boostbench.__all__) == sorted(algorithms.__all__)
    for name in boostbench.__all__:
        assert getattr(boostbench, name) is getattr(algorithms, name)
        assert name in dir(boostbench)


def test_importing_the_package_imports_none_of_them():
    code = (
        "import sys, boostbench, boostbench.configs\n"
        "from boostbench import errors\n"
        "dir(boostbench), hasattr(boostbench, 'nothing')\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'boostbench.algorithms'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "from boostbench import MCBoost, AdaBoostMH\n"
        "assert MCBoost.__module__ == 'boostbench.algorithms.mcboost'\n"
        "from boostbench import *\n"
        "assert SAMME.__name__ == 'SAMME'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_name_is_an_error():
    with pytest.raises(AttributeError, match="'boostbench' has no attribute 'XGBoost'"):
        boostbench.XGBoost  # noqa: B018
    with pytest.raises(ImportError, match="XGBoost"):
        from boostbench import XGBoost  # noqa: F401


def test_the_oldest_versions_are_the_lower_bounds():
    """`make test-oldest` tests with what pyproject.toml promises."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    promised = [*project["dependencies"], *(line for one in extras.values() for line in one)]
    pins = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in pins if not line.startswith("#"))
    bounds = dict(line.split(",")[0].split(">=") for line in promised if ">=" in line)
    assert {name: bounds[name] for name in pinned} == pinned
    assert set(pinned) >= {line.split(">=")[0] for line in project["dependencies"]}
