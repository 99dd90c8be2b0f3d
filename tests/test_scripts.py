"""Test the scripts, which are seldom run, against the current package."""

import importlib
import shutil
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from fitting.examples import RECORD, TRIAL, modify_record, recorded, rewrite

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture
def script(monkeypatch):
    """Return a function that imports a script; its imports are removed after the test."""
    monkeypatch.syspath_prepend(SCRIPTS)
    yield importlib.import_module
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "").parent == SCRIPTS:
            del sys.modules[name]


@pytest.mark.parametrize("name", sorted(path.stem for path in SCRIPTS.glob("*.py")))
def test_imports_of_scripts_exist(script, name):
    try:
        assert script(name).__doc__
    except (ModuleNotFoundError, SystemExit) as error:
        # A benchmark without its optional libraries exits with a hint.
        missing = error.__context__ if isinstance(error, SystemExit) else error
        if not isinstance(missing, ModuleNotFoundError) or missing.name.startswith("boostbench"):
            raise
        pytest.skip(f"{name} needs {missing.name}")


@pytest.mark.parametrize(
    ("code", "expected"), [("import os; os.abort()", "ended by -6"), ("1 / 0", "ZeroDivisionError")]
)
def test_memory_of_a_crash_is_infinite(script, monkeypatch, code, expected):
    bench_memory = script("bench_memory")
    monkeypatch.setattr(bench_memory, "_LOAD", code)
    peak, message = bench_memory._peak(Path("any.csv"))
    assert peak > sys.maxsize
    assert message.startswith(expected)


def test_hours_of_a_path_go_by_the_reference_job_of_its_splits(script):
    table_hours = script("table_hours")
    split = recorded(RECORD | {"seconds": RECORD["seconds"] | {"fit": 36.0, "calibration": 0.1}})
    path = {"points": [{"width": 1.0}, {"width": 2.0}], "validation_errors": [0.1, 0.2]}
    trial = {key: value for key, value in TRIAL.items() if key not in ("point", "validation_error")}
    trial = recorded(trial | path | {"seconds": [20.0, 16.0]}, "tuning")
    job = table_hours.reference_job([split])
    assert job == 0.1
    assert table_hours.of_record(split, job) == 36 / 3600 / 2
    assert table_hours.of_record(trial, job) == 36 / 3600 / 2


def test_hours_by_table(folder, script):
    """`make tables` begins with them."""
    recorded = Path("results", "records", "annulus")
    shutil.copytree(SCRIPTS.parent / recorded, recorded, ignore=lambda *_: ["rpboost.jsonl.gz"])
    table_hours = script("table_hours")
    hours = table_hours.read_hours(Path("results"))
    fits = hours["demo"]
    assert {(key.algo, key.tuning) for key in fits} == {("adaboost", False)}
    assert len(fits) == 10
    # The paper's table shows them too; in the sum they count once.
    assert hours["rpboost12.4"].items() > fits.items()
    assert table_hours.total(hours) == sum((fits | hours["rpboost12.4"]).values()) > 0


@pytest.mark.parametrize(("data", "code"), [("vehicle", 2), ("wine", 1)])
def test_check_verification_names_data_that_are_not_available(
    script, done, capfd, monkeypatch, data, code
):
    """Records that cannot be fitted prove nothing; equal refits mean that a mutation is missed."""
    done("run", "algo=adaboost_mh", "data=wine", "algo.n_iterations=2", "protocol.n_splits=3")
    path = Path("results", "records", "wine", "adaboost_mh.jsonl")
    rewrite(path, lambda i, record: modify_record(record, config__data__name=data))
    verified = done("verify", "--jobs", "1")
    check_verification = script("check_verification")
    result = CompletedProcess([], 0, verified.out, verified.err)
    monkeypatch.setattr(check_verification, "verify_mutant", lambda *_: result)
    monkeypatch.setattr(sys, "argv", ["check_verification", "--only", "shrinkage"])
    if code == 1:
        assert check_verification.main() == 1
        assert capfd.readouterr().out.startswith("MISSED: shrinkage of MCBoost")
        return
    with pytest.raises(SystemExit) as stop:
        check_verification.main()
    printed = capfd.readouterr()
    assert (stop.value.code, printed.out) == (2, "")
    assert printed.err == (
        "check_verification: the data of 3 records, such as vehicle, are not available; put them "
        "into $BOOSTBENCH_DATA, or connect to OpenML\n"
    )


def test_check_language_lists_vague_sentences_and_names(script, tmp_path):
    module = tmp_path / "found.py"
    module.write_text(
        '"""Of the samples, what is left."""\n\n\n'
        "def rows_of(found):\n"
        '    """Return what the edges tell."""\n'
        "    # With nothing else.\n"
        "    some = found\n"
        "    return some\n"
    )
    places = list(script("check_language").find_places([tmp_path]))
    assert {(place.line, place.pattern) for place in places} == {
        (1, "name"),
        (1, "begins with Of"),
        (1, "what"),
        (1, "docstring fragment"),
        (4, "variable"),
        (5, "what"),
        (5, "tell"),
        (6, "comment fragment"),
        (7, "variable"),
    }


def test_check_language_accepts_whole_sentences(script, tmp_path):
    module = tmp_path / "candidates.py"
    module.write_text(
        '"""Selection of candidates."""\n\n\n'
        "def select_candidates(scores, tolerance):\n"
        '    """Return the indices of the scores within `tolerance` of the best score."""\n'
        "    # Rounding can exchange scores that are this close.\n"
        "    return (scores >= scores.max() - tolerance).nonzero()[0]\n"
    )
    assert list(script("check_language").find_places([tmp_path])) == []


def test_check_language_fails_above_the_limit_and_update_lowers_it(script, tmp_path, monkeypatch):
    check_language = script("check_language")
    package = tmp_path / "boostbench"
    package.mkdir()
    module = package / "stumps.py"
    module.write_text("# With a fragment.\n")
    monkeypatch.setattr(check_language, "ROOT", tmp_path)
    monkeypatch.setattr(check_language, "LIMITS", tmp_path / "limits.json")
    assert check_language.main([]) == 1
    assert check_language.main(["--update"]) == 0
    assert check_language.main([]) == 0
    module.write_text("# With a fragment.\nx = 1\n# Without a verb.\n")
    assert check_language.main([]) == 1
