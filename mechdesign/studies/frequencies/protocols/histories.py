"""What all reports of a user tell apart together: exact losses of longitudinal protocols, by the histories compared.

A history says which value a user holds in each round. A loss is a statement about two of them: the largest
``|ln P(reports | h) / P(reports | h')|`` over all sequences of reports. It depends on how h and h' are related:

* *same value throughout*: two users who never change. This is what ``limit`` (eps_infinity) bounds.
* *one value replaced*: the same history twice, but one value is another one, held in no other round, throughout.
* *one change*: a user who never changes against one who changes at most once. **No limit holds here**: the loss grows
  with every round, because reports that stop agreeing with each other show that something was drawn anew.

**Derivation.** A value's memory m is drawn once, ``F(m | v)``; every report is ``S(y | m)``. Different values have
memories of their own, so

    ``P(y | h) = prod_{v in h} sum_m F(m | v) prod_{t: h_t = v} S(y_t | m)``.

Take the n rounds of a *cell*, in which neither h nor h' changes. *Words* (randomised response on m values): with c_j
reports of j among them, their factor is ``sum_m F(m | v) R^(c_m)`` times a constant, ``R = p2 / q2``. With the other
cells held fixed, the likelihood ratio is a quotient of two positive linear functions of ``x_m = R^(c_m)``. At its
largest value L, the largest of ``sum_m g_m R^(c_m)`` is 0, where g is numerator minus L times denominator. Some g_m is
positive then or all are 0; moving reports to a positive g_m never makes the sum smaller; and the sum is convex in the
counts on positive ones. So *all reports of a cell say the same*. *Bits* are independent, so the loss is a sum over
positions; a cell's reports at one position enter through ``S(y | set) / S(y | clear)`` alone, and a quotient of linear
functions of one number is monotone: again all reports of a cell are the same, all 1 or all 0.

*Words against a constant u.* Let ``d_i = R^(n_i) - 1`` for the values v_i of the changing history, held n_i rounds,
``X = R^(n_1 + n_2 + ...)``, and let l_i be what cell i says. Then the two likelihoods are proportional to
``prod_i (1 + F(l_i | v_i) d_i)`` and ``1 + sum_m F(m | u) (prod_{l_i = m} R^(n_i) - 1) >= 1 + sum_i F(l_i | u) d_i``.

* Changing likelier: the first is largest, and the second smallest, where each cell says its own value and u is none of
  them. If all m values are held, u is the one held least: any other report of its cell divides the first by
  ``(1 + p1 d) / (1 + q1 d)`` at least, and the second by that much at most.
* Constant likelier: all cells say u, which is none of the values held. If all are held, u is the one held least, and
  its own cell says u like all others, or something else.

*Bits against a constant u.* At one position the second likelihood depends only on the number of rounds that report a
1, so for each such number the best of the first is a knapsack over the cells. The user's values are filters: sets of
positions (one position each in unary encoding, up to h in a Bloom filter).

Hashing is words on hashes, for the worst seed: an ideal family has one for any pattern of hashes. There values can
share a hash, so *one value replaced* can move some rounds from the memory of one hash to that of another, and has no
limit either.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import require_whole
from mechdesign.values.declare import Counts, Floats, array, frozen
from mechdesign.values.later import special

MOST_ROUNDS_COMPARED = 10_000
"""Losses by relation look at every round a change can come at."""


@frozen
class Step:
    """One randomisation: ``p`` keeps a value (a bit that is set), ``q`` makes any other one (sets a bit that is clear).

    ``miss`` is ``1 - p`` in full precision.
    """

    p: float
    q: float
    miss: float

    @property
    def keeps_all(self) -> bool:
        """Whether it randomises nothing."""
        return self.q == 0 and self.miss == 0


@frozen
class Losses:
    """The exact loss of all reports of a number of rounds together, by the relation of the two histories compared."""

    rounds: int
    same_value: float
    one_value_replaced: float
    one_change: float


@frozen
class Spent:
    """The exact loss of all reports of each user so far, against two kinds of other users.

    ``same_changes``: users who held other values, but changed, and came back to a value, in the same rounds.
    ``no_change``: users who held one value, any one, in all rounds. Against still others more can be lost.
    """

    same_changes: Floats = array(np.asarray)
    no_change: Floats = array(np.asarray)


def require_rounds(rounds: int) -> int:
    return require_whole(rounds, "rounds", 1, MOST_ROUNDS_COMPARED)


def spent_by(users: int, owners: Counts, rounds: Counts, memory: Words | Bits) -> Spent:
    """Losses from how many ``rounds`` each value was held, and which user (in increasing order) held it."""
    same, constant = np.zeros(users), np.zeros(users)
    known: dict[tuple[int, ...], tuple[float, float]] = {}
    ends = np.searchsorted(owners, np.arange(users + 1)).tolist()
    for user, (start, end) in enumerate(itertools.pairwise(ends)):
        if start == end:
            continue
        held = tuple(sorted(rounds[start:end].tolist()))
        if held not in known:
            known[held] = sum(map(memory.same_value, held)), memory.against_constant(held)
        same[user], constant[user] = known[held]
    return Spent(same, constant)


# -- words: randomised response ---------------------------------------------------------------------------------------


@frozen
class Words:
    """Randomised response twice among ``choices`` values, the outcome of the first remembered for each value."""

    first: Step
    second: Step
    choices: int

    def same_value(self, rounds: int) -> float:
        """``ln [(1 + p1 d) / (1 + q1 d)]``."""
        fades = (self.second.q / self.second.p) ** rounds
        p, q, m = self.first.p, self.first.q, self.choices
        return math.log((p + (m - 1) * q * fades) / (q + p * fades + (m - 2) * q * fades))

    def against_constant(self, held: Sequence[int]) -> float:
        """A history with as many values as ``held`` has entries, each for so many rounds, against the worst constant.

        >>> from mechdesign.studies.frequencies.protocols.longitudinal import l_grr
        >>> law = l_grr(1.0, 3, limit=2.0)
        >>> [round(Words(law.first, law.second, 3).against_constant(held), 4) for held in ((1, 1), (10, 10))]
        [2.1351, 16.0054]
        """
        if len(held) == 1:
            return self.same_value(held[0])
        if self.second.q == 0:
            return math.inf
        steps = math.log(self.second.p / self.second.q)
        rises = np.asarray(sorted(held), dtype=np.float64) * steps  # ln R^n, least first
        own, other = _grown(self.first.p, rises), _grown(self.first.q, rises)
        if len(held) < self.choices:
            none = _mixed(np.full(rises.size, self.first.q), rises)
            return max(float(own.sum()) - none, float(_grown(self.first.p, rises.sum()) - other.sum()))
        shares = np.full(rises.size, self.first.q)
        shares[0] = self.first.p
        changing = float(own.sum()) - _mixed(shares, rises)
        alike = float(_grown(self.first.p, rises.sum()) - own[0] - other[1:].sum())
        apart = _mixed(shares, np.array([rises[1:].sum(), rises[0]])) - float(other.sum())
        return max(changing, alike, apart)

    def losses(self, rounds: int) -> Losses:
        """For values that are words themselves: L-GRR."""
        same = self.same_value(require_rounds(rounds))
        return Losses(rounds, same, same, self._one_change(rounds))

    def losses_of_hashed(self, rounds: int) -> Losses:
        """For values whose hashes are words: L-BLH and L-OLH."""
        same = self.same_value(require_rounds(rounds))
        return Losses(rounds, same, self._one_replaced(rounds), self._one_change(rounds))

    def _one_change(self, rounds: int) -> float:
        halves = range(1, rounds // 2 + 1)
        return max([self.same_value(rounds), *(self.against_constant((a, rounds - a)) for a in halves)])

    def _one_replaced(self, rounds: int) -> float:
        """The rounds of a value go from the memory of hash a to that of hash b, each of which has rounds of its own.

        With c, i and j rounds: all that are a's, and those that move, say a; all that are b's say b. Then the moving
        rounds are as likely as can be under a, whose memory the i rounds make sure of, and as unlikely under b.
        """
        if self.second.q == 0:
            return self.same_value(rounds) if rounds == 1 else math.inf
        step = math.log(self.second.p / self.second.q)
        worst = self.same_value(rounds)
        for moved in range(1, rounds):
            mine = np.arange(rounds - moved + 1, dtype=np.float64) * step
            theirs, x = mine[::-1], moved * step
            under_a = _grown(self.first.p, mine + x) - _grown(self.first.p, mine)
            p, q = self.first.p, self.first.q
            rest = math.log((self.choices - 2) * q) if self.choices > 2 else -math.inf
            both = np.logaddexp(np.logaddexp(math.log(p) + theirs, math.log(q) + x), rest)
            under_b = _grown(p, theirs) - both
            worst = max(worst, float((under_a + under_b).max()))
        return worst


def _grown(share: float, rise: Floats | float) -> Floats:
    """``ln (1 + share (e^rise - 1))``."""
    return np.asarray(np.logaddexp(math.log(share) + rise, math.log1p(-share)))


def _mixed(shares: Floats, rises: Floats) -> float:
    """``ln (1 + sum_i share_i (e^rise_i - 1))``."""
    used = shares[: rises.size]
    rest = 1 - float(used.sum())
    terms = np.log(used) + rises
    return float(np.logaddexp.reduce(np.append(terms, math.log(rest) if rest > 0 else -np.inf)))


# -- bits: unary encoding and Bloom filters ---------------------------------------------------------------------------


@frozen
class Bits:
    """``size`` positions, of which a value sets one to ``most``; every position randomised twice, the first remembered.

    ``most`` is 1 for unary encoding, where different values set different positions.
    """

    first: Step
    second: Step
    size: int
    most: int = 1

    def same_value(self, rounds: int) -> float:
        """The product of the ratios of a bit reported set, and of one reported clear, in all rounds; for each pair."""
        p, q, miss = self.first.p, self.first.q, self.first.miss
        fades = (self.second.q / self.second.p) ** rounds
        clear = (self.second.miss / (1 - self.second.q)) ** rounds
        is_set = (p + miss * fades) / (q + (1 - q) * fades)
        return self.most * (math.log(is_set) + math.log((1 - q + q * clear) / (miss + p * clear)))

    def losses(self, rounds: int) -> Losses:
        same = self.same_value(require_rounds(rounds))
        change = max([same, *(self._one_change((a, rounds - a)) for a in range(1, rounds // 2 + 1))])
        return Losses(rounds, same, same, change)

    def against_constant(self, held: Sequence[int], filters: NDArray[np.bool_] | None = None) -> float:
        """A history of these filters (values x positions), each for so many rounds, against the worst constant one.

        Without filters every value sets a position of its own.
        """
        if filters is None:
            ordered = sorted(held)
            kinds = np.vstack([np.eye(len(held), dtype=np.bool_), np.zeros(len(held), dtype=np.bool_)])
            return self._worst(ordered, kinds, np.array([[1] * len(held) + [self.size - len(held)]]))
        kinds, counts = np.unique(filters.T, axis=0, return_counts=True)
        return self._worst(held, kinds, counts[None, :])

    def _one_change(self, held: tuple[int, int]) -> float:
        """Over all pairs of filters the value before and the one after can have."""
        kinds = np.array([[True, True], [True, False], [False, True], [False, False]])
        if self.most == 1:
            return self._worst(held, kinds, np.array([[0, 1, 1, self.size - 2]]))
        both, before, after = (grid.ravel() for grid in np.meshgrid(*[np.arange(self.most + 1)] * 3))
        counts = np.stack([both, before, after, self.size - both - before - after], axis=1)
        sizes = np.stack([both + before, both + after], axis=1)
        possible = ((sizes >= 1) & (sizes <= self.most)).all(axis=1) & (counts[:, 3] >= 0) & (before + after > 0)
        return self._worst(held, kinds, counts[possible])

    def _worst(self, held: Sequence[int], kinds: NDArray[np.bool_], counts: Counts) -> float:
        """The largest loss over rows of ``counts``, how many positions are of each kind, and over constant filters.

        A kind says which values set the position. Each position the constant filter sets changes the loss by the same
        amount for all positions of its kind, so it sets those that add most.
        """
        if self.second.keeps_all and len(held) > 1:
            return math.inf
        worst = 0.0
        for likelier in (1, -1):
            losses = np.array([self._position(held, kind, likelier) for kind in kinds])  # clear or set in the constant
            gains = losses[:, 1] - losses[:, 0]
            total, taken = counts @ losses[:, 0], np.zeros(len(counts), dtype=np.int64)
            for kind in np.argsort(-gains):
                wanted = self.most - taken if gains[kind] > 0 else np.maximum(1 - taken, 0)
                more = np.minimum(wanted, counts[:, kind])
                total, taken = total + more * gains[kind], taken + more
            worst = max(worst, float(total.max()))
        return worst

    def _position(self, held: Sequence[int], kind: NDArray[np.bool_], likelier: int) -> tuple[float, float]:
        """The largest loss at one position, which the constant filter has clear or set.

        ``likelier`` is 1 where the changing history is the likelier one, else -1.
        """
        ones, best = np.zeros(1), np.zeros(1)
        for rounds, is_set in zip(held, kind, strict=True):
            chances = self._reported(np.array([0, rounds]), rounds, bool(is_set)) * likelier
            ones = np.concatenate([ones, ones + rounds])
            best = np.concatenate([best + chances[0], best + chances[1]])
            ones, place = np.unique(ones, return_inverse=True)
            together = np.full(ones.size, -np.inf)
            np.maximum.at(together, place, best)
            best = together
        total = sum(held)
        found = []
        for is_set in (False, True):
            with np.errstate(invalid="ignore"):
                ratio = best - likelier * self._reported(ones, total, is_set)
            found.append(float(ratio[~np.isnan(ratio)].max()))  # impossible under both: nobody sees it
        return found[0], found[1]

    def _reported(self, ones: NDArray[Any], rounds: int, is_set: bool) -> Floats:
        """Log-probability of given rounds with so many ones, all of one memory, for a bit that is set or clear."""
        keep, drop = (self.first.p, self.first.miss) if is_set else (self.first.q, 1 - self.first.q)
        zeros, p, q = rounds - ones, self.second.p, self.second.q
        if_set = math.log(keep) + special.xlogy(ones, p) + special.xlogy(zeros, self.second.miss)
        if_clear = math.log(drop) + special.xlogy(ones, q) + special.xlogy(zeros, 1 - q)
        return np.asarray(np.logaddexp(if_set, if_clear))
