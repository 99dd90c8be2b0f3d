"""Facts behind the numbers: details of a cell, and machines, versions and dates."""

from collections import Counter
from collections.abc import Collection, Mapping
from math import isfinite, isnan
from statistics import median
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.analysis.frame import ResultFrame, concatenate
from boostbench.analysis.statistics.agreement import BASES, POWER, Agreement
from boostbench.analysis.tables import Table
from boostbench.analysis.verdicts import VERDICTS
from boostbench.fitting.quantities import CALIBRATION, QUANTITIES, Quantity
from boostbench.report.blocks import CellDetails
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


class Source(NamedTuple):
    """Records with a common source.

    Attributes
    ----------
    rows : ResultFrame
        Finished splits without repetitions.
    n_failed : int, default=0
        Number of failed splits.
    """

    rows: ResultFrame
    n_failed: int = 0

    @property
    def days(self) -> list[str]:
        """Days on which they were made, ascending."""
        return sorted({time[:10] for time in self.rows["finished"]})

    @property
    def seeds(self) -> list[int]:
        """Seeds, ascending."""
        return sorted(set(self.rows["seed"]))

    @property
    def configs(self) -> list[str]:
        """Hashes of configs, sorted."""
        return sorted(set(self.rows["config"]))

    @property
    def calibration(self) -> str:
        """Median CPU seconds of the reference job; empty if no record has them."""
        times = [time for time in self.rows[CALIBRATION.name] if time is not None]
        return numbers.seconds(median(times)) if times else ""


class Machine(NamedTuple):
    """Environment of records.

    Attributes
    ----------
    system : str
        Processor, cores and operating system.
    versions : list of (str, str)
        Versions of distributions, Python first.
    source : Source
        Records that were made there.
    """

    system: str
    versions: list[tuple[str, str]]
    source: Source


def environments(source: Source) -> list[Machine]:
    """Return the environments of records by descending number of records."""
    written = [tuple(sorted(facts.items())) for facts in source.rows["environment"]]
    machines = []
    for facts in dict.fromkeys(written):
        versions = dict(facts)
        # A record need not have all of these.
        names = ("cpu", "n_cores", "system", "python")
        cpu, cores, system, python = (versions.pop(name, "?") for name in names)
        system = f"{cpu}, {cores} {'core' if cores == 1 else 'cores'}, {system}"
        named = [("Python", python), *versions.items()]
        machines.append(
            Machine(system, named, Source(source.rows.select(other == facts for other in written)))
        )
    return sorted(machines, key=lambda machine: -len(machine.source.rows))


def source(cells: Collection[Cell]) -> Source:
    """Return the records behind cells, without repetitions if several cells show them."""
    failures = concatenate(cell.failures for cell in cells)
    return Source(concatenate(cell.rows for cell in cells), len(failures))


_TIMES = {
    "fit": "fit {}",
    "weak_learner": "weak learners {}",
    "coefficients": "coefficients {}",
    "predict_per_instance": "prediction {} µs an instance",
}


def details(table: Table, row: str, column: str) -> CellDetails:
    """Return all recorded and derived facts about a cell of a table; unknown facts are omitted."""
    cell = table.cells[row, column]
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
    return CellDetails(
        f"{table.columns[column].label} on {table.rows[row]}",
        bool(cell.note),
        [(term, text) for term, text in facts.items() if text],
    )


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
