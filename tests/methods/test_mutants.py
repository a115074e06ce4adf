"""Random edits of saved designs of every kind of evidence: no file is read that says something false.

Truth is decided here without the package's proofs, from what problem and mechanism are: laws are computed again from
the parameters of the mechanism, their errors by sums and quadrature; a lower bound is false if a mechanism of the class
does better, and the mechanisms tried are the optimum itself (a scalar search, a linear program, all partitions) or the
best found for the honest question. What is judged is the design that was read, and the words of its file with it.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any, get_type_hints

import attrs
import cvxpy
import numpy as np
import pytest
from scipy import optimize

import mechdesign as md
from mechdesign import (
    Absolute,
    Circle,
    Finite,
    Interval,
    InvalidInput,
    Power,
    Squared,
    priors,
)
from mechdesign.errors import CheckFailed
from mechdesign.mechanisms.hidden import TogetherLaw
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.kinds import JOINT_KINDS, KINDS
from mechdesign.methods import (
    Design,
)
from mechdesign.methods.prior import BinsBound
from mechdesign.methods.registry import CODEC, EVIDENCE, solve
from mechdesign.methods.result import FORMAT, USE, VERSION, Certificate, certify
from mechdesign.methods.saved import design_of_document
from mechdesign.methods.workload import WorkloadBound
from mechdesign.methods.workload.grid_search import GridSearch, shape_of
from mechdesign.methods.workload.proof import Leaf
from mechdesign.methods.workload.relaxation import Relaxation
from mechdesign.values import files
from mechdesign.values.clock import Clock
from mechdesign.values.codec import Codec
from mechdesign.values.declare import evolved
from mechdesign.words.classes import All, InPlane, OnGrid, Onto, Piecewise, Unbiased, UnbiasedPiecewise
from mechdesign.words.criteria import At, Average, Lexicographic, Total, Worst
from mechdesign.words.finite_losses import Distances
from mechdesign.words.models import GaussianLocation
from mechdesign.words.pairs import Metric, Pairwise
from mechdesign.words.priors import Atoms
from mechdesign.words.privacy import Approximate, Pure
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import Ball, CrossPolytope, Sphere
from mechdesign.words.workloads import Marginals, Mean, Parity, Prefix, Ranges
from tests.methods import problems
from tests.methods.problems import custom, hidden_problem, information, joint_problem, numbers, workload_problem
from tests.oracles.staircase_rows import all_rows, least_noise, noise_of


def _variance_problem(epsilon: float) -> Problem:
    return Problem(inputs=(0, 1), loss="squared", privacy=Pure(epsilon), among=UnbiasedPiecewise())


Floats = np.ndarray[Any, np.dtype[np.float64]]
Document = dict[str, Any]

UNIT = Interval(0, 1)
DATA = priors.Atoms.of_data([0.125, 0.25, 0.25, 0.75])
MATRIX = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [4.0, 2.0, 0.0]])
SCALE = Finite((1.0, 2.0, 4.0))
PAIRS = Pairwise([[0.0, 0.5, 2.0], [1.0, 0.0, 1.0], [2.0, 0.75, 0.0]])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)
HERE = 1e-9
"""Relative: what doubles may lose in the errors computed here."""

DESIGNS: dict[str, Callable[[], Any]] = {
    "piecewise": lambda: solve(problems.piecewise(1.0, Squared())),
    "piecewise onto more": lambda: solve(problems.piecewise(1.0, Absolute(), UNIT, Interval(-0.5, 2))),
    "piecewise at": lambda: solve(problems.piecewise(1.0, Absolute(), at=0.25)),
    "circle": lambda: solve(problems.piecewise(1.0, Squared(360.0), Circle(360.0))),
    "unbiased piecewise": lambda: solve(_variance_problem(4.0)),
    "minimax": lambda: solve(numbers(1.0, Squared()), gap=1e-2),
    "prior": lambda: solve(numbers(1.0, Absolute(), criterion=Average(DATA))),
    "prior squared": lambda: solve(numbers(1.0, Squared(), criterion=Average(DATA))),
    "gathered": lambda: _gathered_anew(solve(numbers(1.0, Squared(), criterion=Average(DATA)), gap=1e-2)),
    "density": lambda: solve(numbers(1.0, Squared(), criterion=Average(priors.normal(0.3, 0.2, UNIT))), gap=1e-2),
    "trade-off": lambda: solve(numbers(1.0, Squared(), criterion=Lexicographic(DATA, cap=0.2)), gap=1e-2),
    "trade-off least": lambda: solve(numbers(1.0, Squared(), criterion=Lexicographic(DATA, slack=0.02)), gap=1e-2),
    "unbiased atoms": lambda: solve(
        problems.unbiased_under(1.0, priors.Atoms([-1.0, 0.0, 1.0], [0.25, 0.5, 0.25])), size=3, gap=1e-2
    ),
    "unbiased worst": lambda: solve(problems.unbiased(1.0), gap=1e-2),
    "sphere": lambda: solve(problems.vectors(2.0, Sphere(4, 2.0))),
    "ball": lambda: solve(problems.vectors(3.0, Ball(7))),
    "cross-polytope": lambda: solve(problems.vectors(1.0, CrossPolytope(20))),
    "sign patterns": lambda: solve(problems.several(2.0, 3), method="sign_patterns"),
    "many sign patterns": lambda: solve(problems.several(4.0, 8), method="sign_patterns"),
    "cube": lambda: solve(problems.several(2.0), method="cube", levels=3),
    "cube prior": lambda: solve(
        evolved(problems.several(2.0), criterion=Average(Atoms([-1.0, 0.0, 1.0], [0.25, 0.5, 0.25]))), levels=3
    ),
    "unbiased": lambda: solve(problems.unbiased_under(1.0), size=3, gap=1e-2),
    "additive": lambda: solve(problems.additive(2.0, bins=2, reach=3, tail=1), gap=1e-2),
    "matrix": lambda: solve(Problem(loss=MATRIX, privacy=Pure(1.0))),
    "matrix prior": lambda: solve(Problem(loss=MATRIX, privacy=Pure(1.0), criterion=Average([0.5, 0.25, 0.25]))),
    "matrix least": lambda: solve(
        Problem(loss=MATRIX, privacy=Pure(1.0), criterion=Lexicographic([0.5, 0.25, 0.25], slack=1e-5))
    ),
    "custom": lambda: custom(
        1.0, (0, 1, 2), (0, 1, 2), lambda q: cvxpy.sum(cvxpy.multiply(MATRIX, q)), lambda q: [q[0, 0] <= 0.5]
    ),
    "pairs": lambda: solve(Problem(loss=MATRIX, privacy=PAIRS, criterion=Average([0.5, 0.25, 0.25]))),
    "pairs least": lambda: solve(Problem(loss=MATRIX, privacy=PAIRS, criterion=Lexicographic([0.5, 0.25, 0.25]))),
    "delta": lambda: solve(Problem(loss=MATRIX, privacy=Approximate(1.0, 0.1))),
    "delta prior": lambda: solve(
        Problem(loss=MATRIX, privacy=Approximate(1.0, 0.1), criterion=Average([0.5, 0.25, 0.25]))
    ),
    "places": lambda: solve(Problem(loss=Distances(), privacy=Metric(SCALE.points, 0.5))),
    "plane": lambda: solve(
        Problem(
            loss=Distances(),
            privacy=Metric([(0, 0), (2, 0), (0.5, 1)], 1.0),
            criterion=Average([0.5, 0.25, 0.25]),
            among=InPlane(),
        ),
        gap=0.03,
    ),
    "plane worst": lambda: solve(
        Problem(loss=Distances(2.0), privacy=Metric([(0, 0), (2, 0), (0.5, 1)], 1.0), among=InPlane()), gap=0.1
    ),
    "whole numbers": lambda: solve(numbers(1.0, Absolute(), SCALE)),
    "whole numbers prior": lambda: solve(
        numbers(1.0, Squared(), SCALE, Average(priors.Atoms([1.0, 2.0, 4.0], [0.5, 0.25, 0.25])))
    ),
    "claimed": lambda: solve(problems.piecewise(1.0, Power(1.5))),
    "searched pieces": lambda: solve(problems.piecewise(1.0, Squared(), pieces=3), method="piecewise_program"),
    "claimed minimax": lambda: solve(numbers(1.0, Power(1.5)), gap=1e-2),
    "claimed custom": lambda: custom(1.0, (0, 1, 2), (0, 1, 2), lambda q: cvxpy.log_sum_exp(q - np.eye(3))),
    "workload": lambda: md.solve(workload_problem(1.0, Prefix(4), prior=[0.25, 0.25, 0.375, 0.125])),
    "workload ranges": lambda: md.solve(workload_problem(2.0, Ranges(3), weights=[1, 2, 1, 1, 0.5, 1])),
    "workload of one query": lambda: md.solve(workload_problem(1.0, Mean([0.0, 1.0, 4.0]))),
    "workload worst": lambda: md.solve(workload_problem(1.0, Prefix(3), "worst")),
    "workload by squares": lambda: _by_squares(md.solve(workload_problem(1.0, Prefix(3)))),
    "workload grid": lambda: _by_pairs(workload_problem(1.0, Marginals((2, 3), 1))),
    "workload grid worst": lambda: _by_pairs(workload_problem(1.0, Parity(2, 2), "worst")),
    "workload by a tree": lambda: _by_tree(md.solve(workload_problem(1.0, Prefix(3)))),
    "information": lambda: solve(information(3.0, GaussianLocation(6))),
    "polar": lambda: solve(problems.polar(4.0)),
    "pair": lambda: solve(joint_problem(1.0, 1000, 0.2)),
    "pair with colluders": lambda: solve(joint_problem(1.0, 1000, 0.2, colluders=50, caps=(1.5,))),
    "pair over shares": lambda: solve(joint_problem(1.0, 1000, (0.1, 0.3))),
    "pair under a prior": lambda: solve(joint_problem(1.0, 1000, priors.Atoms([0.125, 0.25], [0.5, 0.5]))),
    "even group": lambda: solve(joint_problem(1.0, 900, (0.3, 0.7), group=3)),
    "group": lambda: solve(joint_problem(1.0, 900, 0.2, group=3, colluders=9, caps=(2.0,)), gap=1e-2),
    "claimed pair": lambda: solve(joint_problem(1.0, 1000, 0.2), method="joint_program"),
    "hidden": lambda: solve(hidden_problem(1.0, 40, 0.0)),
    "hidden over shares": lambda: solve(hidden_problem(1.0, 30, (0.0, 0.125))),
    "hidden and even": lambda: solve(hidden_problem(1.0, 40, 0.5)),
    "hidden with a delta": lambda: solve(hidden_problem(1.0, 12, 0.0, delta=0.0078125), gap=1e-2),
}


@cache
def _honest(name: str) -> Any:
    return DESIGNS[name]()


def _gathered_anew(design: Any) -> Design:
    """The same mechanism, proven by way of two cells of the prior's values: a wider certificate."""
    return Design(design.problem, design.mechanism, BinsBound([0.75]), design.report)


def _by_squares(design: Any) -> Design:
    """The same with the multipliers that more than 24 types need."""
    bits, found = np.array(list(product((0.0, 1.0), repeat=3))), design.evidence
    size, gain = 3, math.e - 1
    lifted = np.column_stack([np.ones(len(bits)), bits]) / (1 + gain * bits.mean(axis=1))[:, None]
    relaxation = Relaxation(math.e, np.full(size, 1 / size), lifted.T @ lifted / len(bits))
    square, value = found.dual @ found.dual.T, float(np.trace(np.tri(3) @ found.dual))
    account = relaxation.improved(square, value, 4000, 1e-10)
    evidence = WorkloadBound(found.dual, account.prices, None, account.multipliers)
    return Design(design.problem, design.mechanism, evidence, design.report)


def _by_pairs(problem: Problem) -> Design:
    """What more than 24 types get where their workload is symmetric."""
    shape = shape_of(problem)
    assert shape is not None
    return GridSearch(problem, shape, 1e-3, Clock(None), lambda low, high: None).run()


def _by_tree(design: Any) -> Design:
    """The same with a tree: a leaf whose rows are tried, and one with squares and a split."""
    found = _by_squares(design).evidence
    squares = Leaf("0??", found.multipliers[:, 1:, 1:], [[0.5, 0.0, 1.0, 1.0]])
    evidence = WorkloadBound(found.dual, found.prices, leaves=(squares, Leaf("10?"), Leaf("11?")))
    return Design(design.problem, design.mechanism, evidence, design.report)


CLAIMED = {"claimed", "claimed minimax", "searched pieces", "claimed custom", "polar", "claimed pair"}


@cache
def _document(name: str) -> Document:
    written = files.dump_json({"format": FORMAT, "version": VERSION, "use": USE} | _honest(name).document())
    document = json.loads(written)
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


def _piecewise(saved: Any) -> Truth:
    mechanism, problem = saved.mechanism, saved.problem
    exponent = problem.loss.exponent
    if isinstance(mechanism.inputs, Circle):
        assert problem.criterion == Worst()
        assert problem.loss.period == mechanism.inputs.period
        x, start, stop = mechanism.inputs.period / 2, 0.0, mechanism.inputs.period
        attained = float(_piecewise_moment(mechanism, np.array([x]), exponent)[0])
        return Truth(attained, _best_piecewise(mechanism.epsilon, exponent, start, stop, x))
    assert problem.loss.period is None
    at = problem.criterion.x if isinstance(problem.criterion, At) else None
    assert problem.criterion == (Worst() if at is None else At(at))
    places = _many(mechanism.inputs) if at is None else np.array([at])
    assert mechanism.inputs.lower <= places.min() <= places.max() <= mechanism.inputs.upper
    errors = _piecewise_moment(mechanism, places, exponent)
    outputs, hardest = mechanism.outputs, float(places[int(errors.argmax())])
    assert outputs == (problem.inputs if problem.among.outputs is None else problem.among.outputs)
    rival = _best_piecewise(mechanism.epsilon, exponent, outputs.lower, outputs.upper, hardest)
    return Truth(float(errors.max()), rival)


def _polar(saved: Any) -> Truth:
    distance, angle = saved.mechanism.parts
    problem = saved.problem
    assert (problem.criterion, problem.loss.period) == (Worst(), None)
    assert (distance.inputs, angle.inputs) == (distance.outputs, angle.outputs) == problem.inputs.parts
    line = _piecewise_moment(distance, _many(distance.inputs), problem.loss.exponent).max()
    circle = _piecewise_moment(angle, np.zeros(1), problem.loss.exponent).max()
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


def _unbiased_piecewise(saved: Any) -> Truth:
    mechanism, places = saved.mechanism, _many(saved.mechanism.inputs)
    assert (saved.problem.criterion, saved.problem.loss) == (Worst(), Power(2.0))
    half = mechanism.inputs.length / 2
    assert abs(_piecewise_bias(mechanism, places)).max() <= 1e-5 * half, "biased"
    attained = float(_piecewise_moment(mechanism, places, 2.0).max())
    return Truth(attained, _least_variance(mechanism.epsilon) * half**2)


def _rival_windows(saved: Design, honest: Any) -> list[Any]:
    """Mechanisms as private on the same inputs: the honest design's, this one, and randomised response on bins."""
    mechanism = saved.mechanism
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


def _minimax(saved: Any, name: str) -> Truth:
    mechanism, exponent = saved.mechanism, saved.problem.loss.exponent
    assert saved.problem.criterion == Worst()
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


def _prior(saved: Any, name: str) -> Truth:
    mechanism, problem = saved.mechanism, saved.problem
    assert isinstance(problem.criterion, Average)
    exponent, prior = problem.loss.exponent, problem.criterion.prior
    if isinstance(prior, priors.Atoms):
        places, weights = _gathered(prior)
        return Truth(
            _average(mechanism, places, weights, exponent),
            _best_bins(mechanism.epsilon, exponent, tuple(places.tolist()), tuple(weights.tolist())),
        )
    assert saved.certificate.valid_for.endswith("under every prior with these cells")
    if not isinstance(prior, priors.Density):
        return _prior_of_cells(saved, name, prior, exponent)
    law, domain = _any(prior.function), prior.domain
    places = domain.lower + domain.length * (np.arange(1000) + 0.5) / 1000
    weights = np.exp(-0.5 * ((places - law.mean) / law.deviation) ** 2)
    rivals = [_average(rival, places, weights, exponent) for rival in _rival_windows(saved, _honest(name))]
    return Truth(_average(mechanism, places, weights, exponent), min(rivals))


def _gathered(prior: priors.Atoms) -> tuple[Floats, Floats]:
    """The places that have weight, in order."""
    weights = dict.fromkeys(sorted(prior.points.tolist()), 0.0)
    for x, weight in zip(prior.points.tolist(), prior.weights.tolist(), strict=True):
        weights[x] += weight
    kept = {x: weight for x, weight in weights.items() if weight > 0}
    return np.array(list(kept)), np.array(list(kept.values()))


def _prior_of_cells(saved: Any, name: str, cells: Any, exponent: float) -> Truth:
    """Some prior with these cells: each cell's mass one deviation below and above its mean, if that fits."""
    spread = np.sqrt(cells.variances)
    low, high = cells.means - spread, cells.means + spread
    fits = (low >= cells.lows) & (high <= cells.highs)
    low, high = np.where(fits, low, cells.means), np.where(fits, high, cells.means)
    places, weights = np.concatenate([low, high]), np.tile(cells.weights / 2, 2)
    rivals = [_average(rival, places, weights, exponent) for rival in _rival_windows(saved, _honest(name))]
    return Truth(_average(saved.mechanism, places, weights, exponent), min(rivals))


def _trade_off(saved: Any, name: str) -> Truth:
    mechanism, problem = saved.mechanism, saved.problem
    exponent, criterion = problem.loss.exponent, problem.criterion
    assert isinstance(criterion, Lexicographic)
    places, weights = _gathered(criterion.prior)
    grid = _many(mechanism.inputs)
    cap = saved.evidence.cap if criterion.cap is None else criterion.cap
    assert saved.certificate.scope.cap == cap
    assert saved.certificate.valid_for == f"all mechanisms with worst case at most {cap!r}"
    assert _window_errors(mechanism, grid, exponent).max() <= cap * (1 + HERE), "breaks its cap"
    if criterion.cap is None:
        least = min(float(_window_errors(r, grid, exponent).max()) for r in _rival_windows(saved, _honest(name)))
        assert cap <= least * (1 + 1.5 * criterion.slack) * (1 + HERE), "the cap is not near the least"
    rivals = [
        _average(rival, places, weights, exponent)
        for rival in _rival_windows(saved, _honest(name))
        if _window_errors(rival, grid, exponent).max() <= cap * (1 - 1e-6) or rival is mechanism
    ]
    return Truth(_average(mechanism, places, weights, exponent), min(rivals))


def _unbiased(saved: Any, name: str) -> Truth:
    problem, mechanism = saved.problem, saved.mechanism
    assert isinstance(problem.criterion, Average)
    count = problem.among.bins + 1 if isinstance(problem.among, OnGrid) else saved.evidence.offsets.size
    grid = np.linspace(mechanism.inputs.lower, mechanism.inputs.upper, count)
    weights = _rounded(problem.criterion.prior, grid)
    values = [_variance(mechanism, grid, weights)]
    honest = _honest(name).mechanism
    same = honest.inputs == mechanism.inputs and getattr(honest, "bins", 0) == getattr(mechanism, "bins", 0)
    if same and honest.ratio <= math.exp(mechanism.epsilon):
        values.append(_variance(honest, grid, weights))
    return Truth(values[0], min(values))


def _worst_variance(mechanism: Any) -> float:
    """On inputs all over the interval, and then on many around the worst."""
    places = _many(mechanism.inputs)
    points, base = np.asarray(mechanism.points), np.asarray(mechanism.base)
    for _ in range(3):
        rows = _unbiased_rows(points, base, mechanism.ratio, places)
        assert abs(rows @ points - places).max() <= 1e-6 * np.ptp(points), "biased"
        values = (rows * (points[None, :] - places[:, None]) ** 2).sum(axis=1)
        worst, width = float(places[int(np.argmax(values))]), float(np.diff(places).max())
        places = np.clip(worst + width * np.linspace(-1, 1, 21), mechanism.inputs.lower, mechanism.inputs.upper)
    return float(values.max())


@cache
def _honest_worst_variance(name: str) -> float:
    return _worst_variance(_honest(name).mechanism)


def _unbiased_worst(saved: Any, name: str) -> Truth:
    mechanism, honest = saved.mechanism, _honest(name).mechanism
    assert (saved.problem.criterion, saved.problem.loss) == (Worst(), Power(2.0))
    values = [_worst_variance(mechanism)]
    if honest.inputs == mechanism.inputs and honest.ratio <= math.exp(mechanism.epsilon):
        values.append(_honest_worst_variance(name))
    return Truth(values[0], min(values))


def _sign_patterns(saved: Any) -> Truth:
    """Each number drawn by its range, as long as none is drawn more than always; what any k attains is above any bound.

    The lower end is what no rival attains, which is the average over the corners.
    """
    problem, table = saved.problem, np.asarray(saved.mechanism.probabilities)
    assert (problem.criterion, problem.loss, problem.among) == (Worst(), Power(2.0), Unbiased())
    halves = np.array([(part.upper - part.lower) / 2 for part in problem.inputs.parts])
    drawn = int(math.log2(len(table)))
    signs = np.array([[1 if number >> bit & 1 else -1 for bit in range(drawn)] for number in range(len(table))])
    kept = (table / table.sum(axis=1, keepdims=True)) @ signs
    assert abs(kept - kept[-1, 0] * signs).max() <= 1e-12, "biased"

    def moment(count: int, times: float) -> float:
        shares = np.zeros(len(halves))
        for _ in halves:
            free = shares < 1
            shares[free] = np.minimum(1, (count - (~free).sum()) * halves[free] / halves[free].sum())
        return float(times**2 * (halves**2 / shares).sum())

    c = math.exp(problem.epsilon)
    others = [moment(k, (c + 2**k - 1) / (c - 1)) for k in range(1, min(len(halves), 8) + 1)]
    return Truth(moment(drawn, 1 / kept[-1, 0]), min(others))


def _directions(saved: Any) -> Truth:
    """The cosine of report and own direction integrated in doubles; the rival is the best of caps or sets on a grid."""
    problem, law, c = saved.problem, saved.mechanism, math.exp(saved.problem.epsilon)
    assert (problem.criterion, problem.loss, problem.among) == (Worst(), Power(2.0), Unbiased())
    assert problem.inputs == law.inputs
    assert 1 < law.ratio <= c
    count, square, is_sphere = law.inputs.count, law.inputs.radius**2, isinstance(law.inputs, Sphere)

    def cap(ratio: float, height: float) -> float:
        edge, totals = math.acos(height), np.zeros(2)
        for start, stop, weight in ((0.0, edge, ratio), (edge, math.pi, 1.0)):
            angles = start + (stop - start) * (NODES + 1) / 2
            mass = WEIGHTS * (stop - start) * weight * np.sin(angles) ** (count - 2)
            totals += mass.sum(), mass @ np.cos(angles)
        return float((totals[0] / totals[1]) ** 2)

    def sets(ratio: float, size: float) -> float:
        return float(((2 * count + (ratio - 1) * size) / (ratio - 1)) ** 2 / size)

    if isinstance(law.inputs, CrossPolytope):
        attained, rival = sets(law.ratio, law.reports.size), min(sets(c, size) for size in range(1, count + 1))
    else:
        attained = cap(law.ratio, law.reports.height)
        rival = min(cap(c, height) for height in np.linspace(0, 0.99, 100))
    return Truth(square * (attained - is_sphere), square * (rival - is_sphere))


def _cube(saved: Any) -> Truth:
    """The worst noise of the law on its grid and what rounding adds in the middle of a cell, or its average under the
    prior; coins for each number."""
    problem, table = saved.problem, np.asarray(saved.mechanism.probabilities)
    assert (problem.loss, problem.among) == (Power(2.0), Unbiased())
    (half,) = {(part.upper - part.lower) / 2 for part in problem.inputs.parts}
    count = len(problem.inputs.parts)
    levels = round(len(table) ** (1 / count))
    places = np.array(list(itertools.product(np.linspace(-1, 1, levels), repeat=count)))
    law, coins = table / table.sum(axis=1, keepdims=True), half * count / math.tanh(problem.epsilon / 2)
    if isinstance(problem.criterion, Average):
        side, atoms = problem.inputs.parts[0], problem.criterion.prior
        one = np.zeros(levels)
        steps = (atoms.points - side.lower) / side.length * (levels - 1)
        np.add.at(one, np.rint(steps).astype(int), atoms.weights)
        shares = reduce(np.multiply.outer, [one / one.sum()] * count).ravel()
        upper = half**2 * float(shares @ noise_of(places.T, law, shares))
        return Truth(upper, min(upper, coins**2 - half**2 * float(shares @ (places**2).sum(axis=1))))
    assert problem.criterion == Worst()
    prior = np.asarray(saved.evidence.prior)
    own = noise_of(places.T, law, prior / prior.sum())
    upper = half**2 * (float(own.max()) + count / (levels - 1) ** 2)
    return Truth(upper, min(upper, coins**2))


def _rounded(prior: Any, grid: Floats) -> Floats:
    """A uniform prior on the inputs, or atoms, on a grid with the mean kept: mass goes to both neighbours."""
    if isinstance(prior, priors.Atoms):
        places, masses = prior.points, prior.weights
    else:
        assert prior.name == "uniform", prior
        share = (np.arange(10_000) + 0.5) / 10_000
        places = prior.domain.lower + prior.domain.length * share
        masses = np.full(share.size, 1 / share.size)
    hats = np.maximum(0, 1 - abs(places[:, None] - grid[None, :]) / (grid[1] - grid[0]))
    return np.asarray(masses @ hats)


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


def _finite(saved: Any) -> Truth:
    mechanism, problem = saved.mechanism, saved.problem
    criterion, epsilon, losses = problem.criterion, mechanism.epsilon, np.asarray(problem.loss.values)
    aim = criterion.words
    used = np.array(mechanism.outputs.points, dtype=int)
    errors = (np.asarray(mechanism.probabilities) * losses[:, used]).sum(axis=1)
    nothing = np.zeros_like(losses)
    if isinstance(criterion, Worst):
        key = (aim, epsilon, losses.tobytes(), losses.shape)
        return Truth(float(errors.max()), _remembered(key, lambda: _least_linear(nothing, epsilon, worst=losses)))
    prior = np.asarray(criterion.prior)
    costs = losses * (prior / prior.sum())[:, None]
    attained = float((prior / prior.sum()) @ errors)
    cap = saved.certificate.scope.cap
    key = (aim, epsilon, losses.tobytes(), losses.shape, prior.tobytes(), cap)
    if isinstance(criterion, Average):
        assert cap is None
        return Truth(attained, _remembered(key, lambda: _least_linear(costs, epsilon)))
    assert isinstance(criterion, Lexicographic)
    assert cap is not None
    least = _remembered((Worst.words, *key[1:4]), lambda: _least_linear(nothing, epsilon, worst=losses))
    assert errors.max() <= cap * (1 + HERE), "breaks its cap"
    assert cap <= (1 + criterion.slack) * least * (1 + 1e-7), "the cap is not near the least"
    assert f"<= {cap!r}" in saved.certificate.valid_for
    assert saved.certificate.valid_for.endswith(f"at most {1 + criterion.slack!r} times the least")
    rows = [np.zeros_like(losses) for _ in losses]
    for x, row in enumerate(rows):
        row[x] = losses[x]
    limits = np.full(len(rows), cap * (1 + 1e-9))
    return Truth(attained, _remembered(key, lambda: _least_linear(costs, epsilon, np.array(rows), limits)))


def _pairs(saved: Any) -> Truth:
    """Every pair of every column, and the least over all such tables with the losses as they are in doubles."""
    problem, mechanism = saved.problem, saved.mechanism
    privacy = problem.privacy
    if isinstance(privacy, Metric):
        points = np.asarray(privacy.points)
        apart = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
        epsilons = privacy.per_unit * apart
        places = np.asarray(problem.among.places) if isinstance(problem.among, Onto) else points
        losses = np.sqrt(((points[:, None] - places) ** 2).sum(axis=2)) ** problem.loss.exponent
        known = dict(zip(places[:, 0].tolist(), range(len(places)), strict=True))
        is_line = tuple(points[:, 0].tolist()) == mechanism.inputs.points
        used = [known[y] if is_line and len(known) == len(places) else int(y) for y in mechanism.outputs.points]
    else:
        epsilons, losses = np.asarray(privacy.epsilons), np.asarray(problem.loss.values)
        used = [int(y) for y in mechanism.outputs.points]
    law = np.asarray(mechanism.probabilities)
    for one, row in enumerate(law):
        for other, second in enumerate(law):
            limit = math.exp(min(epsilons[one, other], 600))
            assert (row <= limit * second * (1 + 1e-9)).all() or math.isinf(epsilons[one, other]), "a pair is broken"
    errors = (law * losses[:, used]).sum(axis=1)
    worst = problem.weights is None
    prior = None if worst else np.asarray(problem.weights) / np.sum(problem.weights)
    key = ("pairs", epsilons.tobytes(), losses.tobytes(), losses.shape, None if prior is None else prior.tobytes())
    cap = saved.certificate.scope.cap
    if isinstance(problem.criterion, Lexicographic):
        slack = problem.criterion.slack
        assert cap is not None
        known = _remembered((*key[:4], None), lambda: _least_for_pairs(epsilons, losses, None))
        assert errors.max() <= cap * (1 + HERE), "breaks its cap"
        assert cap <= (1 + slack) * known * (1 + 1e-7), "the cap is not near the least"
        assert saved.certificate.valid_for.endswith(f"{cap!r}, at most {1 + slack!r} times the least")
    else:
        assert cap is None
    least = _remembered((*key, cap), lambda: _least_for_pairs(epsilons, losses, prior, cap))
    return Truth(float(errors.max()) if prior is None else float(prior @ errors), least)


def _plane(saved: Any) -> Truth:
    """The same for the places that are reported, beside what reports on a fine grid lose at least."""
    problem, law = saved.problem, np.asarray(saved.mechanism.probabilities)
    points, places = np.asarray(problem.privacy.points), np.asarray(problem.among.places)
    apart = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2)) * problem.privacy.per_unit
    for one, other in itertools.permutations(range(len(points)), 2):
        assert (law[one] <= math.exp(min(apart[one, other], 600)) * law[other] * (1 + 1e-9)).all(), "a pair is broken"
    told = places[[int(y) for y in saved.mechanism.outputs.points]]
    errors = (law * np.hypot(*(points[:, None] - told).transpose(2, 0, 1)) ** problem.loss.exponent).sum(axis=1)
    prior = None if problem.weights is None else np.asarray(problem.weights) / np.sum(problem.weights)
    axes = [np.linspace(a, b, 9) for a, b in zip(points.min(axis=0), points.max(axis=0), strict=True)]
    grid = np.concatenate([np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2), points, told])
    losses = np.hypot(*(points[:, None] - grid).transpose(2, 0, 1)) ** problem.loss.exponent
    key = ("plane", apart.tobytes(), losses.tobytes(), losses.shape, None if prior is None else prior.tobytes())
    rival = _remembered(key, lambda: _least_for_pairs(apart, losses, prior))
    return Truth(float(errors.max()) if prior is None else float(prior @ errors), rival)


def _least_for_pairs(epsilons: Floats, losses: Floats, prior: Floats | None, cap: float | None = None) -> float:
    n, m = losses.shape
    above, sums = [], np.zeros((n, n * m + 1))
    for one in range(n):
        sums[one, one * m : (one + 1) * m] = 1
        for other in range(n):
            if one != other and math.isfinite(epsilons[one, other]):
                for y in range(m):
                    row = np.zeros(n * m + 1)
                    row[one * m + y], row[other * m + y] = 1, -math.exp(min(epsilons[one, other], 600))
                    above.append(row)
        if prior is None or cap is not None:  # of an average the last is the cap: fixed
            row = np.zeros(n * m + 1)
            row[one * m : (one + 1) * m], row[-1] = losses[one], -1
            above.append(row)
    goal = np.zeros(n * m + 1)
    goal[-1] = prior is None
    if prior is not None:
        goal[:-1] = (prior[:, None] * losses).ravel()
    rows = np.array(above) if above else None
    right = None if rows is None else np.zeros(len(above))
    last = (0, None) if cap is None else (cap * (1 + 1e-9), cap * (1 + 1e-9))
    bounds = [(0, None)] * (n * m) + [last]
    solved = optimize.linprog(goal, rows, right, sums, np.ones(n), bounds=bounds)
    return float(solved.fun) if solved.status == 0 else math.inf


def _with_delta(saved: Any) -> Truth:
    """Every pair of rows, what one has above the other summed, and the least over all such tables."""
    problem, law = saved.problem, np.asarray(saved.mechanism.probabilities)
    epsilon, delta, losses = problem.privacy.epsilon, problem.privacy.delta, np.asarray(problem.loss.values)
    law = law / law.sum(axis=1, keepdims=True)

    def excess(loss: float) -> float:
        pairs = itertools.permutations(law, 2)
        return max(float(np.maximum(row - math.exp(min(loss, 600)) * other, 0).sum()) for row, other in pairs)

    said = saved.certificate.privacy_loss
    assert excess(epsilon) <= delta + 1e-12, "not private"
    assert said <= epsilon, "not private"
    assert excess(said) <= delta + 1e-12, "loss understated"
    assert said < 1e-6 or excess(said * (1 - 1e-6)) >= delta - 1e-12, "loss overstated"
    errors = (law * losses[:, [int(y) for y in saved.mechanism.outputs.points]]).sum(axis=1)
    prior = None if problem.weights is None else np.asarray(problem.weights) / np.sum(problem.weights)
    weights = None if prior is None else prior.tobytes()
    key = ("delta", epsilon, delta, losses.tobytes(), losses.shape, weights)
    least = _remembered(key, lambda: _least_with_delta(epsilon, delta, losses, prior))
    return Truth(float(errors.max()) if prior is None else float(prior @ errors), least)


def _least_with_delta(epsilon: float, delta: float, losses: Floats, prior: Floats | None) -> float:
    """Events in place of slacks: every set of outputs, for every pair of rows, is a constraint of its own."""
    n, m = losses.shape
    above, right = [], []
    for one, other in itertools.permutations(range(n), 2):
        for event in product((0.0, 1.0), repeat=m):
            row = np.zeros((n, m))
            row[one], row[other] = event, -math.exp(epsilon) * np.array(event)
            above.append([*row.ravel(), 0.0])
            right.append(delta)
    if prior is None:
        for x in range(n):
            row = np.zeros((n, m))
            row[x] = losses[x]
            above.append([*row.ravel(), -1.0])
            right.append(0.0)
    goal = [*(np.zeros((n, m)) if prior is None else prior[:, None] * losses).ravel(), float(prior is None)]
    sums = np.column_stack([np.kron(np.eye(n), np.ones(m)), np.zeros(n)])
    solved = optimize.linprog(goal, np.array(above), np.array(right), sums, np.ones(n), bounds=(0, None))
    return float(solved.fun) if solved.status == 0 else math.inf


def _points(saved: Any) -> Truth:
    """The matrix of distances between the points, in doubles."""
    mechanism, problem = saved.mechanism, saved.problem
    points, told = np.array(mechanism.inputs.points), np.array(mechanism.outputs.points)
    assert mechanism.inputs == problem.inputs
    assert set(told.tolist()) <= set(points.tolist())
    exponent = problem.loss.exponent
    errors = (np.asarray(mechanism.probabilities) * abs(points[:, None] - told) ** exponent).sum(axis=1)
    losses = abs(points[:, None] - points) ** exponent
    key = (problem.criterion.words, mechanism.epsilon, exponent, points.tobytes())
    if problem.criterion == Worst():
        nothing = np.zeros_like(losses)
        rival = _remembered(key, lambda: _least_linear(nothing, mechanism.epsilon, worst=losses))
        return Truth(float(errors.max()), rival)
    assert isinstance(problem.criterion, Average)
    weights = problem.weights / problem.weights.sum()
    costs = losses * weights[:, None]
    rival = _remembered((*key, weights.tobytes()), lambda: _least_linear(costs, mechanism.epsilon))
    return Truth(float(weights @ errors), rival)


def _table(saved: Any) -> Floats:
    """The law of a custom design on all outputs of its problem."""
    mechanism, problem = saved.mechanism, saved.problem
    outputs = problem.inputs.points if isinstance(problem.among, All) else tuple(problem.among.places.ravel().tolist())
    table = np.zeros((len(problem.inputs), len(outputs)))
    where = [outputs.index(y) for y in mechanism.outputs.points]
    table[:, where] = np.asarray(mechanism.probabilities)
    return table


def _linear(saved: Any) -> Truth:
    mechanism, problem = saved.mechanism, saved.problem
    assert problem.criterion == Total()
    linear, table, tolerance = problem.loss.coefficients, _table(saved), problem.loss.tolerance
    rows, limits = np.asarray(linear.rows), np.asarray(linear.limits)
    if any(linear.equal):
        rows, limits = (
            np.concatenate([rows, -rows[list(linear.equal)]]),
            np.concatenate([limits, -limits[list(linear.equal)]]),
        )
    for row, limit in zip(rows, limits, strict=True):
        assert (row * table).sum() <= limit + tolerance * (1 + HERE) + 1e-12, "breaks a constraint"
    assert not linear.equal or f"within {tolerance!r}" in saved.certificate.valid_for
    costs = np.asarray(linear.costs)
    key = (mechanism.epsilon, costs.tobytes(), rows.tobytes(), limits.tobytes(), tolerance, costs.shape)
    rival = _remembered(key, lambda: _least_linear(costs, mechanism.epsilon, rows, limits + tolerance))
    return Truth(float((costs * table).sum()) + linear.offset, rival + linear.offset)


def _named_only(saved: Any) -> Truth:
    """An objective that is not in the file: privacy and outputs are decided, both ends are claims and said to be."""
    problem = saved.problem
    assert problem.criterion == Total()
    assert problem.loss.coefficients is None
    assert np.allclose(_table(saved).sum(axis=1), 1)
    return Truth(saved.certificate.upper, math.inf)


def _joint(saved: Any) -> Truth:
    """A group answers together: its law is the chance of each number of truths, and all else follows from it."""
    law, words = saved.mechanism, saved.problem
    said = attrs.asdict(words.privacy, recurse=False)
    problem = SimpleNamespace(**said, share=words.loss.share, group=words.among.group, categories=len(words.inputs))
    chances = [float(weight) for weight in law.weights]
    group, k, users = len(chances) - 1, law.categories, problem.users
    assert min(chances) >= 0
    assert sum(chances) == pytest.approx(1)
    assert (group, k) == (problem.group, problem.categories)
    assert isinstance(words.criterion, Average if isinstance(problem.share, priors.Atoms) else Worst)
    truth = sum(t * w for t, w in enumerate(chances)) / group
    lies = sum((group - t) * w for t, w in enumerate(chances)) / group
    both = sum(t * (t - 1) * w for t, w in enumerate(chances)) / (group * (group - 1))
    _require_private_group(chances, problem)
    attained = _variance_of_count(problem, truth, lies, both - truth**2)
    rivals = [attained]
    # independent answers cost the same whoever is known
    ratio = math.exp(min([problem.epsilon, *(cap for cap in problem.caps if cap is not None)]))
    best, least = ratio / (ratio + k - 1), (k - 1) / (ratio + k - 1)
    rivals.append(_variance_of_count(problem, best, least, 0.0))
    if k == 2 and group == 2 and not problem.colluders and not problem.caps:  # never lie together, or never differ
        rivals.append(_variance_of_count(problem, best, least, -(least**2)))
        rivals.append(_variance_of_count(problem, best, least, best * least))
    assert users % group == 0
    return Truth(attained, min(rivals))


def _require_private_group(chances: list[float], problem: Any) -> None:
    """What c known partners tell, added up over all truths: on average over the grouping, and at worst."""
    group, k = len(chances) - 1, problem.categories

    def told(known: int) -> tuple[float, float]:
        most_true = most_false = 0.0
        for seen in range(known + 1):
            rest = group - 1 - known
            true, false = (
                math.fsum(
                    chances[seen + own + more] * math.comb(rest, more) / math.comb(group, seen + own + more)
                    for more in range(rest + 1)
                )
                for own in (1, 0)
            )
            if true + false > 0:
                most_true, most_false = max(most_true, true / (true + false)), max(most_false, false / (true + false))
        return most_true, most_false

    def loss(true: float, false: float) -> float:
        if true >= 1 or false >= 1:
            return math.inf
        return math.log(max((k - 1) * true / (1 - true), false / ((k - 1) * (1 - false))))

    others, m = problem.users - 1, problem.colluders
    shares = [
        math.comb(m, c) * math.comb(others - m, group - 1 - c) / math.comb(others, group - 1) for c in range(group)
    ]
    parts = [told(c) for c in range(group)]
    averaged = loss(*(sum(h * part[i] for h, part in zip(shares, parts, strict=True)) for i in (0, 1)))
    assert averaged <= problem.epsilon + HERE, "not private"
    for known, cap in enumerate(problem.caps, start=1):
        assert cap is None or loss(*parts[known]) <= cap + HERE, "not private once partners are known"


def _variance_of_count(problem: Any, truth: float, lies: float, covariance: float) -> float:
    """Of the count of a category, at the worst count in question or on average over the share's prior."""
    users, k, group = problem.users, problem.categories, problem.group
    lie = lies / (k - 1)

    def at(count: float) -> float:
        rest = (users - count) / (k - 1)
        alone = count * truth * lies + (users - count) * lie * (1 - lie)
        alike = (group - 1) / (users - 1) * ((count - rest) ** 2 - count - rest / (k - 1))
        return (alone + covariance * alike) / (truth - lie) ** 2

    share = problem.share
    if isinstance(share, float):
        return at(round(share * users))
    if isinstance(share, tuple):
        return max(map(at, range(math.ceil(share[0] * users), math.floor(share[1] * users) + 1)))
    assert isinstance(share, priors.Atoms)
    return float(np.dot(share.weights, [at(x * users) for x in share.points.tolist()]) / share.weights.sum())


def _hidden(saved: Any) -> Truth:
    """All users answer together: the law of the number of liars, and what each set of them weighs."""
    law, problem = saved.mechanism, saved.problem
    users, k, encoding = problem.privacy.users, law.categories, problem.among.encoding
    ways = [math.lgamma(users + 1) - math.lgamma(j + 1) - math.lgamma(users - j + 1) for j in range(users + 1)]

    def peaked(peak: int, slope: float) -> list[float]:
        heights = [w + j * math.log(k - 1) - slope * abs(j - peak) for j, w in enumerate(ways)]
        chances = [math.exp(height - max(heights)) for height in heights]
        return [chance / math.fsum(chances) for chance in chances]

    def variance(chances: list[float]) -> float:
        mean = math.fsum(j * c for j, c in enumerate(chances))
        both = math.fsum((users - j) * (users - j - 1) * c for j, c in enumerate(chances)) / (users * (users - 1))
        truth = 1 - mean / users
        asked = SimpleNamespace(users=users, categories=k, group=users, share=problem.loss.share)
        return _variance_of_count(asked, truth, mean / users, both - truth**2)

    each = problem.epsilon / (2 if encoding == "unary" else 1)
    assert encoding != "hashing"
    assert k == (2 if encoding == "unary" else len(problem.inputs))
    assert law.users == users
    if hasattr(law, "peak"):
        chances = peaked(law.peak, math.log(law.ratio))
    else:
        chances = [float(chance) for chance in law.chances]
    true = [c * (users - j) / users for j, c in enumerate(chances[:-1])]
    false = [c * (j + 1) / (users * (k - 1)) for j, c in enumerate(chances[1:])]
    grown = math.exp(each)
    excess = math.fsum(max(a - grown * b, 0) + max(b - grown * a, 0) for a, b in zip(true, false, strict=True))
    assert excess <= problem.privacy.delta + 1e-12, "not private"
    assert saved.certificate.privacy_loss <= problem.epsilon
    attained = variance(chances)
    # the best peak, up to where lies outweigh the truth
    fitting = [peaked(peak, each) for peak in range(users * (k - 1) // k)]
    told = [chances for chances in fitting if math.fsum(j * c for j, c in enumerate(chances)) < users * (k - 1) / k]
    rivals = [variance(chances) for chances in told]
    return Truth(attained, min([attained, *rivals]))


def _workload(saved: Any) -> Truth:
    """The noise of the law with its estimator, and the optimum over all rows."""
    problem = saved.problem
    asked = problem.loss
    roots = np.ones(len(asked.queries.names)) if asked.weights is None else np.sqrt(np.asarray(asked.weights))
    queries = asked.queries.matrix * roots[:, None]
    channel = np.asarray(saved.mechanism.probabilities)
    channel = channel / channel.sum(axis=1, keepdims=True)
    is_worst = isinstance(problem.criterion, Worst)
    prior = np.asarray(saved.evidence.weights_of_types(problem) if is_worst else problem.weights)
    prior = prior / prior.sum()
    own = noise_of(queries, channel, prior)
    if is_worst:
        return Truth(float(own.max()), float(own.max()))
    key = (queries.tobytes(), queries.shape, problem.epsilon, prior.tobytes())
    return Truth(float(own @ prior), _remembered(key, lambda: least_noise(queries, problem.epsilon, prior)))


def _told_of_parameter(saved: Any) -> Truth:
    """One over the information of the law, and over the most that a program over all rows finds."""
    problem = saved.problem
    chances, slopes = np.asarray(problem.loss.chances), np.asarray(problem.loss.slopes)
    chances = chances / chances.sum()
    channel = np.asarray(saved.mechanism.probabilities)
    channel = channel / channel.sum(axis=1, keepdims=True)
    own = float(((slopes @ channel) ** 2 / (chances @ channel)).sum())

    def most() -> float:
        rows = all_rows(chances.size, problem.epsilon)
        found = optimize.linprog(-((rows @ slopes) ** 2) / (rows @ chances), A_eq=rows.T, b_eq=np.ones(chances.size))
        return float(-1 / found.fun)

    return Truth(1 / own, _remembered((chances.tobytes(), slopes.tobytes(), problem.epsilon), most))


def _any(value: Any) -> Any:
    return value


TRUTHS: dict[str, Callable[[Any, str], Truth]] = {
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
    "gathered": _prior,
    "density": _prior,
    "trade-off": _trade_off,
    "trade-off least": _trade_off,
    "unbiased": _unbiased,
    "unbiased worst": _unbiased_worst,
    "sign patterns": lambda saved, _: _sign_patterns(saved),
    "many sign patterns": lambda saved, _: _sign_patterns(saved),
    "sphere": lambda saved, _: _directions(saved),
    "ball": lambda saved, _: _directions(saved),
    "cross-polytope": lambda saved, _: _directions(saved),
    "cube": lambda saved, _: _cube(saved),
    "cube prior": lambda saved, _: _cube(saved),
    "unbiased atoms": _unbiased,
    "additive": _unbiased,
    "matrix": lambda saved, _: _finite(saved),
    "matrix prior": lambda saved, _: _finite(saved),
    "matrix least": lambda saved, _: _finite(saved),
    "whole numbers": lambda saved, _: _points(saved),
    "whole numbers prior": lambda saved, _: _points(saved),
    "pairs": lambda saved, _: _pairs(saved),
    "pairs least": lambda saved, _: _pairs(saved),
    "delta": lambda saved, _: _with_delta(saved),
    "delta prior": lambda saved, _: _with_delta(saved),
    "places": lambda saved, _: _pairs(saved),
    "plane": lambda saved, _: _plane(saved),
    "plane worst": lambda saved, _: _plane(saved),
    "custom": lambda saved, _: _linear(saved),
    "workload": lambda saved, _: _workload(saved),
    "workload ranges": lambda saved, _: _workload(saved),
    "workload of one query": lambda saved, _: _workload(saved),
    "workload worst": lambda saved, _: _workload(saved),
    "workload by squares": lambda saved, _: _workload(saved),
    "workload grid": lambda saved, _: _workload(saved),
    "workload grid worst": lambda saved, _: _workload(saved),
    "workload by a tree": lambda saved, _: _workload(saved),
    "information": lambda saved, _: _told_of_parameter(saved),
    "polar": lambda saved, _: _polar(saved),
    "searched pieces": lambda saved, _: _piecewise(saved),
    "claimed custom": lambda saved, _: _named_only(saved),
    "pair": lambda saved, _: _joint(saved),
    "pair with colluders": lambda saved, _: _joint(saved),
    "pair over shares": lambda saved, _: _joint(saved),
    "pair under a prior": lambda saved, _: _joint(saved),
    "even group": lambda saved, _: _joint(saved),
    "group": lambda saved, _: _joint(saved),
    "claimed pair": lambda saved, _: _joint(saved),
    "hidden": lambda saved, _: _hidden(saved),
    "hidden over shares": lambda saved, _: _hidden(saved),
    "hidden and even": lambda saved, _: _hidden(saved),
    "hidden with a delta": lambda saved, _: _hidden(saved),
}
_NUMBER = re.compile(r"\d[\d.e+-]*")


def _require_true(saved: Any, name: str) -> None:
    """Privacy, both ends, scope and standing of a design that was read."""
    certificate, mechanism = saved.certificate, saved.mechanism
    if not isinstance(mechanism, TogetherLaw) and name not in ("delta", "delta prior"):  # theirs is in their truths
        assert _ratio_of(mechanism) <= math.exp(saved.problem.epsilon) * (1 + 1e-12), "not private"
        assert certificate.privacy_loss == pytest.approx(mechanism.privacy_loss(), rel=1e-9)
        if mechanism.epsilon > 1e-9:
            assert certificate.privacy_loss <= math.log(_ratio_of(mechanism)) * (1 + 1e-6) + 1e-12, "loss overstated"
    assert certificate.claimed == type(saved.evidence).claimed == (name in CLAIMED), (
        "changed between proven and claimed"
    )
    scope = certificate.valid_for
    if name == "additive":  # evidence may restrict itself to the mechanism's own tails, and says so
        tail, reach = mechanism.tail, mechanism.reach
        scope = scope.replace(f" and tails of ratio {tail}/{tail + 1} from {reach} steps beyond them", "")
    _require_scope(scope, saved, name)
    truth = TRUTHS[name](saved, name)
    is_gathered = certificate.valid_for.endswith("with these cells")
    slack = 1e-6 if certificate.claimed else 1e-5 if name == "density" else HERE  # sums over the density's cells
    # where an end of the certificate holds for every prior with some cells, one of them may be served better
    room = math.inf if is_gathered and name != "density" else 1e-2 if is_gathered else slack
    assert truth.attained <= certificate.upper * (1 + slack), "the mechanism is worse than said"
    assert certificate.upper <= max(truth.attained, certificate.lower) * (1 + room) + 1e-15, "better than said"
    assert certificate.lower <= certificate.upper
    if not certificate.claimed:
        assert certificate.lower <= truth.rival * (1 + 1e-7), f"{certificate.lower!r} is beaten by {truth.rival!r}"


def _require_scope(scope: str, saved: Any, name: str) -> None:
    """The class of the honest design; what a mutant may narrow of it, its own problem and evidence must say."""
    honest, problem = _honest(name), saved.problem
    allowed = {honest.certificate.valid_for}
    if isinstance(saved.evidence, BinsBound) and isinstance(problem.criterion.prior, priors.Atoms):
        cuts, values = saved.evidence.cuts, _gathered(problem.criterion.prior)[0]
        is_each = cuts is None or cuts.size + 1 == values.size
        allowed = {"all mechanisms" + ("" if is_each else ", under every prior with these cells")}
    if name in ("whole numbers", "whole numbers prior"):
        allowed = {"all mechanisms" if problem.loss == Power(1.0) else "all mechanisms with these outputs"}
    if isinstance(problem, Problem) and isinstance(problem.among, Piecewise) and problem.among.pieces == 1:
        allowed = {"one-piece mechanisms"}
    if name == "places":
        on_all = problem.loss.exponent == 1 and isinstance(problem.among, All)
        allowed = {"all mechanisms" if on_all else "all mechanisms with these outputs"}
    if name == "custom" and not problem.loss.coefficients.equal:
        allowed = {"all mechanisms with these outputs"}
    if name == "claimed custom" and problem.loss.constraints:
        within = f"as this one does within {problem.loss.tolerance!r}"
        allowed = {f"all mechanisms with these outputs that meet the stated constraints, {within}"}
    assert _NUMBER.sub("#", scope) in {_NUMBER.sub("#", text) for text in allowed}, "another scope"


def _require_true_words(said: Document, saved: Any) -> None:
    """What the file says in words and numbers of its own is what the design that was read is."""
    problem, certificate = saved.problem, said["certificate"]
    assert certificate["claimed"] is saved.certificate.claimed
    assert certificate["valid_for"] == saved.certificate.valid_for
    for key in ("lower", "upper", "privacy_loss"):
        assert _number(certificate[key]) == pytest.approx(getattr(saved.certificate, key), rel=1e-8), key
    assert said["problem"]["kind"] == type(saved.problem).kind
    assert said["problem"]["privacy"]["kind"] == problem.privacy.kind
    assert said["problem"]["criterion"]["kind"] == problem.criterion.kind
    if isinstance(saved.mechanism, JointResponse):
        assert _number(said["mechanism"]["p"]) == pytest.approx(float(saved.mechanism.truth))


def _number(said: Any) -> float:
    return math.inf if said == "inf" else float(said)


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


class _Forger(Codec):
    """Reads values by their fields alone: what echoes them is made anew when they are written again."""

    def _decoded_fields(self, kind: type, said: Any, place: str) -> Any:
        hints, found = get_type_hints(kind), {}
        for field in attrs.fields(kind):
            if field.init and field.metadata.get("in files", True):
                key = field.metadata.get("key", field.name)
                found[field.alias] = self.decoded(hints[field.name], said[key], key)
        return kind(**found)


FORGER = _Forger(CODEC.protocols)


def _sealed(mutant: Document, certified: bool) -> Document:
    """A forger's best: every echo made to fit, and if wanted the certificate as the package derives it anew."""
    try:
        problem = FORGER.of_kind((Problem,), mutant["problem"], "problem")
        mechanism = FORGER.of_kind((*KINDS, *JOINT_KINDS), mutant["mechanism"], "mechanism")
        fitting = {**mutant, "problem": CODEC.encoded(problem), "mechanism": CODEC.encoded(mechanism)}
    except (InvalidInput, KeyError, TypeError, AttributeError):
        return mutant
    if certified:
        try:
            evidence = FORGER.of_kind(EVIDENCE, mutant["certificate"].get("evidence"), "evidence")
            fitting["certificate"] = certify(problem, mechanism, evidence).document()
        except (InvalidInput, CheckFailed, ArithmeticError, KeyError, TypeError, AttributeError):
            pass
    written = json.loads(files.dump_json(fitting))
    assert isinstance(written, dict)
    return written


def _fuzz(name: str, count: int, seed: int) -> int:
    document, draw, read = _document(name), random.Random(f"{name} {seed}"), 0
    for number in range(count):
        mutant = _mutant(document, draw)
        if number % 3:
            mutant = _sealed(mutant, number % 3 == 1)
        try:
            saved = design_of_document(mutant, "a mutant")
        except InvalidInput:
            continue
        read += 1
        try:
            _require_true(saved, name)
            _require_true_words(mutant, saved)
        except AssertionError as lie:
            pytest.fail(f"mutant {number} of {name}: {lie}; {_differences(document, mutant)}")
    return read


def _differences(honest: Any, mutant: Any, where: str = "") -> list[str]:
    if isinstance(honest, dict) and isinstance(mutant, dict):
        keys = sorted(honest.keys() | mutant.keys())
        return [d for k in keys for d in _differences(honest.get(k, "absent"), mutant.get(k, "absent"), f"{where}.{k}")]
    return [] if honest is mutant or honest == mutant else [f"{where}: {str(honest)[:80]} -> {str(mutant)[:80]}"]


@dataclass(frozen=True)
class _Told:
    """A design as it would be if its certificate were not derived."""

    design: Design
    certificate: Certificate

    def __getattr__(self, name: str) -> Any:
        return getattr(self.design, name)


@pytest.mark.parametrize("name", DESIGNS)
def test_an_honest_file_is_true(name: str) -> None:
    """What decides the mutants finds nothing false in what they are made from."""
    saved = design_of_document(_document(name), "an honest file")
    assert saved == _honest(name)
    _require_true(saved, name)
    _require_true_words(_document(name), saved)


@pytest.mark.parametrize("name", [name for name in DESIGNS if name not in CLAIMED])
def test_a_bound_above_the_optimum_is_found_to_be_false(name: str) -> None:
    """The fuzz would see it: a bound 5% above what the mechanism attains."""
    saved = design_of_document(_document(name), "an honest file")
    false = saved.certificate.upper * 1.05
    with pytest.raises(AssertionError, match="is beaten by"):
        _require_true(_Told(saved, evolved(saved.certificate, lower=false, upper=false)), name)


@pytest.mark.parametrize(
    "name", [name for name in DESIGNS if name != "claimed custom"]
)  # whose objective is not in the file
def test_an_upper_end_below_the_error_is_found_to_be_false(name: str) -> None:
    saved = design_of_document(_document(name), "an honest file")
    lower = saved.certificate.lower * 0.95
    upper = lower if name == "density" else saved.certificate.upper * (1 - 1e-5)  # its upper end holds for all cells
    with pytest.raises(AssertionError, match="worse than said"):
        _require_true(_Told(saved, evolved(saved.certificate, lower=lower, upper=upper)), name)


@pytest.mark.parametrize("name", DESIGNS)
def test_no_mutant_that_is_read_says_something_false(name: str) -> None:
    assert 0 < _fuzz(name, 500, 0) < 500


SHARES: dict[tuple[str, str], dict[str, int]] = {
    "bathtub": {"piecewise": 2500, "piecewise onto more": 2500, "piecewise at": 2500, "circle": 2500},
    "piecewise claim": {"claimed": 8000, "searched pieces": 2000},
    "unbiased": {"unbiased piecewise": 10_000},
    "unbiased worst": {"unbiased worst": 10_000},
    "sign patterns": {"sign patterns": 5000, "many sign patterns": 5000},
    "cube": {"cube": 5000, "cube prior": 5000},
    "directions": {"sphere": 3000, "ball": 4000, "cross-polytope": 3000},
    "minimax": {"minimax": 10_000},
    "minimax claim": {"claimed minimax": 10_000},
    "bins": {"prior": 4000, "prior squared": 4000, "gathered": 1000, "density": 1000},
    "trade-off": {"trade-off": 5000, "trade-off least": 5000},
    "unbiased prior": {"unbiased": 5000, "unbiased atoms": 5000},
    "additive": {"additive": 10_000},
    "finite": {"matrix": 2500, "matrix prior": 2500, "whole numbers": 2500, "whole numbers prior": 2500},
    "finite lexicographic": {"matrix least": 10_000},
    "pairs": {"pairs": 5000, "places": 5000},
    "pairs lexicographic": {"pairs least": 10_000},
    "hockey-stick prices": {"delta": 5000, "delta prior": 5000},
    "plane": {"plane": 5000, "plane worst": 5000},
    "convex": {"custom": 10_000},
    "convex claim": {"claimed custom": 10_000},
    "workload": {
        "workload": 2000,
        "workload ranges": 2000,
        "workload of one query": 2000,
        "workload worst": 2000,
        "workload by squares": 1000,
        "workload by a tree": 1000,
    },
    "workload grid": {"workload grid": 5000, "workload grid worst": 5000},
    "information": {"information": 10_000},
    "split claim": {"polar": 10_000},
    "joint closed form": {
        "pair": 3000,
        "pair with colluders": 3000,
        "pair over shares": 2000,
        "pair under a prior": 1000,
        "even group": 1000,
    },
    "joint duals": {"group": 10_000},
    "joint claim": {"claimed pair": 10_000},
    "hidden joint lines": {"hidden": 7000, "hidden over shares": 3000},
    "hidden joint independent": {"hidden and even": 10_000},
    "hidden joint duals": {"hidden with a delta": 10_000},
}
"""10,000 mutants of every kind of evidence of every problem, shared out among designs that have it."""


def test_every_kind_of_evidence_has_its_mutants() -> None:
    assert SHARES.keys() == {kind.kind for kind in EVIDENCE}
    assert {name for shares in SHARES.values() for name in shares} == DESIGNS.keys() == TRUTHS.keys()
    for kind, shares in SHARES.items():
        assert sum(shares.values()) == 10_000
        for name in shares:
            document = _document(name)
            assert document["certificate"]["evidence"]["kind"] == kind


def test_designs_are_claimed_where_their_evidence_is() -> None:
    assert {name for name in DESIGNS if type(_honest(name).evidence).claimed} == CLAIMED


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [share for shares in SHARES.values() for share in shares.items()])
def test_no_mutant_of_many_that_is_read_says_something_false(name: str, count: int) -> None:
    assert 0 < _fuzz(name, count, 1) < count
