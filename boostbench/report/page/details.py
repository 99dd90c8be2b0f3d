"""What there is to say of a cell beside its number."""

from collections import Counter
from collections.abc import Mapping
from math import isfinite, isnan

from boostbench.experiment.quantities import CALIBRATION, QUANTITIES
from boostbench.report import numbers
from boostbench.report.cells import PARTIAL, STALE, Cell
from boostbench.report.statistics.agreement import BASES, POWER
from boostbench.report.verdicts import MEANING

_TIMES = {
    "fit": "fit {}",
    "weak_learner": "weak learners {}",
    "coefficients": "coefficients {}",
    "predict_per_instance": "prediction {} µs an instance",
}


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
        ("Detectable", _detectable(cell)),
        ("Verdict", cell.verdict),
        ("Basis", _basis(cell)),
        ("Not as there", ", ".join(cell.departures)),
        ("Note", cell.note or ""),
        ("Rounds", _rounds(cell)),
        ("CPU seconds", _seconds(cell)),
        ("Published CPU", _published_seconds(cell)),
        ("Chosen", cell.chosen),
        ("Failed", _failures(cell)),
        (PARTIAL, f"over {cell.splits} splits: the others failed or have not run")
        if cell.is_partial
        else ("", ""),
        (STALE, f"{cell.stale} of {len(cell.records)} splits are refuted or of another edition")
        if cell.stale
        else ("", ""),
        ("Config", _config(cell)),
        ("Recorded", _recorded(cell)),
    ]
    return [(term, text) for term, text in facts if text]


def _ours(cell: Cell) -> str:
    if not cell.values:
        return f"{cell.text}: {MEANING[cell.text]}"
    n = len(cell.values)
    # One digit more than in the table.
    number = numbers.mean_std(cell.mean, cell.std, cell.quantity.digits + 1)
    return f"{number}{_unit(cell)}, {n} {'splits' if n > 1 else 'split'}"


def _published(cell: Cell) -> str:
    target = cell.target
    if target is None:
        return f"no {cell.quantity.title.lower()}"
    return f"{cell.reference}{_unit(cell)}, {target.n} {'repeats' if target.n > 1 else 'run'}"


def _difference(cell: Cell) -> str:
    agreement = cell.agreement
    if agreement is None:
        return ""
    difference, welch = _signed(agreement.difference, cell), agreement.basis == "welch"
    if isnan(agreement.low):
        return f"{difference}, both standard deviations are 0" if welch else difference
    interval = f"{_signed(agreement.low, cell)} to {_signed(agreement.high, cell)}"
    return f"{difference}, {'Welch’s ' if welch else ''}95% interval {interval}"


def _detectable(cell: Cell) -> str:
    """Tell what difference would have been found, and what part of the published error it is."""
    agreement = cell.agreement
    if agreement is None or isnan(agreement.detectable):
        return ""
    size = f"{numbers.fixed(agreement.detectable, cell.quantity.digits + 1)}{_unit(cell)}"
    share = f", {agreement.share:.0%} of the published error" if isfinite(agreement.share) else ""
    return f"{size}{share}, with a probability of {POWER:.0%}"


def _basis(cell: Cell) -> str:
    """Name what a verdict rests on, where that is not Welch's interval."""
    agreement = cell.agreement
    return "" if agreement is None or agreement.basis == "welch" else BASES[agreement.basis]


def _rounds(cell: Cell) -> str:
    done = cell.n_iterations
    if done is None:
        return ""
    asked = f"{cell.quantity.title.lower()} after {cell.rounds}; " if cell.rounds else ""
    return f"{asked}{done:.0f} done"


def _seconds(cell: Cell) -> str:
    if not cell.records:
        return ""
    job = numbers.seconds(cell.average(CALIBRATION))
    return (
        f"{_times({name: cell.average(QUANTITIES[name]) for name in _TIMES})}; reference job {job}"
    )


def _published_seconds(cell: Cell) -> str:
    return _times({name: one.mean for name, one in cell.published.items()})


def _times(spent: Mapping[str, float | None]) -> str:
    texts = [
        text.format(numbers.seconds(spent[name]))
        for name, text in _TIMES.items()
        if spent.get(name)
    ]
    return ", ".join(texts)


def _failures(cell: Cell) -> str:
    errors = Counter(failure["error"] for failure in cell.failures)
    return "; ".join(f"{count} × {error}" for error, count in errors.most_common())


def _config(cell: Cell) -> str:
    configs = dict.fromkeys(record["config_hash"] for record in cell.records)
    seeds = dict.fromkeys(str(record["config"]["seed"]) for record in cell.records)
    commits = dict.fromkeys(record["commit"] for record in cell.records)
    if not configs:
        return ""
    return f"{', '.join(configs)}, seed {', '.join(seeds)}, commit {', '.join(commits)}"


def _recorded(cell: Cell) -> str:
    dates = sorted(record["finished"] for record in cell.records)
    return " to ".join(dict.fromkeys((dates[0][:10], dates[-1][:10]))) if dates else ""


def _unit(cell: Cell) -> str:
    return f" {cell.quantity.symbol}" if cell.quantity.symbol else ""


def _signed(value: float, cell: Cell) -> str:
    return numbers.fixed(value, cell.quantity.digits + 1, "+").replace("-", "−")
