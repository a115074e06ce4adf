"""A number is what files and people write, in every command and file alike."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from mechdesign.cli.options import parse_epsilons, parse_interval
from mechdesign.data.numbers import is_whole_text, number_of, require_whole_text
from mechdesign.data.texts import floats
from mechdesign.errors import InvalidInput
from mechdesign.words.domains import Interval
from mechdesign.words.losses import parse_loss
from mechdesign.words.priors import parse_prior

PYTHON_ONLY = ["1_0", "\u0663", "\uff11", "1_0.5", "\u0967e1"]


@given(st.floats(allow_nan=False))
def test_every_number_that_is_written_is_read(value: float) -> None:
    assert number_of(repr(value)) == value


def test_the_texts_arrow_reads_as_numbers_are_the_texts_we_do() -> None:
    pa = pytest.importorskip("pyarrow", reason="an optional dependency")
    texts = ["+1", "1.", ".5", "1e5", "1E-5", "0x10", "inf", "-Infinity", "nan", "1d", "1e400", "--1", "1 2", "1e", "."]
    for text in [*texts, *PYTHON_ONLY]:
        try:
            read = pa.array([text]).cast(pa.float64())[0].as_py()
        except pa.ArrowInvalid:
            read = None
        ours = number_of(text)
        assert ours == read or (read is not None and ours is not None and math.isnan(read) and math.isnan(ours)), text


@pytest.mark.parametrize("text", PYTHON_ONLY)
def test_what_only_python_reads_is_refused_in_options(text: str) -> None:
    assert number_of(text) is None
    assert not is_whole_text(text)
    readers = [
        lambda: floats("tau")(text),
        lambda: parse_epsilons(text),
        lambda: parse_epsilons(f"1:2:{text}"),
        lambda: parse_interval(f"0,{text}", "domain"),
        lambda: parse_loss(f"power:{text}"),
        lambda: parse_prior(f"normal:{text},1", Interval(0, 1)),
    ]
    for read in readers:
        with pytest.raises(InvalidInput):
            read()


@given(st.integers())
def test_whole_numbers_are_read_exactly(value: int) -> None:
    assert require_whole_text(str(value)) == value
