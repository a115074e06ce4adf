"""Longitudinal protocols: a first randomisation remembered for ever, a second one fresh in every round.

Each user randomises a value once with the loss ``limit`` (eps_infinity) and keeps the outcome; every round randomises
that outcome anew, so that the first report has the loss ``epsilon`` (eps_1) exactly, and all reports of one value,
against those of another one held in the same rounds, never more than ``limit``. When a value changes is not protected:
see `mechdesign.studies.frequencies.protocols.histories`. The second step follows from the two losses in closed form.
(The form printed in the literature for L-GRR is right for k = 2 only: at k = 100, limit 2 and epsilon 1 its first
report has the loss 0.166.)

*Randomised response on m values.* The gap ``p - q`` of a chain is the product of the gaps, and a response with loss e
has the gap ``(e^e - 1) / (e^e + m - 1)``. So ``p2 - q2 = gap(epsilon) / gap(limit)``: the chain is GRR at epsilon.

*Bits.* ``e^epsilon - 1 = (p1 - q1) (p2 - q2) / [q* (1 - p*)]`` is a quadratic equation in ``q2``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import MAX_EPSILON, InvalidInput, require_epsilon, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.protocols import arguments, pure, unary
from mechdesign.studies.frequencies.protocols.grr import Grr
from mechdesign.studies.frequencies.protocols.hashing import LocalHashing, best_hashes, random_seeds
from mechdesign.studies.frequencies.protocols.histories import Bits, Losses, Spent, Step, Words, spent_by
from mechdesign.studies.frequencies.protocols.memo import Memo
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.studies.frequencies.protocols.unary import Unary
from mechdesign.tables.kinds.hashing import hash_values
from mechdesign.values.declare import Counts, Floats, frozen

MOST_ROUNDS = 10**6
MOST_CLIENTS = 10**9


@frozen
class Longitudinal:
    """A memoised protocol. ``once`` is the law of its reports in any one round: steps one and two chained.

    *Guarantee.* `privacy_loss` of the first report equals ``epsilon``. Of two users who never change their values, all
    reports together lose `loss_after` their number, which rises to ``limit``. A user whose value changes is *not*
    protected by ``limit`` for each value: against a user who never changes the loss grows without end. `losses` has
    the exact ones by relation, and `Client.privacy_spent` those of actual users.

    >>> law = l_grr(1.0, 3, limit=2.0)
    >>> [round(law.loss_after(rounds), 6) for rounds in (1, 2, 10_000)]
    [1.0, 1.660877, 2.0]
    >>> [round(law.losses(rounds).one_change, 1) for rounds in (2, 20, 1000)]
    [2.1, 16.0, 748.0]
    """

    name: str
    epsilon: float
    limit: float
    first: Step
    second: Step
    once: Grr | Unary | LocalHashing

    @property
    def size(self) -> int:
        return self.once.size

    @property
    def p(self) -> float:
        return self.once.p

    @property
    def q(self) -> float:
        return self.once.q

    @property
    def report_bits(self) -> float:
        return self.once.report_bits

    def channel(self) -> Floats:
        """The channel of one report."""
        return self.once.channel()

    def privacy_loss(self) -> float:
        """The loss of the first report."""
        return self.once.privacy_loss()

    def loss_after(self, rounds: int) -> float:
        """The loss of this many reports of one value, together, against those of a user who holds another one.

        The worst case is a user whose reports all say the same: for randomised response on m values the ratio is
        ``[p1 + (m - 1) q1 s] / [q1 + p1 s + (m - 2) q1 s]`` with ``s = (q2 / p2)^rounds``, and for bits the product of
        the like for a bit reported set and a bit reported clear in every round.
        """
        return self.memory.same_value(require_whole(rounds, "rounds", 1, MOST_ROUNDS))

    def losses(self, rounds: int) -> Losses:
        """The exact losses of this many reports together, by the relation of the two histories compared."""
        memory = self.memory
        if isinstance(memory, Words) and isinstance(self.once, LocalHashing):
            return memory.losses_of_hashed(rounds)
        return memory.losses(rounds)

    @property
    def memory(self) -> Words | Bits:
        """What is remembered, and what is reported of it."""
        if isinstance(self.once, Unary):
            return Bits(self.first, self.second, self.size)
        choices = self.once.hashes if isinstance(self.once, LocalHashing) else self.size
        return Words(self.first, self.second, choices)

    def client(self, users: int, rng: Randomness) -> Client:
        """That many users with nothing remembered yet."""
        return Client(self, users, rng)

    def report(self, values: ArrayLike, rng: Randomness) -> NDArray[Any]:
        """The first reports of users with nothing remembered yet."""
        items = arguments.require_items(values, self.size)
        return Client(self, items.size, rng).report(items, rng)

    def support(self, reports: ArrayLike) -> Counts:
        return self.once.support(reports)

    def simulate(self, counts: ArrayLike, rng: np.random.Generator) -> Counts:
        """Supports in one round."""
        return self.once.simulate(counts, rng)

    def simulate_rounds(self, counts: ArrayLike, rounds: int, rng: np.random.Generator) -> Counts:
        """Supports in each of several rounds (rows) in which users keep their values.

        Binomials through both steps: exact in joint law over items and rounds for L-GRR and unary encodings. For
        hashing each round, and each item over the rounds, is exact; that two items hashed alike stay so in the next
        round is not (use `client`).
        """
        held, generator = arguments.require_counts(counts, self.size), require_generator(rng)
        repeats = require_whole(rounds, "rounds", 1, MOST_ROUNDS)
        if isinstance(self.once, Grr):
            memo = _response("memo", self.limit, self.size, self.first).simulate(held, generator)
            again = _response("round", self.limit, self.size, self.second)
            return np.stack([again.simulate(memo, generator) for _ in range(repeats)])
        users, stray = int(held.sum()), self.first.q
        if isinstance(self.once, LocalHashing):
            stray = 1 / self.once.hashes
        kept = generator.binomial(held, self.first.p) + generator.binomial(users - held, stray)
        shape = (repeats, self.size)
        fresh = generator.binomial(kept, self.second.p, shape) + generator.binomial(users - kept, self.second.q, shape)
        return np.asarray(fresh, dtype=np.int64)

    def estimate(self, support: ArrayLike, n: int) -> Floats:
        return self.once.estimate(support, n)

    def variance(self, f: ArrayLike, n: int) -> Floats:
        """The variance of an estimate from one round."""
        return self.once.variance(f, n)

    def covariance(self, frequencies: ArrayLike, n: int) -> Floats:
        return self.once.covariance(frequencies, n)


class Client:
    """Users with their memory: what they remember is drawn once per user and value, and survives every round.

    >>> rng = np.random.default_rng(1)
    >>> users = l_grr(1.0, 3, limit=2.0).client(2, rng)
    >>> [users.report(values, rng).shape for values in ([0, 0], [0, 1])]
    [(2,), (2,)]
    >>> spent = users.privacy_spent()
    >>> spent.same_changes.round(4).tolist(), spent.no_change.round(4).tolist()
    ([1.6609, 2.0], [1.6609, 2.1351])
    """

    __slots__ = ("_law", "_memo", "_seeds", "users")

    def __init__(self, law: Longitudinal, users: int, rng: Randomness) -> None:
        self._law, self._memo = law, Memo()
        self.users = require_whole(users, "users", 0, MOST_CLIENTS)
        is_hashing = isinstance(law.once, LocalHashing)
        self._seeds = random_seeds(self.users, require_randomness(rng)) if is_hashing else None

    def report(self, values: ArrayLike, rng: Randomness) -> NDArray[Any]:
        """One report a user, for the values the users hold in this round."""
        law, source = self._law, require_randomness(rng)
        items = arguments.require_items(values, law.size)
        if items.size != self.users:
            raise InvalidInput("values", items.size, f"be {self.users} values", "one for each user, in the same order")
        first, second = law.first, law.second
        if isinstance(law.once, Unary):
            return self._bits(items, source)
        choices, words = law.size, items
        if isinstance(law.once, LocalHashing):
            assert self._seeds is not None
            choices = law.once.hashes
            words = hash_values(items, self._seeds, choices).astype(np.int64)
        keys = self._keys(words, choices)
        memo = self._memo.recall(keys, lambda new: pure.responses(words[new], choices, choices * first.q, source))
        said = pure.responses(memo, choices, choices * second.q, source)
        return said if self._seeds is None else np.stack([self._seeds, said.astype(np.uint64)], axis=1)

    def privacy_spent(self) -> Spent:
        """For each user the exact loss of all reports so far, given the rounds in which the value changed.

        ``same_changes`` is against users whose value is another one in every round, but changed and came back in the
        same rounds: it is at most ``limit`` for each value held. ``no_change`` is against users who held one value, any
        one, in all rounds: it has no limit. For hashing read "hash" for "value"; the other users have the same seed.
        """
        law = self._law
        choices = law.once.hashes if isinstance(law.once, LocalHashing) else law.size
        return spent_by(self.users, self._memo.keys // choices, self._memo.asked, law.memory)

    def _keys(self, words: Counts, choices: int) -> Counts:
        return np.arange(self.users, dtype=np.int64) * choices + words

    def _bits(self, items: Counts, source: Randomness) -> NDArray[np.bool_]:
        size, first, second = self._law.size, self._law.first, self._law.second

        def draw(new: Counts) -> NDArray[np.uint8]:
            return np.packbits(unary.random_bits(items[new], size, first.p, first.q, source), axis=1)

        packed = self._memo.recall(self._keys(items, size), draw)
        memo = np.unpackbits(packed, axis=1, count=size).astype(np.bool_)
        return np.asarray(source.random(memo.shape) < np.where(memo, second.p, second.q))


# -- the two losses to two steps ---------------------------------------------------------------------------------------


def l_grr(epsilon: float, size: int, limit: float | None = None) -> Longitudinal:
    """L-GRR: randomised response twice. One round is GRR at epsilon."""
    epsilon, limit = _losses(epsilon, limit)
    size = arguments.require_item_count(size)
    first, second = _responses(epsilon, limit, size)
    once = _response("L-GRR", epsilon, size, _chain(first, second, size))
    return Longitudinal("L-GRR", epsilon, limit, first, second, once)


def l_hashing(name: str, epsilon: float, size: int, limit: float | None, g: int) -> Longitudinal:
    """L-BLH and L-OLH: L-GRR on the hash of the item."""
    epsilon, limit = _losses(epsilon, limit)
    size, hashes = arguments.require_item_count(size), require_whole(g, "g", 2, 1 << 31)
    first, second = _responses(epsilon, limit, hashes)
    both = _chain(first, second, hashes)
    return Longitudinal(
        name, epsilon, limit, first, second, LocalHashing(name, epsilon, size, hashes, both.p, both.miss)
    )


def l_blh(epsilon: float, size: int, limit: float | None = None) -> Longitudinal:
    """L-BLH: hashes to two values."""
    return l_hashing("L-BLH", epsilon, size, limit, 2)


def l_olh(epsilon: float, size: int, limit: float | None = None, g: int | None = None) -> Longitudinal:
    """L-OLH. One round is OLH at epsilon whatever the limit, so g is the best one of OLH."""
    chosen = best_hashes(require_epsilon(epsilon), arguments.require_item_count(size)) if g is None else g
    return l_hashing("L-OLH", epsilon, size, limit, chosen)


def l_sue(epsilon: float, size: int, limit: float | None = None) -> Longitudinal:
    """L-SUE (basic RAPPOR): SUE, then symmetric bits. One round is SUE at epsilon."""
    return _unary("L-SUE", epsilon, size, limit, optimised=(False, False))


def l_oue(epsilon: float, size: int, limit: float | None = None) -> Longitudinal:
    """L-OUE: OUE, then bits with ``p2 = 1/2``."""
    return _unary("L-OUE", epsilon, size, limit, optimised=(True, True))


def l_soue(epsilon: float, size: int, limit: float | None = None) -> Longitudinal:
    """L-SOUE: SUE, then bits with ``p2 = 1/2``."""
    return _unary("L-SOUE", epsilon, size, limit, optimised=(False, True))


def l_osue(epsilon: float, size: int, limit: float | None = None) -> Longitudinal:
    """L-OSUE: OUE, then symmetric bits. One round is OUE at epsilon."""
    return _unary("L-OSUE", epsilon, size, limit, optimised=(True, False))


def _losses(epsilon: float, limit: float | None) -> tuple[float, float]:
    once = require_epsilon(epsilon)
    most = require_epsilon(min(2 * once, MAX_EPSILON) if limit is None else limit, "limit")
    if most < once:
        raise InvalidInput("limit", most, f"be at least eps = {once:g}, the loss of the first report")
    return once, most


def _gap(epsilon: float, values: int) -> float:
    """``p - q`` of randomised response."""
    return math.expm1(epsilon) / (math.exp(epsilon) + values - 1)


def _responses(epsilon: float, limit: float, values: int) -> tuple[Step, Step]:
    whole = math.exp(limit) + values - 1
    first = Step(math.exp(limit) / whole, 1 / whole, (values - 1) / whole)
    # 1 - gap(epsilon) / gap(limit), without cancellation
    growth = math.exp(epsilon) + values - 1
    stray = values * math.exp(epsilon) * math.expm1(limit - epsilon) / (math.expm1(limit) * growth)
    second = Step(1 - stray * (values - 1) / values, stray / values, stray * (values - 1) / values)
    return first, second


def _chain(first: Step, second: Step, values: int) -> Step:
    p = first.p * second.p + (values - 1) * first.q * second.q
    q = first.p * second.q + first.q * second.p + (values - 2) * first.q * second.q
    return Step(p, q, (values - 1) * q)


def _response(name: str, epsilon: float, size: int, step: Step) -> Grr:
    return Grr(name, epsilon, size, step.p, step.q)


def _unary(name: str, epsilon: float, size: int, limit: float | None, *, optimised: tuple[bool, bool]) -> Longitudinal:
    epsilon, limit = _losses(epsilon, limit)
    law = unary.oue(limit, size) if optimised[0] else unary.sue(limit, size)
    first = Step(law.p, law.q, law.miss)
    second = _second_bits(name, epsilon, first, limit, optimised=optimised[1])
    p = first.p * second.p + first.miss * second.q
    q = first.q * second.p + (1 - first.q) * second.q
    miss = first.p * second.miss + first.miss * (1 - second.q)
    return Longitudinal(name, epsilon, limit, first, second, Unary(name, epsilon, law.size, p, q, miss))


def _second_bits(name: str, epsilon: float, first: Step, limit: float, *, optimised: bool) -> Step:
    """The bits with ``p2 = 1/2``, or symmetric ones, whose chain with the first has the loss epsilon.

    Of the second step ``q2 = s`` is unknown, and ``p2 = 1/2`` or ``1 - s``. ``q*`` and ``1 - p*`` are linear in s, so
    ``(e^epsilon - 1) q* (1 - p*) = (p1 - q1) (p2 - q2)`` is a quadratic equation ``a s^2 + b s = c``; its root is taken
    in the form that loses no digits when s is small.
    """
    gap, growth = first.p - first.q, math.expm1(epsilon)
    if optimised:
        clear = first.p / 2 + first.miss  # 1 - p* at s = 0
        a = -growth * (1 - first.q) * first.miss
        b = growth * ((1 - first.q) * clear - first.miss * first.q / 2) + gap
        c = (gap - growth * first.q * clear) / 2
        if c < 0:
            most = math.log1p(gap / (first.q * clear))
            rule = f"be at most {most:.6g} for {name} with limit {limit:g}"
            raise InvalidInput("eps", epsilon, rule, "raise the limit, or use L-SUE or L-OSUE")
    else:
        a = growth * (1 - 2 * first.q) * (first.p - first.miss)
        b = growth * (first.q * (first.p - first.miss) + (1 - 2 * first.q) * first.miss) + 2 * gap
        c = gap * math.exp(epsilon) * math.expm1(limit - epsilon) / math.expm1(limit)
    stray = 2 * c / (b + math.sqrt(b * b + 4 * a * c))
    return Step(0.5, stray, 0.5) if optimised else Step(1 - stray, stray, stray)
