import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from boostbench.algorithms import (
    LADDER,
    AdaBoostMH,
    GradBoost,
    LPBoost,
    LsBoostRegressor,
    MCBoost,
    MultiBoost,
)
from boostbench.algorithms.base import observers

from ..problems import blobs


class TestVerbose:
    @pytest.mark.parametrize("booster", [AdaBoostMH, MCBoost, LADDER, LsBoostRegressor])
    def test_prints_a_line_every_few_rounds(self, booster, capsys):
        booster(n_iterations=25, verbose=10).fit(*blobs(3))
        lines = capsys.readouterr().out.splitlines()
        assert [
            re.search(r", round (\d+) of 25: .*\d\.\d\d CPU seconds$", line)[1] for line in lines
        ]
        assert [line.split()[2] for line in lines] == ["10", "20", "25"]
        assert all(line.startswith(booster.__name__) for line in lines)

    def test_line_shows_the_objective(self, capsys):
        model = GradBoost(n_iterations=4, verbose=2).fit(*blobs(3))
        for line, value in zip(
            capsys.readouterr().out.splitlines(), model.objective_[1::2], strict=True
        ):
            assert f": objective {value:.6g}, " in line

    def test_line_shows_the_validation_loss(self, capsys):
        X, y = blobs(3, n_samples=200, spread=4.0)
        model = MCBoost(n_iter_no_change=7, verbose=1, random_state=0).fit(X, y)
        *lines, last = capsys.readouterr().out.splitlines()
        losses = [float(re.search(r"validation loss (\S+) ", line)[1]) for line in [*lines, last]]
        np.testing.assert_allclose(
            losses[: len(lines)], model.validation_losses_[: len(lines)], rtol=1e-5
        )
        assert f"(best round {model.n_iterations_})" in last

    def test_prints_nothing_by_default(self, capsys):
        MCBoost(n_iterations=3).fit(*blobs(3))
        assert capsys.readouterr().out == ""

    def test_verbose_does_not_change_the_model(self):
        X, y = blobs(3)
        quiet, verbose = (
            GradBoost(n_iterations=9, verbose=verbose).fit(X, y) for verbose in (0, 1)
        )
        assert (quiet.decision_function(X) == verbose.decision_function(X)).all()


class TestTimeLimit:
    @pytest.mark.parametrize(
        "booster", [AdaBoostMH, MCBoost, LADDER, LPBoost, MultiBoost, LsBoostRegressor]
    )
    def test_ends_the_training_after_the_round_in_progress(self, booster):
        X, y = blobs(2)
        short = booster(time_limit=1e-9).fit(X, y)
        assert short.n_iterations_ == 1
        one = booster(n_iterations=1).fit(X, y)
        assert (short.predict(X) == one.predict(X)).all()

    def test_long_limit_does_not_change_the_model(self):
        X, y = blobs(3)
        limited, unlimited = (MCBoost(n_iterations=30, time_limit=t).fit(X, y) for t in (1e6, None))
        assert (limited.decision_function(X) == unlimited.decision_function(X)).all()

    def test_early_stopping_undoes_rounds_before_the_limit(self):
        X, y = blobs(3, n_samples=200, spread=4.0)
        stopped, limited = (
            MCBoost(n_iter_no_change=7, time_limit=t, random_state=0).fit(X, y) for t in (None, 1e6)
        )
        assert limited.n_iterations_ == stopped.n_iterations_ < len(limited.validation_losses_)

    @pytest.mark.parametrize("limit", [0, -1.0, "1", True])
    def test_limits_must_be_positive(self, limit):
        with pytest.raises(ValueError, match="time_limit"):
            MCBoost(time_limit=limit).fit(*blobs(2))


class Recorder:
    """Callback that records its arguments, and stops after some rounds."""

    def __init__(self, rounds=None):
        self.rounds = rounds
        self.seen = []

    def setup(self, estimator, context):
        self.seen.append("setup")

    def teardown(self, estimator, context):
        self.seen.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        self.last = X, y, metadata, fitted_estimator
        self.seen.append(f"end {context.task_name} {fitted_estimator.n_iterations_}")
        return fitted_estimator.n_iterations_ == self.rounds


class TestCallbacks:
    @pytest.fixture(autouse=True)
    def _needs_callbacks(self):
        pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")

    def test_each_round_is_a_task(self):
        X, y = blobs(3)
        recorder = Recorder()
        model = MCBoost(n_iterations=3).set_callbacks(recorder).fit(X, y)
        rounds = [step for t in (1, 2, 3) for step in ("begin round", f"end round {t}")]
        assert recorder.seen == ["setup", "begin fit", *rounds, "end fit 3", "teardown"]
        assert (recorder.last[0] == X).all()
        assert (recorder.last[1] == y).all()
        assert recorder.last[3] is not model

    @pytest.mark.parametrize("booster", [MCBoost, AdaBoostMH, LsBoostRegressor, LADDER])
    def test_callback_that_returns_true_ends_the_training(self, booster):
        X, y = blobs(3)
        model = booster(n_iterations=20, random_state=0).set_callbacks(Recorder(rounds=4)).fit(X, y)
        assert model.n_iterations_ == 4
        shorter = booster(n_iterations=4, random_state=0).fit(X, y)
        assert (model._scores(X) == shorter._scores(X)).all()

    def test_model_of_a_round_equals_its_stage(self):
        from sklearn.callback import ScoringMonitor

        X, y = blobs(3, spread=3.0)
        monitor = ScoringMonitor(scoring="accuracy")
        frame = pd.DataFrame(X, columns=list("abcd"))
        model = MCBoost(n_iterations=12).set_callbacks(monitor).fit(frame, y)
        log = monitor.get_logs().data_as_pandas
        accuracies = log[log.task_name == "round"].accuracy
        staged = [(labels == y).mean() for labels in model.staged_predict(frame)]
        np.testing.assert_allclose(accuracies, staged)

    @pytest.mark.parametrize("is_jupyter", [False, True])
    def test_progress_bar_writes_a_line_in_notebooks_without_widgets(
        self, is_jupyter, monkeypatch, capsys
    ):
        import rich.console
        from sklearn.callback import ProgressBar

        monkeypatch.setattr(rich.console, "_is_jupyter", lambda: is_jupyter)
        monkeypatch.setattr(rich, "_console", None)
        monkeypatch.setattr(observers, "find_spec", lambda name: None)
        monkeypatch.setattr(observers, "_SECONDS_BETWEEN_LINES", -1.0)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*ipywidgets")
            MCBoost(n_iterations=3).set_callbacks(ProgressBar()).fit(*blobs(3))
        lines = [text for text in capsys.readouterr().out.split("\r") if text.startswith("MCBoost")]
        rounds = [f"MCBoost, round {number} of 3" for number in (1, 2, 3, 3)]
        assert [line.strip() for line in lines if "," in line] == (rounds if is_jupyter else [])
        assert not is_jupyter or lines[-1].endswith("\n")

    def test_callbacks_receive_a_sparse_frame(self):
        from sklearn.callback import ScoringMonitor

        X, y = blobs(2)
        frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=list("abcd"))
        accuracies = []
        for table in (frame, frame.sparse.to_dense()):
            monitor = ScoringMonitor(scoring="accuracy")
            MCBoost(n_iterations=5).set_callbacks(monitor).fit(table, y)
            log = monitor.get_logs().data_as_pandas
            accuracies.append(log[log.task_name == "round"].accuracy.to_list())
        assert accuracies[0] == accuracies[1]
        assert len(accuracies[0]) == 5

    def test_callbacks_receive_the_training_part_and_the_best_round(self):
        X, y = blobs(2, n_samples=200, spread=4.0)
        recorder = Recorder()
        model = (
            MCBoost(n_iter_no_change=5, random_state=0)
            .set_callbacks(recorder)
            .fit(X, y, np.full(200, 2.0))
        )
        *_, (X_seen, y_seen, metadata, fitted) = [recorder.last]
        assert len(X_seen) == len(y_seen) == len(metadata["sample_weight"]) == 180
        assert fitted.n_iterations_ == model.n_iterations_
        n_rounds = sum(step.startswith("end round") for step in recorder.seen)
        assert n_rounds == len(model.validation_losses_)

    def test_progress_bar(self, capsys):
        from sklearn.callback import ProgressBar

        MCBoost(n_iterations=3).set_callbacks(ProgressBar()).fit(*blobs(3))
        assert re.search("MCBoost - fit.*100%", capsys.readouterr().out)

    def test_callbacks_within_a_pipeline(self):
        from sklearn.callback import ProgressBar
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        X, y = blobs(3)
        pipeline = make_pipeline(StandardScaler(), MCBoost(n_iterations=5))
        pipeline.set_callbacks(ProgressBar()).fit(X, y)
        assert pipeline[-1].n_iterations_ == 5


def test_training_without_sklearn_callbacks(monkeypatch):
    import importlib
    import sys

    from boostbench.algorithms.base import observers

    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    try:
        before = importlib.reload(observers)
        assert not hasattr(before.CallbackSupportMixin, "set_callbacks")
        assert before.with_callbacks(len) is len
    finally:
        monkeypatch.undo()
        importlib.reload(observers)
