"""Codewords of the classes before and after the training."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec
import numpy as np

from boostbench.fitting.measures.base import Measure
from boostbench.fitting.trial import Trial
from boostbench.records.schema import Count, Measured, Real
from boostbench.spec.protocol import ProtocolSpec

_DECIMALS = 5


class CodewordsRecord(Measured, kw_only=True):
    """Codewords of the classes, at first and learned."""

    required: ClassVar[tuple[str, ...]] = ("test_error",)

    first: list[list[Real]]
    last: list[list[Real]]
    n_iterations: Count


class Codewords(Measure):
    """The codewords of an algorithm, before and after the training."""

    form = CodewordsRecord
    quantities = ("test_error", "accuracy", "n_iterations")
    suffix = "codewords"
    settings: ClassVar[Mapping] = {"codewords": "first and last"}

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Measure nothing on the way."""
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
