import subprocess
import sys

from boostbench.running.claims import Claims

PROGRAM = """
import sys
from pathlib import Path
from boostbench.running.claims import Claims
claims = Claims(Path(sys.argv[1]))
print(*(claims.take(key) for key in sys.argv[2:]), flush=True)
sys.stdin.read()
"""


def other(folder, *keys):
    """Start a process that claims keys until its input ends; give it and what it got."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder), *keys], **pipes)
    return process, [word == "True" for word in process.stdout.readline().split()]


def test_a_claim_is_one_runs_until_it_ends(tmp_path):
    mine, theirs = "0" * 16, "f" * 16
    claims = Claims(tmp_path)
    assert claims.take(mine)
    process, got = other(tmp_path, mine, theirs)
    assert got == [False, True]
    assert not claims.take(theirs)
    process.kill()
    process.wait()
    assert claims.take(theirs)
    claims.close()
    process, got = other(tmp_path, mine, theirs)
    assert got == [True, True]
    process.communicate()


def test_where_nothing_can_be_locked_every_claim_is_granted(tmp_path):
    claims = Claims(tmp_path / "no such folder")
    assert claims.take("0" * 16)
    claims.close()
