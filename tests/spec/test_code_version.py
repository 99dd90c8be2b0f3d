import importlib
import sys

import pytest

from boostbench.fitting.measures.prediction import Prediction
from boostbench.records.schema import Provenance
from boostbench.spec import class_facts
from boostbench.spec.class_facts import CodeVersion, find_code_version
from boostbench.spec.trusted_imports import class_names
from boostbench.util.errors import UserError

OURS = "boostbench.algorithms.MCBoost"


def provenance(environment=None, **content):
    return Provenance({"commit": "b17bc98", "environment": environment, **content})


@pytest.fixture(autouse=True)
def clear_cache():
    class_facts._code_version.cache_clear()
    yield
    class_facts._code_version.cache_clear()


def version_of(target, **parameters):
    return find_code_version(class_names({"_target_": target, **parameters}), Prediction)


@pytest.fixture
def write_module(tmp_path, monkeypatch):
    """Return a function that writes a module of the user."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(text):
        (tmp_path / "mine_alone.py").write_text(text)
        sys.modules.pop("mine_alone", None)
        importlib.invalidate_caches()
        class_facts._code_version.cache_clear()

    yield write
    sys.modules.pop("mine_alone", None)


def test_version_of_our_classes_is_their_edition(monkeypatch):
    monkeypatch.setattr(f"{OURS}.edition", 1)
    assert version_of(OURS) == CodeVersion(1, None, ())
    assert provenance().is_from(version_of(OURS))
    assert provenance(code="0" * 16).is_from(version_of(OURS))
    monkeypatch.setattr(f"{OURS}.edition", 3, raising=False)
    class_facts._code_version.cache_clear()
    assert version_of(OURS).edition == 3
    assert not provenance().is_from(version_of(OURS))
    assert provenance(edition=3).is_from(version_of(OURS))
    outer = version_of("sklearn.ensemble.BaggingClassifier", estimator={"_target_": OURS})
    assert outer.edition == 3


@pytest.mark.parametrize("edition", [0, "2", None])
def test_edition_must_be_a_positive_integer(monkeypatch, edition):
    monkeypatch.setattr(f"{OURS}.edition", edition, raising=False)
    with pytest.raises(UserError, match=r"MCBoost.edition is .*; it must be 1, 2"):
        version_of(OURS)


def test_version_of_installed_classes_is_the_version_of_their_package():
    version = version_of("sklearn.svm.SVC")
    assert [installed.distribution for installed in version.versions] == ["scikit-learn"]
    assert provenance(environment=dict(version.versions)).is_from(version)
    assert not provenance(environment={"scikit-learn": "0.1"}).is_from(version)


def test_version_of_user_classes_is_the_digest_of_their_file(write_module):
    write_module("class Mine:\n    pass\n")
    before = version_of("mine_alone.Mine")
    assert provenance(source=before.source).is_from(before)
    assert provenance(code="0" * 16).is_from(before)
    write_module("class Mine:\n    pass  # changed\n")
    assert not provenance(source=before.source).is_from(version_of("mine_alone.Mine"))
    write_module("class Mine:\n    edition = 2\n")
    changed = version_of("mine_alone.Mine")
    assert changed.edition == 2
    assert changed.source not in (None, before.source)
