import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from boostbench.algorithms import (
    AdaBoost,
    AdaBoostMH,
    BaggedLsBoostRegressor,
    BaggedMCBoost,
    LsBoost,
    LsBoostRegressor,
    MCBoost,
)
from boostbench.inspection import export_text


def test_every_stump_has_a_line():
    X, y = load_iris(return_X_y=True)
    # Petal widths separate the first class as well as petal lengths.
    model = AdaBoostMH(n_iterations=7).fit(X[:, :3], y)
    lines = export_text(model).splitlines()
    assert len(lines) == 1 + 7
    assert lines[1].startswith("x2 > 2.45: 0 -0.63, 1 +0.63")
    assert export_text(model, n_rules=5).splitlines()[-1] == "... 2 more"
    assert export_text(model, n_rules=0).splitlines()[1:] == ["... 7 more"]


def test_model_with_many_stumps_lists_features():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostMH(n_iterations=101).fit(X, y)
    assert export_text(model) == export_text(model, max_terms=5)
    assert export_text(model, n_rules=2).endswith("... 99 more")


def test_bag_lists_few_intervals():
    X, y = load_iris(return_X_y=True)
    model = BaggedMCBoost(random_state=0).fit(X, y == 1)
    first, *lines = export_text(model).splitlines()
    step = float(first.partition("in steps of ")[2].partition(",")[0].removesuffix(":"))
    told = [float(line.rsplit(" ", 1)[1]) for line in lines if ": True " in line]
    np.testing.assert_allclose(np.array(told) / step, np.round(np.array(told) / step), atol=1e-9)
    differences = [np.ptp(term.values) for term in model.shape_functions().terms]
    assert max(differences) / 10 <= step < max(differences) / 3.9
    assert len(lines) < len(export_text(model, decimals=2).splitlines()) / 2


def test_zero_votes_are_left_out():
    X, y = load_iris(return_X_y=True)
    assert "nothing" in export_text(AdaBoostMH(n_iterations=1).fit(X, y), decimals=-1)


def test_intercepts_and_constant_stumps():
    X, y = load_iris(return_X_y=True)
    lines = export_text(
        LsBoost(n_iterations=2).fit(X, np.where(y == 0, "setosa", "else"))
    ).splitlines()
    assert lines[0] == "Intercept: setosa -0.33"
    assert lines[-1] == "never: setosa -0.30"


def test_intervals_of_features_sum_to_the_scores():
    X, y = load_iris(return_X_y=True)
    model = LsBoost(n_iterations=40).fit(X, np.where(y == 1, "b", "a"))
    first, *lines = export_text(model, max_terms=4, decimals=6).splitlines()
    scores = np.full(len(X), float(first.removesuffix(":").rsplit(" ", 1)[1]))
    for line in lines:
        if not line.startswith(" "):
            feature = int(line.removeprefix("x").split(",")[0])
            continue
        name, _, told = line.strip().partition(": ")
        ends = [float(word) for word in name.split() if word not in ("up", "to", "above")]
        low, high = -np.inf, np.inf
        if name.startswith("up"):
            (high,) = ends
        elif name.startswith("above"):
            (low,) = ends
        else:
            low, high = ends
        inside = (X[:, feature] > low) & (X[:, feature] <= high)
        scores[inside] += 0.0 if told == "nothing" else float(told.removeprefix("b "))
    # Five numbers are added up, each with six decimals.
    np.testing.assert_allclose(scores, model.decision_function(X), atol=5 * 0.5e-6)
    importances = [float(line.rsplit(" ", 1)[1]) for line in lines if "importance" in line]
    assert importances == sorted(importances, reverse=True)


def test_adjacent_intervals_of_equal_text_are_merged():
    X, y = load_iris(return_X_y=True)
    model = LsBoost(n_iterations=40).fit(X, np.where(y == 1, "b", "a"))
    fine, coarse = (export_text(model, max_terms=4, decimals=n).splitlines() for n in (6, 1))
    assert len(coarse) < len(fine)
    for first, second in itertools.pairwise(coarse):
        assert ": " not in first or first.split(": ")[1:] != second.split(": ")[1:]
    *_, last = export_text(model, max_terms=1).splitlines()
    assert last.startswith("... ")
    assert last.endswith(" more features")
    assert "everywhere" in export_text(model, max_terms=1, decimals=-2)


def test_feature_that_only_tests_missing_values():
    X = pd.DataFrame({"lab": [1.0, None, None] * 20})
    text = export_text(MCBoost(n_iterations=3).fit(X, [1, 0, 0] * 20), max_terms=5)
    first, _, present, missing = text.splitlines()
    assert "in steps of " in first
    assert present.startswith("  everywhere: 1 ")
    assert missing.startswith("  missing: ")
    assert present.split()[-1] != missing.split()[-1]


def test_arbitrary_names_of_classes():
    X, y = load_iris(return_X_y=True)
    X = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(y == 1, "ash", "elm"))
    for data in (X[list("abcd")], X):
        plain, named = (
            AdaBoostMH(n_iterations=6).fit(data, np.array(names)[y])
            for names in (["aa", "bb", "cc"], ["feature", "test", "threshold"])
        )
        text = export_text(plain).replace("aa ", "feature ").replace("bb ", "test ")
        assert export_text(named) == text.replace("cc ", "threshold ")


def test_constant_model():
    model = MCBoost(n_iterations=3).fit(np.ones((6, 1)), [0, 1] * 3)
    assert export_text(model).endswith("subtracted where it fails:")


def test_printed_thresholds_do_not_change_sides():
    X = 100000.0 + np.arange(4)[:, None]
    model = AdaBoost(n_iterations=1).fit(X, X[:, 0] > 100001)
    assert export_text(model).splitlines()[1].startswith("x0 > 100001.5: True +")
    years = np.arange(2.1e9, 2.1e9 + 6)[:, None]
    lines = export_text(MCBoost(n_iterations=20).fit(years, years[:, 0] % 2), max_terms=1)
    assert "  2100000001.5 to 2100000002.5: " in lines


@pytest.mark.parametrize("unit", [1e-5, 1.0, 1e5])
def test_regressor_of_any_unit(unit):
    X, _ = load_iris(return_X_y=True)
    model = LsBoostRegressor(n_iterations=5).fit(X[:, :3], unit * X[:, 3])
    first, _, *lines = export_text(model).splitlines()
    told = [float(line.rsplit(" ", 1)[1]) for line in [first, *lines] if "prediction" in line]
    votes = model.rules()["prediction"].to_numpy()
    assert len(told) == len(votes)
    np.testing.assert_allclose(told, votes, atol=0.05 * np.abs(votes[1:]).max())
    assert len(first.rpartition(".")[2]) == (2 if unit >= 1 else 7)
    assert export_text(model, decimals=2) == export_text(model) or unit < 1


def test_pairs_have_the_unit_of_the_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    model = BaggedLsBoostRegressor(interactions=1, n_estimators=3, random_state=0)
    model.fit(X, 1e-5 * (X[:, 0] * X[:, 1] + X[:, 0]))
    ends = [model.pairs_[0].table.min(), model.pairs_[0].table.max()]
    *_, last = export_text(model).splitlines()
    (importance,) = model.shape_functions().pair_importances
    assert last.startswith(f"x0 & x1, importance {importance:.2f}: a table, from -")
    np.testing.assert_allclose(
        [float(last.split()[position]) for position in (-3, -1)], ends, rtol=0.2
    )
    *_, last = export_text(model, decimals=3).splitlines()
    assert last.endswith(": a table, from +0.000 to +0.000")
    # A model with pairs has no rules.
    assert export_text(model, n_rules=1) == export_text(model)


@pytest.mark.parametrize("count", ["n_rules", "max_terms"])
def test_rejects_negative_counts(count):
    X, y = load_iris(return_X_y=True)
    model = AdaBoostMH(n_iterations=2).fit(X, y)
    with pytest.raises(ValueError, match="must be 0 or more, got -1"):
        export_text(model, **{count: -1})


@pytest.mark.parametrize("options", [{}, {"n_rules": 1}, {"max_terms": 1}])
def test_rejects_other_models(options):
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), AdaBoostMH(n_iterations=2)).fit(X, y)
    with pytest.raises(ValueError, match=r"Pipeline is not a sum of stumps; pass .* model\[-1\]"):
        export_text(pipeline, **options)
    with pytest.raises(ValueError, match="DecisionTreeClassifier is not a sum of stumps; pass"):
        export_text(DecisionTreeClassifier().fit(X, y), **options)
