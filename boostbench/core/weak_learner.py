"""Interfaces of weak learners: searches, their results, and stacks of weak learners."""

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import numpy as np


class SearchResult(NamedTuple):
    """Result of a search for a weak learner.

    Attributes
    ----------
    learner : callable
        Function of features of shape (n_samples, n_features) that returns outputs.
    outputs : ndarray of shape (n_samples, ...)
        Outputs of the learner for the training data.
    edge : float
        Edge of the learner, in double precision: the quantity that the search maximises.
    column : int or None
        Column of weights, if the search selects one.
    votes : ndarray of shape (n_columns,), dtype=float64, or None
        Sign for each column of weights, -1 or +1, if the search selects signs.
    """

    learner: object
    outputs: np.ndarray
    edge: float
    column: int | None = None
    votes: np.ndarray | None = None


class Search(Protocol):
    """Search of all weak learners of a kind, for one training set; built once per fit."""

    def best(self, G):
        """Return the weak learner with the largest edge.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
            Signed weights of the samples.

        Returns
        -------
        SearchResult or None
            None if there is no weak learner, since no feature varies.
        """


class LearnerStack(ABC):
    """Stack of T weak learners, evaluated together."""

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
        ndarray of shape (n_samples, ..., n_selected)
        """

    def __repr__(self):
        return f"<{len(self)} {type(self).__name__}>"

    def scores(self, X, coefficients, selection=slice(None)):
        """Return the weighted sum of the selected weak learners.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        coefficients : ndarray of shape (n_hypotheses,) or (n_hypotheses, n_classes)
        selection : slice, default=slice(None)
            Weak learners to sum; all by default.

        Returns
        -------
        ndarray of shape (n_samples, ...), dtype=float64
            ``outputs(X, selection) @ coefficients[selection]``.
        """
        return self.outputs(X, selection) @ coefficients[selection]
