"""Verification of the results on record by today's code, for `boostbench verify`.

A random sample of the records is fitted again, and each refit is *same*, *different* or *failed*.

On the BLAS kernel (the processor-specific code of matrix products) that made a record, all results
are compared: errors and predictions exactly, scores up to rounding. Another kernel sums in another
order, so that it may break a near tie in another way, which changes a few predictions. For a refit
by another kernel, errors alone are compared, and a *group* of records (an algorithm with its
choices on a data set) is different only if its errors differ systematically.
"""

import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

import numpy as np
from scipy import stats

from boostbench.data.dataset import Dataset
from boostbench.data.loading import load
from boostbench.execution.workers import Workers
from boostbench.fitting.measures.base import Measure
from boostbench.fitting.quantities import read_entries
from boostbench.fitting.splits import Split, splits
from boostbench.fitting.trial import Outcome, Trial
from boostbench.fitting.tuning import inner_splits, trials
from boostbench.records.codec import make_record
from boostbench.records.environment import now, system
from boostbench.records.fit_results import Results, SplitRecord, TrialRecord
from boostbench.records.schema import BadLine, Config, Record
from boostbench.records.verified import Finding, Group
from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.keys import digest
from boostbench.spec.protocol import ProtocolSpec
from boostbench.spec.trusted_imports import import_estimator
from boostbench.util import configs
from boostbench.util.errors import UserError
from boostbench.util.validation import struct_from_config

#: Limit of the records of a group that are drawn; as many verify a group.
MAX_DRAWN = 5
#: CPU seconds. Records whose fit took longer are drawn last, so that a budget holds many groups.
MAX_SECONDS = 5.0
#: Least cost of a refit in CPU seconds, as splits and comparisons take time, too.
MIN_SECONDS = 0.1
#: Relative difference of two scores, by the same kernel, that rounding explains. Two errors, counts
#: of samples divided by their number, are equal within it only if the counts are equal.
SCORE_TOLERANCE = 1e-8
#: Significance level of the test whether errors differ systematically.
SIGNIFICANCE_LEVEL = 0.01

# Limit of keys of same records that a finding keeps for each kernel, so that the file stays small.
_MAX_KEYS = 30
# Number of splits that are made at once: a split depends on its number only, and refits share them.
_SPLITS_PER_BATCH = 10
# Entries of a record that are input of its refit, so that a comparison of them would show nothing.
_INPUTS = {"split", "fold", "rows", "chosen"}
# Further input of a cross-validation trial: its points of the grid.
_INPUTS_OF_TRIALS = {"point", "points"}
# Further input of a split: trials, which are verified by themselves, have measured this error.
_INPUTS_OF_SPLITS = {"validation_error"}
# Times of a fit, which are not compared.
_TIMES = {"started", "finished"}


# ---------------------------------------------------------------------------------------------
# One record


@dataclass(frozen=True, eq=False)
class RecordedFit:
    """Record that can be drawn for a refit.

    Attributes
    ----------
    record : Record
    label : str
        Algorithm, data set, split and fold.
    seconds : float
        CPU seconds of the fit, as recorded.
    """

    record: Record
    label: str
    seconds: float

    @classmethod
    def from_record(cls, record: Record, algorithm: str) -> "RecordedFit":
        """Return the recorded fit of a record in the file of an algorithm."""
        fold = f", fold {record.fold}" if record.is_trial else ""
        label = f"{algorithm} on {record.config.data.name}, split {record.split}{fold}"
        return cls(record, label, recorded_seconds(record))

    @property
    def key(self) -> str:
        """Key of the record."""
        return self.record.key

    @property
    def is_tuning(self) -> bool:
        """True for a cross-validation trial."""
        return self.record.is_trial


def load_recorded_data(record: Record) -> Dataset:
    """Load the data set of a record.

    Raises
    ------
    UserError
        If it is not available, or its checksum is not the recorded one.
    """
    facts = record.config.data
    dataset = _load(facts.name, facts.checksum, json.dumps(facts.data_options))
    if isinstance(dataset, UserError):
        raise dataset
    return dataset


@lru_cache(4)  # some data sets are large
def _load(name: str, checksum: str, options: str) -> Dataset | UserError:
    """Return a data set, or the error of loading it, so that an error is cached, too.

    Parameters
    ----------
    name, checksum : str
        Name and expected checksum of the data set.
    options : str
        Data options of the record, in JSON, which can be a key of the cache.
    """
    overrides, is_config = json.loads(options), name in configs.list_options("data")
    if not is_config and not overrides:
        return UserError(f"data set {name!r} has no config, so that it cannot be loaded")
    spec = configs.read_option("data", name) if is_config else {"name": name}
    try:
        dataset = load({**spec, **overrides})
    except UserError as error:
        return error
    if dataset.checksum != checksum:
        return UserError(f"data set {name!r} has changed: its checksum is not the recorded one")
    return dataset


def plan_refit(record: Record, dataset: Dataset) -> Trial:
    """Return the trial that repeats the fit of a record.

    Parameters
    ----------
    record : Record
        A finished fit.
    dataset : Dataset
        The data set of the record.

    Raises
    ------
    UserError
        If today's code has no such class, measure, setting or split.
    """
    config = record.config
    measure, params = find_measure(config), dict(config.algo)
    target = params.pop("_target_")
    import_estimator(target)  # a record from elsewhere may name any class
    protocol, split = _find_split(record, type(measure), dataset)
    if record.is_trial:
        y, n_folds = dataset.y[split.train], protocol.n_folds
        folds = inner_splits(split, y, n_folds, f"split {split.index}")
        split = next(itertools.islice(folds, record.fold, None))
    algorithm = AlgorithmSpec("", target, params, config.grid)
    trial = Trial(
        algorithm,
        {} if record.is_trial else record.chosen,
        split,
        protocol,
        measure,
        config.data.missing,
        dataset.category_counts,
        config.data.text_encoding is not None,
    )
    return next(trials(trial, record.points)) if record.is_trial else trial


def find_measure(config: Config) -> Measure:
    """Return the measure of a recorded config; older configs have its settings, but not its name.

    Raises
    ------
    UserError
        If no measure has these settings.
    """
    if config.measure is not None:
        return measures.find(config.measure)
    settings = config.measure_settings
    for name in measures.names():
        measure = measures.find(name)
        if dict(measure.settings) == settings:
            return measure
    raise UserError(f"no measure has the settings {', '.join(sorted(settings))}")


def _find_split(
    record: Record, measure: type[Measure], dataset: Dataset
) -> tuple[ProtocolSpec, Split]:
    """Return the protocol and the split of a record."""
    config, index = record.config, record.split
    # The data set may have fewer fixed splits than a batch.
    if config.protocol.get("sampling") == "fixed":
        n_splits = index + 1
    else:
        n_splits = _SPLITS_PER_BATCH * (index // _SPLITS_PER_BATCH + 1)
    settings = json.dumps(config.protocol, sort_keys=True)
    protocol, splits = _make_splits(measure, dataset, settings, config.seed, n_splits)
    return protocol, splits[index]


@lru_cache(8)
def _make_splits(
    measure: type[Measure], dataset: Dataset, settings: str, seed: int, n_splits: int
) -> tuple[ProtocolSpec, list[Split]]:
    """Return a recorded protocol and its splits, at least `n_splits`."""
    config = {"n_splits": n_splits, **json.loads(settings)}
    # The recorded fit was within its time limit; a slower machine may take longer.
    config.pop("time_limit", None)
    config["n_repeats"] = math.ceil(n_splits / config["n_splits"])
    protocol = struct_from_config(ProtocolSpec, config, "protocol")
    # A measure that returns None leaves the division to the protocol.
    division = dataset, protocol, seed
    return protocol, measure().splits(*division) or splits(*division)


def recorded_seconds(record: TrialRecord | SplitRecord) -> float:
    """Return the CPU seconds of a recorded fit, or its wall-clock seconds if it has none."""
    seconds = record.cpu_seconds()
    if seconds is not None:
        return seconds
    if record.is_trial:
        return 0.0
    started, finished = map(datetime.fromisoformat, (record.started, record.finished))
    # Times are recorded in whole seconds, so that a short fit would seem to take no time.
    return (finished - started).total_seconds() + 0.5


def list_differences(record: Record, outcome: Outcome) -> list[str]:
    """Return a sentence for each entry of a record that a refit does not give.

    Entries that today's measure adds are no difference; an entry that it lacks is one.
    """
    # 1) Make a record of the refit, so that both have their results in the same form. A record
    #    needs the input of the fit and its times: they are copied from the old one, and are
    #    not compared in step 2.
    inputs = _INPUTS | (_INPUTS_OF_TRIALS if record.is_trial else _INPUTS_OF_SPLITS)
    entries = record.readable_entries
    facts = {name: entries[name] for name in inputs | _TIMES if name in entries}
    if not record.is_trial:
        facts |= {"n_train": outcome.n_train, "n_test": outcome.n_test}
    kind = "tuning" if record.is_trial else find_measure(record.config).suffix
    try:
        refit = make_record(kind, record.config, record.provenance, outcome.results, **facts)
    except BadLine as error:
        return [f"today's results cannot be recorded: {error}"]
    # 2) Compare the results.
    today = refit.comparable_entries
    return [
        f"{name} is {_shorten(value)} on record, {_shorten(today.get(name))} today"
        for name, value in sorted(record.comparable_entries.items())
        if name not in inputs and not _is_equal(value, today.get(name))
    ]


def _is_equal(a, b) -> bool:
    """Return True if two JSON values are equal, floats within `SCORE_TOLERANCE`."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_is_equal(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_is_equal, a, b))
    if isinstance(a, float) or isinstance(b, float):
        is_numeric = all(isinstance(x, int | float) for x in (a, b))
        return is_numeric and math.isclose(a, b, rel_tol=SCORE_TOLERANCE)
    return a == b


def _shorten(value: object) -> str:
    """Return a value in JSON, cut to 60 characters so that a sentence stays readable."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def held_out_error(results: Record | Results) -> float | None:
    """Return the error on samples that were not trained on, a fraction; None: no such error.

    Parameters
    ----------
    results : Record or Results
        The error of several points of a grid is their mean, and the error of codes is 1 minus the
        mean average precision.
    """
    names = ("validation_errors", "test_error", "validation_error", "mean_average_precision")
    errors, test_error, validation_error, precision = (
        read_entries([results], (name,))[0] for name in names
    )
    if errors is not None:
        return fmean(errors)
    if test_error is not None:
        return test_error
    # The record of a split has the validation error of its chosen parameters, too.
    if precision is not None:
        return 1 - precision
    return validation_error


def systematic_difference(differences: Iterable[float]) -> float | None:
    """Return the mean of differences in error if chance does not explain it, else None.

    A permutation test draws the sign of each difference at random and counts how often the mean is
    as far from 0. It is exact for up to 13 differences (2^13 signs are fewer than 9999 draws), and
    has 9999 draws, always the same, for more. Fewer than eight differences are never significant at
    the level of 1 %, as 2 / 2^7 = 1.6 %.

    Parameters
    ----------
    differences : iterable of float
        Error today minus error on record, in percentage points; differences of 0 are left out.
    """
    nonzero = np.array([difference for difference in differences if difference])
    if len(nonzero) < 2:
        return None
    test = stats.permutation_test(
        (nonzero,), np.mean, permutation_type="samples", n_resamples=9999, rng=0
    )
    return float(nonzero.mean()) if test.pvalue < SIGNIFICANCE_LEVEL else None


# ---------------------------------------------------------------------------------------------
# A group of records


class RefitResult(NamedTuple):
    """Comparison of a record with its refit.

    Attributes
    ----------
    key : str
        Key of the record.
    state : {"same", "other errors", "different", "failed", "skipped"}
        ``"same"``: all results are equal. ``"other errors"``: they differ, and another kernel made
        the record. ``"different"``: they differ on one kernel. ``"failed"``: the refit raised an
        error. ``"skipped"``: the record cannot be fitted on this machine.
    reason : str, default=""
        Differences, the error, or the reason why the record was skipped.
    change : float, default=0.0
        Error today minus error on record, in percentage points, for ``"other errors"``; 0 without
        an error.
    """

    key: str
    state: str
    reason: str = ""
    change: float = 0.0


@dataclass
class GroupCheck:
    """Refits of the records of a group: an algorithm with its choices on a data set.

    Attributes
    ----------
    group : Group
    fits : list of RecordedFit
        Records of today's edition.
    finding : Finding or None
        Result of earlier refits.
    results : list of RefitResult
        Results of the refits so far, each of another record.
    """

    group: Group
    fits: list[RecordedFit]
    finding: Finding | None
    results: list[RefitResult] = field(default_factory=list)

    def list_results(self, state: str) -> list[RefitResult]:
        """Return the results of a state."""
        return [result for result in self.results if result.state == state]

    @property
    def refitted(self) -> set[str]:
        """Keys of the records that were fitted again."""
        return {result.key for result in self.results if result.state != "skipped"}

    def is_skipped(self, fit: RecordedFit) -> bool:
        """Return True if a record could not be fitted on this machine."""
        return any(result.key == fit.key for result in self.list_results("skipped"))

    def keys_repeated_by(self, kernel: str) -> set[str]:
        """Return the keys of records that an earlier refit by a kernel repeated."""
        return set(self.finding.same.get(kernel, ())) if self.finding else set()

    def draw(self, salt: str, kernel: str) -> list[RecordedFit]:
        """Return the records to refit, in a random order that depends on the salt.

        Records that differed before come first. Then comes an *anchor*: a record that an earlier
        refit by this kernel repeated, so that rounding cannot explain a difference today. Then come
        the records that were not drawn yet.

        Parameters
        ----------
        salt : str
            Text on which the order depends.
        kernel : str
            BLAS kernel of the refits.
        """
        finding, repeated = self.finding, self.keys_repeated_by(kernel)
        mismatched = {*finding.different, *finding.failed} if finding else set()

        # Slow records come last; otherwise digests, which look random, give the order.
        def random_order(fit: RecordedFit) -> tuple[bool, str]:
            return fit.seconds > MAX_SECONDS, digest([salt, fit.key])

        anchor = min(
            (fit for fit in self.fits if fit.key in repeated), key=random_order, default=None
        )

        def priority(fit: RecordedFit) -> int:
            """Return 0 for a record that differed, 1 for the anchor, 2 for a new record, else 3."""
            if fit.key in mismatched:
                return 0
            if fit is anchor:
                return 1
            return 3 if fit.key in repeated else 2

        return sorted(self.fits, key=lambda fit: (priority(fit), *random_order(fit)))[:MAX_DRAWN]

    def add(
        self, fit: RecordedFit, outcome: Outcome, kernel: str, is_same_kernel: bool = False
    ) -> None:
        """Compare a refit with its record.

        Parameters
        ----------
        fit : RecordedFit
        outcome : Outcome
        kernel : str
            BLAS kernel of the refit.
        is_same_kernel : bool, default=False
            True: this kernel made the record. False: the provenance of the record decides, or an
            earlier refit by this kernel.
        """
        differences = [] if outcome.error else list_differences(fit.record, outcome)
        if outcome.error:
            result = RefitResult(fit.key, "failed", f"{fit.label}: {outcome.error}")
        elif not differences:
            result = RefitResult(fit.key, "same")
        elif is_same_kernel or self._is_made_by(fit, kernel):
            result = RefitResult(fit.key, "different", f"{fit.label}: {'; '.join(differences)}")
        else:
            errors = held_out_error(fit.record), held_out_error(outcome.results)
            change = 0.0 if None in errors else 100 * (errors[1] - errors[0])
            result = RefitResult(fit.key, "other errors", change=change)
        self.results.append(result)

    def _is_made_by(self, fit: RecordedFit, kernel: str) -> bool:
        """Return True if a kernel on this system made a record, or repeated it in a refit."""
        environment = fit.record.provenance.environment
        # A kernel of the same name on another system has another compiler and math library.
        is_this_system = environment.get("system") in (None, system())
        is_this_kernel = environment.get("blas") == kernel or fit.key in self.keys_repeated_by(
            kernel
        )
        return is_this_system and is_this_kernel

    def conclude(self, commit: str, kernel: str, started: str) -> Finding:
        """Return the finding of these refits together with earlier ones.

        Parameters
        ----------
        commit, kernel : str
            Code and BLAS kernel of the refits.
        started : str
            Time when the records were read.
        """
        # 1) Collect today's results, and earlier results of *pending* records, which were not
        #    fitted again.
        before, refitted = self.finding, self.refitted
        pending = {fit.key for fit in self.fits} - refitted
        changes = {result.key: result.change for result in self.list_results("other errors")}
        differences = {result.key: result.reason for result in self.list_results("different")}
        failures = {result.key: result.reason for result in self.list_results("failed")}

        def combine(earlier, today):
            """Return today's values by key of the record, and earlier ones of pending records."""
            return {key: value for key, value in earlier.items() if key in pending} | today

        other_errors = combine(before.other_errors if before else {}, changes)
        different = combine(before.different if before else {}, differences)
        failed = combine(before.failed if before else {}, failures)
        # 2) Collect the keys of same records by kernel. Refits by this kernel replace its earlier
        #    results, and leave the results of other kernels as they are.
        same = {}
        for name, keys in before.same.items() if before else ():
            valid = pending if name == kernel else pending | refitted
            same[name] = [key for key in keys if key in valid]
        same_today = sorted({result.key for result in self.list_results("same")})
        same[kernel] = [*same.get(kernel, ()), *same_today][-_MAX_KEYS:]
        # 3) Judge the records of other kernels, whose errors differ, together: all of them are
        #    different, or none is.
        shift = systematic_difference(other_errors.values())
        if shift:
            sentence = f"errors differ by {shift:+.2f} points on average"
            different |= dict.fromkeys(other_errors, f"{sentence}, in {len(other_errors)} fits")
            other_errors = {}
        # 4) Set the time before which finished records are stale, if there is a difference. For a
        #    new difference, and if a record that was made after the earlier time differs, it is the
        #    start of this verification. Otherwise the earlier time holds, so that records that were
        #    made since then stay fresh.
        stale_before = before.stale_before if before else ""
        mismatched = {*different, *failed}
        finished = [fit.record.finished for fit in self.fits if fit.key in mismatched]
        if not stale_before or max(finished, default="") >= stale_before:
            stale_before = started
        return Finding(
            **self.group._asdict(),
            edition=self.fits[0].record.provenance.edition,
            state="failed" if failed else "different" if different else "same",
            commit=commit,
            when=now(),
            total=len(self.fits),
            same={name: keys for name, keys in same.items() if keys},
            other_errors=other_errors,
            different=different,
            failed=failed,
            stale_before=stale_before if mismatched else "",
        )


# ---------------------------------------------------------------------------------------------
# All groups


class Refit(NamedTuple):
    """Record that is fitted again.

    Attributes
    ----------
    group_check : GroupCheck
        Check of the record's group, which gets the result.
    fit : RecordedFit
        The record.
    """

    group_check: GroupCheck
    fit: RecordedFit


def draw_refits(group_checks: Iterable[GroupCheck], salt: str, kernel: str) -> list[Refit]:
    """Return the records to refit in their order, of which a small budget takes the first ones.

    1. Groups that differed before.
    2. One quick record of each algorithm with its choices, so that a small budget finds a change of
       any algorithm.
    3. Groups that are not verified yet: a first record of each group, then a second one, and so on.
    4. Verified groups, in the same way.

    Within each item, records that took longer than `MAX_SECONDS` come last. Among records that are
    drawn at the same position, groups of which this kernel has repeated no record come first.

    Parameters
    ----------
    group_checks : iterable of GroupCheck
    salt : str
        Text on which the draw depends, such as the commit.
    kernel : str
        BLAS kernel of the refits.
    """
    # 1) Draw records of each group. Order the groups, quick ones before slow ones; among these,
    #    groups of which this kernel has repeated a record come first, and digests give a random
    #    order.
    drawn = {group_check.group: group_check.draw(salt, kernel) for group_check in group_checks}
    group_checks = sorted(
        group_checks,
        key=lambda group_check: (
            drawn[group_check.group][0].seconds > MAX_SECONDS,
            not group_check.keys_repeated_by(kernel),
            digest([salt, *group_check.group]),
        ),
    )
    # 2) Take the first group of each algorithm with its choices.
    first_of_algorithm = {}
    for group_check in group_checks:
        first_of_algorithm.setdefault(group_check.group.algorithm, group_check)

    def sort_key(refit: Refit, position: int) -> tuple:
        """Return the sort key of a refit, whose record was drawn at a position in its group.

        False comes before True.
        """
        group_check, fit = refit
        group, finding = group_check.group, group_check.finding
        has_differed = bool(finding and finding.stale_before)
        is_verified = bool(finding and finding.is_verified)
        is_slow = fit.seconds > MAX_SECONDS
        represents_algorithm = group_check is first_of_algorithm[group.algorithm]
        is_first_of_algorithm = represents_algorithm and position == 0 and not is_slow
        return (
            not has_differed,  # groups of item 1 of the docstring
            not is_first_of_algorithm,  # records of item 2
            is_verified and not is_first_of_algorithm,  # item 3 before item 4
            is_slow,
            position,
            bool(group_check.keys_repeated_by(kernel)),
            digest([salt, group.data]),  # groups of one data set, which is loaded once
            group,
        )

    # 3) Sort the records of all groups by these keys.
    refits = [
        (Refit(group_check, fit), position)
        for group_check in group_checks
        for position, fit in enumerate(drawn[group_check.group])
    ]
    return [refit for refit, _ in sorted(refits, key=lambda entry: sort_key(*entry))]


def select_affordable(refits: Iterable[Refit], budget: float) -> Iterator[Refit]:
    """Yield the refits that a budget suffices for, in recorded CPU seconds.

    Recorded seconds are the same on every machine, and so is the selection. A record that has been
    skipped when the next one is asked for costs nothing.
    """
    for refit in refits:
        cost = max(MIN_SECONDS, refit.fit.seconds)
        if cost <= budget:
            yield refit
            if not refit.group_check.is_skipped(refit.fit):
                budget -= cost


@dataclass(frozen=True, eq=False)
class _Task:
    """Refit with its trial and its data; a `Work` of `boostbench.fitting.trial` for the workers.

    Attributes
    ----------
    group_check, fit
        See `Refit`.
    trial : Trial
        Trial that repeats the recorded fit.
    dataset : Dataset
        Data set of the record.
    """

    group_check: GroupCheck
    fit: RecordedFit
    trial: Trial
    dataset: Dataset


def refit_records(
    refits: Iterable[Refit],
    find_data: Callable[[Record], Dataset],
    workers: Workers,
    kernel: str,
    *,
    budget: float = float("inf"),
    is_same_kernel: bool = False,
) -> Iterator[Refit]:
    """Refit records, and add the results to their groups.

    Parameters
    ----------
    refits : iterable of Refit
    find_data : callable
        Returns the data set of a record; raises UserError if it is not available.
    workers : Workers
    kernel : str
        BLAS kernel of the workers.
    budget : float, default=inf
        CPU seconds, see `select_affordable`.
    is_same_kernel : bool, default=False
        True if that kernel made all records.

    Yields
    ------
    Refit
        Each refit after its comparison.
    """

    def plan_tasks() -> Iterator[_Task]:
        """Yield tasks for the workers; add a result for a record that cannot be fitted again."""
        for group_check, fit in select_affordable(refits, budget):
            try:
                dataset = find_data(fit.record)
                trial = plan_refit(fit.record, dataset)
            except UserError as error:
                group_check.results.append(RefitResult(fit.key, "skipped", str(error)))
                continue
            if trial.split.checksum == fit.record.rows:
                yield _Task(group_check, fit, trial, dataset)
            elif trial.protocol.sampling in ("fixed", "official"):
                reason = "its splits are no longer the recorded ones"
                group_check.results.append(RefitResult(fit.key, "skipped", reason))
            else:
                reason = f"{fit.label}: today's code draws other rows"
                group_check.results.append(RefitResult(fit.key, "different", reason))

    for task, outcome in workers(plan_tasks()):
        task.group_check.add(task.fit, outcome, kernel, is_same_kernel)
        yield Refit(task.group_check, task.fit)
