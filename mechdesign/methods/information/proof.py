"""What bounds the information about one parameter: a price for each cell, checked by a sweep at any number of cells.

A report whose row is q, one chance a cell, has information ``(q.p')^2 / (q.p)``. That is convex and homogeneous in q,
so on rows within a factor ``c = e^eps`` it is at most what mixtures of rows z in {1, c}^k have. If prices nu have

    ``(z.p')^2 / (z.p) <= nu.z`` for all z in {1, c}^k,

then a channel, whose rows add up to ones, has **information at most sum(nu)**, with any outputs. Where the inequality
fails by at most d it holds for ``nu + d p``. The greatest of the difference is found without rounding by
`mechdesign.exact.sweep`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.sweep import greatest_share
from mechdesign.mechanisms.discrete import Discrete, whole_numbers
from mechdesign.methods.evidence import column, require_columns, require_mechanism
from mechdesign.methods.information.supports import model_of
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.words.criteria import Family, Scope
from mechdesign.words.models import Model
from mechdesign.words.problem import Problem


@frozen
class InformationBound:
    """A price for each cell.

    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.models import GaussianLocation
    >>> from mechdesign.words.privacy import Pure
    >>> problem = Problem(loss=GaussianLocation(2), privacy=Pure(1.0), criterion=Average())
    >>> 0 < float(InformationBound([0.05, 0.05]).most(problem)) < 1
    True
    """

    kind: ClassVar[str] = "information"
    claimed: ClassVar[bool] = False

    prices: Floats = array(column("prices"))

    def most(self, problem: Problem) -> Fraction:
        """The bound on the information, exactly; chances are divided by their exact sum."""
        model = model_of(problem)
        chances, slopes = model.chances, model.slopes
        require_columns(chances.size, prices=self.prices)
        p, _ = whole_numbers(chances)
        x, x_unit = whole_numbers(slopes)
        nu, nu_unit = whole_numbers(self.prices)
        total = int(p.sum())
        # (z.x)^2 / (z.p) - nu.z with x = X 2^xu, p = P / total and nu = N 2^nu: in units of 2^unit
        unit = min(2 * x_unit, nu_unit)
        times = total << (2 * x_unit - unit)
        greatest = greatest_share(
            (x * times).tolist(), (p * times).tolist(), (nu << (nu_unit - unit)).tolist(), exp_upper(problem.epsilon)
        )
        return Fraction(int(nu.sum())) * Fraction(2) ** nu_unit + max(Fraction(0), greatest * Fraction(2) ** unit)

    def bound(self, problem: Any, mechanism: Any) -> float:
        most = self.most(problem)
        if most <= 0:
            raise CheckFailed("the prices of the evidence are too low for any mechanism")
        return float_down(1 / most)

    def attained(self, problem: Any, mechanism: Any) -> float:
        model = model_of(problem)
        found = exact_information(require_mechanism(mechanism, Discrete, problem), model)
        if found <= 0:
            raise CheckFailed("the mechanism's reports tell nothing of the parameter")
        return float_up(1 / found)

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        model_of(problem)
        return Scope(Family.ALL_OF_CELLS)


def exact_information(table: Discrete, model: Model) -> Fraction:
    """A rational at most ``sum_o (q_o.p')^2 / (q_o.p)``, and nearly that: sums are exact, quotients rounded down."""
    p, _ = whole_numbers(model.chances)
    x, x_unit = whole_numbers(model.slopes)
    entries, _ = whole_numbers(table.probabilities)
    sums = [int(row.sum()) for row in entries]
    # rows are divided by their sums: weights n / sum, to 2^-200
    bits = 200
    shares = [[(int(n) << bits) // total for n in row] for row, total in zip(entries, sums, strict=True)]
    found = 0
    for own in zip(*shares, strict=True):
        slope = sum(int(a) * b for a, b in zip(x, own, strict=True))
        chance = sum(int(a) * b for a, b in zip(p, own, strict=True))
        if chance:
            found += slope * slope // chance
    # rounding shares down changes a row by a relative 2^-140 at most
    value = Fraction(found * int(p.sum()), 1 << bits) * Fraction(2) ** (2 * x_unit)
    return value * (1 - Fraction(1, 1 << 100))
