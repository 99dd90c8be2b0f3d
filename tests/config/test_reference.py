import pytest

from boostbench.config.compose import compose_experiment
from boostbench.config.overrides import parse_overrides
from boostbench.config.table_definitions import (
    TableDefinition,
    read_definitions,
    shipped_data,
    shipped_definition,
)
from boostbench.config.table_request import find_departures, find_reference
from boostbench.papers.published import find_quantity


def reference(*overrides):
    return find_reference(compose_experiment(parse_overrides(overrides)))


def test_experiment_of_the_paper_has_its_published_number():
    cell = reference("algo=rboost_proj", "data=vowel")
    assert find_quantity(cell.published, "test_error").mean == 8.1
    assert cell.departures == ()


@pytest.mark.parametrize("n_splits", [3, 10, 20])
def test_number_of_random_splits_is_no_departure(n_splits):
    for algo in ("adaboost_mh", "rboost_rank"):
        cell = reference(f"algo={algo}", "data=wine", f"protocol.n_splits={n_splits}")
        assert cell.departures == ()


def test_number_of_folds_is_a_departure():
    asked = "protocol=rpboost", "algo=rpboost", "data=sonar"
    assert reference(*asked).departures == ()
    assert reference(*asked, "protocol.n_repeats=5").departures == ()
    assert reference(*asked, "protocol.n_splits=5").departures == ("protocol.n_splits=5",)


@pytest.mark.parametrize(
    ("override", "departure"),
    [
        ("algo.n_iterations=20", "algo.n_iterations=20"),
        ("profile=quick", "algo.n_iterations=200"),
        ("+data.classes=3", "data.classes=3"),
    ],
)
def test_departures_name_changed_settings(override, departure):
    cell = reference("algo=adaboost_mh", "data=wine", override)
    assert find_quantity(cell.published, "test_error").mean == 4.3
    assert departure in cell.departures


@pytest.mark.parametrize(
    "override",
    [
        "seed=7",
        "data.openml=null",
        "protocol.checkpoints=[1]",
        "protocol.n_folds=2",  # there is nothing to choose
        "protocol.name=mine",
        "algo.n_iterations=1000",
    ],
)
def test_settings_without_effect_are_no_departures(override):
    defined = {"algo": "adaboost_mh", "data": "wine"}
    asked = compose_experiment(defined | parse_overrides([override]))
    assert find_departures(compose_experiment(defined), asked) == ()


def test_cell_with_fewest_departures_is_the_reference():
    """Check that settings choose among MCBoost's Tables I, II and IV, which all have iris."""
    asked = "protocol=mcboost", "algo=mcboost", "data=iris", "algo.n_iterations=500"
    cell = reference(*asked, "algo.eta=0.2")
    assert find_quantity(cell.published, "test_error").line["eta"] == "0.2"
    assert cell.departures == ()
    assert reference(*asked, "algo.eta=0.3").departures == ("algo.eta=0.3",)
    # Table V of RandomBoost has this data set with 100 samples per class.
    cell = reference("algo=adaboost_mh", "data=usps")
    assert cell.departures == ("protocol.samples_per_class=None",)


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ("iris", []),
        ("heart", ["randomboost3", "randomboost4"]),
        ("wine", ["randomboost3", "randomboost5", "randomboost6"]),
    ],
)
def test_find_reference_reads_only_definitions_with_the_data_set(monkeypatch, data, names):
    files_read = []

    def read(name):
        files_read.append(name)
        return original(name)

    original = TableDefinition.read
    monkeypatch.setattr(TableDefinition, "read", read)
    shipped_definition.cache_clear()
    reference("algo=adaboost_mh", f"data={data}")
    assert files_read == names


def test_shipped_data_equals_the_rows_of_the_definition():
    for definition in read_definitions():
        assert shipped_data(definition.name) == {row.data for row in definition.rows}


def test_unpublished_experiment_has_no_reference():
    assert reference("algo=mcboost", "data=iris") == ((), ())
    assert reference("algo._target_=sklearn.svm.SVC", "data=wine") == ((), ())


def test_departures_compare_settings_that_decide_results():
    default, mcboost = compose_experiment({}), compose_experiment({"protocol": "mcboost"})
    assert find_departures(default, default) == ()
    assert find_departures(default, mcboost) == ("protocol.samples_per_class=50",)
    assert not any(
        "name" in departure or "checkpoints" in departure
        for departure in find_departures(default, mcboost)
    )
