"""The certified optimum of loss matrices, against closed forms, exact programs and its own bounds."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mechdesign_solvers import Highs, Infeasible, LinearProgram, SolverFailed, Unbounded

from mechdesign.errors import FileProblem, InvalidInput, NoAnswer
from mechdesign.exact.privacy import prove_privacy
from mechdesign.exact.rational import exp_lower, exp_upper, float_down, float_up
from mechdesign.methods import saved
from mechdesign.methods.finite import LexicographicBound, program, search
from mechdesign.methods.registry import solve
from mechdesign.values.declare import evolved
from mechdesign.words.classes import Onto
from mechdesign.words.criteria import Average, Lexicographic, OverInputs, Worst, named_criterion
from mechdesign.words.finite_losses import Matrix, euclidean
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.oracles.exact_simplex import ExactSimplex

LINE = euclidean(np.linspace(0, 1, 9))
GRID = [(a, b) for a in np.linspace(0, 1, 25) for b in np.linspace(0, 1, 25)]


def compact(losses: np.ndarray, ratio: float, prior: np.ndarray | None = None, cap: float = math.inf) -> LinearProgram:
    """The program with every ``q[x, y]`` and ``mu[y]`` as a variable: nothing in common with cutting planes."""
    inputs, outputs = losses.shape
    size = inputs * outputs
    columns = size + outputs + 1  # q, mu, t
    rows, lows, highs = [], [], []
    for x in range(inputs):
        law, error = np.zeros(columns), np.zeros(columns)
        law[x * outputs : (x + 1) * outputs] = 1
        error[x * outputs : (x + 1) * outputs], error[-1] = -losses[x], 1
        rows += [law, error]
        lows, highs = [*lows, 1, 0], [*highs, 1, math.inf]
        for y in range(outputs):
            above, below = np.zeros(columns), np.zeros(columns)
            above[x * outputs + y], above[size + y] = 1, -1
            below[x * outputs + y], below[size + y] = -1, ratio
            rows += [above, below]
            lows, highs = [*lows, 0, 0], [*highs, math.inf, math.inf]
    cost, upper = np.zeros(columns), np.full(columns, math.inf)
    if prior is None:
        cost[-1] = 1
    else:
        cost[:size] = (prior[:, None] * losses).ravel()
        upper[-1] = cap
    return LinearProgram.of(cost, np.array(rows), lows, highs, 0, upper)


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    inputs, outputs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    entry = st.integers(0, 6).map(lambda n: n / 4)
    return np.array(
        draw(st.lists(st.lists(entry, min_size=outputs, max_size=outputs), min_size=inputs, max_size=inputs))
    )


@settings(max_examples=40, deadline=None)
@given(matrices(), st.sampled_from([0.1, 0.5, 1.0, 3.0, 6.0]))
def test_the_worst_case_brackets_the_exact_program(losses: np.ndarray, epsilon: float) -> None:
    certificate = solve(Problem(loss=losses, privacy=Pure(epsilon))).certificate
    least, most = _exact_optima(losses, epsilon)
    assert Fraction(certificate.lower) <= most
    assert least <= Fraction(certificate.upper)
    assert certificate.upper - certificate.lower <= 1e-6 * certificate.upper


@settings(max_examples=40, deadline=None)
@given(matrices(), st.sampled_from([0.1, 0.5, 1.0, 3.0, 6.0]), st.data())
def test_the_average_brackets_the_exact_program(losses: np.ndarray, epsilon: float, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, 4), min_size=len(losses), max_size=len(losses)).filter(any))
    prior = np.array(counts, dtype=float)
    certificate = solve(Problem(loss=losses, privacy=Pure(epsilon), criterion=Average(prior / prior.sum()))).certificate
    least, most = (value / Fraction(prior.sum()) for value in _exact_optima(losses, epsilon, prior))
    slack = Fraction(1, 10**15)  # the prior divided by its sum is rounded
    assert Fraction(certificate.lower) <= most * (1 + slack)
    assert least * (1 - slack) <= Fraction(certificate.upper)
    assert certificate.upper - certificate.lower <= 1e-6 * certificate.upper


def _exact_optima(losses: np.ndarray, epsilon: float, prior: np.ndarray | None = None) -> tuple[Fraction, Fraction]:
    """Exact optima for a ratio just above and just below ``e^eps``."""
    ratios = float_up(exp_upper(epsilon)), float_down(exp_lower(epsilon))
    above, below = (ExactSimplex().solve_exactly(compact(losses, ratio, prior)).objective for ratio in ratios)
    assert above is not None
    assert below is not None
    return above, below


@pytest.mark.parametrize("seed", range(6))
def test_random_matrices_agree_with_the_compact_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    losses, epsilon = rng.random((9, 7)), float(rng.uniform(0.2, 5))
    prior = rng.dirichlet(np.ones(9))
    for criterion, weights in (("worst", None), ("prior", prior)):
        certificate = solve(
            Problem(loss=losses, privacy=Pure(epsilon), criterion=named_criterion(criterion, weights))
        ).certificate
        expected = Highs().solve(compact(losses, math.exp(epsilon), weights)).objective
        assert certificate.lower - 1e-8 <= expected <= certificate.upper + 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_the_capped_average_agrees_with_the_compact_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    losses, epsilon, prior = rng.random((6, 6)), float(rng.uniform(0.5, 4)), rng.dirichlet(np.ones(6))
    design = solve(Problem(loss=losses, privacy=Pure(epsilon), criterion=Lexicographic(prior, slack=0.02)))
    evidence = design.certificate.evidence
    assert isinstance(evidence, LexicographicBound)
    expected = Highs().solve(compact(losses, math.exp(epsilon), prior, evidence.cap(design.problem))).objective
    assert design.certificate.lower - 1e-7 <= expected <= design.certificate.upper + 1e-7


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0, 10.0, 14.0])
@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize("criterion", ["worst", "prior"])
def test_randomised_response_is_optimal_for_categories(epsilon: float, count: int, criterion: str) -> None:
    certificate = solve(
        Problem(loss=1 - np.eye(count), privacy=Pure(epsilon), criterion=named_criterion(criterion))
    ).certificate
    error = (count - 1) / (math.exp(epsilon) + count - 1)
    assert certificate.lower <= error * (1 + 1e-12)
    assert certificate.upper >= error * (1 - 1e-12)
    assert certificate.relative_gap <= 1e-6


def test_subset_selection_beats_randomised_response_on_bins() -> None:
    """Inputs are pairs of three outputs, and any member of the pair is right: c = 2, value 1/5 against 2/9.

    Randomised response on bins is optimal under a prior for losses that grow with a distance on a line. This loss does
    not: all three outputs with equal base masses 1/5 and both members of the pair at 2/5 are better than one, two or
    three bins, whose best value is ``2/3 / 3 = 2/9``.
    """
    losses = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    certificate = solve(Problem(loss=losses, privacy=Pure(math.log(2)), criterion=Average())).certificate
    bins = min((losses[:, :k].sum() + losses[:, :k].min(axis=1).sum()) / 3 / (2 + k - 1) for k in (1, 2, 3))
    assert bins == pytest.approx(2 / 9)
    assert certificate.lower == pytest.approx(0.2, abs=1e-9)
    assert certificate.upper == pytest.approx(0.2, abs=1e-9)


def test_the_shared_coarse_grid_has_its_known_value() -> None:
    """41 inputs and outputs on one grid at eps = 4: .0777740, below what is possible on the interval (.0780881)."""
    design = solve(Problem(loss=euclidean(np.linspace(0, 1, 41)), privacy=Pure(4.0)))
    assert design.certificate.upper == pytest.approx(0.0777740, abs=5e-8)
    assert design.certificate.valid_for == "all mechanisms with these outputs"


def test_hundreds_of_points_in_the_plane_are_certified() -> None:
    design = solve(Problem(loss=euclidean(GRID), privacy=Pure(2.0)))
    assert design.certificate.upper == pytest.approx(0.441562484, abs=1e-8)
    assert design.certificate.relative_gap <= 1e-6
    assert prove_privacy(design.mechanism, 2.0).holds


def test_losses_that_forbid_are_met_by_small_masses() -> None:
    losses = np.where(np.eye(4) > 0, 0.0, np.arange(4.0)[:, None] + 1)
    losses[0, 3] = 1e6
    certificate = solve(Problem(loss=losses, privacy=Pure(1.0))).certificate
    expected = Highs().solve(compact(losses, math.e)).objective
    assert certificate.lower - 1e-6 <= expected <= certificate.upper + 1e-6


@pytest.mark.parametrize("factor", [2.0**-40, 1e-6, 1e6, 2.0**40])
def test_losses_in_other_units_have_the_optimum_in_other_units(factor: float) -> None:
    plain, scaled = (solve(Problem(loss=LINE * k, privacy=Pure(1.0))).certificate for k in (1.0, factor))
    assert scaled.upper == pytest.approx(plain.upper * factor, rel=1e-6)


def test_a_useless_matrix_has_the_value_of_its_best_output() -> None:
    certificate = solve(Problem(loss=[[3.0, 2.0], [3.0, 2.0]], privacy=Pure(1.0))).certificate
    assert (certificate.lower, certificate.upper) == pytest.approx((2.0, 2.0))


def test_a_free_output_costs_nothing() -> None:
    certificate = solve(Problem(loss=[[3.0, 0.0], [1.0, 0.0]], privacy=Pure(1.0))).certificate
    assert (certificate.lower, certificate.upper) == (0.0, 0.0)


def test_one_input_needs_no_privacy() -> None:
    certificate = solve(Problem(loss=[[3.0, 1.0, 2.0]], privacy=Pure(1.0))).certificate
    assert certificate.upper == pytest.approx(1.0)


def test_outputs_left_out_keep_the_numbers_of_the_others() -> None:
    losses = np.array([[9.0, 0.0, 9.0, 1.0], [9.0, 1.0, 9.0, 0.0]])
    mechanism = solve(Problem(loss=losses, privacy=Pure(2.0))).mechanism
    assert mechanism.outputs.points == (1.0, 3.0)
    assert float(mechanism.mass(1.0, 0.0)) == pytest.approx(math.e**2 / (1 + math.e**2))


# -- the average at the least worst case ------------------------------------------------------------------------------


def test_the_lexicographic_design_is_between_the_two_optima() -> None:
    prior = np.linspace(1, 9, 9) / 45
    worst = solve(Problem(loss=LINE, privacy=Pure(1.5)))
    average = solve(Problem(loss=LINE, privacy=Pure(1.5), criterion=Average(prior)))
    design = solve(Problem(loss=LINE, privacy=Pure(1.5), criterion=Lexicographic(prior, slack=1e-5)))
    errors = _errors(design)
    assert errors.max() <= worst.certificate.upper * (1 + 2e-5)
    assert average.certificate.lower <= design.certificate.upper <= float(prior @ _errors(worst)) * (1 + 1e-9)


def test_more_slack_lowers_the_average() -> None:
    prior = np.linspace(1, 9, 9) / 45
    slacks = (1e-5, 0.01, 0.1, 10.0)
    designs = [
        solve(Problem(loss=LINE, privacy=Pure(1.5), criterion=Lexicographic(prior, slack=slack))) for slack in slacks
    ]
    values = [design.certificate.upper for design in designs]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[1] > values[2]
    free = solve(Problem(loss=LINE, privacy=Pure(1.5), criterion=Average(prior))).certificate
    assert values[-1] == pytest.approx(free.upper, rel=1e-5)


def _errors(design: Any) -> np.ndarray:
    mechanism = design.mechanism
    law = mechanism.probabilities / mechanism.probabilities.sum(axis=1, keepdims=True)
    return np.asarray((law * LINE[:, np.array(mechanism.outputs.points, dtype=int)]).sum(axis=1))


# -- limits and bad input ---------------------------------------------------------------------------------------------


def test_a_time_limit_gives_proven_bounds() -> None:
    losses = euclidean(GRID[::2])
    with pytest.raises(NoAnswer, match="time limit") as stopped:
        solve(Problem(loss=losses, privacy=Pure(6.0)), seconds=0.05)
    assert 0 <= stopped.value.lower < stopped.value.upper <= losses.max()


def test_a_time_limit_in_the_first_stage_gives_proven_bounds() -> None:
    losses = euclidean(GRID[::2])
    with pytest.raises(NoAnswer, match="time limit") as stopped:
        solve(Problem(loss=losses, privacy=Pure(6.0), criterion=Lexicographic(slack=1e-5)), seconds=0.05)
    assert 0 <= stopped.value.lower < stopped.value.upper
    assert stopped.value.upper <= losses.max(axis=0).min() * (1 + 2e-5)  # one output for all attains as much


def _uneven(seed: int) -> np.ndarray:
    """Losses that mix 1e-7 and 1e6."""
    random = np.random.default_rng(seed)
    shape = random.integers(2, 7, 2)
    return np.asarray(random.random(shape) * 10.0 ** random.choice([-7, 0, 6], shape))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("criterion", [Worst(), Average(), Lexicographic(slack=1e-9)], ids=lambda one: one.words)
def test_uneven_losses_at_large_epsilon_have_an_answer_or_proven_bounds(seed: int, criterion: OverInputs) -> None:
    losses = _uneven(seed)
    try:
        certificate = solve(Problem(loss=losses, privacy=Pure(16.0), criterion=criterion)).certificate
        lower, upper = certificate.lower, certificate.upper
    except NoAnswer as unknown:
        lower, upper = unknown.lower, unknown.upper
    assert losses.min() <= lower <= upper <= losses.max(axis=0).min() * (1 + 2e-9)


@pytest.mark.parametrize("failure", [Unbounded("HiGHS"), Infeasible("HiGHS"), SolverFailed("HiGHS", "")])
@pytest.mark.parametrize("criterion", ["worst", "prior", "lexicographic"])
def test_a_solver_that_fails_leaves_proven_bounds(
    failure: Exception, criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise failure

    optimum = solve(Problem(loss=LINE, privacy=Pure(1.5), criterion=named_criterion(criterion))).certificate
    monkeypatch.setattr(program._Program, "solve", fail)
    with pytest.raises(NoAnswer, match="lost its way") as stopped:
        solve(Problem(loss=LINE, privacy=Pure(1.5), criterion=named_criterion(criterion)))
    assert stopped.value.lower <= optimum.lower
    assert optimum.upper <= stopped.value.upper


def test_no_table_below_the_cap_leaves_proven_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    optimum = solve(Problem(loss=LINE, privacy=Pure(1.5), criterion=Lexicographic(slack=1e-5))).certificate
    worst = solve(Problem(loss=LINE, privacy=Pure(1.5))).certificate
    monkeypatch.setattr(search, "_MIXES", ())
    with pytest.raises(NoAnswer, match="cap") as stopped:
        solve(Problem(loss=LINE, privacy=Pure(1.5), criterion=Lexicographic(slack=1e-5)))
    assert stopped.value.lower <= optimum.upper
    assert stopped.value.lower == pytest.approx(optimum.lower, rel=1e-4)
    assert optimum.lower <= stopped.value.upper <= worst.upper * (1 + 3e-5)


BAD_MATRICES: dict[str, Any] = {
    "NaN": [[0.0, math.nan]],
    "infinite": [[0.0, math.inf]],
    "negative": [[0.0, -1.0]],
    "ragged": [[0.0, 1.0], [1.0]],
    "empty": [],
    "without columns": [[], []],
    "flat": [0.0, 1.0],
    "deep": [[[0.0]]],
    "text": [["a", "b"]],
    "complex": [[1j]],
    "truth values": [[True, False]],
    "masked": np.ma.array([[0.0, 1.0]], mask=[[False, True]]),
    "too large": np.zeros((1001, 1000)),
}


@pytest.mark.parametrize("name", BAD_MATRICES)
def test_a_bad_matrix_is_named(name: str) -> None:
    with pytest.raises(InvalidInput, match="loss matrix"):
        Problem(loss=BAD_MATRICES[name], privacy=Pure(1.0))


def test_a_bad_entry_is_located() -> None:
    with pytest.raises(InvalidInput, match=r"loss matrix\[1, 0\]"):
        Problem(loss=[[0.0, 1.0], [-2.0, 0.0]], privacy=Pure(1.0))


NONE = 1 - np.eye(2)
BAD_WORDS: dict[str, Callable[[], object]] = {
    "eps of nothing": lambda: Problem(loss=NONE, privacy=Pure(0.0)),
    "eps that is no number": lambda: Problem(loss=NONE, privacy=Pure(math.nan)),
    "eps without a method": lambda: solve(Problem(loss=[[0, 2], [1, 0]], privacy=Pure(17.0))),
    "no such criterion": lambda: named_criterion("best"),
    "a criterion that is none": lambda: Problem(loss=NONE, privacy=Pure(1.0), criterion="best"),
    "a prior of the worst case": lambda: named_criterion("worst", [0.5, 0.5]),
    "weights above one": lambda: Average([0.5, 0.6]),
    "weights below nothing": lambda: Average([1.5, -0.5]),
    "too few weights": lambda: Problem(loss=NONE, privacy=Pure(1.0), criterion=Average([1.0])),
    "weights that are no numbers": lambda: Average([math.nan, 1.0]),
    "masked weights": lambda: Average(np.ma.array([0.5, 0.5], mask=[False, True])),
    "rows of weights": lambda: Average([[0.5, 0.5]]),
    "no gap": lambda: solve(Problem(loss=NONE, privacy=Pure(1.0)), gap=0.0),
    "a gap of all": lambda: solve(Problem(loss=NONE, privacy=Pure(1.0)), gap=1.0),
    "slack below nothing": lambda: Lexicographic(slack=-1.0),
    "slack without end": lambda: Lexicographic(slack=math.inf),
    "slack of another criterion": lambda: named_criterion("prior", slack=0.1),
    "a label for one of two inputs": lambda: Matrix(NONE, input_labels=("a",)),
    "one label twice": lambda: Matrix(NONE, output_labels=("a", "a")),
    "a text for labels": lambda: Matrix(NONE, output_labels="ab"),
    "other inputs": lambda: Problem(inputs=[0, 2], loss=NONE, privacy=Pure(1.0)),
    "places of a matrix": lambda: Problem(loss=NONE, privacy=Pure(1.0), among=Onto([0, 1])),
    "no such method": lambda: solve(Problem(loss=NONE, privacy=Pure(1.0)), method="guess"),
    "a method for pairs": lambda: solve(Problem(loss=NONE, privacy=Pure(1.0)), method="pairwise"),
}


@pytest.mark.parametrize("name", BAD_WORDS)
def test_bad_words_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        BAD_WORDS[name]()


def test_what_no_method_answers_says_what_each_misses_and_which_word_would_be_answered() -> None:
    problem = Problem(loss=[[0, 2], [1, 0]], privacy=Pure(17.0))
    missed = "finite: eps must lie between 1e-06 and 16 .*; pairwise: privacy must be an epsilon for each pair"
    with pytest.raises(InvalidInput, match=missed + r".*answered with privacy=Pure\(epsilon=16.0\)"):
        solve(problem)
    assert solve(evolved(problem, privacy=Pure(16.0))).certificate.upper < 1e-6


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf, "a"])
def test_a_bad_time_limit_is_refused(seconds: Any) -> None:
    with pytest.raises(InvalidInput, match="seconds"):
        solve(Problem(loss=1 - np.eye(2), privacy=Pure(1.0)), seconds)


@pytest.mark.parametrize(
    "points", [[], [[math.nan, 0.0]], [[[0.0]]], [["a"]], [[1.0], [1.0, 2.0]], np.ma.array([0.0, 1.0], mask=[0, 1])]
)
def test_bad_points_are_refused(points: Any) -> None:
    with pytest.raises(InvalidInput):
        euclidean(points)


def test_too_many_points_are_refused_before_they_fill_the_memory() -> None:
    with pytest.raises(InvalidInput, match="at most"):
        euclidean(np.zeros((2000, 3)))


def test_points_and_outputs_live_in_the_same_space() -> None:
    with pytest.raises(InvalidInput, match="coordinates"):
        euclidean([[0.0, 0.0]], [0.0])


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["worst", "prior", "lexicographic"])
def test_a_saved_design_is_proven_again(criterion: str, tmp_path: Path) -> None:
    labels = tuple("abcdefghi")
    design = solve(
        Problem(loss=Matrix(LINE, input_labels=labels), privacy=Pure(1.0), criterion=named_criterion(criterion))
    )
    again = saved.load_design(design.save(tmp_path / "design.json"))
    assert again == design
    assert again.certificate == design.certificate
    assert isinstance(again.problem, Problem)
    assert again.problem.loss.values.tolist() == LINE.tolist()
    assert again.problem.loss.input_labels == labels


def _raised(values: list[Any], factor: float) -> None:
    values[:] = [value * factor for value in values]


FORGERIES: dict[str, Any] = {
    "levels raised": lambda d: _raised(d["certificate"]["evidence"]["average"]["levels"], 1.001),
    "multipliers dropped": lambda d: _raised(d["certificate"]["evidence"]["average"]["weights"], 0.0),
    "a lower bound raised": lambda d: d["certificate"].update(lower=d["certificate"]["lower"] * (1 + 1e-8)),
    "an upper bound lowered": lambda d: d["certificate"].update(upper=d["certificate"]["upper"] * (1 - 1e-8)),
    "a cap of one's own": lambda d: d["certificate"]["evidence"].update(cap=10.0),
    "a smaller slack said": lambda d: d["problem"]["criterion"].update(slack=1e-9),
    "worst-case weights changed": lambda d: d["certificate"]["evidence"]["worst"].update(weights=[1.0] + [0.0] * 8),
    "another loss": lambda d: d["problem"]["loss"]["values"][0].__setitem__(0, 0.5),
    "another name of the loss": lambda d: d["problem"].update(loss="absolute"),
    "another prior said": lambda d: d["problem"]["criterion"].update(prior=[0.2, *[0.1] * 8]),
    "no prior said": lambda d: d["problem"]["criterion"].update(prior=None),
    "another criterion said": lambda d: d["problem"].update(criterion={"kind": "worst"}),
    "another slack said": lambda d: d["problem"]["criterion"].update(slack=1.0),
    "a wider class": lambda d: d["certificate"].update(valid_for="all mechanisms"),
    "another epsilon": lambda d: d["problem"]["privacy"].update(epsilon=2.0),
    "a louder mechanism": lambda d: d["mechanism"]["probabilities"][0].__setitem__(0, 0.99),
    "NaN among the levels": lambda d: d["certificate"]["evidence"]["average"]["levels"].__setitem__(0, "nan"),
    "ragged losses": lambda d: d["problem"]["loss"]["values"][0].pop(),
    "a missing prior": lambda d: d["problem"]["criterion"].pop("prior"),
    "missing levels": lambda d: d["certificate"]["evidence"]["average"].pop("levels"),
    "labels for fewer inputs": lambda d: d["problem"]["loss"].update(input_labels=["a"]),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_file_is_refused(name: str, tmp_path: Path) -> None:
    prior = np.linspace(1, 9, 9) / 45
    path = solve(Problem(loss=LINE, privacy=Pure(1.0), criterion=Lexicographic(prior, slack=1e-5))).save(
        tmp_path / "design.json"
    )
    document = json.loads(path.read_text())
    FORGERIES[name](document)
    path.write_text(json.dumps(document))
    with pytest.raises((FileProblem, InvalidInput)):
        saved.load_design(path)


def test_bounds_in_a_file_that_differ_by_rounding_are_replaced_by_those_derived(tmp_path: Path) -> None:
    design = solve(Problem(loss=LINE, privacy=Pure(1.0)))
    path = design.save(tmp_path / "design.json")
    document = json.loads(path.read_text())
    document["certificate"]["lower"] = math.nextafter(document["certificate"]["lower"], 1.0)
    path.write_text(json.dumps(document))
    assert saved.load_design(path).certificate == design.certificate
