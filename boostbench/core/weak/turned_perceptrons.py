"""Random perceptrons turned to the side where their edge is positive, for boosting with w >= 0."""

from boostbench.core.weak.linear import Perceptron
from boostbench.core.weak.random_units import RandomPerceptrons
from boostbench.core.weak_learner import Found


class TurnedPerceptrons(RandomPerceptrons):
    """Random perceptrons and their negatives.

    Parameters
    ----------
    X, n_candidates, rng
        As of `RandomPerceptrons`.
    """

    def best(self, G):
        """Find the perceptron and column of the largest edge, positive or 0, as `Search.best`."""
        found = super().best(G)
        if found is None or found.edge >= 0:
            return found
        turned = Perceptron(-found.learner.direction, -found.learner.threshold)
        outputs = turned(self.X)
        return Found(turned, outputs, float(G[:, found.column] @ outputs), found.column)
