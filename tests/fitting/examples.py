"""Example records, which tests modify."""

import copy
from dataclasses import replace
from pathlib import Path

from boostbench.analysis.frame import ResultFrame
from boostbench.records.codec import make_record
from boostbench.records.fit_results import SplitResults
from boostbench.records.schema import Config, Provenance
from boostbench.records.store import RecordFile, read_records

#: Where classifiers are that processes of tests import.
FAKES = str(Path(__file__).parent)
CONFIG = {
    "algo": {"_target_": "fake_classifiers.Nearest", "width": 1.0},
    "data": {
        "name": "toy",
        "checksum": "0123456789abcdef",
        "n_samples": 120,
        "n_features": 3,
        "n_classes": 3,
    },
    "grid": {},
    "protocol": {"sampling": "stratified", "test_size": 0.25, "checkpoints": [1, 2, 50]},
    "seed": 0,
}
RECORD = {
    "config": CONFIG,
    "code": "fedcba9876543210",
    "commit": "b17bc98",
    "environment": {"python": "3.11.7", "cpu": "a processor", "n_cores": 2},
    "split": 0,
    "rows": "00112233445566ff",
    "n_train": 90,
    "n_test": 30,
    "n_features": 3,
    "chosen": {},
    "validation_error": None,
    "test_error": 1 / 30,
    "train_error": 0.0,
    "checkpoints": {"1": 0.1, "2": 1 / 30},
    "n_iterations": 2,
    "n_parameters": None,
    "seconds": {
        "fit": 0.5,
        "weak_learner": None,
        "coefficients": None,
        "predict_per_instance": 1e-6,
        "calibration": 0.08,
    },
    "started": "2026-11-21T14:47:23Z",
    "finished": "2026-11-21T14:47:24Z",
    "warnings": [],
}
FAILURE = {name: RECORD[name] for name in ("config", "code", "commit", "environment", "rows")} | {
    "split": 0,
    "error": "ValueError: no",
    "where": "somewhere:1",
}
TRIAL = {name: RECORD[name] for name in ("config", "code", "commit", "rows", "finished")} | {
    "split": 0,
    "fold": 1,
    "point": {"width": 1.0},
    "validation_error": 0.1,
    "seconds": {"fit": 0.5, "weak_learner": None},
}
FINDING = {
    "target": "fake_classifiers.Nearest",
    "choices": "",
    "data": "toy",
    "state": "different",
    "commit": "b17bc98",
    "when": "2026-11-22T00:00:00Z",
    "total": 4,
    "refuted": {"0123456789abcdef": "fake on toy, split 0: test_error is 0.1 on record, 0.2 today"},
    "until": "2026-11-22T00:00:00Z",
}


_PROVENANCE = ("code", "commit", "edition", "environment", "source")


def recorded(entries, kind=""):
    """Return the record of a mapping of entries; `kind` is the kind of its file."""
    entries = dict(entries)
    config = Config(entries.pop("config"))
    provenance = {name: entries.pop(name) for name in _PROVENANCE if name in entries}
    provenance = Provenance({"environment": None} | provenance)
    return make_record(kind, config, provenance, SplitResults.from_dict(entries))


def measured(kind, **entries):
    """Return the record of a measure, by the suffix of its files, with the entries that it adds."""
    names = {"n_features", "test_error", "train_error", "checkpoints", "n_iterations"}
    names |= {"n_parameters", "seconds"}
    return recorded({n: RECORD[n] for n in RECORD.keys() - names} | entries, kind)


def flat(record):
    """Return the entries of a record in a mapping: the inverse of `recorded`."""
    return {"config": record.config.content, **record.provenance.content, **record.readable_entries}


def with_records(cell, **changes):
    """Return a cell whose records have other values, see `changed`."""
    records = [
        recorded(modify_record(flat(record), **changes)) for record in cell.finished_splits.records
    ]
    return replace(cell, finished_splits=ResultFrame(records))


def append(path, entries):
    """Add a record to a file; return it as it will be read."""
    file = RecordFile(path)
    return file.add([recorded(entries, file.kind)])[0]


def rewrite(path, change):
    """Write a file of records anew: ``change`` takes a record's number and entries."""
    records, warnings = read_records(path)
    assert not warnings
    path.unlink()
    for number, record in enumerate(records):
        append(path, change(number, flat(record)))


def modify_record(record, **changes):
    """Return a copy with other values; ``a__b`` names a nested entry, and ``...`` deletes it."""
    record = copy.deepcopy(record)
    for name, value in changes.items():
        *outer, last = name.split("__")
        inner = record
        for one in outer:
            inner = inner[one]
        if value is ...:
            del inner[last]
        else:
            inner[last] = value
    return record
