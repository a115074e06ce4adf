"""What a method says of rivals: which mechanisms are published for a problem, and what each of them loses.

Its folder has a module ``rivalry`` with an object ``RIVALRY`` of this shape. It is read when somebody asks for it:
published mechanisms take time to make, and few who design one want to see them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

import numpy as np

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.privacy import prove_privacy
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.from_density import FromDensity
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.methods.result import Design
from mechdesign.values.declare import evolved, frozen
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Domain, Finite, Interval
from mechdesign.words.losses import Loss, Power
from mechdesign.words.priors import Atoms, Prior
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import Vectors

_TRIED = 33
_UNSURE = 1e-9


@frozen
class Lost:
    """The expected loss of a mechanism at the worst input, and averaged under the prior or else over the inputs.

    None is not known. What problems rank by may be an upper end, and ``lower`` the lower one; ``at`` is the loss
    at the one input that a problem is about.
    """

    worst: float | None
    average: float | None
    lower: float | None = None
    at: float | None = None


class Rivalry(Protocol):
    """Laws are whatever a problem measures: mechanisms, or what is known of them."""

    def published(self, design: Design) -> Mapping[str, Any]:
        """The laws that are published for the problem of the design, by name."""
        ...

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Any:
        """The law of a mechanism of the reader's own, or `InvalidInput` or `CheckFailed` where it is no rival."""
        ...

    def lost(self, design: Design, law: Any) -> Lost:
        """What a law loses, measured as the design is."""
        ...

    def certified(self, first: Design, design: Design) -> Lost:
        """What a design loses, as its certificate says it; measured as the first of several is."""
        ...

    def least(self, design: Design, lost: Lost) -> float | None:
        """The least that there is, if it is known, where it is not what designs lose themselves."""
        ...


class NumbersRivalry:
    """Laws are mechanisms of numbers of an interval.

    ``prior_of`` is what a design's average is taken under, if any, ``least_of`` the least there is, where it is known.
    """

    def __init__(
        self,
        prior_of: Callable[[Design], Prior | None] = lambda design: None,
        least_of: Callable[[Design], float | None] = lambda design: None,
    ) -> None:
        self.prior_of, self.least_of = prior_of, least_of

    def published(self, design: Design) -> Mapping[str, Mechanism]:
        problem = design.problem
        assert isinstance(problem.inputs, Interval)
        return on_interval(problem.epsilon, problem.inputs, _power(problem), unbiased=False)

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Mechanism:
        problem = design.problem
        require_law_on(name, mechanism, problem.inputs, problem.epsilon)
        return mechanism

    def lost(self, design: Design, law: Mechanism) -> Lost:
        scalar, loss = cast(ScalarMechanism, law), _power(design.problem)
        return Lost(scalar.worst_case(loss)[0], scalar.average_loss(loss, self.prior_of(design)))

    def certified(self, first: Design, design: Design) -> Lost:
        """With what was certified in the place of what was measured."""
        lost, upper, criterion = (
            self.lost(first, design.own_law),
            design.certificate.upper,
            design.problem.criterion,
        )
        if isinstance(criterion, Worst):
            return evolved(lost, worst=upper)
        return evolved(lost, average=upper) if criterion.ranks_by == "average" else lost

    def least(self, design: Design, lost: Lost) -> float | None:
        return self.least_of(design)


class UnbiasedRivalry(NumbersRivalry):
    """Laws are mechanisms of numbers without a bias, averaged under the design's prior if it has one."""

    def __init__(self) -> None:
        super().__init__(lambda design: cast(Prior | None, design.problem.criterion.prior))

    def published(self, design: Design) -> Mapping[str, Mechanism]:
        problem = design.problem
        assert isinstance(problem.inputs, Interval)
        return on_interval(problem.epsilon, problem.inputs, _power(problem), unbiased=True)

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Mechanism:
        law, inputs = super().law_of(design, name, mechanism), design.problem.inputs
        assert isinstance(inputs, Interval)
        require_unbiased(name, cast(ScalarMechanism, law), inputs)
        return law


def as_atoms(cells: Cells) -> Atoms:
    """The means of cells with their weights, as a prior."""
    return Atoms(cells.means, cells.weights / cells.weights.sum())


def _power(problem: Problem) -> Power:
    assert isinstance(problem.loss, Power)
    return problem.loss


def on_points(epsilon: float, points: Finite, loss: Loss) -> dict[str, Discrete]:
    """Published mechanisms that report one of the points: a loss matrix has no loss for other reports.

    >>> from mechdesign.words.losses import Power
    >>> sorted(on_points(1.0, Finite((0, 1)), Power(1.0)))
    ['grr']
    """
    entries = [entry for entry in catalogue.ON_POINTS if entry.serves(points)]
    built = {entry.key: entry.build(epsilon, points, loss) for entry in entries}
    return {key: law for key, law in built.items() if isinstance(law, Discrete) and outputs_among(law, points)}


def outputs_among(mechanism: Discrete, points: Finite) -> bool:
    """Whether a mechanism reports nothing but these points."""
    return set(mechanism.outputs.points) <= set(points.points)


def on_interval(epsilon: float, inputs: Interval, loss: Loss, *, unbiased: bool) -> dict[str, Mechanism]:
    """Published mechanisms for numbers of an interval, all or those without a bias."""
    entries = [entry for entry in catalogue.ON_INTERVALS if entry.unbiased or not unbiased]
    return {entry.key: entry.build(epsilon, inputs, loss) for entry in entries}


def require_law_on(name: str, mechanism: Mechanism, inputs: Domain | Vectors, epsilon: float) -> None:
    """A mechanism of one's own for these inputs, with its privacy proven or, of a `FromDensity`, tried."""
    if mechanism.inputs != inputs:
        raise InvalidInput(f"inputs of {name}", str(mechanism.inputs), f"take the problem's inputs, {inputs}")
    if not isinstance(mechanism, FromDensity):
        prove_privacy(mechanism, epsilon)
    elif mechanism.sampled_loss > epsilon * (1 + _UNSURE):
        raise CheckFailed(f"{name} has privacy loss of at least {mechanism.sampled_loss!r}, above the problem's eps")


def require_unbiased(name: str, mechanism: ScalarMechanism, inputs: Interval) -> None:
    """A mechanism without a bias at inputs all over the interval, or `InvalidInput`."""
    places = np.linspace(inputs.lower, inputs.upper, _TRIED)
    bias = float(np.abs(mechanism.mean(places) - places).max())
    if bias > _UNSURE * max(inputs.length, abs(inputs.lower), abs(inputs.upper)):
        rule = "be unbiased: the problem's optimum is among unbiased mechanisms"
        raise InvalidInput(name, f"a bias of {bias:.3g}", rule, "debias it first, as (y - a) / b of affine means")
