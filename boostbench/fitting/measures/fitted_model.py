"""Parts of a fitted model: its codewords, the features of its stumps, and its coefficients.

The coefficients are counted by `Support`. `Paths` has them as functions of their L1 norm: the
minimum of the loss for each norm, and the path of boosting by tiny steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec
import numpy as np
from msgspec import Struct

from boostbench.fitting.measures.base import FIT_TIMES, Measure
from boostbench.records.fit_results import SplitResults, record_type
from boostbench.records.schema import Count, Fraction, Real
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError

if TYPE_CHECKING:
    from boostbench.data.dataset import Dataset
    from boostbench.fitting.trial import Trial

# Decimals of recorded codewords and coefficients, which make the files small.
_DECIMALS = 5


class CodewordsResults(SplitResults, kw_only=True):
    """Codewords of the classes before and after the training.

    Attributes
    ----------
    first, last : list of list of float, of shape (n_classes, n_components)
        Initial and learned codewords, classes in the order of their labels.
    """

    test_error: Fraction
    first: list[list[Real]]
    last: list[list[Real]]
    n_iterations: Count


CodewordsRecord = record_type(CodewordsResults)


class Codewords(Measure):
    """The codewords of an algorithm, before and after the training."""

    form = CodewordsRecord
    quantities = ("test_error", "accuracy", "n_iterations")
    suffix = "codewords"
    settings: ClassVar = {"codewords": "first and last"}

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Return the protocol without checkpoints."""
        return msgspec.structs.replace(protocol, checkpoints=())

    def take(self, trial: Trial, X, y: np.ndarray) -> CodewordsResults:
        """Fit, and return the codewords.

        Raises
        ------
        ValueError
            If the classifier has no codewords.
        """
        fit = trial.fit(X, y)
        if not hasattr(fit.estimator, "first_codewords_"):
            raise ValueError(f"{type(fit.estimator).__name__} has no codewords")
        return CodewordsResults(
            first=np.round(fit.estimator.first_codewords_, _DECIMALS).tolist(),
            last=np.round(fit.estimator.codewords_, _DECIMALS).tolist(),
            n_iterations=fit.count("n_iterations_"),
            test_error=self.loss(fit, self.outputs(fit)["end"]),
        )


#: Limit of features, as each record lists a number for all of them.
MAX_FEATURES = 5000


class FeatureUseResults(SplitResults, kw_only=True):
    """Numbers of stumps of a fit on each feature.

    Attributes
    ----------
    counts : list of int, of length n_features
        Number of stumps that test each feature.
    """

    test_error: Fraction
    counts: list[Count]
    n_iterations: Count


FeatureUseRecord = record_type(FeatureUseResults)


class FeatureUse(Measure):
    """Number of stumps on each feature."""

    form = FeatureUseRecord
    quantities = ("test_error", "accuracy", "n_iterations")
    suffix = "features"
    takes_tables = False
    settings: ClassVar = {"feature_use": "stumps"}

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Return the protocol without checkpoints; features must not be projected."""
        if protocol.pca is not None:
            raise UserError("with protocol.pca no feature of the data is left to be selected")
        return msgspec.structs.replace(protocol, checkpoints=())

    def check_data(self, dataset: Dataset) -> None:
        """Raise an error for more than `MAX_FEATURES` features."""
        if dataset.n_features > MAX_FEATURES:
            raise UserError(
                f"{dataset.name!r} has {dataset.n_features} features; their use is recorded up to "
                f"{MAX_FEATURES}"
            )

    def take(self, trial: Trial, X, y: np.ndarray) -> FeatureUseResults:
        """Fit, and count the stumps on each feature.

        Raises
        ------
        ValueError
            If the classifier has no stumps on single features.
        """
        fit = trial.fit(X, y)
        hypotheses = getattr(fit.estimator, "hypotheses_", None)
        features = getattr(hypotheses, "feature", None)
        # An estimator that projects the features has stumps on the projections.
        is_projected = hasattr(fit.estimator, "project")
        if is_projected or features is None or np.shape(features) != (len(hypotheses),):
            raise ValueError(f"{type(fit.estimator).__name__} has no stumps on single features")
        return FeatureUseResults(
            counts=np.bincount(features, minlength=fit.X_train.shape[1]).tolist(),
            n_iterations=fit.count("n_iterations_"),
            test_error=self.loss(fit, self.outputs(fit)["end"]),
        )


class SupportResults(SplitResults, kw_only=True):
    """Number of nonzero coefficients of a fit.

    Attributes
    ----------
    n_nonzero : int
        Number of coefficients after the last round that are not 0.
    """

    test_error: Fraction
    n_nonzero: Count
    n_iterations: Count


SupportRecord = record_type(SupportResults)


class Support(Measure):
    """Number of coefficients of a totally corrective algorithm that are not 0 in the end.

    Such an algorithm computes all coefficients anew in each round. An L1 norm in the objective
    makes this number small.
    """

    form = SupportRecord
    quantities = ("n_nonzero", "test_error", "accuracy", "n_iterations", *FIT_TIMES)
    suffix = "support"
    settings: ClassVar = {"support": "last"}

    def take(self, trial: Trial, X, y: np.ndarray) -> SupportResults:
        """Fit, and count the nonzero coefficients.

        Raises
        ------
        ValueError
            If the classifier keeps no coefficients of its rounds.
        """
        fit = trial.fit(X, y)
        if not hasattr(fit.estimator, "weight_path_"):
            raise ValueError(
                f"{type(fit.estimator).__name__} has no weight_path_, whose last row is counted"
            )
        # The path is a sparse matrix with a row for each round. The index [[-1]] keeps a matrix.
        return SupportResults(
            n_nonzero=int(fit.estimator.weight_path_[[-1]].count_nonzero()),
            n_iterations=fit.count("n_iterations_"),
            test_error=self.loss(fit, self.outputs(fit)["end"]),
            seconds=fit.times(),
        )


# Values of Figure 1 of the MCBoost paper.
#: Number of stumps.
N_STUMPS = 8
#: Change of one coefficient in a round of stage-wise boosting.
STEP = 0.01
#: Number of rounds, so that the L1 norm of the coefficients reaches 10.
N_ROUNDS = 1000

# Number of rounds between two recorded points of a path, which keeps records small.
_EVERY = 20


class PathStump(Struct):
    """Stump: the number of its feature, from 0, and its threshold."""

    feature: Count
    threshold: Real


class CoefficientPaths(Struct):
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


class PathsResults(SplitResults, kw_only=True):
    """Paths of coefficients.

    Attributes
    ----------
    norms : list of float
        L1 norms of all coefficients, ascending.
    stumps : list of PathStump
        Stumps of the coefficients.
    paths : dict of str to CoefficientPaths
        Paths by the name of the loss.
    """

    norms: list[Real]
    stumps: list[PathStump]
    paths: dict[str, CoefficientPaths]


PathsRecord = record_type(PathsResults)


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

    def take(self, trial: Trial, X, y: np.ndarray) -> PathsResults:
        """Find the stumps, and compute the paths of their coefficients."""
        # Reading records imports this module, and does not need the solvers.
        from boostbench.core.coefficient_path import l1_constrained_path, stage_wise_path
        from boostbench.core.losses.objective import LOSSES, get_loss

        rows = np.sort(np.concatenate([trial.split.train, trial.split.test]))
        X, y = X[rows], y[rows]
        stumps, H = _find_stumps(trial, X, y)
        # The array has the shape (n_classes, n_samples).
        is_true_class = np.unique(y)[:, None] == y
        # A round changes one coefficient by STEP, so that the L1 norm after m rounds is m * STEP.
        recorded_rounds = np.arange(_EVERY, N_ROUNDS + 1, _EVERY)
        norms = recorded_rounds * STEP
        paths = {}
        for name in sorted(LOSSES):
            loss = get_loss(name)
            stage_wise = stage_wise_path(H, is_true_class, loss, N_ROUNDS, STEP)
            exact = l1_constrained_path(H, is_true_class, loss, norms)
            paths[name] = CoefficientPaths(
                exact=exact.round(_DECIMALS).tolist(),
                stage_wise=stage_wise[recorded_rounds - 1].round(_DECIMALS).tolist(),
            )
        return PathsResults(norms=norms.round(_DECIMALS).tolist(), stumps=stumps, paths=paths)


def _find_stumps(trial: Trial, X: np.ndarray, y: np.ndarray) -> tuple[list[PathStump], np.ndarray]:
    """Return different stumps on random features, and their outputs.

    The best stumps of all features are not suitable, as a few of them may separate all classes. For
    each feature, in random order, the algorithm of the trial is fitted on it alone, and its first
    stump is taken. Stumps with equal or opposite outputs count as one.

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
            if not any((outputs == other).all() or (outputs == -other).all() for other in H):
                stumps.append(PathStump(int(feature), float(hypotheses.threshold[0])))
                H.append(outputs)
        if len(H) == N_STUMPS:
            return stumps, np.array(H)
    raise ValueError(f"only {len(H)} different stumps, of {N_STUMPS}; take other data")
