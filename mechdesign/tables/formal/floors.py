"""What no mechanism goes below, as a certificate of `theories/Optima.v` or `theories/Workload.v` and its theorem.

Everything is computed from the multipliers again, in whole numbers: a number that Coq's check refuses is no theorem.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.exact.rational import exp_upper
from mechdesign.methods.result import Design
from mechdesign.tables.formal.terms import on_one_scale, ratio, record, row, rows, shorten, whole
from mechdesign.tables.table import Table
from mechdesign.values.declare import frozen

MOST_TYPES = 16
"""Of a workload: every corner is tried, and there are 2^16 of them."""

_RATIO, _COLUMN, _PRICE = 2**40, 36, 44
_SMALL = Fraction(1, 10**10)


@frozen
class StatedFloor:
    """A certificate as a value of Coq, the theorem that follows, and what proves it."""

    definition: str
    theorem: str
    proof: str
    least: Fraction


def stated_floor(table: Table, design: Design | None) -> StatedFloor | None:
    """What the design's evidence proves, or what the table's own certificate does; nothing where there is neither."""
    epsilon = Fraction(table.document["epsilon"])
    if design is None:
        said = table.document["certificate"]
        if said is None:
            return None
        atoms = [[Fraction(number) for number in atom] for atom in said["atoms"]]
        return _line(epsilon, said["exponent"], table.document["domain"], atoms)
    _require_of(table, design, epsilon)
    makers = {"finite": _of_matrix, "minimax": _of_line, "workload": _of_workload}
    kind = getattr(design.evidence, "kind", "")
    if kind not in makers:
        rule = f"have evidence of a kind that Coq checks: {', '.join(makers)}"
        raise InvalidInput(
            "design", kind, rule, "leave the design out: that the table is private is proven for every kind"
        )
    return makers[kind](epsilon, design)


def _require_of(table: Table, design: Design, epsilon: Fraction) -> None:
    found = design.problem.epsilon
    if Fraction(found) != epsilon:
        raise InvalidInput(
            "design", found, f"have the table's epsilon, {float(epsilon)!r}", "give the table's own design"
        )
    said = table.document.get("workload")
    queries = getattr(getattr(design.problem, "loss", None), "queries", None)
    matrix = None if queries is None else queries.matrix
    if matrix is not None and (said is None or [[float(n) for n in line] for line in said["rows"]] != matrix.tolist()):
        raise InvalidInput("design", "a workload", "ask the queries of the table", "give the table's own design")


def _above(epsilon: Fraction) -> int:
    """e^epsilon over 2^40, rounded up."""
    return math.ceil(exp_upper(float(epsilon)) * _RATIO)


def _phi(factor: int, gap: int) -> int:
    return gap * (_RATIO if gap >= 0 else factor)


def _head(epsilon: Fraction, factor: int, letter: str) -> dict[str, str]:
    numbers = {"num": epsilon.numerator, "den": epsilon.denominator, "ratio": factor}
    return {f"{letter}_{name}": whole(number) for name, number in numbers.items()}


def _least(value: Fraction, letter: str) -> tuple[Fraction, dict[str, str]]:
    least = shorten(value)
    return least, {f"{letter}_least_num": whole(least.numerator), f"{letter}_least_den": whole(least.denominator)}


def _fractions(values: Any) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


# -- losses in a matrix ------------------------------------------------------------------------------------------------


def _of_matrix(epsilon: Fraction, design: Design) -> StatedFloor:
    from mechdesign.methods.finite.supports import losses_of

    problem: Any = design.problem
    evidence: Any = design.evidence
    losses = losses_of(problem).down
    k, answers = losses.shape
    prior = problem.weights
    weights, _ = on_one_scale(_fractions(evidence.weights if prior is None else prior))
    numbers, scale = on_one_scale([*_fractions(losses.ravel()), *_fractions(evidence.levels)])
    matrix, levels = [numbers[x * answers : (x + 1) * answers] for x in range(k)], numbers[k * answers :]
    factor = _above(epsilon)
    sums = (
        sum(w * _phi(factor, r[a] - v) for w, r, v in zip(weights, matrix, levels, strict=True)) for a in range(answers)
    )
    gap = min(0, *sums)
    level = sum(w * v for w, v in zip(weights, levels, strict=True))
    least, said = _least(Fraction(level * _RATIO + gap, sum(weights) * scale * _RATIO), "f")
    fields = {
        **_head(epsilon, factor, "f"),
        "f_answers": str(answers),
        "f_losses": rows(matrix),
        "f_levels": row(levels),
        "f_scale": whole(scale),
        "f_weights": row(weights),
        "f_gap": whole(gap),
        **said,
    }
    given = f"mechanism {ratio(epsilon)} m {k} q -> (forall o, (o < m)%nat -> (answer o < {answers})%nat) ->"
    loss = "expected m q (fun o => f_loss_of certificate (answer o)) x"
    return _floor("finite", fields, "q answer", given, loss, "f_share", k, least, prior is not None)


def _floor(
    kind: str,
    fields: dict[str, str],
    names: str,
    given: str,
    loss: str,
    share: str,
    count: int,
    least: Fraction,
    is_average: bool,
) -> StatedFloor:
    """The theorem about an average, or about the worst input."""
    definition = f"Definition certificate : {kind}_certificate := {record(fields)}."
    if is_average:
        said = (
            f"forall m {names},\n  {given}\n  {ratio(least)} <= sum {count} (fun x => {share} certificate x * {loss})"
        )
    else:
        worst = f"(forall x, (x < {count})%nat -> {loss} <= worst)"
        said = f"forall m {names} worst,\n  {given}\n  {worst} ->\n  {ratio(least)} <= worst"
    return StatedFloor(definition, said, f"{kind}_{'average' if is_average else 'worst'}", least)


# -- distances on a line -----------------------------------------------------------------------------------------------


def _of_line(epsilon: Fraction, design: Design) -> StatedFloor:
    problem: Any = design.problem
    evidence: Any = design.evidence
    atoms = evidence.atoms
    if problem.loss.exponent not in (1.0, 2.0):
        rule = "be about the absolute or the squared error"
        raise InvalidInput("design", problem.loss.name, rule, "leave the design out: the table is private all the same")
    columns = zip(*map(_fractions, (atoms.inputs, atoms.radii, atoms.weights)), strict=True)
    ends = {"lower": problem.inputs.lower, "upper": problem.inputs.upper}
    return _line(epsilon, int(problem.loss.exponent), ends, [list(atom) for atom in columns if atom[2] > 0])


def _line(epsilon: Fraction, exponent: int, ends: Mapping[str, Any], atoms: list[list[Fraction]]) -> StatedFloor:
    """Places are as they are; radii and weights, which are only multipliers, are rounded to 40 bits."""
    heaviest = max(w for _, _, w in atoms)
    weights = [math.floor(w / heaviest * _RATIO) for _, _, w in atoms]
    radii = [Fraction(round(r * _RATIO), _RATIO) for _, r, _ in atoms]
    numbers, scale = on_one_scale([*(x for x, _, _ in atoms), *radii])
    whole_atoms = [a for a in zip(numbers[: len(atoms)], numbers[len(atoms) :], weights, strict=True) if a[2]]
    factor = _above(epsilon)
    gap = min(0, (_least_of_squares if exponent == 2 else _least_of_distances)(whole_atoms, factor))
    level = sum(w * r**exponent for _, r, w in whole_atoms)
    total = sum(w for _, _, w in whole_atoms)
    least, said = _least(Fraction(level * _RATIO + gap, total * scale**exponent * _RATIO), "l")
    low, high = Fraction(ends["lower"]), Fraction(ends["upper"])
    listed = ";\n  ".join(f"{{| at_ := {whole(x)}; radius := {whole(r)}; weight := {w} |}}" for x, r, w in whole_atoms)
    fields = {
        **_head(epsilon, factor, "l"),
        "l_squared": "true" if exponent == 2 else "false",
        "l_low_num": whole(low.numerator),
        "l_low_den": whole(low.denominator),
        "l_high_num": whole(high.numerator),
        "l_high_den": whole(high.denominator),
        "l_atoms": f"[{listed}]",
        "l_scale": whole(scale),
        "l_gap": whole(gap),
        **said,
    }
    distance = "Rabs (y o - x)" if exponent == 1 else "(Rabs (y o - x) * Rabs (y o - x))"
    worst = f"(forall x, {ratio(low)} <= x <= {ratio(high)} -> sum m (fun o => q o x * {distance}) <= worst)"
    given = f"mechanism_on {ratio(epsilon)} {ratio(low)} {ratio(high)} m q"
    theorem = f"forall m q (y : nat -> R) worst,\n  {given} ->\n  {worst} ->\n  {ratio(least)} <= worst"
    definition = f"Definition certificate : line_certificate := {record(fields)}."
    return StatedFloor(definition, theorem, "line_everywhere", least)


Atoms = Sequence[tuple[int, int, int]]


def _least_of_distances(atoms: Atoms, factor: int) -> int:
    return min(sum(w * _phi(factor, abs(at - x) - r) for x, r, w in atoms) for at, _, _ in atoms)


def _least_of_squares(atoms: Atoms, factor: int) -> int:
    """The least of the minima of all parabolas, rounded down."""
    ends = {x + side * r for x, r, _ in atoms for side in (-1, 1)}
    least = []
    for end in (None, *ends):
        a = b = d = 0
        for x, r, w in atoms:
            reached = end is not None and x - r < end <= x + r
            times = w * (factor if reached else _RATIO)
            a, b, d = a + times, b + times * x, d + times * (x * x - r * r)
        least.append((d * a - b * b) // a)
    return min(least)


# -- queries about shares ----------------------------------------------------------------------------------------------


def _of_workload(epsilon: Fraction, design: Design) -> StatedFloor:
    """With X and nu of the evidence, ``A = t X`` and ``t^2 nu`` for the best t, rounded, and nu widened to fit."""
    problem: Any = design.problem
    evidence: Any = design.evidence
    workload = problem.loss
    matrix = workload.queries.matrix
    queries, types = matrix.shape
    if types > MOST_TYPES:
        rule = f"have at most {MOST_TYPES} types: every corner is tried"
        raise InvalidInput("design", f"{types} types", rule, "leave the design out: the table is private all the same")
    weights = np.ones(queries) if workload.weights is None else workload.weights
    shares = evidence.weights_of_types(problem)
    share_of = shares / shares.sum()
    columns = evidence.dual if queries <= types else evidence.dual @ matrix.T
    best = float((columns * matrix.T * weights).sum() / evidence.prices.sum())
    columns, prices = columns * best, evidence.prices * best**2
    factor = _above(epsilon)
    corners = np.array(list(product((1.0, factor / _RATIO), repeat=types)))
    missing = (((corners @ columns) ** 2) @ weights - (corners @ prices) * (corners @ share_of)) / (
        corners @ share_of
    ) ** 2
    prices = prices + (max(0.0, float(missing.max())) + float(_SMALL) * float(prices.sum())) * share_of

    column_unit = 2 ** max(0, _COLUMN - math.frexp(float(abs(columns).max()))[1])
    price_unit = 2 ** max(0, _PRICE - math.frexp(float(prices.max()))[1])
    said_columns = [[round(Fraction(v) * column_unit) for v in line] for line in columns.tolist()]
    said_prices = [math.ceil(Fraction(v) * price_unit) for v in prices.tolist()]
    flat, matrix_unit = on_one_scale(_fractions(matrix.T.ravel()))
    said_matrix = [flat[x * queries : (x + 1) * queries] for x in range(types)]
    said_weights, weight_unit = on_one_scale(_fractions(weights))
    said_prior, _ = on_one_scale(_fractions(shares))

    total = sum(said_prior)
    cells = [(x, i) for x in range(types) for i in range(queries)]
    worth = sum(said_weights[i] * said_columns[x][i] * said_matrix[x][i] for x, i in cells)
    known = sum(said_prior[x] * said_weights[i] * said_matrix[x][i] ** 2 for x, i in cells)
    least, said = _least(
        Fraction(2 * worth, weight_unit * column_unit * matrix_unit)
        - Fraction(sum(said_prices), price_unit)
        - Fraction(known, total * weight_unit * matrix_unit**2),
        "w",
    )
    fields = {
        **_head(epsilon, factor, "w"),
        "w_queries": str(queries),
        "w_matrix": rows(said_matrix),
        "w_matrix_scale": whole(matrix_unit),
        "w_columns": rows(said_columns),
        "w_column_scale": whole(column_unit),
        "w_prices": row(said_prices),
        "w_price_scale": whole(price_unit),
        "w_prior": row(said_prior),
        "w_weights": row(said_weights),
        "w_weight_scale": whole(weight_unit),
        **said,
    }
    given = f"mechanism {ratio(epsilon)} m {types} q -> unbiased m {types} {queries} q V (w_answer certificate) ->"
    loss = f"noise_at m {queries} (w_weight certificate) q V (w_answer certificate) x"
    is_average = problem.weights is not None
    return _floor("workload", fields, "q V", given, loss, "w_share", types, least, is_average)
