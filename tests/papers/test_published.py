import csv

import pytest

from boostbench.fitting.quantities import QUANTITIES
from boostbench.papers.metadata import (
    PublishedTable,
    is_value,
    library,
    paper_citation,
    published_table,
)
from boostbench.papers.notes import find_statement
from boostbench.papers.published import (
    find_published,
    find_quantity,
    lines_of,
)
from boostbench.util import configs
from boostbench.util.errors import UserError

TABLES = {table.name: table for table in library().tables}

#: Quantity of each column with numbers; the other columns are settings or text.
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
    return find_quantity(find_published(*asked), "test_error")


@pytest.mark.parametrize("name", TABLES)
def test_every_published_table_is_a_table_of_ours(name):
    """Check the link that makes its numbers the reference of our table."""
    definition = TABLES[name].definition
    path = dict(configs.definition_files("table"))[definition]
    assert configs.parse_yaml(path.read_text(encoding="utf-8"))["published"] == name


def test_published_numbers_are_found():
    number = error("randomboost-table5", "wine", "rboost_proj", {})
    assert (number.mean, number.std, number.n) == (3.0, 3.0, 10)
    assert str(number) == "3.0 (3.0)"
    assert find_published("randomboost-table5", "wine", "nonsense", {}) == ()


def test_unknown_tables_are_named():
    with pytest.raises(UserError, match="did you mean randomboost-table5"):
        find_published("randomboost-table55", "wine", "rboost_proj", {})
    with pytest.raises(UserError, match="unknown published table"):
        find_published("../../secret", "wine", "rboost_proj", {})


def test_settings_select_the_line():
    def published_after(n_iterations):
        asked = {"n_iterations": n_iterations}
        return find_published("randomboost-table4", "australian", "adaboost", asked)

    assert (
        published_after(50)[0].mean,
        published_after(1000)[0].mean,
        published_after(7),
    ) == (14.8, 16.6, ())
    assert find_published("randomboost-table6", "wine", "rboost_rank", {"n_iterations": 1000}) == ()


@pytest.mark.parametrize(
    ("place", "n"),
    [
        (("randomboost-table2", "synthetic1", "rboost_rank", {"n_projections": 1000}), 5),
        (("mcboost-table8", "scene15-centrist", "adaboost_sip", {"n_features": 1000}), 5),
        (("cgens-table3", "wine", "cgens_sls", {}), 10),
        (("cgens-table3", "mnist", "cgens_sls", {}), 5),
    ],
)
def test_number_of_repetitions_is_read(place, n):
    (number,) = find_published(*place)
    assert number.n == n


@pytest.mark.parametrize("table", TABLES)
def test_every_published_number_can_be_found(table):
    """Look each line up by all of its settings and compare all of its numbers."""
    about, n_numbers = published_table(table), 0
    for line in lines_of(table):
        printed = {NUMBERS[key]: line[key] for key in line if key in NUMBERS and line[key]}
        for algo in line[about.algo].split():
            numbers = find_published(table, line["data"], algo, line)
            assert {number.quantity.name for number in numbers} == printed.keys()
            n_numbers += len(numbers)
            for number in numbers:
                name = number.quantity.name
                assert number.mean == pytest.approx(unit_factor(about, name) * float(printed[name]))
                assert number.line == line
    assert n_numbers > 0


def unit_factor(about: PublishedTable, name: str) -> float:
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
    columns = [key for key, name in NUMBERS.items() if name == about.quantity.name]
    texts = [line[key] for line in lines_of(table) for key in columns if line.get(key)]
    decimals = max(len(text.partition(".")[2]) for text in texts)
    assert about.quantity.digits == decimals - (2 if about.factor == 100 else 0)


def test_all_files_of_numbers_have_an_entry_and_a_definition():
    names = {
        f"{paper}-{path.stem}"
        for paper, folder in configs.paper_folders()
        for path in folder.glob("*.csv")
        if path.name != "wilcoxon.csv"
    }
    assert names == TABLES.keys()
    assert {t.definition for t in TABLES.values()} <= set(configs.list_options("table"))


def test_citations_are_complete():
    assert [paper.title for paper in library().papers] == [
        *("RandomBoost", "MCBoost", "CGENS", "RpBoost", "LADDER")
    ]
    for paper in library().papers:
        for part in (paper.authors, paper.work, paper.venue, paper.year):
            assert part
            assert part in paper_citation(paper.name)


def test_units_are_converted():
    place = "rpboost-table12.4", "sine", "rpboost", {"space": "sub", "projection": "normal"}
    number = find_quantity(find_published(*place), "accuracy")
    assert (number.mean, str(number), number.quantity.unit) == (98.6, "98.6", "percent")
    numbers = find_published("ladder-table2-left", "cifar10-gist", "ladder", {"bits": 8})
    assert str(find_quantity(numbers, "mean_average_precision")) == "0.224"
    assert str(
        error("cgens-table1", "banana", "adaboost", {"weak_learner_or_kernel": "stump"})
    ) == ("28.38 (0.55)")


def test_times_are_published_numbers():
    numbers = find_published("randomboost-table3", "heart", "rboost_rank_tc", {"loss": "logistic"})
    assert tuple(find_quantity(numbers, name).mean for name in ("test_error", "coefficients")) == (
        22.7,
        1.9,
    )
    [number] = find_published("randomboost-table5", "wine", "rboost_proj", {})
    assert number.quantity.name == "test_error"
    assert find_quantity([number], "coefficients") is None


@pytest.mark.parametrize(
    ("algo", "microseconds"), [("adaboost_ecc", 110), ("adaboost_mo", 7900), ("mcboost", 60)]
)
def test_times_without_an_error(algo, microseconds):
    (number,) = find_published("mcboost-table6", "pendigits", algo, {"loss": "logistic"})
    assert (number.quantity, number.mean) == (TABLES["mcboost-table6"].quantity, microseconds)
    assert number.quantity.of_machine


def test_notation_of_numbers_is_ignored():
    for nu, mean in ((0, 6.4), (1e-9, 6.4), (0.1, 36.8)):
        asked = {"loss": "exponential", "nu": nu}
        assert error("mcboost-table1", "pendigits", "mcboost", asked).mean == mean


@pytest.mark.parametrize(
    ("value", "texts"),
    [(False, ["false", "False", "0"]), (True, ["true"]), (None, ["null", "None"]), ("a", ["a"])],
)
def test_settings_may_be_written_as_in_a_config(value, texts):
    assert all(is_value(text, value) for text in ["", *texts])
    assert not is_value("b", value)


def test_unspecified_settings_of_a_line_match_any_value():
    params = {"loss": "logistic"}
    assert error("mcboost-table5", "wine", "multiboost", params).mean == 3.3
    assert find_published("mcboost-table5", "letter", "adaboost_mo", params) == ()  # no number
    assert find_published("mcboost-table5", "wine", "mcboost", {"loss": "hinge"}) == ()


def sources(table):
    about = published_table(table)
    return {
        number.source: (number.mean, number.std)
        for line in lines_of(table)
        for number in find_published(table, line["data"], line[about.algo].split()[0], line)
        if number.quantity.is_judged
    }


@pytest.mark.parametrize(
    ("table", "first", "n"),
    [
        ("mcboost-table2", "mcboost-table1", 10),
        ("rpboost-table12.7", "rpboost-table12.4", 8),
        ("rpboost-table12.7", "rpboost-table12.6", 2),
    ],
)
def test_repeated_numbers_are_equal(table, first, n):
    first_numbers, numbers = sources(first), sources(table)
    shared = first_numbers.keys() & numbers.keys()
    assert len(shared) == n
    for source in shared:
        assert numbers[source] == pytest.approx(first_numbers[source], nan_ok=True)


def test_repeated_numbers_are_declared():
    """Check that tables of RandomBoost or MCBoost share no undeclared line."""
    for paper in ("randomboost", "mcboost"):
        keys = [key for table in library().find_paper(paper).tables for key in sources(table.name)]
        assert len(keys) - len(set(keys)) == (10 if paper == "mcboost" else 0)


def test_quantities_know_their_columns():
    with TABLES["mcboost-table8"].path.open() as file:
        assert "accuracy_std" in next(csv.reader(file))
    for column, name in NUMBERS.items():
        assert column.startswith(QUANTITIES[name].column)


def test_statement_names_number_and_source():
    proj, rank = {"rboost_proj", "rboost_proj:wlda"}, {"rboost_rank", "rboost_rank:wlda"}
    sentence = find_statement("randomboost-table6", rank, proj)
    assert sentence == (
        "The paper, over 6 data sets: statistic 10.5, critical value 0; WSRT fails to reject the "
        "null hypothesis."
    )
    assert find_statement("randomboost-table5", proj, rank) != sentence
    assert find_statement("randomboost-table6", {"rboost_proj"}, rank) is None
    assert find_statement("randomboost-table4", proj, rank) is None
