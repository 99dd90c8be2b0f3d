"""The searches for weak learners, written out literally: slow, and plain enough to trust."""

import itertools


def midpoints(values):
    """Thresholds between neighbouring distinct values, each at least the lower, below the upper."""
    found = []
    ordered = sorted(set(values.tolist()))
    for low, high in itertools.pairwise(ordered):
        middle = low / 2 + high / 2
        found.append(middle if low <= middle < high else low)
    return found


def stumps(X):
    """Yield (feature, threshold) of every stump that separates some samples from the others."""
    for feature in range(X.shape[1]):
        for threshold in midpoints(X[:, feature]):
            yield feature, threshold


def output(X, feature, threshold):
    """List the outputs of a stump, sample by sample."""
    return [1.0 if row[feature] > threshold else -1.0 for row in X]


def edge(X, weights, feature, threshold):
    """Sum the weighted outputs of a stump; `weights` is one column."""
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
