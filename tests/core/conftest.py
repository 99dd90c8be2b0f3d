import pytest

from boostbench.core.stumps.layouts import pair_tables


@pytest.fixture
def many_samples(monkeypatch):
    """Use tables of feature pairs for any number of samples."""
    monkeypatch.setattr(pair_tables, "_CELLS_PER_SAMPLE", 10**6)
