"""Coefficient paths: the L1-constrained path, and the path of boosting by tiny steps."""

from typing import ClassVar

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from boostbench.core.coefficient_path import l1_constrained_path, stage_wise_path
from boostbench.core.losses.margin import LOSSES, get_loss
from boostbench.data.dataset import Dataset
from boostbench.fitting.measures.base import Measure
from boostbench.fitting.trial import Trial
from boostbench.records.schema import Count, Measured, Real
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError

# Values of Figure 1 of the MCBoost paper.
#: Number of stumps.
N_STUMPS = 8
#: Change of one coefficient in a round of stage-wise boosting.
STEP = 0.01
#: Number of rounds, so that the L1 norm of the coefficients reaches 10.
N_ROUNDS = 1000

# Number of rounds between two recorded points of a path, which keeps records small.
_EVERY = 20
# Decimals of recorded coefficients, which make the files small.
_DECIMALS = 5


class PathStump(Struct):
    """Stump: the number of its feature, from 0, and its threshold."""

    feature: Count
    threshold: Real


class Path(Struct):
    """Coefficients of shape (n_norms, n_classes, n_stumps), by both methods.

    Attributes
    ----------
    exact : list of list of list of float
        Minimum of the loss among coefficients of each L1 norm.
    stage_wise : list of list of list of float
        Coefficients of boosting by steps of `STEP`.
    """

    exact: list[list[list[Real]]]
    stage_wise: list[list[list[Real]]]


class PathsRecord(Measured, kw_only=True):
    """Paths of coefficients.

    Attributes
    ----------
    norms : list of float
        L1 norms of all coefficients, ascending.
    stumps : list of PathStump
        Stumps of the coefficients.
    paths : dict of str to Path
        Paths by the name of the loss.
    """

    norms: list[Real]
    stumps: list[PathStump]
    paths: dict[str, Path]


class Paths(Measure):
    """Coefficients of a few stumps as functions of their L1 norm, for each loss.

    The stumps are the first ones that the algorithm finds on single features of a sample of the
    data; no sample is held back for a test.
    """

    form = PathsRecord
    quantities = ()
    suffix = "path"
    settings: ClassVar = {
        "path": {"n_stumps": N_STUMPS, "step": STEP, "n_rounds": N_ROUNDS, "every": _EVERY}
    }

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Return a protocol with the sampling and the time limit."""
        return ProtocolSpec(
            n_splits=1,
            sampling=protocol.sampling,
            samples_per_class=protocol.samples_per_class,
            scale="none",  # stumps do not depend on the scale
            tune="none",
            checkpoints=(),
            time_limit=protocol.time_limit,
        )

    def check_data(self, dataset: Dataset) -> None:
        """Raise an error if the features are sparse."""
        if dataset.is_sparse:
            raise UserError(
                f"coefficient paths need dense features, and {dataset.name!r} is sparse"
            )

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Find the stumps, and compute the paths of their coefficients.

        Returns
        -------
        dict
            In JSON types: ``norms``, ascending; ``stumps``, each with ``feature`` (counted from 0)
            and ``threshold``; by loss, ``paths`` of the coefficients, ``exact`` and
            ``stage_wise``, of shape (n_norms, n_classes, n_stumps).
        """
        rows = np.sort(np.concatenate([trial.split.train, trial.split.test]))
        X, y = X[rows], y[rows]
        stumps, H = _stumps(trial, X, y)
        is_true_class = np.unique(y)[:, None] == y

        recorded = np.arange(_EVERY, N_ROUNDS + 1, _EVERY)
        norms = recorded * STEP
        paths = {}
        for name in sorted(LOSSES):
            loss = get_loss(name)
            steps = stage_wise_path(H, is_true_class, loss, N_ROUNDS, STEP)[recorded - 1]
            exact = l1_constrained_path(H, is_true_class, loss, norms)
            paths[name] = {
                "exact": exact.round(_DECIMALS).tolist(),
                "stage_wise": steps.round(_DECIMALS).tolist(),
            }
        return {
            "norms": norms.round(_DECIMALS).tolist(),
            "stumps": [asdict(stump) for stump in stumps],
            "paths": paths,
        }


def _stumps(trial: Trial, X: np.ndarray, y: np.ndarray) -> tuple[list[PathStump], np.ndarray]:
    """Return different stumps on random features, and their outputs.

    The best stumps of all features are not suitable, as a few of them may separate all classes.

    Returns
    -------
    stumps : list of PathStump
    H : ndarray of shape (N_STUMPS, n_samples)
        Outputs, -1 or +1.

    Raises
    ------
    ValueError
        If the features have fewer different stumps than `N_STUMPS`.
    """
    stumps, H = [], []
    for feature in np.random.default_rng(trial.split.seed).permutation(X.shape[1]):
        column = X[:, [feature]]
        hypotheses = (
            trial.algorithm.build(trial.split.seed, **trial.chosen).fit(column, y).hypotheses_
        )
        if len(hypotheses):
            outputs = hypotheses.outputs(column)[:, 0]
            if not any((outputs == h).all() or (outputs == -h).all() for h in H):
                stumps.append(PathStump(int(feature), float(hypotheses.threshold[0])))
                H.append(outputs)
        if len(H) == N_STUMPS:
            return stumps, np.array(H)
    raise ValueError(f"only {len(H)} different stumps, of {N_STUMPS}; take other data")
