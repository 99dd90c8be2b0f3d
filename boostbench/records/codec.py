"""Codec of the lines of a record file.

Besides records, a file holds definitions of configs, ``{"config": {...}, "hash": ...}``, and of the
provenance of records, ``{"provenance": {...}, "hash": ...}``, each once. A record refers to both by
their hashes. Errors are written as numbers of rows, and values at checkpoints as lists in the order
of the config's checkpoints.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from boostbench.records.schema import (
    SCHEMA,
    BadLine,
    Config,
    FailedTrial,
    Failure,
    Measured,
    Provenance,
    Record,
    TrialRecord,
    check,
)
from boostbench.spec import measures
from boostbench.spec.keys import canonical_json
from boostbench.util.errors import UserError, first_line

_NESTING_ERROR = "not a record: it is nested too deeply"
#: Limit of nested lists and mappings, twice the limit for YAML and overrides.
MAX_DEPTH = 100


class UndefinedHash(LookupError):
    """Error for a record whose definitions were not read yet; the message has the reason."""


class Definitions:
    """Definitions of a file, and the decoder of its records.

    Parameters
    ----------
    kind : str, default=""
        Kind of the file: ``"tuning"``, or the suffix of a measure.
    """

    def __init__(self, kind: str = ""):
        # Definitions by type and hash.
        self._by_hash = {Config: {}, Provenance: {}}
        self._finished, self._failed = _record_types(kind)
        self._decoder = msgspec.json.Decoder(self._finished, dec_hook=self._find)

    def __contains__(self, definition_hash: str) -> bool:
        return any(definition_hash in definitions for definitions in self._by_hash.values())

    def _find(self, form: type, definition_hash: str) -> Config | Provenance:
        """Return the definition of a type and hash, for a field of a record; see `check`."""
        try:
            return self._by_hash[form][definition_hash]
        except (KeyError, TypeError):
            field = form.__name__.lower()
            if not isinstance(definition_hash, str):
                type_name = type(definition_hash).__name__
                raise BadLine(f"{field}: expected str, got {type_name}") from None
            raise UndefinedHash(f"its {field} is defined nowhere in the file") from None

    def read(self, line: bytes) -> Record | str:
        """Return the record of a line, or add a definition and return its hash.

        Raises
        ------
        BadLine
            If the line is neither, a field is missing, or has an impossible value.
        UndefinedHash
            If a definition of the record was not read yet.
        """
        if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
            try:
                return self._decoder.decode(line)
            except ValueError:
                # A definition, a failed fit, or an entry without a field; or a bad line.
                pass
        content = parse(line)
        if content.get("schema") != SCHEMA:
            return self._add(content)
        return _convert(content, self._failed if "error" in content else self._finished, self._find)

    def _add(self, content: Mapping[str, Any]) -> str:
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
        # Lists and mappings in each other, level by level.
        level = [content]
        for _ in range(MAX_DEPTH):
            items = (node.values() if isinstance(node, dict) else node for node in level)
            level = [item for node in items for item in node if isinstance(item, dict | list)]
        if level:
            raise BadLine(_NESTING_ERROR)
    return content


def make_record(
    kind: str, config: Config, provenance: Provenance, entries: Mapping[str, Any]
) -> Record:
    """Return the record of a fit.

    Parameters
    ----------
    kind : str
        Kind of the record: ``"tuning"``, or the suffix of a measure.
    config : Config
    provenance : Provenance
    entries : mapping
        Further entries of JSON types, with errors as fractions and numbers by boosting round.

    Raises
    ------
    BadLine
        If an entry is missing, or has an impossible value.
    """
    finished, failed = _record_types(kind)
    try:
        # A measure may give numbers of NumPy; the record has the numbers of its line.
        content = parse(_line(_encode_entries(entries, config)))
    except UserError as error:
        raise BadLine(str(error)) from None
    content |= {"schema": SCHEMA, "config": config, "provenance": provenance}
    return _convert(content, failed if "error" in content else finished, lambda _, shared: shared)


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
    """Return the lines of a record: the inverse of `Definitions.read`.

    Raises
    ------
    BadLine
        If the record has no JSON form.
    """
    config, provenance = record.config, record.provenance
    entries = record.to_line()
    # Most fits give no warnings.
    if not entries.get("warnings", True):
        del entries["warnings"]
    try:
        definitions = [
            (config.hash, _line({"config": config.original, "hash": config.hash})),
            (
                provenance.hash,
                _line({"hash": provenance.hash, "provenance": provenance.content}),
            ),
        ]
        return EncodedRecord(definitions, _line(entries))
    except UserError as error:
        raise BadLine(str(error)) from None


def _record_types(kind: str) -> tuple[type[Record], type[Record]]:
    """Return the types of finished and of failed records in files of a kind."""
    if kind == "tuning":
        return TrialRecord, FailedTrial
    measure = measures.find_by_suffix(kind)
    return Measured if measure is None else measure.form, Failure


def _convert(content: Mapping[str, Any], form: type[Record], find) -> Record:
    """Return parsed content as a record; entries without a field become its `values`."""
    names = {field.encode_name for field in msgspec.structs.fields(form)} - {""}
    fields = {name: value for name, value in content.items() if name in names}
    values = {name: value for name, value in content.items() if name not in names}
    if "fold" in values:
        raise BadLine("fold: only a cross-validation trial has one")
    return check(fields | ({"": values} if values else {}), form, find)


# Error rate, number of wrong rows, and number of rows.
_COUNTED = (
    ("test_error", "n_test_wrong", "n_test"),
    ("train_error", "n_train_wrong", "n_train"),
    ("checkpoints", "n_wrong", "n_test"),
)


def _encode_entries(entries: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """Return entries with errors as counts, numbers by round as lists, and valid Unicode."""
    encoded = dict(entries)
    for name in ("error", "where"):
        if name in encoded:
            encoded[name] = _escape_invalid(encoded[name])
    if "warnings" in encoded:
        encoded["warnings"] = list(map(_escape_invalid, encoded["warnings"]))
    for error, count, total in _COUNTED:
        shares, n_rows = encoded.get(error), encoded.get(total)
        if isinstance(shares, dict):
            wrong = {rounds: _count_rows(share, n_rows) for rounds, share in shares.items()}
            is_counted = None not in wrong.values()
        else:
            wrong = _count_rows(shares, n_rows)
            is_counted = wrong is not None
        if is_counted:
            del encoded[error]
            encoded[count] = wrong
    for name, last in (("n_wrong", []), ("digests", ["end"]), ("witness", ["end"])):
        by_round = encoded.get(name)
        if isinstance(by_round, dict):
            rounds = [*config.checkpoints[: len(by_round) - len(last)], *last]
            if by_round.keys() == set(rounds):
                encoded[name] = [by_round[number] for number in rounds]
    return encoded


def _count_rows(share: Any, n_rows: Any) -> int | None:
    """Return the number of rows whose share is exactly `share`; None: it is no such number."""
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
