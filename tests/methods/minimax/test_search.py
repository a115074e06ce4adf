"""The certified optimum: reference rows, a brute-force linear program, scaling, tampering, limits."""

from __future__ import annotations

import json
import math
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mechdesign_solvers import Highs, LinearProgram

from mechdesign import Absolute, FileProblem, Interval, InvalidInput, NoAnswer, Power, Squared, load_design
from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.exact.two_inputs import two_input_bound
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms import Window
from mechdesign.methods import minimax_sweep
from mechdesign.methods.line import line_of
from mechdesign.methods.minimax import MinimaxBound, MinimaxClaim
from mechdesign.methods.minimax.search import _design, _MinimaxSearch
from mechdesign.methods.minimax.supports import MinimaxOptions, supports
from mechdesign.methods.registry import solve
from mechdesign.methods.result import FORMAT, VERSION
from mechdesign.methods.saved import design_of_document
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved
from tests.methods.problems import numbers

# published with the specification: exponent, epsilon, rational lower bound, attained upper bound on [0, 1]
REFERENCE = [
    (1, 0.5, 0.39526992, 0.39526993),
    (1, 1, 0.31616897, 0.31616898),
    (1, 2, 0.20082004, 0.20082049),
    (1, 4, 0.07808814, 0.07809067),
    (2, 0.5, 0.23500371, 0.23500372),
    (2, 1, 0.19661193, 0.19661194),
    (2, 2, 0.10688294, 0.10688314),
    (2, 4, 0.02605978, 0.02606009),
]


@pytest.mark.parametrize(("exponent", "epsilon", "lower", "upper"), REFERENCE)
def test_proven_bounds_meet_the_reference_interval(exponent: int, epsilon: float, lower: float, upper: float) -> None:
    certificate = solve(numbers(epsilon, Power(float(exponent))), gap=1e-5).certificate
    assert not certificate.claimed
    assert certificate.relative_gap <= 1e-5
    assert certificate.lower <= upper + 5e-9  # the reference is printed to eight digits
    assert certificate.upper >= lower - 5e-9


@given(st.floats(0.05, math.log(3 + 2 * math.sqrt(2)) - 0.01))
@settings(deadline=None, max_examples=20)
def test_the_two_point_theorem_holds(epsilon: float) -> None:
    certificate = solve(numbers(epsilon, Squared()), gap=1e-5).certificate
    ratio = math.exp(epsilon)
    assert certificate.lower - 1e-12 <= ratio / (1 + ratio) ** 2 <= certificate.upper + 1e-12


def _compact(epsilon: float, exponent: int, outputs: np.ndarray, inputs: np.ndarray) -> float:
    """The optimum with given outputs and inputs by the compact program over all rows: an independent formulation."""
    ratio, rows, columns = math.exp(epsilon), inputs.size, outputs.size
    width = rows * columns + columns + 1
    matrix, lower, upper = [], [], []
    for i, x in enumerate(inputs):
        block = slice(i * columns, (i + 1) * columns)
        mass, error = np.zeros(width), np.zeros(width)
        mass[block] = 1.0
        error[block] = -(np.abs(outputs - x) ** exponent)
        error[-1] = 1.0
        matrix += [mass, error]
        lower += [1.0, 0.0]
        upper += [1.0, math.inf]
        for j in range(columns):
            above, below = np.zeros(width), np.zeros(width)
            above[[i * columns + j, rows * columns + j]] = 1.0, -1.0
            below[[i * columns + j, rows * columns + j]] = -1.0, ratio
            matrix += [above, below]
            lower += [0.0, 0.0]
            upper += [math.inf, math.inf]
    cost = np.zeros(width)
    cost[-1] = 1.0
    solution = Highs().solve(LinearProgram.of(cost, np.array(matrix), lower, upper, 0.0)).require_optimal()
    assert solution.objective is not None
    return solution.objective


@given(st.floats(0.05, 3.5), st.sampled_from([1.0, 2.0]))
@settings(deadline=None, max_examples=25)
def test_every_epsilon_is_closed_to_the_default_gap(epsilon: float, exponent: float) -> None:
    certificate = solve(numbers(epsilon, Power(exponent))).certificate
    assert not certificate.claimed
    assert 0 <= certificate.relative_gap <= 1e-4


@pytest.mark.parametrize("exponent", [1.5, 3.0])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_other_exponents_are_claimed_and_bracketed_by_proven_bounds(exponent: float, epsilon: float) -> None:
    design = solve(numbers(epsilon, Power(exponent)))
    certificate = design.certificate
    assert certificate.claimed
    assert isinstance(certificate.evidence, MinimaxClaim)
    assert certificate.relative_gap <= 1e-4
    assert certificate.upper >= float(two_input_bound(epsilon, exponent))
    errors = design.mechanism.expected_loss(np.linspace(0, 1, 4001), Power(exponent))
    assert errors.max() <= certificate.upper


@given(st.floats(1e-6, 2.0), st.sampled_from([1.0, 2.0]), st.sampled_from([0.5, 1e-2, 1e-3]))
@settings(deadline=None, max_examples=25)
def test_wide_gaps_and_tiny_epsilons_are_no_special_case(epsilon: float, exponent: float, gap: float) -> None:
    """Where no row of G binds the multipliers still have the mass of a base measure."""
    certificate = solve(numbers(epsilon, Power(exponent)), gap=gap).certificate
    assert certificate.relative_gap <= gap


def test_the_optimum_is_monotone_in_the_exponent() -> None:
    """Distances below 1 shrink with the exponent, so a claimed optimum lies between its proven neighbours."""
    optima = [solve(numbers(1.5, Power(p))).certificate for p in (1.0, 1.5, 2.0)]
    assert optima[0].upper >= optima[1].lower
    assert optima[1].upper >= optima[2].lower


def test_a_sweep_keeps_to_the_outputs_that_are_allowed() -> None:
    sweep = list(minimax_sweep([numbers(2.0), numbers(2.1)], gap=1e-2, most_outputs=129))
    assert all(design.report.details["grid"] <= 129 for design in sweep)


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("epsilon", [1.0, 6.0, 12.0])
def test_the_upper_bound_of_a_stopped_search_is_no_less_than_the_exact_error(exponent: int, epsilon: float) -> None:
    problem = numbers(epsilon, Power(float(exponent)))
    line = line_of(problem, supports)
    search = _MinimaxSearch(line, 1e-4, MinimaxOptions().most_outputs, None, None)
    fill = search._solve_base().window.fill
    exact = exact_worst_error(Window(epsilon, Interval(0, 1), fill.points, fill.base, fill.ratio), exponent)
    certificate = _design(problem, line, 1e-4, search.found(), "stopped", Clock()).certificate
    assert 0 < certificate.lower < certificate.upper
    assert exact <= Fraction(certificate.upper) <= exact * (1 + Fraction(1, 10**11))


def test_a_sweep_gives_what_single_solves_give() -> None:
    problems = [numbers(epsilon, Absolute()) for epsilon in (0.7, 1.4, 2.1)]
    for problem, swept in zip(problems, minimax_sweep(problems), strict=True):
        alone = solve(problem).certificate
        assert swept.problem == problem
        assert swept.certificate.lower <= alone.upper
        assert alone.lower <= swept.certificate.upper


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("epsilon", [0.7, 2.0])
def test_the_compact_linear_program_brackets_the_optimum(exponent: int, epsilon: float) -> None:
    certificate = solve(numbers(epsilon, Power(float(exponent)))).certificate
    # few inputs and all outputs that could matter: below the optimum; half-grid inputs: attained, so above it
    relaxed = _compact(epsilon, exponent, np.linspace(0, 1, 31), np.linspace(0, 1, 4))
    attained = _compact(epsilon, exponent, np.linspace(0, 1, 11), np.linspace(0, 1, 21))
    assert attained >= certificate.lower - 1e-9
    assert relaxed <= certificate.upper + 5e-3
    assert attained == pytest.approx(certificate.upper, rel=2e-2)


def test_a_shared_coarse_grid_can_lie_below_the_proven_bound() -> None:
    """The trap: such a grid's value is not achievable, and must never be taken for an upper bound."""
    proven = solve(numbers(4.0, Absolute()), gap=1e-3).certificate.lower
    shared = np.linspace(0, 1, 21)
    assert _compact(4.0, 1, shared, shared) < proven


def test_bounds_scale_with_the_domain() -> None:
    unit = solve(numbers(1.5, Squared())).certificate
    wide = solve(numbers(1.5, Squared(), Interval(-3, 7))).certificate
    assert wide.upper == pytest.approx(100 * unit.upper, rel=1e-12)
    assert wide.lower == pytest.approx(100 * unit.lower, rel=1e-12)


def test_the_mechanism_attains_the_upper_bound_over_many_inputs() -> None:
    design = solve(numbers(2.0, Absolute(), Interval(-1, 1)))
    errors = design.mechanism.expected_loss(np.linspace(-1, 1, 3001), Absolute())
    assert errors.max() <= design.certificate.upper
    assert errors.max() >= design.certificate.upper * 0.999


def test_tampering_with_any_atom_breaks_the_certificate() -> None:
    """A file that keeps the bounds and moves an atom is not read: they are derived from the atoms again."""
    design = solve(numbers(1.0, Absolute()), gap=1e-5)
    document = design.document() | {"format": FORMAT, "version": VERSION}
    assert design_of_document(document, "a file") == design
    assert isinstance(design.evidence, MinimaxBound)
    atoms, tried = design.evidence.atoms, 0
    for k in range(atoms.inputs.size):
        for name in ("inputs", "radii", "weights"):
            arrays = {field: getattr(atoms, field).copy() for field in ("inputs", "radii", "weights")}
            arrays[name][k] += 0.02 if arrays[name][k] < 0.5 else -0.02
            tampered = evolved(design, evidence=MinimaxBound(LevelledPrior(**arrays)))
            assert tampered.certificate.lower <= design.certificate.upper
            if tampered.certificate.lower >= design.certificate.lower * (1 - 1e-9):
                continue  # not a forgery: it proves as much
            tried += 1
            forged = document["certificate"] | {"evidence": tampered.certificate.document()["evidence"]}
            with pytest.raises(FileProblem, match="certificate lower"):
                design_of_document(document | {"certificate": forged}, "a file")
    assert tried > atoms.inputs.size


def test_a_saved_design_is_proven_again(tmp_path: Path) -> None:
    design = solve(numbers(1.0, Squared()))
    path = design.save(tmp_path / "design.json")
    assert load_design(path).certificate == design.certificate
    document = json.loads(path.read_text())
    document["certificate"]["lower"] *= 1.001
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidInput):
        load_design(path)


def test_a_grid_too_coarse_for_the_gap_gives_bounds_and_no_design() -> None:
    with pytest.raises(NoAnswer) as stopped:
        solve(numbers(4.0, Absolute(), Interval(0, 2)), gap=1e-5, most_outputs=129)
    assert stopped.value.lower <= 2 * 0.07808867 <= stopped.value.upper


def test_a_stopped_search_carries_its_best_design_with_the_bounds_it_prints(tmp_path: Path) -> None:
    with pytest.raises(NoAnswer, match=r"a gap of .* is within reach") as stopped:
        solve(numbers(4.0, Absolute(), Interval(0, 2)), gap=1e-5, most_outputs=129)
    design, wider = stopped.value.design, stopped.value.gap_within_reach
    certificate = design.certificate
    assert (certificate.lower, certificate.upper) == (stopped.value.lower, stopped.value.upper)
    assert 1e-5 < certificate.relative_gap < wider < 2.2 * certificate.relative_gap
    assert load_design(design.save(tmp_path / "design.json")).certificate == certificate


def test_the_gap_named_is_met_by_the_same_search() -> None:
    problem = numbers(4.0, Absolute())
    with pytest.raises(NoAnswer) as stopped:
        solve(problem, gap=1e-5, most_outputs=129)
    wider = stopped.value.gap_within_reach
    assert solve(problem, gap=wider, most_outputs=129).certificate.relative_gap <= wider


@pytest.mark.parametrize(("epsilon", "exponent"), [(6.0, 1.5), (8.0, 3.0)])
def test_powers_without_a_proof_keep_the_bound_of_their_prior_when_stopped(epsilon: float, exponent: float) -> None:
    with pytest.raises(NoAnswer, match=r"claimed, not proven") as stopped:
        solve(numbers(epsilon, Power(exponent)), gap=1e-6, most_outputs=129)
    assert stopped.value.claimed
    assert stopped.value.lower > 1.2 * two_input_bound(epsilon, exponent)
    assert stopped.value.gap < 0.2


@pytest.mark.parametrize("seconds", [1e-6, 0.05])
def test_however_short_the_time_there_is_a_design(seconds: float) -> None:
    with pytest.raises(NoAnswer) as stopped:
        solve(numbers(9.0, Absolute(), Interval(-1, 3)), seconds, gap=1e-6)
    certificate = stopped.value.design.certificate
    assert not certificate.claimed
    # half the domain is what a constant output achieves, and the two-input floor what nobody can beat
    floor = 4 * float(two_input_bound(9.0, 1.0))
    assert floor * (1 - 1e-10) <= certificate.lower <= certificate.upper <= 2


def test_a_sweep_with_best_so_far_has_a_design_for_every_problem() -> None:
    problems = [numbers(epsilon, Absolute()) for epsilon in (1.0, 4.0, 7.0)]
    designs = list(minimax_sweep(problems, gap=1e-6, best_so_far=True, most_outputs=65))
    assert [design.problem.epsilon for design in designs] == [1.0, 4.0, 7.0]
    assert ["stopped" in design.report.details for design in designs] == [
        design.certificate.relative_gap > 1e-6 for design in designs
    ]
    assert "stopped" in designs[-1].report.details


def test_no_answer_travels_between_processes_with_its_bounds() -> None:
    with pytest.raises(NoAnswer) as stopped:
        solve(numbers(6.0, Power(1.5)), gap=1e-6, most_outputs=65)
    again = pickle.loads(pickle.dumps(stopped.value))
    assert (again.lower, again.upper, again.claimed) == (stopped.value.lower, stopped.value.upper, True)
    assert again.design is None


def test_a_time_limit_gives_bounds_in_the_domain_s_units() -> None:
    with pytest.raises(NoAnswer) as stopped:
        solve(numbers(4.0, Absolute(), Interval(0, 10)), seconds=0.15, gap=1e-6)
    assert stopped.value.lower <= 0.7808867 <= stopped.value.upper


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"epsilon": 17}, "between 1e-06 and 16"),
        ({"epsilon": 1e-9}, "between 1e-06 and 16"),
        ({"epsilon": 0}, "above 0"),
        ({"loss": Power(0.9)}, "P at least 1"),
        ({"loss": Power(1.0, period=1.0)}, "leave the period out"),
        ({"loss": "nonsense"}, "be absolute, squared"),
        ({"inputs": "01"}, "several points"),
        ({"gap": 0.0}, "between 1e-9 and 1"),
        ({"gap": 1e-8}, "between 1e-6 and 1"),
        ({"gap": math.nan}, "gap"),
        ({"most_outputs": 64}, "from 65 to 65537"),
        ({"most_outputs": 201.0}, "from 65 to 65537"),
        ({"most_outputs": True}, "from 65 to 65537"),
    ],
)
def test_bad_problems_name_the_field(fields: dict[str, object], word: str) -> None:
    words = {name: fields[name] for name in fields.keys() & {"epsilon", "loss", "inputs"}}
    demands = {name: fields[name] for name in fields.keys() - words.keys()}
    with pytest.raises(InvalidInput, match=word):
        solve(numbers(**{"epsilon": 1.0} | words), **demands)  # type: ignore[arg-type]


def test_a_claim_stands_in_its_file_and_what_the_mechanism_attains_is_computed(tmp_path: Path) -> None:
    design = solve(numbers(2.0, Power(1.5), Interval(0, 3)))
    path = design.save(tmp_path / "design.json")
    assert load_design(path) == design
    document = json.loads(path.read_text())
    document["certificate"]["upper"] *= 1.001
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match="certificate upper"):
        load_design(path)


def test_a_design_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    design = solve(numbers(2.0, Absolute(), Interval(-1, 1)))
    again = load_design(design.save(tmp_path / "design.json"))
    assert again == design
    assert again.problem == design.problem
    assert again.report == design.report


@pytest.mark.parametrize("key", ["lower", "upper", "privacy_loss"])
@pytest.mark.parametrize("said", [10**400, -(10**400), "0.1", None, True])
def test_numbers_of_a_certificate_that_no_double_holds_are_refused(key: str, said: object) -> None:
    design = solve(numbers(1.0, Squared()))
    document = design.document() | {"format": FORMAT, "version": VERSION}
    with pytest.raises(FileProblem, match=f"certificate {key}"):
        design_of_document(document | {"certificate": document["certificate"] | {key: said}}, "a file")
