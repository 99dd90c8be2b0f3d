"""Observers of a training run: early stopping, progress lines and callbacks of scikit-learn.

The loop of `boostbench.algorithms.base.booster.Booster` calls two methods of an observer:
`on_round_end` after every round, which returns True to end the training, and `on_training_end`. An
observer reads the state of the run from a `Training`.
"""

import copy
import sys
import time
from importlib.util import find_spec

import numpy as np

from boostbench.algorithms.base.categories import decode_categories
from boostbench.algorithms.base.input_validation import encode_known_labels
from boostbench.core.stumps.thresholds import argsort_with_values
from boostbench.util.process import random_state_restored

# Smallest decrease of the log-loss that counts as progress. On separable data the loss decreases
# forever as the scores grow. The value is the default `tol` of scikit-learn's
# GradientBoostingClassifier.
MIN_DECREASE = 1e-4

try:
    with random_state_restored():  # sklearn.callback imports rich
        from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks

    class CallbackSupportMixin:
        """Mixin without methods, in place of the mixin of scikit-learn 1.9."""

    def with_callbacks(method):
        """Return `method` unchanged."""
        return method


# Seconds between two updates of a progress line. Notebooks store each write, so that an update in
# every round would be slow.
_SECONDS_BETWEEN_LINES = 0.2


class EarlyStopping:
    """Observer that ends a training without progress on held-out data, and restores its best round.

    The loss is computed after every round, but lazily, for many rounds at once: the training cannot
    end before `patience` rounds after the best round.

    Parameters
    ----------
    training : Training
    X : ndarray of shape (n_samples, n_features)
        Held-out samples.
    y : ndarray of shape (n_samples,)
        Labels of the held-out samples.
    weights : ndarray of shape (n_samples,) or None, default=None
        Weights of the held-out samples; None: all are 1.
    patience : int
        Number of rounds in a row without progress after which the training ends. A round makes
        progress if its loss is below the loss of the best round by more than `MIN_DECREASE`.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Class numbers of the held-out samples.
    losses : list of float
        Loss after each round that was scored.
    best_round : int
        Last round of progress; 0 if no round was scored yet.
    """

    def __init__(self, training, X, y, weights=None, *, patience):
        self.training = training
        self.X = X
        self.labels = encode_known_labels(y, training.booster.classes_, "y_val")
        self.weights = weights
        self.patience = patience
        self.losses = []
        self.best_round = 0

    def update_losses(self):
        """Score the rounds since the last call, and return the losses after all rounds so far."""
        # 1) Score the rounds without a loss, stage by stage, with one model of all rounds so far.
        stages = range(len(self.losses) + 1, self.training.rounds + 1)
        if stages:
            model = self.training.model()
            factor = model.inverse_temperature()
            for stage, scores in zip(stages, model._staged_scores(self.X, stages), strict=True):
                losses = log_losses(factor * scores, self.labels)
                self.losses.append(float(np.average(losses, weights=self.weights)))
                # 2) Remember the last round of progress.
                if (
                    not self.best_round
                    or self.losses[-1] < self.losses[self.best_round - 1] - MIN_DECREASE
                ):
                    self.best_round = stage
        return self.losses

    def on_round_end(self):
        """Return True if the training should end."""
        # Before this round no loss can end the training, so that scoring waits.
        if self.training.rounds < self.best_round + self.patience:
            return False
        self.update_losses()
        return self.training.rounds >= self.best_round + self.patience

    def on_training_end(self):
        """Undo the rounds after the best round."""
        losses = self.update_losses()
        self.training.booster.validation_losses_ = np.array(losses)
        if self.best_round < self.training.rounds:
            self.training.rewind(self.best_round)


def stratified_holdout(labels, fraction, random_state, advice="give more samples"):
    """Split the samples at random, stratified by class.

    Unlike scikit-learn's splits, it accepts classes with few samples: one sample of each class is
    always in the training part.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    fraction : float
        Fraction of all samples to hold out, as far as the classes allow; at least one sample.
    random_state : RandomState
    advice : str, default="give more samples"
        Advice in the error message if no sample can be held out.

    Returns
    -------
    train, held_out : ndarray of int
        Row indices of the two parts.

    Raises
    ------
    ValueError
        If no class has more than one sample.
    """
    # 1) Put the samples in a random order, and then in the order of their classes.
    order, _ = argsort_with_values(random_state.random_sample(len(labels)))
    # NumPy sorts integers of at most 16 bits in linear time.
    keys = labels.astype(np.min_scalar_type(labels.max()))
    order = order[keys[order].argsort(kind="stable")]
    # 2) Keep the first sample of each class for the training part.
    first_of_class = np.unique(labels[order], return_index=True)[1]
    remaining = np.delete(order, first_of_class)
    if not len(remaining):
        raise ValueError(f"early stopping needs a class of 2 samples or more: {advice}")
    # 3) Hold out samples at equal distances in this order, from a random start (systematic
    # sampling): each class gives its share.
    count = min(max(1, round(fraction * len(labels))), len(remaining))
    start = random_state.random_sample()
    held_out = remaining[((np.arange(count) + start) * len(remaining) / count).astype(int)]
    is_train = np.ones(len(labels), bool)
    is_train[held_out] = False
    return np.flatnonzero(is_train), held_out


def log_losses(scores, labels):
    """Return minus the logarithm of the probability of each sample's class, without overflow.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
        Scores, whose softmax (logistic function of a single score) are the probabilities.
    labels : ndarray of shape (n_samples,)
        Class numbers, 0 to n_classes - 1.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> log_losses(np.array([0.0, 1000.0]), np.array([1, 0])).round(3).tolist()
    [0.693, 1000.0]
    """
    if scores.ndim == 1:
        return np.logaddexp(0.0, np.where(labels > 0, -scores, scores))
    shifted = scores - scores.max(axis=1, keepdims=True)
    own_scores = shifted[np.arange(len(labels)), labels]
    return np.log(np.exp(shifted).sum(axis=1)) - own_scores


class Training:
    """State of a training run, for the loop and its observers.

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
        """Return a copy of the booster, fitted as if the training had ended after this round."""
        model = copy.copy(self.booster)
        model._store_fitted_attributes(self)
        return model

    def rewind(self, rounds):
        """Undo all but the first `rounds` rounds; the training ends here."""
        self.master.rewind(rounds)
        self.rounds = rounds


class SklearnCallbackAdapter:
    """Observer that calls the callbacks of scikit-learn's `set_callbacks` for each task.

    A task, in the words of scikit-learn, is a round, or a member of a bag.

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
        # Arguments of all callbacks. scikit-learn calls the functions among them if a callback
        # needs the value.
        self.arguments = {
            "estimator": booster,
            # Restore names and categories, so that callbacks can predict for X without a warning.
            "X": lambda: decode_categories(X, getattr(booster, "categories_", {}), names),
            "y": y,
            "metadata": None if weights is None else {"sample_weight": weights},
        }
        self.task_name = task_name
        # The context is scikit-learn's node for the whole training, with a node for each task
        # below.
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
        # 1) Read the objective, under the name that the estimator has for it.
        training = self.training
        model = training.model()
        parts = []
        for attribute, name in (("objective_", "objective"), ("log_risks_", "log risk")):
            if hasattr(model, attribute):
                parts.append(f"{name} {getattr(model, attribute)[-1]:.6g}")
        # 2) Read the validation loss, if there is one.
        losses = None
        if self.validation:
            losses, best = self.validation.update_losses(), self.validation.best_round
        elif hasattr(training.master, "best_round"):
            # A jointly trained bag stops itself, and its master records validation losses.
            losses, best = model.validation_losses_, training.master.best_round
        if losses is not None:
            loss = losses[training.rounds - 1]
            parts.append(f"validation loss {loss:.6g} (best round {best})")
        # 3) Print them.
        seconds = sum(training.clock.seconds.values())
        parts.append(f"{seconds:.2f} CPU seconds")
        name = type(training.booster).__name__
        rounds = f"round {training.rounds} of {training.booster.n_iterations}"
        print(f"{name}, {rounds}: {', '.join(parts)}")


class ProgressLine(VerboseReporter):
    """Observer that writes the number of rounds to one line, again and again.

    It takes the place of scikit-learn's `ProgressBar` in notebooks without ipywidgets, where rich
    draws nothing. A line is due by time, so that `every` is not used.

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
        """Write the line over the previous one."""
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
