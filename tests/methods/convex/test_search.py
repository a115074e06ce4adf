"""Problems of the user's own, in CVXPY: against the matrix optimum, closed forms, and all that can be misstated."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import optimize

from mechdesign.errors import CheckFailed, FileProblem, InvalidInput, NoAnswer
from mechdesign.exact.privacy import prove_privacy
from mechdesign.methods import saved
from mechdesign.methods.registry import solve
from mechdesign.words.classes import All, Onto, Unbiased
from mechdesign.words.criteria import At, Average, Total, Worst
from mechdesign.words.domains import Finite
from mechdesign.words.objectives import Formula, Objective
from mechdesign.words.pairs import Metric
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods.problems import custom

POINTS = np.linspace(0, 1, 6)
LOSS = np.abs(POINTS[:, None] - POINTS[None, :])


def average(q: Any) -> Any:
    return cp.sum(cp.multiply(LOSS, q)) / 6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 10.0])
def test_a_linear_objective_has_the_optimum_of_the_loss_matrix_proven(epsilon: float) -> None:
    certificate = custom(epsilon, POINTS, POINTS, average).certificate
    expected = solve(Problem(loss=LOSS, privacy=Pure(epsilon), criterion=Average())).certificate
    assert not certificate.claimed
    assert certificate.valid_for == "all mechanisms with these outputs"
    assert certificate.lower <= expected.upper
    assert expected.lower <= certificate.upper
    assert certificate.relative_gap <= 1e-5


def errors(q: Any) -> Any:
    return cp.sum(cp.multiply(LOSS, q), axis=1)


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 8.0])
def test_the_worst_case_is_proven_to_be_that_of_the_loss_matrix(epsilon: float) -> None:
    certificate = custom(epsilon, POINTS, POINTS, lambda q: cp.max(errors(q))).certificate
    expected = solve(Problem(loss=LOSS, privacy=Pure(epsilon))).certificate
    assert not certificate.claimed
    assert certificate.lower <= expected.upper
    assert expected.lower <= certificate.upper
    assert certificate.relative_gap <= 1e-9


@pytest.mark.parametrize(("criterion", "written"), [(Worst(), cp.max), (Average(), lambda error: cp.sum(error) / 6)])
def test_a_criterion_is_one_word(criterion: Any, written: Callable[[Any], Any]) -> None:
    design = custom(1.0, POINTS, POINTS, errors, criterion=criterion)
    assert design.certificate == custom(1.0, POINTS, POINTS, lambda q: written(errors(q))).certificate


def test_a_worst_case_under_side_constraints_is_proven() -> None:
    """Against a program of its own: the same epigraph in scipy, without a proof."""
    design = custom(1.0, POINTS, POINTS, errors, lambda q: [q[0, 0] >= 0.4], criterion=Worst())
    n, ratio = len(POINTS), math.e
    size = n * n + n + 1  # the table, its base measure, the greatest error
    rows, right = [], []
    for x in range(n):
        row = np.zeros(size)
        row[x * n : (x + 1) * n], row[-1] = LOSS[x], -1.0
        rows.append(row)
        right.append(0.0)
        for y in range(n):
            for sign, factor in ((-1.0, 1.0), (1.0, -ratio)):
                row = np.zeros(size)
                row[x * n + y], row[n * n + y] = sign, factor
                rows.append(row)
                right.append(0.0)
    sums = np.zeros((n, size))
    for x in range(n):
        sums[x, x * n : (x + 1) * n] = 1
    bounds = [(0.4, None), *[(0.0, None)] * (size - 1)]
    found = optimize.linprog(np.eye(size)[-1], rows, right, sums, np.ones(n), bounds)
    assert not design.certificate.claimed
    assert design.certificate.upper == pytest.approx(found.fun, rel=1e-5)
    assert design.certificate.lower <= found.fun + 1e-9


@pytest.mark.parametrize(
    "constrain",
    [
        lambda q: [cp.norm1(q @ POINTS - POINTS) <= 1.0],
        lambda q: [cp.sum_squares(q[0]) <= 0.25],
        lambda q: [cp.max(cp.abs(q @ POINTS - POINTS)) <= 0.3, q[0, 0] >= 0.3],
    ],
)
def test_constraints_of_sizes_maxima_and_squares_are_proven(constrain: Callable[[Any], Any]) -> None:
    """Against the solver's own optimum of the same constraints."""
    design = custom(1.0, POINTS, POINTS, average, constrain)
    q, base = cp.Variable((6, 6), nonneg=True), cp.Variable((1, 6), nonneg=True)
    spread = np.ones((6, 1)) @ base
    private = [q >= spread, q <= math.e * spread, cp.sum(q, axis=1) == 1]
    expected = cp.Problem(cp.Minimize(average(q)), [*private, *constrain(q)]).solve(solver=cp.CLARABEL)
    assert not design.certificate.claimed
    assert design.certificate.lower <= expected * (1 + 1e-5)
    assert design.certificate.upper == pytest.approx(expected, rel=1e-4)


def test_what_is_not_read_is_claimed_and_says_what_it_is() -> None:
    design = custom(1.0, POINTS, POINTS, lambda q: cp.log_sum_exp(q[0] - 1))
    assert design.certificate.claimed
    assert isinstance(design.problem, Problem)
    assert isinstance(design.problem.loss, Formula)
    assert "log_sum_exp" in design.problem.loss.unread
    assert "not proven, as maxima, norms and squares" in design.summary()


def test_named_constraints_are_called_by_their_names() -> None:
    with pytest.raises(InvalidInput, match=r"constraints\['too small'\]"):
        custom(1.0, POINTS, POINTS, average, lambda q: {"too small": cp.sum_squares(q[0]) <= 0.1})
    design = custom(1.0, POINTS, POINTS, average, lambda q: {"kept": q[0, 0] >= 0.4})
    assert isinstance(design.problem, Problem)
    assert isinstance(design.problem.loss, Formula)
    assert design.problem.loss.constraints == ("kept: 0.4 <= q[0, 0]",)


def test_the_squared_distance_to_the_truth_has_its_closed_form() -> None:
    """``sum (q - 1)^2`` over two categories at eps: every row ``(p, 1-p)``, ``p = c/(1+c)``, so ``4 (1-p)^2``."""
    design = custom(1.0, [0, 1], [0, 1], lambda q: cp.sum_squares(q - np.eye(2)))
    assert design.certificate.upper == pytest.approx(4 / (1 + math.e) ** 2, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_distance_to_the_truth_is_the_root_of_its_square(scale: float) -> None:
    design = custom(1.0, [0, 1], [0, 1], lambda q: scale * cp.norm(q - np.eye(2), "fro"))
    assert not design.certificate.claimed
    for end in (design.certificate.lower, design.certificate.upper):
        assert end == pytest.approx(2 * scale / (1 + math.e), rel=1e-6, abs=0)


def test_a_norm_that_is_0_at_the_optimum_is_proven_by_its_multiplier() -> None:
    """Its slope there is any vector of the ball, and the least loss has two rows alike."""
    design = custom(1.0, POINTS, POINTS, average, lambda q: [5 * cp.norm(q[0] - q[1]) <= cp.Constant(0.0)])
    apart = custom(1.0, POINTS, POINTS, lambda q: average(q) + 5 * cp.norm(q[0] - q[1])).certificate
    assert not apart.claimed
    assert apart.relative_gap <= 1e-6
    assert apart.upper <= design.certificate.upper * (1 + 1e-4)


@pytest.mark.parametrize("categories", [2, 4])
@pytest.mark.parametrize("root", [1, 2])
def test_the_worst_distance_of_a_row_to_the_truth_has_its_closed_form(categories: int, root: int) -> None:
    """``sum_y (q - 1)^2`` of every row of randomised response: ``lie^2 + lie^2 / (k - 1)``, and its root."""

    def apart(q: Any) -> Any:
        off = q - np.eye(categories)
        return cp.sum(cp.square(off), axis=1) if root == 1 else cp.norm(off, 2, axis=1)

    items = range(categories)
    design = custom(1.0, items, items, apart, lambda q: [q[0, 0] <= 0.99], criterion=Worst())
    lie = (categories - 1) / (math.e + categories - 1)
    assert not design.certificate.claimed
    for end in (design.certificate.lower, design.certificate.upper):
        assert end == pytest.approx((lie**2 * categories / (categories - 1)) ** (1 / root), rel=1e-5)
    again = solve(design.problem)
    assert again.certificate.lower == pytest.approx(design.certificate.lower, rel=1e-5)


def test_a_quadratic_form_is_its_squares() -> None:
    root = np.random.default_rng(3).normal(size=(6, 4))  # of rank 4: two directions cost nothing
    form, squares = (
        custom(1.0, POINTS, POINTS, written).certificate
        for written in (
            lambda q: average(q) + cp.quad_form(q[0] - 0.3, root @ root.T),
            lambda q: average(q) + cp.sum_squares(root.T @ (q[0] - 0.3)),
        )
    )
    assert not form.claimed
    assert form.lower == pytest.approx(squares.lower, rel=1e-6)
    assert form.upper == pytest.approx(squares.upper, rel=1e-6)


def test_a_constraint_costs_what_its_certificate_says() -> None:
    free = custom(1.0, POINTS, POINTS, average).certificate
    design = custom(1.0, POINTS, POINTS, average, lambda q: [q[0, 0] >= 0.4, q @ POINTS <= 0.7, cp.sum(q[:, 5]) == 0.9])
    bound = design.certificate
    assert not bound.claimed
    assert "constraints within 1e-06" in bound.valid_for
    assert free.upper < bound.lower <= bound.upper
    assert bound.relative_gap <= 1e-4
    law = design.mechanism.mass(POINTS[None, :], POINTS[:, None])
    assert law[0, 0] >= 0.4 - 1e-6
    assert law[:, 5].sum() == pytest.approx(0.9, abs=1e-6)


def test_the_bound_holds_for_mechanisms_of_another_method() -> None:
    """A constraint that the plain optimum meets changes nothing."""
    expected = solve(Problem(loss=LOSS, privacy=Pure(1.0), criterion=Average())).certificate
    certificate = custom(1.0, POINTS, POINTS, average, lambda q: [q[0, 0] <= 0.99, q[1] @ POINTS >= 0.01]).certificate
    assert certificate.lower <= expected.upper
    assert certificate.upper >= expected.lower


def test_an_unbiased_mechanism_in_one_line_is_unbiased() -> None:
    inputs, outputs = np.array([-1.0, 0.0, 1.0]), np.linspace(-3, 3, 13)
    squared = (outputs[None, :] - inputs[:, None]) ** 2
    design = custom(
        1.0, inputs, outputs, lambda q: cp.sum(cp.multiply(squared, q)) / 3, lambda q: [q @ outputs == inputs]
    )
    np.testing.assert_allclose(design.mechanism.mean(inputs), inputs, atol=1e-6)
    assert design.certificate.relative_gap <= 1e-5


@pytest.mark.parametrize("constrain", [None, lambda q: [q[:, 2] == 0], lambda q: [cp.norm(q[0]) <= 0.6]])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_every_answer_is_private_exactly(epsilon: float, constrain: Callable[[Any], Any] | None) -> None:
    design = custom(epsilon, POINTS, POINTS, average, constrain)
    assert prove_privacy(design.mechanism, epsilon).holds


def test_outputs_that_are_forbidden_are_left_out() -> None:
    design = custom(1.0, POINTS, POINTS, average, lambda q: [q[:, 2] == 0])
    assert POINTS[2] not in design.mechanism.outputs.points


def test_a_single_constraint_needs_no_list() -> None:
    design = custom(1.0, POINTS, POINTS, average, lambda q: q[0, 0] >= 0.4)
    assert float(design.mechanism.mass(0.0, 0.0)) >= 0.4 - 1e-6


# -- what cannot be answered ------------------------------------------------------------------------------------------

IMPOSSIBLE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "privacy": (lambda q: [q[0, 0] <= 0.5, q[0, 0] >= 0.3, q[1, 0] <= 0.05], r"constraints\[2\].*together"),
    "total": (lambda q: [cp.sum(q[0]) <= 0.9], r"constraints\[0\].*eps = 1"),
    "cone": (lambda q: [cp.norm(q[0]) <= 0.1], r"constraints\[0\]"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_the_impossible_constraint_is_named(name: str) -> None:
    constrain, message = IMPOSSIBLE[name]
    with pytest.raises(InvalidInput, match=message):
        custom(1.0, POINTS, POINTS, average, constrain)


MISSTATED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "concave": (lambda q: -cp.sum_squares(q), "convex"),
    "no rule": (lambda q: cp.sum(cp.multiply(q, q)), "convex"),
    "unbounded": (lambda q: average(q) + cp.Variable(), "q alone"),
    "NaN": (lambda q: cp.sum(q * math.nan), "finite"),
    "infinite": (lambda q: cp.sum(cp.multiply(np.full((6, 6), math.inf), q)), "finite"),
    "a number": (lambda q: 1.0, "CVXPY expression"),
    "a vector": (lambda q: q[0], "one real number"),
    "out of shape": (lambda q: q[9, 9], "shape"),
    "another shape": (lambda q: cp.sum(cp.multiply(np.ones((3, 3)), q)), "shape"),
    "an empty parameter": (lambda q: cp.Parameter() * cp.sum(q), "parameters"),
    "negative": (lambda q: -average(q), "add a constant"),
    "minimise": (lambda q: cp.Minimize(average(q)), "CVXPY expression"),
    "assumed convex": (lambda q: 1 + cp.quad_form(q[0, :2], np.diag([1.0, -1.0]), assume_PSD=True), "eigenvalue"),
}


@pytest.mark.parametrize("name", MISSTATED)
def test_a_misstated_objective_is_named(name: str) -> None:
    objective, message = MISSTATED[name]
    with pytest.raises(InvalidInput, match=f"objective.*{message}"):
        custom(1.0, POINTS, POINTS, objective)


CONSTRAINTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "not a constraint": (lambda q: [q[0, 0] >= 0.1, True], "CVXPY constraint"),
    "an expression": (lambda q: [q[0, 0]], "CVXPY constraint"),
    "not a list": (lambda q: 3, "list"),
    "not convex": (lambda q: [cp.norm(q[0]) >= 0.5], "convex"),
    "a variable of its own": (lambda q: [q[0, 0] <= cp.Variable()], "q alone"),
    "NaN": (lambda q: [q[0, 0] <= math.nan], "finite"),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_misstated_constraint_is_named(name: str) -> None:
    constrain, message = CONSTRAINTS[name]
    with pytest.raises(InvalidInput, match=f"constraints.*{message}"):
        custom(1.0, POINTS, POINTS, average, constrain)


BAD_FIELDS: list[dict[str, Any]] = [
    {"epsilon": 0.0},
    {"epsilon": 20.0},
    {"inputs": []},
    {"inputs": 3},
    {"inputs": [1.0, 0.0]},
    {"outputs": [0.0, math.nan]},
    {"outputs": np.arange(2000.0)},
    {"objective": 3.0},
    {"constraints": []},
    {"tolerance": 0.0},
    {"tolerance": 1.0},
    {"gap": 0.0},
    {"gap": 1.0},
    {"seconds": 0.0},
    {"seconds": math.nan},
    {"seconds": "a"},
]


@pytest.mark.parametrize("fields", BAD_FIELDS, ids=lambda fields: next(iter(fields)))
def test_bad_fields_are_refused(fields: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"epsilon": 1.0, "inputs": POINTS, "outputs": POINTS, "objective": average}
    with pytest.raises(InvalidInput):
        custom(**(plain | fields))


def test_a_time_limit_is_no_answer() -> None:
    with pytest.raises(NoAnswer, match="time limit"):
        custom(1.0, POINTS, POINTS, average, seconds=1e-9)


def test_what_cvxpy_allows_and_cannot_write_as_cones_is_no_answer() -> None:
    with pytest.raises(NoAnswer, match="NotImplementedError"):
        custom(1.0, POINTS, POINTS, lambda q: cp.quad_form(cp.sum(cp.abs(q), axis=1), np.ones((6, 6))))


def test_a_table_that_breaks_a_constraint_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["mechdesign.methods.convex.model"]

    def careless(epsilon: float, inputs: Finite, outputs: Finite, table: Any, base: Any, name: str) -> Any:
        return original(epsilon, inputs, outputs, np.ones_like(table), base, name)

    original = module.private_table
    monkeypatch.setattr(module, "private_table", careless)
    with pytest.raises(CheckFailed, match="constraint 0"):
        custom(1.0, POINTS, POINTS, average, lambda q: [q[0, 0] >= 0.4])


# -- scales -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e-9, 1e-7, 1e8, 1e12, 1e300])
@pytest.mark.parametrize("constrain", [None, lambda q: [q[0, 0] >= 0.4]])
def test_a_linear_objective_in_other_units_has_the_optimum_in_other_units(
    scale: float, constrain: Callable[[Any], Any] | None
) -> None:
    plain = custom(1.0, POINTS, POINTS, average, constrain).certificate
    scaled = custom(1.0, POINTS, POINTS, lambda q: scale * average(q), constrain).certificate
    assert scaled.relative_gap <= 1e-4
    assert scaled.lower == pytest.approx(scale * plain.lower, rel=1e-5, abs=0)
    assert scaled.upper == pytest.approx(scale * plain.upper, rel=1e-5, abs=0)


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e12])
def test_a_convex_objective_in_other_units_has_the_optimum_in_other_units(scale: float) -> None:
    certificate = custom(1.0, [0, 1], [0, 1], lambda q: scale * cp.sum_squares(q - np.eye(2))).certificate
    expected = scale * 4 / (1 + math.e) ** 2
    assert certificate.upper == pytest.approx(expected, rel=1e-5, abs=0)
    assert certificate.lower == pytest.approx(expected, rel=1e-5, abs=0)


def test_a_small_part_next_to_a_large_constant_is_still_minimised() -> None:
    plain = custom(1.0, POINTS, POINTS, average).certificate
    shifted = custom(1.0, POINTS, POINTS, lambda q: 1e-9 * average(q) + 1).certificate
    assert 1e9 * (shifted.upper - 1) == pytest.approx(plain.upper, rel=1e-5)


def test_an_optimum_far_below_the_coefficients_is_found_in_a_finer_scale() -> None:
    losses = LOSS + 1e9 * (LOSS > 0.7)
    certificate = custom(8.0, POINTS, POINTS, lambda q: cp.sum(cp.multiply(losses, q))).certificate
    expected = solve(Problem(loss=losses, privacy=Pure(8.0), criterion=Average())).certificate
    assert certificate.relative_gap <= 1e-4
    assert certificate.upper == pytest.approx(6 * expected.upper, rel=1e-4)


def test_an_objective_that_overflows_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"objective.*finite"):
        custom(1.0, POINTS, POINTS, lambda q: 1.7e308 * cp.sum(q))


def test_bounds_further_apart_than_the_gap_are_no_answer() -> None:
    def ask(gap: float) -> Any:
        return custom(1.0, POINTS, POINTS, average, lambda q: [q[0, 0] >= 0.4], tolerance=1e-2, gap=gap)

    with pytest.raises(NoAnswer, match="gap") as caught:
        ask(1e-4)
    optimum = custom(1.0, POINTS, POINTS, average, lambda q: [q[0, 0] >= 0.4]).certificate
    assert 0 < caught.value.lower <= optimum.upper
    assert optimum.lower <= caught.value.upper < math.inf
    assert caught.value.design is not None
    assert (caught.value.design.certificate.lower, caught.value.design.certificate.upper) == (
        caught.value.lower,
        caught.value.upper,
    )
    assert 1e-4 < ask(0.5).certificate.relative_gap <= 0.5


def test_a_poor_table_of_the_solver_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["mechdesign.methods.convex.model"]

    def poor(epsilon: float, inputs: Finite, outputs: Finite, table: Any, base: Any, name: str) -> Any:
        return original(epsilon, inputs, outputs, np.ones_like(table), base, name)

    original = module.private_table
    monkeypatch.setattr(module, "private_table", poor)
    with pytest.raises(NoAnswer, match="gap"):
        custom(1.0, POINTS, POINTS, lambda q: 1e-9 * average(q))


# -- other ways to write the same -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_an_objective_may_be_an_array_of_one(shape: tuple[int, ...]) -> None:
    plain = custom(1.0, POINTS, POINTS, average).certificate
    assert custom(1.0, POINTS, POINTS, lambda q: cp.reshape(average(q), shape, order="F")).certificate == plain


@pytest.mark.parametrize(
    ("written", "comparison"),
    [
        (lambda q: [cp.NonNeg(q[0, 0] - 0.6)], lambda q: [q[0, 0] - 0.6 >= 0]),
        (lambda q: cp.NonNeg(q[0, :2] - 0.1), lambda q: [q[0, :2] - 0.1 >= 0]),
        (lambda q: [cp.Zero(q[0, 0] - 0.6)], lambda q: [q[0, 0] - 0.6 == 0]),
    ],
)
def test_named_cones_are_the_comparisons_they_stand_for(
    written: Callable[[Any], Any], comparison: Callable[[Any], Any]
) -> None:
    design, expected = (custom(1.0, POINTS, POINTS, average, constrain) for constrain in (written, comparison))
    assert not design.certificate.claimed
    assert design.certificate.upper == pytest.approx(expected.certificate.upper, rel=1e-6)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyError, RuntimeError, AttributeError])
@pytest.mark.parametrize("field", ["objective", "constraints"])
def test_an_error_in_a_function_of_the_users_is_the_cause_of_one_that_names_it(
    field: str, error: type[Exception]
) -> None:
    def broken(_: Any) -> Any:
        raise error("mine")

    with pytest.raises(InvalidInput, match=f"{field}.*mine") as caught:
        custom(1.0, POINTS, POINTS, **({"objective": average} | {field: broken}))
    assert isinstance(caught.value.__cause__, error)


def test_masked_arrays_are_refused() -> None:
    masked = np.ma.array(LOSS, mask=LOSS > 0.9)
    with pytest.raises(InvalidInput, match=r"objective.*masked"):
        custom(1.0, POINTS, POINTS, lambda q: cp.sum(cp.multiply(masked, q)))
    with pytest.raises(InvalidInput, match=r"domain.*masked"):
        custom(1.0, np.ma.array(POINTS, mask=POINTS > 0.9), POINTS, average)


# -- files ------------------------------------------------------------------------------------------------------------


def _saved(path: Path) -> Path:
    return custom(1.0, POINTS, POINTS, average, lambda q: [q[0, 0] >= 0.4]).save(path / "design.json")


def test_a_saved_design_is_proven_again_without_its_functions(tmp_path: Path) -> None:
    again = saved.load_design(_saved(tmp_path))
    assert not again.certificate.claimed
    assert isinstance(again.problem, Problem)
    assert isinstance(again.problem.loss, Formula)
    assert again.problem.loss.constraints == ("0.4 <= q[0, 0]",)
    assert again.problem.loss.coefficients is not None
    np.testing.assert_allclose(again.problem.loss.coefficients.costs, LOSS / 6, rtol=1e-15)


CASES: dict[str, Callable[[], Any]] = {
    "proven": lambda: custom(1.0, POINTS, POINTS, average, lambda q: [q[0, 0] >= 0.4]),
    "without constraints": lambda: custom(1.0, POINTS, POINTS, average),
    "worst": lambda: custom(1.0, POINTS, POINTS, errors, lambda q: [cp.sum_squares(q[0]) <= 0.3], criterion=Worst()),
    "norms": lambda: custom(
        1.0, POINTS, POINTS, lambda q: cp.norm(q - np.eye(6), "fro"), lambda q: [cp.norm(q[0] - 0.2) <= 0.5]
    ),
    "claimed": lambda: custom(1.0, POINTS, POINTS, lambda q: cp.log_sum_exp(q - np.eye(6))),
    "claimed with constraints": lambda: custom(1.0, POINTS, POINTS, average, lambda q: [cp.log_sum_exp(q[0]) <= 1.97]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_saved_design_comes_back_equal(name: str, tmp_path: Path) -> None:
    design = CASES[name]()
    again = saved.load_design(design.save(tmp_path / "design.json"))
    assert again == design
    assert again.certificate == design.certificate
    assert again.certificate.claimed == ("claimed" in name)


@pytest.mark.parametrize("name", ["proven", "without constraints", "worst", "norms"])
def test_the_problem_of_a_saved_design_is_solved_anew_without_its_functions(name: str, tmp_path: Path) -> None:
    saved_design = saved.load_design(CASES[name]().save(tmp_path / "design.json"))
    again = solve(saved_design.problem)
    assert again.problem == saved_design.problem
    assert not again.certificate.claimed
    assert again.certificate.lower == pytest.approx(saved_design.certificate.lower, rel=1e-4)
    assert again.certificate.upper == pytest.approx(saved_design.certificate.upper, rel=1e-4)


def test_functions_that_were_not_read_are_missed() -> None:
    with pytest.raises(InvalidInput, match="the Objective itself, not a Formula of which no coefficients were read"):
        solve(CASES["claimed"]().problem)


@pytest.mark.parametrize("weights", [[0.5, 0.5, 0, 0, 0, 0], [0.1, 0.1, 0.1, 0.1, 0.3, 0.3]])
def test_an_average_has_the_optimum_of_the_loss_matrix_under_any_prior(weights: list[float]) -> None:
    certificate = custom(1.0, POINTS, POINTS, errors, criterion=Average(weights)).certificate
    expected = solve(Problem(loss=LOSS, privacy=Pure(1.0), criterion=Average(weights))).certificate
    assert certificate.lower <= expected.upper
    assert expected.lower <= certificate.upper
    assert certificate.relative_gap <= 1e-5


def test_one_number_is_asked_in_total_and_errors_are_not() -> None:
    with pytest.raises(InvalidInput, match=r"objective.*6 numbers, an error for each input.*Total\(\)"):
        custom(1.0, POINTS, POINTS, average, criterion=Worst())
    with pytest.raises(InvalidInput, match="one real number"):
        custom(1.0, POINTS, POINTS, errors)
    with pytest.raises(InvalidInput, match="criterion must be left to objectives"):
        Problem(loss=LOSS, privacy=Pure(1.0), criterion=Total())


MISFITS: dict[str, dict[str, Any]] = {
    "an interval": {"inputs": (0, 1)},
    "an epsilon a pair": {"privacy": Metric([0, 1], 1.0)},
    "a class of numbers": {"among": Unbiased()},
    "places": {"among": Onto([[0, 1], [1, 1]])},
    "one input": {"criterion": At(0.5)},
}


@pytest.mark.parametrize("name", MISFITS)
def test_words_that_fit_no_table_are_refused(name: str) -> None:
    plain: dict[str, Any] = {"inputs": POINTS, "loss": Objective(errors), "privacy": Pure(1.0)}
    with pytest.raises(InvalidInput, match=next(iter(MISFITS[name]))):
        Problem(**plain | MISFITS[name])


def test_outputs_that_are_the_inputs_are_no_others() -> None:
    said = Problem(inputs=POINTS, loss=Objective(errors), privacy=Pure(1.0), among=Onto(POINTS))
    assert said.among == All()


FORGERIES: dict[str, Callable[[Any], Any]] = {
    "a tighter constraint": lambda d: d["problem"]["loss"]["coefficients"]["limits"].__setitem__(0, -0.5),
    "other costs": lambda d: d["problem"]["loss"]["coefficients"]["costs"][0].__setitem__(0, 0.5),
    "a larger offset": lambda d: d["problem"]["loss"]["coefficients"].update(offset=1.0),
    "a negative multiplier": lambda d: d["certificate"]["evidence"]["multipliers"].__setitem__(0, -1.0),
    "no constraint": lambda d: d["problem"]["loss"]["coefficients"].update(rows=[], limits=[], equal=[]),
    "no coefficients": lambda d: d["problem"]["loss"].update(coefficients=None),
    "a claim for a proof": lambda d: (
        d["certificate"].update(claimed=True, evidence={"kind": "convex claim", "lower": 0.5, "upper": 0.6}),
        d["certificate"].update(lower=0.5, upper=0.6),
    ),
    "an equality that does not hold": lambda d: d["problem"]["loss"]["coefficients"].update(
        equal=[True], limits=[-0.3]
    ),
    "a raised bound": lambda d: d["certificate"].update(lower=d["certificate"]["upper"]),
    "other levels": lambda d: d["certificate"]["evidence"].update(levels=[1.0] * 6),
    "another tolerance": lambda d: d["problem"]["loss"].update(tolerance=0.005),
    "other outputs": lambda d: d["problem"].update(
        among={"kind": "onto", "places": [[-1.0], *[[k] for k in range(5)]]}
    ),
    "an average of what is one number": lambda d: d["problem"].update(criterion={"kind": "average"}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_file_is_refused(name: str, tmp_path: Path) -> None:
    path = _saved(tmp_path)
    document = json.loads(path.read_text())
    FORGERIES[name](document)
    path.write_text(json.dumps(document))
    with pytest.raises((FileProblem, InvalidInput)):
        saved.load_design(path)
