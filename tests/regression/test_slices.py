"""A small, seeded slice of each published table, fitted again and held against its records.

A slice is the first splits of one cell, for a part of its boosting rounds. The band that it has to
stay in comes from the spread of the cell's own splits after as many rounds.
"""

import os
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

import pytest
from scipy import stats

from boostbench.data.load import load
from boostbench.definitions.compose import experiments
from boostbench.definitions.table import TableDefinition
from boostbench.experiment.plan import Experiment, split_task
from boostbench.experiment.runner import run
from boostbench.experiment.trial import run_trial

RESULTS = Path(__file__).parents[2] / "results"

N_SPLITS = 2
CONFIDENCE = 0.99

#: Table, row and column, of those that are quick to fit.
CELLS = [
    ("randomboost2", "synthetic1", "rank1000"),
    ("randomboost2", "synthetic2", "proj250"),
    ("randomboost3", "wine", "exponential"),
    ("randomboost3", "heart", "logistic"),
    ("randomboost3", "glass", "rboost_rank"),
    ("randomboost4", "heart", "adaboost"),
    ("randomboost4", "colon-cancer", "rboost_rank"),
    ("randomboost4", "diabetes", "rboost_proj"),
    ("randomboost5", "wine", "rboost_rank"),
    ("randomboost5", "glass", "rboost_proj"),
    ("randomboost5", "vowel", "adaboost_mh"),
    ("randomboost5", "vowel", "adaboost_ecc"),
    ("randomboost5", "vehicle", "adaboost_mo"),
    ("randomboost5", "wine", "multiboost"),
    ("randomboost6", "wine", "rboost_rank"),
    ("randomboost6", "glass", "rboost_proj"),
]

pytestmark = pytest.mark.skipif(
    "BOOSTBENCH_DATA" not in os.environ, reason="BOOSTBENCH_DATA, the papers' data, is not set"
)


class Slice:
    """The records of a cell, and a way to fit its first splits again."""

    def __init__(self, table, row, column):
        [spec] = experiments([TableDefinition.read(table).cell(row, column)])
        dataset = load(spec["data"])
        self.experiment = Experiment.from_config(spec, dataset)
        [outcome] = run([self.experiment], results=RESULTS, rerun="never").outcomes
        self.records = {record["split"]: record for record in outcome.records}

    def recorded(self, rounds):
        """Give the test error of every recorded split after a number of rounds."""
        return [record["checkpoints"][str(rounds)] for record in self.records.values()]

    def refitted(self, rounds):
        """Fit the first splits again, with the parameters that were chosen for them."""
        errors = []
        y = self.experiment.dataset.y
        for split in self.experiment.splits[:N_SPLITS]:
            trial = split_task(
                self.experiment, split, self.records[split.index]["chosen"], None
            ).trial
            chosen = {**trial.chosen, "n_iterations": rounds}
            protocol = replace(trial.protocol, checkpoints=())
            trial = replace(trial, chosen=chosen, protocol=protocol)
            outcome = run_trial(trial, self.experiment.dataset.X, y)
            assert "error" not in outcome, outcome["error"]
            errors.append(outcome["test_error"])
        return errors

    def band(self, rounds):
        """Half width of the prediction interval of a mean over `N_SPLITS` splits."""
        recorded = self.recorded(rounds)
        n_test = min(record["n_test"] for record in self.records.values())
        # Where all splits have the same error, it is known to half a test sample only.
        spread = max(stdev(recorded), 0.5 / n_test)
        quantile = stats.t.ppf((1 + CONFIDENCE) / 2, len(recorded) - 1)
        return quantile * spread * (1 / N_SPLITS + 1 / len(recorded)) ** 0.5

    def distance(self, rounds, of_rounds):
        """How far the mean error after some rounds is from the records' after as many as given."""
        return abs(fmean(self.refitted(rounds)) - fmean(self.recorded(of_rounds)))


@pytest.mark.parametrize(("table", "row", "column"), CELLS, ids=[" ".join(cell) for cell in CELLS])
def test_the_error_stays_in_its_band(table, row, column):
    cell = Slice(table, row, column)
    assert len(cell.records) >= 5, "the records of this cell are not committed"
    assert cell.distance(rounds=100, of_rounds=100) <= cell.band(100)


def test_the_band_would_notice():
    """Ten rounds are not a hundred."""
    cell = Slice("randomboost5", "vowel", "adaboost_ecc")
    assert cell.distance(rounds=10, of_rounds=100) > cell.band(100)
