import importlib
import sys

import pytest

from boostbench.fitting.measures.prediction import Prediction
from boostbench.spec import code_version
from boostbench.spec.code_version import CodeVersion
from boostbench.util.errors import UserError

OURS = "boostbench.algorithms.MCBoost"
RECORD = {"environment": None}


@pytest.fixture(autouse=True)
def forgetful():
    code_version._code_version.cache_clear()
    yield
    code_version._code_version.cache_clear()


def of(target, **parameters):
    return CodeVersion.from_config({"_target_": target, **parameters}, Prediction)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write a module of one's own; give a function that changes its text."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(text):
        (tmp_path / "mine_alone.py").write_text(text)
        sys.modules.pop("mine_alone", None)
        importlib.invalidate_caches()
        code_version._code_version.cache_clear()

    yield write
    sys.modules.pop("mine_alone", None)


def test_our_classes_go_by_their_edition(monkeypatch):
    monkeypatch.setattr(f"{OURS}.edition", 1)
    assert of(OURS) == CodeVersion(1, None, {})
    assert of(OURS).to_record() == {}
    assert of(OURS).matches(RECORD)
    assert of(OURS).matches(RECORD | {"code": "0" * 16})
    monkeypatch.setattr(f"{OURS}.edition", 3, raising=False)
    code_version._code_version.cache_clear()
    assert of(OURS).to_record() == {"edition": 3}
    assert not of(OURS).matches(RECORD)
    assert of(OURS).matches(RECORD | {"edition": 3})
    outer = of("sklearn.ensemble.BaggingClassifier", estimator={"_target_": OURS})
    assert outer.edition == 3


@pytest.mark.parametrize("edition", [0, "2", None])
def test_an_edition_is_a_number(monkeypatch, edition):
    monkeypatch.setattr(f"{OURS}.edition", edition, raising=False)
    with pytest.raises(UserError, match=r"MCBoost.edition is .*; it must be 1, 2"):
        of(OURS)


def test_installed_classes_go_by_their_version():
    version = of("sklearn.svm.SVC")
    assert set(version.versions) == {"scikit-learn"}
    assert version.matches({"environment": {"scikit-learn": version.versions["scikit-learn"]}})
    assert not version.matches({"environment": {"scikit-learn": "0.1"}})


def test_classes_of_ones_own_go_by_their_file(own):
    own("class Mine:\n    pass\n")
    before = of("mine_alone.Mine")
    assert before.matches(RECORD | before.to_record())
    assert before.matches(RECORD | {"code": "0" * 16})
    own("class Mine:\n    pass  # changed\n")
    assert not of("mine_alone.Mine").matches(RECORD | before.to_record())
    own("class Mine:\n    edition = 2\n")
    assert of("mine_alone.Mine").to_record().keys() == {"edition", "source"}
