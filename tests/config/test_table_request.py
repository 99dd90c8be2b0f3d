import pytest

from boostbench.config.table_definitions import TableDefinition
from boostbench.config.table_request import TableRequest
from boostbench.util.errors import UserError


@pytest.fixture(scope="module")
def definition():
    return TableDefinition.read("mcboost1")


def cell_departures(request):
    return {cell.departures for cell in request.cells}


def test_unchanged_table_has_its_name_and_no_departure(definition):
    request = TableRequest.compose(definition)
    assert (request.name, request.title) == (definition.name, definition.title)
    assert [cell.row for cell in request.cells] == [
        row for row in definition.row_names for _ in definition.columns
    ]
    assert not request.changes
    assert cell_departures(request) == {()}


def test_results_folder_and_backend_are_no_change(definition):
    request = TableRequest.compose(
        definition, ["results=elsewhere", "rerun=never", "parallel.n_jobs=2"]
    )
    assert request.name == definition.name
    assert not request.changes
    assert request.results.name == "elsewhere"
    assert request.shared_config.rerun == "never"


def test_changed_setting_is_in_the_name_and_departs_from_the_definition_in_every_cell(definition):
    request = TableRequest.compose(definition, ["algo.n_iterations=3"], rows=["iris"])
    assert request.name == "mcboost1-iris-n_iterations=3"
    assert request.changes == ["algo.n_iterations=3"]
    assert {cell.row for cell in request.cells} == {"iris"}
    assert request.runnable_cells == request.cells
    assert cell_departures(request) == {("algo.n_iterations=3",)}


def test_quantity_changes_the_name_but_no_fit(definition):
    request = TableRequest.compose(definition, ["quantity=accuracy"], rows=["iris"])
    assert request.name == "mcboost1-iris-accuracy"
    assert request.changes == ["quantity=accuracy"]
    assert request.definition.displayed_quantity().name == "accuracy"
    assert not request.definition.claims
    assert cell_departures(request) == {()}
    assert request.cells == TableRequest.compose(definition, rows=["iris"]).cells
    assert "quantity=accuracy" in request.command(request.cells[0])


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        ("acuracy", "unknown quantity 'acuracy'; did you mean accuracy"),
        ("n_nonzero", "measure=prediction records no n_nonzero; add measure=support"),
    ],
)
def test_quantity_that_is_not_recorded_is_named(definition, quantity, message):
    with pytest.raises(UserError, match=message):
        TableRequest.compose(definition, [f"quantity={quantity}"], rows=["iris"])


def test_changed_number_of_splits_is_in_the_name_and_no_departure(definition):
    request = TableRequest.compose(definition, ["protocol.n_splits=3"], rows=["iris"])
    assert request.name == "mcboost1-iris-n_splits=3"
    assert request.changes == ["protocol.n_splits=3"]
    assert cell_departures(request) == {()}


def test_setting_that_changes_a_later_row_is_a_change(define_table):
    """Check the name, as otherwise the file of the unchanged table would be overwritten."""
    rows = [{"wine": ["protocol.n_splits=2"]}, {"iris": ["protocol.n_splits=4"]}]
    definition = TableDefinition.read(define_table(rows=rows, columns=["constant"]))
    request = TableRequest.compose(definition, ["protocol.n_splits=2"])
    assert request.name == "mine-n_splits=2"
    assert request.changes == ["protocol.n_splits=2"]
    assert request.cells[0].departures == ()
    assert (
        TableRequest.compose(definition, ["protocol.n_splits=2"], rows=["wine"]).name == "mine-wine"
    )


def test_deleted_parameter_is_a_change(define_table):
    """Check the name, as otherwise the files of the unchanged table would be overwritten."""
    definition = TableDefinition.read(define_table(rows=["wine"], columns=["samme"]))
    request = TableRequest.compose(definition, ["~algo.n_iterations"])
    assert request.name == "mine-n_iterations="
    assert request.changes == ["algo.n_iterations=None"]


def test_measure_is_a_change(define_table):
    definition = TableDefinition.read(define_table(rows=["wine"], columns=["constant"]))
    request = TableRequest.compose(definition, ["measure=scores"])
    assert (request.name, request.changes) == ("mine-scores", ["measure=scores"])


def test_request_without_cells_is_refused():
    definition = TableDefinition.read("cgens3")
    with pytest.raises(UserError, match="table cgens3 does not run multiboost on mnist, usps; "):
        TableRequest.compose(definition, rows=["mnist", "usps"], columns=["multiboost"])
    request = TableRequest.compose(definition, rows=["mnist", "wine"], columns=["multiboost"])
    assert [cell.row for cell in request.runnable_cells] == ["wine"]


def test_profile_is_in_the_title(definition):
    title = TableRequest.compose(definition, ["profile=quick"]).title
    assert title.startswith(f"{definition.title} (quick: at most 3 splits, ")


def test_rounds_that_are_no_checkpoint_are_refused():
    with pytest.raises(UserError, match="no test error is recorded after 500 rounds; add them"):
        TableRequest.compose(TableDefinition.read("cgens3"), ["protocol.checkpoints=[10]"])


@pytest.mark.parametrize(
    ("measure", "quantity", "expected"),
    [
        ("prediction", "n_nonzero", "support"),
        ("prediction", "hash_per_instance", "retrieval"),
        ("scores", "n_parameters", "prediction"),
        ("retrieval", "test_error", "prediction"),
    ],
)
def test_quantity_of_another_measure_is_refused(define_table, measure, quantity, expected):
    algo = "lsh" if measure == "retrieval" else "samme"
    path = define_table(
        rows=["iris"], columns=[algo], quantity=quantity, overrides=[f"measure={measure}"]
    )
    with pytest.raises(UserError) as error:
        TableRequest.compose(TableDefinition.read(path))
    assert str(error.value).startswith(
        f"{path}: row iris, column {algo}: measure={measure} records no {quantity}; "
        f"add measure={expected} "
    )


def test_rounds_need_a_measure_with_checkpoints(define_table):
    content = {"rows": ["iris"], "columns": ["samme"], "rounds": [50]}
    TableRequest.compose(TableDefinition.read(define_table(**content)))
    path = define_table(**content, overrides=["measure=scores"])
    with pytest.raises(UserError, match="measure=scores records the last round alone"):
        TableRequest.compose(TableDefinition.read(path))


def test_unknown_parameter_is_refused_with_its_place(define_table):
    tree = {"_target_": "sklearn.tree.DecisionTreeClassifier", "overrides": ["+algo.depth=2"]}
    path = define_table(rows=["iris"], columns=["samme", {"mine": tree}])
    with pytest.raises(UserError) as error:
        TableRequest.compose(TableDefinition.read(path))
    assert str(error.value).startswith(
        f"{path}: row iris, column mine: DecisionTreeClassifier has no parameter 'depth'"
    )


def test_paths_and_many_overrides_give_a_valid_file_name(define_table, tmp_path):
    (tmp_path / "my.csv").write_text("a,b\n1,x\n2,y\n")
    path = f"{tmp_path}/my.csv"
    definition = TableDefinition.read(define_table(rows=[path, "wine"], columns=["constant"]))
    assert TableRequest.compose(definition, rows=[path]).name == f"mine-{path.replace('/', '_')}"
    keys = ("algo.title", "algo.paper", "protocol.name", "data.labels")
    overrides = [f"{key}={'x' * 60}" for key in keys]
    names = [TableRequest.compose(definition, [*overrides, f"seed={seed}"]).name for seed in (1, 2)]
    assert len(set(names)) == 2
    for name in names:
        assert name.startswith("mine-title=xxxx")
        assert len(f"{name}-matrix.svg") == 255


def test_long_name_is_cut_between_characters(define_table):
    title = "ü" * 200
    definition = TableDefinition.read(
        define_table(rows=[{"wine": {"title": title}}], columns=["samme"])
    )
    name = TableRequest.compose(definition, rows=[title]).name
    assert name.startswith("mine-üü")
    assert 253 <= len(f"{name}-matrix.svg".encode()) <= 255
