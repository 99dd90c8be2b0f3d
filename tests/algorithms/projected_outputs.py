"""RBoost^proj written out literally: projections, scores, eqs. (18), (20), (23) and (24)."""

import numpy as np

from boostbench.core.projections import random_matrix


def projections(model):
    """Return the matrices P of a fitted model, of shape (n_iterations_, n_projections, k)."""
    rng = np.random.default_rng(model.projection_seed_)
    shape = (model.n_projections, len(model.classes_))
    drawn = [random_matrix(model.projection, shape, rng) for _ in range(model.n_iterations_)]
    size = model.n_projections if model.scaling == "n" else np.sqrt(model.n_projections)
    return np.array(drawn, dtype=float) / size


def design(H, P, y):
    """Return ``(P^(y_i) - P^(r))_v H_i``, of shape (n_samples, n_classes, n_projections).

    Parameters
    ----------
    H : list of ndarray of shape (n_samples,)
        Outputs of the weak learners.
    P : ndarray of shape (at least len(H), n_projections, n_classes)
    y : ndarray of shape (n_samples,)
    """
    found = np.zeros((len(y), P.shape[2], P.shape[1]))
    for i in range(len(y)):
        for r in range(P.shape[2]):
            for t, h in enumerate(H):
                found[i, r] += (P[t, :, y[i]] - P[t, :, r]) * h[i]
    return found


def loss(name, margins):
    """Return the losses of margins and their dual variables u = -loss'."""
    if name == "exponential":
        return np.exp(-margins), np.exp(-margins)
    return np.logaddexp(0.0, -margins), np.exp(-np.logaddexp(0.0, margins))


def objective(w, Z, name, nu):
    """Return eq. (18) and its gradient for a design Z."""
    values, u = loss(name, Z @ w)
    n_pairs = values.size
    gradient = -np.einsum("ir,irv->v", u, Z) / n_pairs
    return values.sum() / n_pairs + nu * w.sum(), gradient + nu
