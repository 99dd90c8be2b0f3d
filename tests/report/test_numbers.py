import math

from boostbench.report.numbers import mean_std, seconds


def test_mean_std():
    assert mean_std(2.94, 2.36) == "2.9 (2.4)"
    assert mean_std(2.94, math.nan) == "2.9"


def test_seconds():
    assert [seconds(v) for v in (0.5, 100.0, 2644.0, 0.0)] == ["0.500", "100", "2644", "0.00"]
