"""Which problems laws of the number of liars answer: a count of users, private against everybody else together."""

from __future__ import annotations

from mechdesign.mechanisms.hidden import MOST_PEAKED
from mechdesign.words.counts import Count
from mechdesign.words.privacy import Hidden
from mechdesign.words.problem import Problem

MOST_DELTA_USERS = 400
"""Users of a search at a delta above 0: a linear program in three times as many numbers, many times over."""

LEAST_DELTA = 1e-7
"""The least delta above 0: solvers have doubles."""


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    privacy = problem.privacy
    if not isinstance(problem.loss, Count) or not isinstance(privacy, Hidden):
        return "the loss must be a Count, and privacy Hidden(eps, users)"
    if privacy.users > MOST_PEAKED:
        return f"users must be at most {MOST_PEAKED}"
    if privacy.delta and privacy.users > MOST_DELTA_USERS:
        return f"users must be at most {MOST_DELTA_USERS} with a delta above 0, and without one {MOST_PEAKED}"
    if 0 < privacy.delta < LEAST_DELTA:
        return f"delta must be 0 or at least {LEAST_DELTA:g}: a program sees no less"
    return None
