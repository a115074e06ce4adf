"""What is a number, wherever text is read: files, priors, options.

Python's ``float`` also reads ``1_0`` as 10, and digits of all scripts: what a file or a user means by them is a guess.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d{1,4000}", re.ASCII)
_BEGINS = re.compile(r"[+-]?[.,]?\d|[+-]?inf(inity)?$", re.IGNORECASE)
MISSING = ("", "na", "n/a", "<na>", "nan", "nil", "none", "null", "missing", "-", "?", ".")
"""How people and programs write that there is no value, in small letters."""


def number_of(text: str) -> float | None:
    """The number a text is, infinities and NaN included; None if it is none.

    >>> number_of(" 1e3"), number_of("1_0"), number_of("\\u0663")
    (1000.0, None, None)
    """
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def require_number_text(text: str) -> float:
    """The same, or ValueError, in place of Python's ``float``."""
    number = number_of(text)
    if number is None:
        raise ValueError(f"{text!r} is not a number")
    return number


def require_whole_text(text: str) -> int:
    """A whole number, or ValueError, in place of Python's ``int``.

    >>> require_whole_text("12")
    12
    """
    if not _WHOLE.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def is_missing(text: str) -> bool:
    """Whether a text says that there is no value."""
    return text.strip().casefold() in MISSING


def begins_like_a_number(text: str) -> bool:
    """As numbers do, mistyped ones such as ``1e5x`` or ``7 kWh`` too."""
    return _BEGINS.match(text.strip()) is not None
