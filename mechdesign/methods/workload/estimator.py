"""The estimator that belongs to a design: what each report adds to each answer, and the noise of each query."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from mechdesign.methods.workload.decoder import decoder
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.supports import workload_of
from mechdesign.values.declare import Floats


def estimator(design: Any) -> Floats:
    """V, one row a query and one column a report: n reports answer by the mean of their columns.

    >>> import mechdesign as md
    >>> design = md.solve(md.Problem(loss=md.workloads.Prefix(4), privacy=md.Pure(1.0), criterion=md.Average()))
    >>> bool(np.allclose(estimator(design) @ design.mechanism.probabilities.T, np.tri(4)))
    True
    """
    return answers_by_report(*_channel_and_prior(design), workload_of(design.problem).queries.matrix)


def answers_by_report(channel: Floats, prior: Floats, queries: Floats) -> Floats:
    """The same of a channel whose rows sum to 1, with the least noise on average under a prior of sum 1."""
    found = decoder(channel, prior)
    answers = found @ queries.T
    answers = answers + found @ (queries.T - channel @ answers)
    return np.asarray(answers.T)


def query_noises(design: Any) -> Floats:
    """The variance that noise adds to each query, one user: on average over the types, and at the worst one."""
    queries = workload_of(design.problem).queries.matrix
    channel, prior = _channel_and_prior(design)
    variances = np.maximum(estimator(design) ** 2 @ channel.T - queries**2, 0.0)
    return np.column_stack([variances @ prior, variances.max(axis=1)])


def _channel_and_prior(design: Any) -> tuple[Floats, Floats]:
    channel = design.mechanism.probabilities
    prior = cast(WorkloadBound, design.evidence).weights_of_types(design.problem)
    return channel / channel.sum(axis=1, keepdims=True), prior / prior.sum()
