import io
import sys
import time

import boostbench.util.terminal as module
from boostbench.util.terminal import spinner


class Terminal(io.StringIO):
    def isatty(self):
        return True


def wait_for(text):
    """Wait until the thread that draws the spinner has written a text."""
    end = time.monotonic() + 10
    while text not in sys.stderr.getvalue():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_spinner_shows_its_texts_at_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with spinner("reading records") as tell:
        wait_for("reading records")
        tell("writing the page")
    assert "writing the page" in sys.stderr.getvalue()


def test_spinner_is_silent_without_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with spinner("reading records") as tell:
        tell("writing the page")
    assert sys.stderr.getvalue() == ""


def test_nested_spinner_restores_the_outer_text(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with spinner("loading data"):
        (active,) = module._active_spinners
        with spinner("describing images") as say:
            assert active.status == "describing images"
            say("512 images are done")
            assert active.status == "512 images are done"
        assert active.status == "loading data"
    assert not module._active_spinners


def test_share_is_shown_as_a_progress_bar(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with spinner("describing images") as say:
        say("512 images are done", share=0.5)
    shown = sys.stderr.getvalue()
    assert "512 images are done" in shown
    assert "━" * (30 // 2) in shown


def test_progress_bar_is_silent_without_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with spinner("describing images") as say:
        say("512 images are done", share=0.5)
    assert sys.stderr.getvalue() == ""
