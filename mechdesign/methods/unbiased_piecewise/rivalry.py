"""The rivals of an unbiased design: published mechanisms without a bias, by their variance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost, on_interval, problem_of, require_law_on, require_unbiased
from mechdesign.methods.unbiased_piecewise.supports import inputs_of
from mechdesign.words.losses import Power

_SQUARED = Power(2.0)


class UnbiasedRivalry:
    """Laws are mechanisms of numbers."""

    def published(self, design: Design) -> Mapping[str, Mechanism]:
        asked = problem_of(design)
        return on_interval(asked.epsilon, inputs_of(asked), _SQUARED, unbiased=True)

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Mechanism:
        asked = problem_of(design)
        require_law_on(name, mechanism, inputs_of(asked), asked.epsilon)
        require_unbiased(name, cast(ScalarMechanism, mechanism), inputs_of(asked))
        return mechanism

    def lost(self, design: Design, law: Mechanism) -> Lost:
        scalar = cast(ScalarMechanism, law)
        return Lost(scalar.worst_case(_SQUARED)[0], scalar.average_loss(_SQUARED, None))

    def certified(self, first: Design, design: Design) -> Lost:
        return self.lost(first, design.own_law)

    def least(self, design: Design, lost: Lost) -> float | None:
        return None


RIVALRY = UnbiasedRivalry()
