import msgspec
import pytest

from boostbench.report.data_files import (
    find_verdicts,
    lost_verdicts,
    read_verdicts,
    verdict_lines,
    verdicts_as_csv,
)
from boostbench.util.errors import UserError


def test_verdicts_cover_published_numbers(table):
    first, second, failed = find_verdicts([table])
    assert msgspec.structs.asdict(first) == {
        **{"table": "name", "data": "wine", "algo": "a", "column": "a"},
        **{"ours": 2.0, "ours_std": 1.0, "n": 3},
        **{"published": 3.0, "published_std": 3.0, "published_n": 10},
        **{name: getattr(first, name) for name in ("low", "high", "p", "detectable", "p_within")},
        **{"differs": False, "within": False, "rule": "tost", "command": None},
        **{"difference": -1.0, "quantity": "test_error", "digits": 1, "note": None},
        **{"verdict": "undecided", "without_pool": "undecided", "basis": "welch"},
    }
    assert 0.05 < first.p < 1
    assert first.detectable > first.high - first.difference
    assert first.low < -1 < first.high
    assert (second.data, second.column, second.verdict) == ("wine", "b", "worse")
    assert (failed.data, failed.column, failed.verdict) == ("glass", "b", "failed")
    assert (failed.ours, failed.n, failed.difference) == (None, 0, None)
    assert (failed.differs, failed.within) == (None, None)


def test_verdict_file_round_trip(table, tmp_path):
    path = tmp_path / "verdicts.csv"
    lines = verdict_lines(find_verdicts([table]))
    path.write_text(verdicts_as_csv(lines))
    assert read_verdicts(path) == lines
    assert lines[0]._asdict() == {
        "table": "name",
        "data": "wine",
        "algo": "a",
        "column": "a",
        "ours": "2.0",
        "published": "3.0",
        "n": "3",
        "detectable": "3.4",
        "differs": "False",
        "within": "False",
        "verdict": "undecided",
    }
    assert lines[2].detectable == ""
    # A file of another version has other columns.
    path.write_text("table,data,column,ours,verdict,more\nname,wine,a,2.0,reproduced,x\n")
    [line] = read_verdicts(path)
    assert verdicts_as_csv([line]).splitlines()[1] == "name,wine,,a,2.0,,,,,,reproduced"
    assert lost_verdicts([line], find_verdicts([table]))


def test_missing_file_has_no_verdicts(tmp_path):
    assert read_verdicts(tmp_path / "verdicts.csv") == []


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"table,data\nM\xfcller,x\n"])
def test_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "verdicts.csv"
    path.write_bytes(content)
    with pytest.raises(UserError, match="no file of verdicts"):
        read_verdicts(path)


@pytest.mark.parametrize("errors", [[9.0, 9.1, 9.2], [0.1, 0.1, 0.2], []])
def test_lost_verdicts_were_reproduced_before(make_table, make_cell, errors):
    def judge(a, b):
        cells = {
            ("wine", "a"): make_cell(a, published=(3.0, 0.3)),
            ("wine", "b"): make_cell(b, published=(3.0, 0.3)),
        }
        return find_verdicts([make_table(cells)])

    before = verdict_lines(judge([3.0, 3.1, 2.9], [9.0, 9.1, 9.2]))
    assert [line.verdict for line in before] == ["reproduced", "worse"]
    assert lost_verdicts(before, judge([3.1, 3.1, 2.9], [0.1, 0.1, 0.2])) == []
    [(then, now)] = lost_verdicts(before, judge(errors, [9.0, 9.1, 9.2]))
    assert then == before[0]
    assert [getattr(now, key) for key in ("table", "data", "column")] == ["name", "wine", "a"]
    assert now.verdict != "reproduced"
    # A number without a verdict today is not lost.
    assert lost_verdicts(before, []) == []
