import json

import pytest

from boostbench.experiment.certificates import (
    Certificates,
    certificates_path,
    file_certificate,
)

from .examples import certificate

TARGET = "fake_classifiers.Nearest"


@pytest.mark.parametrize(
    ("certificates", "grade"),
    [
        ([], None),
        ([certificate("x", "y")], None),
        ([certificate("x", "z")], "identical"),
        ([certificate("x", "z", "equivalent")], "equivalent"),
        ([certificate("x", "z", "equivalent"), certificate("x", "z")], "identical"),
        # Identical ones make a chain, in whatever order they are on file.
        ([certificate("y", "z"), certificate("x", "y")], "identical"),
        (
            [
                certificate("x", "y"),
                certificate("y", "w"),
                certificate("w", "x"),
                certificate("w", "z"),
            ],
            "identical",
        ),
        # Equivalent ones do not, at either end.
        ([certificate("x", "y"), certificate("y", "z", "equivalent")], None),
        ([certificate("x", "y", "equivalent"), certificate("y", "z")], None),
        ([certificate("x", "y", "equivalent"), certificate("y", "z", "equivalent")], None),
        # Nor do they lead back.
        ([certificate("z", "x")], None),
        ([certificate("x", "z", target="fake_classifiers.Tying")], None),
        ([certificate("x", "z", configurations=["c2"])], None),
        ([certificate("x", "y"), certificate("y", "z", configurations=["c2"])], None),
    ],
)
def test_grade(certificates, grade):
    assert Certificates(certificates).grade(TARGET, "x", "z", "c1") == grade


def test_file(tmp_path):
    assert Certificates.read(tmp_path).grade(TARGET, "x", "z", "c1") is None
    file_certificate(tmp_path, certificate("x", "y"))
    file_certificate(tmp_path, certificate("y", "z"))
    assert Certificates.read(tmp_path).grade(TARGET, "x", "z", "c1") == "identical"
    assert len(certificates_path(tmp_path).read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"before": "x"},
        {"grade": "identical"},
        {"configurations": ["c1", "c2", "c3"]},
        {"sample": []},
        {"seconds": None},
    ],
)
def test_a_changed_line_is_left_out_and_named(tmp_path, change):
    file_certificate(tmp_path, certificate("w", "z", "equivalent"))
    path = certificates_path(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}) + "\n")
    found = Certificates.read(tmp_path)
    assert found.warnings == [f"{path}:1: not a certificate, left out"]
    assert all(found.grade(TARGET, made, "z", "c1") is None for made in "wx")


@pytest.mark.parametrize(
    "content",
    [
        certificate("x", "z", grade="certain"),
        certificate("x", "z", sample=[{"config_hash": "c1"}]),
    ],
)
def test_a_certificate_that_says_more_than_its_sample_is_left_out(tmp_path, content):
    file_certificate(tmp_path, content)
    assert len(Certificates.read(tmp_path).warnings) == 1


LINES = ["", "{", "[]", "null", '{"key": "1"}', '{"key": NaN}', "\\xff", "[" * 10**5]
LINES += ['{"key":' * 10**5, '{"key":' * 400 + "1" + "}" * 400]


@pytest.mark.parametrize("line", LINES)
def test_damaged_lines(tmp_path, line):
    file_certificate(tmp_path, certificate("x", "z"))
    path = certificates_path(tmp_path)
    path.write_text(f"{line}\n{path.read_text()}")
    found = Certificates.read(tmp_path)
    assert found.grade(TARGET, "x", "z", "c1") == "identical"
    assert len(found.warnings) == bool(line)
