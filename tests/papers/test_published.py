import csv

import pytest

from boostbench.fitting.quantities import QUANTITIES
from boostbench.papers.metadata import PublishedTable, citation, papers, published_table
from boostbench.papers.published import find_published, is_value, lines_of, statement
from boostbench.util import configs
from boostbench.util.errors import UserError

TABLES = {table.name: table for paper in papers().values() for table in paper.tables.values()}

#: Columns that hold numbers, and what they are numbers of; all others are settings or words.
NUMBERS = {
    "test_error": "test_error",
    "test_error_mean": "test_error",
    "accuracy": "accuracy",
    "accuracy_mean": "accuracy",
    "map": "mean_average_precision",
    "coef_cpu_s": "coefficients",
    "test_ms_per_instance": "predict_per_instance",
}


def error(*asked):
    return find_published(*asked)["test_error"]


@pytest.mark.parametrize("name", TABLES)
def test_every_published_table_is_a_table_of_ours(name):
    """Its numbers count as the paper's only then."""
    definition = TABLES[name].definition
    path = configs.definition_files("table")[definition]
    assert configs.parse_yaml(path.read_text(encoding="utf-8"))["published"] == name


def test_find():
    found = error("randomboost-table5", "wine", "rboost_proj", {})
    assert (found.mean, found.std, found.n) == (3.0, 3.0, 10)
    assert str(found) == "3.0 (3.0)"
    assert find_published("randomboost-table5", "wine", "nonsense", {}) == {}


def test_unknown_tables_are_named():
    with pytest.raises(UserError, match="did you mean randomboost-table5"):
        find_published("randomboost-table55", "wine", "rboost_proj", {})
    with pytest.raises(UserError, match="unknown published table"):
        find_published("../../secret", "wine", "rboost_proj", {})


def test_settings_choose_the_line():
    def of(n_iterations):
        asked = {"n_iterations": n_iterations}
        return find_published("randomboost-table4", "australian", "adaboost", asked)

    assert (of(50)["test_error"].mean, of(1000)["test_error"].mean, of(7)) == (14.8, 16.6, {})
    assert find_published("randomboost-table6", "wine", "rboost_rank", {"n_iterations": 1000}) == {}


@pytest.mark.parametrize(
    ("place", "n"),
    [
        (("randomboost-table2", "synthetic1", "rboost_rank", {"n_projections": 1000}), 5),
        (("mcboost-table8", "scene15-centrist", "adaboost_sip", {"n_features": 1000}), 5),
        (("cgens-table3", "wine", "cgens_sls", {}), 10),
        (("cgens-table3", "mnist", "cgens_sls", {}), 5),
    ],
)
def test_repeats(place, n):
    (found,) = find_published(*place).values()
    assert found.n == n


@pytest.mark.parametrize("table", TABLES)
def test_every_number_can_be_found(table):
    """Each line is asked for by all that it says; what its columns of numbers say comes out."""
    about, n_numbers = published_table(table), 0
    for line in lines_of(table):
        told = {NUMBERS[key]: line[key] for key in line if key in NUMBERS and line[key]}
        for algo in line[about.algo].split():
            found = find_published(table, line["data"], algo, line)
            assert found.keys() == told.keys()
            n_numbers += len(found)
            for name, one in found.items():
                assert one.mean == pytest.approx(in_unit(about, name) * float(told[name]))
                assert one.line == line
    assert n_numbers > 0


def in_unit(about: PublishedTable, name: str) -> float:
    if name == "predict_per_instance":
        return 1000
    return (
        100
        if name == "accuracy" and about.name in ("rpboost-table12.4", "rpboost-table12.6")
        else 1
    )


@pytest.mark.parametrize("table", TABLES)
def test_digits_are_those_of_the_transcribed_numbers(table):
    about = published_table(table)
    own = [key for key, name in NUMBERS.items() if name == about.quantity.name]
    texts = [line[key] for line in lines_of(table) for key in own if line.get(key)]
    decimals = max(len(text.partition(".")[2]) for text in texts)
    assert about.quantity.digits == decimals - (2 if about.factor == 100 else 0)


def test_all_files_of_numbers_have_an_entry_and_a_definition():
    names = {
        f"{paper}-{path.stem}"
        for paper, folder in configs.paper_folders().items()
        for path in folder.glob("*.csv")
        if path.name != "wilcoxon.csv"
    }
    assert names == TABLES.keys()
    assert {t.definition for t in TABLES.values()} <= set(configs.list_options("table"))


def test_citations_are_complete():
    assert [paper.title for paper in papers().values()] == [
        *("RandomBoost", "MCBoost", "CGENS", "RpBoost", "LADDER")
    ]
    for name, paper in papers().items():
        for part in (paper.authors, paper.work, paper.venue, paper.year):
            assert part
            assert part in citation(name)


def test_units():
    place = "rpboost-table12.4", "sine", "rpboost", {"space": "sub", "projection": "normal"}
    found = find_published(*place)["accuracy"]
    assert (found.mean, str(found), found.quantity.unit) == (98.6, "98.6", "percent")
    found = find_published("ladder-table2-left", "cifar10-gist", "ladder", {"bits": 8})
    assert str(found["mean_average_precision"]) == "0.224"
    assert str(
        error("cgens-table1", "banana", "adaboost", {"weak_learner_or_kernel": "stump"})
    ) == ("28.38 (0.55)")


def test_times():
    found = find_published("randomboost-table3", "heart", "rboost_rank_tc", {"loss": "logistic"})
    assert (found["test_error"].mean, found["coefficients"].mean) == (22.7, 1.9)
    assert list(find_published("randomboost-table5", "wine", "rboost_proj", {})) == ["test_error"]


@pytest.mark.parametrize(
    ("algo", "microseconds"), [("adaboost_ecc", 110), ("adaboost_mo", 7900), ("mcboost", 60)]
)
def test_times_without_an_error(algo, microseconds):
    (found,) = find_published("mcboost-table6", "pendigits", algo, {"loss": "logistic"}).values()
    assert (found.quantity, found.mean) == (TABLES["mcboost-table6"].quantity, microseconds)
    assert found.quantity.of_machine


def test_numbers_are_the_same_however_they_are_written():
    for nu, mean in ((0, 6.4), (1e-9, 6.4), (0.1, 36.8)):
        asked = {"loss": "exponential", "nu": nu}
        assert error("mcboost-table1", "pendigits", "mcboost", asked).mean == mean


@pytest.mark.parametrize(
    ("value", "texts"),
    [(False, ["false", "False", "0"]), (True, ["true"]), (None, ["null", "None"]), ("a", ["a"])],
)
def test_a_setting_may_be_written_as_in_a_config(value, texts):
    assert all(is_value(text, value) for text in ["", *texts])
    assert not is_value("b", value)


def test_what_a_line_leaves_open_may_be_anything():
    params = {"loss": "logistic"}
    assert error("mcboost-table5", "wine", "multiboost", params).mean == 3.3
    assert find_published("mcboost-table5", "letter", "adaboost_mo", params) == {}  # no number
    assert find_published("mcboost-table5", "wine", "mcboost", {"loss": "hinge"}) == {}


def sources(table):
    about = published_table(table)
    return {
        one.source: (one.mean, one.std)
        for line in lines_of(table)
        for one in find_published(table, line["data"], line[about.algo].split()[0], line).values()
        if one.quantity.is_judged
    }


@pytest.mark.parametrize(
    ("table", "first", "n"),
    [
        ("mcboost-table2", "mcboost-table1", 10),
        ("rpboost-table12.7", "rpboost-table12.4", 8),
        ("rpboost-table12.7", "rpboost-table12.6", 2),
    ],
)
def test_what_is_printed_twice_is_one_number(table, first, n):
    before, again = sources(first), sources(table)
    shared = before.keys() & again.keys()
    assert len(shared) == n
    for source in shared:
        assert again[source] == pytest.approx(before[source], nan_ok=True)


def test_what_is_printed_twice_is_declared():
    """No two tables of RandomBoost or MCBoost have a line in common that is not declared."""
    for paper in ("randomboost", "mcboost"):
        found = [key for table in papers()[paper].tables for key in sources(table)]
        assert len(found) - len(set(found)) == (10 if paper == "mcboost" else 0)


def test_quantities_know_their_columns():
    with TABLES["mcboost-table8"].path.open() as file:
        assert "accuracy_std" in next(csv.reader(file))
    for column, name in NUMBERS.items():
        assert column.startswith(QUANTITIES[name].column)


def test_statement():
    proj, rank = {"rboost_proj", "rboost_proj:wlda"}, {"rboost_rank", "rboost_rank:wlda"}
    said = statement("randomboost-table6", rank, proj)
    assert said == (
        "The paper, over 6 data sets: statistic 10.5, critical value 0; WSRT fails to reject the "
        "null hypothesis."
    )
    assert statement("randomboost-table5", proj, rank) != said
    assert statement("randomboost-table6", {"rboost_proj"}, rank) is None
    assert statement("randomboost-table4", proj, rank) is None
