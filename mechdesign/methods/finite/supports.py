"""Which problems one base measure answers: one epsilon, and finitely many inputs with a loss matrix or distances."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import float_down, float_up
from mechdesign.methods.line import LEAST_EPSILON, MOST_EPSILON
from mechdesign.values.declare import Floats
from mechdesign.words.classes import All
from mechdesign.words.criteria import Average, Lexicographic, Worst
from mechdesign.words.domains import Finite
from mechdesign.words.finite_losses import LossTable, Matrix
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

MOST_POINTS = 1000
"""Losses between numbers are a matrix of a million entries, which is the most there may be."""


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.privacy, Pure):
        return "privacy must be one epsilon for all inputs, Pure(eps)"
    missed = _missed_of_losses(problem)
    if missed is not None:
        return missed
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        return f"eps must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
    if isinstance(problem.criterion, Lexicographic) and problem.criterion.cap is not None:
        return "the worst case must be within a slack of the least: a cap is for numbers of an interval"
    return None


def _missed_of_losses(problem: Problem) -> str | None:
    inputs, loss = problem.inputs, problem.loss
    if not isinstance(problem.criterion, Worst | Average | Lexicographic):
        return "the criterion must be Worst(), Average(prior) or Lexicographic(prior)"
    if isinstance(loss, Matrix):
        return None
    if not isinstance(inputs, Finite):
        return "inputs must be finitely many"
    if not isinstance(problem.among, All):
        return "mechanisms must be among All()"
    if loss not in (Power(1.0), Power(2.0)):
        return "the loss must be absolute or squared on a finite domain, or take --loss-matrix, a Matrix(losses)"
    if not 2 <= len(inputs) <= MOST_POINTS:
        return f"the domain must have from 2 to {MOST_POINTS} points: take the interval around them, LO,HI"
    return None


def losses_of(problem: Problem) -> LossTable:
    """What inputs lose to outputs, at least and at most, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or not isinstance(problem.privacy, Pure):
        raise CheckFailed("the evidence is about finitely many inputs and one epsilon for all")
    missed = _missed_of_losses(problem)
    if missed is not None:
        raise CheckFailed(f"the evidence is about another problem: {missed}")
    return _table_of_numbers(problem.loss, problem.numbers) if isinstance(problem.loss, Power) else problem.table


@lru_cache(maxsize=8)
def _table_of_numbers(loss: Power, inputs: Finite) -> LossTable:
    """Outputs are the inputs themselves; losses are doubles below and above the exact ones."""
    down, up = (distances(inputs.points, int(loss.exponent), rounded) for rounded in (float_down, float_up))
    return LossTable(down, up, inputs, None, (None, None))


def distances(points: tuple[float, ...], exponent: int, rounded: Callable[[Fraction], float]) -> Floats:
    """``|x - y|^exponent`` from every point to every point, each exact value rounded once."""
    exact = [Fraction(point) for point in points]
    return np.array([[rounded(abs(x - y) ** exponent) for y in exact] for x in exact])
