"""Interface of readers: each format is a file of this folder with a class of the same name.

`docs/extending.md` shows a new reader.
"""

from dataclasses import dataclass, fields
from typing import BinaryIO, ClassVar

from boostbench.data.data_table import DataTable
from boostbench.spec.data import Decimal, Thousands


@dataclass(frozen=True)
class ReadOptions:
    """Settings of ``data`` on the content of a file; a format supports all or some of them.

    Parameters
    ----------
    labels : str, default=None
        Column of the classes. None: see `boostbench.data.data_table.label_column`.
    drop : tuple of str, default=()
        Columns to leave out, as patterns of `fnmatch`.
    na_values : tuple of (str or float), default=()
        Further words or numbers that mark missing values.
    header : bool, default=None
        Whether the first line holds the names of the columns. None: a guess.
    decimal : {"point", "comma"}, default=None
        Mark before the fraction of a number. None: a point, or a comma where commas can have no
        other meaning.
    thousands : {"point", "comma", "space", "apostrophe"}, default=None
        Mark between groups of three digits. None: numbers have no such mark, except points in a
        number that also has a decimal comma.
    """

    labels: str | None = None
    drop: tuple[str, ...] = ()
    na_values: tuple[str | float, ...] = ()
    header: bool | None = None
    decimal: Decimal | None = None
    thousands: Thousands | None = None

    @property
    def user_option_names(self) -> list[str]:
        """Names of the options that the user gave: they differ from their defaults."""
        return [field.name for field in fields(self) if getattr(self, field.name) != field.default]


class Reader:
    """Reader of a data format.

    A subclass in ``boostbench/data/readers/json_lines.py`` is called ``JsonLines``. It is
    found by the file's name; `boostbench.data.readers` has the functions.

    Attributes
    ----------
    title : str
        Name of the format in messages.
    content : str
        Content of a file, for ``boostbench data --help``.
    suffixes : tuple of str
        Endings of file names, in lower case and without compression. A file of a data set's
        name is searched with the first one.
    options : tuple of str
        Supported fields of `ReadOptions`.
    rank : int
        Position of the format in the search for a data set's file; formats of equal rank are in
        the order of their names.
    """

    title: ClassVar[str]
    content: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    options: ClassVar[tuple[str, ...]] = ()
    rank: ClassVar[int] = 100

    def read(self, stream: BinaryIO, where: str, options: ReadOptions) -> DataTable:
        """Load a file.

        Parameters
        ----------
        stream : binary file
            Content of the file, not compressed.
        where : str
            Path of the file, which messages begin with.
        options : ReadOptions
            Settings, at their defaults if the format does not support them.

        Returns
        -------
        DataTable

        Raises
        ------
        UserError
            If the content does not have the format.
        """
        raise NotImplementedError
