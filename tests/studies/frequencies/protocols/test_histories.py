"""Losses of all reports together, against brute force: every history, every memory, every sequence of reports."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import PROTOCOLS, bloom_rappor, protocol, rappor
from mechdesign.studies.frequencies.protocols.histories import MOST_ROUNDS_COMPARED, Bits, Step, Words

KEYS = [line.key for line in PROTOCOLS if line.longitudinal]
UNARY = ["l-sue", "l-oue", "l-soue", "l-osue"]


def words_chances(memory: Words, history):
    """``P(y | history)`` of all sequences y of words, the memories of all words held summed over."""
    m, rounds = memory.choices, len(history)
    first = np.full((m, m), memory.first.q) + np.eye(m) * (memory.first.p - memory.first.q)
    second = np.full((m, m), memory.second.q) + np.eye(m) * (memory.second.p - memory.second.q)
    chances = np.ones([m] * rounds)
    for word in set(history):
        own = 0
        for remembered in range(m):
            part = np.full([1] * rounds, first[word, remembered])
            for t in range(rounds):
                if history[t] == word:
                    shape = [1] * rounds
                    shape[t] = m
                    part = part * second[remembered].reshape(shape)
            own = own + part
        chances = chances * own
    return chances.ravel()


def bits_chances(memory: Bits, filters):
    """``P(y | filters)`` of all sequences of rows of bits; ``filters`` has the set of positions held in each round."""
    rounds, chances = len(filters), np.ones(1)
    for position in range(memory.size):
        column = np.zeros([2] * rounds)
        for y in itertools.product((0, 1), repeat=rounds):
            chance = 1.0
            for held in set(filters):
                share = memory.first.p if position in held else memory.first.q
                both = [share, 1 - share]
                for t in range(rounds):
                    if filters[t] == held:
                        second = (memory.second.p, memory.second.q)
                        both = [b * (s if y[t] else 1 - s) for b, s in zip(both, second, strict=True)]
                chance *= sum(both)
            column[y] = chance
        chances = np.multiply.outer(chances, column.ravel()).ravel()
    return chances


def worst_of(pairs, chances):
    known = {}

    def of(history):
        if history not in known:
            known[history] = np.log(chances(history))
        return known[history]

    return max(float(np.abs(of(one) - of(other)).max()) for one, other in pairs)


def changes(history):
    return sum(a != b for a, b in itertools.pairwise(history))


def is_renamed(one, other):
    """One value of the first is another one throughout in the second, held there in no other round."""
    differing = {(a, b) for a, b in zip(one, other, strict=True) if a != b}
    if len(differing) != 1:
        return False
    ((before, after),) = differing
    return before not in other and after not in one


def relations(values, rounds):
    histories = list(itertools.product(values, repeat=rounds))
    constant = [h for h in histories if changes(h) == 0]
    return {
        "same_value": [(a, b) for a in constant for b in constant],
        "one_value_replaced": [(a, b) for a in histories for b in histories if is_renamed(a, b)],
        "one_change": [(a, b) for a in histories if changes(a) <= 1 for b in constant],
    }


@pytest.mark.parametrize(("size", "rounds"), [(2, 1), (2, 2), (2, 5), (3, 2), (3, 4), (4, 3), (5, 3)])
@pytest.mark.parametrize("limit", [1.3, 2.5, 4.0])
def test_losses_of_randomised_response_are_those_of_all_histories_and_sequences(size, rounds, limit):
    law = protocol("l-grr", 1.0, size, limit=limit)
    found = law.losses(rounds)
    for name, pairs in relations(range(size), rounds).items():
        worst = worst_of(pairs, lambda history: words_chances(law.memory, history))
        assert getattr(found, name) == pytest.approx(worst, rel=1e-11)


@pytest.mark.parametrize("key", UNARY)
@pytest.mark.parametrize(("size", "rounds"), [(2, 1), (2, 3), (3, 2), (3, 3), (4, 2)])
def test_losses_of_bits_are_those_of_all_histories_and_sequences(key, size, rounds):
    law = protocol(key, 0.8, size, limit=2.0)
    found = law.losses(rounds)
    for name, pairs in relations(range(size), rounds).items():
        worst = worst_of(pairs, lambda history: bits_chances(law.memory, tuple(frozenset([v]) for v in history)))
        assert getattr(found, name) == pytest.approx(worst, rel=1e-10)


@pytest.mark.parametrize("key", ["l-blh", "l-olh"])
@pytest.mark.parametrize(("values", "rounds"), [(3, 2), (4, 3), (5, 4)])
def test_losses_of_hashing_are_those_of_the_worst_hash_function(key, values, rounds):
    """Every function from the values to g hashes stands for a seed."""
    law = protocol(key, 1.0, values, limit=2.5) if key == "l-blh" else protocol(key, 1.0, values, limit=2.5, g=3)
    found, g = law.losses(rounds), law.memory.choices
    for name, pairs in relations(range(values), rounds).items():
        hashed = {
            (tuple(seed[v] for v in one), tuple(seed[v] for v in other))
            for seed in itertools.product(range(g), repeat=values)
            for one, other in pairs
        }
        worst = worst_of(hashed, lambda history: words_chances(law.memory, history))
        assert getattr(found, name) == pytest.approx(worst, rel=1e-11)


@pytest.mark.parametrize("memory", ["both", "zeros shown"])
@pytest.mark.parametrize(("bits", "hashes", "rounds"), [(4, 2, 1), (4, 2, 2), (5, 2, 2), (3, 1, 3)])
def test_losses_of_bloom_filters_are_those_of_all_filters_and_sequences(memory, bits, hashes, rounds):
    if memory == "both":
        law = bloom_rappor(1.0, bits, hashes, 1, limit=2.0)
    else:
        law = rappor(bits, hashes, 1, f=0.5, p=0.1, q=0.95)
    filters = [frozenset(c) for n in range(1, hashes + 1) for c in itertools.combinations(range(bits), n)]
    found = law.losses(rounds)
    for name, pairs in relations(filters, rounds).items():
        worst = worst_of(pairs, lambda history: bits_chances(law.memory, history))
        assert getattr(found, name) == pytest.approx(worst, rel=1e-10)


@pytest.mark.parametrize("key", ["l-grr", "l-oue", "l-sue"])
@pytest.mark.parametrize(
    "history", [(0, 0, 1), (0, 1, 2, 0), (0, 1, 2), (1, 1, 1, 1), (0, 2, 2, 1), (2, 0, 2, 0, 1), (0, 1, 0, 0, 1)]
)
def test_what_users_spent_is_the_worst_over_all_users_of_each_kind(key, history):
    """Three values: all, some or one of them held, in any order."""
    if key != "l-grr" and len(history) > 4:
        history = history[:4]
    law, rng = protocol(key, 0.9, 3, limit=2.4), np.random.default_rng(1)
    users = law.client(1, rng)
    for value in history:
        users.report([value], rng)
    spent = users.privacy_spent()

    def chances(held):
        if key == "l-grr":
            return words_chances(law.memory, held)
        return bits_chances(law.memory, tuple(frozenset([v]) for v in held))

    constant = [(history, (v,) * len(history)) for v in range(3)]
    assert spent.no_change[0] == pytest.approx(worst_of(constant, chances), rel=1e-10)
    renamed = [(history, tuple(to[v] for v in history)) for to in itertools.permutations(range(3))]
    assert spent.same_changes[0] == pytest.approx(worst_of(renamed, chances), rel=1e-10)


def test_a_change_is_not_protected_by_any_limit():
    """The numbers of the finding: k = 3, eps 1, limit 2; after 2, 20 and 1 000 rounds."""
    law = protocol("l-grr", 1.0, 3, limit=2.0)
    assert [round(law.losses(rounds).one_change, 1) for rounds in (2, 20, 1000)] == [2.1, 16.0, 748.0]
    rng = np.random.default_rng(0)
    users = law.client(2, rng)
    for t in range(20):
        users.report([0, 1 if t < 10 else 2], rng)
    spent = users.privacy_spent()
    assert spent.same_changes == pytest.approx([2.0, 4.0], rel=1e-5)
    assert spent.no_change == pytest.approx([2.0, 16.005424], rel=1e-6)


@pytest.mark.parametrize("key", KEYS)
def test_losses_never_fall_with_more_rounds_and_a_change_costs_more_than_none(key):
    law = protocol(key, 1.0, 6, limit=2.0)
    found = [law.losses(rounds) for rounds in (1, 2, 3, 5, 9, 30)]
    for name in ("same_value", "one_value_replaced", "one_change"):
        losses = [getattr(one, name) for one in found]
        assert losses[0] == pytest.approx(1.0, rel=1e-11)
        assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(losses))
    assert all(one.same_value <= one.one_value_replaced <= one.one_change * (1 + 1e-12) for one in found)
    assert found[-1].one_change > 10 > 2 * law.limit


def test_many_rounds_are_exact_to_rounding():
    """The closed form at 10 000 rounds against arithmetic in whole numbers scaled up: no overflow, no cancellation."""
    from fractions import Fraction

    law = protocol("l-grr", 1.0, 3, limit=2.0)
    p, q = Fraction(law.first.p), Fraction(law.first.q)
    half = Fraction(law.second.p / law.second.q) ** 500
    ratio = (1 + p * (half - 1)) ** 2 / (1 + 2 * q * (half - 1))
    logarithm = math.log(ratio.numerator >> 4000) + 4000 * math.log(2)
    logarithm -= math.log(ratio.denominator >> 3000) + 3000 * math.log(2)
    assert law.losses(1000).one_change == pytest.approx(logarithm, rel=1e-12)
    assert law.losses(10_000).one_change > 7000


def test_reports_that_repeat_the_memory_give_a_change_away():
    """At limit = eps the second step is none: two different reports can only come from a change."""
    for key in ("l-grr", "l-sue", "l-osue", "l-blh"):
        law = protocol(key, 1.0, 4, limit=1.0)
        assert law.losses(1).one_change == pytest.approx(1.0)
        found = law.losses(3)
        assert found.same_value == pytest.approx(1.0)
        assert math.isinf(found.one_change)
    assert math.isinf(rappor(64, 2, 4, f=0.5, p=0.0, q=1.0).losses(2).one_change)


def test_a_bloom_client_spends_as_its_filters_have_it():
    law, rng = bloom_rappor(1.0, 6, 2, 1, limit=2.0), np.random.default_rng(1)
    users = law.client(2, rng)
    for strings in (["a", "a"], ["a", "b"]):
        users.report(strings, rng)
    spent = users.privacy_spent()
    filters = [frozenset(c) for n in (1, 2) for c in itertools.combinations(range(6), n)]
    held = [frozenset(np.flatnonzero(row[0]).tolist()) for row in law.filters(["a", "b"])]
    for user, history in enumerate([(held[0], held[0]), (held[0], held[1])]):
        pairs = [(history, (f, f)) for f in filters]
        worst = worst_of(pairs, lambda h: bits_chances(law.memory, h))
        assert spent.no_change[user] == pytest.approx(worst, rel=1e-10)
        of = [
            worst_of([((h,) * n, (f,) * n) for f in filters], lambda h: bits_chances(law.memory, h))
            for h, n in ([(held[0], 2)], [(held[0], 1), (held[1], 1)])[user]
        ]
        assert spent.same_changes[user] == pytest.approx(sum(of), rel=1e-10)


def test_reports_without_a_memory_add_up():
    law, rng = bloom_rappor(1.5, 16, 2, 4), np.random.default_rng(1)
    assert math.isinf(law.limit_loss())
    found = law.losses(4)
    assert (found.same_value, found.one_value_replaced, found.one_change) == pytest.approx((6.0, 6.0, 6.0))
    users = law.client(2, rng)
    for strings in (["a", "a"], ["a", "b"], ["a", "a"]):
        users.report(strings, rng)
    assert users.privacy_spent().same_changes == pytest.approx([4.5, 4.5])
    assert users.privacy_spent().no_change == pytest.approx([4.5, 4.5])


@pytest.mark.parametrize("rounds", [0, -1, 1.5, "2", True, MOST_ROUNDS_COMPARED + 1])
def test_rounds_that_cannot_be_compared_are_refused(rounds):
    for law in (protocol("l-grr", 1.0, 4), protocol("l-oue", 1.0, 4), protocol("l-blh", 1.0, 4), bloom_rappor(1.0)):
        with pytest.raises(InvalidInput, match="rounds"):
            law.losses(rounds)


def test_a_step_that_keeps_all_is_told_from_one_that_shows_zeros():
    assert Step(1.0, 0.0, 0.0).keeps_all
    assert not Step(0.75, 0.0, 0.25).keeps_all
