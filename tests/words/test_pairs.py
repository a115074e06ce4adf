"""Privacy for each pair as a value: what is refused, what paths tighten, what is said of it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.words.pairs import Metric, Pairwise, from_file, graph, metric, personal, sensitive
from mechdesign.words.places import distances, distances_down, distances_up

INF = math.inf


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0, -1], [1, 0]], r"\[0, 1\] must be at least 0"),
        ([[0, math.nan], [1, 0]], "NaN|be a number"),
        ([[0, 0], [1, 0]], "merges inputs 0 and 1"),
        ([[1, 1], [1, 0]], "as likely as itself"),
        ([[0, 1, 1], [1, 0, 1]], "be square"),
        ([[0, 1e-9], [1, 0]], "at least 1e-06"),
    ],
)
def test_matrices_that_are_no_privacy_are_refused_with_their_entry(matrix: list[list[float]], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Pairwise(matrix)


def test_paths_tighten_what_was_said_and_a_note_says_so() -> None:
    pairs = Pairwise([[0, 1, 5], [1, 0, 1], [2, 1, 0]])
    assert pairs.closed[0, 2] == 2
    assert "inputs 0 and 2: eps 2, not 5" in pairs.notes[0]
    assert Pairwise([[0, 1, 2], [1, 0, 1], [2, 1, 0]]).notes == ()


def test_what_is_not_protected_is_said_loudly() -> None:
    pairs = graph(4, [(0, 1), (2, 3)], 0.5)
    assert pairs.notes[0].startswith("NOT PROTECTED: 8 of 12")
    assert pairs.epsilon == 64


def test_constructors_say_what_their_names_say() -> None:
    assert graph(3, [(0, 1), (1, 2)], [0.5, 0.25]).closed[0, 2] == 0.75
    assert sensitive(3, [1], 2.0).epsilons.tolist() == [[0, INF, INF], [2, 0, 2], [INF, INF, 0]]
    assert personal([1.0, 0.5, 2.0]).epsilons[2].tolist() == [1, 0.5, 0]
    assert metric([[0, 0], [3, 4]], 2.0).epsilons[0, 1] == pytest.approx(10)


def test_matrices_come_from_files_with_inf_where_nothing_is_protected(tmp_path: Path) -> None:
    file = tmp_path / "e.csv"
    file.write_text("0,1,inf\n1,0,1\ninf,1,0\n")
    assert from_file(file).closed[0, 2] == 2
    file.write_text("0,1\nnan,0\n")
    with pytest.raises(FileProblem, match="line 2, cell 1"):
        from_file(file)


@pytest.mark.parametrize(
    ("points", "distance", "words"),
    [
        ([(0, 0), (1, 1), (0, 0)], "euclidean", "rows 0 and 2 are the same"),
        ([(0, 0), (1, math.nan)], "euclidean", r"points\[3\] must be a number"),
        ([(91, 0), (1, 1)], "great circle", r"points\[0\] must have a latitude"),
        ([(0, 181), (1, 1)], "great circle", "longitude"),
        ([0, 1], "great circle", "latitude, longitude"),
        ([(0, 0), (1, 1)], "taxi", "be one of euclidean, great circle"),
    ],
)
def test_places_that_are_none_are_refused(points: list[object], distance: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Metric(points, 1.0, distance)


@pytest.mark.parametrize("rate", [0, -1, INF, 1e-9])
def test_a_rate_that_protects_nothing_or_everything_is_refused(rate: float) -> None:
    with pytest.raises(InvalidInput):
        Metric([0, 1], rate)


def test_distances_are_enclosed_by_exact_squares() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 2))
    exact = sum((part[:, None] - part).astype(object) ** 2 for part in points.T)
    low, high = distances_down(points, points), distances_up(points, points)
    assert ((low**2) <= exact.astype(float) * (1 + 1e-15)).all()
    assert ((high**2) >= exact.astype(float) * (1 - 1e-15)).all()
    assert np.allclose(low, high, rtol=1e-14)


def test_the_globe_has_the_distances_of_its_quarters_and_of_near_places() -> None:
    places = np.array([[0, 0], [0, 90], [90, 0], [0, 180], [0, 1e-7], [-90, 0]])
    found = distances(places, places, "great circle")
    quarter = 6371.0088 * math.pi / 2
    assert found[0, 1] == pytest.approx(quarter, rel=1e-14)
    assert found[0, 2] == pytest.approx(quarter, rel=1e-14)
    assert found[0, 3] == pytest.approx(2 * quarter, rel=1e-14)
    assert found[2, 5] == pytest.approx(2 * quarter, rel=1e-14)
    assert found[0, 4] == pytest.approx(6371.0088 * math.radians(1e-7), rel=1e-12)
