"""The optimum under a prior: closed forms, scaling, many values, densities, tampering, limits."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign import Absolute, Interval, InvalidInput, NoAnswer, Power, Squared, load_design
from mechdesign.errors import FileProblem
from mechdesign.mechanisms import Window
from mechdesign.methods.prior import BinsBound, search
from mechdesign.methods.registry import solve
from mechdesign.methods.result import FORMAT, VERSION, Design
from mechdesign.methods.saved import design_of_document
from mechdesign.values.codec import encoded
from mechdesign.values.declare import evolved
from mechdesign.words import priors
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Average
from tests.methods.problems import numbers

UNIT = Interval(0, 1)
UNIFORM = priors.uniform(UNIT)


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_equal_bins_cannot_beat_the_optimum_for_the_uniform_prior(epsilon: float, exponent: int) -> None:
    certificate = solve(numbers(epsilon, Power(float(exponent)), criterion=Average(UNIFORM)), gap=1e-5).certificate
    equal = min(_uniform_on_equal_bins(epsilon, exponent, bins) for bins in range(1, 12))
    assert certificate.lower <= equal * (1 + 1e-12)
    assert certificate.relative_gap <= 1e-5


def _uniform_on_equal_bins(epsilon: float, exponent: int, bins: int) -> float:
    """Outputs in the middle of equal bins, by the integral of the definition."""
    x = (np.arange(200_000) + 0.5) / 200_000
    losses = np.abs(x[:, None] - (np.arange(bins) + 0.5) / bins) ** exponent
    ratio = math.exp(epsilon)
    return float((losses.sum(axis=1) + (ratio - 1) * losses.min(axis=1)).mean() / (ratio + bins - 1))


@pytest.mark.parametrize(("exponent", "expected"), [(1, 0.5), (2, 0.25)])
def test_without_information_the_best_output_is_the_centre(exponent: int, expected: float) -> None:
    design = solve(numbers(1e-6, Power(float(exponent)), criterion=Average(priors.Atoms([0.0, 1.0], [0.5, 0.5]))))
    assert design.certificate.lower == pytest.approx(expected, rel=1e-5)


def test_two_bins_for_the_uniform_prior_in_closed_form() -> None:
    """p = 2, k = 2: outputs 1/2 -+ d with (c+1) d = (c-1)/4, value 1/12 - d^2."""
    ratio = math.exp(1.0)
    shift = (ratio - 1) / (4 * (ratio + 1))
    design = solve(numbers(1.0, Squared(), criterion=Average(UNIFORM)), gap=1e-7)
    assert design.certificate.lower <= 1 / 12 - shift**2 <= design.certificate.upper * (1 + 1e-12)
    assert isinstance(design.mechanism, Window)
    assert design.mechanism.points.tolist() == pytest.approx([0.5 - shift, 0.5 + shift], abs=1e-3)


def test_atoms_are_solved_exactly() -> None:
    rng = np.random.default_rng(1)
    atoms = priors.Atoms.of_data(rng.random(300))
    for exponent in (1, 2):
        certificate = solve(numbers(2.0, Power(float(exponent)), criterion=Average(atoms))).certificate
        assert certificate.relative_gap <= 1e-13
        assert not certificate.claimed
        assert certificate.valid_for == "all mechanisms"


def test_the_work_grows_in_proportion_to_the_values(calls_of: Callable[[Callable[[], object]], int]) -> None:
    def work(values: int) -> int:
        atoms = priors.Atoms.of_data(np.random.default_rng(2).random(values))
        return calls_of(lambda: solve(numbers(2.0, Absolute(), criterion=Average(atoms))))

    work(10)  # what is prepared once is not counted
    assert work(1000) < 6 * work(250)  # pairs of values would make it 16


def test_many_values_meet_the_gap_through_cells() -> None:
    data = np.random.default_rng(3).beta(2, 5, 100_000)
    prior = priors.Atoms.of_data(data)
    design = solve(numbers(2.0, Absolute(), criterion=Average(prior)), gap=1e-5)
    evidence = design.certificate.evidence
    assert isinstance(evidence, BinsBound)
    assert evidence.cells(design.problem.criterion.prior).means.size < 1000
    assert design.certificate.relative_gap <= 1e-5
    assert design.mechanism.average_loss(Absolute(), prior) <= design.certificate.upper * (1 + 1e-12)
    assert design.mechanism.average_loss(Absolute(), prior) >= design.certificate.lower * (1 - 1e-12)


def test_cells_agree_with_the_values_they_hold() -> None:
    data = np.random.default_rng(4).random(990)
    few = solve(numbers(1.0, Squared(), criterion=Average(priors.Atoms.of_data(data)))).certificate
    spread = np.concatenate([data - 1e-7, data + 1e-7]) * (1 - 4e-7) + 2e-7
    many = solve(numbers(1.0, Squared(), criterion=Average(priors.Atoms.of_data(spread)))).certificate
    assert few.upper == pytest.approx(many.upper, rel=1e-5)


@pytest.mark.parametrize(
    "prior",
    [
        priors.normal(0.3, 0.1, UNIT),
        priors.beta(0.5, 0.5, UNIT),
        priors.exponential(6.0, UNIT),
        priors.histogram([0, 0.25, 0.5, 1], [0.5, 0.1, 0.4]),
    ],
    ids=lambda prior: prior.name,
)
def test_densities_are_bracketed_by_the_mechanism_s_own_average(prior: priors.Density) -> None:
    for loss in (Absolute(), Squared()):
        design = solve(numbers(1.0, loss, criterion=Average(prior)))
        average = design.mechanism.average_loss(loss, prior)
        assert design.certificate.lower * (1 - 1e-9) <= average <= design.certificate.upper * (1 + 1e-9)


def test_the_optimum_scales_with_the_domain() -> None:
    points, weights = np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.25, 0.25, 0.25, 0.25])
    unit = solve(numbers(1.5, Squared(), criterion=Average(priors.Atoms(points, weights)))).certificate
    wide = solve(numbers(1.5, Squared(), Interval(-3, 5), Average(priors.Atoms(8 * points - 3, weights))))
    assert wide.certificate.upper == pytest.approx(64 * unit.upper, rel=1e-12)


def test_one_value_costs_nothing() -> None:
    certificate = solve(numbers(1.0, criterion=Average(priors.Atoms([0.3], [1.0])))).certificate
    assert (certificate.lower, certificate.upper) == (0.0, 0.0)


def test_the_mechanism_is_randomised_response_on_bins() -> None:
    design = solve(numbers(3.0, Absolute(), criterion=Average(UNIFORM)), gap=1e-4)
    mechanism = design.mechanism
    assert isinstance(mechanism, Window)
    count, ratio = mechanism.points.size, math.exp(3.0)
    row = np.sort(mechanism.rows(0.1))
    assert row[-1] == pytest.approx(ratio / (ratio + count - 1))
    assert row[:-1] == pytest.approx(np.full(count - 1, 1 / (ratio + count - 1)))


def _document(design: Design) -> dict[str, Any]:
    return _json(design.document() | {"format": FORMAT, "version": VERSION})


def _json(document: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(document))


def test_tampering_that_overstates_breaks_the_certificate() -> None:
    design = solve(numbers(1.0, Absolute(), criterion=Average(priors.Atoms([0.1, 0.4, 0.9], [0.3, 0.3, 0.4]))))
    assert design_of_document(_document(design), "a file") == design
    tried = 0
    for k in range(3):
        for name in ("points", "weights"):
            forged = _document(design)
            column = forged["problem"]["criterion"]["prior"][name]
            column[k] += 0.02
            if name == "weights":
                column[(k + 1) % 3] -= 0.02
            form = forged["problem"]["criterion"]["prior"]
            changed = numbers(1.0, criterion=Average(priors.Atoms(form["points"], form["weights"])))
            bounds = evolved(design, problem=changed).certificate
            if bounds.lower == design.certificate.lower:
                continue  # not a forgery: it proves the same of another prior
            tried += 1
            with pytest.raises(FileProblem, match="certificate"):
                design_of_document(forged, "a file")
    assert tried >= 5
    for lower, upper in ((1.001, 1.001), (0.99, 0.999), (1.0, 1.001), (0.999, 1.0)):
        forged = _document(design)
        forged["certificate"]["lower"] *= lower
        forged["certificate"]["upper"] *= upper
        with pytest.raises(FileProblem, match="what was derived"):
            design_of_document(forged, "a file")


def test_a_gap_out_of_reach_gives_bounds_and_no_design() -> None:
    with pytest.raises(NoAnswer) as stopped:
        solve(numbers(8.0, Absolute(), criterion=Average(UNIFORM)), seconds=0.2, gap=1e-9)
    assert stopped.value.lower <= 0.0103545
    assert stopped.value.upper >= 0.0103256


def test_a_density_of_another_mass_is_refused() -> None:
    half = priors.Density(lambda x: np.full_like(x, 0.5), UNIT)
    with pytest.raises(InvalidInput, match="mass 1"):
        solve(numbers(1.0, criterion=Average(half)))


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"epsilon": 17}, "between 1e-06 and 16"),
        ({"epsilon": -1}, "above 0"),
        ({"loss": Power(1.5)}, "absolute or squared"),
        ({"inputs": "01"}, "several points"),
        ({"inputs": Interval(0.2, 1)}, "live inside"),
        ({"prior": priors.Atoms([0.5, 1.5], [0.5, 0.5])}, "lie in"),
        ({"prior": "nonsense"}, "be uniform, normal"),
        ({"gap": 0.0}, "gap"),
        ({"gap": math.nan}, "gap"),
    ],
)
def test_bad_problems_name_the_field(fields: dict[str, object], word: str) -> None:
    words = {name: fields[name] for name in fields.keys() - {"prior", "gap"}}
    demands = {name: fields[name] for name in fields.keys() & {"gap"}}
    criterion: Any = Average(fields.get("prior", UNIFORM))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=word):
        solve(numbers(**{"epsilon": 1.0, "criterion": criterion} | words), **demands)  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.inf, math.nan])
def test_time_limits_must_be_positive(seconds: float) -> None:
    with pytest.raises(InvalidInput, match="seconds"):
        solve(numbers(1.0, criterion=Average(UNIFORM)), seconds)


@pytest.mark.parametrize("exponent", [1, 2])
def test_a_time_limit_is_kept_at_large_epsilon(exponent: int) -> None:
    started = time.perf_counter()
    with pytest.raises(NoAnswer, match="the time limit was reached") as stopped:
        solve(numbers(16.0, Power(float(exponent)), criterion=Average(UNIFORM)), seconds=1.0)
    assert time.perf_counter() - started < 30.0  # a limit of one second, on a busy machine
    assert 0 < stopped.value.lower < stopped.value.upper < 0.01


def test_no_answer_names_a_gap_within_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_MOST_CELLS", 600)
    with pytest.raises(NoAnswer, match=r"a gap of .* is within reach") as stopped:
        solve(numbers(8.0, criterion=Average(UNIFORM)), gap=1e-6)
    gap = stopped.value.gap_within_reach
    assert stopped.value.design.certificate.upper == stopped.value.upper
    assert solve(numbers(8.0, criterion=Average(UNIFORM)), gap=gap).certificate.relative_gap <= gap


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [1, 2])
def test_subnormal_weights_give_no_warning(exponent: int) -> None:
    plain = priors.Atoms([0.2, 0.5], [0.5, 0.5])
    crumbs = priors.Atoms([0.1, 0.2, 0.5, 0.6], [5e-324, 0.5, 0.5, 5e-324])
    first, second = (solve(numbers(1.0, Power(float(exponent)), criterion=Average(prior))) for prior in (plain, crumbs))
    assert first.certificate.lower == pytest.approx(second.certificate.lower, rel=1e-12)


REFINED = [
    UNIFORM,
    priors.normal(0.3, 0.1, UNIT),
    priors.histogram([0, 0.25, 0.5, 1], [0.5, 0.1, 0.4]),
    priors.Atoms.of_data(np.random.default_rng(2).random(1500)),
]


@pytest.mark.parametrize("prior", REFINED, ids=["uniform", "normal", "histogram", "data"])
def test_a_prior_comes_back_from_the_file_and_is_cut_again(prior: priors.Prior, tmp_path: Path) -> None:
    design = solve(numbers(1.0, Squared(), criterion=Average(prior)), gap=1e-4)
    assert design.certificate.valid_for.endswith("under every prior with these cells")
    again = load_design(design.save(tmp_path / "design.json"))
    assert again == design
    assert again.problem == numbers(1.0, Squared(), criterion=Average(prior))


@pytest.mark.parametrize("prior", REFINED[1:], ids=["normal", "histogram", "data"])
def test_another_prior_in_the_file_is_refused(prior: priors.Prior) -> None:
    document = _document(solve(numbers(1.0, Squared(), criterion=Average(prior)), gap=1e-4))
    other = _json(encoded(numbers(1.0, Squared(), criterion=Average(UNIFORM))))
    with pytest.raises(FileProblem):
        design_of_document(document | {"problem": other}, "a file")


def test_a_density_that_is_a_function_is_held_as_the_cells_it_was_proven_for(tmp_path: Path) -> None:
    asked = numbers(1.0, Absolute(), criterion=Average(priors.Density(lambda x: 2 * x, UNIT, name="rising")))
    design = solve(asked, gap=1e-4)
    held = design.problem.criterion.prior
    assert isinstance(held, Cells)
    assert held.mean == pytest.approx(2 / 3, abs=1e-9)
    assert load_design(design.save(tmp_path / "design.json")) == design
    again = solve(design.problem, gap=1e-4)
    assert again.certificate.lower == pytest.approx(design.certificate.lower, rel=1e-12)
    with pytest.raises(InvalidInput, match="a file cannot hold it"):
        encoded(asked)


def test_words_tell_priors_with_the_same_ends_and_mean_apart() -> None:
    weights = ([0.25, 0.5, 0.25], [0.3, 0.4, 0.3])
    one, other = (numbers(1.0, criterion=Average(priors.Atoms([0.0, 0.5, 1.0], part))).words.prior for part in weights)
    assert one.startswith("3 values (sha256 ")
    assert one != other
    named = numbers(1.0, criterion=Average(priors.normal(0.3, 0.1, UNIT))).words.prior
    assert named == "normal(0.3, 0.1) on [0, 1] (its cells agree with it to 1e-09)"
