import io
import re

import numpy as np
import pytest
from rich.console import Console

from boostbench.data.dataset import Dataset
from boostbench.report.terminal import print_judgement, print_summary, print_table


@pytest.fixture(params=[True, False], ids=["colour", "plain"])
def console(request):
    return Console(file=io.StringIO(), width=80, force_terminal=request.param)


def text(console):
    return console.file.getvalue()


def is_bold(words, out):
    return re.search(rf"\x1b\[1m *{re.escape(words)}", out) is not None


def test_summary(console, make_cell):
    dataset = Dataset("wine", np.zeros((178, 13)), np.arange(178) % 3, "/a/long/path" * 9)
    best = make_cell([1, 2, 3], algo="rboost_proj", published=(3.0, 3.0), chosen=[{"nu": 0.1}] * 3)
    other = make_cell([4, 5, 6], algo="a_classifier_with_a_long_name", failures=2, stale=1)
    print_summary(console, dataset, [best, other])
    out = text(console)
    assert "178 samples, 13 features, 3 classes" in out
    assert "/a/long/path" * 9 in out
    assert "RBOOST_PROJ: nu=0.1, chosen by cross-validation" in out
    assert "3 of 5" in out
    assert "coef. s" not in out  # nobody tells
    # Bold is for the best, and for terminals.
    assert is_bold("2.0 (1.0)", out) == console.is_terminal
    assert not is_bold("5.0 (1.0)", out)


def test_width(make_cell, table):
    console = Console(file=io.StringIO(), width=80, force_terminal=False)
    print_table(console, table)
    print_judgement(console, table)
    lines = text(console).splitlines()
    assert max(len(line) for line in lines) <= 80
    assert any(line.startswith("wine  A") and "reproduced" in line for line in lines)


def test_table(console, table):
    print_table(console, table)
    out = text(console)
    assert "not available" in out
    assert is_bold("2.0 (1.0)", out) == console.is_terminal
