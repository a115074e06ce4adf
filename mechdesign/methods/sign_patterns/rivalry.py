"""The rivals of sign patterns: published ways to report several numbers, by their variance over the box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost
from mechdesign.methods.sign_patterns.proof import SignPatternsBound
from mechdesign.methods.sign_patterns.rivals import VectorRival, vector_rivals
from mechdesign.methods.sign_patterns.supports import half_lengths
from mechdesign.words.domains import Interval, Product
from mechdesign.words.priors import Atoms

_UNIFORM = 1 / 3  # the mean of x^2 where x is uniform on [-1, 1]


class PatternRivalry:
    """Laws are the variances of one number; averages are under the prior, or over a uniform box."""

    def published(self, design: Design) -> Mapping[str, VectorRival]:
        return {rival.name: rival for rival in vector_rivals(design.problem.epsilon, len(_halves(design)))}

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> VectorRival:
        rule = "be left out: sign patterns are ranked with published ways to report several numbers only"
        raise InvalidInput(name, str(mechanism), rule, "a mechanism of one number is ranked by md.field_of of its own")

    def lost(self, design: Design, law: VectorRival) -> Lost:
        halves = _halves(design)
        return Lost(law.worst(halves), law.average(halves, [_square(design)] * len(halves)))

    def certified(self, first: Design, design: Design) -> Lost:
        """``E|Y|^2`` of sign patterns is the same for all inputs; the average of others is not known."""
        upper = design.certificate.upper
        if design.problem.criterion.prior is not None:
            return Lost(None, upper)
        if not isinstance(design.evidence, SignPatternsBound):
            return Lost(upper, None)
        return Lost(upper, upper - _square(first) * sum(half**2 for half in _halves(first)))

    def least(self, design: Design, lost: Lost) -> float | None:
        return None


def _halves(design: Design) -> list[float]:
    return [float(half) for half in half_lengths(cast(Product, design.problem.inputs).parts)]


def _square(design: Design) -> float:
    """The mean of ``x^2``, in units of half a range from its middle."""
    prior = design.problem.criterion.prior
    if not isinstance(prior, Atoms):  # only designs for the worst values have none
        return _UNIFORM
    side = cast(Interval, cast(Product, design.problem.inputs).parts[0])
    return float(prior.weights @ ((prior.points - side.middle) / (side.length / 2)) ** 2)


RIVALRY = PatternRivalry()
