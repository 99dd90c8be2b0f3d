"""What of the records is to be fitted again: which code made them, and which split is drawn."""

import functools
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path

from boostbench.data.dataset import Dataset
from boostbench.errors import UserError
from boostbench.experiment import measures
from boostbench.experiment.certificates import Certificates
from boostbench.experiment.code import made_by
from boostbench.experiment.keys import digest
from boostbench.experiment.protocol import Protocol
from boostbench.experiment.records import read, record_paths
from boostbench.experiment.splits import Split
from boostbench.experiment.targets import check_target
from boostbench.experiment.tuning import inner_splits

#: What records have the names of predictions under.
NAMES = ("digest", "digests")

# Splits that are made together.
_AT_ONCE = 10


@dataclass(frozen=True, eq=False)
class Sample:
    """A record that can be fitted again.

    Attributes
    ----------
    file : str
        Its file, below the folder of results.
    record : dict
        The record.
    after : str
        Fingerprint of today's code for it.
    commit : str
        A commit with the code that made it, or a released version.
    """

    file: str
    record: Mapping
    after: str
    commit: str

    @property
    def before(self) -> str:
        """Fingerprint of the code that made it."""
        return self.record["code"]

    @property
    def config(self) -> Mapping:
        """What was asked."""
        return self.record["config"]

    @property
    def measure(self) -> str:
        """What is recorded of the fit."""
        return _measure(self.config)

    @property
    def target(self) -> str:
        """Dotted name of the class."""
        return self.config["algo"]["_target_"]

    @property
    def choices(self) -> tuple[tuple[str, str], ...]:
        """Parameters that choose code by a name, such as a loss or the kind of weak learners."""
        algo = self.config["algo"]
        found = ((k, v) for k, v in algo.items() if isinstance(v, str) and k != "_target_")
        return tuple(sorted(found))

    @property
    def algo(self) -> str:
        """Name of the algorithm: a class may have several, such as stumps and trees of SAMME."""
        return Path(self.file).name.partition(".")[0]

    @property
    def is_tuning(self) -> bool:
        """Whether it is a cross-validation trial."""
        return "fold" in self.record

    @property
    def has_error(self) -> bool:
        """Whether an error is measured on samples that were held back."""
        return self.is_tuning or self.measure == "prediction"

    @property
    def names_predictions(self) -> bool:
        """Whether the record tells predictions that differ from those that do not."""
        return any(self.record.get(name) for name in NAMES)

    @property
    def points(self) -> list[dict] | None:
        """Points of the grid that a cross-validation trial is of; None for a split."""
        if not self.is_tuning:
            return None
        return self.record.get("points") or [self.record["point"]]

    @property
    def label(self) -> str:
        """The record in words."""
        name = Path(self.file).name.removesuffix(".jsonl")
        fold = f", fold {self.record['fold']}" if self.is_tuning else ""
        return f"{name} on {self.config['data']['name']}, split {self.record['split']}{fold}"

    @property
    def request(self) -> dict:
        """What is asked of any rows, for `boostbench.experiment.refit`."""
        algo = dict(self.config["algo"])
        return {
            "measure": self.measure,
            "points": self.points,
            "target": algo.pop("_target_"),
            "params": algo,
            "grid": self.config["grid"],
            "chosen": self.record.get("chosen", {}),
            "protocol": self.config["protocol"],
        }

    def seconds(self) -> tuple[float, float | None]:
        """Give the CPU seconds that the fit took, and those of the job of calibration."""
        spent = self.record.get("seconds")
        if isinstance(spent, list):
            return sum(spent), None
        if isinstance(spent, Mapping):
            return spent["fit"], spent.get("calibration")
        started, finished = (
            datetime.fromisoformat(self.record[when]) for when in ("started", "finished")
        )
        return (finished - started).total_seconds() + 0.5, None  # whole seconds are on record

    def job(self, dataset: Dataset) -> dict:
        """Say what is to be fitted, for `boostbench.experiment.refit`.

        Parameters
        ----------
        dataset : Dataset
            That of the record.

        Raises
        ------
        UserError
            If the rows are no longer those of the record.
        """
        split = self._split(dataset)
        if split.checksum != self.record["rows"]:
            raise UserError(f"{self.label}: today's code takes other rows")
        return {
            **self.request,
            "split": split.index,
            "split_seed": split.seed,
            "train": split.train.tolist(),
            "test": split.test.tolist(),
            "data": dataset.checksum,
        }

    def _split(self, dataset: Dataset) -> Split:
        index, config = self.record["split"], self.config
        is_given = config["protocol"].get("sampling") == "fixed"
        number = index + 1 if is_given else _AT_ONCE * (index // _AT_ONCE + 1)
        asked = json.dumps(config["protocol"], sort_keys=True)
        found, n_folds = _splits(self.measure, dataset, asked, config["seed"], number)
        split = found[index]
        if not self.is_tuning:
            return split
        inner = inner_splits(split, dataset.y[split.train], n_folds, self.label)
        return next(itertools.islice(inner, self.record["fold"], None))


@dataclass(frozen=True, eq=False)
class Group:
    """Records of one algorithm by the code of some commits, which is what they have in common.

    They also have the same choices: another loss or another kind of weak learners is other code.

    The fingerprints of one commit's code differ by what is measured and whether there is tuning.

    Attributes
    ----------
    name : str
        The algorithm's.
    target : str
        Dotted name of its class.
    configurations : dict of str to list of list of Sample
        By hash of the configuration: for each kind of record that there is of it, the samples in
        the order in which they are drawn.
    """

    name: str
    target: str
    configurations: dict[str, list[list[Sample]]]

    @property
    def samples(self) -> Iterator[Sample]:
        """All records."""
        return chain.from_iterable(chain.from_iterable(self.configurations.values()))

    @property
    def codes(self) -> dict[tuple[str, str, str], Sample]:
        """The codes, then and today, and the commit of the former; each with a sample."""
        return {(s.before, s.after, s.commit): s for s in self.samples}

    @property
    def commits(self) -> list[str]:
        """Commits with the code that made the records."""
        return sorted({sample.commit for sample in self.samples})

    def drawn(self, config_hash: str) -> list[Sample]:
        """Give what stands for a configuration: the first drawn of each kind of record."""
        return [samples[0] for samples in self.configurations[config_hash]]

    def others(self, drawn: Iterable[Sample]) -> list[Sample]:
        """Give the samples with an error beyond those drawn, in the order in which they follow."""
        known = {id(sample) for sample in drawn}
        rest = [s for s in self.samples if s.has_error and id(s) not in known]
        return sorted(rest, key=_rank)


def groups(results: Path) -> tuple[list[Group], list[str]]:
    """Sort the records that other code than today's made, and no certificate covers.

    Parameters
    ----------
    results : Path
        Folder of the records.

    Returns
    -------
    groups : list of Group
        By the names of their algorithms.
    warnings : list of str
        What cannot be certified, and damaged lines.
    """
    certificates = Certificates.read(results)
    samples, warnings = _samples(Path(results))
    stale = [
        sample for sample in samples if not certificates.freshness(sample.record, sample.after)
    ]
    linked = _Linked()
    for sample in stale:
        maker = sample.algo, sample.target, sample.choices
        linked.join((maker, sample.before), (maker, sample.record["commit"]))
    found: dict[tuple, dict[str, dict[bool, list[Sample]]]] = {}
    for sample in stale:
        maker = sample.algo, sample.target, sample.choices
        configurations = found.setdefault(linked.name((maker, sample.before)), {})
        by_kind = configurations.setdefault(sample.record["config_hash"], {})
        by_kind.setdefault(sample.is_tuning, []).append(sample)
    made = [
        Group(
            *maker[:2],
            {
                one: [sorted(kind, key=_rank) for kind in by_kind.values()]
                for one, by_kind in configurations.items()
            },
        )
        for (maker, _), configurations in found.items()
    ]
    return (
        sorted(made, key=lambda group: (group.name, group.target, group.commits)),
        [*warnings, *certificates.warnings],
    )


class _Linked:
    """Things that belong together, directly or through others."""

    def __init__(self):
        self._above = {}

    def name(self, thing):
        """Give one thing for all that are linked to it."""
        while self._above.setdefault(thing, thing) != thing:
            thing = self._above[thing]
        return thing

    def join(self, a, b) -> None:
        """Link two things."""
        self._above[self.name(a)] = self.name(b)


def _rank(sample: Sample) -> str:
    """Draw lots: neither who writes code nor who writes records can choose what is sampled."""
    record = sample.record
    return digest([record["config_hash"], record["code"], sample.after, sample.file, record["key"]])


def _samples(results: Path) -> tuple[list[Sample], list[str]]:
    """Give what has been fitted and recorded, and what is wrong with it."""
    found, warnings, lost, commits = [], [], {}, {}
    for path in record_paths(results):
        records, damaged = read(path)
        warnings += damaged
        for record in records:
            if "error" in record:
                continue
            try:
                after = _today(record["config"])
            except UserError as error:
                lost[str(error)] = None
                continue
            # What was made before a commit may be what was committed.
            commit = commits.setdefault(record["code"], record["commit"].rstrip("+"))
            found.append(Sample(str(path.relative_to(results)), record, after, commit))
    return found, [*warnings, *lost]


def _today(config: Mapping) -> str:
    _locate(config["algo"]["_target_"])
    return made_by(config, type(measures.find(_measure(config))))


def _measure(config: Mapping) -> str:
    """Name the measure of a config by what it adds to it."""
    own = frozenset(config.keys() - {"algo", "data", "grid", "judged_by", "protocol", "seed"})
    if own not in _measures():
        raise UserError(f"no measure has the settings {', '.join(sorted(own))}")
    return _measures()[own]


@functools.lru_cache(8)
def _splits(
    measure: str, dataset: Dataset, protocol: str, seed: int, number: int
) -> tuple[list[Split], int]:
    """Divide a data set, as most samples are of few protocols.

    Returns
    -------
    list of Split
        As many as asked for, or more.
    int
        Number of folds of cross-validation.
    """
    settings = {"n_splits": number, **json.loads(protocol)}
    settings["n_repeats"] = -(-number // settings["n_splits"])
    made = Protocol.from_config(settings)
    return measures.find(measure).splits(dataset, made, seed), made.n_folds


@functools.cache
def _measures() -> dict[frozenset, str]:
    """Name the measures by what they add to a config."""
    return {frozenset(measures.find(name).settings): name for name in measures.names()}


@functools.cache
def _locate(target: str) -> None:
    check_target(target)  # records may come from others, and their classes are fitted
