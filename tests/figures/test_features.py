import numpy as np
from fitting.examples import measured

from boostbench.figures.features import MAX_FEATURES, FeatureUse, draw_features, selection_shares


def record(*counts):
    return measured("features", counts=list(counts), test_error=0.5, n_iterations=9)


def uses(panels, names):
    return [
        FeatureUse(panel, title, names[panel], records)
        for panel, algorithms in panels.items()
        for title, records in algorithms.items()
    ]


def test_shares_refer_to_the_stumps_of_a_split():
    given = [record(1, 3, 0), record(10, 0, 10), record(0, 0, 0)]
    np.testing.assert_array_equal(selection_shares(given), [[25, 75, 0], [50, 0, 50], [0, 0, 0]])


def test_features_stand_in_the_order_of_their_use():
    panels = {"wine": {"A": [record(1, 3, 0), record(2, 6, 0)], "B": [record(0, 1, 3)]}}
    axes, *_ = draw_features(uses(panels, {"wine": ["1", "2", "3"]})).axes
    assert axes.get_title() == "wine"
    # Means over both: 12.5, 50 and 37.5.
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2", "3", "1"]
    drawn = {bars.get_label(): bars.lines[0].get_ydata().tolist() for bars in axes.containers}
    assert drawn == {"A": [75, 0, 25], "B": [25, 75, 0]}
    # The markers of a feature stand beside each other.
    first, second = (bars.lines[0].get_xdata()[0] for bars in axes.containers)
    assert -0.5 < first < 0 < second < 0.5


def test_features_are_limited():
    names = [str(number) for number in range(1, 101)]
    axes, *_ = draw_features([FeatureUse("wide", "A", names, [record(*range(100))])]).axes
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert labels == [str(number) for number in range(100, 100 - MAX_FEATURES, -1)]


def test_missing_records_are_noted():
    names = {"wine": ["1", "2"], "glass": ["1", "2"]}
    figure = draw_features(uses({"wine": {"A": [record(1, 1)]}, "glass": {"A": []}}, names))
    wine, glass = figure.axes
    assert len(wine.containers) == 1
    assert [text.get_text() for text in glass.texts] == ["no record"]


def test_features_have_the_names_of_the_data():
    names = ["colour of the skin=dark violet", "alcohol", "ash"]
    panels = {"wine": {"A": [record(1, 3, 0)]}}
    axes, *_ = draw_features(uses(panels, {"wine": names})).axes
    labels = axes.get_xticklabels()
    assert [text.get_text() for text in labels] == [
        "alcohol",
        "colour of the skin=\ndark violet",
        "ash",
    ]
    assert {text.get_rotation() for text in labels} == {45}
