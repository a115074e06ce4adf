"""Bulk samplers: the same decisions as the reference, bit for bit where draws are fixed, and their laws by chi-square.

Reports come from the operating system and have no seed. Every statistical test below rejects a right sampler with
probability 1e-7 and, at its size, sees a shift of 1% of the mass of one output with probability above 99.9%.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mechdesign.deploy import fixed_stream, make_table, report, sample, sampler
from mechdesign.domains import Finite, Interval
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import TwoSidedGeometric
from mechdesign.mechanisms.window import Window

FALSE_ALARM = 1e-7
COUNT = 400_000
KINDS = ("absolute", "squared", "small", "unbiased", "duchi", "finite", "pieces", "circle", "additive", "clamped")


def require_law(reports, outputs, chances):
    """Pearson's test of counts against exact probabilities; rare outputs are put together."""
    chances = np.asarray([float(p) for p in chances])
    places = np.searchsorted(outputs, reports)
    assert np.array_equal(np.asarray(outputs)[places], reports)
    counts = np.bincount(places, minlength=len(outputs))
    common = chances * len(reports) >= 20
    seen, expected = counts[common].tolist(), (chances[common] * len(reports)).tolist()
    if not common.all():
        seen.append(counts[~common].sum())
        expected.append(chances[~common].sum() * len(reports))
    statistic = sum((a - b) ** 2 / b for a, b in zip(seen, expected, strict=True) if b)
    limit = stats.chi2.isf(FALSE_ALARM, max(len(seen) - 1, 1))
    # the power stated above: a shift of 1% of the mass has non-centrality at least 4 n 0.01^2
    assert stats.ncx2.sf(limit, max(len(seen) - 1, 1), 4 * len(reports) * 1e-4) > 0.999 or len(seen) > 60
    assert statistic < limit


def window_chances(table, row):
    law, start = table.law, table.law["starts"][row]
    gains = [0, *itertools.accumulate(c - n for n, c in zip(law["base"], law["caps"], strict=True))]
    extra = 2**table.bits - sum(law["base"])
    return [
        Fraction(n + max(0, min(b, start + extra) - max(a, start)), 2**table.bits)
        for n, (a, b) in zip(law["base"], itertools.pairwise(gains), strict=True)
    ]


def outputs_of(table):
    return [float(text) for text in table.law["outputs"]]


# -- the same decisions as the reference ------------------------------------------------------------------------------


class Fixed:
    """Stands for the operating system: the next numbers are given."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def __call__(self, bits, count):
        taken, self.numbers = self.numbers[:count], self.numbers[count:]
        assert len(taken) == count
        width = next(w for w in (1, 2, 4, 8) if bits <= 8 * w)
        return np.array(taken, dtype=f"<u{width}")


def edges(table):
    """Draws at which an output begins, of every row, and the draws before them."""
    rows = range(len(table.law["starts"]))
    whole = 2**table.bits
    places = {int(c * whole) for row in rows for c in itertools.accumulate(window_chances(table, row))}
    return sorted({u for place in places for u in (place - 1, place) if 0 <= u < whole} | {0, whole - 1})


@pytest.mark.parametrize("bits", [16, 32, 53])
def test_window_reports_are_those_of_the_reference_at_every_edge(bits, monkeypatch):
    points, base = np.linspace(0, 1, 9), np.array([3, 1, 1, 2, 9, 1, 1, 4, 2.0]) / 48
    table = make_table(Window(1.0, Interval(0, 1), points, base, 2.7), bits)
    thresholds = [float(text) for text in table.law["thresholds"]]
    near = [y for t in thresholds for y in (t, math.nextafter(t, 2), math.nextafter(t, -1))]
    pairs = list(itertools.product([0.0, 1.0, *near], edges(table)))
    inputs = np.array([x for x, _ in pairs])
    size = -(-bits // 8)
    expected = [report(table, x, fixed_stream(u.to_bytes(size, "little"))) for x, u in pairs]
    monkeypatch.setattr(sampler, "_CHUNK", len(pairs))
    monkeypatch.setattr(sampler, "draw", Fixed(u for _, u in pairs))
    assert sample(table, inputs).tolist() == expected


def test_every_draw_of_a_one_input_batch_is_that_of_the_reference(monkeypatch):
    table = make_table(Window(1.0, Interval(0, 1), [0.0, 0.3, 0.55, 1.0], [0.15, 0.1, 0.1, 0.15], 2.7), 16)
    monkeypatch.setattr(sampler, "draw", Fixed(range(2**16)))
    reports = sample(table, 0.4, 2**16).tolist()
    assert reports == [report(table, 0.4, fixed_stream(u.to_bytes(2, "little"))) for u in range(2**16)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=60), st.integers(1, 20), st.data())
def test_guides_find_the_largest_sum_at_most_the_key(counts, bits, data):
    sums = [0, *itertools.accumulate(counts)]
    guide = sampler.Guide(sums[:-1], sums[-1], bits)
    keys = [k for s in sums for k in (s - 1, s, s + 1) if 0 <= k < sums[-1]]
    keys += data.draw(st.lists(st.integers(0, sums[-1] - 1), max_size=20))
    found = guide.find(np.array(keys, dtype=np.uint64)).tolist()
    assert found == [sum(s <= k for s in sums[:-1]) - 1 for k in keys]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-3, 7), max_size=30), st.lists(st.floats(-3, 7), max_size=30))
def test_turns_count_the_thresholds_below(thresholds, inputs):
    ordered = np.array(sorted(thresholds))
    turns = sampler.Turns(ordered, -3.0, 7.0)
    x = np.array([*inputs, *ordered, *np.nextafter(ordered, 7.0), -3.0, 7.0])
    assert turns.count(x).tolist() == [int((ordered < value).sum()) for value in x]


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [16, 32, 53, 62])
def test_draws_fill_their_bits(bits):
    numbers = sampler.draw(bits, 100_000).astype(object)
    assert max(numbers) < 2**bits
    cells = np.bincount([int(u) >> (bits - 4) for u in numbers], minlength=16)
    low = np.bincount([int(u) & 15 for u in numbers], minlength=16)
    for counts in (cells, low):
        assert ((counts - 6250) ** 2 / 6250).sum() < stats.chi2.isf(FALSE_ALARM, 15)


@pytest.mark.parametrize("count", [1, 2, 3, 1000, 2**32 + 1])
def test_numbers_below_a_count_are_uniform(count):
    numbers = sampler.below(np.full(COUNT, count, dtype=np.uint64))
    assert numbers.max() < count
    cells = min(count, 50)
    seen = np.bincount([int(u) * cells // count for u in numbers.tolist()], minlength=cells)
    sizes = (
        np.bincount([u * cells // count for u in range(count)], minlength=cells) if count < 10**6 else np.ones(cells)
    )
    expected = sizes / sizes.sum() * COUNT
    assert ((seen - expected) ** 2 / expected).sum() < stats.chi2.isf(FALSE_ALARM, max(cells - 1, 1))


@pytest.mark.parametrize("value", [0.3, -0.3, 2.0**-40, 5.75, -(2.0**30) - 0.5, 7.0, 0.0])
def test_whole_numbers_keep_the_mean(value):
    numbers = sampler.whole(np.full(COUNT, value))
    low, share = math.floor(value), value - math.floor(value)
    assert set(numbers.tolist()) <= {low, low + 1}
    ups = int((numbers == low + 1).sum())
    assert stats.binomtest(ups, COUNT, share).pvalue > FALSE_ALARM


def test_ties_of_the_first_digit_are_broken_by_the_next(monkeypatch):
    share = 0.5 + 2.0**-40
    tie = 2**31
    monkeypatch.setattr(sampler, "draw", Fixed([tie, tie, tie - 1, tie + 1, 0, 2**24]))
    assert sampler.whole(np.full(4, share)).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("x", [0.0, 0.31, 0.8, 1.0])
@pytest.mark.parametrize("one", [True, False], ids=["one input", "many inputs"])
def test_window_reports_have_their_counts(tables, x, one):
    table = tables["small"]
    row = sum(float(text) < x for text in table.law["thresholds"])
    reports = sample(table, x, COUNT) if one else sample(table, np.full(COUNT, x))
    require_law(reports, outputs_of(table), window_chances(table, row))


@pytest.mark.parametrize("x", [-1.0, -0.4, 0.0, 0.77, 1.0])
def test_unbiased_reports_have_the_mixture_of_their_rows(tables, x):
    table = tables["unbiased"]
    law = table.law
    means = law["means"]
    place = (Fraction(x) - Fraction(law["offset"])) * Fraction(2) ** (law["shift"] + table.bits)
    i = min(sum(mean <= place for mean in means) - 1, len(means) - 2)
    up = (place - means[i]) / (means[i + 1] - means[i])
    rows = window_chances(table, i), window_chances(table, i + 1)
    chances = [(1 - up) * a + up * b for a, b in zip(*rows, strict=True)]
    require_law(sample(table, x, COUNT), outputs_of(table), chances)


@pytest.mark.parametrize("x", [0, 1, 5])
def test_finite_reports_have_their_counts(tables, x):
    table = tables["finite"]
    row = table.law["rows"][table.domain.points.index(x)]
    mixed = sample(table, np.tile([0.0, 1.0, 5.0], COUNT))
    mine = mixed[table.domain.points.index(x) :: 3]
    require_law(mine, outputs_of(table), [Fraction(count, 2**32) for count in row])


@pytest.mark.parametrize("x", [-1.0, 0.2, 1.0])
def test_pieces_fill_window_and_rest_evenly(tables, x):
    mechanism, reports = catalogue.pm(1.0), sample(tables["pieces"], x, COUNT)
    cells = np.linspace(mechanism.outputs.lower, mechanism.outputs.upper, 21)
    chances = np.diff(mechanism.cdf(cells, x))
    require_law(np.clip(np.searchsorted(cells, reports), 1, 20), range(1, 21), chances)


@pytest.mark.parametrize("x", [0.0, 3.0, 6.2])
def test_pieces_on_circles_go_round(tables, x):
    mechanism, reports = catalogue.ogpm_circle(2.0), sample(tables["circle"], x, COUNT)
    assert reports.min() >= 0
    assert reports.max() <= 2 * math.pi
    cells = np.linspace(0, 2 * math.pi, 21)
    require_law(np.clip(np.searchsorted(cells, reports), 1, 20), range(1, 21), np.diff(mechanism.cdf(cells, x)))


@pytest.mark.parametrize("x", [0.0, 1.0, 3.0])
def test_geometric_noise_has_its_law(x):
    table = make_table(TwoSidedGeometric(2.0, Finite((0, 1, 2, 3))))
    law = table.law
    q, size = Fraction(law["tail"], 2**32), len(law["weights"])
    total = 2 * 2**32 / (1 - q) - law["weights"][0]
    reach = range(-40, 41)
    chances = [q ** (abs(z) // size) * law["weights"][abs(z) % size] / total for z in reach]
    require_law(sample(table, x, COUNT), [x + z for z in reach], chances)


def test_laplace_reports_have_the_mean_and_spread_of_the_file(tables):
    table = tables["additive"]
    variance = float(Fraction(table.document["estimator"]["variance"]))
    errors = sample(table, np.full(COUNT, 0.3)) - 0.3
    limit = stats.norm.isf(FALSE_ALARM / 2)
    assert abs(errors.mean()) < limit * math.sqrt(variance / COUNT)
    # the fourth moment of Laplace noise is 6 times its squared variance
    assert abs((errors**2).mean() / variance - 1) < limit * math.sqrt(5 / COUNT)


def test_clamped_reports_stay_inside(tables):
    reports = sample(tables["clamped"], np.linspace(-1, 1, 10_000))
    assert reports.min() == -1
    assert reports.max() == 1


# -- use --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_shapes_are_those_of_the_inputs(tables, kind):
    table = tables[kind]
    x = table.domain.lower
    assert sample(table, x).shape == ()
    assert sample(table, [[x, x, x]]).shape == (1, 3)
    assert sample(table, x, 7).shape == (7,)
    assert sample(table, []).shape == (0,)
    assert sample(table, np.full(70_000, x)).shape == (70_000,)


def test_inputs_outside_the_domain_are_named(tables):
    with pytest.raises(InvalidInput, match=r"x\[2\] must lie in \[0, 1\]"):
        sample(tables["small"], [0.0, 1.0, 1.5])
    with pytest.raises(InvalidInput, match=r"x\[1\]"):
        sample(tables["finite"], [0.0, 2.0])
    with pytest.raises(InvalidInput):
        sample(tables["small"], [math.nan])


@pytest.mark.parametrize(("x", "size"), [([0.1], 3), (0.1, -1), (0.1, True), (0.1, 2.0)])
def test_sizes_are_whole_numbers_for_one_input(tables, x, size):
    with pytest.raises(InvalidInput):
        sample(tables["small"], x, size)


def test_reports_cannot_be_seeded(tables):
    np.random.seed(1)  # noqa: NPY002
    first = sample(tables["pieces"], 0.1, 20)
    np.random.seed(1)  # noqa: NPY002
    assert not np.array_equal(first, sample(tables["pieces"], 0.1, 20))


@pytest.mark.parametrize(
    ("part", "count"), [(0, 1), (1, 3), (2, 3), (1, 2**62 - 1), (2**62 - 2, 2**62 - 1), (5, 5), (3**38, 2**61 + 1)]
)
def test_a_chance_is_decided_by_its_exact_binary_digits(part: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    first, rest = divmod(part << 32, count)  # part / count = (first + rest / count) / 2^32
    near = [d for d in range(first - 3, first + 4) if 0 <= d < 2**32]
    asked: list[int] = []

    def drawn(bits: int, size: int) -> np.ndarray:
        assert (bits, size) == (32, len(near))
        return np.array(near, dtype=np.uint32)

    def beyond(counts: np.ndarray) -> np.ndarray:
        asked.extend(counts.tolist())
        return counts - np.uint64(1)

    monkeypatch.setattr(sampler, "draw", drawn)
    monkeypatch.setattr(sampler, "below", beyond)
    answers = sampler.happens(np.full(len(near), part), np.full(len(near), count))
    assert answers.tolist() == [d < first for d in near]  # at d = first the digits beyond decide: the stub says no
    assert asked == ([count] if rest and first in near else [])
