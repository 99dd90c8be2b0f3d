import shutil

import pytest
import yaml

from boostbench.config.table_definitions import TableDefinition
from boostbench.util import configs
from boostbench.util.errors import UserError


def test_definitions_are_found_by_name_and_path():
    conf = configs.conf_dir()
    find = configs.find_definition
    assert find("table", "demo") == conf / "table" / "demo.yaml"
    assert find("table", "mcboost5_leak") == conf / "paper" / "mcboost" / "table5_leak.yaml"
    assert find("figure", "rpboost12.11") == conf / "paper" / "rpboost" / "figure12.11.yaml"
    assert str(find("table", "mine/demo.yaml")) == "mine/demo.yaml"
    assert str(find("table", "mine/demo.yml")) == "mine/demo.yml"
    with pytest.raises(UserError, match="did you mean demo"):
        configs.find_definition("table", "dmo")


def test_definitions_are_found_in_the_home_folder(home):
    assert configs.find_definition("figure", "~/mine.yaml") == home / "mine.yaml"


@pytest.mark.parametrize(
    ("kind", "name"), [("table", "randomboost6"), ("figure", "ranks_randomboost5")]
)
def test_copy_needs_another_name(tmp_path, kind, name):
    """Check that results of a copy cannot replace the results of the original."""
    original = configs.find_definition(kind, name)
    with pytest.raises(UserError, match=f"{name} is a {kind} of the project.* another name"):
        configs.read_definition(kind, str(shutil.copy(original, tmp_path / f"{name}.yaml")))
    path, copied = configs.read_definition(kind, str(shutil.copy(original, tmp_path / "mine.yaml")))
    assert configs.definition_name(kind, path) == "mine"
    assert configs.read_definition(kind, str(original)) == (original, copied)
    assert configs.definition_name(kind, original) == name


@pytest.mark.parametrize("entry", [["wine"], 5, None, {"a\nb": 1}])
def test_invalid_names_of_table_entries_are_refused(tmp_path, entry):
    path = tmp_path / "mine.yaml"
    content = {"title": "Mine", "rows": [entry], "columns": ["samme"]}
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(UserError, match=r"mine\.yaml: rows"):
        TableDefinition.read(str(path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": None, "colums": ["samme"]}, "has no key 'colums'; did you mean columns?"),
        ({"columns": None}, "is not a table: it needs title, rows and columns"),
        (
            {"columns": [{"samme": "algo.n_iteratons=5"}]},
            "row wine, column samme: unknown key 'algo.n_iteratons'; did you mean algo.n_iter",
        ),
        (
            {"columns": [{"samme": {"overides": "seed=1"}}]},
            "column samme has no key 'overides'; did you mean overrides?",
        ),
    ],
)
def test_error_names_the_file_and_the_column(tmp_path, change, message):
    path = tmp_path / "mine.yaml"
    content = {"title": "Mine", "rows": ["wine"], "columns": ["samme"]} | change
    path.write_text(yaml.safe_dump({k: value for k, value in content.items() if value}))
    with pytest.raises(UserError) as error:
        TableDefinition.read(str(path)).compose()
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)
