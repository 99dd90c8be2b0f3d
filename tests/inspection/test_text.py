import numpy as np
from sklearn.datasets import load_iris

from boostbench.algorithms import AdaBoostMH, LsBoost
from boostbench.inspection import export_text


def test_every_stump_has_a_line():
    X, y = load_iris(return_X_y=True)
    # The widths of petals tell the first class as well as their lengths.
    model = AdaBoostMH(n_iterations=7).fit(X[:, :3], y)
    lines = export_text(model).splitlines()
    assert len(lines) == 1 + 7
    assert lines[1].startswith("x2 > 2.45: 0 -0.63, 1 +0.63")
    assert export_text(model, n_rules=5).splitlines()[-1] == "... 2 more"
    assert export_text(model, n_rules=0).splitlines()[1:] == ["... 7 more"]


def test_votes_of_0_are_left_out():
    X, y = load_iris(return_X_y=True)
    assert "nothing" in export_text(AdaBoostMH(n_iterations=1).fit(X, y), decimals=-1)


def test_intercepts_and_constant_stumps():
    X, y = load_iris(return_X_y=True)
    lines = export_text(
        LsBoost(n_iterations=2).fit(X, np.where(y == 0, "setosa", "else"))
    ).splitlines()
    assert lines[0] == "Intercept: setosa -0.33"
    assert lines[-1] == "never: setosa -0.30"
