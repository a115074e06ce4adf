"""What mechanisms refuse: values outside the domain, things that are not numbers, impossible parameters."""

import math

import numpy as np
import pytest

from mechdesign.errors import MAX_EPSILON, MIN_EPSILON, WITHHELD, InvalidInput
from mechdesign.mechanisms import (
    Additive,
    AffineWindow,
    BoundedLaplace,
    CircularLaplace,
    Discrete,
    Gaussian,
    Laplace,
    Mixture,
    Piecewise,
    Product,
    Staircase,
    SublevelWindow,
    Truncated,
    TwoPoint,
    TwoSidedGeometric,
    catalogue as c,
)
from mechdesign.words.domains import Circle, Finite, Interval, Line
from mechdesign.words.losses import Absolute, Power

UNIT = Interval(0, 1)
# the validator is one for all laws: each bad value is tried on one law, and each law with one
NOT_NUMBERS = [math.nan, "0.5", "abc", True, None, 1j, [0.1, "x"], np.array([True]), [[0.1], [0.1, 0.2]]]


def methods(law):
    return [
        lambda x: law.density(0.5, x),
        lambda x: law.mass(0.5, x),
        lambda x: law.cdf(0.5, x),
        lambda x: law.quantile(0.5, x),
        lambda x: law.sample(x, np.random.default_rng(0)),
        lambda x: law.expected_loss(x, _loss(law)),
    ]


def moments(law):
    return [law.mean, law.variance, lambda x: law.moment(x, 2)]


def _loss(law):
    return Power(1.0, law.inputs.period) if isinstance(law.inputs, Circle) else Absolute()


def require_refused(law, x, methods):
    for method in methods:
        with pytest.raises(InvalidInput) as caught:
            method(x)
        assert caught.value.field.startswith("x")


def test_every_law_refuses_inputs_that_are_not_numbers(case):
    require_refused(case.mechanism, math.nan, methods(case.mechanism))


def test_every_law_refuses_moments_of_inputs_that_are_not_numbers(line_case):
    require_refused(line_case.mechanism, math.nan, moments(line_case.mechanism))


@pytest.mark.parametrize("x", NOT_NUMBERS, ids=repr)
def test_inputs_that_are_not_numbers_are_refused(x):
    law = c.ogpm(1.0)
    require_refused(law, x, [*methods(law), *moments(law)])


@pytest.mark.parametrize("beyond", [-1e-9, 1 + 1e-9, math.inf, -math.inf])
def test_an_input_outside_the_domain_is_named_by_its_place_and_not_held(case, beyond):
    inputs = case.mechanism.inputs
    bad = beyond if math.isinf(beyond) else inputs.lower + beyond * max(inputs.length, 1)
    for method in methods(case.mechanism):
        with pytest.raises(InvalidInput) as caught:
            method([case.xs[0], case.xs[1], bad, bad])
        assert (caught.value.field, caught.value.value) == ("x[2]", WITHHELD)
        assert "2 of 4 values" in str(caught.value)


def test_every_law_refuses_outputs_that_are_not_numbers(case):
    require_outputs_refused(case.mechanism, math.nan, case.xs[0])


@pytest.mark.parametrize("y", NOT_NUMBERS, ids=repr)
def test_outputs_that_are_not_numbers_are_refused(y):
    require_outputs_refused(c.ogpm(1.0), y, 0.5)


def require_outputs_refused(law, y, x):
    for method in (law.density, law.mass, law.cdf):
        with pytest.raises(InvalidInput) as caught:
            method(y, x)
        assert caught.value.field.startswith("y")


@pytest.mark.parametrize("u", [math.nan, 1 + 1e-9], ids=repr)
def test_every_law_refuses_probabilities_that_are_none(case, u):
    with pytest.raises(InvalidInput) as caught:
        case.mechanism.quantile(u, case.xs[0])
    assert caught.value.field.startswith("u")


@pytest.mark.parametrize("u", [*NOT_NUMBERS, -1e-9, 1 + 1e-9, math.inf, [0.5, 2.0]], ids=repr)
def test_probabilities_that_are_none_are_refused(u):
    with pytest.raises(InvalidInput) as caught:
        c.ogpm(1.0).quantile(u, 0.5)
    assert caught.value.field.startswith("u")


def test_outputs_beyond_the_range_have_no_density(case):
    if isinstance(case.mechanism.outputs, Line):
        return  # no such outputs
    lower, upper = case.span
    assert (case.mechanism.density([lower - 1, upper + 1], case.xs[0]) == 0).all()


def test_outputs_at_the_end_of_the_world_have_no_density_and_no_mass(case):
    far = [-math.inf, math.inf, -1e300, 1e300]
    assert (case.mechanism.density(far, case.xs[0]) == 0).all()
    assert (case.mechanism.mass(far, case.xs[0]) == 0).all()
    np.testing.assert_allclose(case.mechanism.cdf(far, case.xs[0]), [0, 1, 0, 1], atol=1e-12)


@pytest.mark.parametrize("order", [-1, 17, 1.0, True, "1"])
def test_orders_that_are_not_small_counts_are_refused(line_case, order):
    with pytest.raises(InvalidInput, match="order"):
        line_case.mechanism.moment(line_case.xs[0], order)


BUILDERS = {entry.key: (lambda eps, key=entry.key: c.build(key, eps, UNIT)) for entry in c.ON_INTERVALS} | {
    f"circular {entry.key}": (lambda eps, key=entry.key: c.build(key, eps, Circle())) for entry in c.ON_CIRCLES
}
BUILDERS |= {
    "randomised response": lambda eps: c.randomised_response(eps, Finite((0, 1))),
    "geometric": lambda eps: c.two_sided_geometric(eps, Finite((0, 1))),
    "gaussian": lambda eps: c.gaussian(eps, 1.0),
    "mixture": lambda eps: Mixture(eps, 0.5, c.pm(1.0), c.duchi(1.0)),
    "staircase noise": lambda eps: Staircase(eps, 1.0, 0.5),
}
BAD_EPSILONS = [0, -1, math.nan, math.inf, -math.inf, "1", True, np.True_, None, 1e-13, MAX_EPSILON * 1.01, 1j, [1.0]]


@pytest.mark.parametrize(
    "epsilon",
    [*BAD_EPSILONS, np.array([1.0]), 10**5000, b"1", bytearray(b"1")],
    ids=lambda value: repr(value)[:12] if not isinstance(value, int) or value < 10 else "huge",
)
def test_epsilons_out_of_range_are_refused(epsilon):
    with pytest.raises(InvalidInput) as caught:
        c.pm(epsilon)
    assert "eps" in str(caught.value)


@pytest.mark.parametrize("epsilon", [0, MAX_EPSILON * 1.01])
@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_epsilons_out_of_range_are_refused_by_every_constructor(build, epsilon):
    with pytest.raises(InvalidInput) as caught:
        build(epsilon)
    assert "eps" in str(caught.value)


@pytest.mark.parametrize("epsilon", [MIN_EPSILON, MAX_EPSILON, np.float32(1.5)])
@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_epsilons_in_range_are_accepted_as_floats(build, epsilon):
    assert type(build(epsilon).epsilon) is float


WRONG_DOMAINS = {
    "laplace": (c.laplace, Circle()),
    "laplace on points": (c.laplace, Finite((0, 1))),
    "bounded laplace": (c.bounded_laplace, Circle()),
    "staircase": (c.staircase, Circle()),
    "duchi": (c.duchi, Finite((0, 1))),
    "pm": (c.pm, Finite((0, 1))),
    "pm on a circle": (c.pm, Circle()),
    "sw": (c.sw, Circle()),
    "ogpm": (c.ogpm, Finite((0, 1))),
    "purkayastha": (c.purkayastha, UNIT),
    "randomised response": (c.randomised_response, UNIT),
    "geometric": (c.two_sided_geometric, UNIT),
    "by name": (lambda eps, domain: c.build("ogpm", eps, domain), Line()),
    "by name, nothing": (lambda eps, domain: c.build("ogpm", eps, domain), None),
}


@pytest.mark.parametrize(("build", "domain"), WRONG_DOMAINS.values(), ids=WRONG_DOMAINS)
def test_domains_of_another_kind_are_refused(build, domain):
    with pytest.raises(InvalidInput, match="of kind"):
        build(1.0, domain)


IMPOSSIBLE = {
    "low above high": lambda: Piecewise(1.0, UNIT, UNIT, 1.2, 0.5),
    "zero low": lambda: Piecewise(1.0, UNIT, UNIT, 0.0, 2.0),
    "nan low": lambda: Piecewise(1.0, UNIT, UNIT, math.nan, 2.0),
    "both heights too small": lambda: Piecewise(1.0, UNIT, UNIT, 0.5, 0.9),
    "both heights too large": lambda: Piecewise(1.0, UNIT, UNIT, 1.1, 2.0),
    "circle to line": lambda: Piecewise(1.0, Circle(), Interval(0, 2 * math.pi), 0.1, 0.3),
    "circle to another circle": lambda: Piecewise(1.0, Circle(1.0), Circle(2.0), 0.4, 0.8),
    "window off centre on a circle": lambda: Piecewise(1.0, Circle(1.0), Circle(1.0), 0.5, 1.5, AffineWindow(1.0, 0.1)),
    "window slope": lambda: Piecewise(1.0, UNIT, UNIT, 0.5, 1.5, AffineWindow(0.0)),
    "nan window": lambda: AffineWindow(math.nan),
    "laplace scale": lambda: Laplace(0.0),
    "gaussian deviation": lambda: Gaussian(-1.0),
    "gaussian sensitivity": lambda: Gaussian(1.0).delta(1.0, 0.0),
    "staircase share": lambda: Staircase(1.0, 1.0, 1.0),
    "staircase sensitivity": lambda: Staircase(1.0, math.inf, 0.5),
    "rare half": lambda: TwoPoint(1.0, UNIT, 0.5),
    "rare negative": lambda: TwoPoint(1.0, UNIT, -0.1),
    "mixture weight": lambda: Mixture(1.0, 1.0, c.pm(1.0), c.duchi(1.0)),
    "mixture of different inputs": lambda: Mixture(1.0, 0.5, c.pm(1.0), c.duchi(1.0, UNIT)),
    "mixture of anything": lambda: Mixture(1.0, 0.5, c.laplace(1.0), c.duchi(1.0)),
    "additive on points": lambda: Additive(1.0, Finite((0, 1)), Laplace(1.0)),
    "bounded on a circle": lambda: BoundedLaplace(1.0, Circle(), 1.0),
    "circular on a line": lambda: CircularLaplace(1.0, UNIT),
    "truncated circle": lambda: Truncated(c.ogpm_circle(1.0)),
    "truncated table": lambda: Truncated(c.randomised_response(1.0, Finite((0, 1)))),
    "empty product": lambda: Product(()),
    "geometric on one point": lambda: TwoSidedGeometric(1.0, Finite((1,))),
    "geometric on fractions": lambda: TwoSidedGeometric(1.0, Finite((0, 0.5))),
    "table shape": lambda: Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.5, 0.5]]),
    "table sum": lambda: Discrete(1.0, Finite((0,)), Finite((0, 1)), [[0.5, 0.4]]),
    "table negative": lambda: Discrete(1.0, Finite((0,)), Finite((0, 1)), [[1.5, -0.5]]),
    "table nan": lambda: Discrete(1.0, Finite((0,)), Finite((0, 1)), [[math.nan, math.nan]]),
    "table infinite": lambda: Discrete(1.0, Finite((0,)), Finite((0, 1)), [[math.inf, 0.0]]),
    "table ragged": lambda: Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.5, 0.5], [1.0]]),
    "table text": lambda: Discrete(1.0, Finite((0,)), Finite((0, 1)), [["a", "b"]]),
    "table huge": lambda: Discrete(1.0, Finite((0,)), Finite((0, 1)), [[10**400, 1]]),
    "name": lambda: c.build("no such", 1.0, UNIT),
    "name of a number": lambda: c.build(3, 1.0, UNIT),
    "a line's name on a circle": lambda: c.build("pm", 1.0, Circle()),
    "move a circle": lambda: c.ogpm_circle(1.0).moved_to(UNIT),
    "compress a circle": lambda: c.ogpm_circle(1.0).compressed(),
    "move a sublevel window": lambda: Piecewise(1.0, UNIT, UNIT, 0.5, 1.3, SublevelWindow(Absolute())).moved_to(UNIT),
    "pieces of many inputs": lambda: c.ogpm(1.0).pieces([0.1, 0.2]),
    "pieces outside": lambda: c.ogpm(1.0).pieces(1.5),
    "fractional power of endless steps": lambda: c.staircase(1e-6, loss=Power(1.5)),
}


@pytest.mark.parametrize("build", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_parameters_are_refused(build):
    with pytest.raises(InvalidInput):
        build()


def test_unknown_names_list_the_known_ones():
    with pytest.raises(InvalidInput, match="laplace, t-laplace"):
        c.build("nope", 1.0, UNIT)


def test_names_are_found_whatever_their_case():
    assert c.build(" PM-C ", 1.0, UNIT) == c.build("pm-c", 1.0, UNIT)


@pytest.mark.parametrize("values", ["0.5", [True, False], [0.5, math.nan], [0.5], 0.5, [[0.1, 0.2, 0.3]]])
def test_products_refuse_what_is_not_a_row_of_coordinates(values):
    with pytest.raises(InvalidInput):
        Product((c.ogpm(1.0), c.ogpm(1.0))).sample(values, np.random.default_rng(0))


def test_products_want_one_loss_a_coordinate():
    with pytest.raises(InvalidInput, match="one a coordinate"):
        Product((c.ogpm(1.0), c.ogpm(1.0))).worst_case([Absolute()])
