"""Where the numbers come from: machines, versions, settings, dates."""

from collections.abc import Collection
from statistics import median
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.fitting.quantities import CALIBRATION
from boostbench.util import numbers


class Source(NamedTuple):
    """Records that have something in common.

    Attributes
    ----------
    records : list of dict
        Finished splits, each once.
    n_failed : int
        Number of failed splits.
    """

    records: list[dict]
    n_failed: int = 0

    @property
    def days(self) -> list[str]:
        """On which they were made, the first one first."""
        return sorted({record["finished"][:10] for record in self.records})

    @property
    def seeds(self) -> list[int]:
        """Seeds, ascending."""
        return sorted({record["config"]["seed"] for record in self.records})

    @property
    def configs(self) -> list[str]:
        """Hashes of configs, sorted."""
        return sorted({record["config_hash"] for record in self.records})

    @property
    def calibration(self) -> str:
        """CPU seconds of the reference job, the median; empty where no record tells them."""
        seconds = [s for s in map(CALIBRATION.of, self.records) if s is not None]
        return numbers.seconds(median(seconds)) if seconds else ""


def environments(source: Source) -> list[dict]:
    """Tell the environments of some records apart, the one of the most records first.

    Returns
    -------
    list of dict
        The ``system`` (processor, cores and operating system), ``versions`` of distributions,
        Python first, and the ``source``, what was recorded there.
    """
    groups: dict[tuple, list[dict]] = {}
    for record in source.records:
        groups.setdefault(tuple(sorted(record["environment"].items())), []).append(record)
    machines = []
    for key, records in sorted(groups.items(), key=lambda group: -len(group[1])):
        versions = dict(key)
        # A record need not say all of it.
        names = ("cpu", "n_cores", "system", "python")
        cpu, cores, system, python = (versions.pop(name, "?") for name in names)
        system = f"{cpu}, {cores} {'core' if cores == 1 else 'cores'}, {system}"
        named = [("Python", python), *versions.items()]
        machines.append({"system": system, "versions": named, "source": Source(records)})
    return machines


def source(cells: Collection[Cell]) -> Source:
    """Gather the records behind some cells, each once though several may show it."""
    records = {record["key"]: record for cell in cells for record in cell.records}
    failures = {record["key"] for cell in cells for record in cell.failures}
    return Source(list(records.values()), len(failures))
