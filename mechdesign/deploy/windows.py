"""Window mechanisms in whole numbers: base counts, caps, and a window that moves along the gains."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.checker import Bath, exact_offset, floor_double
from mechdesign.deploy.document import decimal, decimals
from mechdesign.deploy.rounding import BITS, CAP_BITS, base_and_caps, stretch_means
from mechdesign.domains import Interval
from mechdesign.errors import InvalidInput
from mechdesign.values.dyadic import dyadic

Floats = NDArray[np.float64]
Law = dict[str, Any]

_LEAST_SHARES = 16
_FEW_OUTPUTS = 64  # up to here outputs stay where the design has them
_MEAN_BITS = 62
_DOUBLE_BITS = 53
_STRETCHES = 60


def window_law(inputs: Interval, points: Floats, base: Floats, bits: int, cap: int) -> Law:
    """The law of a window mechanism: the outputs nearest to the input are filled from their counts to their caps.

    Many outputs are moved to the means of the stretches of the base that their counts stand for: errors of rounding are
    then of second order. Few outputs stay where they are.

    *Guarantee.* Every count lies between ``n_j`` and ``floor(c n_j)`` with ``c = cap / 2^96``, and rows sum to
    ``2^bits``: the likelihood ratio is at most c.
    """
    places, masses, unit = _coarse(points, base, bits)
    kept, counts, caps = _kept(masses, unit, bits, cap)
    outputs = places[kept]
    if len(kept) > _FEW_OUTPUTS:
        means = _means(places, masses, counts)
        outputs = means if (np.diff(means) > 0).all() else outputs
    values = [Fraction(value) for value in outputs.tolist()]
    bath = Bath({"base": counts, "caps": caps}, values, 1 << bits, cap)
    starts, thresholds = [0], []
    for start, left, right in bath.moves():
        turn = (values[left] + values[right]) / 2
        if turn >= inputs.upper:
            break
        if turn < inputs.lower:
            starts = [start]
        else:
            starts.append(start)
            thresholds.append(float(floor_double(turn)))
    return {
        "outputs": decimals(outputs.tolist()),
        "base": counts,
        "caps": caps,
        "thresholds": decimals(thresholds),
        "starts": starts,
    }


def _coarse(points: Floats, base: Floats, bits: int) -> tuple[Floats, list[int], int]:
    """Outputs and masses per unit: as they are, or one output for every count where counts are few.

    An output that has a count because many before it have none would be an arbitrary one of them. So with fewer than
    two counts an output the base is cut into equal shares, a count each, at their means: for the squared error at
    eps = 8 and 16 bits this loses a fifth of what the outputs where the rounding falls lose.
    """
    masses, shift = dyadic(base)
    unit, total = 1 << shift, sum(masses)
    count = -(-(total << bits) >> shift)
    if count >= 2 * len(masses):
        return points, masses, unit
    if count < _LEAST_SHARES:
        finer = next((more for more in BITS if total << more >= _LEAST_SHARES << shift), None)
        next_step = "take a smaller eps" if finer is None else f"take {finer} bits"
        raise InvalidInput("bits", bits, f"leave {_LEAST_SHARES} counts to the base or two for every output", next_step)
    places, shares = np.unique(_means(points, masses, [1] * count), return_counts=True)
    return places, shares.tolist(), 1 << bits


def _means(points: Floats, masses: list[int], counts: list[int]) -> Floats:
    values, shift = dyadic(points)
    return np.array([float(mean / (1 << shift)) for mean in stretch_means(values, masses, counts)])


def _kept(masses: list[int], unit: int, bits: int, cap: int) -> tuple[list[int], list[int], list[int]]:
    """The outputs that have counts, and those counts and caps."""
    counts, caps = base_and_caps(masses, unit, bits, cap)
    kept = [j for j, count in enumerate(counts) if count]
    if sum(caps) >> 63:
        room = (1 << 63) - (cap >> CAP_BITS) - 1  # a base rounded up may have a count more
        fitting = [fewer for fewer in BITS if fewer < bits and sum(caps) >> (bits - fewer) < room]
        next_step = f"take {fitting[-1]} bits" if fitting else "take a smaller eps"
        raise InvalidInput("bits", bits, "leave the caps below 2^63 in sum at this eps", next_step)
    return kept, [counts[j] for j in kept], [caps[j] for j in kept]


def unbiased_law(inputs: Interval, points: Sequence[float], base: Sequence[float], bits: int, cap: int) -> Law:
    """The law of an unbiased window mechanism: an input is randomised between the two rows whose means are next to it.

    Outputs are moved to whole multiples of ``2^-shift`` and stretched about the middle of the inputs until the exact
    means of the rows cover them.

    *Guarantee.* ``E[Y|x] = x`` as rationals for every double x of the inputs, and the likelihood ratio is at most c.
    """
    if bits > 32:
        rule = "be 16 or 32 for an unbiased table, whose means must fit in 64 bits"
        raise InvalidInput("bits", bits, rule, "take 32 bits")
    offset = float(exact_offset(Fraction(inputs.lower), Fraction(inputs.upper)))
    outputs, masses, unit = _coarse(np.asarray(points, dtype=np.float64), np.asarray(base, dtype=np.float64), bits)
    middle, spread = inputs.middle, outputs - inputs.middle
    stretch = 1.0
    for attempt in range(_STRETCHES):
        shift = _shift(offset, middle + spread * stretch, bits)
        units = np.rint(np.ldexp((middle - offset) + spread * stretch, shift))
        merged, where = np.unique(units, return_inverse=True)
        joined = [0] * merged.size
        for mass, at in zip(masses, where.tolist(), strict=True):
            joined[at] += mass
        kept, counts, caps = _kept(joined, unit, bits, cap)
        whole = [int(merged[j]) for j in kept]
        bath = Bath({"base": counts, "caps": caps}, [Fraction(unit) for unit in whole], 1 << bits, cap)
        starts, means = _rows(bath)
        ends = [
            (Fraction(end) - Fraction(offset)) * Fraction(2) ** (shift + bits) for end in (inputs.lower, inputs.upper)
        ]
        if means[0] <= ends[0] and ends[1] <= means[-1]:
            first = max(i for i, mean in enumerate(means) if mean <= ends[0])
            last = min(i for i, mean in enumerate(means) if mean >= ends[1])
            return {
                "outputs": decimals(offset + math.ldexp(unit, -shift) for unit in whole),
                "base": counts,
                "caps": caps,
                "starts": starts[first : last + 1],
                "offset": decimal(offset),
                "shift": shift,
                "units": whole,
                "means": means[first : last + 1],
            }
        at = (Fraction(middle) - Fraction(offset)) * Fraction(2) ** (shift + bits)
        reach = [abs(float((mean - at) / (end - at))) for mean, end in zip((means[0], means[-1]), ends, strict=True)]
        if not min(reach) > 0.1:
            break
        stretch = stretch / min(1.0, *reach) * (1 + 2.0 ** (attempt - 50))
    raise InvalidInput("bits", bits, f"give means that cover {inputs}", _wider(inputs, points, base, bits, cap))


def _wider(inputs: Interval, points: Sequence[float], base: Sequence[float], bits: int, cap: int) -> str:
    """What makes means cover the inputs: tried, where it can be."""
    if bits < 32:
        with contextlib.suppress(InvalidInput):
            unbiased_law(inputs, points, base, 32, cap)
            return "take 32 bits"
    return "take a larger eps" if cap < 2 << CAP_BITS else "take a smaller eps or fewer outputs"


def _rows(bath: Bath) -> tuple[list[int], list[int]]:
    """The starts at which the law changes, and the means of their rows, in units of ``2^-(shift + bits)``."""
    starts: list[int] = []
    means: list[int] = []
    for start in [0, *(start for start, _, _ in bath.moves())]:
        mean = int(bath.moments(start)[0] * bath.whole)
        if not means or mean != means[-1]:
            starts.append(start)
            means.append(mean)
    return starts, means


def _shift(offset: float, points: Floats, bits: int) -> int:
    """The finest grid of outputs on which means stay below 2^62 and every output is a double."""
    reach = float(np.abs(points - offset).max())
    far = float(np.abs(points).max())
    shift = min(_MEAN_BITS - bits - 1 - math.frexp(reach)[1], _DOUBLE_BITS - 1 - math.frexp(far)[1])
    if shift + bits < 0:
        step = "rescale the data, or take a larger eps: the smaller it is, the farther outputs lie"
        raise InvalidInput("outputs", reach, "lie below 2^60 in an unbiased table", step)
    return min(shift, 1000 - bits)
