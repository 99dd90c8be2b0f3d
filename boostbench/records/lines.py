"""The lines of a file of records, and the records that they make in memory.

Besides records a file holds definitions, each once: of configs, ``{"config": {...}, "hash": ...}``,
and of where records come from, ``{"provenance": {...}, "hash": ...}``. A record names both by hash.
Lines say nothing twice: errors that are so many rows of the training or the test part are written
as these numbers, and what there is of each checkpoint in the order of the config's.

In memory a record is one mapping, with its ``config`` whole, and its provenance;
its ``key`` and a digest of what was ``asked`` are derived from these (`keys`).
"""

import functools
from collections.abc import Callable, Mapping

import msgspec

from boostbench.records import schema
from boostbench.records.schema import BadLine, check
from boostbench.spec import measures
from boostbench.spec.keys import RecordKeys, canonical_json, digest, drop_removed_parameters
from boostbench.util.errors import UserError, first_line

_DEFINED = {"config": schema.Config, "provenance": schema.Provenance}
_TOO_DEEP = "not a record: it is nested too deeply"
_MADE_BY = ("code", "commit", "edition", "environment", "source")
# What is derived, or stands in definitions.
_APART = ("key", "asked", "config_hash", *_MADE_BY)
#: What is measured by the clock or says where, by what and for whom a record was made, and what is
#: derived.
CIRCUMSTANCES = {*_APART, "also", "config", "seconds", "started", "finished", "warnings"}
# Names of what is written as a list, and what so many entries of it stand for.
_Staged = tuple[tuple[str, Callable[[int], list[str]]], ...]
#: Levels of lists and mappings inside each other, twice those that YAML and overrides may have.
DEEPEST = 100
# Errors, the counts that are written for them, and of how many rows these are.
_COUNTED = (
    ("test_error", "n_test_wrong", "n_test"),
    ("train_error", "n_train_wrong", "n_train"),
    ("checkpoints", "n_wrong", "n_test"),
)


class Definitions:
    """The definitions of a file."""

    def __init__(self):
        self._configs: dict[str, tuple[dict, RecordKeys, _Staged]] = {}
        self._provenances: dict[str, dict] = {}

    def __contains__(self, name: str) -> bool:
        """Whether a definition of this hash is known."""
        return name in self._configs or name in self._provenances

    def add(self, line: Mapping) -> str:
        """Take a parsed line that is a definition, and give its hash.

        Raises
        ------
        BadLine
            If it is none, or is not what its hash says.
        """
        kind = next((kind for kind in _DEFINED if isinstance(line.get(kind), Mapping)), None)
        if kind is None or line.keys() != {kind, "hash"}:
            raise BadLine("not a record")
        content = line[kind]
        check(content, _DEFINED[kind])
        try:
            if digest(content) != line["hash"]:
                raise BadLine(f"its {kind} is not what its hash says")
            if kind == "config":
                content = {**content, "algo": drop_removed_parameters(content["algo"])}
                self._configs[line["hash"]] = (
                    content,
                    RecordKeys.from_config(content),
                    _staged(content),
                )
            else:
                self._provenances[line["hash"]] = content
        except UserError as error:
            raise BadLine(str(error)) from None
        return line["hash"]

    def record(self, line: Mapping, kind: str) -> dict:
        """Make a record of a parsed line, as it is in memory.

        Parameters
        ----------
        line : mapping
            As `parse` gives it.
        kind : str
            Kind of the file: ``"tuning"``, or the suffix of a measure.

        Returns
        -------
        dict

        Raises
        ------
        BadLine
            If something is missing or impossible.
        """
        try:
            name = line["config"]
            config, identity, staged = self._configs[name]
            made_by = self._provenances[line["provenance"]]
        except (KeyError, TypeError):
            check(line, schema.Record)
            what = "provenance" if name in self._configs else "config"
            raise BadLine(f"its {what} is defined nowhere in the file") from None
        is_trial = kind == "tuning"
        if "fold" in line and not is_trial:
            raise BadLine("fold: only a cross-validation trial has one")
        record = _lengthened(line, staged)
        if "error" in record:
            check(record, schema.FailedTrialLine if is_trial else schema.Failure)
        else:
            check(record, schema.FinishedTrialLine if is_trial else _record_type(kind))
            if not is_trial and made_by["environment"] is None:
                raise BadLine("its provenance has no environment")
            _check_judgement(record, config)
        if is_trial:
            points, rows = schema.points_of(record), record["rows"]
            key = identity.trial_key(record["split"], record["fold"], points, rows)
        else:
            key = identity.split_key(record["split"], record["rows"])
        del record["schema"], record["provenance"]
        record.update(made_by, key=key, asked=identity.settings, config_hash=name, config=config)
        return record


def _record_type(kind: str) -> type[schema.Measured]:
    """Return the type of the records in files of a measure; `Measured` for a user's measure."""
    measure = measures.find_by_suffix(kind)
    return schema.Measured if measure is None else measure.form


def _check_judgement(record: Mapping, config: Mapping) -> None:
    """Cross-validation makes shares of errors small, if its config does not say otherwise."""
    errors = [record.get("validation_error"), *(record.get("validation_errors") or ())]
    known = [error for error in errors if error is not None]
    if "judged_by" not in config and not all(0 <= error <= 1 for error in known):
        raise BadLine("validation_error: expected a fraction of 1")


def parse(line: bytes) -> dict:
    """Read the JSON of a line.

    Raises
    ------
    BadLine
        If it is no mapping in JSON, with valid Unicode and finite numbers, or nested too deeply.
    """
    try:
        content = msgspec.json.decode(line)
    except RecursionError:
        raise BadLine(_TOO_DEEP) from None
    except ValueError as error:
        raise BadLine(f"not a record: {first_line(error)}") from None
    if not isinstance(content, dict):
        raise BadLine("not a record")
    if line.count(b"[") + line.count(b"{") > DEEPEST and _is_deep(content):
        raise BadLine(_TOO_DEEP)
    return content


def _is_deep(content: dict) -> bool:
    level: list = [content]
    for _ in range(DEEPEST):
        values = (node.values() if isinstance(node, dict) else node for node in level)
        level = [value for some in values for value in some if isinstance(value, dict | list)]
    return bool(level)


def to_lines(record: Mapping) -> tuple[dict[str, bytes], bytes]:
    """Write a record down: the inverse of `Definitions.record`.

    Parameters
    ----------
    record : mapping
        As in memory; what is derived may be left out.

    Returns
    -------
    definitions : dict of str to bytes
        Lines that have to be in the file, by their hashes.
    line : bytes
        The record.

    Raises
    ------
    BadLine
        If it has no config, no provenance or no JSON form.
    """
    contents = {
        "config": record.get("config"),
        "provenance": {name: record[name] for name in _MADE_BY if name in record}
        | {"environment": record.get("environment")},
    }
    for kind, content in contents.items():
        check(content, _DEFINED[kind])
    try:
        hashes = {kind: digest(content) for kind, content in contents.items()}
        definitions = {
            hashes[kind]: _line({kind: content, "hash": hashes[kind]})
            for kind, content in contents.items()
        }
        own = {name: value for name, value in record.items() if name not in _APART}
        short = _shortened(own, record["config"])
        return definitions, _line({**short, **hashes, "schema": schema.SCHEMA})
    except (TypeError, ValueError, RecursionError, UserError) as error:
        raise BadLine(first_line(error)) from None


def _shortened(record: dict, config: Mapping) -> dict:
    """Write errors as counts, and leave out what is empty; texts of others become valid Unicode."""
    for name in ("error", "where"):
        if name in record:
            record[name] = _unicode(record[name])
    if "warnings" in record:
        record["warnings"] = [_unicode(text) for text in record["warnings"]]
        if not record["warnings"]:
            del record["warnings"]
    for error, count, of in _COUNTED:
        wrong = _each(record.get(error), functools.partial(_count, n=record.get(of)))
        if None not in (wrong.values() if isinstance(wrong, dict) else [wrong]):
            del record[error]
            record[count] = wrong
    for name, stages in _staged(config):
        by_rounds = record.get(name)
        if isinstance(by_rounds, dict):
            rounds = stages(len(by_rounds))
            if by_rounds.keys() == set(rounds):
                record[name] = [by_rounds[number] for number in rounds]
    return record


def _lengthened(line: Mapping, staged: _Staged) -> dict:
    """Undo `_shortened`."""
    record = {"warnings": [], **line} if "n_train" in line else dict(line)
    for name, stages in staged if "fold" not in line else ():
        listed = record.get(name)
        if isinstance(listed, list):
            rounds = stages(len(listed))
            if len(rounds) != len(listed):
                raise BadLine(f"{name}: there are not so many checkpoints")
            record[name] = dict(zip(rounds, listed, strict=True))
    for error, count, of in _COUNTED:
        if count in record:
            wrong, n = record.pop(count), record.get(of)
            numbers = wrong.values() if isinstance(wrong, dict) else [wrong]
            are_counts = type(n) is int and set(map(type, numbers)) <= {int}
            if not are_counts or not 0 <= min(numbers, default=0) <= max(numbers, default=0) <= n:
                raise BadLine(f"{count}: there are {n!r:.50} rows")
            n = n or 1
            is_staged = isinstance(wrong, dict)
            record[error] = {k: v / n for k, v in wrong.items()} if is_staged else wrong / n
    return record


def _staged(config: Mapping) -> _Staged:
    """Say what is written as a list, and what so many entries of it stand for."""
    rounds = config["protocol"].get("checkpoints")
    rounds = [str(number) for number in rounds] if isinstance(rounds, list) else []

    def and_end(number: int) -> list[str]:
        return [*rounds[: number - 1], "end"]

    return ("n_wrong", lambda n: rounds[:n]), ("digests", and_end), ("witness", and_end)


def _each(value, function):
    if isinstance(value, dict):
        return {name: function(item) for name, item in value.items()}
    return function(value)


def _count(share, n) -> int | None:
    if not (isinstance(share, float) and 0 <= share <= 1 and isinstance(n, int) and n > 0):
        return None
    count = round(share * n)
    return count if count / n == share else None


def _line(content: Mapping) -> bytes:
    return canonical_json(content).encode() + b"\n"


def _unicode(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
