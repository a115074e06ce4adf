"""Which problems laws of random groups answer: a count of users, of whom some tell the collector all they know."""

from __future__ import annotations

from mechdesign.words.classes import Together
from mechdesign.words.counts import Count
from mechdesign.words.privacy import Collusion
from mechdesign.words.problem import Problem

LEAST_EPSILON = 1e-3
"""Below it a linear program's tolerance would be seen; pairs need none and take any epsilon."""


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    privacy = problem.privacy
    if not isinstance(problem.loss, Count) or not isinstance(privacy, Collusion):
        return "the loss must be a Count, and privacy Collusion(eps, users, colluders)"
    if isinstance(problem.among, Together) and problem.among.group == 2 == len(problem.numbers):
        return None
    asked = (privacy.epsilon, *(cap for cap in privacy.caps if cap is not None))
    return None if min(asked) >= LEAST_EPSILON else f"eps and its caps must be at least {LEAST_EPSILON:g} for groups"
