"""A number reported without bias, on average under a prior: certificates of `theories/Unbiased.v`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from mechdesign.methods.grid_prior import weights_on_grid
from mechdesign.tables.formal.floors.stated import UNIT, StatedFloor, above, head, least_of
from mechdesign.tables.formal.terms import fractions_of, on_one_scale, ratio
from mechdesign.tables.table import Table

_GRID = 2**36
"""Steps of a half of the interval that roots are rounded to: they are only multipliers."""

_Tangents = Sequence[dict[str, int]]


def without_bias(table: Table, problem: Any, evidence: Any) -> StatedFloor:
    """A quadratic for every input with weight, and for others that bind a line: `UnbiasedPriorBound` has both.

    Its quadratics have a root at ``x + b`` and another one at ``x - s / p``, as if on [-1, 1].
    """
    low, high = Fraction(problem.inputs.lower), Fraction(problem.inputs.upper)
    half, last = (high - low) / 2, len(evidence.offsets) - 1
    places, scale = on_one_scale([low + (high - low) * k / last for k in range(last + 1)])
    more = -(-_GRID // max(1, int(half * scale)))
    scale *= more
    shares, share_scale = on_one_scale(fractions_of(weights_on_grid(problem, last + 1)))
    tangents = []
    columns = zip(places, shares, fractions_of(evidence.offsets), fractions_of(evidence.slopes), strict=True)
    for place, share, offset, slope in columns:
        x = place * more
        roots = [x + round(offset * half * scale)]
        if share:
            roots.append(x - round(slope * share_scale / share * half * scale))
        steep = 0 if share else round(slope * share_scale * half * scale)
        if share or steep:
            ends = {"low": min(roots), "high": max(roots)}
            tangents.append({"place_of": x, "share": share, **ends, "slope": steep})
    epsilon = table.epsilon
    factor = above(epsilon)
    gap = min(0, _least(tangents, factor))
    level = sum(
        t["share"] * (t["place_of"] - t["low"]) * (t["high"] - t["place_of"]) - t["slope"] * (t["place_of"] - t["low"])
        for t in tangents
    )
    least, said = least_of(Fraction(level * UNIT + gap, sum(shares) * scale**2 * UNIT), "u")
    fields = {**head(epsilon, factor, "u"), "u_tangents": tangents, "u_scale": scale, "u_gap": gap, **said}
    said_place = "u_place certificate x"
    theorem = (
        f"forall m q (y : nat -> R),\n  mechanism {ratio(epsilon)} m {len(tangents)} q ->\n"
        f"  (forall x, (x < {len(tangents)})%nat -> sum m (fun o => q o x * y o) = {said_place}) ->\n"
        f"  {ratio(least)} <= sum {len(tangents)} (fun x => u_share certificate x * "
        f"sum m (fun o => q o x * ((y o - {said_place}) * (y o - {said_place}))))"
    )
    return StatedFloor("unbiased", fields, theorem, "unbiased_average", least)


def _least(tangents: _Tangents, factor: int) -> int:
    """The least of all parabolas, one for each stretch between roots, rounded down."""
    least = []
    for end in (None, *sorted({t[name] for t in tangents for name in ("low", "high")})):
        a = b = d = 0
        for t in tangents:
            w, s, low, high = t["share"], t["slope"], t["low"], t["high"]
            if end is None:
                is_below = not w and s < 0
            else:
                is_below = low < end <= high if w else (end <= low if s > 0 else low < end)
            times = factor if is_below else UNIT
            a, b, d = a + times * 2 * w, b + times * (w * (low + high) - s), d + times * 2 * low * (w * high - s)
        least.append((d * a - b * b) // (2 * a))
    return min(least)
