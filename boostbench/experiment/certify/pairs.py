"""Whether two codes give the same: fit by fit, and as far as all fits of a class tell."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
from scipy import stats

from boostbench.experiment.certify.samples import NAMES, Sample
from boostbench.experiment.refit import decode

#: Pairs of fits that a mean difference in error needs.
N_PAIRS = 30
#: Confidence of its interval, and how far from 0 that may reach, in percentage points of error.
CONFIDENCE = 0.99
TOLERANCE = 0.1

_CPU = "seconds"


@dataclass(frozen=True, eq=False)
class Pair:
    """What two codes gave for one sample.

    Attributes
    ----------
    sample : Sample
    before, after : dict
        Answers of `boostbench.experiment.refit`; `before` may be from `on_record` instead.
    """

    sample: Sample
    before: Mapping
    after: Mapping

    @property
    def has_failed(self) -> bool:
        """Whether one of the codes could not fit it, or both."""
        return "error" in self.before or "error" in self.after

    @property
    def is_skipped(self) -> bool:
        """Whether it could not be asked for, such as for want of its data."""
        return "skipped" in self.before or "skipped" in self.after

    @property
    def differences(self) -> list[str]:
        """What differs, each in words; empty for identical fits."""
        for when, found in (("then", self.before), ("today", self.after)):
            if "error" in found:
                return [f"{when}: {found['error']}"]
        outcome, outputs = self.after["outcome"], self.after["outputs"]
        found = [
            f"{name}: {_short(value)} then, {_short(outcome.get(name))} today"
            for name, value in self.before["outcome"].items()
            # A later record may hold more, never less.
            if name != _CPU and not _equal(value, outcome.get(name))
        ]
        for stage, text in self.before["outputs"].items():
            if text != outputs.get(stage):
                found.append(f"{_n_other(text, outputs.get(stage))} at {stage}")
        return found

    @property
    def error(self) -> float | None:
        """Today's error less that of then, in percentage points; None where none is measured."""
        errors = [_error(found) for found in (self.before, self.after)]
        if not self.sample.has_error or None in errors:
            return None
        return 100 * (errors[1] - errors[0])

    @property
    def seconds(self) -> float:
        """CPU seconds of both fits."""
        return sum(found.get("seconds", 0.0) for found in (self.before, self.after))

    def summary(self) -> dict:
        """Give what a certificate says of the pair."""
        outcome, record = self.after["outcome"], self.sample.record
        return {
            "file": self.sample.file,
            "key": record["key"],
            "config_hash": record["config_hash"],
            "split": record["split"],
            "error": self.error,
            "rounds": outcome.get("n_iterations"),
            "size": outcome.get("n_parameters"),
        }


def on_record(sample: Sample, after: Mapping) -> dict:
    """Give what the older code found as far as the record tells, in place of another fit.

    Parameters
    ----------
    sample : Sample
        Whose record names the predictions.
    after : dict
        Answer of today's code.

    Returns
    -------
    dict
        As an answer of `boostbench.experiment.refit`, but without outputs: their names are in the
        outcome.
    """
    known = {*NAMES, *after.get("outcome", {})} & sample.record.keys()
    return {"outcome": {name: sample.record[name] for name in sorted(known)}, "outputs": {}}


def mean_difference(pairs: Sequence[Pair]) -> tuple[float, float, float]:
    """Give the mean difference in error, and its interval, in percentage points.

    Parameters
    ----------
    pairs : sequence of Pair
        Two or more with an error.

    Returns
    -------
    mean, low, high : float
        The interval is that of Student's t for `CONFIDENCE`.
    """
    errors = [pair.error for pair in pairs]
    half = stats.t.ppf((1 + CONFIDENCE) / 2, len(errors) - 1) * stdev(errors)
    half /= math.sqrt(len(errors))
    mean = fmean(errors)
    return mean, mean - half, mean + half


def _error(found: Mapping) -> float | None:
    outcome = found.get("outcome", {})
    if "validation_errors" in outcome:
        return fmean(outcome["validation_errors"])
    return outcome.get("validation_error", outcome.get("test_error"))


def _equal(a: object, b: object) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _n_other(then: str, today: str | None) -> str:
    """Count the outputs that differ: ``"3 of 250 outputs"``."""
    if today is None:
        return "no output today"
    a, b = decode(then), decode(today)
    if a.shape != b.shape:
        return f"outputs of shape {a.shape} then, {b.shape} today,"
    n_other = int(np.sum(a != b))
    return f"{n_other} of {a.size} outputs" if n_other else f"outputs are {a.dtype} then, {b.dtype}"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
