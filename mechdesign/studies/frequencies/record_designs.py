"""Numbers and categories of each person under one epsilon: some questions are drawn, the numbers together being one.

A question that is asked with the chance p is answered by those who were asked alone. With the variance v that its
report adds, and the spread s of what people hold, its error for these people is ``(v + s) / p - s`` a person, up to
terms of order 1/n. Of categories v is the same for all data, and s at most ``1 - 1/size``. The sum over the questions
is least where p is in proportion to the root of ``v + s``, and at most 1.

**From below.** A mechanism without bias for all answers is one for each, whatever the others are. So under
independent answers the error of all is at least the sum of the least errors of each at the whole epsilon. That of a
category is what subset selection with the best size has: with ``H = max over sets of t items of
(c - 1) sqrt(t (k - t) / k) / ((c - 1) t + k)`` the bound ``(1 - 1/k)^2 / H^2`` of several numbers, for uniform
categories about their middle, is its ``v + 1 - 1/k``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from mechdesign.methods.sign_patterns.response import PatternResponse
from mechdesign.methods.sign_patterns.rivals import drawn_by_wang, vector_rivals
from mechdesign.methods.sign_patterns.supports import LEAST_EPSILON
from mechdesign.studies.frequencies.protocols.grr import grr
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.protocols.subset import SubsetSelection, ss
from mechdesign.studies.frequencies.protocols.unary import oue
from mechdesign.studies.frequencies.vector_designs import Guesses, VectorDesign, vector_designs
from mechdesign.words.domains import Interval

_PUBLISHED = ("hm", "pm", "laplace")


class RecordDesign(NamedTuple):
    """So many questions drawn, each asked with ``epsilon``: the numbers together first, then each category."""

    drawn: int
    epsilon: float
    numbers: VectorDesign
    categories: tuple[SubsetSelection, ...]
    shares: tuple[float, ...]
    worst: float
    below: float
    """No unbiased mechanism has less error for the numbers alone, at this epsilon."""

    @property
    def name(self) -> str:
        count = len(self.shares)
        return f"{self.drawn} of {count} questions" if self.drawn < count else "all questions, eps split"


def record_designs(
    epsilon: float, sides: Sequence[Interval], halves: Sequence[float], sizes: Sequence[int], weights: Sequence[float]
) -> list[RecordDesign]:
    """A design for each number of questions that may be drawn, best first.

    ``halves`` are the roots of the weights of the numbers, in units of half their ranges; ``weights`` are those of the
    categories, of so many items each.

    >>> found = record_designs(1.0, [Interval(0, 1)], [1.0], [2, 5], [1.0, 1.0])
    >>> [one.name for one in found], [round(share, 2) for share in found[0].shares]
    (['1 of 3 questions', 'all questions, eps split'], [0.31, 0.21, 0.48])
    """
    count = 1 + len(sizes)
    # below eps = 1 a question the noise grows faster than the share of people who are asked
    tried = {*range(1, min(count, max(1, math.ceil(epsilon))) + 1), count}
    found = [
        _design(drawn, epsilon / drawn, sides, halves, sizes, weights)
        for drawn in sorted(tried)
        if epsilon / drawn >= LEAST_EPSILON or drawn == 1
    ]
    return sorted(found, key=lambda one: one.worst)


def _design(
    drawn: int,
    epsilon: float,
    sides: Sequence[Interval],
    halves: Sequence[float],
    sizes: Sequence[int],
    weights: Sequence[float],
) -> RecordDesign:
    designs = vector_designs(epsilon, sides, halves, Guesses(["uniform"] * len(sides), sides), by_guess=False)
    numbers = designs[0]
    categories = tuple(ss(epsilon, size) for size in sizes)
    # rounded to signs, numbers have the largest error where all are at their middles: nothing is subtracted there
    spreads = [0.0 if numbers.is_of_all_numbers else sum(half**2 for half in halves)]
    spreads += [weight * (1 - 1 / size) for size, weight in zip(sizes, weights, strict=True)]
    variances = [numbers.worst] + [weight * _variance(law) for law, weight in zip(categories, weights, strict=True)]
    seconds = [variance + spread for variance, spread in zip(variances, spreads, strict=True)]
    shares = PatternResponse(drawn).shares([Fraction(math.sqrt(second)) for second in seconds])
    worst = sum(second / float(share) - spread for second, share, spread in zip(seconds, shares, spreads, strict=True))
    below = max(_proven(one, halves) for one in designs)
    return RecordDesign(drawn, epsilon, numbers, categories, tuple(map(float, shares)), worst, below)


def _proven(one: VectorDesign, halves: Sequence[float]) -> float:
    """Below what no unbiased mechanism for the numbers is; the design of one number says so of that number only."""
    lower = one.design.certificate.lower
    if one.is_of_all_numbers:
        return lower
    return lower * halves[0] ** 2 if len(halves) == 1 else 0.0


def _variance(law: FrequencyProtocol) -> float:
    """Of all shares together, one person: the same for all data."""
    return law.size * law.variance(1 / law.size, 1).item()


def least_error(designs: Sequence[RecordDesign], weights: Sequence[float]) -> float:
    """What no unbiased mechanism with the whole epsilon is below, at the worst answers."""
    whole = next(one for one in designs if one.drawn == 1)
    return whole.below + sum(weight * _variance(law) for law, weight in zip(whole.categories, weights, strict=True))


def published_ways(
    epsilon: float, halves: Sequence[float], sizes: Sequence[int], weights: Sequence[float]
) -> dict[str, float]:
    """The errors of published practice: k of all attributes, all as likely, at eps / k each, or epsilon split.

    Numbers are reported by the mechanism that is named, categories by the better of GRR and OUE; k is that of Wang et
    al. (ICDE 2019).

    >>> {name: round(error, 1) for name, error in published_ways(1.0, [1.0], [4], [1.0]).items() if "hm" in name}
    {'hm with grr or oue, split': 54.4, 'hm with grr or oue, sampled': 25.4}
    """
    count = len(halves) + len(sizes)
    ways = {"split": count, "sampled": drawn_by_wang(epsilon, count)}
    of_numbers = {rival.name: rival.worst(halves) for rival in vector_rivals(epsilon, count)}
    found: dict[str, float] = {}
    for way, drawn in ways.items():
        if way == "sampled" and drawn == count:
            continue
        error, share = 0.0, drawn / count
        for size, weight in zip(sizes, weights, strict=True):
            spread = 1 - 1 / size
            variance = min(_variance(law(epsilon / drawn, size)) for law in (grr, oue))
            error += weight * ((variance + spread) / share - spread)
        found |= {f"{name} with grr or oue, {way}": of_numbers[f"{name}, {way}"] + error for name in _PUBLISHED}
    return found
