"""Joint answers inside unary encoding (OUE) and local hashing (OLH): how strongly pairs may be coupled in a budget."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from mechdesign.errors import InvalidInput
from mechdesign.exact.collusion import Ratio, conditional_ratio, log_up
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import JointResponse, rho_range
from mechdesign.mechanisms.joint_encodings import JointHashing, JointUnary, best_hashes
from mechdesign.methods.joint.grouping import Grouping, grouping_of
from mechdesign.methods.joint.words import eps_words
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.codec import encoded, left_out
from mechdesign.values.declare import asked, field, frozen
from mechdesign.values.schema import shaped
from mechdesign.values.tables import Grid
from mechdesign.words.problem import Problem

INSIDE = ("oue", "olh")
_GRID = 1 << 30


def _law() -> dict[str, Any]:
    return shaped(lambda schemas: schemas.any_of(JointUnary, JointHashing))


@frozen
class InsideStudy:
    """The strongest coupling whose loss keeps the cap once the partner's value and reports are known.

    Without a cap the strongest there is. The loss is decided exactly for the strength that is returned.
    """

    problem: Problem
    encoding: str = asked("--inside", "Inside an encoding of many values: oue or olh.", default="oue", words=INSIDE)

    doing: ClassVar[str] = "pairs inside an encoding"
    reads: ClassVar[tuple[Path, ...]] = ()
    keeps: ClassVar[tuple[Path, ...]] = ()

    def __attrs_post_init__(self) -> None:
        problem, step = grouping_of(self.problem), "drop --group, --prior and ranges"
        if problem.count is None or problem.group != 2:
            raise InvalidInput("inside", self.encoding, "be asked for pairs and a single share", step)
        if problem.colluders:
            step = "cap what a partner learns with --conditional-eps"
            raise InvalidInput("colluders", problem.colluders, "be left out with --inside", step)

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> Inside:
        """The coupling, and what it is good for."""
        problem = grouping_of(self.problem)
        assert problem.count is not None
        ratio = exp_lower(problem.epsilon)
        caps = problem.privacy.caps
        cap = caps[0] if caps else None
        make = _unary if self.encoding == "oue" else _hashing
        law, loss = make(problem, ratio)
        strength = strongest(loss, None if cap is None else exp_lower(cap))
        if strength is None:
            assert cap is not None
            step = f"take at least {problem.epsilon:g}: independent answers give away as much"
            raise InvalidInput("conditional eps", cap, "be no smaller than eps with --inside", step)
        best = law(strength)
        return Inside(
            problem.epsilon,
            problem.users,
            problem.count,
            problem.categories,
            encoded(best),
            float(strength),
            float(best.variance(problem.users, problem.count)),
            float(law(Fraction(0)).variance(problem.users, problem.count)),
            (log_up(loss(Fraction(0))), log_up(loss(strength))),
            self.encoding,
        )


@frozen
class Inside(Answer):
    """Pairs inside an encoding: the strength that the budget allows, and what it is good for."""

    epsilon: float
    users: int
    count: int
    categories: int
    mechanism: dict[str, Any] = field(metadata=_law())
    strength: float
    variance: float
    independent_variance: float
    epsilon_conditional: tuple[float, ...]
    encoding: str = field(metadata=left_out())

    @property
    def rows(self) -> Sequence[Inside]:
        return (self,)

    def shown(self) -> Iterator[Grid | str]:
        alone, called = self.independent_variance, self.encoding.upper()
        yield (
            f"Pairs inside {called}, eps = {self.epsilon:g}: {self.users} users, {self.count} of them hold the value "
            f"counted, {self.categories} values"
        )
        yield (
            f"  coupled with strength {self.strength:.6g} (0: each on their own, 1: as strongly as there is)\n\n"
            f"Variance of the estimated count: {self.variance:.6g}, {100 * self.variance / alone:.3g}% of "
            f"{called}'s own {alone:.6g}\n\n"
            "What others can learn about you (eps; all computed exactly)\n"
            f"  if your partner does not collude:  {eps_words(self.epsilon)}\n"
            f"  if your partner colludes:          {eps_words(self.epsilon_conditional[1])}"
        )


Loss = Callable[[Fraction], Ratio]


def _unary(problem: Grouping, ratio: Fraction) -> tuple[Callable[[Fraction], Any], Loss]:
    def law(strength: Fraction) -> JointUnary:
        return JointUnary.optimised(ratio, problem.categories, strength)

    return law, lambda strength: law(strength).conditional_ratio()


def _hashing(problem: Grouping, ratio: Fraction) -> tuple[Callable[[Fraction], Any], Loss]:
    assert problem.count is not None
    hashes = best_hashes(problem.epsilon, problem.users, problem.count / problem.users)
    truth = ratio / (ratio + hashes - 1)
    lowest = rho_range(truth, hashes)[0]

    def response(strength: Fraction) -> JointResponse:
        return JointResponse.pair(truth, strength * lowest, hashes)

    return (
        lambda strength: JointHashing(response(strength), problem.categories),
        lambda strength: conditional_ratio(response(strength), 1),
    )


def strongest(loss: Loss, cap: Fraction | None) -> Fraction | None:
    """The largest strength on a grid of ``2^-30`` found by bisection whose loss is at most the cap.

    None if even independent answers are above it.
    """
    if cap is None:
        return Fraction(1)

    def keeps(units: int) -> bool:
        told = loss(Fraction(units, _GRID))
        return told is not None and told <= cap

    if not keeps(0):
        return None
    if keeps(_GRID):
        return Fraction(1)
    low, high = 0, _GRID
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return Fraction(low, _GRID)


ANSWERS = (Inside,)
