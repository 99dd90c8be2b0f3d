import numpy as np
import pytest

pytest.importorskip("matplotlib")

from fitting.examples import measured

from boostbench.figures.single_fit import draw_paths, paths_headline

NAMES = ["1", "2", "colour=red"]


@pytest.fixture
def record():
    def path(start):
        return (start + np.arange(12.0)).reshape(2, 2, 3).tolist()

    return measured(
        "path",
        norms=[0.5, 1.0],
        stumps=[{"feature": n, "threshold": n / 3} for n in range(3)],
        paths={
            "exponential": {"exact": path(0), "stage_wise": path(100)},
            "logistic": {"exact": path(200), "stage_wise": path(300)},
        },
    )


def test_paths_are_laid_out_by_loss_and_class(record):
    axes = draw_paths(record, ["three", "six"], NAMES).axes
    assert [panel.get_title() for panel in axes] == ["three", "six", *[""] * 6]
    assert [panel.get_ylabel() for panel in axes[::2]] == [
        "exact\nexponential",
        "stage-wise\nexponential",
        "exact\nlogistic",
        "stage-wise\nlogistic",
    ]
    # The path of class 1 and stump 2 in the last row starts at 0.
    line = axes[7].lines[2]
    assert list(line.get_xdata()) == [0, 0.5, 1.0]
    assert list(line.get_ydata()) == [0, 305, 311]
    assert len({line.get_color() for line in axes[7].lines}) == 3


def test_legend_names_the_paths(record):
    (legend,) = draw_paths(record, ["three", "six"], NAMES).legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "feature 1 > 0.00",
        "feature 2 > 0.33",
        "colour=red > 0.67",
    ]
    assert legend.get_title().get_text() == paths_headline(record)


def test_headline_states_the_largest_distance(record):
    exponential, logistic = record.paths["exponential"], record.paths["logistic"]
    exponential.stage_wise = exponential.exact
    away = np.array(logistic.exact)
    away[0, 1, 2] += 0.25
    logistic.stage_wise = away.tolist()
    # 0.25 of a norm of 0.5.
    assert (
        paths_headline(record) == "Tiny steps stay within 50.0 % of the L1 norm of the exact path"
    )
