"""Quantities: numbers of a record that are compared and printed.

A column of a table shows one quantity, and a published table gives one or several. A measure
defines the results that a fit records; the quantities that several measures record are listed
below, and a measure may add its own, see `boostbench.fitting.measures.base.Measure`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from statistics import fmean

from msgspec import UNSET

from boostbench.records.schema import Record
from boostbench.spec import measures
from boostbench.util.errors import UserError, unknown_name_error


@dataclass(frozen=True)
class Quantity:
    """A number that each finished split has.

    Attributes
    ----------
    name : str
        Name in configs and files.
    title : str
        Heading.
    unit : str
        Unit of the numbers that `number` and `numbers` return, such as ``"percent"``; empty for
        plain numbers.
    path : tuple of str
        Keys that lead to the number in a record: ``("seconds", "fit")`` for the entry ``fit`` of
        ``seconds``.
    symbol : str, default=""
        Symbol of the unit, such as ``"%"``.
    digits : int, default=1
        Number of printed decimals. Two numbers are equal if they are printed equally.
    better : {"lower", "higher", None}, default="lower"
        Direction in which numbers improve. None: neither direction is an improvement.
    perfect : float, default=0
        Best possible number, in `unit`.
    worst : float, default=inf
        Worst possible number, in `unit`.
    column : str, default=None
        Name, without suffix, of the columns of published tables that have the quantity:
        ``"accuracy"`` stands for ``accuracy``, ``accuracy_mean`` and ``accuracy_std``. None: no
        published table has it.
    per_column_unit : float, default=1
        Factor from the unit of the published column to `unit`, as `factor` is for records.
    explanation : str, default=""
        Description of a CPU time.
    of_machine : bool, default=False
        True: the quantity depends on the machine, as CPU times do. It is not compared with a
        published number, and is printed with three significant digits, without a deviation.
    of_samples : bool, default=False
        True: the quantity is a percentage of the test samples.
    factor : float, default=1
        Factor from the recorded number to `unit`: 100 for a recorded fraction in percent.
    is_complement : bool, default=False
        True: the record has one minus the number, such as the error for the accuracy.
    """

    name: str
    title: str
    unit: str
    path: tuple[str, ...]
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
    factor: float = 1
    is_complement: bool = False

    @property
    def is_judged(self) -> bool:
        """True if it can be compared with a published number."""
        return self.better is not None and not self.of_machine

    @property
    def sign(self) -> int:
        """Factor that makes the lower of two numbers the better one."""
        return -1 if self.better == "higher" else 1

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest possible number, in `unit`."""
        return min(self.perfect, self.worst), max(self.perfect, self.worst)

    @property
    def phrase(self) -> str:
        """Title within a sentence: ``"test error"``, ``"ROC AUC"``."""
        is_abbreviation = self.title[1:2].isupper()
        return self.title if is_abbreviation else self.title[:1].lower() + self.title[1:]

    def format_difference(self, number: str) -> str:
        """Return a formatted difference with its unit; percentages differ by percentage points.

        Examples
        --------
        >>> TEST_ERROR.format_difference("+5.17"), ROUNDS.format_difference("10")
        ('+5.17 percentage points', '10 rounds')
        """
        if self.unit != "percent":
            return f"{number} {self.unit}".rstrip()
        return f"{number} percentage point{'' if number == '1' else 's'}"

    def numbers(self, records: Iterable[Record], rounds: int | None = None) -> list[float | None]:
        """Return the number of each record.

        Parameters
        ----------
        records : iterable of Record
            Records of finished splits.
        rounds : int, default=None
            Number of boosting rounds after which one of `STAGED_QUANTITIES` is read. None: after
            the last round.

        Returns
        -------
        list of float or None
            Numbers in `unit`; None for a record without the number.
        """
        is_staged = rounds is not None and self.name in STAGED_QUANTITIES
        entries = read_entries(records, ("checkpoints", str(rounds)) if is_staged else self.path)
        if self.is_complement:
            entries = [None if entry is None else 1 - entry for entry in entries]
        if self.factor != 1:
            entries = [None if entry is None else self.factor * entry for entry in entries]
        return entries

    def number(self, record: Record, rounds: int | None = None) -> float | None:
        """Return the number of one record; see `numbers`."""
        return self.numbers([record], rounds)[0]

    def mean(self, records: Iterable[Record], rounds: int | None = None) -> float | None:
        """Return the mean over the records that have the number; None if none has."""
        recorded = [number for number in self.numbers(records, rounds) if number is not None]
        return fmean(recorded) if recorded else None


def read_entries(records: Iterable[Record], path: Iterable[str]) -> list:
    """Return an entry of each record.

    Parameters
    ----------
    records : iterable of Record
    path : iterable of str
        Names that lead to the entry: ``("seconds", "fit")`` is the entry ``fit`` of the entry
        ``seconds``.

    Returns
    -------
    list
        None for a record without the entry.
    """
    first, *inner = path
    # A whole column is read in one expression: a call of `Record.get` for each record takes most of
    # the time of a table. The entries of a user's measure come before the fields of a record. An
    # UNSET `extra_entries` is false.
    entries = [
        record.extra_entries[first]
        if record.extra_entries and first in record.extra_entries
        else getattr(record, first, None)
        for record in records
    ]
    for name in inner:
        entries = [
            parent.get(name) if isinstance(parent, Mapping) else getattr(parent, name, None)
            for parent in entries
        ]
    return [None if entry is UNSET else entry for entry in entries]


def _percentage(name: str, title: str, path: str, **fields) -> Quantity:
    """Return the quantity of a recorded fraction, in percent; by default higher is better.

    Parameters
    ----------
    name, title : str
        See `Quantity`; `name` is also its published column.
    path : str
        Key of the fraction in a record.
    **fields
        Further fields of the quantity.
    """
    settings = {"better": "higher", "perfect": 100, "worst": 0, "factor": 100} | fields
    return Quantity(name, title, "percent", (path,), "%", column=name, **settings)


def _entry(name: str, title: str, unit: str = "", **fields) -> Quantity:
    """Return the quantity of the entry `name` of records; `fields` are further fields."""
    return Quantity(name, title, unit, (name,), **fields)


def _time(part: str, explanation: str, unit: str = "seconds", **fields) -> Quantity:
    """Return the quantity of a part of a record's CPU seconds; `fields` are further fields.

    Parameters
    ----------
    part : str
        Key of the part in the record, and name of the quantity.
    explanation : str
        Description of the part.
    unit : {"seconds", "microseconds"}, default="seconds"
        Unit that is shown.
    """
    factor, symbol = {"seconds": (1, "s"), "microseconds": (1e6, "µs")}[unit]
    about = {"explanation": explanation, "of_machine": True, "factor": factor}
    return Quantity(part, "CPU time", unit, ("seconds", part), symbol, **about, **fields)


_UP_TO_ONE = {"digits": 3, "better": "higher", "perfect": 1, "worst": 0}
_ERROR = {"better": "lower", "perfect": 0, "worst": 100}
_ALL = (
    _percentage("test_error", "Test error", "test_error", of_samples=True, **_ERROR),
    _percentage("accuracy", "Accuracy", "test_error", of_samples=True, is_complement=True),
    _entry("mean_average_precision", "Mean average precision", column="map", **_UP_TO_ONE),
    _entry("log_loss", "Log-loss", "nats", digits=3, column="log_loss"),
    _entry("brier", "Brier score", digits=3, worst=2, column="brier"),
    _entry("auc", "ROC AUC", column="auc", **_UP_TO_ONE),
    _percentage("balanced_accuracy", "Balanced accuracy", "balanced_accuracy"),
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

#: All quantities by name; a measure adds its own ones when it is imported.
QUANTITIES: dict[str, Quantity] = {quantity.name: quantity for quantity in _ALL}

TEST_ERROR = QUANTITIES["test_error"]
ROUNDS = QUANTITIES["n_iterations"]
CALIBRATION = QUANTITIES["calibration"]

#: Quantities that are recorded after several numbers of boosting rounds.
STAGED_QUANTITIES = ("test_error", "accuracy")

#: Quantities of the measure `scores` besides the test error.
SCORES = ("log_loss", "brier", "auc", "balanced_accuracy")

#: Significant digits of recorded CPU times; clocks have fewer.
TIME_DIGITS = 6

#: Significant digits of recorded scores: enough to show a difference of two fits, and fewer than
#: differ between processors.
SCORE_DIGITS = 9

#: CPU times of a fit that a table can show beside its numbers.
SHOWN_TIMES = ("fit", "weak_learner", "coefficients", "predict_per_instance", "hash_per_instance")


def add_quantity(quantity: Quantity) -> None:
    """Add the quantity of a measure to `QUANTITIES`.

    Raises
    ------
    UserError
        If another quantity has its name.
    """
    if QUANTITIES.setdefault(quantity.name, quantity) != quantity:
        raise UserError(f"there is another quantity {quantity.name!r}; choose another name")


def get_quantity(name: str) -> Quantity:
    """Return the quantity of a name.

    Raises
    ------
    UserError
        If there is none of this name; near matches are named.
    """
    if name not in QUANTITIES:
        for measure in measures.names():
            measures.find(measure)
    if name not in QUANTITIES:
        raise unknown_name_error("quantity", name, QUANTITIES, is_listed=False)
    return QUANTITIES[name]
