"""What there is to say of a cell beside its number."""

from collections import Counter
from collections.abc import Mapping
from math import isnan

from boostbench.report import numbers
from boostbench.report.cells import STALE, Cell
from boostbench.report.tables import PARTIAL
from boostbench.report.verdicts import MEANING

_TIMES = {"fit": "fit", "weak_learner": "weak learners", "coefficients": "coefficients"}


def details(cell: Cell) -> list[tuple[str, str]]:
    """Tell all that is known of a cell.

    Parameters
    ----------
    cell : Cell
        The cell.

    Returns
    -------
    list of (str, str)
        Terms and what they are, without those of which nothing is known.
    """
    facts = [
        ("Ours", _ours(cell)),
        ("Published", _published(cell)),
        ("Difference", _difference(cell)),
        ("Verdict", cell.verdict),
        ("Note", cell.note or ""),
        ("Rounds", _rounds(cell)),
        ("CPU seconds", _seconds(cell)),
        ("Published CPU", _published_seconds(cell)),
        ("Chosen", cell.chosen),
        ("Failed", _failures(cell)),
        (PARTIAL, f"over {cell.splits} splits: the others failed or have not run")
        if cell.is_partial
        else ("", ""),
        (STALE, f"{cell.stale} of {len(cell.records)} splits were made by other code than today's")
        if cell.stale
        else ("", ""),
        ("Config", _config(cell)),
        ("Recorded", _recorded(cell)),
    ]
    return [(term, text) for term, text in facts if text]


def _ours(cell: Cell) -> str:
    if not cell.errors:
        return f"{cell.text}: {MEANING[cell.text]}"
    n = len(cell.errors)
    return f"{_number(cell.mean, cell.std)} %, {n} {'splits' if n > 1 else 'split'}"


def _published(cell: Cell) -> str:
    published = cell.published
    if not cell.has_published_error:
        return "no test error"
    return f"{numbers.mean_std(published.mean, published.std)} %, {published.n} repeats"


def _difference(cell: Cell) -> str:
    agreement = cell.agreement
    if agreement is None:
        return ""
    if isnan(agreement.low):
        return f"{_signed(agreement.difference)}, no interval: a standard deviation is not known"
    interval = f"{_signed(agreement.low)} to {_signed(agreement.high)}"
    return f"{_signed(agreement.difference)}, Welch’s 95% interval {interval}"


def _rounds(cell: Cell) -> str:
    done = cell.n_iterations
    if done is None:
        return ""
    asked = f"test error after {cell.rounds}; " if cell.rounds else ""
    return f"{asked}{done:.0f} done"


def _seconds(cell: Cell) -> str:
    if not cell.records:
        return ""
    spent = {part: cell.seconds(part) for part in (*_TIMES, "predict_per_instance")}
    return f"{_times(spent)}; reference job {numbers.seconds(cell.seconds('calibration'))}"


def _published_seconds(cell: Cell) -> str:
    return _times(cell.published.seconds) if cell.published else ""


def _times(spent: Mapping[str, float | None]) -> str:
    texts = [
        f"{name} {numbers.seconds(spent[part])}" for part, name in _TIMES.items() if spent.get(part)
    ]
    prediction = spent.get("predict_per_instance")
    if prediction:
        texts.append(f"prediction {numbers.seconds(1e6 * prediction)} µs an instance")
    return ", ".join(texts)


def _failures(cell: Cell) -> str:
    errors = Counter(failure["error"] for failure in cell.failures)
    return "; ".join(f"{count} × {error}" for error, count in errors.most_common())


def _config(cell: Cell) -> str:
    configs = dict.fromkeys(record["config_hash"] for record in cell.records)
    seeds = dict.fromkeys(str(record["config"]["seed"]) for record in cell.records)
    codes = dict.fromkeys(record["fingerprint"] for record in cell.records)
    if not configs:
        return ""
    return f"{', '.join(configs)}, seed {', '.join(seeds)}, code {', '.join(codes)}"


def _recorded(cell: Cell) -> str:
    dates = sorted(record["finished"] for record in cell.records)
    return " to ".join(dict.fromkeys((dates[0][:10], dates[-1][:10]))) if dates else ""


def _number(mean: float, std: float) -> str:
    # One digit more than in the table.
    return f"{mean:.2f}" if isnan(std) else f"{mean:.2f} ({std:.2f})"


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
