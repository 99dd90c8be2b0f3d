"""Restricted master problem of a training run, the interface of an algorithm to the loop."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

# Edges of normalised weights are capped here: a perfect weak learner (edge 1) would get an infinite
# coefficient.
MAX_EDGE = 1.0 - 1e-10

# Smaller edges are rounding errors of the search, which sums in single precision.
MIN_EDGE = np.finfo(np.float32).eps


class Master(ABC):
    """Restricted master problem: the state of one training run.

    It holds the weak learners so far (the columns), their coefficients (the primal variables) and
    the weights of the samples (the dual variables).

    Parameters
    ----------
    params : Booster
        Estimator in training, with its parameters and `classes_`. A master never changes it.
    search : boostbench.core.weak_learner.Search
        Search for weak learners on the training data.

    Attributes
    ----------
    clock : Clock
        Clock of the training; the loop sets it before the first round.
    """

    # Names of the lists that every round appends to; None if rounds cannot be undone.
    per_round_lists: ClassVar = None

    def __init__(self, params, search):
        self.params = params
        self.search = search
        for name in self.per_round_lists or ():
            setattr(self, name, [])

    @abstractmethod
    def generate(self):
        """Find the weak learner of the most violated dual constraint (steps 1 and 2).

        Returns
        -------
        column : object or None
            Argument of `correct`; None if no constraint is violated, which ends the training.
        """

    @abstractmethod
    def correct(self, column):
        """Add the column, find the coefficients, update the dual variables (steps 3 to 5).

        Parameters
        ----------
        column : object
            Result of `generate`.

        Returns
        -------
        bool
            False if another round would change nothing, which ends the training.
        """

    def finish(self):  # noqa: B027 - optional, most masters have nothing to warn of
        """Warn about an incomplete result; called after the last round."""

    def rewind(self, rounds):
        """Undo all but the first `rounds` rounds; the training ends here."""
        for name in self.per_round_lists:
            del getattr(self, name)[rounds:]
