from boostbench.definitions.compose import experiments
from boostbench.definitions.missing import find_missing
from boostbench.records.archive import Recorded


def test_rows_of_equal_data_share_them(folder):
    asked = {
        "wine": ["data=wine"],
        "few": ["data=wine", "protocol.samples_per_class=20"],
        "two": ["data=wine", "++data.classes=2"],
    }
    specs = {(row, "a"): experiments([overrides])[0] for row, overrides in asked.items()}
    nothing = Recorded(records=[], failures=[], missing=10, stale=0)
    missing = find_missing(specs, dict.fromkeys(specs, nothing), "missing")
    datasets = missing.datasets
    assert missing.cells == list(specs)
    assert datasets["few"] is datasets["wine"]
    assert (datasets["wine"].n_classes, datasets["two"].n_classes) == (3, 2)
