"""Codec of the lines of a record file: bytes to structs of `boostbench.records.schema`, and back.

Many records share a config (all settings of an experiment) and a provenance (code and machine).
Therefore a file holds each of them once, as a *definition*, to which records refer by its hash::

    {"config": {"algo": ..., "data": ..., "protocol": ..., "seed": 0}, "hash": "0f5c..."}
    {"hash": "a17e...", "provenance": {"commit": "b17bc98", "environment": ...}}
    {"config": "0f5c...", "provenance": "a17e...", "schema": 2, "split": 0, "n_test_wrong": 3, ...}

Errors are written as numbers of wrong rows, and values at checkpoints as lists in the order of the
config's checkpoints, which is short and exact. `boostbench.records.store` reads and writes files.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from boostbench.records.fit_results import (
    FailedSplit,
    FailedTrial,
    Results,
    SplitRecord,
    TrialRecord,
)
from boostbench.records.schema import SCHEMA, BadLine, Config, Provenance, Record, check
from boostbench.spec import measures
from boostbench.spec.keys import canonical_json
from boostbench.util.errors import UserError, first_line

_NESTING_ERROR = "not a record: it is nested too deeply"
#: Largest number of lists and mappings within each other. It is twice the limit for YAML and
#: overrides, so that a record of a valid config is never refused.
MAX_DEPTH = 100


class UndefinedHash(LookupError):
    """Error for a record whose definitions were not read yet; the message has the reason."""


class LineDecoder:
    """Decoder of the lines of a file, with the definitions that it has read.

    ``definition_hash in definitions`` is true for a definition that was read.

    Parameters
    ----------
    kind : str, default=""
        Kind of the file: ``"tuning"``, or the suffix of a measure.
    """

    def __init__(self, kind: str = ""):
        # Definitions by their type and hash.
        self._by_hash = {Config: {}, Provenance: {}}
        self._types = _record_types(kind)
        self._decoder = msgspec.json.Decoder(self._types.finished, dec_hook=self._find_definition)

    def __contains__(self, definition_hash: str) -> bool:
        return any(definition_hash in definitions for definitions in self._by_hash.values())

    def _find_definition(self, form: type, definition_hash: str) -> Config | Provenance:
        """Return the definition in place of its hash, when msgspec decodes a field of a record.

        Parameters
        ----------
        form : type
            Type of the field: `Config` or `Provenance`.
        definition_hash : str
            Value of the field in the line. A damaged line may have a value of another type.
        """
        try:
            return self._by_hash[form][definition_hash]
        except (KeyError, TypeError):
            field = form.__name__.lower()
            if not isinstance(definition_hash, str):
                type_name = type(definition_hash).__name__
                raise BadLine(f"{field}: expected str, got {type_name}") from None
            raise UndefinedHash(f"its {field} is defined nowhere in the file") from None

    def decode_line(self, line: bytes) -> Record | str:
        """Return the record of a line, or add a definition and return its hash.

        Raises
        ------
        BadLine
            If the line is neither, a field is missing, or has an impossible value.
        UndefinedHash
            If a definition of the record was not read yet.
        """
        # 1) Most lines are records of finished fits, and decode at once. A line with more brackets
        #    may be nested too deeply.
        if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
            try:
                return self._decoder.decode(line)
            except ValueError:
                pass
        # 2) The others are definitions, which have no schema, failed fits, records with an entry
        #    that is no field, and bad lines.
        content = parse(line)
        if content.get("schema") != SCHEMA:
            return self._add_definition(content)
        return _convert(content, self._types, self._find_definition)

    def _add_definition(self, content: Mapping[str, Any]) -> str:
        """Add the definition in the content of a line, and return its hash.

        Raises
        ------
        BadLine
            If the line is no definition, or its hash is wrong.
        """
        name, form = ("config", Config) if "config" in content else ("provenance", Provenance)
        if content.keys() != {name, "hash"} or not isinstance(content[name], dict):
            raise BadLine("not a record")
        try:
            definition = form(content[name])
        except UserError as error:
            raise BadLine(str(error)) from None
        if definition.hash != content["hash"]:
            raise BadLine(f"its {name} is not what its hash says")
        self._by_hash[form][definition.hash] = definition
        return definition.hash


def parse(line: bytes) -> dict[str, Any]:
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
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH:
        # Replace the lists and mappings of a level by those in them: none is left if the content is
        # not too deep.
        level = [content]
        for _ in range(MAX_DEPTH):
            items = (node.values() if isinstance(node, dict) else node for node in level)
            level = [item for node in items for item in node if isinstance(item, dict | list)]
        if level:
            raise BadLine(_NESTING_ERROR)
    return content


def make_record(
    kind: str, config: Config, provenance: Provenance, results: Results, **facts: Any
) -> Record:
    """Return the record of a fit, checked and as it will be read from its line.

    Parameters
    ----------
    kind : str
        Kind of the record: ``"tuning"``, or the suffix of a measure.
    config : Config
    provenance : Provenance
    results : Results
        Results of the measure, with errors as fractions.
    **facts
        Further entries of JSON types, such as the number of the split.

    Raises
    ------
    BadLine
        If an entry is missing, or has an impossible value.
    """
    try:
        # A measure may give numbers of NumPy; the record has the numbers of its line.
        content = parse(_line(_stored_entries(results, facts, config)))
    except UserError as error:
        raise BadLine(str(error)) from None
    content |= {"schema": SCHEMA, "config": config, "provenance": provenance}
    # The fields hold the definitions themselves, and not their hashes as in a line.
    return _convert(content, _record_types(kind), lambda form, definition: definition)


class EncodedRecord(NamedTuple):
    """Lines of a record, each with its line end.

    Attributes
    ----------
    definitions : list of (str, bytes)
        Hashes and lines of its config and of its provenance.
    line : bytes
        Line of the record, which refers to the definitions by their hashes.
    """

    definitions: list[tuple[str, bytes]]
    line: bytes


def encode(record: Record) -> EncodedRecord:
    """Return the lines of a record: the inverse of `LineDecoder.decode_line`.

    Raises
    ------
    BadLine
        If the record has no JSON form.
    """
    config, provenance = record.config, record.provenance
    entries = record.to_dict()
    # Most fits give no warnings.
    if not entries.get("warnings", True):
        del entries["warnings"]
    try:
        definitions = [
            (config.hash, _line({"config": config.recorded_content, "hash": config.hash})),
            (
                provenance.hash,
                _line({"hash": provenance.hash, "provenance": provenance.content}),
            ),
        ]
        return EncodedRecord(definitions, _line(entries))
    except UserError as error:
        raise BadLine(str(error)) from None


class _RecordTypes(NamedTuple):
    """Types of the records of finished and of failed fits in files of a kind."""

    finished: type[Record]
    failed: type[Record]


def _record_types(kind: str) -> _RecordTypes:
    """Return the types of records in files of a kind: ``"tuning"``, or the suffix of a measure."""
    if kind == "tuning":
        return _RecordTypes(TrialRecord, FailedTrial)
    measure = measures.find_by_suffix(kind)
    return _RecordTypes(SplitRecord if measure is None else measure.form, FailedSplit)


def _convert(content: Mapping[str, Any], types: _RecordTypes, find_definition: Callable) -> Record:
    """Return parsed content as a record; entries without a field become its `extra_entries`.

    Parameters
    ----------
    content : mapping
        Entries of a line by name.
    types : _RecordTypes
    find_definition : callable
        Function of a type and the value of a field that returns the definition.
    """
    form = types.failed if "error" in content else types.finished
    # The field `extra_entries` has an empty name, see `Record`.
    names = {field.encode_name for field in msgspec.structs.fields(form)} - {""}
    fields = {name: value for name, value in content.items() if name in names}
    extra_entries = {name: value for name, value in content.items() if name not in names}
    if "fold" in extra_entries:
        raise BadLine("fold: only a cross-validation trial has one")
    if extra_entries:
        fields[""] = extra_entries
    return check(fields, form, find_definition)


# Entries of an error rate, of the number of wrong rows that is written in its place, and of the
# number of all rows.
_ERROR_COUNTS = (
    ("test_error", "n_test_wrong", "n_test"),
    ("train_error", "n_train_wrong", "n_train"),
    ("checkpoints", "n_wrong", "n_test"),
)


def _stored_entries(results: Results, facts: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """Return the entries of a record in their stored form, see the module and `make_record`."""
    fields = {name: getattr(results, name) for name in results.__struct_fields__}
    extra_entries = fields.pop("extra_entries")
    entries = {name: value for name, value in fields.items() if value is not UNSET}
    entries |= ({} if extra_entries is UNSET else extra_entries) | facts
    # 1) Messages may quote bytes that are no Unicode, such as the name of a file.
    for name in ("error", "where"):
        if name in entries:
            entries[name] = _escape_invalid(entries[name])
    if "warnings" in entries:
        entries["warnings"] = list(map(_escape_invalid, entries["warnings"]))
    # 2) Errors become numbers of wrong rows, if these give the errors exactly; otherwise errors at
    #    checkpoints get the numbers of rounds as their keys.
    for error_name, count_name, total_name in _ERROR_COUNTS:
        share = entries.get(error_name)
        n_wrong = _count_rows(share, entries.get(total_name))
        if n_wrong is not None:
            del entries[error_name]
            entries[count_name] = n_wrong
        elif isinstance(share, list):
            entries[error_name] = dict(zip(config.checkpoints, share, strict=False))
    # 3) A user's mappings of numbers of rounds to values become lists, if the values are at the
    #    first checkpoints of the config; digests and witnesses have a value at the end, too.
    for name, end in (("n_wrong", []), ("digests", ["end"]), ("witness", ["end"])):
        by_round = entries.get(name)
        if isinstance(by_round, dict):
            # The key of each value in the list: a number of rounds, or "end".
            list_keys = [*config.checkpoints[: len(by_round) - len(end)], *end]
            if by_round.keys() == set(list_keys):
                entries[name] = [by_round[key] for key in list_keys]
    return entries


def _count_rows(share: Any, n_rows: Any) -> int | list | dict | None:
    """Return the number of rows that a fraction of all rows stands for.

    Parameters
    ----------
    share : object
        Fraction of rows, if it is a float. Also a list of fractions, or a user's mapping of numbers
        of rounds to fractions.
    n_rows : object
        Number of all rows, if it is an int.

    Returns
    -------
    int, list, dict or None
        Numbers in the form of `share`. None: no number of rows, divided by `n_rows`, gives exactly
        `share`, or one of its fractions.
    """
    if isinstance(share, dict):
        counts = _count_rows([*share.values()], n_rows)
        return None if counts is None else dict(zip(share, counts, strict=True))
    if isinstance(share, list):
        counts = [_count_rows(fraction, n_rows) for fraction in share]
        return None if None in counts else counts
    if not (isinstance(share, float) and 0 <= share <= 1 and isinstance(n_rows, int) and n_rows):
        return None
    count = round(share * n_rows)
    return count if count / n_rows == share else None


def _line(content: Any) -> bytes:
    """Return the line of a value: its canonical JSON, and a line end."""
    return canonical_json(content).encode() + b"\n"


def _escape_invalid(text: str) -> str:
    """Return a text with an ASCII escape in place of each character that is no valid Unicode."""
    return text.encode(errors="backslashreplace").decode()
