"""Verdicts and their counts as JSON."""

import json
from collections.abc import Mapping, Sequence
from math import isnan

from boostbench.analysis.tables import Table
from boostbench.analysis.verdicts import VERDICTS, Tally, counts


def to_json(tables: Sequence[Table], verdicts: Sequence[Mapping]) -> str:
    """Return verdicts and their counts as JSON.

    Parameters
    ----------
    tables : sequence of Table
        Tables whose cells are counted.
    verdicts : sequence of mapping
        Lines of `boostbench.report.verdict_history.verdict_lines`.
    """
    counted = counts(tables)
    content = {
        "counts": {
            "all": _counted(counted.total),
            "tables": {name: _counted(tally) for name, tally in counted.tables.items()},
        },
        "swaps": {name or "all": swaps._asdict() for name, swaps in counted.swaps.items()},
        "effects": {name or "all": each._asdict() for name, each in counted.effects.items()},
        "verdicts": list(verdicts),
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _counted(tally: Tally) -> dict:
    return {
        "published": tally.published,
        "verdicts": {v: tally[v] for v in VERDICTS if v != "not published"},
        "decided": dict(tally.decided),
        "within": {f"{margin:.0%}": n for margin, n in tally.within.items()},
        "reproduced_interval": [None if isnan(end) else round(end, 4) for end in tally.interval],
        "corrected": tally.corrected,
        "without_pool": tally.without_pool and _counted(tally.without_pool),
    }
