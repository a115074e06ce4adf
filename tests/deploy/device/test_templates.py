"""The templates of devices: choices that end, by words that devices have."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from mechdesign.deploy.export import layout

NAMES = sorted(entry.name for entry in files("mechdesign.deploy.export").joinpath("templates", "device").iterdir())
WORDS = {
    "memory",
    "told",
    "again",
    "other",
    "labels",
    "input_labels",
    "output_labels",
    "packaged",
    "loose",
    "items",
    "numbers",
    "points",
}
MARK = re.compile(r"\W*@(if|else|end)\b(.*)")


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_ends_and_is_made_by_words_that_devices_have(name: str) -> None:
    depth = 0
    for mark in filter(None, map(MARK.match, layout.template(f"device/{name}").splitlines())):
        depth += {"if": 1, "else": 0, "end": -1}[mark[1]]
        assert depth >= (mark[1] != "end")
        assert set(mark[2].split()) <= WORDS
    assert depth == 0


def test_there_is_a_device_in_every_language() -> None:
    endings = {name.partition(".")[2] for name in NAMES if name.lower().startswith("device.")}
    assert endings == {"c", "h", "rs", "java", "mjs", "d.mts", "py.in", "swift", "kt"}
