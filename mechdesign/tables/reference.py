"""The sampling rule of FORMAT.md, one report at a time from a stream of bytes: other samplers must agree with it."""

from __future__ import annotations

from functools import lru_cache

from mechdesign.errors import InvalidData, InvalidInput, require_finite, sealed
from mechdesign.tables.kinds import Rule
from mechdesign.tables.streams import Stream, fixed_stream
from mechdesign.tables.table import Table

__all__ = ["Stream", "fixed_stream", "report", "report_code", "rule"]


@sealed
def report(table: Table, x: float | str, stream: Stream | None = None) -> float | str | bytes:
    """One report for the input ``x``, by default from the operating system's randomness; labels where there are any.

    Tables of items report bytes.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> table = make_table(randomised_response(1.0, Finite((0, 1))), bits=16)
    >>> report(table, 1, fixed_stream(b"\\x00\\x00")), report(table, 1, fixed_stream(b"\\xff\\xff"))
    (0.0, 1.0)
    """
    inputs, outputs = table.input_names, table.output_names
    at = x if inputs is None else float(inputs.codes(x))
    y = report_code(table, at, stream)  # type: ignore[arg-type]  # a text is refused there
    return y if outputs is None or isinstance(y, bytes) else str(outputs.labels(y))


@sealed
def report_code(table: Table, x: float, stream: Stream | None = None) -> float | bytes:
    """`report` in the numbers of the table's file: what labels stand for, and what test vectors hold."""
    try:
        at = float(table.domain.require(require_finite(x, "x")))
    except InvalidInput as problem:  # the input is somebody's
        raise InvalidData(problem.field, problem.value, problem.rule, problem.next_step) from None
    return rule(table)(at, Stream() if stream is None else stream)


@lru_cache(maxsize=16)
def rule(table: Table) -> Rule:
    """The sampling rule alone, for inputs that are known to lie in the domain."""
    return table.law.rule()
