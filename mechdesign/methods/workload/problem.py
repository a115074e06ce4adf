"""What is asked of a mechanism for a workload."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput
from mechdesign.methods.workload.queries import MOST_TYPES, Known, Mean, Moments, Queries, require_scale
from mechdesign.values.codec import named
from mechdesign.values.declare import (
    Floats,
    array,
    derived,
    epsilon,
    field,
    frozen,
    gap,
    optional,
    settle,
    stored,
)
from mechdesign.values.fingerprint import fingerprint, numbers_in_words, weights_in_words
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.domains import Finite, require_numbers
from mechdesign.words.privacy import Pure

LEAST_EPSILON, MOST_EPSILON = 1e-2, 8.0
LEAST_GAP = 1e-8
AVERAGE, WORST = "average", "worst"
_AIMS = {AVERAGE: Aim.WORKLOAD_AVERAGE, WORST: Aim.WORKLOAD_WORST}


def _numbers(name: str) -> Any:
    def convert(said: ArrayLike) -> Floats:
        numbers = stored(np.atleast_1d(require_numbers(said, name)))
        if numbers.ndim != 1 or not np.isfinite(numbers).all():
            raise InvalidInput(name, numbers.shape, "be finite numbers in a row")
        return numbers

    return array(optional(convert), default=None)


def _aim(said: Any) -> Aim:
    word = said.value if isinstance(said, Aim) else said
    for name, aim in _AIMS.items():
        if word in (name, aim.value):
            return aim
    raise InvalidInput("criterion", said, f"be {AVERAGE} or {WORST}")


@frozen
class WorkloadProblem:
    """The least noise of a workload's answers over all epsilon-LDP mechanisms with unbiased linear estimators.

    What is small is the variance that noise adds to one user's estimate, given the user's type, summed over the
    queries (times their ``weights``): ``sum_o Q_ox |V_o|^2 - |W_x|^2``, on average over the types under ``prior``
    (uniform if left out), or for the worst type. With n users it is n times smaller. ``gap`` is the relative distance
    of the proven bounds at which the search stops.

    >>> from mechdesign.methods.workload.queries import Prefix
    >>> WorkloadProblem(1.0, Prefix(4)).prior.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    kind: ClassVar[str] = "workload"
    measure: ClassVar[str] = "noise"

    epsilon: float = epsilon()
    workload: Known = field()
    aim: Aim | str = field(default=Aim.WORKLOAD_AVERAGE, converter=_aim, metadata=named("criterion"), alias="criterion")
    prior: Floats | None = _numbers("prior")
    weights: Floats | None = _numbers("weights")
    gap: float = gap(LEAST_GAP, default=1e-3)
    inputs: Finite = derived(lambda problem: Finite(tuple(range(problem.workload.size))))
    """The numbers of the types."""

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.workload, Known):
            raise InvalidInput("workload", self.workload, "be a workload", "for example design.workload.Prefix(16)")
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified workload"
            raise InvalidInput("eps", self.epsilon, rule)
        self._settle_prior()
        queries = len(self.workload.names)
        if self.weights is not None and (self.weights.size != queries or not (self.weights > 0).all()):
            rule = f"be {queries} numbers above 0, one for each query"
            raise InvalidInput("weights", self.weights.shape, rule, "leave queries out that do not matter")
        require_scale(self._largest)
        uneven = self.prior is not None and np.ptp(self.prior) != 0
        if self.workload.size > MOST_TYPES and (self.weights is not None or uneven):
            rule = f"be at most {MOST_TYPES} where types or queries have weights of their own"
            raise InvalidInput("types", self.workload.size, rule, "leave the weights out, or take fewer attributes")

    @property
    def _largest(self) -> float:
        """The largest entry of the queries, times the roots of their weights; those that are named have entries 1."""
        has_values = isinstance(self.workload, Mean | Moments | Queries)
        sizes = abs(self.workload.matrix).max(axis=1) if has_values else np.ones(1)
        return float((sizes if self.weights is None else sizes * np.sqrt(self.weights)).max())

    def _settle_prior(self) -> None:
        size = self.workload.size
        if self.aim is Aim.WORKLOAD_WORST:
            if self.prior is not None:
                raise InvalidInput("prior", "weights", "be left out for the worst case", "use criterion='average'")
            return
        prior = np.full(size, 1 / size) if self.prior is None else self.prior
        if prior.shape != (size,):
            raise InvalidInput("prior", prior.shape, f"be one weight for each of the {size} types")
        if (prior < 0).any() or not abs(float(prior.sum()) - 1) <= 1e-6:
            raise InvalidInput("prior", float(prior.sum()), "be weights of at least 0 that sum to 1")
        if not (prior > 0).all():
            rule = "be above 0 for every type: the noise at a type without weight could be anything"
            step = "give such types a small weight, or leave them out of the workload"
            raise InvalidInput("prior", f"0 at type {int(np.argmin(prior))}", rule, step)
        settle(self, prior=stored(prior))

    @property
    def optimum(self) -> str:
        return f"optimum for {self.workload.kind}"

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(_aim(self.aim))

    @property
    def subject(self) -> str:
        return self.workload.words

    @property
    def headline(self) -> str:
        which = "of the worst type" if self.aim is Aim.WORKLOAD_WORST else "on average"
        return f"variance that noise adds to one user, {self.summed}, {which}"

    @property
    def summed(self) -> str:
        """What is added up: all queries, or so much of each."""
        if self.weights is None:
            return "all queries"
        return f"the sum of the queries with weights {numbers_in_words(self.weights)}"

    @property
    def asked_in_words(self) -> str:
        return f"{self.subject}: {self.headline}"

    @property
    def prior_in_words(self) -> str | None:
        return None if self.prior is None else weights_in_words(self.prior)

    @property
    def particulars(self) -> tuple[str, ...]:
        match self.workload:
            case Mean() | Moments():
                return (f"values: {numbers_in_words(self.workload.values)}",)
            case Queries():
                return (f"queries: {fingerprint(self.workload.rows)}",)
        return ()

    def echo(self) -> dict[str, Any]:
        """What is asked in words, the noise and the types."""
        return {"loss": "variance of the noise", "asked": self.workload.words, "inputs": self.inputs}
