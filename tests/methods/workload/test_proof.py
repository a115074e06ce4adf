"""The bound of a workload holds whatever its multipliers are; what a mechanism attains is what its law says."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mechdesign as md
from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.bits import BitQuadratic, greatest_of_all, shift_by_squares
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms.catalogue import randomised_response
from mechdesign.mechanisms.discrete import Discrete, whole_numbers
from mechdesign.methods.workload import WorkloadBound, proof
from mechdesign.methods.workload.decoder import decoder
from mechdesign.methods.workload.proof import (
    Leaf,
    _Asked,
    _Dual,
    _in_bits,
    _missing,
    _product,
    _reliability,
    _widened,
    attained_noise,
    ratio_above,
)
from mechdesign.values.declare import evolved
from mechdesign.words.domains import Finite
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import Histogram, Prefix, Queries, Ranges
from tests.methods.problems import workload_problem
from tests.oracles.staircase_rows import least_noise, noise_of

SMALL = st.floats(-3, 3)
BEST = {"prefix": least_noise(np.tri(3), 1.0, np.full(3, 1 / 3))}


@settings(max_examples=60)
@given(st.lists(SMALL, min_size=9, max_size=9), st.lists(SMALL, min_size=3, max_size=3), st.booleans())
def test_no_multipliers_prove_more_than_the_optimum(dual: list[float], prices: list[float], by_squares: bool) -> None:
    problem = workload_problem(1.0, Prefix(3))
    multipliers = np.abs(np.array([dual, dual, dual])).reshape(3, 3, 3) if by_squares else None
    bound = WorkloadBound(np.array(dual).reshape(3, 3), prices, None, multipliers).value(problem)
    assert float(bound) <= BEST["prefix"] * (1 + 1e-6)


NOTHING = np.array([np.zeros((2, 2)), np.eye(2), np.zeros((2, 2))])


@settings(max_examples=40)
@given(st.lists(SMALL, min_size=9, max_size=9), st.lists(SMALL, min_size=3, max_size=3), st.integers(0, 3))
def test_no_tree_proves_more_than_the_optimum(dual: list[float], prices: list[float], least: int) -> None:
    problem = workload_problem(1.0, Prefix(3))
    squares = np.abs(np.array([dual[:4], dual[1:5], dual[2:6]])).reshape(3, 2, 2)
    split = [[abs(dual[8]), least, 1.0, 1.0]]
    leaves = (Leaf("?0?", squares, split), Leaf("11?"), Leaf("01?"))
    bound = WorkloadBound(np.array(dual).reshape(3, 3), prices, leaves=leaves).value(problem)
    assert float(bound) <= BEST["prefix"] * (1 + 1e-6)


@pytest.mark.parametrize(
    ("leaves", "words"),
    [
        ((Leaf("0??"),), "a branch of 1 fixed bits is missing"),
        ((Leaf("0??"), Leaf("10?")), "a branch of 2 fixed bits is missing"),
        ((Leaf("0??"), Leaf("?1?")), "part no bit"),
        ((Leaf("0??"), Leaf("0??")), "missing|part no bit"),
        ((Leaf("0?"), Leaf("1?")), "3 signs"),
        ((Leaf("0??", NOTHING), Leaf("1??", np.zeros((3, 3, 3)))), "2 x 2"),
        ((Leaf("0??", splits=[[1.0, 0.0, 1.0, 1.0]]), Leaf("1??")), "no multipliers beside"),
        ((Leaf("0??", NOTHING, [[1.0, 0.0, 1.0, 0.5]]), Leaf("1??")), "whole numbers"),
        ((Leaf("0??", -NOTHING - 1), Leaf("1??")), "at least 0"),
    ],
)
def test_trees_that_are_none_prove_nothing(leaves: tuple[Leaf, ...], words: str) -> None:
    bound = WorkloadBound(np.eye(3), [9.0, 9.0, 9.0], leaves=leaves)
    with pytest.raises(CheckFailed, match=words):
        bound.value(workload_problem(1.0, Prefix(3)))


def test_leaves_that_are_too_wide_to_be_tried_need_multipliers() -> None:
    size = 26
    leaves = (Leaf("0" + "?" * (size - 1)), Leaf("1" + "?" * (size - 1)))
    bound = WorkloadBound(np.eye(size), np.ones(size), leaves=leaves)
    with pytest.raises(CheckFailed, match="a leaf of the evidence needs multipliers"):
        bound.value(workload_problem(1.0, Prefix(size)))


def test_a_whole_and_leaves_are_not_both_there() -> None:
    both = WorkloadBound(np.eye(3), np.ones(3), multipliers=np.zeros((3, 3, 3)), leaves=(Leaf("???"),))
    with pytest.raises(CheckFailed, match="and leaves"):
        both.value(workload_problem(1.0, Prefix(3)))


def test_a_symmetric_matrix_stands_for_many_queries() -> None:
    problem = workload_problem(1.0, Ranges(3))
    best = least_noise(Ranges(3).matrix, 1.0, np.full(3, 1 / 3))
    found = md.solve(problem).evidence
    matrix = found.dual
    assert best * (1 - 1e-3) <= float(WorkloadBound(matrix, found.prices).value(problem)) <= best * (1 + 1e-6)
    with pytest.raises(CheckFailed, match="symmetric"):
        WorkloadBound(np.triu(matrix), [9.0, 9.0, 9.0]).value(problem)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (4, 4)])
def test_evidence_of_another_shape_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(CheckFailed, match="shape"):
        WorkloadBound(np.ones(shape), [1.0, 1.0, 1.0]).value(workload_problem(1.0, Prefix(3)))


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 7))
def test_what_is_attained_is_what_the_law_says(seed: int, size: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    queries = rng.integers(-4, 5, (count, size)).astype(float)
    queries[0] = np.arange(size)
    queries = queries[queries.any(axis=1)]
    channel = np.exp(rng.uniform(-1, 1, (size, size + 3)))
    channel /= channel.sum(axis=1, keepdims=True)
    table = Discrete(4.0, Finite(range(size)), Finite(range(size + 3)), channel)
    prior = rng.dirichlet(np.full(size, 5.0))
    problem = workload_problem(4.0, Queries(queries), prior=prior)
    exact = float(attained_noise(problem, table, problem.weights))  # type: ignore[arg-type]
    own = noise_of(queries, np.asarray(table.probabilities), np.asarray(problem.weights))
    assert exact == pytest.approx(float(own @ np.asarray(problem.weights)), rel=1e-6)
    worst = workload_problem(4.0, Queries(queries), criterion="worst")
    assert float(attained_noise(worst, table, prior)) == pytest.approx(own.max(), rel=1e-6)


def test_a_channel_that_does_not_tell_the_types_apart_is_refused() -> None:
    blind = Discrete(1.0, Finite((0, 1, 2)), Finite((0, 1)), [[0.5, 0.5], [0.5, 0.5], [0.6, 0.4]])
    problem = workload_problem(1.0, Histogram(3))
    with pytest.raises(CheckFailed, match="apart"):
        attained_noise(problem, blind, problem.weights)  # type: ignore[arg-type]


def test_randomised_response_has_the_noise_of_its_formula() -> None:
    size, epsilon = 5, 1.5
    law = randomised_response(epsilon, Finite(range(size)))
    problem = workload_problem(epsilon, Histogram(size))
    p = np.exp(epsilon) / (np.exp(epsilon) + size - 1)
    q = 1 / (np.exp(epsilon) + size - 1)
    formula = (p * (1 - p) + (size - 1) * q * (1 - q)) / (p - q) ** 2
    assert float(attained_noise(problem, law, problem.weights)) == pytest.approx(formula, rel=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize("leaves", [(), [], ("???",), (Leaf("???"), "???"), 3])
def test_leaves_are_leaves_and_at_least_one(leaves: Any) -> None:
    with pytest.raises(InvalidInput, match="be leaves of a tree, at least one"):
        WorkloadBound(np.eye(3), np.ones(3), leaves=leaves)


# -- term by term, as the page says ------------------------------------------------------------------------------------


def _asked(
    queries: Any = None, weights: Any = None, prior: Any = None, criterion: str = "average", epsilon: float = 1.0
) -> Problem:
    workload = Prefix(3) if queries is None else Queries(np.array(queries, dtype=float))
    return workload_problem(epsilon, workload, weights=weights, prior=prior, criterion=criterion)


def _exact(numbers: Any) -> list[Any]:
    return [_exact(row) if isinstance(row, list) else Fraction(row) for row in np.asarray(numbers, float).tolist()]


class _Page:
    """The bound as the head of `mechdesign.methods.workload.proof` states it; c is given."""

    def __init__(self, evidence: WorkloadBound, problem: Problem, ratio: Fraction) -> None:
        self.w = _exact(problem.loss.queries.matrix)
        self.size = len(self.w[0])
        self.shares = [Fraction(1)] * len(self.w) if problem.loss.weights is None else _exact(problem.loss.weights)
        self.said = evidence.prior if problem.weights is None else problem.weights
        self.p = [n / sum(_exact(self.said)) for n in _exact(self.said)]
        self.nu, self.ratio = _exact(evidence.prices), ratio
        x = _exact(evidence.dual)
        if len(self.w) > self.size:  # X = Y W'
            x = [[sum(y * w for y, w in zip(row, query, strict=True)) for query in self.w] for row in x]
        self.x = x

    def trace(self) -> Fraction:
        return sum(
            (
                s * w[i] * self.x[i][q]
                for q, (s, w) in enumerate(zip(self.shares, self.w, strict=True))
                for i in self.types
            ),
            Fraction(0),
        )

    @property
    def types(self) -> range:
        return range(self.size)

    def known(self) -> Fraction:
        return sum(
            (self.p[i] * s * w[i] ** 2 for s, w in zip(self.shares, self.w, strict=True) for i in self.types),
            Fraction(0),
        )

    def at(self, bits: Any) -> tuple[Fraction, Fraction]:
        """``z'Bz - (nu.z)(p.z)`` and p.z for a row z in {1, c}."""
        z = [self.ratio if bit else Fraction(1) for bit in bits]
        squares = [sum(self.x[i][q] * z[i] for i in self.types) ** 2 * s for q, s in enumerate(self.shares)]
        weighed = sum(p * n for p, n in zip(self.p, z, strict=True))
        return sum(squares) - sum(n * m for n, m in zip(self.nu, z, strict=True)) * weighed, weighed

    def rows(self) -> Any:
        return itertools.product((0, 1), repeat=self.size)

    def most_bits(self) -> Fraction:
        return max((1 + sum(bits)) / self.at(bits)[1] ** 2 for bits in self.rows())

    def quadratic(self) -> BitQuadratic:
        """What stands at the bits, read off at rows with at most two of them."""

        def value(*places: int) -> Fraction:
            return self.at([i in places for i in self.types])[0]

        constant, linear = value(), [value(i) - value() for i in self.types]
        pairs = [[value(i, j) - value(i) - value(j) + value() if i < j else 0 for j in self.types] for i in self.types]
        unit = Fraction(1, sum(_exact(self.said)).numerator << 200)  # that of the weights of types, finely

        def whole(numbers: Any) -> Any:
            return np.array([[int(n / unit) for n in row] for row in numbers], dtype=object)

        return BitQuadratic(int(constant / unit), whole([linear])[0], whole(pairs), unit)

    def value(self, wanting: Fraction) -> Fraction:
        total = sum(self.nu) + wanting
        return self.trace() ** 2 / total - self.known() if total > 0 and self.trace() > 0 else Fraction(0)


def _drawn(rng: np.random.Generator, *shape: int) -> Any:
    """Numbers of a few bits, which leave nothing to be rounded."""
    return rng.integers(-16, 17, shape) / 8


CASES = {
    "fewer queries": ([[1.0, 0.5, -0.25], [0.0, 2.0, 1.0]], "average"),
    "as many": ([[1.0, 0.0, -2.0], [0.0, 2.0, 1.0], [1.0, 1.0, 0.125]], "worst"),
    "more queries": ([[1.0, 0.0, -2.0], [0.0, 2.0, 1.0], [1.0, 1.0, 1.0], [0.5, 0.0, 0.0]], "average"),
    "more, worst": ([[1.0, 0.0, -2.0], [0.0, 2.0, 1.0], [1.0, 1.0, 1.0], [0.5, 0.0, 0.0]], "worst"),
}


def _case(name: str, seed: int, **more: Any) -> tuple[WorkloadBound, Problem, _Page]:
    queries, criterion = CASES[name]
    rng = np.random.default_rng(seed)
    prior = np.array([4, 1, 3]) / 8
    problem = _asked(
        queries, [0.25, 2.0, 1.5, 3.0][: len(queries)], prior if criterion == "average" else None, criterion
    )
    scale = 2.0 ** -int(rng.integers(0, 7))
    dual = _drawn(rng, 3, min(3, len(queries))) * scale
    if len(queries) > 3:
        dual = dual + dual.T
    prices = (_drawn(rng, 3) * 16 + 24 * rng.integers(0, 3)) * scale**2
    own = None if criterion == "average" else rng.integers(1, 9, 3) / 4
    bound = WorkloadBound(dual, prices, own, **more)
    return bound, problem, _Page(bound, problem, Fraction(5, 2))


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """c of two bits: sums over bits fit their words, and nothing is rounded."""
    monkeypatch.setattr(proof, "ratio_above", lambda _: Fraction(5, 2))


@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize("name", CASES)
def test_where_every_row_is_tried_the_bound_is_that_of_the_page(name: str) -> None:
    clipped = 0
    for seed in range(40):
        bound, problem, page = _case(name, seed)
        wanting = max(Fraction(0), max(page.at(bits)[0] for bits in page.rows()))
        assert bound.value(problem) == page.value(wanting)
        clipped += bound.value(problem) == 0
    assert 0 < clipped < 40


@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("split", [False, True])
def test_with_squares_the_bound_is_that_of_the_page(name: str, split: bool) -> None:
    for seed in range(10):
        squares = abs(_drawn(np.random.default_rng(seed + 100), 3, 3, 3)) * 2.0 ** -(3 * seed)
        splits = np.array([[0.5, 1.0, 1.0, 1.0, 0.0]]) if split else None
        bound, problem, page = _case(name, seed, multipliers=squares, splits=splits)
        shift = max(Fraction(0), shift_by_squares(page.quadratic(), squares, splits))
        assert bound.value(problem) == page.value(shift * page.most_bits())


@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize("name", CASES)
def test_with_leaves_the_bound_is_that_of_the_page(name: str) -> None:
    for seed in range(10):
        squares = abs(_drawn(np.random.default_rng(seed + 100), 3, 2, 2)) * 2.0 ** -(3 * seed)
        leaves = (Leaf("?0?", squares), Leaf("11?"), Leaf("01?"))
        bound, problem, page = _case(name, seed, leaves=leaves)
        own = page.quadratic()
        shifts = [
            shift_by_squares(own.fixed({1: 0}), squares),
            *(greatest_of_all(own.fixed({0: a, 1: 1})) for a in (0, 1)),
        ]
        assert bound.value(problem) == page.value(max(Fraction(0), *shifts) * page.most_bits())


@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize("name", CASES)
def test_prices_that_are_enough_need_nothing_more(name: str) -> None:
    """Where no row asks for more than it has, whole or by leaves, the bound is that of the prices alone."""
    for scale in (1.0, 2.0**-12):
        _, problem, _ = _case(name, 5)
        own = None if problem.weights is not None else np.ones(3)
        enough = WorkloadBound(
            np.eye(3, min(3, len(problem.loss.queries.matrix))) * scale, np.full(3, 90 * scale**2), own
        )
        page = _Page(enough, problem, Fraction(5, 2))
        assert max(page.at(bits)[0] for bits in page.rows()) < 0
        tried = (Leaf("0??"), Leaf("11?"), Leaf("10?"))
        squares = np.array([np.zeros((3, 3)), 90 * scale**2 * np.eye(3), np.zeros((3, 3))])
        by_squares = shift_by_squares(page.quadratic(), squares)
        assert enough.value(problem) == page.value(Fraction(0)) != 0
        assert evolved(enough, leaves=tried).value(problem) == page.value(Fraction(0))
        assert evolved(enough, multipliers=squares).value(problem) == page.value(max(by_squares, 0) * page.most_bits())


@pytest.mark.usefixtures("_short")
def test_where_types_are_alike_the_bound_is_that_of_the_page() -> None:
    """With 26 of them every row could not be tried; a pair of them can."""
    for size in (2, 26):
        problem = workload_problem(1.0, Histogram(size), criterion="worst")
        for off, price in ((-0.125, 2.0), (0.5, 9.0), (-0.5, 0.5)):
            dual = np.full((size, size), off) + (1 - off) * np.eye(size)
            bound = WorkloadBound(dual, np.full(size, price), np.ones(size))
            page = _Page(bound, problem, Fraction(5, 2))
            wanting = max(page.at([i < m for i in range(size)])[0] for m in range(size + 1))
            assert bound.value(problem) == page.value(max(Fraction(0), wanting))


@pytest.mark.parametrize("criterion", ["average", "worst"])
def test_one_query_is_bounded_over_all_rows_up_to_their_roots(criterion: str) -> None:
    ratio, clipped, tight = ratio_above(1.0), 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        own = None if criterion == "average" else rng.integers(1, 9, 3) / 4
        problem = _asked([[1.0, -0.5, 0.25]], [1.5], np.array([4, 1, 3]) / 8 if own is None else None, criterion)
        scale = 2.0 ** int(rng.integers(-3, 4))
        prices = (_drawn(rng, 3) + rng.integers(0, 3)) * scale**2 * (1 if seed % 4 else 2.0**-140)
        bound = WorkloadBound(_drawn(rng, 3, 1) * scale, prices, own)
        page = _Page(bound, problem, ratio)
        wanting = max(Fraction(0), *(value / weighed for value, weighed in map(page.at, page.rows())))
        value, expected = bound.value(problem), page.value(wanting)
        assert value <= expected
        assert value == pytest.approx(expected, rel=1e-20, abs=1e-20)
        clipped += value == 0
        tight += wanting == 0 and value == expected != 0
    assert 0 < clipped < 60
    assert tight > 0


def test_c_is_short_and_above() -> None:
    for epsilon in (0.01, 0.7, 1.0, 8.0):
        ratio = ratio_above(epsilon)
        assert (ratio * 2**40).denominator == 1
        assert exp_upper(epsilon) <= ratio < exp_upper(epsilon) + Fraction(1, 2**40)


@pytest.mark.parametrize("name", CASES)
def test_in_bits_nothing_is_rounded(name: str) -> None:
    """With c as long as it is: at every row the value of the page."""
    bound, problem, _ = _case(name, 7)
    page = _Page(bound, problem, ratio_above(1.0))
    asked = _Asked.of(problem, bound.weights_of_types(problem))
    found = _in_bits(_Dual.of(asked, bound.dual), asked, *whole_numbers(bound.prices), page.ratio)
    for bits in page.rows():
        b = np.array(bits, dtype=object)
        assert (found.constant + found.linear @ b + b @ found.pairs @ b) * found.unit == page.at(bits)[0]


def test_products_of_long_whole_numbers_are_exact() -> None:
    odd = np.array([[3, 3]], dtype=object), np.array([[2**51], [2**51 - 1]], dtype=object)
    assert _product(*odd).tolist() == [[3 * (2**52 - 1)]]
    for entry in (2**26, 2**26 + 1, 2**27 - 1, 2**30 + 1):
        left, right = (np.array(rows, dtype=object) for rows in ([[entry, 1 - entry]], [[entry + 1], [3 - entry]]))
        assert _product(left, right).tolist() == [[entry * (entry + 1) + (1 - entry) * (3 - entry)]]
        assert all(isinstance(n, int) for n in _product(left, right).ravel())


# -- what a mechanism attains, with a guess that is far off ------------------------------------------------------------


def _channel(rng: np.random.Generator, size: int, outputs: int) -> Discrete:
    rows = np.exp(rng.uniform(-1.5, 1.5, (size, outputs)))
    rows[:, 0] += 0.3 * rows.sum(axis=1)
    return Discrete(6.0, Finite(range(size)), Finite(range(outputs)), rows / rows.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("size", [1e-9, 1e-2, 0.05])
@pytest.mark.parametrize("name", CASES)
def test_a_wrong_guess_is_made_unbiased_and_paid_for(monkeypatch: pytest.MonkeyPatch, name: str, size: float) -> None:
    """The estimator ``V0 + L0 (Q L0)^-1 (W' - Q V0)`` in Fractions has no more noise than is said, and the size of its
    correction is that of the page: ``|W' - Q V0| |(Q L0)^-1|``."""
    queries, criterion = CASES[name]
    for seed in range(6):
        rng = np.random.default_rng(seed)
        shares = np.array([0.25, 2.0, 1.5, 3.0])[: len(queries)]
        problem = _asked(queries, shares, np.array([4, 1, 3]) / 8 if criterion == "average" else None, criterion, 6.0)
        prior = np.array([4, 1, 3]) / (8 if criterion == "average" else 2)
        table = _channel(rng, 3, 5)
        law = np.asarray(table.probabilities)
        guess = decoder(law, prior / prior.sum()) * (1 + size * rng.uniform(-1, 1, (5, 3)))
        monkeypatch.setattr(proof, "decoder", lambda *_, guess=guess: guess)
        found = attained_noise(problem, table, prior)

        q = [[n / sum(row) for n in row] for row in _exact(law)]
        w, l0 = _exact(problem.loss.queries.matrix), _exact(guess)
        if len(w) <= 3:
            v0 = guess @ problem.loss.queries.matrix.T
            v0 = _exact(v0 + guess @ (problem.loss.queries.matrix.T - law @ v0))
        else:
            v0 = _times(l0, _turned(w))
        missing = _less(_turned(w), _times(q, v0))
        inverse = _inverse(_times(q, l0))
        v = _plus(v0, _times(l0, _times(inverse, missing)))
        assert _times(q, v) == _turned(w)
        least = _noise_by_hand(q, v, w, shares, prior, criterion)
        assert found >= least

        roots = np.sqrt(shares)
        if len(w) <= 3:
            off = np.linalg.norm(np.array(missing, dtype=float) * roots)
        else:
            off = np.linalg.norm(np.array(_times(q, l0), dtype=float) - np.eye(3)) * np.linalg.norm(w * roots[:, None])
        identity_off = float(np.linalg.norm(np.array(_times(q, l0), dtype=float) - np.eye(3)))
        correction = off / (1 - identity_off)
        moments = [
            float(
                sum(
                    n * sum(s * Fraction(h) for s, h in zip(_squared(row), shares.tolist(), strict=True))
                    for n, row in zip(of, v0, strict=True)
                )
            )
            for of in q
        ]
        spread = law @ (guess**2).sum(axis=1)
        own = shares @ problem.loss.queries.matrix**2
        p = prior / prior.sum()
        if criterion == "worst":
            said = max((np.sqrt(moments) + correction * np.sqrt(spread)) ** 2 - own)
        else:
            said = (math.sqrt(p @ moments) + correction * math.sqrt(spread.max())) ** 2 - p @ own
        assert float(found) == pytest.approx(said, rel=1e-5)


@pytest.mark.parametrize("name", ["fewer queries", "more queries"])
def test_of_rows_that_miss_their_sum_the_law_that_is_drawn_counts(name: str) -> None:
    """Rows may be off by a billionth; each is divided by its sum, and nothing is lost by that: up to a 10^11th it is
    the least noise of all unbiased estimators, ``D^-1 Q' (Q D^-1 Q')^-1`` in Fractions."""
    queries, shares, p = CASES[name][0], np.array([0.25, 2.0, 1.5, 3.0]), [Fraction(n, 8) for n in (4, 1, 3)]
    problem = _asked(queries, shares[: len(queries)], np.array([4, 1, 3]) / 8, epsilon=6.0)
    for seed in range(4):
        whole = np.asarray(_channel(np.random.default_rng(seed), 3, 5).probabilities)
        rows = whole * (1 + 0.9e-9 * np.array([[1.0], [-1.0], [0.5]]))
        table = Discrete(6.0, Finite(range(3)), Finite(range(5)), rows)
        q = [[n / sum(row) for n in row] for row in _exact(rows)]
        chances = [sum(w * n for w, n in zip(p, column, strict=True)) for column in _turned(q)]
        scaled = [[n / c for n in column] for column, c in zip(_turned(q), chances, strict=True)]
        v = _times(_times(scaled, _inverse(_times(q, scaled))), _turned(_exact(queries)))
        least = _noise_by_hand(q, v, _exact(queries), shares[: len(queries)], [4.0, 1.0, 3.0], "average")
        assert least <= attained_noise(problem, table, np.array([4, 1, 3]) / 8) <= least * (1 + Fraction(1, 10**11))


def _times(left: Any, right: Any) -> Any:
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*right, strict=True)] for row in left
    ]


def _turned(rows: Any) -> Any:
    return [list(column) for column in zip(*rows, strict=True)]


def _plus(left: Any, right: Any, sign: int = 1) -> Any:
    return [[a + sign * b for a, b in zip(*rows, strict=True)] for rows in zip(left, right, strict=True)]


def _less(left: Any, right: Any) -> Any:
    return _plus(left, right, -1)


def _squared(row: Any) -> Any:
    return [n * n for n in row]


def _inverse(rows: Any) -> Any:
    """By Gauss and Jordan."""
    size = len(rows)
    both = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(rows)]
    for i in range(size):
        both[i] = [n / both[i][i] for n in both[i]]
        for j in set(range(size)) - {i}:
            both[j] = [a - both[j][i] * b for a, b in zip(both[j], both[i], strict=True)]
    return [row[size:] for row in both]


def _noise_by_hand(q: Any, v: Any, w: Any, shares: Any, prior: Any, criterion: str) -> Fraction:
    own = [
        sum(
            n * sum(Fraction(s) * a * a for s, a in zip(shares.tolist(), row, strict=True))
            for n, row in zip(of, v, strict=True)
        )
        - sum(Fraction(s) * query[x] ** 2 for s, query in zip(shares.tolist(), w, strict=True))
        for x, of in enumerate(q)
    ]
    if criterion == "worst":
        return max(own)
    return sum(p * n for p, n in zip(_exact(prior), own, strict=True)) / sum(_exact(prior))


def test_what_is_said_to_be_missing_is_more_than_what_is() -> None:
    rng = np.random.default_rng(3)
    for size in (1e-18, 1e-9, 1.0):
        channel, estimator = rng.random((3, 5)), rng.normal(size=(5, 2))
        wanted, roots = channel @ estimator + size * rng.normal(size=(3, 2)), np.array([0.5, 2.0])
        exact = _less(_times(_exact(channel), _exact(estimator)), _exact(wanted))
        norm = math.sqrt(
            sum(n * n * Fraction(r) ** 2 for row in exact for n, r in zip(row, roots.tolist(), strict=True))
        )
        found = _missing(channel, estimator, wanted, roots)
        rounding = 36 * 2.0**-53 * float(np.linalg.norm((channel @ abs(estimator) + abs(wanted)) * roots))
        assert norm * (1 + 1e-7) < found
        seen = float(np.linalg.norm((channel @ estimator - wanted) * roots))
        assert rounding <= found <= (seen + rounding) * (1 + 1e-5)


def test_a_guess_is_trusted_up_to_a_half() -> None:
    """Where ``|Q L0 - 1| < 1/2`` the inverse has a norm of at most ``1 / (1 - that)``, over the least sum of a row."""
    for off in (0.0, 0.25, 0.3):
        guess = np.eye(2) * (1 + off)
        found = _reliability(np.eye(2), guess, np.ones(2))
        assert found == pytest.approx(1 / (1 - off * math.sqrt(2)), rel=1e-5)
        assert found > 1 / (1 - off * math.sqrt(2))
    with pytest.raises(CheckFailed, match="apart"):
        _reliability(np.eye(2), np.eye(2) * 1.36, np.ones(2))
    assert _reliability(np.eye(2) * 0.5, np.eye(2), np.full(2, 0.5)) == pytest.approx(2, rel=1e-5)
    uneven = _reliability(np.diag([0.5, 1.0]), np.eye(2) * 1.1, np.array([0.5, 1.0]))
    assert uneven == pytest.approx(2 / (1 - 2 * math.hypot(0.05, 0.1)), rel=1e-5)


def test_what_a_correction_moves_is_added_outwards() -> None:
    exact = (2 + Fraction(1, 4) * 3) ** 2
    found = _widened(Fraction(4), 9.0, 0.25)
    assert exact < found < exact * (1 + Fraction(1, 10**8))
    assert _widened(Fraction(4), 9.0, 0.0) == 4


def test_both_ends_are_rounded_outwards() -> None:
    design = md.solve(workload_problem(1.0, Prefix(3)))
    problem, table = design.problem, design.mechanism
    assert 0 < Fraction(design.evidence.bound(problem, table)) < design.evidence.value(problem)
    assert Fraction(design.evidence.attained(problem, table)) > attained_noise(problem, table, problem.weights)
    none = WorkloadBound(np.eye(3), np.full(3, 1e6))
    assert none.value(problem) < 0
    assert none.bound(problem, table) == 0.0


def test_a_prior_is_said_once() -> None:
    average, worst = _asked(), _asked(criterion="worst")
    for prior, problem, words in (
        ([1.0, 1.0, 1.0], average, "and so has the problem"),
        (None, worst, "needs a prior"),
        ([1.0, -0.5, 1.0], worst, "at least 0, with a positive sum"),
        ([0.0, 0.0, 0.0], worst, "at least 0, with a positive sum"),
        ([1.0, 1.0], worst, "2 prior"),
    ):
        with pytest.raises(CheckFailed, match=words):
            WorkloadBound(np.eye(3), [9.0, 9.0, 9.0], prior).value(problem)
    assert WorkloadBound(np.eye(3), [9.0, 9.0, 9.0], [1.0, 0.0, 0.0]).value(worst) is not None
    with pytest.raises(CheckFailed, match="2 prices"):
        WorkloadBound(np.eye(3), [9.0, 9.0]).value(average)


def test_beyond_what_can_be_tried_multipliers_are_needed() -> None:
    size = 25
    for bound, words in (
        (WorkloadBound(np.eye(size), np.arange(size) + 1.0), "more than 24 types the evidence needs"),
        (WorkloadBound(np.eye(3), np.ones(3), splits=[[1.0, 0.0, 1.0, 1.0, 1.0]]), "no multipliers beside"),
        (WorkloadBound(np.eye(3), np.ones(3), splits=[[1.0, 0, 1, 1, 1]], leaves=(Leaf("???"),)), "and leaves"),
    ):
        with pytest.raises(CheckFailed, match=words):
            bound.value(workload_problem(1.0, Prefix(len(bound.prices))))


def test_the_bound_is_about_unbiased_linear_estimators() -> None:
    bound = WorkloadBound(np.eye(3), np.ones(3))
    assert "unbiased" in bound.scope(_asked(), None).words
    for method in (bound.bound, bound.attained, bound.scope):
        with pytest.raises(CheckFailed, match="about the noise of a workload"):
            method(Finite((0, 1, 2)), None)


def test_a_little_noise_is_attained_as_it_is() -> None:
    problem, table = _asked(np.eye(3), epsilon=6.0), randomised_response(6.0, Finite(range(3)))
    exact = attained_noise(problem, table, problem.weights)  # type: ignore[arg-type]
    found = WorkloadBound(np.eye(3), np.ones(3)).attained(problem, table)
    assert Fraction(math.nextafter(found, 0.0)) < exact <= Fraction(found) < 1


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("dual", [1.0, 2.0]),
        ("dual", [[0.0, math.nan]]),
        ("dual", [[math.inf, 0.0]]),
        ("multipliers", [[1.0]]),
        ("splits", [1.0]),
        ("prices", [[1.0]]),
        ("prior", [math.inf]),
    ],
)
def test_bad_fields_are_refused_by_name(name: str, numbers: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        WorkloadBound(**({"dual": np.eye(1), "prices": [1.0]} | {name: numbers}))
    assert refused.value.field.startswith(name)


@pytest.mark.parametrize("sign", [0, None, ["0"]])
def test_a_leaf_is_written_in_signs(sign: Any) -> None:
    with pytest.raises(InvalidInput, match="a sign 0, 1 or"):
        Leaf(sign)
