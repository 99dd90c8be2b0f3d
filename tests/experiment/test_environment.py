import platform

import numpy as np

from boostbench import __version__
from boostbench.experiment.environment import calibration, cpu_model, environment


def test_versions_and_machine():
    found = environment("pandas")
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["boostbench"] == __version__
    assert "pandas" in found
    assert "pandas" not in environment("numpy")
    assert found["n_cores"] >= 1
    assert found["cpu"] == cpu_model() != ""


def test_unknown_packages_have_no_version():
    assert "nosuchpackage" not in environment("nosuchpackage")


def test_calibration_is_measured_once():
    assert calibration() == calibration() > 0
