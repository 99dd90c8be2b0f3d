import pytest

from boostbench.config.choices import data_settings
from boostbench.config.compose import compose_config
from boostbench.config.table_definitions import TableDefinition
from boostbench.util.errors import UserError


@pytest.mark.parametrize("name", ["my.csv", "my data.csv", "x=1.csv", "a,b.csv", "größe.csv.gz"])
def test_files_of_any_name_are_data(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).touch()
    assert data_settings(name) == {"data.path": name}
    assert data_settings("wine") == {"data": "wine"}
    (tmp_path / "wine").touch()
    assert data_settings("wine") == {"data": "wine"}
    assert data_settings("openml-task-3") == {"data.openml_task": 3}


@pytest.mark.parametrize("name", ["nothere.csv", "nothere.arff.xz", "d/nothere", "./wine"])
def test_missing_file_is_named_as_a_file(name):
    with pytest.raises(UserError, match=f"^there is no file {name}; check the path$"):
        data_settings(name)


def test_tilde_is_the_home_folder(home, define_table):
    (home / "my.csv").touch()
    assert data_settings("~/my.csv") == {"data.path": "~/my.csv"}
    table = TableDefinition.read(define_table(rows=["~/my.csv"], columns=["samme"]))
    assert [row.title for row in table.rows] == ["my"]


def test_rows_of_files_are_named_after_their_data(tmp_path, define_table):
    files = {"v1.0.csv": "v1.0", "v1.1.csv.gz": "v1.1", "my = data.csv": "my_data"}
    for name in files:
        (tmp_path / name).touch()
    table = TableDefinition.read(
        define_table(rows=[str(tmp_path / name) for name in files], columns=["samme"])
    )
    assert [row.title for row in table.rows] == list(files.values())
    assert [cell.config.data.name for cell in table.compose()] == list(files.values())
    with pytest.raises(UserError, match="unknown data set 'wien'; did you mean wine"):
        compose_config(data_settings("wien"))


def test_equal_titles_are_followed_by_names(tmp_path, define_table):
    rows = []
    for year in ("2023", "2024"):
        (tmp_path / year).mkdir()
        (tmp_path / year / "sales.csv").touch()
        rows.append(str(tmp_path / year / "sales.csv"))
    columns = [
        {"one": {"algo": "samme", "title": "mine"}},
        {"two": {"algo": "samme", "title": "mine"}},
        {"three": {"algo": "samme", "title": "mine", "group": "apart"}},
    ]
    table = TableDefinition.read(define_table(rows=[*rows, "wine"], columns=columns))
    titles = [row.title for row in table.rows]
    assert titles == [*(f"sales ({row})" for row in rows), "wine"]
    assert [column.title for column in table.columns] == [
        "mine (one)",
        "mine (two)",
        "mine",
    ]
