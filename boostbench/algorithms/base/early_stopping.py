"""Early stopping: a part of the data says which round is the last one."""

import numpy as np

from boostbench.algorithms.base.labels import encode_known_labels

# Where classes are told apart without an error, larger scores lower the loss for ever. It is the
# default `tol` of scikit-learn's GradientBoostingClassifier.
MIN_DECREASE = 1e-4


class EarlyStopping:
    """Ends a training whose loss on held-out data falls no more, and goes back to its best round.

    The loss of every round counts. It is not found before it can matter, so that many rounds are
    scored at once: the training cannot end before `patience` rounds after the best one.

    Parameters
    ----------
    training : Training
    X : ndarray of shape (n_samples, n_features)
        Held out.
    y : ndarray of shape (n_samples,)
        Labels.
    weights : ndarray of shape (n_samples,) or None, default=None
    patience : int
        Rounds in a row without progress, a loss that is less than that of the best round by more
        than `MIN_DECREASE`, after which the training ends.

    Attributes
    ----------
    losses : list of float
        After each round that was scored.
    best : int
        The last round of progress; 0 before any was scored.
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
        """Return the losses after all rounds that are done."""
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
        """Tell whether the training is to end."""
        if self.training.rounds < self.best + self.patience:
            return False
        self.losses_so_far()
        return self.training.rounds >= self.best + self.patience

    def on_training_end(self):
        """Go back to the best round."""
        losses = self.losses_so_far()
        self.training.booster.validation_losses_ = np.array(losses)
        if self.best < self.training.rounds:
            self.training.rewind(self.best)


def stratified_holdout(labels, fraction, random_state, advice="give more samples"):
    """Draw a stratified part of the samples.

    Unlike scikit-learn's, it takes classes of few samples: one of each is never held out.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    fraction : float
        Of all samples; at least one is held out.
    random_state : RandomState
    advice : str, default="give more samples"
        What to do where none can be held out, for the error.

    Returns
    -------
    train, held_out : ndarray of int

    Raises
    ------
    ValueError
        If no class has more than one sample.
    """
    order = np.lexsort([random_state.random_sample(len(labels)), labels])
    first_of_class = np.unique(labels[order], return_index=True)[1]
    remaining = np.delete(order, first_of_class)
    if not len(remaining):
        raise ValueError(f"early stopping needs a class of 2 samples or more: {advice}")
    # At equal distances in the order of the classes.
    count = min(max(1, round(fraction * len(labels))), len(remaining))
    start = random_state.random_sample()
    held_out = remaining[((np.arange(count) + start) * len(remaining) / count).astype(int)]
    is_train = np.ones(len(labels), bool)
    is_train[held_out] = False
    return np.flatnonzero(is_train), held_out


def log_losses(scores, labels):
    """Minus the logarithm of the probability of each sample's class, without overflow.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
        Probabilities are their softmax, or the logistic function of the one number.
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.

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
