"""Early stopping by the loss on held-out samples."""

import numpy as np

from boostbench.algorithms.base.targets import encode_known_labels
from boostbench.core.stumps.thresholds import sort_with_order

# Smallest decrease of the log-loss that counts as progress. On separable data the loss decreases
# forever as the scores grow. The value is the default `tol` of scikit-learn's
# GradientBoostingClassifier.
MIN_DECREASE = 1e-4


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
    losses : list of float
        Loss after each round that was scored.
    best : int
        Last round of progress; 0 if no round was scored yet.
    """

    def __init__(self, training, X, y, weights=None, *, patience):
        self.training = training
        self.X = X
        self.labels = encode_known_labels(y, training.booster.classes_, "y_val")
        self.weights = weights
        self.patience = patience
        self.losses = []
        self.best = 0

    def losses_so_far(self):
        """Return the losses after all rounds so far."""
        # Rounds without a loss are scored by one model with all of them, stage by stage.
        stages = range(len(self.losses) + 1, self.training.rounds + 1)
        if stages:
            model = self.training.model()
            factor = model.inverse_temperature()
            for stage, scores in zip(stages, model._staged_scores(self.X, stages), strict=True):
                losses = log_losses(factor * scores, self.labels)
                self.losses.append(float(np.average(losses, weights=self.weights)))
                if not self.best or self.losses[-1] < self.losses[self.best - 1] - MIN_DECREASE:
                    self.best = stage
        return self.losses

    def on_round_end(self):
        """Return True if the training should end."""
        if self.training.rounds < self.best + self.patience:
            return False
        self.losses_so_far()
        return self.training.rounds >= self.best + self.patience

    def on_training_end(self):
        """Undo the rounds after the best round."""
        losses = self.losses_so_far()
        self.training.booster.validation_losses_ = np.array(losses)
        if self.best < self.training.rounds:
            self.training.rewind(self.best)


def stratified_holdout(labels, fraction, random_state, advice="give more samples"):
    """Split the samples at random, stratified by class.

    Unlike scikit-learn's splits, it accepts classes with few samples: one sample of each class is
    always in the training part.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    fraction : float
        Fraction of all samples to hold out; at least one sample is held out.
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
    order, _ = sort_with_order(random_state.random_sample(len(labels)))
    # NumPy sorts integers of at most 16 bits in linear time.
    keys = labels.astype(np.min_scalar_type(labels.max()))
    order = order[keys[order].argsort(kind="stable")]
    first_of_class = np.unique(labels[order], return_index=True)[1]
    remaining = np.delete(order, first_of_class)
    if not len(remaining):
        raise ValueError(f"early stopping needs a class of 2 samples or more: {advice}")
    # Systematic sampling: equal distances in the order of the classes.
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
