import shlex

import pytest
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser

from boostbench.config.compose import compose_config
from boostbench.config.overrides import (
    check_no_conflicting_values,
    expand_sweep,
    parse_overrides,
)
from boostbench.config.table_definitions import TableDefinition
from boostbench.util.errors import UserError


def compose_jobs(overrides, folders=()):
    """Compose all jobs of a sweep, as `boostbench run` does."""
    return [
        compose_config(parse_overrides(job), folders=folders)
        for job in expand_sweep(overrides, folders)
    ]


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["algo=adaboost", "data=vowel", "algo.n_iterations=3"],
        ["algo=rboost_proj,rboost_rank", "algo.n_projections=3"],
        ["algo=glob(samme*)", "data=wine,wine"],
        ["data=wine,vowel", "seed=range(3)"],
        ["profile=quick", "protocol.n_folds=3"],
        ["algo.grid.nu=[1]", "data.expect=null"],
        ["+algo.max_depth=1", "++data.seed=2", "~algo.grid.nu"],
        ["seed=3", "protocol.name='a${seed}'", "+algo.x='${.nu} and ${algo.n_iterations}'"],
    ],
)
def test_valid_overrides_are_composed(overrides):
    compose_jobs(overrides)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["algo=rbost_proj"], "unknown algorithm 'rbost_proj'; did you mean rboost_proj"),
        (["data=wine,vowle"], "unknown data set 'vowle'; did you mean vowel"),
        (["profile=quik"], "unknown profile 'quik'; did you mean quick"),
        (["parallel=jobli"], "unknown parallel backend 'jobli'; did you mean joblib"),
        (["algo.n_iteratons=3"], "unknown key 'algo.n_iteratons'; did you mean algo.n_iterations"),
        (["sead=3"], "unknown key 'sead'; did you mean seed"),
        (["algo=adaboost", "algo.nu=3"], r"unknown key 'algo.nu'; .*\(\+algo.nu=... would add it"),
        (["table=demo"], "unknown key 'table'"),
        (["results={a: b}"], r"results is \{'a': 'b'\}; it must be text, the name of a folder"),
        (["++results=[a]"], r"results is \['a'\]; it must be text"),
        (["results="], r"results is ''; it must be text, the name of a folder"),
        (["++results=''"], r"results is ''; it must be text, the name of a folder"),
    ],
)
def test_unknown_names_are_refused_with_near_matches(overrides, message):
    with pytest.raises(UserError, match=message):
        compose_jobs(overrides)


def test_file_name_in_place_of_a_data_set_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("my.csv", "größe.csv"):
        (tmp_path / name).touch()
    message = r"^no data set is called 'my\.csv'; the file is data\.path=my\.csv$"
    with pytest.raises(UserError, match=message):
        compose_jobs(["data=my.csv"])
    with pytest.raises(UserError, match=r"the file is 'data\.path=.größe\.csv.'$"):
        compose_jobs(['data="größe.csv"'])
    with pytest.raises(UserError, match=r"unknown data set 'your\.csv'"):
        compose_jobs(["data=your.csv"])


@pytest.mark.parametrize(
    ("override", "values"),
    [
        ("data=glob(vowel*)", ["vowel", "vowel-redrawn", "vowel528"]),
        ("algo=glob([samm*,constan*])", ["constant", "samme", "samme_tree"]),
        ("algo=glob(samme*,exclude=*tree)", ["samme"]),
        ("algo=svm,glob(constan*),constant,null", ["svm", "constant", "null"]),
        ("++protocol=glob(mc*)", ["mcboost"]),
        ("data.path='~/a,b.csv'", ["'~/a,b.csv'"]),
        ("seed=range(1,4)", ["1", "2", "3"]),
        ("data.classes=[0,1],[0,2]", ["[0,1]", "[0,2]"]),
    ],
)
def test_sweep_has_a_job_for_each_value(override, values):
    key = override.partition("=")[0]
    assert expand_sweep([override, "rerun=never"]) == [
        [f"{key}={value}", "rerun=never"] for value in values
    ]


@pytest.mark.parametrize(
    "overrides",
    [
        ["algo=samme,constant", "data=wine", "seed=1,2", "+algo.x='a b',c"],
        ["data.classes=[0,1],[1,2]", "~algo.grid", "algo.nu=choice(0.1,1e-3)", "seed=range(3)"],
    ],
)
def test_jobs_of_a_sweep_equal_hydra(overrides):
    parsed = OverridesParser.create().parse_overrides(overrides)
    [jobs] = BasicSweeper.split_arguments(parsed, max_batch_size=None)
    assert [parse_overrides(job) for job in expand_sweep(overrides)] == [
        parse_overrides(job) for job in jobs
    ]


def test_globs_match_user_configs(tmp_path):
    (tmp_path / "algo").mkdir()
    (tmp_path / "algo" / "samme_of_mine.yaml").touch()
    jobs = expand_sweep(["algo=glob(samme_*)"], [tmp_path])
    assert jobs == [["algo=samme_of_mine"], ["algo=samme_tree"]]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("algo=constant,glob(cosn*)", r"matches no algorithm; did you mean mcboost\?"),
        ("data=glob(wine,exclude=w*)", r"matches no data set; did you mean wine"),
        ("seed=glob(1*)", r"is refused: glob\(...\) chooses among algo, data, .* name the values"),
        ("seed=interval(0,1)", r"is refused: name the values"),
    ],
)
def test_sweep_without_values_is_refused(override, message):
    with pytest.raises(UserError, match=message) as error:
        expand_sweep([override])
    assert str(error.value).startswith(override)


def test_file_in_the_home_folder_in_place_of_a_data_set_is_refused(home):
    (home / "my.csv").touch()
    with pytest.raises(UserError, match=r"the file is 'data\.path=.~/my\.csv.'$"):
        compose_jobs(['data="~/my.csv"'])


@pytest.mark.parametrize(
    "value", ["größe.csv", "x=1.csv", "~/a.csv", "a (1).csv", "a'b.csv", 'a"b']
)
def test_error_shows_the_override_with_quotes(value):
    with pytest.raises(UserError, match=" as an override: write '") as error:
        compose_jobs([f"data.path={value}"])
    [written] = shlex.split(str(error.value).partition(": write ")[2])
    assert parse_overrides([written]) == {"data.path": value}
    with pytest.raises(UserError, match="KEY=VALUE is expected, with quotes around odd values"):
        compose_jobs(["algo.grid.nu=[1"])


def test_user_configs_are_composed(tmp_path):
    (tmp_path / "algo").mkdir()
    (tmp_path / "algo" / "mine.yaml").write_text("{name: mine, depth: 3}")
    compose_jobs(["algo=mine", "algo.depth=4"], [tmp_path])
    with pytest.raises(UserError, match="unknown algorithm 'mine'"):
        compose_jobs(["algo=mine"])


@pytest.mark.parametrize(
    "value",
    [
        *("[" * 300 + "]" * 300, "[" * 3000, "{a: " * 100 + "1" + "}" * 100),
        *("${a:" * 300 + "}" * 300, "9" * 5000, "a" * 10_001, "[" + "1," * 5000 + "1]"),
        "str(" * 300 + "1" + ")" * 300,
    ],
)
def test_long_and_deep_values_are_refused(value):
    for overrides in ([f"+algo.x={value}"], [f"seed={value}"]):
        with pytest.raises(UserError, match="is too long") as error:
            compose_jobs(overrides)
        assert len(str(error.value)) < 250


def test_conflicting_overrides_are_refused():
    with pytest.raises(UserError, match="seed is given twice, as 1 and 2; give it once"):
        check_no_conflicting_values(["seed=1", "algo=samme", "seed=2"])
    check_no_conflicting_values(["seed=1", "seed=1", "algo.seed=2", "+algo.x=1", "-m"])


@pytest.mark.parametrize(
    "value",
    [
        *(
            "${oc.env:HOME}",
            "a ${oc.env:HOME,none}",
            "[1,'${oc.env:HOME}']",
            "{b: '${oc.env:HOME}'}",
        ),
        *("${oc.decode:x}", "${oc.create:x}", "${oc.select:hydra}", "${oc.dict.values:data}"),
        *("${oc.env:${algo.name}}", "${now:%Y}", "${hydra:runtime.cwd}"),
        *(
            "${ oc.env:HOME }",
            "${${seed}}",
            "${oc.${seed}:HOME}",
            "${mine:HOME}",
            "${python_version:}",
        ),
        *("$${seed}{oc.env:HOME}", "${[hydra][runtime]}", "${", "${a b}"),
    ],
)
def test_interpolations_that_read_the_machine_are_refused(value):
    for key in ("algo.name", "+algo.note", "++algo.note", "seed", "results", "data.path"):
        with pytest.raises(UserError, match=r"is refused: \$\{...\} may name another value"):
            compose_jobs([f"{key}={value}"])


@pytest.mark.parametrize(
    "override",
    [
        "+hydra.callbacks.x._target_=subprocess.Popen",
        "+hydra.callbacks={x: {_target_: os.system, command: ls}}",
        *("hydra.searchpath=[pkg://this]", "hydra.searchpath=[file:///tmp]"),
        "hydra.job_logging.handlers={x: {class: logging.FileHandler, filename: made}}",
        "+hydra.hydra_logging.handlers.x.()=os.system",
        *("+hydra.job.env_set.LD_PRELOAD=evil.so", "hydra.job.env_copy=[HOME]", "hydra.job.name=x"),
        *("hydra.launcher._target_=subprocess.Popen", "+hydra.launcher.x={_target_: os.system}"),
        *("hydra.sweeper.params={hydra.callbacks.x: 1}", "+algo@hydra.callbacks.x=svc"),
        *("hydra.sweep.dir=${oc.env:HOME}", "+data@_global_=wine", "hydra={}", "~hydra"),
        "hydra/launcher={_target_: subprocess.Popen}",
        *("hydra/launcher=joblib", "hydra.verbose=true", "hydra.launcher.n_jobs=2"),
    ],
)
def test_overrides_of_hydra_itself_are_refused(override):
    with pytest.raises(UserError, match="is refused"):
        compose_jobs([override])


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
            cell.column: cell.config.algorithm.params | {"grid": cell.config.algorithm.grid}
            for cell in composed
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
