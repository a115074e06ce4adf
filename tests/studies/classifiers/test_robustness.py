"""Radii and boxes: tests keep their error, proven boxes are sound, and no claim is above what happens."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.studies.classifiers import (
    Classifier,
    Record,
    Robust,
    SampledTest,
    of_estimator,
    perturbation,
    ranked,
    rho_curve,
    robust_box,
    simulate,
    simulate_all,
    smallest_epsilon,
    utility,
)
from mechdesign.studies.classifiers.robustness import (
    METHODS,
    clopper_pearson_points,
    hoeffding_points,
    most_box_tests,
    radius,
)

BAND = Classifier(lambda points: (points[:, 0] >= 0.2) & (points[:, 0] <= 0.8), 1)
MIDDLE = Record(BAND, np.array([0.5]))


def test_the_printed_number_of_points_is_that_of_example_11() -> None:
    assert hoeffding_points(0.05, 0.01) == pytest.approx(1.8e4, rel=0.03)


def test_clopper_pearson_needs_fewer_points() -> None:
    assert clopper_pearson_points(0.05, 0.01, 2) < hoeffding_points(0.05, 0.005) / 50


@pytest.mark.parametrize("method", METHODS)
def test_a_box_that_fails_more_than_tau_passes_no_more_often_than_omega(method: str) -> None:
    # true rate 1.02 tau, 400 runs, omega .2: more than 110 accepted has probability below 1e-3
    tau, omega = 0.05, 0.2
    accepted = 0
    for seed in range(400):
        test = SampledTest(MIDDLE, np.random.default_rng(seed), 1, tau, omega, method)
        length = 0.6 / (1 - 1.02 * tau)
        accepted += test(np.array([0.2]), np.array([0.2 + length]))
    assert accepted <= 110


@pytest.mark.parametrize("rule", [(0.0, 0.2, METHODS[0]), (0.05, 1.0, METHODS[0]), (0.05, 0.2, "guess")])
def test_rules_of_a_test_that_decide_nothing_are_refused(rule: tuple[float, float, str]) -> None:
    with pytest.raises(InvalidInput):
        SampledTest(MIDDLE, np.random.default_rng(0), 1, *rule)


def test_the_radius_of_the_example_is_found() -> None:
    test = SampledTest(MIDDLE, np.random.default_rng(1), 11)
    assert 0.29 < radius(test, MIDDLE.sent) < 0.3 / 0.99 + 1e-9


def test_a_rectangle_takes_no_more_tests_than_share_its_confidence() -> None:
    calls = 0

    class Counting:
        basis = "tested"

        def __call__(self, lower: np.ndarray, upper: np.ndarray) -> bool:
            nonlocal calls
            calls += 1
            return bool(((upper - lower) < 0.7).all())

    from mechdesign.studies.classifiers import rectangle

    rectangle(Counting(), np.full(5, 0.5), 4)
    assert calls <= most_box_tests(5, 4)


@pytest.mark.parametrize(("tau", "omega"), [(0, 0.05), (1, 0.05), (0.01, 0), (0.01, 1.5), (float("nan"), 0.05)])
def test_tolerances_out_of_range_are_refused(tau: float, omega: float) -> None:
    with pytest.raises(InvalidInput, match=r"tau|omega"):
        robust_box(MIDDLE, np.random.default_rng(1), tau, omega)


def test_rho_of_a_tested_box_is_an_estimate_that_the_worst_part_undercuts() -> None:
    # errata 14: eps = 4, theta = .3, tau = .01: .936 claimed, .902 true
    box = Robust(np.array([0.2]), np.array([0.8]), "tested", 0.01, 0.05)
    found = utility(box, perturbation("pm", 4.0), np.array([0.5]))
    assert (found.says, round(found.rho, 3), round(found.bound, 3)) == ("estimate", 0.936, 0.902)
    # a classifier that fails on the worst part: it has the bound's chance, below rho
    bad = Classifier(lambda p: (p[:, 0] >= 0.2) & (p[:, 0] <= 0.8) & (abs(p[:, 0] - 0.51) >= 0.003), 1)
    seen = simulate(Record(bad, np.array([0.5])), perturbation("pm", 4.0), 200_000, np.random.default_rng(3), 0.9999)
    assert seen.lower <= found.bound <= seen.upper < found.rho


def test_the_densest_part_of_a_box_in_three_dimensions_is_that_of_many_points() -> None:
    box = Robust(np.array([0.1, 0.3, 0.0]), np.array([0.6, 0.9, 1.0]), "tested", 0.02, 0.05)
    law, x = perturbation("pm", 2.0), np.array([0.3, 0.5, 0.9])
    rng = np.random.default_rng(1)
    points = box.lower + (box.upper - box.lower) * rng.random((400_000, 3))
    densities = np.sort(np.prod(law.mechanism.density(points, x), axis=1))[::-1]
    volume = float(np.prod(box.upper - box.lower))
    worst = float(densities[: int(0.02 * densities.size)].sum()) * volume / densities.size
    whole = float(np.prod(law.between(x, box.lower, box.upper)))
    assert utility(box, law, x).bound == pytest.approx(whole - worst, abs=2e-3)


CANCER_X, CANCER_Y = load_breast_cancer(return_X_y=True)
CANCER_X = (CANCER_X - CANCER_X.min(0)) / (CANCER_X.max(0) - CANCER_X.min(0))
MODELS = {
    "linear": LogisticRegression(max_iter=2000),
    "forest": RandomForestClassifier(20, random_state=0),
    "network": MLPClassifier((8,), max_iter=300, random_state=0, early_stopping=True),
}


@pytest.mark.parametrize("kind", MODELS)
def test_no_claimed_bound_is_above_the_simulated_interval(kind: str) -> None:
    # 99.9% intervals over 2 mechanisms, 2 eps, 6 records: some false positive in 1.2% of the seeds; this one is fixed
    classifier = of_estimator(MODELS[kind].fit(CANCER_X, CANCER_Y))
    rng = np.random.default_rng(4)
    for row in range(0, 60, 10):
        record = Record(classifier, CANCER_X[row], (0, 1))
        box = robust_box(record, rng, black_box=kind == "network")
        assert box.basis == ("tested" if kind == "network" else "proven")
        for name in ("pm", "laplace"):
            for epsilon in (1.0, 4.0):
                law = perturbation(name, epsilon)
                bound = utility(box, law, record.sent).bound
                assert bound <= simulate(record, law, 2000, rng, 0.999).upper


@pytest.mark.parametrize("kind", ["linear", "forest"])
def test_proven_boxes_keep_the_label_at_every_point_asked(kind: str) -> None:
    classifier = of_estimator(MODELS[kind].fit(CANCER_X, CANCER_Y))
    for row in (0, 25, 300):
        record = Record(classifier, CANCER_X[row], (0, 1, 2, 20))
        box = robust_box(record)
        corners = np.array(np.meshgrid(*zip(box.lower, box.upper, strict=True))).reshape(4, -1).T
        points = box.lower + (box.upper - box.lower) * np.random.default_rng(1).random((5000, 4))
        assert record.keeps(np.concatenate([corners, points])).all()


def test_no_face_of_a_proven_box_of_a_forest_can_be_moved() -> None:
    used = CANCER_X[:, [20, 27]]
    classifier = of_estimator(RandomForestClassifier(15, random_state=0).fit(used, CANCER_Y))
    moved = 0
    for row in range(0, 200, 20):
        record = Record(classifier, used[row])
        box = robust_box(record)
        grid = np.linspace(0, 1, 4001)
        for axis in range(2):
            for faces, step in ((box.upper, 2.0), (box.lower, -2.0)):
                if 0 < faces[axis] < 1:
                    points = np.tile(record.sent, (grid.size, 1))
                    other = 1 - axis
                    points[:, other] = box.lower[other] + grid * (box.upper[other] - box.lower[other])
                    points[:, axis] = np.nextafter(faces[axis], step)
                    beyond = record.keeps(points)
                    points[:, axis] = faces[axis]
                    assert record.keeps(points).all()
                    assert not beyond.all()
                    moved += 1
    assert moved >= 5


@pytest.mark.slow
def test_digits_of_forty_nine_pixels_get_a_tested_box_within_a_million_predictions() -> None:
    images, labels = load_digits(return_X_y=True)
    x = images.reshape(-1, 8, 8)[:, :7, :7].reshape(-1, 49) / 16
    model = MLPClassifier((16,), max_iter=400, random_state=0, early_stopping=True).fit(x, labels)
    record = Record(of_estimator(model), x[0])
    box = robust_box(record, np.random.default_rng(0))
    assert box.predictions < 1_000_000
    assert (box.lower <= record.sent).all()
    assert (record.sent <= box.upper).all()
    points = box.lower + (box.upper - box.lower) * np.random.default_rng(9).random((20_000, 49))
    assert (~record.keeps(points)).mean() <= 0.012  # tau plus two standard errors


def test_eight_tenths_take_eps_5_365_and_not_the_printed_5_2() -> None:
    box = Robust(np.array([0.2]), np.array([0.8]), "proven")
    found = smallest_epsilon(lambda eps: float(rho_curve("laplace", [eps], box, np.array([0.5]))[0]), 0.8)
    assert found.epsilon == pytest.approx(5.3648, abs=1e-4)
    assert found.reached >= 0.8 > found.reached_below
    assert rho_curve("laplace", [5.2], box, np.array([0.5]))[0] < 0.8
    assert [name for name, _ in ranked(["laplace", "k-rr", "pm"], 2.0, box, np.array([0.5]))] == [
        "pm",
        "k-rr",
        "laplace",
    ]


def test_a_target_out_of_reach_says_how_far_it_got() -> None:
    with pytest.raises(NoAnswer) as stopped:
        smallest_epsilon(lambda eps: 0.5, 0.8)
    assert stopped.value.lower == 0.5


def test_average_and_worst_are_over_the_records() -> None:
    records = [MIDDLE, Record(BAND, np.array([0.75]))]
    law, rng = perturbation("pm", 2.0), np.random.default_rng(2)
    average, worst = simulate_all(records, law, 20_000, rng, 0.9999)
    chances = [float(law.between(record.sent, 0.2, 0.8)[0]) for record in records]
    assert average.lower <= np.mean(chances) <= average.upper
    assert worst.lower <= min(chances) <= worst.upper
