import numpy as np

from boostbench.core.weak.random_units import RandomPerceptrons
from boostbench.core.weak.turned_perceptrons import TurnedPerceptrons


def test_they_are_the_same_perceptrons_with_positive_edges():
    rng = np.random.default_rng(0)
    X, G = rng.normal(size=(40, 3)), rng.normal(size=(30, 40, 1))
    plain = RandomPerceptrons(X, 20, np.random.default_rng(1))
    turned = TurnedPerceptrons(X, 20, np.random.default_rng(1))
    signs = set()
    for weights in G:
        one, other = plain.best(weights), turned.best(weights)
        sign = np.sign(one.edge)
        signs.add(sign)
        assert (other.outputs == sign * one.outputs).all()
        assert (other.outputs == other.learner(X)).all()
        assert other.edge == abs(one.edge)
    assert signs == {-1.0, 1.0}


def test_nothing_where_no_feature_varies():
    assert (
        TurnedPerceptrons(np.ones((5, 2)), 10, np.random.default_rng(0)).best(np.ones((5, 1)))
        is None
    )
