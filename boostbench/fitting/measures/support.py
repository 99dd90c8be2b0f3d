"""Number of nonzero coefficients, which an L1 norm in the objective makes small."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from boostbench.fitting.measures.base import FIT_TIMES, Measure
from boostbench.records.schema import Count, Measured

if TYPE_CHECKING:
    from boostbench.fitting.trial import Trial


class SupportRecord(Measured, kw_only=True):
    """Number of nonzero coefficients of a fit."""

    required: ClassVar[tuple[str, ...]] = ("test_error",)

    n_nonzero: Count
    n_iterations: Count


class Support(Measure):
    """The number of coefficients of a totally corrective algorithm that are not 0 in the end."""

    form = SupportRecord
    quantities = ("n_nonzero", "test_error", "accuracy", "n_iterations", *FIT_TIMES)
    suffix = "support"
    settings: ClassVar[Mapping] = {"support": "last"}

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit, and count.

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
