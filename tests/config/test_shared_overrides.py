import pytest

from boostbench.config.compose import compose_config
from boostbench.config.overrides import parse_overrides
from boostbench.config.tables import TableDefinition
from boostbench.util.errors import UserError

COLUMNS = [
    "samme",
    "constant",
    "logistic_regression",
    "rboost_proj",
    {"knn": {"_target_": "sklearn.neighbors.KNeighborsClassifier"}},
    {"class": {"_target_": "boostbench.algorithms.MCBoost"}},
]


@pytest.fixture
def algos(define_table):
    """Return the configs of the algorithms of a table of all columns, by column."""

    def algos(*overrides, asked=(), rows=("iris",)):
        path = define_table(rows=list(rows), columns=COLUMNS, overrides=list(overrides))
        composed = TableDefinition.read(path).compose(asked)
        return {
            column: config.algorithm.params | {"grid": config.algorithm.grid}
            for (_, column), config in composed.items()
        }

    return algos


def algorithms_with(algos, name):
    return {column: algo[name] for column, algo in algos.items() if name in algo}


def test_override_applies_to_algorithms_with_the_parameter(algos):
    expected = dict.fromkeys(["samme", "rboost_proj", "class"], 7)
    assert algorithms_with(algos("algo.n_iterations=7"), "n_iterations") == expected
    assert algorithms_with(algos(asked=["algo.n_iterations=7"]), "n_iterations") == expected
    row = {"iris": ["algo.n_iterations=7"]}
    assert algorithms_with(algos(rows=[row]), "n_iterations") == expected
    # The configs of these algorithms do not contain the parameters.
    assert algorithms_with(algos("+algo.max_bins=9"), "max_bins") == {"samme": 9, "class": 9}
    assert algorithms_with(algos("+algo.n_neighbors=3"), "n_neighbors") == {"knn": 3}
    assert algorithms_with(algos("algo.C=3.0"), "C") == {"logistic_regression": 3.0}


def test_grid_override_applies_to_algorithms_with_the_grid(algos):
    for override in ("algo.grid.nu=[0.1]", "algo.grid={nu: [0.1]}"):
        grids = algorithms_with(algos(override), "grid")
        assert grids.pop("rboost_proj") == {"nu": [0.1]}
        assert not any(grids.values())
    added = algorithms_with(algos("+algo.grid.n_neighbors=[1,3]"), "grid")
    assert [column for column, grid in added.items() if "n_neighbors" in grid] == ["knn"]


def test_deletion_applies_to_algorithms_with_the_parameter(algos):
    assert "max_iter" not in algos("~algo.max_iter")["logistic_regression"]


@pytest.mark.parametrize(
    "override", ["algo.n_iteration=7", "+algo.n_iteration=7", "algo.grid.n_iteration=[7]"]
)
def test_parameter_of_no_algorithm_is_refused(algos, override):
    key = override.lstrip("+").partition("=")[0]
    for settings in ({"rows": [{"iris": [override]}]}, {"asked": [override]}):
        with pytest.raises(UserError, match=rf"unknown key '{key}'; did you mean algo\."):
            algos(**settings)
    with pytest.raises(UserError, match=rf"^\S+\.yaml: unknown key '{key}'; did you mean"):
        algos(override)


def test_unknown_parameter_of_a_column_is_refused_with_its_place(define_table):
    path = define_table(rows=["iris"], columns=["samme", {"constant": ["algo.n_iterations=3"]}])
    with pytest.raises(UserError) as error:
        TableDefinition.read(path).compose()
    assert str(error.value).startswith(
        f"{path}: row iris, column constant: unknown key 'algo.n_iterations'; did you mean"
    )


def test_error_of_a_command_line_override_names_no_file(define_table):
    path = define_table(rows=["iris"], columns=["samme"])
    with pytest.raises(UserError, match=r"^unknown key 'protocol.n_split'; did you mean"):
        TableDefinition.read(path).compose(["protocol.n_split=3"])


def test_replaced_class_may_share_a_parameter():
    """Add n_iterations, which the replaced algorithm has, too."""
    given = ["algo._target_=boostbench.algorithms.SAMME", "+algo.n_iterations=7"]
    assert compose_config(parse_overrides(given))["algo"]["n_iterations"] == 7
