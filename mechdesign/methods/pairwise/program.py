"""The program of `mechdesign.methods.pairwise.search` in the blocks that `mechdesign_solvers.cones` takes.

With few inputs a block holds all of them and all irreducible pairs, and the program is the problem. With many a block
holds the inputs around its output, with the pairs of near neighbours: a relaxation. Inputs further off are tied to the
nearest of the block, of which they have the least share that the pair allows.
"""

from __future__ import annotations

import numpy as np
from mechdesign_solvers.cones import ConeProgram
from numpy.typing import NDArray

from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.words.pairs import irreducible
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MOST_WHOLE = 128
"""Inputs up to which a block holds all of them."""

_FARTHEST = 60.0
_CANDIDATES = 4  # times the neighbours that are wanted: of a grid, more than half of the nearest are irreducible


def whole_program(problem: Problem, losses: Floats, cap: float | None = None) -> ConeProgram:
    """All inputs and all irreducible pairs in every block, one for each column of the losses."""
    first, second = _worth_it(problem, *irreducible(pairs_of(problem)))
    size, outputs = losses.shape
    every = np.tile(np.arange(size), (outputs, 1))
    bound = pairs_of(problem).closed[first, second]
    return ConeProgram(
        size,
        size,
        every,
        every,
        np.ones((outputs, size)),
        np.ascontiguousarray(losses.T),
        np.repeat(np.arange(outputs), first.size),
        np.tile(first, outputs),
        np.tile(second, outputs),
        np.tile(bound, outputs),
        problem.weights,
        cap=cap,
    )


def _worth_it(problem: Problem, first: Places, second: Places) -> tuple[Places, Places]:
    """Pairs that say something in doubles: what repair mixes in keeps the others."""
    near = pairs_of(problem).closed[first, second] <= _FARTHEST
    return first[near], second[near]


def windows(losses: Floats, size: int) -> Places:
    """For each output the inputs with the least losses, a row of so many each."""
    return np.sort(np.argpartition(losses, size - 1, axis=0)[:size].T, axis=1).astype(np.intp)


def near_pairs(problem: Problem, degree: int) -> tuple[Places, Places]:
    """Of every input's irreducible pairs those with its nearest ``degree`` neighbours, and their ties."""
    closed = pairs_of(problem).closed
    first, second = _worth_it(problem, *irreducible(pairs_of(problem), _CANDIDATES * degree))
    apart = closed[first, second]
    order = np.lexsort((apart, first))
    first, second, apart = first[order], second[order], apart[order]
    starts = np.searchsorted(first, np.arange(len(closed)))
    rank = np.arange(first.size) - starts[first]
    last = np.full(len(closed), np.inf)
    has = rank == degree - 1
    last[first[has]] = apart[has]
    near = apart <= last[first] * (1 + 1e-9)
    return first[near], second[near]


def windowed_program(
    problem: Problem, losses: Floats, window: Places, first: Places, second: Places, least_share: float
) -> ConeProgram:
    """Blocks around the outputs with these pairs; inputs whose share is less than ``least_share`` are left out.

    A worst case must count all inputs: none is left out of its blocks.
    """
    outputs, nodes = window.shape
    size = len(pairs_of(problem))
    closed = pairs_of(problem).closed
    place = np.full(size, -1)
    node, share, seen = [], [], []
    block, one, other = [], [], []
    for y in range(outputs):
        inside = window[y]
        place[:] = -1
        place[inside] = np.arange(nodes)
        # v_node <= e^E(node, x) v_x: the largest share that a node of the block leaves
        apart = closed[inside]
        nearest = np.argmin(apart, axis=0)
        nearest[inside] = np.arange(nodes)
        part = np.exp(-apart[nearest, np.arange(size)])
        node.append(nearest)
        share.append(part)
        seen.append(part >= (0.0 if problem.weights is None else least_share))
        here = (place[first] >= 0) & (place[second] >= 0)
        one.append(place[first[here]])
        other.append(place[second[here]])
        block.append(np.full(one[-1].size, y))
    kept = max(int(part.sum()) for part in seen)
    inputs, at = np.empty((outputs, kept), dtype=np.intp), np.empty((outputs, kept), dtype=np.intp)
    shares = np.empty((outputs, kept))
    left_out = np.zeros((size, outputs), dtype=bool)
    for y in range(outputs):
        best = np.sort(np.argpartition(-share[y], kept - 1)[:kept]) if kept < size else np.arange(size)
        inputs[y], at[y], shares[y] = best, node[y][best], share[y][best]
        left_out[:, y] = True
        left_out[best, y] = False
    far = None
    if kept < size and problem.weights is not None:
        far = problem.weights * np.where(left_out, losses, losses.max() * 2).min(axis=1)
    pairs = np.concatenate(block), np.concatenate(one), np.concatenate(other)
    bound = closed[window[pairs[0], pairs[1]], window[pairs[0], pairs[2]]]
    loss = losses.T[np.arange(outputs)[:, None], inputs]
    return ConeProgram(size, nodes, inputs, at, shares, np.ascontiguousarray(loss), *pairs, bound, problem.weights, far)
