"""Compare MCBoost with LightGBM's stumps on sparse text: CPU seconds and errors.

4000 documents for training and 2000 for testing have 20 000 words; 1 % of the entries are not 0. In
the first table all words are equally frequent and their values are real. In the others, the
frequency of a word decreases with its rank as in a natural language, and values are counts or real.
The label, of two classes, depends on the presence of 300 words. All models take 100 rounds on one
thread, in turns; the time is the least of three fits. LightGBM's learning rate is 0.3.

    python scripts/bench_sparse.py [--remedies]

With ``--remedies``, full steps, more rounds and other boosters are compared as well.
"""

import argparse

import numpy as np
from scipy import sparse
from timing import error, on_one_core, print_table, timed

from boostbench import AdaBoostSIP, GradBoost, MCBoost

try:
    from lightgbm import LGBMClassifier
except ImportError as missing:
    raise SystemExit(
        f"{missing}; install what this compares with: pip install '.[bench]'"
    ) from None

N_TRAIN, N_TEST, N_WORDS, DENSITY = 4000, 2000, 20_000, 0.01
N_ROUNDS, N_REPEATS = 100, 3
# No word is in a larger part of the documents.
MOST_FREQUENT = 0.6
MODELS = {
    "MCBoost": lambda: MCBoost(n_iterations=N_ROUNDS, max_bins=256),
    "LightGBM": lambda: LGBMClassifier(
        n_estimators=N_ROUNDS, num_leaves=2, learning_rate=0.3, n_jobs=1, verbosity=-1
    ),
}
REMEDIES = {
    "MCBoost, eta=1": lambda: MCBoost(n_iterations=N_ROUNDS, max_bins=256, eta=1.0),
    "MCBoost, 1000 rounds": lambda: MCBoost(n_iterations=1000, max_bins=256),
    "MCBoost, eta=1, 1000 rounds": lambda: MCBoost(n_iterations=1000, max_bins=256, eta=1.0),
    "GradBoost": lambda: GradBoost(n_iterations=N_ROUNDS, max_bins=256),
    "AdaBoostSIP": lambda: AdaBoostSIP(n_iterations=N_ROUNDS, max_bins=256),
    "AdaBoostSIP, votes=one": lambda: AdaBoostSIP(n_iterations=N_ROUNDS, max_bins=256, votes="one"),
}


def main():
    """Print a row for each table and model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--remedies", action="store_true", help="compare other settings, too")
    models = MODELS | (REMEDIES if parser.parse_args().remedies else {})
    tables = {
        "equally frequent words, real values": (False, False),
        "frequent and rare words, counts": (True, True),
        "frequent and rare words, real values": (True, False),
    }
    rows = []
    for title, table in tables.items():
        X, y = documents(*table)
        seconds, fitted = dict.fromkeys(models, np.inf), {}
        for repeat in range(N_REPEATS):
            for name, model in models.items():
                if repeat and name in REMEDIES:
                    continue
                fit_seconds, fitted[name] = timed(model().fit, X[:N_TRAIN], y[:N_TRAIN])
                seconds[name] = min(seconds[name], fit_seconds)
        for name, model in fitted.items():
            wrong = error(model, X[N_TRAIN:], y[N_TRAIN:])
            n_chosen, share = chosen_words(model, X[:N_TRAIN])
            ratio = seconds[name] / seconds["LightGBM"]
            cells = [
                f"{seconds[name]:.2f}",
                f"{ratio:.2f}",
                f"{wrong:.1f}",
                str(n_chosen),
                f"{share:.1f}",
            ]
            rows.append([title, name, *cells])
    headers = ["table", "model", "s", "of LightGBM", "error, %", "words", "documents with them, %"]
    print_table(headers, rows, "github")


def documents(is_natural, is_counts):
    """Return a matrix of documents and words, and the labels of the documents."""
    rng = np.random.default_rng(0)
    n_documents = N_TRAIN + N_TEST
    share = np.full(N_WORDS, DENSITY)
    if is_natural:
        share = (10.0 + np.arange(N_WORDS)) ** -0.8
        # A word at the limit leaves a part of its density to the other words.
        for _ in range(50):
            share = np.minimum(share * DENSITY / share.mean(), MOST_FREQUENT)
    n_stored = rng.binomial(n_documents, share)
    rows = [rng.choice(n_documents, n, replace=False) for n in n_stored]
    words = np.repeat(np.arange(N_WORDS), n_stored)
    values = rng.geometric(0.7, len(words)) if is_counts else rng.random(len(words))
    entries = values.astype(float), (np.concatenate(rows), words)
    X = sparse.csr_array(entries, (n_documents, N_WORDS))
    effects = np.zeros(N_WORDS)
    effects[rng.choice(N_WORDS, 300, replace=False)] = 2 * rng.normal(size=300)
    scores = X.sign() @ effects
    noise = 0.3 * rng.normal(size=n_documents)
    return X, (scores - np.median(scores) + noise > 0).astype(int)


def chosen_words(model, X):
    """Return the number of words in a model's stumps, and the mean percentage of their documents.

    The mean is over stumps.
    """
    if isinstance(model, LGBMClassifier):
        n_stumps = model.booster_.feature_importance("split")
    else:
        n_stumps = np.bincount(np.ravel(model.hypotheses_.feature), minlength=X.shape[1])
    percentages = 100 * np.diff(sparse.csc_array(X).indptr) / X.shape[0]
    return np.count_nonzero(n_stumps), float(percentages @ n_stumps / n_stumps.sum())


if __name__ == "__main__":
    on_one_core(main)
