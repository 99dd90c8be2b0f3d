import pytest

from boostbench.util import configs


@pytest.fixture
def complete(done, monkeypatch):
    def complete(line):
        monkeypatch.setenv("COMP_LINE", line)
        result = done("-sc", "query=bash")
        return result.out.split()

    return complete


def test_commands(complete):
    commands = [
        *("check", "compare", "data", "export", "figure", "list"),
        *("merge", "report", "run", "table", "verify"),
    ]
    assert complete("boostbench ") == commands
    assert complete("boostbench ta") == ["table"]


def test_names(complete):
    assert complete("boostbench data vow") == ["vowel", "vowel-redrawn", "vowel528"]
    assert complete("boostbench table ") == configs.list_options("table")
    assert complete("boostbench figure ") == configs.list_options("figure")
    assert complete("boostbench list d") == ["data"]
    assert complete("boostbench compare samme adaboost_m") == ["adaboost_mh", "adaboost_mo"]


def test_hydra_completes_what_follows_run(complete):
    found = [f"algo={name}" for name in configs.list_options("algo") if name.startswith("rb")]
    assert complete("boostbench run algo=rb") == found
    assert complete("boostbench run algo=rboost_proj algo.lo") == ["algo.loss="]
    assert "data=" in complete("boostbench run -m ")


def test_the_shell_function_calls_this_command(done):
    result = done("run", "-sc", "install=bash")
    assert result.out.rstrip().endswith("-F hydra_bash_completion boostbench")
