import json

import pytest
from fitting.examples import FINDING, RECORD, modify_record, recorded

from boostbench.records.verified import Group, RefitFindings, add_finding, compact, verified_path


@pytest.mark.parametrize(
    ("old", "state"),
    [
        *((name, "same") for name in ("verified", "compatible", "equivalent", "unverified")),
        ("refuted", "different"),
    ],
)
def test_files_of_schema_1_are_read(tmp_path, old, state):
    verified_path(tmp_path).write_text(json.dumps({**FINDING, "state": old}) + "\n")
    findings = RefitFindings.read(tmp_path)
    [finding] = findings.by_group.values()
    assert (finding.state, findings.warnings) == (state, [])
    assert finding.different == FINDING["refuted"]


def test_compacting_keeps_the_last_line_of_each_group_as_it_is(tmp_path):
    path = verified_path(tmp_path)
    first, last, second = (
        json.dumps({**FINDING, "state": "refuted", "data": data, "total": total})
        for data, total in (("a", 4), ("a", 5), ("b", 4))
    )
    path.write_text(f"{second}\n{first}\nno JSON\n{last}\n")
    compact(tmp_path)
    assert path.read_text() == f"{last}\n{second}\n"
    [finding, _] = RefitFindings.read(tmp_path).by_group.values()
    add_finding(tmp_path, finding)
    assert RefitFindings.read(tmp_path).by_group[finding.group] == finding


def test_data_sets_of_one_name_have_findings_of_their_own(tmp_path):
    """Check that a line without a checksum holds for data sets that have no line of their own."""
    first = recorded(RECORD)
    other = recorded(modify_record(RECORD, config__data__checksum="0" * 16))
    group = Group.from_config(first.config)
    names = {"target": group.target, "choices": group.choices, "data": group.data}
    lines = [FINDING | names | {"total": 4}, FINDING | names | {"total": 5}]
    lines[1]["checksum"] = group.checksum
    verified_path(tmp_path).write_text("".join(json.dumps(line) + "\n" for line in lines))
    findings = RefitFindings.read(tmp_path)
    assert [findings.find(record).total for record in (first, other)] == [5, 4]
    compact(tmp_path)
    assert RefitFindings.read(tmp_path).by_group == findings.by_group


def test_unknown_state_is_named(tmp_path):
    verified_path(tmp_path).write_text(json.dumps({**FINDING, "state": "perhaps"}) + "\n")
    [warning] = RefitFindings.read(tmp_path).warnings
    assert "state" in warning
