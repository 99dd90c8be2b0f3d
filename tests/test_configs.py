from boostbench import configs
from boostbench.cli.definition import Definition
from boostbench.report.published import read


def test_conf_of_a_checkout_and_of_an_installed_package(tmp_path, monkeypatch):
    package = tmp_path / "boostbench"
    (tmp_path / "conf").mkdir()
    package.mkdir()
    monkeypatch.setattr(configs, "__file__", str(package / "configs.py"))
    assert configs.conf_dir() == tmp_path / "conf"
    (package / "conf").mkdir()
    assert configs.conf_dir() == package / "conf"


def test_read_merges_the_defaults_of_an_option():
    quick = configs.read("protocol", "quick")
    assert quick["n_splits"] == 3
    assert quick["test_size"] == configs.read("protocol", "randomboost")["test_size"]


def test_files_are_called_as_they_call_themselves():
    for group in ("algo", "data", "protocol"):
        for name in configs.names(group):
            assert configs.read(group, name)["name"] == name


def test_tables_are_made_of_what_there_is():
    for name in configs.names("table"):
        table = Definition.read(name)
        assert {row.data for row in table.rows.values()} <= set(configs.names("data"))
        assert {column.algo for column in table.columns.values()} <= set(configs.names("algo"))
        assert read(table.published)
