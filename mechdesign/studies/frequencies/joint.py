"""Collections under joint randomised response, simulated from sufficient statistics: the cost does not grow with users.

After a uniformly random grouping the truthful users are a uniformly random set, whatever the law of a group: given how
many there are. So the numbers of groups with t truthful members are multinomial, their sum S is all that matters, how
many of the S hold each category is (multivariate) hypergeometric, and where the others' reports go is multinomial
again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.studies.frequencies.numeric import Accuracy
from mechdesign.values.declare import Counts, Floats, array, frozen
from mechdesign.words.counts import require_population


def simulate_reports(response: JointResponse, counts: ArrayLike, trials: int, rng: np.random.Generator) -> Counts:
    """How many users report each category, a row a trial; ``counts`` are the users in each category.

    >>> law = JointResponse.pair(0.75, -0.25)
    >>> simulate_reports(law, [10, 90], 3, np.random.default_rng(1)).sum(axis=1).tolist()
    [100, 100, 100]
    """
    require_generator(rng)
    held = _require_counts(counts, response.categories)
    users = require_population(int(held.sum()), response.group)
    repeats = require_whole(trials, "trials", 1)
    groups = rng.multinomial(users // response.group, response.chances(), size=repeats)
    left = np.asarray(groups @ np.arange(response.group + 1), dtype=np.int64)
    reports = np.zeros((repeats, held.size), dtype=np.int64)
    rest = users
    for x, own in enumerate(held.tolist()):
        rest -= own
        truthful = rng.hypergeometric(own, rest, left) if own and rest else np.minimum(left, own)
        left = left - truthful
        reports[:, x] += truthful
        others = np.delete(np.arange(held.size), x)
        reports[:, others] += rng.multinomial(own - truthful, np.full(others.size, 1 / others.size))
    return reports


def simulate_estimates(
    response: JointResponse, users: int, count: int, trials: int, rng: np.random.Generator
) -> Floats:
    """Estimates of the number of users in one category, the other users being in one other category.

    >>> law = JointResponse((0, 0, 1))  # nobody ever lies
    >>> simulate_estimates(law, 100, 30, 2, np.random.default_rng(1)).tolist()
    [30.0, 30.0]
    """
    require_whole(count, "count", 0, users)
    counts = np.zeros(response.categories, dtype=np.int64)
    counts[:2] = count, users - count
    reports = simulate_reports(response, counts, trials, rng)
    return response.estimate(reports[:, 0], users)


def accuracy(estimates: ArrayLike, truth: float) -> Accuracy:
    """Errors of repeated estimates of one number.

    >>> accuracy([9.0, 11.0, 10.0], 10.0).bias
    0.0
    """
    offsets = np.asarray(estimates, dtype=np.float64) - truth
    if offsets.ndim != 1 or offsets.size == 0:
        raise InvalidInput("estimates", offsets.shape, "be a list of numbers")
    size = np.abs(offsets)
    return Accuracy(offsets.size, float(size.mean()), float(np.sqrt(np.mean(size**2))), float(abs(offsets.mean())))


@frozen
class JointErrors:
    """Errors of repeated collections, one of each kind a collection, averaged over the values as the chapter does.

    ``estimates`` are those of every value, a row a collection; ``squared`` is its equation 4.1, ``relative`` 4.2.
    """

    counts: Floats = array()
    estimates: Floats = array()

    @property
    def squared(self) -> Floats:
        """``1/|D| sum_x (n'_x - n_x)^2``."""
        return np.asarray(np.mean((self.estimates - self.counts) ** 2, axis=1))

    @property
    def relative(self) -> Floats:
        """``1/|D| sum_x |n'_x - n_x| / n_x``, which needs somebody to hold each value."""
        if not self.counts.all():
            raise InvalidInput(
                "counts", self.counts, "be above 0 in every category", "a relative error divides by them"
            )
        return np.asarray(np.mean(np.abs(self.estimates - self.counts) / self.counts, axis=1))

    @property
    def mse(self) -> float:
        return float(self.squared.mean())

    @property
    def are(self) -> float:
        return float(self.relative.mean())

    def percentiles(self, percents: Sequence[float]) -> Floats:
        """The relative error that so many of a hundred collections do not exceed (figure 4.4)."""
        return np.asarray(np.percentile(self.relative, percents, method="inverted_cdf"))


def simulate_errors(response: JointResponse, counts: ArrayLike, trials: int, rng: np.random.Generator) -> JointErrors:
    """Repeated collections of a column whose values ``counts`` users hold, each value estimated.

    >>> found = simulate_errors(JointResponse((0, 0, 1)), [30, 70], 5, np.random.default_rng(1))  # nobody ever lies
    >>> found.mse, found.are, found.percentiles([50, 99]).tolist()
    (0.0, 0.0, [0.0, 0.0])
    """
    reports = simulate_reports(response, counts, trials, rng)
    held = _require_counts(counts, response.categories)
    return JointErrors(held.astype(np.float64), response.estimate(reports, int(held.sum())))


def whole_groups(counts: ArrayLike, group: int, rng: np.random.Generator) -> Counts:
    """The counts of those who can be grouped: the fewest users, drawn at random, are left out.

    >>> int(whole_groups([30, 71], 2, np.random.default_rng(1)).sum())
    100
    """
    held = np.asarray(counts, dtype=np.int64)
    users = int(held.sum())
    return np.asarray(require_generator(rng).multivariate_hypergeometric(held, users - users % group), dtype=np.int64)


def _require_counts(counts: ArrayLike, categories: int) -> Counts:
    held = np.asarray(counts)
    if held.shape != (categories,) or held.dtype.kind not in "iu" or (held.size and held.min() < 0):
        rule = f"be {categories} whole numbers of at least 0, the users in each category"
        raise InvalidInput("counts", counts, rule)
    return np.asarray(held, dtype=np.int64)
