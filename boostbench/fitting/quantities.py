"""Quantities: what can be read off a record, compared and printed.

A column of a table shows one of them, and a published table gives one or several. Another quantity
is another entry of the list below; nothing else asks what a number is.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from statistics import fmean

from boostbench.util.errors import unknown_name_error


@dataclass(frozen=True)
class Quantity:
    """A number that each finished split has.

    Attributes
    ----------
    name : str
        Identifies it in configs and in files.
    title : str
        Heading.
    unit : str
        Of the numbers that `of` gives; empty for plain numbers.
    read : callable
        From a record, and a number of boosting rounds or None for the last one, to the number;
        KeyError where the record does not have it.
    symbol : str, default=""
        Of the unit.
    digits : int, default=1
        Printed decimals. Numbers that print alike are equal.
    better : {"lower", "higher", None}, default="lower"
        Which of two numbers is the better one; None where neither is.
    perfect : float, default=0
        The best number there could be, in `unit`.
    worst : float, default=inf
        The worst number there could be.
    column : str, default=None
        How columns of published tables that hold it begin: ``accuracy`` stands for ``accuracy``,
        ``accuracy_mean`` and ``accuracy_std``. None: no table holds it.
    per_column_unit : float, default=1
        How many of `unit` are one of the published column's.
    explanation : str, default=""
        Of a CPU time: what it is the time of.
    of_machine : bool, default=False
        Whether it depends on the machine, as CPU times do. Then it is not compared with a published
        number, and is printed with three significant digits, without a deviation.
    of_samples : bool, default=False
        Whether it is a percentage of the test samples.
    """

    name: str
    title: str
    unit: str
    read: Callable[[Mapping, int | None], float | None]
    symbol: str = ""
    digits: int = 1
    better: str | None = "lower"
    perfect: float = 0
    worst: float = inf
    column: str | None = None
    per_column_unit: float = 1
    explanation: str = ""
    of_machine: bool = False
    of_samples: bool = False

    @property
    def is_judged(self) -> bool:
        """Whether it can be said to be better or worse than a published number."""
        return self.better is not None and not self.of_machine

    @property
    def sign(self) -> int:
        """Factor that makes the lower of two numbers the better one."""
        return -1 if self.better == "higher" else 1

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest number there could be."""
        return min(self.perfect, self.worst), max(self.perfect, self.worst)

    @property
    def phrase(self) -> str:
        """Its title within a sentence: ``"test error"``, ``"ROC AUC"``."""
        is_abbreviation = self.title[1:2].isupper()
        return self.title if is_abbreviation else self.title[:1].lower() + self.title[1:]

    def with_unit_of_differences(self, number: str) -> str:
        """Write the unit of differences behind a number; percentages differ by points.

        Examples
        --------
        >>> TEST_ERROR.with_unit_of_differences("+5.17"), ROUNDS.with_unit_of_differences("10")
        ('+5.17 percentage points', '10 rounds')
        """
        if self.unit != "percent":
            return f"{number} {self.unit}".rstrip()
        return f"{number} percentage point{'' if number == '1' else 's'}"

    def of(self, record: Mapping, rounds: int | None = None) -> float | None:
        """Read the number off a record.

        Parameters
        ----------
        record : mapping
            Record of a finished split.
        rounds : int, default=None
            Number of boosting rounds after which it is asked for; None: after the last.

        Returns
        -------
        float or None
            In `unit`; None where the record does not tell.
        """
        try:
            return self.read(record, rounds)
        except KeyError:
            return None

    def mean(self, records: Iterable[Mapping], rounds: int | None = None) -> float | None:
        """Average the number over the records that tell it; None where none does."""
        numbers = (self.of(record, rounds) for record in records)
        known = [number for number in numbers if number is not None]
        return fmean(known) if known else None


def _error(record: Mapping, rounds: int | None) -> float:
    return record["test_error"] if rounds is None else record["checkpoints"][str(rounds)]


def _share(name: str, title: str, of: Callable[[Mapping, int | None], float], **more) -> Quantity:
    """Make a quantity of a fraction; the largest is the best, if nothing else is said."""
    settings = {"better": "higher", "perfect": 100, "worst": 0} | more

    def read(record: Mapping, rounds: int | None) -> float:
        return 100 * of(record, rounds)

    return Quantity(name, title, "percent", read, "%", column=name, **settings)


def _entry(name: str, title: str, unit: str = "", **more) -> Quantity:
    """Make a quantity of an entry of records."""
    return Quantity(name, title, unit, lambda record, _: record[name], **more)


def _time(part: str, explanation: str, unit: str = "seconds", **more) -> Quantity:
    """Make the quantity of a part of a record's CPU seconds."""
    factor, symbol = {"seconds": (1, "s"), "microseconds": (1e6, "µs")}[unit]

    def read(record: Mapping, _) -> float | None:
        seconds = record["seconds"][part]
        return None if seconds is None else factor * seconds

    about = {"explanation": explanation, "of_machine": True}
    return Quantity(part, "CPU time", unit, read, symbol, **about, **more)


_UP_TO_ONE = {"digits": 3, "better": "higher", "perfect": 1, "worst": 0}
_ERROR = {"better": "lower", "perfect": 0, "worst": 100}
_ALL = (
    _share("test_error", "Test error", _error, of_samples=True, **_ERROR),
    _share("accuracy", "Accuracy", lambda record, n: 1 - _error(record, n), of_samples=True),
    _entry("mean_average_precision", "Mean average precision", column="map", **_UP_TO_ONE),
    _entry("log_loss", "Log-loss", "nats", digits=3, column="log_loss"),
    _entry("brier", "Brier score", digits=3, worst=2, column="brier"),
    _entry("auc", "ROC AUC", column="auc", **_UP_TO_ONE),
    _share("balanced_accuracy", "Balanced accuracy", lambda record, _: record["balanced_accuracy"]),
    _entry("n_iterations", "Rounds", "rounds", digits=0, better=None),
    _entry("n_nonzero", "Coefficients that are not 0", "coefficients", digits=0, better=None),
    _entry("n_parameters", "Parameters", "numbers", digits=0),
    _time("fit", "seconds per split of the whole fit"),
    _time("weak_learner", "seconds per split to find the weak learners"),
    _time("coefficients", "seconds per split to find the coefficients", column="coef_cpu_s"),
    _time(
        "predict_per_instance",
        "microseconds to predict an instance of the test part",
        "microseconds",
        column="test_ms_per_instance",
        per_column_unit=1e3,
    ),
    _time("hash_per_instance", "microseconds to hash an instance", "microseconds"),
    _time("calibration", "seconds of the reference job"),
)

#: All quantities by name.
QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _ALL}

TEST_ERROR = QUANTITIES["test_error"]
ROUNDS = QUANTITIES["n_iterations"]
CALIBRATION = QUANTITIES["calibration"]

#: What is recorded after several numbers of boosting rounds.
STAGED = ("test_error", "accuracy")

#: What the measure `scores` records beside the test error.
SCORES = ("log_loss", "brier", "auc", "balanced_accuracy")

#: CPU times of a fit that a table can show beside its numbers.
TIMES = ("fit", "weak_learner", "coefficients", "predict_per_instance", "hash_per_instance")


def get_quantity(name: str) -> Quantity:
    """Look up a quantity.

    Raises
    ------
    UserError
        If there is none of this name; near matches are named.
    """
    if name not in QUANTITIES:
        raise unknown_name_error("quantity", name, QUANTITIES, is_listed=False)
    return QUANTITIES[name]
