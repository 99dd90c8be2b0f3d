import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import sys, time
from processes import start
print(start([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True).pid)
sys.stdout.flush()
time.sleep(600)
"""


def is_running(process):
    try:
        return (process / "stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children")
def test_processes_of_a_killed_test_end():
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    parent = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, env=env
    )
    child = Path("/proc") / parent.stdout.readline().strip()
    assert is_running(child)
    parent.kill()
    parent.wait()
    # If it did not end, the test would not.
    while is_running(child):
        time.sleep(0.05)
