"""Experiments on record, whether a table shows them or not."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.analysis.frame import ResultFrame
from boostbench.fitting.quantities import QUANTITIES, SCORES, Quantity
from boostbench.records.archive import Records
from boostbench.spec.keys import RecordKeys, remove_defaults

# Kinds of records without results: material of figures, and trials of cross-validation.
_WITHOUT_RESULTS = ("boundary", "codewords", "features", "path", "tuning")

# Quantities that a list of experiments shows, in this order.
_METRICS = ("test_error", *SCORES, "mean_average_precision")


class RecordedExperiment(NamedTuple):
    """Experiment on record.

    Attributes
    ----------
    cell : Cell
        Its splits. The data set has a title that is unique among the recorded data sets.
    settings : str
        Settings that differ from the defaults: ``"n_iterations=200, seed=1"``.
    finished : str
        Time at which the last split finished; empty if it is unknown.
    """

    cell: Cell
    settings: str
    finished: str

    @property
    def spec(self) -> Mapping[str, Any]:
        """Configuration of the experiment."""
        return self.cell.spec

    @property
    def cut(self) -> Mapping[str, Any]:
        """Data options that change the named data set, see `config_overrides`."""
        return self.spec["data"].get("cut", {})


def find_experiments(
    records: Records,
    titles: Mapping[str, str],
    excluded: Collection[str] = (),
    algorithms: Collection[str] | None = None,
) -> list[RecordedExperiment]:
    """Return the experiments on record.

    Parameters
    ----------
    records : Records
        Records of a results folder.
    titles : mapping of str to str
        Titles of algorithms by name; an algorithm without a title has its name.
    excluded : collection of str, default=()
        Hashes of configs that are left out.
    algorithms : collection of str, default=None
        Names of the algorithms whose files are read. None: all files.

    Returns
    -------
    list of RecordedExperiment
        Experiments in the order of data set and algorithm.
    """
    groups: dict[tuple[str, str, str, str], list[Mapping]] = {}
    # Configs may differ in settings that do not affect results, such as the path of a file.
    identities: dict[str, str] = {}

    def is_wanted(algo: str, kind: str) -> bool:
        return kind not in _WITHOUT_RESULTS and (algorithms is None or algo in algorithms)

    for names, record in records.each(is_wanted):
        config = record["config_hash"]
        if config not in excluded:
            if config not in identities:
                identities[config] = RecordKeys.from_config(record["config"]).split
            groups.setdefault((*names, identities[config]), []).append(record)
    experiments = []
    for (data, algo, *_), group in groups.items():
        frame = ResultFrame(group)
        is_failed = [error is not None for error in frame["error"]]
        is_finished = [error is None for error in frame["error"]]
        rows, failures = frame.select(is_finished), frame.select(is_failed)
        cell = Cell(data, algo, titles.get(algo, algo), rows, failures)
        finished = max(time or "" for time in frame["finished"])
        settings = _settings(frame["spec"][0], algo in titles)
        experiments.append(RecordedExperiment(cell, settings, finished))
    return experiments


def experiments_on(
    experiments: Collection[RecordedExperiment], data: str
) -> list[RecordedExperiment]:
    """Return the experiments on the data set of a title, or else of a name or a path."""
    titled = [each for each in experiments if each.cell.data == data]
    return titled or [
        each for each in experiments if data in (each.spec["data"]["name"], each.cut.get("path"))
    ]


def available_metrics(experiments: Collection[RecordedExperiment]) -> list[Quantity]:
    """Return the quantities that at least one of the experiments has."""
    return [
        QUANTITIES[name]
        for name in _METRICS
        if any(each.cell.average(QUANTITIES[name]) is not None for each in experiments)
    ]


def _settings(spec: Mapping[str, Any], has_title: bool) -> str:
    """Return the settings that differ from the defaults, and the class of an unnamed algorithm."""
    spec = remove_defaults({name: value for name, value in spec.items() if name != "data"})
    target = spec["algo"].pop("_target_", None)
    settings = {} if has_title or not target else {"": target}
    settings |= spec["algo"] | spec["protocol"]
    settings.pop("checkpoints", None)  # they do not affect the last error
    if spec["seed"]:
        settings["seed"] = spec["seed"]
    if spec["grid"]:
        settings["tuned"] = " ".join(spec["grid"])
    return ", ".join(f"{name}={value}".lstrip("=") for name, value in settings.items())
