"""The course of a certification: what is fitted, in which order, and what is made of it."""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from boostbench.data.dataset import Dataset
from boostbench.errors import UserError
from boostbench.experiment.calibration import calibration
from boostbench.experiment.certificates import Certificate, file_certificate
from boostbench.experiment.certify.checkouts import Repository
from boostbench.experiment.certify.children import Fit, Fleet
from boostbench.experiment.certify.pairs import N_PAIRS, TOLERANCE, Pair, mean_difference, on_record
from boostbench.experiment.certify.samples import Group, Sample
from boostbench.experiment.runner import Finished, Interrupted, Planned

# What a fit costs besides the fit: preparation, and predictions at the checkpoints.
_OVERHEAD = 0.05


@dataclass
class Finding:
    """What has become of a group of records.

    Attributes
    ----------
    group : Group
    pairs : list of Pair
        What has been compared.
    skipped : dict of str to str
        Configurations that could not be sampled, and why.
    grade : str or None
        Of the certificate that was written, if one was.
    covered : list of str
        Configurations for which it holds.
    reasons : list of str
        Why there is none.
    is_refused : bool
        Whether the group could not be looked at.
    """

    group: Group
    pairs: list[Pair] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    grade: str | None = None
    covered: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    is_refused: bool = False

    @property
    def sampled(self) -> list[str]:
        """Configurations of which all that was drawn has been compared."""
        compared = {id(pair.sample) for pair in self.pairs}
        return [
            one
            for one in self.group.configurations
            if all(id(sample) in compared for sample in self.group.drawn(one))
        ]

    @property
    def left(self) -> list[str]:
        """Configurations that the budget has left out."""
        known = {*self.sampled, *self.skipped}
        return [one for one in self.group.configurations if one not in known]

    @property
    def differing(self) -> list[Pair]:
        """Pairs that are not identical."""
        return [pair for pair in self.pairs if pair.differences]

    @property
    def failed(self) -> list[Pair]:
        """Pairs that were not fitted by both codes."""
        return [pair for pair in self.pairs if pair.has_failed]


class Session:
    """A certification of some groups of records.

    Parameters
    ----------
    groups : sequence of Group
    results : Path
        Folder of the records; certificates and what is fitted are kept there.
    n_jobs : int, default=1
        How many fits run at a time.
    budget : float, default=None
        Seconds that it may take. Configurations that are cheap to sample come first.

    Attributes
    ----------
    findings : list of Finding
        One for each group.
    """

    def __init__(
        self, groups: Sequence[Group], results: Path, n_jobs: int = 1, budget: float | None = None
    ):
        self.results, self.n_jobs, self.budget = Path(results), n_jobs, budget
        self.findings = [Finding(group) for group in groups]
        self._speeds = {id(group): _speed(group) for group in groups}
        self._is_kept: Callable[[Sample], bool] = lambda sample: False

    def plan(self) -> tuple[list[tuple[Finding, Sample]], float]:
        """Choose the configurations that are to be sampled, the cheapest first.

        Returns
        -------
        samples : list of (Finding, Sample)
            What stands for them, in the order in which it is to be fitted.
        seconds : float
            CPU seconds that this takes.
        """
        by_cost = []
        for finding in self._open():
            for one in finding.group.configurations:
                drawn = [(finding, sample) for sample in finding.group.drawn(one)]
                by_cost.append((sum(self.cost(*each) for each in drawn), drawn))
        chosen, spent = [], 0.0
        for cost, drawn in sorted(by_cost, key=lambda each: each[0]):
            if self.budget is None or (spent + cost) / self.n_jobs <= self.budget:
                spent += cost
                chosen += drawn
        return chosen, spent

    def cost(self, finding: Finding, sample: Sample) -> float:
        """Estimate the CPU seconds of a sample; none if it was fitted before.

        They are those of today's code where the record names the predictions, else of both codes.
        """
        if self._is_kept(sample):
            return 0.0
        spent, calibrated = sample.seconds()
        speed = calibration() / calibrated if calibrated else self._speeds[id(finding.group)]
        return (1 if sample.names_predictions else 2) * (spent * speed + _OVERHEAD)

    def run(
        self,
        repository: Repository,
        datasets: Callable[[dict], Dataset],
        verdict_changes: Callable[[Sequence[Pair]], list[str]],
        progress: Callable[[], contextlib.AbstractContextManager[Callable]],
    ) -> None:
        """Fit, compare, and write certificates.

        Parameters
        ----------
        repository : Repository
            Of today's code.
        datasets : callable
            Gives the data set of the ``data`` of a record's config; raises UserError for want of
            it.
        verdict_changes : callable
            Names the cells of tables whose verdicts would be others with the errors of today.
        progress : callable
            Makes a listener for the events of `boostbench.experiment.runner`.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; what had been fitted is kept for the next time.
        """
        until = None if self.budget is None else time.monotonic() + self.budget
        with contextlib.ExitStack() as stack:
            sources = self._check_out(repository, stack)
            kept = self.results / ".certify" / "fits.jsonl"
            fleet = stack.enter_context(Fleet(sources, self.n_jobs, kept))
            work = _Work(fleet, repository.head, datasets, until)
            self._is_kept = work.is_kept
            for finding in self._open():
                work.check(finding)
            _compare(work, self.plan()[0], progress)
            others = [(finding, sample) for finding in self._open() for sample in _more(finding)]
            if others:
                _compare(work, others, progress)
            for finding in self._open():
                _settle(finding, verdict_changes)
                for certificate in work.certificates(finding):
                    file_certificate(self.results, certificate)

    def _open(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.is_refused]

    def _check_out(self, repository: Repository, stack: contextlib.ExitStack) -> dict[str, Path]:
        """Check out each commit; refuse the groups whose commit is not to be had."""
        sources = {repository.head: stack.enter_context(repository.checkout(repository.head))}
        for finding in self._open():
            with _refusing(finding):
                for commit in set(finding.group.commits) - sources.keys():
                    sources[commit] = stack.enter_context(repository.checkout(commit))
        return sources


class _Work:
    """Fitting samples by two codes each, and filing what comes of it with the findings."""

    def __init__(
        self,
        fleet: Fleet,
        head: str,
        datasets: Callable[[dict], Dataset],
        until: float | None,
    ):
        self.fleet, self.head, self.datasets, self.until = fleet, head, datasets, until

    def check(self, finding: Finding) -> None:
        """Refuse the group unless both codes run, and are the ones that are meant."""
        with _refusing(finding):
            for (before, after, commit), sample in finding.group.codes.items():
                self.fleet.check(commit, sample.request, before)
                self.fleet.check(self.head, sample.request, after)

    def is_kept(self, sample: Sample) -> bool:
        """Whether all that is certainly needed has been fitted before."""
        return all(self.fleet.is_kept(fit) for fit in self._first(sample).values())

    def compare(self, samples: Sequence[tuple[Finding, Sample]]) -> Iterator[Sample]:
        """Compare fits, as long as there is time to begin; give what is done.

        Where a record names the predictions, today's code alone is fitted first. The other code
        follows if today's gives something else: the machine may be the reason.
        """
        others = []
        for finding, sample, found in self._fitted(samples, self._first):
            pair = Pair(
                sample, found.get("before") or on_record(sample, found["after"]), found["after"]
            )
            if "before" not in found and not pair.is_skipped and pair.differences:
                others.append((finding, sample))
                continue
            _file(finding, pair)
            yield sample
        for finding, sample, found in self._fitted(others, self._fits):
            _file(finding, Pair(sample, **found))
            yield sample

    def _fitted(
        self,
        samples: Sequence[tuple[Finding, Sample]],
        fits_of: Callable[[Sample], dict[str, Fit]],
    ) -> Iterator[tuple[Finding, Sample, dict[str, dict]]]:
        """Give the answers to all fits of a sample at once, as they finish."""
        asked: dict[int, tuple[Finding, Sample, str, int]] = {}
        answers: dict[int, dict[str, dict]] = {}

        def fits() -> Iterator[Fit]:
            for finding, sample in samples:
                if self.until is not None and time.monotonic() > self.until:
                    return
                its_fits = fits_of(sample)
                for side, fit in its_fits.items():
                    asked[id(fit)] = finding, sample, side, len(its_fits)
                    yield fit

        for fit, answer in self.fleet.run(fits()):
            finding, sample, side, number = asked.pop(id(fit))
            found = answers.setdefault(id(sample), {})
            found[side] = answer
            if len(found) == number:
                yield finding, sample, answers.pop(id(sample))

    def certificates(self, finding: Finding) -> Iterator[Certificate]:
        """Write down what was found, a certificate for each of the codes."""
        for before, after, commit in finding.group.codes:
            covered = [
                one
                for one in finding.covered
                if all((s.before, s.after) == (before, after) for s in finding.group.drawn(one))
            ]
            if covered:
                yield Certificate(
                    target=finding.group.target,
                    before=before,
                    after=after,
                    commits={"before": commit, "after": self.head},
                    grade=finding.grade,
                    configurations=sorted(covered),
                    sample=[pair.summary() for pair in finding.pairs],
                    environments={
                        "before": self.fleet.environments[commit],
                        "after": self.fleet.environments[self.head],
                    },
                    when=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                    seconds=round(sum(pair.seconds for pair in finding.pairs), 1),
                )

    def _first(self, sample: Sample) -> dict[str, Fit]:
        fits = self._fits(sample)
        return {"after": fits["after"]} if sample.names_predictions else fits

    def _fits(self, sample: Sample) -> dict[str, Fit]:
        record = sample.record
        name = [record["config_hash"], record["key"], sample.points, record.get("chosen")]

        @functools.cache
        def job() -> dict:
            dataset = self.datasets(sample.config["data"])
            self.fleet.share(dataset)
            return sample.job(dataset)

        return {
            "before": Fit(sample.commit, sample.before, name, job),
            "after": Fit(self.head, sample.after, name, job),
        }


def _compare(work: _Work, drawn: Sequence[tuple[Finding, Sample]], progress: Callable) -> None:
    """Fit samples by both codes, and show how far it is."""
    done, n_tuning = 0, sum(sample.is_tuning for _, sample in drawn)
    with progress() as on_event:
        on_event(Planned(n_tuning, len(drawn) - n_tuning, 0))
        try:
            for sample in work.compare(drawn):
                done += 1
                on_event(Finished(sample.is_tuning, sample.label, None, None))
        except KeyboardInterrupt:
            on_event(Interrupted(done, len(drawn)))
            raise


def _file(finding: Finding, pair: Pair) -> None:
    if pair.is_skipped:
        reason = pair.before.get("skipped") or pair.after["skipped"]
        finding.skipped[pair.sample.record["config_hash"]] = reason
    else:
        finding.pairs.append(pair)


@contextlib.contextmanager
def _refusing(finding: Finding) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        finding.reasons.append(str(error))
        finding.is_refused = True


def _speed(group: Group) -> float:
    """Say how much slower this machine is than those of the records, going by the usual job."""
    known = {
        calibrated
        for config_hash in group.configurations
        for _, calibrated in (sample.seconds() for sample in group.drawn(config_hash))
        if calibrated
    }
    return calibration() / median(known) if known else 1.0


def _more(finding: Finding) -> list[Sample]:
    """Give the samples that a mean difference in error lacks."""
    if not finding.differing or finding.failed:
        return []
    n_known = sum(pair.error is not None for pair in finding.pairs)
    others = finding.group.others([pair.sample for pair in finding.pairs])
    return others[: max(0, N_PAIRS - n_known)]


def _settle(finding: Finding, verdict_changes: Callable[[Sequence[Pair]], list[str]]) -> None:
    """Decide on the grade, and for which configurations it holds."""
    sampled = finding.sampled
    if not sampled:
        return
    if not finding.differing:
        finding.grade, finding.covered = "identical", sampled
        return
    finding.reasons = _why_not_equivalent(finding, verdict_changes)
    if not finding.reasons:
        finding.grade = "equivalent"
        # Of maps and paths there is no error that could be alike.
        finding.covered = [
            one for one in sampled if all(s.has_error for s in finding.group.drawn(one))
        ]


def _why_not_equivalent(
    finding: Finding, verdict_changes: Callable[[Sequence[Pair]], list[str]]
) -> list[str]:
    if finding.failed:
        n_failed, n_pairs = len(finding.failed), len(finding.pairs)
        return [f"{n_failed} of {n_pairs} samples could not be fitted by both codes"]
    known = [pair for pair in finding.pairs if pair.error is not None]
    if len(known) < N_PAIRS:
        return [f"{len(known)} pairs with an error, of {N_PAIRS} that equivalence asks for"]
    mean, low, high = mean_difference(known)
    if max(-low, high) > TOLERANCE:
        return [
            f"the error differs by {mean:+.3f} points on average, and the interval from {low:+.3f} "
            f"to {high:+.3f} reaches beyond {TOLERANCE}"
        ]
    return [f"another verdict: {cell}" for cell in verdict_changes(known)]
