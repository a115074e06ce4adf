"""How a mechanism's reports concentrate: ``Pr[a <= M(x) <= b]`` for every mechanism, points of mass included.

The chapter's mechanisms by its names (``pm`` is OGPM: the chapter's PM maps [0, 1] onto itself and has OGPM's heights):

* ``laplace``, ``gaussian``: noise, reports moved into [0, 1], as classifiers take nothing else; ``laplace-raw`` and
  ``gaussian-raw`` leave them where they fall, and what falls outside counts as lost;
* ``pm``, ``sw``: piecewise, on [0, 1] themselves (definitions 24 and 25);
* ``k-rr`` on 100 points, ``exponential`` on 101 points of [0, 1], the input at the nearest point. The printed
  exponential mechanism (``exponential-printed``) spends half of eps, since its scores are differences of distances;
  here its scale is the one that spends eps;
* ``certified``: the mechanism of least worst absolute error (`mechdesign.methods.minimax`).

Any other name is looked up in `mechdesign.mechanisms.catalogue`, and its reports are moved into [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, did_you_mean, require_epsilon
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.studies.classifiers.pac import clipped_gaussian_deviation, gaussian_deviation
from mechdesign.values.declare import Floats, frozen
from mechdesign.values.later import special
from mechdesign.words.domains import UNIT, Finite
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

RR_POINTS, EXPONENTIAL_POINTS = 100, 101
_GAP = 1e-2
_FAR = 1e9


@frozen
class Perturbation:
    """A mechanism on [0, 1], and whether its reports are moved into [0, 1]. Independent for every coordinate.

    ``delta`` is above 0 where the mechanism is only (epsilon, delta)-PAC-LDP.

    >>> round(float(perturbation("laplace", 2.0).between(0.5, 0.2, 0.8)), 4)
    0.4512
    """

    name: str
    mechanism: ScalarMechanism
    is_clipped: bool = False
    delta: float = 0.0

    @property
    def epsilon(self) -> float:
        return self.mechanism.epsilon

    def given(self, x: ArrayLike) -> Floats:
        """The inputs the mechanism gets: the nearest of its points, where it has only some."""
        values = np.asarray(x, dtype=np.float64)
        if isinstance(self.mechanism.inputs, Finite):
            points = np.asarray(self.mechanism.inputs.points)
            right = np.clip(np.searchsorted(points, values), 1, points.size - 1)
            left_is_near = values - points[right - 1] <= points[right] - values
            values = np.where(left_is_near, points[right - 1], points[right])
        return values

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        """``Pr[M(x) <= y]``; y may be infinite."""
        outputs = np.asarray(y, dtype=np.float64)
        share = self.mechanism.cdf(np.clip(outputs, -_FAR, _FAR), self.given(x))
        low, high = (0.0, 1.0) if self.is_clipped else (-np.inf, np.inf)
        return np.asarray(np.where(outputs < low, 0.0, np.where(outputs >= high, 1.0, share)))

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        """``Pr[M(x) = y]``."""
        outputs, inputs = np.asarray(y, dtype=np.float64), self.given(x)
        at = self.mechanism.mass(np.clip(outputs, -_FAR, _FAR), inputs)
        if not self.is_clipped:
            return np.where(np.isfinite(outputs), at, 0.0)
        below = self.mechanism.cdf(np.zeros_like(outputs), inputs)
        ones = np.ones_like(outputs)
        above = 1 - self.mechanism.cdf(ones, inputs) + self.mechanism.mass(ones, inputs)
        inside = np.where((outputs > 0) & (outputs < 1), at, 0.0)
        return np.asarray(np.where(outputs == 0, below, np.where(outputs == 1, above, inside)))

    def between(self, x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
        """``Pr[low <= M(x) <= high]``: both ends belong to the box, and a point of mass there counts."""
        share = self.cdf(high, x) - self.cdf(low, x) + self.mass(low, x)
        return np.asarray(np.where(np.asarray(low) <= np.asarray(high), np.clip(share, 0.0, 1.0), 0.0))

    def above(self, x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
        """``Pr[low < M(x) <= high]``, as the cells of trees are."""
        return np.asarray(np.clip(self.cdf(high, x) - self.cdf(low, x), 0.0, 1.0))

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Floats:
        """One report for each x."""
        reports = self.mechanism.sample(self.given(x), rng)
        return np.clip(reports, 0.0, 1.0) if self.is_clipped else reports

    @property
    def self_mass(self) -> float:
        """The largest ``Pr[M(x) = x]`` over x in [0, 1]: see `pac.indicator_delta`."""
        outputs = self.mechanism.outputs
        points = np.asarray(outputs.points if isinstance(outputs, Finite) else ((0.0, 1.0) if self.is_clipped else ()))
        inside = points[(points >= 0) & (points <= 1)]
        return float(self.mass(inside, inside).max()) if inside.size else 0.0

    def atoms(self, x: float) -> tuple[Floats, Floats] | None:
        """Outputs and their probabilities, where there are finitely many; else None."""
        outputs = self.mechanism.outputs
        if not isinstance(outputs, Finite):
            return None
        points = np.asarray(outputs.points, dtype=np.float64)
        chances = self.mechanism.mass(points, self.given(x))
        return (np.clip(points, 0.0, 1.0) if self.is_clipped else points), np.asarray(chances)


def perturbation(name: str, epsilon: float, delta: float | None = None) -> Perturbation:
    """The mechanism of that name (see the module); ``delta`` is what the Gaussian ones need.

    >>> [round(float(perturbation(name, 2.0).between(0.5, 0.2, 0.8)), 4) for name in ("laplace", "pm", "k-rr")]
    [0.4512, 0.8528, 0.624]
    """
    if not isinstance(name, str):
        raise InvalidInput("mechanism", name, "be a name", f"for example one of {', '.join(NAMES)}")
    key, epsilon = name.strip().lower(), require_epsilon(epsilon)
    if key.startswith("gaussian") and key in NAMES:
        if delta is None:
            raise InvalidInput("delta", None, "be given for the Gaussian mechanism", "for example 0.1")
        deviation = _DEVIATIONS[key](epsilon, delta)
        return Perturbation(key, catalogue.gaussian(epsilon, deviation), key == "gaussian", delta)
    if key in _BUILDERS:
        build, is_clipped = _BUILDERS[key]
        return Perturbation(key, build(epsilon), is_clipped)
    try:
        return Perturbation(key, catalogue.build(key, epsilon, UNIT), is_clipped=True)
    except InvalidInput:
        known = [entry.key for entry in catalogue.ON_INTERVALS if entry.key not in NAMES]
        rule = f"be one of {', '.join(NAMES)}, or of {', '.join(known)}"
        raise InvalidInput("mechanism", name, rule, did_you_mean(name, (*NAMES, *known))) from None


def concentration(law: Perturbation, x: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """``Pr[M(x) in the box]`` for independent coordinates: the product.

    >>> round(concentration(perturbation("laplace", 2.0), [0.5, 0.5], [0.2, 0.2], [0.8, 0.8]), 4)
    0.2036
    """
    return float(np.prod(law.between(x, lower, upper)))


# -- the chapter's mechanisms ------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _certified(epsilon: float) -> ScalarMechanism:
    from mechdesign.methods.registry import solve

    return solve(Problem(inputs=UNIT, loss=Power(1.0), privacy=Pure(epsilon)), gap=_GAP).scalar_law


@lru_cache(maxsize=256)
def _k_rr(epsilon: float) -> ScalarMechanism:
    return catalogue.randomised_response(epsilon, Finite(tuple(np.linspace(0, 1, RR_POINTS).tolist())))


def _exponential_table(scale: float, epsilon: float, name: str) -> Discrete:
    points = np.linspace(0.0, 1.0, EXPONENTIAL_POINTS)
    weights = np.exp(-scale * np.abs(points[:, None] - points))
    domain = Finite(tuple(points.tolist()))
    return Discrete(epsilon, domain, domain, weights / weights.sum(axis=1, keepdims=True), name)


@lru_cache(maxsize=256)
def _exponential(epsilon: float) -> ScalarMechanism:
    """The scale that spends eps is eps: ``log Z(x)``, the log of a row's sum, changes by at most ``scale |x - y|``.

    So the ratio at an output y is largest for the inputs y and the farther end: ``scale max(y, 1 - y) + log Z(1) - log
    Z(y)``, and this is largest, and scale, at the ends.
    """
    scale = epsilon
    while True:  # rounding towards privacy, decided by the exact ratio of the table
        table = _exponential_table(scale, epsilon, "exponential")
        if table.privacy_loss() <= epsilon:
            return table
        scale *= 1 - 1e-12


def _exponential_printed(epsilon: float) -> ScalarMechanism:
    return _exponential_table(epsilon / 2, epsilon, "exponential (printed)")


_BUILDERS: dict[str, tuple[Callable[[float], ScalarMechanism], bool]] = {
    "laplace": (catalogue.laplace, True),
    "laplace-raw": (catalogue.laplace, False),
    "pm": (catalogue.ogpm, False),
    "sw": (catalogue.redesigned_sw, False),
    "exponential": (_exponential, False),
    "exponential-printed": (_exponential_printed, False),
    "k-rr": (_k_rr, False),
    "certified": (_certified, True),
}
NAMES = (*_BUILDERS, "gaussian", "gaussian-raw")


# -- closed forms over many epsilons -----------------------------------------------------------------------------------


def curve(
    name: str, epsilons: Sequence[float], x: ArrayLike, lower: ArrayLike, upper: ArrayLike, delta: float | None = None
) -> Floats:
    """`concentration` at every epsilon: in closed form, all at once, for all but those that are designed for an eps.

    >>> curve("pm", [2.0, 4.0], [0.5], [0.2], [0.8]).round(4).tolist()
    [0.8528, 0.9459]
    """
    places = [np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in (x, lower, upper)]
    if not ((places[0] >= 0) & (places[0] <= 1)).all():
        raise InvalidInput("x", "another number", "lie in [0, 1]")
    levels = np.array([require_epsilon(level) for level in epsilons], dtype=np.float64)
    if name in _CLOSED:
        return np.asarray(np.prod(_CLOSED[name](name, levels[:, None], *places), axis=1))
    if name in _DEVIATIONS and delta is not None:
        deviations = np.array([[_DEVIATIONS[name](float(level), delta)] for level in levels])
        return np.asarray(np.prod(_gaussian_shares(name, deviations, *places), axis=1))
    laws = (perturbation(name, float(level), delta) for level in levels)
    return np.array([concentration(law, *places) for law in laws])


def _laplace_shares(name: str, eps: Floats, x: Floats, low: Floats, high: Floats) -> Floats:
    def cdf(z: Floats) -> Floats:
        tail = 0.5 * np.exp(-eps * np.abs(z))
        return np.asarray(np.where(z < 0, tail, 1 - tail))

    return _noise_shares(cdf, name == "laplace", x, low, high)


def _gaussian_shares(name: str, deviations: Floats, x: Floats, low: Floats, high: Floats) -> Floats:
    return _noise_shares(lambda z: np.asarray(special.ndtr(z / deviations)), name == "gaussian", x, low, high)


def _noise_shares(cdf: Callable[[Floats], Floats], is_clipped: bool, x: Floats, low: Floats, high: Floats) -> Floats:
    misses = low > high
    if is_clipped:  # moved into [0, 1]
        misses |= (high < 0) | (low > 1)
        low, high = np.where(low <= 0, -np.inf, low), np.where(high >= 1, np.inf, high)
    return np.asarray(np.where(misses, 0.0, np.clip(cdf(high - x) - cdf(low - x), 0.0, 1.0)))


def _exponential_shares(name: str, eps: Floats, x: Floats, low: Floats, high: Floats) -> Floats:
    last = EXPONENTIAL_POINTS - 1
    points = np.linspace(0.0, 1.0, EXPONENTIAL_POINTS)
    own = points[np.ceil(x * last - 0.5).astype(np.intp)]
    scale = eps / 2 if name == "exponential-printed" else eps
    weights = np.exp(-scale[:, :, None] * np.abs(points - own[:, None]))
    inside = (points >= low[:, None]) & (points <= high[:, None])
    return np.asarray((weights * inside).sum(axis=2) / weights.sum(axis=2))


def _piecewise_shares(name: str, eps: Floats, x: Floats, low: Floats, high: Floats) -> Floats:
    """Base density times the box, and the extra density times its overlap with the window."""
    base = np.exp(-eps / 2) if name == "pm" else -np.expm1(-eps) / eps
    width = (1 - base) / (base * np.expm1(eps))
    start = np.clip(x - width / 2, 0.0, 1 - width)
    low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    overlap = np.maximum(np.minimum(high, start + width) - np.maximum(low, start), 0.0)
    return np.asarray(np.clip(base * np.maximum(high - low, 0.0) + base * np.expm1(eps) * overlap, 0.0, 1.0))


def _k_rr_shares(name: str, eps: Floats, x: Floats, low: Floats, high: Floats) -> Floats:
    """How many points the box holds, and once more what the input's own point has beyond the others."""
    last = RR_POINTS - 1
    points = np.linspace(0.0, 1.0, RR_POINTS)
    count = np.searchsorted(points, high, side="right") - np.searchsorted(points, low, side="left")
    own = points[np.ceil(x * last - 0.5).astype(np.intp)]
    holds = (own >= low) & (own <= high)
    return np.asarray((np.maximum(count, 0) + np.expm1(eps) * holds) / (last + np.exp(eps)))


_CLOSED = {
    "laplace": _laplace_shares,
    "laplace-raw": _laplace_shares,
    "pm": _piecewise_shares,
    "sw": _piecewise_shares,
    "k-rr": _k_rr_shares,
    "exponential": _exponential_shares,
    "exponential-printed": _exponential_shares,
}
_DEVIATIONS = {"gaussian": clipped_gaussian_deviation, "gaussian-raw": gaussian_deviation}


def half_width(epsilon: float) -> float:
    """Half the window of the chapter's PM, its C.

    >>> round(half_width(2.0), 4)
    0.1345
    """
    return math.expm1(epsilon / 2) / (2 * math.expm1(epsilon))
