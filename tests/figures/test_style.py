import struct

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from boostbench.errors import UserError
from boostbench.figures.style import label, save, style


def make():
    with style():
        figure = Figure(figsize=(2, 1), dpi=100)
        axes = figure.subplots()
        axes.plot([1, 2], [3, 4], clip_on=True)
        axes.set_title(label("RBoost^proj"))
    return figure


def test_files_are_the_same_every_time(tmp_path):
    first, second = (save(make(), tmp_path / name / "f", "T", "D") for name in ("a", "b"))
    assert [path.name for path in first] == ["f.png", "f.svg", "f.pdf"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_files_tell_what_they_show_and_not_when_they_were_made(tmp_path):
    png, svg, pdf = save(make(), tmp_path / "f", "The title", "What it shows.")
    text = svg.read_text()
    assert "The title" in text
    assert "What it shows." in text
    assert "<dc:date>" not in text
    assert b"What it shows." in png.read_bytes()
    assert b"The title" in pdf.read_bytes()
    assert b"Date" not in pdf.read_bytes()
    assert struct.unpack(">II", png.read_bytes()[16:24]) == (200, 100)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "figures").write_text("a file")
    with pytest.raises(UserError, match="choose another folder by results="):
        save(make(), tmp_path / "figures" / "f", "T", "D")


def test_superscripts():
    assert label("RBoost^rank, RBoost^proj") == (
        r"RBoost$^{\mathrm{rank}}$, RBoost$^{\mathrm{proj}}$"
    )
    assert label("AdaBoost.MH") == "AdaBoost.MH"
