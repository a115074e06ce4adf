"""Numbers in words that no other numbers share: listed where they are few, else counted, with a hash of doubles."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike

_MOST_LISTED = 8
_SHOWN = 8  # hexadecimal digits


def digest(*columns: ArrayLike) -> str:
    """A hash of all these doubles."""
    content = (np.ascontiguousarray(column, dtype="<f8").tobytes() for column in columns)
    return hashlib.sha256(b"".join(content)).hexdigest()


def fingerprint(*columns: ArrayLike) -> str:
    """The beginning of their hash, as people are shown it.

    >>> fingerprint([0.5, 0.5])
    'sha256 606e5166'
    """
    return f"sha256 {digest(*columns)[:_SHOWN]}"


def numbers_in_words(numbers: ArrayLike) -> str:
    """
    >>> numbers_in_words([1, 0.001]), numbers_in_words([1 / 3, 2 / 3])
    ('1, 0.001', '0.3333, 0.6667 (sha256 ecf29fdb)')
    >>> numbers_in_words(range(9))
    '9 numbers from 0 to 8 (sha256 13a22b00)'
    """
    values = np.asarray(numbers, dtype=np.float64).ravel()
    if values.size > _MOST_LISTED:
        return f"{values.size} numbers from {values.min():g} to {values.max():g} ({fingerprint(values)})"
    exact = [f"{value:g}" for value in values.tolist()]
    if all(float(text) == value for text, value in zip(exact, values.tolist(), strict=True)):
        return ", ".join(exact)
    return f"{', '.join(f'{value:.4g}' for value in values.tolist())} ({fingerprint(values)})"


def weights_in_words(weights: ArrayLike) -> str:
    """A law on so many inputs.

    >>> weights_in_words([0.5, 0.5]), weights_in_words([0.25, 0.75])
    ('uniform', 'weights 0.25, 0.75')
    """
    values = np.asarray(weights, dtype=np.float64)
    return "uniform" if np.ptp(values) == 0 else f"weights {numbers_in_words(values)}"
