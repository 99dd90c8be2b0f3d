import pytest

from tests.analysis.conftest import make_cell, make_table, table, table_of_rounds  # noqa: F401


@pytest.fixture
def assert_titles_fit():
    """Check that no title of a figure is cut at its edge."""
    agg = pytest.importorskip("matplotlib.backends.backend_agg")
    from boostbench.figures.style import style

    def check(figure):
        with style():
            canvas = agg.FigureCanvasAgg(figure)
            canvas.draw()
        edge = figure.bbox
        for axes in figure.axes:
            title = axes.title.get_window_extent(canvas.get_renderer())
            assert not axes.get_title() or edge.y1 - title.y1 > 1
            assert not axes.get_title() or (title.x0 > edge.x0 and title.x1 < edge.x1)

    return check
