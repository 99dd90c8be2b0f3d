"""Parts of a fitted model: its codewords, the features of its stumps, its nonzero coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec
import numpy as np

from boostbench.fitting.measures.base import FIT_TIMES, Measure
from boostbench.records.schema import Count, Measured, Real
from boostbench.util.errors import UserError

if TYPE_CHECKING:
    from boostbench.data.dataset import Dataset
    from boostbench.fitting.trial import Trial
    from boostbench.spec.protocol import ProtocolSpec

# Decimals of recorded codewords, which make the files small.
_DECIMALS = 5


class CodewordsRecord(Measured, kw_only=True):
    """Codewords of the classes, of shape (n_classes, n_components), at first and learned."""

    required: ClassVar[tuple[str, ...]] = ("test_error",)

    first: list[list[Real]]
    last: list[list[Real]]
    n_iterations: Count


class Codewords(Measure):
    """The codewords of an algorithm, before and after the training."""

    form = CodewordsRecord
    quantities = ("test_error", "accuracy", "n_iterations")
    suffix = "codewords"
    settings: ClassVar = {"codewords": "first and last"}

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Return the protocol without checkpoints."""
        return msgspec.structs.replace(protocol, checkpoints=())

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit, and return the codewords.

        Returns
        -------
        dict
            In JSON types: ``first`` and ``last``, of shape (n_classes, n_components), classes in
            the order of their labels; ``n_iterations`` done; ``test_error``, a fraction.

        Raises
        ------
        ValueError
            If the classifier has no codewords.
        """
        fit = trial.fit(X, y)
        if not hasattr(fit.estimator, "first_codewords_"):
            raise ValueError(f"{type(fit.estimator).__name__} has no codewords")
        return {
            "first": np.round(fit.estimator.first_codewords_, _DECIMALS).tolist(),
            "last": np.round(fit.estimator.codewords_, _DECIMALS).tolist(),
            "n_iterations": fit.count("n_iterations_"),
            "test_error": self.loss(fit, self.outputs(fit)["end"]),
        }


#: Limit of features, as each record lists a number for all of them.
MAX_FEATURES = 5000


class FeatureUseRecord(Measured, kw_only=True):
    """Numbers of stumps of a fit on each feature."""

    required: ClassVar[tuple[str, ...]] = ("test_error",)

    counts: list[Count]
    n_iterations: Count


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

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit, and count the stumps on each feature.

        Returns
        -------
        dict
            In JSON types: ``counts``, for each feature the number of stumps that test it;
            ``n_iterations`` done; ``test_error``, a fraction.

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
        return {
            "counts": np.bincount(features, minlength=fit.X_train.shape[1]).tolist(),
            "n_iterations": fit.count("n_iterations_"),
            "test_error": self.loss(fit, self.outputs(fit)["end"]),
        }


class SupportRecord(Measured, kw_only=True):
    """Number of nonzero coefficients of a fit."""

    required: ClassVar[tuple[str, ...]] = ("test_error",)

    n_nonzero: Count
    n_iterations: Count


class Support(Measure):
    """Number of coefficients of a totally corrective algorithm that are not 0 in the end.

    An L1 norm in the objective makes this number small.
    """

    form = SupportRecord
    quantities = ("n_nonzero", "test_error", "accuracy", "n_iterations", *FIT_TIMES)
    suffix = "support"
    settings: ClassVar = {"support": "last"}

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit, and count the nonzero coefficients.

        Returns
        -------
        dict
            In JSON types: ``n_nonzero`` coefficients, of `weight_path_`; ``n_iterations`` done;
            ``test_error``, a fraction; CPU ``seconds``.

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
        return {
            "n_nonzero": int(fit.estimator.weight_path_[[-1]].count_nonzero()),
            "n_iterations": fit.count("n_iterations_"),
            "test_error": self.loss(fit, self.outputs(fit)["end"]),
            "seconds": fit.times(),
        }
