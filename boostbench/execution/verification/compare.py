"""What a fit gives otherwise than the record of it, and whether that is more than chance."""

import json
import math
from collections.abc import Collection, Mapping
from statistics import fmean, stdev

import numpy as np
from scipy import stats

from boostbench.records.lines import CIRCUMSTANCES

#: How far numbers may be apart, as a share, by the same kernel of BLAS, and scores by another one.
SAME, ALIKE = 1e-8, 1e-3
#: Differences in error that would be as large by chance in this share of cases are systematic.
LEVEL = 0.01
#: For equivalence: pairs that a mean difference needs, the confidence of its interval, and how far
#: from 0 this may reach, in percentage points.
N_PAIRS, CONFIDENCE, MARGIN = 30, 0.99, 0.1

# What a fit does not decide.
_APART = CIRCUMSTANCES | {"split", "fold", "rows", "chosen"}
# What cross-validation decides: the trial of a point does not measure it, a split not its choice.
_OF_TRIAL, _OF_SPLIT = {"point", "points"}, {"validation_error"}


def what_differs(record: Mapping, outcome: Mapping) -> list[str]:
    """Name what a fit gives otherwise than the record, each in words.

    Only what both hold is compared: a later measure may give more. What today gives no more is a
    difference.
    """
    if "error" in outcome:
        return [f"today it fails: {outcome['error']}"]
    names = record.keys() - _APART - (_OF_TRIAL if "fold" in record else _OF_SPLIT)
    return [
        f"{name} is {_short(record[name])} on record, {_short(outcome.get(name))} today"
        for name in sorted(names)
        if not _equal(record[name], outcome.get(name))
    ]


def error_of(record: Mapping) -> float | None:
    """Give the error on samples that were held back, a fraction; None where there is none."""
    if "validation_errors" in record:
        return fmean(record["validation_errors"])
    for name in ("test_error", "validation_error"):
        if record.get(name) is not None:
            return record[name]
    if "mean_average_precision" in record:
        return 1 - record["mean_average_precision"]
    return None


def systematic(errors: Collection[float | None]) -> float | None:
    """Say by how much errors differ on average; None where that may be chance.

    How often would the mean be as far from 0 if the sign of each difference were drawn? Up to 13
    differences the test is exact; of more, 9999 drawings of signs, always the same. Eight
    differences of one sign are needed.

    Parameters
    ----------
    errors : collection of float
        Differences in error; None is passed over.
    """
    known = np.array([error for error in errors if error])
    if len(known) < 2:
        return None
    test = stats.permutation_test(
        (known,), np.mean, permutation_type="samples", n_resamples=9999, rng=0
    )
    return float(known.mean()) if test.pvalue < LEVEL else None


def why_not_equivalent(errors: Collection[float]) -> str:
    """Say why differences in error, in percentage points, are no equivalence; or nothing."""
    if len(errors) < N_PAIRS:
        return f"{len(errors)} pairs with an error, of {N_PAIRS} that equivalence asks for"
    half = stats.t.ppf((1 + CONFIDENCE) / 2, len(errors) - 1) * stdev(errors)
    half /= math.sqrt(len(errors))
    mean = fmean(errors)
    if abs(mean) + half <= MARGIN:
        return ""
    return (
        f"the error differs by {mean:+.3f} points on average, and the interval from "
        f"{mean - half:+.3f} to {mean + half:+.3f} reaches beyond {MARGIN}"
    )


def are_alike(then: Mapping | None, now: Mapping | None) -> bool:
    """Whether the scores of two kernels are near to each other at all checkpoints."""
    if not then or not now or then.keys() != now.keys():
        return False
    return all(math.isclose(then[stage], now[stage], rel_tol=ALIKE) for stage in then)


def _equal(a, b) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_equal(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, float) or isinstance(b, float):
        are_numbers = all(isinstance(x, int | float) for x in (a, b))
        return are_numbers and math.isclose(a, b, rel_tol=SAME)
    return a == b


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
