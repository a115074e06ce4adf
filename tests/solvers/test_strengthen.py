"""Implied cones change what a solver sees, never what is feasible or optimal."""

import numpy as np
import pytest
from mechdesign_solvers import BilinearProgram, LinearProgram, Product, with_implied_cones

X, Y, Z, W = range(4)


def chain(inner: float = 1.0, outer: float = 1.0, lower: float = 0.0, scale: float = 1.0) -> BilinearProgram:
    """``scale z = inner x y`` and ``w = outer z y``."""
    rows = LinearProgram.of(
        [0, 0, 0, 1], [[0, 0, scale, 0], [0, 0, 0, 1]], 0, 0, lower=[lower, 0, lower, lower], upper=2
    )
    return BilinearProgram(rows, (), ((0, Product(X, Y, -inner)), (1, Product(Y, Z, -outer))))


@pytest.mark.parametrize(("inner", "outer", "scale"), [(1.0, 1.0, 1.0), (2.0, 0.5, 1.0), (1.0, 3.0, 4.0)])
def test_every_feasible_point_satisfies_the_cone_with_equality(inner: float, outer: float, scale: float) -> None:
    strong = with_implied_cones(chain(inner, outer, scale=scale))
    cone = [term for row, term in strong.row_products if row == 2]
    assert len(cone) == 2
    for x, y in np.random.default_rng(1).random((50, 2)):
        z = inner * x * y / scale
        point = [x, y, z, outer * z * y]
        assert strong.violation_at(point) <= 1e-15
        assert sum(term.value_at(point) for term in cone) == pytest.approx(0, abs=1e-15)


def test_cone_cuts_points_which_the_envelopes_allow() -> None:
    # w = 0 with z = 1/2 lies within every McCormick envelope of both products on the box.
    strong = with_implied_cones(chain())
    cone = [term for row, term in strong.row_products if row == 2]
    assert sum(term.value_at([1.0, 0.5, 0.5, 0.0]) for term in cone) < -0.2


@pytest.mark.parametrize(
    "program",
    [chain(lower=-1.0), chain(inner=-1.0), BilinearProgram(chain().linear)],
    ids=["variables of any sign", "negative ratio", "no products"],
)
def test_no_cone_where_none_is_implied(program: BilinearProgram) -> None:
    assert with_implied_cones(program) is program


def test_row_with_more_than_a_definition_is_left_alone() -> None:
    program = chain()
    crowded = BilinearProgram(program.linear, (), (*program.row_products, (0, Product(Y, Y))))
    assert with_implied_cones(crowded) is crowded


def test_chained_product_in_the_objective_gets_a_column_of_its_own() -> None:
    rows = LinearProgram.of([1, 0, 0], [[0, 0, 1]], 0, 0, lower=0, upper=[4, 1, 2])
    program = BilinearProgram(rows, (Product(Y, Z, 3.0), Product(X, X)), ((0, Product(X, Y, -1.0)),))
    strong = with_implied_cones(program)
    assert strong.linear.columns == 4
    x, y = 0.5, 0.25
    point = [x, y, x * y, x * y * y]
    assert strong.objective_at(point) == pytest.approx(program.objective_at(point[:3]))
    assert strong.violation_at(point) <= 1e-15
