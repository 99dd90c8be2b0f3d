import sys

import pytest

from boostbench.util.process import import_optional


@pytest.mark.parametrize("name", ["boosting_of_others", "boosting_of_others.trees"])
def test_missing_library_is_an_error_of_one_line(name):
    advice = "^charts need boosting_of_others; install it by 'pip install boosting_of_others'$"
    with pytest.raises(ImportError, match=advice):
        import_optional(name, "charts need")


@pytest.mark.parametrize("line", ["import nowhere_to_be_found", "from sys import nothing"])
def test_broken_library_raises_its_own_error(line, tmp_path, monkeypatch):
    (tmp_path / "broken_library.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=f"'{line.split()[-1]}'"):
        import_optional("broken_library")


def test_a_module_is_not_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "email.mime", None)
    with pytest.raises(ImportError, match=r"email\.mime"):
        import_optional("email.mime")
    assert import_optional("email.charset") is sys.modules["email.charset"]
