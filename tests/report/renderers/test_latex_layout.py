import pytest

from boostbench.report.renderers.latex_layout import (
    COLUMN_WIDTH,
    PAGE_WIDTHS,
    Cell,
    Grid,
    Heading,
    Line,
    abbreviate,
    choose_layouts,
    paginate,
    text_width,
)


def make_grid(n_lines=5, n_columns=3, title="AdaBoost.ECC", cell="12.3 (4.5)"):
    lines = [Line([f"data {index}"], [Cell(cell)] * n_columns) for index in range(n_lines)]
    heads = [Heading("", f"{title} {index}") for index in range(n_columns)]
    return Grid(["Data set"], heads, lines)


def test_narrow_table_keeps_full_headings():
    (layout,) = choose_layouts(make_grid(n_columns=2))
    assert layout.style.size == "small"
    assert not layout.key
    assert layout.width < COLUMN_WIDTH


@pytest.mark.parametrize("n_columns", [1, 3, 6, 8, 10, 14, 30])
def test_every_part_fits_the_page(n_columns):
    layouts = choose_layouts(make_grid(n_columns=n_columns))
    assert all(layout.width <= PAGE_WIDTHS[layout.style.size] for layout in layouts)
    heads = [head for layout in layouts for head in layout.grid.heads]
    assert heads == make_grid(n_columns=n_columns).heads


def test_dense_table_has_a_key_and_stacked_deviations():
    (layout,) = choose_layouts(make_grid(n_columns=8))
    assert layout.style.stacks
    assert layout.key["AB.ECC0"] == "AdaBoost.ECC 0"


def test_abbreviations_are_unique():
    titles = ["MultiBoost, at its minimum", "MiniBoost, minimum", "MegaBoost, maximum"]
    lines = [Line(["data"], [Cell("1.2 (0.1)")] * 6)]
    grid = Grid(["Data set"], [Heading("", title) for title in titles * 2], lines)
    (layout,) = choose_layouts(grid)
    assert sorted(layout.key.values()) == sorted(titles)
    assert len(layout.key) == 3


@pytest.mark.parametrize(
    ("title", "short"),
    [("GradBoost", "GB"), ("RBoost^proj", "RB^p"), ("PCA + MCBoost", "PCA+MCB"), ("LADDER", "LA")],
)
def test_abbreviate(title, short):
    assert abbreviate(title) == short


def test_raised_and_bold_widths():
    assert text_width("a^bc") < text_width("abc")
    assert text_width("12.3", bold=True) > text_width("12.3")


def test_transposing_swaps_rows_and_columns():
    grid = make_grid(n_lines=2, n_columns=3)
    turned = grid.transposed()
    assert [head.title for head in turned.heads] == ["data 0", "data 1"]
    assert [line.names for line in turned.lines] == [[head.title] for head in grid.heads]


def test_pages_hold_all_lines_once():
    grid = make_grid(n_lines=200)
    pages = paginate(choose_layouts(grid), caption="word " * 100, note="word " * 40)
    assert len(pages) > 4
    assert [line for page in pages for part in page for line in part.grid.lines] == grid.lines


def test_part_that_fits_one_page_is_not_divided():
    layouts = choose_layouts(make_grid(n_lines=20, n_columns=30))
    pages = paginate(layouts, caption="", note="")
    assert len(layouts) > 2
    assert [part for page in pages for part in page] == layouts
