"""The estimator that belongs to a design: what each report adds to each answer, and the noise of each query."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.workload.decoder import decoder
from mechdesign.methods.workload.problem import WorkloadProblem
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.values.declare import Floats


def estimator(design: Any) -> Floats:
    """V, one row a query and one column a report: n reports answer by the mean of their columns.

    >>> from mechdesign.methods.workload import Prefix, optimal_workload
    >>> design = optimal_workload(WorkloadProblem(1.0, Prefix(4)))
    >>> bool(np.allclose(estimator(design) @ design.mechanism.probabilities.T, np.tri(4)))
    True
    """
    problem, law = cast(WorkloadProblem, design.problem), cast(Discrete, design.mechanism)
    channel, prior = _channel_and_prior(design)
    found = decoder(channel, prior)
    queries = problem.workload.matrix
    answers = found @ queries.T
    answers = answers + found @ (queries.T - channel @ answers)
    assert answers.shape == (len(law.outputs), len(queries))
    return np.asarray(answers.T)


def query_noises(design: Any) -> Floats:
    """The variance that noise adds to each query, one user: on average over the types, and at the worst one."""
    problem = cast(WorkloadProblem, design.problem)
    channel, prior = _channel_and_prior(design)
    variances = np.maximum(estimator(design) ** 2 @ channel.T - problem.workload.matrix**2, 0.0)
    return np.column_stack([variances @ prior, variances.max(axis=1)])


def _channel_and_prior(design: Any) -> tuple[Floats, Floats]:
    channel = design.mechanism.probabilities
    prior = cast(WorkloadBound, design.evidence).weights_of_types(design.problem)
    return channel / channel.sum(axis=1, keepdims=True), prior / prior.sum()
