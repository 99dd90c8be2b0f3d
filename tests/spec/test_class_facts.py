import inspect
import subprocess
import sys

import pytest

from boostbench import algorithms
from boostbench.spec import class_facts
from boostbench.spec.class_facts import class_attribute, constructor_defaults

ESTIMATORS = [name for name in algorithms.__all__ if isinstance(getattr(algorithms, name), type)]

READ_FROM_SOURCE = """
import sys
from boostbench.spec.class_facts import class_attribute, constructor_defaults
for name in sys.argv[1:]:
    target = f"boostbench.{name}"
    print(repr((dict(constructor_defaults(target)), class_attribute(target, "edition", 1))))
    imported = [name for name in sys.modules if name.startswith("boostbench.algorithms.")]
    print(imported == [], file=sys.stderr)
"""


@pytest.fixture(scope="module")
def facts():
    """Facts of all estimators, in a process that imports none of them."""
    command = [sys.executable, "-c", READ_FROM_SOURCE, *ESTIMATORS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # Once a class without literal defaults is imported, others may be too.
    assert done.stderr.count("True") == len(ESTIMATORS)
    return dict(zip(ESTIMATORS, map(eval, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_source_gives_the_facts_of_the_imported_class(facts, name):
    cls = getattr(algorithms, name)
    defaults = {
        parameter.name: parameter.default
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.default is not parameter.empty
    }
    assert facts[name] == (defaults, getattr(cls, "edition", 1))


def test_imported_class_is_not_read_from_source(monkeypatch):
    monkeypatch.setattr(algorithms.MCBoost, "edition", 99, raising=False)
    assert class_attribute("boostbench.MCBoost", "edition", 1) == 99


def test_removed_class_has_no_defaults():
    class_facts.constructor_defaults.cache_clear()
    assert constructor_defaults("boostbench.NoSuchBooster") == []
    assert constructor_defaults("boostbench.no_such_module.Booster") == []


def test_class_of_another_package_is_imported():
    assert ("kernel", "rbf") in constructor_defaults("sklearn.svm.SVC")
    assert class_attribute("sklearn.svm.SVC", "edition", 1) == 1
