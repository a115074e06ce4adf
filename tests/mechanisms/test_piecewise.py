"""Windows, pieces, sublevel sets, moves and compressions of piecewise mechanisms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.mechanisms import AffineWindow, Piecewise, SublevelWindow, catalogue as c
from mechdesign.mechanisms.sublevel import sublevel_set
from mechdesign.words.domains import Circle, Interval
from mechdesign.words.losses import Absolute, Custom, Power, Squared

UNIT = Interval(0, 1)
PINBALL = Custom(lambda y, x: np.where(y > x, 3 * (y - x), x - y), "pinball")
STEP = Custom(lambda y, x: np.where(np.abs(y - x) > 0.1, 1.0, 0.0), "step", lambda x: (x - 0.1, x + 0.1))
WAVE = Custom(lambda y, x: 1 + np.sin(12 * (y - x)), "wave")
FLAT = Custom(lambda y, x: 1.0, "flat")
TWO_VALLEYS = Custom(
    lambda y, x: np.minimum(np.abs(y - x), 0.05 + np.abs(y - (1 - x))),
    "two valleys",
    lambda x: (x, 1 - x, 0.475, 0.525),
)
LOSSES = [Power(0.5), Power(1.0), Power(3.0), Power(1.0, 1.0), PINBALL, STEP, WAVE, FLAT, TWO_VALLEYS]
HEIGHTS = [(0.5, 1.4), (0.05, 20.0), (0.9, 1.001), (0.3, 5.0)]


def piecewise(low, high, window=None, outputs=UNIT, inputs=UNIT):
    return Piecewise(max(math.log(high / low), 0.1), inputs, outputs, low, high, window or AffineWindow())


@pytest.mark.parametrize("x", [0.0, 0.02, 0.3, 0.5, 0.97, 1.0])
@pytest.mark.parametrize(
    "law", [c.ogpm(1.0), c.pm(2.0, UNIT), c.sw(1.0), c.build("pm-c", 3.0, UNIT)], ids=lambda law: law.name
)
def test_pieces_are_the_density(law, x):
    edges, densities = law.pieces(x)
    assert (np.diff(edges) > 0).all()
    assert (densities[1:] != densities[:-1]).all()
    assert edges[[0, -1]].tolist() == [law.outputs.lower, law.outputs.upper]
    middles = (edges[1:] + edges[:-1]) / 2
    np.testing.assert_array_equal(law.density(middles, x), densities)
    assert float(np.sum(np.diff(edges) * densities)) == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("x", [0.0, 0.2, 3.0, 5.9, 2 * math.pi])
def test_pieces_on_a_circle_wrap_round(x):
    law = c.ogpm_circle(1.0)
    edges, densities = law.pieces(x)
    np.testing.assert_array_equal(law.density((edges[1:] + edges[:-1]) / 2, x), densities)
    assert float(np.sum(np.diff(edges) * densities)) == pytest.approx(1, abs=1e-13)
    near = Power(1.0, 2 * math.pi)(edges[1:-1], x)
    np.testing.assert_allclose(near[near > 1e-9], law.width / 2)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("x", [0.0, 0.1, 1.0, 3.0, 6.2, 2 * math.pi])
def test_quantiles_on_a_circle_invert_the_cdf_of_wrapped_windows(epsilon, x):
    law, u = c.ogpm_circle(epsilon), np.linspace(0, 1, 201)
    np.testing.assert_allclose(law.cdf(law.quantile(u, x), x), u, atol=1e-12)


def test_centred_windows_are_pushed_back_inside():
    law = piecewise(0.5, 1.5)
    for x, start in ((0.0, 0.0), (0.1, 0.0), (0.5, 0.25), (0.9, 0.5), (1.0, 0.5)):
        window = law.pieces(x).edges
        assert np.abs(window - start).min() < 1e-15
        assert np.abs(window - start - 0.5).min() < 1e-15


def test_a_uniform_mechanism_has_one_piece():
    assert piecewise(1.0, 1.0).pieces(0.3).densities.tolist() == [1.0]


@settings(max_examples=200, deadline=None)
@given(
    low=st.floats(1e-3, 0.999),
    steep=st.floats(1e-6, 10),
    slope=st.floats(0.1, 5),
    offset=st.floats(-2, 2),
    x=st.floats(0, 1),
    u=st.floats(0, 1),
)
def test_any_affine_window_gives_a_law_with_an_inverse(low, steep, slope, offset, x, u):
    law = piecewise(low, 1.0 + steep, AffineWindow(slope, offset))
    y = float(law.quantile(u, x))
    assert 0 <= y <= 1
    assert float(law.cdf(y, x)) == pytest.approx(u, abs=1e-12)
    assert float(law.cdf(1.0, x)) == pytest.approx(1, abs=1e-12)
    pieces = law.pieces(x)
    assert float(np.sum(np.diff(pieces.edges) * pieces.densities)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize(("low", "high"), HEIGHTS)
def test_sublevel_windows_hold_the_cheapest_outputs_for_their_mass(loss, low, high):
    """Against the bathtub filled on a fine grid: the best loss of any density between ``low`` and ``high``."""
    law = piecewise(low, high, SublevelWindow(loss))
    cells = 100_000
    grid = (np.arange(cells) + 0.5) / cells
    for x in (0.0, 0.013, 0.25, 0.5, 0.725, 0.975, 1.0):
        costs = np.sort(loss(grid, x))
        full = int(law.width * cells)
        cheapest = (costs[:full].sum() + costs[full] * (law.width * cells - full)) / cells
        best = low * costs.mean() + (high - low) * cheapest
        got = float(law.expected_loss(x, loss)) if loss is not WAVE else _expected_on_pieces(law, x, loss)
        assert got == pytest.approx(best, abs=3e-5 * high)


def _expected_on_pieces(law, x, loss):
    edges, densities = law.pieces(x)
    return sum(
        d * float(loss.integral(a - x, b - x, x)) for a, b, d in zip(edges[:-1], edges[1:], densities, strict=True)
    )


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize(("low", "high"), HEIGHTS)
def test_sublevel_windows_have_mass_one_everywhere(loss, low, high):
    law = piecewise(low, high, SublevelWindow(loss))
    for x in np.linspace(0, 1, 11):
        pieces = law.pieces(float(x))
        assert float(np.sum(np.diff(pieces.edges) * pieces.densities)) == pytest.approx(1, abs=1e-13)
        assert float(law.cdf(1.0, x)) == pytest.approx(1, abs=1e-13)
        assert float(law.moment(x, 0)) == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("loss", [Power(0.5), Power(1.0), Power(2.0), Power(3.0)], ids=lambda loss: loss.name)
def test_sublevel_windows_of_a_distance_are_the_centred_ones(loss):
    sublevel, centred = piecewise(0.4, 2.5, SublevelWindow(loss)), piecewise(0.4, 2.5)
    # at the ends of the window both heights are right
    outputs = (np.arange(173) + 0.4567) / 173
    for x in (0.0, 0.1, 0.5, 0.77, 1.0):
        np.testing.assert_allclose(sublevel.cdf(outputs, x), centred.cdf(outputs, x), atol=1e-7)


def test_sublevel_sets_of_a_distance_are_intervals_around_the_input():
    starts, widths = sublevel_set(Squared(), 0.6, UNIT, 0.3)
    assert starts == pytest.approx([0.45], abs=1e-7)
    assert widths.sum() == pytest.approx(0.3, abs=1e-15)


def test_sublevel_sets_split_between_equal_valleys():
    starts, widths = sublevel_set(
        Custom(lambda y, x: np.abs(np.abs(y - 0.5) - 0.25), kinks=lambda x: (0.25, 0.5, 0.75)), 0.1, UNIT, 0.2
    )
    assert starts == pytest.approx([0.2, 0.7], abs=1e-9)
    assert widths == pytest.approx([0.1, 0.1], abs=1e-9)


def test_flat_losses_are_filled_from_the_left():
    starts, widths = sublevel_set(FLAT, 0.5, UNIT, 0.25)
    assert (starts.tolist(), widths.tolist()) == ([0.0], [0.25])


def test_flat_parts_beside_a_valley_are_filled_from_the_left():
    starts, widths = sublevel_set(STEP, 0.5, UNIT, 0.5)
    assert starts == pytest.approx([0.0, 0.4], abs=1e-12)
    assert widths == pytest.approx([0.3, 0.2], abs=1e-12)


def test_a_measure_of_everything_is_everything():
    starts, widths = sublevel_set(Absolute(), 0.2, UNIT, 1.0)
    assert (starts.tolist(), widths.tolist()) == ([0.0], [1.0])


@settings(max_examples=100, deadline=None)
@given(x=st.floats(0, 1), measure=st.floats(1e-9, 0.999), loss=st.sampled_from(LOSSES))
def test_sublevel_sets_are_disjoint_intervals_inside_the_outputs_of_the_measure_asked(x, measure, loss):
    starts, widths = sublevel_set(loss, x, UNIT, measure)
    assert widths.sum() == pytest.approx(measure, abs=1e-14)
    assert (widths >= 0).all()
    assert starts[0] >= 0
    assert starts[-1] + widths[-1] <= 1 + 1e-14
    assert (starts[1:] >= starts[:-1] + widths[:-1] - 1e-14).all()


@settings(max_examples=100, deadline=None)
@given(
    key=st.sampled_from(["pm", "sw", "ogpm", "ogpm-u"]),
    epsilon=st.floats(1e-2, 15),
    lower=st.floats(-100, 100),
    length=st.floats(0.1, 100),
    place=st.floats(0, 1),
)
def test_moving_there_and_back_changes_nothing(key, epsilon, lower, length, place):
    law, there = c.build(key, epsilon, UNIT), Interval(lower, lower + length)
    back = law.moved_to(there).moved_to(UNIT)
    assert back.low == pytest.approx(law.low, rel=1e-10, abs=0)
    assert back.high == pytest.approx(law.high, rel=1e-10, abs=0)
    assert float(back.mean(place)) == pytest.approx(float(law.mean(place)), abs=1e-9 * law.outputs.length)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_compressed_outputs_are_the_inputs_and_laws_are_squeezed(epsilon):
    wide = c.sw(epsilon, Interval(-5, 3))
    tight = c.compressed(wide)
    assert tight.outputs == Interval(-5, 3)
    scale = 8 / wide.outputs.length
    for x in (-5.0, 0.0, 2.5):
        u = np.linspace(0, 1, 21)
        squeezed = -5 + (wide.quantile(u, x) - wide.outputs.lower) * scale
        np.testing.assert_allclose(tight.quantile(u, x), squeezed, atol=1e-11)


def test_likelihoods_of_truncated_ends_are_tails_of_the_base():
    base = c.pm(1.0)
    law = c.truncated(base)
    for x in (-1.0, 0.3, 1.0):
        assert float(law.mass(-1.0, x)) == pytest.approx(float(base.cdf(-1.0, x)))
        assert float(law.mass(1.0, x)) == pytest.approx(1 - float(base.cdf(1.0, x)))


@pytest.mark.parametrize("loss", [Absolute(), Absolute(0.9)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("key", ["ogpm", "pm", "sw-c"])
def test_breakpoints_split_the_error_into_parabolas(key, loss):
    law = c.build(key, 0.5, UNIT)
    cuts = law.breakpoints(loss)
    for a, b in zip(cuts[:-1], cuts[1:], strict=True):
        if b - a < 1e-6:
            continue  # one break, twice up to rounding
        errors = law.expected_loss(np.linspace(a, b, 9), loss)
        # third differences of a parabola vanish
        assert np.abs(np.diff(errors, 3)).max() < 1e-12


def test_equal_mechanisms_are_equal_and_hash_alike():
    assert c.ogpm(1.0) == c.ogpm(1.0)
    assert hash(c.ogpm(1.0)) == hash(c.ogpm(1.0))
    assert c.ogpm(1.0) != c.ogpm(1.5)


def test_mechanisms_cannot_be_changed():
    with pytest.raises(AttributeError):
        c.ogpm(1.0).low = 0.1
    with pytest.raises(ValueError, match="read-only"):
        c.randomised_response(1.0, c.Finite((0, 1))).probabilities[0, 0] = 1.0


def test_circular_windows_are_the_same_for_every_period():
    for period in (1.0, 24.0, 360.0):
        law = c.ogpm_circle(1.0, Circle(period))
        assert law.width / period == pytest.approx(c.ogpm_circle(1.0).width / (2 * math.pi))
