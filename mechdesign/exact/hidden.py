"""What joint responses give away when nobody knows who is grouped with whom: exactly, for every number of colluders.

Without the grouping the liars are a uniformly random set of the users, given their number K. Whoever knows the values
and reports of m others knows which of them lied, and of that only the number L matters. With ``w_k`` the probability
that a given set of k, and nobody else, of the m + 1 users in question lies,

    P(you are truthful, these L of the m lied) = w_L,      P(you lie, these L of the m lied) = w_(L+1),

and K of ``m + 1`` random users has the law ``C(m + 1, k) w_k``: leaving one user out turns ``w_k`` into
``w_k + w_(k+1)``. So the account for m colluders is the one for m + 1 users of whom all others are known; knowing more
never hurts the adversary, and ``m = n - 1`` covers every m.

For ``m < n - 1`` the adversary sees the reports of the others too, but has no idea of their values: where those are as
likely one as another and independent, their reports tell nothing of who lied. Who has an idea of them, a known share
for example, learns more than is said for m, and never more than is said for ``n - 1``.

Up to `MOST_EXACT` users all is rational. Beyond, probabilities are doubles with proven relative errors (every sum has
nonnegative terms, so errors do not cancel; logarithms and exponentials are taken to be good to four units in the last
place), and what is said is an interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.exact.collusion import Ratio, log_up
from mechdesign.exact.rational import exp_lower, exp_upper, float_down, float_up
from mechdesign.mechanisms.hidden import CountedResponse, HiddenResponse, PeakedResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.counts import require_population
from mechdesign.words.privacy import require_colluders, require_delta

MOST_EXACT = 128
"""Users up to whom everything is computed in rationals."""

MOST_USERS = 20_000
"""Users up to whom the loss for fewer than all others is computed: leaving users out one by one takes their square."""

_UNIT = 2.0**-53
_SPECK = 1e-290
"""More than all that underflow can have taken from a probability."""
_MOST_EPSILON = 64.0
_STEPS = 200

AnyLaw = JointResponse | HiddenResponse


@frozen
class HiddenLoss:
    """The epsilon of a user if ``colluders`` others tell all they know, but for a probability ``delta``.

    Of the values of all others nothing is known: who has an idea of them learns up to what ``users - 1`` would tell.
    It lies between ``lower`` and ``upper``, proven; infinite where no epsilon will do.
    """

    users: int
    colluders: int
    delta: float
    lower: float
    upper: float


def hidden_loss(law: AnyLaw, users: int, colluders: int, delta: float = 0.0) -> HiddenLoss:
    """The least epsilon for which a user's report is (epsilon, delta)-private to who knows ``colluders`` others.

    >>> law = JointResponse.pair(Fraction(3, 4), Fraction(-1, 3))  # two of a pair never both lie
    >>> loss = hidden_loss(law, 4, 3)
    >>> loss.lower, loss.upper  # everybody else: two of them lied, so the fourth did not
    (inf, inf)
    >>> round(hidden_loss(law, 4, 0).upper, 9)
    1.098612289
    """
    users, colluders, slack = _asked(law, users, colluders, delta)
    if isinstance(law, PeakedResponse) and colluders == users - 1 and slack == 0:
        return HiddenLoss(users, colluders, 0.0, *_logs(law.ratio))  # by what the law is
    if users <= MOST_EXACT:
        ratio = _exact_loss(_kept(liars_of(law, users), colluders + 1), law.categories - 1, Fraction(slack))
        return HiddenLoss(users, colluders, slack, *_logs(ratio))
    if users > MOST_USERS:
        rule = f"be at most {MOST_USERS} for a loss that is computed user by user"
        raise InvalidInput("users", users, rule, "a peaked law keeps its own epsilon whoever colludes")
    if slack == 0:
        lower, upper = _pure_ends(law, users, colluders)
        most = _logs(law.ratio)[1] if isinstance(law, PeakedResponse) else math.inf  # what all others would learn
        return HiddenLoss(users, colluders, 0.0, min(lower, most), min(upper, most))
    return HiddenLoss(users, colluders, slack, *_spread_ends(law, users, colluders, slack))


def hidden_delta(law: AnyLaw, users: int, colluders: int, epsilon: float) -> tuple[float, float]:
    """An interval of the least delta for which a user's report is (epsilon, delta)-private to such an adversary.

    >>> law = JointResponse.pair(Fraction(3, 4), Fraction(-1, 3))
    >>> low, high = hidden_delta(law, 4, 3, 2.0)
    >>> 0.0 < low <= high < 0.8
    True
    """
    users, colluders, _ = _asked(law, users, colluders, 0.0)
    lower, upper = exp_lower(epsilon), exp_upper(epsilon)
    if users <= MOST_EXACT:
        chances = _kept(liars_of(law, users), colluders + 1)
        true, false = _sides(chances, law.categories - 1)
        return float_down(_excess(true, false, upper)), float_up(_excess(true, false, lower))
    if users > MOST_USERS:
        raise InvalidInput("users", users, f"be at most {MOST_USERS} for a loss that is computed user by user")
    bands = _bands(law, users, colluders)
    return bands.least_excess(upper), bands.most_excess(lower)


def _asked(law: AnyLaw, users: int, colluders: int, delta: float) -> tuple[int, int, float]:
    if isinstance(law, JointResponse):
        users = require_population(users, law.group)
    elif users != law.users:
        raise InvalidInput("users", users, f"be {law.users}, those of the law")
    return users, require_colluders(colluders, users), require_delta(delta)


def _logs(ratio: Ratio) -> tuple[float, float]:
    """A logarithm as an interval of two neighbouring doubles."""
    if ratio is None:
        return math.inf, math.inf
    high = log_up(ratio)
    return (max(0.0, math.nextafter(high, 0.0)) if high else 0.0), high


# -- in rationals ------------------------------------------------------------------------------------------------------


def hidden_excess(law: HiddenResponse, ratio: Fraction) -> Fraction:
    """The exact delta of a law at ``e^eps = ratio`` if all others are known: 0 of a peaked law whose ratio is less."""
    if isinstance(law, PeakedResponse) and law.ratio <= ratio:
        return Fraction(0)
    return _excess(*_sides(liars_of(law, law.users), law.categories - 1), ratio)


@lru_cache(maxsize=64)
def liars_of(law: AnyLaw, users: int) -> tuple[Fraction, ...]:
    """``P(K = k)`` for k = 0, ..., users: of groups their sum, by convolution; of other laws what they are.

    >>> [str(chance) for chance in liars_of(JointResponse.pair(Fraction(3, 4), Fraction(-1, 3)), 4)]
    ['1/4', '1/2', '1/4', '0', '0']
    """
    match law:
        case CountedResponse():
            return law.chances
        case PeakedResponse():
            wrong = law.categories - 1
            weights = [
                math.comb(users, k) * Fraction(wrong) ** k / law.ratio ** abs(k - law.peak) for k in range(users + 1)
            ]
            total = sum(weights)
            return tuple(weight / total for weight in weights)
        case JointResponse():
            one, result = tuple(reversed(law.weights)), [Fraction(1)]
            for _ in range(users // law.group):
                grown = [Fraction(0)] * (len(result) + law.group)
                for k, chance in enumerate(result):
                    for more, weight in enumerate(one):
                        if chance and weight:
                            grown[k + more] += chance * weight
                result = grown
            return tuple(result)


def _kept(chances: Sequence[Fraction], users: int) -> tuple[Fraction, ...]:
    """The law of the number of liars among so many random users."""
    left = tuple(chances)
    for size in range(len(left) - 1, users, -1):
        left = tuple((left[k] * (size - k) + left[k + 1] * (k + 1)) / size for k in range(size))
    return left


def _sides(chances: Sequence[Fraction], wrong: int) -> tuple[list[Fraction], list[Fraction]]:
    """``P(true, L)`` and ``P(a given wrong value, L)`` for every L."""
    users = len(chances) - 1
    true = [chances[k] * (users - k) / users for k in range(users)]
    false = [chances[k + 1] * (k + 1) / (users * wrong) for k in range(users)]
    return true, false


def _excess(true: Iterable[Fraction], false: Iterable[Fraction], ratio: Fraction) -> Fraction:
    """The least delta at ``e^eps = ratio``."""
    zero = Fraction(0)
    sides = zip(true, false, strict=True)
    return sum((max(a - ratio * b, zero) + max(b - ratio * a, zero) for a, b in sides), zero)


def _exact_loss(chances: Sequence[Fraction], wrong: int, delta: Fraction) -> Ratio:
    """The least ratio (at least 1) at which the excess is at most delta: the excess is linear between likelihoods."""
    true, false = _sides(chances, wrong)
    endless = sum((a + b for a, b in zip(true, false, strict=True) if not a or not b), Fraction(0))
    if endless > delta:
        return None
    pairs = sorted(((a / b, a, b) if a > b else (b / a, b, a) for a, b in zip(true, false, strict=True) if a and b))
    over, under = endless, Fraction(0)  # excess = over - ratio * under above the largest likelihood ratio
    for place in range(len(pairs) - 1, -1, -1):
        ratio = pairs[place][0]
        if over - ratio * under > delta:
            break
        over, under = over + pairs[place][1], under + pairs[place][2]
        if over - (pairs[place - 1][0] if place else Fraction(1)) * under > delta:
            return (over - delta) / under
    return Fraction(1)


# -- in doubles with proven errors -------------------------------------------------------------------------------------


@frozen
class _Bands:
    """Numbers, each between ``seen (1 - relative) - absolute`` and ``seen (1 + relative) + absolute``."""

    true: Floats
    false: Floats
    relative: float
    absolute: float

    def most_excess(self, ratio: Fraction) -> float:
        """At least the excess, ``ratio`` being at most ``e^eps``."""
        up, down, by = 1 + self.relative, 1 - self.relative, float_down(ratio)
        gains = [np.maximum(a * up - by * down * b, 0).sum() for a, b in self._both()]
        lost = 2 * self.true.size * self.absolute * (1 + by)
        return float(min(1.0, (gains[0] + gains[1]) * (1 + self._rounding) + lost))

    def least_excess(self, ratio: Fraction) -> float:
        """At most the excess, ``ratio`` being at least ``e^eps``."""
        up, down, by = 1 + self.relative, 1 - self.relative, float_up(ratio)
        gains = [np.maximum(a * down - by * up * b, 0).sum() for a, b in self._both()]
        lost = 2 * self.true.size * self.absolute * (1 + by)
        return float(max(0.0, (gains[0] + gains[1]) * (1 - self._rounding) - lost))

    @property
    def _rounding(self) -> float:
        return (2 * self.true.size + 8) * _UNIT

    def _both(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        return (self.true, self.false), (self.false, self.true)


def _spread_ends(law: AnyLaw, users: int, colluders: int, delta: float) -> tuple[float, float]:
    """An interval of the least epsilon at a delta above 0, by bisection in proven excesses."""
    bands = _bands(law, users, colluders)
    possible = _support(law, users, colluders + 1)
    alone = bands.true[possible[:-1] & ~possible[1:]].sum() + bands.false[possible[1:] & ~possible[:-1]].sum()
    if alone * (1 - bands.relative) * (1 - bands._rounding) - bands.true.size * bands.absolute > delta:
        return math.inf, math.inf
    highest = _MOST_EPSILON
    if bands.least_excess(exp_upper(highest)) > delta:
        return highest, math.inf
    low, high = 0.0, highest
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if bands.most_excess(exp_lower(middle)) <= delta else (middle, high)
    upper = high
    least, most = 0.0, upper
    for _ in range(_STEPS):
        middle = (least + most) / 2
        if middle in (least, most):
            break
        least, most = (middle, most) if bands.least_excess(exp_upper(middle)) > delta else (least, middle)
    if bands.most_excess(exp_lower(upper)) > delta:
        upper = math.inf
    return least, upper


def _pure_ends(law: AnyLaw, users: int, colluders: int) -> tuple[float, float]:
    """An interval of the largest log likelihood ratio over all numbers of lying colluders, in logarithms throughout:
    probabilities of unlikely numbers are below the least double."""
    kept = colluders + 1
    possible = _support(law, users, kept)
    if np.any(possible[1:] != possible[:-1]):
        return math.inf, math.inf
    logs, error = _log_chances(law, users)
    if kept < users:
        logs, more = _log_kept(logs, kept)
        error += more
    places = np.flatnonzero(possible[:-1] & possible[1:])
    true = logs[places] + np.log(kept - places)
    false = logs[places + 1] + np.log((places + 1) / (law.categories - 1))
    largest = float(np.abs(true - false).max())
    slop = float(2 * error + 16 * _UNIT * (np.abs(logs[possible]).max() + 64))
    return max(0.0, largest - slop), largest + slop


def _log_chances(law: AnyLaw, users: int) -> tuple[Floats, float]:
    """Logarithms of ``P(K = k)``, and how far they may be off.

    Tilted laws of a group, in which each liar weighs ``tilt`` times more, bring every number of liars within sight.
    """
    if not isinstance(law, JointResponse):
        return _log_floats(law, users)
    possible = _support(law, users, users)
    result, error, sight = np.full(users + 1, -np.inf), 0.0, 1e14 * _SPECK
    start = _tilted(law, users, 0.0)
    for upwards in (False, True):
        tilt, (logs, relative), drift = 0.0, start, 0.0
        while True:
            seen = possible & (logs > math.log(sight))
            new = seen & np.isneginf(result)
            found = np.flatnonzero(seen)
            # all are laws up to a factor: they agree where they overlap
            known = np.flatnonzero(seen & ~new)
            meeting = known[known.size // 2] if known.size else 0
            shift = float(result[meeting] - (logs[meeting] - tilt * meeting)) if known.size else 0.0
            result[new] = logs[new] - tilt * np.flatnonzero(new) + shift
            # what one tilt is off by, the next ones are too
            drift += 2 * relative + 16 * _UNIT * (float(np.abs(result[new]).max(initial=0.0)) + users * abs(tilt))
            error = max(error, drift)
            end = int(found[-1] if upwards else found[0])
            rest = possible[end + 1 :] if upwards else possible[:end]
            if not np.any(rest):
                break
            inside = found[-2] if upwards else found[1]
            # the tilt under which the last number in sight is about the most likely one
            tilt += float(logs[inside] - logs[end]) / (end - int(inside))
            logs, relative = _tilted(law, users, tilt)
            visible = possible & (logs > math.log(sight))
            if not (np.any(visible & np.isneginf(result)) and np.any(visible & np.isfinite(result))):
                raise InvalidInput("users", users, "be fewer for a pure loss", "allow a delta, for example 1e-9")
    return result, error


def _tilted(law: JointResponse, users: int, tilt: float) -> tuple[Floats, float]:
    """Logarithms of ``P(K = k) e^(tilt k)`` up to a factor, with their error."""
    lift = tilt * np.arange(law.group + 1)
    heights = np.array([_log(weight) for weight in reversed(law.weights)]) + lift
    one = np.exp(heights - heights.max())
    chances, relative = _power(one / one.sum(), users // law.group)
    exponents = users // law.group * 4 * _UNIT * (float(np.abs(heights[np.isfinite(heights)]).max()) + 8)
    with np.errstate(divide="ignore"):
        return np.log(chances), relative + exponents


def _log_kept(logs: Floats, kept: int) -> tuple[Floats, float]:
    """Logarithms of the law of the number of liars among ``kept`` random users: sums of hypergeometric terms."""
    users = logs.size - 1
    factorials = np.array([math.lgamma(k + 1.0) for k in range(users + 1)])
    out = users - kept
    per_set = logs - (factorials[users] - factorials - factorials[::-1])  # each set of k liars
    result = np.full(kept + 1, -np.inf)
    for j in range(kept + 1):
        others = per_set[j : j + out + 1] + (factorials[out] - factorials[: out + 1] - factorials[: out + 1][::-1])
        top = others.max()
        if np.isfinite(top):
            result[j] = top + math.log(np.exp(others - top).sum())
    result += factorials[kept] - factorials[: kept + 1] - factorials[: kept + 1][::-1]
    return result, 32 * _UNIT * float(factorials[users]) + (out + 8) * _UNIT


def _support(law: AnyLaw, users: int, kept: int) -> np.ndarray:
    """Which numbers of liars are possible among ``kept`` random users."""
    if isinstance(law, PeakedResponse):
        return np.ones(kept + 1, dtype=bool)
    if isinstance(law, CountedResponse):
        possible = np.array([chance > 0 for chance in law.chances])
    else:
        some = np.flatnonzero([weight > 0 for weight in reversed(law.weights)])
        possible = np.zeros(users + 1, dtype=bool)
        possible[0] = True
        for _ in range(users // law.group):
            grown = np.zeros_like(possible)
            for more in some:
                grown[more:] |= possible[: possible.size - more]
            possible = grown
    out = users - kept
    sums = np.concatenate([[0], np.cumsum(possible)])
    return np.asarray(sums[out + 1 :] > sums[: kept + 1])


def _bands(law: AnyLaw, users: int, colluders: int) -> _Bands:
    """``P(true, L)`` and ``P(a given wrong value, L)`` for every L."""
    chances, relative = _floats_of(law, users)
    for size in range(users, colluders + 1, -1):
        k = np.arange(size)
        chances = chances[:-1] * ((size - k) / size) + chances[1:] * ((k + 1) / size)
    relative += 5 * _UNIT * (users - colluders)
    kept, k = colluders + 1, np.arange(colluders + 1)
    true = chances[:-1] * ((kept - k) / kept)
    false = chances[1:] * ((k + 1) / (kept * (law.categories - 1)))
    return _Bands(true, false, math.expm1(1.1 * (relative + 8 * _UNIT)), _SPECK)


def _floats_of(law: AnyLaw, users: int) -> tuple[Floats, float]:
    """``P(K = k)`` with its relative error; what is far below `_SPECK` may be lost."""
    if isinstance(law, JointResponse):
        one = np.array([float(weight) for weight in reversed(law.weights)])
        return _power(one / one.sum(), users // law.group)
    logs, error = _log_floats(law, users)
    chances = np.exp(logs - logs.max())
    return chances / chances.sum(), 2 * error + 2 * users * _UNIT


def _log_floats(law: HiddenResponse, users: int) -> tuple[Floats, float]:
    """Logarithms of ``P(K = k)`` up to a constant, and how far they may be off."""
    if isinstance(law, CountedResponse):
        logs = np.array([_log(chance) for chance in law.chances])
        return logs, 16 * _UNIT * (float(np.abs(logs[np.isfinite(logs)]).max()) + 1e4)
    k = np.arange(users)
    slope, wrong = math.log(law.ratio), math.log(law.categories - 1)
    steps = np.log((users - k) / (k + 1.0)) + wrong + np.where(k < law.peak, slope, -slope)
    heights = np.concatenate([[0.0], np.cumsum(steps)])
    # a running sum is off by a unit of itself a step at most
    error = 8 * _UNIT * (users * (float(np.abs(steps).max()) + 4) + float(np.abs(np.diff(heights)).sum()))
    return heights - heights.max(), error + _UNIT * float(np.abs(heights).sum())


def _log(chance: Fraction) -> float:
    return math.log(chance.numerator) - math.log(chance.denominator) if chance else -math.inf


def _power(one: Floats, times: int) -> tuple[Floats, float]:
    """A law added up so many times, by squaring, with its relative error.

    Sums of n nonnegative terms are off by n units at most, relatively.
    """
    result, error = np.ones(1), 0.0
    square, square_error = one, (3 * one.size + 8) * _UNIT
    left = times
    while left:
        if left & 1:
            error += square_error + (min(result.size, square.size) + 4) * _UNIT
            result = np.convolve(result, square)
            result /= result.sum()
        left >>= 1
        if left:
            square_error = 2 * square_error + (square.size + 4) * _UNIT
            square = np.convolve(square, square)
            square /= square.sum()
    return result, error + 4 * _UNIT * times.bit_length()
