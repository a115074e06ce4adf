"""OGPM: the optimal m-piece mechanism (program (5.2)/(5.3) of the chapter), by its reduction to one scalar.

**Problem.** Heights ``p_1 .. p_m`` shared by all inputs, ratios at most ``c = e^eps``, edges chosen for each input;
minimise the largest expected loss over the inputs.

**Three pieces suffice (the chapter's Hypothesis 1 is a theorem).** Let b be the smallest height. For a given b an
input's law q ranges over ``b <= q <= c b`` with total mass 1, whatever the number of pieces, and its expected loss is
linear in q. A linear function over a box with one equality is smallest at a *bang-bang* law: ``c b`` where the loss is
below some level v, ``b`` where it is above (the bathtub principle). The set where ``loss(., x) <= v`` is an interval
around x for a unimodal loss, hence three pieces inside the domain and two at its ends; a loss with k valleys gives up
to ``2k + 1``. Only the scalar b is left, and the error of the best law is convex in it.

**The value.** By duality, for any level v, ``E[loss] >= v + b * integral of phi(loss(y, x) - v) dy`` with
``phi(t) = min(t, c t)``. At the optimal b the derivative vanishes, so the integral is zero: the optimum *is* the level
v with ``integral of phi(loss(y, x) - v) dy = 0``, one monotone equation. The root is also the certificate: see
`mechdesign.design.piecewise.proof`.

**The worst input.** For ``|y - x|^p`` the outputs within distance r of x measure ``min(x + r, b') - max(x - r, a')``,
a concave function of x that is symmetric about the middle of the outputs. The input farthest from the middle has the
least of it at every r, hence the stochastically largest loss and the largest optimal error.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from mechdesign.design.evidence import EVERYWHERE, IN_CLASS, ONE_PIECE
from mechdesign.design.piecewise.proof import BathtubAtom, BathtubBound, exact_error
from mechdesign.design.result import Certificate, Design, Report, versions
from mechdesign.domains import Circle, Interval, require_between, require_domain
from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon
from mechdesign.exact.rational import float_down, float_up
from mechdesign.losses import Custom, Loss, Power
from mechdesign.mechanisms.catalogue import UNIT, two_heights
from mechdesign.mechanisms.piecewise import Piecewise, SublevelWindow
from mechdesign.mechanisms.serialise import domain_to_dict

Floats = NDArray[np.float64]

ABSOLUTE = Power(1.0)
MOST_PIECES = 100

_GRID_INPUTS = 129
_GRID_OUTPUTS = 4096
_ROUNDING = 1e-12
_CLOSED, _CLOSED_IN_DOUBLES = 1e-9, 1e-6
_MOST_DIGITS = 150
_FEWEST_DOUBLES = 2**17


@dataclass(frozen=True, slots=True)
class PiecewiseProblem:
    """The best piecewise mechanism for a loss: over the worst input, or at the input ``at``.

    ``pieces`` bounds the number of pieces at the input the program is solved at; None leaves it free.
    """

    epsilon: float
    loss: Loss = ABSOLUTE
    inputs: Interval | Circle = UNIT
    outputs: Interval | Circle | None = None
    at: float | None = None
    pieces: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        require_domain(self.inputs, (Interval, Circle), "inputs")
        if self.outputs is not None:
            require_domain(self.outputs, (Interval, Circle), "outputs")
        if self.at is not None and isinstance(self.inputs, Circle):
            raise InvalidInput("at", self.at, "be left out on a circle", "every input is alike there")
        if self.at is not None:
            object.__setattr__(self, "at", require_between(self.at, self.inputs, "at"))
        self._check_outputs()
        self._check_loss()
        if self.pieces is not None:
            self._check_pieces(self.pieces)

    def _check_outputs(self) -> None:
        outputs = self.output_domain
        if isinstance(self.inputs, Circle) or isinstance(outputs, Circle):
            if outputs != self.inputs:
                raise InvalidInput("outputs", str(outputs), f"be the inputs' own circle, {self.inputs}")
        elif not outputs.contains(self.inputs):
            raise InvalidInput("outputs", str(outputs), f"contain the inputs {self.inputs}", "widen the outputs")

    def _check_loss(self) -> None:
        if not isinstance(self.loss, Power | Custom):
            raise InvalidInput(
                "loss", self.loss, "be a loss", "use Absolute(), Squared(), Power(p) or Custom(function)"
            )
        exponent = self.loss.exponent if isinstance(self.loss, Power) else 1.0
        if abs((exponent + 1) * math.log10(self.output_domain.length)) > _MOST_DIGITS:
            raise InvalidInput(
                "domain", str(self.output_domain), "leave room for its errors in doubles", "rescale the data"
            )
        period = self.inputs.period if isinstance(self.inputs, Circle) else None
        if isinstance(self.loss, Power) and self.loss.period != period:
            kind = "on the line" if period is None else f"circular with period {period:g}"
            raise InvalidInput("loss", self.loss.name, f"be {kind} for inputs on {self.inputs}")

    def _check_pieces(self, pieces: int) -> None:
        if isinstance(pieces, bool) or not isinstance(pieces, int) or not 1 <= pieces <= MOST_PIECES:
            raise InvalidInput("pieces", pieces, f"be a whole number from 1 to {MOST_PIECES}", "3 are always enough")
        if pieces == 2 and isinstance(self.loss, Power) and not self.solved_at_an_end:
            raise InvalidInput(
                "pieces", pieces, "be 1 or at least 3: outputs lie on both sides of the input", "3 are always enough"
            )

    @property
    def output_domain(self) -> Interval | Circle:
        return self.inputs if self.outputs is None else self.outputs

    @property
    def hardest_input(self) -> float:
        """The input a program for a distance loss is solved at: the given one, or the farthest from the middle."""
        if self.at is not None:
            return self.at
        if isinstance(self.inputs, Circle):
            return self.inputs.middle
        ends = Fraction(self.output_domain.lower) + Fraction(self.output_domain.upper)
        return max(self.inputs.lower, self.inputs.upper, key=lambda x: abs(2 * Fraction(x) - ends))

    @property
    def solved_at_an_end(self) -> bool:
        """Whether the input the program is solved at is an end of the outputs."""
        outputs = self.output_domain
        return not isinstance(outputs, Circle) and self.hardest_input in (outputs.lower, outputs.upper)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "piecewise",
            "epsilon": self.epsilon,
            "loss": self.loss.name,
            "inputs": domain_to_dict(self.inputs),
            "outputs": domain_to_dict(self.output_domain),
            "criterion": "worst case" if self.at is None else f"at {self.at!r}",
            "pieces": self.pieces,
        }


def optimal_piecewise(problem: PiecewiseProblem) -> Design:
    """The optimal piecewise mechanism by the reduction: exact for any number of pieces.

    >>> design = optimal_piecewise(PiecewiseProblem(1.0))
    >>> round(design.mechanism.high, 4), round(design.certificate.lower, 5), round(design.certificate.upper, 5)
    (1.6487, 0.37754, 0.37754)
    """
    started = time.perf_counter()
    if isinstance(problem.loss, Power):
        mechanism, certificate, details = _solve_power(problem, problem.loss)
    else:
        mechanism, certificate, details = _solve_custom(problem)
    report = Report(
        time.perf_counter() - started,
        "reduction to one scalar",
        versions("numpy", "scipy"),
        MappingProxyType(details),
    )
    return Design(problem, mechanism, certificate, report)


Answer = tuple[Piecewise, Certificate, dict[str, Any]]


# -- powers of the distance -------------------------------------------------------------------------------------------


def _solve_power(problem: PiecewiseProblem, loss: Power) -> Answer:
    bathtub = Bathtub.of(problem)
    radius = bathtub.optimal_radius()
    _require_resolved(radius, bathtub)
    uniform = 1 / bathtub.length
    low = uniform if problem.pieces == 1 else bathtub.base_density(radius)
    mechanism = two_heights(problem.epsilon, problem.inputs, problem.output_domain, low, "OGPM")
    certificate = certify(problem, mechanism, radius)
    details: dict[str, Any] = {
        "solved_at": problem.hardest_input,
        "pieces_needed": 2 if problem.solved_at_an_end else 3,
        "one_piece_error": bathtub.uniform_error(),
        "optimum_for_any_number_of_pieces": bathtub.optimal_error(),
    }
    if problem.pieces == 2:
        details["note"] = "two pieces are the optimum at the end of the domain; inputs inside it get a third"
    return mechanism, certificate, details


def _require_resolved(radius: float, bathtub: Bathtub) -> None:
    """Far from zero a narrow window holds too few doubles for its errors to be checked: say so before trying."""
    farthest = max(abs(bathtub.lower), abs(bathtub.upper))
    if farthest > 2 * bathtub.length and radius < _FEWEST_DOUBLES * math.ulp(farthest):
        domain = str(Interval(bathtub.lower, bathtub.upper))
        rule = f"lie nearer to 0 at so large an eps: its window is only {radius:.2g} wide"
        raise InvalidInput("domain", domain, rule, "subtract the lower end from the data")


@dataclass(frozen=True, slots=True)
class Bathtub:
    """The one-scalar problem at x for outputs from ``lower`` to ``upper``; a circle is cut open opposite x."""

    epsilon: float
    exponent: float
    lower: float
    upper: float
    x: float

    @classmethod
    def of(cls, problem: PiecewiseProblem) -> Bathtub:
        assert isinstance(problem.loss, Power)
        outputs = problem.output_domain
        x = outputs.middle if isinstance(outputs, Circle) else problem.hardest_input
        return cls(problem.epsilon, problem.loss.exponent, outputs.lower, outputs.upper, x)

    @property
    def length(self) -> float:
        return self.upper - self.lower

    def window(self, radius: float) -> float:
        """Measure of the outputs within ``radius`` of x."""
        return min(radius, self.x - self.lower) + min(radius, self.upper - self.x)

    def optimal_radius(self) -> float:
        """The root of ``integral of phi(|y-x|^p - r^p) = 0``; the optimal error is ``r^p``."""
        farthest = max(self.x - self.lower, self.upper - self.x)
        root = optimize.brentq(self.gain, 0.0, farthest, xtol=1e-300, rtol=1e-15, maxiter=2000)
        return float(root)

    def optimal_error(self) -> float:
        """The least error at x over all piecewise laws."""
        return float(self.optimal_radius() ** self.exponent)

    def gain(self, radius: float) -> float:
        """``integral of phi(|y-x|^p - r^p)`` over the outputs, decreasing in r."""
        everywhere = self._excess(radius, self.x - self.lower, self.upper - self.x)
        inside = self._excess(radius, min(radius, self.x - self.lower), min(radius, self.upper - self.x))
        return everywhere + math.expm1(self.epsilon) * inside

    def _excess(self, radius: float, left: float, right: float) -> float:
        power = self.exponent + 1
        return float((left**power + right**power) / power - radius**self.exponent * (left + right))

    def base_density(self, radius: float) -> float:
        return 1 / (self.length + math.expm1(self.epsilon) * self.window(radius))

    def uniform_error(self) -> float:
        """The error of the uniform law, which is the best that one piece can do."""
        return self._excess(0.0, self.x - self.lower, self.upper - self.x) / self.length


def certify(problem: PiecewiseProblem, mechanism: Piecewise, radius: float) -> Certificate:
    """``[lower, upper]`` for a distance loss: rational arithmetic for whole exponents, doubles (claimed) otherwise."""
    assert isinstance(problem.loss, Power)
    bathtub = Bathtub.of(problem)
    exponent, x = problem.loss.exponent, problem.hardest_input
    scope = EVERYWHERE if isinstance(problem.inputs, Circle) else IN_CLASS
    loss = mechanism.privacy_loss()
    if problem.pieces == 1:
        upper = float(mechanism.expected_loss(x, problem.loss))
        return Certificate(upper * (1 - _ROUNDING), upper, ONE_PIECE, True, loss)
    if exponent == int(exponent):
        evidence = _best_evidence(bathtub, radius)
        lower = float_down(evidence.value())
        upper = float_up(exact_error(mechanism, x, int(exponent)))
        certificate = Certificate(lower, upper, scope, False, loss, evidence)
    else:
        lower = radius**exponent + min(0.0, bathtub.gain(radius)) / bathtub.length
        upper = float(mechanism.expected_loss(x, problem.loss))
        certificate = Certificate(lower * (1 - _ROUNDING), upper * (1 + _ROUNDING), scope, True, loss)
    if problem.at is None:
        _check_worst_input(mechanism, problem.loss, certificate.upper)
    if certificate.relative_gap > (_CLOSED_IN_DOUBLES if certificate.claimed else _CLOSED):
        raise CheckFailed(f"the bounds [{certificate.lower!r}, {certificate.upper!r}] did not close")
    return certificate


def _best_evidence(bathtub: Bathtub, radius: float) -> BathtubBound:
    """The atom whose bound is best among a few doubles at and below the root: only there is the exact gain positive."""
    candidates = [radius]
    for _ in range(4):
        candidates.append(math.nextafter(candidates[-1], 0.0))
    bounds = [
        BathtubBound(
            bathtub.epsilon, int(bathtub.exponent), bathtub.lower, bathtub.upper, (BathtubAtom(bathtub.x, candidate),)
        )
        for candidate in candidates
    ]
    return max(bounds, key=BathtubBound.value)


def _check_worst_input(mechanism: Piecewise, loss: Power, upper: float) -> None:
    found, where = mechanism.worst_case(loss)
    if found > upper * (1 + 1e-9):
        raise CheckFailed(f"the input {where!r} has error {found!r}, above the proven worst case {upper!r}")


# -- any other loss ---------------------------------------------------------------------------------------------------


def _solve_custom(problem: PiecewiseProblem) -> Answer:
    """Level sets and inputs are sampled on grids, so the bounds are claimed, not proven."""
    outputs = problem.output_domain
    inputs = np.array([problem.at]) if problem.at is not None else _grid(problem.inputs, _GRID_INPUTS)
    sampled = _SampledBathtubs.of(problem.epsilon, problem.loss, inputs, outputs)
    lower, low = (sampled.uniform_error(), 1 / outputs.length) if problem.pieces == 1 else sampled.minimise()
    name, window = f"OGPM ({problem.loss.name})", SublevelWindow(problem.loss)
    mechanism = two_heights(problem.epsilon, problem.inputs, outputs, low, name, window)
    finer = inputs if problem.at is not None else _grid(problem.inputs, 2 * _GRID_INPUTS - 1)
    upper = float(np.max(mechanism.expected_loss(finer, problem.loss)))
    needed = max(mechanism.pieces(x).densities.size for x in inputs.tolist())
    if problem.pieces is not None and 1 < problem.pieces < needed:
        raise InvalidInput("pieces", problem.pieces, f"be 1 or at least {needed} for this loss")
    if lower > 2 * upper:
        raise CheckFailed(f"the sampled bounds [{lower!r}, {upper!r}] contradict each other")
    # cells of outputs are as coarse an image of the loss as half as many are of them, or as the upper end shows
    coarse = sampled.coarser()
    again = coarse.uniform_error() if problem.pieces == 1 else coarse.minimise()[0]
    doubt = max(abs(lower - again), lower - upper, 0.0)
    scope = ONE_PIECE if problem.pieces == 1 else IN_CLASS
    certificate = Certificate(max(min(lower, upper) - doubt, 0.0), upper, scope, True, mechanism.privacy_loss())
    details = {
        "pieces_needed": needed,
        "one_piece_error": sampled.uniform_error(),
        "inputs_sampled": int(finer.size),
        "note": "the loss is a function: bounds come from samples of it and are claimed, not proven",
    }
    return mechanism, certificate, details


def _grid(domain: Interval | Circle, count: int) -> Floats:
    return np.linspace(domain.lower, domain.upper, count)


@dataclass(frozen=True, slots=True)
class _SampledBathtubs:
    """For each sampled input, the losses of equal cells of outputs in increasing order, and their running sums."""

    growth: float
    cell: float
    losses: Floats
    sums: Floats

    @classmethod
    def of(cls, epsilon: float, loss: Loss, inputs: Floats, outputs: Interval | Circle) -> _SampledBathtubs:
        cell = outputs.length / _GRID_OUTPUTS
        middles = outputs.lower + cell * (np.arange(_GRID_OUTPUTS) + 0.5)
        ordered = np.sort(np.stack([loss(middles, x) for x in inputs.tolist()]), axis=1)
        sums = np.concatenate([np.zeros((inputs.size, 1)), np.cumsum(ordered, axis=1)], axis=1) * cell
        return cls(float(np.expm1(epsilon)), cell, ordered, sums)

    @property
    def length(self) -> float:
        return self.cell * int(self.losses.shape[1])

    def coarser(self) -> _SampledBathtubs:
        """The same with every second of the ordered losses, twice as wide."""
        losses = self.losses[:, 1::2]
        sums = np.concatenate([np.zeros((losses.shape[0], 1)), np.cumsum(losses, axis=1)], axis=1) * (2 * self.cell)
        return _SampledBathtubs(self.growth, 2 * self.cell, losses, sums)

    def uniform_error(self) -> float:
        return float(np.max(self.sums[:, -1])) / self.length

    def _errors(self, low: float) -> tuple[Floats, Floats]:
        """Error of the best law with base density ``low``, and its derivative in ``low``, for each input."""
        cells = (1 / low - self.length) / self.growth / self.cell
        whole = min(int(cells), self.losses.shape[1] - 1)
        level = self.losses[:, whole]
        inside = self.sums[:, whole] + (cells - whole) * self.cell * level
        slope = self.sums[:, -1] + self.growth * inside - level / low
        return low * (self.sums[:, -1] + self.growth * inside), slope

    def minimise(self) -> tuple[float, float]:
        """``(lower bound, base density)`` of the least worst error: bisection on a convex function's slope."""
        start, stop = 1 / (self.length * (1 + self.growth)), 1 / self.length
        for _ in range(200):
            middle = start + (stop - start) / 2
            if not start < middle < stop:
                break
            errors, slopes = self._errors(middle)
            if float(slopes[int(np.argmax(errors))]) < 0:
                start = middle
            else:
                stop = middle
        value, best = min((float(np.max(self._errors(low)[0])), low) for low in (start, stop))
        return value, best
