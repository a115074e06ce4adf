"""OGPM by the reduction: the spec's numbers, independent optimisation, and the theorem about pieces."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mechdesign_solvers import Highs, LinearProgram
from scipy import optimize

from mechdesign import (
    Absolute,
    Circle,
    Custom,
    Interval,
    InvalidInput,
    Power,
    Squared,
    catalogue,
    solve,
)
from mechdesign.words.losses import Loss
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods import problems

UNIT = Interval(0.0, 1.0)


@pytest.mark.parametrize(
    ("epsilon", "p", "error"),
    [(1, 1.509333, 0.21729852), (2, 2.230012, 0.13111451), (4, 4.625211, 0.04063565), (8, 18.081562, 0.00302367)],
)
def test_squared_error_has_the_corrected_heights(epsilon: float, p: float, error: float) -> None:
    design = solve(problems.piecewise(epsilon, Squared()))
    assert design.mechanism.high == pytest.approx(p, abs=6e-7)
    assert design.certificate.upper == pytest.approx(error, abs=6e-9)


@given(st.floats(0.01, 12.0))
@settings(deadline=None)
def test_squared_base_density_solves_the_cubic(epsilon: float) -> None:
    base = solve(problems.piecewise(epsilon, Squared())).mechanism.low
    growth = math.expm1(epsilon)
    left, right = base**3 * growth**2, (1 - base) ** 2 * (base + 2)
    assert left == pytest.approx(right, rel=1e-7)


@given(st.floats(0.01, 12.0))
@settings(deadline=None)
def test_absolute_error_is_theorem_7(epsilon: float) -> None:
    design = solve(problems.piecewise(epsilon, Absolute()))
    assert design.mechanism.high == pytest.approx(math.exp(epsilon / 2), rel=1e-9)
    assert design.certificate.upper == pytest.approx(1 / (1 + math.exp(epsilon / 2)), rel=1e-12)


def test_the_central_piece_at_the_end_of_the_domain() -> None:
    pieces = solve(problems.piecewise(1.0)).mechanism.pieces(0.0)
    assert pieces.edges.tolist() == pytest.approx([0.0, 0.37754067, 1.0])


def test_example_8_minimises_the_error_at_one_input() -> None:
    design = solve(problems.piecewise(1.0, Absolute(), at=0.2))
    assert design.mechanism.high == pytest.approx(1.54, abs=0.01)
    assert design.certificate.upper == pytest.approx(0.241, abs=5e-4)
    printed = catalogue.ogpm(1.0).expected_loss(0.2, Absolute())
    assert float(printed) == pytest.approx(0.243, abs=5e-4)


def test_circle_at_epsilon_4_corrects_theorem_9() -> None:
    design = solve(problems.piecewise(4.0, Squared(2 * math.pi), Circle()))
    assert design.certificate.upper == pytest.approx(0.40106, abs=5e-6)
    printed = catalogue.ogpm_circle(4.0).worst_case(Squared(2 * math.pi))[0]
    assert printed == pytest.approx(0.48566, abs=5e-6)
    assert design.certificate.valid_for == "all mechanisms"


def _grid_optimum(epsilon: float, loss: Loss, inputs: np.ndarray, cells: int) -> float:
    """The class optimum on a grid by linear programming: laws constant on cells, one shared base density."""
    ratio, count = math.exp(epsilon), inputs.size
    edges = np.linspace(0, 1, cells + 1)
    rows, lower, upper = [], [], []
    width = count * cells + 2  # laws, base, worst error
    for i, x in enumerate(inputs):
        mass, error = np.zeros(width), np.zeros(width)
        block = slice(i * cells, (i + 1) * cells)
        mass[block] = 1 / cells
        error[block] = -loss.integral(edges[:-1] - x, edges[1:] - x, np.full(cells, x))
        error[-1] = 1.0
        rows += [mass, error]
        lower += [1.0, 0.0]
        upper += [1.0, math.inf]
        for k in range(i * cells, (i + 1) * cells):
            above, below = np.zeros(width), np.zeros(width)
            above[[k, -2]] = 1.0, -1.0
            below[[k, -2]] = -1.0, ratio
            rows += [above, below]
            lower += [0.0, 0.0]
            upper += [math.inf, math.inf]
    cost = np.zeros(width)
    cost[-1] = 1.0
    solution = Highs().solve(LinearProgram.of(cost, np.array(rows), lower, upper, 0.0)).require_optimal()
    assert solution.objective is not None
    return solution.objective


@pytest.mark.parametrize("exponent", [1.0, 2.0, 0.5])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_linear_program_over_laws_with_sixty_pieces_does_no_better(epsilon: float, exponent: float) -> None:
    loss = Power(exponent)
    value = solve(problems.piecewise(epsilon, loss)).certificate
    gridded = _grid_optimum(epsilon, loss, np.array([0.0, 0.5, 1.0]), 60)
    assert gridded >= value.lower - 1e-9
    assert gridded == pytest.approx(value.upper, rel=2e-3)


@given(st.floats(0.05, 8.0), st.sampled_from([0.5, 1.0, 1.7, 2.0, 3.0]), st.floats(0, 1), st.floats(0.001, 0.999))
@settings(deadline=None)
def test_no_other_base_density_does_better_at_the_input(
    epsilon: float, exponent: float, at: float, share: float
) -> None:
    loss = Power(exponent)
    certificate = solve(problems.piecewise(epsilon, loss, at=at)).certificate
    ratio = math.exp(epsilon)
    other = catalogue.two_heights(epsilon, UNIT, UNIT, (1 + share * (ratio - 1)) / ratio)
    assert float(other.expected_loss(at, loss)) >= certificate.lower * (1 - 1e-9)


@given(
    st.floats(0.05, 8.0), st.integers(1, 3), st.floats(-50, 50), st.floats(0.01, 100), st.floats(0, 3), st.floats(0, 3)
)
@settings(deadline=None)
def test_bounds_close_to_rounding_on_any_domains(
    epsilon: float, exponent: int, start: float, length: float, left: float, right: float
) -> None:
    inputs = Interval(start, start + length)
    outputs = Interval(start - left * length, start + length + right * length)
    certificate = solve(problems.piecewise(epsilon, Power(exponent), inputs, outputs)).certificate
    assert not certificate.claimed
    assert 0 <= certificate.relative_gap < 1e-9


@given(st.floats(0.1, 8.0), st.sampled_from([1.0, 2.0]), st.floats(-5, 5), st.floats(0.1, 10))
@settings(deadline=None)
def test_errors_scale_with_the_domain(epsilon: float, exponent: float, start: float, length: float) -> None:
    moved = solve(problems.piecewise(epsilon, Power(exponent), Interval(start, start + length)))
    unit = solve(problems.piecewise(epsilon, Power(exponent)))
    assert moved.certificate.upper == pytest.approx(unit.certificate.upper * length**exponent, rel=1e-9)


@pytest.mark.parametrize("pieces", [2, 3, 4, 5, 7, 19, 100])
def test_more_pieces_change_nothing(pieces: int) -> None:
    free = solve(problems.piecewise(1.0, Squared()))
    found = solve(problems.piecewise(1.0, Squared(), pieces=pieces)).certificate
    assert (found.lower, found.upper, found.scope) == (
        free.certificate.lower,
        free.certificate.upper,
        free.certificate.scope,
    )


def test_round_a_circle_the_best_piecewise_mechanism_is_that_of_all() -> None:
    every = solve(Problem(inputs=Circle(), loss="squared", privacy=Pure(2.0)))
    piecewise = solve(problems.piecewise(2.0, "squared", Circle()))
    assert (every.mechanism, every.evidence) == (piecewise.mechanism, piecewise.evidence)
    assert every.certificate.valid_for == "all mechanisms"


def test_outputs_that_are_the_inputs_need_not_be_said() -> None:
    assert problems.piecewise(inputs=(0, 2), outputs=(0, 2)) == problems.piecewise(inputs=(0, 2))


def test_one_piece_is_the_uniform_law() -> None:
    design = solve(problems.piecewise(1.0, Absolute(), pieces=1))
    assert design.mechanism.pieces(0.3).densities.tolist() == [1.0]
    assert design.certificate.upper == pytest.approx(0.5)


def test_wider_outputs_make_the_far_end_the_worst_input() -> None:
    problem = problems.piecewise(1.0, Absolute(), Interval(0, 1), Interval(-3, 1))
    design = solve(problem)
    assert design.report.details["solved_at"] == 1.0
    assert design.mechanism.worst_case(Absolute())[1] == pytest.approx(1.0)


def test_heights_by_a_generic_minimiser_agree() -> None:
    def worst(log_base: float) -> float:
        mechanism = catalogue.two_heights(3.0, UNIT, UNIT, math.exp(log_base))
        return mechanism.worst_case(Power(3.0))[0]

    found = optimize.minimize_scalar(worst, bounds=(-3.0, 0.0), method="bounded", options={"xatol": 1e-10})
    design = solve(problems.piecewise(3.0, Power(3.0)))
    assert math.exp(found.x) == pytest.approx(design.mechanism.low, rel=1e-5)
    assert found.fun == pytest.approx(design.certificate.upper, rel=1e-9)


@pytest.mark.parametrize("loss", [Absolute(), Squared()])
def test_a_function_that_is_a_power_gets_the_power_s_answer(loss: Power) -> None:
    exact = solve(problems.piecewise(1.0, loss))
    sampled = solve(problems.piecewise(1.0, Custom(lambda y, x: loss(y, x))))
    assert sampled.certificate.claimed
    assert sampled.certificate.upper == pytest.approx(exact.certificate.upper, rel=1e-5)
    assert sampled.mechanism.high == pytest.approx(exact.mechanism.high, rel=2e-3)


def test_an_asymmetric_loss_agrees_with_a_linear_program() -> None:
    pinball = Custom(lambda y, x: np.where(y > x, 3 * (y - x), x - y), "pinball")
    design = solve(problems.piecewise(1.5, pinball))
    gridded = _grid_optimum(1.5, pinball, np.linspace(0, 1, 9), 48)
    assert design.certificate.upper == pytest.approx(gridded, rel=5e-3)
    assert design.report.details["pieces_needed"] == 3


def test_a_loss_with_two_valleys_needs_five_pieces() -> None:
    valleys = Custom(
        lambda y, x: np.minimum(np.abs(y - x), 0.1 + np.abs(y - (1 - x))), "valleys", kinks=lambda x: (x, 1 - x)
    )
    design = solve(problems.piecewise(2.0, valleys))
    assert design.report.details["pieces_needed"] == 5
    gridded = _grid_optimum(2.0, valleys, np.linspace(0, 1, 9), 48)
    assert design.certificate.upper == pytest.approx(gridded, rel=2e-2)
    with pytest.raises(InvalidInput, match="at least 5"):
        solve(problems.piecewise(2.0, valleys, pieces=3))


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"epsilon": math.nan}, "NaN"),
        ({"epsilon": math.inf}, "finite number above 0"),
        ({"epsilon": 0}, "finite number above 0"),
        ({"epsilon": -1}, "finite number above 0"),
        ({"epsilon": 1e4}, "at most 64"),
        ({"epsilon": "1"}, "be a number"),
        ({"epsilon": True}, "be a number"),
        ({"epsilon": 1, "pieces": 0}, "whole number"),
        ({"epsilon": 1, "pieces": 1000}, "whole number"),
        ({"epsilon": 1, "pieces": 2.5}, "whole number"),
        ({"epsilon": 1, "pieces": 2, "at": 0.5}, "at least 3"),
        ({"epsilon": 1, "at": 1.5}, "lie in"),
        ({"epsilon": 1, "at": 1.0, "inputs": Circle(), "loss": Absolute(2 * math.pi)}, "on a circle"),
        ({"epsilon": 1, "inputs": "01"}, "domain"),
        ({"epsilon": 1, "outputs": "01"}, "outputs"),
        ({"epsilon": 1, "loss": "nonsense"}, "be absolute, squared"),
        ({"epsilon": 1, "loss": Power(16.0), "inputs": Interval(0, 1e20)}, "domain"),
        ({"epsilon": 1, "outputs": Interval(0.5, 2)}, "contain the inputs"),
        ({"epsilon": 1, "outputs": Circle(1.0)}, "be the inputs' own"),
        ({"epsilon": 1, "loss": Absolute(1.0)}, "on the line"),
        ({"epsilon": 1, "loss": Absolute(2.0), "inputs": Circle(1.0)}, "circular with period 1"),
    ],
)
def test_problems_name_the_field_they_reject(fields: dict[str, object], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        solve(problems.piecewise(**fields))  # type: ignore[arg-type]


def test_a_negative_loss_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="at least 0"):
        solve(problems.piecewise(1.0, Custom(lambda y, x: y - x)))


@pytest.mark.parametrize(("exponent", "epsilon"), [(0.2, 6.0), (0.5, 8.0), (0.5, 14.0), (0.8, 10.0)])
def test_peaked_functions_get_bounds_that_hold_the_exact_optimum(exponent: float, epsilon: float) -> None:
    loss = Power(exponent)
    exact = solve(problems.piecewise(epsilon, loss)).certificate
    sampled = solve(problems.piecewise(epsilon, Custom(lambda y, x: loss(y, x)))).certificate
    assert sampled.claimed
    assert sampled.lower <= exact.upper * (1 + 1e-9)
    assert sampled.upper >= exact.lower * (1 - 1e-9)


@pytest.mark.parametrize("start", [1e4, 1e6, 1.7e9])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_domains_far_from_zero_keep_their_optimum(epsilon: float, start: float) -> None:
    unit = solve(problems.piecewise(epsilon, Squared())).certificate
    far = solve(problems.piecewise(epsilon, Squared(), Interval(start, start + 1))).certificate
    assert far.upper == pytest.approx(unit.upper, rel=1e-6)


def test_narrower_outputs_can_do_better_so_the_class_is_tied_to_its_outputs() -> None:
    proven = solve(problems.piecewise(1.0, Squared())).certificate.lower
    narrow = catalogue.two_heights(1.0, UNIT, Interval(0.16, 0.84), 0.8414)
    assert narrow.privacy_loss() <= 1.0
    assert narrow.worst_case(Squared())[0] < 0.97 * proven


def test_one_piece_for_a_function_is_named_for_what_it_is() -> None:
    loss = Custom(lambda y, x: abs(y - x))
    certificate = solve(problems.piecewise(1.0, loss, pieces=1)).certificate
    assert certificate.valid_for == "one-piece mechanisms"
    assert certificate.lower == pytest.approx(0.5, rel=1e-3)
    assert certificate.lower <= 0.5 <= certificate.upper * (1 + 1e-9)
