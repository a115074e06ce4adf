"""Designs for several numbers of each person: sign patterns, a place on a grid, or the optimum for one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from mechdesign.errors import FileProblem
from mechdesign.exact.rational import float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.cube.proof import CubeBound, means_on_grid
from mechdesign.methods.grid_prior import grid_weights
from mechdesign.methods.registry import solve
from mechdesign.methods.sign_patterns.response import PatternResponse
from mechdesign.methods.workload.estimator import answers_by_report
from mechdesign.methods.workload.supports import workload_of
from mechdesign.panels import integrate_between
from mechdesign.studies.frequencies.grid_reports import GridCollection
from mechdesign.studies.frequencies.number_reports import NumberCollection
from mechdesign.studies.frequencies.sign_reports import SignCollection
from mechdesign.tables.kinds.unbiased import UnbiasedLaw
from mechdesign.tables.making import make_table
from mechdesign.values.declare import Floats
from mechdesign.values.fingerprint import digest
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.domains import Interval, Product
from mechdesign.words.losses import Squared
from mechdesign.words.priors import Atoms, parse_prior
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from mechdesign.methods.result import Design

SIGNS = "sign patterns"
GRID = "response on a grid"
NUMBERS = "optimum for one number"

_SAME_OPTIONS = "give the options that --send had: eps, columns, weights, guess and by choose the design"
_SYMMETRIC = Interval(-1.0, 1.0)
_GAP = 1e-3  # of the optimum for one number
_SIZE = 33  # of the grid that a guess is rounded to


class VectorDesign(NamedTuple):
    """A design and how it collects; the errors of one person, in the units in which they are added up."""

    name: str
    design: Design
    collection: SignCollection | NumberCollection | GridCollection
    worst: float
    expected: float

    @property
    def drawn(self) -> int:
        """How many numbers each person is asked for."""
        own = self.collection
        return own.response.drawn if isinstance(own, SignCollection) else own.drawn

    @property
    def reach(self) -> int:
        """In how many signs a pattern may differ from one's own and still be favoured."""
        return self.collection.response.reach if isinstance(self.collection, SignCollection) else 0

    @property
    def is_of_all_numbers(self) -> bool:
        """Whether the design's own problem is about all numbers together; else it is about one of them."""
        return not isinstance(self.collection, NumberCollection)

    def headings(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The columns of a file of reports: one a number, or one for all, which says whose reports they are: a search
        on another machine may find a design with as little variance whose reports mean something else."""
        own = self.collection
        return (f"report {digest(own.channel.probabilities)[:8]}",) if isinstance(own, GridCollection) else names

    def require_reports(self, rows: Floats, path: str) -> None:
        """`FileProblem` where no person can have sent a row: each has what a table of the design reports."""
        if isinstance(self.collection, GridCollection):
            wrong = ~np.isin(rows, self.collection.channel.outputs.points).all(axis=1)
            rule = f"be the number of one of the {len(self.collection.channel.outputs)} reports of this design"
        else:
            law = None if self.is_of_all_numbers else cast(UnbiasedLaw, make_table(self.design).law)
            possible = (-1.0, 1.0) if law is None else law.outputs
            asked = (rows != 0).sum(axis=1)
            # a report of a number may be 0
            missed = asked > self.drawn if 0.0 in possible else asked != self.drawn
            wrong = missed | ~np.isin(rows, [0.0, *possible]).all(axis=1)
            said = "1 or -1" if law is None else f"one of the {len(possible)} reports of this design"
            rule = f"hold {said} for {self.drawn} numbers of each person, and 0 for the others"
        if wrong.any():
            where = f"{path}, data row {int(wrong.argmax()) + 1}"
            raise FileProblem("reports", where, f"{rule}, as --send writes them", _SAME_OPTIONS)


class Guesses:
    """What values may be like: the law of each number, and means under it in units of half its range."""

    def __init__(self, laws: Sequence[str], sides: Sequence[Interval]) -> None:
        self.numbers = tuple(zip(laws, sides, strict=True))
        self._densities = {number: parse_prior(*number) for number in set(self.numbers)}

    def means(self, function: Any, kinks: Sequence[float] = ()) -> list[float]:
        """Of a function of ``x`` in [-1, 1], for each number.

        >>> [round(one, 6) for one in Guesses(["uniform"], [Interval(0, 10)]).means(np.square)]
        [0.333333]
        """
        found = {number: self._mean(number, function, kinks) for number in self._densities}
        return [found[number] for number in self.numbers]

    def _mean(self, number: tuple[str, Interval], function: Any, kinks: Sequence[float]) -> float:
        density, (_, side) = self._densities[number], number
        half = side.length / 2

        def weighed(x: Any) -> Any:
            return density(x) * function(np.clip((x - side.middle) / half, -1.0, 1.0))

        inside = np.clip(side.middle + half * np.array(kinks), side.lower, side.upper).tolist()
        return integrate_between(weighed, [side.lower, *density.breakpoints, *inside, side.upper])

    def on_grid(self, size: int) -> list[Floats]:
        """Each number rounded without bias to so many equispaced points of its range."""
        return [grid_weights(self._densities[one], one[1], size) for one in self.numbers]

    def prior(self, halves: Sequence[float]) -> Atoms:
        """The law of all numbers as one, each weighed by the square of its half-length, on equispaced points."""
        shares = dict.fromkeys(self._densities, 0.0)
        for number, half in zip(self.numbers, halves, strict=True):
            shares[number] += half**2
        weights = sum(
            (share * grid_weights(self._densities[one], one[1], _SIZE) for one, share in shares.items()),
            np.zeros(_SIZE),
        )
        return Atoms(np.linspace(-1.0, 1.0, _SIZE), weights / weights.sum())


def vector_designs(
    epsilon: float,
    sides: Sequence[Interval],
    halves: Sequence[float],
    guesses: Guesses,
    *,
    by_guess: bool,
    by: str | None = None,
    saved: Design | None = None,
) -> list[VectorDesign]:
    """Those that may be best for the worst values, or by guess on average; the best comes first.

    That ``by`` signs, numbers or a grid does comes first, if one of them is wanted. A grid is searched only then, or
    its design was ``saved``. One number alone has one design.

    >>> square = (Interval(-1, 1), Interval(-1, 1))
    >>> found = vector_designs(4.0, square, (1.0, 1.0), Guesses(["uniform"] * 2, square), by_guess=False)
    >>> [(one.name, round(one.worst, 2)) for one in found]
    [('optimum for one number, split', 1.73), ('sign patterns', 2.31)]
    """
    prior = guesses.prior(halves) if by_guess else None
    if len(sides) == 1:
        return [_by_numbers(epsilon, tuple(sides), halves, guesses, 1, prior)]
    signs = _sign_patterns(epsilon, tuple(sides), tuple(halves), guesses)
    scale, count = sum(half**2 for half in halves), len(halves)
    numbers = []
    # below eps = 1 a number each the noise grows faster than the share of people who are asked
    for drawn in range(1, min(count, max(1, math.ceil(epsilon))) + 1) if by != "signs" else ():
        # no unbiased report of one number has a variance below coth(eps / 2)^2 - 1 at both ends
        least = (count / drawn / math.tanh(epsilon / drawn / 2) ** 2 - 1) * scale
        if by_guess or by == "numbers" or least < signs.worst:
            numbers.append(_by_numbers(epsilon, tuple(sides), halves, guesses, drawn, prior))
    key = _expected if by_guess else _worst
    best = sorted(numbers, key=key)[:1]
    ranked = [*best, signs] if by == "numbers" else sorted([signs, *best], key=key)
    if by != "grid":
        return ranked
    found = solve(signs.design.problem, method="cube") if saved is None else saved
    if found.problem != signs.design.problem or not isinstance(found.evidence, CubeBound):
        raise FileProblem("design", "its problem", "be that of these options, by a grid", _SAME_OPTIONS)
    return [_on_grid(found, tuple(sides), halves, guesses), *ranked]


def _worst(one: VectorDesign) -> float:
    return one.worst


def _expected(one: VectorDesign) -> float:
    return one.expected


def _sign_patterns(
    epsilon: float, sides: tuple[Interval, ...], halves: tuple[float, ...], guesses: Guesses
) -> VectorDesign:
    inputs = Product(tuple(Interval(-half, half) for half in halves))
    problem = Problem(inputs=inputs, loss=Squared(), privacy=Pure(epsilon), among=Unbiased())
    design = solve(problem, method="sign_patterns")
    channel = cast(Discrete, design.mechanism)
    collection = SignCollection(PatternResponse.of(channel)[0], channel, sides, halves)
    worst = design.certificate.upper
    squares = guesses.means(np.square)
    expected = worst - sum(half**2 * one for half, one in zip(halves, squares, strict=True))
    return VectorDesign(SIGNS, design, collection, worst, expected)


def _on_grid(design: Design, sides: tuple[Interval, ...], halves: Sequence[float], guesses: Guesses) -> VectorDesign:
    """What is expected is that of numbers that are independent: between places, moments are averages by each number."""
    channel, evidence, count = cast(Discrete, design.mechanism), cast(CubeBound, design.evidence), len(sides)
    levels = evidence.levels(count)
    law = channel.probabilities / channel.probabilities.sum(axis=1, keepdims=True)
    queries = workload_of(means_on_grid(design.problem.epsilon, count, levels)).queries.matrix
    estimates = answers_by_report(law, evidence.prior / evidence.prior.sum(), queries).T
    collection = GridCollection(levels, channel, estimates, sides)
    shares = reduce(np.multiply.outer, guesses.on_grid(levels)).ravel()
    expected = shares @ collection.moments - np.array(guesses.means(np.square))
    return VectorDesign(GRID, design, collection, design.certificate.upper, float(expected @ np.square(halves)))


def _by_numbers(
    epsilon: float,
    sides: tuple[Interval, ...],
    halves: Sequence[float],
    guesses: Guesses,
    drawn: int,
    prior: Atoms | None,
) -> VectorDesign:
    """``E|Y|^2`` of a number that is drawn with the chance k/d is d/k times that of its report."""
    criterion = Worst() if prior is None else Average(prior)
    privacy = Pure(epsilon / drawn)
    problem = Problem(inputs=_SYMMETRIC, loss=Squared(), privacy=privacy, criterion=criterion, among=Unbiased())
    design = solve(problem, gap=_GAP)
    law = cast(UnbiasedWindow, design.mechanism)
    collection = NumberCollection(drawn, law, sides)
    squares = guesses.means(np.square)
    variances = guesses.means(law.variance, law.breakpoints(Squared()))
    times = len(sides) / drawn
    expected = sum(
        half**2 * (times * (variance + square) - square)
        for half, variance, square in zip(halves, variances, squares, strict=True)
    )
    worst = float_up(collection.worst * sum(Fraction(half) ** 2 for half in halves))
    way = "split" if drawn == len(sides) else "sampled"
    return VectorDesign(f"{NUMBERS}, {way}", design, collection, worst, expected)
