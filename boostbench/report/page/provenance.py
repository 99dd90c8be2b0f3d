"""Provenance of the numbers: machines, versions, settings and dates."""

from collections.abc import Collection
from statistics import median
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.analysis.frame import ResultFrame, concatenate
from boostbench.fitting.quantities import CALIBRATION
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
