"""Lower bounds on the variance of every joint response, derived in rational arithmetic and without a solver.

**Pairs, and counts near the even share:** closed forms, which need no multipliers (`ClosedForm`).

**Groups:** multipliers of the caps (`DualBound`). For laws in a box of what known partners give away, weak duality
makes every multiplier a line below the least second moment M(p), and the variance is least on the largest of the lines
(`mechdesign.exact.joint_variance`). Boxes are split until no box holds a law that is much better than the one at
hand; the least of their bounds is the bound. A wrong multiplier makes a bound weaker, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.joint_limits import Box, Caps, Limits, Split, pair_limits
from mechdesign.exact.joint_variance import Goal, Line, least_on_lines, least_pair, line_below
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.joint import JointResponse, likelihood_rows
from mechdesign.methods.joint.grouping import Grouping, grouping_of
from mechdesign.values.declare import field, finite, frozen
from mechdesign.values.digits import rounded_up
from mechdesign.words.criteria import Family, Scope

_MOST_NUMBERS = 100_000  # of a proof in rational arithmetic: minutes
_CLAIMED = 1e-5  # relative: how far a solver's bound may be off

Multiplier = tuple[int, int, bool, float]
"""``(c, s, of_truth, y)``: y times the cap on truth (or lie) once s of c known partners were truthful."""


def _require_multipliers(multipliers: Sequence[Multiplier]) -> tuple[Multiplier, ...]:
    for known, truthful, _, weight in multipliers:
        if not (0 <= truthful <= known and math.isfinite(weight) and weight >= 0):
            rule = "be of 0 <= truthful <= known partners, finite and at least 0"
            raise InvalidInput("multiplier", (known, truthful, weight), rule)
    return tuple(multipliers)


@frozen
class Duals:
    """Multipliers of the caps and of the mean ``sum t w_t``, whose multiplier is the slope of the line they prove."""

    slope: float = finite("slope")
    multipliers: tuple[Multiplier, ...] = field(default=(), converter=_require_multipliers)

    def line(self, costs: Sequence[int], caps: Caps) -> Line:
        """``sum costs_t w_t >= intercept + slope sum t w_t`` for every law that meets the caps, exactly."""
        group = len(costs) - 1
        return line_below(costs, Fraction(self.slope), self._rows(group, caps))

    def _rows(self, group: int, caps: Caps) -> Iterator[tuple[Fraction, list[Fraction]]]:
        """``(1 - cap) mine - cap other <= 0``, each with its multiplier."""
        for known, truthful, of_truth, weight in self.multipliers:
            if known >= group:
                raise CheckFailed(f"a multiplier is about {known} partners in a group of {group}")
            true, false = likelihood_rows(group, known, truthful)
            cap, mine, other = (caps.true[known], true, false) if of_truth else (caps.false[known], false, true)
            yield Fraction(weight), [(1 - cap) * a - cap * b for a, b in zip(mine, other, strict=True)]


@frozen
class Leaf:
    """A box that is not split: duals of its largest p, and of lines below M(p); without lines nothing is proven."""

    kind: ClassVar[str] = "leaf"

    largest: Duals = Duals(0.0)
    lines: tuple[Duals, ...] = ()

    def least(self, goal: Goal, limits: Limits, box: Box) -> Fraction | None:
        """A number below the variance of every law in the box; None if it holds none."""
        ends, caps = box.ends(limits, goal.categories), box.caps(limits)
        if ends is None:
            return None
        least, most = ends[0], min(ends[1], largest_mean(self.largest, goal.group, caps))
        if most < least:
            return None
        if not self.lines:
            return Fraction(0)
        costs = second_moment(goal)
        value: Fraction = least_on_lines(goal, [duals.line(costs, caps) for duals in self.lines], least, most)[0]
        return value


def second_moment(goal: Goal) -> list[int]:
    """``t^2``, or its negative where positive correlation helps."""
    sign = 1 if goal.helpful >= 0 else -1
    return [sign * t * t for t in range(goal.group + 1)]


def largest_mean(duals: Duals, group: int, caps: Caps) -> Fraction:
    """No law that meets the caps has a larger p."""
    intercept: Fraction = Duals(0.0, duals.multipliers).line(range(0, -group - 1, -1), caps)[0]
    return -intercept / group


def asked_of(problem: object) -> Grouping:
    """The problem in numbers, or `CheckFailed`: evidence may be given any problem."""
    try:
        return grouping_of(problem)
    except InvalidInput as bad:
        raise CheckFailed(f"the evidence is about another problem, which must {bad.rule}") from None


class _OfResponses:
    """What a mechanism attains, and among which laws: the same whatever the bound rests on."""

    __slots__ = ()

    def attained(self, problem: Any, mechanism: Any) -> float:
        return attained_by(mechanism, asked_of(problem))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return scope_of(asked_of(problem))


@frozen
class DualBound(_OfResponses):
    """The boxes of a search, each split before its halves (below, then above), with the duals of those that are left.

    *Guarantee.* The value is below the variance of every law that keeps the budgets and whose p is in the boxes: these
    hold no law of small p. For groups the scope says so; where there is a closed form it is about all laws, and this is
    no evidence.
    """

    kind: ClassVar[str] = "joint duals"
    claimed: ClassVar[bool] = False

    parts: tuple[Split | Leaf, ...]

    def __attrs_post_init__(self) -> None:
        duals = [dual for part in self.parts if isinstance(part, Leaf) for dual in (part.largest, *part.lines)]
        size = len(self.parts) + sum(1 + len(dual.multipliers) for dual in duals)
        size += sum(part.at.denominator.bit_length() // 256 for part in self.parts if isinstance(part, Split))
        if size > _MOST_NUMBERS:
            raise InvalidInput("parts", size, f"hold at most {_MOST_NUMBERS} boxes, lines and multipliers in all")

    def value(self, problem: Grouping) -> Fraction:
        goal, limits = problem.goal(), problem.limits(up=True)
        boxes, bounds = [Box.of_all(limits, goal)], []
        for part in self.parts:
            if not boxes:
                raise CheckFailed("the evidence is about more boxes than there are")
            box = boxes.pop()
            if isinstance(part, Split):
                below, above = box.halves(part)
                boxes += [above, below]
            else:
                bounds.append(part.least(goal, limits, box))
        if boxes:
            raise CheckFailed(f"the evidence leaves out {len(boxes)} boxes")
        return max(min((bound for bound in bounds if bound is not None), default=Fraction(0)), Fraction(0))

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = asked_of(problem)
        if asked.is_pair or not asked.goal().helpful:
            raise CheckFailed("boxes hold no law of small p, and where there is a closed form the bound is about all")
        return float_down(self.value(asked))


@frozen
class ClosedForm(_OfResponses):
    """Nothing: the least variance of pairs, or where correlation cannot help, is a formula of the problem."""

    kind: ClassVar[str] = "joint closed form"
    claimed: ClassVar[bool] = False

    def value(self, problem: Grouping) -> Fraction:
        goal = problem.goal()
        if problem.is_pair:
            return least_pair(goal, *pair_limits(problem.privacy, up=True)).variance
        if goal.helpful:
            raise CheckFailed(f"there is no closed form for groups of {problem.group} at this share")
        # any covariance makes the worst count worse, so what is left is the largest p
        value: Fraction = goal.variance(problem.limits(up=True).true[0], Fraction(0))
        return value

    def bound(self, problem: Any, mechanism: Any) -> float:
        return float_down(self.value(asked_of(problem)))


@frozen
class JointClaim(_OfResponses):
    """A lower bound for pairs in a solver's words; one above what another pair attains is refused."""

    kind: ClassVar[str] = "joint claim"
    claimed: ClassVar[bool] = True

    lower: float = finite("lower")

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = asked_of(problem)
        if not asked.is_pair:
            raise CheckFailed(f"a claim is about pairs, not about groups of {asked.group}")
        best = float_up(ClosedForm().value(asked))
        if self.lower > best * (1 + _CLAIMED):
            raise CheckFailed(f"the claimed bound {self.lower!r} is above {best!r}, which another law attains")
        return self.lower


def attained_by(mechanism: Any, problem: Grouping) -> float:
    """The variance of a joint response for the problem's groups, rounded up."""
    if not isinstance(mechanism, JointResponse):
        raise CheckFailed(f"the evidence is about joint responses, not about a {type(mechanism).__name__}")
    if (mechanism.group, mechanism.categories) != (problem.group, problem.categories):
        raise CheckFailed(
            f"the law is for groups of {mechanism.group} with {mechanism.categories} values, "
            f"the problem for groups of {problem.group} with {problem.categories}"
        )
    return float_up(problem.goal().variance(mechanism.truth, mechanism.covariance))


def scope_of(problem: Grouping) -> Scope:
    """Among which laws the optimum was sought."""
    alone = ", each lie drawn on its own" if problem.categories > 2 else ""
    if problem.is_pair:
        return Scope(Family.PAIRS, alone)
    narrowed = f" of {problem.group}{alone}"
    if problem.goal().helpful:
        least = problem.limits(up=True).least_truth(problem.categories)
        narrowed += f", p at least {rounded_up(float_up(least), 6)}"
    return Scope(Family.GROUPS, narrowed)
