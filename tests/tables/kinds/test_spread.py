"""Piecewise densities as cells and noise as blocks: their laws are those of the mechanisms, to a known rounding."""

import math
from fractions import Fraction
from itertools import pairwise
from operator import mul

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.additive import Additive
from mechdesign.mechanisms.discrete import TwoSidedGeometric
from mechdesign.mechanisms.noise import Gaussian, Staircase
from mechdesign.tables import checker, make_table
from mechdesign.tables.document import decimal
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Squared

PIECEWISE = (catalogue.pm, catalogue.sw, catalogue.ogpm, catalogue.ogpm_squared, catalogue.ogpm_unbiased)


def window(law, x, *, circular=False):
    place = math.floor((x - float(law["anchor"])) * float(law["scale"]))
    start = place % law["cells"] if circular else min(max(place, 0), law["cells"] - law["inside"])
    step = float(law["step"])
    return (law["first"] + start) * step, law["inside"] * step


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PIECEWISE), st.floats(0.1, 8), st.floats(0, 1))
def test_windows_and_weights_are_those_of_the_mechanism(build, epsilon, place):
    mechanism = build(epsilon)
    law = make_table(mechanism).document["law"]
    cell = mechanism.outputs.length / law["cells"]
    x = mechanism.inputs.lower + place * mechanism.inputs.length
    start, width = window(law, min(x, mechanism.inputs.upper))
    assert width == pytest.approx(mechanism.width, abs=cell)
    pieces = mechanism.pieces(x)
    high = int(np.argmax(pieces.densities))
    assert start == pytest.approx(pieces.edges[high], abs=3 * cell)
    # the weight gives way to the ratio by as much as a cell more or less changes it
    most = mechanism.high * mechanism.width
    assert law["weight"] / 2**32 == pytest.approx(most, abs=2.0**-31 + 2 * mechanism.high * cell)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.2, 6), st.floats(0, 2 * math.pi))
def test_windows_go_round_the_circle(epsilon, x):
    mechanism = catalogue.ogpm_circle(epsilon)
    law = make_table(mechanism).document["law"]
    start, width = window(law, x, circular=True)
    off = (start + width / 2 - x) % (2 * math.pi)
    assert min(off, 2 * math.pi - off) < 2 * float(law["step"])


def test_a_domain_far_from_zero_has_coarser_cells_that_are_still_doubles():
    law = make_table(catalogue.pm(1.0, Interval(1e9, 1e9 + 1))).document["law"]
    assert 2**18 < law["cells"] <= 2**22
    assert abs(law["first"]) < 2**51


def test_truncated_mechanisms_clamp_to_their_domain():
    assert make_table(catalogue.truncated(catalogue.pm(1.0))).law.clamp == (-1.0, 1.0)
    assert make_table(catalogue.truncated_laplace(1.0)).law.clamp == (0.0, 1.0)


def noise_law(law, bits, most):
    """P(Z = z) for |z| up to ``most``, as rationals."""
    q = Fraction(law["tail"], 2**bits)
    size = len(law["weights"])
    total = 2 * 2**bits / (1 - q) - law["weights"][0]
    return [q ** (z // size) * law["weights"][z % size] / total for z in range(most + 1)]


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 9), st.floats(0.1, 5), st.sampled_from((16, 32)))
def test_shifts_by_the_whole_domain_change_no_probability_by_more_than_the_ratio(points, epsilon, bits):
    table = make_table(TwoSidedGeometric(epsilon, Finite(tuple(range(points)))), bits)
    law = table.document["law"]
    size = law["most"] - law["least"]
    assert size == points - 1
    chances = noise_law(law, bits, 5 * size)
    worst = max(
        max(chances[abs(z)] / chances[abs(z + d)], chances[abs(z + d)] / chances[abs(z)])
        for d in range(1, size + 1)
        for z in range(-4 * size, 4 * size + 1 - d)
    )
    assert worst == table.ratio
    assert table.privacy_loss <= epsilon


def test_noise_sums_to_one_and_has_the_variance_in_the_file():
    table = make_table(catalogue.laplace(1.0), 16)
    law, size = table.document["law"], len(table.law.weights)
    chances = noise_law(law, 16, 60 * size)
    step = Fraction(1, 2 ** law["shift"])
    total = 2 * sum(chances) - chances[0]
    variance = 2 * sum(p * z * z for z, p in enumerate(chances)) * step**2
    assert 1 - float(total) == pytest.approx(0, abs=1e-20)
    assert float(variance + step**2 / 4) == pytest.approx(
        float(Fraction(table.document["estimator"]["variance"])), 1e-9
    )


def test_laplace_noise_costs_little_more_than_laplace():
    variances = [
        float(Fraction(make_table(catalogue.laplace(1.0), k).document["estimator"]["variance"])) for k in (16, 32)
    ]
    assert variances[0] / 2 - 1 < 1e-4
    assert 0 < variances[1] / 2 - 1 < 5e-8


def test_staircase_weights_have_two_levels():
    weights = make_table(catalogue.staircase(2.0)).law.weights
    drops = [a / b for a, b in pairwise(weights) if a / b > 1.001]
    assert drops == [pytest.approx(math.exp(2.0), rel=1e-5)]


def test_laplace_noise_wider_than_it_need_be_stays_so():
    mechanism = Additive(2.0, Interval(0, 1), catalogue.laplace(1.0).noise)
    assert make_table(mechanism).privacy_loss == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("mechanism", "rule"),
    [
        (Additive(1.0, Interval(0, 1), Gaussian(1.0)), "finite privacy loss"),
        (Additive(1.0, Interval(0, 1), Staircase(1.0, 2.0, 0.3)), "length of the inputs"),
        (TwoSidedGeometric(1.0, Finite((0, 1e6))), "grid steps"),
        (catalogue.bounded_laplace(1.0), "t-laplace"),
        (catalogue.hm(2.0), "pm or duchi"),
    ],
    ids=["gaussian", "staircase", "geometric", "bounded", "mixture"],
)
def test_what_cannot_be_shipped_is_refused_in_words(mechanism, rule):
    with pytest.raises(InvalidInput, match=rule):
        make_table(mechanism)


def test_windows_in_several_parts_are_refused():
    from mechdesign.mechanisms.piecewise import Piecewise, SublevelWindow

    unit = Interval(0, 1)
    mechanism = Piecewise(1.0, unit, unit, 0.5, 1.25, SublevelWindow(Squared()))
    with pytest.raises(InvalidInput, match="windows of one interval"):
        make_table(mechanism)


# -- the estimator of pieces ------------------------------------------------------------------------------------------


def said(law, bits, domain):
    """The estimator the checker wants of a law, as fractions."""
    document = {"bits": bits, "domain": {"kind": "interval", "lower": decimal(domain[0]), "upper": decimal(domain[1])}}
    _, found, _ = checker.check_pieces(document, law, 1 << bits, 2**200)
    return {name: Fraction(text) for name, text in found.items() if name != "kind"}


def moments(law, bits, start):
    """E[Y] and Var(Y) of a row, cell by cell."""
    cells, inside, p = law["cells"], law["inside"], Fraction(law["weight"], 2**bits)
    chances = [(1 - p) / (cells - inside)] * cells
    chances[start : start + inside] = [p / inside] * inside
    centres = [(law["first"] + j + Fraction(1, 2)) * Fraction(law["step"]) for j in range(cells)]
    mean = sum(map(mul, chances, centres))
    return mean, sum(c * y * y for c, y in zip(chances, centres, strict=True)) - mean**2


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_bias_and_variance_of_pieces_hold_for_every_input_cell_by_cell(data):
    cells = data.draw(st.integers(2, 12))
    inside = data.draw(st.integers(1, cells - 1))
    step = data.draw(st.floats(0.01, 4))
    lower = data.draw(st.floats(-3, 3))
    upper = lower + data.draw(st.floats(0.5, 4))
    law = {
        "cells": cells,
        "inside": inside,
        "weight": data.draw(st.integers(2**16 * inside // cells + 1, 2**16 - 1)),
        "first": data.draw(st.integers(-20, 20)),
        "step": decimal(step),
        "anchor": decimal(data.draw(st.floats(-4, 4))),
        "scale": decimal(data.draw(st.floats(0.1, 10))),
        "clamp": None,
    }
    found = said(law, 16, (lower, upper))
    anchor, scale = float(law["anchor"]), float(law["scale"])
    edges = [anchor + k / scale for k in range(-1, cells + 2)]
    near = [y for x in edges for y in (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf))]
    rows = [moments(law, 16, start) for start in range(cells - inside + 1)]
    for x in [lower, upper, *(x for x in near if lower <= x <= upper), *np.linspace(lower, upper, 7).tolist()]:
        mean, variance = rows[min(max(math.floor((x - anchor) * scale), 0), cells - inside)]
        assert abs(found["slope"] * mean + found["intercept"] - Fraction(x)) <= found["bias"]
        assert found["slope"] ** 2 * variance <= found["variance"]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(PIECEWISE), st.floats(0.1, 8))
def test_the_estimator_of_pieces_is_that_of_the_mechanism(build, epsilon):
    # cells are 2^-32 of the outputs: on their scale the bounds of the file are the mechanism's own worst cases
    mechanism = build(epsilon)
    found = {
        name: float(Fraction(text))
        for name, text in make_table(mechanism).document["estimator"].items()
        if name != "kind"
    }
    ends = np.array([mechanism.inputs.lower, mechanism.inputs.upper])
    slope = float(np.diff(ends)[0] / np.diff(mechanism.mean(ends))[0])
    assert found["slope"] == pytest.approx(slope, rel=1e-6)
    rounding = 16 * slope * mechanism.outputs.length * 2.0**-32
    x = np.linspace(*ends, 4001)
    off = np.abs(found["slope"] * mechanism.mean(x) + found["intercept"] - x).max()
    between = (x[1] - x[0]) * (1 + slope)  # the grid may miss the worst input by this much
    assert off - rounding <= found["bias"] <= off + between + rounding
    assert found["variance"] == pytest.approx(slope**2 * mechanism.variance(x).max(), rel=1e-6)


def test_the_bias_of_unbiased_pieces_is_of_the_size_of_a_cell():
    for mechanism in (catalogue.pm(1.0), catalogue.ogpm_unbiased(2.0), catalogue.sw(1.0)):
        law = make_table(mechanism)
        assert float(Fraction(law.document["estimator"]["bias"])) < 4 * float(law.law.step)


def test_ogpm_has_the_closed_form_of_its_bias():
    # the window stays at an end until x = width / 2: there the estimator, right at 0, is that much off
    mechanism = catalogue.ogpm(1.0)
    bias = float(Fraction(make_table(mechanism).document["estimator"]["bias"]))
    assert bias == pytest.approx(mechanism.width / 2, rel=1e-8)
    assert bias == pytest.approx(0.5 / (math.exp(0.5) + 1), rel=1e-8)
