"""Two and three numbers of a cube: certified for all real inputs, simulated, and with evidence that does not fit."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.methods.cube.proof import CubeBound
from mechdesign.methods.workload.decoder import decoder
from mechdesign.values.declare import evolved
from tests.methods.problems import several


@pytest.fixture(scope="module")
def design() -> md.Design:
    return md.solve(several(2.0), method="cube", levels=5)


def _estimates(design: Any, levels: int, count: int) -> tuple[Any, Any, Any]:
    """Places, the law at each, and the estimate of each report: the one with the least average under the prior."""
    places = np.array(list(product(np.linspace(-1, 1, levels), repeat=count)))
    law = design.mechanism.probabilities / design.mechanism.probabilities.sum(axis=1, keepdims=True)
    return places, law, decoder(law, design.evidence.prior / design.evidence.prior.sum()) @ places


@pytest.mark.parametrize(
    ("epsilon", "lower", "upper"), [(1.0, 17.03, 17.11), (2.0, 3.805, 3.845), (4.0, 0.5903, 0.6230)]
)
@pytest.mark.slow
def test_two_numbers_have_the_interval_of_an_independent_program(epsilon: float, lower: float, upper: float) -> None:
    certificate = md.solve(several(epsilon), method="cube").certificate
    assert lower <= certificate.lower <= certificate.upper <= upper
    assert not certificate.claimed
    assert certificate.valid_for == "unbiased mechanisms"


@pytest.mark.slow
def test_three_numbers_are_closer_than_sign_patterns_know() -> None:
    found, signs = md.solve(several(2.0, 3), method="cube").certificate, md.solve(several(2.0, 3)).certificate
    assert 9.33 <= found.lower <= found.upper <= 9.55
    assert signs.lower < found.lower < found.upper < signs.upper


def test_the_law_is_unbiased_and_as_good_as_is_said_at_any_real_input(design: md.Design) -> None:
    places, law, estimates = _estimates(design, 5, 2)
    assert abs(law @ estimates - places).max() < 1e-9
    moments = (law @ (estimates**2).sum(axis=1)).reshape(5, 5)
    worst = 0.0
    for x in np.random.default_rng(0).uniform(-1, 1, (2000, 2)):
        cell = np.minimum(((x + 1) * 2).astype(int), 3)
        up = (x + 1) * 2 - cell
        around = moments[cell[0] : cell[0] + 2, cell[1] : cell[1] + 2]
        worst = max(worst, float(np.array([1 - up[0], up[0]]) @ around @ np.array([1 - up[1], up[1]]) - x @ x))
    assert worst <= design.certificate.upper
    assert worst >= 0.95 * design.certificate.upper


def test_simulated_people_have_the_variance_that_is_said(design: md.Design) -> None:
    """n = 200 000 at (0.1, -0.6), seed 1: the mean of squares has a standard error of 0.2%, and 2% is asked."""
    _, law, estimates = _estimates(design, 5, 2)
    rng, x = np.random.default_rng(1), np.array([0.1, -0.6])
    steps = (x + 1) * 2
    cells = np.floor(steps).astype(int) + (rng.random((200_000, 2)) < steps % 1)
    drawn = np.empty((200_000, 2))
    for cell in np.unique(cells, axis=0):
        mine = (cells == cell).all(axis=1)
        drawn[mine] = estimates[rng.choice(law.shape[1], mine.sum(), p=law[cell[0] * 5 + cell[1]])]
    assert abs(drawn.mean(axis=0) - x).max() < 0.025
    assert ((drawn - x) ** 2).sum(axis=1).mean() <= 1.02 * design.certificate.upper


def test_another_cube_of_another_size_has_its_square_of_the_variance(design: md.Design) -> None:
    wide = md.Product((md.Interval(0, 20), md.Interval(10, 30)))
    found = md.solve(several(2.0, inputs=wide), method="cube", levels=5).certificate
    assert Fraction(found.lower) == pytest.approx(Fraction(100) * Fraction(design.certificate.lower), rel=1e-12)


@pytest.mark.parametrize(
    "forged",
    [
        lambda e: CubeBound(e.slopes[:-1], e.prices, e.prior),
        lambda e: CubeBound(e.slopes[:-2], e.prices[:-1], e.prior[:-1]),
        lambda e: CubeBound(e.slopes, e.prices, -e.prior),
        lambda e: CubeBound(e.slopes, e.prices[:-1], e.prior),
    ],
)
def test_evidence_that_does_not_fit_is_refused(design: md.Design, forged: Any) -> None:
    with pytest.raises(CheckFailed):
        evolved(design, evidence=forged(design.evidence))


def test_another_epsilon_cube_or_table_is_refused(design: md.Design) -> None:
    with pytest.raises(CheckFailed):
        evolved(design, problem=several(3.0))
    with pytest.raises(CheckFailed):
        evolved(design, problem=several(2.0, 3))
    law = design.mechanism
    for other in (
        evolved(law, outputs=md.Finite(range(1, len(law.outputs) + 1))),
        evolved(law, inputs=md.Finite(range(1, 26))),
    ):
        with pytest.raises(CheckFailed):
            evolved(design, mechanism=other)


def under(epsilon: float, prior: Any = None, count: int = 2) -> md.Problem:
    return evolved(several(epsilon, count), criterion=md.Average(prior))


@pytest.fixture(scope="module")
def average() -> md.Design:
    return md.solve(under(2.0, "normal:0.2,0.5"), method="cube", levels=5)


@pytest.mark.slow
def test_under_even_weights_on_nine_levels_it_is_that_of_an_independent_program() -> None:
    prior = md.priors.Atoms(np.linspace(-1, 1, 9), np.full(9, 1 / 9))
    certificate = md.solve(under(2.0, prior), levels=9).certificate
    assert 3.524 <= certificate.lower <= 3.5247
    assert 3.5242 <= certificate.upper <= 3.5249


def test_with_nearly_all_weight_on_corners_it_is_what_the_theorem_of_sign_patterns_says() -> None:
    """Over the corners no average is below 3.288 = ``d^2/H^2 - d``, and sign patterns have 2 more less the squares."""
    found = md.solve(under(2.0, md.priors.Atoms([-1, 0, 1], [0.4995, 0.001, 0.4995])), levels=3).certificate
    least = md.solve(several(2.0), method="sign_patterns").certificate.lower
    assert found.upper >= 0.999**2 * least
    assert found.lower <= least + 2 * 0.001
    assert found.upper <= 1.001 * found.lower


def test_simulated_people_under_the_prior_have_the_variance_that_is_said(average: md.Design) -> None:
    """n = 200 000, seed 2: the mean of squares has a standard error of 0.3%, and 2% is asked."""
    prior = average.problem.criterion.prior
    places = np.array(list(product(np.linspace(-1, 1, 5), repeat=2)))
    law = average.mechanism.probabilities / average.mechanism.probabilities.sum(axis=1, keepdims=True)
    shares = np.outer(prior.weights, prior.weights).ravel() / prior.weights.sum() ** 2
    estimates = decoder(law, shares) @ places
    assert abs(law @ estimates - places).max() < 1e-9
    rng = np.random.default_rng(2)
    held = rng.choice(25, 200_000, p=shares)
    errors = np.empty(200_000)
    for place in range(25):
        mine = held == place
        drawn = estimates[rng.choice(law.shape[1], mine.sum(), p=law[place])]
        errors[mine] = ((drawn - places[place]) ** 2).sum(axis=1)
    assert errors.mean() == pytest.approx(average.certificate.upper, rel=0.02)


def test_a_design_for_a_prior_is_better_there_than_that_for_the_worst_values(
    design: md.Design, average: md.Design
) -> None:
    """The table of the worst case is itself one of those that the bound is about."""
    own = CubeBound(average.evidence.slopes, average.evidence.prices)
    certificate = average.certificate
    assert certificate.lower <= certificate.upper < own.attained(average.problem, design.mechanism)
    assert certificate.upper <= 1.001 * certificate.lower


def test_evidence_of_the_worst_case_is_none_under_a_prior_and_the_other_way(
    design: md.Design, average: md.Design
) -> None:
    with pytest.raises(CheckFailed, match="has a prior, and so has the problem"):
        evolved(average, evidence=design.evidence)
    with pytest.raises(CheckFailed, match="needs a prior"):
        evolved(design, evidence=average.evidence)
    with pytest.raises(CheckFailed, match="not on them"):
        evolved(average, problem=under(2.0, md.priors.Atoms([-1, 0.3, 1], [0.3, 0.4, 0.3])))


def test_another_prior_has_other_bounds_from_the_same_evidence(average: md.Design) -> None:
    """Multipliers are no best ones there, and what they prove is below what any table attains."""
    even = md.priors.Atoms(np.linspace(-1, 1, 5), np.full(5, 0.2))
    other = evolved(average, problem=under(2.0, even))
    best = md.solve(under(2.0, even), levels=5).certificate
    assert other.certificate.lower <= best.upper
    assert other.certificate.upper >= best.lower


@pytest.mark.parametrize("prior", ["uniform", "beta:2,3", None])
def test_a_design_under_a_prior_is_proven_again_from_its_file(prior: Any, tmp_path: Path) -> None:
    found = md.solve(under(1.5, prior), levels=3)
    found.save(tmp_path / "design.json")
    assert md.load_design(tmp_path / "design.json") == found
    assert "each number for itself" in (found.problem.words.prior or "")


def test_priors_that_leave_a_level_out_or_are_of_cells_are_refused() -> None:
    with pytest.raises(InvalidInput, match="on each of the 3 levels"):
        md.solve(under(2.0, md.priors.Atoms([-1, 1], [0.5, 0.5])), levels=3)
    box = md.Product((md.Interval(-1, 1), md.Interval(-1, 2)))
    with pytest.raises(InvalidInput, match="be left out"):
        evolved(several(2.0, inputs=box), criterion=md.Average())
    assert md.methods(under(2.0))["sign_patterns"] == "the criterion must be Worst()"


def test_rivals_are_ranked_by_their_average_under_the_prior(average: md.Design) -> None:
    """Of a rival whose variance is ``a - x^2`` for each number: duchi, of one of two."""
    prior = average.problem.criterion.prior
    rows = {row.name: row for row in md.field_of(average).rows}
    square = float(prior.weights @ prior.points**2)
    assert rows["duchi, sampled"].average == pytest.approx(2 * (2 / np.tanh(1) ** 2 - square))


@pytest.mark.parametrize("levels", [2, 4, 33, "many"])
def test_levels_that_doubles_do_not_hold_are_refused(levels: Any) -> None:
    with pytest.raises(InvalidInput, match="be one of 3, 5, 9, 17"):
        md.solve(several(2.0), method="cube", levels=levels)


def test_a_gap_below_what_rounding_adds_is_no_answer() -> None:
    with pytest.raises(NoAnswer, match="more levels would be needed") as caught:
        md.solve(several(2.0), method="cube", levels=3, gap=1e-2)
    assert caught.value.design is not None


def test_boxes_and_more_numbers_are_told_why_they_are_not_answered() -> None:
    box = md.Product((md.Interval(-1, 1), md.Interval(-1, 2)))
    assert md.methods(several(2.0, inputs=box))["cube"] == "all intervals must have the same length"
    assert md.methods(several(2.0, 4))["cube"] == "there must be 2 or 3 numbers"
