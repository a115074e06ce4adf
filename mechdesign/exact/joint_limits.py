"""Budgets of a joint response as probabilities: what known partners may tell at most, and boxes of what they tell."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from mechdesign.exact.collusion import collusion
from mechdesign.exact.joint_variance import Goal
from mechdesign.exact.rational import exp_lower, exp_upper
from mechdesign.values.declare import evolved, frozen
from mechdesign.words.privacy import Collusion

LEAST_TRUTH = Fraction(1, 1000)
"""Laws are searched whose ``kp - 1`` is at least this share of independent responses': such independent ones have 10^6
times the variance."""


def _ratio(epsilon: float, *, up: bool, margin: float = 0.0) -> Fraction:
    """``e^eps`` rounded up, or down by a share ``margin`` of what it is above 1."""
    return exp_upper(epsilon) if up else 1 + (exp_lower(epsilon) - 1) * (1 - Fraction(margin))


def pair_limits(privacy: Collusion, *, up: bool, margin: float = 0.0) -> tuple[Fraction, Fraction, Fraction]:
    """``U``, ``S`` and ``a`` of `mechdesign.exact.joint_variance`."""
    budget = _ratio(privacy.epsilon, up=up, margin=margin)
    cap = privacy.caps[0] if privacy.caps else None
    share = Fraction(1)
    if cap is not None:
        ratio = _ratio(cap, up=up, margin=margin)
        share = ratio / (1 + ratio)
    return budget / (1 + budget), share, Fraction(privacy.colluders, privacy.users - 1)


@frozen
class Limits:
    """What every law must keep: ``true[c]`` and ``false[c]`` cap the probabilities of truth and lie with c partners
    known, and the sums of both, weighted with ``chances``, are at most ``mean_true`` and ``mean_false``."""

    true: tuple[Fraction, ...]
    false: tuple[Fraction, ...]
    chances: tuple[Fraction, ...]
    mean_true: Fraction
    mean_false: Fraction

    def least_truth(self, categories: int) -> Fraction:
        """p of `LEAST_TRUTH`."""
        return (1 + LEAST_TRUTH * (categories * self.true[0] - 1)) / categories

    def most_truth(self, floors: Sequence[Fraction]) -> Fraction:
        """The largest p with ``h_0 p + sum_c h_c max(floor_c, p) <= U``: the left side is piecewise linear in p."""
        known = sorted(zip(floors[1:], self.chances[1:], strict=True))
        rate, rest = self.chances[0], self.mean_true - sum((f * h for f, h in known), Fraction(0))
        for floor, chance in known:
            if rate > 0 and rest / rate <= floor:
                return rest / rate
            rate, rest = rate + chance, rest + chance * floor
        return rest / rate


def group_limits(privacy: Collusion, group: int, categories: int, *, up: bool, margin: float = 0.0) -> Limits:
    """Caps on the probabilities of truth and lie for each number of known partners, and on their averages."""
    others = categories - 1

    def both(epsilon: float | None) -> tuple[Fraction, Fraction]:
        if epsilon is None:
            return Fraction(1), Fraction(1)
        ratio = _ratio(epsilon, up=up, margin=margin)
        return ratio / (ratio + others), others * ratio / (1 + others * ratio)

    mean = both(privacy.epsilon)
    caps = [mean, *map(both, privacy.caps)] + [both(None)] * (group - 1 - len(privacy.caps))
    # what holds with c + 1 partners known holds with c: the loss with fewer is an average
    for c in range(group - 2, -1, -1):
        caps[c] = (min(caps[c][0], caps[c + 1][0]), min(caps[c][1], caps[c + 1][1]))
    chances = collusion(privacy.users, privacy.colluders, group)
    return Limits(tuple(c[0] for c in caps), tuple(c[1] for c in caps), chances, *mean)


# -- boxes -------------------------------------------------------------------------------------------------------------


@frozen
class Caps:
    """``true[c]`` and ``false[c]`` cap the probabilities of truth and lie with c partners known; 1 is no cap."""

    true: tuple[Fraction, ...]
    false: tuple[Fraction, ...]


@frozen
class Split:
    """The laws for which ``known`` partners give away at most ``at``, and those for which they give away at least that.

    What is meant is the largest probability that a user is truthful, or with ``of_truth`` False that a user lies. Every
    law is among the one or the other, whatever the numbers.
    """

    kind: ClassVar[str] = "split"

    known: int
    of_truth: bool
    at: Fraction


@frozen
class Box:
    """Caps (``true``, ``false``) and floors of what c known partners can give away."""

    true: tuple[Fraction, ...]
    true_floor: tuple[Fraction, ...]
    false: tuple[Fraction, ...]
    false_floor: tuple[Fraction, ...]

    @property
    def size(self) -> int:
        """Of the groups."""
        return len(self.true)

    @classmethod
    def of_all(cls, limits: Limits, goal: Goal) -> Box:
        """Every law that meets the limits."""
        size = goal.group
        low, zero = (Fraction(1, goal.categories),) * size, (Fraction(0),) * size
        return cls(limits.true, low, limits.false, zero)

    def halves(self, split: Split) -> tuple[Box, Box]:
        """Below and above: more known partners never give away less, so caps pass on downwards and floors upwards."""
        caps, floors = (self.true, self.true_floor) if split.of_truth else (self.false, self.false_floor)
        below = tuple(min(cap, split.at) if c <= split.known else cap for c, cap in enumerate(caps))
        above = tuple(max(floor, split.at) if c >= split.known else floor for c, floor in enumerate(floors))
        if split.of_truth:
            return evolved(self, true=below), evolved(self, true_floor=above)
        return evolved(self, false=below), evolved(self, false_floor=above)

    def ends(self, limits: Limits, categories: int) -> tuple[Fraction, Fraction] | None:
        """The least and the largest p that a law of the box can have, None if it can hold none."""
        most = min(self.true[0], limits.most_truth(self.true_floor))
        false = sum((h * f for h, f in zip(limits.chances[1:], self.false_floor[1:], strict=True)), Fraction(0))
        least = limits.least_truth(categories)
        return None if most < least or false > limits.mean_false else (least, most)

    def caps(self, limits: Limits) -> Caps:
        """Caps that box and average imply."""
        return Caps(
            _afforded(self.true, self.true_floor, limits.chances, limits.mean_true),
            _afforded(self.false, self.false_floor, limits.chances, limits.mean_false),
        )


def _afforded(
    caps: Sequence[Fraction], floors: Sequence[Fraction], chances: Sequence[Fraction], budget: Fraction
) -> tuple[Fraction, ...]:
    """Caps that the average implies: c known partners tell no more than more of them, and no less than the floor."""
    result = list(caps)
    spent, rest = Fraction(0), Fraction(1)
    for c in range(len(caps)):
        if rest > 0:
            result[c] = min(result[c], (budget - spent) / rest)
        spent, rest = spent + chances[c] * floors[c], rest - chances[c]
    for c in range(len(caps) - 2, -1, -1):
        result[c] = min(result[c], result[c + 1])
    return tuple(result)
