import pytest

from boostbench.core.stumps.layouts import pair_tables


@pytest.fixture
def many_samples(monkeypatch):
    """Tables of pairs, which pay where samples are many."""
    monkeypatch.setattr(pair_tables, "_BINS_PER_SAMPLE", 10**6)
