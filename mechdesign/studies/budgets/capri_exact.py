"""The exact law of ETC, by its characteristic function: no simulation, 1e-10 in probabilities, 1e-6 in epsilon.

ETC is linear in the reports, which are independent, so ``T = sum_v m_v S_v`` over support counts S is a sum of
independent whole numbers (consumption is ``v = v_0 + m_v unit``), and its characteristic function is a product:

* randomised response: ``prod_x [(p - q) z^m_x + q sum_y z^m_y]^X(x)`` with ``z = e^(i theta)``;
* items supported independently (unary, local hashing under its ideal hash, THE): ``prod_v (1 - p + p z^m_v)^X(v)
  (1 - q + q z^m_v)^(N - X(v))``.

``P(T <= t)`` is summed over the frequencies ``2 pi j / L``, which gives the law of T modulo L. L is so long that less
than 1e-12 lies outside one period (Hoeffding's and Bernstein's inequalities), and frequencies are left out only where
a bound on the characteristic function that needs no evaluation, one FFT for all of them, is below 1e-15. Because most
are, one probability takes about a millisecond for 98,511 households.

Other protocols (subset selection, Hadamard, noisy histograms, designed mechanisms) get the normal law with the exact
mean and variance, and answers say so: ``exact`` is False.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets.capacity import LEAST, MOST, Capacity, Requirement, require_range, unmet_requirement
from mechdesign.studies.budgets.simulation import ProtocolFamily, has_independent_items
from mechdesign.studies.frequencies.protocols.grr import Grr
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.values.declare import Floats, frozen
from mechdesign.values.later import special

Complexes = NDArray[np.complex128]

ROOT_PRECISION = 1e-6
_OUTSIDE = 1e-12
_NEGLIGIBLE = math.log(1e-15)
_LONGEST = 1 << 24
_AT_ONCE = 1 << 20
_ROUNDING = 16 * 2.0**-52


@frozen
class Probability:
    """A probability, and whether it is exact (to 1e-10) or that of the normal law with exact mean and variance."""

    value: float
    exact: bool


@frozen
class Budget:
    """The epsilon of a capacity question: the requirement holds at it and does not 1e-6 below.

    ``lower`` is that epsilon below, None if the requirement holds at the least epsilon of the range. Whole reports make
    ETC jump, so in small populations other crossings may lie near; each is a valid budget.
    """

    protocol: str
    epsilon: float
    lower: float | None
    probability: Probability


class Exceedance:
    """``Pr[ETC > cap]`` at any epsilon; what does not depend on epsilon is computed once."""

    def __init__(self, capacity: Capacity, protocol: str | Callable[[float, int], FrequencyProtocol]) -> None:
        self.capacity = capacity
        self.build = ProtocolFamily(protocol) if isinstance(protocol, str) else protocol
        self._transforms: dict[tuple[str, int], Complexes] = {}

    def __call__(self, epsilon: float) -> Probability:
        law = self.build(epsilon, self.capacity.v.size)
        once = law.once if isinstance(law, Longitudinal) else law
        is_grr = isinstance(once, Grr)
        if not (is_grr or has_independent_items(law)):
            z = (self.capacity.total - self.capacity.cap) / self.capacity.deviation(law)
            return Probability(float(special.ndtr(z)), False)
        value = self._above(float(law.p), float(law.q), is_grr=is_grr)
        return Probability(min(max(value, 0.0), 1.0), True)

    def _above(self, p: float, q: float, *, is_grr: bool) -> float:
        capacity = self.capacity
        # estimates of randomised response sum to N, so the least value can be counted without error
        base = float(capacity.v[0]) if is_grr else 0.0
        m, unit = capacity.lattice(base)
        x, users = capacity.x, capacity.users
        steps, offset = (capacity.cap - base * users) / unit, users * q * float(m.sum())
        edge = steps * (p - q) + offset
        near = round(edge)
        # an ETC at the capacity does not exceed it: whole numbers that rounding alone can have missed count as reached
        t = near if abs(edge - near) <= _ROUNDING * (abs(steps) * (p + q) + offset) else math.floor(edge)
        mean = float(m @ (x * p + (users - x) * q))
        variance, reach = self._spread(m, p, q, is_grr=is_grr)
        half = _tail_reach(users, m, variance, reach, is_grr=is_grr)
        least, most = (0, users * int(m.max())) if is_grr else (0, users * int(m.sum()))
        start, stop = max(least, math.floor(mean - half)), min(most, math.ceil(mean + half))
        if t >= stop:
            return 0.0
        if t < start:
            return 1.0
        length = 1 << max(1, math.ceil(math.log2(stop - start + 1)))
        if length > _LONGEST:
            raise InvalidInput(
                "consumption", f"{length} lattice points", f"need at most {_LONGEST}", "round the values"
            )
        bound = self._log_bound(length, m, p, q, is_grr=is_grr)
        kept = 1 + np.flatnonzero(bound[1:] >= _NEGLIGIBLE)
        terms, total = t - start + 1, 0.0
        block = max(1, _AT_ONCE // m.size)
        for first in range(0, kept.size, block):
            some = kept[first : first + block]
            theta = 2 * np.pi * some / length
            logs = self._log_characteristic(theta, m, p, q, is_grr=is_grr)
            phases = logs - 1j * _turns(some, start + t, 2 * length)
            sums = np.sin(np.pi * ((some * terms) % (2 * length)) / length) / np.sin(theta / 2)
            weights = np.where(2 * some == length, 1.0, 2.0)  # frequency j stands for L - j too
            total += float(np.sum(weights * sums * np.exp(phases).real))
        below = (terms + total) / length
        return 1.0 - below

    def _spread(self, m: NDArray[np.int64], p: float, q: float, *, is_grr: bool) -> tuple[float, float]:
        """The variance of T, and the most one term can be off its mean."""
        x, users = self.capacity.x, self.capacity.users
        if not is_grr:
            return float((m.astype(np.float64) ** 2) @ (x * p * (1 - p) + (users - x) * q * (1 - q))), float(m.max())
        means = q * m.sum() + (p - q) * m
        squares = q * (m.astype(np.float64) ** 2).sum() + (p - q) * m.astype(np.float64) ** 2
        return float(x @ (squares - means**2)), float(m.max())

    def _log_bound(self, length: int, m: NDArray[np.int64], p: float, q: float, *, is_grr: bool) -> Floats:
        """An upper bound of ``log |phi|`` at all frequencies ``2 pi j / length``, j up to length / 2."""
        x, users = self.capacity.x, self.capacity.users
        if is_grr:
            # a report is uniform with probability k q, else fixed: |phi_x| <= 1 - k q (1 - |psi|)
            psi = np.abs(self._transform("even", length, m, np.ones(m.size))) / m.size
            return np.asarray(users * np.log1p(-np.minimum(m.size * q * np.maximum(1 - psi, 0.0), 1 - 1e-16)))
        # |1 - r + r z|^2 = 1 - 2 r (1 - r) (1 - cos), and log(1 - a) <= -a
        own, others = x.astype(np.float64), (users - x).astype(np.float64)
        lost = p * (1 - p) * (own.sum() - self._transform("own", length, m, own).real)
        return np.asarray(-lost - q * (1 - q) * (others.sum() - self._transform("others", length, m, others).real))

    def _transform(self, name: str, length: int, m: NDArray[np.int64], weights: Floats) -> Complexes:
        key = name, length
        if key not in self._transforms:
            self._transforms[key] = np.fft.rfft(np.bincount(m % length, weights, minlength=length))
        return self._transforms[key]

    def _log_characteristic(
        self, theta: Floats, m: NDArray[np.int64], p: float, q: float, *, is_grr: bool
    ) -> Complexes:
        x, users = self.capacity.x, self.capacity.users
        z = np.exp(1j * theta[:, None] * m[None, :])
        with np.errstate(
            divide="ignore", invalid="ignore"
        ):  # a factor may vanish: its logarithm is -inf, the product 0
            if is_grr:
                held = x > 0
                return np.asarray(np.log((p - q) * z[:, held] + q * z.sum(axis=1, keepdims=True)) @ x[held])
            own, others = np.log(1 - p + p * z), np.log(1 - q + q * z)
        return np.asarray(_weighted(own, x) + _weighted(others, users - x))


def budget(
    capacity: Capacity,
    requirement: Requirement,
    protocol: str | Callable[[float, int], FrequencyProtocol],
    *,
    least: float = LEAST,
    most: float = MOST,
) -> Budget:
    """The epsilon at which the requirement starts to hold, to 1e-6.

    >>> from mechdesign.studies.budgets.capacity import Capacity, Requirement
    >>> found = budget(Capacity([0, 1], [400, 600], 500), Requirement("fn", 0.01), "grr")
    >>> round(found.epsilon, 4), found.probability.exact
    (0.7308, True)
    """
    requirement.require_possible(capacity)
    low, high = require_range(least, most)
    above = Exceedance(capacity, protocol)
    name = above.build(high, capacity.v.size).name

    def at(epsilon: float) -> Probability:
        found = above(epsilon)
        return Probability(requirement.probability(capacity, found.value), found.exact)

    best = at(high)
    if not requirement.holds(best.value):
        raise unmet_requirement(requirement, low, high, best.value, high)
    first = at(low)
    if requirement.holds(first.value):
        return Budget(name, low, None, first)
    while high - low > ROOT_PRECISION:
        middle = (low + high) / 2
        found = at(middle)
        if requirement.holds(found.value):
            high, best = middle, found
        else:
            low = middle
    return Budget(name, high, low, best)


def chebyshev(capacity: Capacity, law: FrequencyProtocol) -> float:
    """``Pr[FN]`` (or FP) is at most ``Var(ETC) / (TTC - cap)^2``; 1 if that is more (section 4.2.2).

    The variance is exact for every protocol. For binary randomised response it is ``p q N / (p - q)^2``.

    >>> from mechdesign.studies.frequencies.protocols import protocol
    >>> round(chebyshev(Capacity([0, 1], [400, 600], 500), protocol("grr", 0.8, 2)), 5)
    0.14818
    """
    return chebyshev_bound(capacity, capacity.deviation(law))


def chebyshev_bound(capacity: Capacity, deviation: float) -> float:
    """The same for an unbiased ETC with this standard deviation, however it is collected."""
    distance = capacity.total - capacity.cap
    return 1.0 if distance == 0 else min(1.0, (deviation / distance) ** 2)


def chebyshev_budget(
    capacity: Capacity,
    requirement: Requirement,
    protocol: str | Callable[[float, int], FrequencyProtocol],
    *,
    least: float = LEAST,
    most: float = MOST,
) -> float | None:
    """The epsilon Chebyshev's bound asks for, to 1e-6, or None if it is out of range: more than is needed."""
    requirement.require_possible(capacity)
    build = ProtocolFamily(protocol) if isinstance(protocol, str) else protocol

    def holds(epsilon: float) -> bool:
        wrong = chebyshev(capacity, build(epsilon, capacity.v.size))
        return requirement.holds(wrong if requirement.event in ("fp", "fn") else 1 - wrong)

    low, high = require_range(least, most)
    if not holds(high):
        return None
    while high - low > ROOT_PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _tail_reach(users: int, m: NDArray[np.int64], variance: float, reach: float, *, is_grr: bool) -> float:
    """How far from its mean T is with probability 1e-12 at most: the better of Hoeffding's and Bernstein's bounds."""
    nats = math.log(2 / _OUTSIDE)
    squares = users * float(m.max()) ** 2 if is_grr else users * float((m.astype(np.float64) ** 2).sum())
    hoeffding = math.sqrt(nats * squares / 2)
    third = nats * reach / 3
    return min(hoeffding, third + math.sqrt(third**2 + 2 * nats * variance)) + 1


def _turns(kept: NDArray[np.int64], steps: int, period: int) -> Floats:
    """``2 pi kept steps / period``, reduced in whole numbers."""
    return np.asarray(2 * np.pi * ((kept * (steps % period)) % period) / period)


def _weighted(logs: Complexes, weights: NDArray[np.int64]) -> Complexes:
    used = weights > 0  # 0 times -inf would be no number
    return np.asarray(logs[:, used] @ weights[used])
