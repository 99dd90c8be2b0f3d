import struct

import pytest

pytest.importorskip("matplotlib")

import numpy as np
from fitting.examples import measured
from matplotlib.figure import Figure
from matplotlib.text import Text

from boostbench.data.dataset import Dataset
from boostbench.figures.bars import Bar, draw_bars
from boostbench.figures.boundaries import MapPanel, draw_boundaries, draw_points
from boostbench.figures.curves import draw_curves
from boostbench.figures.features import FeatureUse, draw_features
from boostbench.figures.lines import draw_times, draw_varied_lines
from boostbench.figures.panels import Point, tidy
from boostbench.figures.single_fit import CodewordPanel, draw_codewords
from boostbench.figures.sources import SplitRecords
from boostbench.figures.style import label, save, style
from boostbench.figures.sweep import Setting, draw_sweep
from boostbench.fitting.quantities import TEST_ERROR
from boostbench.util.errors import UserError


def make():
    with style():
        figure = Figure(figsize=(2, 1), dpi=100)
        axes = figure.subplots()
        axes.plot([1, 2], [3, 4], clip_on=True)
        axes.set_title(label("RBoost^proj"))
    return figure


def test_files_are_reproducible(tmp_path):
    first, second = (save(make(), tmp_path / name / "f", "T", "D") for name in ("a", "b"))
    assert [path.name for path in first] == ["f.png", "f.svg", "f.pdf"]
    for before, after in zip(first, second, strict=True):
        assert before.read_bytes() == after.read_bytes()


def test_files_have_a_description_without_a_date(tmp_path):
    png, svg, pdf = save(make(), tmp_path / "f", "The title", "What it shows.")
    text = svg.read_text()
    assert "The title" in text
    assert "What it shows." in text
    assert "<dc:date>" not in text
    assert b"What it shows." in png.read_bytes()
    assert b"The title" in pdf.read_bytes()
    assert b"Date" not in pdf.read_bytes()
    assert struct.unpack(">II", png.read_bytes()[16:24]) == (200, 100)


def test_unwritable_folder_is_refused(tmp_path):
    (tmp_path / "figures").write_text("a file")
    with pytest.raises(UserError, match="choose another folder by results="):
        save(make(), tmp_path / "figures" / "f", "T", "D")


def test_superscripts_become_formulas():
    assert label("RBoost^rank, RBoost^proj") == (
        r"RBoost$^{\mathrm{rank}}$, RBoost$^{\mathrm{proj}}$"
    )
    assert label("AdaBoost.MH") == "AdaBoost.MH"
    assert label("a_b^c_d $5") == r"a_b$^{\mathrm{c}}$_d \$5"


#: To matplotlib a formula, and one that it cannot read.
ODD = "P $a_$ b^_ c^d_e"


def bars(make_cell):
    return draw_bars([Bar(ODD, ODD, ODD, make_cell([1, 2]))])


def boundaries(_):
    return draw_boundaries([MapPanel(row, ODD, None, 1) for row in (ODD, "other")])


def codewords(_):
    return draw_codewords([CodewordPanel(ODD, np.eye(2))], [np.eye(2)] * 2)


def curves(_):
    return draw_curves(
        [SplitRecords(ODD, ODD, [measured("mine", checkpoints={"1": 0.5})])], headline=ODD
    )


def features(_):
    record = measured("features", counts=[1, 2], test_error=0.5, n_iterations=3)
    return draw_features([FeatureUse(ODD, ODD, [ODD, "x"], [record])])


def points(_):
    return draw_points([Dataset(ODD, np.eye(4, 2), np.arange(4) % 2, "made here")])


def sweep(_):
    values = [{"data": ODD, "a": ODD, f"b{ODD}": x, "c": x} for x in (ODD, "x")]
    return draw_sweep([Setting(label, 1.0, 1.0) for label in values], TEST_ERROR)


def times(_):
    return draw_times(tidy([Point(ODD, ODD, 1, 2.0)]), [ODD])


def varied(_):
    return draw_varied_lines(tidy([Point(ODD, ODD, 1, 2.0, 1.0)]), [ODD], [ODD], ODD, ["error"])


@pytest.mark.parametrize(
    "draw", [bars, boundaries, codewords, curves, features, points, sweep, times, varied]
)
def test_titles_are_shown_without_formulas(draw, make_cell, assert_titles_fit):
    figure = draw(make_cell)
    assert_titles_fit(figure)
    texts = [text.get_text().replace(label(ODD), "") for text in figure.findobj(Text)]
    assert not [text for text in texts if "$" in text]
