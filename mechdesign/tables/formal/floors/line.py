"""Distances on a line and their squares: certificates of `theories/Line.v`, for the worst input and under a prior."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.tables import checker
from mechdesign.tables.formal.floors.levels import levels_of_average
from mechdesign.tables.formal.floors.stated import StatedFloor, head, least_of
from mechdesign.tables.formal.terms import fractions_of, on_one_scale, ratio
from mechdesign.tables.table import Table
from mechdesign.words.priors import Atoms

MOST_VALUES = 100
"""Of a prior: a minute of Coq."""

_UNIT = 2**96
_BITS = 40
_STEP = "leave the design out: the table is private all the same"
_Atoms = Sequence[tuple[int, int, int]]
_Ends = tuple[Fraction, Fraction]


def exact_line(table: Table) -> StatedFloor:
    """The certificate in a table's file, which is about the worst input."""
    said = table.document["certificate"]
    atoms = [[Fraction(number) for number in atom] for atom in said["atoms"]]
    domain = table.document["domain"]
    return _worst(table, said["exponent"], (Fraction(domain["lower"]), Fraction(domain["upper"])), atoms)


def worst_on_line(table: Table, problem: Any, evidence: Any) -> StatedFloor:
    """Atoms with radii and weights, at the worst input."""
    found = evidence.atoms
    columns = zip(*map(fractions_of, (found.inputs, found.radii, found.weights)), strict=True)
    return _worst(table, _exponent(problem), _ends(problem), [list(atom) for atom in columns if atom[2] > 0])


def average_on_line(table: Table, problem: Any, evidence: Any) -> StatedFloor:
    """The values of a prior, with levels that are found here: evidence holds the bins, and they follow from it."""
    prior = problem.criterion.prior
    if not isinstance(prior, Atoms):
        raise InvalidInput("design", prior.kind, "have a prior of single values: a density has none", _STEP)
    weights: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
    for x, w in zip(fractions_of(prior.points), fractions_of(prior.weights), strict=True):
        weights[x] += w
    values = sorted(x for x, w in weights.items() if w)
    if len(values) > MOST_VALUES:
        raise InvalidInput("design", f"{len(values)} values", f"have a prior of at most {MOST_VALUES} values", _STEP)
    exponent = _exponent(problem)
    low, high = values[0], values[-1]
    length = (high - low) or Fraction(1)
    points, outputs = (
        np.array([float((x - low) / length) for x in column])
        for column in (values, fractions_of(table.document["law"]["outputs"]))
    )
    shares = np.array([float(weights[x]) for x in values])
    levels = levels_of_average(points, shares / shares.sum(), outputs, math.exp(table.epsilon), exponent)
    radii = fractions_of(levels ** (1 / exponent))
    whole_weights, _ = on_one_scale([weights[x] for x in values])
    atoms = [(x, r * length, w) for x, r, w in zip(values, radii, whole_weights, strict=True)]
    fields, least = _certificate(table.epsilon, exponent, _ends(problem), atoms)
    said = (
        f"forall m q (y : nat -> R),\n  {_given(table.epsilon, _ends(problem))} ->\n  {ratio(least)} <= "
        f"sum {len(atoms)} (fun i => l_share certificate i * sum m (fun o => q o (l_at certificate i) * "
        f"{_distance(exponent, 'l_at certificate i')}))"
    )
    return StatedFloor("line", fields, said, "line_prior", least)


def _exponent(problem: Any) -> int:
    if problem.loss.exponent not in (1.0, 2.0):
        raise InvalidInput("design", problem.loss.name, "be about the absolute or the squared error", _STEP)
    return int(problem.loss.exponent)


def _ends(problem: Any) -> _Ends:
    return Fraction(problem.inputs.lower), Fraction(problem.inputs.upper)


def _given(epsilon: Fraction, ends: _Ends) -> str:
    return f"mechanism_on {ratio(epsilon)} {ratio(ends[0])} {ratio(ends[1])} m q"


def _distance(exponent: int, x: str) -> str:
    return f"Rabs (y o - {x})" if exponent == 1 else f"(Rabs (y o - {x}) * Rabs (y o - {x}))"


def _worst(table: Table, exponent: int, ends: _Ends, atoms: list[list[Fraction]]) -> StatedFloor:
    """Weights are only multipliers here, and rounded."""
    heaviest = max(w for _, _, w in atoms)
    rounded = [(x, r, math.floor(w / heaviest * 2**_BITS)) for x, r, w in atoms]
    fields, least = _certificate(table.epsilon, exponent, ends, [atom for atom in rounded if atom[2]])
    inside = f"(forall x, {ratio(ends[0])} <= x <= {ratio(ends[1])} ->"
    worst = f"{inside} sum m (fun o => q o x * {_distance(exponent, 'x')}) <= worst)"
    given = _given(table.epsilon, ends)
    said = f"forall m q (y : nat -> R) worst,\n  {given} ->\n  {worst} ->\n  {ratio(least)} <= worst"
    return StatedFloor("line", fields, said, "line_everywhere", least)


def _certificate(
    epsilon: Fraction, exponent: int, ends: _Ends, atoms: Sequence[tuple[Fraction, Fraction, int]]
) -> tuple[dict[str, Any], Fraction]:
    """Places are as they are; radii, which are only multipliers, are rounded to 40 bits of the interval's length."""
    grid = Fraction(2) ** (_BITS - math.frexp(float(ends[1] - ends[0]))[1] + 1)
    radii = [Fraction(round(r * grid)) / grid for _, r, _ in atoms]
    numbers, scale = on_one_scale([*(x for x, _, _ in atoms), *radii])
    weights = [w for _, _, w in atoms]
    whole_atoms = list(zip(numbers[: len(atoms)], numbers[len(atoms) :], weights, strict=True))
    factor = checker.exponential(epsilon) + 1
    gap = min(0, (_least_of_squares if exponent == 2 else _least_of_distances)(whole_atoms, factor))
    level = sum(w * r**exponent for _, r, w in whole_atoms)
    least, said = least_of(Fraction(level * _UNIT + gap, sum(weights) * scale**exponent * _UNIT), "l")
    fields = {
        **head(epsilon, factor, "l"),
        "l_squared": exponent == 2,
        **dict(zip(("l_low_num", "l_low_den"), ends[0].as_integer_ratio(), strict=True)),
        **dict(zip(("l_high_num", "l_high_den"), ends[1].as_integer_ratio(), strict=True)),
        "l_atoms": [{"at_": x, "radius": r, "weight": w} for x, r, w in whole_atoms],
        "l_scale": scale,
        "l_gap": gap,
        **said,
    }
    return fields, least


def _phi(factor: int, gap: int) -> int:
    return gap * (_UNIT if gap >= 0 else factor)


def _least_of_distances(atoms: _Atoms, factor: int) -> int:
    return min(sum(w * _phi(factor, abs(at - x) - r) for x, r, w in atoms) for at, _, _ in atoms)


def _least_of_squares(atoms: _Atoms, factor: int) -> int:
    """The least of the minima of all parabolas, rounded down."""
    ends = {x + side * r for x, r, _ in atoms for side in (-1, 1)}
    least = []
    for end in (None, *ends):
        a = b = d = 0
        for x, r, w in atoms:
            reached = end is not None and x - r < end <= x + r
            times = w * (factor if reached else _UNIT)
            a, b, d = a + times, b + times * x, d + times * (x * x - r * r)
        least.append((d * a - b * b) // a)
    return min(least)
