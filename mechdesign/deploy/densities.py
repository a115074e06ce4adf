"""Densities in whole numbers: piecewise ones as cells, noise as blocks of a finite table with a geometric tail."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.deploy.checker import exact_offset
from mechdesign.deploy.document import decimal, decimals
from mechdesign.deploy.rounding import BITS, CAP_BITS, between, cumulative
from mechdesign.domains import Circle, Interval
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.additive import Additive
from mechdesign.mechanisms.discrete import TwoSidedGeometric
from mechdesign.mechanisms.noise import Laplace, Staircase
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.values.dyadic import dyadic

Law = dict[str, Any]

_CELL_BITS = 32
_PLACE_BITS = 50
_STEP_BITS = 12
_MOST_STEPS = 1 << 16


def pieces_law(mechanism: Piecewise, clamp: Interval | None, bits: int, cap: int) -> Law:
    """The law of a piecewise mechanism: equal cells, a window of them heavier than the rest.

    The window covers the nearest whole number of cells and gets the weight nearest to its own that keeps the ratio.

    *Guarantee.* Every cell has one of two probabilities, whose ratio is at most c, whatever the input.
    """
    if not isinstance(mechanism.window, AffineWindow):
        raise InvalidInput("mechanism", mechanism.name, "have windows of one interval to become a table")
    outputs = mechanism.outputs
    far = max(abs(outputs.lower), abs(outputs.upper)) / outputs.length
    cells = 1 << min(_CELL_BITS, _PLACE_BITS - math.frexp(far)[1])
    width = mechanism.exact_width()
    length = Fraction(outputs.length)
    inside = min(max(round(width / length * cells), 1), cells - 1)
    weight = _weight(Fraction(mechanism.high) * width, inside, cells, 1 << bits, cap)
    if weight is None:
        raise too_few_bits(bits, lambda more: _weight(Fraction(0), inside, cells, 1 << more, cap) is not None)
    step = outputs.length / cells
    cell = Fraction(step)
    window = mechanism.window
    slope, pivot = Fraction(window.slope), Fraction(window.pivot)
    first_centre = Fraction(outputs.lower) + inside * cell / 2
    # the input whose window starts half a cell before the first cell, so that rounding down rounds to the nearest
    anchor = pivot - (pivot + Fraction(window.offset) - first_centre + cell / 2) / slope
    return {
        "cells": cells,
        "inside": inside,
        "weight": weight,
        "first": 0 if isinstance(outputs, Circle) else round(Fraction(outputs.lower) / cell),
        "step": decimal(step),
        "anchor": decimal(float(anchor)),
        "scale": decimal(float(slope / cell)),
        "clamp": _clamp(clamp),
    }


def _weight(share: Fraction, inside: int, cells: int, whole: int, cap: int) -> int | None:
    """The count of the window nearest to its share: ``P (N - w) <= c (D - P) w``, and more than w cells of N have."""
    most = cap * inside * whole // (((cells - inside) << CAP_BITS) + cap * inside)
    least = inside * whole // cells + 1
    return None if most < least else min(max(round(whole * share), least), most)


def too_few_bits(bits: int, works: Callable[[int], bool]) -> InvalidInput:
    """The error that says which number of bits works."""
    finer = next((more for more in BITS if more > bits and works(more)), None)
    rule = "be enough to write probabilities that differ as little as at this eps"
    return InvalidInput("bits", bits, rule, "take a larger eps" if finer is None else f"take {finer} bits (--bits)")


def additive_law(mechanism: Additive | TwoSidedGeometric, clamp: Interval | None, bits: int, cap: int) -> Law:
    """The law of noise on a grid: ``P(Z = +-(b R + r))`` proportional to ``(q/D)^b w_r``, R grid steps to the domain.

    *Guarantee.* ``w`` does not increase, ``w_0 <= c w_(R-1)`` and ``D <= c q``: shifts by up to R steps change no
    probability by more than c. Inputs are rounded to the grid at random and without bias.
    """
    law = _additive_law(mechanism, bits, cap)
    if law is None:
        raise too_few_bits(bits, lambda more: _additive_law(mechanism, more, cap) is not None)
    return law | {"clamp": _clamp(clamp)}


def _additive_law(mechanism: Additive | TwoSidedGeometric, bits: int, cap: int) -> Law | None:
    """All of it but the clamp; `None` if there are too few bits for so small an epsilon."""
    lower, upper = mechanism.inputs.lower, mechanism.inputs.upper
    offset = float(exact_offset(Fraction(lower), Fraction(upper)))
    if isinstance(mechanism, TwoSidedGeometric):
        shift = 0
    else:
        shift = min(_STEP_BITS, bits - 8) - math.frexp(mechanism.inputs.length)[1]
    if not abs(shift) <= 1000:
        raise InvalidInput("domain", mechanism.inputs.length, "have a length doubles can divide", "rescale the data")
    steps = Fraction(2) ** shift
    least = math.floor((Fraction(lower) - Fraction(offset)) * steps)
    most = math.ceil((Fraction(upper) - Fraction(offset)) * steps)
    size = most - least
    if not 1 <= size <= min(_MOST_STEPS, 1 << (bits - 4)):
        raise InvalidInput("domain", size, f"span at most {min(_MOST_STEPS, 1 << (bits - 4))} grid steps")
    density, drop = _magnitudes(mechanism, size)
    whole = 1 << bits
    least_tail = -((-whole << CAP_BITS) // cap)
    weights = _weights(density, size, whole, cap)
    if weights is None or least_tail >= whole:
        return None
    tail = min(max(round(Fraction(drop) * whole), least_tail), whole - 1)
    return {
        "offset": decimal(offset),
        "shift": shift,
        "least": least,
        "most": most,
        "weights": weights,
        "tail": tail,
    }


def _magnitudes(mechanism: Additive | TwoSidedGeometric, size: int) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """The density of a magnitude along one block (as a function of its share in it), and how much lower the next is."""
    if isinstance(mechanism, TwoSidedGeometric):
        loss = mechanism.epsilon
    elif isinstance(mechanism.noise, Laplace):
        loss = min(mechanism.inputs.length / mechanism.noise.scale, mechanism.epsilon)
    elif isinstance(mechanism.noise, Staircase):
        if not math.isclose(mechanism.noise.sensitivity, mechanism.inputs.length, rel_tol=1e-6):
            raise InvalidInput("sensitivity", mechanism.noise.sensitivity, "be the length of the inputs in a table")
        loss, share = mechanism.noise.epsilon, mechanism.noise.share
        return (lambda place: np.where(place < share, 1.0, math.exp(-loss))), math.exp(-loss)
    else:
        name = type(mechanism.noise).__name__
        raise InvalidInput("noise", name, "be Laplace or staircase noise: no other has a finite privacy loss")
    return (lambda place: np.exp(-loss * place)), math.exp(-loss)


def _weights(density: Callable[[np.ndarray], np.ndarray], size: int, whole: int, cap: int) -> list[int] | None:
    values, _ = dyadic(density(np.arange(size) / size))
    wanted = cumulative(values, sum(values), Fraction(whole))
    for least in (min(wanted), min(wanted) + 1, min(wanted) - 1):
        most = cap * least >> CAP_BITS
        if least >= 1 and size * least <= whole <= size * most:
            weights = between(wanted, [least] * size, [most] * size, whole)
            return sorted(weights, reverse=True)
    return None


def _clamp(interval: Interval | None) -> list[str] | None:
    return None if interval is None else decimals((interval.lower, interval.upper))
