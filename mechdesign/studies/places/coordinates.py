"""The mechanisms that TraCS puts into its coordinates, by name: printed, corrected and certified ones.

On the circle the piecewise optimum is the optimum over all mechanisms, in the worst case and on average under the
uniform prior alike (average any mechanism over rotations), so the certified names mean it there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.words import priors
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Circle, Interval
from mechdesign.words.losses import Absolute, Squared
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

Maker = Callable[[float, Interval | Circle], ScalarMechanism]
"""Makes a mechanism for an epsilon and a domain."""

GAP = 1e-3
"""How far the certified coordinates may be above their optimum, relatively: far below what a simulation can see."""

_FEW_CELLS = 6.0
_WIDE_GAP = 0.02
MOST_CERTIFIED = 10.0
"""The largest epsilon of a coordinate with a certified design: beyond it the steps are too narrow for the search."""


def _ogpm(epsilon: float, domain: Interval | Circle) -> ScalarMechanism:
    return catalogue.ogpm_circle(epsilon, domain) if isinstance(domain, Circle) else catalogue.ogpm(epsilon, domain)


def _ogpm_squared(epsilon: float, domain: Interval | Circle) -> ScalarMechanism:
    if isinstance(domain, Circle):
        return catalogue.ogpm_circle_squared(epsilon, domain)
    return catalogue.ogpm_squared(epsilon, domain)


@lru_cache(maxsize=256)
def _certified(epsilon: float, domain: Interval | Circle) -> ScalarMechanism:
    from mechdesign.methods.registry import solve

    if isinstance(domain, Circle):
        return catalogue.ogpm_circle(epsilon, domain)
    problem = Problem(inputs=domain, loss=Absolute(), privacy=Pure(_certifiable(epsilon)))
    return solve(problem, gap=_gap(epsilon)).scalar_law


@lru_cache(maxsize=256)
def _certified_squared(epsilon: float, domain: Interval | Circle) -> ScalarMechanism:
    from mechdesign.methods.registry import solve

    if isinstance(domain, Circle):
        return catalogue.ogpm_circle_squared(epsilon, domain)
    problem = Problem(inputs=domain, loss=Squared(), privacy=Pure(_certifiable(epsilon)))
    return solve(problem, gap=_gap(epsilon)).scalar_law


@lru_cache(maxsize=256)
def _certified_uniform(epsilon: float, domain: Interval | Circle) -> ScalarMechanism:
    from mechdesign.methods.registry import solve

    if isinstance(domain, Circle):
        return catalogue.ogpm_circle(epsilon, domain)
    prior = priors.uniform(domain)
    asked = Pure(_certifiable(epsilon))
    problem = Problem(inputs=domain, loss=Absolute(), privacy=asked, criterion=Average(prior))
    return solve(problem, gap=_gap(epsilon)).scalar_law


def _certifiable(epsilon: float) -> float:
    if epsilon > MOST_CERTIFIED:
        rule = f"be at most {MOST_CERTIFIED:g} for a coordinate with a certified design"
        raise InvalidInput("eps", epsilon, rule, "TraCS-C gives each coordinate half of eps; ogpm has no such limit")
    return epsilon


def _gap(epsilon: float) -> float:
    """Steps as narrow as a large epsilon makes them take a minute to prove within `GAP`."""
    return GAP if epsilon <= _FEW_CELLS else _WIDE_GAP


CERTIFIED: dict[str, Maker] = {
    "certified": _certified,
    "certified-squared": _certified_squared,
    "certified-uniform": _certified_uniform,
}
"""Those that are designed: beyond `MOST_CERTIFIED` there are none."""

COORDINATES: dict[str, Maker] = {
    "ogpm": _ogpm,
    "ogpm-squared": _ogpm_squared,
    "r-sw": catalogue.redesigned_sw,
    **CERTIFIED,
}
"""OGPM as the chapter prints it, with the squared loss's own heights, the redesigned SW of its appendix, and the optima
over all mechanisms: worst absolute error, worst squared error, average absolute error under the uniform prior."""


def coordinate_mechanism(maker: str | Maker, epsilon: float, domain: Interval | Circle) -> ScalarMechanism:
    """The named mechanism, or what a function makes, for one coordinate.

    >>> coordinate_mechanism("certified", 1.0, Interval(0, 1)).worst_case(Absolute())[0] < 0.3165 < 0.3775
    True
    """
    epsilon = require_epsilon(epsilon)
    if isinstance(maker, str):
        if maker not in COORDINATES:
            rule = f"be one of {', '.join(COORDINATES)}"
            raise InvalidInput("mechanism", maker, rule, "or pass a function of an epsilon and a domain")
        maker = COORDINATES[maker]
    made = maker(epsilon, domain)
    if made.inputs != domain:
        raise InvalidInput("mechanism", made.name, f"take inputs from {domain}", "make it for the domain it is given")
    return made
