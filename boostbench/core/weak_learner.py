"""What the weak learners have in common: searches, what they find, and sums of weak learners."""

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import numpy as np


class SearchResult(NamedTuple):
    """The weak learner that a search has found.

    Attributes
    ----------
    learner : callable
        Takes features of shape (n_samples, n_features) and returns outputs.
    outputs : ndarray of shape (n_samples, ...)
        Of the learner, for the training data.
    edge : float
        What the search was for, in double precision.
    column : int or None
        Where the search chooses a column of weights: which.
    votes : ndarray of shape (n_columns,), dtype=float64, or None
        Where the search chooses a sign for each column of weights: -1 or +1.
    """

    learner: object
    outputs: np.ndarray
    edge: float
    column: int | None = None
    votes: np.ndarray | None = None


class Search(Protocol):
    """All weak learners of a kind, for one training set; built once per fit."""

    def best(self, G):
        """Find the weak learner of the largest edge.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
            Signed weights of the samples.

        Returns
        -------
        SearchResult or None
            None where there is no weak learner, as no feature varies.
        """


class LearnerStack(ABC):
    """T weak learners, evaluated as one."""

    @abstractmethod
    def __len__(self):
        """T."""

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
