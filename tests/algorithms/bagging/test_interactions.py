"""Tables of pairs of features in the bags of sums of stumps."""

import pickle

import numpy as np
import pytest

from boostbench import BaggedLsBoostRegressor, BaggedMCBoost
from boostbench.algorithms.bagging.interactions import InteractionMaster
from boostbench.algorithms.base.observers import log_losses
from boostbench.conversion import to_onnx, to_treelite
from boostbench.inspection import export_html, export_text

from ..problems import messy


def problem(n_outputs=2, n_samples=400, seed=0):
    """Draw a table with an interaction of a number and a word; n_outputs=1: regression."""
    X, _ = messy(2, n_samples, seed)
    rng = np.random.default_rng(seed)
    effect = np.where(X["words"].isin(["ash", "elm"]), 2.0, -2.0)
    score = effect * X["number"] + X["count"] + 0.5 * rng.normal(size=n_samples)
    if n_outputs == 1:
        return X, score.to_numpy()
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_outputs) / n_outputs))


def bag(n_outputs, **params):
    kind = BaggedLsBoostRegressor if n_outputs == 1 else BaggedMCBoost
    return kind(**{"n_estimators": 5, "interactions": 3, "random_state": 0} | params)


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.fixture(params=[1, 2, 3], scope="module")
def fitted(request):
    """Return a fitted bag, which tests must not change, and its data."""
    X, y = problem(request.param)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    return bag(request.param).fit(X, y, weights), X, y, weights


@pytest.mark.parametrize("n_outputs", [1, 2, 3])
def test_model_scores_equal_the_members_mean_after_the_best_round(n_outputs, monkeypatch):
    X, y = problem(n_outputs)
    stages, track_best = [], InteractionMaster._track_best

    def record_stage(stage, loss):
        track_best(stage, loss)
        stages.append((stage, stage.best_round, stage.scores.astype(float)))

    monkeypatch.setattr(InteractionMaster, "_track_best", record_stage)
    model = bag(n_outputs).fit(X, y)
    stage = stages[-1][0]
    assert stage.best_round > 3
    trained = stages[stage.best_round][2].mean(axis=1)
    result = scores(model, X).reshape(len(X), -1)
    expected = stage.loss.scale * trained + stage.loss.offset
    np.testing.assert_allclose(result, expected, atol=1e-4 * np.abs(expected).max())


def test_every_round_of_pairs_decreases_the_loss_of_every_member(monkeypatch):
    X, y = problem(2)
    result, train = [], InteractionMaster.train

    def train_and_record(stage):
        for _ in range(15):
            members = stage.scores[..., 0].astype(float)
            result.append(
                [
                    log_losses(member[is_in_bag], y[is_in_bag]).sum()
                    for member, is_in_bag in zip(members.T, ~stage.is_out_of_bag.T, strict=True)
                ]
            )
            stage.correct(stage.generate())
        train(stage)

    def init_and_record_bags(stage, stump_master, *rest):
        init(stage, stump_master, *rest)
        weights = np.concatenate([block._block_loss._weights for block in stump_master.blocks])
        stage.is_out_of_bag = stump_master.restore_sample_order(weights == 0)

    init = InteractionMaster.__init__
    monkeypatch.setattr(InteractionMaster, "__init__", init_and_record_bags)
    monkeypatch.setattr(InteractionMaster, "train", train_and_record)
    bag(2, eta=0.2).fit(X, y)
    assert len(result) == 15
    assert (np.diff(result, axis=0) < 0).all()


def test_tables_have_mean_zero_in_rows_and_columns(fitted):
    model, X, _, weights = fitted
    Z = model.views_.transform(model.shape_functions().numbers(X))
    assert len(model.pairs_) == 3
    for pair in model.pairs_:
        values = pair.lookup(Z)
        size = np.abs(values).max()
        assert size > 0
        for axis in pair.axes:
            cells = axis.cell_indices(Z)
            for cell in np.unique(cells):
                is_in_cell = cells == cell
                mean = np.average(values[is_in_cell], axis=0, weights=weights[is_in_cell])
                np.testing.assert_allclose(mean, 0, atol=1e-10 * max(size, 1))


def test_true_interaction_is_selected_and_improves_accuracy(fitted):
    model, X, y, weights = fitted
    first = max(model.pairs_, key=lambda pair: np.abs(pair.table).max())
    assert {axis.feature for axis in first.axes} == {0, 2}
    stumps_only = type(model)(**model.get_params() | {"interactions": 0}).fit(X, y, weights)
    assert stumps_only.pairs_ == []
    n_outputs = 1 if not hasattr(model, "classes_") else len(model.classes_)
    X_test, y_test = problem(n_outputs, seed=1)
    assert 1 - model.score(X_test, y_test) < 0.75 * (1 - stumps_only.score(X_test, y_test))


def test_terms_add_up_to_the_scores(fitted):
    model, X, _, _ = fitted
    new = X.iloc[:60].copy()
    # Values that the training data does not contain: a missing number, and an unknown word.
    new.loc[:9, "number"] = np.nan
    new.loc[5:19, "words"] = "yew"
    for centred in (None, X):
        shapes = model.shape_functions(centred)
        np.testing.assert_allclose(
            scores(model, new), shapes.decision_function(new), atol=1e-9, rtol=1e-9
        )
        terms = shapes.explain_local(new).to_numpy().reshape(len(new), len(shapes.outputs), -1)
        total = scores(model, new).reshape(len(new), -1)
        if total.shape[1] == len(shapes.outputs):
            np.testing.assert_allclose(terms.sum(axis=2), total, atol=1e-9, rtol=1e-9)
        assert terms.shape[2] == 1 + X.shape[1] + 3
    means = shapes.explain_local(X).mean().to_numpy().reshape(len(shapes.outputs), -1)
    np.testing.assert_allclose(means[:, 1:], 0, atol=1e-9)
    np.testing.assert_array_equal(scores(pickle.loads(pickle.dumps(model)), X), scores(model, X))


def test_inspection_shows_pairs(fitted, tmp_path):
    model, X, _, _ = fitted
    shapes = model.shape_functions()
    names = [shapes.pair_name(pair) for pair in model.pairs_]
    assert "number & words" in names
    text = export_text(model)
    lines = [line for line in text.splitlines() if ": a table, from " in line]
    order = np.argsort(-shapes.pair_importances, kind="stable")
    for line, number in zip(lines, order, strict=True):
        importance = shapes.pair_importances[number]
        assert line.startswith(f"{names[number]}, importance {importance:.2f}: a table, from ")
    export_html(model, X, tmp_path / "model.html")
    assert "number &amp; words" in (tmp_path / "model.html").read_text(encoding="utf-8")
    pair = model.pairs_[names.index("number & words")]
    n_cells = [axis.n_cells for axis in pair.axes]
    assert [len(shapes.cell_names(axis)) for axis in pair.axes] == n_cells
    assert shapes.cell_names(pair.axes[1]) == ["ash", "elm", "fir", "oak", "missing"]
    with pytest.raises(ValueError, match="has pairs of features"):
        model.rules()


def test_pair_importances_are_mean_absolute_contributions(fitted):
    model, X, _, weights = fitted
    shapes = model.shape_functions()
    n_outputs = len(shapes.outputs)
    terms = shapes.explain_local(X).to_numpy().reshape(len(X), n_outputs, -1)
    terms = terms - np.average(terms, axis=0, weights=weights)
    if n_outputs > 1:
        terms = terms - terms.mean(axis=1, keepdims=True)
    sizes = np.average(np.abs(terms[:, :, 1:]), axis=0, weights=weights).mean(axis=0)
    feature_sizes, pair_sizes = np.split(sizes, [X.shape[1]])
    total = feature_sizes.sum()
    np.testing.assert_allclose(model.feature_importances_, feature_sizes / total, rtol=1e-9)
    np.testing.assert_allclose(shapes.pair_importances, pair_sizes / total, rtol=1e-9)


def edge_cases(model, X):
    """Draw samples on thresholds, with missing values and with unknown words."""
    X = X.sample(300, random_state=0)
    for axis in (axis for pair in model.pairs_ for axis in pair.axes):
        if axis.thresholds is not None:
            is_on_threshold = np.random.default_rng(axis.feature).random(len(X)) < 0.2
            thresholds = np.resize(axis.thresholds, is_on_threshold.sum())
            X[X.columns[axis.feature]] = X.iloc[:, axis.feature].astype(float)
            X.iloc[is_on_threshold, axis.feature] = thresholds
    return X.astype(object).mask(np.random.default_rng(0).random(X.shape) < 0.1)


def test_treelite_model_includes_pairs(fitted):
    gtil = pytest.importorskip("treelite").gtil
    model, X, _, _ = fitted
    X = edge_cases(model, X)
    converted = to_treelite(model)
    margins = gtil.predict(converted, model.shape_functions().numbers(X), pred_margin=True)
    beta = model.inverse_temperature() if hasattr(model, "classes_") else 1.0
    expected = beta * scores(model, X).reshape(len(X), -1)
    np.testing.assert_allclose(margins.reshape(expected.shape), expected, rtol=1e-5, atol=1e-5)


def test_onnx_model_includes_pairs(fitted):
    runtime = pytest.importorskip("onnxruntime")
    model, X, _, _ = fitted
    X = edge_cases(model, X)
    numbers = model.shape_functions().numbers(X)
    converted = to_onnx(model, float)
    session = runtime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    result = dict(zip(names, session.run(None, {"X": numbers}), strict=True))
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(result["prediction"], model.predict(X), rtol=1e-9)
        return
    np.testing.assert_allclose(result["scores"], model.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(result["probabilities"], model.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(result["label"], model.predict(X))


def test_features_with_monotonic_constraints_are_in_no_pair():
    X, y = problem(2)
    model = bag(2, interactions=50, monotonic_cst={"count": 1}).fit(X, y)
    count = list(X.columns).index("count")
    assert len(model.pairs_) == 6 * 5 // 2
    assert all(axis.feature != count for pair in model.pairs_ for axis in pair.axes)
    assert (np.diff(model.shape_functions().term(count).values[:, 0]) >= 0).all()


def test_verbose_prints_rounds_of_pairs(capsys):
    X, y = problem(2)
    model = bag(2, verbose=5).fit(X, y)
    lines = [line for line in capsys.readouterr().out.splitlines() if ", pairs, " in line]
    rounds = [int(line.split("round ")[1].split(" of ")[0]) for line in lines]
    assert rounds == list(range(5, rounds[-1] + 1, 5))
    assert rounds[-1] >= model.n_iterations_ - len(model.validation_losses_)
    assert lines[0].startswith("BaggedMCBoost, pairs, round 5 of 2000: loss 0.")
    bag(2).fit(X, y)
    assert not capsys.readouterr().out


def test_one_feature_has_no_pair():
    X, y = problem(2)
    assert bag(2).fit(X[["count"]], y).pairs_ == []


def test_interactions_do_not_change_the_rounds_of_stumps():
    """The first stage takes the same random numbers with and without pairs."""
    X, y = problem(2)
    with_pairs, stumps_only = bag(2).fit(X, y), bag(2, interactions=0).fit(X, y)
    assert with_pairs.n_iterations_ > stumps_only.n_iterations_
    np.testing.assert_array_equal(with_pairs.validation_losses_, stumps_only.validation_losses_)


def test_pairs_are_trained_if_no_single_feature_helps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] * X[:, 1] > 0
    assert bag(2, interactions=1).fit(X, y).score(X, y) > 0.9
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 400)
    numbers = bag(1, interactions=1).fit(X, X[:, 0] * X[:, 1], weights)
    assert numbers.score(X, X[:, 0] * X[:, 1]) > 0.8


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_pairs_given_by_name_or_index_equal_the_pairs_that_fast_selects(n_outputs):
    X, y = problem(n_outputs)
    by_number = bag(n_outputs, interactions=2).fit(X, y)
    selected = [tuple(axis.feature for axis in pair.axes) for pair in by_number.pairs_]
    by_name = [(X.columns[first], second) for first, second in selected]
    model = bag(n_outputs, interactions=[*by_name, selected[0][::-1]]).fit(X, y)
    assert [tuple(axis.feature for axis in pair.axes) for pair in model.pairs_] == selected
    np.testing.assert_array_equal(scores(model, X), scores(by_number, X))


def test_given_pairs_are_trained_although_fast_ranks_them_low():
    X, y = problem(2)
    X["constant"] = 1.0
    model = bag(2, interactions=[("count", 0), ("constant", "words")]).fit(X, y)
    (pair,) = model.pairs_
    assert model.shape_functions().pair_name(pair) == f"{X.columns[0]} & count"
    assert bag(2, interactions=[]).fit(X, y).pairs_ == []


@pytest.mark.parametrize(
    ("interactions", "message"),
    [
        ([("words", "nunber")], "names no feature of X with 'nunber'; did you mean 'number'"),
        ([(0, 99)], "names no feature of X with 99"),
        ([(-1, 0)], "names no feature of X with -1"),
        ([(1, 1)], "a pair of one feature, 1"),
        ([("words", "number", 0)], "must be pairs of features"),
        (["ab"], "must be pairs of features"),
        ([("count", "words")], "'count', which monotonic_cst constrains"),
        (-1, "The 'interactions' parameter"),
        ("words", "The 'interactions' parameter"),
    ],
)
def test_impossible_interactions_are_named(interactions, message):
    X, y = problem(2)
    with pytest.raises(ValueError, match=message):
        bag(2, interactions=interactions, monotonic_cst={"count": 1}).fit(X, y)
