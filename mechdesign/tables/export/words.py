"""What goes into a table's sampler and comes out of it, in words."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.tables.kinds import ItemsLaw, Listed, Spread
from mechdesign.tables.table import Table
from mechdesign.words.domains import Finite

_MOST_LISTED = 8
_BLOCK = 4096
"""Runtimes read the system's randomness in blocks of so many bytes."""


def goes_in(table: Table) -> str:
    """What a sampler takes."""
    labels, law = table.labels.inputs, table.law
    if labels is not None:
        return f"one of the {len(labels)} input labels"
    if isinstance(law, ItemsLaw):
        return f"an item, a whole number from 0 to {law.count - 1}"
    if isinstance(law.domain, Finite):
        return _one_of(law.domain.points)
    lower, upper = law.ends
    return f"a number from {lower:.17g} to {upper:.17g}"


def comes_out(table: Table) -> str:
    """What a sampler gives."""
    labels, law = table.labels.outputs, table.law
    if labels is not None:
        return f"one of the {len(labels)} output labels"
    if isinstance(law, ItemsLaw):
        return f"{law.report_bytes} byte{'s' * (law.report_bytes > 1)}"
    if isinstance(law, Listed):
        return _one_of(law.outputs)
    clamp = law.clamp if isinstance(law, Spread) else None
    return "a number" if clamp is None else f"a number from {clamp[0]:.17g} to {clamp[1]:.17g}"


def takes(table: Table) -> str:
    """How many random bytes a report takes, and when it needs more than those that are set apart for it."""
    law = table.law
    if isinstance(law, ItemsLaw):
        is_all = law.least_bytes == law.enough_bytes
        more = "" if is_all else " (and more where numbers are refused and drawn again, by themselves)"
        return f"{law.least_bytes} bytes, whatever the input{more}"
    if law.enough_bytes > _BLOCK:
        return f"{_BLOCK} bytes, whatever the input (the noise is so wide that some reports need more)"
    return f"{law.enough_bytes} bytes, whatever the input (more are needed with a probability of at most about 2^-64)"


def _one_of(numbers: Sequence[float]) -> str:
    if len(numbers) > _MOST_LISTED:
        return f"one of {len(numbers)} numbers from {numbers[0]:.17g} to {numbers[-1]:.17g}"
    return f"one of the numbers {', '.join(f'{number:.17g}' for number in numbers)}"
