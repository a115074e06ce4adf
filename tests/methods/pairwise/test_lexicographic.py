"""The least average next to the least worst case, with an epsilon for each pair: against an exact simplex."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mechdesign_solvers import LinearProgram

from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.methods import Design, load_design
from mechdesign.methods.pairwise import PairsBound, PairsLexicographicBound, errors_up
from mechdesign.methods.registry import solve
from mechdesign.values.declare import evolved
from mechdesign.words.classes import InPlane
from mechdesign.words.criteria import Average, Lexicographic, Worst
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric, Pairwise
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods.pairwise.test_search import compact, keeps_every_pair, square
from tests.oracles.exact_simplex import ExactSimplex

LOSSES = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [4.0, 2.0, 0.0]])
PAIRS = Pairwise([[0.0, 0.5, 2.0], [1.0, 0.0, 1.0], [2.0, 0.75, 0.0]])
PRIOR = np.array([0.5, 0.25, 0.25])


def capped(epsilons: np.ndarray, losses: np.ndarray, prior: np.ndarray, cap: float) -> LinearProgram:
    """The compact program of the average with a row for the loss of every input."""
    plain = compact(epsilons, losses, prior)
    inputs, outputs = losses.shape
    rows = np.zeros((inputs, plain.cost.size))
    for x in range(inputs):
        rows[x, x * outputs : (x + 1) * outputs] = losses[x]
    return LinearProgram.of(
        plain.cost,
        np.vstack([plain.matrix.toarray(), rows]),
        row_lower=np.concatenate([plain.row_lower, np.zeros(inputs)]),
        row_upper=np.concatenate([plain.row_upper, np.full(inputs, cap)]),
        lower=0,
    )


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """At most four inputs and three outputs, some of the epsilons infinite."""
    inputs, outputs = draw(st.integers(2, 4)), draw(st.integers(2, 3))
    entry = st.one_of(st.floats(0.1, 3).map(lambda e: round(e, 3)), st.just(math.inf))
    row = st.lists(entry, min_size=inputs, max_size=inputs)
    epsilons = np.array(draw(st.lists(row, min_size=inputs, max_size=inputs)))
    np.fill_diagonal(epsilons, 0)
    losses = st.lists(st.integers(0, 8), min_size=outputs, max_size=outputs)
    weights = np.array(draw(st.lists(st.integers(1, 9), min_size=inputs, max_size=inputs)), dtype=float)
    matrix = np.array(draw(st.lists(losses, min_size=inputs, max_size=inputs))) / 4
    slack = draw(st.sampled_from([0.01, 0.1, 0.5]))
    return Problem(
        loss=matrix, privacy=Pairwise(epsilons), criterion=Lexicographic(weights / weights.sum(), slack=slack)
    )


@settings(max_examples=25)
@given(problems())
def test_random_problems_have_the_optimum_of_an_exact_simplex_under_their_cap(problem: Problem) -> None:
    epsilons, losses, prior = problem.privacy.epsilons, problem.table.up, problem.weights
    least = ExactSimplex().solve(compact(epsilons, losses, None)).objective
    try:
        design = solve(problem, gap=1e-4)
    except NoAnswer:  # a loss of next to nothing has no relative slack
        design = None
    if design is None:
        assert least < 1e-6
        return
    cap = design.certificate.scope.cap
    assert cap <= (1 + problem.criterion.slack) * least * (1 + 1e-9)
    assert cap >= (1 + problem.criterion.slack) * least * (1 - 1e-4) - 1e-9
    best = ExactSimplex().solve(capped(epsilons, losses, prior, cap)).objective
    certificate = design.certificate
    assert certificate.lower <= best * (1 + 1e-9) + 1e-9
    assert best <= certificate.upper * (1 + 1e-9) + 1e-9
    assert certificate.upper - certificate.lower <= 1.1e-4 * max(best, 1e-5)
    assert errors_up(design.mechanism, problem).max() <= cap
    assert keeps_every_pair(design.mechanism.probabilities, epsilons)


@pytest.mark.parametrize("slack", [1e-3, 0.05])
def test_one_epsilon_for_all_pairs_gives_what_the_finite_design_gives(slack: float) -> None:
    pairs = Pairwise(1 - np.eye(3))
    ours = solve(Problem(loss=LOSSES, privacy=pairs, criterion=Lexicographic(PRIOR, slack=slack)), gap=1e-6).certificate
    theirs = solve(Problem(loss=LOSSES, privacy=Pure(1.0), criterion=Lexicographic(PRIOR, slack=slack))).certificate
    assert ours.scope.cap == pytest.approx(theirs.scope.cap, rel=1e-6)
    assert ours.lower <= theirs.upper * (1 + 1e-5)
    assert theirs.lower <= ours.upper * (1 + 1e-5)


@pytest.mark.parametrize("slack", [1e-3, 0.1, 5.0, 1e9])
@pytest.mark.parametrize("prior", [[0.0, 0.3, 0.7], [0.0, 0.0, 1.0], [1 / 3, 1 / 3, 1 / 3]])
def test_inputs_may_have_no_weight_and_caps_be_above_every_loss(prior: list[float], slack: float) -> None:
    metric = Metric([0.0, 1.0, 3.0], 0.5)
    found = solve(
        Problem(loss=Distances(), privacy=metric, criterion=Lexicographic(prior, slack=slack)), gap=1e-4
    ).certificate
    alone = solve(Problem(loss=Distances(), privacy=metric, criterion=Average(prior))).certificate
    assert found.upper >= alone.lower
    if slack >= 5:  # far more than can be used
        assert found.lower <= alone.upper + 1e-8


def test_it_lies_between_the_average_alone_and_the_worst_case_alone() -> None:
    """With no slack to speak of and with more than can be used."""
    average = solve(Problem(loss=LOSSES, privacy=PAIRS, criterion=Average(PRIOR))).certificate
    worst = solve(Problem(loss=LOSSES, privacy=PAIRS))
    ends = [
        solve(Problem(loss=LOSSES, privacy=PAIRS, criterion=Lexicographic(PRIOR, slack=slack)), gap=1e-5).certificate
        for slack in (1e-4, 1e-2, 9.0)
    ]
    assert ends[2].upper == pytest.approx(average.upper, rel=2e-5)
    assert ends[2].upper < ends[1].lower
    assert ends[1].upper < ends[0].lower
    assert ends[0].lower <= float(PRIOR @ errors_up(worst.mechanism, worst.problem)) * (1 + 1e-9)


def test_places_on_a_line_bound_all_mechanisms_and_the_words_say_the_cap() -> None:
    problem = Problem(loss=Distances(), privacy=Metric(range(4), 1.0), criterion=Lexicographic([0.4, 0.3, 0.2, 0.1]))
    certificate = solve(problem).certificate
    cap = certificate.scope.cap
    said = f"all mechanisms with worst case at most {cap!r}, at most 1.001 times the least"
    assert certificate.valid_for == said


def test_prices_are_paid_for_with_the_cap_as_it_is() -> None:
    """The bound is ``(what flows prove - cap * prices) / prior``: computed again from the parts of the evidence."""
    problem = Problem(loss=LOSSES, privacy=PAIRS, criterion=Lexicographic(PRIOR))
    evidence = solve(problem).evidence
    assert isinstance(evidence, PairsLexicographicBound)
    weights = [Fraction(part) for part in evidence.average.weights.tolist()]
    prior = [Fraction(part) for part in problem.weights.tolist()]
    assert all(w >= p for w, p in zip(weights, prior, strict=True))
    alone = evolved(problem, criterion=Worst())
    mean = evidence.average.value(alone)  # of a worst case: what flows prove, over the sum of the weights
    again = (mean * sum(weights) - Fraction(evidence.cap(problem)) * (sum(weights) - sum(prior))) / sum(prior)
    assert evidence.value(problem) == again
    assert evidence.cap(problem) == pytest.approx(1.001 * float(evidence.worst.value(alone)), rel=1e-12)


@pytest.fixture(scope="module")
def honest() -> Design:
    return solve(Problem(loss=LOSSES, privacy=PAIRS, criterion=Lexicographic(PRIOR)))


def test_prices_below_nothing_are_refused(honest: Design) -> None:
    evidence = honest.evidence
    cheap = evolved(evidence.average, weights=honest.problem.weights * (1 - 2.0**-40))
    with pytest.raises(CheckFailed, match="prices are at least 0"):
        Design(honest.problem, honest.mechanism, evolved(evidence, average=cheap), honest.report)


def test_a_mechanism_above_the_cap_is_refused(honest: Design) -> None:
    average = solve(Problem(loss=LOSSES, privacy=PAIRS, criterion=Average(PRIOR)))
    with pytest.raises(CheckFailed, match="above the cap"):
        Design(honest.problem, average.mechanism, honest.evidence, honest.report)


def test_evidence_of_one_criterion_proves_nothing_of_another(honest: Design) -> None:
    worst, plain = honest.evidence.worst, Problem(loss=LOSSES, privacy=PAIRS)
    with pytest.raises(CheckFailed, match="another criterion"):
        Design(honest.problem, honest.mechanism, worst, honest.report)
    with pytest.raises(CheckFailed, match="another criterion"):
        Design(plain, honest.mechanism, honest.evidence, honest.report)


@pytest.mark.parametrize("part", ["average", "worst"])
def test_flows_that_are_no_flows_are_refused(honest: Design, part: str) -> None:
    bound = getattr(honest.evidence, part)
    assert isinstance(bound, PairsBound)
    for forged in (
        evolved(bound, amounts=-bound.amounts),
        evolved(bound, outputs=bound.outputs + 3),
        evolved(bound, amounts=bound.amounts[:-1]),
        evolved(bound, weights=bound.weights[:-1]),
        evolved(bound, weights=0 * bound.weights),
    ):
        with pytest.raises(CheckFailed):
            Design(honest.problem, honest.mechanism, evolved(honest.evidence, **{part: forged}), honest.report)


def test_a_saved_design_is_the_same_and_proven_again(honest: Design, tmp_path: object) -> None:
    assert load_design(honest.save(f"{tmp_path}/d.json")) == honest


def test_a_grid_of_places_reaches_a_narrow_gap() -> None:
    prior = np.random.default_rng(1).dirichlet(np.ones(25))
    problem = Problem(loss=Distances(), privacy=Metric(square(5), 0.5), criterion=Lexicographic(prior))
    certificate = solve(problem, gap=1e-5).certificate
    assert certificate.relative_gap <= 1e-5
    assert certificate.scope.cap == pytest.approx(1.836760 * 1.001, rel=2e-6)


def test_a_time_limit_leaves_bounds_of_the_average() -> None:
    with pytest.raises(NoAnswer) as stopped:
        solve(Problem(loss=Distances(), privacy=Metric(square(5), 1.0), criterion=Lexicographic()), 1e-6)
    best = solve(Problem(loss=Distances(), privacy=Metric(square(5), 1.0), criterion=Lexicographic())).certificate
    assert stopped.value.lower <= best.lower
    assert best.upper <= stopped.value.upper


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            lambda: Problem(loss=LOSSES, privacy=PAIRS, criterion=Lexicographic(slack=1e-7)),
            "slack must be at least 1e-06",
        ),
        (lambda: Lexicographic(slack=math.nan), "slack"),
        (lambda: Lexicographic(slack=-1.0), "slack must be at least"),
        (
            lambda: Problem(loss=Distances(), privacy=Metric(square(15), 1.0), criterion=Lexicographic()),
            "be at most 200 with criterion lexicographic",
        ),
        (
            lambda: Problem(
                loss=Distances(), privacy=Metric(square(2), 1.0), criterion=Lexicographic(), among=InPlane()
            ),
            "where reports may be anywhere: take Worst or Average",
        ),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_next_step(asked: Callable[[], Problem], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        solve(asked())
