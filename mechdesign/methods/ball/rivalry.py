"""The rivals of directions: published ways to report a vector of bounded length, by their variance."""

from __future__ import annotations

from collections.abc import Mapping

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.directions import DirectionResponse
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.methods.ball.rivals import BallRival, ball_rivals
from mechdesign.methods.ball.supports import vectors_of
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost, require_law_on
from mechdesign.words.losses import Power

_SQUARED = Power(2.0)


class BallRivalry:
    """Laws are published ways, or directions of the reader's own, which have no bias; averages are over uniform x."""

    def published(self, design: Design) -> Mapping[str, BallRival]:
        inputs = vectors_of(design.problem)
        return {rival.name: rival for rival in ball_rivals(design.problem.epsilon, inputs)}

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> DirectionResponse:
        if not isinstance(mechanism, DirectionResponse):
            raise InvalidInput(name, str(mechanism), "be a DirectionResponse, for vectors of bounded length")
        require_law_on(name, mechanism, design.problem.inputs, design.problem.epsilon)
        return mechanism

    def lost(self, design: Design, law: BallRival | DirectionResponse) -> Lost:
        if isinstance(law, DirectionResponse):
            return Lost(law.worst_case(_SQUARED)[0], law.average_loss(_SQUARED))
        inputs = vectors_of(design.problem)
        return Lost(law.worst(inputs), law.average(inputs))

    def certified(self, first: Design, design: Design) -> Lost:
        """``E|Y|^2`` of directions is the same for all inputs."""
        inputs, upper = vectors_of(design.problem), design.certificate.upper
        return Lost(upper, upper + inputs.radius**2 * (inputs.least_square - inputs.mean_square))

    def least(self, design: Design, lost: Lost) -> float | None:
        return None


RIVALRY = BallRivalry()
