"""Problems that many tests ask, in as few words as they need."""

from __future__ import annotations

from typing import Any

import mechdesign as md
from mechdesign.words.counts import Count
from mechdesign.words.models import Model
from mechdesign.words.workloads import AnyQueries, Workload


def information(epsilon: float, model: Model) -> md.Problem:
    """About one parameter of a model."""
    return md.Problem(loss=model, privacy=md.Pure(epsilon), criterion=md.Average())


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
