"""Quadratic classifiers and networks: bounds hold at points, radii are those of the printed examples in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

from mechdesign.studies.classifiers import (
    Record,
    exact_survival,
    of_estimator,
    perturbation,
    robust_box,
    simulate,
    structure,
)
from mechdesign.studies.classifiers.cells import is_kept
from mechdesign.studies.classifiers.margins import MarginRegion, Quadratics, Rectifiers
from mechdesign.studies.classifiers.robustness import ProvenTest, radius

X, Y = load_iris(return_X_y=True)
X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
MODELS = {
    "qda": lambda: QuadraticDiscriminantAnalysis(reg_param=0.05),
    "bayes": GaussianNB,
    "network": lambda: MLPClassifier((6, 5), solver="lbfgs", max_iter=300, random_state=0),
}


def record_of(kind: str, row: int, columns: tuple[int, ...], labels: np.ndarray = Y) -> Record:
    return Record(of_estimator(MODELS[kind]().fit(X, labels)), X[row], columns)


@pytest.mark.parametrize("labels", [Y, Y == 1], ids=["three", "two"])
@pytest.mark.parametrize("kind", MODELS)
def test_no_point_of_a_box_is_outside_its_bounds_or_against_its_verdict(kind: str, labels: np.ndarray) -> None:
    record = record_of(kind, 70, (1, 3), labels)
    region, rng = structure(record), np.random.default_rng(1)
    assert isinstance(region, MarginRegion)
    ends = np.sort(rng.random((400, 2, 2)), axis=1)
    ends[200:, 1] = ends[200:, 0] + 0.05 * (ends[200:, 1] - ends[200:, 0])
    lower, upper = ends[:, 0], ends[:, 1]
    least, most = region.margins.bounds(lower, upper)
    verdict = region.decide(lower, upper).verdict
    for _ in range(20):
        points = lower + (upper - lower) * rng.random(lower.shape)
        at, _ = region.margins.bounds(points, points)
        assert (least - 1e-7 <= at).all()
        assert (at <= most + 1e-7).all()
        kept = record.keeps(points)
        assert kept[verdict > 0].all()
        assert not kept[verdict < 0].any()
    assert (verdict != 0).mean() > 0.4


@pytest.mark.parametrize("kind", MODELS)
def test_the_exact_interval_meets_the_simulated_one_and_holds_the_proven_box(kind: str) -> None:
    # one interval of 99.9% each: three of them miss with probability below .003; the seed is fixed
    record, law = record_of(kind, 70, (2, 3)), perturbation("pm", 2.0)
    exact = exact_survival(record, law)
    seen = simulate(record, law, 4000, np.random.default_rng(2), 0.999)
    assert exact.width < 2e-3
    assert seen.lower <= exact.upper
    assert exact.lower <= seen.upper
    box = robust_box(record, law=law)
    assert box.basis == "proven"
    assert float(np.prod(law.between(record.sent, box.lower, box.upper))) <= exact.upper


def test_more_than_three_columns_are_left_to_tests() -> None:
    assert structure(record_of("network", 70, (0, 1, 2, 3))) is None


def test_noise_that_is_left_outside_the_interval_is_followed_there() -> None:
    record, law = record_of("bayes", 70, (3,)), perturbation("laplace-raw", 1.0)
    exact = exact_survival(record, law)
    places = np.linspace(-25, 25, 400_001)
    kept = record.classifier.predict(record.filled(places[:, None])) == record.label
    edges = np.flatnonzero(kept[1:] != kept[:-1])
    ends = [-np.inf, *places[edges], np.inf] if kept[0] else list(places[edges])
    total = sum(float(law.between(record.sent[0], low, high)) for low, high in zip(ends[::2], ends[1::2], strict=True))
    assert exact.lower - 1e-3 <= total <= exact.upper + 1e-3
    assert exact.width < 1e-2


# the printed examples: erratum 14


def region_of(margins: Quadratics | Rectifiers) -> MarginRegion:
    from mechdesign.studies.classifiers import Classifier

    keeps = Classifier(lambda points: margins.bounds(points, points)[0][:, 0] > 0, 2)
    return MarginRegion(Record(keeps, np.array([0.5, 0.5])), margins)


def test_the_ball_of_example_14_reaches_the_circle_at_its_corner() -> None:
    # h1 - h2 = (4 (1 + ln 2) - |y + 1|^2) / 4; the corner (1/2 + theta, 1/2 + theta) is the farthest from (-1, -1)
    region = region_of(
        Quadratics(np.array([-np.eye(2) / 4]), np.array([[-0.5, -0.5]]), np.array([0.5 + math.log(2)]), 4.0)
    )
    theta = math.sqrt(2 * (1 + math.log(2))) - 1.5
    assert is_kept(region, np.full(2, 0.5 - theta + 1e-6), np.full(2, 0.5 + theta - 1e-6), 8192)
    assert not is_kept(region, np.full(2, 0.5 - theta), np.full(2, 0.5 + theta + 1e-6), 8192)
    assert radius(ProvenTest(region), np.full(2, 0.5), 30) == pytest.approx(theta, abs=1e-6)
