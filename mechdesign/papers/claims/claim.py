"""A printed claim, how it is computed here, and the verdict that follows from the two.

What is printed is a number of the paper, or what its formula gives at a point the claim names. It stands for all that
round or are cut to it: it agrees with ours if the two differ by less than one unit of the last printed digit (``units``
of them, where the words are vaguer or tighter). Of ours, what is only proven to lie in an interval agrees if all of the
interval does. A number that the paper calls a simulation has the noise of one: it also agrees if a run of its size that
draws from ours is as far off with a probability of at least `LEVEL`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from mechdesign.errors import InvalidInput

IS, AT_MOST, AT_LEAST = "is", "at most", "at least"
HOLDS, SIMULATED, CORRECTED, REPLACED, IN_CODE, FAILS, STAND_IN, BEYOND = (
    "holds",
    "simulated",
    "holds after correction",
    "does not hold as printed",
    "in the published code, not in print",
    "does not hold",
    "on stand-in data",
    "beyond the claim",
)
VERDICTS = (HOLDS, SIMULATED, CORRECTED, REPLACED, IN_CODE, FAILS, STAND_IN, BEYOND)
LEVEL = 0.01
"""A simulation whose chance, if ours is right, is smaller contradicts ours."""

Bounds = tuple[float, float]
Value = float | Fraction | Bounds
Picture = Callable[[Any], None]
"""Draws on matplotlib axes."""


@dataclass(frozen=True, slots=True)
class Item:
    """One number of a claim, in the digits of the paper, and in those of its erratum if there is one.

    What the paper calls a simulation says how much noise it has: it is the share of so many ``runs``, or has a standard
    ``deviation``.

    >>> Item("error", "0.241").agrees_with((0.2412, 0.2412)), Item("error", "0.241").agrees_with((0.2425, 0.2425))
    (True, False)
    >>> Item("error", "0.241", runs=500).agrees_with((0.2425, 0.2425))
    True
    """

    label: str
    printed: str
    corrected: str = ""
    relation: str = IS
    units: float = 1.0
    runs: int = 0
    deviation: float = 0.0

    def agrees_with(self, ours: Bounds) -> bool:
        """Whether all of ours is what is printed, or as near as the noise of a simulation."""
        return self.agrees_in_digits(ours) or (self.is_simulated and self.p_value(ours) >= LEVEL)

    def agrees_in_digits(self, ours: Bounds) -> bool:
        """Whether all of ours is what is printed."""
        return _agrees(self.printed, self.relation, self.units, ours)

    @property
    def is_simulated(self) -> bool:
        return self.runs > 0 or self.deviation > 0

    def p_value(self, ours: Bounds) -> float:
        """How likely a simulation is as far from ours as the printed one, to both sides; the least over the interval.

        Of shares: twice the smaller tail of the binomial law, exactly; else by the normal law.
        """
        printed = float(self.printed)
        if self.runs:
            return min(_chance_of_share(round(printed * self.runs), self.runs, end) for end in ours)
        return min(math.erfc(abs(printed - end) / self.deviation / math.sqrt(2)) for end in ours)

    def agrees_corrected(self, ours: Bounds) -> bool:
        """Whether all of ours is what the erratum says, or what is printed where it says nothing."""
        return _agrees(self.corrected, IS, 1.0, ours) if self.corrected else self.agrees_with(ours)


def _chance_of_share(count: int, runs: int, chance: float) -> float:
    from scipy.stats import binom

    return min(1.0, 2 * float(min(binom.cdf(count, runs, chance), binom.sf(count - 1, runs, chance))))


def within(label: str, text: str, relative: float) -> Item:
    """An item whose digits are finer than the proof of its number: a relative distance counts as agreeing."""
    unit = 10.0 ** -len(text.partition(".")[2])
    return Item(label, text, units=max(1.0, relative * float(text) / unit))


def _agrees(text: str, relation: str, units: float, ours: Bounds) -> bool:
    low, high = ours
    number = Decimal(text)
    if number.is_infinite():
        return low == high == float(number)
    value = float(number)
    if relation == AT_MOST:
        return high <= value
    if relation == AT_LEAST:
        return low >= value
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    slack = units * 10.0**exponent
    return value - slack < low and high < value + slack


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says at a place, in numbers, and the functions that compute these numbers.

    ``compute`` follows the paper to the letter and gives a value for each item, in their order. Where that does not
    agree and an ``erratum`` says why, either the erratum has other numbers (`Item.corrected`), or it reads the claim
    otherwise: then ``mended`` computes the same items under that reading. ``slow`` claims take more than two seconds.

    Three declarations, each a sentence and at most one of them given, say that a claim is about other than the page:

    * ``beyond``: it is a sentence of ours next to the paper's; this says what the paper says literally. Such a claim is
      no verdict on the paper, whatever the numbers are;
    * ``in_code``: its "printed" numbers are those of the published code; this says what the page has, which is right;
    * ``stand_in``: the paper's data are not at hand; this says which are taken instead. That is no verdict either.

    ``data`` is a digest of the files that the numbers are computed from, if they are. ``picture`` draws what the
    numbers are about.
    """

    key: str
    paper: str
    place: str
    words: str
    items: tuple[Item, ...]
    compute: Callable[[], Sequence[Value]]
    mended: Callable[[], Sequence[Value]] | None = None
    erratum: int | None = None
    slow: bool = False
    beyond: str = ""
    in_code: str = ""
    stand_in: str = ""
    data: str = ""
    picture: Picture | None = None

    @property
    def is_of_the_page(self) -> bool:
        """Whether its numbers are printed, about the data that the page is about."""
        return not (self.beyond or self.in_code or self.stand_in)

    @property
    def reason(self) -> str:
        """Why the verdict is none on what is printed, after its own name; empty if it is one."""
        return self.beyond or self.in_code or self.stand_in


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim beside the numbers computed for it. The verdict is derived from them, never stated.

    It holds; or it does within the noise of the paper's simulation (simulated); or what is printed holds under the
    erratum's reading (after correction); or it does not hold as printed, and ours are the other numbers that the
    erratum has; or it does not hold. Where such other numbers are those of the page, and the ones that do not hold
    those of the published code, the error is in the code and not in print. What the paper neither claims nor denies is
    beyond the claim, and what is computed on other data is on stand-in data: neither for the paper nor against it.
    """

    claim: Claim
    ours: tuple[Bounds, ...]
    mended: tuple[Bounds, ...] | None
    seconds: float

    @property
    def verdict(self) -> str:
        items = self.claim.items
        if self.claim.beyond or self.claim.stand_in:
            return BEYOND if self.claim.beyond else STAND_IN
        if all(item.agrees_with(value) for item, value in zip(items, self.ours, strict=True)):
            return SIMULATED if self._rests_on_noise else HOLDS
        if self.claim.erratum is None:
            return FAILS
        values = self.ours if self.mended is None else self.mended
        if all(item.agrees_with(value) for item, value in zip(items, values, strict=True)):
            return CORRECTED
        if all(item.agrees_corrected(value) for item, value in zip(items, values, strict=True)):
            return IN_CODE if self.claim.in_code else REPLACED
        return FAILS

    @property
    def _rests_on_noise(self) -> bool:
        pairs = zip(self.claim.items, self.ours, strict=True)
        return not all(item.agrees_in_digits(value) for item, value in pairs)

    @property
    def in_words(self) -> str:
        """The verdict with the number of the erratum it rests on, or the least p-value."""
        if self.verdict == SIMULATED:
            pairs = zip(self.claim.items, self.ours, strict=True)
            return f"{SIMULATED} (p = {min(item.p_value(value) for item, value in pairs if item.is_simulated):.2g})"
        resting = self.verdict in (CORRECTED, REPLACED, IN_CODE)
        return f"{self.verdict} (erratum {self.claim.erratum})" if resting else self.verdict


def judge(claim: Claim) -> Outcome:
    """Compute a claim's numbers, under the erratum's reading too where the paper's own does not agree.

    >>> half = Claim("half", "a paper", "page 1", "half of it", (Item("share", "0.50"),), lambda: [Fraction(1, 2)])
    >>> judge(half).in_words
    'holds'
    """
    started = time.perf_counter()
    ours = _bounds(claim, claim.compute())
    mended = None
    agreed = all(item.agrees_with(value) for item, value in zip(claim.items, ours, strict=True))
    if claim.mended is not None and not agreed:
        mended = _bounds(claim, claim.mended())
    return Outcome(claim, ours, mended, time.perf_counter() - started)


def _bounds(claim: Claim, values: Sequence[Value]) -> tuple[Bounds, ...]:
    if len(values) != len(claim.items):
        raise InvalidInput(f"claim {claim.key}", len(values), f"compute {len(claim.items)} values")
    return tuple(value if isinstance(value, tuple) else (float(value), float(value)) for value in values)
