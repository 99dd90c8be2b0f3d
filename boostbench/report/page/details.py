"""Facts behind the numbers of the page: details of a cell, and machines, versions and dates."""

from collections import Counter
from collections.abc import Collection, Sequence
from math import isfinite, isnan
from statistics import median
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.analysis.frame import ResultFrame, concatenate
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics.agreement import BASES, POWER
from boostbench.analysis.verdicts import VERDICTS
from boostbench.fitting.quantities import CALIBRATION, QUANTITIES, Quantity
from boostbench.papers.published import find_quantity
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


class PageRecords(NamedTuple):
    """Records behind a part of the page: all of it, a table, a cell or an environment.

    Attributes
    ----------
    rows : ResultFrame
        Finished splits, each of them once.
    n_failed : int, default=0
        Number of failed splits.
    days : list of str
        Days on which the splits finished (``YYYY-MM-DD``), ascending. This attribute and the next
        ones are properties, computed from `rows`.
    seeds : list of int
        Seeds, ascending.
    configs : list of str
        Hashes of configs, sorted.
    calibration : str
        Formatted median of the CPU seconds of the reference job.
    """

    rows: ResultFrame
    n_failed: int = 0

    @property
    def days(self) -> list[str]:
        """Days on which the splits finished, ascending."""
        # Times are in ISO format, which begins with ten characters for the day.
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
        """Median CPU seconds of the reference job, formatted; empty if no record has them."""
        times = [time for time in self.rows[CALIBRATION.name] if time is not None]
        return numbers.format_seconds(median(times)) if times else ""


class Machine(NamedTuple):
    """Environment in which records were made: a machine and its installed versions.

    Attributes
    ----------
    system : str
        Processor, cores and operating system: ``"EPYC 7B13, 4 cores, Linux"``.
    versions : list of (str, str)
        Names and versions of distributions, Python first.
    records : PageRecords
        Records that were made there.
    """

    system: str
    versions: list[tuple[str, str]]
    records: PageRecords


def find_machines(records: PageRecords) -> list[Machine]:
    """Return the environments of records by descending number of records.

    Parameters
    ----------
    records : PageRecords
        Records, whose column ``environment`` holds a dictionary of facts: ``cpu``, ``n_cores``,
        ``system``, ``python``, and versions by distribution. A record may lack any of them.
    """
    # Environments are grouped by sorted tuples of their items, as dictionaries are not hashable.
    row_facts = [tuple(sorted(facts.items())) for facts in records.rows["environment"]]
    machines = []
    for distinct_facts in dict.fromkeys(row_facts):
        # The facts besides these four are versions.
        versions = dict(distinct_facts)
        cpu, n_cores, system, python = (
            versions.pop(name, "?") for name in ("cpu", "n_cores", "system", "python")
        )
        is_here = [facts == distinct_facts for facts in row_facts]
        machines.append(
            Machine(
                system=f"{cpu}, {n_cores} {'core' if n_cores == 1 else 'cores'}, {system}",
                versions=[("Python", python), *versions.items()],
                records=PageRecords(records.rows.select(is_here)),
            )
        )
    return sorted(machines, key=lambda machine: -len(machine.records.rows))


def collect_records(cells: Collection[Cell]) -> PageRecords:
    """Return the records behind cells; a split that several cells show counts once."""
    failures = concatenate(cell.failed_splits for cell in cells)
    return PageRecords(concatenate(cell.finished_splits for cell in cells), len(failures))


#: Texts of the CPU times of a cell, by quantity; "{}" is the number, in seconds if no unit follows.
_TIMES = {
    "fit": "fit {}",
    "weak_learner": "weak learners {}",
    "coefficients": "coefficients {}",
    "predict_per_instance": "prediction {} µs an instance",
}


def cell_details(table: Table, row: str, column: str) -> CellDetails:
    """Return all recorded and derived facts about a cell of a table.

    Each function for a fact returns an empty text if the fact is unknown, and the fact is omitted.
    """
    cell = table.cells[row, column]
    # Terms and their texts; the marks of partial and stale numbers are terms, too.
    facts = {
        "Ours": _ours(cell),
        "Published": _published(cell),
        "Difference": _difference(cell),
        "Detectable": _detectable(cell),
        "Verdict": format_verdict(cell),
        "Basis": _basis(cell),
        "Not as there": ", ".join(cell.departures),
        "Note": cell.note,
        "Rounds": _rounds(cell),
        "CPU seconds": _seconds(cell),
        "Published CPU": _published_times(cell),
        "Chosen": format_chosen(cell),
        "Failed": _failures(cell),
        PARTIAL: _partial(cell),
        STALE: _stale(cell),
        "Config": _config(cell),
        "Recorded": _recorded(cell),
        "Command": cell.command,
    }
    return CellDetails(
        heading=f"{table.columns[column].label} on {table.rows[row]}",
        has_note=bool(cell.note),
        facts=[(term, text) for term, text in facts.items() if text],
    )


def _ours(cell: Cell) -> str:
    """Return our mean, deviation and number of splits, or the reason why there is no number."""
    if not cell.numbers:
        return f"{format_number(cell)}: {VERDICTS[format_number(cell)].meaning}"
    n = len(cell.numbers)
    # Print one digit more than the table does.
    number = numbers.mean_std(cell.mean, cell.std, cell.quantity.digits + 1)
    return f"{number}{_unit(cell.quantity)}, {n} {'splits' if n > 1 else 'split'}"


def _published(cell: Cell) -> str:
    """Return the published number with its number of repeats, or a remark that there is none."""
    if cell.target is None:
        return f"no {cell.quantity.title.lower()}"
    n, unit = cell.target.n, _unit(cell.quantity)
    return f"{format_published(cell)}{unit}, {n} {'repeats' if n > 1 else 'run'}"


def _difference(cell: Cell) -> str:
    """Return the difference from the published number, with its interval if that is known."""
    agreement = cell.agreement
    if agreement is None:
        return ""
    difference, low, high = (
        numbers.fixed(number, cell.quantity.digits + 1, "+").replace("-", "−")
        for number in (agreement.difference, agreement.low, agreement.high)
    )
    if isnan(agreement.low):
        return difference
    welch = "Welch’s " if agreement.basis == "welch" else ""
    return f"{difference}, {welch}95% interval {low} to {high}"


def _detectable(cell: Cell) -> str:
    """Return the detectable difference, also as a share of the published error."""
    agreement, quantity = cell.agreement, cell.quantity
    if agreement is None or isnan(agreement.detectable):
        return ""
    size = numbers.fixed(agreement.detectable, quantity.digits + 1)
    size = quantity.format_difference(size)
    # A published error of 0 has no share.
    if isfinite(agreement.detectable_share):
        size += f", {agreement.detectable_share:.0%} of the published error"
    return f"{size}, with a probability of {POWER:.0%}"


def _basis(cell: Cell) -> str:
    """Return the basis of the verdict; `_difference` names the usual one, Welch's interval."""
    if cell.agreement is None or cell.agreement.basis == "welch":
        return ""
    return BASES[cell.agreement.basis]


def _rounds(cell: Cell) -> str:
    """Return the mean number of boosting rounds, and the number that the column shows, if any."""
    if cell.n_iterations is None:
        return ""
    shown = f"{cell.quantity.title.lower()} after {cell.rounds}; " if cell.rounds else ""
    return f"{shown}{format_rounds(cell)} done"


def _seconds(cell: Cell) -> str:
    """Return our mean CPU times, and the time of the reference job on the same machine."""
    if not cell.n_finished:
        return ""
    text = _times([cell.finished_splits.average(QUANTITIES[name]) for name in _TIMES])
    return f"{text}; reference job {format_time(cell, CALIBRATION.name)}"


def _published_times(cell: Cell) -> str:
    """Return the published CPU times."""
    published = [find_quantity(cell.published, name) for name in _TIMES]
    return _times([number.mean if number else None for number in published])


def _times(times: Sequence[float | None]) -> str:
    """Return the texts of times in the order of `_TIMES`; unknown times and zeros are omitted."""
    pairs = zip(_TIMES.values(), times, strict=True)
    return ", ".join([text.format(numbers.format_seconds(time)) for text, time in pairs if time])


def _failures(cell: Cell) -> str:
    """Return the errors of failed splits by frequency: ``"2 × MemoryError"``."""
    errors = Counter(cell.failed_splits["error"])
    return "; ".join(f"{count} × {error}" for error, count in errors.most_common())


def _partial(cell: Cell) -> str:
    """Return the number of splits behind a mean over a part of them."""
    if not cell.is_partial:
        return ""
    return f"over {format_splits(cell)} splits: the others failed or have not run"


def _stale(cell: Cell) -> str:
    """Return the number of stale splits."""
    if not cell.stale:
        return ""
    return f"{cell.stale} of {cell.n_finished} splits are refuted or of another edition"


def _config(cell: Cell) -> str:
    """Return the hashes of configs, seeds and commits, each of them once."""
    if not cell.n_finished:
        return ""
    configs, seeds, commits = (
        ", ".join(map(str, dict.fromkeys(cell.finished_splits[name])))
        for name in ("config", "seed", "commit")
    )
    return f"{configs}, seed {seeds}, commit {commits}"


def _recorded(cell: Cell) -> str:
    """Return the first and the last day on which splits finished, or the only day."""
    if not cell.n_finished:
        return ""
    days = PageRecords(cell.finished_splits).days
    return " to ".join(dict.fromkeys((days[0], days[-1])))


def _unit(quantity: Quantity) -> str:
    """Return the symbol of the unit behind a space; empty for a quantity without a unit."""
    return f" {quantity.symbol}".rstrip()
