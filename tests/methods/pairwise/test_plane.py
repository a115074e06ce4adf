"""Reports anywhere in the plane: bounds hold for every output there is, and gaps are what was asked."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mechdesign_solvers import Highs

from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.exact.tiling import corner_losses, corners, tiles
from mechdesign.methods import load_design
from mechdesign.methods.pairwise import PlaneBound, blocks, errors_up, plane_search
from mechdesign.methods.pairwise.few_flows import few_flows
from mechdesign.methods.pairwise.plane_proof import MOST_LOSSES
from mechdesign.methods.pairwise.rivals import tables
from mechdesign.methods.registry import solve
from mechdesign.methods.result import Design
from mechdesign.values.declare import evolved
from mechdesign.words.classes import All, InPlane
from mechdesign.words.criteria import Average, named_criterion
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric
from mechdesign.words.places import distances
from mechdesign.words.problem import Problem
from tests.methods.pairwise.test_search import compact, keeps_every_pair, square


def on_grid(problem: Problem, steps: int) -> float:
    """The optimum with reports on a fine grid of the box and at the inputs, by a program with a row for every pair."""
    points = problem.privacy.points
    axes = [np.linspace(low, high, steps) for low, high in zip(points.min(axis=0), points.max(axis=0), strict=True)]
    grid = np.concatenate([np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2), points])
    losses = distances(points, grid) ** problem.loss.exponent
    value = Highs().solve(compact(problem.privacy.epsilons, losses, problem.weights)).require_optimal().objective
    assert value is not None
    return float(value)


PLACE = st.tuples(st.integers(0, 12), st.integers(0, 12))


@st.composite
def small(draw: st.DrawFn) -> Problem:
    """Two to four places with coordinates in eighths, any prior or the worst case, both losses."""
    points = draw(st.lists(PLACE, min_size=2, max_size=4, unique=True))
    metric = Metric(np.array(points) / 8, draw(st.sampled_from([0.5, 1.0, 3.0])))
    losses = Distances(draw(st.sampled_from([1.0, 2.0])))
    if draw(st.booleans()):
        return Problem(loss=losses, privacy=metric, among=InPlane())
    weights = np.array(draw(st.lists(st.integers(1, 9), min_size=len(points), max_size=len(points))), dtype=float)
    return Problem(loss=losses, privacy=metric, criterion=Average(weights / weights.sum()), among=InPlane())


@settings(max_examples=20, deadline=None)
@given(small())
def test_no_fine_grid_of_outputs_is_better_than_the_bound_nor_much_better_than_the_design(
    problem: Problem,
) -> None:
    design = solve(problem, gap=0.02)
    certificate, best = design.certificate, on_grid(problem, 12)
    assert certificate.valid_for == "all mechanisms"
    assert certificate.relative_gap <= 0.02
    assert certificate.lower <= best * (1 + 1e-9)
    assert certificate.upper <= best / (1 - 0.02) * (1 + 1e-9)
    assert keeps_every_pair(design.mechanism.probabilities, problem.privacy.epsilons)


NUMBERS = [
    (3, 0.5, "prior", 1.0, 1.0390, 1.03954),
    (3, 1.0, "prior", 1.0, 0.8735, 0.87405),
    (3, 1.0, "prior", 2.0, 0.9734, 0.97390),
    (3, 1.0, "worst", 1.0, 0.8764, 0.87682),
]


@pytest.mark.parametrize(("size", "eps", "criterion", "exponent", "low", "high"), NUMBERS)
def test_square_grids_have_their_optimum_over_the_plane_to_a_thousandth(
    size: int, eps: float, criterion: str, exponent: float, low: float, high: float
) -> None:
    problem = Problem(
        loss=Distances(exponent),
        privacy=Metric(square(size), eps),
        criterion=named_criterion(criterion),
        among=InPlane(),
    )
    certificate = solve(problem, 120, gap=1e-3).certificate
    assert certificate.relative_gap <= 1e-3
    assert low <= certificate.upper <= high * (1 + 1e-3)
    assert certificate.lower <= high
    grid = solve(
        Problem(loss=Distances(exponent), privacy=problem.privacy, criterion=named_criterion(criterion))
    ).certificate
    assert certificate.upper < grid.lower


@pytest.fixture(scope="module")
def triangle() -> Design:
    problem = Problem(
        loss=Distances(),
        privacy=Metric([(0, 0), (2, 0), (0.5, 1)], 1.0),
        criterion=Average([0.5, 0.25, 0.25]),
        among=InPlane(),
    )
    return solve(problem, gap=0.05)


def test_laws_with_reports_anywhere_even_outside_the_box_lose_no_less_than_the_bound(triangle: Design) -> None:
    rng = np.random.default_rng(5)
    problem = triangle.problem
    for _ in range(200):
        places = rng.normal(0.8, 1.5, (int(rng.integers(1, 9)), 2))
        tilt = rng.dirichlet(np.ones(len(places))) * np.exp(-distances(problem.privacy.points, places) / 2)
        law = tilt / tilt.sum(axis=1, keepdims=True)
        lost = float(problem.weights @ (law * distances(problem.privacy.points, places)).sum(axis=1))
        assert triangle.certificate.lower <= lost


def test_any_flows_on_any_cuts_prove_something_true(triangle: Design) -> None:
    """Evidence made up at random never says more than the mechanism attains."""
    rng = np.random.default_rng(6)
    bounds = []
    for _ in range(60):
        axes, cuts = np.array([0, 2, 1, 2, 2.0]), np.array([rng.uniform(0.1, 1.9), rng.uniform(0.1, 0.9)])
        count = int(rng.integers(0, 40))
        pairs = np.array([rng.permutation(3)[:2] for _ in range(count)], dtype=float).reshape(-1, 2)
        columns = rng.integers(0, 7, count).astype(float), *pairs.T, rng.exponential(0.05, count)
        bounds.append(float(PlaneBound([], axes, cuts, *columns).value(triangle.problem)))
    assert max(bounds) <= triangle.certificate.upper


def changed(evidence: PlaneBound, **changes: object) -> PlaneBound:
    return evolved(evidence, **changes)


FORGED = {
    "a part that is missing": lambda e: changed(e, axes=e.axes[:-1]),
    "a part too many": lambda e: changed(e, axes=np.append(e.axes, 2.0)),
    "nothing covered": lambda e: changed(e, axes=[], cuts=[]),
    "a cut outside": lambda e: changed(e, cuts=np.append(99.0, e.cuts[1:])),
    "a cut on the edge": lambda e: changed(e, cuts=np.append(0.0, e.cuts[1:])),
    "a cut too few": lambda e: changed(e, cuts=e.cuts[1:]),
    "an axis there is not": lambda e: changed(e, axes=np.append(4.0, e.axes[1:])),
    "a negative flow": lambda e: changed(e, amounts=-e.amounts),
    "a corner there is not": lambda e: changed(e, outputs=e.outputs + 10_000),
    "a corner before the first": lambda e: changed(e, outputs=e.outputs - 1000),
    "half a corner": lambda e: changed(e, outputs=e.outputs + 0.5),
    "a flow to itself": lambda e: changed(e, firsts=e.seconds),
    "flows without amounts": lambda e: changed(e, amounts=e.amounts[1:]),
    "weights of its own": lambda e: changed(e, weights=[0.5, 0.25, 0.25]),
    "more than designs hold": lambda e: changed(e, axes=np.full(MOST_LOSSES, 2.0)),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_evidence_is_refused(triangle: Design, name: str) -> None:
    with pytest.raises(CheckFailed):
        evolved(triangle, evidence=FORGED[name](triangle.evidence))


def test_rectangles_prove_nothing_where_outputs_are_given(triangle: Design) -> None:
    problem = evolved(triangle.problem, among=All())
    with pytest.raises(CheckFailed, match="any place of the plane"):
        triangle.evidence.value(problem)


def test_the_bound_is_that_of_the_corners_and_their_tangents(triangle: Design) -> None:
    """Again in fractions of doubles, without the package's integers: nothing but weak duality."""
    evidence, problem = triangle.evidence, triangle.problem
    points = problem.privacy.points
    parts = tiles(points, evidence.axes, evidence.cuts)
    left = problem.weights[:, None] * corner_losses(points, parts, 1.0)
    assert left.shape[1] == len(corners(parts)[0])
    for y, x, to, amount in zip(evidence.outputs, evidence.firsts, evidence.seconds, evidence.amounts, strict=True):
        left[int(x), int(y)] += amount
        left[int(to), int(y)] -= amount * math.exp(math.dist(points[int(x)], points[int(to)]))
    assert triangle.certificate.lower == pytest.approx(left.min(axis=1).sum(), rel=1e-9)
    assert evidence.value(problem) <= Fraction(left.min(axis=1).sum()) * (1 + Fraction(1, 10**9))


def test_a_design_says_where_it_reports_and_comes_back_from_its_file(triangle: Design, tmp_path: object) -> None:
    assert load_design(triangle.save(f"{tmp_path}/d.json")) == triangle
    assert triangle.problem.among.places.shape == (triangle.problem.table.width, 2)
    law, places = triangle.mechanism.probabilities, triangle.problem.table.places
    lost = distances(triangle.problem.privacy.points, places[[int(k) for k in triangle.mechanism.outputs.points]])
    assert float(triangle.problem.weights @ (law * lost).sum(axis=1)) == pytest.approx(triangle.certificate.upper)


def test_rivals_report_the_places_that_were_given(triangle: Design) -> None:
    published = triangle.problem.as_published
    found = tables(published)
    assert found.keys() == {"exponential", "exponential, remapped"}
    for table in found.values():
        assert len(table.outputs) <= 3
        assert float(published.weights @ errors_up(table, published)) >= triangle.certificate.lower


@pytest.mark.parametrize(
    ("points", "upper"),
    [([(1, 1)], 0.0), ([(0, 0), (1e5, 0)], 1e-3), ([(0, 0), (0, 3), (0, 1)], None), ([(-2, 5), (1, 5)], None)],
)
def test_boxes_without_an_area_have_bounds_too(points: list[tuple[float, float]], upper: float | None) -> None:
    certificate = solve(
        Problem(loss=Distances(), privacy=Metric(points, 1.0), criterion=Average(), among=InPlane()), gap=0.01
    ).certificate
    if upper is not None:
        assert certificate.upper <= upper
    else:  # on a line reports at the inputs are as good as any
        given = solve(Problem(loss=Distances(), privacy=Metric(points, 1.0), criterion=Average())).certificate
        assert certificate.lower <= given.upper <= certificate.upper / (1 - 0.01)
        assert given.lower <= certificate.upper * (1 + 1e-9)


@pytest.mark.parametrize(("exponent", "criterion"), [(1.0, "prior"), (2.0, "prior"), (1.0, "worst")])
@pytest.mark.parametrize("rate", [1e-4, 0.02, 12.0])
def test_epsilons_next_to_nothing_and_next_to_none_are_answered(rate: float, exponent: float, criterion: str) -> None:
    problem = Problem(
        loss=Distances(exponent),
        privacy=Metric([(0, 0), (1, 0), (0, 1)], rate),
        criterion=named_criterion(criterion),
        among=InPlane(),
    )
    certificate, best = solve(problem, gap=0.02).certificate, on_grid(problem, 12)
    assert certificate.lower <= best + 1e-7
    assert certificate.upper - certificate.lower <= 0.02 * certificate.upper + 1e-9 * 2


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_flows_that_are_none_leave_evidence_all_the_same(exponent: float) -> None:
    """Pairs so far apart that vertices have no pair to flow on: with next to no loss bounds are those of nothing."""
    points = [(0, 0), (1, 0), (0.5, 0.8660254037844386)]
    certificate = solve(
        Problem(loss=Distances(exponent), privacy=Metric(points, 40.0), criterion=Average(), among=InPlane()), gap=0.005
    ).certificate
    assert certificate.lower <= certificate.upper <= 1e-9


def test_a_time_limit_leaves_bounds_and_a_private_design() -> None:
    problem = Problem(loss=Distances(), privacy=Metric(square(3), 1.0), criterion=Average(), among=InPlane())
    with pytest.raises(NoAnswer, match="time limit") as stopped:
        solve(problem, 1e-6)
    assert stopped.value.lower <= 0.87405
    assert stopped.value.upper >= 0.8735
    assert keeps_every_pair(stopped.value.design.mechanism.probabilities, problem.privacy.epsilons)


def test_rectangles_that_become_too_many_end_the_search_with_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plane_search, "_MOST_DOUBLES", 400_000)
    with pytest.raises(NoAnswer, match="rectangles were too many") as stopped:
        solve(Problem(loss=Distances(), privacy=Metric(square(3), 1.0), criterion=Average(), among=InPlane()), gap=1e-6)
    assert stopped.value.lower > 0.86


def test_progress_hears_bounds_that_come_together() -> None:
    heard: list[tuple[float, float]] = []
    problem = Problem(loss=Distances(), privacy=Metric(square(3), 1.0), criterion=Average(), among=InPlane())
    certificate = solve(problem, gap=0.01, say=lambda *ends: heard.append(ends)).certificate
    assert all(b[0] >= a[0] and b[1] <= a[1] for a, b in zip(heard, heard[1:], strict=False))
    assert heard[-1] == pytest.approx((certificate.lower, certificate.upper), rel=2e-3)


def test_few_flows_prove_nearly_the_same() -> None:
    problem = Problem(loss=Distances(), privacy=Metric(square(3), 1.0), criterion=Average())
    losses, weights = problem.table.down, problem.weights
    flows = blocks.solved(problem, losses, 1e-6, None).flows
    few = few_flows(problem, 1e-3, losses, weights, flows)
    assert len(few) <= 9 * 9 < len(flows)
    gone = blocks.proven(problem, losses, weights, flows) - blocks.proven(problem, losses, weights, few)
    assert gone <= 2e-4 * 0.883940


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: InPlane(places=[1.0, 2.0]), "two coordinates"),
        (lambda: InPlane(places=[(1.0, math.nan)]), "must be a number"),
        (lambda: Distances(3.0), "be 1 or 2"),
        (
            lambda: Problem(
                loss=Distances(output_labels=("a", "b")),
                privacy=Metric([(0, 0), (1, 1)], 1.0),
                criterion=Average(),
                among=InPlane(),
            ),
            "places to report are to be found",
        ),
        (
            lambda: Problem(
                loss=Distances(),
                privacy=Metric([(0, 0), (1, 1)], 1.0, "great circle"),
                criterion=Average(),
                among=InPlane(),
            ),
            "points of the plane",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_the_next_step(change: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        change()  # type: ignore[operator]


def test_places_to_begin_with_are_kept_where_they_are_best() -> None:
    metric = Metric([(0, 0), (1, 0)], 1.0)
    design = solve(
        Problem(loss=Distances(), privacy=metric, criterion=Average(), among=InPlane([(0, 0), (1, 0), (9, 9)])),
        gap=0.01,
    )
    assert design.certificate.upper == pytest.approx(1 / (1 + math.e), rel=0.01)
