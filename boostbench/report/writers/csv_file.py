"""Tables as CSV, one line per cell, to be read by other programs."""

import csv
import io
from math import isnan

from boostbench.report.tables import Table

_COLUMNS = [
    *("data", "column", "algo", "rounds", "test_error_mean", "test_error_std", "n_splits"),
    *("n_failed", "n_missing", "n_stale"),
    *("n_iterations", "fit_cpu_s", "weak_learner_cpu_s", "coef_cpu_s", "calibration_cpu_s"),
    *("chosen", "published_mean", "published_std", "difference", "low", "high", "verdict"),
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
        Text of the file. Errors are in percent, times in CPU seconds per split; those of
        prediction in milliseconds per instance.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for (row, column), cell in table.cells.items():
        agreement = cell.agreement
        line = {
            "data": row,
            "column": column,
            "algo": cell.algo,
            "rounds": cell.rounds or "",
            "test_error_mean": _number(cell.mean),
            "test_error_std": _number(cell.std),
            "n_splits": len(cell.records),
            "n_failed": len(cell.failures),
            "n_missing": cell.missing,
            "n_stale": cell.stale,
            "n_iterations": _number(cell.n_iterations),
            "fit_cpu_s": _number(cell.seconds("fit")),
            "weak_learner_cpu_s": _number(cell.seconds("weak_learner")),
            "coef_cpu_s": _number(cell.seconds("coefficients")),
            "calibration_cpu_s": _number(cell.seconds("calibration")),
            "test_ms_per_instance": _milliseconds(cell.seconds("predict_per_instance")),
            "chosen": cell.chosen,
            "verdict": cell.verdict,
        }
        if cell.published:
            line["published_mean"] = _number(cell.published.mean)
            line["published_std"] = _number(cell.published.std)
            seconds = cell.published.seconds
            line["published_coef_cpu_s"] = _number(seconds.get("coefficients"))
            prediction = _milliseconds(seconds.get("predict_per_instance"))
            line["published_test_ms_per_instance"] = prediction
        if agreement:
            line["difference"] = _number(agreement.difference)
            line["low"], line["high"] = _number(agreement.low), _number(agreement.high)
        writer.writerow(line)
    return out.getvalue()


def _milliseconds(seconds: float | None) -> str:
    return _number(None if seconds is None else 1000 * seconds)


def _number(value: float | None) -> str:
    return "" if value is None or isnan(value) else f"{value:.6g}"
