"""Searches for weak learners, written out literally: slow, but simple enough to trust."""

import itertools

import numpy as np


def midpoints(values):
    """Return thresholds between neighbouring values: at least the lower, below the upper."""
    thresholds = []
    ordered = sorted(set(values.tolist()))
    for low, high in itertools.pairwise(ordered):
        middle = low / 2 + high / 2
        thresholds.append(middle if low <= middle < high else low)
    return thresholds


def thresholds(X):
    """Return the thresholds of each feature, as a list of arrays."""
    return [np.array(midpoints(column)) for column in X.T]


def edges(X, thresholds, weights):
    """Return the edges of the stumps on given thresholds of each feature, one by one."""
    return np.array(
        [
            np.where(X[:, feature] > threshold, 1.0, -1.0) @ weights
            for feature, cuts in enumerate(thresholds)
            for threshold in cuts
        ]
    )


def hostile(rng, n_samples):
    """Draw weights whose sums lose the largest number of digits."""
    sizes = 10.0 ** rng.uniform(-8, 0, n_samples)
    yield sizes
    yield np.full(n_samples, 1.0 + 2.0**-24)
    yield np.where(np.arange(n_samples) % 2, 1.0, -1.0) * (1 + 2.0**-24 * rng.random(n_samples))
    # Each number is half a unit in the last place of the large one that it is added to.
    yield np.append(1.0, np.full(n_samples - 1, 2.0**-24 * 0.999))
    yield np.append(np.full(n_samples - 1, 2.0**-24 * 1.001), -1.0)
    yield rng.permutation(np.append(sizes[1:], -sizes[1:].sum()))


def stumps(X):
    """Yield (feature, threshold) of every stump that separates some samples from the others."""
    for feature in range(X.shape[1]):
        for threshold in midpoints(X[:, feature]):
            yield feature, threshold


def output(X, feature, threshold):
    """Return the outputs of a stump as a list, sample by sample."""
    return [1.0 if row[feature] > threshold else -1.0 for row in X]


def edge(X, weights, feature, threshold):
    """Return the sum of the weighted outputs of a stump; `weights` is one column."""
    total = 0.0
    for weight, h in zip(weights, output(X, feature, threshold), strict=True):
        total += weight * h
    return total


def largest_edge(X, G):
    """Return the largest absolute edge over all stumps and columns."""
    return max(
        abs(edge(X, G[:, column], feature, threshold))
        for feature, threshold in stumps(X)
        for column in range(G.shape[1])
    )


def largest_vote_edge(X, G):
    """Return the largest edge over all stumps and all votes for them."""
    return max(
        sum(abs(edge(X, G[:, column], feature, threshold)) for column in range(G.shape[1]))
        for feature, threshold in stumps(X)
    )


def projected_edge(X, G, directions, threshold):
    """Sum ``G[i, r] h(P[r] x_i)`` for one projected stump of polarity +1."""
    total = 0.0
    for i, row in enumerate(X):
        for r, direction in enumerate(directions):
            value = sum(float(p) * float(x) for p, x in zip(direction, row, strict=True))
            total += G[i, r] if value > threshold else -G[i, r]
    return total
