"""Interfaces between boosters and weak learners, and tie-breaking among weak learners.

In every round of a training, a booster asks its `Search` for the best weak learner, and gets a
`SearchResult`. After the training, it evaluates all weak learners together, as a `LearnerStack`.

A weak learner h is a function of the features with outputs -1 and +1, or numbers between them. Its
*edge* for column c of the signed weights G is ``sum_i G[i, c] h(x_i)``.

Edges that differ by rounding errors only tie, and a search returns the first of the tied weak
learners in the canonical order (feature, threshold, column). Without this rule the result would
depend on the order of additions, and so on the library of linear algebra, on the layout of the
data, and on whether a sample has weight 2 or occurs twice.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import numpy as np

# Sums are equal if they differ by no more than this fraction of the sum of absolute weights. The
# rounding error of sums of n samples in double precision is at most the fraction 3 n 2^-53, far
# less, and differences of this size do not matter to a model.
TIE_TOLERANCE = 2.0**-30


class SearchResult(NamedTuple):
    """Result of a search for a weak learner.

    Attributes
    ----------
    learner : callable
        Function of features of shape (n_samples, n_features) that returns outputs.
    outputs : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Outputs of the learner for the training data.
    edge : float
        Edge of the learner, in double precision: the quantity that the search maximises.
    column : int or None
        Column of the weights that the edge belongs to; None if the search uses all columns.
    votes : ndarray of shape (n_columns,), dtype=float64, or None
        Sign of the learner for each column of weights, -1 or +1; None if the search selects no
        signs.
    """

    learner: object
    outputs: np.ndarray
    edge: float
    column: int | None = None
    votes: np.ndarray | None = None


class Search(Protocol):
    """Search over all weak learners of a kind, for one training set; built once per fit."""

    def best(self, G):
        """Return the weak learner with the largest edge.

        A search that also chooses the sign of the weak learner maximises the absolute edge.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
            Signed weights of the samples, one column per class or per code; their sign is the
            output that the weak learner should have.

        Returns
        -------
        SearchResult or None
            None if there is no weak learner, since no feature varies.
        """


class LearnerStack(ABC):
    """Weak learners of a model in the order of the rounds, stored as arrays, evaluated together."""

    @abstractmethod
    def __len__(self):
        """Return the number of weak learners."""

    @abstractmethod
    def outputs(self, X, selection=slice(None)):
        """Return the outputs of the selected weak learners.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        selection : slice, default=slice(None)
            Weak learners to evaluate; all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_selected) or (n_samples, n_classes, n_selected)
        """

    def __repr__(self):
        return f"<{len(self)} {type(self).__name__}>"

    def scores(self, X, coefficients, selection=slice(None)):
        """Return the weighted sum of the selected weak learners.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        coefficients : ndarray of shape (n_learners,) or (n_learners, n_classes)
            Coefficients of all weak learners.
        selection : slice, default=slice(None)
            Weak learners to sum; all by default.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), dtype=float64
            ``outputs(X, selection) @ coefficients[selection]``.
        """
        return self.outputs(X, selection) @ coefficients[selection]


def argmax_with_tolerance(values, scale):
    """Return the index of the first of the numbers that equal the largest within rounding.

    Parameters
    ----------
    values : ndarray of shape (..., n_values)
    scale : float or ndarray of shape (...)
        Sum of the absolute summands. Numbers are equal if they differ by no more than
        `TIE_TOLERANCE` times this sum.

    Returns
    -------
    int or ndarray of shape (...)

    Examples
    --------
    >>> int(argmax_with_tolerance(np.array([0.1, 0.3, 0.1 + 0.2]), scale=1.0))
    1
    """
    lowest_tied = values.max(axis=-1) - TIE_TOLERANCE * np.asarray(scale)
    return (values >= lowest_tied[..., None]).argmax(axis=-1)
