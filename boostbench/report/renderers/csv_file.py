"""Tables as CSV, one line per cell, to be read by other programs."""

import csv
import io
from math import isnan

from boostbench.experiment.quantities import QUANTITIES, Quantity
from boostbench.report.regressions import JUDGED
from boostbench.report.tables import Table

#: CPU times of a record by their columns, and how many of a column's unit are one of theirs.
_TIMES = {
    "fit_cpu_s": ("fit", 1),
    "weak_learner_cpu_s": ("weak_learner", 1),
    "coef_cpu_s": ("coefficients", 1),
    "calibration_cpu_s": ("calibration", 1),
    "test_ms_per_instance": ("predict_per_instance", 1e-3),
}
_PUBLISHED_TIMES = ("coef_cpu_s", "test_ms_per_instance")


def _columns(quantity: Quantity) -> list[str]:
    return [
        *("data", "column", "algo", "rounds", f"{quantity.name}_mean", f"{quantity.name}_std"),
        *("n_splits", "n_failed", "n_missing", "n_stale"),
        *("n_iterations", "fit_cpu_s", "weak_learner_cpu_s", "coef_cpu_s", "calibration_cpu_s"),
        *("chosen", "published_mean", "published_std", *JUDGED, "verdict"),
        *("published_coef_cpu_s", "test_ms_per_instance", "published_test_ms_per_instance"),
    ]


def to_csv(table: Table) -> str:
    """Write one line per cell, with the column names of the published tables.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        Text of the file. Times are CPU seconds per split; those of prediction milliseconds per
        instance.
    """
    out = io.StringIO()
    name = table.quantity.name
    writer = csv.DictWriter(out, _columns(table.quantity), lineterminator="\n")
    writer.writeheader()
    for (row, column), cell in table.cells.items():
        agreement, target = cell.agreement, cell.target
        line = {
            "data": no_formula(" ".join(row.split())),
            "column": no_formula(" ".join(column.split())),
            "algo": cell.algo,
            "rounds": cell.rounds or "",
            f"{name}_mean": _number(cell.mean),
            f"{name}_std": _number(cell.std),
            "n_splits": len(cell.records),
            "n_failed": len(cell.failures),
            "n_missing": cell.missing,
            "n_stale": cell.stale,
            "n_iterations": _number(cell.n_iterations),
            "chosen": cell.chosen,
            "verdict": cell.verdict,
        }
        for heading, (part, factor) in _TIMES.items():
            line[heading] = _number(cell.average(QUANTITIES[part]), factor)
        for heading in _PUBLISHED_TIMES:
            part, factor = _TIMES[heading]
            if part in cell.published:
                line[f"published_{heading}"] = _number(cell.published[part].mean, factor)
        if target:
            line["published_mean"] = _number(target.mean)
            line["published_std"] = _number(target.std)
        if agreement:
            line |= {heading: _number(getattr(agreement, heading)) for heading in JUDGED}
        writer.writerow(line)
    return out.getvalue()


def no_formula(value):
    """Keep a text from being a formula to a spreadsheet."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@"))
    return f"'{value}" if is_formula else value


def _number(value: float | None, factor: float = 1) -> str:
    return "" if value is None or isnan(value) else f"{factor * value:.6g}"
