"""The unbiased piecewise mechanism of least worst-case variance.

On inputs [-1, 1] let the outputs be [-T, T], the base density b and the window width s, ``c = e^eps``. The window
carries the extra mass ``E = (c-1) b s``, so unbiasedness puts its centre at ``x / E``, and

    ``Var(Y|x) = 2 b T^3 / 3 + E s^2 / 12 + (1/E - 1) x^2``:

the ends are the worst inputs. At the optimum the window of x = 1 touches T, which leaves one scalar, s. PM (Wang et al.
2019) takes ``s = C - 1, T = C``; the optimum has 3% less variance at eps = 1 and 33% less at eps = 4. The chapter's
Theorem 10 stays in the catalogue as OGPM-U. The proof of optimality is `mechdesign.methods.unbiased_piecewise.proof`.
"""

from __future__ import annotations

import cmath
import math
import time

from mechdesign.errors import CheckFailed, NoAnswer
from mechdesign.mechanisms.catalogue import SYMMETRIC, largest_safe_height, pm
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, versions
from mechdesign.methods.unbiased_piecewise.proof import UnbiasedBound
from mechdesign.methods.unbiased_piecewise.supports import inputs_of
from mechdesign.values.declare import frozen
from mechdesign.values.later import optimize
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem

_WIDEST_GAP = 1e-6
_UNRESOLVED = "doubles do not resolve so small an eps: pass a larger one"


def answer(problem: Problem, demands: Demands) -> Design:
    """The optimal unbiased piecewise mechanism with its proof: a formula, which takes no time that could run out.

    >>> from mechdesign.words.classes import UnbiasedPiecewise
    >>> from mechdesign.words.privacy import Pure
    >>> problem = Problem(inputs=SYMMETRIC, loss=Power(2.0), privacy=Pure(1.0), among=UnbiasedPiecewise())
    >>> design = answer(problem, Demands())
    >>> round(design.certificate.lower, 5), round(design.certificate.upper, 5)
    (5.06568, 5.06568)
    """
    started, inputs, gap = time.perf_counter(), inputs_of(problem), demands.within(_WIDEST_GAP)
    shape = _optimal_shape(problem.epsilon)
    mechanism = _mechanism(problem.epsilon, shape).moved_to(inputs)
    evidence = _evidence(problem.epsilon, shape)
    report = Report(
        time.perf_counter() - started,
        "reduction to one scalar",
        versions("numpy", "scipy"),
        {"outputs": [mechanism.outputs.lower, mechanism.outputs.upper]},
        gap,
    )
    try:
        design = Design(problem, mechanism, evidence, report)
    except CheckFailed:  # the rounding of outputs so far away is a bias to speak of; PM is in the class
        lower = evidence.bound(problem, mechanism)
        upper = max(pm(problem.epsilon, inputs).worst_case(Power(2.0))[0], lower)
        raise NoAnswer(_UNRESOLVED, lower, upper) from None
    if design.certificate.relative_gap > gap:
        raise NoAnswer(_UNRESOLVED, design.certificate.lower, design.certificate.upper)
    return design


@frozen
class _Shape:
    """A member of the one-parameter family: ``s = narrowest * (1 + excess)``, T infinite at excess 0."""

    growth: float
    excess: complex

    @property
    def width(self) -> complex:
        return 2 / self.growth * (1 + self.excess)

    @property
    def reach(self) -> complex:
        """T, where the window of x = 1 ends: ``T = 1/E + s/2`` with ``1/E = 1 + 2T / ((c-1) s)``."""
        return (1 + self.width / 2) * (1 + 1 / self.excess)

    @property
    def base_density(self) -> complex:
        return 1 / (2 * self.reach + self.growth * self.width)

    @property
    def variance(self) -> complex:
        """``Var(Y|1)``."""
        extra = self.growth * self.base_density * self.width
        return 2 * self.base_density * self.reach**3 / 3 + extra * (1 / extra**2 + self.width**2 / 12) - 1


def _optimal_shape(epsilon: float) -> _Shape:
    growth = math.expm1(epsilon)

    def slope(log_excess: float) -> float:
        """Derivative of the variance in ``ln excess``, by a complex step: no cancellation."""
        step = 1e-30
        return _Shape(growth, cmath.exp(complex(log_excess, step))).variance.imag / step

    log_excess = float(optimize.brentq(slope, -60.0, 60.0, xtol=1e-15, rtol=1e-15, maxiter=500))
    return _Shape(growth, math.exp(log_excess))


def _mechanism(epsilon: float, shape: _Shape) -> Piecewise:
    low = shape.base_density.real
    outputs = Interval(-shape.reach.real, shape.reach.real)
    # the slope that makes the law unbiased for the heights as rounded
    extra = 1 - low * outputs.length
    high = largest_safe_height(epsilon, low)
    return Piecewise(epsilon, SYMMETRIC, outputs, low, high, AffineWindow(1 / extra, 0.0), "OGPM (unbiased)")


def _evidence(epsilon: float, shape: _Shape) -> UnbiasedBound:
    """The window of x = 1 continued to where the bound is stationary in T."""
    reach = shape.reach.real
    start = max(reach - shape.width.real, 0.0)
    near, far = math.exp(epsilon) * (reach - start), reach + start
    stop = reach * (near + far) / (near - far)
    candidates = [UnbiasedBound(start * (1 + k * 1e-15), stop) for k in range(-2, 3)]
    return max(candidates, key=lambda evidence: evidence.value(epsilon))
