"""The models that tests of all algorithms go through."""

import pytest

from boostbench.algorithms import (
    CGENS,
    CGENSSLS,
    LADDER,
    SAMME,
    AdaBoost,
    AdaBoostECC,
    AdaBoostMH,
    AdaBoostMO,
    AdaBoostSIP,
    CodewordMCBoost,
    ERLPBoost,
    GradBoost,
    LPBoost,
    LsBoost,
    MCBoost,
    MultiBoost,
    NMBoost,
    PerceptronAdaBoost,
    RBoostProj,
    RBoostRank,
    RBoostRankTC,
    RpBoost,
)
from boostbench.algorithms.margin_programs import MarginBooster

# A few rounds, on small data: of every class, and of every kind of weak learner, loss and solver.
CASES = {
    "AdaBoost": AdaBoost(n_iterations=12),
    "AdaBoost, binned": AdaBoost(n_iterations=12, max_bins=8),
    "AdaBoost, constant": AdaBoost(n_iterations=12, constant=True),
    "AdaBoostMH": AdaBoostMH(n_iterations=12),
    "AdaBoostMH, binned": AdaBoostMH(n_iterations=12, max_bins=8),
    "AdaBoostECC": AdaBoostECC(n_iterations=12, random_state=0),
    "AdaBoostSIP": AdaBoostSIP(n_iterations=12),
    "AdaBoostECC, one vote": AdaBoostECC(n_iterations=12, votes="one", random_state=0),
    "AdaBoostECC, binned": AdaBoostECC(n_iterations=12, max_bins=8, random_state=0),
    "AdaBoostMO": AdaBoostMO(n_iterations=12),
    "AdaBoostMO, binned": AdaBoostMO(n_iterations=12, max_bins=8),
    "SAMME": SAMME(n_iterations=12),
    "SAMME, binned": SAMME(n_iterations=12, max_bins=8),
    "SAMME, trees": SAMME(n_iterations=12, weak_learner="tree", random_state=0),
    "GradBoost": GradBoost(n_iterations=12, nu=1e-3),
    "GradBoost, linf": GradBoost(n_iterations=12, nu=1e-3, norm="linf"),
    "GradBoost, binned": GradBoost(n_iterations=12, nu=1e-3, max_bins=8),
    "MCBoost": MCBoost(n_iterations=12),
    "MCBoost, logistic": MCBoost(n_iterations=12, loss="logistic", nu=1e-2, kappa=0.3),
    "MCBoost, binned": MCBoost(n_iterations=12, max_bins=8),
    "MCBoost, trees": MCBoost(n_iterations=10, weak_learner="tree", max_leaf_nodes=3),
    "MultiBoost": MultiBoost(n_iterations=12, nu=1e-3),
    "MultiBoost, exponential": MultiBoost(n_iterations=12, nu=1e-3, loss="exponential"),
    "MultiBoost, L-BFGS-B": MultiBoost(
        n_iterations=12, nu=1e-3, solver="lbfgs", solver_iterations=100
    ),
    "MultiBoost, hinge": MultiBoost(n_iterations=12, nu=1e-3, loss="hinge"),
    "MultiBoost, binned": MultiBoost(n_iterations=12, nu=1e-3, max_bins=8),
    "MultiBoost, from zero": MultiBoost(n_iterations=12, nu=1e-3, start="zero"),
    "RBoostRank": RBoostRank(n_iterations=12, n_projections=30, n_bins=8, random_state=0),
    "RBoostRank, pooled": RBoostRank(
        n_iterations=12,
        n_projections=30,
        projections="pooled",
        pool_size=20,
        n_bins=8,
        random_state=0,
    ),
    "RBoostRankTC": RBoostRankTC(
        n_iterations=12, n_projections=30, n_bins=8, nu=1e-3, random_state=0
    ),
    "RBoostRankTC, exponential": RBoostRankTC(
        n_iterations=12, n_projections=30, n_bins=8, loss="exponential", nu=0.1, random_state=0
    ),
    "RBoostRankTC, Newton": RBoostRankTC(
        n_iterations=12,
        n_projections=30,
        n_bins=8,
        loss="exponential_sum",
        nu=1e-3,
        solver="newton",
        random_state=0,
    ),
    "RBoostProj": RBoostProj(
        n_iterations=12, n_projections=30, nu=1e-3, tol=0, solver_iterations=10, random_state=0
    ),
    "RBoostProj, from zero": RBoostProj(
        n_iterations=12, n_projections=30, nu=1e-3, tol=0, start="zero", random_state=0
    ),
    "RBoostProj, greedy": RBoostProj(
        n_iterations=12,
        n_projections=30,
        nu=1e-3,
        loss="exponential",
        rule="greedy",
        projection="sign",
        tol=0,
        solver_iterations=10,
        random_state=0,
    ),
    "RBoostProj, WLDA, any sign": RBoostProj(
        n_iterations=12,
        n_projections=30,
        nu=1e-3,
        rule="paper",
        weak_learner="wlda",
        positive=False,
        tol=0,
        solver_iterations=10,
        random_state=0,
    ),
    "LsBoost": LsBoost(n_iterations=12),
    "RpBoost": RpBoost(n_iterations=12, random_state=0),
    "RpBoost, sub": RpBoost(n_iterations=12, space="sub", projection="sign", random_state=0),
    "RpBoost, super": RpBoost(
        n_iterations=12, space="super", projection="orthonormal", penalty=10.0, random_state=0
    ),
    "CodewordMCBoost": CodewordMCBoost(n_iterations=12, random_state=0),
    "CodewordMCBoost, trees": CodewordMCBoost(
        n_iterations=12, n_components=3, max_depth=2, leaf_values="vote", random_state=0
    ),
    "LADDER": LADDER(n_iterations=12, random_state=0),
    "LADDER, trees": LADDER(
        n_iterations=12, n_components=2, max_depth=2, leaf_values="vote", random_state=0
    ),
    "CGENS": CGENS(n_iterations=12),
    "CGENS, hinge": CGENS(n_iterations=12, C=1.0, loss="hinge"),
    "CGENS, binned": CGENS(n_iterations=12, max_bins=8),
    "CGENS, perceptrons": CGENS(
        n_iterations=12, C=0.1, weak_learner="perceptron", n_candidates=50, random_state=0
    ),
    "CGENS, Fourier": CGENS(
        n_iterations=12, C=0.1, weak_learner="fourier", n_candidates=50, random_state=0
    ),
    "CGENS, stumps and perceptrons": CGENS(
        n_iterations=12,
        C=0.1,
        weak_learner=["stump", "perceptron"],
        n_candidates=50,
        random_state=0,
    ),
    "CGENSSLS": CGENSSLS(n_iterations=12),
    "CGENSSLS, binned": CGENSSLS(n_iterations=12, max_bins=8),
    "LPBoost": LPBoost(n_iterations=12),
    "LPBoost, perceptrons": LPBoost(
        n_iterations=12, weak_learner="perceptron", n_candidates=50, random_state=0
    ),
    "NMBoost": NMBoost(n_iterations=12, C=0.1),
    "ERLPBoost": ERLPBoost(n_iterations=12),
    "PerceptronAdaBoost": PerceptronAdaBoost(n_iterations=12, n_candidates=50, random_state=0),
}
# Sums of stumps, with all rounds.
SUMS = {
    "AdaBoost": AdaBoost(),
    "AdaBoost, constant": AdaBoost(constant=True),
    "AdaBoostECC": AdaBoostECC(random_state=0),
    "AdaBoostECC, one vote": AdaBoostECC(votes="one", random_state=0),
    "AdaBoostMH": AdaBoostMH(),
    "AdaBoostMO": AdaBoostMO(),
    "AdaBoostSIP": AdaBoostSIP(),
    "CGENS": CGENS(C=1.0),
    "CGENSSLS": CGENSSLS(C=1.0),
    "CodewordMCBoost": CodewordMCBoost(random_state=0),
    "ERLPBoost": ERLPBoost(),
    "GradBoost": GradBoost(),
    "LADDER": LADDER(random_state=0),
    "LPBoost": LPBoost(),
    "LsBoost": LsBoost(),
    "MCBoost": MCBoost(),
    "MCBoost, logistic": MCBoost(loss="logistic"),
    "MultiBoost": MultiBoost(),
    "NMBoost": NMBoost(),
    "RBoostProj": RBoostProj(n_projections=50, random_state=0),
    "SAMME": SAMME(),
}
BINARY = (AdaBoost, CGENS, LsBoost, MarginBooster, RpBoost)


def with_classes(models):
    """Combine models with numbers of classes; some are for two classes."""
    return {
        f"{name}, {n_classes} classes": (model, n_classes)
        for name, model in models.items()
        for n_classes in ((2,) if isinstance(model, BINARY) else (2, 3))
    }


def cases(models):
    """Parametrise a test over models and numbers of classes."""
    named = with_classes(models)
    return pytest.mark.parametrize(("model", "n_classes"), named.values(), ids=named.keys())
