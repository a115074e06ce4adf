"""The heaviest box: beside all boxes of a grid, beside the box that grows in column order, and proven at its points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from mechdesign.errors import InvalidInput
from mechdesign.studies.classifiers import (
    BoxSearch,
    Perturbation,
    Record,
    exact_survival,
    given_box,
    of_estimator,
    perturbation,
    rectangle,
    robust_box,
    structure,
    utility,
)
from mechdesign.studies.classifiers.heaviest import Weight, heaviest_linear
from mechdesign.studies.classifiers.linear import LinearRegion
from mechdesign.studies.classifiers.robustness import PROVEN, ProvenTest

LAWS = [
    perturbation(*said) for said in (("pm", 2.0), ("sw", 1.0), ("laplace", 2.0), ("k-rr", 4.0), ("laplace-raw", 3.0))
]


def scaled(load) -> tuple[np.ndarray, np.ndarray]:
    x, y = load(return_X_y=True)
    return (x - x.min(axis=0)) / np.ptp(x, axis=0), y


WINE, IRIS = scaled(load_wine), scaled(load_iris)


def grown_in_column_order(record: Record):
    region = structure(record)
    return rectangle(ProvenTest(region), record.sent, 53 if isinstance(region, LinearRegion) else None)


def test_the_stroke_record_of_chapter_7_gets_the_whole_second_column() -> None:
    # a linear model with the room of the chapter's: [.6526, 1] x [0, 1] keeps the label, and hardly more
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), 2
    model.coef_, model.intercept_ = np.array([[1.0, -0.031]]), np.array([0.031 - 0.6526])
    record, law = Record(of_estimator(model), np.array([0.79, 0.48])), perturbation("pm", 2.0)
    grown, box = grown_in_column_order(record), robust_box(record, law=law)
    rho = utility(box, law, record.sent).rho
    assert utility(grown, law, record.sent).rho == pytest.approx(0.660, abs=2e-3)
    assert rho == pytest.approx(0.760, abs=1e-3)
    assert rho <= exact_survival(record, law).upper
    assert box.basis == PROVEN


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("weights", [(1.0, -0.03), (1.0, 0.8), (-0.4, 0.7)])
def test_a_linear_model_has_no_box_of_a_fine_grid_that_is_heavier(weights: tuple[float, float], law: Perturbation):
    x = np.array([0.55, 0.48])
    region = LinearRegion(np.array([weights]), np.array([0.2 - np.dot(weights, x)]))
    weight = Weight(x, law)
    box = heaviest_linear(region, weight, (x, x))
    assert region.is_kept(*box)
    # one face of each coordinate spends the margin: all places of the first, and what the second then has left
    first = np.linspace(0, 0.2, 4001)
    faces = x - np.stack([first, 0.2 - first], axis=1) / weights
    lower = np.where(np.array(weights) > 0, np.clip(faces, 0, 1), 0.0)
    upper = np.where(np.array(weights) > 0, 1.0, np.clip(faces, 0, 1))
    best = float(np.prod(weight.shares(lower, upper), axis=1).max())
    assert weight.of(box) >= best * (1 - 1e-3)


def tree_of(kind: str, columns: tuple[int, ...], row: int) -> Record:
    x, y = WINE
    models = {
        "forest": RandomForestClassifier(12, max_depth=4, random_state=0),
        "extra": ExtraTreesClassifier(8, max_depth=4, random_state=1),
    }
    return Record(of_estimator(models[kind].fit(x[:, list(columns)], y)), x[row, list(columns)])


@pytest.mark.parametrize(("kind", "row"), [("forest", 0), ("extra", 70), ("forest", 150)])
def test_a_forest_has_no_proven_box_that_is_heavier(kind: str, row: int) -> None:
    """All boxes whose faces lie on thresholds, each decided by asking the model in every cell of the grid."""
    record = tree_of(kind, (0, 6), row)
    region, x = structure(record), record.sent
    search = BoxSearch.of(record)
    ends = [np.unique(np.concatenate([[0.0, 1.0], region.thresholds(k)])) for k in range(2)]
    ends = [part[(part >= 0) & (part <= 1)] for part in ends]
    tops = np.array(np.meshgrid(*(part[1:] for part in ends), indexing="ij")).reshape(2, -1).T
    kept = record.keeps(tops).reshape(ends[0].size - 1, ends[1].size - 1)
    own = [int(np.searchsorted(part[1:], at)) for part, at in zip(ends, x, strict=True)]
    for law in LAWS:
        weight = Weight(x, law)
        best = 0.0
        rows = itertools.product(range(own[0] + 1), range(own[0], kept.shape[0]))
        for low, high in rows:
            free = kept[low : high + 1].all(axis=0)
            if not free[own[1]]:
                continue
            left = own[1] - int(np.argmin(np.append(free[own[1] :: -1], False))) + 1
            right = own[1] + int(np.argmin(np.append(free[own[1] :], False))) - 1
            faces = ((low, high, ends[0]), (left, right, ends[1]))
            lower = [0.0 if a == 0 else np.nextafter(part[a], 1) for a, _, part in faces]
            best = max(best, weight.of((np.array(lower), np.array([part[b + 1] for _, b, part in faces]))))
        box = search.box(law)
        assert weight.of((box.lower, box.upper)) == pytest.approx(best, rel=1e-12)
        assert ProvenTest(region)(box.lower, box.upper)


def records() -> list[Record]:
    wine = of_estimator(LogisticRegression(max_iter=2000).fit(*WINE))
    iris = of_estimator(LogisticRegression().fit(*IRIS))
    forest = of_estimator(RandomForestClassifier(10, random_state=0).fit(*IRIS))
    known = [Record(wine, WINE[0][row], (0, 6, 9)) for row in (0, 80, 160)]
    known += [Record(model, IRIS[0][row]) for model in (iris, forest) for row in (0, 60, 120)]
    return [*known, Record(wine, WINE[0][80])]


@pytest.mark.parametrize("record", records(), ids=lambda one: f"{one.classifier.name}-{len(one.columns)}")
def test_no_box_became_smaller_and_all_keep_the_label(record: Record) -> None:
    search, grown = BoxSearch.of(record), grown_in_column_order(record)
    rng = np.random.default_rng(1)
    for law in (None, *LAWS):
        weight, box = Weight(record.sent, law), search.box(law)
        assert weight.of((box.lower, box.upper)) >= weight.of((grown.lower, grown.upper))
        assert (box.lower <= record.sent).all()
        assert (record.sent <= box.upper).all()
        ends = np.where(rng.random((500, record.sent.size)) < 0.5, box.lower, box.upper)
        points = box.lower + (box.upper - box.lower) * rng.random((1500, record.sent.size))
        assert record.keeps(np.concatenate([ends, points])).all()


@pytest.mark.parametrize("record", records()[:3], ids=("first", "second", "third"))
def test_with_several_labels_no_box_of_ten_thousand_is_heavier(record: Record) -> None:
    """Boxes with faces drawn at random, each then as large as the margins allow: none is more than 1% heavier."""
    region, law, x = structure(record), perturbation("pm", 2.0), record.sent
    margins = region.weights @ x + region.bias
    rng = np.random.default_rng(3)
    out = rng.random((10_000, 2, x.size)) ** 3
    down, up = x * out[:, 0], (1 - x) * out[:, 1]
    spent = (down @ np.maximum(region.weights, 0).T + up @ np.maximum(-region.weights, 0).T) / margins
    most = 1 / spent.max(axis=1, keepdims=True)
    lower, upper = np.maximum(x - down * most, 0), np.minimum(x + up * most, 1)
    best = float(np.prod(law.between(x, lower, upper), axis=1).max())
    assert utility(robust_box(record, law=law), law, x).rho >= 0.99 * best


def test_tested_boxes_hold_more_reports_than_the_one_grown_from_the_ball() -> None:
    """One test in 20 may pass wrongly by design; here only that the choice by mass is made among boxes that passed."""
    x, y = IRIS
    network = of_estimator(MLPClassifier((4,), solver="lbfgs", max_iter=500, random_state=0).fit(x[:, 2:], y == 2))
    record, law = Record(network, x[140, 2:]), perturbation("laplace", 2.0)
    search = BoxSearch.of(record, np.random.default_rng(1), black_box=True)
    box, first = search.box(law), search.found[0]
    assert len(search.found) == 3
    assert box.basis == "tested"
    assert utility(box, law, record.sent).rho == max(utility(one, law, record.sent).rho for one in search.found)
    assert utility(box, law, record.sent).rho >= utility(first, law, record.sent).rho


def test_a_given_box_is_decided_not_believed() -> None:
    forest = tree_of("forest", (0, 6), 0)
    box = robust_box(forest)
    again = given_box(forest, box.lower, box.upper)
    assert (again.basis, again.tau) == (PROVEN, 0.0)
    with pytest.raises(InvalidInput, match="proven to keep the label of data row 1"):
        given_box(forest, np.zeros(2), np.ones(2))
    tested = given_box(forest, box.lower, box.upper, np.random.default_rng(1), black_box=True)
    assert (tested.basis, tested.tau, tested.omega) == ("tested", 0.01, 0.05)
    with pytest.raises(InvalidInput, match="pass the test"):
        given_box(forest, np.zeros(2), np.ones(2), np.random.default_rng(1), black_box=True)


@pytest.mark.parametrize(("lower", "upper"), [([0.9, 0.0], [0.1, 1.0]), ([0.0], [1.0]), ([-0.1, 0], [1, 1])])
def test_bounds_that_are_no_box_are_refused(lower: list[float], upper: list[float]) -> None:
    with pytest.raises(InvalidInput, match="LOWER"):
        given_box(tree_of("forest", (0, 6), 0), np.array(lower), np.array(upper))


def test_a_box_without_the_record_is_refused_without_its_value() -> None:
    record = tree_of("forest", (0, 6), 0)
    low = np.array([0.0, np.nextafter(record.sent[1], 1)])
    with pytest.raises(InvalidInput, match="hold the record in data row 1") as refused:
        given_box(record, low, np.ones(2))
    assert f"{record.sent[1]:.3f}" not in str(refused.value)
