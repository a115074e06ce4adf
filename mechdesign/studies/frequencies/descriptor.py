"""The private descriptor: a noisy histogram of a share of the users, made a distribution (section 3.4 of AAA).

Every user of the group rounds the value to an edge at random and reports the edge through an epsilon-LDP protocol for
categories; the server turns the shares of the reports into a distribution by a linear program.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.mechanisms.catalogue import randomised_response
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.descriptor import nearest_distribution
from mechdesign.studies.frequencies.quantise import (
    edges_of,
    require_bins,
    require_data,
    round_at_random,
    rounding_variance,
)
from mechdesign.values.declare import Floats, Whole, array, epsilon, field, frozen
from mechdesign.words.domains import Finite, Interval, require_domain
from mechdesign.words.priors import Atoms


class HistogramProtocol(Protocol):
    """What the first group needs of a protocol for the categories 0 ... size - 1."""

    @property
    def epsilon(self) -> float: ...
    @property
    def size(self) -> int: ...
    def privacy_loss(self) -> float: ...
    def report(self, values: Whole, rng: np.random.Generator) -> Any:
        """One report for each category held."""
        ...

    def support(self, reports: Any) -> Whole:
        """How many reports support each category."""
        ...

    def estimate(self, support: Whole, n: int) -> Floats:
        """Unbiased shares of the categories, from the support among ``n`` reports."""
        ...


def _require_bounds(_: object, __: object, inputs: Interval) -> None:
    require_domain(inputs, (Interval,), "bounds")


@frozen
class EdgeResponse:
    """Randomised response on the edges of an interval: the true edge with chance p, each other one with chance q.

    *Guarantee.* ``p / q <= e^epsilon`` exactly; the rounding to edges comes before and costs nothing.

    >>> import math
    >>> response = EdgeResponse(1.0, Interval(-1, 1), 16)
    >>> round(response.p / response.q, 12) == round(math.e, 12)
    True
    """

    epsilon: float = epsilon()
    inputs: Interval = field(validator=_require_bounds)
    bins: int = field(converter=require_bins)

    @property
    def size(self) -> int:
        return self.bins + 1

    @property
    def mechanism(self) -> Discrete:
        """The same as a mechanism on the edges, as it is proven and shipped."""
        return randomised_response(self.epsilon, Finite(tuple(edges_of(self.inputs, self.bins).tolist())))

    @property
    def p(self) -> float:
        return 1 - self.bins * self.q

    @property
    def q(self) -> float:
        return _chance_of_another(self.epsilon, self.bins)

    def privacy_loss(self) -> float:
        return self.mechanism.privacy_loss()

    def report(self, values: Whole, rng: np.random.Generator) -> Whole:
        held = np.asarray(values, dtype=np.int64)
        lies = require_generator(rng).random(held.shape) >= self.p
        other = rng.integers(1, self.bins + 1, held.shape)
        return np.asarray(np.where(lies, (held + other) % self.size, held), dtype=np.int64)

    def support(self, reports: Any) -> Whole:
        seen = np.asarray(reports)
        is_whole = seen.dtype.kind in "iu" and seen.ndim == 1 and seen.size > 0
        if not is_whole or seen.min() < 0 or seen.max() >= self.size:
            raise InvalidInput("histogram reports", reports, f"be numbers of edges, from 0 to {self.bins}")
        return np.bincount(seen, minlength=self.size).astype(np.int64)

    def estimate(self, support: Whole, n: int) -> Floats:
        return np.asarray((support / n - self.q) / (self.p - self.q))

    # -- the mean, from the same reports ------------------------------------------------------------------------------

    def debiased(self) -> Floats:
        """A number for each reported edge whose expectation is the value the user held.

        ``v(y) = m + (y - m) / (p - q)`` with m the middle of the bounds: the other edges cancel.
        """
        edges = edges_of(self.inputs, self.bins) - self.inputs.middle
        return np.asarray(self.inputs.middle + edges / (self.p - self.q))

    def variance(self, values: ArrayLike) -> Floats:
        """``Var(v(Y) | x)``, the rounding included: ``(q sum x_j^2 + (p - q) E[x_j^2 | x]) / (p - q)^2 - x^2``."""
        offsets = require_data(values, self.inputs) - self.inputs.middle
        edges = edges_of(self.inputs, self.bins) - self.inputs.middle
        gain = self.p - self.q
        second = offsets**2 + rounding_variance(values, self.inputs, self.bins)
        return np.asarray((self.q * float(edges @ edges) + gain * second) / gain**2 - offsets**2)


@lru_cache(maxsize=64)
def _chance_of_another(epsilon: float, bins: int) -> float:
    """q, as the mechanism has it."""
    row = randomised_response(epsilon, Finite(tuple(range(bins + 1)))).probabilities[0]
    return float(row[-1] / row.sum())


@frozen
class Descriptor:
    """What the server knows about the data after the first group has reported.

    ``support`` counts the reports of each edge, ``estimate`` is unbiased and may be negative, ``prior`` is the
    distribution on the edges that the design is made for.
    """

    users: int
    support: Whole = array(np.asarray)
    estimate: Floats = array(np.asarray)
    prior: Atoms


def report_edges(protocol: HistogramProtocol, values: ArrayLike, inputs: Interval, rng: np.random.Generator) -> Any:
    """What the users of the first group send: their values rounded to edges at random, through the protocol."""
    return protocol.report(round_at_random(values, inputs, protocol.size - 1, rng), rng)


def describe(protocol: HistogramProtocol, reports: Any, users: int, inputs: Interval) -> Descriptor:
    """The descriptor the server makes of the reports of ``users`` users.

    >>> response = EdgeResponse(64.0, Interval(-1, 1), 2)
    >>> describe(response, np.array([0, 0, 2, 2]), 4, Interval(-1, 1)).prior.weights.tolist()
    [0.5, 0.0, 0.5]
    """
    return describe_support(protocol, protocol.support(reports), users, inputs)


def describe_support(protocol: HistogramProtocol, support: Whole, users: int, inputs: Interval) -> Descriptor:
    """The same from the counts, which is all that matters about the reports."""
    estimate = np.asarray(protocol.estimate(support, users), dtype=np.float64)
    if estimate.shape != (protocol.size,) or not np.isfinite(estimate).all():
        raise CheckFailed(f"the histogram protocol gave shares {estimate!r} for {protocol.size} edges")
    prior = Atoms(edges_of(inputs, protocol.size - 1), nearest_distribution(estimate))
    return Descriptor(users, np.asarray(support), estimate, prior)
