"""The fit behind a record, made again from what the record says."""

import itertools
import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache

from boostbench.data.dataset import Dataset
from boostbench.fitting.measures.base import Measure
from boostbench.fitting.splits import Split
from boostbench.fitting.trial import Trial
from boostbench.fitting.tuning import inner_splits, trials
from boostbench.records.schema import points_of
from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.protocol import ProtocolSpec
from boostbench.spec.trusted_imports import import_estimator
from boostbench.util.errors import UserError

# What every config holds; what else there is comes from the measure.
_OF_ALL = {"algo", "data", "grid", "judged_by", "measure", "protocol", "seed"}
# Splits that are made together.
_AT_ONCE = 10


def refit(record: Mapping, dataset: Dataset) -> Trial:
    """Plan the fit that is to give what a record holds.

    Parameters
    ----------
    record : dict
        Of a fit that did not fail.
    dataset : Dataset
        That of the record.

    Raises
    ------
    UserError
        If today's code knows no such class, measure or setting, or takes other rows.
    """
    config, points = record["config"], points_of(record)
    measure, algo = measure_of(config), dict(config["algo"])
    target = algo.pop("_target_")
    import_estimator(target)  # records may come from others
    asked = json.dumps(config["protocol"], sort_keys=True)
    index, is_given = record["split"], config["protocol"].get("sampling") == "fixed"
    number = index + 1 if is_given else _AT_ONCE * (index // _AT_ONCE + 1)
    protocol, splits = _splits(type(measure), dataset, asked, config["seed"], number)
    split = splits[index]
    if points:
        y = dataset.y[split.train]
        inner = inner_splits(split, y, protocol.n_folds, f"split {split.index}")
        split = next(itertools.islice(inner, record["fold"], None))
    if split.checksum != record["rows"]:
        raise UserError("today's code takes other rows")
    algorithm, chosen = AlgorithmSpec("", target, algo, config["grid"]), record.get("chosen", {})
    missing, takes_categories = config["data"].get("missing"), "words" in config["data"]
    about = protocol, measure, missing, dataset.category_counts, takes_categories
    trial = Trial(algorithm, chosen, split, *about)
    return next(trials(trial, points)) if points else trial


def measure_of(config: Mapping) -> Measure:
    """Find the measure of a config; older ones name it by what it adds to them.

    Raises
    ------
    UserError
        If there is none.
    """
    if "measure" in config:
        return measures.find(config["measure"])
    own = {name: value for name, value in config.items() if name not in _OF_ALL}
    for name in measures.names():
        measure = measures.find(name)
        if dict(measure.settings) == own:
            return measure
    raise UserError(f"no measure has the settings {', '.join(sorted(own))}")


def seconds_of(record: Mapping) -> float:
    """Give the CPU seconds that the fits of a record took, or about as many."""
    spent = record.get("seconds")
    if isinstance(spent, list):
        return sum(spent)
    if isinstance(spent, Mapping) and spent.get("fit") is not None:
        return spent["fit"]
    if "started" not in record:
        return 0.0
    started, finished = (datetime.fromisoformat(record[when]) for when in ("started", "finished"))
    return (finished - started).total_seconds() + 0.5  # whole seconds are on record


@lru_cache(8)
def _splits(
    measure: type[Measure], dataset: Dataset, protocol: str, seed: int, number: int
) -> tuple[ProtocolSpec, list[Split]]:
    """Make so many splits, or more; most records that are fitted again share them."""
    settings = {"n_splits": number, **json.loads(protocol)}
    # It finished in time, and how fast this machine is says nothing of what comes out.
    settings.pop("time_limit", None)
    settings["n_repeats"] = -(-number // settings["n_splits"])
    made = ProtocolSpec.from_config(settings)
    return made, measure().splits(dataset, made, seed)
