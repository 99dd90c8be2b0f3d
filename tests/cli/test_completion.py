import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from boostbench.cli._commands import command_names
from boostbench.util import configs


@pytest.fixture
def complete(done, monkeypatch):
    def complete(line):
        monkeypatch.setenv("COMP_LINE", line)
        result = done("-sc", "query=bash")
        return result.out.split()

    return complete


def test_commands_are_completed(complete):
    commands = complete("boostbench ")
    assert commands == command_names()
    assert {"check", "compare", "data", "figure", "list", "report", "run", "table"} < set(commands)
    assert complete("boostbench ta") == ["table"]


def test_names_are_completed(complete):
    assert complete("boostbench data vow") == ["vowel", "vowel-redrawn", "vowel528"]
    assert complete("boostbench table ") == configs.list_options("table")
    assert complete("boostbench figure ") == configs.list_options("figure")
    assert complete("boostbench list d") == ["data"]
    assert complete("boostbench compare samme adaboost_m") == ["adaboost_mh", "adaboost_mo"]


def test_run_completes_groups_options_and_keys(complete):
    options = [f"algo={name}" for name in configs.list_options("algo") if name.startswith("rb")]
    assert complete("boostbench run algo=rb") == options
    assert complete("boostbench run algo=rboost_proj algo.lo") == ["algo.loss="]
    assert complete("boostbench run algo=cgens algo.gr") == ["algo.grid."]
    assert complete("boostbench run algo=nonsense se") == ["seed="]
    assert complete("boostbench run measure=pred") == ["measure=prediction", "measure=predictions"]
    assert {"data=", "protocol=", "algo.", "seed="} <= set(complete("boostbench run -m "))
    assert complete("boostbench frob ") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("boostbench ta", ["table "]),
        ("boostbench run algo=rboost_pro", ["rboost_proj ", "rboost_proj_from_zero "]),
        ("boostbench run algo.lo", ["algo.loss="]),
    ],
)
def test_bash_replaces_the_value_alone(done, folder, line, replies):
    """Bash replaces the part of a word behind "=" alone."""
    script = done("-sc", "install=bash").out
    assert done("run", "-sc", "install=bash").out == script
    assert script.rstrip().endswith("-F _boostbench_completion boostbench")
    program = Path(sys.executable).with_name("boostbench")
    commands = [
        script,
        f'boostbench() {{ {program} "$@"; }}',
        f"COMP_LINE='{line}' COMP_POINT={len(line)}",
        "_boostbench_completion",
        "printf '%s|' \"${COMPREPLY[@]}\"",
    ]
    shell = subprocess.run(["bash", "-c", "\n".join(commands)], capture_output=True, text=True)
    assert shell.stdout.split("|")[:-1] == replies, shell.stderr


@pytest.mark.parametrize("argv", [["-sc"], ["-sc", "install=ksh"], ["run", "-sc", "remove=bash"]])
def test_unknown_shell_is_refused(refused, argv):
    assert "is no action of completion; install it by" in refused(*argv)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_have_a_script(done, shell):
    assert "boostbench" in done("-sc", f"install={shell}").out
