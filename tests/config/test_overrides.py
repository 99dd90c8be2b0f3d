import shlex

import pytest

from boostbench.config.overrides import check, check_once, settings, written_out
from boostbench.util.errors import UserError


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["algo=adaboost", "data=vowel", "algo.n_iterations=3"],
        ["algo=rboost_proj,rboost_rank", "algo.n_projections=3"],
        ["data=wine,vowel", "seed=range(3)"],
        ["profile=quick", "protocol.n_folds=3"],
        ["algo.grid.nu=[1]", "data.expect=null"],
        ["+algo.max_depth=1", "++data.whatever=2", "~algo.grid.nu"],
        ["hydra/launcher=joblib", "hydra.verbose=true"],
        ["hydra.launcher.n_jobs=2", "hydra.sweep.dir=m/${now:%Y-%m-%d}/${hydra:job.name}"],
        ["+hydra.sweeper.params={seed: '1,2'}", "hydra.sweep.subdir=${seed}"],
        ["seed=3", "protocol.name='${seed}'", "+algo.x='${.nu} and ${algo.n_iterations}'"],
    ],
)
def test_what_exists_passes(overrides):
    check(overrides)


@pytest.mark.parametrize(
    ("overrides", "told"),
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
def test_what_does_not_is_named(overrides, told):
    with pytest.raises(UserError, match=told):
        check(overrides)


def test_a_file_is_no_name_of_a_data_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("my.csv", "größe.csv"):
        (tmp_path / name).touch()
    told = r"^no data set is called 'my\.csv'; the file is data\.path=my\.csv$"
    with pytest.raises(UserError, match=told):
        check(["data=my.csv"])
    with pytest.raises(UserError, match=r"the file is 'data\.path=.größe\.csv.'$"):
        check(['data="größe.csv"'])
    with pytest.raises(UserError, match=r"unknown data set 'your\.csv'"):
        check(["data=your.csv"])


@pytest.mark.parametrize(
    ("override", "written"),
    [
        ("data=glob(vowel*)", "data=vowel,vowel-redrawn,vowel528"),
        ("algo=glob([samm*,constan*])", "algo=constant,samme,samme_tree"),
        ("algo=glob(samme*,exclude=*tree)", "algo=samme"),
        ("algo=svm,glob(constan*),constant,null", "algo=svm,constant,null"),
        ("++protocol=glob(mc*)", "++protocol=mcboost"),
        ("data.path='~/a,b.csv'", "data.path='~/a,b.csv'"),
    ],
)
def test_globs_are_written_out(override, written):
    assert written_out(override) == written


def test_globs_find_folders_of_the_user(tmp_path):
    (tmp_path / "algo").mkdir()
    (tmp_path / "algo" / "samme_of_mine.yaml").touch()
    assert written_out("algo=glob(samme_*)", [tmp_path]) == "algo=samme_of_mine,samme_tree"


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("algo=constant,glob(cosn*)", r"matches no algorithm; did you mean mcboost\?"),
        ("data=glob(wine,exclude=w*)", r"matches no data set; did you mean wine"),
        ("seed=glob(1*)", r"is refused: glob\(...\) chooses among algo, data, .* name the values"),
        ("hydra/launcher=glob(*)", r"is refused: glob\(...\) chooses among"),
    ],
)
def test_globs_of_nothing_are_told(override, told):
    with pytest.raises(UserError, match=told) as error:
        written_out(override)
    assert str(error.value).startswith(override)


def test_results_may_be_in_the_home_folder(home):
    for key in ("results", "++results"):
        asked = rf'{key}="~/my \"r\""'
        assert settings([written_out(asked)]) == {key: str(home / 'my "r"')}
    assert written_out('results="a~b"') == 'results="a~b"'


def test_a_file_in_the_home_folder_is_no_name_of_a_data_set(home):
    (home / "my.csv").touch()
    with pytest.raises(UserError, match=r"the file is 'data\.path=.~/my\.csv.'$"):
        check(['data="~/my.csv"'])


@pytest.mark.parametrize("value", ["größe.csv", "x=1.csv", "~/a.csv", "a (1).csv", "a'b.csv"])
def test_what_needs_quotes_is_shown_with_them(value):
    with pytest.raises(UserError, match=" as an override: write '") as error:
        check([f"data.path={value}"])
    [written] = shlex.split(str(error.value).partition(": write ")[2])
    assert settings([written]) == {"data.path": value}
    with pytest.raises(UserError, match="KEY=VALUE is expected, with quotes around odd values"):
        check(["algo.grid.nu=[1"])


def test_folders_of_the_user_count(tmp_path):
    (tmp_path / "algo").mkdir()
    (tmp_path / "algo" / "mine.yaml").write_text("{name: mine, depth: 3}")
    check(["algo=mine", "algo.depth=4"], [tmp_path])
    with pytest.raises(UserError, match="unknown algorithm 'mine'"):
        check(["algo=mine"])


@pytest.mark.parametrize(
    "value",
    [
        *("[" * 300 + "]" * 300, "[" * 3000, "{a: " * 100 + "1" + "}" * 100),
        *("${a:" * 300 + "}" * 300, "9" * 5000, "a" * 10_001, "[" + "1," * 5000 + "1]"),
        "str(" * 300 + "1" + ")" * 300,
    ],
)
def test_values_that_hydra_would_not_end_with_are_refused(value):
    for overrides in ([f"+algo.x={value}"], [f"seed={value}"]):
        with pytest.raises(UserError, match="is too long") as told:
            check(overrides)
        assert len(str(told.value)) < 250


def test_what_is_given_twice_is_refused():
    with pytest.raises(UserError, match="seed is given twice, as 1 and 2; give it once"):
        check_once(["seed=1", "algo=samme", "seed=2"])
    check_once(["seed=1", "seed=1", "algo.seed=2", "+algo.x=1", "-m"])


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
        *("${oc.env:${algo.name}}", "${now:%Y}", "${hydra:runtime.cwd}", "${hydra.runtime.cwd}"),
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
def test_nothing_of_the_machine_is_copied_into_a_value(value):
    for key in ("algo.name", "+algo.note", "++algo.note", "seed", "results", "data.path"):
        with pytest.raises(UserError, match=r"is refused: \$\{...\} may name another value"):
            check([f"{key}={value}"])


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
    ],
)
def test_hydra_itself_runs_nothing_else(override):
    with pytest.raises(UserError, match=r"is not for a command line|is refused"):
        check([override])
