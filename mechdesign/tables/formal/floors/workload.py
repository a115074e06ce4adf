"""Queries about shares, answered without bias: certificates of `theories/Workload.v`."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.tables.formal.floors.stated import UNIT, StatedFloor, above, for_types, head, least_of
from mechdesign.tables.formal.terms import fractions_of, on_one_scale, ratio
from mechdesign.tables.table import Table

MOST_TYPES = 16
"""Of a workload: every corner is tried, and there are 2^16 of them."""

_COLUMN, _PRICE = 36, 44
_SMALL = Fraction(1, 10**10)


def workload_floor(table: Table, problem: Any, evidence: Any) -> StatedFloor:
    """With X and nu of the evidence, ``A = t X`` and ``t^2 nu`` for the best t, rounded, and nu widened to fit."""
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
    epsilon = table.epsilon
    factor = above(epsilon)
    corners = np.array(list(product((1.0, factor / UNIT), repeat=types)))
    missing = (((corners @ columns) ** 2) @ weights - (corners @ prices) * (corners @ share_of)) / (
        corners @ share_of
    ) ** 2
    prices = prices + (max(0.0, float(missing.max())) + float(_SMALL) * float(prices.sum())) * share_of

    column_unit = 2 ** max(0, _COLUMN - math.frexp(float(abs(columns).max()))[1])
    price_unit = 2 ** max(0, _PRICE - math.frexp(float(prices.max()))[1])
    said_columns = [[round(Fraction(v) * column_unit) for v in line] for line in columns.tolist()]
    said_prices = [math.ceil(Fraction(v) * price_unit) for v in prices.tolist()]
    flat, matrix_unit = on_one_scale(fractions_of(matrix.T.ravel()))
    said_matrix = [flat[x * queries : (x + 1) * queries] for x in range(types)]
    said_weights, weight_unit = on_one_scale(fractions_of(weights))
    said_prior, _ = on_one_scale(fractions_of(shares))

    total = sum(said_prior)
    cells = [(x, i) for x in range(types) for i in range(queries)]
    worth = sum(said_weights[i] * said_columns[x][i] * said_matrix[x][i] for x, i in cells)
    known = sum(said_prior[x] * said_weights[i] * said_matrix[x][i] ** 2 for x, i in cells)
    least, said = least_of(
        Fraction(2 * worth, weight_unit * column_unit * matrix_unit)
        - Fraction(sum(said_prices), price_unit)
        - Fraction(known, total * weight_unit * matrix_unit**2),
        "w",
    )
    fields = {
        **head(epsilon, factor, "w"),
        "w_queries": queries,
        "w_matrix": said_matrix,
        "w_matrix_scale": matrix_unit,
        "w_columns": said_columns,
        "w_column_scale": column_unit,
        "w_prices": said_prices,
        "w_price_scale": price_unit,
        "w_prior": said_prior,
        "w_weights": said_weights,
        "w_weight_scale": weight_unit,
        **said,
    }
    given = f"mechanism {ratio(epsilon)} m {types} q -> unbiased m {types} {queries} q V (w_answer certificate) ->"
    loss = f"noise_at m {queries} (w_weight certificate) q V (w_answer certificate) x"
    is_average = problem.weights is not None
    return for_types("workload", fields, "q V", given, loss, "w_share", types, least, is_average)
