"""Every mechanism of the catalogue on several domains, and an integrator that shares nothing with the package's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from mechdesign.mechanisms import Mechanism, Piecewise, SublevelWindow, catalogue as c
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.losses import Custom, Power

TAIL = 45.0  # e^-45 is far below rounding


_FOUND: dict[tuple[str, float], list[float]] = {}


class Case(NamedTuple):
    """A mechanism and what a test must know to integrate against it without asking the mechanism."""

    label: str
    mechanism: Mechanism
    reach: float  # outputs lie within this distance of the inputs, but for a mass of e^-45
    atoms: tuple[float, ...] = ()
    share: float | None = None  # of a staircase's step

    @property
    def length(self) -> float:
        return self.mechanism.inputs.length

    @property
    def xs(self) -> tuple[float, ...]:
        inputs = self.mechanism.inputs
        if isinstance(inputs, Finite):
            return (inputs.points[0], inputs.points[len(inputs) // 2], inputs.points[-1])
        return (inputs.lower, inputs.lower + 0.3 * inputs.length, inputs.upper)

    @property
    def span(self) -> tuple[float, float]:
        inputs = self.mechanism.inputs
        return inputs.lower - self.reach, inputs.upper + self.reach

    def edges(self, x: float) -> list[float]:
        """Where the density jumps or bends, found by looking at it (or by the published formula of the staircase)."""
        inputs, law = self.mechanism.inputs, self.mechanism
        if self.share is not None:
            steps = [k + part for k in range(math.ceil(TAIL / law.epsilon) + 3) for part in (0.0, self.share)]
            return [x + sign * step * inputs.length for step in steps for sign in (-1, 1)]
        bends = [x, inputs.lower, inputs.upper]
        if isinstance(inputs, Circle):
            bends.append((x + inputs.period / 2) % inputs.period)
        if (self.label, x) not in _FOUND:
            grid = np.linspace(*self.span, 6001)
            level = law.density(grid, x)
            if np.unique(level).size > 3:  # not piecewise constant
                return bends
            _FOUND[self.label, x] = [_jump(law, x, grid[k], grid[k + 1]) for k in np.flatnonzero(np.diff(level))]
        return bends + _FOUND[self.label, x]


def _jump(law: Mechanism, x: float, start: float, stop: float) -> float:
    left = float(law.density(start, x))
    for _ in range(60):
        middle = (start + stop) / 2
        if float(law.density(middle, x)) == left:
            start = middle
        else:
            stop = middle
    return start


_T = np.arange(-126, 127) / 40
_TURN = math.pi / 2 * np.sinh(_T)
_PLACE = 1 / (1 + np.exp(-2 * _TURN))
_WEIGHT = math.pi / 2 * np.cosh(_T) / np.cosh(_TURN) ** 2 / 2 / 40


def tanh_sinh(function: Callable[[Any], Any], cuts: Sequence[float]) -> float:
    """Integral over the range of the cuts by the double exponential rule, which forgives singular ends."""
    edges = np.unique(np.asarray(cuts, dtype=float))
    widths = np.diff(edges)[:, None]
    return float(np.sum(widths * _WEIGHT * function(edges[:-1, None] + widths * _PLACE)))


def expectation(case: Case, x: float, g: Callable[[Any], Any], kinks: Sequence[float] = ()) -> float:
    """``E[g(Y) | x]`` from the density and the atoms alone."""
    law = case.mechanism
    total = sum(float(law.mass(atom, x)) * float(g(np.asarray(atom))) for atom in case.atoms)
    if isinstance(law.inputs, Finite):
        return total
    lower, upper = case.span
    if not lower < upper:
        return total
    inner = [cut for cut in [*case.edges(x), *kinks] if lower < cut < upper]
    cuts = [lower, upper, *np.linspace(lower, upper, 18)[1:-1], *inner]
    return total + tanh_sinh(lambda y: g(y) * law.density(y, x), cuts)


UNIT, SHIFTED, FAR = Interval(0, 1), Interval(-5, 3), Interval(1e3, 1e3 + 2)
SETTINGS = [(1.0, UNIT), (0.3, SHIFTED), (4.0, FAR)]
CIRCLES = [(1.0, Circle()), (4.0, Circle(360.0))]
UNBIASED_POINTS = (-2.0, -0.3, 0.4, 2.0)
BIMODAL = Custom(lambda y, x: np.minimum(np.abs(y - x), 0.05 + np.abs(y - (1 - x))), "bimodal", lambda x: (x, 1 - x))


def _on_interval(key: str, epsilon: float, domain: Interval) -> Case:
    law = c.build(key, epsilon, domain)
    label = f"{key}-{epsilon:g}-{domain}"
    ends = (domain.lower, domain.upper)
    half = domain.length / 2
    pm_reach = half / math.tanh(epsilon / 4) - half
    match key:
        case "laplace":
            return Case(label, law, TAIL * domain.length / epsilon)
        case "staircase":
            share = 1 / (1 + math.exp(epsilon / 2))
            return Case(label, law, domain.length * (math.ceil(TAIL / epsilon) + 1), share=share)
        case "t-laplace" | "t-pm" | "t-sw":
            return Case(label, law, 0.0, atoms=ends)
        case "duchi" | "rr-bins":
            return Case(label, law, -half, atoms=law.outputs.points)
        case "hm":
            if epsilon < 0.61:
                return Case(label, law, -half, atoms=law.outputs.points)
            return Case(label, law, pm_reach, atoms=law.atoms.outputs.points)
        case "pm":
            return Case(label, law, pm_reach)
        case "ogpm-u":
            return Case(label, law, domain.length / math.tanh(epsilon / 4))
        case "sw":
            e = math.exp(epsilon)
            return Case(label, law, domain.length * (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon)))
    return Case(label, law, 0.0)


def _on_points(key: str, epsilon: float, domain: Finite) -> Case:
    law = c.build(key, epsilon, domain)
    label = f"{key}-{epsilon:g}-{len(domain)} points"
    if isinstance(law.outputs, Finite):
        return Case(label, law, 0.0, atoms=law.outputs.points)
    reach = math.ceil(1.4 * TAIL * domain.length / epsilon)
    atoms = range(int(domain.lower) - reach, int(domain.upper) + reach + 1)
    return Case(label, law, float(reach), atoms=tuple(map(float, atoms)))


TEN = Finite(tuple(range(-3, 7)))
ON_TEN = [(1.5, TEN), (2.0, TEN), (16.0, Finite((0, 1))), (1.5, Finite((3,))), (0.7, Finite((-1.5, 0.0, 0.25)))]


def interval_cases() -> list[Case]:
    return [_on_interval(entry.key, *setting) for entry in c.ON_INTERVALS for setting in SETTINGS] + [
        Case("gaussian", c.gaussian(1.0, 0.7, SHIFTED), 7.0),
        Case("sublevel-power", Piecewise(2.0, UNIT, UNIT, 0.4, 2.5, SublevelWindow(Power(1.5))), 0.0),
        Case("sublevel-bimodal", Piecewise(2.0, UNIT, UNIT, 0.4, 2.5, SublevelWindow(BIMODAL)), 0.0),
        Case("wider-outputs", Piecewise(1.5, UNIT, Interval(-0.5, 2.0), 0.2, 0.8), 1.0),
        Case("two-heights", c.two_heights(1.5, UNIT, Interval(-0.5, 2.0), 0.2), 1.0),
        Case(
            "unbiased-window",
            UnbiasedWindow(
                2.0, Interval(-1, 1), UNBIASED_POINTS, [0.11, 0.04, 0.05, 0.11], math.exp(2) * (1 - 2.0**-50)
            ),
            -1.0,
            atoms=UNBIASED_POINTS,
        ),
    ]


def circle_cases() -> list[Case]:
    return [
        Case(f"{entry.key}-{epsilon:g}-{domain}", c.build(entry.key, epsilon, domain), 0.0)
        for entry in c.ON_CIRCLES
        for epsilon, domain in CIRCLES
    ]


def point_cases() -> list[Case]:
    return [
        _on_points(entry.key, epsilon, domain)
        for entry in c.ON_POINTS
        for epsilon, domain in ON_TEN
        if entry.serves(domain)
    ]


def private_cases() -> list[Case]:
    """All but Gaussian noise, whose pure epsilon is infinite."""
    return [case for case in interval_cases() + circle_cases() + point_cases() if case.label != "gaussian"]


ON_INTERVALS, ON_CIRCLES, ON_POINTS = interval_cases(), circle_cases(), point_cases()


@pytest.fixture(name="expectation")
def _expectation() -> Callable[..., float]:
    return expectation


@pytest.fixture(name="private_cases")
def _private_cases() -> Callable[[], list[Case]]:
    return private_cases


@pytest.fixture(name="tanh_sinh")
def _tanh_sinh() -> Callable[..., float]:
    return tanh_sinh


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    families = {
        "case": ON_INTERVALS + ON_CIRCLES + ON_POINTS,
        "interval_case": ON_INTERVALS,
        "affine_case": [case for case in ON_INTERVALS + ON_CIRCLES + ON_POINTS if "sublevel" not in case.label],
        "circle_case": ON_CIRCLES,
        "point_case": ON_POINTS,
        "line_case": ON_INTERVALS + ON_POINTS,
        "private_case": private_cases(),
    }
    for name, cases in families.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, cases, ids=[case.label for case in cases])
