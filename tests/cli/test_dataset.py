def test_data_describes_a_data_set(call):
    lines = call("data", "wine").out.splitlines()
    assert "samples   178" in lines
    assert lines[0] == "name      wine"
    assert max(len(line) for line in lines if "/" not in line) <= 80


def test_data_describes_a_file(call, folder):
    (folder / "my = odd.csv").write_text("a,kind\n1,x\n2,y\n3,x\n")
    assert "2: x (2), y (1)" in call("data", "my = odd.csv", "data.labels=kind").out


def test_paths_expand_the_tilde(done, home):
    (home / "my.csv").write_text("a,kind\n1,x\n2,y\n3,x\n")
    assert "2: x (2), y (1)" in done("data", "~/my.csv", "data.labels=kind").out
    done("data", "--bundle=~/bundle", "wine")
    assert (home / "bundle" / "wine.bundle.npz").is_file()


def test_unknown_data_set_is_refused(refused):
    assert "did you mean vowel" in refused("data", "vowle")


def test_unexpected_sample_count_is_refused(refused):
    assert "178 samples" in refused("data", "wine", "data.expect.samples=5")


def test_bundle_keeps_the_checksum(call, folder, monkeypatch):
    result = call("data", "--bundle", "bundle", "wine", "vowel")
    assert result.code == 1
    assert "vowel is left out" in result.err
    assert "bundle: 1 data set;" in result.out
    before = call("data", "wine").out.splitlines()
    monkeypatch.setenv("BOOSTBENCH_DATA", str(folder / "bundle"))
    after = call("data", "wine").out.splitlines()
    assert "wine.bundle.npz" in "".join(after)
    assert [line for line in before if line in after][-1] == before[-1]
    assert "checksum" in before[-1]
    path = folder / "bundle" / "wine.bundle.npz"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    broken = call("data", "wine")
    assert (broken.code, broken.err.count("\n")) == (2, 1)


def test_bundle_requires_known_names(refused):
    assert "did you mean wine" in refused("data", "--bundle", "bundle", "wien")
    assert "needs the name of a data set" in refused("data")


def test_several_names_require_a_bundle(refused, call):
    refusal = "data describes one data set; 'data --bundle DIR wine iris' writes several"
    assert refusal in refused("data", "wine", "iris", "data.classes=2")
    assert refused("data", "wine", "churn.csv").endswith("in a command of its own\n")
    assert "several with --bundle" in " ".join(call("data", "--help").out.split())


def test_missing_file_is_refused(refused):
    assert "there is no file churn.csv; check the path" in refused("data", "churn.csv")
    assert "there is no file folder/wine; check the path" in refused("data", "folder/wine")
    assert "did you mean vowel" in refused("data", "vowl")
    assert "seed is given twice" in refused("run", "data=wine", "seed=1", "seed=2")
