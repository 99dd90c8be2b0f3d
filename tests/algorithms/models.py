"""Models of every class, for tests of all algorithms."""

import pytest

import boostbench as bb
from boostbench.algorithms.lpboost import MarginBooster

PROJECTED = {"n_iterations": 12, "n_projections": 30, "random_state": 0}
# The setting tol=0 switches off the stopping rule.
LONG = {"nu": 1e-3, "tol": 0}
DRAWN = {"n_iterations": 12, "n_candidates": 50, "random_state": 0}
# A few rounds on small data, for every class, weak learner, loss and solver.
CASES = {
    "AdaBoost": bb.AdaBoost(n_iterations=12),
    "AdaBoost, binned": bb.AdaBoost(n_iterations=12, max_bins=8),
    "AdaBoost, constant": bb.AdaBoost(n_iterations=12, constant=True),
    "AdaBoostMH": bb.AdaBoostMH(n_iterations=12),
    "AdaBoostMH, binned": bb.AdaBoostMH(n_iterations=12, max_bins=8),
    "AdaBoostECC": bb.AdaBoostECC(n_iterations=12, random_state=0),
    "AdaBoostSIP": bb.AdaBoostSIP(n_iterations=12),
    "AdaBoostECC, one vote": bb.AdaBoostECC(n_iterations=12, votes="one", random_state=0),
    "AdaBoostECC, binned": bb.AdaBoostECC(n_iterations=12, max_bins=8, random_state=0),
    "AdaBoostMO": bb.AdaBoostMO(n_iterations=12),
    "AdaBoostMO, binned": bb.AdaBoostMO(n_iterations=12, max_bins=8),
    "SAMME": bb.SAMME(n_iterations=12),
    "SAMME, binned": bb.SAMME(n_iterations=12, max_bins=8),
    "SAMME, trees": bb.SAMME(n_iterations=12, weak_learner="tree", random_state=0),
    "GradBoost": bb.GradBoost(n_iterations=12, nu=1e-3),
    "GradBoost, linf": bb.GradBoost(n_iterations=12, nu=1e-3, norm="linf"),
    "GradBoost, binned": bb.GradBoost(n_iterations=12, nu=1e-3, max_bins=8),
    "MCBoost": bb.MCBoost(n_iterations=12),
    "MCBoost, logistic": bb.MCBoost(n_iterations=12, loss="logistic", nu=1e-2, kappa=0.3),
    "MCBoost, binned": bb.MCBoost(n_iterations=12, max_bins=8),
    "MCBoost, trees": bb.MCBoost(n_iterations=10, weak_learner="tree", max_leaf_nodes=3),
    "MultiBoost": bb.MultiBoost(n_iterations=12, nu=1e-3),
    "MultiBoost, exponential": bb.MultiBoost(n_iterations=12, nu=1e-3, loss="exponential"),
    "MultiBoost, L-BFGS-B": bb.MultiBoost(
        n_iterations=12, nu=1e-3, solver="lbfgs", solver_iterations=100
    ),
    "MultiBoost, hinge": bb.MultiBoost(n_iterations=12, nu=1e-3, loss="hinge"),
    "MultiBoost, binned": bb.MultiBoost(n_iterations=12, nu=1e-3, max_bins=8),
    "MultiBoost, from zero": bb.MultiBoost(n_iterations=12, nu=1e-3, start="zero"),
    "RBoostRank": bb.RBoostRank(**PROJECTED, n_bins=8),
    "RBoostRank, pooled": bb.RBoostRank(**PROJECTED, projections="pooled", pool_size=20, n_bins=8),
    "RBoostRankTC": bb.RBoostRankTC(**PROJECTED, n_bins=8, nu=1e-3),
    "RBoostRankTC, exponential": bb.RBoostRankTC(**PROJECTED, n_bins=8, loss="exponential", nu=0.1),
    "RBoostRankTC, Newton": bb.RBoostRankTC(
        **PROJECTED, n_bins=8, loss="exponential_sum", nu=1e-3, solver="newton"
    ),
    "RBoostProj": bb.RBoostProj(**PROJECTED, **LONG, solver_iterations=10),
    "RBoostProj, from zero": bb.RBoostProj(**PROJECTED, **LONG, start="zero"),
    "RBoostProj, greedy": bb.RBoostProj(
        **PROJECTED,
        **LONG,
        loss="exponential",
        rule="greedy",
        projection="sign",
        solver_iterations=10,
    ),
    "RBoostProj, WLDA, any sign": bb.RBoostProj(
        **PROJECTED, **LONG, rule="paper", weak_learner="wlda", positive=False, solver_iterations=10
    ),
    "LsBoost": bb.LsBoost(n_iterations=12),
    "RpBoost": bb.RpBoost(n_iterations=12, random_state=0),
    "RpBoost, sub": bb.RpBoost(n_iterations=12, space="sub", projection="sign", random_state=0),
    "RpBoost, super": bb.RpBoost(
        n_iterations=12, space="super", projection="orthonormal", penalty=10.0, random_state=0
    ),
    "CodewordMCBoost": bb.CodewordMCBoost(n_iterations=12, random_state=0),
    "CodewordMCBoost, trees": bb.CodewordMCBoost(
        n_iterations=12, n_components=3, max_depth=2, leaf_values="vote", random_state=0
    ),
    "LADDER": bb.LADDER(n_iterations=12, random_state=0),
    "LADDER, trees": bb.LADDER(
        n_iterations=12, n_components=2, max_depth=2, leaf_values="vote", random_state=0
    ),
    "CGENS": bb.CGENS(n_iterations=12),
    "CGENS, hinge": bb.CGENS(n_iterations=12, C=1.0, loss="hinge"),
    "CGENS, binned": bb.CGENS(n_iterations=12, max_bins=8),
    "CGENS, perceptrons": bb.CGENS(**DRAWN, C=0.1, weak_learner="perceptron"),
    "CGENS, Fourier": bb.CGENS(**DRAWN, C=0.1, weak_learner="fourier"),
    "CGENS, stumps and perceptrons": bb.CGENS(**DRAWN, C=0.1, weak_learner=["stump", "perceptron"]),
    "CGENSSLS": bb.CGENSSLS(n_iterations=12),
    "CGENSSLS, binned": bb.CGENSSLS(n_iterations=12, max_bins=8),
    "LPBoost": bb.LPBoost(n_iterations=12),
    "LPBoost, perceptrons": bb.LPBoost(**DRAWN, weak_learner="perceptron"),
    "NMBoost": bb.NMBoost(n_iterations=12, C=0.1),
    "ERLPBoost": bb.ERLPBoost(n_iterations=12),
    "PerceptronAdaBoost": bb.PerceptronAdaBoost(**DRAWN),
}
# Sums of stumps, with all rounds.
SUMS = {
    "AdaBoost": bb.AdaBoost(),
    "AdaBoost, constant": bb.AdaBoost(constant=True),
    "AdaBoostECC": bb.AdaBoostECC(random_state=0),
    "AdaBoostECC, one vote": bb.AdaBoostECC(votes="one", random_state=0),
    "AdaBoostMH": bb.AdaBoostMH(),
    "AdaBoostMO": bb.AdaBoostMO(),
    "AdaBoostSIP": bb.AdaBoostSIP(),
    "CGENS": bb.CGENS(C=1.0),
    "CGENSSLS": bb.CGENSSLS(C=1.0),
    "CodewordMCBoost": bb.CodewordMCBoost(random_state=0),
    "ERLPBoost": bb.ERLPBoost(),
    "GradBoost": bb.GradBoost(),
    "LADDER": bb.LADDER(random_state=0),
    "LPBoost": bb.LPBoost(),
    "LsBoost": bb.LsBoost(),
    "MCBoost": bb.MCBoost(),
    "MCBoost, logistic": bb.MCBoost(loss="logistic"),
    "MultiBoost": bb.MultiBoost(),
    "NMBoost": bb.NMBoost(),
    "RBoostProj": bb.RBoostProj(n_projections=50, random_state=0),
    "SAMME": bb.SAMME(),
}
BINARY = (bb.AdaBoost, bb.CGENS, bb.LsBoost, MarginBooster, bb.RpBoost)


def pair_with_classes(models, most=False):
    """Pair each model with the numbers of classes it supports, or with the largest of them."""
    return {
        f"{name}, {n_classes} classes": (model, n_classes)
        for name, model in models.items()
        for n_classes in ((2,) if isinstance(model, BINARY) else (3,) if most else (2, 3))
    }


def cases(models, **which):
    """Parametrise a test over models and numbers of classes, see `pair_with_classes`."""
    named = pair_with_classes(models, **which)
    return pytest.mark.parametrize(("model", "n_classes"), named.values(), ids=named.keys())
