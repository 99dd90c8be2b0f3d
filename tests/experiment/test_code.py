import inspect
import operator
import re
import sys

import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from boostbench import algorithms
from boostbench.experiment import measures
from boostbench.experiment.code import code, counted, fingerprint, made_by, reachable
from boostbench.experiment.measures.prediction import Prediction
from boostbench.unmeasured import unmeasured

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
    """Give the name of the code behind Lion after changes to the files of its package."""

    def lion(measure=Prediction, _protocol=None, **changes):
        for name, text in {**FILES, **changes}.items():
            path = tmp_path / "zoo" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        fingerprint.cache_clear()
        config = {"algo": {"_target_": "zoo.algorithms.Lion"}, "protocol": _protocol or {}}
        return made_by(config, measure)

    monkeypatch.syspath_prepend(tmp_path)
    yield lion
    fingerprint.cache_clear()


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


def config(target, protocol=None, **params):
    return {"algo": {"_target_": target, **params}, "protocol": protocol or {}}


def test_packages_of_others_are_known_by_their_version():
    name = made_by(config("sklearn.svm.SVC"), Prediction)
    assert name == f"{fingerprint(Prediction.__module__)} with scikit-learn {sklearn.__version__}"


def test_own_algorithms_are_known_by_their_code():
    assert len(made_by(config("boostbench.algorithms.SAMME"), Prediction)) == 16


def test_nothing_of_an_algorithm_is_imported(zoo):
    assert len(zoo()) == 16
    assert not [name for name in sys.modules if name.partition(".")[0] == "zoo"]


def test_objects_within_count(zoo):
    ada = "sklearn.ensemble.AdaBoostClassifier"
    plain = made_by(config(ada), Prediction)
    zoo()
    lion = config(ada, estimator={"_target_": "zoo.algorithms.Lion"})
    before = made_by(lion, Prediction)
    zoo(**{"core/roar.py": FILES["core/roar.py"] + "more = 1\n"})
    assert len({plain, before, made_by(lion, Prediction)}) == 3


def test_what_own_code_takes_from_boostbench_counts(zoo):
    zoo(**{"algorithms/lion.py": "from boostbench.algorithms.samme import SAMME\nLion = SAMME\n"})
    assert "boostbench.core.weak.stumps" in reachable(["zoo.algorithms.lion"])


def test_what_the_package_gives_by_name_counts(zoo):
    by_name = made_by(config("boostbench.MCBoost"), Prediction)
    assert by_name == made_by(config("boostbench.algorithms.MCBoost"), Prediction)
    zoo(**{"algorithms/lion.py": "from boostbench import SAMME\nLion = SAMME\n"})
    found = reachable(["zoo.algorithms.lion"])
    assert "boostbench.algorithms.samme" in found
    assert "boostbench.algorithms.mcboost" not in found
    for statement in ("import boostbench\n", "import boostbench.core\n"):
        zoo(**{"algorithms/lion.py": f"{statement}Lion = boostbench.SAMME\n"})
        assert "boostbench.algorithms.samme" in reachable(["zoo.algorithms.lion"])
    zoo(**{"algorithms/lion.py": "from boostbench import __version__, configs\n"})
    assert "boostbench.algorithms.samme" not in reachable(["zoo.algorithms.lion"])


def test_what_only_type_checkers_read_does_not_count(zoo):
    only = "import typing\nif typing.TYPE_CHECKING:\n    from zoo.core.claws import long\n"
    zoo(**{"algorithms/lion.py": only})
    assert reachable(["zoo.algorithms.lion"]) == {"zoo.algorithms.lion"}


def test_tuning_counts_where_parameters_are_chosen(zoo):
    assert zoo() != zoo(_protocol={"tune": "first_split", "n_folds": 5})


@pytest.mark.parametrize("name", measures.names())
def test_all_that_makes_a_number_counts(name):
    found = reachable([type(measures.find(name)).__module__, "boostbench.experiment.tuning"])
    made = ("preparation", "splits", "trial", "tuning", "algorithm", "calibration")
    assert found >= {f"boostbench.experiment.{part}" for part in made}
    assert f"boostbench.experiment.measures.{name}" in found


@pytest.mark.parametrize("name", measures.names())
def test_what_makes_no_number_does_not_count(name):
    found = reachable([type(measures.find(name)).__module__, "boostbench.experiment.tuning"])
    apart = ("archive", "code", "environment", "keys", "lines", "plan", "progress", "records")
    others = ("runner", "schema", "workers", "protocol")
    assert found.isdisjoint(f"boostbench.experiment.{part}" for part in (*apart, *others))
    floors = ("cli", "data", "definitions", "figures", "report", "errors")
    assert not [one for one in found if one.split(".")[1] in floors]


MARK = "from boostbench.unmeasured import unmeasured\n"
LION = (
    "from zoo.core import roar\nfrom ..core.teeth import bite\n"
    "{import_}class Lion:\n    '''A cat.'''\n    def fit(self):\n"
    "        return roar.loud(bite)\n{method}"
)


class TestTheMark:
    @pytest.mark.parametrize(
        "method",
        [
            "    @unmeasured\n    def sleep(self):\n        import os\n        return 1\n",
            "    @property\n    @unmeasured\n    def mane(self):\n        return '''\nlong'''\n",
            "    @unmeasured  # really\n    def a(self, x=(1,\n        2)):\n"
            "        @staticmethod\n        def inner(): return f'{x}'\n        return inner\n"
            "    # a comment\n\n    @unmeasured\n    async def b(self): pass\n",
        ],
    )
    def test_what_bears_it_does_not_count(self, zoo, method):
        before = zoo()
        changed = LION.format(import_=MARK, method=method)
        assert zoo(**{"algorithms/lion.py": changed}) == before
        assert "boostbench.unmeasured" not in reachable(["zoo.algorithms.lion"])
        # The same without the mark does.
        bare = changed.replace("    @unmeasured  # really\n", "").replace("    @unmeasured\n", "")
        assert zoo(**{"algorithms/lion.py": bare}) != before

    def test_what_it_alone_imports_does_not_count(self, zoo):
        method = "    @unmeasured\n    def sleep(self):\n        from zoo.core import claws\n"
        zoo(**{"algorithms/lion.py": LION.format(import_=MARK, method=method)})
        assert "zoo.core.claws" not in reachable(["zoo.algorithms.lion"])
        zoo(**{"algorithms/lion.py": LION.format(import_="", method=method)})
        assert "zoo.core.claws" in reachable(["zoo.algorithms.lion"])

    def test_what_follows_it_counts(self):
        rest = "def f():\n    return 1\n"
        assert code(f"{MARK}@unmeasured\ndef g():\n    pass\n{rest}") == code(rest)
        assert code(f"{MARK}x = 1\n") == code("x = 1\n")
        assert code(f"{MARK[:-1]}; x = 1\n") != code("")
        assert code(f"if a:\n    x = 1\n{MARK}y = 2\n") == code("if a:\n    x = 1\ny = 2\n")

    def test_another_of_that_name_is_not_it(self):
        marked = "@unmeasured\ndef f():\n    return 1\n"
        assert code(f"{MARK}{marked}") == code("")
        for origin in ("", "def unmeasured(f): pass\n", "from mine import unmeasured\n"):
            assert code(f"{origin}{marked}") != code(origin)

    def test_it_changes_nothing(self):
        assert unmeasured(len) is len


SLEEP = "    @unmeasured\n    def sleep(self):\n        import zoo.core.claws\n        return {}\n"


class TestAMarkedFunctionThatIsUsed:
    @pytest.mark.parametrize(
        "use",
        [
            "    def a(self):\n        return self.sleep()\n",
            "    def a(self):\n        return getattr(self, 'sleep')()\n",
            "    b = staticmethod(lambda lion: [lion.sleep for _ in 'ab'])\n",
            "    def a(self):\n        return sleep()\n",
            "    def a(self):\n        from zoo.core.jaw import sleep\n",
        ],
    )
    def test_counts_by_whatever_it_is_called(self, zoo, use):
        def lion(value):
            method = SLEEP.format(value) + use
            return zoo(**{"algorithms/lion.py": LION.format(import_=MARK, method=method)})

        assert lion(1) != lion(2)
        assert "zoo.core.claws" in reachable(["zoo.algorithms.lion"])

    def test_counts_wherever_it_is_used(self, zoo):
        """For example by a measure, which does not know the estimator's module."""
        lion = LION.format(import_=MARK, method=SLEEP.format(1))
        roar = FILES["core/roar.py"]
        before = zoo(**{"algorithms/lion.py": lion, "core/roar.py": roar})
        used = zoo(**{"algorithms/lion.py": lion, "core/roar.py": f"{roar}f = 'sleep'\n"})
        other = LION.format(import_=MARK, method=SLEEP.format(2))
        assert before == zoo(**{"algorithms/lion.py": other, "core/roar.py": roar})
        assert used != zoo(**{"algorithms/lion.py": other, "core/roar.py": f"{roar}f = 'sleep'\n"})

    def test_counts_where_another_is_used_that_uses_it(self, zoo):
        nap = "    @property\n    @unmeasured\n    def nap(self):\n        return self.sleep()\n"

        def lion(value, use=""):
            method = SLEEP.format(value) + nap + use
            return zoo(**{"algorithms/lion.py": LION.format(import_=MARK, method=method)})

        assert lion(1) == lion(2)
        use = "    def a(self):\n        return self.nap\n"
        assert lion(1, use) != lion(2, use)

    def test_one_name_is_enough_for_functions_of_several_modules(self, zoo):
        jaw = f"{MARK}@unmeasured\ndef sleep():\n    return {{}}\n"
        use = SLEEP.format(1) + "    def a(self):\n        return self.sleep()\n"
        lion = LION.format(import_=MARK, method=use)
        assert zoo(**{"algorithms/lion.py": lion, "core/jaw.py": jaw.format(1)}) != zoo(
            **{"algorithms/lion.py": lion, "core/jaw.py": jaw.format(2)}
        )


def test_no_record_of_the_project_depends_on_what_is_marked():
    """So that all of it can change: what is used would count, and make records stale."""
    start = {
        getattr(algorithms, name).__module__ for name in algorithms.__all__ if name.isidentifier()
    }
    start |= {type(measures.find(name)).__module__ for name in measures.names()}
    # No experiment has these.
    others = ("bagging", "bagged_mcboost", "reweighting", "final_solve")
    start -= {f"boostbench.algorithms.{name}" for name in others}
    found = counted([*start, "boostbench.experiment.tuning"])
    assert len(found) > 60
    names = {
        re.search(r"def\0(\w+)", piece)[1] for pieces in found.values() for piece in pieces[1:]
    }
    # What a fit that is stopped early and `measure=scores` depend on counts.
    assert names <= {"inverse_temperature", "predict_proba"}


def test_nothing_is_marked_that_others_call_by_its_name():
    """Such as scikit-learn or Python itself, whose code is not looked at."""
    known = {*dir(ClassifierMixin), *dir(TransformerMixin), *dir(BaseEstimator)} - {"__repr__"}
    known |= {name for name in vars(operator) if name.startswith("__")}
    for name in algorithms.__all__:
        for owner in getattr(getattr(algorithms, name), "__mro__", ()):
            module = sys.modules[owner.__module__]
            if owner.__module__.startswith("boostbench"):
                source = inspect.getsource(module)
                assert known.isdisjoint(re.findall(r"@unmeasured\n +def (\w+)", source))
