import subprocess
import sys

from boostbench.execution.queue import Locks

PROGRAM = """
import sys
from pathlib import Path
from boostbench.execution.queue import Locks
locks = Locks(Path(sys.argv[1]))
print(*(locks.take(key) for key in sys.argv[2:]), flush=True)
sys.stdin.read()
"""


def start_locking_process(folder, *keys):
    """Start a process that locks keys until its input ends; return it and its successes."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder), *keys], **pipes)
    return process, [word == "True" for word in process.stdout.readline().split()]


def test_lock_is_held_until_the_run_ends(tmp_path):
    mine, theirs = "0" * 16, "f" * 16
    locks = Locks(tmp_path)
    assert locks.take(mine)
    process, locked = start_locking_process(tmp_path, mine, theirs)
    assert locked == [False, True]
    assert not locks.take(theirs)
    process.kill()
    process.wait()
    assert locks.take(theirs)
    locks.close()
    process, locked = start_locking_process(tmp_path, mine, theirs)
    assert locked == [True, True]
    process.communicate()


def test_released_lock_can_be_taken(tmp_path):
    done, held = "0" * 16, "f" * 16
    locks = Locks(tmp_path)
    assert locks.take(done)
    assert locks.take(held)
    locks.release(done)
    process, locked = start_locking_process(tmp_path, done, held)
    assert locked == [True, False]
    locks.release(done)  # which is not this one's to give up
    assert not locks.take(done)
    process.communicate()
    locks.close()


def test_every_lock_is_granted_without_a_folder(tmp_path):
    locks = Locks(tmp_path / "no such folder")
    assert locks.take("0" * 16)
    locks.release("0" * 16)
    locks.close()
