"""Exact regions of linear models and trees, against brute force and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.studies.classifiers import (
    Perturbation,
    Record,
    all_cells,
    decompose,
    exact_survival,
    of_estimator,
    perturbation,
    robust_box,
    simulate,
    structure,
)
from mechdesign.studies.classifiers.linear import LinearRegion
from mechdesign.studies.classifiers.trees import TreeRegion
from mechdesign.words.domains import Finite


def scaled(load) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[no-untyped-def]
    x, y = load(return_X_y=True)
    return (x - x.min(0)) / (x.max(0) - x.min(0)), y


WINE, CANCER = scaled(load_wine), scaled(load_breast_cancer)
TREES = [
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_leaf_nodes=9, random_state=1),
    RandomForestClassifier(12, random_state=0),
    ExtraTreesClassifier(8, random_state=0),
    GradientBoostingClassifier(n_estimators=8, random_state=0),
    HistGradientBoostingClassifier(max_iter=8),
]


def noise_on_a_grid(points: int, seed: int) -> Perturbation:
    """A mechanism with ``points`` outputs, all of whose atoms can be counted."""
    rng = np.random.default_rng(seed)
    domain = Finite(tuple(np.linspace(0, 1, points).tolist()))
    rows = rng.dirichlet(np.ones(points), points)
    return Perturbation("grid", Discrete(1.0, domain, domain, rows))


@pytest.mark.parametrize("model", TREES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("data", [WINE, CANCER], ids=["wine", "cancer"])
def test_tree_regions_in_two_dimensions_are_brute_force(model, data) -> None:  # type: ignore[no-untyped-def]
    x, y = data
    fitted = type(model)(**model.get_params()).fit(x[:, :6], y)
    law, points = noise_on_a_grid(31, 4), np.linspace(0, 1, 31)
    grid = np.array(list(itertools.product(points, points)))
    for row in (3, 70, 120):
        record = Record(of_estimator(fitted), x[row, :6], (0, 4))
        first, second = law.atoms(record.sent[0]), law.atoms(record.sent[1])
        weights = np.outer(first[1], second[1]).ravel()  # type: ignore[index]
        truth = float(weights[record.keeps(grid)].sum())
        found = exact_survival(record, law)
        assert found.lower <= truth + 1e-12
        assert truth <= found.upper + 1e-12
        assert found.width < 1e-8


def test_reports_exactly_on_a_threshold_go_where_the_tree_sends_them() -> None:
    x, y = CANCER
    used = x[:, [20, 22, 23, 27]]
    record = Record(of_estimator(RandomForestClassifier(10, random_state=3).fit(used, y)), used[40], (0, 3))
    region = structure(record)
    assert isinstance(region, TreeRegion)
    cells = decompose(region)
    assert cells.is_exact
    edges = [region.thresholds(k) for k in range(2)]
    at = np.array(list(itertools.product(*(np.concatenate([e, np.nextafter(e, 2)])[::2] for e in edges))))
    low, high = cells.kept
    inside = ((at[:, None] > low) & (at[:, None] <= high)).all(axis=2).any(axis=1)
    assert (inside == record.keeps(at)).all()
    assert 0 < inside.sum() < inside.size


def test_what_is_not_decided_within_the_limit_is_an_enclosure_of_the_truth() -> None:
    x, y = CANCER
    record = Record(of_estimator(RandomForestClassifier(20, random_state=0).fit(x[:, :8], y)), x[5, :8])
    law = perturbation("pm", 2.0)
    short, longer = exact_survival(record, law, most=300), exact_survival(record, law, most=20_000)
    assert short.lower <= longer.lower + 1e-12
    assert longer.upper <= short.upper + 1e-12
    assert short.width > longer.width
    # 5 standard errors around 20000 reports: false positives 6e-7
    seen = simulate(record, law, 20_000, np.random.default_rng(2)).share
    assert longer.lower - 0.018 < seen < longer.upper + 0.018


@pytest.mark.parametrize("scaler", [None, StandardScaler(), MinMaxScaler()])
def test_linear_regions_in_two_dimensions_are_brute_force(scaler) -> None:  # type: ignore[no-untyped-def]
    for x, y in (WINE, CANCER):
        model = LogisticRegression(max_iter=3000)
        fitted = (model if scaler is None else make_pipeline(scaler, model)).fit(x, y)
        record = Record(of_estimator(fitted), x[10], (0, 3))
        assert isinstance(structure(record), LinearRegion)
        law, points = noise_on_a_grid(41, 6), np.linspace(0, 1, 41)
        grid = np.array(list(itertools.product(points, points)))
        weights = np.outer(law.atoms(record.sent[0])[1], law.atoms(record.sent[1])[1]).ravel()  # type: ignore[index]
        found = exact_survival(record, law)
        assert found.lower - 1e-12 <= float(weights[record.keeps(grid)].sum()) <= found.upper + 1e-12
        assert found.width < 1e-11


@pytest.mark.parametrize("name", ["pm", "laplace", "laplace-raw", "k-rr", "certified"])
def test_linear_enclosures_hold_the_integral_over_one_coordinate(name: str) -> None:
    # Pr[w1 Y1 + w2 Y2 + b > 0] = sum over slices of Y1 of Pr[Y2 beyond the line]: a fine independent sum
    region, law, x = (
        LinearRegion(np.array([[1.0, -0.7]]), np.array([-0.1])),
        perturbation(name, 1.5),
        np.array([0.4, 0.3]),
    )
    edges = np.concatenate([[-np.inf], np.linspace(-8, 9, 60_001), [np.inf]])
    slices = np.diff(law.cdf(edges, x[0]))
    centres = np.concatenate([[-8], (edges[1:-2] + edges[2:-1]) / 2, [9]])
    integral = float((slices * law.cdf((centres - 0.1) / 0.7, x[1])).sum())
    found = region.survival(law, x)
    assert found.lower - 2e-3 < integral < found.upper + 2e-3
    assert found.width < {"certified": 3e-2, "laplace-raw": 1e-2}.get(name, 2e-3)


def test_many_coordinates_and_labels_are_enclosed() -> None:
    x, y = WINE
    record = Record(of_estimator(LogisticRegression(max_iter=3000).fit(x, y)), x[100])
    for name in ("pm", "laplace"):
        law = perturbation(name, 3.0)
        found, seen = exact_survival(record, law), simulate(record, law, 4000, np.random.default_rng(8), 0.9999)
        assert found.lower <= seen.upper
        assert seen.lower <= found.upper


def test_boosting_that_starts_from_another_classifier_is_not_taken_for_trees_alone() -> None:
    x, y = CANCER
    first = LogisticRegression(max_iter=3000)
    fitted = GradientBoostingClassifier(n_estimators=3, init=first, random_state=0).fit(x[:, :3], y)
    assert structure(Record(of_estimator(fitted), x[4, :3])) is None


def test_a_classifier_of_unknown_structure_is_told_to_simulate() -> None:
    from mechdesign.studies.classifiers import Classifier

    with pytest.raises(InvalidInput, match="simulate"):
        exact_survival(Record(Classifier(lambda p: p[:, 0] > 0.5, 1), np.array([0.2])), perturbation("pm", 1.0))


@pytest.mark.parametrize("name", ["pm", "laplace", "laplace-raw", "certified"])
@pytest.mark.parametrize("columns", [(0,), (0, 6)], ids=["one", "two"])
def test_three_labels_of_a_linear_model_are_enclosed_narrowly_around_a_sum_over_a_grid(
    name: str, columns: tuple[int, ...]
) -> None:
    # labels that are lost to several others overlap: their sum alone was wider than a third
    x, y = WINE
    classifier, law = of_estimator(LogisticRegression().fit(x, y)), perturbation(name, 1.5)
    ends = (-6.0, 7.0) if name == "laplace-raw" else (0.0, 1.0)
    cuts = np.concatenate([[-np.inf], np.linspace(*ends, 501), [np.inf]])
    points = np.clip((cuts[:-1] + cuts[1:]) / 2, *ends)
    grid = np.array(list(itertools.product(points, repeat=len(columns))))
    for row in (10, 70, 120):
        record = Record(classifier, x[row], columns)
        found = exact_survival(record, law)
        chances = [law.above(value, cuts[:-1], cuts[1:]) for value in record.sent]
        weights = chances[0] if len(columns) == 1 else np.outer(*chances).ravel()
        assert found.width < 2e-4
        assert float(weights[record.keeps(grid)].sum()) == pytest.approx(found.lower, abs=2e-2)


@pytest.mark.parametrize("label", [0, 1])
def test_a_linear_model_whose_scores_no_report_changes_keeps_its_label_for_sure(label: int) -> None:
    # a regularised model can be constant with a tie of scores at 0, which was taken for a label that is lost
    x, y = CANCER
    model = LogisticRegression(max_iter=3000).fit(x, y)
    model.coef_[:], model.intercept_[:] = 0.0, 0.0
    model.classes_ = model.classes_[:: 1 if label else -1]
    record = Record(of_estimator(model), x[0], (0, 1))
    assert exact_survival(record, perturbation("pm", 1.0)).lower == 1.0
    box = robust_box(record)
    assert (box.lower.tolist(), box.upper.tolist(), box.basis) == ([0, 0], [1, 1], "proven")


def test_a_ridge_classifier_of_two_labels_is_read() -> None:
    x, y = CANCER
    record = Record(of_estimator(RidgeClassifier().fit(x, y)), x[20], (0, 20))
    law = perturbation("pm", 2.0)
    found, seen = exact_survival(record, law), simulate(record, law, 20_000, np.random.default_rng(8), 0.9999)
    assert seen.lower <= found.upper
    assert found.lower <= seen.upper
    assert found.width < 2e-4


def test_cells_of_a_forest_found_once_give_every_mechanism_its_chance() -> None:
    x, y = CANCER
    record = Record(of_estimator(RandomForestClassifier(12, random_state=0).fit(x[:, :6], y)), x[70, :6], (0, 4))
    cells = all_cells(record)
    assert cells is not None
    for name in ("pm", "laplace", "k-rr"):
        law = perturbation(name, 2.0)
        found, again = exact_survival(record, law), cells.survival(law, record.sent)
        assert again.width < 1e-11
        assert found.lower <= again.upper
        assert again.lower <= found.upper
