"""What is known of a group of records, and what their fits of today say.

Which kernel of BLAS made a record, the record says, or another fit that came out as it is: older
records name none. On another operating system a kernel of the same name is another one, as its
compiler and library of mathematics are others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from boostbench.execution.verification.compare import are_alike, error_of, systematic, what_differs
from boostbench.execution.verification.refit import seconds_of
from boostbench.records.environment import now, system
from boostbench.records.keys import digest
from boostbench.records.makers import FIRST_EDITION
from boostbench.records.verified import Finding, Group

#: So many records of a group have to come out as they are.
ENOUGH = 5
#: Records that took so many CPU seconds are drawn; cheaper ones show little, dearer ones take long.
SPAN = 0.1, 5.0
#: So many keys of records are kept of each group and kernel.
_KEPT = 30


@dataclass(frozen=True, eq=False)
class Member:
    """A record that can be drawn.

    Attributes
    ----------
    record : dict
    label : str
        The record in words.
    seconds : float
        CPU seconds of its fits.
    """

    record: Mapping
    label: str
    seconds: float

    @property
    def key(self) -> str:
        """The record's key."""
        return self.record["key"]

    @classmethod
    def of(cls, record: Mapping, name: str) -> "Member":
        """Make it of a record that was found in the file of an algorithm."""
        fold = f", fold {record['fold']}" if "fold" in record else ""
        label = f"{name} on {record['config']['data']['name']}, split {record['split']}{fold}"
        return cls(record, label, seconds_of(record))


@dataclass
class GroupTally:
    """What is known of a group, and what has been found today.

    Attributes
    ----------
    group : Group
    members : list of Member
        Records of today's edition.
    known : Finding or None
        What was known before.
    same : dict of str to Member
        By key, what came out as it is on record.
    refuted : dict of str to str
        What differs, where nothing may.
    unlike : dict of str to float
        See `boostbench.records.verified.Finding`.
    pairs : dict of str to float
        By key, differences in error of all that has been fitted today.
    skipped : dict of str to str
        What could not be fitted, and why.
    """

    group: Group
    members: list[Member]
    known: Finding | None
    same: dict[str, Member] = field(default_factory=dict)
    refuted: dict[str, str] = field(default_factory=dict)
    unlike: dict[str, float | None] = field(default_factory=dict)
    pairs: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    is_equivalent: bool = False

    def knows(self, blas: str) -> bool:
        """Whether one of its records came out as it is by a kernel of BLAS before."""
        return self.known is not None and bool(self.known.agreed.get(blas))

    def order(self, salt: str, blas: str) -> list[Member]:
        """Put those that can be drawn in their order: it differs from commit to commit.

        What refuted the group comes first, then one that came out as it is by this kernel before,
        so that a difference is no question, then what has not been drawn yet. Of the others those
        in `SPAN` come before cheaper ones, and these before dearer ones, the cheapest first.
        """
        known = self.known
        agreed = set(known.agreed.get(blas, ())) if known else set()
        refuted = known.refuted if known else {}

        def rank(member: Member) -> tuple:
            cost = member.seconds if member.seconds > SPAN[1] else float(member.seconds < SPAN[0])
            return member.key not in refuted, cost, digest([salt, member.key])

        drawn = sorted(self.members, key=rank)
        first = next((m for m in drawn if m.key in agreed), None)
        if first and drawn[0].key not in refuted:
            rest = [m for m in drawn if m is not first]
            drawn = [first, *sorted(rest, key=lambda m: m.key in agreed)]
        return drawn

    def add(self, member: Member, outcome: Mapping, blas: str, is_same_kernel: bool) -> None:
        """Compare what came out of a fit with the record.

        Parameters
        ----------
        member : Member
        outcome : dict
            See `boostbench.fitting.trial.run_trial`.
        blas : str
            Kernel of BLAS by which it was fitted.
        is_same_kernel : bool
            Whether the record was made by that kernel, whatever is known of it.
        """
        record, known = member.record, self.known
        differing = what_differs(record, outcome)
        then, now = error_of(record), error_of(outcome)
        if None not in (then, now):
            self.pairs[member.key] = 100 * (now - then)
        if not differing:
            self.same[member.key] = member
            return
        made = record["environment"] or {}
        agreed = known.agreed.get(blas, ()) if known else ()
        # What is equivalent differs, and that is known.
        is_settled = known is not None and known.state == "equivalent"
        is_by_this_kernel = made.get("blas") == blas or member.key in agreed
        is_here = made.get("system") in (None, system())
        is_same_kernel |= not is_settled and is_here and is_by_this_kernel
        if is_same_kernel or "error" in outcome:
            self.refuted[member.key] = f"{member.label}: {'; '.join(differing)}"
        elif are_alike(record.get("witness"), outcome.get("witness")):
            self.unlike[member.key] = 0.0
        else:
            self.unlike[member.key] = self.pairs.get(member.key)

    def finding(self, commit: str, blas: str, started: str) -> Finding:
        """Sum up; `started` is when the records were read."""
        known = self.known
        here = {m.key for m in self.members}
        settled = self.same.keys() | self.unlike.keys() | self.refuted.keys()
        agreed, unlike, refuted = {}, dict(self.unlike), dict(self.refuted)
        if known:
            agreed = {k: [key for key in v if key in here] for k, v in known.agreed.items()}
            unlike |= {k: v for k, v in known.unlike.items() if k in here - settled}
            refuted |= {k: v for k, v in known.refuted.items() if k in here - settled}
        for kernel, keys in agreed.items():
            if kernel == blas or self.is_equivalent:
                agreed[kernel] = [key for key in keys if key not in settled]
        agreed[blas] = [*agreed.get(blas, ()), *self.same][-_KEPT:]
        agreed = {kernel: keys for kernel, keys in agreed.items() if keys}
        system = systematic(unlike.values())
        if system:
            words = f"errors differ by {system:+.2f} points on average, in {len(unlike)} fits"
            refuted |= dict.fromkeys(unlike, words)
            unlike = {}
        if self.is_equivalent:
            refuted = {}
        n_same, total = len(set().union(*agreed.values())), len(self.members)
        if refuted:
            state = "refuted"
        elif self.is_equivalent:
            state = "equivalent"
        elif n_same + len(unlike) < min(ENOUGH, total):
            state = "unverified"
        else:
            state = "compatible" if unlike else "verified"
        return Finding(
            **self.group._asdict(),
            edition=self.members[0].record.get("edition", FIRST_EDITION),
            state=state,
            commit=commit,
            when=now(),
            total=total,
            agreed=agreed,
            unlike=unlike,
            refuted=refuted,
            until=self._until(refuted, started) if refuted else "",
        )

    def _until(self, refuted: Mapping[str, str], started: str) -> str:
        """Before when records are refuted: what was made again since then is no news."""
        before = self.known.until if self.known else ""
        finished = [m.record["finished"] for m in self.members if m.key in refuted]
        return before if before and max(finished, default="") < before else started
