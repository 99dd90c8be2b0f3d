from dataclasses import replace

from boostbench.analysis.result_table import Column, ColumnPair, find_column, merge
from boostbench.fitting.quantities import QUANTITIES


def means(table):
    return {key: cell.mean for key, cell in table.cells.items() if cell.numbers}


def test_find_column_prefers_the_last_round():
    columns = ["a@50", "a@100", "ab", "b"]
    assert [find_column(columns, name) for name in ("a", "a@50", "ab", "c", "a@7")] == [
        "a@100",
        "a@50",
        "ab",
        None,
        None,
    ]


def test_data_set_of_two_tables_counts_once(make_cell, make_table):
    first = make_table({("wine", c): make_cell([1], checksum="wine") for c in "abc"})
    rows = ("wine", "iris")
    second = make_table({(row, c): make_cell([2], checksum=row) for row in rows for c in "ba"})
    table, sources = merge([replace(first, name="one"), replace(second, name="two")], ["b", "a"])
    assert list(table.columns) == ["b", "a"]
    assert means(table) == {("wine", "b"): 1, ("wine", "a"): 1, ("iris", "b"): 2, ("iris", "a"): 2}
    assert sources == ["one", "two"]
    assert table.remarks == ["Numbers of tables one (wine) and two (iris)."]
    assert table.title == "B against A"
    assert table.compared_pairs == [ColumnPair("b", "a")]


def test_table_with_the_most_numbers_wins(make_cell, make_table):
    data = {"checksum": "wine"}
    lacking = make_table({("wine", "a"): make_cell([1], **data), ("wine", "b"): make_cell([])})
    complete = make_table({("wine", c): make_cell([2], **data) for c in "ab"})
    tables = [replace(lacking, name="one"), replace(complete, name="two")]
    for order in (tables, tables[::-1]):
        table, sources = merge(order, ["a", "b"])
        assert means(table) == {("wine", "a"): 2, ("wine", "b"): 2}
        assert sources == ["two"]
    table, sources = merge(tables[:1], ["a", "b"])
    assert means(table) == {("wine", "a"): 1}
    assert sources == ["one"]
    assert table.remarks == []  # there is nothing that it has all numbers of


def test_rows_with_equal_names_and_different_data_stay_apart(make_cell, make_table):
    def table_of(name, checksum, error):
        cells = {("mine", c): make_cell([error], checksum=checksum) for c in "ab"}
        return replace(make_table(cells), name=name)

    table, sources = merge([table_of("one", "iris", 1), table_of("two", "wine", 2)], ["a", "b"])
    assert table.rows == {"mine": "mine", "mine (two)": "mine (two)"}
    assert (list(table.rows), sources) == (["mine", "mine (two)"], ["one", "two"])
    assert [cell.mean for cell in table.cells.values()] == [1, 1, 2, 2]


def test_uncounted_data_sets_must_be_named(make_cell, make_table):
    cells = {(row, c): make_cell([1]) for row in ("vowel", "vowel528", "wine") for c in "ab"}
    source = make_table(cells, uncounted={"vowel528"})
    assert list(merge([source], ["a", "b"])[0].rows) == ["vowel", "wine"]
    table, _ = merge([source], ["a", "b"], ["wine", "vowel528"])
    assert list(table.rows) == ["vowel528", "wine"]
    assert not table.uncounted


def test_algorithms_with_different_titles_are_not_merged(make_cell, make_table):
    first = make_table({("wine", c): make_cell([1]) for c in "ab"})
    columns = {name: Column(f"{name} (WLDA)", f"{name} (WLDA)") for name in "ab"}
    second = make_table({("iris", c): make_cell([2]) for c in "ab"}, columns)
    table, _ = merge([first, replace(second, name="six")], ["a", "b"])
    assert list(table.rows) == ["wine"]
    assert table.remarks == [
        "Numbers of table name.",
        "Left out is six, where a is a (WLDA) and b is b (WLDA).",
    ]


def test_table_of_another_quantity_is_left_out(make_cell, make_table):
    first = make_table({("wine", c): make_cell([1]) for c in "ab"})
    accuracy = QUANTITIES["accuracy"]
    columns = {c: Column(c.upper(), c.upper(), quantity=accuracy) for c in "ab"}
    cells = {("iris", c): make_cell([2], quantity=accuracy) for c in "ab"}
    second = replace(make_table(cells, columns), name="two")
    table, _ = merge([first, second], ["a", "b"])
    assert list(table.rows) == ["wine"]
    assert table.remarks[-1] == "Left out is two, of another quantity."
    table, _ = merge([second], ["a", "b"])
    assert table.quantity == accuracy


def test_group_does_not_distinguish_algorithms(make_cell, make_table):
    first = make_table({("wine", c): make_cell([1]) for c in "ab"})
    columns = {"a": Column("Coding, A", "A", "Coding"), "b": Column("Matrix, B", "B", "Matrix")}
    second = make_table({("iris", c): make_cell([2]) for c in "ab"}, columns)
    table, _ = merge([first, second], ["a", "b"])
    assert list(table.rows) == ["wine", "iris"]
    assert table.title == "A against B"


def test_last_round_represents_an_algorithm(table_of_rounds, make_cell, make_table):
    other = make_table({("iris", c): make_cell([9]) for c in "ab"})
    table, _ = merge([table_of_rounds, other], ["a", "b"])
    assert list(table.rows) == ["wine", "glass", "iris"]
    assert [column.label for column in table.columns.values()] == ["A", "B"]
    assert table.cells["wine", "a"].rounds == 100
    table, _ = merge([table_of_rounds], ["a@50", "b@100"])
    assert [column.label for column in table.columns.values()] == ["A, T=50", "B, T=100"]
    assert table.cells["wine", "a@50"].rounds == 50


def test_cpu_time_columns_are_not_merged(table_of_rounds):
    columns = dict(table_of_rounds.columns)
    for last in ("a@100", "b@100"):
        changes = {"quantity": QUANTITIES["fit"], "timed_column": last}
        columns[f"{last}:fit"] = replace(columns[last], **changes)
    table, _ = merge([replace(table_of_rounds, columns=columns)], ["a", "b"])
    assert table == merge([table_of_rounds], ["a", "b"])[0]


def test_statement_of_the_paper_requires_its_whole_table(make_cell, make_table):
    source = make_table({(row, c): make_cell([1]) for row in ("wine", "iris") for c in "abc"})
    source = replace(source, compared_pairs=[ColumnPair("a", "b", "The paper says so.")])
    statements = [pair.published for pair in merge([source], ["b", "a", "c"])[0].compared_pairs]
    assert statements == ["The paper says so.", None, None]
    assert merge([source], ["a", "b"], ["wine"])[0].compared_pairs == [ColumnPair("a", "b")]
    other = make_table({("glass", c): make_cell([1]) for c in "ab"})
    assert merge([source, other], ["a", "b"])[0].compared_pairs == [ColumnPair("a", "b")]
