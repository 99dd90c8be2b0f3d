from boostbench.util.process import temporarily_set


def test_temporarily_set_restores_none_and_removes_new_entries():
    values = {"a": None, "b": 1}
    with temporarily_set(values, a=2, b=3, c=4):
        assert values == {"a": 2, "b": 3, "c": 4}
    assert values == {"a": None, "b": 1}


def test_temporarily_set_restores_entries_that_the_block_removes():
    values = {"a": 1}
    with temporarily_set(values, a=2, b=3):
        values.clear()
    assert values == {"a": 1}
