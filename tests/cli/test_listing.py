import pytest

from boostbench import configs


@pytest.mark.parametrize(
    ("what", "group"),
    [("algos", "algo"), ("data", "data"), ("tables", "table"), ("figures", "figure")],
)
def test_every_name_is_listed(call, what, group):
    lines = call("list", what).out.splitlines()
    starts = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert starts == configs.names(group)
    assert max(map(len, lines)) <= 80


def test_all_lists(call):
    headings = [line for line in call("list").out.splitlines() if line.endswith(":")]
    assert headings == ["algos:", "data:", "tables:", "figures:"]
