import hashlib
import io
import tarfile

import pytest

import boostbench
from boostbench.records.installed import find_results, install_archive, write_archive
from boostbench.util.errors import UserError


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "made"
    (folder / "records" / "wine").mkdir(parents=True)
    (folder / "records" / "wine" / "samme.jsonl").write_text('{"a": 1}\n')
    (folder / "records" / "wine" / ".lock").write_text("")
    (folder / "verdicts.csv").write_text("table\n")
    (folder / "report.html").write_text("made from the records")
    return folder


@pytest.fixture
def installed(tmp_path, monkeypatch):
    folder = tmp_path / "home" / "results"
    monkeypatch.setenv("BOOSTBENCH_INSTALLED", str(folder))
    return folder


def _names(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_installed_files_equal_the_packed_files_and_are_read_only(results, installed, tmp_path):
    digest = write_archive(results, tmp_path / "a.tar")
    assert hashlib.sha256((tmp_path / "a.tar").read_bytes()).hexdigest() == digest
    assert install_archive(tmp_path / "a.tar") == installed
    assert _names(installed) == ["records/wine/samme.jsonl", "verdicts.csv"]
    for name in _names(installed):
        assert (installed / name).read_bytes() == (results / name).read_bytes()
        assert (installed / name).stat().st_mode & 0o222 == 0


def test_equal_results_give_equal_archives(results, tmp_path):
    write_archive(results, tmp_path / "a.tar")
    (results / "verdicts.csv").touch()
    write_archive(results, tmp_path / "b.tar")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_later_installation_replaces_the_earlier_one(results, installed, tmp_path):
    write_archive(results, tmp_path / "a.tar")
    install_archive(tmp_path / "a.tar")
    (results / "verdicts.csv").unlink()
    write_archive(results, tmp_path / "b.tar")
    install_archive(tmp_path / "b.tar")
    assert _names(installed) == ["records/wine/samme.jsonl"]
    assert _names(installed.parent) == ["results/records/wine/samme.jsonl"]


@pytest.mark.parametrize("position", [600, 1500, 2100])
def test_changed_byte_is_refused_even_without_a_checksum_file(
    results, installed, tmp_path, position
):
    path = tmp_path / "a.tar"
    write_archive(results, path)
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match="differs from its checksum"):
        install_archive(path)
    path.with_name("a.tar.sha256").unlink()
    with pytest.raises(UserError, match=r"damaged|no archive"):
        install_archive(path)
    assert not installed.exists()


@pytest.mark.parametrize("name", ["../outside", "/outside"])
def test_members_outside_the_folder_are_not_written(installed, tmp_path, name):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo(name)
        member.size = 4
        archive.addfile(member, io.BytesIO(b"text"))
    with pytest.raises(UserError, match="no archive of results"):
        install_archive(path)
    assert not list(tmp_path.rglob("outside"))


def test_folder_without_records_is_not_packed(tmp_path):
    (tmp_path / "records").mkdir()
    with pytest.raises(UserError, match="has no records"):
        write_archive(tmp_path, tmp_path / "a.tar")


def test_installed_results_stand_in_for_a_missing_default_folder_only(
    done, folder, tmp_path, monkeypatch
):
    done("run", "algo=samme", "data=iris", "protocol.n_splits=2", "algo.n_iterations=2")
    done("results", "pack", "a.tar")
    monkeypatch.setenv("BOOSTBENCH_INSTALLED", str(tmp_path / "home" / "results"))
    done("results", "install", "a.tar")
    local = boostbench.results()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert boostbench.results().equals(local)
    assert done("export").out.startswith("written: splits.csv (2 splits")
    assert find_results(elsewhere / "results") == elsewhere / "results"
    done("report")
    assert [path.name for path in sorted(elsewhere.iterdir())] == ["report.html", "splits.csv"]
