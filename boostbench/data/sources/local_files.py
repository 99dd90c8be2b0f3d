"""Local data files: look-up by name, and reading in any supported format.

Modules of this folder test for a file by `os.path`: `Path` raises an error if a folder may not be
entered, or a name is too long.
"""

import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from boostbench.data.data_table import LabelledData, features_and_labels
from boostbench.data.decompression import OPENERS, open_file
from boostbench.data.fixed_splits import read_splits, remap_rows
from boostbench.data.readers import (
    check_options,
    main_suffixes,
    reader_of,
    stem_and_suffix,
    unknown_suffix_error,
)
from boostbench.data.readers.base import ReadOptions
from boostbench.spec.data import DataSpec
from boostbench.util.errors import UserError
from boostbench.util.files import slug, user_path


def data_folder() -> Path | None:
    """Return the folder of data files, ``$BOOSTBENCH_DATA``; None if it is not set."""
    folder = os.environ.get("BOOSTBENCH_DATA")
    return user_path(folder) if folder else None


def local_file(spec: DataSpec) -> Path | None:
    """Return the local file of a data set.

    Parameters
    ----------
    spec : DataSpec
        Settings of the data set.

    Returns
    -------
    Path or None
        ``data.path`` if the user gave it, also if no such file exists; otherwise the file of the
        data set's name in the folder of data files. None: there is no such file or folder.
    """
    if spec.path:
        return user_path(spec.path)
    folder = data_folder()
    return find_file(spec.file_stem, folder) if folder else None


def find_file(stem: str, folder: Path) -> Path | None:
    """Return the file of a data set in a folder.

    Parameters
    ----------
    stem : str
        File name without endings.
    folder : Path
        Folder of data files.

    Returns
    -------
    Path or None
        First existing file among the formats and their compressions, such as ``STEM.svm`` and
        ``STEM.svm.gz``. IDX files come in fours, of which the images of the training part are
        returned. None: there is no such file.
    """
    for suffix in main_suffixes():
        for compression in OPENERS:
            path = folder / f"{stem}{suffix}{compression}"
            if os.path.isfile(path):
                return path
    return None


def read_file(path: Path, options: ReadOptions, missing: str | None = None) -> LabelledData:
    """Load a data file, compressed or not.

    Fixed splits are read from ``STEM.splits.npz`` in the same folder, if it exists.

    Parameters
    ----------
    path : Path
        Path of the file. Its ending names the format.
    options : ReadOptions
        Settings of the user on the content of the file.
    missing : str, default=None
        Treatment of rows with missing features, see
        `boostbench.data.data_table.features_and_labels`. None: an error in formats with names.

    Returns
    -------
    LabelledData

    Raises
    ------
    UserError
        If the file does not exist, its format is unknown, or it cannot be read.
    """
    # 1) Find the reader of the format.
    if not os.path.isfile(path):
        raise UserError(f"there is no file {path}; check the path")
    reader = reader_of(path)
    if reader is None:
        raise unknown_suffix_error(path)
    check_options(options, reader, f"{path.name} has another format")
    # 2) Read features and labels.
    with open_file(path) as stream:
        table = reader.read(stream, str(path), options)
        # Messages on the table read the file again, for the numbers of lines.
        data = features_and_labels(table, options.labels, missing=missing)
    # 3) Read the splits. They count the rows of the file, some of which may be left out of the data
    #    because of missing features.
    splits_path = path.with_name(f"{stem_and_suffix(path)[0]}.splits.npz")
    if os.path.isfile(splits_path):
        n_file_rows = len(data.y) if data.kept_rows is None else len(data.kept_rows)
        splits = read_splits(splits_path, n_file_rows)
        data = data._replace(splits=remap_rows(splits, data.kept_rows, str(splits_path)))
    # 4) Ignore names that only number the columns of a file without categories.
    if data.names and not data.categories and _is_column_numbering(data.names):
        data = data._replace(names=None)
    return data


def _is_column_numbering(names: Sequence[str]) -> bool:
    """Return whether n names are n of the n + 1 numbers from 0 to n, in ascending order.

    The absent number belongs to the class column if a header counts from 0. It is 0 if the header
    counts from 1 and the class column is the last one.
    """
    distinct_names = set(names)
    numbers = map(str, range(len(names) + 1))
    return names == [number for number in numbers if number in distinct_names]


def data_set_name(path: Path) -> str:
    """Return the name of the data set in a file, which its records are filed under.

    Different files may have equal names: `boostbench.records.archive.title_data_sets` distinguishes
    their records.

    Examples
    --------
    >>> [data_set_name(Path(name)) for name in ("x/v1.0.csv.gz", "my = data.csv", "..x.csv")]
    ['v1.0', 'my_data', '_x']
    """
    # File systems may decompose accented letters.
    name = slug(unicodedata.normalize("NFC", stem_and_suffix(path)[0]), ".+-")
    return name if re.match(r"\w", name) else f"_{name.lstrip('.+-')}"
