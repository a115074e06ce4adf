"""Rectangles cover the box whatever the cuts are, and what reports count at corners is never more than they lose."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import CheckFailed
from mechdesign.exact.tiling import corner_losses, corners, tangents, tiles

BOX = np.array([[0.0, 0.0], [8.0, 4.0]])


@st.composite
def trees(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Cuts of the box in preorder, at multiples of 1/64 of each part."""
    axes: list[int] = []
    cuts: list[float] = []

    def add(part: list[float], depth: int) -> None:
        axis = draw(st.integers(0, 2)) if depth else 2
        axes.append(axis)
        if axis == 2:
            return
        share = draw(st.integers(1, 63)) / 64
        at = part[axis] + share * (part[axis + 2] - part[axis])
        cuts.append(at)
        first, second = list(part), list(part)
        first[axis + 2] = second[axis] = at
        add(first, depth - 1)
        add(second, depth - 1)

    add([0.0, 0.0, 8.0, 4.0], 3)
    return np.array(axes, dtype=float), np.array(cuts)


@given(trees())
def test_what_cuts_leave_covers_the_box_once(tree: tuple[np.ndarray, np.ndarray]) -> None:
    found = [[Fraction(end) for end in part] for part in tiles(BOX, *tree).tolist()]
    assert sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in found) == 32
    for k, (a, b, c, d) in enumerate(found):
        assert 0 <= a < c <= 8
        assert 0 <= b < d <= 4
        for e, f, g, h in found[:k]:
            assert min(c, g) <= max(a, e) or min(d, h) <= max(b, f)


@pytest.mark.parametrize(
    ("axes", "cuts", "words"),
    [
        ([], [], "do not cover"),
        ([0, 2], [3], "do not cover"),
        ([1, 0, 2, 2], [2, 3], "do not cover"),
        ([2, 2], [], "more parts"),
        ([0, 2, 2, 2], [3], "more parts"),
        ([0, 2, 2], [8], "not inside"),
        ([0, 2, 2], [0], "not inside"),
        ([0, 2, 2], [9], "not inside"),
        ([0, 0, 2, 2, 2], [3, 4], "not inside"),
        ([0, 1, 2, 2, 2], [3, 4], "not inside"),
        ([0, 2, 2], [], "a place for each cut"),
        ([2], [3], "a place for each cut"),
        ([0, 2, 2], [3, 4], "a place for each cut"),
        ([3], [], "axis 0 or 1"),
        ([-1], [], "axis 0 or 1"),
        ([0.5, 2, 2], [3], "axis 0 or 1"),
    ],
)
def test_cuts_that_leave_something_open_are_refused(axes: list[float], cuts: list[float], words: str) -> None:
    with pytest.raises(CheckFailed, match=words):
        tiles(BOX, np.array(axes, dtype=float), np.array(cuts, dtype=float))


COORDINATE = st.integers(-40, 40).map(lambda k: k / 8)


@settings(max_examples=200)
@given(
    st.tuples(COORDINATE, COORDINATE),
    st.tuples(COORDINATE, COORDINATE),
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
    st.tuples(st.integers(0, 16), st.integers(0, 16)),
    st.sampled_from([1, 2]),
    st.sampled_from([0.0, 1e6 + 0.1, -3e9]),
    st.sampled_from([1.0, 1 / 3, 1e-6]),
)
def test_a_report_moved_to_corners_counts_no_more_than_it_loses(
    point: tuple[float, float],
    corner: tuple[float, float],
    sides: tuple[int, int],
    shares: tuple[int, int],
    exponent: int,
    offset: float,
    scale: float,
) -> None:
    """As fractions: of any place of the rectangle, also where coordinates are large beside distances."""
    x = np.array(point) * scale + offset
    low = np.array(corner) * scale + offset
    rectangle = np.concatenate([low, low + np.array(sides) / 8 * scale])
    counted = [Fraction(value) for value in tangents(x[None], rectangle[None], float(exponent))[0, :, 0].tolist()]
    (a, b), (left, down, right, up) = map(Fraction, x.tolist()), map(Fraction, rectangle.tolist())
    s, t = (Fraction(share, 16) for share in shares)
    chances = (1 - s) * (1 - t), s * (1 - t), (1 - s) * t, s * t
    mean = sum((p * value for p, value in zip(chances, counted, strict=True)), Fraction(0))
    square = (left + s * (right - left) - a) ** 2 + (down + t * (up - down) - b) ** 2
    assert mean <= 0 or mean ** (3 - exponent) <= square


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_what_corners_miss_falls_with_the_square_of_the_side(exponent: float) -> None:
    point = np.array([[0.0, 0.0]])
    missed = []
    for side in (0.5, 0.25, 0.125):
        rectangle = np.array([[3.0, 1.0, 3.0 + side, 1.0 + side]])
        true = np.hypot(*corners(rectangle)[0].T) ** exponent
        missed.append(float((true - corner_losses(point, rectangle, exponent)[0]).max()))
    assert 0 < 3.5 * missed[2] < missed[1] < missed[0] / 3.5


def test_a_corner_counts_the_least_of_the_rectangles_around_it() -> None:
    points = np.array([[0.0, 0.0], [4.0, 4.0], [1.0, 3.0]])
    parts = tiles(points, np.array([0, 1, 2, 2, 1, 2, 2.0]), np.array([2.0, 2.0, 2.0]))
    every, (places, at) = tangents(points, parts, 1.0), corners(parts)
    counted = corner_losses(points, parts, 1.0)
    middle = int(np.flatnonzero((places == 2.0).all(axis=1))[0])
    assert np.count_nonzero(at == middle) == 4
    assert counted[:, middle].tolist() == every[at == middle].min(axis=0).tolist()


def test_an_input_at_a_corner_counts_almost_nothing_there_and_most_of_the_distance_elsewhere() -> None:
    here, far = corner_losses(np.array([[0.0, 0.0]]), np.array([[0.0, 0.0, 1.0, 1.0]]), 1.0)[0, [0, 3]]
    assert -1e-9 < here <= 0
    assert far == pytest.approx(2**0.5)
