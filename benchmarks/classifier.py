"""Classifiers under perturbed inputs: rho over eps once the box is known, and a box of 49 coordinates by tests.

The yardstick of rho is what it replaces: 2000 simulated reports, labelled by the classifier. That of the box is
the black box's own time for as many predictions as were asked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.clock import Measured, measured, medians
from benchmarks.rows import Row, Target
from mechdesign.studies.classifiers import (
    Classifier,
    Record,
    Robust,
    exact_survival,
    of_estimator,
    perturbation,
    rho_curve,
    robust_box,
    simulate,
)

LEVELS = 1000


def rows() -> Iterator[Row]:
    yield from rho()
    yield box()
    yield exact()


def rho() -> Iterator[Row]:
    """Below 0.1 ms an eps."""
    inside = Classifier(lambda points: np.all(np.abs(points - 0.5) <= 0.3, axis=1), 2)
    record = Record(inside, np.array([0.5, 0.5]))
    known, rng = Robust(np.array([0.2, 0.2]), np.array([0.8, 0.8]), "proven"), np.random.default_rng(1)
    epsilons = np.linspace(0.5, 8, LEVELS)
    for name in ("pm", "laplace", "k-rr", "exponential", "gaussian"):
        law = perturbation(name, 2.0, 0.1)
        times = medians(
            {
                "theory": lambda name=name: rho_curve(name, epsilons, known, record.sent, 0.1),
                "simulation": lambda law=law: simulate(record, law, 2000, rng),
            },
            turns=5,
        )
        yield Row(
            f"rho, {name}, an eps", "2000 reports", times["theory"] / LEVELS, times["simulation"], Target(0.1, 1e-4)
        )


def box() -> Row:
    """49 coordinates, a two-layer network as black box: below 10 s at 10^5 predictions a second."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(49, 16)), rng.normal(size=(16, 10))
    asked = 0

    def predict(points: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += len(points)
        return (np.tanh((points - 0.5) @ first) @ second).argmax(axis=1)

    record = Record(Classifier(predict, 49), rng.random(49))
    taken = measured(lambda: robust_box(record, np.random.default_rng(1)))
    slow = Measured(asked / 1e5)  # what a box of that speed would take for its predictions alone
    target, note = Target(1.0, 10.0), f"{asked} predictions"
    return Row("box, 49 coordinates", "1e5 predictions/s", taken, slow, target, note)


def exact() -> Row:
    """A forest of 50 trees, two coordinates: the exact chance beside 2000 simulated reports."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    x, y = load_breast_cancer(return_X_y=True)
    x = (x - x.min(axis=0)) / np.ptp(x, axis=0)
    model = RandomForestClassifier(50, random_state=0).fit(x[:, [20, 27]], y)
    record, law = Record(of_estimator(model), x[40, [20, 27]]), perturbation("pm", 2.0)
    rng = np.random.default_rng(1)
    taken = measured(lambda: exact_survival(record, law))
    return Row(
        "exact chance, forest, 2 coordinates", "2000 reports", taken, measured(lambda: simulate(record, law, 2000, rng))
    )
