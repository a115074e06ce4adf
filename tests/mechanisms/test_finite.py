"""Tables, geometric noise and products, by exact enumeration."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import Discrete, Product, TwoSidedGeometric, catalogue as c
from mechdesign.mechanisms.discrete import whole_numbers
from mechdesign.words import domains
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Absolute, Custom, Power, Squared

POINTS = Finite((0, 1, 4))
TABLE = [[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [0.1, 0.0, 0.9]]
LAW = Discrete(1.0, POINTS, POINTS, TABLE)


def test_masses_are_the_entries_of_the_table():
    np.testing.assert_allclose(LAW.mass(np.array(POINTS.points), np.array(POINTS.points)[:, None]), TABLE)
    assert LAW.mass(2.0, 1.0) == 0


@pytest.mark.parametrize(
    "loss", [Absolute(), Squared(), Power(0.5), Custom(lambda y, x: 1.0 + 0 * y)], ids=lambda loss: loss.name
)
def test_expected_losses_are_sums_over_the_table(loss):
    for row, x in zip(TABLE, POINTS.points, strict=True):
        expected = sum(p * float(loss(y, x)) for p, y in zip(row, POINTS.points, strict=True))
        assert LAW.expected_loss(x, loss) == pytest.approx(expected)


def test_the_worst_case_is_the_largest_row():
    errors = LAW.expected_loss(np.array(POINTS.points), Squared())
    assert LAW.worst_case(Squared()) == (float(errors.max()), POINTS.points[int(errors.argmax())])


def test_rows_sum_to_one_exactly_as_rationals():
    assert [sum(row) for row in LAW.exact_rows()] == [1, 1, 1]
    assert isinstance(LAW.exact_rows()[0][0], Fraction)


def test_rows_a_little_off_are_one_law_whichever_way_they_are_asked():
    law = Discrete(1.0, Finite((0,)), Finite((1, 2)), [[0.5, 0.5 + 9e-10]])
    outputs = np.array([1.0, 2.0])
    assert float(law.mass(outputs, 0.0).sum()) == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(np.cumsum(law.mass(outputs, 0.0)), law.cdf(outputs, 0.0), atol=1e-15)
    assert float(law.mean(0.0)) == pytest.approx(float(law.mass(outputs, 0.0) @ outputs), abs=1e-15)
    assert float(law.expected_loss(0.0, Absolute())) == pytest.approx(float(law.mean(0.0)), abs=1e-15)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=2, max_size=8).filter(sum), st.integers(0, 10**6))
def test_quantiles_of_a_table_are_the_first_output_that_reaches_the_probability(counts, u):
    probabilities = np.array(counts) / sum(counts)
    law = Discrete(1.0, Finite((0,)), Finite(tuple(range(len(counts)))), [probabilities])
    u = u / 10**6
    reached = law.cdf(np.arange(len(counts)), 0.0) >= u
    assert law.quantile(u, 0.0) == np.argmax(reached)


def test_equal_tables_are_equal_and_hash_alike():
    again = Discrete(1.0, POINTS, POINTS, np.array(TABLE))
    assert again == LAW
    assert hash(again) == hash(LAW)
    assert Discrete(1.0, POINTS, POINTS, TABLE[::-1]) != LAW
    assert LAW != "table"


def test_tables_are_copies():
    table = np.array(TABLE)
    law = Discrete(1.0, POINTS, POINTS, table)
    table[0, 0] = 0.9
    assert law == LAW


def test_randomised_response_tells_the_truth_with_its_printed_probability():
    for count in (2, 5, 30):
        law = c.randomised_response(1.0, Finite(tuple(range(count))))
        assert float(law.mass(3 % count, 3 % count)) == pytest.approx(math.e / (math.e + count - 1))
        assert float(law.mass(0, 1)) == pytest.approx(1 / (math.e + count - 1))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("points", [(0, 1), (-3, 0, 7)])
def test_geometric_masses_fall_by_a_constant_factor(epsilon, points):
    law = TwoSidedGeometric(epsilon, Finite(points))
    offsets = np.arange(30)
    masses = law.mass(points[0] + offsets, float(points[0]))
    rate = epsilon / (points[-1] - points[0])
    np.testing.assert_allclose(masses[1:] / masses[:-1], math.exp(-rate))
    assert masses[0] == pytest.approx((1 - math.exp(-rate)) / (1 + math.exp(-rate)))
    np.testing.assert_array_equal(law.mass(points[0] - offsets, float(points[0])), masses)
    assert law.mass(points[0] + 0.5, points[0]) == 0


def test_geometric_variance_has_its_closed_form():
    for epsilon in (0.01, 1.0, 10.0):
        drop = math.exp(-epsilon)
        law = TwoSidedGeometric(epsilon, Finite((0, 1)))
        assert float(law.variance(0.0)) == pytest.approx(2 * drop / (1 - drop) ** 2, rel=1e-10, abs=0)
        assert float(law.expected_loss(1.0, Absolute())) == pytest.approx(2 * drop / (1 - drop**2), rel=1e-10, abs=0)


def test_geometric_sums_without_end_are_refused():
    with pytest.raises(InvalidInput, match="eps"):
        TwoSidedGeometric(1e-3, Finite((0, 10**4))).variance(0.0)


# -- products ---------------------------------------------------------------------------------------------------------

POLAR = Product((c.ogpm(1.0), c.ogpm_circle(2.0)))
LOSSES = (Squared(), Squared(2 * math.pi))


def test_densities_multiply():
    y, x = np.array([[0.3, 1.0], [0.9, 6.0]]), [0.2, 0.5]
    expected = POLAR.parts[0].density(y[:, 0], 0.2) * POLAR.parts[1].density(y[:, 1], 0.5)
    np.testing.assert_array_equal(POLAR.density(y, x), expected)


def test_losses_add_up():
    parts = POLAR.parts
    expected = parts[0].expected_loss(0.2, LOSSES[0]) + parts[1].expected_loss(0.5, LOSSES[1])
    assert POLAR.expected_loss([0.2, 0.5], LOSSES) == pytest.approx(float(expected))
    assert POLAR.average_loss(LOSSES) == sum(part.average_loss(loss) for part, loss in zip(parts, LOSSES, strict=True))


def test_the_worst_case_is_worst_in_every_coordinate():
    value, at = POLAR.worst_case(LOSSES)
    assert float(POLAR.expected_loss(at, LOSSES)) == pytest.approx(value)
    rng = np.random.default_rng(0)
    inputs = np.stack([rng.random(500), rng.random(500) * 2 * math.pi], axis=-1)
    assert (POLAR.expected_loss(inputs, LOSSES) <= value * (1 + 1e-12)).all()


def test_products_of_parts_in_a_list_are_values_too():
    assert Product([c.ogpm(1.0)]) == Product((c.ogpm(1.0),))
    assert hash(Product([c.ogpm(1.0)])) == hash(Product((c.ogpm(1.0),)))


def test_domains_of_a_product_are_products():
    assert POLAR.inputs == domains.Product((Interval(0, 1), domains.Circle()))
    assert POLAR.outputs == POLAR.inputs


@pytest.mark.parametrize("shape", [(2,), (1, 2), (5, 2), (3, 4, 2), (0, 2)])
def test_samples_have_the_shape_of_the_inputs(shape):
    assert POLAR.sample(np.full(shape, 0.5), np.random.default_rng(0)).shape == shape


# -- exact ratios -----------------------------------------------------------------------------------------------------


def _ratio_one_fraction_at_a_time(law):
    columns = [column for column in zip(*law.exact_rows(), strict=True) if any(column)]
    return None if any(not entry for column in columns for entry in column) else max(max(c) / min(c) for c in columns)


entries = st.one_of(st.floats(0.1, 1.0), st.sampled_from([0.25, 0.5, 1e-12, 1e-300, 5e-324]))


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_the_ratio_of_a_table_is_the_largest_over_its_columns_exactly(rows, columns, data):
    table = np.array(data.draw(st.lists(entries, min_size=rows * columns, max_size=rows * columns)))
    table = table.reshape(rows, columns)
    table[:, 0] += 1e-3
    table = table / table.sum(axis=1, keepdims=True)
    law = Discrete(1.0, Finite(tuple(range(rows))), Finite(tuple(range(columns))), table)
    assert law.likelihood_ratio().ratio == _ratio_one_fraction_at_a_time(law)


def test_equal_rows_with_sums_that_differ_have_a_ratio_above_one():
    law = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.5, 0.5], [0.5, 0.5 + 2.0**-53]])
    assert law.likelihood_ratio().ratio == _ratio_one_fraction_at_a_time(law) > 1


def test_columns_without_mass_do_not_count():
    law = Discrete(1.0, Finite((0, 1)), Finite((0, 1, 2)), [[0.5, 0.0, 0.5], [0.25, 0.0, 0.75]])
    assert law.likelihood_ratio().ratio == 2
    assert Discrete(1.0, POINTS, POINTS, TABLE).likelihood_ratio().ratio is None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6))
def test_whole_numbers_are_the_doubles_exactly(values):
    numbers, exponent = whole_numbers(values)
    assert [Fraction(n) * Fraction(2) ** exponent for n in numbers.tolist()] == [Fraction(v) for v in values]
