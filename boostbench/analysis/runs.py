"""What is on record, experiment by experiment, whether a table shows it or not."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.fitting.quantities import QUANTITIES, SCORES, Quantity
from boostbench.records.archive import Records
from boostbench.spec.keys import RecordKeys, remove_defaults

#: Kinds of records that figures are made of; and trials of cross-validation.
_NO_RESULTS = ("boundary", "codewords", "features", "path", "tuning")

#: What a run can show, in this order.
_SHOWN = ("test_error", *SCORES, "mean_average_precision")


class Run(NamedTuple):
    """An experiment that is on record.

    Attributes
    ----------
    cell : Cell
        Its splits. The data set is called by its title, which no other data set on record has.
    settings : str
        What is not at its default: ``"n_iterations=200, seed=1"``.
    finished : str
        When the last split was, as it is recorded; empty if that is not known.
    """

    cell: Cell
    settings: str
    finished: str

    @property
    def config(self) -> Mapping:
        """The config of its first record."""
        return (self.cell.records or self.cell.failures)[0]["config"]

    @property
    def cut(self) -> Mapping:
        """How its data set departs from the one of its name, see `config_overrides`."""
        return self.config["data"].get("cut", {})

    def text(self, quantity: Quantity) -> str:
        """Print the mean of a quantity with its deviation; ``"-"`` where it has none."""
        cell = replace(self.cell, quantity=quantity)
        return cell.text if cell.values or not cell.records else "-"


def find_runs(
    records: Records,
    titles: Mapping[str, str],
    without: Collection[str] = (),
    algorithms: Collection[str] | None = None,
) -> list[Run]:
    """List what is on record.

    Parameters
    ----------
    records : Records
        Of a folder of results.
    titles : mapping of str to str
        Titles of algorithms by name; one that is not in it goes by its name.
    without : collection of str, default=()
        Hashes of configs that are left out.
    algorithms : collection of str, default=None
        Names of the algorithms whose files are read. None: all files.

    Returns
    -------
    list of Run
        By data set and algorithm.
    """
    groups: dict[tuple, list[dict]] = {}
    # Configs may differ in what decides nothing, such as from where a file was read.
    experiments: dict[str, str] = {}

    def is_wanted(algo: str, kind: str) -> bool:
        return kind not in _NO_RESULTS and (algorithms is None or algo in algorithms)

    for names, record in records.each(is_wanted):
        written = record["config_hash"]
        if written not in without:
            if written not in experiments:
                experiments[written] = RecordKeys.from_config(record["config"]).split
            groups.setdefault((*names, experiments[written]), []).append(record)
    return [_run(group, data, algo, titles) for (data, algo, *_), group in groups.items()]


def runs_on(runs: Collection[Run], data: str) -> list[Run]:
    """Return the runs on the data set of a title, or else on those of a name or a path."""
    titled = [run for run in runs if run.cell.data == data]
    return titled or [
        run for run in runs if data in (run.config["data"]["name"], run.cut.get("path"))
    ]


def shown(runs: Collection[Run]) -> list[Quantity]:
    """List the quantities that some of the runs have."""
    return [
        QUANTITIES[name]
        for name in _SHOWN
        if any(run.cell.average(QUANTITIES[name]) is not None for run in runs)
    ]


def _run(records: list[dict], data: str, algo: str, titles: Mapping[str, str]) -> Run:
    done = [record for record in records if "error" not in record]
    failures = [record for record in records if "error" in record]
    cell = Cell(data, algo, titles.get(algo, algo), done, failures, 0)
    finished = max(record.get("finished") or "" for record in records)
    return Run(cell, _settings(records[0]["config"], algo in titles), finished)


def _settings(config: Mapping, is_known: bool) -> str:
    """Say what of a config is not at its default; the class, where no algorithm is named so."""
    config = remove_defaults({key: value for key, value in config.items() if key != "data"})
    target = config["algo"].pop("_target_", None)
    settings = {} if is_known or not target else {"": target}
    settings |= config["algo"] | config["protocol"]
    settings.pop("checkpoints", None)  # where errors are recorded changes none in the end
    if config["seed"]:
        settings["seed"] = config["seed"]
    if config["grid"]:
        settings["tuned"] = " ".join(config["grid"])
    return ", ".join(f"{key}={value}".lstrip("=") for key, value in settings.items())
