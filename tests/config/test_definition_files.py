import shutil

import pytest
import yaml

from boostbench.config import definition_files as files
from boostbench.config.tables import TableDefinition
from boostbench.util import configs
from boostbench.util.errors import UserError


def test_find():
    assert files.find("table", "demo") == configs.conf_dir() / "table" / "demo.yaml"
    assert str(files.find("table", "mine/demo.yaml")) == "mine/demo.yaml"
    assert str(files.find("table", "mine/demo.yml")) == "mine/demo.yml"
    with pytest.raises(UserError, match="did you mean demo"):
        files.find("table", "dmo")


def test_find_in_the_home_folder(home):
    assert files.find("figure", "~/mine.yaml") == home / "mine.yaml"


@pytest.mark.parametrize(
    ("kind", "name"), [("table", "randomboost6"), ("figure", "ranks_randomboost5")]
)
def test_a_copy_has_another_name(tmp_path, kind, name):
    """Or it would pass for the project's, and its results would stand in their place."""
    original = files.find(kind, name)
    with pytest.raises(UserError, match=f"{name} is a {kind} of the project.* another name"):
        files.read(kind, str(shutil.copy(original, tmp_path)))
    _, copied = files.read(kind, str(shutil.copy(original, tmp_path / "mine.yaml")))
    assert files.read(kind, str(original)) == (original, copied)


@pytest.mark.parametrize("entry", [["wine"], 5, None, {"a\nb": 1}])
def test_entries_of_a_table_that_are_no_names(tmp_path, entry):
    path = tmp_path / "mine.yaml"
    content = {"title": "Mine", "rows": [entry], "columns": ["samme"]}
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(UserError, match=r"mine\.yaml: rows"):
        TableDefinition.read(str(path))
