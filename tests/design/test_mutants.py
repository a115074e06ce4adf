"""Random edits of saved designs of every kind of evidence: no file is read that says something false.

Truth is decided here without the package's proofs. Laws are computed again from the parameters of the mechanism, their
errors by sums and quadrature; a lower bound is false if a mechanism of the class does better, and the mechanisms tried
are the optimum itself (a scalar search, a linear program, all partitions) or the best found for the honest question.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import cvxpy
import numpy as np
import pytest
from mechdesign.mechanisms.serialise import mechanism_from_dict
from scipy import optimize

from mechdesign import (
    Absolute,
    Circle,
    Finite,
    Interval,
    InvalidInput,
    MinimaxProblem,
    PiecewiseProblem,
    PolarProblem,
    Power,
    PriorProblem,
    Squared,
    TradeOffProblem,
    UnbiasedPiecewiseProblem,
    UnbiasedProblem,
    files,
    optimal_minimax,
    optimal_piecewise,
    optimal_polar,
    optimal_prior,
    optimal_trade_off,
    optimal_unbiased,
    optimal_unbiased_piecewise,
    priors,
)
from mechdesign.design import AdditiveProblem, FiniteProblem, JointProblem, custom, optimal_additive, optimal_finite
from mechdesign.design.joint.search import optimal_joint
from mechdesign.design.result import FORMAT, VERSION
from mechdesign.design.saved import EVIDENCE, SavedDesign, design_of_document
from mechdesign.errors import CheckFailed

Floats = np.ndarray[Any, np.dtype[np.float64]]
Document = dict[str, Any]

UNIT = Interval(0, 1)
DATA = priors.Atoms.of_data([0.125, 0.25, 0.25, 0.75])
MATRIX = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [4.0, 2.0, 0.0]])
SCALE = Finite((1.0, 2.0, 4.0))
HERE = 1e-9
"""Relative: what doubles may lose in the errors computed here."""

DESIGNS: dict[str, Callable[[], Any]] = {
    "piecewise": lambda: optimal_piecewise(PiecewiseProblem(1.0, Squared())),
    "piecewise onto more": lambda: optimal_piecewise(PiecewiseProblem(1.0, Absolute(), UNIT, Interval(-0.5, 2))),
    "piecewise at": lambda: optimal_piecewise(PiecewiseProblem(1.0, Absolute(), at=0.25)),
    "circle": lambda: optimal_piecewise(PiecewiseProblem(1.0, Squared(360.0), Circle(360.0))),
    "unbiased piecewise": lambda: optimal_unbiased_piecewise(UnbiasedPiecewiseProblem(4.0)),
    "minimax": lambda: optimal_minimax(MinimaxProblem(1.0, Squared(), gap=1e-2)),
    "prior": lambda: optimal_prior(PriorProblem(1.0, DATA, Absolute())),
    "prior squared": lambda: optimal_prior(PriorProblem(1.0, DATA, Squared())),
    "density": lambda: optimal_prior(PriorProblem(1.0, priors.normal(0.3, 0.2, UNIT), Squared(), gap=1e-2)),
    "trade-off": lambda: optimal_trade_off(TradeOffProblem(1.0, DATA, Squared(), cap=0.2, gap=1e-2)),
    "trade-off least": lambda: optimal_trade_off(TradeOffProblem(1.0, DATA, Squared(), gap=1e-2, slack=0.02)),
    "unbiased": lambda: optimal_unbiased(UnbiasedProblem(1.0, priors.uniform(Interval(-1, 1)), size=3, gap=1e-2)),
    "additive": lambda: optimal_additive(
        AdditiveProblem(2.0, priors.uniform(Interval(-1, 1)), bins=2, reach=3, tail=1, gap=1e-2)
    ),
    "matrix": lambda: optimal_finite(FiniteProblem(1.0, MATRIX)),
    "matrix prior": lambda: optimal_finite(FiniteProblem(1.0, MATRIX, "prior", [0.5, 0.25, 0.25])),
    "matrix least": lambda: optimal_finite(FiniteProblem(1.0, MATRIX, "lexicographic", [0.5, 0.25, 0.25])),
    "custom": lambda: custom(
        1.0, (0, 1, 2), (0, 1, 2), lambda q: cvxpy.sum(cvxpy.multiply(MATRIX, q)), lambda q: [q[0, 0] <= 0.5]
    ),
    "whole numbers": lambda: optimal_minimax(MinimaxProblem(1.0, Absolute(), SCALE)),
    "whole numbers prior": lambda: optimal_prior(
        PriorProblem(1.0, priors.Atoms([1.0, 2.0, 4.0], [0.5, 0.25, 0.25]), Squared(), SCALE)
    ),
    "claimed": lambda: optimal_piecewise(PiecewiseProblem(1.0, Power(1.5))),
    "claimed minimax": lambda: optimal_minimax(MinimaxProblem(1.0, Power(1.5), gap=1e-2)),
    "polar": lambda: optimal_polar(PolarProblem(4.0)),
}


@cache
def _honest(name: str) -> Any:
    return DESIGNS[name]()


def _honest_is_claimed(name: str) -> bool:
    return "claimed" in name or name == "polar"


@cache
def _document(name: str) -> Document:
    written = files.dump_json({"format": FORMAT, "version": VERSION} | _honest(name).to_dict())
    document = json.loads(written)
    document["report"] = {}
    assert isinstance(document, dict)
    return document


# -- laws and errors, computed again ----------------------------------------------------------------------------------


def _filled(points: Floats, base: Floats, ratio: float, x: Floats) -> Floats:
    """Rows of a window mechanism: outputs nearest to the input are raised to ``ratio * base`` until all is spent."""
    gaps = abs(points[None, :] - x[:, None])
    order = np.argsort(gaps, axis=1, kind="stable")
    room = (ratio - 1) * base[order]
    spent = np.minimum(np.maximum((1 - base.sum()) - (np.cumsum(room, axis=1) - room), 0), room)
    rows = np.empty_like(spent)
    np.put_along_axis(rows, order, base[order] + spent, axis=1)
    return rows


def _unbiased_rows(points: Floats, base: Floats, ratio: float, x: Floats) -> Floats:
    """Rows of an unbiased window mechanism: the stretch of base that is raised is where it makes the mean x."""
    ends = np.concatenate([[0.0], np.cumsum(base)])
    length = (1 - ends[-1]) / (ratio - 1)

    def rows(starts: Floats) -> Floats:
        overlap = np.minimum(ends[None, 1:], starts[:, None] + length) - np.maximum(ends[None, :-1], starts[:, None])
        return np.asarray(base[None, :] + (ratio - 1) * np.maximum(overlap, 0))

    low, high = np.zeros(x.size), np.full(x.size, ends[-1] - length)
    for _ in range(60):
        middle = (low + high) / 2
        below = rows(middle) @ points < x
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return rows((low + high) / 2)


def _piecewise_moment(mechanism: Any, x: Floats, exponent: float) -> Floats:
    """``E|Y - x|^exponent`` of a window of height ``high`` above ``low``, from its primitive."""
    low, high, window = mechanism.low, mechanism.high, mechanism.window
    if isinstance(mechanism.inputs, Circle):  # every input is alike: take the middle
        start, stop = 0.0, mechanism.inputs.period
        x = np.full(1, stop / 2)
        centre = x
    else:
        start, stop = mechanism.outputs.lower, mechanism.outputs.upper
        centre = window.pivot + window.slope * (x - window.pivot) + window.offset
    width = (1 - low * (stop - start)) / (high - low)
    left = np.clip(centre - width / 2, start, stop - width)

    def primitive(z: Floats) -> Floats:
        return np.asarray(np.sign(z) * abs(z) ** (exponent + 1) / (exponent + 1))

    everywhere = primitive(stop - x) - primitive(start - x)
    inside = primitive(left + width - x) - primitive(left - x)
    return np.asarray(low * everywhere + (high - low) * inside)


def _piecewise_bias(mechanism: Any, x: Floats) -> Floats:
    low, high, window = mechanism.low, mechanism.high, mechanism.window
    start, stop = mechanism.outputs.lower, mechanism.outputs.upper
    width = (1 - low * (stop - start)) / (high - low)
    centre = window.pivot + window.slope * (x - window.pivot) + window.offset
    left = np.clip(centre - width / 2, start, stop - width)
    whole = ((stop - x) ** 2 - (start - x) ** 2) / 2
    inside = ((left + width - x) ** 2 - (left - x) ** 2) / 2
    return np.asarray(low * whole + (high - low) * inside)


def _many(inputs: Interval) -> Floats:
    return np.linspace(inputs.lower, inputs.upper, 401)


def _window_errors(mechanism: Any, x: Floats, exponent: float) -> Floats:
    points = np.asarray(mechanism.points)
    rows = _filled(points, np.asarray(mechanism.base), mechanism.ratio, x)
    return np.asarray((rows * abs(points[None, :] - x[:, None]) ** exponent).sum(axis=1))


def _ratio_of(mechanism: Any) -> float:
    """The largest likelihood ratio, or more."""
    if hasattr(mechanism, "parts"):
        return math.prod(_ratio_of(part) for part in mechanism.parts)
    if hasattr(mechanism, "probabilities"):
        table = np.asarray(mechanism.probabilities)
        return float((table.max(axis=0) / table.min(axis=0)).max())
    return float(mechanism.high / mechanism.low) if hasattr(mechanism, "high") else float(mechanism.ratio)


# -- what is true -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """What the mechanism has, and what some mechanism of the class of the lower bound attains."""

    attained: float
    rival: float


def _exponent(words: str) -> float:
    plain = words.removeprefix("circular ")
    return {"absolute": 1.0, "squared": 2.0}.get(plain) or float(plain.removeprefix("power:"))


@cache
def _best_piecewise(epsilon: float, exponent: float, start: float, stop: float, x: float) -> float:
    """The least error at x over laws between b and ``e^eps b``, over b: the nearest outputs are raised."""
    length, ratio = stop - start, math.exp(epsilon)

    def error(base: float) -> float:
        width = (1 - base * length) / (base * (ratio - 1))
        left = min(max(x - width / 2, start), stop - width)

        def primitive(z: float) -> float:
            return math.copysign(abs(z) ** (exponent + 1) / (exponent + 1), z)

        inside = primitive(left + width - x) - primitive(left - x)
        return base * (primitive(stop - x) - primitive(start - x)) + base * (ratio - 1) * inside

    ends = (1 / (ratio * length), 1 / length)
    return float(optimize.minimize_scalar(error, bounds=ends, method="bounded", options={"xatol": 1e-14}).fun)


def _piecewise(saved: SavedDesign) -> Truth:
    mechanism, exponent = _any(saved.mechanism), _exponent(saved.statement.loss)
    words = saved.statement.criterion.words
    if isinstance(mechanism.inputs, Circle):
        assert words == "worst case"
        x, start, stop = mechanism.inputs.period / 2, 0.0, mechanism.inputs.period
        attained = float(_piecewise_moment(mechanism, np.array([x]), exponent)[0])
        return Truth(attained, _best_piecewise(mechanism.epsilon, exponent, start, stop, x))
    places = _many(mechanism.inputs) if words == "worst case" else np.array([float(words.removeprefix("at "))])
    assert mechanism.inputs.lower <= places.min() <= places.max() <= mechanism.inputs.upper
    errors = _piecewise_moment(mechanism, places, exponent)
    outputs, hardest = mechanism.outputs, float(places[int(errors.argmax())])
    rival = _best_piecewise(mechanism.epsilon, exponent, outputs.lower, outputs.upper, hardest)
    return Truth(float(errors.max()), rival)


def _polar(saved: SavedDesign) -> Truth:
    distance, angle = _any(saved.mechanism).parts
    names = saved.statement.loss.split(" + ")
    line = _piecewise_moment(distance, _many(distance.inputs), _exponent(names[0])).max()
    circle = _piecewise_moment(angle, np.zeros(1), _exponent(names[1])).max()
    return Truth(float(line + circle), math.inf)


@cache
def _least_variance(epsilon: float) -> float:
    """Over symmetric unbiased windows on [-1, 1]: reach and width of the window at the input 1."""
    growth = math.expm1(epsilon)

    def variance(place: Floats) -> float:
        width, reach = np.exp(place)
        base = 1 / (2 * reach + growth * width)
        extra = growth * base * width
        if 1 / extra + width / 2 > reach * (1 + 1e-12):  # the window of the input 1 would stick out
            return 1e9
        return float(2 * base * reach**3 / 3 + extra * (width**2 / 12 + 1 / extra**2) - 1)

    def least_for(width: float) -> float:
        # 1/E + s/2 = T, where 1/E = 1 + 2T / ((c-1) s)
        if growth * width <= 2:
            return 1e9
        reach = (1 + width / 2) / (1 - 2 / (growth * width))
        return variance(np.log([width, reach * (1 + 1e-13)]))

    widths = np.exp(np.linspace(math.log(2 / growth) + 1e-6, math.log(2 / growth) + 12, 4001))
    best = float(widths[int(np.argmin([least_for(width) for width in widths]))])
    return float(
        optimize.minimize_scalar(
            least_for, bounds=(best * 0.99, best * 1.01), method="bounded", options={"xatol": 1e-12}
        ).fun
    )


def _unbiased_piecewise(saved: SavedDesign) -> Truth:
    mechanism, places = _any(saved.mechanism), _many(_any(saved.mechanism).inputs)
    assert saved.statement.criterion.words == "worst-case variance, unbiased"
    half = mechanism.inputs.length / 2
    assert abs(_piecewise_bias(mechanism, places)).max() <= 1e-5 * half, "biased"
    attained = float(_piecewise_moment(mechanism, places, 2.0).max())
    return Truth(attained, _least_variance(mechanism.epsilon) * half**2)


def _rival_windows(saved: SavedDesign, honest: Any) -> list[Any]:
    """Mechanisms as private on the same inputs: the honest design's, this one, and randomised response on bins."""
    mechanism = _any(saved.mechanism)
    inputs, ratio = mechanism.inputs, math.exp(mechanism.epsilon) * (1 - 1e-12)
    rivals = [mechanism]
    if honest.mechanism.ratio <= ratio * (1 + 1e-11):
        rivals.append(honest.mechanism)
    for count in (1, 2, 3, 4):
        edge = inputs.length / (2 * count)
        for shrink in (0.5, 0.75, 1.0):
            points = inputs.middle + shrink * np.linspace(-inputs.length / 2 + edge, inputs.length / 2 - edge, count)
            base = np.full(count, 1.0 if count == 1 else 1 / (count - 1 + ratio))
            rivals.append(_Rival(points, base, ratio))
    return rivals


@dataclass(frozen=True)
class _Rival:
    points: Floats
    base: Floats
    ratio: float


def _minimax(saved: SavedDesign, name: str) -> Truth:
    mechanism, exponent = _any(saved.mechanism), _exponent(saved.statement.loss)
    assert saved.statement.criterion.words == "worst case"
    turns = (mechanism.points[:, None] + mechanism.points[None, :]).ravel() / 2
    turns = np.concatenate([turns, np.nextafter(turns, np.inf)])
    inside = turns[(turns >= mechanism.inputs.lower) & (turns <= mechanism.inputs.upper)]
    places = np.concatenate([_many(mechanism.inputs), inside])
    rivals = [float(_window_errors(r, places, exponent).max()) for r in _rival_windows(saved, _honest(name))]
    return Truth(float(_window_errors(mechanism, places, exponent).max()), min(rivals))


@cache
def _best_bins(epsilon: float, exponent: float, points: tuple[float, ...], weights: tuple[float, ...]) -> float:
    """All partitions of a few values into runs, each run its own output."""
    x, w, ratio = np.array(points), np.array(weights), math.exp(epsilon)
    total, best = w.sum(), math.inf
    for size in range(len(x)):
        for cuts in combinations(range(1, len(x)), size):
            edges = [0, *cuts, len(x)]
            value = 0.0
            for a, b in zip(edges[:-1], edges[1:], strict=True):
                pull = w.copy()
                pull[a:b] *= ratio
                if exponent == 2:
                    y = float(np.dot(pull, x) / pull.sum())
                else:
                    y = float(x[np.searchsorted(np.cumsum(pull), pull.sum() / 2)])
                value += float(np.dot(pull, abs(x - y) ** exponent))
            best = min(best, value / (len(edges) - 2 + ratio) / total)
    return best


def _average(mechanism: Any, places: Floats, weights: Floats, exponent: float) -> float:
    return float(np.dot(weights, _window_errors(mechanism, places, exponent)) / weights.sum())


def _prior(saved: SavedDesign, name: str) -> Truth:
    mechanism, exponent = _any(saved.mechanism), _exponent(saved.statement.loss)
    assert saved.statement.criterion.words == "average under the prior"
    cells = _any(saved.certificate.evidence).cells
    assert saved.statement.prior is not None
    law = _LAW.match(saved.statement.prior)
    if law is None:
        assert saved.statement.prior.startswith("the "), saved.statement.prior
        if not np.array_equal(cells.lows, cells.highs):
            assert saved.statement.prior.endswith("which is not checked)")
            return _prior_of_cells(saved, name, cells, exponent)
        places, weights = np.asarray(cells.means), np.asarray(cells.weights)
        best = _best_bins(mechanism.epsilon, exponent, tuple(places.tolist()), tuple(weights.tolist()))
        return Truth(_average(mechanism, places, weights, exponent), best)
    mean, deviation, start, stop = map(float, law.groups())
    places = start + (stop - start) * (np.arange(1000) + 0.5) / 1000
    weights = np.exp(-0.5 * ((places - mean) / deviation) ** 2)
    rivals = [_average(rival, places, weights, exponent) for rival in _rival_windows(saved, _honest(name))]
    return Truth(_average(mechanism, places, weights, exponent), min(rivals))


def _prior_of_cells(saved: SavedDesign, name: str, cells: Any, exponent: float) -> Truth:
    """Some prior with these cells: each cell's mass one deviation below and above its mean, if that fits."""
    spread = np.sqrt(cells.variances)
    low, high = cells.means - spread, cells.means + spread
    fits = (low >= cells.lows) & (high <= cells.highs)
    low, high = np.where(fits, low, cells.means), np.where(fits, high, cells.means)
    places, weights = np.concatenate([low, high]), np.tile(cells.weights / 2, 2)
    rivals = [_average(rival, places, weights, exponent) for rival in _rival_windows(saved, _honest(name))]
    return Truth(_average(_any(saved.mechanism), places, weights, exponent), min(rivals))


def _trade_off(saved: SavedDesign, name: str) -> Truth:
    mechanism, exponent = _any(saved.mechanism), _exponent(saved.statement.loss)
    assert saved.statement.criterion.words == "average under the prior, worst case capped"
    evidence = _any(saved.certificate.evidence)
    places, weights = np.asarray(evidence.prior.means), np.asarray(evidence.prior.weights)
    grid = _many(mechanism.inputs)
    assert f"at most {evidence.cap!r}" in saved.statement.scope
    assert _window_errors(mechanism, grid, exponent).max() <= evidence.cap * (1 + HERE), "breaks its cap"
    rivals = [
        _average(rival, places, weights, exponent)
        for rival in _rival_windows(saved, _honest(name))
        if _window_errors(rival, grid, exponent).max() <= evidence.cap * (1 - 1e-6) or rival is mechanism
    ]
    return Truth(_average(mechanism, places, weights, exponent), min(rivals))


def _unbiased(saved: SavedDesign, name: str) -> Truth:
    assert (saved.statement.criterion.words, saved.statement.loss) == (
        "average variance under the prior, unbiased",
        "squared",
    )
    evidence, mechanism = _any(saved.certificate.evidence), _any(saved.mechanism)
    weights = np.asarray(evidence.weights)
    grid = np.linspace(mechanism.inputs.lower, mechanism.inputs.upper, weights.size)
    values = [_variance(mechanism, grid, weights)]
    honest = _honest(name).mechanism
    same = honest.inputs == mechanism.inputs and getattr(honest, "bins", 0) == getattr(mechanism, "bins", 0)
    if same and honest.ratio <= math.exp(mechanism.epsilon):
        values.append(_variance(honest, grid, weights))
    return Truth(values[0], min(values))


def _variance(mechanism: Any, grid: Floats, weights: Floats) -> float:
    if hasattr(mechanism, "bins"):  # the mechanism's own series over its tails
        assert abs(mechanism.mean(grid) - grid).max() <= 1e-6 * mechanism.inputs.length, "biased"
        variances = mechanism.variance(grid)
    else:
        points = np.asarray(mechanism.points)
        rows = _unbiased_rows(points, np.asarray(mechanism.base), mechanism.ratio, grid)
        assert abs(rows @ points - grid).max() <= 1e-6 * np.ptp(points), "biased"
        variances = (rows * (points[None, :] - grid[:, None]) ** 2).sum(axis=1)
    return float(np.dot(weights, variances) / weights.sum())


def _least_linear(
    costs: Floats, epsilon: float, rows: Floats | None = None, limits: Floats | None = None, worst: Floats | None = None
) -> float:
    """The least ``costs . q`` over private tables, or the least of ``max_x worst_x . q_x`` if that is given."""
    n, m = costs.shape
    size, ratio = n * m + m + 1, math.exp(epsilon)
    above, right = [], []
    for x in range(n):
        for y in range(m):
            for sign in (1, -1):
                row = np.zeros(size)
                row[x * m + y] = -sign
                row[n * m + y] = 1 if sign == 1 else -ratio
                above.append(row)
                right.append(0.0)
        if worst is not None:
            row = np.zeros(size)
            row[x * m : (x + 1) * m], row[-1] = worst[x], -1
            above.append(row)
            right.append(0.0)
    for entries, limit in zip(() if rows is None else rows, () if limits is None else limits, strict=True):
        above.append(np.concatenate([np.ravel(entries), np.zeros(m + 1)]))
        right.append(float(limit))
    sums = np.zeros((n, size))
    for x in range(n):
        sums[x, x * m : (x + 1) * m] = 1
    goal = np.concatenate([np.ravel(costs), np.zeros(m), [0.0]])
    if worst is not None and not costs.any():
        goal[-1] = 1
    solved = optimize.linprog(goal, np.array(above), np.array(right), sums, np.ones(n), bounds=(0, None))
    return float(solved.fun) if solved.status == 0 else math.inf


_SOLVED: dict[Any, float] = {}


def _remembered(key: Any, solve: Callable[[], float]) -> float:
    if key not in _SOLVED:
        _SOLVED[key] = solve()
    return _SOLVED[key]


def _finite(saved: SavedDesign) -> Truth:
    mechanism, evidence = _any(saved.mechanism), _any(saved.certificate.evidence)
    aim, epsilon = saved.statement.criterion.words, mechanism.epsilon
    average = evidence.average if aim == "lexicographic" else evidence
    losses = np.asarray(average.losses)
    assert saved.statement.loss == f"a matrix of {losses.shape[0]} inputs and {losses.shape[1]} outputs"
    used = np.array(mechanism.outputs.points, dtype=int)
    errors = (np.asarray(mechanism.probabilities) * losses[:, used]).sum(axis=1)
    nothing = np.zeros_like(losses)
    if aim == "worst":
        key = (aim, epsilon, losses.tobytes(), losses.shape)
        return Truth(float(errors.max()), _remembered(key, lambda: _least_linear(nothing, epsilon, worst=losses)))
    prior = np.asarray(average.prior)
    costs = losses * (prior / prior.sum())[:, None]
    attained = float((prior / prior.sum()) @ errors)
    key = (aim, epsilon, losses.tobytes(), losses.shape, prior.tobytes(), average.cap)
    if aim == "prior":
        return Truth(attained, _remembered(key, lambda: _least_linear(costs, epsilon)))
    assert aim == "lexicographic"
    least = _remembered(("worst", *key[1:4]), lambda: _least_linear(nothing, epsilon, worst=losses))
    assert errors.max() <= average.cap * (1 + HERE), "breaks its cap"
    assert average.cap <= (1 + evidence.slack) * least * (1 + 1e-7), "the cap is not near the least"
    assert f"<= {average.cap!r}" in saved.statement.scope
    assert saved.statement.scope.endswith(f"at most {1 + evidence.slack!r} times the least")
    rows = [np.zeros_like(losses) for _ in losses]
    for x, row in enumerate(rows):
        row[x] = losses[x]
    limits = np.full(len(rows), average.cap * (1 + 1e-9))
    return Truth(attained, _remembered(key, lambda: _least_linear(costs, epsilon, np.array(rows), limits)))


def _points(saved: SavedDesign) -> Truth:
    """The matrix of distances between the points, in doubles."""
    mechanism, evidence = _any(saved.mechanism), _any(saved.certificate.evidence)
    points, told = np.array(mechanism.inputs.points), np.array(mechanism.outputs.points)
    assert set(told.tolist()) <= set(points.tolist())
    exponent = _exponent(saved.statement.loss)
    errors = (np.asarray(mechanism.probabilities) * abs(points[:, None] - told) ** exponent).sum(axis=1)
    losses = abs(points[:, None] - points) ** exponent
    key = (saved.statement.criterion.words, mechanism.epsilon, exponent, points.tobytes())
    if saved.statement.criterion.words == "worst case":
        nothing = np.zeros_like(losses)
        rival = _remembered(key, lambda: _least_linear(nothing, mechanism.epsilon, worst=losses))
        return Truth(float(errors.max()), rival)
    assert saved.statement.criterion.words == "average under the prior"
    assert saved.statement.prior == "the weights in the file"
    weights = np.asarray(evidence.prior) / np.sum(evidence.prior)
    costs = losses * weights[:, None]
    rival = _remembered((*key, weights.tobytes()), lambda: _least_linear(costs, mechanism.epsilon))
    return Truth(float(weights @ errors), rival)


def _linear(saved: SavedDesign) -> Truth:
    mechanism, evidence = _any(saved.mechanism), _any(saved.certificate.evidence)
    assert saved.statement.criterion.aim.value == "objective"
    table = np.zeros((len(evidence.inputs), len(evidence.outputs)))
    where = [evidence.outputs.points.index(y) for y in mechanism.outputs.points]
    table[:, where] = np.asarray(mechanism.probabilities)
    rows, limits = np.asarray(evidence.rows), np.asarray(evidence.limits)
    if any(evidence.equal):
        rows, limits = (
            np.concatenate([rows, -rows[list(evidence.equal)]]),
            np.concatenate([limits, -limits[list(evidence.equal)]]),
        )
    for row, limit in zip(rows, limits, strict=True):
        assert (row * table).sum() <= limit + evidence.tolerance * (1 + HERE) + 1e-12, "breaks a constraint"
    assert not evidence.equal or f"within {evidence.tolerance:g}" in saved.statement.scope
    costs = np.asarray(evidence.costs)
    key = (mechanism.epsilon, costs.tobytes(), rows.tobytes(), limits.tobytes(), evidence.tolerance, costs.shape)
    rival = _remembered(key, lambda: _least_linear(costs, mechanism.epsilon, rows, limits + evidence.tolerance))
    return Truth(float((costs * table).sum()) + evidence.offset, rival + evidence.offset)


def _any(value: Any) -> Any:
    return value


TRUTHS: dict[str, Callable[[SavedDesign, str], Truth]] = {
    "piecewise": lambda saved, _: _piecewise(saved),
    "piecewise onto more": lambda saved, _: _piecewise(saved),
    "piecewise at": lambda saved, _: _piecewise(saved),
    "circle": lambda saved, _: _piecewise(saved),
    "claimed": lambda saved, _: _piecewise(saved),
    "unbiased piecewise": lambda saved, _: _unbiased_piecewise(saved),
    "minimax": _minimax,
    "claimed minimax": _minimax,
    "prior": _prior,
    "prior squared": _prior,
    "density": _prior,
    "trade-off": _trade_off,
    "trade-off least": _trade_off,
    "unbiased": _unbiased,
    "additive": _unbiased,
    "matrix": lambda saved, _: _finite(saved),
    "matrix prior": lambda saved, _: _finite(saved),
    "matrix least": lambda saved, _: _finite(saved),
    "whole numbers": lambda saved, _: _points(saved),
    "whole numbers prior": lambda saved, _: _points(saved),
    "custom": lambda saved, _: _linear(saved),
    "polar": lambda saved, _: _polar(saved),
}
_LAW = re.compile(r"normal\((\S+), (\S+)\) on \[(\S+), (\S+)\] \(its \d+ cells in the file agree with it to 1e-09\)$")
_NUMBER = re.compile(r"\d[\d.e+-]*")


def _require_true(saved: SavedDesign, name: str) -> None:
    """Privacy, both ends, scope and standing of a design that was read."""
    certificate, mechanism, honest = saved.certificate, saved.mechanism, _honest(name)
    assert _ratio_of(mechanism) <= math.exp(mechanism.epsilon) * (1 + 1e-12), "not private"
    assert certificate.privacy_loss == pytest.approx(mechanism.privacy_loss(), rel=1e-9)
    if mechanism.epsilon > 1e-9:
        assert certificate.privacy_loss <= math.log(_ratio_of(mechanism)) * (1 + 1e-6) + 1e-12, "loss overstated"
    assert certificate.claimed == honest.certificate.claimed, "changed between proven and claimed"
    assert certificate.valid_for == saved.statement.scope
    scope = saved.statement.scope
    if name == "additive":  # evidence may restrict itself to the mechanism's own tails, and says so
        own = (
            f" and tails of ratio {_any(mechanism).tail}/{_any(mechanism).tail + 1} from {_any(mechanism).reach} steps"
        )
        scope = scope.replace(f"{own} beyond them", "")
    assert _NUMBER.sub("#", scope) == _NUMBER.sub("#", honest.certificate.valid_for), "another scope"
    truth = TRUTHS[name](saved, name)
    slack = 1e-6 if certificate.claimed else 1e-5 if name == "density" else HERE  # sums over the density's cells
    # where an end of the certificate holds for every prior with some cells, one of them may be served better
    room = 1e-2 if name == "density" else slack
    assert truth.attained <= certificate.upper * (1 + slack), "the mechanism is worse than said"
    assert certificate.upper <= max(truth.attained, certificate.lower) * (1 + room) + 1e-15, "better than said"
    assert certificate.lower <= certificate.upper
    if not certificate.claimed:
        assert certificate.lower <= truth.rival * (1 + 1e-7), f"{certificate.lower!r} is beaten by {truth.rival!r}"


# -- mutants ----------------------------------------------------------------------------------------------------------

_WORDS = [
    *("worst case", "at 0.5", "at 0.0", "at 1.0", "at -1.0", "average under the prior", "worst", "prior"),
    *("lexicographic", "absolute", "squared", "power:1.5", "power:3", "circular squared", "uniform", "data", ""),
    *("normal(0.3, 0.1)", "all mechanisms", "piecewise mechanisms", "unbiased mechanisms", "piecewise", "minimax"),
    *("all mechanisms with these outputs", "all mechanisms [proven in rational arithmetic]", "trade-off", "finite"),
    *("one-piece mechanisms", "unbiased piecewise", "custom", "additive", "unbiased", "atoms", "density", "bins"),
]
_FACTORS = (0.0, -1.0, 0.5, 2.0, 1 - 1e-3, 1 + 1e-3, 1 - 1e-6, 1 + 1e-6, 1 - 1e-12, 1 + 1e-12, 10.0, 0.1)
_ODD = (0, 1, -1, 0.5, 2, 50, 180.0, 1e300, 5e-324, True, False, None, "0.5", [], {}, [0.5])


def _mutant(document: Document, draw: random.Random) -> Document:
    """One to three edits somewhere in problem, mechanism and certificate."""
    mutated: Document = document
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        part = draw.choice(("problem", "mechanism", "certificate", "certificate"))
        if draw.random() < 0.1:
            number = _some_number(mutated[part], draw)
            if number is not None:
                new = _other_number(number, mutated, draw)
                mutated = {key: _replaced(value, number, new) for key, value in mutated.items()}
                continue
        mutated = {**mutated, part: _edited(mutated[part], mutated, draw)}
    return mutated


def _edited(value: Any, document: Document, draw: random.Random) -> Any:
    is_inner = isinstance(value, dict | list) and len(value) > 0
    if is_inner and draw.random() < 0.93:
        if isinstance(value, dict):
            key = draw.choice(list(value))
            return {**value, key: _edited(value[key], document, draw)}
        place = draw.randrange(len(value))
        return [*value[:place], _edited(value[place], document, draw), *value[place + 1 :]]
    if isinstance(value, dict):
        return _edited_object(value, document, draw)
    if isinstance(value, list):
        return _edited_list(value, document, draw)
    if isinstance(value, bool) or value is None:
        return draw.choice((True, False, None, 1, 0.5, "null"))
    if isinstance(value, str):
        return draw.choice((draw.choice(_WORDS), draw.choice(_WORDS), value + " ", value.upper(), None))
    return _other_number(value, document, draw)


def _edited_object(value: Document, document: Document, draw: random.Random) -> Any:
    keys = list(value)
    match draw.randrange(4):
        case 0 if keys:
            gone = draw.choice(keys)
            return {key: entry for key, entry in value.items() if key != gone}
        case 1:
            return {**value, draw.choice(("note", "law", "at", "period")): draw.choice(_WORDS)}
        case 2 if len(keys) > 1:
            a, b = draw.sample(keys, 2)
            return {**value, a: value[b], b: value[a]}
    return draw.choice(_ODD)


def _edited_list(value: list[Any], document: Document, draw: random.Random) -> Any:
    match draw.randrange(6):
        case 0 if value:
            place = draw.randrange(len(value))
            return value[:place] + value[place + 1 :]
        case 1 if value:
            place = draw.randrange(len(value))
            return [*value[:place], value[place], *value[place:]]
        case 2 if len(value) > 1:
            a, b = draw.sample(range(len(value)), 2)
            swapped = list(value)
            swapped[a], swapped[b] = value[b], value[a]
            return swapped
        case 3:
            return value[::-1]
        case 4:
            return [_other_number(x, document, draw) if isinstance(x, float) else x for x in value]
    return draw.choice(_ODD)


def _other_number(number: float, document: Document, draw: random.Random) -> Any:
    choice = draw.random()
    if choice < 0.55:
        return number * draw.choice(_FACTORS)
    if choice < 0.75:
        return number * (1 + draw.gauss(0, 0.2))
    if choice < 0.85:
        other = _some_number(document[draw.choice(("problem", "mechanism", "certificate"))], draw)
        return 0.0 if other is None else other
    return draw.choice(_ODD)


def _some_number(value: Any, draw: random.Random) -> float | None:
    while isinstance(value, dict | list) and value:
        value = draw.choice(list(value.values()) if isinstance(value, dict) else value)
    return value if type(value) in (int, float) else None


def _replaced(value: Any, old: float, new: Any) -> Any:
    """The same edit wherever a number stands: files that agree with themselves."""
    if isinstance(value, dict):
        return {key: _replaced(entry, old, new) for key, entry in value.items()}
    if isinstance(value, list):
        return [_replaced(entry, old, new) for entry in value]
    return new if type(value) in (int, float) and value == old else value


def _sealed(mutant: Document) -> Document:
    """A forger's best: with both ends, privacy loss and scope as the package itself derives them from the edit."""
    try:
        mechanism: Any = mechanism_from_dict(mutant["mechanism"])
        said = mutant["certificate"]
        evidence = EVIDENCE[said["evidence"]["kind"]].from_dict(said["evidence"])
        lower = evidence.bound(mechanism)
        derived = {"lower": lower, "upper": max(evidence.attained(mechanism), lower)}
        derived |= {"privacy_loss": mechanism.privacy_loss(), "valid_for": evidence.scope(mechanism)}
    except (InvalidInput, CheckFailed, ArithmeticError, KeyError, TypeError, ValueError, AttributeError, IndexError):
        return mutant
    return {**mutant, "certificate": {**said, **derived}}


def _fuzz(name: str, count: int, seed: int) -> int:
    document, draw, read = _document(name), random.Random(f"{name} {seed}"), 0
    for number in range(count):
        mutant = _mutant(document, draw)
        if number % 2:
            mutant = _sealed(mutant)
        try:
            saved = design_of_document(mutant, "a mutant")
        except InvalidInput:
            continue
        read += 1
        try:
            _require_true(saved, name)
        except AssertionError as lie:
            pytest.fail(f"mutant {number} of {name}: {lie}; {_differences(document, mutant)}")
    return read


def _joint_document() -> Document:
    written = files.dump_json({"format": FORMAT, "version": VERSION} | _honest_joint().document())
    document = json.loads(written)
    assert isinstance(document, dict)
    return document


@cache
def _honest_joint() -> Any:
    return optimal_joint(JointProblem(1.0, 1000, 0.2))


def _require_true_pair(design: Any) -> None:
    """Pairs of answers: their law is the chance that none, one or both are true; all else follows from it."""
    none, one, both = (float(weight) for weight in design.mechanism.weights)
    assert min(none, one, both) >= 0
    assert none + one + both == pytest.approx(1)
    truth, covariance = both + one / 2, both - (both + one / 2) ** 2
    users, count = design.problem.users, design.problem.count
    assert truth / (1 - truth) <= math.exp(design.problem.epsilon) * (1 + 1e-12), "not private"
    shifts = 2 * count - users  # the sum of 2x - 1, whose products over all pairs of users follow
    alike = (shifts**2 - users) / (users * (users - 1))
    alone = truth * (1 - truth)
    variance = users * (alone + covariance * alike) / (2 * truth - 1) ** 2
    assert design.certificate.upper == pytest.approx(variance, rel=HERE)
    best = math.exp(design.problem.epsilon) / (1 + math.exp(design.problem.epsilon))
    assert design.problem.independent_variance == pytest.approx(
        users * best * (1 - best) / (2 * best - 1) ** 2, rel=1e-6
    )
    assert design.certificate.account.losses.averaged == pytest.approx(math.log(truth / (1 - truth)), rel=1e-6)
    assert design.certificate.valid_for == "joint responses of pairs"
    # the least correlation that a pair may have lets it never lie together
    rival = 2 * best - 1 - best**2
    if not design.certificate.claimed:
        attained = users * (best * (1 - best) + rival * alike) / (2 * best - 1) ** 2
        assert design.certificate.lower <= attained * (1 + HERE)


def _fuzz_joint(count: int, seed: int) -> int:
    document, draw, read = _joint_document(), random.Random(seed), 0
    for number in range(count):
        mutant = _mutant(document, draw)
        try:
            design = design_of_document(mutant, "a mutant")
        except InvalidInput:
            continue
        read += 1
        try:
            _require_true_pair(design)
        except AssertionError as lie:
            pytest.fail(f"mutant {number} of a pair: {lie}; {_differences(document, mutant)}")
    return read


def test_an_honest_pair_is_true() -> None:
    _require_true_pair(design_of_document(_joint_document(), "an honest file"))


def test_no_mutant_of_a_pair_that_is_read_says_something_false() -> None:
    assert 0 < _fuzz_joint(500, 0) < 500


@pytest.mark.slow
def test_no_mutant_of_many_of_a_pair_that_is_read_says_something_false() -> None:
    assert 0 < _fuzz_joint(10_000, 1) < 10_000


def _differences(honest: Any, mutant: Any, where: str = "") -> list[str]:
    if isinstance(honest, dict) and isinstance(mutant, dict):
        keys = sorted(honest.keys() | mutant.keys())
        return [d for k in keys for d in _differences(honest.get(k, "absent"), mutant.get(k, "absent"), f"{where}.{k}")]
    return [] if honest is mutant or honest == mutant else [f"{where}: {str(honest)[:80]} -> {str(mutant)[:80]}"]


@pytest.mark.parametrize("name", DESIGNS)
def test_an_honest_file_is_true(name: str) -> None:
    """What decides the mutants finds nothing false in what they are made from."""
    _require_true(design_of_document(_document(name), "an honest file"), name)


@pytest.mark.parametrize("name", [name for name in DESIGNS if not _honest_is_claimed(name)])
def test_a_bound_above_the_optimum_is_found_to_be_false(name: str) -> None:
    """The fuzz would see it: a bound 5% above what the mechanism attains."""
    saved = design_of_document(_document(name), "an honest file")
    false = saved.certificate.upper * 1.05
    with pytest.raises(AssertionError, match="is beaten by"):
        _require_true(replace(saved, certificate=replace(saved.certificate, lower=false, upper=false)), name)


@pytest.mark.parametrize("name", DESIGNS)
def test_an_upper_end_below_the_error_is_found_to_be_false(name: str) -> None:
    saved = design_of_document(_document(name), "an honest file")
    lower = saved.certificate.lower * 0.95
    upper = lower if name == "density" else saved.certificate.upper * (1 - 1e-5)  # its upper end holds for all cells
    with pytest.raises(AssertionError, match="worse than said"):
        _require_true(replace(saved, certificate=replace(saved.certificate, lower=lower, upper=upper)), name)


@pytest.mark.parametrize("name", DESIGNS)
def test_no_mutant_that_is_read_says_something_false(name: str) -> None:
    assert 0 < _fuzz(name, 500, 0) < 500


SHARES = {
    "bathtub": {"piecewise": 2500, "piecewise onto more": 2500, "piecewise at": 2500, "circle": 2500},
    "unbiased": {"unbiased piecewise": 10_000},
    "minimax": {"minimax": 10_000},
    "bins": {"prior": 4500, "prior squared": 4500, "density": 1000},
    "trade-off": {"trade-off": 5000, "trade-off least": 5000},
    "unbiased prior": {"unbiased": 10_000},
    "additive": {"additive": 10_000},
    "finite": {"matrix": 5000, "matrix prior": 5000},
    "finite lexicographic": {"matrix least": 10_000},
    "linear": {"custom": 10_000},
    "points": {"whole numbers": 5000, "whole numbers prior": 5000},
    "none": {"claimed": 4000, "claimed minimax": 3000, "polar": 3000},
}
"""10,000 mutants of every kind of evidence, and of files without, shared out among designs that have it."""


def test_every_kind_of_evidence_has_its_mutants() -> None:
    assert SHARES.keys() == EVIDENCE.keys() | {"none"}
    for kind, shares in SHARES.items():
        assert sum(shares.values()) == 10_000
        for name in shares:
            evidence = _document(name)["certificate"]["evidence"]
            assert (evidence["kind"] if evidence else "none") == kind


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [share for shares in SHARES.values() for share in shares.items()])
def test_no_mutant_of_many_that_is_read_says_something_false(name: str, count: int) -> None:
    assert 0 < _fuzz(name, count, 1) < count
