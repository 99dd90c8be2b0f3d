"""Readers of data files: a format is a file of this folder, and found because it is there."""

import functools
import os
import pkgutil
from importlib import import_module
from pathlib import Path

from boostbench.data.readers.base import Reader, ReadOptions
from boostbench.util.decompression import OPENERS
from boostbench.util.errors import UserError, join_words


@functools.cache
def readers() -> list[Reader]:
    """Return the readers of all formats, in the order in which files of a name are searched."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if module.name != "base"]
    # The file json_lines.py has the class JsonLines.
    instances = [
        getattr(import_module(f"{__name__}.{name}"), name.title().replace("_", ""))()
        for name in names
    ]
    return sorted(instances, key=lambda reader: (reader.rank, reader.title))


def main_suffixes() -> list[str]:
    """Return the suffix by which a file of each format is searched, such as ``.csv``."""
    return [reader.suffixes[0] for reader in readers()]


def stem_and_suffix(path: Path) -> tuple[str, str]:
    """Return the stem of a file name and its suffix, without compression.

    Examples
    --------
    >>> stem_and_suffix(Path("/x/vowel.svm.gz"))
    ('vowel', '.svm')
    >>> stem_and_suffix(Path("mnist-train-images-idx3-ubyte"))
    ('mnist', '-train-images-idx3-ubyte')
    """
    name = path.name.removesuffix(path.suffix) if path.suffix in OPENERS else path.name
    for reader in readers():
        for suffix in reader.suffixes:
            # A suffix without a point, as of IDX files, is found by the whole ending only.
            if not suffix.startswith(".") and name.endswith(suffix):
                return name.removesuffix(suffix), suffix
    stem, suffix = os.path.splitext(name)
    return stem, suffix.lower()


def reader_of(path: Path) -> Reader | None:
    """Return the reader of a file by its name; None if no format has its suffix."""
    suffix = stem_and_suffix(path)[1]
    return next((reader for reader in readers() if suffix in reader.suffixes), None)


def check_options(options: ReadOptions, reader: Reader | None, explanation: str) -> None:
    """Check that a format supports all options that a user gave.

    Parameters
    ----------
    options : ReadOptions
        Settings of the user.
    reader : Reader or None
        Reader of the format. None: there is no file, so that no option is supported.
    explanation : str
        End of the message.

    Raises
    ------
    UserError
        If the format does not support an option.
    """
    for name in options.user_option_names:
        if reader is None or name not in reader.options:
            titles = join_words([other.title for other in readers() if name in other.options])
            raise UserError(f"data.{name} applies to {titles} files only; {explanation}")


def unknown_suffix_error(path: Path) -> UserError:
    """Return the error for a file whose name does not say its format."""
    suffixes = [f"*{suffix}" for suffix in main_suffixes() if suffix.startswith(".")]
    compressions = join_words([suffix for suffix in OPENERS if suffix], "or")
    return UserError(
        f"{path}: the ending does not say the format; name it {join_words(suffixes, 'or')}, "
        f"perhaps with {compressions}"
    )
