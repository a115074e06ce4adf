"""The rivals of a design with an epsilon for each pair: tables, measured as its certificate measures the design."""

from __future__ import annotations

from collections.abc import Mapping

from mechdesign.errors import InvalidInput
from mechdesign.exact.privacy import prove
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.methods.pairwise.planar import planar_laplace
from mechdesign.methods.pairwise.proof import errors_up
from mechdesign.methods.pairwise.rivals import Measured, tables
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost, outputs_among
from mechdesign.methods.words import is_lexicographic
from mechdesign.values.declare import evolved
from mechdesign.words.classes import InPlane
from mechdesign.words.criteria import Worst
from mechdesign.words.problem import Problem


class PairsRivalry:
    """Laws are tables on the problem's outputs; of planar Laplace noise the enclosed loss."""

    def published(self, design: Design) -> Mapping[str, Discrete | Measured]:
        asked = design.problem
        return tables(asked.as_published) | {one.name: one for one in planar_laplace(_ranked_by(asked))}

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Discrete:
        problem = design.problem
        if mechanism.inputs != problem.inputs:
            rule = f"take the problem's inputs, {problem.inputs}"
            raise InvalidInput(f"inputs of {name}", str(mechanism.inputs), rule)
        outputs = problem.table.outputs
        if not isinstance(mechanism, Discrete) or not outputs_among(mechanism, outputs):
            rule = f"be among the points of {outputs}: under this loss other outputs can be below their optimum"
            step = "`compare --mechanisms FILE` has the optimum with the outputs of a file"
            raise InvalidInput(f"outputs of {name}", str(mechanism.outputs), rule, step)
        prove(pairs_of(problem), mechanism)
        return mechanism

    def lost(self, design: Design, law: Discrete | Measured) -> Lost:
        problem = design.problem.as_published
        if isinstance(law, Measured):
            is_worst = _ranked_by(problem).weights is None
            return Lost(law.upper, None, law.lower) if is_worst else Lost(None, law.upper, law.lower)
        errors = errors_up(law, problem)
        average = errors.mean() if problem.weights is None else errors @ problem.weights
        return Lost(float(errors.max()), float(average))

    def certified(self, first: Design, design: Design) -> Lost:
        assert isinstance(design.mechanism, Discrete)
        if isinstance(design.problem.among, InPlane):  # reports anywhere: only what is certified is known
            upper = design.certificate.upper
            return Lost(upper, None) if design.problem.weights is None else Lost(None, upper)
        return self.lost(design, design.mechanism)

    def least(self, design: Design, lost: Lost) -> float | None:
        """Of a lexicographic optimum its own worst case, which is next to the least."""
        return lost.worst if is_lexicographic(design.problem) else None


def _ranked_by(problem: Problem) -> Problem:
    """The problem by which rivals are ranked: of a lexicographic one the worst case comes first."""
    published = problem.as_published
    return evolved(published, criterion=Worst()) if is_lexicographic(problem) else published


RIVALRY = PairsRivalry()
