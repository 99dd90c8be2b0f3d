import pytest

pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex

from boostbench.analysis.verdicts import VERDICTS, Tally
from boostbench.figures.bars import draw_overview
from boostbench.report.overview import CountedLine


def tally(**numbers):
    named = {verdict.replace("_", " "): number for verdict, number in numbers.items()}
    return Tally(dict.fromkeys(VERDICTS, 0) | named)


def test_bars_are_as_long_as_the_counts():
    lines = [
        CountedLine("p", "Paper", tally(reproduced=5, worse=1, not_run=4), is_paper=True),
        CountedLine("p1", "Table I", tally(reproduced=2, not_run=4)),
        CountedLine("p2", "Table II^x", tally(reproduced=3, worse=1)),
        CountedLine("p3", "Table III", tally(not_published=7)),
    ]
    figure = draw_overview(lines, ["reproduced", "worse", "not run"])
    (axes,) = figure.axes
    bars = [(round(b.get_y() + b.get_height() / 2), b.get_x(), b.get_width()) for b in axes.patches]
    assert bars == [(1, 0, 2), (1, 2, 4), (2, 0, 3), (2, 3, 1)]
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "Paper",
        "Table I",
        "Table II$^{\\mathrm{x}}$",
    ]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["reproduced", "worse", "not run"]
    looks = [(to_hex(b.get_facecolor()), b.get_hatch() is not None) for b in axes.patches]
    reproduced, worse = ((VERDICTS[verdict].colour, False) for verdict in ("reproduced", "worse"))
    assert looks == [reproduced, ("#ffffff", True), reproduced, worse]
    figure.canvas.draw()
