"""A solver that knows nothing of the problems of this package, to compare ours with."""

from scipy.optimize import minimize


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
