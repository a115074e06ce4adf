"""A density that is a Python function: as good as the closed forms in errors, and never believed in privacy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import mechdesign as md
from mechdesign import catalogue
from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact import prove_privacy
from mechdesign.field import THIS, field_of
from mechdesign.mechanisms import Discrete, FromDensity, Truncated
from mechdesign.methods.result import Design
from mechdesign.tables import make_table
from mechdesign.values.codec import encoded
from tests.methods import problems
from tests.methods.problems import numbers

Floats = NDArray[np.float64]

UNIT = md.Interval(0, 1)
OGPM = catalogue.ogpm(1.0)
PM = catalogue.pm(2.0, UNIT)
CIRCLE = catalogue.ogpm_circle(2.0, md.Circle(1.0))
KNOWN: dict[str, tuple[Any, bool]] = {
    "on its inputs": (OGPM, False),
    "on its inputs, kinks given": (OGPM, True),
    "beyond its inputs": (PM, False),
    "on a circle": (CIRCLE, True),
}
PLACES = np.linspace(0, 1, 9)


def tilted(y: Floats, x: Floats) -> Floats:
    return 1 + (2 * x - 1) * (y - 0.5)


def _as_function(mechanism: Any, *, with_kinks: bool) -> FromDensity:
    more = {"kinks": lambda x: mechanism.pieces(x).edges.tolist()} if with_kinks else {}
    return FromDensity(mechanism.epsilon, mechanism.inputs, mechanism.outputs, mechanism.density, **more)


@pytest.fixture(scope="module", params=KNOWN)
def pair(request: pytest.FixtureRequest) -> tuple[FromDensity, Any]:
    mechanism, with_kinks = KNOWN[request.param]
    return _as_function(mechanism, with_kinks=with_kinks), mechanism


def _loss(exponent: float, mechanism: Any) -> md.Power:
    return md.Power(exponent, mechanism.outputs.period if isinstance(mechanism.outputs, md.Circle) else None)


@pytest.mark.parametrize("exponent", [1.0, 2.0, 0.5])
def test_errors_are_those_of_the_closed_form(pair: tuple[FromDensity, Any], exponent: float) -> None:
    own, known = pair
    loss = _loss(exponent, known)
    assert own.expected_loss(PLACES, loss) == pytest.approx(known.expected_loss(PLACES, loss), rel=1e-8)
    assert own.worst_case(loss)[0] == pytest.approx(known.worst_case(loss)[0], rel=1e-7)
    assert own.average_loss(loss) == pytest.approx(known.average_loss(loss), rel=1e-7)


def test_moments_and_the_cdf_are_those_of_the_closed_form(pair: tuple[FromDensity, Any]) -> None:
    own, known = pair
    for order in (0,) if isinstance(known.outputs, md.Circle) else (0, 1, 2, 5):
        assert own.moment(PLACES, order) == pytest.approx(known.moment(PLACES, order), abs=1e-8)
    ends = np.linspace(known.outputs.lower, known.outputs.upper, 7)
    assert own.cdf(ends[:, None], PLACES) == pytest.approx(known.cdf(ends[:, None], PLACES), abs=1e-9)


def test_a_mean_of_zero_is_a_number_like_any_other() -> None:
    inputs = md.Interval(-1, 1)
    even = FromDensity(2.0, inputs, inputs, lambda y, x: np.where(np.abs(y) < 1 / 3, 0.75, 0.375) + 0 * x)
    assert even.mean(0.0) == pytest.approx(0.0, abs=1e-9)


def test_quantiles_invert_the_cdf(pair: tuple[FromDensity, Any]) -> None:
    own, _ = pair
    shares = np.linspace(0.01, 0.99, 11)
    assert own.cdf(own.quantile(shares, 0.3), 0.3) == pytest.approx(shares, abs=1e-8)


def test_averages_under_a_prior_are_those_of_the_closed_form() -> None:
    own, prior = _as_function(OGPM, with_kinks=False), md.priors.normal(0.3, 0.1, UNIT)
    assert own.average_loss(md.Squared(), prior) == pytest.approx(OGPM.average_loss(md.Squared(), prior), rel=1e-7)
    atoms = md.priors.Atoms([0.2, 0.9], [0.5, 0.5])
    assert own.average_loss(md.Squared(), atoms) == pytest.approx(OGPM.average_loss(md.Squared(), atoms), rel=1e-8)


def test_samples_follow_the_cdf() -> None:
    # n = 4000, Kolmogorov at a false-positive rate of 1e-6: sqrt(ln(2e6) / (2 n)) = 0.0426; finds a shift of 0.09
    own = FromDensity(2.0, UNIT, UNIT, tilted)
    drawn = np.sort(own.sample(0.9, np.random.default_rng(7), 4000))
    distance = np.abs(own.cdf(drawn, 0.9) - np.arange(1, 4001) / 4000).max()
    assert distance < math.sqrt(math.log(2e6) / 8000)


def test_inputs_may_be_a_finite_set() -> None:
    own = FromDensity(2.0, md.Finite((0, 1)), UNIT, tilted)
    assert own.worst_case(md.Absolute())[0] == pytest.approx(5 / 12, rel=1e-9)  # 1/2 - 1/12
    assert own.average_loss(md.Absolute()) == pytest.approx(5 / 12, rel=1e-9)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_a_density_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="integrate to 1"):
        FromDensity(1.0, UNIT, UNIT, lambda y, x: 0 * (y + x) + 0.9)
    with pytest.raises(InvalidInput, match="finite and at least 0"):
        FromDensity(1.0, UNIT, UNIT, lambda y, x: 2 * y - 0.5 + 0 * x)
    with pytest.raises(InvalidInput, match="be a function"):
        FromDensity(1.0, UNIT, UNIT, 1.0)  # type: ignore[arg-type]


def test_a_function_of_single_numbers_is_told_to_take_arrays() -> None:
    with pytest.raises(InvalidInput, match=r"take arrays .*numpy\.vectorize"):
        FromDensity(1.0, UNIT, UNIT, lambda y, x: math.exp(y) / (math.e - 1))


def test_a_density_that_visibly_breaks_its_epsilon_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"keep eps = 0\.5: a ratio of e\^1 was met"):
        FromDensity(0.5, UNIT, UNIT, OGPM.density)
    with pytest.raises(InvalidInput, match=r"e\^inf"):
        FromDensity(0.5, UNIT, UNIT, lambda y, x: np.where((y < 0.5) == (x < 0.5), 2.0, 0.0))


def test_the_loss_that_was_met_is_no_more_than_there_is() -> None:
    for mechanism in (OGPM, PM):
        own = _as_function(mechanism, with_kinks=True)
        assert own.sampled_loss <= mechanism.privacy_loss() * (1 + 1e-12)
        assert own.sampled_loss == pytest.approx(mechanism.privacy_loss(), rel=1e-9)


def test_nothing_is_proven_of_it() -> None:
    own = _as_function(OGPM, with_kinks=False)
    for ask in (own.likelihood_ratio, own.privacy_loss, lambda: prove_privacy(own, 1.0)):
        with pytest.raises(CheckFailed, match="no privacy can be proven"):
            ask()


def test_it_cannot_be_the_mechanism_of_a_design() -> None:
    design = md.solve(problems.piecewise(1.0))
    with pytest.raises(CheckFailed, match="no privacy can be proven"):
        Design(design.problem, _as_function(OGPM, with_kinks=False), design.evidence, design.report)


def test_it_cannot_become_a_table() -> None:
    own = _as_function(OGPM, with_kinks=False)
    with pytest.raises(InvalidInput, match=r"privacy cannot be proven: cut it into cells"):
        make_table(own)
    with pytest.raises(InvalidInput, match="be an additive or piecewise mechanism"):
        make_table(Truncated(own))  # type: ignore[arg-type]


def test_moments_on_a_circle_are_refused_as_for_every_mechanism() -> None:
    with pytest.raises(InvalidInput, match="outputs on a line"):
        _as_function(CIRCLE, with_kinks=True).mean(0.5)


def test_it_cannot_be_in_a_file() -> None:
    with pytest.raises(InvalidInput, match="be data"):
        encoded(_as_function(OGPM, with_kinks=False))


# -- against the optimum -----------------------------------------------------------------------------------------------


def test_it_is_ranked_among_the_published_ones_and_is_none_of_them() -> None:
    design = md.solve(numbers(1.0, md.Squared()), gap=1e-2)
    field = field_of(design, {"mine": _as_function(OGPM, with_kinks=False)})
    mine, published = field.row("mine"), field.row("ogpm")
    assert mine is not None
    assert published is not None
    assert mine.worst == pytest.approx(published.worst, rel=1e-7)
    assert mine.above_optimum == pytest.approx(published.above_optimum, rel=1e-4)
    assert not mine.published
    assert mine not in field.rivals


def test_a_table_of_probabilities_is_ranked_for_a_loss_matrix() -> None:
    problem = md.Problem(loss=[[0, 1], [1, 0]], privacy=md.Pure(1.0))
    coin = Discrete(1.0, problem.inputs, md.Finite((0, 1)), [[0.6, 0.4], [0.4, 0.6]])
    row = field_of(md.solve(problem), {"coin": coin}).row("coin")
    assert row is not None
    assert row.worst == pytest.approx(0.4)


def test_a_mechanism_that_is_less_private_than_the_optimum_is_not_compared_with_it() -> None:
    design = md.solve(problems.piecewise(1.0))
    with pytest.raises(CheckFailed, match="privacy loss"):
        field_of(design, {"mine": catalogue.ogpm(2.0)})
    with pytest.raises(CheckFailed, match="privacy loss"):
        field_of(design, {"mine": _as_function(catalogue.ogpm(2.0), with_kinks=True)})


def test_a_mechanism_for_other_inputs_or_by_a_taken_name_is_refused() -> None:
    design = md.solve(problems.piecewise(1.0))
    with pytest.raises(InvalidInput, match="take the problem's inputs"):
        field_of(design, {"mine": catalogue.pm(1.0, md.Interval(0, 2))})
    for name in (THIS, "pm"):
        with pytest.raises(InvalidInput, match="no other mechanism has"):
            field_of(design, {name: OGPM})


def test_a_biased_mechanism_is_not_compared_with_an_unbiased_optimum() -> None:
    design = md.solve(md.Problem(inputs=UNIT, loss="squared", privacy=md.Pure(1.0), among=md.UnbiasedPiecewise()))
    with pytest.raises(InvalidInput, match="be unbiased"):
        field_of(design, {"mine": OGPM})
    assert field_of(design, {"mine": catalogue.pm(1.0, UNIT)}).row("mine") is not None


def test_columns_that_a_loss_matrix_does_not_have_are_refused() -> None:
    problem = md.Problem(loss=[[0, 1], [1, 0]], privacy=md.Pure(1.0))
    coin = Discrete(1.0, problem.inputs, md.Finite((0, 2)), [[0.6, 0.4], [0.4, 0.6]])
    with pytest.raises(InvalidInput, match="among the columns of the loss matrix"):
        field_of(md.solve(problem), {"coin": coin})
