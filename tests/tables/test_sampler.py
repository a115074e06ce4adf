"""Bulk samplers: their laws counted exactly, draw by draw, where draws are fixed, and by chi-square where they are not.

Reports come from the operating system and have no seed. Every statistical test below rejects a right sampler with
probability 1e-7 and, at its size, sees a shift of 1% of the mass of one output with probability above 99.9%.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete, TwoSidedGeometric
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window
from mechdesign.tables import draws, make_table, sample
from mechdesign.words.domains import Finite, Interval
from tests.tables.conftest import KINDS

FALSE_ALARM = 1e-7
COUNT = 400_000


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
    law, start = table.document["law"], table.law.starts[row]
    gains = [0, *itertools.accumulate(c - n for n, c in zip(law["base"], law["caps"], strict=True))]
    extra = 2**table.bits - sum(law["base"])
    return [
        Fraction(n + max(0, min(b, start + extra) - max(a, start)), 2**table.bits)
        for n, (a, b) in zip(law["base"], itertools.pairwise(gains), strict=True)
    ]


def outputs_of(table):
    return list(table.law.outputs)


# -- laws, counted ----------------------------------------------------------------------------------------------------


def answers_to(numbers, bits, run, monkeypatch):
    """What ``run(count)`` gives when these are the numbers drawn: 16 bits of each first, the others where asked for."""
    low, answers, left = bits - 16, np.empty(len(numbers)), np.arange(len(numbers))
    while left.size:
        _, firsts = np.unique(numbers[left] >> np.uint64(low), return_index=True)  # one number of a top at a time
        now = left[firsts]
        tops = (numbers[now] >> np.uint64(low)).astype(np.uint16)
        begun = np.zeros(1 << 16, dtype=np.uint64)
        begun[tops] = numbers[now]
        with monkeypatch.context() as patch:
            patch.setattr(draws, "draw", Given((16, tops)))
            patch.setattr(draws, "completed", lambda tops, asked, begun=begun: begun[tops] if asked == low else None)
            answers[now] = run(now.size)
        left = np.delete(left, firsts)
    return answers


def counts_of(run, breaks, bits, monkeypatch):
    """How many of the 2^bits numbers have each answer.

    Between breaks, and inside a stretch of one top, the answer is the same: it is one entry of a table, or a search
    that is monotone and has the same answer at both ends.
    """
    edges = sorted({int(b) for b in breaks} | {top << (bits - 16) for top in range(1 << 16)} | {1 << bits})
    ends = np.array(edges, dtype=np.uint64)
    answers = answers_to(ends[:-1], bits, run, monkeypatch)
    assert np.array_equal(answers, answers_to(ends[1:] - np.uint64(1), bits, run, monkeypatch))
    values, places = np.unique(answers, return_inverse=True)
    counts = np.zeros(values.size, dtype=np.uint64)
    np.add.at(counts, places, np.diff(ends))
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


class Given:
    """Stands for the operating system: the next draws are given, each with its bits."""

    def __init__(self, *draws):
        self.draws = list(draws)

    def __call__(self, bits, count):
        expected, numbers = self.draws.pop(0)
        assert (bits, count) == (expected, len(numbers))
        return np.asarray(numbers)


def window_breaks(table, row):
    law, start = table.document["law"], table.law.starts[row]
    gains = itertools.accumulate(c - n for n, c in zip(law["base"], law["caps"], strict=True))
    left = [0, *itertools.accumulate(law["base"])]
    return [*left, *(u for g in gains if left[-1] <= (u := left[-1] + g - start) < 2**table.bits)]


@pytest.mark.parametrize("bits", [16, 32, 53, 62])
@pytest.mark.parametrize("many", [True, False], ids=["many inputs", "one input"])
def test_every_window_row_has_exactly_its_counts(bits, many, monkeypatch):
    points, base = np.linspace(0, 1, 9), np.array([3, 1, 1, 2, 9, 1, 1, 4, 2.0]) / 48
    table = make_table(Window(1.0, Interval(0, 1), points, base, 2.7), bits)
    thresholds = list(table.law.thresholds)
    for x in [0.0, 1.0, *thresholds[::3], *np.nextafter(thresholds[1::3], 2), *np.nextafter(thresholds[2::3], -1)]:
        row = sum(t < x for t in thresholds)

        def run(count, x=x):
            return sample(table, np.full(count, x)) if many else sample(table, x, count)

        expected = [int(p * 2**bits) for p in window_chances(table, row)]
        found = counts_of(run, window_breaks(table, row), bits, monkeypatch)
        assert found == dict(zip(outputs_of(table), expected, strict=True))


def test_window_rows_whose_caps_are_far_above_the_whole_have_exactly_their_counts(monkeypatch):
    points, base = np.linspace(0, 1, 40), np.full(40, 0.5 / 40)
    table = make_table(Window(6.0, Interval(0, 1), points, base, 400.0), 16)
    assert sum(table.law.caps) > 2**23  # so stretches are longer than the numbers that share a top
    for row in range(0, len(table.law.starts), 7):
        x = ([0.0, *(math.nextafter(turn, 2) for turn in table.law.thresholds)])[row]

        def run(count, x=x):
            return sample(table, np.full(count, x))

        expected = [int(p * 2**16) for p in window_chances(table, row)]
        found = counts_of(run, window_breaks(table, row), 16, monkeypatch)
        assert found == dict(zip(outputs_of(table), expected, strict=True))


def test_the_last_of_129_unbiased_rows_has_exactly_its_counts(monkeypatch):
    """Its number is the first beyond the type that holds the others."""
    points, base = np.linspace(-8, 8, 376), np.full(376, 1.5 / 6 / 376)
    table = make_table(UnbiasedWindow(1.6194379124341003, Interval(-1, 1.04), points, base, 5.0))
    assert len(table.law.means) == 129
    monkeypatch.setattr(draws, "happens", lambda chances, _: np.full(chances.size, True))

    def run(count):
        return sample(table, np.full(count, 1.04))

    expected = [int(p * 2**32) for p in window_chances(table, 128)]
    found = counts_of(run, window_breaks(table, 128), 32, monkeypatch)
    assert found == dict(zip(outputs_of(table), expected, strict=True))


@pytest.mark.parametrize(("size", "bits"), [(3, 16), (2, 62), (128, 32), (150, 53)])
def test_every_finite_row_has_exactly_its_counts(size, bits, monkeypatch):
    table = make_table(catalogue.randomised_response(2.0, Finite(tuple(range(size)))), bits)
    for row in {0, 1, size // 2, size - 1}:
        counts = table.law.rows[row]

        def run(count, row=row):
            return sample(table, np.full(count, float(row)))

        found = counts_of(run, [0, *itertools.accumulate(counts)], bits, monkeypatch)
        assert found == dict(enumerate(counts))


def test_many_outputs_in_one_stretch_have_exactly_their_counts(monkeypatch):
    tiny = 1 / (1 << 26)
    law = np.array([[0.5, 0.5 - 30 * tiny, *[tiny] * 30], [0.5 - 30 * tiny, 0.5, *[tiny] * 30]])
    table = make_table(Discrete(1.0, Finite((0, 1)), Finite(tuple(range(32))), law))
    for row, counts in enumerate(table.law.rows):
        assert max(counts[2:]) < 1 << 8

        def run(count, row=row):
            return sample(table, np.full(count, float(row)))

        found = counts_of(run, [0, *itertools.accumulate(counts)], 32, monkeypatch)
        assert found == dict(enumerate(counts))


@pytest.mark.parametrize("bits", [16, 32, 62])
def test_picks_have_exactly_their_counts(bits, monkeypatch):
    crowded = [1, 2, 3, *[1] * 200, 2 ** (bits - 1), 5]
    for counts in ([2**bits], [2**bits - 3, 1, 1, 1], [*crowded, 2**bits - sum(crowded)]):
        sums = [0, *itertools.accumulate(counts)]
        guide = draws.Guide(sums[:-1], 2**bits, bits - 16)
        assert counts_of(guide.pick, sums, bits, monkeypatch) == dict(enumerate(counts))


@pytest.mark.parametrize("bits", [0, 16, 37, 46])
def test_completed_numbers_begin_with_their_tops(bits, monkeypatch):
    tops, rest = np.array([0, 1, 2**16 - 1], dtype=np.uint16), np.array([2**bits - 1, 0, 2**bits - 1], dtype=np.uint64)
    monkeypatch.setattr(draws, "draw", Given((bits, rest)))
    expected = [(top << bits) + low for top, low in zip(tops.tolist(), rest.tolist(), strict=True)]
    assert draws.completed(tops, bits).tolist() == expected


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60), st.integers(1, 20), st.data())
def test_guides_find_the_largest_sum_at_most_the_key(counts, bits, data):
    sums = [0, *itertools.accumulate([*counts, 1])]
    guide = draws.Guide(sums[:-1], sums[-1], max(0, (sums[-1] - 1).bit_length() - bits))
    keys = [k for s in sums for k in (s - 1, s, s + 1) if 0 <= k < sums[-1]]
    keys += data.draw(st.lists(st.integers(0, sums[-1] - 1), max_size=20))
    found = guide.find(np.array(keys, dtype=np.int64)).tolist()
    assert found == [sum(s <= k for s in sums[:-1]) - 1 for k in keys]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-3, 7), max_size=30), st.lists(st.floats(-3, 7), max_size=30))
def test_turns_count_the_thresholds_below(thresholds, inputs):
    ordered = np.array(sorted(thresholds))
    turns = draws.Turns(ordered, -3.0, 7.0)
    x = np.array([*inputs, *ordered, *np.nextafter(ordered, 7.0), -3.0, 7.0])
    assert turns.count(x).tolist() == [int((ordered < value).sum()) for value in x]


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [16, 32, 53, 62])
def test_draws_fill_their_bits(bits):
    numbers = draws.draw(bits, 100_000).astype(object)
    assert max(numbers) < 2**bits
    cells = np.bincount([int(u) >> (bits - 4) for u in numbers], minlength=16)
    low = np.bincount([int(u) & 15 for u in numbers], minlength=16)
    for counts in (cells, low):
        assert ((counts - 6250) ** 2 / 6250).sum() < stats.chi2.isf(FALSE_ALARM, 15)


@pytest.mark.parametrize("count", [1, 2, 3, 1000, 2**32 + 1])
def test_numbers_below_a_count_are_uniform(count):
    numbers = draws.below(np.full(COUNT, count, dtype=np.uint64))
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
    numbers = draws.whole(np.full(COUNT, value))
    low, share = math.floor(value), value - math.floor(value)
    assert set(numbers.tolist()) <= {low, low + 1}
    ups = int((numbers == low + 1).sum())
    assert stats.binomtest(ups, COUNT, share).pvalue > FALSE_ALARM


@pytest.mark.parametrize("value", [0.5 + 2.0**-40, -0.5 - 2.0**-50, -1e-300, 2.0**-60, 3.25, -(2.0**40) - 0.3, 6.0])
def test_whole_numbers_go_up_exactly_as_often_as_their_share_says(value, monkeypatch):
    low = math.floor(value)
    share = Fraction(value) - low
    for top, rest in near_draws(share):
        monkeypatch.setattr(draws, "draw", Given((16, [top]), (64, [rest]), (64, [0])))
        is_up = Fraction((top << 64) + rest, 1 << 80) < share
        assert draws.whole(np.array([value])).tolist() == [low + is_up]


def near_draws(chance):
    """The first 16 digits of a uniform real and the next 64, at and beside those of ``chance``."""
    top, rest = divmod(int(chance * 2**80), 2**64)
    tops = {t for t in (0, top - 1, top, top + 1, 2**16 - 1) if 0 <= t < 2**16}
    rests = {r for r in (0, rest - 1, rest, rest + 1, 2**64 - 1) if 0 <= r < 2**64}
    return list(itertools.product(sorted(tops), sorted(rests)))


@pytest.mark.parametrize("x", [0.0, 0.31, 0.8, 1.0])
@pytest.mark.parametrize("one", [True, False], ids=["one input", "many inputs"])
def test_window_reports_have_their_counts(tables, x, one):
    table = tables["small"]
    row = sum(turn < x for turn in table.law.thresholds)
    reports = sample(table, x, COUNT) if one else sample(table, np.full(COUNT, x))
    require_law(reports, outputs_of(table), window_chances(table, row))


@pytest.mark.parametrize("x", [-1.0, -0.4, 0.0, 0.77, 1.0])
def test_unbiased_reports_have_the_mixture_of_their_rows(tables, x):
    table = tables["unbiased"]
    law = table.document["law"]
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
    row = table.law.rows[table.domain.points.index(x)]
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
    law = table.document["law"]
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
    with pytest.raises(InvalidInput, match=r"x\[0\] must lie in \[0, 1\]"):
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
def test_a_chance_is_decided_by_its_exact_binary_digits(part, count, monkeypatch):
    chance = Fraction(part, count)
    for approximate in (part / count, part / count + 2.0**-41, part / count - 2.0**-41):
        for top, rest in near_draws(chance):
            monkeypatch.setattr(draws, "draw", Given((16, [top]), (64, [rest]), (64, [0])))
            answer = draws.happens(np.array([approximate]), lambda _: chance)
            assert answer.tolist() == [Fraction((top << 64) + rest, 1 << 80) < chance]


@pytest.mark.parametrize(
    ("share", "inside", "cells"),
    [
        (Fraction(3, 4), 5, 8),
        (Fraction(1, 8), 1, 2),
        (Fraction(1, 8), 500, 1001),  # the window is the lighter part
        (Fraction(2**32 - 1, 2**32), 10**9, 2**32),
        (Fraction(3139872686, 2**32), 1155094609, 2**32),
        (Fraction(2**53 - 2**20, 2**53), 2**39 + 1, 2**40),
        (Fraction(1, 2**62), 2**32 - 3, 2**32),
    ],
)
def test_cells_have_exactly_the_reals_of_their_mass(share, inside, cells, monkeypatch):
    places, rng = draws.placed(share, inside, cells), np.random.default_rng(5)
    some = {0, 1, inside - 1, inside, inside + 1, cells - 1, *rng.integers(cells, size=40).tolist()}
    for cell in sorted(c for c in some if 0 <= c < cells):
        # what the cells before have
        begin = share * min(cell, inside) / inside + (1 - share) * max(cell - inside, 0) / (cells - inside)
        number = int(begin * 2**48)
        for drawn, rest in itertools.product((number - 1, number, number + 1), (0, 1, 2**63, 2**64 - 1)):
            if not 0 <= drawn < 2**48:
                continue
            high, low = divmod(drawn, 2**16)
            monkeypatch.setattr(draws, "draw", Given((32, [high]), (16, [low]), (64, [rest]), (64, [0]), (64, [0])))
            u = Fraction((drawn << 64) + rest, 1 << 112)
            rise = share / inside if u < share else (1 - share) / (cells - inside)
            expected = int(u / rise) if u < share else inside + int((u - share) / rise)
            assert places(1).tolist() == [expected]


def test_single_bits_are_fair():
    ones = int(draws.draw(1, 1_000_003).sum())
    assert stats.binomtest(ones, 1_000_003, 0.5).pvalue > FALSE_ALARM
    assert draws.draw(1, 1_000_003).max() == 1
    assert draws.draw(0, 3).tolist() == [0, 0, 0]


@pytest.mark.parametrize("kind", ["small", "finite", "circle"])
def test_positions_count_from_the_first_input(tables, kind):
    x = np.zeros(200_000)
    x[150_001] = 77.0
    with pytest.raises(InvalidInput, match=r"x\[150001\]"):
        sample(tables[kind], x)
