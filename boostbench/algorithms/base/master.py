"""The restricted master problem of a training run: what an algorithm is to the loop."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

# An edge this near to 1 is a perfect weak learner: its coefficient would be infinite.
MAX_EDGE = 1.0 - 1e-10

# An edge this near to 0 is a rounding error of the search, which adds up in single precision.
MIN_EDGE = np.finfo(np.float32).eps


class Master(ABC):
    """The restricted master problem: the state of one training run.

    It holds the weak learners found so far (the columns), their coefficients (the primal
    variables) and the weights of the samples (the dual variables).

    Parameters
    ----------
    params : Booster
        The estimator in training, for its parameters and `classes_`. A master never writes to it.
    search : boostbench.core.weak_learner.Search
        Of weak learners in the training data.

    Attributes
    ----------
    clock : Clock
        Set by the loop before the first round.
    """

    # The lists that every round adds an entry to; None where rounds cannot be undone.
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
            What `correct` takes; None where no constraint is violated any more, which ends the
            training.
        """

    @abstractmethod
    def correct(self, column):
        """Add the column, find the coefficients, update the dual variables (steps 3 to 5).

        Parameters
        ----------
        column : object
            From `generate`.

        Returns
        -------
        bool
            False where another round would change nothing, which ends the training.
        """

    def finish(self):  # noqa: B027 - most have nothing to say
        """Warn of an outcome that is not what was asked for; called after the last round."""

    def rewind(self, rounds):
        """Undo all but the first `rounds` rounds; the training ends here."""
        for name in self.per_round_lists:
            del getattr(self, name)[rounds:]
