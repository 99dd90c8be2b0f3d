"""Compare the standard deviations of a bag's functions with the spread of refits.

The refits are trained on new samples of a known population, or on the same samples with the weights
of a bootstrap sample. A bootstrap sample as rows would not do: a row that is drawn twice is in a
member's bag and out of it, so that the training ends too late.

    python scripts/study_bands.py [--refits N] [--samples N ...]
"""

import argparse

import numpy as np
from tabulate import tabulate

from boostbench import BaggedLsBoostRegressor, BaggedMCBoost


def main():
    """Print ratios and coverage for each task, number of samples and kind of refit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--refits", type=int, default=30)
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 3000])
    args = parser.parse_args()
    rows = [
        [task, n_samples, refit, *compare(n_outputs, n_samples, args.refits, refit)]
        for task, n_outputs in (("numbers", 1), ("2 classes", 2), ("3 classes", 3))
        for n_samples in args.samples
        for refit in ("new samples", "bootstrap weights")
    ]
    columns = ["task", "samples", "refits on", "terms", "(least, most)", "score", "covered %"]
    print(tabulate(rows, columns, floatfmt=".2f"))
    print(
        "terms, score: estimated standard deviation / standard deviation of the refits; covered: "
        "share of the mean function of the refits within two standard deviations"
    )


def compare(n_outputs, n_samples, n_refits, refit):
    """Return the ratios of standard deviations, and the coverage in percent."""
    rng = np.random.default_rng(0)
    X, y = draw(n_samples, rng, n_outputs)
    kind = BaggedLsBoostRegressor if n_outputs == 1 else BaggedMCBoost
    shapes = kind(random_state=0).fit(X, y).shape_functions(X)
    terms, std = shapes.explain_local(X, return_std=True)
    is_term = terms.columns.get_level_values(-1) != "intercept"
    refit_terms, refit_scores = [], []
    for seed in range(1, n_refits + 1):
        if refit == "new samples":
            data = draw(n_samples, rng, n_outputs)
        else:
            data = X, y, np.bincount(rng.integers(0, n_samples, n_samples), minlength=n_samples)
        other = kind(random_state=seed).fit(*data).shape_functions(X)
        refit_terms.append(other.explain_local(X).to_numpy()[:, is_term])
        refit_scores.append(other.decision_function(X))
    std = std.to_numpy()[:, is_term]
    refit_stds = np.std(refit_terms, axis=0, ddof=1)
    ratios = std.mean(axis=0) / refit_stds.mean(axis=0)
    score_std = np.linalg.norm(shapes.spread(X), axis=-1)
    deviation = np.abs(terms.to_numpy()[:, is_term] - np.mean(refit_terms, axis=0))
    return (
        std.mean() / refit_stds.mean(),
        f"({ratios.min():.2f}, {ratios.max():.2f})",
        score_std.mean() / np.std(refit_scores, axis=0, ddof=1).mean(),
        100 * np.mean(deviation < 2 * std),
    )


def draw(n_samples, rng, n_outputs):
    """Draw samples with four informative and two random features; two are correlated."""
    X = rng.normal(size=(n_samples, 6))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    score = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + np.where(X[:, 2] > 0.5, 1, 0) + 0.2 * X[:, 3] ** 2
    if n_outputs == 1:
        return X, score + rng.normal(size=n_samples)
    scores = np.stack([score, np.zeros(n_samples), -score][:n_outputs], axis=1)
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


if __name__ == "__main__":
    main()
