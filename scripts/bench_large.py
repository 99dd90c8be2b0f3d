"""Compare MCBoost with gradient boosting of stumps on large data: time, error, memory, growth.

28 Gaussian features; a class is the largest of as many sums of sines of them, with noise. 100
rounds each, one thread. The models of a task take turns in one process, each after a fit on few
samples, so that ratios within a task mean something. What a fit adds to the largest memory is
measured in a process of its own. LightGBM, XGBoost and HistGradientBoosting add a stump for each
class in a round, of two classes one, with the learning rate 0.3; MCBoost adds one stump with a
coefficient for each class, with its default step and with a full one.

    python scripts/bench_large.py [--quick]
"""

import argparse

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from timing import error, in_a_process, peak, print_table, timed

from boostbench import MCBoost

try:
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier
except ImportError as error:
    raise SystemExit(f"{error}; install what this compares with: pip install '.[bench]'") from None

N_ROUNDS, N_FEATURES, N_TEST, N_DRAWN = 100, 28, 20_000, 50_000
# Samples, classes, and bins of a feature; None: all thresholds.
TASKS = [(10**4, 2, 256), (10**5, 2, 256), (10**6, 2, 256), (10**5, 10, 256)]
TASKS += [(10**5, 2, None), (10**5, 10, None)]
BOOSTING = {"loss": "logistic", "n_iterations": N_ROUNDS}
MODELS = {
    "MCBoost": lambda bins: MCBoost(max_bins=bins, **BOOSTING),
    "eta=1": lambda bins: MCBoost(max_bins=bins, eta=1.0, **BOOSTING),
    "LightGBM": lambda bins: LGBMClassifier(
        n_estimators=N_ROUNDS, num_leaves=2, learning_rate=0.3, n_jobs=1, verbosity=-1
    ),
    "XGBoost": lambda bins: XGBClassifier(
        n_estimators=N_ROUNDS, max_depth=1, learning_rate=0.3, tree_method="hist", n_jobs=1
    ),
    "HistGB": lambda bins: HistGradientBoostingClassifier(
        max_iter=N_ROUNDS, max_leaf_nodes=2, learning_rate=0.3, early_stopping=False
    ),
}


def main():
    """Print a row for each task and model, and how the times grow with the samples."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="no more than 100 000 samples")
    tasks = [task for task in TASKS if task[0] < 10**6 or not parser.parse_args().quick]
    rows, ours = [], {}
    for task in tasks:
        results = in_a_process(compare, *task)
        seconds = {name: fit_seconds for name, (fit_seconds, _) in results.items()}
        ours[task] = seconds["MCBoost"]
        for name, (fit_seconds, wrong) in results.items():
            memory = in_a_process(memory_added, name, *task)
            ratio = fit_seconds / seconds["LightGBM"]
            cells = [f"{fit_seconds:.2f}", f"{ratio:.2f}", f"{wrong:.1f}", f"{memory:.2f}"]
            rows.append([*task[:2], task[2] or "all", name, *cells])
            print(*rows[-1], flush=True)
    headers = ["samples", "k", "bins", "model", "s", "of LightGBM", "error, %", "adds GiB"]
    print_table(headers, rows, "github")
    sizes = [task for task in tasks if task[1:] == (2, 256)]
    logs = np.log([[task[0], ours[task]] for task in sizes]).T
    print(f"MCBoost's time grows with the samples to the power of {np.polyfit(*logs, 1)[0]:.2f}")


def draw(n_samples, n_classes):
    """Draw samples, a part at a time, so that the memory does not exceed the samples."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(N_FEATURES, n_classes))
    X, y = np.empty((n_samples, N_FEATURES)), np.empty(n_samples, np.int64)
    for start in range(0, n_samples, N_DRAWN):
        block = X[start : start + N_DRAWN]
        block[:] = rng.normal(size=block.shape)
        sums = np.sin(1.5 * block) @ weights + rng.normal(size=(len(block), n_classes))
        y[start : start + N_DRAWN] = sums.argmax(axis=1)
    return X, y


def compare(n_samples, n_classes, bins):
    """Return the CPU seconds of a fit and the test error in percent of each model."""
    X, y = draw(n_samples + N_TEST, n_classes)
    results = {}
    for name, make in MODELS.items():
        make(bins).fit(X[-N_TEST:], y[-N_TEST:])
        seconds, model = timed(make(bins).fit, X[:-N_TEST], y[:-N_TEST])
        results[name] = seconds, error(model, X[-N_TEST:], y[-N_TEST:])
    return results


def memory_added(name, n_samples, n_classes, bins):
    """Return the number of GiB by which a fit raises the largest memory of a process."""
    X, y = draw(n_samples, n_classes)
    MODELS[name](bins).set_params(**few_rounds(name)).fit(X[:2000], y[:2000])
    before = peak()
    MODELS[name](bins).set_params(**few_rounds(name)).fit(X, y)
    return peak() - before


def few_rounds(name):
    """Return the parameter that ends a fit after three rounds; memory does not grow later."""
    names = {"MCBoost": "n_iterations", "eta=1": "n_iterations", "HistGB": "max_iter"}
    return {names.get(name, "n_estimators"): 3}


if __name__ == "__main__":
    main()
