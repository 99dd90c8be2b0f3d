import pytest
import yaml

from boostbench.config.table_definitions import TableDefinition
from boostbench.figures.boundaries import Boundaries
from boostbench.figures.curves import Curves
from boostbench.figures.definition import read_figure
from boostbench.figures.features import Features
from boostbench.figures.lines import TimesFigure
from boostbench.figures.scatter import Scatter
from boostbench.figures.significance import Ranks
from boostbench.figures.single_fit import PathCurves
from boostbench.papers.published import lines_of
from boostbench.util import configs
from boostbench.util.errors import UserError

#: Each name with the one before it.
CHAIN = list(enumerate(["a", *(f"b{i}" for i in range(40))]))


def test_conf_dir_of_a_checkout_and_of_an_installed_package(tmp_path, monkeypatch):
    package = tmp_path / "boostbench"
    (tmp_path / "conf").mkdir()
    (package / "util").mkdir(parents=True)
    monkeypatch.setattr(configs, "__file__", str(package / "util" / "configs.py"))
    assert configs.conf_dir() == tmp_path / "conf"
    (package / "conf").mkdir()
    assert configs.conf_dir() == package / "conf"


def test_read_merges_the_defaults_of_an_option(tmp_path):
    (tmp_path / "protocol").mkdir()
    mine = tmp_path / "protocol" / "mine.yaml"
    mine.write_text("defaults: [randomboost, _self_]\nname: mine\nn_splits: 3\n")
    protocol = configs.read_option("protocol", "mine", [tmp_path])
    assert protocol == configs.read_option("protocol", "randomboost") | {
        "name": "mine",
        "n_splits": 3,
    }


def test_file_names_equal_their_name_entry():
    for group in ("algo", "data", "protocol", "profile"):
        for name in configs.list_options(group):
            assert configs.read_option(group, name)["name"] == name


def test_data_sets_of_one_file_have_one_source():
    """Whoever has no file gets each of them from OpenML, or none."""
    for name in configs.list_options("data"):
        spec = configs.read_option("data", name)
        if spec.get("file") in configs.list_options("data"):
            of_file = configs.read_option("data", spec["file"])
            ids = [(one.get("openml") or {}).get("id") for one in (spec, of_file)]
            assert ids[0] == ids[1], name


def test_tables_name_existing_settings():
    for name in configs.list_options("table"):
        table = TableDefinition.read(name)
        assert {row.data for row in table.rows} <= set(configs.list_options("data"))
        assert {column.algo for column in table.columns} <= set(configs.list_options("algo"))
        assert table.published is None or lines_of(table.published)


def departures(table):
    """Yield the words by which a remark names each reading that departs from the paper's text."""
    columns = {cell.column: cell for cell in table.compose() if cell.is_run}
    for cell in columns.values():
        config = cell.config
        algo, title = config.algorithm.params, table.column(cell.column).title or ""
        if algo.get("n_bins") and config.algorithm.target.split(".")[-1].startswith("RBoostRank"):
            yield f"{algo['n_bins'] - 1} thresholds"
        if algo.get("loss") == "squared_hinge" and "squared hinge" not in title:
            yield "squared hinge"
        if algo.get("loss") == "logistic" and table.paper == "cgens":
            yield "logistic loss"
        if algo.get("constant"):
            yield "constant stump"


@pytest.mark.parametrize("paper", ["randomboost", "cgens", "rpboost"])
def test_remarks_name_departures_from_the_paper(paper):
    """All thresholds are searched, the loss is the hinge, or the exponential one of MultiBoost."""
    message = []
    for name in configs.list_options("table"):
        table = TableDefinition.read(name)
        if table.paper == paper:
            for words in departures(table):
                assert words in " ".join(table.remarks), name
                message.append(words)
    assert message


def test_figures_name_existing_tables():
    for name in configs.list_options("figure"):
        figure = read_figure(name)
        match figure:
            case Boundaries() | Features():
                assert set(figure.rows) <= set(configs.list_options("data"))
                assert {column.algo for column in figure.columns} <= set(
                    configs.list_options("algo")
                )
            case Curves() | Ranks():
                assert figure.table in configs.list_options("table")
            case Scatter():
                assert set(figure.tables) <= set(configs.list_options("table"))
            case TimesFigure():
                for panel in figure.panels:
                    assert set(panel.rows) <= set(TableDefinition.read(panel.table).row_names)
            case PathCurves():
                assert figure.data in configs.list_options("data")
                assert figure.algo in configs.list_options("algo")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "- " * 100_000,
        "[" * 60 + "]" * 60,
        "a: &a [1, 1, 1, 1]\n" + "".join(f"b{i}: &b{i} [*{n}, *{n}, *{n}]\n" for i, n in CHAIN),
        "a: &a {x: 1}\n" + "".join(f"b{i}: &b{i}\n  <<: [*{n}, *{n}]\n" for i, n in CHAIN),
        "a: &a [*a]",
        "- 1\n" * 100_001,
    ],
    ids=["brackets", "dashes", "closed", "aliases", "merged", "itself", "many"],
)
def test_harmful_yaml_is_refused(text, monkeypatch):
    """The check constructs no value, and its work is linear in the length of the text."""
    seen = []

    def events(*args, **kwargs):
        for event in parse(*args, **kwargs):
            seen.append(event)
            yield event

    parse = yaml.parse
    monkeypatch.setattr(yaml, "parse", events)
    monkeypatch.setattr(yaml, "load", lambda *args, **kwargs: pytest.fail("values are made"))
    with pytest.raises(yaml.YAMLError, match=r"more than 100000|contains itself|nesting depth"):
        configs.parse_yaml(text)
    # Four are of the stream and the document, and a dash is two: an entry, and nothing.
    assert len(seen) <= 4 + 2 * len(text)


def test_yaml_may_use_an_alias():
    assert configs.parse_yaml("a: &a [1, 2]\nb: [*a, *a]")["b"] == [[1, 2], [1, 2]]


def test_error_has_the_path_of_an_invalid_config(tmp_path):
    (tmp_path / "algo").mkdir()
    for content in (b"[" * 100_000, b"a: [", b"just text", "title: Räte".encode("latin-1")):
        (tmp_path / "algo" / "mine.yaml").write_bytes(content)
        with pytest.raises(UserError, match=r"mine.yaml") as message:
            configs.read_option("algo", "mine", [tmp_path])
        assert "\n" not in str(message.value)


@pytest.mark.parametrize("defaults", [{"a": "a"}, {"a": "b", "b": "c", "c": "b"}])
def test_circular_defaults_are_an_error(tmp_path, defaults):
    (tmp_path / "algo").mkdir()
    for name, parent in defaults.items():
        (tmp_path / "algo" / f"{name}.yaml").write_text(f"defaults: [{parent}]")
    last = [*defaults][-1]
    message = rf"{last}.yaml: its defaults form a circle through {defaults[last]}$"
    with pytest.raises(UserError, match=message):
        configs.read_option("algo", "a", [tmp_path])
