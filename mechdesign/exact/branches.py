"""Leaves of a tree over bits: each fixes some of them, and together they are all there is.

A leaf is written as one sign a bit: ``0`` and ``1`` for those it fixes, ``?`` for those it leaves free.
"""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.errors import CheckFailed

FREE = "?"


def fixed_bits(leaf: str, size: int) -> dict[int, int]:
    """The bits that a leaf fixes, and their values.

    >>> fixed_bits("?01", 3)
    {1: 0, 2: 1}
    """
    if len(leaf) != size or set(leaf) - {"0", "1", FREE}:
        raise CheckFailed(f"a leaf of the evidence must be {size} signs 0, 1 or {FREE}")
    return {place: int(sign) for place, sign in enumerate(leaf) if sign != FREE}


def require_tree(leaves: Sequence[str], size: int) -> None:
    """These are the leaves of a tree whose branches part one bit each, else `CheckFailed`: none is missing.

    >>> require_tree(["0?", "10", "11"], 2)
    >>> require_tree(["0?", "10"], 2)
    Traceback (most recent call last):
    mechdesign.errors.CheckFailed: the leaves of the evidence are no tree: a branch of 2 fixed bits is missing
    >>> require_tree(["0?", "?1", "10"], 2)
    Traceback (most recent call last):
    mechdesign.errors.CheckFailed: the leaves of the evidence are no tree: 3 of them part no bit
    """
    waiting = [([fixed_bits(leaf, size) for leaf in leaves], frozenset[int]())]
    while waiting:
        branch, parted = waiting.pop()
        if not branch:
            missing = f"a branch of {len(parted)} fixed bits is missing"
            raise CheckFailed(f"the leaves of the evidence are no tree: {missing}")
        if len(branch) == 1 and branch[0].keys() == parted:
            continue
        bits = frozenset.intersection(*(frozenset(leaf) for leaf in branch)) - parted
        if not bits:
            raise CheckFailed(f"the leaves of the evidence are no tree: {len(branch)} of them part no bit")
        bit = min(bits)
        waiting += [([leaf for leaf in branch if leaf[bit] == value], parted | {bit}) for value in (0, 1)]
