"""The shape every frequency protocol has."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.studies.frequencies.protocols.randomness import Randomness
from mechdesign.values.declare import Counts, Floats

Support = Counts | Floats


def variances(law: FrequencyProtocol, frequencies: ArrayLike, n: int) -> Floats:
    """The variance of each estimate where the items have these frequencies, which need not sum to one.

    It is the protocol's `variance` at each of them, except where a protocol knows better: in Hadamard response the
    noise of an item depends on what its block holds.
    """
    exact = law.variances if isinstance(law, _Mixed) else law.variance
    return exact(frequencies, n)


@runtime_checkable
class _Mixed(Protocol):
    """A protocol whose items have different noise at one frequency."""

    def variances(self, frequencies: ArrayLike, n: int) -> Floats: ...


class FrequencyProtocol(Protocol):
    """How users report one of k items privately, and how a server counts them: one immutable description for both.

    A report *supports* some of the items; ``p`` is the expected support of the user's own item and ``q`` that of any
    other; in Hadamard response it may support an item by half. In protocols whose support is no count (noisy
    histograms, designed mechanisms) it is a real number with ``p = 1`` and ``q = 0``. Estimates, variances, clients and
    simulations all read the same numbers.

    ``p - q`` is a difference of doubles: estimates have the relative error ``2^-52 / eps`` or so, 1e-7 at eps = 1e-9.

    *Guarantee.* The loss is epsilon up to the rounding of doubles. What must be private to the last bit is shipped as a
    table of whole numbers (`mechdesign.tables`), which is a protocol too (`designed`).
    """

    @property
    def name(self) -> str: ...
    @property
    def epsilon(self) -> float:
        """The privacy parameter asked for; `privacy_loss` says what the law achieves."""
        ...

    @property
    def size(self) -> int:
        """The number of items k."""
        ...

    @property
    def p(self) -> float: ...
    @property
    def q(self) -> float: ...
    @property
    def report_bits(self) -> float:
        """Bits that tell any report from any other."""
        ...

    def channel(self) -> Floats:
        """``P(report | item)``, a row an item, or `InvalidInput` where the reports are too many or not finite."""
        ...

    def privacy_loss(self) -> float:
        """``ln max P(report | item) / P(report | other item)``, from the numbers the law is made of."""
        ...

    def report(self, values: ArrayLike, rng: Randomness) -> NDArray[Any]:
        """One report for each user, an array whose first axis is the users."""
        ...

    def support(self, reports: ArrayLike) -> Support:
        """How much each item is supported by the reports."""
        ...

    def simulate(self, counts: ArrayLike, rng: np.random.Generator) -> Support:
        """The support of all items for ``counts[v]`` users of item v: exact in joint law, at a cost free of n."""
        ...

    def estimate(self, support: ArrayLike, n: int) -> Floats:
        """Unbiased frequencies ``(support / n - q) / (p - q)``; they may be negative and need not sum to one."""
        ...

    def variance(self, f: ArrayLike, n: int) -> Floats:
        """The variance of the estimate of an item whose true frequency is ``f``, given the data.

        Where items differ (designed mechanisms, Hadamard response in blocks), the average over the items, the others
        equally frequent.
        """
        ...

    def covariance(self, frequencies: ArrayLike, n: int) -> Floats:
        """The covariance matrix of all estimates, given the data."""
        ...
