"""Runs commands in this process and returns what a shell would see."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from mechdesign.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    def command(*arguments: str) -> Outcome:
        try:
            main(list(arguments))
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return command
