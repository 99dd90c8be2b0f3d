"""CSV files."""

from typing import BinaryIO

import numpy as np

from boostbench.data.table import Table
from boostbench.errors import UserError

#: Besides pandas' own words for "missing".
MISSING = ["?"]


def read_csv(stream: BinaryIO, where: str, labels: str | None = None) -> Table:
    """Read a CSV file: separated by comma, semicolon or tab, with or without a header line.

    The first line is a header when it names the column of labels, holds no number, or holds a word
    where the second has a number. Without a header the columns are called ``0``, ``1``, ... A first
    column without a name, as pandas writes it, numbers the rows and is left out.

    Parameters
    ----------
    stream : binary file
        The text, not compressed.
    where : str
        What to call the file in messages.
    labels : str, default=None
        Name of the column of labels, where known.

    Returns
    -------
    Table

    Raises
    ------
    UserError
        With the number of the first line that does not parse.
    """
    import pandas as pd  # slow to import

    lines = [stream.readline().decode("utf-8-sig", errors="replace").strip() for _ in range(2)]
    stream.seek(0)
    if not lines[0]:
        raise UserError(f"{where} is empty, or its first line is")
    separator = max(",;\t", key=lines[0].count)
    first, second = ([cell.strip(" \"'") for cell in line.split(separator)] for line in lines)
    header = _is_header(first, second, labels)
    try:
        frame = pd.read_csv(
            stream,
            sep=separator,
            header=0 if header else None,
            na_values=MISSING,
            skipinitialspace=True,
            low_memory=False,  # else a large column of words may come out half as numbers
            index_col=False,
            encoding="utf-8-sig",
            encoding_errors="replace",
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise UserError(f"{where} does not parse: {' '.join(str(error).split())}") from None
    if header and first[0] == "":
        frame = frame.iloc[:, 1:]
    if frame.empty:
        raise UserError(f"{where} holds no samples")
    columns = [_column(frame.iloc[:, j], 1 + header, where) for j in range(frame.shape[1])]
    values, categories = zip(*columns, strict=True)
    names = [str(name).strip() for name in frame.columns]
    return Table(names, list(categories), np.column_stack(values), where)


def _is_header(first: list[str], second: list[str], labels: str | None) -> bool:
    numbers = [_is_number(cell) for cell in first]
    below = [_is_number(cell) for cell in second]
    return (
        labels in first
        or not any(numbers)
        or any(under and not above for above, under in zip(numbers, below, strict=False))
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _column(column, first_line: int, where: str) -> tuple[np.ndarray, list[str] | None]:
    """Turn a pandas column into numbers, or into codes and what they stand for."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=float), None
    text = column.astype("string")
    is_number = pd.to_numeric(text, errors="coerce").notna()
    is_word = text.notna() & ~is_number
    if is_number.sum() > is_word.sum():
        row = int(is_word.to_numpy().argmax())
        raise UserError(
            f"{where}, line {row + first_line}: {text.iloc[row]!r} stands among the numbers of "
            f"column {str(column.name)!r}; correct it, or leave the cell empty if it is missing"
        )
    codes, categories = pd.factorize(text, sort=True)
    return np.where(codes < 0, np.nan, codes), categories.tolist()
