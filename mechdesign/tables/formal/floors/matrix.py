"""Losses in a matrix: certificates of `theories/Optima.v`, and with a limit for each pair of `theories/Pairs.v`."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

from mechdesign.tables.formal.floors.stated import UNIT, StatedFloor, above, for_types, head, least_of
from mechdesign.tables.formal.terms import fractions_of, on_one_scale, ratio
from mechdesign.tables.table import Table

_ANSWERS = "(forall o, (o < m)%nat -> (answer o < {answers})%nat) ->"


def loss_matrix(table: Table, problem: Any, evidence: Any) -> StatedFloor:
    """Levels and weights of the inputs, with the least that a report can be below them."""
    from mechdesign.methods.finite.supports import losses_of

    losses = losses_of(problem).down
    k, answers = losses.shape
    prior = problem.weights
    weights, _ = on_one_scale(fractions_of(evidence.weights if prior is None else prior))
    numbers, scale = on_one_scale([*fractions_of(losses.ravel()), *fractions_of(evidence.levels)])
    matrix, levels = [numbers[x * answers : (x + 1) * answers] for x in range(k)], numbers[k * answers :]
    epsilon = table.epsilon
    factor = above(epsilon)
    sums = (
        sum(w * _phi(factor, r[a] - v) for w, r, v in zip(weights, matrix, levels, strict=True)) for a in range(answers)
    )
    gap = min(0, *sums)
    level = sum(w * v for w, v in zip(weights, levels, strict=True))
    least, said = least_of(Fraction(level * UNIT + gap, sum(weights) * scale * UNIT), "f")
    fields = {
        **head(epsilon, factor, "f"),
        "f_answers": answers,
        "f_losses": matrix,
        "f_levels": levels,
        "f_scale": scale,
        "f_weights": weights,
        "f_gap": gap,
        **said,
    }
    given = f"mechanism {ratio(epsilon)} m {k} q -> {_ANSWERS.format(answers=answers)}"
    loss = "expected m q (fun o => f_loss_of certificate (answer o)) x"
    return for_types("finite", fields, "q answer", given, loss, "f_share", k, least, prior is not None)


def _phi(factor: int, gap: int) -> int:
    return gap * (UNIT if gap >= 0 else factor)


def loss_matrix_in_pairs(table: Table, problem: Any, evidence: Any) -> StatedFloor:
    """Flows along the pairs that have a limit: what they leave of the losses of an input is its level."""
    losses, pairs = problem.table.down, table.document["law"]["pairs"]
    k, answers = losses.shape
    epsilons = [Fraction(eps) for eps in pairs["epsilons"]]
    places, ratios = pairs["of"], [above(eps) for eps in epsilons]
    prior = problem.weights
    weights, weight_scale = on_one_scale(fractions_of(evidence.weights if prior is None else prior))
    numbers, scale = on_one_scale(fractions_of(losses.ravel()))
    matrix = [numbers[x * answers : (x + 1) * answers] for x in range(k)]
    taken: defaultdict[tuple[int, int], int] = defaultdict(int)
    flows = []
    for answer, first, second, amount in zip(*(column.tolist() for column in evidence.columns), strict=True):
        y, i, j = int(answer), int(first), int(second)
        moved = int(Fraction(amount) * weight_scale * scale * UNIT)
        if moved and places[i][j] >= 0:
            flows.append({"answer_of": y, "first": i, "second": j, "amount": moved})
            taken[i, y] -= moved * UNIT
            taken[j, y] += moved * ratios[places[i][j]]
    levels = [
        min((w * loss * UNIT * UNIT - taken[x, y]) // UNIT for y, loss in enumerate(line))
        for x, (w, line) in enumerate(zip(weights, matrix, strict=True))
    ]
    least, said = least_of(Fraction(sum(levels), sum(weights) * scale * UNIT), "p")
    fields = {
        "p_epsilons": [eps.as_integer_ratio() for eps in epsilons],
        "p_places": places,
        "p_ratios": ratios,
        "p_answers": answers,
        "p_losses": matrix,
        "p_scale": scale,
        "p_weights": weights,
        "p_flows": flows,
        "p_levels": levels,
        **said,
    }
    given = f"mechanism_in_pairs epsilons places m {k} q -> {_ANSWERS.format(answers=answers)}"
    loss = "expected m q (fun o => p_loss_of certificate (answer o)) x"
    return for_types("pairs", fields, "q answer", given, loss, "p_share", k, least, prior is not None)
