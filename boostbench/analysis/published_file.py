"""Published numbers in a file of the user, and their comparison with the records."""

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import inf, isinf, sqrt
from pathlib import Path

from boostbench.analysis.cells import empty_cell
from boostbench.analysis.runs import RecordedExperiment, experiments_on
from boostbench.analysis.tables import Column, Table
from boostbench.fitting.quantities import QUANTITIES, Quantity
from boostbench.papers.published import Published, is_value
from boostbench.spec.keys import canonical_json
from boostbench.util.errors import UserError, did_you_mean, os_error_reason

#: A number as papers print it. Python takes ``1_0``, ``nan`` and digits of other scripts as well.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")

#: The most decimals of a published number, and repeats of an experiment.
MOST_DECIMALS, MOST_REPEATS = 9, 10**9
# Characters of a cell in a message.
_LONGEST = 40

#: Columns that are neither settings nor numbers.
_NAMES, _REPEATS = ("data", "algo"), "n"


@dataclass(frozen=True)
class PublishedLine:
    """A line of the file.

    Attributes
    ----------
    number : int
        Of the line in the file, from 1.
    data, algo : str
        Names, as in the records.
    settings : dict of str to str
        Settings that distinguish experiments of one algorithm: parameters, settings of the
        protocol, or the seed. Empty cells are left out.
    published : Published
        The number.
    """

    number: int
    data: str
    algo: str
    settings: Mapping[str, str]
    published: Published

    @property
    def label(self) -> str:
        """The algorithm with its settings."""
        settings = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.algo}, {settings}" if settings else self.algo


def read_published_file(
    path: Path, repeats: int | None = None, digits: int | None = None
) -> list[PublishedLine]:
    """Read published numbers.

    Parameters
    ----------
    path : Path
        CSV file with a heading: ``data``, ``algo``; a quantity, such as ``test_error_mean``, or
        ``test_error`` without a deviation, and ``test_error_std``; perhaps ``n``, how often the
        experiment was repeated; all other columns are settings. Lines that begin with # are
        comments.
    repeats : int, default=None
        Number of repetitions if there is no column ``n``.
    digits : int, default=None
        Decimals that the paper prints. None: the decimals of the longest number, and at least
        as many as our numbers have. Programs write 1.000 as 1, so that a paper may print more
        decimals than its file has.

    Returns
    -------
    list of PublishedLine

    Raises
    ------
    UserError
        If something is wrong with the file; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"cannot read {path}: {os_error_reason(error)}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None
    lines = list(_lines(path, text))
    if not lines:
        raise UserError(f"{path} is empty; it needs a heading such as data,algo,test_error_mean")
    (first_line, heads), *others = lines
    layout = _Heads.of(path, first_line, heads, repeats)
    if not others:
        raise UserError(f"{path} has a heading and no line below it")
    texts = [(number, dict(zip(heads, cells, strict=True))) for number, cells in others]
    if digits is None:
        digits = max(layout.quantity.digits, *(layout.decimals(*each) for each in texts))
    layout = replace(layout, quantity=replace(layout.quantity, digits=digits))
    published = [layout.line(number, line) for number, line in texts]
    first: dict[tuple, int] = {}
    for entry in published:
        place = entry.data, entry.label
        if place in first:
            raise UserError(
                f"{path}:{entry.number}: {entry.label} on {entry.data} stands in line "
                f"{first[place]} too"
            )
        first[place] = entry.number
    return published


@dataclass(frozen=True)
class _Heads:
    """Meaning of the columns."""

    path: Path
    quantity: Quantity
    mean: str
    std: str | None
    repeats: int | None
    settings: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path, number: int, heads: Sequence[str], repeats: int | None) -> "_Heads":
        where = f"{path}:{number}"
        for name in _NAMES:
            if name not in heads:
                raise UserError(
                    f"{where}: there is no column {name!r}; {did_you_mean(name, heads)}"
                )
        if len(set(heads)) < len(heads):
            twice = next(name for name in heads if heads.count(name) > 1)
            raise UserError(f"{where}: column {twice!r} is there twice")
        means = {f"{q.column}{end}": q for q in _judged() for end in ("", "_mean")}
        given = [name for name in heads if name in means]
        if len(given) != 1:
            columns = f"both {given[0]} and {given[1]}" if given else "no column of numbers"
            known = ", ".join(sorted(f"{q.column}_mean" for q in _judged()))
            raise UserError(f"{where}: there is {columns}; one of {known} is needed")
        [mean] = given
        quantity = means[mean]
        std = f"{quantity.column}_std" if f"{quantity.column}_std" in heads else None
        if _REPEATS not in heads and repeats is None:
            raise UserError(
                f"{where}: how often was each experiment repeated? add a column 'n' or --repeats 9"
            )
        others = {*_NAMES, mean, std, _REPEATS}
        return cls(
            path, quantity, mean, std, repeats, [name for name in heads if name not in others]
        )

    def decimals(self, number: int, line: Mapping[str, str]) -> int:
        """Count the decimals of a line's numbers."""
        written = {name: _decimals(line[name]) for name in (self.mean, self.std) if name}
        for name, decimals in written.items():
            if decimals > MOST_DECIMALS:
                raise UserError(
                    f"{self.path}:{number}: {name} has {decimals} decimals, more than "
                    f"{MOST_DECIMALS}; --decimals says how many the paper prints"
                )
        return max(written.values())

    def line(self, number: int, line: Mapping[str, str]) -> PublishedLine:
        where = f"{self.path}:{number}"
        for name in _NAMES:
            if not line[name]:
                raise UserError(f"{where}: {name} is empty")
        mean = _number(where, self.mean, line[self.mean])
        low, high = self.quantity.bounds
        if not low <= mean <= high:
            span = f"from {low:g} to {high:g}" if high < inf else f"at least {low:g}"
            raise UserError(f"{where}: {self.mean} is {mean:g}; {self.quantity.title} is {span}")
        std = float("nan")
        if self.std and line[self.std]:
            std = _number(where, self.std, line[self.std])
            if std < 0:
                raise UserError(f"{where}: {self.std} is {std:g}; a deviation is not negative")
            # Standard deviation of two numbers at the ends of the range.
            most = (high - low) / sqrt(2)
            if std > most:
                raise UserError(f"{where}: {self.std} is {std:g}; none is more than {most:.3g}")
        n = self.repeats
        if _REPEATS in line:
            text = line[_REPEATS]
            # Python does not convert strings of many digits.
            n = int(text) if text.isdecimal() and len(text) <= len(str(MOST_REPEATS)) else 0
            if not 1 <= n <= MOST_REPEATS:
                must = f"it must be a whole number from 1 to {MOST_REPEATS}"
                raise UserError(f"{where}: n is {_shown(text)}; {must}")
        table = str(self.path)
        published = Published(table, self.quantity, mean, std, n, dict(line), f"{table}:{number}")
        settings = {name: line[name] for name in self.settings if line[name]}
        return PublishedLine(number, line["data"], line["algo"], settings, published)


def beside_records(
    path: Path,
    numbers: Sequence[PublishedLine],
    runs: Collection[RecordedExperiment],
    titles: Mapping[str, str],
) -> Table:
    """Return a table of published numbers and the recorded experiments that they belong to.

    Parameters
    ----------
    path : Path
        Of the file.
    numbers : sequence of PublishedLine
        Its lines.
    runs : collection of RecordedExperiment
        Experiments on record.
    titles : mapping of str to str
        Titles of algorithms by name.

    Returns
    -------
    Table
        With a cell for each line.

    Raises
    ------
    UserError
        If no record has a setting, or several experiments fit a line.
    """
    runs_by_data = {line.data: experiments_on(runs, line.data) for line in numbers}
    known = {key for own in runs_by_data.values() for run in own for key in _settings(run)}
    if known:
        for name in dict.fromkeys(key for line in numbers for key in line.settings):
            if name not in known:
                raise UserError(
                    f"{path}: column {name!r} is no quantity and no setting of what is on "
                    f"record; {did_you_mean(name, known)}"
                )
    quantity = numbers[0].published.quantity
    rows, columns, cells = {}, {}, {}
    for line in numbers:
        label = titles.get(line.algo, line.algo) + line.label.removeprefix(line.algo)
        by_age = sorted(runs_by_data[line.data], key=lambda run: run.finished)
        # The version of a data set that was used last counts.
        versions = {
            (run.settings, canonical_json(run.cut)): run for run in by_age if _fits(run, line)
        }
        fitting = list(versions.values())
        data_sets = list(dict.fromkeys(run.cell.data for run in fitting))
        if len({cut for _, cut in versions}) > 1:
            raise UserError(
                f"{path}:{line.number}: {line.data} is {len(data_sets)} data sets on record; "
                f"write one of these in column data: {'; '.join(data_sets)}"
            )
        if len(fitting) > 1:
            ways = "; ".join(run.settings or "all at their defaults" for run in fitting[:3])
            raise UserError(
                f"{path}:{line.number}: {len(fitting)} experiments on record are {line.label} on "
                f"{line.data} ({ways}); add a column that tells them apart, such as n_iterations"
            )
        rows[line.data] = line.data
        columns[line.label] = Column(label, label, quantity=quantity)
        more = {"published": {quantity.name: line.published}, "quantity": quantity}
        cell = fitting[0].cell if fitting else empty_cell(line.data, line.algo, label)
        cells[line.data, line.label] = replace(cell, **more)
    return Table(path.stem, f"{path}: published and ours", rows, columns, cells)


def doubts(path: Path, numbers: Sequence[PublishedLine]) -> list[str]:
    """Return warnings about numbers that seem to have another unit."""
    quantity = numbers[0].published.quantity
    if quantity.unit == "percent" and max(line.published.mean for line in numbers) <= 1:
        return [
            f"{path}: no {quantity.title.lower()} is above 1; numbers are taken as percent, a "
            "quarter is 25"
        ]
    return []


def _lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that say something, with their numbers, as long as the first."""
    reader = csv.reader(text.splitlines(), strict=True)
    width = None
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if not any(cells) or cells[0].startswith("#"):
                continue
            if width is None and len(cells) == 1 and (separator := re.search("[;\t|]", cells[0])):
                raise UserError(
                    f"{path}:{reader.line_num}: the heading has {separator[0]!r} between its "
                    "names; separate cells by commas, and write decimal points (1.5, not 1,5)"
                )
            width = width or len(cells)
            if len(cells) != width:
                raise UserError(
                    f"{path}:{reader.line_num}: {len(cells)} cells, where the heading has {width}"
                )
            yield reader.line_num, cells
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: {error}") from None


def _judged() -> list[Quantity]:
    return [q for q in QUANTITIES.values() if q.column and q.is_judged]


def _decimals(text: str) -> int:
    return max(0, -Decimal(text).as_tuple().exponent) if _NUMBER.fullmatch(text) else 0


def _number(where: str, name: str, text: str) -> float:
    value = float(text) if _NUMBER.fullmatch(text) else inf
    if isinf(value):
        raise UserError(f"{where}: {name} is {_shown(text)}, which is no number")
    return value


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


def _settings(run: RecordedExperiment) -> dict:
    """Return the settings that distinguish experiments."""
    config = run.spec
    return {**config["algo"], **config["protocol"], "seed": config["seed"]}


def _fits(run: RecordedExperiment, line: PublishedLine) -> bool:
    settings = _settings(run)
    has = run.cell.average(line.published.quantity) is not None or not run.cell.n_finished
    return (
        run.cell.algo == line.algo
        and has
        and all(is_value(value, settings.get(key)) for key, value in line.settings.items())
    )
