"""Check the numbers and statements of docs/imbalance.md."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "imbalance.md").read_text(encoding="utf-8")
[CODE] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
[OUTPUT] = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+\.?\d*")


@pytest.fixture(scope="module")
def page_output():
    with contextlib.redirect_stdout(io.StringIO()) as stdout:
        exec(CODE, {})
    return stdout.getvalue()


def test_script_prints_the_output_of_the_page(page_output):
    assert NUMBER.split(page_output) == NUMBER.split(OUTPUT)
    numbers = [list(map(float, NUMBER.findall(text))) for text in (page_output, OUTPUT)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-2)


def test_each_method_has_the_described_effect(page_output):
    rows = {line[:25].strip(): NUMBER.findall(line[25:]) for line in page_output.splitlines()[1:5]}
    n_yes, cost, auc, loss = (
        {name: float(numbers[j]) for name, numbers in rows.items()} for j in range(4)
    )
    assert n_yes["plain"] < 20
    assert auc["plain"] > 0.7
    assert loss["plain"] < 0.187
    assert min(cost, key=cost.get) == "plain, threshold by cost"
    assert loss["balanced"] > 0.5
    assert loss["balanced, calibrated"] < 0.187
    assert n_yes["balanced, calibrated"] < 20
