"""Number of stumps of a fit on each feature."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec
import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.fitting.measures.base import Measure
from boostbench.fitting.trial import Trial
from boostbench.records.schema import Count, Measured
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError

#: Records list all features of a data set, which must not be too many for that.
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
    settings: ClassVar[Mapping] = {"feature_use": "stumps"}

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Measure nothing on the way; features have to be features of the data."""
        if protocol.pca is not None:
            raise UserError("with protocol.pca no feature of the data is left to be selected")
        return msgspec.structs.replace(protocol, checkpoints=())

    def check_data(self, dataset: Dataset) -> None:
        """Refuse more than 5000 features."""
        if dataset.n_features > MAX_FEATURES:
            raise UserError(
                f"{dataset.name!r} has {dataset.n_features} features; their use is recorded up to "
                f"{MAX_FEATURES}"
            )

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit, and count.

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
        projects = hasattr(fit.estimator, "project")
        if projects or features is None or np.shape(features) != (len(hypotheses),):
            raise ValueError(f"{type(fit.estimator).__name__} has no stumps on single features")
        return {
            "counts": np.bincount(features, minlength=fit.X_train.shape[1]).tolist(),
            "n_iterations": fit.count("n_iterations_"),
            "test_error": self.loss(fit, self.outputs(fit)["end"]),
        }
