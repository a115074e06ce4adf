"""The optimum with an epsilon for each pair, against an exact simplex, closed forms and known numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mechdesign_solvers import Highs, LinearProgram

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.exact.rational import exp_lower
from mechdesign.methods import load_design
from mechdesign.methods.pairwise import blocks, errors_up, program
from mechdesign.methods.pairwise.rivals import adversary_error, remapped, tables, truncated_geometric
from mechdesign.methods.registry import solve
from mechdesign.words.classes import InPlane
from mechdesign.words.criteria import Average, named_criterion
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric, Pairwise, irreducible, personal, sensitive
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.oracles.exact_simplex import ExactSimplex

INF = math.inf


def square(size: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(size) for j in range(size)]


def compact(epsilons: np.ndarray, losses: np.ndarray, prior: np.ndarray | None) -> LinearProgram:
    """The program with a row for every pair and output: nothing in common with blocks of cones."""
    inputs, outputs = losses.shape
    size = inputs * outputs
    rows, lows, highs = [], [], []
    for x in range(inputs):
        law = np.zeros(size + 1)
        law[x * outputs : (x + 1) * outputs] = 1
        rows, lows, highs = [*rows, law], [*lows, 1], [*highs, 1]
        if prior is None:
            error = np.zeros(size + 1)
            error[x * outputs : (x + 1) * outputs], error[-1] = -losses[x], 1
            rows, lows, highs = [*rows, error], [*lows, 0], [*highs, INF]
    for first, second in permutations(range(inputs), 2):
        if math.isfinite(epsilons[first, second]):
            for y in range(outputs):
                pair = np.zeros(size + 1)
                pair[first * outputs + y], pair[second * outputs + y] = -1, math.exp(epsilons[first, second])
                rows, lows, highs = [*rows, pair], [*lows, 0], [*highs, INF]
    cost = np.zeros(size + 1)
    if prior is None:
        cost[-1] = 1
    else:
        cost[:size] = (prior[:, None] * losses).ravel()
    return LinearProgram.of(cost, np.array(rows), row_lower=np.array(lows), row_upper=np.array(highs), lower=0)


def keeps_every_pair(table: np.ndarray, epsilons: np.ndarray) -> bool:
    """Every entry against every other of its column, as fractions."""
    rows = [[Fraction(entry) for entry in row] for row in table.tolist()]
    rows = [[entry / sum(row) for entry in row] for row in rows]
    for first, second in permutations(range(len(rows)), 2):
        if math.isfinite(epsilons[first, second]):
            most = exp_lower(Fraction(float(epsilons[first, second])))
            if any(a > most * b for a, b in zip(rows[first], rows[second], strict=True)):
                return False
    return True


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """At most five inputs and four outputs, asymmetric epsilons, some of them infinite."""
    inputs, outputs = draw(st.integers(2, 5)), draw(st.integers(2, 4))
    entry = st.one_of(st.floats(0.1, 3).map(lambda e: round(e, 3)), st.just(INF))
    epsilons = np.array(
        draw(st.lists(st.lists(entry, min_size=inputs, max_size=inputs), min_size=inputs, max_size=inputs))
    )
    np.fill_diagonal(epsilons, 0)
    loss = st.integers(0, 8)
    losses = np.array(
        draw(st.lists(st.lists(loss, min_size=outputs, max_size=outputs), min_size=inputs, max_size=inputs))
    )
    if draw(st.booleans()):
        return Problem(loss=losses / 4, privacy=Pairwise(epsilons))
    weights = np.array(draw(st.lists(st.integers(1, 9), min_size=inputs, max_size=inputs)), dtype=float)
    return Problem(loss=losses / 4, privacy=Pairwise(epsilons), criterion=Average(weights / weights.sum()))


@settings(max_examples=25)
@given(problems())
def test_random_problems_have_the_optimum_of_an_exact_simplex_between_their_bounds(problem: Problem) -> None:
    best = ExactSimplex().solve(compact(problem.privacy.epsilons, problem.table.up, problem.weights)).objective
    try:
        design = solve(problem, gap=1e-5)
    except NoAnswer as stopped:  # a loss of next to nothing has no relative gap
        assert best < 1e-6
        design = stopped.design
    certificate = design.certificate
    assert certificate.lower <= best + 1e-9
    assert best <= certificate.upper + 1e-9
    assert certificate.upper - certificate.lower <= 1.1e-5 * max(best, 0.2)
    assert keeps_every_pair(design.mechanism.probabilities, problem.privacy.epsilons)


NUMBERS = [
    (3, 0.5, 1.072984, 1.317368, 1.072984),
    (3, 1.0, 0.883940, 1.172223, 1.072984),
    (5, 0.5, 1.619532, 2.198867, 1.868670),
    (5, 1.0, 1.228677, 1.851375, 1.703571),
]


@pytest.mark.parametrize(("size", "eps", "optimum", "exponential", "remap"), NUMBERS)
def test_square_grids_have_the_optima_and_rivals_that_a_compact_program_found(
    size: int, eps: float, optimum: float, exponential: float, remap: float
) -> None:
    problem = Problem(loss=Distances(), privacy=Metric(square(size), eps), criterion=Average())
    certificate = solve(problem).certificate
    assert certificate.lower == pytest.approx(optimum, abs=1.1e-6)
    assert certificate.upper == pytest.approx(optimum, abs=1.1e-6)
    assert certificate.relative_gap <= 1e-6
    found = {name: float(problem.weights @ errors_up(table, problem)) for name, table in tables(problem).items()}
    assert found["exponential"] == pytest.approx(exponential, abs=6e-7)
    assert found["exponential, remapped"] == pytest.approx(remap, abs=6e-7)


@settings(max_examples=12)
@given(st.lists(st.integers(1, 20), min_size=2, max_size=7), st.floats(0.2, 2), st.sampled_from([1.0, 2.0]))
def test_a_remapped_geometric_mechanism_is_optimal_on_the_line(weights: list[int], eps: float, exponent: float) -> None:
    prior = np.array(weights) / sum(weights)
    problem = Problem(loss=Distances(exponent), privacy=Metric(range(len(weights)), eps), criterion=Average(prior))
    certificate = solve(problem, gap=1e-5).certificate
    table = remapped(truncated_geometric(len(weights), eps), problem)
    reference = float(prior @ (table * problem.table.up).sum(axis=1))
    assert certificate.lower <= reference * (1 + 1e-9)
    assert reference <= certificate.upper * (1 + 2e-5)


def least_of_remaps(rows: np.ndarray, losses: np.ndarray) -> float:
    """The least worst case of all randomised remaps of the reports, as a linear program with a row for each of them."""
    inputs, reports = rows.shape
    outputs = losses.shape[1]
    size = reports * outputs + 1
    laws, errors = np.zeros((reports, size)), np.zeros((inputs, size))
    for report in range(reports):
        at = slice(report * outputs, (report + 1) * outputs)
        laws[report, at] = 1
        errors[:, at] = -rows[:, [report]] * losses
    errors[:, -1] = 1
    cost = np.zeros(size)
    cost[-1] = 1
    low, high = np.concatenate([np.ones(reports), np.zeros(inputs)]), np.concatenate([np.ones(reports), [INF] * inputs])
    program = LinearProgram.of(cost, np.vstack([laws, errors]), row_lower=low, row_upper=high, lower=0)
    return float(Highs().solve(program).require_optimal().objective)


@pytest.mark.parametrize("exponent", [1.0, 2.0])
@pytest.mark.parametrize(("size", "eps"), [(2, 1.0), (3, 0.4), (5, 1.0), (6, 0.7), (8, 1.5)])
def test_a_remapped_geometric_mechanism_is_optimal_for_the_worst_case_too(
    size: int, eps: float, exponent: float
) -> None:
    """Gupte and Sundararajan: each who minds a worst case gets the least from geometric noise, by a random remap."""
    problem = Problem(loss=Distances(exponent), privacy=Metric(range(size), eps))
    certificate = solve(problem, gap=1e-5).certificate
    reference = least_of_remaps(truncated_geometric(size, eps), problem.table.up)
    assert certificate.lower <= reference * (1 + 1e-6)
    assert reference <= certificate.upper * (1 + 1e-6)


@pytest.mark.parametrize("criterion", ["worst", "prior"])
@pytest.mark.parametrize("eps", [0.5, 2.0])
def test_one_epsilon_for_all_pairs_gives_what_the_finite_design_gives(criterion: str, eps: float) -> None:
    losses = np.array([[0, 1, 3, 2], [1, 0, 1, 2], [3, 1, 0, 1.5]])
    pairs = Pairwise(eps * (1 - np.eye(3)))
    ours = solve(Problem(loss=losses, privacy=pairs, criterion=named_criterion(criterion))).certificate
    theirs = solve(Problem(loss=losses, privacy=Pure(eps), criterion=named_criterion(criterion))).certificate
    assert ours.lower <= theirs.upper
    assert theirs.lower <= ours.upper
    assert ours.relative_gap <= 1e-6


@pytest.mark.parametrize(("there", "back"), [(0.5, 0.5), (1.0, 2.0), (0.2, 3.0)])
def test_two_inputs_have_the_optimum_that_is_known_in_closed_form(there: float, back: float) -> None:
    """With ``a = q(0|0)`` and ``b = q(0|1)``: a <= e^there b and 1 - b <= e^back (1 - a) meet where both bind."""
    up, down = math.exp(there), math.exp(back)
    b = (down - 1) / (up * down - 1)
    a = up * b
    pairs = Pairwise([[0, there], [back, 0]])
    certificate = solve(Problem(loss=1 - np.eye(2), privacy=pairs, criterion=Average())).certificate
    assert certificate.lower <= 0.5 * (1 - a + b) + 1e-12
    assert 0.5 * (1 - a + b) <= certificate.upper + 1e-12


def test_constraints_that_a_solver_leaves_broken_are_kept_by_every_pair() -> None:
    """Six numbers at eps = .5 a unit: a convex program breaks 7 of its 120 entries by rounding."""
    design = solve(Problem(loss=Distances(), privacy=Metric(range(6), 0.5), criterion=Average()))
    assert keeps_every_pair(design.mechanism.probabilities, design.problem.privacy.epsilons)
    assert design.certificate.upper == pytest.approx(1.060537, abs=1e-6)


def test_irreducible_pairs_of_grids_are_those_without_a_point_between() -> None:
    counts = [len(irreducible(Metric(square(size), 1.0))[0]) for size in (3, 5)]
    assert counts == [56, 400]


def test_blocks_around_outputs_bound_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(loss=Distances(), privacy=Metric(square(6), 1.0), criterion=Average())
    exact = solve(problem, gap=0.02).certificate
    monkeypatch.setattr(blocks, "MOST_WHOLE", 8)
    monkeypatch.setattr(blocks, "_EFFORT", (20, 16, 1e-9))
    design = solve(problem, gap=0.02)
    assert design.certificate.lower <= exact.upper
    assert exact.lower <= design.certificate.upper
    assert design.certificate.relative_gap <= 0.02
    monkeypatch.setattr(blocks, "_EFFORT", (20, 16, 0.02))  # inputs far away are left out of blocks
    rough = solve(problem, gap=0.1)
    assert rough.certificate.lower <= exact.upper
    assert exact.lower <= rough.certificate.upper


def test_blocks_around_outputs_bound_the_same_worst_case(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(loss=Distances(), privacy=Metric(square(6), 1.5))
    exact = solve(problem, gap=0.05).certificate
    monkeypatch.setattr(blocks, "MOST_WHOLE_WORST", 8)
    monkeypatch.setattr(blocks, "_EFFORT", (20, 16, 1e-9))
    design = solve(problem, gap=0.05)
    assert design.certificate.lower <= exact.upper
    assert exact.lower <= design.certificate.upper
    assert design.certificate.relative_gap <= 0.05
    assert design.certificate.upper > exact.upper  # blocks with all inputs would have found the same
    assert keeps_every_pair(design.mechanism.probabilities, problem.privacy.epsilons)


def test_flows_of_left_out_inputs_are_on_pairs_of_the_problem() -> None:
    problem = Problem(loss=Distances(), privacy=Metric(square(4), 1.0), criterion=Average())
    window = program.windows(problem.table.up, 6)
    first, second = program.near_pairs(problem, 8)
    blocks = program.windowed_program(problem, problem.table.up, window, first, second, 1e-9)
    assert blocks.far is None
    assert (blocks.share <= 1).all()
    assert blocks.block.max() == problem.table.width - 1


def test_a_saved_design_is_the_same_and_proven_again(tmp_path: object) -> None:
    design = solve(Problem(loss=1 - np.eye(4), privacy=sensitive(4, [0, 1], 1.0), criterion=Average()), gap=1e-5)
    assert load_design(design.save(f"{tmp_path}/d.json")) == design


def test_personal_budgets_hide_the_careful_more_than_the_careless() -> None:
    design = solve(Problem(loss=1 - np.eye(3), privacy=personal([0.5, 2.0, 2.0]), criterion=Average()), gap=1e-5)
    wrong = 1 - np.diagonal(design.mechanism.probabilities)
    assert wrong[0] > wrong[1]


def test_what_is_left_to_an_adversary_is_what_a_remap_leaves() -> None:
    problem = Problem(loss=Distances(), privacy=Metric(square(3), 1.0), criterion=Average())
    table = tables(problem)["exponential"].probabilities
    again = float(problem.weights @ (remapped(table, problem) * problem.table.up).sum(axis=1))
    assert adversary_error(table, problem) == pytest.approx(again)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda: Problem(loss=np.eye(3), privacy=Pairwise([[0, 1], [1, 0]]), criterion=Average()),
            "row for each of the 2",
        ),
        (
            lambda: Problem(loss=Distances(), privacy=Pairwise([[0, 1], [1, 0]]), criterion=Average()),
            "there are no places",
        ),
        (
            lambda: Problem(loss=Distances(), privacy=Metric([0, 1], 1.0), criterion=Average(), among=InPlane()),
            "points of the plane",
        ),
        (lambda: Problem(loss=Distances(3.0), privacy=Metric([0, 1], 1.0), criterion=Average()), "be 1 or 2"),
        (
            lambda: Problem(loss=Distances(), privacy=Metric([0, 1], 1.0), criterion=named_criterion("median")),
            "be one of worst, prior, lexicographic",
        ),
        (lambda: named_criterion("worst", [0.5, 0.5]), "left out for the worst"),
        (
            lambda: Problem(loss=Distances(), privacy=Metric([0, 1], 1.0), criterion=Average([1.0])),
            "one weight for each of the 2",
        ),
        (
            lambda: Problem(loss=np.eye(2), privacy=1.0, criterion=Average()),
            "one epsilon for all inputs is privacy.Pure",
        ),
        (
            lambda: solve(Problem(loss=Distances(), privacy=Metric(square(25), 1.0))),
            "at most 600 with criterion worst .*answered with criterion=Average",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_with_the_next_step(change: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        change()  # type: ignore[operator]


def test_a_time_limit_leaves_bounds_and_a_private_design() -> None:
    problem = Problem(loss=Distances(), privacy=Metric(square(5), 1.0), criterion=Average())
    with pytest.raises(NoAnswer) as stopped:
        solve(problem, 1e-6)
    assert stopped.value.lower <= 1.228677 <= stopped.value.upper
    assert keeps_every_pair(stopped.value.design.mechanism.probabilities, problem.privacy.epsilons)


def test_progress_hears_bounds_that_come_together() -> None:
    heard: list[tuple[float, float]] = []
    solve(
        Problem(loss=Distances(), privacy=Metric(square(3), 1.0), criterion=Average()),
        say=lambda *ends: heard.append(ends),
    )
    assert all(b[1] - b[0] < a[1] - a[0] for a, b in pairwise(heard[-3:]))


@pytest.mark.parametrize(
    "problem",
    [
        Problem(loss=1 - np.eye(2), privacy=Pairwise([[0.0, INF], [INF, 0.0]]), criterion=Average()),
        Problem(loss=Distances(), privacy=Metric([0, 1e5], 1.0)),
        Problem(loss=np.zeros((2, 3)), privacy=Pairwise([[0.0, 1.0], [1.0, 0.0]]), criterion=Average()),
        Problem(loss=[[0.0, 1.0]], privacy=Pairwise([[0.0]]), criterion=Average()),
    ],
)
def test_where_nothing_need_be_lost_the_bounds_are_next_to_nothing(problem: Problem) -> None:
    certificate = solve(problem).certificate
    assert certificate.lower == 0
    assert certificate.upper <= 1e-9 * max(float(problem.table.up.max()), 1e-300)


def test_bounds_hold_for_the_distances_themselves_not_for_their_doubles() -> None:
    """Epsilons that a mechanism must keep are rounded down, those that a bound allows are rounded up."""
    metric = Metric([(0.1, 0.2), (0.3, 0.7), (1 / 3, 0.9)], 0.7)
    off = ~np.eye(3, dtype=bool)
    places = [[Fraction(part) for part in place] for place in metric.points.tolist()]
    exact = [[sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) for q in places] for p in places]
    squares = Fraction(metric.per_unit) ** 2
    for i, j in zip(*np.nonzero(off), strict=True):
        assert Fraction(float(metric.epsilons[i, j])) ** 2 <= squares * exact[i][j]
        assert Fraction(float(metric.at_most[i, j])) ** 2 >= squares * exact[i][j]
