import pytest

from boostbench.core.stumps.layouts import joint_histogram


@pytest.fixture
def many_samples(monkeypatch):
    """Use tables of feature pairs for any number of samples."""
    monkeypatch.setattr(joint_histogram, "_CELLS_PER_SAMPLE", 10**6)
