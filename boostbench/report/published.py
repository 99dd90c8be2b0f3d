"""The papers' numbers, transcribed into ``published/*.csv``."""

import csv
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from boostbench.report.numbers import mean_std

#: Columns that say what was measured; all other columns say of what.
_MEASURES = {"test_error_mean", "test_error_std", "coef_cpu_s"}

#: How often each paper repeats its experiments, and the tables where it does otherwise.
_REPEATS = {"randomboost": 10, "randomboost-table2": 5, "mcboost": 50}


@dataclass(frozen=True)
class Published:
    """A published test error.

    Attributes
    ----------
    table : str
        Name of the CSV file without its ending, e.g. ``"randomboost-table5"``.
    mean, std : float
        In percent; `std` is NaN where the paper gives none.
    n : int
        Number of repeats behind them.
    seconds : float or None
        CPU seconds of the coefficients, where the paper gives them.
    """

    table: str
    mean: float
    std: float
    n: int
    seconds: float | None = None

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


def tables(paper: str) -> list[str]:
    """List the published tables of a paper, e.g. of ``"randomboost"``, sorted by name."""
    folder = files(__package__) / "published"
    names = (entry.name.removesuffix(".csv") for entry in folder.iterdir())
    return sorted(name for name in names if name.startswith(f"{paper}-table"))


def find(table: str, data: str, algo: str, params: Mapping) -> Published | None:
    """Look up the published test error of an algorithm on a data set.

    Parameters
    ----------
    table : str
        Name of the CSV file without its ending.
    data, algo : str
        Names, as in our configs.
    params : mapping
        Parameters of the algorithm. Where the table has a column of such a name (``loss``,
        ``n_iterations``), the line with this value is meant.

    Returns
    -------
    Published or None
        None when the table does not hold it.
    """
    for line in read(table):
        settings = line.keys() - _MEASURES - {"data", "algo"}
        if (
            line.keys() >= {"test_error_mean", "test_error_std"}
            and (line["data"], line["algo"]) == (data, algo)
            and all(line[key] == str(params.get(key)) for key in settings)
            and line["test_error_mean"]
        ):
            std = float(line["test_error_std"] or "nan")
            seconds = float(line["coef_cpu_s"]) if line.get("coef_cpu_s") else None
            return Published(table, float(line["test_error_mean"]), std, _repeats(table), seconds)
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


def _repeats(table: str) -> int:
    paper = table.partition("-")[0]
    return _REPEATS.get(table, _REPEATS[paper])
