"""Progress goes to stderr, only when something takes long, and never to stdout."""

from __future__ import annotations

import os
import signal
import time

import pytest

from mechdesign.cli import output


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_FIRST_TICK", 0.05)


@pytest.mark.usefixtures("_quick")
def test_long_work_says_so_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    with output.progress("thinking", quiet=False) as say:
        time.sleep(0.12)
        say("thinking harder")
        time.sleep(0.2)
    captured = capfd.readouterr()
    assert "thinking ..." in captured.err
    assert "thinking harder ..." in captured.err
    assert captured.out == ""


def test_quick_work_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with output.progress("thinking", quiet=False):
        pass
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("_quick")
def test_quiet_work_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with output.progress("thinking", quiet=True) as say:
        say("still thinking")
        time.sleep(0.12)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("_quick")
def test_the_lines_stop_when_the_work_fails(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="no"), output.progress("thinking", quiet=False):
        raise ValueError("no")
    capfd.readouterr()
    time.sleep(0.15)
    assert capfd.readouterr().err == ""


def test_a_request_to_end_that_compiled_code_makes_an_error_of_still_ends():
    def swallowing():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except SystemExit:
            raise AttributeError from None

    with pytest.raises(SystemExit) as ended, output.ending_cleanly():
        swallowing()
    assert ended.value.code == 128 + signal.SIGTERM
