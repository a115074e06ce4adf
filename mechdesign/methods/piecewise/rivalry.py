"""The rivals of a piecewise design: published mechanisms for numbers of an interval, or for angles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.methods.piecewise.supports import domains_of, loss_of
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost, on_interval, require_law_on
from mechdesign.words.criteria import At
from mechdesign.words.domains import Interval

_FLATTENED = ("pm-c", "sw-c")  # mechanisms on intervals that the literature cuts circles open for


class PiecewiseRivalry:
    """Laws are mechanisms of numbers."""

    def published(self, design: Design) -> Mapping[str, Mechanism]:
        asked = design.problem
        epsilon, loss, inputs = asked.epsilon, loss_of(asked), domains_of(asked)[0]
        if isinstance(inputs, Interval):
            return on_interval(epsilon, inputs, loss, unbiased=False)
        flat = Interval(0.0, inputs.period)
        round_it = {entry.key: entry.build(epsilon, inputs, loss) for entry in catalogue.ON_CIRCLES}
        return round_it | {f"{key} (flattened)": catalogue.build(key, epsilon, flat) for key in _FLATTENED}

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Mechanism:
        require_law_on(name, mechanism, domains_of(design.problem)[0], design.problem.epsilon)
        return mechanism

    def lost(self, design: Design, law: Mechanism) -> Lost:
        asked, scalar = design.problem, cast(ScalarMechanism, law)
        loss, criterion = loss_of(asked), asked.criterion
        at = float(scalar.expected_loss(criterion.x, loss)) if isinstance(criterion, At) else None
        return Lost(scalar.worst_case(loss)[0], scalar.average_loss(loss, None), at=at)

    def certified(self, first: Design, design: Design) -> Lost:
        return self.lost(first, design.own_law)

    def least(self, design: Design, lost: Lost) -> float | None:
        return None


RIVALRY = PiecewiseRivalry()
