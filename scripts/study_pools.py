r"""Estimate the share of the variance of test errors that comes from the first draw of samples.

The MCBoost paper draws 50 samples of each class and splits them 50 times. If they are drawn once,
the mean over the splits depends on these samples. To estimate this effect, several such pools
(`data.pools`) are split 6 times each:

    boostbench run data=pendigits-pools protocol=mcboost protocol.sampling=fixed \
        protocol.samples_per_class=null protocol.n_splits=180 algo=mcboost algo.n_iterations=500
    python scripts/study_pools.py                # of all complete pools on record

The last share of the output is the value of `pools` in conf/paper/mcboost/paper.yaml.
"""

import argparse
from pathlib import Path

import numpy as np
from tabulate import tabulate

from boostbench.records.store import read_records, record_path

N_SPLITS = 6


def show(results: Path) -> None:
    """Print the parts of the variance of each data set's test errors, in percent squared."""
    rows = []
    for folder in sorted((results / "records").glob("*-pools")):
        records, _ = read_records(record_path(results, folder.name, "mcboost"))
        errors = {record.split: 100 * record.test_error for record in records}
        n_pools = len(errors) // N_SPLITS
        pools = np.array([errors[i] for i in range(n_pools * N_SPLITS)]).reshape(n_pools, N_SPLITS)
        within = pools.var(axis=1, ddof=1).mean()
        between = pools.mean(axis=1).var(ddof=1) - within / N_SPLITS
        rows.append([folder.name, n_pools, pools.mean(), between, within, between / within])
    share = np.average([row[-1] for row in rows], weights=[row[1] for row in rows])
    rows.append(["mean, by pools", *[""] * 4, share])
    heads = ["data", "pools", "test error", "between pools", "within a pool", "share"]
    print(tabulate(rows, heads, floatfmt=".2f"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    show(parser.parse_args().results)
