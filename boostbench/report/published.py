"""The papers' numbers, transcribed into ``published/*.csv``."""

import csv
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import isnan

from boostbench.report.numbers import mean_std

#: Columns of CPU times: which part of a record's seconds they are, and their unit in seconds.
_TIMES = {"coef_cpu_s": ("coefficients", 1), "test_ms_per_instance": ("predict_per_instance", 1e-3)}

#: Columns that are no parameter of the algorithm.
_NO_SETTINGS = {"data", "algo", "algos", "evaluation", "test_error_mean", "test_error_std", *_TIMES}

#: How often each paper repeats its experiments, and the tables where it does otherwise.
_REPEATS = {"randomboost": 10, "randomboost-table2": 5, "mcboost": 50}


@dataclass(frozen=True)
class Published:
    """A published test error, CPU time, or both.

    Attributes
    ----------
    table : str
        Name of the CSV file without its ending, e.g. ``"randomboost-table5"``.
    mean, std : float
        Test error in percent; NaN where the paper gives none.
    n : int
        Number of repeats behind them.
    seconds : dict of str to float
        CPU seconds that the paper gives, by the part of a record's ``seconds`` that they are.
    line : dict of str to str
        The line of the CSV file that holds them.
    """

    table: str
    mean: float
    std: float
    n: int
    seconds: Mapping[str, float] = field(default_factory=dict)
    line: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return mean_std(self.mean, self.std)


@cache
def read(table: str) -> list[dict[str, str]]:
    """Read one published table.

    Parameters
    ----------
    table : str
        Name of the CSV file without its ending.

    Returns
    -------
    list of dict
        One per line, all values as they are written.
    """
    text = (files(__package__) / "published" / f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def names() -> list[str]:
    """List all published tables, sorted by name."""
    folder = files(__package__) / "published"
    return sorted(e.name.removesuffix(".csv") for e in folder.iterdir() if e.name.endswith(".csv"))


def tables(paper: str) -> list[str]:
    """List the published tables of a paper, e.g. of ``"randomboost"``, sorted by name."""
    return [name for name in names() if name.startswith(f"{paper}-table")]


def find(table: str, data: str, algo: str, params: Mapping) -> Published | None:
    """Look up what is published of an algorithm on a data set.

    Parameters
    ----------
    table : str
        Name of the CSV file without its ending.
    data, algo : str
        Names, as in our configs.
    params : mapping
        Parameters of the algorithm. Where the table has a column of such a name (``loss``,
        ``n_iterations``), the line with this value is meant, or with none.

    Returns
    -------
    Published or None
        None when the table does not hold it.
    """
    for line in read(table):
        named = line["data"] == data and algo in (line.get("algo") or line.get("algos", "")).split()
        settings = line.keys() - _NO_SETTINGS
        if named and all(_is(line[key], params.get(key)) for key in settings):
            seconds = {
                part: unit * float(line[column])
                for column, (part, unit) in _TIMES.items()
                if line.get(column)
            }
            mean, std = (float(line.get(f"test_error_{of}") or "nan") for of in ("mean", "std"))
            if seconds or not isnan(mean):
                return Published(table, mean, std, _repeats(table), seconds, line)
    return None


def find_in_paper(paper: str, data: str, algo: str, params: Mapping) -> Published | None:
    """Look up a test error in all tables of a paper, the first that holds it; see `find`."""
    found = (find(table, data, algo, params) for table in tables(paper))
    return next((one for one in found if one), None)


def statement(table: str, a: Collection[str], b: Collection[str]) -> str | None:
    """Look up what a paper says of a Wilcoxon signed-rank test between two columns of a table.

    Parameters
    ----------
    table : str
        Name of the CSV file without its ending.
    a, b : collection of str
        What each of the two may be called: ``rboost_proj``, ``rboost_proj:wlda``.

    Returns
    -------
    str or None
        In words; None when the paper does not say.
    """
    for line in read("wilcoxon-statements"):
        pairs = (line["a"] in a and line["b"] in b) or (line["a"] in b and line["b"] in a)
        if table == f"{line['paper']}-table{line['table']}" and pairs:
            verdict = "rejects" if line["significant"] == "yes" else "fails to reject"
            return (
                f"The paper, over {line['n_data']} data sets: statistic {line['statistic']}, "
                f"critical value {line['critical_value_5pct']}; WSRT {verdict} the null hypothesis."
            )
    return None


def _is(text: str, value) -> bool:
    """Whether a setting is what is asked for: nothing said, the same text, or the same number."""
    try:
        return not text or float(text) == float(value)
    except (TypeError, ValueError):
        return text == str(value)


def _repeats(table: str) -> int:
    paper = table.partition("-")[0]
    return _REPEATS.get(table, _REPEATS[paper])
