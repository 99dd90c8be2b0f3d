from pathlib import Path

import pytest
from rich.console import Console

from boostbench.cli import certify
from boostbench.experiment.certify.pairs import Pair
from boostbench.experiment.certify.samples import Group, Sample
from boostbench.experiment.certify.session import Finding
from boostbench.experiment.records import read

RESULTS = Path(__file__).parents[2] / "results"
QUICK = ["algo.n_iterations=20", "protocol.n_splits=3", "protocol.tune=none", "parallel=serial"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["adabost"], "unknown algorithm 'adabost'; did you mean adaboost"),
        (["AdaBostMH"], "did you mean AdaBoostMH"),
        (["--budget", "30"], "--budget is '30'; write 90s, 30m or 2h"),
        (["--budget", "-3m"], "expected one argument"),
        (["--jobs", "0"], "--jobs is 0"),
        (["--jobs", "many"], "invalid int value: 'many'"),
        (["rerun=all"], "takes results=DIR alone"),
    ],
)
def test_mistakes(refused, argv, message):
    assert message in refused("certify", *argv)


def test_nothing_on_record(call):
    result = call("certify", "--dry-run")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("nothing to certify")


@pytest.fixture
def stale(call, monkeypatch):
    """Three records by other code."""
    with monkeypatch.context() as patch:
        patch.setattr("boostbench.experiment.plan.made_by", lambda config, measure: "0" * 16)
        assert call("run", "data=wine", "algo=adaboost_mh", *QUICK).code == 0


def test_dry_run(call, folder, stale):
    result = call("certify", "--dry-run", "--jobs", "3")
    assert result.code == 0
    header, _, row, total, last = result.out.splitlines()
    assert header.split() == [
        "algorithm",
        "commit",
        "records",
        "configurations",
        "samples",
        "CPU",
        "min",
    ]
    name, _, *numbers = row.split()
    assert (name, numbers[:3]) == ("adaboost_mh", ["3", "1", "1"])
    assert total.split()[:4] == ["all", "3", "1", "1"]
    assert last.startswith("3 at a time: about ")
    assert not (folder / "results" / "certificates.jsonl").exists()
    assert call("certify", "mcboost", "--dry-run").out.startswith("nothing to certify")
    assert call("certify", "AdaBoostMH", "--dry-run").out.splitlines()[2] == row


@pytest.fixture
def finding():
    """A group of one configuration, sampled once and identical."""
    config = {"algo": {"_target_": "a.B"}, "data": {"name": "wine"}, "grid": {}, "protocol": {}}
    record = {"key": "k", "config_hash": "c", "split": 3, "config": config | {"seed": 0}}
    sample = Sample("records/wine/b.jsonl", record | {"code": "before"}, "after", "b17bc98")
    answer = {"code": "x", "seconds": 1.0, "outcome": {"test_error": 0.25}, "outputs": {}}
    group = Group("b", "a.B", {"c": [[sample]]})
    return Finding(group, [Pair(sample, answer, answer)], grade="identical", covered=["c"])


def shown(findings, capsys):
    code = certify._print_findings(Console(width=80), findings)
    return code, *capsys.readouterr()


def test_identical(finding, capsys):
    code, out, err = shown([finding], capsys)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].split() == ["b", "b17bc98", "1", "1", "0", "identical"]


def test_stale_with_its_differences(finding, capsys):
    pair = finding.pairs[0]
    finding.pairs = [Pair(pair.sample, pair.before, pair.after | {"outcome": {"test_error": 0.5}})]
    finding.grade, finding.covered, finding.reasons = None, [], ["1 pairs with an error"]
    code, out, err = shown([finding], capsys)
    assert (code, err) == (1, "")
    assert out.splitlines()[2].split()[-1] == "stale"
    assert "b: 1 pairs with an error" in out
    assert "b: b on wine, split 3: test_error: 0.25 then, 0.5 today" in out


def test_refused(finding, capsys):
    finding.pairs, finding.grade, finding.covered = [], None, []
    finding.reasons, finding.is_refused = ["commit b17bc98 is gone"], True
    code, out, err = shown([finding], capsys)
    assert code == 2
    assert err == "boostbench: b: commit b17bc98 is gone\n"
    assert out.splitlines()[2].split()[-1] == "refused"


def test_not_sampled(finding, capsys):
    finding.pairs, finding.grade, finding.covered = [], None, []
    finding.skipped = {"c": "data set 'wine' is not there"}
    code, out, err = shown([finding], capsys)
    assert (code, err) == (0, "")
    assert out.splitlines()[2].split()[-2:] == ["not", "sampled"]
    assert "b: not sampled: data set 'wine' is not there" in out


def test_changes_of_verdicts():
    file = "records/wine/adaboost_mh.jsonl"
    samples = [Sample(file, r, "after", "b17bc98") for r in read(RESULTS / file)[0]]

    def changes(error):
        pairs = [Pair(s, {"outcome": s.record}, {"outcome": s.record | error}) for s in samples]
        return certify._verdict_changes(pairs, RESULTS)

    assert changes({}) == []
    found = changes({"test_error": 1.0})
    assert any(change.startswith("randomboost5, adaboost_mh on wine: ") for change in found)
    assert all(change.endswith(" then, worse today") for change in found)
