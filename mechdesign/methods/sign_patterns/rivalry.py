"""The rivals of sign patterns: published ways to report several numbers, by their variance over the box."""

from __future__ import annotations

from collections.abc import Mapping

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost
from mechdesign.methods.sign_patterns.proof import SignPatternsBound
from mechdesign.methods.sign_patterns.rivals import VectorRival, vector_rivals
from mechdesign.methods.sign_patterns.supports import halves_of

_UNIFORM = 1 / 3  # the mean of x^2 where x is uniform on [-1, 1]


class PatternRivalry:
    """Laws are the variances of one number; averages are over a uniform box."""

    def published(self, design: Design) -> Mapping[str, VectorRival]:
        return {rival.name: rival for rival in vector_rivals(design.problem.epsilon, len(halves_of(design.problem)))}

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> VectorRival:
        rule = "be left out: sign patterns are ranked with published ways to report several numbers only"
        raise InvalidInput(name, str(mechanism), rule, "a mechanism of one number is ranked by md.field_of of its own")

    def lost(self, design: Design, law: VectorRival) -> Lost:
        halves = [float(half) for half in halves_of(design.problem)]
        return Lost(law.worst(halves), law.average(halves, [_UNIFORM] * len(halves)))

    def certified(self, first: Design, design: Design) -> Lost:
        """``E|Y|^2`` of sign patterns is the same for all inputs; the average of others is not known."""
        upper = design.certificate.upper
        if not isinstance(design.evidence, SignPatternsBound):
            return Lost(upper, None)
        return Lost(upper, upper - _UNIFORM * sum(float(half) ** 2 for half in halves_of(first.problem)))

    def least(self, design: Design, lost: Lost) -> float | None:
        return None


RIVALRY = PatternRivalry()
