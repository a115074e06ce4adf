"""The rivals of an unbiased design: published mechanisms without a bias, by their variance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost, asked_of, on_interval, require_law_on, require_unbiased
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem

_SQUARED = Power(2.0)


class UnbiasedRivalry:
    """Laws are mechanisms of numbers."""

    def published(self, design: Design) -> Mapping[str, Mechanism]:
        asked = asked_of(design)
        return on_interval(asked.epsilon, _inputs(asked), _SQUARED, unbiased=True)

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Mechanism:
        asked = asked_of(design)
        require_law_on(name, mechanism, _inputs(asked), asked.epsilon)
        require_unbiased(name, cast(ScalarMechanism, mechanism), _inputs(asked))
        return mechanism

    def lost(self, design: Design, law: Mechanism) -> Lost:
        scalar = cast(ScalarMechanism, law)
        return Lost(scalar.worst_case(_SQUARED)[0], scalar.average_loss(_SQUARED, None))

    def certified(self, first: Design, design: Design) -> Lost:
        return self.lost(first, design.own_law)

    def least(self, design: Design, lost: Lost) -> float | None:
        return None


def _inputs(problem: Problem) -> Interval:
    assert isinstance(problem.inputs, Interval)
    return problem.inputs


RIVALRY = UnbiasedRivalry()
