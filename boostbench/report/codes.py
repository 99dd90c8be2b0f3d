"""By which code the numbers of a table were made, and what follows for its CPU times."""

from collections import Counter
from collections.abc import Iterable

from boostbench.experiment.certificates import GRADES
from boostbench.report.cells import Cell

#: Stands behind a CPU time of other code than the others.
OTHER_CODE = "¶"

_TODAY = "today's code"


def made_by(cell: Cell) -> str:
    """Name the code that made a cell: today's, or that of commits."""
    if not (cell.stale or cell.certified):
        return _TODAY
    commits = sorted({record["commit"] for record in cell.records})
    return f"the code of commit {' and '.join(commits)}"


def usual(cells: Iterable[Cell]) -> str:
    """Name the code that CPU times can be compared with: today's, or that of most cells."""
    made = Counter(made_by(cell) for cell in cells if cell.records)
    return _TODAY if _TODAY in made or not made else made.most_common(1)[0][0]


def time_notes(cells: Iterable[Cell]) -> list[str]:
    """Say of which code CPU times are, where it is not today's alone.

    A certificate says nothing of them.
    """
    cells = [cell for cell in cells if cell.records]
    compared = usual(cells)
    notes = [f"CPU times are of {compared}, not of today's."] if compared != _TODAY else []
    others = sorted({made_by(cell) for cell in cells} - {compared})
    if others:
        notes.append(
            f"{OTHER_CODE} CPU time of {' or '.join(others)}: not to be compared with the others."
        )
    return notes


def certified_notes(cells: Iterable[Cell]) -> list[str]:
    """Say how many splits rest on a certificate; nothing where none does."""
    counts: Counter[str] = Counter()
    for cell in cells:
        counts.update(cell.certified)
    if not counts:
        return []
    grades = [f"{counts[grade]} {grade}" for grade in GRADES if counts[grade]]
    total = sum(counts.values())
    what = ", ".join(grades) if len(grades) > 1 else grades[0].split()[1]
    return [f"{total} {'split rests' if total == 1 else 'splits rest'} on a certificate: {what}."]
