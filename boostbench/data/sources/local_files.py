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
    """Return the local file of a data set; None if there is none."""
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
        First existing file among ``STEM.svm``, ``STEM.svm.gz``, ...; for IDX files the images of
        the training part. None: there is no such file.
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
    if not os.path.isfile(path):
        raise UserError(f"there is no file {path}; check the path")
    reader = reader_of(path)
    if reader is None:
        raise unknown_suffix_error(path)
    check_options(options, reader, f"{path.name} has another format")
    with open_file(path) as stream:
        table = reader.read(stream, str(path), options)
        # Messages on the table read the file again, for the numbers of lines.
        data = features_and_labels(table, options.labels, missing=missing)
    splits_path = path.with_name(f"{stem_and_suffix(path)[0]}.splits.npz")
    if os.path.isfile(splits_path):
        kept_rows = data.kept_rows
        splits = read_splits(splits_path, len(data.y if kept_rows is None else kept_rows))
        data = data._replace(splits=remap_rows(splits, kept_rows, str(splits_path)))
    if data.names and not data.categories and _is_column_numbering(data.names):
        data = data._replace(names=None)
    return data


def _is_column_numbering(names: Sequence[str]) -> bool:
    """Return whether n names are the numbers from 0 to n in order, without one of them.

    The absent number belongs to the class column if a header counts from 0. It is 0 if the header
    counts from 1 and the class column is the last one.
    """
    name_set, numbers = set(names), map(str, range(len(names) + 1))
    return names == [number for number in numbers if number in name_set]


def data_set_name(path: Path) -> str:
    """Return the name of the data set in a file, which its records are filed under.

    Different files may have equal names: `boostbench.records.archive.title_data_sets` distinguishes
    their records.

    Examples
    --------
    >>> [data_set_name(Path(name)) for name in ("x/v1.0.csv.gz", "my = data.csv", "..x.csv")]
    ['v1.0', 'my_data', '_x']
    """
    # Some file systems decompose accented letters.
    name = slug(unicodedata.normalize("NFC", stem_and_suffix(path)[0]), ".+-")
    return name if re.match(r"\w", name) else f"_{name.lstrip('.+-')}"
