"""All records as a table of one row per split, for other programs."""

import importlib.util
import json
from pathlib import Path
from typing import BinaryIO

from boostbench.fitting.measures.predictions import Predictions
from boostbench.fitting.quantities import QUANTITIES
from boostbench.papers.metadata import tables
from boostbench.papers.published import lines
from boostbench.records.archive import Records
from boostbench.records.installed import find_results
from boostbench.spec.keys import remove_defaults
from boostbench.util.atomic_write import write_output
from boostbench.util.errors import UserError, unknown_name_error, writing_to
from boostbench.util.printable import escape_formula


def read_frame(results: Path):
    """Read all splits on record, finished or failed.

    Parameters
    ----------
    results : Path
        Folder of the results.

    Returns
    -------
    frame : pandas.DataFrame
        See `boostbench.results`.
    warnings : list of str
        What is wrong with the files.

    Raises
    ------
    UserError
        If nothing is on record.
    """
    import pandas as pd  # slow to import

    records = Records(find_results(Path(results)))
    rows = [
        _row(record, *names) for names, record in records.each(lambda _, kind: kind != "tuning")
    ]
    if not rows:
        raise UserError(f"nothing is on record in {results}; name another folder by results=")
    frame = pd.DataFrame(rows)
    for name in QUANTITIES:
        frame[name] = frame[name].astype(float)
    order = ["data", "algo", "measure", "config", "split"]
    return frame.sort_values(order, kind="stable", ignore_index=True), records.new_warnings()


def predictions_frame(results: Path):
    """Read all predictions on record, as `read_frame` does splits; see `boostbench.predictions`."""
    import pandas as pd  # slow to import

    records, frames = Records(results), []
    for (data, algo, _), record in records.each(lambda _, kind: kind == Predictions.suffix):
        if "error" in record:
            continue
        about = {"data": data, "algo": algo, "split": record["split"]}
        frame = pd.DataFrame({"row": record["tested"], "truth": record["truth"]})
        frame["predicted"] = record["predicted"]
        for number, column in enumerate(zip(*record["probabilities"] or (), strict=True)):
            frame[f"p{number}"] = column
        frames.append(frame.assign(**about, settings=_settings(record["config"])))
    if not frames:
        raise UserError(
            f"no predictions are on record in {results}; 'boostbench run measure=predictions' "
            "keeps them"
        )
    frame = pd.concat(frames, ignore_index=True)
    first = ["data", "algo", "settings", "split", "row", "truth", "predicted"]
    return frame[[*first, *(name for name in frame if name not in first)]], records.new_warnings()


def published_frame(name: str | None = None):
    """Read published numbers.

    Parameters
    ----------
    name : str, default=None
        Of a table, as in ``conf/table`` or as a paper calls it; by default all.

    Returns
    -------
    pandas.DataFrame
        A row for each number, see `boostbench.published`.

    Raises
    ------
    UserError
        An unknown name.
    """
    import pandas as pd  # slow to import

    known = {key: about.definition for key, about in tables().items()}
    chosen = [key for key, definition in known.items() if name in (None, key, definition)]
    if not chosen:
        raise unknown_name_error(
            "published table", name, {*known, *known.values()}, is_listed=False
        )
    return pd.DataFrame([line for key in chosen for line in lines(key)])


def write_frame(frame, path: Path) -> None:
    """Write rows as CSV, or as Parquet where the name of the file ends in ``.parquet``.

    Raises
    ------
    UserError
        Another ending, Parquet without pyarrow, or a file that cannot be written.
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


def _row(record: dict, data: str, algo: str, kind: str) -> dict:
    config = record["config"]
    digests = record.get("digests") or {}
    return {
        "data": data,
        "algo": algo,
        "measure": kind or "prediction",
        "seed": config["seed"],
        "split": record["split"],
        **{name: record.get(name) for name in ("n_train", "n_test")},
        **{name: quantity.of(record) for name, quantity in QUANTITIES.items()},
        **{name: record.get(name) for name in ("train_error", "validation_error")},
        "chosen": _json(record.get("chosen")),
        "checkpoints": _json(record.get("checkpoints")),
        "settings": _settings(config),
        "error": record.get("error"),
        "digest": digests.get("end"),
        "config": record["config_hash"],
        "checksum": config["data"]["checksum"],
        "rows": record["rows"],
        "edition": record.get("edition", 1),
        "commit": record["commit"],
        "cpu": (record["environment"] or {}).get("cpu"),
        "finished": record.get("finished"),
    }


def _settings(config: dict) -> str:
    return _json(remove_defaults({name: value for name, value in config.items() if name != "data"}))


def _json(value) -> str | None:
    return None if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)
