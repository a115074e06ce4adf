"""The most any mechanism keeps: theorems against linear programs, and the trade-off with the error of the value."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.tree import DecisionTreeClassifier

from mechdesign.errors import InvalidInput
from mechdesign.studies.classifiers import (
    Classifier,
    Record,
    Zones,
    label_optimum,
    of_estimator,
    perturbation,
    trade_off,
    where_it_lies,
    without_cap,
    zones_of,
)


def best_table(epsilon: float, weights: np.ndarray | None, labels: int) -> float:
    """The optimum over all eps-LDP tables from labels to labels, by a linear program."""
    size, ratio = labels * labels, math.exp(epsilon)
    rows = []
    for j in range(labels):
        for k in range(labels):
            for i in range(labels):
                if i != k:
                    row = np.zeros(size + 1)
                    row[k * labels + j], row[i * labels + j] = 1, -ratio
                    rows.append(row)
    for k in range(labels):
        row = np.zeros(size + 1)
        row[k * labels + k], row[-1] = -1, 1
        rows.append(row)
    equal = np.zeros((labels, size + 1))
    for k in range(labels):
        equal[k, k * labels : (k + 1) * labels] = 1
    cost = np.zeros(size + 1)
    if weights is None:
        cost[-1] = -1
    else:
        cost[[k * labels + k for k in range(labels)]] = -weights
    bounds = [(0, None)] * size + [(0, 1)]
    return -float(linprog(cost, np.array(rows), np.zeros(len(rows)), equal, np.ones(labels), bounds).fun)


@pytest.mark.parametrize("labels", [2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_randomised_response_on_labels_is_the_optimum_of_the_linear_program(labels: int, epsilon: float) -> None:
    assert label_optimum(epsilon, labels) == pytest.approx(best_table(epsilon, None, labels), abs=1e-8)
    assert label_optimum(epsilon, labels) == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + labels - 1))


@pytest.mark.parametrize("seed", range(8))
def test_the_average_optimum_drops_unlikely_labels_as_the_linear_program_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(2, 5))
    weights, epsilon = rng.dirichlet(np.full(labels, 0.6)), float(rng.uniform(0.2, 3))
    assert label_optimum(epsilon, labels, weights) == pytest.approx(best_table(epsilon, weights, labels), abs=1e-8)


def test_one_label_is_always_kept() -> None:
    assert label_optimum(0.1, 1) == 1.0


@pytest.mark.parametrize("weights", [[0.5], [0.7, 0.7], [1.5, -0.5], [math.nan, 1.0]])
def test_weights_that_are_none_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidInput, match="weights"):
        label_optimum(1.0, 2, weights)


def test_zones_are_found_to_the_last_digits() -> None:
    inside = Classifier(lambda points: (points[:, 0] >= 0.2) & (points[:, 0] <= 0.8), 1)
    zones = zones_of(Record(inside, np.array([0.5])))
    assert zones.edges == pytest.approx([0, 0.2, 0.8, 1], abs=1e-12)
    assert zones.codes.tolist() == [0, 1, 0]


def test_labels_kept_rise_with_the_cap_up_to_the_optimum_without_one_and_no_mechanism_is_above() -> None:
    zones, epsilon = Zones(np.array([0, 0.5, 1.0]), np.array([0, 1])), 2.0
    points = trade_off(zones, epsilon, [0.05, 0.2, 0.26, 0.6], cells=20)
    assert all(point.attained <= point.bound + 1e-12 for point in points)
    assert points[0].attained == 0.0
    assert points[1].bound < points[-1].attained
    assert points[-1].attained == pytest.approx(without_cap(zones, epsilon, 20), abs=1e-5)
    error, kept = where_it_lies(zones, perturbation("pm", epsilon), 20)
    assert error <= 0.26
    assert kept <= points[2].bound


def test_errors_of_where_a_mechanism_lies_are_its_expected_losses() -> None:
    from mechdesign.words.losses import Power

    zones, law = Zones(np.array([0, 0.5, 1.0]), np.array([0, 1])), perturbation("pm", 2.0)
    middles = (np.arange(10) + 0.5) / 10
    error, _ = where_it_lies(zones, law, 10)
    assert error == pytest.approx(float(law.mechanism.expected_loss(middles, Power(1.0)).max()), abs=1e-4)


def test_narrow_zones_of_trees_are_found_and_third_labels_between_neighbours() -> None:
    tree = DecisionTreeClassifier().fit(np.array([[0.3], [0.30002], [0.30004], [0.6]]), [0, 1, 0, 0])
    zones = zones_of(Record(of_estimator(tree), np.array([0.9])))
    assert zones.codes.tolist() == [0, 1, 0]
    assert zones.edges[1:3] == pytest.approx([0.30001, 0.30003], abs=1e-7)
    three = Classifier(lambda points: np.digitize(points[:, 0], [0.31234, 0.31235]), 1)
    found = zones_of(Record(three, np.array([0.9])))
    assert found.codes.tolist() == [0, 1, 2]
    assert found.edges == pytest.approx([0, 0.31234, 0.31235, 1], abs=1e-12)


def test_a_cap_that_no_mechanism_keeps_is_not_attained_though_the_label_cannot_be_lost() -> None:
    low, high = trade_off(Zones(np.array([0, 1.0]), np.array([0])), 2.0, [0.01, 0.4], cells=8)
    assert low.attained == 0.0
    assert high.attained == pytest.approx(1.0, abs=1e-6)


def test_neither_side_of_the_trade_off_falls_as_the_cap_grows() -> None:
    # at the least cap no program has an answer: it was drawn above its neighbour
    points = trade_off(Zones(np.array([0, 0.4, 1.0]), np.array([0, 1])), 2.0, [0.05, 0.19, 0.22, 0.3], cells=16)
    assert all(a.bound <= b.bound and a.attained <= b.attained for a, b in itertools.pairwise(points))


@pytest.mark.parametrize("seed", [1, 2])
def test_labels_that_change_from_double_to_double_are_refused_in_finite_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noisy = Classifier(lambda points: rng.integers(0, 2, len(points)), 1)
    fine = Classifier(lambda points: (points[:, 0].copy().view(np.int64) // 4096) % 2, 1)
    for known in (noisy, fine):
        with pytest.raises(InvalidInput, match="zones"):
            without_cap(zones_of(Record(known, np.array([0.9]))), 1.0)
