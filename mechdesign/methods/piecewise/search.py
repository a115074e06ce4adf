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
`mechdesign.methods.piecewise.proof`.

**The worst input.** For ``|y - x|^p`` the outputs within distance r of x measure ``min(x + r, b') - max(x - r, a')``,
a concave function of x that is symmetric about the middle of the outputs. The input farthest from the middle has the
least of it at every r, hence the stochastically largest loss and the largest optimal error.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.mechanisms.catalogue import two_heights
from mechdesign.mechanisms.piecewise import Piecewise, SublevelWindow
from mechdesign.methods.method import Demands
from mechdesign.methods.piecewise.proof import BathtubBound, PiecewiseClaim, sampled_inputs
from mechdesign.methods.piecewise.supports import domains_of, is_solved_at_an_end, loss_of, pieces_of, solved_at
from mechdesign.methods.result import Design, Report, versions
from mechdesign.values.declare import frozen
from mechdesign.values.later import optimize
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Circle, Interval
from mechdesign.words.losses import Loss, Power
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_GRID_INPUTS = 129
_GRID_OUTPUTS = 4096
_ROUNDING = 1e-12
_CLOSED, _CLOSED_IN_DOUBLES = 1e-9, 1e-6
_FEWEST_DOUBLES = 2**17


def answer(problem: Problem, demands: Demands) -> Design:
    """The optimal piecewise mechanism by the reduction, exact for any number of pieces: it takes no time to speak of.

    >>> from mechdesign.words import classes, privacy
    >>> asked = Problem(inputs=(0, 1), loss="absolute", privacy=privacy.Pure(1.0), among=classes.Piecewise())
    >>> design = answer(asked, Demands())
    >>> round(design.mechanism.high, 4), round(design.certificate.lower, 5), round(design.certificate.upper, 5)
    (1.6487, 0.37754, 0.37754)
    """
    started = time.perf_counter()
    loss = loss_of(problem)
    if isinstance(loss, Power):
        mechanism, evidence, details = _solve_power(problem, loss)
    else:
        mechanism, evidence, details = _solve_custom(problem, loss)
    seconds, used = time.perf_counter() - started, versions("numpy", "scipy")
    design = Design(
        problem, mechanism, evidence, Report(seconds, "reduction to one scalar", used, details, demands.gap)
    )
    if isinstance(loss, Power):
        _require_closed(problem, design, loss)
    return demands.met_by(design, "the reduction ended")


Answer = tuple[Piecewise, BathtubBound | PiecewiseClaim, dict[str, Any]]


# -- powers of the distance -------------------------------------------------------------------------------------------


def _solve_power(problem: Problem, loss: Power) -> Answer:
    bathtub = Bathtub.of(problem)
    radius = bathtub.optimal_radius()
    _require_resolved(radius, bathtub)
    uniform = 1 / bathtub.length
    low = uniform if pieces_of(problem) == 1 else bathtub.base_density(radius)
    mechanism = two_heights(problem.epsilon, *domains_of(problem), low, "OGPM")
    evidence = _evidence(problem, loss, bathtub, mechanism, radius)
    details: dict[str, Any] = {
        "solved_at": solved_at(problem),
        "pieces_needed": 2 if is_solved_at_an_end(problem) else 3,
        "one_piece_error": bathtub.uniform_error(),
        "optimum_for_any_number_of_pieces": bathtub.optimal_error(),
    }
    if pieces_of(problem) == 2:
        details["note"] = "two pieces are the optimum at the end of the domain; inputs inside it get a third"
    return mechanism, evidence, details


def _require_resolved(radius: float, bathtub: Bathtub) -> None:
    """Far from zero a narrow window holds too few doubles for its errors to be checked: say so before trying."""
    farthest = max(abs(bathtub.lower), abs(bathtub.upper))
    if farthest > 2 * bathtub.length and radius < _FEWEST_DOUBLES * math.ulp(farthest):
        domain = str(Interval(bathtub.lower, bathtub.upper))
        rule = f"lie nearer to 0 at so large an eps: its window is only {radius:.2g} wide"
        raise InvalidInput("domain", domain, rule, "subtract the lower end from the data")


@frozen
class Bathtub:
    """The one-scalar problem at x for outputs from ``lower`` to ``upper``; a circle is cut open opposite x."""

    epsilon: float
    exponent: float
    lower: float
    upper: float
    x: float

    @classmethod
    def of(cls, problem: Problem) -> Bathtub:
        """Of a power of the distance."""
        assert isinstance(problem.loss, Power)
        outputs = domains_of(problem)[1]
        return cls(problem.epsilon, problem.loss.exponent, outputs.lower, outputs.upper, solved_at(problem))

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


def _evidence(
    problem: Problem, loss: Power, bathtub: Bathtub, mechanism: Piecewise, radius: float
) -> BathtubBound | PiecewiseClaim:
    """The root for whole exponents; for others, and for one piece, what doubles say."""
    if pieces_of(problem) == 1:
        error = float(mechanism.expected_loss(solved_at(problem), loss))
        return PiecewiseClaim(error * (1 - _ROUNDING))
    if loss.exponent == int(loss.exponent):
        return _best_bound(problem, radius)
    lower = radius**loss.exponent + min(0.0, bathtub.gain(radius)) / bathtub.length
    return PiecewiseClaim(lower * (1 - _ROUNDING))


def _best_bound(problem: Problem, radius: float) -> BathtubBound:
    """The best among a few doubles at and below the root: only there is the exact gain positive."""
    candidates = [radius]
    for _ in range(4):
        candidates.append(math.nextafter(candidates[-1], 0.0))
    return max(map(BathtubBound, candidates), key=lambda evidence: evidence.value(problem))


def _require_closed(problem: Problem, design: Design, loss: Power) -> None:
    """Value and bound must meet, and no input may have a larger error than the one that was solved at."""
    certificate = design.certificate
    if certificate.relative_gap > (_CLOSED_IN_DOUBLES if certificate.claimed else _CLOSED):
        raise CheckFailed(f"the bounds [{certificate.lower!r}, {certificate.upper!r}] did not close")
    assert isinstance(design.mechanism, Piecewise)
    if isinstance(problem.criterion, Worst) and pieces_of(problem) != 1:
        _check_worst_input(design.mechanism, loss, certificate.upper)


def _check_worst_input(mechanism: Piecewise, loss: Power, upper: float) -> None:
    found, where = mechanism.worst_case(loss)
    if found > upper * (1 + 1e-9):
        raise CheckFailed(f"the input {where!r} has error {found!r}, above the proven worst case {upper!r}")


# -- any other loss ---------------------------------------------------------------------------------------------------


def _solve_custom(problem: Problem, loss: Loss) -> Answer:
    """Level sets and inputs are sampled on grids, so the bounds are claimed, not proven."""
    outputs, pieces = domains_of(problem)[1], pieces_of(problem)
    inputs = sampled_inputs(problem, _GRID_INPUTS)
    sampled = _SampledBathtubs.of(problem.epsilon, loss, inputs, outputs)
    lower, low = (sampled.uniform_error(), 1 / outputs.length) if pieces == 1 else sampled.minimise()
    name, window = f"OGPM ({loss.name})", SublevelWindow(loss)
    mechanism = two_heights(problem.epsilon, *domains_of(problem), low, name, window)
    finer = sampled_inputs(problem, 2 * _GRID_INPUTS - 1)
    upper = float(np.max(mechanism.expected_loss(finer, loss)))
    needed = max(mechanism.pieces(x).densities.size for x in inputs.tolist())
    if pieces is not None and 1 < pieces < needed:
        raise InvalidInput("pieces", pieces, f"be 1 or at least {needed} for this loss")
    if lower > 2 * upper:
        raise CheckFailed(f"the sampled bounds [{lower!r}, {upper!r}] contradict each other")
    # cells of outputs are as coarse an image of the loss as half as many are of them, or as the upper end shows
    coarse = sampled.coarser()
    again = coarse.uniform_error() if pieces == 1 else coarse.minimise()[0]
    doubt = max(abs(lower - again), lower - upper, 0.0)
    details = {
        "pieces_needed": needed,
        "one_piece_error": sampled.uniform_error(),
        "inputs_sampled": int(finer.size),
        "note": "the loss is a function: bounds come from samples of it and are claimed, not proven",
    }
    return mechanism, PiecewiseClaim(max(min(lower, upper) - doubt, 0.0)), details


@frozen
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
