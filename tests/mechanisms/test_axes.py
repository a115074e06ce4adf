"""Signed sets as items: the law of the directions, a table that keeps epsilon, and the mean of what is reported."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.mechanisms.axes import MOST_CHANCES, AxisResponse
from mechdesign.mechanisms.directions import CapReports, DirectionResponse, SignedSets
from tests.methods.problems import vectors

CASES = [(3, 1, 2.0), (4, 2, 1.0), (5, 3, 3.0), (3, 3, 0.5)]


def _axes(count: int, size: int, epsilon: float, radius: float = 2.0) -> AxisResponse:
    law = DirectionResponse(epsilon, md.CrossPolytope(count, radius), SignedSets(size), math.exp(epsilon) * (1 - 1e-12))
    return AxisResponse(law)


def _units(axes: AxisResponse) -> np.ndarray:
    """The signed unit vectors in the order of their names, as a reader has them."""
    found = np.zeros((len(axes.names), axes.law.inputs.count))
    for row, name in zip(found, axes.names, strict=True):
        row[int(name[1:]) - 1] = 1 if name[0] == "+" else -1
    return found


@pytest.mark.parametrize(("count", "size", "epsilon"), CASES)
def test_the_channel_has_the_chances_of_the_law(count: int, size: int, epsilon: float) -> None:
    axes = _axes(count, size, epsilon)
    reports = axes.sets * axes.law.scale / math.sqrt(size)
    mass = [axes.law.mass(reports, np.broadcast_to(unit * 2.0, reports.shape)) for unit in _units(axes)]
    assert axes.channel().probabilities == pytest.approx(np.array(mass), rel=1e-9)
    assert len({tuple(row) for row in axes.sets.tolist()}) == len(axes.sets)


@pytest.mark.parametrize(("count", "size", "epsilon"), CASES)
def test_the_name_of_a_set_says_what_it_holds(count: int, size: int, epsilon: float) -> None:
    axes = _axes(count, size, epsilon)
    for row, name in zip(axes.sets.tolist(), axes.report_names, strict=True):
        told = [0] * count
        for one in name.split("/"):
            told[abs(int(one)) - 1] = 1 if int(one) > 0 else -1
        assert told == row


@pytest.mark.parametrize(("count", "epsilon"), [(2, 0.1), (5, 1.0), (12, 1.0), (10, 2.0), (40, 5.0)])
def test_the_table_keeps_epsilon_and_has_the_mean_and_the_noise_of_the_design(count: int, epsilon: float) -> None:
    """From the whole numbers of the file: privacy exactly, the mean and the error up to what 32 bits round."""
    design = md.solve(vectors(epsilon, md.CrossPolytope(count, 2.0)))
    table, axes = md.make_table(design), AxisResponse(design.mechanism)
    rows = table.law.rows
    ratio = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    assert math.log(ratio) <= epsilon
    chances = np.array(rows) / 2.0**32
    reports = axes.sets * axes.law.scale / math.sqrt(axes.size)
    assert chances @ reports == pytest.approx(2.0 * _units(axes), rel=1e-5, abs=1e-4)
    error = chances @ (reports**2).sum(axis=1)
    assert error == pytest.approx(np.full(2 * count, design.certificate.upper), rel=1e-6)
    assert table.input_names is not None
    assert table.output_names is not None
    assert (table.input_names.texts, table.output_names.texts) == (axes.names, axes.report_names)


def test_reports_of_a_table_average_to_the_mean_of_the_vectors() -> None:
    """n = 20,000 people and four coordinates: off by more than 6 standard errors with a chance below 1e-8."""
    design = md.solve(vectors(3.0, md.CrossPolytope(4, 2.0)))
    table, axes = md.make_table(design), AxisResponse(design.mechanism)
    x = np.array([[1.0, -0.5, 0.0, 0.5], [0.0, -2.0, 0.0, 0.0]] * 10_000)
    items = axes.items(x, np.random.default_rng(5))
    assert set(items[1::2]) == {"-2"}
    assert axes.mean(md.tables.sample(table, items)) == pytest.approx(
        x.mean(axis=0), abs=6 * design.mechanism.scale / math.sqrt(len(x))
    )


def test_a_vector_is_drawn_to_its_coordinates_without_bias() -> None:
    """Seed 3, n = 40,000; off by more than 5 standard errors with a chance below 6e-7 a coordinate."""
    axes, x = _axes(4, 1, 1.0), np.array([0.25, 0.0, -1.0, 0.5])
    items = axes.items(np.broadcast_to(x, (40_000, 4)), np.random.default_rng(3))
    units = dict(zip(axes.names, 2.0 * _units(axes), strict=True))
    mean = np.mean([units[name] for name in items], axis=0)
    assert mean == pytest.approx(x, abs=5 * 2.0 / math.sqrt(40_000))


@pytest.mark.parametrize(("count", "epsilon"), [(100_000, 2.0), (100_000, 8.0), (14, 0.5), (257, 7.0)])
def test_too_many_sets_for_a_table_are_refused_before_they_are_made(count: int, epsilon: float) -> None:
    with pytest.raises(InvalidInput, match=f"at most {MOST_CHANCES} chances"):
        md.make_table(md.solve(vectors(epsilon, md.CrossPolytope(count))))


def test_as_many_as_the_limit_are_made() -> None:
    assert _axes(256, 1, 6.0).channel().probabilities.size == MOST_CHANCES


def test_caps_have_no_items() -> None:
    with pytest.raises(InvalidInput, match="caps have no items"):
        AxisResponse(DirectionResponse(1.0, md.Sphere(3), CapReports(0.5), 2.0))


def test_bad_reports_and_vectors_are_refused_and_not_shown() -> None:
    axes = _axes(3, 2, 1.0)
    with pytest.raises(InvalidData, match="name of one of the signed sets") as refused:
        axes.mean(["+1/+2", "+1/+7"])
    assert "+7" not in str(refused.value)
    with pytest.raises(InvalidInput, match="at least one"):
        axes.mean([])
    with pytest.raises(InvalidData, match="sum to at most 2"):
        axes.items([[1.5, 1.0, 0.0]], np.random.default_rng(1))
