"""Window tables: their rows are the greedy fill, their unbiased rows have exactly the means they say."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from mechdesign.errors import InvalidInput
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window
from mechdesign.methods.registry import solve
from mechdesign.tables import make_table
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Absolute, Squared
from mechdesign.words.priors import uniform
from tests.methods.problems import numbers, unbiased_under


def windows(largest=6.0):
    @st.composite
    def build(draw):
        epsilon = draw(st.floats(0.05, largest))
        size = draw(st.integers(1, 7))
        points = draw(st.lists(st.integers(-40, 140), min_size=size, max_size=size, unique=True))
        weights = np.array(draw(st.lists(st.floats(0.01, 1), min_size=size, max_size=size)))
        ratio = math.exp(epsilon) * (1 - 1e-12)
        total = (
            draw(st.floats(1.0001 / ratio if ratio > 1.001 else 1 / math.sqrt(ratio), 0.9999)) if ratio > 1.001 else 1
        )
        base = weights / weights.sum() * max(min(total, 0.9999), 1.0001 / ratio)
        return Window(epsilon, Interval(0, 1), np.array(sorted(points)) / 100, base, ratio)

    return build()


def greedy_row(law, bits, x):
    """Counts filled one output after the other, from the nearest to the farthest, left before right."""
    outputs = [Fraction(float(text)) for text in law["outputs"]]
    row = list(law["base"])
    left = 2**bits - sum(row)
    for j in sorted(range(len(row)), key=lambda k: (abs(outputs[k] - Fraction(x)), k)):
        step = min(left, law["caps"][j] - law["base"][j])
        row[j] += step
        left -= step
    assert left == 0
    return row


def shipped_row(law, bits, start):
    counts, reached, row = 0, 0, []
    extra = 2**bits - sum(law["base"])
    for least, most in zip(law["base"], law["caps"], strict=True):
        before = counts + min(max(reached - start, 0), extra)
        counts, reached = counts + least, reached + most - least
        row.append(counts + min(max(reached - start, 0), extra) - before)
    return row


@settings(max_examples=150, deadline=None)
@given(windows(), st.sampled_from((16, 32)), st.floats(0, 1))
def test_rows_are_the_greedy_fill_of_the_nearest_outputs(mechanism, bits, x):
    law = make_table(mechanism, bits).document["law"]
    thresholds = [float(text) for text in law["thresholds"]]
    for at in (x, 0.0, 1.0, *thresholds, *(math.nextafter(t, 2) for t in thresholds)):
        if 0 <= at <= 1:
            row = sum(t < at for t in thresholds)
            assert shipped_row(law, bits, law["starts"][row]) == greedy_row(law, bits, at)


@settings(max_examples=100, deadline=None)
@given(windows(), st.sampled_from((16, 32)))
def test_the_ratio_is_the_largest_of_all_rows(mechanism, bits):
    table = make_table(mechanism, bits)
    rows = [shipped_row(table.document["law"], bits, start) for start in table.law.starts]
    assert all(sum(row) == 2**bits for row in rows)
    assert table.ratio == max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    assert table.ratio <= Fraction(math.exp(float(table.epsilon))) * (1 + Fraction(1, 2**50))


@settings(max_examples=60, deadline=None)
@given(windows(3.0), st.sampled_from((1, 2)))
def test_errors_bias_and_variance_are_those_of_the_rows(mechanism, exponent):
    table = make_table(mechanism, 16)
    law = table.document["law"]
    outputs = [Fraction(float(text)) for text in law["outputs"]]
    ends = [Fraction(0), *(Fraction(float(text)) for text in law["thresholds"]), Fraction(1)]
    error = variance = Fraction(0)
    pairs = []
    for i, start in enumerate(law["starts"]):
        row = shipped_row(law, 16, start)

        def mean(values, row=row):
            return sum(w * v for w, v in zip(row, values, strict=True)) / Fraction(2**16)

        first = mean(outputs)
        variance = max(variance, mean([y * y for y in outputs]) - first**2)
        for x in ends[i : i + 2]:
            error = max(error, mean([abs(y - x) ** exponent for y in outputs]))
            pairs.append((first, x))
    said = {name: Fraction(text) for name, text in table.document["estimator"].items() if name != "kind"}
    assert table.worst_error(exponent) == error
    assert said["variance"] == said["slope"] ** 2 * variance
    debiased = [said["slope"] * mean + said["intercept"] for mean, _ in pairs]
    assert said["bias"] == max(abs(z - x) for z, (_, x) in zip(debiased, pairs, strict=True))
    assert debiased[0] == 0
    if len(law["starts"]) > 1 and pairs[-1][0] > pairs[0][0]:
        assert debiased[-1] == 1


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
@pytest.mark.parametrize(("loss", "exponent"), [(Absolute(), 1), (Squared(), 2)])
def test_rounding_costs_little(epsilon, loss, exponent):
    design = solve(numbers(epsilon, loss), gap=1e-3)
    exact = exact_worst_error(design.mechanism, exponent)
    losses = {bits: float(make_table(design, bits).worst_error(exponent) / exact - 1) for bits in (16, 32)}
    assert losses[16] <= 4e-3
    assert losses[32] <= 5e-8


@pytest.mark.parametrize(("bits", "average", "worst"), [(16, 5e-3, 5e-3), (32, 5e-8, 5e-8)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0, 8.0])
def test_rounding_costs_unbiased_tables_little(epsilon, bits, average, worst):
    mechanism = solve(unbiased_under(epsilon)).mechanism
    table = make_table(mechanism, bits)
    assert average_square(table) - 1 / 3 <= mechanism.average_loss(Squared(), uniform(Interval(-1, 1))) * (1 + average)
    assert float(Fraction(table.document["estimator"]["variance"])) <= mechanism.worst_case(Squared())[0] * (1 + worst)


def average_square(table):
    """E[Y^2] for an input uniform on [-1, 1]: it is linear in the input between the means of the rows."""
    law, whole = table.document["law"], 2**table.bits
    outputs = np.array([float(text) for text in law["outputs"]])
    rows = np.array([shipped_row(law, table.bits, start) for start in law["starts"]]) / whole
    means = float(law["offset"]) + np.array(law["means"]) / 2.0 ** (law["shift"] + table.bits)
    inputs = np.unique(np.concatenate([[-1, 1], means[np.abs(means) < 1]]))
    squares = np.interp(inputs, means, rows @ outputs**2)
    return np.sum(np.diff(inputs) * (squares[1:] + squares[:-1]) / 2) / 2


def test_the_certificate_of_a_design_is_shipped_and_holds(tables):
    said = tables["absolute"].document["certificate"]
    assert said["exponent"] == 1
    assert 0.198 < Fraction(said["lower"]) <= Fraction(said["error"]) == tables["absolute"].worst_error(1) < 0.204


def test_counts_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match=r"2\^63"):
        make_table(solve(numbers(2.0), gap=1e-2), 62)


def test_outputs_without_a_count_are_dropped():
    mechanism = Window(1.0, Interval(0, 1), [0.0, 0.5, 1.0], [0.3, 1e-9, 0.3], 2.7)
    assert make_table(mechanism, 16).law.outputs == (0.0, 1.0)
    assert make_table(mechanism, 32).law.outputs == (0.0, 0.5, 1.0)


@settings(max_examples=15, deadline=None)
@given(st.integers(600, 2000), st.integers(0, 99))
def test_few_counts_stand_at_the_means_of_equal_shares(size, seed):
    rng = np.random.default_rng(seed)
    points, base = np.sort(rng.uniform(0, 1, size)), rng.dirichlet(np.full(size, 0.5)) + 1e-9
    mechanism = Window(8.0, Interval(0, 1), points, base / base.sum() * 0.005, math.exp(8) * (1 - 1e-12))
    law = make_table(mechanism, 16).document["law"]
    outputs = np.array([float(text) for text in law["outputs"]])
    assert sum(law["base"]) == math.ceil(2**16 * mechanism.exact_total())
    assert outputs @ law["base"] / sum(law["base"]) == pytest.approx(points @ base / base.sum(), abs=1e-12)
    reached = np.cumsum(mechanism.base) / mechanism.base.sum() * sum(law["base"])
    first = np.searchsorted(reached, np.cumsum(law["base"]) - law["base"], side="right")
    last = np.minimum(np.searchsorted(reached, np.cumsum(law["base"]) - 1e-9), size - 1)
    assert (points[first] - 1e-12 <= outputs).all()
    assert (outputs <= points[last] + 1e-12).all()


def test_many_outputs_stand_at_the_means_of_what_their_counts_stand_for():
    points = np.linspace(0, 1, 101)
    mechanism = Window(2.0, Interval(0, 1), points, np.linspace(1, 2, 101) / 400, math.exp(2) * (1 - 1e-12))
    law = make_table(mechanism, 16).document["law"]
    outputs = np.array([float(text) for text in law["outputs"]])
    assert 0 < np.abs(outputs - points).max() < 1e-3
    of_base = points @ mechanism.base / mechanism.base.sum()
    assert outputs @ law["base"] / sum(law["base"]) == pytest.approx(of_base, abs=1e-14)
    few = make_table(
        Window(2.0, Interval(0, 1), points[::10], mechanism.base[::10] * 10, mechanism.ratio), 16
    ).document["law"]
    assert [float(text) for text in few["outputs"]] == points[::10].tolist()


# -- unbiased ---------------------------------------------------------------------------------------------------------


def exact_mean(table, x):
    """E[Y|x] as a rational, branch by branch of the sampling rule."""
    law, bits = table.document["law"], table.bits
    outputs = [Fraction(float(text)) for text in law["outputs"]]
    place = (Fraction(x) - Fraction(float(law["offset"]))) * Fraction(2) ** (law["shift"] + bits)
    total = Fraction(0)
    for whole, share in ((math.floor(place), 1 - (place - math.floor(place))), (math.floor(place) + 1, place % 1)):
        if not share:
            continue
        i = min(sum(mean <= whole for mean in law["means"]) - 1, len(law["means"]) - 2)
        up = Fraction(whole - law["means"][i], law["means"][i + 1] - law["means"][i])
        assert 0 <= up <= 1
        for row, chance in ((i, 1 - up), (i + 1, up)):
            counts = shipped_row(law, bits, law["starts"][row])
            total += share * chance * sum(w * y for w, y in zip(counts, outputs, strict=True)) / 2**bits
    return total


@st.composite
def unbiased_windows(draw):
    epsilon = draw(st.floats(0.2, 4))
    ends = draw(st.sampled_from(((-1.0, 1.0), (0.0, 1.0), (0.1, 0.7), (1e6, 1e6 + 3), (-5.0, -4.0), (-1.0, 40.0))))
    reach = draw(st.floats(1.2, 4)) / math.tanh(epsilon / 2)
    middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    count = draw(st.integers(0, 5))
    inner = draw(st.lists(st.floats(-0.99, 0.99), min_size=count, max_size=count, unique=True))
    points = np.unique(middle + half * reach * np.array([-1.0, *inner, 1.0]))
    ratio = math.exp(epsilon) * (1 - 1e-12)
    base = np.full(points.size, 0.1)
    base[[0, -1]] = 1.0
    base = base / base.sum() * 2 / (1 + ratio)
    return epsilon, Interval(*ends), points, base, ratio


@settings(max_examples=60, deadline=None)
@given(unbiased_windows(), st.sampled_from((16, 32)), st.floats(0, 1))
def test_reports_are_unbiased_as_rationals(parts, bits, place):
    try:
        mechanism = UnbiasedWindow(*parts)
    except InvalidInput:
        assume(False)  # too little reach for the domain
    table = make_table(mechanism, bits)
    inputs = mechanism.inputs
    x = min(inputs.lower + place * inputs.length, inputs.upper)
    for at in (x, inputs.lower, inputs.upper, math.nextafter(inputs.lower, inputs.upper)):
        assert exact_mean(table, at) == Fraction(at)


def test_tiny_inputs_of_either_sign_are_unbiased(tables):
    for x in (5e-324, -5e-324, 1e-300, -1e-18, 0.0):
        assert exact_mean(tables["unbiased"], x) == Fraction(x)
        assert exact_mean(tables["duchi"], x) == Fraction(x)


def test_every_output_is_a_double_on_the_grid(tables):
    law = tables["unbiased"].document["law"]
    step = Fraction(1, 2 ** law["shift"])
    assert [Fraction(text) for text in law["outputs"]] == [Fraction(law["offset"]) + u * step for u in law["units"]]


@pytest.mark.parametrize(("bits", "most"), [(16, 2e-3), (32, 1e-8)])
def test_duchis_variance_is_kept(bits, most):
    table = make_table(catalogue.duchi(1.0), bits)
    best = 1 / math.tanh(0.5) ** 2
    assert 0 <= float(Fraction(table.document["estimator"]["variance"])) / best - 1 <= most


@settings(max_examples=30, deadline=None)
@given(st.floats(-1, 1))
def test_the_variance_of_the_file_bounds_every_input(x):
    table = make_table(catalogue.duchi(1.0), 16)
    output = Fraction(table.law.outputs[1])
    assert output**2 - Fraction(x) ** 2 <= Fraction(table.document["estimator"]["variance"])


@pytest.mark.parametrize("bits", [53, 62])
def test_unbiased_tables_have_at_most_32_bits(bits):
    with pytest.raises(InvalidInput, match="16 or 32"):
        make_table(catalogue.duchi(1.0), bits)
