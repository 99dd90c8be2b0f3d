r"""How much of the variance of test errors is the luck of the samples that are drawn first.

The MCBoost paper draws 50 samples of each class and splits them 50 times. If they are drawn once,
the mean over the splits depends on which samples these are. To see how much, 30 such pools are
split 6 times each, by fixed splits of the data:

    python scripts/study_pools.py split pendigits FOLDER       # FOLDER/pendigits-pools.*
    boostbench run data.path=FOLDER/pendigits-pools.svm.gz protocol=mcboost \
        protocol.sampling=fixed protocol.samples_per_class=null protocol.n_splits=180 \
        algo=mcboost algo.n_iterations=500
    python scripts/study_pools.py show                  # of all pools on record that are whole

The share that it shows last is that of `pools` in report/published/papers.yaml.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from tabulate import tabulate

from boostbench import configs
from boostbench.data.files import data_folder, find_file
from boostbench.data.load import load
from boostbench.experiment.records import read, record_path

N_POOLS, N_SPLITS, PER_CLASS = 30, 6, 50


def main():
    """Write the splits of a data set, or print what the records say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    split = commands.add_parser("split")
    split.add_argument("name", help="data set, a file in $BOOSTBENCH_DATA")
    split.add_argument("folder", type=Path)
    commands.add_parser("show").add_argument("--results", type=Path, default=Path("results"))
    args = parser.parse_args()
    if args.command == "split":
        write(args.name, args.folder)
    else:
        show(args.results)


def write(name: str, folder: Path) -> None:
    """Link to a data file, and write fixed splits beside it: those of a pool follow each other."""
    y = load(configs.read("data", name)).y
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(N_POOLS):
        classes = [np.flatnonzero(y == label) for label in np.unique(y)]
        pool = np.concatenate([rng.choice(rows, PER_CLASS, replace=False) for rows in classes])
        seed = int(rng.integers(2**32))
        splitter = StratifiedShuffleSplit(N_SPLITS, test_size=0.25, random_state=seed)
        parts += [(pool[train], pool[test]) for train, test in splitter.split(pool, y[pool])]
    train, test = (np.array(rows) for rows in zip(*parts, strict=True))
    folder.mkdir(parents=True, exist_ok=True)
    source = find_file(name, data_folder())
    (folder / source.name.replace(name, f"{name}-pools")).symlink_to(source)
    np.savez_compressed(folder / f"{name}-pools.splits.npz", train=train, test=test)


def show(results: Path) -> None:
    """Print the parts of the variance of each data set's test errors, in percent squared."""
    rows = []
    for folder in sorted((results / "records").glob("*-pools")):
        records, _ = read(record_path(results, folder.name, "mcboost"))
        errors = {record["split"]: 100 * record["test_error"] for record in records}
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
    main()
