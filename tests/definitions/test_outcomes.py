from boostbench.definitions.compose import experiments
from boostbench.definitions.outcomes import load_rows


def test_rows_of_equal_data_share_them(folder):
    asked = {
        "wine": ["data=wine"],
        "few": ["data=wine", "protocol.samples_per_class=20"],
        "two": ["data=wine", "++data.classes=2"],
    }
    specs = {(row, "a"): experiments([overrides])[0] for row, overrides in asked.items()}
    datasets, notes = load_rows(specs, asked)
    assert notes == []
    assert datasets["few"] is datasets["wine"]
    assert (datasets["wine"].n_classes, datasets["two"].n_classes) == (3, 2)
