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

# The values of Figure 1 of the MCBoost paper.
N_STUMPS = 8
STEP = 0.01
N_ROUNDS = 1000

# Number of steps between two recorded points of a path.
_EVERY = 20
_DECIMALS = 5


class PathStump(Struct):
    """A feature, counted from 0, and its threshold."""

    feature: Count
    threshold: Real


class Path(Struct):
    """Coefficients, of shape (n_norms, n_classes, n_stumps)."""

    exact: list[list[list[Real]]]
    stage_wise: list[list[list[Real]]]


class PathsRecord(Measured, kw_only=True):
    """The paths of coefficients, by loss."""

    norms: list[Real]
    stumps: list[PathStump]
    paths: dict[str, Path]


class Paths(Measure):
    """The coefficients of a few stumps, by the L1 norm of all, with each loss.

    The stumps are those that an algorithm finds first on single features of a drawing from the
    data; nothing is held back for a test.
    """

    form = PathsRecord
    quantities = ()
    suffix = "path"
    settings: ClassVar = {
        "path": {"n_stumps": N_STUMPS, "step": STEP, "n_rounds": N_ROUNDS, "every": _EVERY}
    }

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Keep how samples are drawn, and the limit of time."""
        return ProtocolSpec(
            n_splits=1,
            sampling=protocol.sampling,
            samples_per_class=protocol.samples_per_class,
            scale="none",  # stumps do not depend on it
            tune="none",
            checkpoints=(),
            time_limit=protocol.time_limit,
        )

    def check_data(self, dataset: Dataset) -> None:
        """Refuse sparse features."""
        if dataset.is_sparse:
            raise UserError(
                f"coefficient paths need dense features, and {dataset.name!r} is sparse"
            )

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Find the stumps and follow their coefficients.

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
    """Find the best stump of each of some features drawn at random, and its outputs on X.

    The best stumps of all features would not do: a few of them may separate all classes.
    """
    stumps, H = [], []
    for feature in np.random.default_rng(trial.split.seed).permutation(X.shape[1]):
        alone = X[:, [feature]]
        hypotheses = (
            trial.algorithm.build(trial.split.seed, **trial.chosen).fit(alone, y).hypotheses_
        )
        if len(hypotheses):
            outputs = hypotheses.outputs(alone)[:, 0]
            if not any((outputs == h).all() or (outputs == -h).all() for h in H):
                stumps.append(PathStump(int(feature), float(hypotheses.threshold[0])))
                H.append(outputs)
        if len(H) == N_STUMPS:
            return stumps, np.array(H)
    raise ValueError(f"only {len(H)} different stumps, of {N_STUMPS}; take other data")
