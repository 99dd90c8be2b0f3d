import subprocess
import sys

import pytest

import boostbench
from boostbench import algorithms


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
