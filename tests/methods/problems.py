"""Problems that many tests ask, in as few words as they need."""

from __future__ import annotations

from typing import Any

import mechdesign as md
from mechdesign.values.declare import evolved
from mechdesign.words.counts import Count
from mechdesign.words.criteria import OverInputs
from mechdesign.words.models import Model
from mechdesign.words.workloads import AnyQueries, Workload


def information(epsilon: float, model: Model) -> md.Problem:
    """About one parameter of a model."""
    return md.Problem(loss=model, privacy=md.Pure(epsilon), criterion=md.Average())


def numbers(epsilon: float, loss: Any = "absolute", inputs: Any = (0, 1), criterion: OverInputs | None = None) -> Any:
    """The absolute error in the worst case over [0, 1], unless something else is said."""
    return md.Problem(inputs=inputs, loss=loss, privacy=md.Pure(epsilon), criterion=criterion or md.Worst())


def workload_problem(
    epsilon: float, queries: AnyQueries, criterion: str = "average", prior: Any = None, weights: Any = None
) -> md.Problem:
    """The noise of answers, on average over the types or at the worst one."""
    over = md.Worst() if criterion == "worst" else md.Average(prior)
    return md.Problem(loss=Workload(queries, weights), privacy=md.Pure(epsilon), criterion=over)


def hidden_problem(
    epsilon: float, users: int, share: Any, categories: int = 2, encoding: str = "response", delta: float = 0.0
) -> md.Problem:
    """A count of users whose answers are hidden in those of all."""
    loss = Count(share)
    return md.Problem(
        inputs=range(categories),
        loss=loss,
        privacy=md.Hidden(epsilon, users, delta),
        criterion=md.Average() if loss.is_under_prior else md.Worst(),
        among=md.Together(encoding),
    )


def joint_problem(
    epsilon: float,
    users: int,
    share: Any,
    colluders: int = 0,
    group: int = 2,
    caps: tuple[float | None, ...] = (),
    categories: int = 2,
) -> md.Problem:
    """A count of users in random groups, of whom some collude."""
    loss = Count(share)
    return md.Problem(
        inputs=range(categories),
        loss=loss,
        privacy=md.Collusion(epsilon, users, colluders, caps),
        criterion=md.Average() if loss.is_under_prior else md.Worst(),
        among=md.Together(group=group),
    )


def piecewise(
    epsilon: float = 1.0,
    loss: Any = "absolute",
    inputs: Any = (0, 1),
    outputs: Any = None,
    at: float | None = None,
    pieces: int | None = None,
) -> md.Problem:
    """The best piecewise mechanism, in the worst case or at an input."""
    criterion, among = md.Worst() if at is None else md.At(at), md.Piecewise(pieces, outputs)
    return md.Problem(inputs=inputs, loss=loss, privacy=md.Pure(epsilon), criterion=criterion, among=among)


def polar(
    epsilon: float, exponent: float = 2.0, distances: Any = (0, 1), angles: md.Circle | None = None
) -> md.Problem:
    """The best pair of piecewise mechanisms for a distance and an angle."""
    inputs = md.Product((md.Interval(*distances), angles or md.Circle()))
    return md.Problem(inputs=inputs, loss=md.Power(exponent), privacy=md.Pure(epsilon), among=md.Piecewise())


def custom_problem(
    epsilon: float,
    inputs: Any,
    outputs: Any,
    objective: Any,
    constraints: Any = None,
    criterion: md.Worst | md.Average | md.Total | None = None,
    tolerance: float = 1e-6,
) -> md.Problem:
    """An objective of one's own, one number unless a criterion goes over the inputs."""
    return md.Problem(
        inputs=inputs if isinstance(inputs, md.Finite) else md.Finite(inputs),
        loss=md.Objective(objective, constraints, tolerance),
        privacy=md.Pure(epsilon),
        criterion=md.Total() if criterion is None else criterion,
        among=md.Onto(outputs.points if isinstance(outputs, md.Finite) else outputs),
    )


def custom(*said: Any, gap: float | None = None, seconds: float | None = None, **named: Any) -> md.Design:
    """The answer to it."""
    return md.solve(custom_problem(*said, **named), seconds, gap=gap)


def unbiased(epsilon: float, inputs: md.Interval | None = None) -> md.Problem:
    """The least worst variance of an unbiased report."""
    inputs = md.Interval(-1, 1) if inputs is None else inputs
    return md.Problem(inputs=inputs, loss=md.Squared(), privacy=md.Pure(epsilon), among=md.Unbiased())


def unbiased_under(epsilon: float, prior: Any = "uniform", inputs: Any = (-1, 1)) -> md.Problem:
    """The variance of unbiased mechanisms under a prior."""
    criterion, privacy = md.Average(prior), md.Pure(epsilon)
    return md.Problem(inputs=inputs, loss=md.Squared(), privacy=privacy, criterion=criterion, among=md.Unbiased())


def additive(
    epsilon: float,
    prior: Any = "uniform",
    inputs: Any = (-1, 1),
    bins: int = 32,
    reach: int | None = None,
    tail: int | None = None,
) -> md.Problem:
    """The same with reports on a grid."""
    return evolved(unbiased_under(epsilon, prior, inputs), among=md.OnGrid(bins, reach, tail))


def vectors(epsilon: float, inputs: Any) -> md.Problem:
    """The least worst variance of an unbiased vector."""
    return md.Problem(inputs=inputs, loss=md.Squared(), privacy=md.Pure(epsilon), among=md.Unbiased())


def several(epsilon: float, count: int = 2, inputs: md.Product | None = None) -> md.Problem:
    """The least worst variance of several unbiased numbers together."""
    return vectors(epsilon, md.cube_of(count) if inputs is None else inputs)
