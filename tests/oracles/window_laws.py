"""Window mechanisms in fractions, as they are described: what is left goes to the nearest outputs, one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms import Window
from mechdesign.words.cells import Cells


def law_at(mechanism: Window, x: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Outputs and their probabilities; of two equally near outputs the left one is served first."""
    places = [Fraction(y) for y in mechanism.points.tolist()]
    law = [Fraction(m) for m in mechanism.base.tolist()]
    left, more = 1 - sum(law), Fraction(mechanism.ratio) - 1
    for k in sorted(range(len(places)), key=lambda k: (abs(places[k] - x), places[k])):
        gained = min(left, more * law[k])
        law[k], left = law[k] + gained, left - gained
    return list(zip(places, law, strict=True))


def error_at(mechanism: Window, x: float | Fraction, exponent: int) -> Fraction:
    at = Fraction(x)
    return sum((chance * abs(y - at) ** exponent for y, chance in law_at(mechanism, at)), Fraction(0))


def worst_error(mechanism: Window, exponent: int) -> Fraction:
    """The law changes at midpoints of outputs only, where both laws have one error, and between them it is convex."""
    ends = [Fraction(mechanism.inputs.lower), Fraction(mechanism.inputs.upper)]
    middles = [(Fraction(a) + Fraction(b)) / 2 for a, b in combinations(mechanism.points.tolist(), 2)]
    candidates = [*ends, *(x for x in middles if ends[0] <= x <= ends[1])]
    return max(error_at(mechanism, x, exponent) for x in candidates)


def average_error(mechanism: Window, atoms: Cells, exponent: int) -> Fraction:
    """Under a prior of values."""
    shares = [(x, Fraction(w)) for x, w in zip(atoms.means.tolist(), atoms.weights.tolist(), strict=True)]
    return sum(w * error_at(mechanism, x, exponent) for x, w in shares) / sum(w for _, w in shares)


def least_phi(epsilon: float, terms: list[tuple[Fraction, Fraction, Fraction]], exponent: int) -> Fraction:
    """The least of ``sum w phi(|y - x|^p - r^p)`` over all real y, for terms (x, r, w): on each stretch between places
    where a term changes it is linear (p = 1) or a parabola (p = 2)."""
    ratio = exp_upper(epsilon)

    def value(y: Fraction) -> Fraction:
        excesses = [(w, abs(y - x) ** exponent - r**exponent) for x, r, w in terms]
        return sum((w * min(t, ratio * t) for w, t in excesses), Fraction(0))

    events = sorted({place for x, r, _ in terms for place in (x - r, x, x + r)})
    candidates = list(events)
    if exponent == 2:
        for low, high in zip(events[:-1], events[1:], strict=True):
            middle = (low + high) / 2
            steep = [w * (ratio if abs(middle - x) < r else 1) for x, r, w in terms]
            vertex = sum(s * x for s, (x, _, _) in zip(steep, terms, strict=True)) / sum(steep)
            candidates += [vertex] if low <= vertex <= high else []
    return min(map(value, candidates))
