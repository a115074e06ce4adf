"""Tallies of reports: exact sums in any order, estimates against closed forms, intervals as sure as they say."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, norm

from mechdesign.errors import InvalidInput, WrongArguments
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.tables import Tally, estimators, make_table, sample
from mechdesign.tables.labels import Labels
from mechdesign.words.domains import Circle, Finite, Interval
from tests.tables.conftest import KINDS as ALL_KINDS

KINDS = tuple(kind for kind in ALL_KINDS if kind != "clamped")
MEANS = tuple(kind for kind in KINDS if kind != "circle")

TRIALS = 2000
FALSE_POSITIVE = 1e-6


def inputs(table, count):
    domain = table.domain
    if isinstance(domain, Finite):
        return np.resize(np.array(domain.points), count)
    return np.linspace(domain.lower, domain.upper, count)


def estimate_of(tally):
    return tally.direction() if isinstance(tally.table.domain, Circle) else tally.mean()


def said(table):
    return {
        name: float(Fraction(table.document["estimator"][name])) for name in ("slope", "intercept", "bias", "variance")
    }


# -- adding and merging -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_batches_and_their_order_change_no_bit(tables, kind):
    table = tables[kind]
    reports = sample(table, inputs(table, 5000))
    whole = Tally(table).add(reports)
    backwards = Tally(table)
    for part in np.array_split(reports[::-1], 7):
        backwards.add(part)
    halves = [Tally(table).add(part) for part in np.array_split(reports, 3)]
    merged = (
        Tally(table).merge(halves[2]).merge(halves[0]).merge(Tally(table)).merge(pickle.loads(pickle.dumps(halves[1])))
    )
    assert whole.count == backwards.count == merged.count == 5000
    assert estimate_of(whole) == estimate_of(backwards) == estimate_of(merged)


def test_more_reports_than_one_chunk_are_one_tally(tables):
    table = tables["pieces"]
    reports = sample(table, np.linspace(-1, 1, 600_000))
    at_once = Tally(table).add(reports).mean()
    assert at_once == Tally(table).add(reports[:3]).add(reports[3:]).mean()
    assert at_once.estimate == pytest.approx(said(table)["slope"] * reports.mean() + said(table)["intercept"], abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrong", ["beside", "nan", "inf", "far"])
def test_the_first_report_that_is_no_output_is_named_and_nothing_is_added(tables, kind, wrong):
    table = tables[kind]
    reports = sample(table, inputs(table, 50))
    beside = math.nextafter(float(reports[17]), math.inf)
    far = 0.3e9 + 0.1 if kind == "additive" else 1e300  # noise has no bound, but a grid
    reports[17] = {"beside": beside, "nan": math.nan, "inf": -math.inf, "far": far}[wrong]
    reports[30] = math.nan
    tally = Tally(table).add(sample(table, inputs(table, 10)))
    with pytest.raises(InvalidInput, match=r"reports\[17\] must be a possible output"):
        tally.add(reports)
    assert tally.count == 10


def test_cells_far_from_zero_are_found():
    table = make_table(catalogue.pm(1.0, Interval(1e9, 1e9 + 1)))
    law = table.document["law"]
    step = float(law["step"])
    ends = np.array([(law["first"] + cell + 0.5) * step for cell in (0, 1, law["cells"] // 2, law["cells"] - 1)])
    assert Tally(table).add(ends).count == 4
    for outside in (law["first"] - 0.5, law["first"] + law["cells"] + 0.5, law["first"] + 1.0):
        with pytest.raises(InvalidInput, match="possible output"):
            Tally(table).add([outside * step])


@pytest.mark.parametrize("reports", [np.zeros((2, 2)), 0.5, ["a"], [None], [True]])
def test_reports_must_be_one_list_of_numbers(tables, reports):
    with pytest.raises(InvalidInput, match="reports"):
        Tally(tables["small"]).add(reports)


def test_tallies_of_two_tables_do_not_merge(tables):
    with pytest.raises(InvalidInput, match="be of the table"):
        Tally(tables["small"]).merge(Tally(tables["duchi"]))


def test_an_empty_tally_estimates_nothing(tables):
    for estimate in (
        Tally(tables["small"]).mean,
        Tally(tables["finite"]).frequencies,
        Tally(tables["circle"]).direction,
    ):
        with pytest.raises(InvalidInput, match="at least one"):
            estimate()
    assert Tally(tables["small"]).add([]).count == 0


def test_clamped_tables_say_what_to_do_instead(tables):
    with pytest.raises(InvalidInput, match="make the table from the mechanism without the clamp"):
        Tally(tables["clamped"])


def test_estimates_are_of_the_right_kind_of_table(tables):
    for estimate, words in (
        (Tally(tables["circle"]).mean, "direction"),
        (Tally(tables["small"]).direction, "circle"),
        (Tally(tables["small"]).frequencies, "finite domain"),
    ):
        with pytest.raises(InvalidInput, match=words):
            estimate()


@pytest.mark.parametrize("confidence", [0, 1, -1, math.nan, "0.9", True])
def test_confidences_lie_between_0_and_1(tables, confidence):
    with pytest.raises(InvalidInput, match="confidence"):
        Tally(tables["duchi"]).add(sample(tables["duchi"], [0.0])).mean(confidence)


# -- the mean ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MEANS)
def test_the_mean_is_the_average_of_the_tables_own_estimator(tables, kind):
    table = tables[kind]
    reports = sample(table, inputs(table, 3000))
    found, file = Tally(table).add(reports).mean(0.9), said(table)
    values = file["slope"] * reports + file["intercept"]
    assert found.estimate == pytest.approx(values.mean(), abs=1e-9)
    half = norm.ppf(0.95) * found.deviation + file["bias"]
    assert half <= found.upper - found.estimate <= 1.01 * half
    assert half <= found.estimate - found.lower <= 1.01 * half
    assert (found.count, found.confidence) == (3000, 0.9)


@pytest.mark.parametrize("kind", MEANS)
def test_the_reach_is_that_of_the_sample_and_of_what_it_cannot_have_shown(tables, kind):
    table = tables[kind]
    reports = sample(table, inputs(table, 400))
    found, file = Tally(table).add(reports).mean(), said(table)
    values = file["slope"] * reports + file["intercept"]
    if kind == "additive":
        expected, ends = max(values.var(ddof=1), file["variance"]), (table.domain.lower, table.domain.upper)
    else:
        law = table.document["law"]
        if kind == "pieces":
            ends = [(law["first"] + cell + 0.5) * float(law["step"]) for cell in (0, law["cells"] - 1)]
        else:
            ends = [float(law["outputs"][0]), float(law["outputs"][-1])]
        ends = file["slope"] * np.array(ends) + file["intercept"]
        expected = values.var(ddof=1)
    assert found.deviation == pytest.approx(math.sqrt(expected / 400), rel=1e-9)
    seen, missed = norm.ppf(0.975) * found.deviation, 1 - 0.025 ** (1 / 400)
    below, above = (math.hypot(seen, missed * (end - values.mean())) + file["bias"] for end in ends)
    assert found.estimate - found.lower == pytest.approx(below, rel=1e-9)
    assert found.upper - found.estimate == pytest.approx(above, rel=1e-9)


def test_noise_far_out_is_summed_exactly(tables, monkeypatch):
    """Of reports that are left out by now, as no honest client sends them: the sums must not depend on that."""
    monkeypatch.setattr(estimators, "likely", lambda law: None)
    table = tables["additive"]
    far = [2.0**60, -(2.0**60), 2.0**45, 0.5]
    assert Tally(table).add(far).mean().estimate == (2.0**45 + 0.5) / 4


@pytest.mark.parametrize("kind", MEANS)
def test_the_guaranteed_interval_is_chebyshevs(tables, kind):
    table = tables[kind]
    tally, file = Tally(table).add(sample(table, inputs(table, 100))), said(table)
    found = tally.guaranteed_mean(0.75)
    assert found.estimate == tally.mean().estimate
    assert found.upper - found.estimate == pytest.approx(2 * math.sqrt(file["variance"] / 100) + file["bias"], rel=1e-9)


def hits(table, x, confidence, draw, interval, trials=TRIALS):
    """How many of the trials' intervals hold the average of the inputs."""
    truth, found = np.mean(x), 0
    for _ in range(trials):
        estimate = interval(Tally(table).add(draw(x)), confidence)
        found += estimate.lower <= truth <= estimate.upper
    return found


def seeded_duchi(table, seed):
    """Reports of the two-point table, seeded: the high output with chance (1 + x / far) / 2."""
    rng, (low, high) = np.random.default_rng(seed), table.law.outputs
    return lambda x: np.where(rng.random(x.size) < (x - low) / (high - low), high, low)


@pytest.mark.parametrize(
    ("epsilon", "x"),
    [(1.0, np.linspace(-1, 1, 200)), (1.0, np.full(20, 0.3)), (1.0, np.full(3, 1.0)), (8.0, np.full(100, 1.0))],
    ids=["spread", "few", "three", "rare output"],
)
def test_intervals_hold_the_average_of_the_inputs_as_often_as_they_say(epsilon, x):
    # 2000 trials, seed 7: fewer hits than the critical value have a probability below 1e-6 at a true rate of 95%
    table = make_table(catalogue.duchi(epsilon))
    found = hits(table, x, 0.95, seeded_duchi(table, 7), Tally.mean)
    assert found >= binom.ppf(FALSE_POSITIVE, TRIALS, 0.95)


def test_few_outputs_of_a_rare_kind_do_not_make_intervals_too_sure():
    # eps 8, 100 inputs of 0.99: in 60% of the trials all reports are equal, and the plain sample variance is 0
    table = make_table(catalogue.duchi(8.0))
    found = hits(table, np.full(100, 0.99), 0.95, seeded_duchi(table, 8), Tally.mean)
    assert found >= binom.ppf(FALSE_POSITIVE, TRIALS, 0.95)


def test_intervals_hold_the_mean_of_a_population_and_are_not_too_wide():
    # 2000 trials, seed 9, 1000 inputs each from {-1, 1}: at a true rate of 95% either bound fails with probability 1e-6
    table, rng = make_table(catalogue.duchi(2.0)), np.random.default_rng(9)
    draw, found = seeded_duchi(table, 10), 0
    for _ in range(TRIALS):
        estimate = Tally(table).add(draw(np.where(rng.random(1000) < 0.8, 1.0, -1.0))).mean()
        found += estimate.lower <= 0.6 <= estimate.upper
    assert binom.ppf(FALSE_POSITIVE, TRIALS, 0.95) <= found <= binom.ppf(1 - FALSE_POSITIVE, TRIALS, 0.957)


def test_intervals_of_a_window_table_hold_the_average_bias_and_all():
    # 500 trials, n = 500, inputs where the bias is worst; the system's randomness: false alarms 1e-6
    table = make_table(catalogue.ogpm(2.0))
    x = np.full(500, catalogue.ogpm(2.0).width / 2)
    found = hits(table, x, 0.95, lambda x: sample(table, x), Tally.mean, trials=500)
    assert found >= binom.ppf(FALSE_POSITIVE, 500, 0.95)


def test_the_guaranteed_interval_holds_from_one_report_on():
    # 2000 trials, seed 11, one report: Chebyshev promises 90%; fewer hits than the critical value: probability 1e-6
    table = make_table(catalogue.duchi(1.0))
    found = hits(table, np.array([0.2]), 0.9, seeded_duchi(table, 11), Tally.guaranteed_mean)
    assert found >= binom.ppf(FALSE_POSITIVE, TRIALS, 0.9)


# -- frequencies ------------------------------------------------------------------------------------------------------


def exactly(table, row):
    """Reports in exactly the proportions of one row of a 16-bit table."""
    return np.repeat(list(table.law.outputs), table.law.rows[row])


@pytest.mark.parametrize("size", [2, 3, 20])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_randomised_response_has_the_textbook_frequencies(size, epsilon):
    table = make_table(catalogue.randomised_response(epsilon, Finite(tuple(range(size)))), 62)
    reports = sample(table, np.arange(1000.0) ** 2 % size)
    found = Tally(table).add(reports).frequencies(0.9)
    shares = np.bincount(reports.astype(int), minlength=size) / 1000
    p, q = math.exp(epsilon) / (math.exp(epsilon) + size - 1), 1 / (math.exp(epsilon) + size - 1)
    assert found.estimates == pytest.approx((shares - q) / (p - q), abs=1e-12 * max(1, 1 / (p - q)))
    assert np.diag(found.covariance) == pytest.approx(shares * (1 - shares) / 1000 / (p - q) ** 2, rel=1e-9, abs=1e-15)
    assert found.points.tolist() == list(range(size))
    assert found.estimates.sum() == pytest.approx(1, abs=1e-12)
    half = norm.ppf(0.95) * np.sqrt(np.diag(found.covariance))
    assert (found.upper - found.estimates > half).all()
    assert (found.estimates - found.lower > half).all()


@pytest.mark.parametrize("absent", range(20))
def test_no_variance_is_negative_where_an_output_never_occurs(absent):
    table = make_table(catalogue.randomised_response(5.0, Finite(tuple(range(20)))), 62)
    reports = np.array([value for value in range(20) if value != absent] * 53, dtype=float)
    found = Tally(table).add(reports).frequencies(0.9)
    assert (np.diag(found.covariance) >= 0).all()
    assert np.diag(found.covariance)[absent] == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("kind", ["small", "duchi"])
def test_the_bias_bound_is_the_tables_and_a_part_of_the_half_width(tables, kind):
    found = Tally(tables[kind]).add(sample(tables[kind], inputs(tables[kind], 500))).mean()
    assert found.bias == said(tables[kind])["bias"]
    half = norm.ppf(0.975) * found.deviation + found.bias
    assert half <= found.upper - found.estimate <= 1.01 * half


@pytest.fixture(scope="module")
def wide():
    """Four points and seven outputs, no two rows alike."""
    rng = np.random.default_rng(3)
    rows = np.exp(0.9 * rng.random((4, 7)))
    channel = rows / rows.sum(axis=1, keepdims=True)
    ratio = (channel.max(axis=0) / channel.min(axis=0)).max()
    return make_table(
        Discrete(math.log(ratio) + 1e-9, Finite((0, 1, 5, 6)), Finite(tuple(range(7))), channel, "wide"), 16
    )


def test_frequencies_are_unbiased_for_any_channel_of_full_rank(wide):
    for row in range(4):
        found = Tally(wide).add(exactly(wide, row)).frequencies()
        assert found.estimates == pytest.approx(np.eye(4)[row], abs=1e-11)


def test_the_covariance_is_that_of_the_reports_weights(wide):
    reports = np.concatenate([exactly(wide, row)[:: 100 + row] for row in range(4)])
    found = Tally(wide).add(reports).frequencies()
    weight = {y: Tally(wide).add([y]).frequencies().estimates for y in range(7)}
    values = np.array([weight[y] for y in reports.astype(int)])
    assert found.estimates == pytest.approx(values.mean(axis=0), abs=1e-11)
    assert found.covariance == pytest.approx(np.cov(values.T, bias=True) / reports.size, rel=1e-9, abs=1e-12)


def test_the_weights_of_least_squares_have_less_variance_than_plain_ones(wide):
    rows = np.array(wide.law.rows) / 2**16
    shares = rows.mean(axis=0)
    plain = np.linalg.pinv(rows.T)
    plain_variance = np.trace((plain * shares) @ plain.T)
    ours = np.array([Tally(wide).add([float(y)]).frequencies().estimates for y in range(7)]).T
    assert np.trace((ours * shares) @ ours.T) < plain_variance


@pytest.mark.parametrize("fill", [2, 5])
def test_channels_that_mix_points_up_are_refused_with_the_reason(fill):
    channel = np.full((3, fill), 1 / fill)
    table = make_table(Discrete(1.0, Finite((0, 1, 2)), Finite(tuple(range(fill))), channel, "flat"))
    with pytest.raises(InvalidInput, match=r"linearly independent.*rank 1.*more outputs"):
        Tally(table).add([0.0]).frequencies()


def test_labels_that_are_mixed_up_have_no_mean_to_take_instead():
    flat = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), np.full((2, 2), 0.5), "flat")
    tables = [make_table(flat), make_table(flat, labels=Labels(("no", "yes"), ("no", "yes")))]
    said = []
    for table, report in zip(tables, (0.0, "no"), strict=True):
        with pytest.raises(InvalidInput, match="more outputs") as refused:
            Tally(table).add([report]).frequencies()
        said.append("take the mean" in str(refused.value))
    assert said == [True, False]


def test_frequencies_are_in_their_intervals_as_often_as_they_say():
    # 2000 trials, seed 12, 300 inputs, the rarest share 1%: every share at 95%, false alarms 4e-6 in all
    table, rng = make_table(catalogue.randomised_response(3.0, Finite((0, 1, 2, 3)))), np.random.default_rng(12)
    truth, found = np.array([0.6, 0.3, 0.09, 0.01]), np.zeros(4)
    law = truth @ np.array(table.law.rows) / 2**32
    for _ in range(TRIALS):
        tally = Tally(table).add(rng.choice(4, size=300, p=law))
        estimate = tally.frequencies()
        found += (estimate.lower <= truth) & (truth <= estimate.upper)
    assert (found >= binom.ppf(FALSE_POSITIVE, TRIALS, 0.95)).all()


# -- directions -------------------------------------------------------------------------------------------------------


def test_the_direction_of_equal_inputs_is_theirs_and_their_resultant_is_1():
    # 10^5 reports, confidence 1 - 1e-6
    table = make_table(catalogue.ogpm_circle(2.0, Circle(24.0)))
    for at in (0.0, 5.0, 23.9):
        found = Tally(table).add(sample(table, np.full(100_000, at))).direction(1 - 1e-6)
        off = (found.estimate - at + 12) % 24 - 12
        assert abs(off) < found.upper - found.estimate < 0.2
        assert 0 <= found.estimate < 24
        assert found.resultant == pytest.approx(1, abs=0.05)


def test_the_resultant_is_that_of_the_inputs():
    # standard error 1 / (sqrt(2 n) R of the noise) = 0.004 at eps = 2: 0.03 is seven of them
    table, spread = make_table(catalogue.ogpm_circle(2.0)), np.pi / 3
    x = np.tile([2.0 - spread, 2.0 + spread], 50_000)
    found = Tally(table).add(sample(table, x)).direction()
    assert found.resultant == pytest.approx(math.cos(spread), abs=0.03)
    assert found.estimate == pytest.approx(2.0, abs=0.1)


def test_a_direction_that_is_not_there_is_the_whole_circle():
    table = make_table(catalogue.ogpm_circle(1.0))
    cells, step = table.law.cells, table.law.step
    opposed = [(cell + 0.5) * step for cell in (0, cells // 4, cells // 2, 3 * cells // 4)]
    found = Tally(table).add(opposed).direction()
    assert found.upper - found.lower == pytest.approx(2 * math.pi)
    assert math.isfinite(found.deviation)


def test_directions_turn_with_the_reports(tables):
    table = tables["circle"]
    cells, step = table.law.cells, table.law.step
    rng = np.random.default_rng(4)
    places = rng.integers(0, cells // 3, 200)
    first = Tally(table).add((places + 0.5) * step).direction()
    turned = Tally(table).add(((places + cells // 4) % cells + 0.5) * step).direction()
    assert turned.estimate - first.estimate == pytest.approx(math.pi / 2, abs=1e-10)
    assert turned.deviation == pytest.approx(first.deviation, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "count"), [(1.0, 400), (4.0, 20)])
def test_directions_are_in_their_intervals_as_often_as_they_say(epsilon, count):
    # 1000 trials at 95%, the system's randomness: false alarms 1e-6
    table = make_table(catalogue.ogpm_circle(epsilon))
    reports, found = sample(table, np.full(1000 * count, 2.0)).reshape(1000, count), 0
    for row in reports:
        estimate = Tally(table).add(row).direction()
        off = (estimate.estimate - 2.0 + math.pi) % math.tau - math.pi
        found += abs(off) <= estimate.upper - estimate.estimate
    assert found >= binom.ppf(FALSE_POSITIVE, 1000, 0.95)


def test_an_estimate_is_no_number_and_says_how_a_difference_is_taken(tables):
    table = tables["unbiased"]
    found = Tally(table).add(sample(table, inputs(table, 100))).mean()
    for reckoned in (lambda: found - found, lambda: found + 1.0, lambda: 1.0 - found):
        with pytest.raises(
            WrongArguments, match=r"MeanEstimate must be taken by its number .*\.estimate.* nobody is in"
        ):
            reckoned()
