"""Time CGENS and CGENS-SLS, on one core, and the memory of the largest data.

- CGENS's whole path of rounds against one fit of LIBLINEAR, as scikit-learn's LinearSVC, on the
  columns that CGENS has found. LIBLINEAR regularises the bias, so that it gets a scale for it with
  which that hardly matters.
- A round of CGENS-SLS against one of MCBoost.
- The largest resident memory of both on all of MNIST, odd against even digits, in a process of its
  own.

    python scripts/bench_kernel_ensembles.py [--largest]
"""

import sys
import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from timing import in_a_process, minima, on_one_core, peak, print_table, timed, training_part

from boostbench import data
from boostbench.algorithms import CGENS, CGENSSLS, MCBoost
from boostbench.util import configs

# Samples and rounds; "mnist" is odd against even digits.
BINARY = {
    "heart-ida": (170, 500),
    "banana": (400, 500),
    "ringnorm": (400, 500),
    "german-ida": (700, 500),
    "image": (1300, 500),
    "mnist": (10_000, 100),
}
MULTICLASS = ["glass", "vehicle", "vowel", "segment"]
LOSSES = ["squared_hinge", "hinge"]
C = 0.01
REPEATS = 3


def binary(name, n_samples):
    """Return standardised samples and labels of two classes."""
    dataset = data.load(configs.read_option("data", name))
    rows = np.random.default_rng(0).permutation(len(dataset.y))[:n_samples]
    X, y = dataset.X[rows], dataset.y[rows]
    if name == "mnist":
        return X, y % 2
    return StandardScaler().fit_transform(X), y


def against_liblinear():
    """Print a row per data set and loss."""
    rows = []
    for name, (n_samples, n_rounds) in BINARY.items():
        X, y = binary(name, n_samples)
        for loss in LOSSES:
            model = CGENS(n_rounds, C, loss).fit(X, y)
            columns = model.hypotheses_.outputs(X)
            peer = LinearSVC(
                C=C, loss=loss, dual=loss == "hinge", intercept_scaling=100, random_state=0
            )
            ours, theirs = minima(
                [partial(model.fit, X, y), partial(peer.fit, columns, y)], REPEATS
            )
            rounds = model.n_iterations_
            row = [name, len(X), loss, rounds, f"{ours / rounds * 1e3:.2f}"]
            rows.append([*row, f"{ours:.2f}", f"{theirs:.3f}", f"{ours / theirs:.1f}"])
    headers = ["data", "samples", "loss", "rounds", "ms a round", "path s", "LinearSVC s", "ratio"]
    print_table(headers, rows)


def against_mcboost():
    """Print a row per data set."""
    rows = []
    for name in MULTICLASS:
        X, y = training_part(name)
        models = [CGENSSLS(500), MCBoost(500)]
        seconds = minima([partial(model.fit, X, y) for model in models], REPEATS)
        ours, theirs = seconds / [model.n_iterations_ for model in models] * 1e3
        row = [name, *X.shape, len(np.unique(y)), f"{ours:.3f}", f"{theirs:.3f}"]
        rows.append([*row, f"{ours / theirs:.2f}"])
    headers = ["data", "samples", "features", "classes", "SLS ms", "MCBoost ms", "ratio"]
    print_table(headers, rows)


def largest():
    """Fit 100 rounds to all of MNIST, and print how long it took and the largest memory."""
    X, y = binary("mnist", 60_000)
    for model in (CGENS(100), CGENSSLS(100)):
        seconds, _ = timed(model.fit, X, y)
        print(f"{type(model).__name__} on {X.shape}: {seconds:.1f} s, {peak():.2f} GiB so far")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    on_one_core(against_liblinear)
    print()
    on_one_core(against_mcboost)
    if "--largest" in sys.argv:
        print(flush=True)
        in_a_process(largest)
