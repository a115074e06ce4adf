"""Bounds for convex objectives under convex constraints: true for every private table, and exact."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.matrix import matrix_bound
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms import Discrete, catalogue as c
from mechdesign.methods.convex import ConvexBound, ConvexClaim
from mechdesign.methods.registry import CODEC
from mechdesign.methods.result import Design, Report
from mechdesign.values.codec import encoded
from mechdesign.values.declare import evolved
from mechdesign.words.classes import Onto
from mechdesign.words.criteria import Total
from mechdesign.words.domains import Finite
from mechdesign.words.objectives import Coefficients, Formula
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

PAIR = Finite((0, 1))
COSTS = 1 - np.eye(2)
TRUTH = c.randomised_response(1.0, PAIR)
ROW = [[[1.0, 0.0], [0.0, 0.0]]]
BOUND = ConvexBound([0.1, 0.2], [0.5])


def _asked(
    found: Coefficients | None,
    epsilon: float = 1.0,
    inputs: Finite = PAIR,
    outputs: Finite = PAIR,
    tolerance: float = 1e-6,
    constraints: tuple[str, ...] = (),
) -> Problem:
    loss = Formula("errors", constraints, tolerance, found)
    among = Onto(outputs.points)
    return Problem(inputs=inputs, loss=loss, privacy=Pure(epsilon), criterion=Total(), among=among)


ASKED = _asked(Coefficients(COSTS, 0.0, ROW, [0.8], (False,)))

GREATEST = _asked(Coefficients(COSTS, pieces=[COSTS, 2 * COSTS], shifts=[0.0, 0.0], maxima=(0, 0), of_maxima=(0,)))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.floats(0.1, 4.0))
def test_no_multipliers_whatever_exceed_what_a_private_table_attains(
    seed: int, inputs: int, outputs: int, count: int, epsilon: float
) -> None:
    rng = np.random.default_rng(seed)
    shape = inputs, outputs
    table = rng.dirichlet(np.ones(outputs)) * np.exp(epsilon / 4 * (2 * rng.random(shape) - 1))
    table /= table.sum(axis=1, keepdims=True)
    domains = Finite(tuple(range(inputs))), Finite(tuple(range(outputs)))
    law = Discrete(epsilon, *domains, table)
    rows, equal = rng.normal(size=(count, *shape)), tuple((rng.random(count) < 0.5).tolist())
    values = (rows * table).sum(axis=(1, 2))
    limits = np.where(equal, values, values + rng.random(count) * 0.1)
    multipliers = np.where(equal, rng.normal(size=count), rng.random(count))
    costs, levels = rng.normal(size=shape), rng.normal(size=inputs)
    asked = _asked(Coefficients(costs, 1.0, rows, limits, equal), epsilon, *domains, 1e-9)
    bound = ConvexBound(levels, multipliers)
    assert bound.bound(asked, law) <= bound.attained(asked, law)
    assert bound.attained(asked, law) == pytest.approx(1 + (costs * table).sum())


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2), st.floats(0.1, 4.0))
def test_no_weights_and_slopes_whatever_exceed_what_a_private_table_attains(
    seed: int, inputs: int, outputs: int, count: int, epsilon: float
) -> None:
    """Maxima and squares in the objective and in constraints that a random private table meets."""
    rng = np.random.default_rng(seed)
    shape = inputs, outputs
    table = rng.dirichlet(np.ones(outputs)) * np.exp(epsilon / 4 * (2 * rng.random(shape) - 1))
    table /= table.sum(axis=1, keepdims=True)
    domains = Finite(tuple(range(inputs))), Finite(tuple(range(outputs)))
    law = Discrete(epsilon, *domains, table)
    sizes = rng.integers(1, 4, 3)  # of three maxima
    maxima = tuple(np.repeat(np.arange(3), sizes).tolist())
    of_maxima = _places(rng, count, maxima)
    of_squares, of_norms = (tuple(rng.integers(0, count + 1 + len(maxima), 3).tolist()) for _ in range(2))
    norms = tuple(np.repeat(np.arange(3), rng.integers(1, 4, 3)).tolist())
    sides, ends = rng.normal(size=(len(norms), *shape)), rng.normal(size=len(norms))
    pieces, shifts = rng.normal(size=(len(maxima), *shape)), rng.normal(size=len(maxima))
    squares, centres, scales = rng.normal(size=(3, *shape)), rng.normal(size=3), rng.random(3) + 0.1
    costs, rows = rng.normal(size=shape), rng.normal(size=(count, *shape))
    values = np.array([1 + (costs * table).sum(), *(rows * table).sum(axis=(1, 2))])
    values = np.concatenate([values, (pieces * table).sum(axis=(1, 2)) + shifts])  # of all without their maxima
    for of, square, centre, scale in zip(of_squares, squares, centres, scales, strict=True):
        values[of] += scale * ((square * table).sum() + centre) ** 2
    entries = (sides * table).sum(axis=(1, 2)) + ends
    for number, of in enumerate(of_norms):
        values[of] += np.linalg.norm(entries[np.array(norms) == number])
    for number, of in reversed(list(enumerate(of_maxima))):
        values[of] += values[1 + count :][np.array(maxima) == number].max()
    values = values[: 1 + count]
    bent = pieces, shifts, maxima, of_maxima, squares, centres, scales, of_squares, sides, ends, norms, of_norms
    asked = _asked(
        Coefficients(costs, 1.0, rows, values[1:] + rng.random(count) * 0.1, (False,) * count, *bent),
        epsilon,
        *domains,
        1e-9,
    )
    slopes = (squares * table).sum(axis=(1, 2)) + centres + rng.normal(size=3) * 0.1
    ways = entries + rng.normal(size=len(norms)) * 0.1
    bound = ConvexBound(rng.normal(size=inputs), rng.random(count), rng.random(len(maxima)) + 1e-3, slopes, ways)
    assert bound.bound(asked, law) <= bound.attained(asked, law)
    assert bound.attained(asked, law) == pytest.approx(values[0])


def test_the_weights_of_a_maximum_bound_it_exactly_where_its_pieces_meet() -> None:
    """``max(q[0, 1], q[1, 0])`` over two categories is ``1 / (1 + c)`` at best, with half of the weight on either."""
    pieces = [[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]]]
    asked = _asked(Coefficients(0 * COSTS, pieces=pieces, shifts=[0.0, 0.0], maxima=(0, 0), of_maxima=(0,)))
    least = 1 / (1 + math.e)
    bound = ConvexBound([least / 2, least / 2], weights=[3.0, 3.0])
    assert bound.bound(asked, TRUTH) == pytest.approx(least, rel=1e-12)
    assert bound.attained(asked, TRUTH) == pytest.approx(least)


def test_a_slope_is_where_a_square_is_touched() -> None:
    asked = _asked(Coefficients(0 * COSTS, squares=[COSTS], centres=[0.0], scales=[1.0], of_squares=(0,)))
    least = 2 / (1 + math.e)
    touched = ConvexBound([least**2, least**2], slopes=[least]).bound(asked, TRUTH)
    assert touched == pytest.approx(least**2, rel=1e-12)
    assert ConvexBound([least**2, least**2], slopes=[0.5 * least]).bound(asked, TRUTH) < touched


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.sampled_from([0.1, 1.0, 8.0]))
def test_without_constraints_it_is_the_bound_of_a_sum_of_losses(
    seed: int, inputs: int, outputs: int, epsilon: float
) -> None:
    rng = np.random.default_rng(seed)
    domains = Finite(tuple(range(inputs))), Finite(tuple(range(outputs)))
    costs, levels = rng.random((inputs, outputs)), rng.random(inputs)
    average = matrix_bound(epsilon, costs, levels, np.zeros(inputs), np.ones(inputs))
    bound = ConvexBound(levels).value(_asked(Coefficients(costs), epsilon, *domains))
    plain = sum(min(map(Fraction, row)) for row in costs.tolist())
    assert bound == max(average * inputs, plain)


def test_directions_longer_than_1_count_as_1_and_the_steepest_one_is_the_norm_itself() -> None:
    asked = _asked(Coefficients(0 * COSTS, sides=[COSTS, ROW[0]], ends=[0.0, -1.0], norms=(0, 0), of_norms=(0,)))
    lie = float(TRUTH.probabilities[0, 1])
    least = math.hypot(2 * lie, lie)  # both rows lie with this chance: the entries are 2 lie and -lie
    # what lies cost at the touching plane, with the level of each row at which its two outputs cost alike
    ways = np.array([2 * lie, -lie]) / least
    bounds = [ConvexBound([0.3, 0.3], directions=times * ways).bound(asked, TRUTH) for times in (0.5, 1.0, 8.0)]
    assert bounds[1] == pytest.approx(bounds[2], rel=1e-12)
    assert max(bounds) <= least <= ConvexBound([0.3, 0.3], directions=ways).attained(asked, TRUTH)


def test_outputs_left_out_have_probability_zero() -> None:
    law = Discrete(1.0, PAIR, Finite((1,)), [[1.0], [1.0]])
    asked = _asked(Coefficients([[5.0, 1.0], [7.0, 2.0]], 0.5))
    assert ConvexBound(np.zeros(2)).attained(asked, law) == 3.5


def test_a_table_that_breaks_a_constraint_is_refused() -> None:
    assert BOUND.attained(ASKED, TRUTH) == pytest.approx(2 / (1 + math.e))
    truer = c.randomised_response(2.0, PAIR)
    with pytest.raises(CheckFailed, match="constraint 0"):
        BOUND.attained(evolved(ASKED, privacy=Pure(2.0)), truer)


def test_equalities_bind_from_both_sides() -> None:
    for limit in (0.7, 0.8):
        asked = _asked(Coefficients(COSTS, 0.0, ROW, [limit], (True,)))
        with pytest.raises(CheckFailed, match="constraint 0"):
            ConvexBound(np.zeros(2), [-0.5]).attained(asked, TRUTH)


OTHERS = {
    "other numbers": c.randomised_response(1.0, Finite((0, 2))),
    "another epsilon": c.randomised_response(0.5, PAIR),
    "another output": Discrete(1.0, PAIR, Finite((0, 3)), np.full((2, 2), 0.5)),
    "another kind": c.laplace(1.0),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_mechanisms_are_refused(name: str) -> None:
    for evidence, asked in ((BOUND, ASKED), (ConvexClaim(0.1, 0.2), _asked(None))):
        with pytest.raises(CheckFailed):
            evidence.attained(asked, OTHERS[name])


@pytest.mark.parametrize(
    ("bound", "asked"),
    [
        (BOUND, _asked(None)),
        (BOUND, _asked(Coefficients(COSTS))),
        (BOUND, Problem(loss=COSTS, privacy=Pure(1.0))),
        (ConvexBound([0.1], [0.5]), ASKED),
        (ConvexBound([0.1, 0.2], [-0.5]), ASKED),
        (ConvexBound([0.1, 0.2]), ASKED),
        (ConvexBound([0.1, 0.2], [0.5], [1.0]), ASKED),
        (ConvexBound([0.1, 0.2], [0.5], (), [1.0]), ASKED),
        (ConvexBound([0.1, 0.2], [0.5], (), (), [1.0]), ASKED),
        (ConvexBound([0.1, 0.2], (), [-1.0, 2.0]), GREATEST),
        (ConvexBound([0.1, 0.2], (), [0.0, 0.0]), GREATEST),
    ],
)
def test_multipliers_that_do_not_fit_the_problem_are_refused(bound: ConvexBound, asked: Any) -> None:
    with pytest.raises(CheckFailed):
        bound.bound(asked, TRUTH)


def test_a_problem_that_was_read_has_no_claimed_bound() -> None:
    """Its coefficients are known: a file may not leave out the proof and call its bounds claimed."""
    claim = ConvexClaim(0.1, 2.0)
    assert Design(_asked(None), TRUTH, claim, Report(0.0, "", {})).certificate.claimed
    with pytest.raises(CheckFailed, match="proven and not claimed"):
        Design(ASKED, TRUTH, claim, Report(0.0, "", {}))
    for method in (claim.bound, claim.attained, claim.scope):
        with pytest.raises(CheckFailed, match="proven and not claimed"):
            method(ASKED, TRUTH)


@pytest.mark.parametrize(
    "value", [ASKED, GREATEST, _asked(None), _asked(Coefficients(COSTS)), BOUND, ConvexClaim(0.1, 0.2)], ids=str
)
def test_problems_and_bounds_come_back_from_files(value: Any) -> None:
    again = CODEC.decoded(type(value), encoded(value), "value")
    assert again == value
    assert hash(again) == hash(value)


BAD: list[dict[str, Any]] = [
    {"costs": [0.0, 1.0]},
    {"costs": [[0.0, math.nan], [1.0, 0.0]]},
    {"offset": math.inf},
    {"rows": [[1.0, 0.0]]},
    {"rows": []},
    {"limits": [0.1, 0.2]},
    {"limits": [math.inf]},
    {"equal": ("yes",)},
    {"equal": ()},
    {"pieces": [COSTS], "shifts": [0.0], "maxima": (1,), "of_maxima": (0,)},
    {"pieces": [COSTS], "shifts": [], "maxima": (0,), "of_maxima": (0,)},
    {"pieces": [COSTS], "shifts": [0.0], "maxima": (0,), "of_maxima": (2,)},
    {"pieces": [COSTS], "shifts": [0.0], "maxima": (0,), "of_maxima": (1,), "equal": (True,)},
    {"squares": [COSTS], "centres": [0.0], "scales": [0.0], "of_squares": (0,)},
    {"squares": [COSTS], "centres": [0.0], "scales": [1.0], "of_squares": (2,)},
    {"pieces": [COSTS], "shifts": [0.0], "maxima": (0,), "of_maxima": (2,)},
    {"pieces": [COSTS, COSTS], "shifts": [0.0, 0.0], "maxima": (1, 0), "of_maxima": (2, 0)},
    {"sides": [COSTS], "ends": [0.0], "norms": (1,), "of_norms": (0,)},
    {"sides": [COSTS], "ends": [], "norms": (0,), "of_norms": (0,)},
    {"sides": [COSTS], "ends": [0.0], "norms": (0,), "of_norms": (2,)},
    {"sides": [COSTS], "ends": [0.0], "norms": (0,), "of_norms": (True,)},
    {"pieces": [COSTS], "shifts": [0.0], "maxima": (0,), "of_maxima": (0,)}
    | {"squares": [COSTS], "centres": [0.0], "scales": [1.0], "of_squares": (3,)},
    {"sides": [COSTS], "ends": [0.0], "norms": (0,), "of_norms": (1,), "equal": (True,)},
    {"squares": [COSTS[0]], "centres": [0.0], "scales": [1.0], "of_squares": (0,)},
]


@pytest.mark.parametrize("fields", BAD, ids=str)
def test_nonsense_coefficients_are_refused(fields: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"costs": COSTS, "offset": 0.0, "rows": ROW, "limits": [0.8], "equal": (False,)}
    with pytest.raises(InvalidInput):
        Coefficients(**(plain | fields))


def test_coefficients_are_those_of_the_table() -> None:
    with pytest.raises(InvalidInput, match="costs"):
        _asked(Coefficients(np.zeros((3, 2))))


def test_the_tolerance_is_paid_for_with_every_multiplier() -> None:
    coefficients = Coefficients(COSTS, 0.0, ROW, [0.8], (False,))
    strict, loose = (BOUND.value(_asked(coefficients, tolerance=t)) for t in (2.0**-20, 2.0**-10))
    assert strict - loose == Fraction(1, 2**11) - Fraction(1, 2**21)


# -- term by term, as the page says ------------------------------------------------------------------------------------


def _drawn(rng: np.random.Generator, *shape: int) -> Any:
    """Some of them 0: what is not there must not count."""
    return np.where(rng.random(shape) < 0.25, 0.0, rng.normal(size=shape))


def _places(rng: np.random.Generator, count: int, maxima: tuple[int, ...]) -> tuple[int, ...]:
    """What each maximum adds to: the objective, a constraint, or a piece of a maximum before it."""
    firsts = [maxima.index(number) for number in range(len(set(maxima)))]
    return tuple(int(rng.integers(0, count + 1 + first)) for first in firsts)


class _Random:
    """Any coefficients and any evidence for them."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        inputs, outputs, count = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(0, 4))
        self.shape = shape = inputs, outputs
        bends = int(rng.integers(0, 4))
        curved = int(rng.integers(0, 4))
        lengths = int(rng.integers(0, 3))
        self.maxima = tuple(np.repeat(np.arange(bends), rng.integers(1, 4, bends)).tolist())
        self.of_maxima = _places(rng, count, self.maxima)
        self.of_squares, self.of_norms = (
            tuple(rng.integers(0, count + 1 + len(self.maxima), size).tolist()) for size in (curved, lengths)
        )
        self.norms = tuple(np.repeat(np.arange(lengths), rng.integers(1, 4, lengths)).tolist())
        used = {*self.of_maxima, *self.of_squares, *self.of_norms}
        self.equal = tuple(k + 1 not in used and bool(rng.random() < 0.5) for k in range(count))
        self.costs, self.offset = _drawn(rng, *shape), float(rng.normal())
        self.rows, self.limits = _drawn(rng, count, *shape), rng.normal(size=count)
        self.pieces, self.shifts = _drawn(rng, len(self.maxima), *shape), rng.normal(size=len(self.maxima))
        self.squares, self.centres = _drawn(rng, curved, *shape), rng.normal(size=curved)
        self.scales = rng.random(curved) + 0.1
        self.multipliers = np.where(self.equal, _drawn(rng, count), abs(_drawn(rng, count)))
        self.weights = rng.random(len(self.maxima)) * (rng.random(len(self.maxima)) < 0.75)
        for number in range(bends):  # not all of a maximum are 0
            self.weights[self.maxima.index(number)] += 0.25
        self.slopes, self.levels = _drawn(rng, curved), rng.normal(size=inputs)
        table = rng.dirichlet(np.ones(outputs)) * np.exp(0.25 * (2 * rng.random(shape) - 1))
        self.table = table / table.sum(axis=1, keepdims=True)
        self.sides, self.ends = _drawn(rng, len(self.norms), *shape), rng.normal(size=len(self.norms))
        self.directions = _drawn(rng, len(self.norms)) / 16  # shorter than 1, as they stand
        self.bound = ConvexBound(self.levels, self.multipliers, self.weights, self.slopes, self.directions)

    def asked(self, tolerance: float, limits: Any = None) -> Problem:
        bent = self.pieces, self.shifts, self.maxima, self.of_maxima
        bent += self.squares, self.centres, self.scales, self.of_squares
        bent += self.sides, self.ends, self.norms, self.of_norms
        limits = self.limits if limits is None else limits
        found = Coefficients(self.costs, self.offset, self.rows, limits, self.equal, *bent)
        domains = Finite(tuple(range(self.shape[0]))), Finite(tuple(range(self.shape[1])))
        return _asked(found, 1.0, *domains, tolerance)

    def law(self) -> Discrete:
        return Discrete(1.0, Finite(tuple(range(self.shape[0]))), Finite(tuple(range(self.shape[1]))), self.table)

    def value(self, tolerance: float) -> Fraction:
        """``sum lambda_k (f_k below, less its limit) - tolerance sum |lambda_k|``, then one level an input."""
        times = [Fraction(1), *map(Fraction, self.multipliers.tolist())]
        linear = {entry: Fraction(self.costs[entry]) for entry in np.ndindex(self.shape)}
        total = Fraction(self.offset)
        for k, (row, limit) in enumerate(zip(self.rows, self.limits.tolist(), strict=True), start=1):
            total -= times[k] * Fraction(limit) + abs(times[k]) * Fraction(tolerance)
            for entry in linear:
                linear[entry] += times[k] * Fraction(row[entry])
        times += [Fraction(0)] * len(self.maxima)
        for number, of in enumerate(self.of_maxima):
            own = [i for i, maximum in enumerate(self.maxima) if maximum == number]
            whole = sum(Fraction(self.weights[i]) for i in own)
            for i in own:
                share = times[of] * Fraction(self.weights[i]) / whole
                times[1 + len(self.equal) + i] = share
                total += share * Fraction(self.shifts[i])
                for entry in linear:
                    linear[entry] += share * Fraction(self.pieces[i][entry])
        for i, of in enumerate(self.of_squares):  # scale (2 s e - s^2) for e = square . q + centre
            scale, s = times[of] * Fraction(self.scales[i]), Fraction(self.slopes[i])
            total += scale * (2 * s * Fraction(self.centres[i]) - s * s)
            for entry in linear:
                linear[entry] += scale * 2 * s * Fraction(self.squares[i][entry])
        for side, end, number, part in zip(self.sides, self.ends, self.norms, self.directions, strict=True):
            share = times[self.of_norms[number]] * Fraction(part)
            total += share * Fraction(end)
            for entry in linear:
                linear[entry] += share * Fraction(side[entry])
        ratio, levels = exp_upper(1.0), list(map(Fraction, self.levels.tolist()))
        sums = []
        for y in range(self.shape[1]):
            gaps = [linear[x, y] - level for x, level in enumerate(levels)]
            sums.append(sum(min(gap, ratio * gap) for gap in gaps))
        return max(total + sum(levels) + min(min(sums), min(sums) / ratio), self.plain())

    def plain(self) -> Fraction:
        """The objective where every row lies on its cheapest output, for each linear function on its own."""

        def least(costs: Any) -> Fraction:
            return sum((min(map(Fraction, row)) for row in costs.tolist()), Fraction(0))

        def of_maximum(number: int) -> Fraction:
            own = [i for i, maximum in enumerate(self.maxima) if maximum == number]
            return max(Fraction(self.shifts[i]) + least(self.pieces[i]) + inside(1 + len(self.equal) + i) for i in own)

        def inside(function: int) -> Fraction:
            return sum((of_maximum(number) for number, of in enumerate(self.of_maxima) if of == function), Fraction(0))

        return Fraction(self.offset) + least(self.costs) + inside(0)

    def functions(self) -> list[Fraction]:
        """The objective and all left sides at the table."""
        rows = [[Fraction(n) for n in row] for row in self.law().probabilities.tolist()]
        q = {(x, y): rows[x][y] / sum(rows[x]) for x, y in np.ndindex(self.shape)}

        def at(costs: Any) -> Fraction:
            return sum((Fraction(costs[entry]) * share for entry, share in q.items()), Fraction(0))

        count = 1 + len(self.equal)
        found = [Fraction(self.offset) + at(self.costs), *(at(row) for row in self.rows)]
        found += [at(self.pieces[i]) + Fraction(self.shifts[i]) for i in range(len(self.maxima))]
        for i, of in enumerate(self.of_squares):
            found[of] += Fraction(self.scales[i]) * (at(self.squares[i]) + Fraction(self.centres[i])) ** 2
        for number, of in enumerate(self.of_norms):
            own = [i for i, norm in enumerate(self.norms) if norm == number]
            square = sum((at(self.sides[i]) + Fraction(self.ends[i])) ** 2 for i in own)
            with localcontext(prec=80):
                found[of] += Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())
        for number, of in reversed(list(enumerate(self.of_maxima))):
            found[of] += max(found[count + i] for i, maximum in enumerate(self.maxima) if maximum == number)
        return found[:count]


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_the_bound_is_the_one_of_the_page_exactly(seed: int, tolerance: float) -> None:
    drawn = _Random(seed)
    expected = drawn.value(tolerance)
    assert drawn.bound.value(drawn.asked(tolerance)) == expected
    found = drawn.bound.bound(drawn.asked(tolerance), drawn.law())
    assert Fraction(found) <= expected < Fraction(math.nextafter(found, math.inf))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 3), st.booleans())
def test_a_table_attains_its_objective_and_keeps_constraints_up_to_the_tolerance(
    seed: int, broken: int, from_above: bool
) -> None:
    drawn, tolerance = _Random(seed), 1e-6
    objective, *found = drawn.functions()
    near = [-0.99e-6 if from_above else 0.99e-6] * len(found)
    limits = [
        float(value) + (off if is_equal else -0.99e-6)
        for value, off, is_equal in zip(found, near, drawn.equal, strict=True)
    ]
    attained = drawn.bound.attained(drawn.asked(tolerance, limits), drawn.law())
    assert Fraction(math.nextafter(attained, -math.inf)) < objective <= Fraction(attained)
    if broken < len(found):
        limits[broken] = float(found[broken]) - 1.01e-6
        with pytest.raises(CheckFailed, match=f"constraint {broken} "):
            drawn.bound.attained(drawn.asked(tolerance, limits), drawn.law())
        if drawn.equal[broken]:
            limits[broken] = float(found[broken]) + 1.01e-6
            with pytest.raises(CheckFailed, match=f"constraint {broken} "):
                drawn.bound.attained(drawn.asked(tolerance, limits), drawn.law())


def test_a_constraint_may_be_broken_by_just_the_tolerance() -> None:
    for off, equal in ((-1, False), (-1, True), (1, True)):
        limit, tolerance = [0.75 + off / 128], 1 / 128
        asked = _asked(Coefficients(COSTS, 0.0, [np.eye(2) * 0.75], limit, (equal,)), tolerance=tolerance)
        law = Discrete(1.0, PAIR, PAIR, [[0.5, 0.5], [0.5, 0.5]])
        assert ConvexBound([0.1, 0.2], [0.5]).attained(asked, law) == 1.0


def test_the_scope_says_that_constraints_are_met_where_there_are_some() -> None:
    words = [
        ConvexBound([0.1, 0.2], m).scope(a, TRUTH).words for m, a in (([0.5], ASKED), ([], _asked(Coefficients(COSTS))))
    ]
    assert words[0] == f"{words[1]} that meet the stated constraints within 1e-06"
    assert ConvexClaim(0.1, 0.2).scope(_asked(None), TRUTH).words == words[1]
    stated = _asked(None, constraints=("p >= 1/2",))
    said = ConvexClaim(0.1, 0.2).scope(stated, TRUTH).words
    assert said == f"{words[1]} that meet the stated constraints, as this one does within 1e-06"


def test_a_claim_hands_on_what_was_said() -> None:
    claim, asked = ConvexClaim(0.125, 0.25), _asked(None)
    assert (claim.bound(asked, TRUTH), claim.attained(asked, TRUTH)) == (0.125, 0.25)
    assert (ConvexClaim.claimed, ConvexBound.claimed) == (True, False)


def test_weights_and_multipliers_may_be_0() -> None:
    assert ConvexBound([0.1, 0.2], [0.0]).value(ASKED) == ConvexBound([0.1, 0.2]).value(_asked(Coefficients(COSTS)))
    assert ConvexBound([0.1, 0.2], (), [0.0, 1.0]).value(GREATEST) >= 0
