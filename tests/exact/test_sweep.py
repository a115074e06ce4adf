"""The greatest share of a row, by a sweep over one number, against all rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given, strategies as st

from mechdesign.exact.sweep import greatest_share

TERMS = st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 9), st.integers(-9, 9)), min_size=1, max_size=6)


@given(TERMS, st.fractions(Fraction(11, 10), 20, max_denominator=50))
def test_it_is_that_of_the_best_of_all_rows(terms: list[tuple[int, int, int]], ratio: Fraction) -> None:
    x, p, nu = (list(column) for column in zip(*terms, strict=True))
    if not any(p):
        p[0] = 1
    best = max(
        Fraction(sum(a * b for a, b in zip(z, x, strict=True))) ** 2 / sum(a * b for a, b in zip(z, p, strict=True))
        - sum(a * b for a, b in zip(z, nu, strict=True))
        for z in product([Fraction(1), ratio], repeat=len(x))
    )
    found = greatest_share(x, p, nu, ratio)
    assert best <= found <= best + Fraction(1, 1 << 60)


def test_rows_between_the_ends_have_no_more() -> None:
    x, p, nu, ratio = [3, -1, 2], [1, 2, 1], [2, 1, 3], Fraction(5, 2)
    found = greatest_share(x, p, nu, ratio)
    steps = [1 + (ratio - 1) * Fraction(k, 4) for k in range(5)]
    for z in product(steps, repeat=3):
        dots = [sum(a * b for a, b in zip(z, row, strict=True)) for row in (x, p, nu)]
        assert dots[0] ** 2 / dots[1] - dots[2] <= found
