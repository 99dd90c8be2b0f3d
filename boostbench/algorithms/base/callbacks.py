"""Observers of a training run: callbacks of scikit-learn, and progress lines.

The loop of `boostbench.algorithms.base.booster.Booster` calls two methods of an observer:
`on_round_end` after every round, which returns True to end the training, and `on_training_end`.
"""

import copy
import sys
import time
from importlib.util import find_spec

import numpy as np

from boostbench.algorithms.base.categories import decode_categories
from boostbench.util.temporary_settings import random_state_restored

try:
    with random_state_restored():  # sklearn.callback imports rich
        from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks

    class CallbackSupportMixin:
        """Mixin without methods, in place of the mixin of scikit-learn 1.9."""

    def with_callbacks(method):
        """Return `method` unchanged."""
        return method


# Notebooks store each write, so that a line for every round would be slow.
_SECONDS_BETWEEN_LINES = 0.2


class Training:
    """State of a training run, for observers.

    Attributes
    ----------
    booster : Booster
        Estimator in training.
    master : Master
    clock : Clock
    rounds : int
        Number of rounds so far.
    """

    def __init__(self, booster, master, clock):
        self.booster = booster
        self.master = master
        self.clock = clock
        self.rounds = 0

    def model(self):
        """Return a fitted copy of the booster, as if the training had ended now."""
        model = copy.copy(self.booster)
        model._store_training(self)
        return model

    def rewind(self, rounds):
        """Undo all but the first `rounds` rounds; the training ends here."""
        self.master.rewind(rounds)
        self.rounds = rounds


class SklearnCallbackAdapter:
    """Observer that calls the callbacks of scikit-learn's `set_callbacks` for each task.

    A task is a round, or a member of a bag.

    Parameters
    ----------
    training : Training or BagTraining
    X, y : ndarray
        Training data.
    weights : ndarray of shape (n_samples,) or None
    max_tasks : int
        Maximum number of tasks.
    task_name : str, default="round"
        Name of a task.
    """

    def __init__(self, training, X, y, weights, max_tasks, task_name="round"):
        self.training = training
        booster = training.booster
        names = getattr(booster, "feature_names_in_", None)
        # Arguments of all callbacks, which call the functions among them when they need the value.
        self.arguments = {
            "estimator": booster,
            # Restore names and categories, so that callbacks can predict for X without a warning.
            "X": lambda: decode_categories(X, getattr(booster, "categories_", {}), names),
            "y": y,
            "metadata": None if weights is None else {"sample_weight": weights},
        }
        self.task_name = task_name
        self.context = booster._init_callback_context(max_subtasks=max_tasks)
        self.context.call_on_fit_task_begin(**self.arguments)

    def on_round_end(self):
        """Report a task; return True if a callback requests a stop."""
        task = self.context.subcontext(task_name=self.task_name)
        task.call_on_fit_task_begin(**self.arguments)
        return self._report_end(task)

    def on_training_end(self):
        """Report the end of the training."""
        self._report_end(self.context)

    def _report_end(self, task):
        """Report the end of a task; return True if a callback requests a stop."""
        return task.call_on_fit_task_end(
            **self.arguments, reconstruction_attributes=lambda: vars(self.training.model())
        )


class VerboseReporter:
    """Observer that prints a progress line every few rounds.

    Parameters
    ----------
    training : Training
    every : int
        Number of rounds between two lines.
    validation : EarlyStopping or None, default=None
        Source of validation losses. None: only a jointly trained bag has some.
    """

    def __init__(self, training, every, validation=None):
        self.training = training
        self.every = every
        self.validation = validation

    def on_round_end(self):
        """Print a line if it is due; never request a stop."""
        if self._is_due():
            self._print()
        return False

    def on_training_end(self):
        """Print the state after the last round, unless its line was printed."""
        self._finish()

    def _is_due(self):
        """Return True if the current round gets a line."""
        return self.training.rounds % self.every == 0

    def _finish(self):
        """Print the last line of the training."""
        if self.training.rounds and not self._is_due():
            self._print()

    def _print(self):
        """Print a line with the objective, the validation loss and the CPU time so far."""
        training = self.training
        model = training.model()
        parts = []
        for name in ("objective_", "log_risks_"):
            if hasattr(model, name):
                parts.append(f"{name.strip('s_').replace('_', ' ')} {getattr(model, name)[-1]:.6g}")
        losses = None
        if self.validation:
            losses, best = self.validation.losses_so_far(), self.validation.best
        elif hasattr(training.master, "best_round"):
            # A jointly trained bag stops itself.
            losses, best = model.validation_losses_, training.master.best_round
        if losses is not None:
            loss = losses[training.rounds - 1]
            parts.append(f"validation loss {loss:.6g} (best round {best})")
        seconds = sum(training.clock.seconds.values())
        parts.append(f"{seconds:.2f} CPU seconds")
        name = type(training.booster).__name__
        rounds = f"round {training.rounds} of {training.booster.n_iterations}"
        print(f"{name}, {rounds}: {', '.join(parts)}")


class ProgressLine(VerboseReporter):
    """Observer that writes the number of rounds to one line, again and again.

    It takes the place of scikit-learn's `ProgressBar` in notebooks without ipywidgets, where rich
    draws nothing.

    Parameters
    ----------
    training : Training
    """

    def __init__(self, training):
        super().__init__(training, every=1)
        self._last_time = -np.inf

    def _is_due(self):
        return time.monotonic() - self._last_time > _SECONDS_BETWEEN_LINES

    def _finish(self):
        self._print(end="\n")

    def _print(self, end=""):
        self._last_time = time.monotonic()
        booster, rounds = self.training.booster, self.training.rounds
        text = f"{type(booster).__name__}, round {rounds} of {booster.n_iterations}"
        # The bar redirects the standard output to rich, which would not draw it either.
        stream = getattr(sys.stdout, "rich_proxied_file", sys.stdout)
        print(f"\r{text}", end=end, file=stream, flush=True)


def lacks_progress_bars(callbacks):
    """Return True if one of scikit-learn's callbacks is a `ProgressBar` that draws nothing.

    Parameters
    ----------
    callbacks : list of object

    Returns
    -------
    bool
    """
    if not any(type(callback).__name__ == "ProgressBar" for callback in callbacks):
        return False
    # A ProgressBar needs rich, so that it is installed.
    from rich import get_console

    return get_console().is_jupyter and find_spec("ipywidgets") is None
