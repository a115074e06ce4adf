"""Privacy-loss distributions against exact enumeration: never below it, and above by the grid only."""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

from mechdesign.errors import InvalidInput, MissingExtra
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import TwoSidedGeometric
from mechdesign.tables import make_table, privacy_loss_distribution
from mechdesign.words.domains import Circle, Finite, Interval

pytest.importorskip("dp_accounting")

KINDS = ("absolute", "small", "unbiased", "duchi", "finite", "pieces", "circle", "additive", "clamped")
GRID = 1e-4
EPSILONS = (0.0, 0.1, 0.35, 0.7, 0.99)


def delta(masses, epsilon, copies=1):
    """The hockey-stick divergence of independent copies of two laws, by summing over the outputs' products."""
    total = sum(a for a, _ in masses)
    factor = math.exp(epsilon)
    found = 0.0
    for outputs in itertools.combinations_with_replacement(masses, copies):
        ways = math.factorial(copies)
        for same in {id(pair): outputs.count(pair) for pair in outputs}.values():
            ways //= math.factorial(same)
        p, q = (math.prod(pair[side] / total for pair in outputs) for side in (0, 1))
        found += ways * max(0.0, p - factor * q)
    return found


def by_ratio(masses):
    """The same divergences from the few distinct ratios."""
    sums = {}
    for a, b in masses:
        p, q = sums.get(Fraction(a, b), (0, 0))
        sums[Fraction(a, b)] = (p + a, q + b)
    return list(sums.values())


def ends(table):
    domain = table.domain
    return (0.0, domain.period / 2) if isinstance(domain, Circle) else (domain.lower, domain.upper)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_is_never_below_its_exact_divergence_and_above_by_the_grid_only(tables, kind):
    table = tables[kind]
    found = privacy_loss_distribution(table, ends(table))
    there = by_ratio(table.law.masses(*ends(table)))
    back = [(b, a) for a, b in there]
    for epsilon in np.multiply(EPSILONS, table.privacy_loss).tolist():
        exact = max(delta(there, epsilon), delta(back, epsilon))
        assert found.get_delta_for_epsilon(epsilon) >= exact - 1e-14
        assert (
            found.get_delta_for_epsilon(epsilon)
            <= max(delta(pairs, max(epsilon - GRID, 0)) if epsilon else exact + GRID for pairs in (there, back)) + 1e-14
        )


@pytest.mark.parametrize("kind", KINDS)
def test_one_report_spends_the_exact_privacy_loss_at_delta_0(tables, kind):
    table = tables[kind]
    spent = privacy_loss_distribution(table).get_epsilon_for_delta(0.0)
    assert table.privacy_loss - 1e-12 <= spent <= table.privacy_loss + GRID * 1.001


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_pair_every_pair_is_dominated(tables, kind):
    table = tables[kind]
    domain, rng = table.domain, np.random.default_rng(5)
    points = domain.points if isinstance(domain, Finite) else rng.uniform(domain.lower, domain.upper, 4).tolist()
    found = privacy_loss_distribution(table)
    epsilons = np.multiply(EPSILONS, table.privacy_loss).tolist()
    most = found.get_delta_for_epsilon(epsilons)
    for pair in itertools.permutations([*points, *ends(table)], 2):
        masses = by_ratio(table.law.masses(*pair))
        for epsilon, bound in zip(epsilons, most, strict=True):
            assert delta(masses, epsilon) <= bound + 1e-14


@pytest.mark.parametrize("kind", ["small", "unbiased", "duchi", "finite", "pieces", "circle", "additive"])
def test_what_dominates_is_attained_up_to_the_grid(tables, kind):
    # only the rounding of caps, and outputs cut by a window's end, keep windows from attaining it
    table = tables[kind]
    slack = {"small": 0.05, "unbiased": 1e-4}.get(kind, 0) + 2 * GRID
    found = privacy_loss_distribution(table)
    if kind in ("small", "unbiased"):
        rows = [table.law.counts(row) for row in range(len(table.law.starts))]
        pairs = [list(zip(rows[0], rows[-1], strict=True)), list(zip(rows[-1], rows[0], strict=True))]
    else:
        pairs = [table.law.masses(*ends(table))]
    for epsilon in np.multiply(EPSILONS, table.privacy_loss).tolist():
        exact = max(delta(by_ratio(masses), epsilon) for masses in pairs)
        assert found.get_delta_for_epsilon(epsilon) <= exact + slack


def test_randomised_response_composes_to_its_closed_form():
    # k reports are binomial: the loss is (2 j - k) ln c with j of them true
    table = make_table(catalogue.randomised_response(1.0, Finite((0, 1))))
    (high, _), (low, _) = table.law.rows
    for copies in (1, 5, 40):
        j = np.arange(copies + 1)
        p, q = binom.pmf(j, copies, high / 2**32), binom.pmf(j, copies, low / 2**32)
        composed = privacy_loss_distribution(table).self_compose(copies)
        for epsilon in (0.0, 0.5 * math.sqrt(copies), 0.9 * copies):
            exact, before = (np.maximum(p - math.exp(e) * q, 0).sum() for e in (epsilon, epsilon - copies * GRID))
            assert exact - 1e-12 <= composed.get_delta_for_epsilon(epsilon) <= before + 1e-12


@pytest.mark.parametrize("kind", ["finite", "duchi", "pieces", "small"])
def test_compositions_of_small_tables_are_never_below_enumeration(tables, kind):
    table, copies = tables[kind], 4
    masses = by_ratio(table.law.masses(*ends(table)))
    found = privacy_loss_distribution(table, ends(table)).self_compose(copies)
    dominating = privacy_loss_distribution(table).self_compose(copies)
    for epsilon in np.multiply((0.0, 0.3, 0.8), copies * table.privacy_loss).tolist():
        there, back = (delta(pairs, epsilon, copies) for pairs in (masses, [(b, a) for a, b in masses]))
        before = [delta(pairs, epsilon - copies * GRID, copies) for pairs in (masses, [(b, a) for a, b in masses])]
        assert max(there, back) - 1e-12 <= found.get_delta_for_epsilon(epsilon) <= max(before) + 1e-12
        assert dominating.get_delta_for_epsilon(epsilon) >= max(there, back) - 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_k_reports_spend_at_most_k_epsilon(tables, kind):
    table = tables[kind]
    composed = privacy_loss_distribution(table).self_compose(8, tail_mass_truncation=0.0)
    assert composed.get_epsilon_for_delta(1e-13) <= 8 * (float(table.epsilon) + GRID)


def test_equal_inputs_lose_nothing(tables):
    for kind, x in (("small", 0.4), ("pieces", -0.2), ("additive", 0.3), ("unbiased", 0.1), ("finite", 5)):
        assert privacy_loss_distribution(tables[kind], (x, x)).get_epsilon_for_delta(0.0) == 0


def test_the_ends_of_a_circle_are_one_point(tables):
    period = tables["circle"].domain.period
    assert privacy_loss_distribution(tables["circle"], (0.0, period)).get_delta_for_epsilon(0.0) < 1e-8


def test_pieces_are_cheaper_than_randomised_response_of_their_epsilon():
    rr, pieces = (
        privacy_loss_distribution(make_table(mechanism)).self_compose(100).get_epsilon_for_delta(1e-6)
        for mechanism in (catalogue.duchi(1.0), catalogue.ogpm(1.0))
    )
    assert rr == pytest.approx(83.53, abs=0.02)
    assert pieces == pytest.approx(74.94, abs=0.02)


def test_the_more_outputs_randomised_response_has_the_less_it_loses_in_composition():
    spent = [
        privacy_loss_distribution(make_table(catalogue.randomised_response(1.0, Finite(tuple(range(size))))))
        .self_compose(30)
        .get_epsilon_for_delta(1e-6)
        for size in (2, 10, 50)
    ]
    assert spent[0] > spent[1] + 5 > spent[2] + 10


def test_an_unbiased_table_mixes_the_rows_beside_an_input(tables):
    table = tables["unbiased"]
    x = 0.3
    masses = table.law.masses(x, 0.0)
    total = sum(a for a, _ in masses)
    mean = sum(Fraction(a, total) * Fraction(float(y)) for (a, _), y in zip(masses, table.law.outputs, strict=True))
    assert mean == Fraction(x)
    assert sum(b for _, b in masses) == total


def test_noise_laws_are_those_of_the_grid_far_out():
    # every z up to 60 blocks: the tails that repeat must hold exactly the rest
    table = make_table(TwoSidedGeometric(0.7, Finite((0, 1, 2, 3))), 16)
    law, q = table.document["law"], Fraction(table.law.tail, 2**16)
    size = len(law["weights"])
    total = 2 * 2**16 / (1 - q) - law["weights"][0]

    def chance(z):
        return q ** (abs(z) // size) * law["weights"][abs(z) % size] / total

    pairs = [(chance(v), chance(v - 2)) for v in range(-200, 200)]
    masses = by_ratio(table.law.masses(0.0, 2.0))
    whole = sum(a for a, _ in masses)
    for epsilon in (0.0, 0.3, 1.2):
        direct = sum(max(0.0, float(p) - math.exp(epsilon) * float(r)) for p, r in pairs)
        assert delta([(a / whole, b / whole) for a, b in masses], epsilon) == pytest.approx(direct, abs=1e-12)


@pytest.mark.parametrize("pair", [(-0.9, 0.5), (0.2, 0.5), (-1.0, 1.0)])
def test_a_clamped_table_has_the_law_after_the_clamp(tables, pair):
    table, mechanism = tables["clamped"], catalogue.pm(1.0)
    masses = by_ratio(table.law.masses(*pair))
    laws = [mechanism.pieces(x) for x in pair]
    edges = sorted({-1.0, 1.0, *(e for law in laws for e in law.edges.tolist() if -1 < e < 1)})
    spans = [(mechanism.outputs.lower, -1.0), *itertools.pairwise(edges), (1.0, mechanism.outputs.upper)]
    for epsilon in (0.0, 0.4, 0.9):
        parts = [[float(mechanism.cdf(b, x) - mechanism.cdf(a, x)) for x in pair] for a, b in spans]
        direct = sum(max(0.0, p - math.exp(epsilon) * q) for p, q in parts)
        assert delta(masses, epsilon) == pytest.approx(direct, abs=1e-8)


def test_clamped_noise_has_the_law_after_the_clamp():
    mechanism = catalogue.truncated_laplace(1.0)
    masses = by_ratio(make_table(mechanism).law.masses(0.25, 0.75))
    middle = quad(
        lambda y: max(0.0, math.exp(-abs(y - 0.25)) - math.exp(0.1 - abs(y - 0.75))) / 2,
        0,
        1,
        points=[0.25, 0.45, 0.75],
    )
    low = max(0.0, (math.exp(-0.25) - math.exp(0.1 - 0.75)) / 2)
    assert delta(masses, 0.1) == pytest.approx(low + middle[0], abs=2e-4)


def test_a_finer_grid_is_closer():
    table = make_table(catalogue.ogpm(1.2345))
    exact = table.privacy_loss
    for interval in (0.1, 1e-3, 1e-5):
        spent = privacy_loss_distribution(table, interval=interval).get_epsilon_for_delta(0.0)
        assert exact - 1e-12 <= spent <= exact + interval * 1.001


@pytest.mark.parametrize("pair", [(0.0,), (0.0, 2.0), (0.0, math.nan), "ab", 0.5, (None, 0.0), (0.0, math.inf)])
def test_pairs_are_two_inputs_of_the_domain(tables, pair):
    with pytest.raises(InvalidInput, match="pair"):
        privacy_loss_distribution(tables["small"], pair)


@pytest.mark.parametrize("interval", [0, -1e-4, 2.0, math.nan, 1e-12, "1"])
def test_grids_that_no_accountant_can_use_are_refused(tables, interval):
    with pytest.raises(InvalidInput, match="interval"):
        privacy_loss_distribution(tables["small"], interval=interval)


def test_the_missing_extra_is_named(tables, monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(MissingExtra, match="accounting"):
        privacy_loss_distribution(tables["small"])


def test_domains_far_from_zero_are_accounted_for():
    for build in (catalogue.pm, catalogue.laplace, catalogue.duchi):
        table = make_table(build(1.0, Interval(1e6, 1e6 + 1)))
        assert privacy_loss_distribution(table, (1e6, 1e6 + 1)).get_epsilon_for_delta(0.0) <= 1 + 2 * GRID
