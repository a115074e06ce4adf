"""The certified unbiased optimum: the reference values, linear programs, closed forms, the field, and tampering."""

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
from mechdesign_solvers import Highs, LinearProgram
from mechdesign_solvers.interior import solve_laws
from scipy import sparse

from mechdesign import Circle, Design, Interval, InvalidInput, catalogue, solve
from mechdesign.errors import CheckFailed, FileProblem, NoAnswer
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods import load_design
from mechdesign.methods.grid_prior import grid_weights, weights_on_grid, with_grid_prior
from mechdesign.methods.unbiased import UnbiasedPriorBound
from mechdesign.methods.unbiased.proof import variance_under
from mechdesign.values.declare import evolved
from mechdesign.words.cells import Cells
from mechdesign.words.classes import OnGrid
from mechdesign.words.criteria import Average, Family, Worst
from mechdesign.words.priors import Atoms, Density, Prior, beta, exponential, normal, uniform
from tests.methods import problems

S = catalogue.SYMMETRIC
UNBIASED = Family.UNBIASED.value
PRIORS: dict[str, Density] = {
    "normal(0,0.1)": normal(0, 0.1, S),
    "normal(0,0.2)": normal(0, 0.2, S),
    "exponential(6) from -1": exponential(6, S),
    "beta(.5,.5)": beta(0.5, 0.5, S),
}
# relative accuracy 1e-4; computed by another program
REFERENCE = {
    "normal(0,0.1)": (15.7738, 3.35084, 0.5293, 0.046919),
    "normal(0,0.2)": (15.8552, 3.48815, 0.58662, 0.058023),
    "exponential(6) from -1": (15.8097, 3.79385, 0.75372, 0.081228),
    "beta(.5,.5)": (15.9806, 3.94696, 0.82847, 0.118401),
}
EPSILONS = (0.5, 1.0, 2.0, 4.0)
ROWS = [(name, epsilon, value) for name in REFERENCE for epsilon, value in zip(EPSILONS, REFERENCE[name], strict=True)]


def _optimum(epsilon: float, prior: Prior, inputs: Interval = S, size: int = 33, gap: float = 1e-4) -> Design:
    return solve(problems.unbiased_under(epsilon, prior, inputs), gap=gap, size=size)


def _window(design: Design) -> UnbiasedWindow:
    assert isinstance(design.mechanism, UnbiasedWindow)
    return design.mechanism


def _program_value(inputs: np.ndarray, weights: np.ndarray, epsilon: float, outputs: np.ndarray) -> float:
    """The compact program ``mu <= q <= c mu`` on fixed outputs, by a general solver."""
    count, size = inputs.size, outputs.size
    eye, rows = sparse.identity(size), sparse.identity(count)
    floor = sparse.hstack([sparse.vstack([-eye] * count), sparse.identity(count * size)])
    roof = sparse.hstack([sparse.vstack([math.exp(epsilon) * eye] * count), -sparse.identity(count * size)])
    sums = sparse.hstack([sparse.csr_array((count, size)), sparse.kron(rows, np.ones((1, size)))])
    means = sparse.hstack([sparse.csr_array((count, size)), sparse.kron(rows, outputs[None, :])])
    costs = (weights[:, None] * (outputs - inputs[:, None]) ** 2).ravel()
    program = LinearProgram.of(
        np.concatenate([np.zeros(size), costs]),
        sparse.csr_array(sparse.vstack([floor, roof, sums, means])),
        np.concatenate([np.zeros(2 * count * size), np.ones(count), inputs]),
        np.concatenate([np.full(2 * count * size, math.inf), np.ones(count), inputs]),
        0.0,
    )
    value = Highs().solve(program).require_optimal().objective
    assert value is not None
    return value


@pytest.mark.parametrize(("name", "epsilon", "value"), ROWS)
def test_the_reference_values_are_met_with_their_proofs(name: str, epsilon: float, value: float) -> None:
    certificate = _optimum(epsilon, PRIORS[name], gap=1e-5).certificate
    assert certificate.valid_for == UNBIASED
    assert not certificate.claimed
    assert certificate.relative_gap <= 1e-5
    assert certificate.lower == pytest.approx(value, rel=1e-4)
    assert certificate.upper == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize(("name", "epsilon"), [(name, epsilon) for name in PRIORS for epsilon in EPSILONS])
def test_the_published_unbiased_mechanisms_have_more_variance(name: str, epsilon: float) -> None:
    inputs, certificate = np.linspace(-1, 1, 33), _optimum(epsilon, PRIORS[name]).certificate
    weights = grid_weights(PRIORS[name], S, 33)
    for entry in catalogue.ON_INTERVALS:
        if entry.unbiased:
            other = catalogue.build(entry.key, epsilon, S)
            assert float(weights @ other.variance(inputs)) > certificate.upper


@given(st.integers(0, 10**6), st.floats(0.2, 5.0), st.integers(3, 6))
@settings(deadline=None, max_examples=12)
def test_a_general_solver_on_fixed_outputs_agrees(seed: int, epsilon: float, size: int) -> None:
    """More variance on a grid of outputs; on the mechanism's own outputs, a value within the certificate."""
    rng = np.random.default_rng(seed)
    weights = rng.random(size) * (rng.random(size) < 0.7) + 1e-3
    inputs = np.linspace(-1, 1, size)
    design = _optimum(epsilon, Atoms(inputs, weights / weights.sum()), size=size)
    lower, upper = design.certificate.lower, design.certificate.upper
    reach, weights = 3 / math.tanh(epsilon / 2), weights_on_grid(design.problem, size)
    coarse = _program_value(inputs, weights, epsilon, np.linspace(-reach, reach, 121))
    own = _program_value(inputs, weights, epsilon, _window(design).points)
    assert lower <= coarse * (1 + 1e-7)
    assert lower * (1 - 1e-7) <= own <= upper * (1 + 1e-7)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_structured_program_solves_what_a_general_solver_solves(epsilon: float) -> None:
    inputs, weights = np.linspace(-1, 1, 7), np.array([0.1, 0.0, 0.3, 0.2, 0.2, 1e-8, 0.2])
    reach = 2.2 / math.tanh(epsilon / 2)
    outputs = np.linspace(-reach, reach, 41)
    found = solve_laws(inputs, weights, math.exp(epsilon), outputs, 1e-9)
    expected = _program_value(inputs, weights, epsilon, outputs)
    assert found.lower == pytest.approx(expected, rel=1e-7)
    assert found.upper == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0, 6.0])
def test_with_the_prior_on_both_ends_duchi_is_optimal(epsilon: float) -> None:
    certificate = _optimum(epsilon, Atoms([-1.0, 1.0], [0.5, 0.5]), size=9).certificate
    best = 1 / math.sinh(epsilon / 2) ** 2  # coth^2 - 1
    assert certificate.lower <= best * (1 + 1e-12)
    assert certificate.upper >= best * (1 - 1e-12)


@given(st.fractions(-1, 1))
@settings(deadline=None, max_examples=30)
def test_reports_are_unbiased_for_every_real_input_exactly(x: Fraction) -> None:
    mechanism = _SMALL_MECHANISM
    row = mechanism.exact_row(x)
    assert sum(q * Fraction(y) for q, y in zip(row, mechanism.points.tolist(), strict=True)) == x
    for q, base in zip(row, mechanism.base.tolist(), strict=True):
        assert Fraction(base) <= q <= Fraction(mechanism.ratio) * Fraction(base)


_SMALL = _optimum(1.5, PRIORS["normal(0,0.2)"], size=9)
_SMALL_MECHANISM = _window(_SMALL)


def test_the_upper_bound_is_the_average_of_the_rows() -> None:
    inputs, weights = np.linspace(-1, 1, 9), grid_weights(PRIORS["normal(0,0.2)"], S, 9)
    average = float(weights @ np.sum(_SMALL_MECHANISM.rows(inputs) * _SMALL_MECHANISM.points**2, axis=1))
    average -= float(weights @ inputs**2)
    assert _SMALL.certificate.upper == pytest.approx(average / weights.sum(), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 8.0, 12.0])
@pytest.mark.parametrize("name", ["normal(0,0.1)", "beta(.5,.5)"])
def test_weak_and_strong_privacy_are_certified_too(epsilon: float, name: str) -> None:
    certificate = _optimum(epsilon, PRIORS[name]).certificate
    assert 0 <= certificate.relative_gap <= 1e-4


@pytest.mark.parametrize(
    ("prior", "size"),
    [
        (Atoms([0.0], [1.0]), 33),
        (Atoms([0.3], [1.0]), 3),
        (Atoms([-1.0], [1.0]), 33),
        (Atoms([-0.2, 0.2], [0.5, 0.5]), 65),
    ],
)
def test_inputs_without_weight_still_bind(prior: Atoms, size: int) -> None:
    """The mechanism stays unbiased at the ends, so even a sure input costs nearly as much as at its worst."""
    certificate = _optimum(1.0, prior, size=size).certificate
    assert certificate.relative_gap <= 1e-4
    assert certificate.lower > 3


@pytest.mark.parametrize("inputs", [Interval(0, 1), Interval(-3, 40), Interval(1.7e9, 1.7e9 + 86_400)])
def test_moving_and_stretching_the_domain_scales_the_variance(inputs: Interval) -> None:
    on_unit = _optimum(2.0, normal(0.1, 0.3, S)).certificate
    half = inputs.length / 2
    moved = _optimum(2.0, normal(inputs.middle + 0.1 * half, 0.3 * half, inputs), inputs)
    assert moved.mechanism.inputs == inputs
    assert moved.certificate.upper / half**2 == pytest.approx(on_unit.upper, rel=1e-4)
    assert moved.certificate.lower <= on_unit.upper * half**2 * (1 + 1e-9)


def test_a_mirrored_prior_has_the_same_optimum() -> None:
    left, right = (_optimum(1.0, normal(mean, 0.2, S), size=17).certificate for mean in (-0.4, 0.4))
    assert left.lower <= right.upper
    assert right.lower <= left.upper


def test_more_inputs_cannot_be_served_better_by_the_coarse_mechanism() -> None:
    """The mechanism of 17 inputs is a mechanism for 65 inputs, so the bound for 65 holds for it."""
    coarse, fine = (_optimum(1.0, PRIORS["normal(0,0.2)"], size=size) for size in (17, 65))
    weights = weights_on_grid(fine.problem, 65)
    assert float(variance_under(_window(coarse), weights)) >= fine.certificate.lower


# -- certificates that must fail --------------------------------------------------------------------------------------


_ENTRIES = [
    (column, entry)
    for column in ("offsets", "slopes")
    for entry in np.flatnonzero(getattr(_SMALL.evidence, column)).tolist()
]


def test_almost_every_quadratic_has_something_to_change() -> None:
    assert len(_ENTRIES) >= 16  # of 18: a symmetric prior leaves the middle input without offset and slope


@pytest.mark.parametrize(("column", "entry"), _ENTRIES)
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_changed_quadratic_proves_less(column: str, entry: int, factor: float) -> None:
    evidence = _SMALL.evidence
    assert isinstance(evidence, UnbiasedPriorBound)
    changed = getattr(evidence, column).copy()
    changed[entry] *= factor
    worse = evolved(_SMALL, evidence=evolved(evidence, **{column: changed}))
    assert worse.certificate.lower < _SMALL.certificate.lower


def test_evidence_for_another_prior_proves_less() -> None:
    """The quadratics are those of one prior: under another they still prove something, and no more than is true."""
    other = evolved(_SMALL, problem=problems.unbiased_under(1.5, Atoms([-1.0, 1.0], [0.5, 0.5])))
    best = 1 / math.sinh(0.75) ** 2  # Duchi's
    assert other.certificate.lower < 0.99 * best
    assert other.certificate.upper >= best


def test_a_mechanism_with_more_variance_has_a_higher_upper_end() -> None:
    mechanism = evolved(_SMALL_MECHANISM, points=_SMALL_MECHANISM.points * 1.01)
    assert evolved(_SMALL, mechanism=mechanism).certificate.upper > _SMALL.certificate.upper


@pytest.mark.parametrize(
    "change",
    [
        {"problem": with_grid_prior(problems.unbiased_under(1.4, PRIORS["normal(0,0.2)"]), 9)},
        {"problem": with_grid_prior(problems.unbiased_under(1.5, PRIORS["normal(0,0.2)"]), 11)},
        {"problem": problems.unbiased_under(1.5, PRIORS["normal(0,0.2)"])},
        {"problem": with_grid_prior(problems.unbiased_under(1.5, normal(0, 0.2, Interval(-1, 2)), Interval(-1, 2)), 9)},
        {"problem": evolved(_SMALL.problem, criterion=Worst())},
        {"problem": evolved(_SMALL.problem, among=OnGrid(8))},
        {"mechanism": catalogue.duchi(1.5, S)},
    ],
)
def test_parts_that_do_not_belong_together_make_no_design(change: dict[str, object]) -> None:
    with pytest.raises(CheckFailed):
        evolved(_SMALL, **change)


# -- files ------------------------------------------------------------------------------------------------------------


def test_a_saved_design_comes_back_equal(tmp_path: Path) -> None:
    saved = load_design(_SMALL.save(tmp_path / "design.json"))
    assert saved == _SMALL
    assert saved.certificate == _SMALL.certificate


def test_a_design_for_a_function_is_about_what_it_was_rounded_to(tmp_path: Path) -> None:
    law = Density(lambda x: (1 + x) / 2, S, name="ramp")
    design = _optimum(1.0, law, size=5)
    saved = load_design(design.save(tmp_path / "design.json"))
    assert saved == design
    assert saved.problem.criterion == Average(Atoms(np.linspace(-1, 1, 5), grid_weights(law, S, 5)))


@pytest.mark.parametrize(
    ("path", "change"),
    [
        (("certificate", "lower"), lambda value: value * (1 + 1e-8)),
        (("certificate", "upper"), lambda value: value * (1 - 1e-8)),
        (("certificate", "valid_for"), lambda _: "all mechanisms"),
        (("certificate", "privacy_loss"), lambda _: 1.4),
        (("certificate", "claimed"), lambda _: True),
        (("certificate", "evidence", "slopes"), lambda values: [1.1 * value for value in values]),
        (("problem", "criterion", "kind"), lambda _: "worst"),
        (("problem", "criterion", "prior"), lambda _: {"kind": "atoms", "points": [0.0], "weights": [1.0]}),
        (("problem", "criterion", "prior", "points"), lambda values: [0.9 * value for value in values]),
        (("problem", "criterion", "prior", "weights"), lambda _: [0.5, 0.5]),
        (
            ("problem", "criterion", "prior", "weights"),
            lambda values: [*values[:3], values[3] + 1e-6, values[4] - 1e-6, *values[5:]],
        ),
        (("problem", "privacy", "epsilon"), lambda _: 1.6),
        (("problem", "among", "kind"), lambda _: "all"),
        (("mechanism", "outputs"), lambda values: [1.01 * value for value in values]),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(
    tmp_path: Path, path: tuple[str, ...], change: Callable[[object], object]
) -> None:
    file = _SMALL.save(tmp_path / "design.json")
    document = json.loads(file.read_text())
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = change(place[path[-1]])
    file.write_text(json.dumps(document))
    with pytest.raises((FileProblem, InvalidInput)):
        load_design(file)


def test_a_prior_on_the_inputs_is_not_called_a_density(tmp_path: Path) -> None:
    design = _optimum(1.0, Atoms([-1.0, 0.0, 1.0], [0.2, 0.3, 0.5]), size=3)
    file = design.save(tmp_path / "design.json")
    assert load_design(file) == design
    file.write_text(file.read_text().replace('"kind": "atoms"', '"kind": "density"'))
    with pytest.raises(FileProblem, match="problem criterion prior"):
        load_design(file)


# -- limits and bad input ---------------------------------------------------------------------------------------------


def test_a_time_limit_gives_bounds_that_hold() -> None:
    best = _SMALL.certificate
    with pytest.raises(NoAnswer, match="time limit") as caught:
        solve(problems.unbiased_under(1.5, PRIORS["normal(0,0.2)"]), seconds=1e-6, size=9)
    assert caught.value.lower <= best.upper
    assert best.lower <= caught.value.upper < math.inf


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf])
def test_time_limits_are_positive_and_finite(seconds: float) -> None:
    with pytest.raises(InvalidInput, match="seconds"):
        solve(problems.unbiased_under(1.0), seconds)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"epsilon": 0.0}, "eps"),
        ({"epsilon": math.nan}, "eps"),
        ({"epsilon": 1e-4}, "between 0.001 and 12"),
        ({"epsilon": 13.0}, "between 0.001 and 12"),
        ({"size": 2}, "from 3 to"),
        ({"size": 5.0}, "whole number"),
        ({"size": 100_000}, "from 3 to"),
        ({"gap": 1e-7}, "gap"),
        ({"gap": 1.0}, "gap"),
        ({"inputs": Circle(), "prior": None}, "prior must be left out"),
        ({"prior": Atoms([2.0], [1.0])}, "prior points"),
        ({"prior": uniform(Interval(-2, 2))}, "inside the inputs"),
        ({"prior": uniform(Circle())}, "inside the inputs"),
        ({"prior": [0.5, 0.5]}, "say where its weights are"),
        ({"prior": Cells.of_atoms([0.0, 1.0], [0.5, 0.5])}, "weights on points or a density"),
        ({"prior": Density(lambda x: 0.9 + 0 * x, S)}, "integrate to 1"),
        ({"prior": Density(lambda x: 0.5 + x, S)}, "at least 0"),
        ({"prior": Density(lambda x: np.nan * x, S)}, "finite"),
    ],
)
def test_bad_problems_name_the_field(change: dict[str, object], word: str) -> None:
    said: dict[str, Any] = {"epsilon": 1.0, "prior": uniform(S)} | change
    demands = {name: said.pop(name) for name in ("size", "gap") if name in said}
    with pytest.raises(InvalidInput, match=word):
        solve(problems.unbiased_under(**said), **demands)


def test_the_design_s_own_problem_has_the_prior_that_the_certificate_is_about() -> None:
    for points, rounded in (([-1.0, 0.5, 1.0], False), ([-1.0, 0.4, 1.0], True)):
        problem = problems.unbiased_under(1.0, Atoms(points, [0.25, 0.5, 0.25]))
        design = solve(problem, gap=1e-2, size=5)
        assert (design.problem != problem) is rounded
        assert design.problem == with_grid_prior(problem, 5)


@pytest.mark.parametrize("seconds", ["a", np.inf, 0.0])
def test_time_limits_that_are_no_numbers_are_refused(seconds: object) -> None:
    with pytest.raises(InvalidInput, match="seconds"):
        solve(problems.unbiased_under(1.0), seconds)  # type: ignore[arg-type]
