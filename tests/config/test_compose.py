import copy
import inspect
import json
import re

import pytest
from fitting.toy import experiment_from_config
from hydra import compose as compose_by_hydra
from hydra import initialize_config_dir
from hydra.utils import get_class
from omegaconf import OmegaConf

from boostbench.config.compose import compose_config, merge_configs
from boostbench.config.overrides import allow_new_parameters, parse_overrides
from boostbench.config.table_definitions import TableDefinition
from boostbench.data.loading import load
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util import configs
from boostbench.util.errors import UserError

RESERVED = {"_target_", "name", "title", "paper", "grid"}

# Settings of the second configs of a class that differ from its defaults.
VARIANTS = {
    "samme_tree": {"weak_learner": "tree"},
    # The records have the values that None stands for.
    "multiboost": {"solver": "newton", "solver_iterations": 5},
    "multiboost_from_zero": {"solver": "lbfgs", "solver_iterations": 100, "start": "zero"},
    "rboost_proj_from_zero": {"nu": 1e-5, "start": "zero", "tol": 0},
}

# Rounds of the algorithms of RpBoost, CGENS and LADDER and of its competitors.
ROUNDS = {
    **dict.fromkeys(("cgens", "cgens_sls", "lpboost", "lsboost", "rpboost"), 500),
    **dict.fromkeys(("erlp_boost", "nm_boost", "perceptron_adaboost"), 500),
    **dict.fromkeys(("codeword_mcboost", "ladder", "reduced_mcboost"), 200),
    "codeword_boosting": 100,
    "bagged_mcboost": 2000,
    **dict.fromkeys(("itq", "itq_supervised"), 50),
    **dict.fromkeys(("lsh", "bre", "ksh", "constant", "logistic_regression"), None),
}


def compose(*overrides):
    return compose_config(parse_overrides(overrides))


def compose_with_hydra(overrides):
    """Merge groups and overrides by Hydra."""
    with initialize_config_dir(str(configs.conf_dir()), version_base="1.3"):
        config = compose_by_hydra("config", list(overrides))
        return OmegaConf.to_container(config, resolve=True)


_SHARED = ("n_iter_no_change", "validation_fraction", "verbose", "time_limit")
# Settings of the categorical columns of data frames.
_TABLE_PARAMETERS = ("categorical_features", "category_sets")


@pytest.mark.parametrize("name", configs.list_options("algo"))
def test_algorithm_configs_are_the_defaults_of_their_class(name):
    algo = compose(f"algo={name}")["algo"]
    assert RESERVED <= algo.keys()
    assert algo["name"] == name
    parameters = inspect.signature(get_class(algo["_target_"])).parameters
    # random_state follows from the seed and the split; warm_start matters to a second fit, as in
    # cross-validation, and n_jobs to the time only. The others are settings that no paper has.
    left_out = (
        "random_state",
        "warm_start",
        "n_jobs",
        "class_weight",
        *_TABLE_PARAMETERS,
        *_SHARED,
    )
    defaults = {key: p.default for key, p in parameters.items() if key not in left_out}
    defaults |= VARIANTS.get(name, {})
    to_override = {key: value for key, value in algo.items() if key not in RESERVED}
    if algo["_target_"].startswith("boostbench."):
        assert to_override == defaults
    else:
        assert to_override.keys() <= defaults.keys()
    assert algo["grid"].keys() <= defaults.keys()


@pytest.mark.parametrize("algo", configs.list_options("algo"))
def test_all_algorithms_compose_with_all_protocols(algo):
    protocols = configs.list_options("protocol")
    specs = [compose_config({"algo": algo, "protocol": protocol}) for protocol in protocols]
    groups = {"algo", "data", "protocol", "profile", "parallel"}
    for spec, protocol in zip(specs, protocols, strict=True):
        assert spec.keys() == groups | {"measure", "seed", "results", "rerun", "shard"}
        assert spec["protocol"]["name"] == protocol
        assert spec["protocol"].keys() == compose()["protocol"].keys()


def test_grid_equals_the_paper():
    nu = compose("algo=rboost_proj")["algo"]["grid"]["nu"]
    assert len(nu) == 25
    assert nu == sorted(nu, reverse=True)
    assert (nu[0], nu[1], nu[-1]) == (1e-2, 7.5e-3, 1e-8)


@pytest.mark.parametrize("grid", ["+algo.grid={C: [1, 2]}", "+algo.grid.C=[1,2]"])
def test_replaced_class_inherits_no_grid(grid):
    algo = compose("algo._target_=sklearn.svm.SVC", grid)["algo"]
    assert algo["grid"] == {"C": [1, 2]}
    nu_svc = compose("algo._target_=sklearn.svm.NuSVC", "algo.grid.nu=[0.1]", grid)["algo"]
    assert nu_svc["grid"] == {"nu": [0.1], "C": [1, 2]}


def test_replaced_class_inherits_no_parameters():
    algo = compose("algo._target_=sklearn.svm.SVC", "+algo.C=2", "algo.n_iterations=7")["algo"]
    assert algo == {
        "_target_": "sklearn.svm.SVC",
        "C": 2,
        "n_iterations": 7,  # the class refuses it later
        "name": "SVC",
        "title": "SVC",
        "paper": None,
        "grid": {},
    }


def test_replaced_class_keeps_given_settings():
    algo = compose("algo._target_=sklearn.svm.SVC", "algo.name=svm", "+algo.grid.C=[1,2]")["algo"]
    assert algo["name"] == "svm"
    assert algo["grid"]["C"] == [1, 2]


def test_unchanged_class_keeps_its_parameters():
    target = configs.read_option("algo", "rboost_proj")["_target_"]
    assert compose(f"algo._target_={target}") == compose()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"path": "/x/my.csv"}, "my"),
        ({"path": "/x/my.svm.gz"}, "my"),
        ({"path": "/x/my data.1.csv"}, "my_data.1"),
        ({"openml_task": 3}, "openml-task-3"),
    ],
)
def test_files_and_tasks_replace_the_default_data_set(given, name):
    data = compose(*(f"data.{key}={value}" for key, value in given.items()))["data"]
    assert {key: value for key, value in data.items() if value is not None} == {
        "name": name,
        **given,
    }


def test_file_takes_the_given_name():
    assert compose("data.path=/x/my.csv", "data.name=yours")["data"]["name"] == "yours"


def test_file_of_a_named_data_set_keeps_its_expected_numbers():
    data = compose("data=glass", "data.path=/x/my.csv")["data"]
    assert data["name"] == "glass"
    assert data["expect"]["samples"] == 214


def test_malformed_override_is_refused():
    with pytest.raises(UserError, match="as an override: KEY=VALUE is expected"):
        compose("a.b[0]=3")


def remove_profile(spec):
    return {key: value for key, value in spec.items() if key != "profile"}


@pytest.mark.parametrize("name", configs.list_options("algo"))
def test_paper_profile_changes_nothing(name):
    spec = compose(f"algo={name}")
    assert spec["profile"]["name"] == "paper"
    assert spec["protocol"] == configs.read_option("protocol", "randomboost")
    # Numbers are compared as numbers: PyYAML reads 1e-4 as text, and Hydra as a number.
    to_override = configs.read_option("algo", name)
    assert spec["algo"].keys() == to_override.keys()
    assert spec["algo"].get("n_iterations") == to_override.get("n_iterations")
    # RandomBoost and MCBoost have 1000 rounds, others fewer, and kernel machines none.
    rounds = None if "svc" in name else ROUNDS.get(name, 1000)
    assert to_override.get("n_iterations") == rounds


def test_quick_profile_reduces_rounds_projections_splits_and_folds():
    quick, paper = (compose("algo=rboost_rank", *o) for o in (["profile=quick"], []))
    assert quick["profile"]["name"] == "quick"
    changed = {key for key in paper["algo"] if quick["algo"][key] != paper["algo"][key]}
    assert changed == {"n_iterations", "projections"}
    changed = {key for key in paper["protocol"] if quick["protocol"][key] != paper["protocol"][key]}
    assert changed == {"n_splits", "n_folds"}


@pytest.mark.parametrize("order", [1, -1])
def test_overrides_precede_the_profile(order):
    given = ["profile=quick", "algo=rboost_rank", "algo.n_iterations=7", "protocol.n_splits=5"]
    spec = compose(*given[::order])
    assert spec["algo"]["n_iterations"] == 7
    assert spec["algo"]["projections"] == "pooled"
    assert spec["protocol"]["n_splits"] == 5
    assert spec["protocol"]["n_folds"] == 2


@pytest.mark.parametrize("overrides", [[], ["algo.eta=${seed}"]])
def test_quick_profile_limits_the_settings_of_a_definition(overrides):
    """Check definitions with and without an interpolation."""
    settings = ["algo=mcboost", "protocol.n_splits=50", "algo.n_iterations=1000", *overrides]
    settings = parse_overrides([*settings, "+algo.grid.n_iterations=[50,100,500]"])
    asked = {"profile": "quick", "seed": 1}
    quick = compose_config(settings | asked, user_keys=asked)
    assert quick["protocol"]["n_splits"] == 3
    assert quick["algo"]["n_iterations"] == 200
    assert quick["algo"]["grid"]["n_iterations"] == [50, 100, 200]
    few = {"protocol.n_splits": 1, "algo.n_iterations": 60}
    quick = compose_config(settings | few | asked, user_keys=asked)
    assert (quick["protocol"]["n_splits"], quick["algo"]["n_iterations"]) == (1, 60)
    quick = compose_config(settings | asked | few, user_keys=[*asked, "protocol.n_splits"])
    assert quick["protocol"]["n_splits"] == 1
    quick = compose_config(settings | asked)
    assert quick["protocol"]["n_splits"] == 50


def test_given_grid_precedes_the_grid_of_the_profile():
    quick = ["profile=quick", "algo=multiboost"]
    assert compose(*quick)["algo"]["grid"] == {"nu": [1e-4, 1e-5, 1e-7]}
    assert compose(*quick, "algo.grid.nu=[0.1]")["algo"]["grid"] == {"nu": [0.1]}


def test_profile_adds_no_parameter_to_a_class():
    quick = compose("algo._target_=sklearn.svm.SVC", "profile=quick")
    assert quick["algo"] == compose("algo._target_=sklearn.svm.SVC")["algo"]


@pytest.mark.parametrize("profile", configs.list_options("profile"))
def test_profiles_name_existing_settings(profile):
    content = configs.read_option("profile", profile)
    assert content["name"] == profile
    assert content["protocol"].keys() <= configs.read_option("protocol", "randomboost").keys()
    for algo, values in content["algo"].items():
        if algo != "all":
            assert values.keys() <= configs.read_option("algo", algo).keys()


@pytest.mark.parametrize("algo", ["rboost_rank", "rboost_proj", "adaboost_mh"])
def test_quick_profile_changes_record_keys(algo):
    dataset = load(configs.read_option("data", "wine") | {"openml": None})
    asked, quick_spec = (
        compose_config({"algo": algo}),
        compose_config({"algo": algo, "profile": "quick"}),
    )
    paper, quick = (experiment_from_config(spec, dataset) for spec in (asked, quick_spec))
    assert paper.key(paper.splits[0]) != quick.key(quick.splits[0])
    plain = experiment_from_config(remove_profile(asked), dataset)
    assert paper.key(paper.splits[0]) == plain.key(plain.splits[0])


def format_override(value):
    """Return the text of a value in an override."""
    if isinstance(value, dict):
        return (
            "{" + ",".join(f"{key}: {format_override(inner)}" for key, inner in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(format_override, value)) + "]"
    return f"'{value}'" if isinstance(value, str) else {None: "null"}.get(value, str(value).lower())


def cells():
    """Yield a few cells that cover all settings of all tables; whole numbers count as equal."""
    tables = map(TableDefinition.read, configs.list_options("table"))
    cells = [t.cell_settings(r, c) for t in tables for r in t.rows for c in t.columns]
    cells = {tuple(f"{k}={format_override(v)}" for k, v in cell.items()): None for cell in cells}
    cells = {cell: frozenset(re.sub(r"=\d+$", "=1", part) for part in cell) for cell in cells}
    uncovered = set().union(*cells.values())
    while uncovered:
        cell = max(cells, key=lambda cell: len(cells[cell] & uncovered))
        uncovered -= cells[cell]
        yield list(cell)


@pytest.mark.parametrize(
    "overrides",
    [
        *cells(),
        [],
        ["seed=3", "results=x", "rerun=never", "parallel=serial", "parallel.n_jobs=3"],
        ["profile=quick", "algo=multiboost", "protocol.n_folds=5", "data.path=x.csv"],
        ["profile=quick", "algo=rboost_rank", "algo.n_iterations=7", "++algo.nu=1e-3"],
        ["algo._target_=sklearn.svm.SVC", "+algo.C=1e-3", "profile=quick", "algo.title='a, b'"],
        ["+algo.grid.C=[1,2e0,x]", "algo.grid.nu=[]", "+data.openml={id: 3}", "data.labels=null"],
        ["protocol.checkpoints=[1,2]", "protocol.pca=0.9", "++seed=4", "data=wine", "data=iris"],
        ["+algo.inner={_target_: a.b, depth: {max: 3}}", "+algo.inner.depth.min=1", "+more.x=1"],
        ["algo.nu=true", "algo.loss=1_000", "data.name=20news-bydate", "data.path=/x y/z:0.csv"],
        ["algo.grid={nu: [1]}", "+algo.nu.x=3", "+algo.grid={C: [2], nu: [3]}"],
        ["seed=3", "protocol.name='a${seed}'"],
        ["~algo.grid", "~algo.nu=1e-4", "~algo.title"],
        ["seed=5", "++protocol.n_splits=${seed}"],
    ],
)
def test_composition_equals_hydra(overrides):
    keys = allow_new_parameters(parse_overrides(overrides))
    values = dict(zip(keys, parse_overrides(overrides).values(), strict=True))
    config = merge_configs(values).values
    assert json.dumps(config) == json.dumps(compose_with_hydra(overrides))


def test_overrides_do_not_change_other_experiments():
    before = copy.deepcopy(compose_config({}))
    changes = ["+algo.grid.C=[1,2]", "protocol.n_folds=3", "+algo.grid.x.y=1", "~data.labels"]
    compose_config(parse_overrides([*changes, "profile=quick"]))
    assert compose_config({}) == before


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("algo=adaboost,samme", "algo is given several values; write [1,2] for a list"),
        ("seed=1,2", "seed is given several values; write [1,2] for a list"),
        ("algo=nothing", "unknown algorithm 'nothing'; "),
        ("algo=null", "unknown algorithm 'null'; "),
        ("algo.nothing=3", "unknown key 'algo.nothing'; "),
        ("algo.nu.x=3", "unknown key 'algo.nu.x'; did you mean algo.nu"),
        ("algo.grid={C: [1]}", "unknown key 'algo.grid.C'; "),
        ("~algo.nothing", "unknown key 'algo.nothing'; "),
        ("~algo.nu=3", "cannot delete algo.nu=3: it is 0.0001"),
        ("~algo", "the configuration lacks algo; it needs algo, data"),
        ("+algo.nu=3", "+algo.nu is there already, as 0.0001; algo.nu=... changes it"),
        ("++algo=samme", "the configuration: algo is 'samme'; it must be KEY: VALUE"),
        ("algo.nu", "cannot read 'algo.nu' as an override: KEY=VALUE is expected"),
        ("algo@x=samme", "algo@x is refused"),
        ("data.name=5", "data.name is 5; it must be text"),
        ("data.path=5", "data.path is 5; it must be the path of a file, as text"),
        ("data.expect=5", "data.expect is 5; it must be numbers of samples"),
        ("data.openml=5", "data.openml is 5; it must be a mapping with an id"),
        ("~data.name", "data.name is missing; a data set needs a name"),
        ("protocol.checkpoints=10", "protocol.checkpoints is 10; it must be a list of numbers"),
    ],
)
def test_mistakes_are_errors_of_one_line(override, message):
    with pytest.raises(UserError) as error:
        compose(override)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_default_title_is_the_name():
    assert compose("algo=samme", "~algo.title")["algo"]["title"] == "samme"


def test_deleted_protocol_settings_have_their_defaults():
    names = ("name", "n_splits", "checkpoints")
    composed, defaults = (
        compose("protocol=mcboost", *(f"~protocol.{name}" for name in names)),
        ProtocolSpec(),
    )
    assert composed["protocol"].keys() == compose()["protocol"].keys()
    assert [composed["protocol"][name] for name in names] == [
        getattr(defaults, name) for name in names
    ]


@pytest.mark.parametrize(
    ("limit", "tried"), [("abc", [50, 500]), (200, ["a"]), (200, [[50]]), (None, [500])]
)
def test_profile_limits_numbers_only(limit, tried):
    asked = {"profile": "quick", "profile.algo.all.n_iterations": limit}
    spec = compose_config({"algo": "mcboost", "+algo.grid.n_iterations": tried} | asked, asked)
    assert spec["algo"]["grid"]["n_iterations"] == tried


def test_results_name_a_folder(home):
    assert compose("results='~/r'")["results"] == str(home / "r")
    with pytest.raises(UserError, match=r"^results is ''; it must be text, the name of a folder$"):
        compose("+algo.note=''", "results='${algo.note}'")
