"""Estimator checks of scikit-learn, for every class, weak learner and solver."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import boostbench as bb
from boostbench.algorithms.base.estimators import NoEarlyStoppingMixin
from boostbench.testing import EXPECTED_FAILURES

from .hashing.test_hashers import HASHERS
from .models import CASES
from .test_kernel_svc import MODELS as MACHINES

VARIANTS = {
    *("CGENS, hinge", "CGENS, stumps and perceptrons", "CGENS, Fourier"),
    *("SAMME, trees", "MCBoost, trees", "MultiBoost, hinge"),
    *("RBoostProj, WLDA, any sign", "RBoostRank, pooled"),
}
BOOSTERS = [model for name, model in CASES.items() if "," not in name or name in VARIANTS]
# A few rounds suffice to separate the classes of the data of the checks.
BOOSTERS = [clone(m).set_params(n_iterations=5) for m in (*BOOSTERS, bb.ProjectedAdaBoostMH())]
BAGS = [
    bb.BaggedBooster(bb.MCBoost(n_iterations=10), n_estimators=2, random_state=0),
    bb.BaggedBooster(bb.AdaBoost(n_iterations=10), n_estimators=2, bootstrap=True, random_state=0),
    bb.BaggedLsBoostRegressor(n_iterations=60, n_estimators=3, random_state=0),
    bb.BaggedMCBoost(n_iterations=60, n_estimators=3, random_state=0),
    bb.BaggedMCBoost(n_iterations=60, n_estimators=1, max_bins=None, random_state=0),
]
STOPPED = bb.MCBoost(n_iterations=10, n_iter_no_change=3, random_state=0)
OTHERS = [
    *(bb.CodewordBoosting(n_iterations=12), bb.LsBoostRegressor(n_iterations=12)),
    *(bb.LPP(), bb.NPE(), bb.ReducedMCBoost(12, reduction="lpp", random_state=0)),
]


def expected_failures(model):
    """Return the checks that may fail, and the reasons."""
    dense, sparse = (f"check_sample_weight_equivalence_on_{of}_data" for of in ("dense", "sparse"))
    of_classes = "check_class_weight_classifiers"
    failures = {}
    # These estimators treat a weight of two differently from a repeated row.
    if isinstance(model, bb.MultiBoost) and model.loss == "hinge":
        failures[dense] = "the dual of its linear program has many solutions"
    elif isinstance(model, bb.MultiBoost):
        failures[dense] = "Newton's method in single precision ends near the minimum, not at 1e-7"
    elif isinstance(model, (bb.StumpKernelSVC, bb.PerceptronKernelSVC)):
        failures[dense] = "LIBSVM ends near the optimum"
    elif model in BAGS:
        failures[dense] = failures[sparse] = "equal rows may be in different parts"
    elif model is STOPPED:
        failures[dense] = failures[sparse] = "what is held out is of other rows"
    if isinstance(model, NoEarlyStoppingMixin):
        failures[of_classes] = "the check asks for early stopping, which they do not have"
    elif model is STOPPED or (
        # The check fails for stumps only; estimators with other weak learners pass it.
        model in BOOSTERS
        and not isinstance(model, (bb.LsBoost, bb.RpBoost, bb.PerceptronAdaBoost))
        and (model.get_params().get("weak_learner"), type(model)) != ("tree", bb.SAMME)
        and model.get_params().get("weak_learner") != "wlda"
    ):
        failures[of_classes] = EXPECTED_FAILURES[of_classes]
    return failures


@pytest.mark.parametrize(
    "model", [*BOOSTERS, *BAGS, STOPPED, *OTHERS, *HASHERS, *MACHINES], ids=str
)
def test_scikit_learn_compatible(model):
    """Run all checks of a model in one test: 3000 tests would take seconds to start and report."""
    check_estimator(model, on_skip=None, expected_failed_checks=expected_failures(model))
