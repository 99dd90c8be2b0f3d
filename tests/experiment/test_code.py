import importlib
import sys

import pytest
import sklearn
from sklearn.svm import SVC

from boostbench.experiment.code import code, fingerprint
from boostbench.experiment.protocol import Protocol

FILES = {
    "__init__.py": "",
    "algorithms/__init__.py": "from zoo.algorithms.lion import Lion\nfrom .bear import Bear\n",
    "algorithms/lion.py": "from zoo.core import roar\nfrom ..core.teeth import bite\n"
    "class Lion:\n    '''A cat.'''\n    def fit(self):\n        return roar.loud(bite)\n",
    "algorithms/bear.py": "class Bear:\n    pass\n",
    "core/__init__.py": "from zoo.core.fur import thick\nfrom zoo.core.claws import long\n",
    "core/roar.py": "import numpy as np\nfrom zoo.core import thick\ndef loud(x):\n    return x\n",
    "core/teeth.py": "def bite():\n    import zoo.core.jaw\n",
    "core/fur.py": "thick = 1\n",
    "core/claws.py": "long = 1\n",
    "core/jaw.py": "strong = True\n",
}


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    """Give the fingerprint of Lion after changes to the files of its package."""

    def lion(**changes):
        for name, text in {**FILES, **changes}.items():
            path = tmp_path / "zoo" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name in [name for name in sys.modules if name.partition(".")[0] == "zoo"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        return fingerprint(importlib.import_module("zoo.algorithms.lion").Lion)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return lion


@pytest.mark.parametrize(
    "name", ["algorithms/lion", "core/roar", "core/teeth", "core/fur", "core/jaw"]
)
def test_code_that_the_class_stands_on_counts(zoo, name):
    path = f"{name}.py"
    assert zoo() != zoo(**{path: FILES[path] + "more = 1\n"})
    assert zoo() == zoo()


@pytest.mark.parametrize(
    "name", ["algorithms/bear", "algorithms/__init__", "core/claws", "core/__init__"]
)
def test_other_algorithms_do_not_count(zoo, name):
    path = f"{name}.py"
    assert zoo() == zoo(**{path: FILES[path] + "more = 1\n"})


def test_comments_docstrings_and_layout_do_not_count(zoo):
    dressed = (
        '"""About lions."""\n\n# imports\nfrom zoo.core import roar\n'
        "from ..core.teeth import bite\n\n\n"
        "class Lion:  # the king\n    r'''A big\n    cat.'''\n\n\n    def fit(self):\n"
        '        """Fit."""\n        # loudly\n        return roar.loud( bite )\n'
    )
    assert zoo() == zoo(**{"algorithms/lion.py": dressed})


def test_what_is_executed_counts():
    assert code("x = 'a'") != code("x = 'b'")
    assert code("x = 1 # one") == code("x = 1")
    assert code("if a:\n    b()\nc()\n") != code("if a:\n    b()\n    c()\n")
    assert code("print(f'{x} {y!r:>{w}}')") != code("print(f'{x} {y!r:>{v}}')")
    assert code("f'{x()}'") != code("")


def test_f_strings_stay_whole_for_every_python():
    source = "def f(x):\n    y = rf'{x!r:>{3}} # text' f\"{f'{x}'}\"  # comment\n    return y\n"
    assert [word for word in code(source).split("\0") if word not in "\n\x01\x02"] == [
        *("def", "f", "(", "x", ")", ":"),
        *("y", "=", "rf'{x!r:>{3}} # text'", "f\"{f'{x}'}\""),
        *("return", "y"),
    ]


def test_packages_of_others_are_known_by_their_version():
    assert fingerprint(SVC) == f"scikit-learn {sklearn.__version__}"


def test_own_algorithms_are_known_by_their_code():
    assert len(fingerprint(Protocol)) == 16
