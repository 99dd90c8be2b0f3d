import pytest

from boostbench.errors import UserError
from boostbench.experiment.certify.checkouts import Repository

from .toy_repository import ToyRepository


@pytest.fixture
def repository(tmp_path):
    made = ToyRepository(tmp_path / "top" / "repository")
    made.commit(base="x = 1\n")
    return made


def test_a_checkout_is_of_its_commit_and_goes_away(repository):
    first = repository.git("rev-parse", "HEAD")
    repository.commit(base="x = 2\n")
    with Repository(repository.package).checkout(first) as source:
        assert (source / "toyboost" / "base.py").read_text() == "x = 1\n"
    assert not source.exists()
    assert len(repository.git("worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    ("file", "content"), [("base.py", "x = 3\n"), ("new.py", "x = 1\n"), ("base.py", None)]
)
def test_a_changed_package_is_refused(repository, file, content):
    path = repository.package / file
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(UserError, match=f"toyboost/{file} changed since the last commit"):
        Repository(repository.package)


def test_other_files_may_change(repository):
    (repository.root / "results").mkdir()
    (repository.root / "results" / "certificates.jsonl").write_text("{}\n")
    assert Repository(repository.package).head == repository.git("rev-parse", "HEAD")


def test_no_repository(tmp_path):
    package = tmp_path / "toyboost"
    package.mkdir()
    with pytest.raises(UserError, match="is in no git checkout"):
        Repository(package)


def test_a_package_that_git_does_not_know(repository):
    package = repository.root / "other"
    package.mkdir()
    with pytest.raises(UserError, match="git does not know"):
        Repository(package)


def test_an_unknown_commit(repository):
    with (
        pytest.raises(UserError, match="cannot check out commit 000000000000"),
        Repository(repository.package).checkout("0" * 40),
    ):
        pass
