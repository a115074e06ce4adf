"""Which mechanism keeps a classifier's labels best, and the smallest eps that keeps them often enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mechdesign.errors import InvalidInput, NoAnswer, require_epsilon, require_number
from mechdesign.studies.classifiers.concentration import curve
from mechdesign.studies.classifiers.robustness import Robust
from mechdesign.values.declare import Floats, frozen

_SCAN = 240
_HALVINGS = 40


@frozen
class Chosen:
    """The smallest eps a coordinate found, what it reaches, and what a slightly smaller one reaches."""

    epsilon: float
    reached: float
    below: float
    reached_below: float


def ranked(
    names: Sequence[str], epsilon: float, robust: Robust, x: Floats, delta: float | None = None
) -> list[tuple[str, float]]:
    """Mechanisms by rho, the best first.

    >>> box = Robust(np.array([0.2]), np.array([0.8]), "proven")
    >>> [name for name, _ in ranked(["laplace", "k-rr", "pm"], 2.0, box, np.array([0.5]))]
    ['pm', 'k-rr', 'laplace']
    """
    values = [(name, float(rho_curve(name, [epsilon], robust, x, delta)[0])) for name in names]
    return sorted(values, key=lambda pair: -pair[1])


def rho_curve(name: str, epsilons: Sequence[float], robust: Robust, x: Floats, delta: float | None = None) -> Floats:
    """The chapter's rho over eps for a box that is known."""
    return curve(name, epsilons, x, robust.lower, robust.upper, delta) * (1 - robust.tau)


def smallest_epsilon(reaches: Callable[[float], float], target: float, low: float = 0.05, high: float = 16.0) -> Chosen:
    """The smallest eps at which ``reaches(eps)`` is at least the target: scanned first, since it need not grow with
    eps, then halved. What is returned reaches the target; ``below`` is an eps just under it that does not.

    >>> found = smallest_epsilon(lambda eps: float(1 - np.exp(-0.3 * eps)), 0.8)
    >>> round(found.epsilon, 3), found.reached >= 0.8 > found.reached_below
    (5.365, True)
    """
    if not 0 < require_number(target, "target") < 1:
        raise InvalidInput("target", target, "lie between 0 and 1", "for example 0.8")
    low, high = require_epsilon(low), require_epsilon(high)
    below, reached_below, most = low, reaches(low), 0.0
    if reached_below >= target:
        return Chosen(low, reached_below, 0.0, 0.0)
    for epsilon in np.linspace(low, high, _SCAN).tolist()[1:]:
        reached = reaches(epsilon)
        most = max(most, reached)
        if reached >= target:
            break
        below, reached_below = epsilon, reached
    else:
        step = "a larger box, fewer columns or another mechanism reaches more"
        raise NoAnswer(f"no eps up to {high:g} reaches {target:g}", most, 1.0, next_step=step)
    above, reached = epsilon, reached
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if not below < middle < above:
            break
        value = reaches(middle)
        if value >= target:
            above, reached = middle, value
        else:
            below, reached_below = middle, value
    return Chosen(above, reached, below, reached_below)
