from boostbench.report.tables import Table, significance


def test_texts(table):
    assert table.text("wine", "b") == "4.1 (0.2)†"
    assert table.text("glass", "b") == "failed"
    assert table.text("dna", "a") == "not available"


def test_best_as_printed(table, make_cell):
    assert table.best("wine") == {"a"}
    assert table.best("glass") == {"a"}
    assert table.best("dna") == set()
    cells = {("wine", "a"): make_cell([2.01]), ("wine", "b"): make_cell([2.04])}
    assert Table("", ["wine"], {"a": "A", "b": "B"}, cells).best("wine") == {"a", "b"}


def test_caption(table):
    assert table.caption.endswith("over the splits.")


def test_notes(table):
    table.overrides.append("protocol=quick")
    notes = "\n".join(table.notes)
    assert "Not available: dna." in notes
    assert "A on glass: only 2 of 3 splits" in notes
    assert "rerun=stale" in notes
    assert "protocol=quick" in notes


def test_pairs_are_splits_of_one_data_set(make_cell):
    # The splits that only one of them finished take no part.
    cells = {("wine", "a"): make_cell([1, 2, 3, 4]), ("wine", "b"): make_cell([2, 4, 6])}
    (line,) = significance(Table("", ["wine"], {"a": "A", "b": "B"}, cells))
    assert line.startswith("Wilcoxon signed-rank test (WSRT) of A against B over 3 paired")


def test_pairs_are_data_sets_that_both_have(table, make_cell):
    assert significance(table) == []  # one pair tells nothing
    table.cells["glass", "b"] = make_cell([40.0])
    (line,) = significance(table)
    assert "over 2 data sets" in line


def test_second_versions_of_data_do_not_count(make_cell):
    rows = ["wine", "vowel", "vowel528"]
    cells = {(row, column): make_cell([1, 2]) for row in rows for column in "ab"}
    table = Table("", rows, {"a": "A", "b": "B"}, cells, uncounted={"vowel528"})
    assert "over 2 data sets" in significance(table)[0]


def test_one_algorithm_is_compared_with_nothing(make_cell):
    assert significance(Table("", ["wine"], {"a": "A"}, {("wine", "a"): make_cell([1])})) == []
