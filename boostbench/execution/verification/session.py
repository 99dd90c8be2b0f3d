"""Whether today's code gives what is on record: records are drawn, fitted again and compared.

Of each group (`boostbench.records.verified.Group`) is said whether it is

- *verified*: five records or more came out as they are, or all there are, and none otherwise;
- *refuted*: one came out otherwise by the kernel of BLAS that made it, or many did systematically;
- *compatible*: they came out as they are, or otherwise without a system by another kernel;
- *equivalent*: they came out otherwise, but as good (`settle_equivalence`);
- *unverified*: too few have been fitted again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from boostbench.data.dataset import Dataset
from boostbench.execution.verification.compare import N_PAIRS, error_of, why_not_equivalent
from boostbench.execution.verification.refit import refit
from boostbench.execution.verification.tally import ENOUGH, SPAN, GroupTally, Member
from boostbench.execution.workers import Workers
from boostbench.fitting.trial import Trial
from boostbench.records.keys import digest
from boostbench.util.errors import UserError

# A budget counts each fit as so many CPU seconds or more: splits and comparisons take some too.
_LEAST = 0.1


def draws(
    tallies: Sequence[GroupTally], salt: str, blas: str
) -> Iterator[list[tuple[GroupTally, Member]]]:
    """Draw records, pass by pass: what a short budget leaves out is another with the next commit.

    The first pass has a record of one group of every algorithm and its choices, if possible one
    that came out as it is before. The second has one of each other group, and the following ones a
    further record of all. Within a pass, groups of which nothing is known come first, what takes
    long comes last, and those of a data set follow each other.
    """
    orders = {tally.group: tally.order(salt, blas)[:ENOUGH] for tally in tallies}

    def rank(tally: GroupTally) -> tuple:
        is_dear = orders[tally.group][0].seconds > SPAN[1]
        is_new = not tally.knows(blas)
        lots = digest([salt, *tally.group])
        return not (tally.known and tally.known.refuted), is_dear, is_new, lots

    firsts = {min(some, key=rank).group for some in _by_algorithm(tallies).values()}
    passes = [[] for _ in range(ENOUGH + 1)]
    for tally in tallies:
        for place, member in enumerate(orders[tally.group]):
            is_first = place == 0 and tally.group in firsts
            passes[0 if is_first else place + 1].append((tally, member))
    for drawn in passes:
        drawn.sort(
            key=lambda pair: (
                pair[0].knows(blas),
                max(pair[1].seconds, SPAN[1]),
                digest([salt, pair[0].group.data]),
                pair[0].group,
            )
        )
        yield drawn


def within(
    drawn: Iterable[tuple[GroupTally, Member]], budget: float
) -> Iterator[tuple[GroupTally, Member]]:
    """Give those for which a budget suffices, in CPU seconds as they are on record.

    So the same ones are fitted on every machine. What turns out not to be there costs nothing.
    """
    for tally, member in drawn:
        cost = max(_LEAST, member.seconds)
        if cost <= budget:
            yield tally, member
            if member.key not in tally.skipped:
                budget -= cost


def further(tallies: Iterable[GroupTally], salt: str) -> list[tuple[GroupTally, Member]]:
    """Draw the pairs that equivalence lacks, of algorithms of which a record came out otherwise."""
    members = []
    for some in _by_algorithm(tallies).values():
        if not any(tally.unlike or tally.refuted for tally in some):
            continue
        rest = [
            (tally, member)
            for tally in some
            for member in tally.members
            if member.key not in tally.pairs and error_of(member.record) is not None
        ]
        rest.sort(key=lambda pair: (pair[1].seconds > SPAN[1], digest([salt, pair[1].key])))
        members += rest[: max(0, N_PAIRS - sum(len(tally.pairs) for tally in some))]
    return sorted(members, key=lambda pair: pair[0].group.data)


def settle_equivalence(tallies: Iterable[GroupTally]) -> list[str]:
    """Mark groups whose errors are those on record, on average over an algorithm's pairs.

    Returns
    -------
    list of str
        Why algorithms are not equivalent.
    """
    reasons = []
    for some in _by_algorithm(tallies).values():
        differing = [tally for tally in some if tally.unlike or tally.refuted]
        if not differing:
            continue
        errors = [error for tally in some for error in tally.pairs.values()]
        reason = why_not_equivalent(errors)
        if reason:
            reasons.append(
                f"{str(differing[0].group).rpartition(' on ')[0]} is not equivalent: {reason}"
            )
        for tally in differing:
            tally.is_equivalent = not reason
    return reasons


def _by_algorithm(tallies: Iterable[GroupTally]) -> dict[tuple[str, str], list[GroupTally]]:
    by_algorithm: dict[tuple[str, str], list[GroupTally]] = {}
    for tally in tallies:
        by_algorithm.setdefault(tally.group[:2], []).append(tally)
    return by_algorithm


@dataclass(frozen=True, eq=False)
class _Drawn:
    tally: GroupTally
    member: Member
    trial: Trial
    dataset: Dataset


def fit(
    drawn: Iterable[tuple[GroupTally, Member]],
    find: Callable[[Mapping], Dataset],
    workers: Workers,
    blas: str,
    *,
    budget: float = float("inf"),
    is_same_kernel: bool = False,
) -> Iterator[tuple[GroupTally, Member]]:
    """Fit drawn records again, and tell their tallies what came out.

    Parameters
    ----------
    drawn : iterable of (Tally, Member)
    find : callable
        Gives the data set of a record; a `UserError` says why it is not there.
    workers : Workers
    blas : str
        The kernel that fits.
    budget : float, default=inf
        See `within`.
    is_same_kernel : bool, default=False
        Whether that kernel made the records.

    Yields
    ------
    (Tally, Member)
        Each that has been fitted.
    """

    def work() -> Iterator[_Drawn]:
        for tally, member in within(drawn, budget):
            try:
                dataset = find(member.record)
                trial = refit(member.record, dataset)
            except UserError as error:
                tally.skipped[member.key] = str(error)
                continue
            yield _Drawn(tally, member, trial, dataset)

    for done, outcome in workers(work()):
        done.tally.add(done.member, outcome, blas, is_same_kernel)
        yield done.tally, done.member
