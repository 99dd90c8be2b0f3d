"""A contest of algorithms for machines."""

import json
from math import isfinite
from typing import Any

from boostbench.report.cells import Cell
from boostbench.report.comparison import Contest, effect
from boostbench.report.tables import Table


def to_json(table: Table, sources: dict[str, str], contest: Contest) -> str:
    """Write what `comparison_terminal.print_contest` prints, in full digits.

    Parameters
    ----------
    table : Table
        The numbers.
    sources : dict of str to str
        Name of the table of each row.
    contest : Contest
        What tests say of `table`.

    Returns
    -------
    str
        JSON; null stands for what is not known, and for infinity.
    """
    return json.dumps(_finite(_content(table, sources, contest)), indent=1, ensure_ascii=False)


def _content(table: Table, sources: dict[str, str], contest: Contest) -> dict:
    a, b, *others = table.columns
    friedman = contest.friedman
    return {
        "algorithms": {name: column.label for name, column in table.columns.items()},
        "data": [
            {
                "data": row,
                "table": sources[row],
                "errors": {name: _errors(table.cells[row, name]) for name in table.columns},
                **({} if others else {"hedges_g": effect(table, row, a, b)}),
            }
            for row in table.rows
        ],
        "unit": contest.pairs.unit,
        "n": len(contest.pairs.errors),
        "left_out": contest.pairs.left_out,
        "ranks": contest.ranks,
        "pairs": [
            {
                "a": duel.a,
                "b": duel.b,
                **duel.score._asdict(),
                "statistic": duel.wilcoxon.statistic,
                "critical": duel.wilcoxon.critical,
                "p": duel.wilcoxon.p,
                "p_holm": duel.holm,
                "p_nemenyi": duel.nemenyi,
                "rank_biserial": duel.rank_biserial,
            }
            for duel in contest.duels
        ],
        "friedman": friedman
        and {
            "chi2": friedman.chi2,
            "p": friedman.p,
            "f": friedman.f,
            "p_f": friedman.f_p,
            "critical_difference": friedman.critical_difference,
        },
        "notes": table.notes,
    }


def _errors(cell: Cell) -> dict | None:
    if not cell.errors:
        return None
    return {"mean": cell.mean, "std": cell.std, "n_splits": len(cell.errors)}


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value
