"""Check that the committed results are small."""

import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]

LIMIT = 30e6


def test_results_are_below_30_megabytes():
    done = subprocess.run(
        ["git", "-C", str(REPOSITORY), "ls-files", "-z", "results"], capture_output=True, text=True
    )
    files = [REPOSITORY / name for name in done.stdout.split("\0") if name]
    if not files:
        pytest.skip("no git checkout")
    assert sum(path.stat().st_size for path in files if path.exists()) < LIMIT
