"""The rivals of a design for a loss matrix: published mechanisms on the numbers of its rows, and telling nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.exact.privacy import prove
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.methods.finite.proof import LexicographicBound
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost, on_points, outputs_among
from mechdesign.values.declare import Floats
from mechdesign.words.domains import Finite
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem

SINGLE = "best single output"


class MatrixRivalry:
    """Laws are tables whose outputs are columns of the loss matrix."""

    def published(self, design: Design) -> Mapping[str, Discrete]:
        """Mechanisms on points where there are as many outputs as inputs, and the best one that tells nothing."""
        problem = _asked(design)
        losses = problem.table.up
        rows, columns = losses.shape
        found = on_points(problem.epsilon, problem.numbers, Power(1.0)) if rows == columns else {}
        ranked = losses.max(axis=0) if problem.criterion.ranks_by == "worst" else _average(problem, losses)
        best = Finite((int(np.argmin(ranked)),))
        return found | {SINGLE: Discrete(problem.epsilon, problem.numbers, best, np.ones((rows, 1)), SINGLE)}

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Discrete:
        problem = _asked(design)
        columns = problem.table.outputs
        if mechanism.inputs != problem.inputs:
            rule = f"take the problem's inputs, {problem.inputs}"
            raise InvalidInput(f"inputs of {name}", str(mechanism.inputs), rule)
        if not isinstance(mechanism, Discrete) or not outputs_among(mechanism, columns):
            rule = f"be a Discrete table whose outputs are columns of the loss matrix, 0 to {len(columns) - 1}"
            raise InvalidInput(f"outputs of {name}", str(mechanism.outputs), rule)
        prove(problem.privacy, mechanism)
        return mechanism

    def lost(self, design: Design, law: Discrete) -> Lost:
        problem = _asked(design)
        columns = np.asarray(law.outputs.points, dtype=np.intp)
        shares = law.probabilities / law.probabilities.sum(axis=1, keepdims=True)
        errors = np.sum(shares * problem.table.up[:, columns], axis=1)
        return Lost(float(errors.max()), float(_average(problem, errors)))

    def certified(self, first: Design, design: Design) -> Lost:
        assert isinstance(design.mechanism, Discrete)
        return self.lost(first, design.mechanism)

    def least(self, design: Design, lost: Lost) -> float | None:
        """Of a lexicographic optimum the least worst case, which it stays near to."""
        problem, evidence = _asked(design), design.evidence
        return evidence.least(problem) if isinstance(evidence, LexicographicBound) else None


def _average(problem: Problem, losses: Floats) -> Floats:
    """Over the inputs: under the prior, or else all alike."""
    return losses.mean(axis=0) if problem.weights is None else problem.weights @ losses


def _asked(design: Design) -> Problem:
    assert isinstance(design.problem, Problem)
    return design.problem


RIVALRY = MatrixRivalry()
