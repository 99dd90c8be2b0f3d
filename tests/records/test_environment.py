import platform
import subprocess

import numpy as np
import pytest

from boostbench import __version__
from boostbench.records.environment import blas, commit, cpu_model, environment


def test_environment_has_versions_and_machine():
    environment_facts = environment("pandas")
    assert environment_facts["python"] == platform.python_version()
    assert environment_facts["numpy"] == np.__version__
    assert environment_facts["boostbench"] == __version__
    assert "pandas" in environment_facts
    assert "pandas" not in environment("numpy")
    assert environment_facts["n_cores"] >= 1
    assert environment_facts["cpu"] == cpu_model() != ""


def test_unknown_packages_have_no_version():
    assert "nosuchpackage" not in environment("nosuchpackage")


def test_blas_of_the_system_is_identified(monkeypatch):
    built = {"Build Dependencies": {"blas": {"name": "accelerate"}}}
    monkeypatch.setattr("boostbench.records.environment.threadpool_info", list)
    monkeypatch.setattr(np, "show_config", lambda mode: built)
    monkeypatch.setattr(platform, "mac_ver", lambda: ("15.6", ("", "", ""), "arm64"))
    assert blas.__wrapped__() == "accelerate 15.6"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return a function that runs git in a folder with a package boostbench."""
    (tmp_path / "boostbench").mkdir()
    (tmp_path / "boostbench" / "__init__.py").write_text("")
    file = tmp_path / "boostbench" / "experiment" / "environment.py"
    monkeypatch.setattr("boostbench.records.environment.__file__", str(file))
    commit.cache_clear()
    yield (
        lambda *arguments: (
            subprocess.run(
                ["git", "-C", tmp_path, "-c", "user.name=me", "-c", "user.email=", *arguments],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
    )
    commit.cache_clear()


def test_commit_is_the_head_of_the_checkout(checkout, tmp_path):
    checkout("init")
    checkout("add", ".")
    checkout("commit", "-m", "one")
    head = checkout("rev-parse", "HEAD")[:7]
    (tmp_path / "notes").write_text("beside the package")
    assert commit() == head


@pytest.mark.parametrize("name", ["__init__.py", "new.py"])
def test_commit_of_changed_code_is_marked(checkout, tmp_path, name):
    checkout("init")
    checkout("add", ".")
    checkout("commit", "-m", "one")
    (tmp_path / "boostbench" / name).write_text("more = 1\n")
    assert commit() == checkout("rev-parse", "HEAD")[:7] + "+"


def test_other_checkouts_have_no_commit(checkout):
    """Use a project whose virtual environment, which git ignores, contains boostbench."""
    assert commit() == __version__
    checkout("init")
    checkout("commit", "--allow-empty", "-m", "one")
    commit.cache_clear()
    assert commit() == __version__
