"""RAPPOR for strings: Bloom filters of randomised bits in cohorts, decoded by regression on candidate strings.

A string sets h bits of its cohort's Bloom filter, so two strings differ in at most h bits each way, and the loss is h
times the loss of one bit: ``h ln [p (1 - q) / (q (1 - p))]`` (Erlingsson, Pihur and Korolova 2014).
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidData, InvalidInput, require_epsilon, require_number, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.protocols import arguments, longitudinal, pure, unary
from mechdesign.studies.frequencies.protocols.histories import Bits as Memory, Losses, Spent, Step, require_rounds
from mechdesign.studies.frequencies.protocols.memo import Memo
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.studies.frequencies.protocols.regression import Decoded, decode
from mechdesign.values.declare import Counts, array, frozen

Bits = NDArray[np.bool_]

MOST_HASHES, MOST_BITS, MOST_COHORTS = 16, 1 << 16, 1 << 16

_STRING_BITS = 31


@frozen
class BloomReports:
    """One row a user: the cohort, and the randomised bits."""

    cohorts: Counts = array(np.asarray)
    bits: Bits


@frozen
class BloomTally:
    """What the server keeps: users in each cohort, and how many of them set each bit (cohorts x bits)."""

    users: Counts = array(np.asarray)
    ones: Counts = array(np.asarray)


@frozen
class BloomRappor:
    """Bloom filters of ``bits`` bits and ``hashes`` functions in ``cohorts``, each bit reported through ``once``.

    ``first`` and ``second`` are the permanent and the instantaneous step, or both None for a collection of one round.

    *Guarantee.* One report has the loss ``hashes ln [p (1 - q) / (q (1 - p))]`` for the coins ``once``. Of two users
    who hold one string each throughout, all reports together lose at most ``limit_loss``, which is infinite without a
    permanent step: those reports are independent and their losses add up. When a string changes is not protected:
    `losses` has the exact ones by relation. The cohort is drawn without looking at the string.

    >>> law = rappor(64, 2, 8, f=0.5, p=0.5, q=0.75)
    >>> round(law.privacy_loss(), 4), round(law.limit_loss(), 4)
    (1.0743, 4.3944)
    """

    bits: int
    hashes: int
    cohorts: int
    once: Step
    first: Step | None = None
    second: Step | None = None

    def __attrs_post_init__(self) -> None:
        require_whole(self.hashes, "hashes", 1, MOST_HASHES)
        require_whole(self.bits, "bits", 2 * self.hashes, MOST_BITS, "two strings may differ in 2 h bits")
        require_whole(self.cohorts, "cohorts", 1, MOST_COHORTS)

    @property
    def name(self) -> str:
        return "Bloom RAPPOR"

    @property
    def report_bits(self) -> float:
        return float(self.bits + (self.cohorts - 1).bit_length())

    def privacy_loss(self) -> float:
        """The loss of one report."""
        return self.hashes * pure.coin_loss(self.once.p, self.once.q, self.once.miss)

    def limit_loss(self) -> float:
        """The most that all reports of one string can lose, against those of another one held in the same rounds."""
        if self.first is None:
            return math.inf
        return self.hashes * pure.coin_loss(self.first.p, self.first.q, self.first.miss)

    @property
    def memory(self) -> Memory:
        """The permanent bits and what is reported of them; `InvalidInput` if none are remembered."""
        if self.first is None or self.second is None:
            raise InvalidInput("protocol", self.name, "remember permanent bits", "give it a limit")
        return Memory(self.first, self.second, self.bits, self.hashes)

    def losses(self, rounds: int) -> Losses:
        """The exact losses of this many reports together, by the relation of the two histories compared.

        The worst is over all filters of one to ``hashes`` bits, as an ideal family of hash functions has them.
        """
        count = require_rounds(rounds)
        if self.first is None:
            together = count * self.privacy_loss()
            return Losses(count, together, together, together)
        return self.memory.losses(count)

    def filters(self, strings: Sequence[str]) -> Bits:
        """The Bloom filters, strings x cohorts x bits.

        Function j of cohort c is the j-th eight bytes of BLAKE2b of the string, personalised with c, modulo the bits.
        """
        table = np.zeros((len(strings), self.cohorts, self.bits), dtype=np.bool_)
        for row, text in enumerate(_strings(strings)):
            for cohort in range(self.cohorts):
                table[row, cohort, self._places(text, cohort)] = True
        return table

    def _places(self, text: str, cohort: int) -> list[int]:
        content, person = text.encode("utf-8", "surrogatepass"), cohort.to_bytes(16, "little")
        places = []
        for block in range(-(-self.hashes // 8)):
            salt = block.to_bytes(16, "little")
            digest = hashlib.blake2b(content, person=person, salt=salt).digest()
            places += [int.from_bytes(digest[8 * j : 8 * j + 8], "little") % self.bits for j in range(8)]
        return places[: self.hashes]

    def client(self, users: int, rng: Randomness) -> BloomClient:
        """That many users, each in a cohort, with nothing remembered yet."""
        return BloomClient(self, users, rng)

    def report(self, strings: Sequence[str], rng: Randomness) -> BloomReports:
        """The first reports of users with nothing remembered yet."""
        return BloomClient(self, len(strings), rng).report(strings, rng)

    def tally(self, reports: BloomReports) -> BloomTally:
        """The sums the server keeps."""
        cohorts = arguments.require_items(reports.cohorts, self.cohorts, "cohorts")
        bits = arguments.require_reports(reports.bits, (self.bits,), "b", f"rows of {self.bits} bits")
        if len(bits) != cohorts.size:
            raise InvalidInput("reports", (cohorts.size, len(bits)), "have one cohort for each row of bits")
        ones = np.zeros((self.cohorts, self.bits), dtype=np.int64)
        np.add.at(ones, cohorts, bits)
        return BloomTally(np.bincount(cohorts, minlength=self.cohorts), ones)

    def simulate(self, counts: Mapping[str, int], rng: np.random.Generator) -> BloomTally:
        """The tally of ``counts[s]`` users with string s: exact in law, at a cost free of the number of users."""
        generator = require_generator(rng)
        strings, held = arguments.require_named_counts(counts)
        users = generator.multinomial(held, np.full(self.cohorts, 1 / self.cohorts))  # strings x cohorts
        is_set = np.einsum("sc,scb->cb", users, self.filters(strings))
        inside = users.sum(axis=0)
        ones = generator.binomial(is_set, self.once.p)
        return BloomTally(inside, ones + generator.binomial(inside[:, None] - is_set, self.once.q))

    def decode(self, tally: BloomTally, candidates: Sequence[str], error: float = 0.05) -> Decoded:
        """Counts of the candidates: sparse regression of the unbiased bit counts on their filters.

        A candidate is ``found`` if its count is above zero beyond doubt: with at most the probability ``error`` that
        any absent candidate is found (Bonferroni over the candidates, up to normal approximation).
        """
        users, ones = np.asarray(tally.users), np.asarray(tally.ones)
        if users.shape != (self.cohorts,) or ones.shape != (self.cohorts, self.bits) or users.sum() < 1:
            rule = f"hold {self.cohorts} cohorts of {self.bits} bits, and at least one user"
            raise InvalidInput("tally", (users.shape, ones.shape, int(users.sum())), rule)
        p, q = self.once.p, self.once.q
        is_used = users > 0
        totals = users[is_used][:, None].astype(np.float64)
        seen = ones[is_used] / totals
        counted = totals * (seen - q) / (p - q)
        shares = totals / users.sum()
        chance = np.minimum(np.maximum(seen, q), p)  # where the true chance of a one must lie
        coins = totals * chance * (1 - chance) / (p - q) ** 2
        cohort = np.maximum(counted, 0.0) * (1 - shares)  # who is in the cohort is random too
        spread = np.sqrt(coins + cohort + 0.25)  # counts are whole
        design = self.filters(candidates)[:, is_used] * shares[None]
        flat = design.reshape(len(candidates), counted.size).T
        return decode(candidates, flat, counted.ravel(), spread.ravel(), error)


class BloomClient:
    """Users with their cohorts and their permanent bits, one row for each string a user ever held."""

    __slots__ = ("_cohorts", "_law", "_memo", "_names", "_rounds", "users")

    def __init__(self, law: BloomRappor, users: int, rng: Randomness) -> None:
        self._law, self._memo = law, Memo()
        self.users = require_whole(users, "users", 0, 1 << _STRING_BITS)
        self._cohorts = require_randomness(rng).integers(0, law.cohorts, self.users, np.int64)
        self._names: dict[str, int] = {}
        self._rounds = 0

    def report(self, strings: Sequence[str], rng: Randomness) -> BloomReports:
        """One report a user, for the strings the users hold in this round."""
        law, source = self._law, require_randomness(rng)
        texts = _strings(strings)
        if len(texts) != self.users:
            raise InvalidInput("strings", len(texts), f"be {self.users} strings", "one for each user, in one order")
        distinct, place = np.unique(np.array(texts, dtype=object), return_inverse=True)
        filters = law.filters(distinct.tolist())
        bits = filters[place, self._cohorts]
        self._rounds += 1
        if law.first is None or law.second is None:
            return BloomReports(self._cohorts, _randomised(bits, law.once, source))
        first = law.first
        names = np.array([self._names.setdefault(text, len(self._names)) for text in distinct], dtype=np.int64)
        keys = (np.arange(self.users, dtype=np.int64) << _STRING_BITS) + names[place]
        draw = lambda new: np.packbits(_randomised(bits[new], first, source), axis=1)  # noqa: E731
        memo = np.unpackbits(self._memo.recall(keys, draw), axis=1, count=law.bits).astype(np.bool_)
        return BloomReports(self._cohorts, _randomised(memo, law.second, source))

    def privacy_spent(self) -> Spent:
        """For each user the exact loss of all reports so far, given the rounds in which the string changed.

        ``same_changes`` is against users of the cohort whose string is another one in every round, but changed and came
        back in the same rounds, and ``no_change`` against those who held one string in all rounds; for the worst
        filters of theirs. Without permanent bits both are the bound that independent reports have: their sum.
        """
        law = self._law
        if law.first is None:
            together = np.full(self.users, self._rounds * law.privacy_loss())
            return Spent(together, together.copy())
        memory, filters = law.memory, law.filters(list(self._names))
        owners, names = self._memo.keys >> _STRING_BITS, self._memo.keys & ((1 << _STRING_BITS) - 1)
        same, constant = np.zeros(self.users), np.zeros(self.users)
        known: dict[tuple[int, ...], tuple[float, float]] = {}
        ends = np.searchsorted(owners, np.arange(self.users + 1)).tolist()
        for user, (start, end) in enumerate(itertools.pairwise(ends)):
            cohort = int(self._cohorts[user])
            held, mine = self._memo.asked[start:end].tolist(), names[start:end]
            history = (cohort, *held, *mine.tolist())
            if held and history not in known:
                rows = filters[mine, cohort]
                alone = [memory.against_constant([n], row[None]) for n, row in zip(held, rows, strict=True)]
                known[history] = sum(alone), memory.against_constant(held, rows)
            if held:
                same[user], constant[user] = known[history]
        return Spent(same, constant)


def _randomised(bits: Bits, step: Step, source: Randomness) -> Bits:
    return np.asarray(source.random(bits.shape) < np.where(bits, step.p, step.q))


def _strings(strings: Sequence[str]) -> list[str]:
    if isinstance(strings, str):
        raise InvalidInput("strings", strings, "be a list of strings, not one")
    texts = list(strings)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidData(f"strings[{place}]", text, "be a string")
    return texts


def bloom_rappor(
    epsilon: float, bits: int = 128, hashes: int = 2, cohorts: int = 16, limit: float | None = None
) -> BloomRappor:
    """Bloom RAPPOR whose one report has the loss ``epsilon``; memoised, with all reports at most ``limit``, if given.

    >>> round(bloom_rappor(2.0).privacy_loss(), 12), round(bloom_rappor(1.0, limit=3.0).limit_loss(), 12)
    (2.0, 3.0)
    """
    epsilon, shares = require_epsilon(epsilon), require_whole(hashes, "hashes", 1, MOST_HASHES)
    if limit is None:
        law = unary.sue(epsilon / shares, 2)
        return BloomRappor(bits, shares, cohorts, Step(law.p, law.q, law.miss))
    chain = longitudinal.l_sue(epsilon / shares, 2, require_epsilon(limit, "limit") / shares)
    first, second = chain.first, chain.second
    return BloomRappor(bits, shares, cohorts, _chained(first, second), first, second)


def rappor(bits: int, hashes: int, cohorts: int, f: float, p: float, q: float) -> BloomRappor:
    """RAPPOR with the parameters of its paper: f for the permanent bits; p and q, with p below q, for what is reported.

    A permanent bit is the true one with probability ``1 - f``, else a fair coin; a bit is reported as 1 with
    probability q where the permanent one is set, and p where it is not.
    """
    numbers = [require_number(value, name) for value, name in ((f, "f"), (p, "p"), (q, "q"))]
    if not (0 < f < 1 and 0 <= p < q <= 1):
        raise InvalidInput("f, p, q", numbers, "satisfy 0 < f < 1 and 0 <= p < q <= 1")
    first, second = Step(1 - f / 2, f / 2, f / 2), Step(q, p, 1 - q)
    return BloomRappor(bits, hashes, cohorts, _chained(first, second), first, second)


def _chained(first: Step, second: Step) -> Step:
    p = first.p * second.p + first.miss * second.q
    q = first.q * second.p + (1 - first.q) * second.q
    return Step(p, q, first.p * second.miss + first.miss * (1 - second.q))
