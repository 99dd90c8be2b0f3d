"""Time LADDER against MCBoost with codewords, and the ranking of hash codes, on one core.

- A cycle of LADDER is 2 boosting rounds and 4 codeword steps: 6 steps. It stands beside 2 and
  beside 6 rounds of MCBoost.
- The codes are 8000 queries and a data base of 50 000, of 64 bits. Where faiss is installed, its
  IndexBinaryFlat orders the whole data base for each query, which a mean average precision needs
  at least, and stops there.
- The largest resident memory of the ranking, and by ``--largest`` of fits to 60 000 samples with
  512 features, each in a process of its own.

    python scripts/bench_ladder.py [--largest] [NAME[:SAMPLES_PER_CLASS] ...]
"""

import importlib.util
import resource
import subprocess
import sys
import time
from functools import partial

import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from timing import medians, training_part

from boostbench.algorithms import LADDER, CodewordMCBoost
from boostbench.experiment.measures.retrieval import mean_average_precision

DATA = ["vowel", "letter:100", "usps:200"]
N_ROUNDS = 200
CYCLE = 2
STEPS = 6
N_QUERIES, N_DATABASE, N_BITS = 8000, 50_000, 64
# faiss writes the order of all codes for all queries: of so many queries at once.
N_FAISS = 500


def main(names):
    """Print a row per data set and dimension, and the seconds of a ranking."""
    rows = []
    for name in names:
        X, y = training_part(name)
        for n_components in (2, len(np.unique(y)) - 1):
            models = [
                model(N_ROUNDS, n_components, random_state=0) for model in (CodewordMCBoost, LADDER)
            ]
            plain, ladder = medians([partial(m.fit, X, y) for m in models], repeats=3) / N_ROUNDS
            cycle = CYCLE * ladder
            ratios = (cycle / (rounds * plain) for rounds in (CYCLE, STEPS))
            times = (f"{1e6 * seconds:.0f}" for seconds in (plain, cycle))
            rows.append([name, *X.shape, n_components, *times, *(f"{r:.2f}" for r in ratios)])
    headers = ["data", "samples", "features", "d", "round us", "cycle us", "of 2", "of 6 rounds"]
    print(tabulate(rows, headers, disable_numparse=True))


def codes_and_labels():
    """Draw codes at random: of the queries, of the data base, and the labels of both."""
    rng = np.random.default_rng(0)
    codes = [rng.random((n, N_BITS)) < 0.5 for n in (N_QUERIES, N_DATABASE)]
    return codes, [rng.integers(0, 10, size=n) for n in (N_QUERIES, N_DATABASE)]


def ranking():
    """Time the mean average precision."""
    (queries, codes), labels = codes_and_labels()
    start = time.process_time()
    mean_average_precision(queries, labels[0], codes, labels[1])
    tell(f"mean average precision of {N_QUERIES} x {N_DATABASE} codes", start)


def faiss_ranking():
    """Time faiss's exhaustive search, which gives the order alone; of part of the queries."""
    import faiss

    faiss.omp_set_num_threads(1)
    queries, codes = (np.packbits(bits, axis=1) for bits in codes_and_labels()[0])
    index = faiss.IndexBinaryFlat(N_BITS)
    index.use_heap = False  # a counting sort: 14 times as fast for an order of all
    index.add(codes)
    start = time.process_time()
    index.search(queries[:N_FAISS], N_DATABASE)
    tell(f"faiss, order of {N_FAISS} x {N_DATABASE} codes", start, N_QUERIES / N_FAISS)


def largest(model):
    """Fit many samples, and print how long it took and the largest memory."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, size=60_000)
    X = rng.normal(size=(60_000, 512)) + labels[:, None] * rng.normal(scale=0.1, size=512)
    start = time.process_time()
    model.fit(X, labels)
    tell(f"{type(model).__name__} on {X.shape}", start)


def tell(what, start, times=1.0):
    """Print the CPU seconds since the start, as many `times`, and the largest memory."""
    seconds = times * (time.process_time() - start)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{what}: {seconds:.1f} s, {gigabytes:.2f} GiB")


# What runs in a process of its own, by the name that it is called with.
ALONE = {
    "ranking": ranking,
    "faiss": faiss_ranking,
    "mcboost": partial(largest, CodewordMCBoost(N_ROUNDS, 12, random_state=0)),
    "ladder": partial(largest, LADDER(N_ROUNDS, 12, random_state=0)),
}


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--largest"]
    with threadpool_limits(1):
        if arguments[:1] == ["alone"]:
            ALONE[arguments[1]]()
        else:
            main(arguments or DATA)
            chosen = ["ranking", *(["faiss"] if importlib.util.find_spec("faiss") else [])]
            chosen += ["mcboost", "ladder"] if "--largest" in sys.argv else []
            for name in chosen:
                subprocess.run([sys.executable, __file__, "alone", name], check=True)
