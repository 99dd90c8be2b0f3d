"""Recorded splits as a table with one row per split, and as a pandas data frame.

The cells of tables hold their splits as a `ResultFrame`. ``boostbench export`` and the functions
`boostbench.results` and `boostbench.predictions` return data frames.
"""

import importlib.util
import json
from collections.abc import Iterable, Sequence
from itertools import compress
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, BinaryIO

from boostbench.fitting.measures.prediction import Predictions
from boostbench.fitting.quantities import QUANTITIES, Quantity, read_entries
from boostbench.records.index import Records
from boostbench.records.installed import find_results
from boostbench.records.schema import Config, Record
from boostbench.spec.keys import remove_defaults
from boostbench.util.errors import UserError
from boostbench.util.files import write_output, writing_to
from boostbench.util.terminal import escape_formula

if TYPE_CHECKING:
    import pandas as pd

# Keys of a record, from the outer to the inner one, by column of a frame. The columns of quantities
# are not among them, since a `Quantity` reads its own entry.
_KEYS_OF_COLUMN = {
    **{
        name: (name,)
        for name in (
            *("split", "n_train", "n_test", "train_error", "validation_error", "chosen"),
            *("checkpoints", "error", "rows", "finished", "key"),
        )
    },
    "data": ("config", "data", "name"),
    "checksum": ("config", "data", "checksum"),
    "seed": ("config", "seed"),
    "config": ("config", "hash"),
    "digest": ("last_digest",),
    "cpu": ("provenance", "environment", "cpu"),
    **{name: ("provenance", name) for name in ("edition", "commit", "environment")},
}

#: Columns of an exported frame.
COLUMNS = (
    *("data", "algo", "measure", "seed", "split", "n_train", "n_test"),
    *QUANTITIES,
    *("train_error", "validation_error", "chosen", "checkpoints", "settings", "error", "digest"),
    *("config", "checksum", "rows", "edition", "commit", "cpu", "finished"),
)


class ResultFrame:
    """Recorded splits by column, one row per split.

    A column is read when it is first used. Parts of a frame are made for every cell of a table,
    which takes 1 us here and 100 us in pandas; `to_frame` makes the data frame of an export.

    Parameters
    ----------
    records : sequence of Record, default=()
        Records of finished and failed splits.

    Attributes
    ----------
    records : sequence of Record
    """

    def __init__(self, records: Sequence[Record] = ()):
        self.records = records
        self._columns: dict[str, list] = {}

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, name: str) -> list:
        """Return a column: a quantity in its unit, or an entry of `COLUMNS` or ``key``.

        Values that a record does not have are None.
        """
        if name not in self._columns:
            self._columns[name] = (
                QUANTITIES[name].numbers(self.records)
                if name in QUANTITIES
                else read_entries(self.records, _KEYS_OF_COLUMN[name])
            )
        return self._columns[name]

    def numbers(self, quantity: Quantity, rounds: int | None = None) -> list[float | None]:
        """Return a quantity after a number of boosting rounds, or after the last (None)."""
        if rounds is None:
            return self[quantity.name]
        return quantity.numbers(self.records, rounds)

    def average(self, quantity: Quantity) -> float | None:
        """Return the mean of a quantity over the rows that have it; None if none has."""
        numbers = [number for number in self[quantity.name] if number is not None]
        return fmean(numbers) if numbers else None

    def select(self, mask: Iterable[bool]) -> "ResultFrame":
        """Return the rows where `mask`, with an entry for each row, is true."""
        return ResultFrame(list(compress(self.records, mask)))

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with the columns that a record determines alone.

        `read_frame` adds the names of the data set and the algorithm, and the settings.
        """
        import pandas as pd  # slow to import

        frame = pd.DataFrame({name: self[name] for name in (*_KEYS_OF_COLUMN, *QUANTITIES)})
        return frame.astype(dict.fromkeys(QUANTITIES, float))


def concatenate(frames: Iterable[ResultFrame]) -> ResultFrame:
    """Return the rows of several frames in one; records with the same key only once."""
    records = {record.key: record for frame in frames for record in frame.records}
    return ResultFrame(list(records.values()))


def read_frame(results: Path) -> tuple["pd.DataFrame", list[str]]:
    """Read all recorded splits, finished or failed, in a form for other programs.

    Parameters
    ----------
    results : Path
        Folder of the results.

    Returns
    -------
    frame : pandas.DataFrame
        See `boostbench.results`.
    warnings : list of str
        Warnings about damaged files.

    Raises
    ------
    UserError
        If there are no records.
    """
    # 1) Read the records of splits; trials of cross-validation are left out.
    records = Records(find_results(Path(results)))
    titled_records = records.titled_records(lambda _, kind: kind != "tuning")
    if not titled_records:
        raise UserError(f"nothing is on record in {results}; name another folder by results=")
    frame = ResultFrame([record for _, record in titled_records]).to_frame()
    # 2) Add the names of data, algorithms and measures, and values as JSON.
    titles, algos, kinds = zip(*(names for names, _ in titled_records), strict=True)
    configs = {record.config.hash: record.config for _, record in titled_records}
    settings = {config_hash: settings_as_json(config) for config_hash, config in configs.items()}
    frame = frame.assign(
        data=titles,
        algo=algos,
        measure=[kind or "prediction" for kind in kinds],
        settings=frame["config"].map(settings),
        chosen=frame["chosen"].map(_encode_json),
        checkpoints=frame["checkpoints"].map(_encode_json),
    )
    order = ["data", "algo", "measure", "config", "split"]
    frame = frame[list(COLUMNS)].sort_values(order, kind="stable", ignore_index=True)
    return frame, records.pop_warnings()


def read_predictions(results: Path) -> tuple["pd.DataFrame", list[str]]:
    """Read all recorded predictions; see `boostbench.predictions`.

    Parameters
    ----------
    results : Path
        Folder of the results.

    Returns
    -------
    frame : pandas.DataFrame
    warnings : list of str
        Warnings about damaged files.

    Raises
    ------
    UserError
        If there are no predictions.
    """
    import pandas as pd  # slow to import

    records, frames = Records(find_results(Path(results))), []
    for (data, algo, _), record in records.titled_records(
        lambda _, kind: kind == Predictions.suffix
    ):
        if record.is_failed:
            continue
        frame = pd.DataFrame({"row": record.tested, "truth": record.truth})
        frame["predicted"] = record.predicted
        for number, column in enumerate(zip(*record.probabilities or (), strict=True)):
            frame[f"p{number}"] = column
        settings = settings_as_json(record.config)
        frames.append(frame.assign(data=data, algo=algo, split=record.split, settings=settings))
    if not frames:
        raise UserError(
            f"no predictions are on record in {results}; 'boostbench run measure=predictions' "
            "keeps them"
        )
    frame = pd.concat(frames, ignore_index=True)
    # Move the columns of probabilities to the end.
    leading = ["data", "algo", "settings", "split", "row", "truth", "predicted"]
    probabilities = [name for name in frame if name not in leading]
    return frame[[*leading, *probabilities]], records.pop_warnings()


def write_frame(frame: "pd.DataFrame", path: Path) -> None:
    """Write rows as CSV, or as Parquet if the name of the file ends in ``.parquet``.

    Raises
    ------
    UserError
        If the name has another ending, pyarrow is not installed, or the file cannot be written.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise UserError(f"{path}: name it *.csv or *.parquet")
    if path.suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise UserError("Parquet needs pyarrow; install it, or name the file *.csv")

    def save(stream: BinaryIO) -> None:
        if path.suffix == ".parquet":
            frame.to_parquet(stream, engine="pyarrow", index=False)
            return
        texts = frame.select_dtypes(exclude="number").map(escape_formula)
        frame.assign(**texts).to_csv(stream, mode="wb", index=False, lineterminator="\n")

    with writing_to(path, "choose another file by --output"):
        write_output(path, save)


def settings_as_json(config: Config) -> str:
    """Return the settings of a config that differ from the defaults, without its data."""
    settings = {name: value for name, value in config.content.items() if name != "data"}
    return _encode_json(remove_defaults(settings))


def _encode_json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)
