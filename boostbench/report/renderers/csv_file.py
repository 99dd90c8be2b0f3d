"""Tables as CSV for other programs, one line per cell."""

import csv
import io
from collections.abc import Iterable
from math import isnan

from boostbench.analysis.cells import Cell
from boostbench.analysis.tables import Table
from boostbench.fitting.quantities import QUANTITIES
from boostbench.report.wording import format_chosen
from boostbench.util.terminal import escape_formula

#: Numeric attributes of an `Agreement` that files contain.
JUDGED = ("difference", "low", "high", "p", "detectable", "p_within")

#: Boolean attributes of an `Agreement` that files contain.
FACTS = ("differs", "within")

#: CPU times of a record by column, in seconds.
_TIMES = {
    "fit_cpu_s": "fit",
    "weak_learner_cpu_s": "weak_learner",
    "coef_cpu_s": "coefficients",
    "calibration_cpu_s": "calibration",
}


def to_csv(table: Table) -> str:
    """Return a table as CSV, with the column names of the published tables.

    Times are CPU seconds per split; prediction times are milliseconds per instance.
    """
    lines = [_line(*place, cell, table.quantity.name) for place, cell in table.cells.items()]
    return lines_as_csv(lines[0], lines)


def lines_as_csv(heads: Iterable[str], lines: Iterable[dict]) -> str:
    """Return lines as CSV text; keys that are not in `heads` are omitted."""
    out = io.StringIO()
    writer = csv.DictWriter(out, heads, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def _line(row: str, column: str, cell: Cell, name: str) -> dict:
    target, published = cell.target, cell.published
    fitting, predicting = published.get("coefficients"), published.get("predict_per_instance")
    return {
        "data": escape_formula(" ".join(row.split())),
        "column": escape_formula(" ".join(column.split())),
        "algo": cell.algo,
        "rounds": cell.rounds or "",
        f"{name}_mean": _number(cell.mean),
        f"{name}_std": _number(cell.std),
        "n_splits": cell.n_finished,
        "n_failed": cell.n_failed,
        "n_missing": cell.missing,
        "n_stale": cell.stale,
        "n_iterations": _number(cell.n_iterations),
        **{head: _number(cell.average(QUANTITIES[part])) for head, part in _TIMES.items()},
        "chosen": format_chosen(cell),
        "published_mean": _number(target and target.mean),
        "published_std": _number(target and target.std),
        **{head: _number(cell.agreement and getattr(cell.agreement, head)) for head in JUDGED},
        **{head: getattr(cell.agreement, head) if cell.agreement else "" for head in FACTS},
        "verdict": cell.verdict,
        "published_coef_cpu_s": _number(fitting and fitting.mean),
        "test_ms_per_instance": _number(cell.average(QUANTITIES["predict_per_instance"]), 1e-3),
        "published_test_ms_per_instance": _number(predicting and predicting.mean, 1e-3),
        "command": cell.command,
    }


def _number(value: float | None, factor: float = 1) -> str:
    return "" if value is None or isnan(value) else f"{factor * value:.6g}"
