"""Boosters that fit all coefficients again in every round."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from boostbench.core.coefficient_path import stage_coefficients


class TotallyCorrective:
    """Mixin of boosters that fit all coefficients again in every round.

    A subclass sets `weight_path_` in `_store_model`: the coefficients after each round, as returned
    by `boostbench.core.coefficient_path.CoefficientPath.matrix`.
    """

    def _staged_coefficients(self, stages):
        """Yield the coefficients after each number of rounds in `stages`."""
        for stage in stages:
            yield stage_coefficients(self.weight_path_, stage, self.coefficients_.shape)[:stage]

    def _staged_scores(self, X, stages):
        stages = list(stages)
        if stages == [self.n_iterations_]:
            yield self.hypotheses_.scores(X, self.coefficients_)
            return
        outputs = self.hypotheses_.outputs(X)
        for stage, coefficients in zip(stages, self._staged_coefficients(stages), strict=True):
            yield outputs[..., :stage] @ coefficients


def warn_unsolved(booster, converged):
    """Warn if the solver of the coefficients stopped at its limit in the last round.

    Parameters
    ----------
    booster : TotallyCorrective
        Estimator with the parameter `solver_iterations`.
    converged : list of bool
        Convergence of the solver in each round.
    """
    if converged and not converged[-1]:
        warnings.warn(
            f"{type(booster).__name__}'s solver stopped at "
            f"solver_iterations={booster.solver_iterations}, or could go no further, in "
            f"{converged.count(False)} of {len(converged)} rounds, in the last one as well: raise "
            f"solver_iterations, or take a larger nu",
            ConvergenceWarning,
            stacklevel=3,
        )
