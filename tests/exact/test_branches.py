"""Leaves are all there is, or they are refused."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import CheckFailed
from mechdesign.exact.branches import FREE, fixed_bits, require_tree

SIZE = 4


def _fits(leaf: str, bits: tuple[int, ...]) -> bool:
    return all(bits[place] == bit for place, bit in fixed_bits(leaf, SIZE).items())


@given(st.lists(st.text("01?", min_size=SIZE, max_size=SIZE), max_size=6))
def test_whatever_is_accepted_holds_every_choice_of_bits_once(leaves: list[str]) -> None:
    try:
        require_tree(leaves, SIZE)
    except CheckFailed:
        return
    for bits in product((0, 1), repeat=SIZE):
        assert sum(_fits(leaf, bits) for leaf in leaves) == 1


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, SIZE - 1)), max_size=6), st.randoms())
def test_every_tree_is_accepted_and_none_with_a_leaf_less(cuts: list[tuple[int, int]], random) -> None:  # type: ignore[no-untyped-def]
    leaves = [FREE * SIZE]
    for at, place in cuts:
        leaf = leaves[at % len(leaves)]
        if leaf[place] == FREE:
            leaves.remove(leaf)
            leaves += [leaf[:place] + bit + leaf[place + 1 :] for bit in "01"]
    random.shuffle(leaves)
    require_tree(leaves, SIZE)
    for missing in leaves:
        with pytest.raises(CheckFailed, match="no tree"):
            require_tree([leaf for leaf in leaves if leaf != missing], SIZE)


@pytest.mark.parametrize("leaf", ["01", "01?x", "01?01"])
def test_leaves_of_another_form_are_refused(leaf: str) -> None:
    with pytest.raises(CheckFailed, match="4 signs"):
        require_tree([leaf], SIZE)
