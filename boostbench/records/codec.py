"""Codec of the lines of a record file.

Besides records, a file holds definitions of configs, ``{"config": {...}, "hash": ...}``, and of the
provenance of records, ``{"provenance": {...}, "hash": ...}``, each once. A record refers to both by
their hashes. Errors are written as numbers of rows, and values at checkpoints as lists in the order
of the config's checkpoints.

In memory, a record is one mapping with its ``config`` and the fields of its provenance. Its ``key``
and ``asked``, the key of its settings, are derived from the config (`boostbench.spec.keys`).
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
_NESTING_ERROR = "not a record: it is nested too deeply"
_PROVENANCE_FIELDS = ("code", "commit", "edition", "environment", "source")
# Fields that are derived, or written in definitions.
_DERIVED_FIELDS = ("key", "asked", "config_hash", *_PROVENANCE_FIELDS)
#: Fields that do not belong to the result: times, provenance, data options and derived fields.
CIRCUMSTANCES = {*_DERIVED_FIELDS, "also", "config", "seconds", "started", "finished", "warnings"}
# Field that is written as a list, and function from its length to the keys of its entries.
_Staged = tuple[tuple[str, Callable[[int], list[str]]], ...]
#: Limit of nested lists and mappings, twice the limit for YAML and overrides.
MAX_DEPTH = 100
# Field of an error rate, field of the number of wrong rows, and field of the number of rows.
_COUNTED = (
    ("test_error", "n_test_wrong", "n_test"),
    ("train_error", "n_train_wrong", "n_train"),
    ("checkpoints", "n_wrong", "n_test"),
)


class Definitions:
    """Definitions of a file: configs and provenances by hash."""

    def __init__(self):
        self._configs: dict[str, tuple[dict, RecordKeys, _Staged]] = {}
        self._provenances: dict[str, dict] = {}

    def __contains__(self, name: str) -> bool:
        """Return True if a definition has this hash."""
        return name in self._configs or name in self._provenances

    def add(self, line: Mapping) -> str:
        """Add a parsed definition, and return its hash.

        Raises
        ------
        BadLine
            If the line is no definition, or its hash is wrong.
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
                    _staged_fields(content),
                )
            else:
                self._provenances[line["hash"]] = content
        except UserError as error:
            raise BadLine(str(error)) from None
        return line["hash"]

    def record(self, line: Mapping, kind: str) -> dict:
        """Return the record of a parsed line.

        Parameters
        ----------
        line : mapping
            Result of `parse`.
        kind : str
            Kind of the file: ``"tuning"``, or the suffix of a measure.

        Returns
        -------
        dict

        Raises
        ------
        BadLine
            If a field is missing, or has an impossible value.
        """
        try:
            name = line["config"]
            config, keys, staged = self._configs[name]
            provenance = self._provenances[line["provenance"]]
        except (KeyError, TypeError):
            check(line, schema.Record)
            missing = "provenance" if name in self._configs else "config"
            raise BadLine(f"its {missing} is defined nowhere in the file") from None
        is_trial = kind == "tuning"
        if "fold" in line and not is_trial:
            raise BadLine("fold: only a cross-validation trial has one")
        record = _decode_fields(line, staged)
        if "error" in record:
            check(record, schema.FailedTrialLine if is_trial else schema.Failure)
        else:
            check(record, schema.FinishedTrialLine if is_trial else _record_type(kind))
            if not is_trial and provenance["environment"] is None:
                raise BadLine("its provenance has no environment")
            _check_judgement(record, config)
        if is_trial:
            points, rows = schema.points_of(record), record["rows"]
            key = keys.trial_key(record["split"], record["fold"], points, rows)
        else:
            key = keys.split_key(record["split"], record["rows"])
        del record["schema"], record["provenance"]
        record.update(provenance, key=key, asked=keys.settings, config_hash=name, config=config)
        return record


def _record_type(kind: str) -> type[schema.Measured]:
    """Return the type of the records in files of a measure; `Measured` for a user's measure."""
    measure = measures.find_by_suffix(kind)
    return schema.Measured if measure is None else measure.form


def _check_judgement(record: Mapping, config: Mapping) -> None:
    """Check that validation errors are fractions, unless the config has another criterion."""
    errors = [record.get("validation_error"), *(record.get("validation_errors") or ())]
    is_fraction = all(0 <= error <= 1 for error in errors if error is not None)
    if "judged_by" not in config and not is_fraction:
        raise BadLine("validation_error: expected a fraction of 1")


def parse(line: bytes) -> dict:
    """Return the JSON object of a line.

    Raises
    ------
    BadLine
        If the line is no JSON object of valid Unicode and finite numbers, or is nested too deeply.
    """
    try:
        content = msgspec.json.decode(line)
    except RecursionError:
        raise BadLine(_NESTING_ERROR) from None
    except ValueError as error:
        raise BadLine(f"not a record: {first_line(error)}") from None
    if not isinstance(content, dict):
        raise BadLine("not a record")
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and _is_deep(content):
        raise BadLine(_NESTING_ERROR)
    return content


def _is_deep(content: dict) -> bool:
    level: list = [content]
    for _ in range(MAX_DEPTH):
        values = (node.values() if isinstance(node, dict) else node for node in level)
        level = [item for each in values for item in each if isinstance(item, dict | list)]
    return bool(level)


def encode(record: Mapping) -> tuple[dict[str, bytes], bytes]:
    """Return the lines of a record: the inverse of `Definitions.record`.

    Parameters
    ----------
    record : mapping
        Record as in memory; derived fields may be left out.

    Returns
    -------
    definitions : dict of str to bytes
        Lines of its definitions, by hash.
    line : bytes
        Line of the record.

    Raises
    ------
    BadLine
        If the record has no config, no provenance or no JSON form.
    """
    contents = {
        "config": record.get("config"),
        "provenance": {name: record[name] for name in _PROVENANCE_FIELDS if name in record}
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
        fields = {name: value for name, value in record.items() if name not in _DERIVED_FIELDS}
        fields = _encode_fields(fields, record["config"])
        return definitions, _line({**fields, **hashes, "schema": schema.SCHEMA})
    except (TypeError, ValueError, RecursionError, UserError) as error:
        raise BadLine(first_line(error)) from None


def _encode_fields(record: dict, config: Mapping) -> dict:
    """Return a record with errors as counts, valid Unicode, and without empty warnings."""
    for name in ("error", "where"):
        if name in record:
            record[name] = _unicode(record[name])
    if "warnings" in record:
        record["warnings"] = [_unicode(text) for text in record["warnings"]]
        if not record["warnings"]:
            del record["warnings"]
    for error, count, total in _COUNTED:
        wrong = _map_values(record.get(error), functools.partial(_count_rows, n=record.get(total)))
        if None not in (wrong.values() if isinstance(wrong, dict) else [wrong]):
            del record[error]
            record[count] = wrong
    for name, stages in _staged_fields(config):
        by_rounds = record.get(name)
        if isinstance(by_rounds, dict):
            rounds = stages(len(by_rounds))
            if by_rounds.keys() == set(rounds):
                record[name] = [by_rounds[number] for number in rounds]
    return record


def _decode_fields(line: Mapping, staged: _Staged) -> dict:
    """Undo `_encode_fields`."""
    record = {"warnings": [], **line} if "n_train" in line else dict(line)
    for name, stages in staged if "fold" not in line else ():
        values = record.get(name)
        if isinstance(values, list):
            rounds = stages(len(values))
            if len(rounds) != len(values):
                raise BadLine(f"{name}: the config has fewer checkpoints")
            record[name] = dict(zip(rounds, values, strict=True))
    for error, count, total in _COUNTED:
        if count in record:
            wrong, n = record.pop(count), record.get(total)
            numbers = wrong.values() if isinstance(wrong, dict) else [wrong]
            is_integer = type(n) is int and set(map(type, numbers)) <= {int}
            if not is_integer or not 0 <= min(numbers, default=0) <= max(numbers, default=0) <= n:
                raise BadLine(f"{count}: there are {n!r:.50} rows")
            n = n or 1
            is_staged = isinstance(wrong, dict)
            record[error] = {k: v / n for k, v in wrong.items()} if is_staged else wrong / n
    return record


def _staged_fields(config: Mapping) -> _Staged:
    """Return the fields that are written as lists, with the keys of their entries."""
    rounds = config["protocol"].get("checkpoints")
    rounds = [str(number) for number in rounds] if isinstance(rounds, list) else []

    # The records of a config have a few lengths, and so share the lists.
    @functools.cache
    def append_end(number: int) -> list[str]:
        return [*rounds[: number - 1], "end"]

    return (
        ("n_wrong", functools.cache(lambda n: rounds[:n])),
        ("digests", append_end),
        ("witness", append_end),
    )


def _map_values(value, function):
    if isinstance(value, dict):
        return {name: function(item) for name, item in value.items()}
    return function(value)


def _count_rows(share, n) -> int | None:
    if not (isinstance(share, float) and 0 <= share <= 1 and isinstance(n, int) and n > 0):
        return None
    count = round(share * n)
    return count if count / n == share else None


def _line(content: Mapping) -> bytes:
    return canonical_json(content).encode() + b"\n"


def _unicode(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
