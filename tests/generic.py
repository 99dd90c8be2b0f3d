"""Generic solvers, independent of the package's problems, for comparisons."""

import itertools

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
    """Solve LPBoost's program of all columns at once; the variables are w and the slacks."""
    n_columns, n_samples = margins.shape
    cost = np.concatenate([np.ones(n_columns), np.full(n_samples, C)])
    rows = np.hstack([-margins.T, -np.eye(n_samples)])
    return linprog(cost, rows, np.full(n_samples, -1.0), method="highs-ipm").fun


def least_error(X, labels, weights):
    """Return the least weighted error over all thresholds and all pairs of votes."""
    weights, least = np.asarray(weights), np.inf
    for feature in range(X.shape[1]):
        for low, high in itertools.pairwise(np.unique(X[:, feature])):
            above = X[:, feature] > (low + high) / 2
            for votes in itertools.product(np.unique(labels), repeat=2):
                wrong = np.where(above, votes[1], votes[0]) != labels
                least = min(least, weights[wrong].sum())
    return least
