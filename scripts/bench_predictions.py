"""Time predictions of 1000 stumps on pendigits, directly and as one table per feature.

python scripts/bench_predictions.py
"""

from functools import partial

from timing import minima, on_one_core, print_table, training_part

from boostbench.algorithms import MCBoost
from boostbench.data import load
from boostbench.util.configs import read_option

BATCHES = [10, 100, 1000, 10_000]
N_ROUNDS = 1000
# Instances are predicted that often, whatever the size of a batch.
N_INSTANCES = 20_000


def main():
    """Print a row per size of a batch."""
    model = MCBoost(n_iterations=N_ROUNDS).fit(*training_part("pendigits:100"))
    ways = [model, model.shape_functions()]
    X = load(read_option("data", "pendigits")).X
    assert (ways[0].predict(X) == ways[1].predict(X)).all()
    rows = []
    for size in BATCHES:
        jobs = [partial(repeat, way.predict, X[:size]) for way in ways]
        instances = size * (N_INSTANCES // size)
        rows.append([size, *(f"{us:.2f}" for us in minima(jobs, repeats=7) / instances * 1e6)])
    headers = ["batch", "direct, us per instance", "tables, us per instance"]
    print_table(headers, rows)


def repeat(predict, X):
    """Predict a batch as often as it takes."""
    for _ in range(N_INSTANCES // len(X)):
        predict(X)


if __name__ == "__main__":
    on_one_core(main)
