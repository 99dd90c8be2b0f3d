import pytest

from boostbench.definitions.overrides import check, check_once
from boostbench.errors import UserError


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["algo=adaboost", "data=vowel", "algo.n_iterations=3"],
        ["algo=rboost_proj,rboost_rank", "algo.n_projections=3"],
        ["data=glob(vow*)", "seed=range(3)"],
        ["profile=quick", "protocol.n_folds=3"],
        ["algo.grid.nu=[1]", "data.expect=null"],
        ["+algo.max_depth=1", "++data.whatever=2", "~algo.grid.nu"],
        ["hydra/launcher=joblib", "hydra.verbose=true"],
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
        (["algo=adaboost", "algo.nu=3"], r"unknown key 'algo.nu'; .*\(\+algo.nu=3 would add it"),
        (["table=demo"], "unknown key 'table'"),
    ],
)
def test_what_does_not_is_named(overrides, told):
    with pytest.raises(UserError, match=told):
        check(overrides)


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
