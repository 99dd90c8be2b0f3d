"""RBoost^rank, totally corrective, saying where its solver did not come to the end."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from boostbench.algorithms.rboost_rank import RBoostRankTC as _Silent
from boostbench.core.solvers import lbfgs


class RBoostRankTC(_Silent):
    """See `boostbench.algorithms.rboost_rank.RBoostRankTC`."""

    # It is apart from RBoostRank, whose records rest on the code of that file.
    __doc__ = _Silent.__doc__

    def _master(self, X, labels, random_state):
        master = super()._master(X, labels, random_state)
        master.solver = _Watched(self.solver)
        return master

    def _keep(self, master):
        super()._keep(master)
        converged = master.solver.converged
        self.converged_ = np.array(converged, dtype=bool)
        if converged and not converged[-1]:
            warnings.warn(
                f"RBoostRankTC's solver {self.solver!r} stopped at "
                f"solver_iterations={self.solver_iterations}, or could go no further, in "
                f"{converged.count(False)} of {len(converged)} rounds, in the last one as well: "
                f"raise solver_iterations, or take a larger nu",
                ConvergenceWarning,
                stacklevel=2,
            )


class _Watched:
    """A solver that keeps in mind whether it came to its end in each round."""

    def __init__(self, name):
        self.name = name
        self.converged = []

    def minimise(self, problem, start, nu, tol, max_iter):
        if self.name == "lbfgs":
            w, value, converged = lbfgs.nonnegative_l1(problem.move, start, nu, max_iter)
        else:
            solver = lbfgs.SOLVERS[self.name]()
            w, value, residual = solver.minimise(problem, start, nu, tol, max_iter)
            converged = residual <= tol
        self.converged.append(bool(converged))
        return w, value, converged
