"""Solvers that know nothing of the problems of this package, to compare ours with."""

import numpy as np
from scipy.optimize import linprog, minimize


def nonnegative(objective, start, args=(), jac=None, ftol=1e-13, maxiter=1000):
    """Minimise over non-negative variables; see `scipy.optimize.minimize`, by its SLSQP."""
    return minimize(
        objective,
        start,
        args,
        jac=jac,
        method="SLSQP",
        bounds=[(0, None)] * len(start),
        options={"ftol": ftol, "maxiter": maxiter},
    )


def soft_margin(margins, C):
    """Solve LPBoost's program of the columns with these margins at once: w, then the slacks."""
    n_columns, n_samples = margins.shape
    cost = np.concatenate([np.ones(n_columns), np.full(n_samples, C)])
    rows = np.hstack([-margins.T, -np.eye(n_samples)])
    return linprog(cost, rows, np.full(n_samples, -1.0), method="highs-ipm").fun
