import pytest
import yaml

from boostbench.fitting.quantities import TEST_ERROR
from boostbench.papers.metadata import library
from boostbench.papers.notes import find_note
from boostbench.papers.published import Published, lines_of
from boostbench.util import configs

ENTRIES = [
    (paper, entry)
    for paper, folder in configs.paper_folders()
    for entry in yaml.safe_load((folder / "notes.yaml").read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("paper", "entry"), ENTRIES, ids=lambda value: str(value)[-40:])
def test_notes_name_published_tables_rows_and_values(paper, entry):
    tables = {table.name for table in library().find_paper(paper).tables}
    named = {
        key: set(map(str, value if isinstance(value, list) else [value]))
        for key, value in entry.items()
    }
    del named["note"]
    named_tables = named.pop("table", tables)
    assert named_tables <= tables
    rows = named.pop("data", set())
    assert rows <= set(configs.list_options("data"))
    for column, values in named.items():
        published = {line.get(column) for table in named_tables for line in lines_of(table)}
        assert values <= published


def find_note_of_line(table, line):
    return find_note(Published(table, TEST_ERROR, 1.0, 1.0, 10, line=line), line["data"])


def test_first_matching_entry_is_used():
    where = {"data": "german", "algo": "rboost_rank", "n_iterations": "50"}
    assert find_note_of_line("randomboost-table4", where).startswith("Three settings are not")
    assert find_note_of_line("randomboost-table4", {**where, "data": "wine"}) is None
    assert find_note_of_line("randomboost-table3", where) is None
    nu = {"data": "glass", "algo": "mcboost", "loss": "exponential", "nu": "1e-1"}
    assert find_note_of_line("mcboost-table1", nu).startswith("A misprint")
    few = {**nu, "data": "pendigits", "nu": "0"}
    assert find_note_of_line("mcboost-table1", few).startswith("The paper probably had more")
    news = {"data": "20news-bydate", "algo": "mcboost", "loss": "logistic", "nu": "1e-1"}
    assert find_note_of_line("mcboost-table1", news).startswith("No weak learner can be trained")
    assert find_note_of_line("mcboost-table1", {**news, "nu": "0"}).startswith(
        "20news-bydate replaces"
    )


def test_note_names_our_data_set():
    line = {"data": "german (numeric)", "algo": "rboost_rank", "n_iterations": "50"}
    number = Published("randomboost-table4", TEST_ERROR, 1.0, 1.0, 10, line=line)
    assert find_note(number, "german").startswith("Three settings are not")
    assert find_note(number, "german (numeric)") is None
    assert find_note(Published("mine.csv", TEST_ERROR, 1.0, 1.0, 10, line=line), "german") is None
