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
import sys
from functools import partial

import numpy as np
from timing import in_a_process, medians, on_one_core, peak, print_table, timed, training_part

from boostbench.algorithms import LADDER, CodewordMCBoost
from boostbench.fitting.measures.retrieval import mean_average_precision

DATA = ["vowel", "letter:100", "usps:200"]
N_ROUNDS = 200
CYCLE = 2
STEPS = 6
N_QUERIES, N_DATABASE, N_BITS = 8000, 50_000, 64
# faiss writes the order of all codes for all queries: of so many queries at once.
N_FAISS = 500


def main(names):
    """Print a row per data set and dimension."""
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
    print_table(headers, rows)


def codes_and_labels():
    """Draw codes at random: of the queries, of the data base, and the labels of both."""
    rng = np.random.default_rng(0)
    codes = [rng.random((n, N_BITS)) < 0.5 for n in (N_QUERIES, N_DATABASE)]
    return codes, [rng.integers(0, 10, size=n) for n in (N_QUERIES, N_DATABASE)]


def ranking():
    """Time the mean average precision."""
    (queries, codes), labels = codes_and_labels()
    seconds, _ = timed(mean_average_precision, queries, labels[0], codes, labels[1])
    tell(f"mean average precision of {N_QUERIES} x {N_DATABASE} codes", seconds)


def faiss_ranking():
    """Time faiss's exhaustive search, which gives the order alone; of part of the queries."""
    import faiss

    faiss.omp_set_num_threads(1)
    queries, codes = (np.packbits(bits, axis=1) for bits in codes_and_labels()[0])
    index = faiss.IndexBinaryFlat(N_BITS)
    index.use_heap = False  # a counting sort: 14 times as fast for an order of all
    index.add(codes)
    seconds, _ = timed(index.search, queries[:N_FAISS], N_DATABASE)
    tell(f"faiss, order of {N_FAISS} x {N_DATABASE} codes", seconds * N_QUERIES / N_FAISS)


def largest(model):
    """Fit many samples, and print how long it took and the largest memory."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, size=60_000)
    X = rng.normal(size=(60_000, 512)) + labels[:, None] * rng.normal(scale=0.1, size=512)
    seconds, _ = timed(model.fit, X, labels)
    tell(f"{type(model).__name__} on {X.shape}", seconds)


def tell(what, seconds):
    """Print CPU seconds and the largest memory."""
    print(f"{what}: {seconds:.1f} s, {peak():.2f} GiB")


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--largest"]
    on_one_core(main, arguments or DATA)
    sys.stdout.flush()
    in_a_process(ranking)
    if importlib.util.find_spec("faiss"):
        in_a_process(faiss_ranking)
    if "--largest" in sys.argv:
        for kind in (CodewordMCBoost, LADDER):
            in_a_process(largest, kind(N_ROUNDS, 12, random_state=0))
