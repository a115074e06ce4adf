"""The certified optimum on finitely many numbers: against linear programs over all mechanisms, and as a table."""

import numpy as np
import pytest
from scipy.optimize import linprog

import mechdesign as md
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput
from mechdesign.methods import load_design, solve
from mechdesign.methods.finite import FiniteBound
from mechdesign.tables import apply, estimate, make_table
from mechdesign.values.files import dump_json, read_json
from mechdesign.words.criteria import Average, Lexicographic
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Absolute, Power, Squared
from mechdesign.words.priors import Atoms
from tests.methods.problems import numbers

AGES = Finite(range(18, 91))
UNEVEN = Finite((0.0, 0.1, 0.7, 1.0))


def least_error(points, outputs, epsilon, exponent, prior=None):
    """The optimum over all laws from the points to the outputs: every pair of inputs is a row of the program."""
    n, m, c = len(points), len(outputs), np.exp(epsilon)
    losses = np.abs(np.subtract.outer(np.array(points), np.array(outputs))) ** exponent
    cost = np.zeros(n * m + 1)
    rows, bounds = [], []
    for i in range(n):
        for other in range(n):
            for j in range(m):
                if i != other:
                    row = np.zeros(n * m + 1)
                    row[i * m + j], row[other * m + j] = 1, -c
                    rows.append(row)
                    bounds.append(0.0)
    if prior is None:
        cost[-1] = 1
        for i in range(n):
            row = np.zeros(n * m + 1)
            row[i * m : (i + 1) * m], row[-1] = losses[i], -1
            rows.append(row)
            bounds.append(0.0)
    else:
        cost[:-1] = (losses * np.array(prior)[:, None]).ravel()
    sums = np.zeros((n, n * m + 1))
    for i in range(n):
        sums[i, i * m : (i + 1) * m] = 1
    found = linprog(cost, np.array(rows), np.array(bounds), sums, np.ones(n), bounds=(0, None))
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("points", [(18, 19, 20, 21), (-1, 0, 4), UNEVEN.points])
@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_worst_case_is_that_of_a_program_over_all_laws(points, exponent, epsilon):
    design = solve(numbers(epsilon, Power(float(exponent)), Finite(points)))
    wanted = least_error(points, points, epsilon, exponent)
    assert design.certificate.lower <= wanted * (1 + 1e-7)
    assert design.certificate.upper == pytest.approx(wanted, rel=2e-4)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("prior", [None, (0.1, 0.5, 0.15, 0.25)])
def test_outputs_between_the_points_do_not_help_the_absolute_error(epsilon, prior):
    points = (0.0, 1.0, 3.0, 4.0)
    more = np.linspace(-1, 5, 25)
    few, many = (least_error(points, outputs, epsilon, 1, prior) for outputs in (points, more))
    assert few == pytest.approx(many, rel=1e-7)


def test_outputs_between_the_points_can_help_the_squared_error():
    design = solve(numbers(1.0, Squared(), Finite((0, 1))))
    assert least_error((0, 1), np.linspace(0, 1, 41), 1.0, 2) < 0.8 * design.certificate.lower
    assert design.certificate.valid_for == "all mechanisms with these outputs"
    assert solve(numbers(1.0, Absolute(), Finite((0, 1)))).certificate.valid_for == "all mechanisms"


@pytest.mark.parametrize("exponent", [1, 2])
def test_the_average_is_that_of_a_program_over_all_laws(exponent):
    weights = (0.1, 0.2, 0.4, 0.3)
    problem = numbers(1.0, Power(float(exponent)), UNEVEN, Average(Atoms(UNEVEN.points, weights)))
    certificate = solve(problem).certificate
    wanted = least_error(UNEVEN.points, UNEVEN.points, 1.0, exponent, weights)
    assert certificate.lower <= wanted * (1 + 1e-7)
    assert certificate.upper == pytest.approx(wanted, rel=1e-5)


def test_fewer_inputs_are_no_harder_than_their_interval():
    on_points = solve(numbers(1.0, Absolute(), AGES)).certificate
    on_interval = solve(numbers(1.0, Absolute(), Interval(18, 90)), gap=1e-3).certificate
    assert on_points.lower <= on_interval.upper
    assert on_points.upper <= on_interval.upper


@pytest.mark.parametrize(
    "design",
    [
        lambda: solve(numbers(1.0, Absolute(), UNEVEN)),
        lambda: solve(numbers(1.0, Squared(), UNEVEN, Average(Atoms((0.1, 1.0), (0.5, 0.5))))),
    ],
)
def test_a_saved_design_is_proven_again_and_is_about_its_points_and_loss(design, tmp_path):
    made = design()
    path = made.save(tmp_path / "d.json")
    saved = load_design(path)
    assert saved == made
    assert saved.certificate == made.certificate
    document = read_json(path)
    lies = [("loss", {"kind": "power", "exponent": 3.0, "period": None}), ("kind", "finite")]
    lies.append(("inputs", {"kind": "finite", "points": [0.0, 0.1, 0.7, 2.0]}))
    lies.append(("criterion", {"kind": "average", "prior": [0.0, 0.4, 0.0, 0.6]}))
    for field, lie in lies:
        path.write_text(dump_json(document | {"problem": document["problem"] | {field: lie}}))
        with pytest.raises(FileProblem):
            load_design(path)


COIN = numbers(1.0, Absolute(), Finite((18, 19)))
LEVELS = FiniteBound([0.2689] * 2, [0.5] * 2)


def test_evidence_is_about_mechanisms_of_the_problem_s_points_and_epsilon_only():
    made = solve(numbers(1.0, Absolute(), UNEVEN))
    assert isinstance(made.evidence, FiniteBound)
    for other in (numbers(1.0, Absolute(), Finite((0, 1, 2, 3))), numbers(2.0, Absolute(), UNEVEN)):
        mechanism = solve(other).mechanism
        with pytest.raises(CheckFailed, match=r"takes|has eps"):
            made.evidence.attained(made.problem, mechanism)


def test_randomised_response_is_optimal_for_two_points():
    mechanism = solve(COIN).mechanism
    assert LEVELS.bound(COIN, mechanism) == pytest.approx(1 / (1 + np.e), abs=1e-4)


def test_evidence_is_about_points_only():
    for other in (numbers(1.0), Finite((18, 19))):
        with pytest.raises(CheckFailed, match="finitely many"):
            LEVELS.bound(other, solve(COIN).mechanism)


@pytest.mark.parametrize(
    ("levels", "weights"), [([0.2] * 3, [0.5] * 3), ([0.2] * 3, [0.5] * 2), ([0.2] * 2, [-0.1, 1])]
)
def test_levels_and_weights_are_one_a_point_and_weights_are_not_negative(levels, weights):
    with pytest.raises(CheckFailed, match=r"one for each of the 2 inputs|at least 0"):
        FiniteBound(levels, weights).bound(COIN, solve(COIN).mechanism)


def test_an_average_has_no_weights_beside_its_prior_and_a_worst_case_has_some():
    mechanism = solve(COIN).mechanism
    average = numbers(1.0, Absolute(), COIN.inputs, Average(Atoms((18, 19), (0.5, 0.5))))
    without = FiniteBound([0.2689] * 2, [0.0] * 2)
    assert without.bound(average, mechanism) > 0
    for evidence, problem in ((LEVELS, average), (without, COIN)):
        with pytest.raises(CheckFailed, match="weights"):
            evidence.bound(problem, mechanism)


def test_whole_numbers_go_in_and_come_out_of_the_table():
    table = make_table(md.solve(numbers(8.0, inputs=AGES)))
    ages = np.repeat([18, 44, 90], 2000)
    reports = apply(table, ages)
    assert set(reports.tolist()) <= set(map(float, range(18, 91)))
    found = estimate(table, reports, confidence=1 - 1e-9)
    assert found.lower <= ages.mean() <= found.upper
    with pytest.raises(InvalidInput, match="73 points of the domain"):
        apply(table, [18.5])


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (numbers(1.0, Power(3.0), AGES), "absolute or squared on a finite domain"),
        (numbers(1.0, inputs=Finite((1,))), "from 2 to 1000 points"),
        (numbers(1.0, inputs=Finite(range(1001))), "from 2 to 1000 points"),
    ],
)
def test_what_points_cannot_be_is_refused_with_a_next_step(problem, words):
    with pytest.raises(InvalidInput, match=words):
        solve(problem)


@pytest.mark.parametrize("exponent", [1, 2])
def test_the_average_next_to_the_least_worst_case_is_that_of_a_program_over_all_laws(exponent):
    """The same with the worst case capped by what was proven, and no mechanism of the published ones below it."""
    problem = numbers(1.0, Power(float(exponent)), UNEVEN, Lexicographic([0.1, 0.2, 0.4, 0.3], 0.01))
    design = solve(problem, gap=1e-4)
    cap, scope = design.certificate.scope.cap, design.certificate.valid_for
    least = least_error(UNEVEN.points, UNEVEN.points, 1.0, exponent)
    assert least < cap <= least * 1.01 * (1 + 1e-9)
    free = solve(numbers(1.0, Power(float(exponent)), UNEVEN, Average([0.1, 0.2, 0.4, 0.3]))).certificate
    assert free.lower <= design.certificate.lower
    assert scope.startswith("all mechanisms with worst case" if exponent == 1 else "all mechanisms with these outputs")
