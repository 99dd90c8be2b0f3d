def test_describes_a_data_set(call):
    lines = call("data", "wine").out.splitlines()
    assert "samples   178" in lines
    assert lines[0] == "name      wine"
    assert max(len(line) for line in lines if "/" not in line) <= 80


def test_describes_a_file(call, folder):
    (folder / "my = odd.csv").write_text("a,kind\n1,x\n2,y\n3,x\n")
    out = call("data", "my = odd.csv", "data.labels=kind").out
    assert "2: x (2), y (1)" in out


def test_unknown_data_set(refused):
    assert "did you mean vowel" in refused("data", "vowle")


def test_data_set_that_is_not_as_expected(refused):
    assert "178 samples" in refused("data", "wine", "data.expect.samples=5")
