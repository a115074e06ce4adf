"""The average under a cap on the worst case: both ends, brute-force programs, the curve, tampering, limits."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mechdesign_solvers import Highs, LinearProgram

from mechdesign import Absolute, FileProblem, Interval, InvalidInput, NoAnswer, Power, Squared, load_design
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms import Window
from mechdesign.methods.registry import solve
from mechdesign.methods.result import FORMAT, VERSION, Design
from mechdesign.methods.saved import design_of_document
from mechdesign.methods.trade_off import TradeOffBound, pareto
from mechdesign.methods.trade_off.capped_search import _united
from mechdesign.methods.trade_off.supports import capped_of
from mechdesign.values.codec import encoded
from mechdesign.values.declare import evolved
from mechdesign.words import priors
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Average, Lexicographic
from tests.methods.problems import numbers

UNIT = Interval(0, 1)
FEW = priors.Atoms([0.2, 0.5, 0.6], [0.25, 0.5, 0.25])


def _compact(epsilon: float, exponent: int, prior: priors.Atoms, cap: float, outputs: np.ndarray, inputs: np.ndarray):
    """The optimum over all rows at ``inputs`` (the prior's points first) with given outputs: no window form."""
    ratio, rows, columns = math.exp(epsilon), inputs.size, outputs.size
    width = (rows + 1) * columns
    matrix, lower, upper = [], [], []
    cost = np.zeros(width)
    for i, x in enumerate(inputs):
        block = slice(i * columns, (i + 1) * columns)
        losses = np.abs(outputs - x) ** exponent
        mass, error = np.zeros(width), np.zeros(width)
        mass[block], error[block] = 1.0, losses
        matrix += [mass, error]
        lower += [1.0, 0.0]
        upper += [1.0, cap]
        if i < prior.points.size:
            cost[block] = prior.weights[i] * losses
        for j in range(columns):
            above, below = np.zeros(width), np.zeros(width)
            above[[i * columns + j, rows * columns + j]] = 1.0, -1.0
            below[[i * columns + j, rows * columns + j]] = -1.0, ratio
            matrix += [above, below]
            lower += [0.0, 0.0]
            upper += [math.inf, math.inf]
    return Highs().solve(LinearProgram.of(cost, np.array(matrix), lower, upper, 0.0)).require_optimal().objective


@pytest.mark.parametrize("exponent", [1, 2])
def test_the_compact_program_brackets_the_optimum(exponent: int) -> None:
    worst = solve(numbers(1.5, Power(float(exponent)))).certificate.upper
    cap = 1.05 * worst
    certificate = solve(numbers(1.5, Power(float(exponent)), criterion=Lexicographic(FEW, cap=cap))).certificate
    # few inputs keep the cap, outputs on a grid that has almost all that could matter: below, up to the grid
    inputs = np.concatenate([FEW.points, [0.0, 0.25, 0.75, 1.0]])
    relaxed = _compact(1.5, exponent, FEW, cap, np.linspace(0, 1, 41), inputs)
    assert relaxed <= certificate.upper + 5e-3
    # all half-grid inputs keep the cap with outputs on a coarse grid: attained, so above
    inputs = np.concatenate([FEW.points, [x for x in np.linspace(0, 1, 21) if np.abs(FEW.points - x).min() > 1e-9]])
    attained = _compact(1.5, exponent, FEW, cap, np.linspace(0, 1, 11), inputs)
    assert attained >= certificate.lower - 1e-9
    assert attained == pytest.approx(certificate.upper, rel=0.1)


@pytest.mark.parametrize("loss", [Absolute(), Squared()], ids=lambda loss: loss.name)
def test_the_lexicographic_optimum_keeps_the_least_worst_case(loss: Power) -> None:
    prior = priors.normal(0.3, 0.1, UNIT)
    design = solve(numbers(1.0, loss, criterion=Lexicographic(prior)), gap=1e-3)
    floor = solve(numbers(1.0, loss)).certificate
    assert isinstance(design.mechanism, Window)
    worst = float(exact_worst_error(design.mechanism, int(loss.exponent)))
    assert floor.lower * (1 - 1e-12) <= worst <= floor.upper * (1 + 2e-3)
    assert design.certificate.relative_gap <= 1e-3
    assert not design.certificate.claimed
    assert design.certificate.upper <= worst


def test_a_generous_cap_gives_the_optimum_under_the_prior() -> None:
    free = solve(numbers(1.0, criterion=Average(FEW))).certificate
    capped = solve(numbers(1.0, criterion=Lexicographic(FEW, cap=1.0))).certificate
    assert (capped.lower, capped.upper) == pytest.approx((free.lower, free.upper), rel=1e-12)


def test_the_curve_falls_and_is_convex() -> None:
    designs = pareto(numbers(1.0, Squared(), criterion=Lexicographic(FEW)), count=5, gap=1e-3)
    assert len(designs) == 5
    caps = [design.report.details["cap"] for design in designs]
    lower = [design.certificate.lower for design in designs]
    upper = [design.certificate.upper for design in designs]
    assert caps == sorted(caps)
    for k in range(4):
        assert lower[k + 1] <= upper[k]
    for k in range(1, 4):
        share = (caps[k] - caps[k - 1]) / (caps[k + 1] - caps[k - 1])
        assert lower[k] <= (1 - share) * upper[k - 1] + share * upper[k + 1]
    free = solve(numbers(1.0, Squared(), criterion=Average(FEW))).certificate
    assert lower[-1] == pytest.approx(free.lower, rel=1e-12)


def test_no_published_mechanism_that_keeps_the_cap_has_a_lower_average() -> None:
    from mechdesign import catalogue

    design = solve(numbers(2.0, Absolute(), criterion=Lexicographic(FEW, cap=0.3)))
    kept = 0
    for entry in catalogue.ON_INTERVALS:
        rival = entry.build(2.0, UNIT, Absolute())
        if rival.worst_case(Absolute())[0] <= 0.3:
            kept += 1
            assert rival.average_loss(Absolute(), FEW) >= design.certificate.lower
    assert kept > 0


def test_bounds_scale_with_the_domain() -> None:
    unit = solve(numbers(1.0, Squared(), criterion=Lexicographic(FEW, cap=0.22))).certificate
    prior = priors.Atoms(10 * FEW.points - 3, FEW.weights)
    wide = solve(numbers(1.0, Squared(), Interval(-3, 7), Lexicographic(prior, cap=22.0))).certificate
    assert wide.lower <= 100 * unit.upper
    assert 100 * unit.lower <= wide.upper


def test_a_rounded_prior_keeps_its_mean_and_is_in_the_certificate() -> None:
    problem = numbers(1.0, Squared(), criterion=Lexicographic(priors.beta(2.0, 5.0, UNIT)))
    design, asked = solve(problem, gap=1e-2), capped_of(problem)
    assert design.problem == problem
    assert asked.is_rounded
    assert asked.atoms.mean == pytest.approx(2 / 7, abs=1e-12)
    assert f"rounded to {asked.atoms.means.size} atoms" in design.certificate.valid_for


def test_the_scope_names_the_cap() -> None:
    certificate = solve(numbers(1.0, Squared(), criterion=Lexicographic(FEW, cap=0.22))).certificate
    assert certificate.valid_for == "all mechanisms with worst case at most 0.22"


def _document(design: Design) -> dict[str, Any]:
    return _json(design.document() | {"format": FORMAT, "version": VERSION})


def _json(document: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(document))


def test_tampering_that_overstates_breaks_the_certificate() -> None:
    design = solve(numbers(1.0, Squared(), criterion=Lexicographic(FEW, cap=0.2)))
    document, evidence = _document(design), design.evidence
    assert isinstance(evidence, TradeOffBound)
    assert evidence.prices.size
    assert design_of_document(document, "a file") == design
    # a smaller cap than the mechanism keeps, a larger one, another prior, prices that are too high or too low
    others = [
        {"problem": _json(encoded(evolved(design.problem, criterion=Lexicographic(prior, cap=cap))))}
        for prior, cap in ((FEW, 0.19), (FEW, 0.21), (priors.Atoms([0.2, 0.5, 0.6], [0.3, 0.4, 0.3]), 0.2))
    ]
    for factor in (10, 0.1):
        forged = encoded(evolved(evidence, prices=factor * evidence.prices))
        others.append({"certificate": document["certificate"] | {"evidence": _json(forged)}})
    certificate = document["certificate"]
    others.append({"certificate": certificate | {"lower": certificate["lower"] * 1.001}})
    others.append({"certificate": certificate | {"upper": certificate["upper"] * 0.999}})
    for change in others:
        with pytest.raises(FileProblem, match="certificate"):
            design_of_document(document | change, "a file")


@pytest.mark.parametrize("cap", [None, 0.22])
@pytest.mark.parametrize("prior", [FEW, priors.uniform(UNIT), priors.Atoms.of_data(np.arange(300) / 300)])
def test_a_design_comes_back_from_its_file_as_it_was(prior: priors.Prior, cap: float | None, tmp_path: Path) -> None:
    design = solve(numbers(1.0, Squared(), criterion=Lexicographic(prior, cap=cap)), gap=1e-2)
    assert design.problem == numbers(1.0, Squared(), criterion=Lexicographic(prior, cap=cap))
    assert load_design(design.save(tmp_path / "design.json")) == design


def test_a_density_that_is_a_function_is_held_as_the_cells_whose_means_it_was_rounded_to(tmp_path: Path) -> None:
    asked = numbers(1.0, Squared(), criterion=Lexicographic(priors.Density(lambda x: 2 * x, UNIT), cap=0.22))
    design = solve(asked, gap=1e-2)
    assert isinstance(design.problem.criterion.prior, Cells)
    assert capped_of(design.problem).is_rounded
    assert capped_of(design.problem).atoms == capped_of(asked).atoms
    assert load_design(design.save(tmp_path / "design.json")) == design


def test_a_cap_no_mechanism_keeps_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no mechanism keeps a cap below"):
        solve(numbers(1.0, Squared(), criterion=Lexicographic(FEW, cap=0.1)))


def test_a_time_limit_gives_bounds_and_no_design() -> None:
    with pytest.raises(NoAnswer) as stopped:
        solve(numbers(4.0, Absolute(), criterion=Lexicographic(priors.uniform(UNIT))), seconds=0.5, gap=1e-6)
    assert stopped.value.lower <= stopped.value.upper


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"epsilon": 0}, "above 0"),
        ({"loss": Power(3.0)}, "absolute or squared"),
        ({"prior": priors.Atoms([2.0], [1.0])}, "lie in"),
        ({"cap": -1.0}, "above 0"),
        ({"cap": math.nan}, "cap"),
        ({"gap": 1.0}, "gap"),
        ({"slack": 0.0}, "slack"),
    ],
)
def test_bad_problems_name_the_field(fields: dict[str, object], word: str) -> None:
    words = {name: fields[name] for name in fields.keys() & {"epsilon", "loss"}}
    demands = {name: fields[name] for name in fields.keys() & {"gap"}}
    said = {name: fields[name] for name in fields.keys() - words.keys() - demands.keys()}

    def ask() -> Design:
        criterion = Lexicographic(**{"prior": FEW} | said)  # type: ignore[arg-type]
        return solve(numbers(**{"epsilon": 1.0, "criterion": criterion} | words), **demands)  # type: ignore[arg-type]

    with pytest.raises(InvalidInput, match=word):
        ask()


@pytest.mark.parametrize("count", [1, True, 2.5])
def test_a_curve_has_at_least_two_points(count: object) -> None:
    with pytest.raises(InvalidInput, match="count"):
        pareto(numbers(1.0, criterion=Lexicographic(FEW)), count=count)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("inputs", "prior"),
    [
        (Interval(0.1, 0.7), priors.Atoms([0.2, 0.6], [0.5, 0.5])),
        (Interval(-3.0, 7.3), priors.uniform(Interval(-3.0, 7.3))),
    ],
)
def test_outputs_that_round_to_one_double_are_united(inputs: Interval, prior: priors.Prior) -> None:
    design = solve(numbers(1.0, Absolute(), inputs, Lexicographic(prior)))
    assert isinstance(design.mechanism, Window)
    assert (np.diff(design.mechanism.points) > 0).all()
    assert design.certificate.relative_gap <= 1e-3


def test_equal_places_add_their_masses() -> None:
    points, masses = _united(np.array([0.5, 0.1, 0.5]), np.array([0.25, 0.5, 1.0]))
    assert (points.tolist(), masses.tolist()) == ([0.1, 0.5], [0.5, 1.25])


def test_the_scope_names_a_rounded_prior() -> None:
    certificate = solve(numbers(1.0, Squared(), criterion=Lexicographic(priors.uniform(UNIT), cap=0.22))).certificate
    assert certificate.valid_for == "all mechanisms with worst case at most 0.22, under the prior rounded to 192 atoms"


def test_the_slack_is_proven_and_widens_the_cap() -> None:
    tight, loose = (solve(numbers(1.0, Squared(), criterion=Lexicographic(FEW, slack=slack))) for slack in (1e-3, 0.1))
    assert loose.certificate.upper < tight.certificate.lower
    evidence = loose.certificate.evidence
    assert isinstance(evidence, TradeOffBound)
    assert evidence.least is not None
    assert evidence.cap is not None
    least = float(evidence.least.least_worst_case(1.0, 2))
    assert least * 1.1 <= evidence.cap <= least * 1.15
    forged = _document(loose)
    forged["problem"]["criterion"]["slack"] = 0.01
    with pytest.raises(FileProblem, match="slack"):
        design_of_document(forged, "a file")


def test_bounds_are_finite_and_true_when_the_least_worst_case_is_not_found() -> None:
    with pytest.raises(NoAnswer, match="least worst case") as stopped:
        solve(numbers(2.0, Squared(), criterion=Lexicographic(FEW, slack=1e-5)), seconds=1e-6, gap=1e-4)
    free = solve(numbers(2.0, Squared(), criterion=Average(FEW))).certificate
    assert 0 < stopped.value.lower <= free.upper
    assert solve(numbers(2.0, Squared())).certificate.lower <= stopped.value.upper <= 0.25


@pytest.mark.parametrize("seconds", ["a", math.inf, -1.0])
def test_bad_time_limits_are_refused(seconds: object) -> None:
    with pytest.raises(InvalidInput, match="seconds"):
        solve(numbers(1.0, criterion=Lexicographic(FEW)), seconds=seconds)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
def test_subnormal_weights_give_no_warning() -> None:
    prior = priors.Atoms([0.1, 0.2, 0.5, 0.6], [5e-324, 0.5, 0.5, 5e-324])
    assert solve(numbers(1.0, Squared(), criterion=Lexicographic(prior, cap=0.22))).certificate.relative_gap <= 1e-3
