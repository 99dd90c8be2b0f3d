"""Check the size, reused settings and pools of the committed results."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from boostbench.config.compose import compose_config
from boostbench.config.table_definitions import TableDefinition
from boostbench.papers.metadata import library
from boostbench.papers.published import lines_of as published
from boostbench.records.index import Records
from boostbench.records.store import read_records, record_path
from boostbench.report.assemble import read_tables

REPOSITORY = Path(__file__).parents[2]

LIMIT = 30e6


def test_results_are_below_30_megabytes():
    done = subprocess.run(
        ["git", "-C", str(REPOSITORY), "ls-files", "-z", "results"], capture_output=True, text=True
    )
    files = [REPOSITORY / name for name in done.stdout.split("\0") if name]
    if not files:
        pytest.skip("no git checkout")
    assert sum(path.stat().st_size for path in files if path.exists()) < LIMIT


RESULTS = Path(__file__).parents[2] / "results"
CGENS2 = TableDefinition.read("cgens2")


@pytest.fixture(scope="module")
def machines():
    """Return the recorded splits of the support vector machine by data set."""
    [table] = read_tables(["cgens2"], Records(RESULTS))
    return {row: table.cells[row, "rbf_svc"].finished_splits.records for row in table.rows}


@pytest.mark.parametrize("row", CGENS2.row_names)
def test_cosines_use_the_bandwidth_of_the_support_vector_machine(row, machines):
    """The bandwidth is chosen on the first split, like C (CGENS, section 3)."""
    ours = compose_config(CGENS2.cell_settings(CGENS2.row(row), CGENS2.column("fourier")))
    assert ours["algo"]["grid"]["n_iterations"] == [500]
    assert ours["protocol"]["tune"] == "first_split"
    [first] = [record.chosen for record in machines[row] if record.split == 0]
    assert ours["algo"]["gamma"] == first["gamma"]
    assert "gamma" not in ours["algo"]["grid"]


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize(
    ("data", "are_equal"),
    [(("usps", "pendigits", "news20", "letter"), False), (("iris", "glass"), True)],
)
def test_pools_of_samples_have_different_means(loss, data, are_equal):
    """A chi-squared test compares the means in Tables I, III and IV."""
    lines = [line for line in published("mcboost-table1") if line["nu"] == "1e-9"]
    lines += published("mcboost-table4")
    alike = {("samples_per_class", "50"), ("n_classes", "26")}
    lines += [one for one in published("mcboost-table3") if (one["varied"], one["value"]) in alike]
    chi2 = freedom = 0
    for name in data:
        means, stds = np.array(
            [
                (float(line["test_error_mean"]), float(line["test_error_std"]))
                for line in lines
                if (line["data"], line["algo"], line["loss"]) == (name, "mcboost", loss)
            ]
        ).T
        weights = 50 / stds**2
        chi2 += (weights * (means - np.average(means, weights=weights)) ** 2).sum()
        freedom += len(means) - 1
    p = stats.chi2.sf(chi2, freedom)
    assert p > 0.5 if are_equal else p < 0.001


def test_declared_share_equals_the_recorded_variance():
    """The share follows from an analysis of variance of pools with 6 consecutive splits each."""
    shares, weights = [], []
    for folder in RESULTS.glob("records/*-pools"):
        records, _ = read_records(record_path(RESULTS, folder.name, "mcboost"))
        errors = {record.split: record.test_error for record in records}
        n_pools = len(errors) // 6
        pools = np.array([errors[split] for split in range(6 * n_pools)]).reshape(n_pools, 6)
        result = stats.f_oneway(*pools)
        shares.append((result.statistic - 1) / 6)
        weights.append(n_pools)
    assert shares
    declared = {case.number for table in library().tables for case in table.pools}
    assert declared == {round(float(np.average(shares, weights=weights)), 2)}
