"""Measure what each layout of the stump search saves, on the data of the tables and on large data.

A cell is the CPU seconds of a fit without a layout divided by the seconds with it: the fit is
MCBoost with all thresholds, on one core, and the seconds are the least of several fits. All fits to
the same data have the same model. Cells are empty where the search does not use the layout. A
layout stays in the package if it gains at least 1.5 somewhere that matters.

    python scripts/bench_layouts.py [--data vowel letter ...] [--repeats 3]
"""

import argparse
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
from bench_large import draw
from timing import on_one_core, print_table, timed, training_part

from boostbench import MCBoost
from boostbench.core.stumps import evaluation
from boostbench.core.stumps.layouts.joint_histogram import JointHistogram
from boostbench.core.stumps.layouts.rank_blocks import RankBlocks
from boostbench.core.stumps.layouts.sorted import RankBins, Sorted
from boostbench.core.stumps.search import StumpSearch

# Data sets, and the number of rounds of a fit.
TABLES = {
    "wine": 300,
    "vowel": 200,
    "pendigits:100": 300,
    "letter:50": 200,
    "segment": 200,
    "pendigits": 100,
    "letter": 50,
    "dna": 100,
    "usps": 20,
}
LARGE = {f"{n} x 28, {k} classes": (n, k) for n, k in [(10_000, 2), (100_000, 2), (100_000, 10)]}
N_LARGE_ROUNDS = 20

# Changes that leave a layout out.
WITHOUT = {
    "Sorted": [
        patch.object(evaluation, "_is_mostly_distinct", lambda *_: False),
    ],
    "RankBins": [patch.object(Sorted, "screening_layout", lambda self, n_columns: self)],
    "RankBlocks": [patch.object(RankBlocks, "is_worthwhile", staticmethod(lambda *_: False))],
    "OneColumn": [patch.object(JointHistogram, "layout_for_columns", lambda self, _: self)],
}


def main():
    """Print a table of gains, with a row for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", choices=[*TABLES, *LARGE], default=[*TABLES, *LARGE])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.data:
        if name in TABLES:
            (X, y), n_rounds = training_part(name), TABLES[name]
        else:
            (X, y), n_rounds = draw(*LARGE[name]), N_LARGE_ROUNDS
        rows.append([name, *measure(X, y, n_rounds, arguments.repeats)])
        print(*rows[-1], flush=True)
    print_table(["data", "s", *WITHOUT], rows)


def measure(X, y, n_rounds, n_repeats):
    """Return the seconds of a fit, and the gain of each layout."""
    used = used_layouts(X, y)
    variants = {None: [], **{name: WITHOUT[name] for name in WITHOUT if name in used}}
    seconds, models = dict.fromkeys(variants, np.inf), []
    for _ in range(n_repeats):
        for name, patches in variants.items():
            with ExitStack() as stack:
                for change in patches:
                    stack.enter_context(change)
                fit_seconds, model = timed(MCBoost(n_iterations=n_rounds).fit, X, y)
            seconds[name] = min(seconds[name], fit_seconds)
            models.append(model.coefficients_)
    if not all(np.array_equal(model, models[0]) for model in models):
        raise SystemExit("the models differ: a layout finds other stumps")
    gains = [f"{seconds[name] / seconds[None]:.2f}" if name in used else "" for name in WITHOUT]
    return [f"{seconds[None]:.2f}", *gains]


def used_layouts(X, y):
    """Return the names of the layouts that a search of stumps on the data uses."""
    layout = StumpSearch(X)._layout
    used = {"Sorted"} if isinstance(layout, Sorted) else set()
    # Two classes have one column of weights, because the other column has the negative weights.
    n_columns = len(np.unique(y)) if len(np.unique(y)) > 2 else 1
    screening = layout.screening_layout(n_columns)
    used |= {kind.__name__ for kind in (RankBins, RankBlocks) if isinstance(screening, kind)}
    if type(screening).__name__ == "OneColumnHistogram":
        used.add("OneColumn")
    return used


if __name__ == "__main__":
    on_one_core(main)
