"""Details of a cell, which the page shows beside its number."""

from collections import Counter
from collections.abc import Mapping
from math import isfinite, isnan

from boostbench.analysis.cells import Cell
from boostbench.analysis.statistics.agreement import BASES, POWER, Agreement
from boostbench.analysis.verdicts import VERDICTS
from boostbench.fitting.quantities import QUANTITIES, Quantity
from boostbench.report.page.provenance import Source
from boostbench.report.wording import (
    PARTIAL,
    STALE,
    format_chosen,
    format_number,
    format_published,
    format_rounds,
    format_splits,
    format_time,
    format_verdict,
)
from boostbench.util import numbers

_TIMES = {
    "fit": "fit {}",
    "weak_learner": "weak learners {}",
    "coefficients": "coefficients {}",
    "predict_per_instance": "prediction {} µs an instance",
}


def details(cell: Cell) -> list[tuple[str, str]]:
    """Return all recorded and derived facts about a cell.

    Parameters
    ----------
    cell : Cell
        The cell.

    Returns
    -------
    list of (str, str)
        Terms and their texts; unknown facts are omitted.
    """
    quantity, agreement, published = cell.quantity, cell.agreement, cell.published
    facts = {
        "Ours": _ours(cell),
        "Published": _published(cell),
        "Difference": agreement and _difference(agreement, quantity),
        "Detectable": agreement and _detectable(agreement, quantity),
        "Verdict": format_verdict(cell),
        "Basis": agreement and agreement.basis != "welch" and BASES[agreement.basis],
        "Not as there": ", ".join(cell.departures),
        "Note": cell.note,
        "Rounds": _rounds(cell),
        "CPU seconds": cell.n_finished and _seconds(cell),
        "Published CPU": _times({name: number.mean for name, number in published.items()}),
        "Chosen": format_chosen(cell),
        "Failed": _failures(cell),
        PARTIAL: cell.is_partial
        and f"over {format_splits(cell)} splits: the others failed or have not run",
        STALE: cell.stale
        and f"{cell.stale} of {cell.n_finished} splits are refuted or of another edition",
        "Config": cell.n_finished and _config(cell),
        "Recorded": cell.n_finished and _recorded(cell),
        "Command": cell.command,
    }
    return [(term, text) for term, text in facts.items() if text]


def _ours(cell: Cell) -> str:
    if not cell.values:
        return f"{format_number(cell)}: {VERDICTS[format_number(cell)].meaning}"
    n = len(cell.values)
    # Print one digit more than the table does.
    number = numbers.mean_std(cell.mean, cell.std, cell.quantity.digits + 1)
    return f"{number}{_unit(cell.quantity)}, {n} {'splits' if n > 1 else 'split'}"


def _published(cell: Cell) -> str:
    if cell.target is None:
        return f"no {cell.quantity.title.lower()}"
    n, unit = cell.target.n, _unit(cell.quantity)
    return f"{format_published(cell)}{unit}, {n} {'repeats' if n > 1 else 'run'}"


def _difference(agreement: Agreement, quantity: Quantity) -> str:
    difference, low, high = (
        numbers.fixed(number, quantity.digits + 1, "+").replace("-", "−")
        for number in (agreement.difference, agreement.low, agreement.high)
    )
    if isnan(agreement.low):
        return difference
    welch = "Welch’s " if agreement.basis == "welch" else ""
    return f"{difference}, {welch}95% interval {low} to {high}"


def _detectable(agreement: Agreement, quantity: Quantity) -> str:
    """Return the detectable difference, also as a share of the published error."""
    if isnan(agreement.detectable):
        return ""
    size = numbers.fixed(agreement.detectable, quantity.digits + 1)
    size = quantity.with_unit_of_differences(size)
    share = f", {agreement.share:.0%} of the published error" if isfinite(agreement.share) else ""
    return f"{size}{share}, with a probability of {POWER:.0%}"


def _rounds(cell: Cell) -> str:
    if cell.n_iterations is None:
        return ""
    asked = f"{cell.quantity.title.lower()} after {cell.rounds}; " if cell.rounds else ""
    return f"{asked}{format_rounds(cell)} done"


def _seconds(cell: Cell) -> str:
    times = _times({name: cell.average(QUANTITIES[name]) for name in _TIMES})
    return f"{times}; reference job {format_time(cell, 'calibration')}"


def _times(spent: Mapping[str, float | None]) -> str:
    texts = [
        text.format(numbers.seconds(spent[name]))
        for name, text in _TIMES.items()
        if spent.get(name)
    ]
    return ", ".join(texts)


def _failures(cell: Cell) -> str:
    errors = Counter(cell.failures["error"])
    return "; ".join(f"{count} × {error}" for error, count in errors.most_common())


def _config(cell: Cell) -> str:
    configs, seeds, commits = (
        ", ".join(map(str, dict.fromkeys(cell.rows[name]))) for name in ("config", "seed", "commit")
    )
    return f"{configs}, seed {seeds}, commit {commits}"


def _recorded(cell: Cell) -> str:
    days = Source(cell.rows).days
    return " to ".join(dict.fromkeys((days[0], days[-1])))


def _unit(quantity: Quantity) -> str:
    return f" {quantity.symbol}".rstrip()
