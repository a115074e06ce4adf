"""The rivals of a design for finitely many inputs: published mechanisms on their numbers, and telling nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.exact.privacy import prove
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.methods.finite.proof import LexicographicBound
from mechdesign.methods.finite.supports import losses_of
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost, on_points, outputs_among, require_law_on
from mechdesign.values.declare import Floats
from mechdesign.words.criteria import Family
from mechdesign.words.domains import Finite
from mechdesign.words.finite_losses import FiniteLoss, LossTable
from mechdesign.words.losses import Loss, Power
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem

SINGLE = "best single output"


class MatrixRivalry:
    """Laws are tables whose outputs are columns of the loss matrix; for the absolute error any mechanism of numbers."""

    def published(self, design: Design) -> Mapping[str, Discrete]:
        """Mechanisms on points where there are as many outputs as inputs, and the best one that tells nothing."""
        problem = design.problem
        table, loss = _losses(problem), problem.loss
        losses = table.up
        rows, columns = losses.shape
        tuned = loss if isinstance(loss, Power) else Power(1.0)
        found = on_points(problem.epsilon, problem.numbers, tuned) if rows == columns else {}
        ranked = losses.max(axis=0) if problem.criterion.ranks_by == "worst" else _average(problem, losses)
        best = Finite((table.outputs.points[int(np.argmin(ranked))],))
        return found | {SINGLE: Discrete(problem.epsilon, problem.numbers, best, np.ones((rows, 1)), SINGLE)}

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Mechanism:
        problem = design.problem
        if mechanism.inputs != problem.inputs:
            rule = f"take the problem's inputs, {problem.inputs}"
            raise InvalidInput(f"inputs of {name}", str(mechanism.inputs), rule)
        outputs = _losses(problem).outputs
        is_table = isinstance(mechanism, Discrete) and outputs_among(mechanism, outputs)
        if design.certificate.scope.family is not Family.ALL and not is_table:
            called = "columns of the loss matrix" if isinstance(problem.loss, FiniteLoss) else f"points of {outputs}"
            rule = f"be among the {called}: under this loss other outputs can be below their optimum"
            step = "`compare --mechanisms FILE` has the optimum with the outputs of a file"
            raise InvalidInput(f"outputs of {name}", str(mechanism.outputs), rule, step)
        if not isinstance(problem.loss, FiniteLoss):
            require_law_on(name, mechanism, problem.inputs, problem.epsilon)
        else:
            prove(problem.privacy, mechanism)
        return mechanism

    def lost(self, design: Design, law: Mechanism) -> Lost:
        problem = design.problem
        if not isinstance(problem.loss, FiniteLoss):
            weights = np.full(len(problem.numbers), 1 / len(problem.numbers))
            prior = Atoms(np.array(problem.numbers.points), weights if problem.weights is None else problem.weights)
            scalar, loss = cast(ScalarMechanism, law), cast(Loss, problem.loss)
            return Lost(scalar.worst_case(loss)[0], scalar.average_loss(loss, prior))
        assert isinstance(law, Discrete)
        columns = np.asarray(law.outputs.points, dtype=np.intp)
        shares = law.probabilities / law.probabilities.sum(axis=1, keepdims=True)
        errors = np.sum(shares * problem.table.up[:, columns], axis=1)
        return Lost(float(errors.max()), float(_average(problem, errors)))

    def certified(self, first: Design, design: Design) -> Lost:
        assert isinstance(design.mechanism, Discrete)
        return self.lost(first, design.mechanism)

    def least(self, design: Design, lost: Lost) -> float | None:
        """Of a lexicographic optimum the least worst case, which it stays near to."""
        problem, evidence = design.problem, design.evidence
        return evidence.least(problem) if isinstance(evidence, LexicographicBound) else None


def _losses(problem: Problem) -> LossTable:
    return problem.table if isinstance(problem.loss, FiniteLoss) else losses_of(problem)


def _average(problem: Problem, losses: Floats) -> Floats:
    """Over the inputs: under the prior, or else all alike."""
    return losses.mean(axis=0) if problem.weights is None else problem.weights @ losses


RIVALRY = MatrixRivalry()
