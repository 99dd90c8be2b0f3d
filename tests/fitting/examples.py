"""Example records, which tests modify."""

import copy
from pathlib import Path

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


def append(path, record):
    """Add a record to a file, and return it in the form in which it is read."""
    return RecordFile(path).add([record])[0]


def rewrite(path, change):
    """Rewrite a file of records; ``change(number, record)`` returns the new record."""
    records, warnings = read_records(path)
    assert not warnings
    path.unlink()
    for number, record in enumerate(records):
        append(path, change(number, record))


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
