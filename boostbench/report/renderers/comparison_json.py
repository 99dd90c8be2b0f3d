"""Comparisons of algorithms as JSON."""

import json
from math import isfinite
from typing import Any

from boostbench.analysis.cells import Cell
from boostbench.analysis.comparison import Comparison, effect, split_test
from boostbench.analysis.tables import Table
from boostbench.report.wording import notes


def to_json(table: Table, sources: dict[str, str], comparison: Comparison) -> str:
    """Return the content of `comparison_terminal.print_comparison` as JSON, in full precision.

    Parameters
    ----------
    table : Table
        Table with the numbers.
    sources : dict of str to str
        Name of the source table of each row; a row without one has null.
    comparison : Comparison
        Test results on `table`.

    Returns
    -------
    str
        JSON; null stands for unknown and infinite values.
    """
    return json.dumps(_finite(_content(table, sources, comparison)), indent=1, ensure_ascii=False)


def _content(table: Table, sources: dict[str, str], comparison: Comparison) -> dict:
    a, b, *further_columns = table.columns
    friedman = comparison.friedman
    return {
        "algorithms": {name: column.label for name, column in table.columns.items()},
        "data": [
            {
                "data": row,
                "table": sources.get(row),
                "numbers": {name: _numbers(table.cells[row, name]) for name in table.columns},
                **({} if further_columns else _split_tests(table, row, a, b)),
            }
            for row in table.rows
        ],
        "quantity": table.quantity.name,
        "better": table.quantity.better,
        "unit": comparison.pairs.unit,
        "n": len(comparison.pairs.numbers),
        "left_out": comparison.pairs.left_out,
        "rope": comparison.rope,
        "ranks": comparison.ranks,
        "pairs": [
            {
                "a": test.a,
                "b": test.b,
                "difference": test.difference,
                **test.score._asdict(),
                "statistic": test.wilcoxon.statistic,
                "critical": test.wilcoxon.critical,
                "p": test.wilcoxon.p,
                "p_holm": test.holm,
                "p_nemenyi": test.nemenyi,
                "rank_biserial": test.wilcoxon.effect,
                "p_resampled": test.resampled,
                "p_resampled_holm": test.resampled_holm,
                "a_better": test.posterior and test.posterior.lower,
                "equal": test.posterior and test.posterior.equal,
                "b_better": test.posterior and test.posterior.higher,
            }
            for test in comparison.tests
        ],
        "friedman": friedman
        and {
            "chi2": friedman.chi2,
            "p": friedman.p,
            "f": friedman.f,
            "p_f": friedman.f_p,
            "p_by": friedman.by,
            "critical_difference": friedman.critical_difference,
        },
        "notes": notes(table),
    }


def _split_tests(table: Table, row: str, a: str, b: str) -> dict:
    return {"hedges_g": effect(table, row, a, b), "p_splits": split_test(table, row, a, b)}


def _numbers(cell: Cell) -> dict | None:
    if not cell.values:
        return None
    return {"mean": cell.mean, "std": cell.std, "n_splits": len(cell.values)}


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON lacks, by None."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value
