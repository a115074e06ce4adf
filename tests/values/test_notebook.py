"""Notebooks show words and a picture; words alone where no picture can be drawn."""

from __future__ import annotations

import base64
import re

import pytest
from matplotlib.figure import Figure

from mechdesign.values.notebook import grid, page


def test_words_are_no_markup() -> None:
    assert "<script>" not in page("<script>")
    assert "<script>" not in grid("<script>", ["<script>"], [["<script>"]])


def test_the_picture_is_a_png_inside_the_page() -> None:
    found = re.search(r'src="data:image/png;base64,([^"]+)"', page("words", Figure))
    assert found
    assert base64.b64decode(found[1]).startswith(b"\x89PNG")


@pytest.mark.parametrize("failure", [ImportError, RuntimeError, MemoryError, ValueError])
def test_a_picture_that_fails_leaves_the_words(failure: type[Exception]) -> None:
    def fail() -> Figure:
        raise failure

    assert page("words", fail) == page("words")
