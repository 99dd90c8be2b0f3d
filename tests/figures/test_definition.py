from boostbench.figures.definition import stale_note


def test_many_stale_fits_are_counted():
    assert stale_note([]) == []
    assert stale_note(["b", "a", "b"])[0].endswith(": b, a.")
    assert stale_note("abcde")[0].endswith(": a, b, c and 2 more.")
