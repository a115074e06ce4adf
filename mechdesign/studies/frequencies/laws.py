"""The five laws of Arcolezi, Cerna and Palamidessi (DBSec 2023) as makers of data sets: samples in k equal bins.

The bins reach from the least to the largest of the sample, as in their experiments, so that the first and the last are
never empty. Poisson's numbers are whole: with more bins than there are such numbers, most bins are empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from mechdesign.errors import require_one_of, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.datasets import Dataset
from mechdesign.values.declare import Floats

MOST_USERS = 10**8  # numbers that are drawn one by one

LAWS: Mapping[str, Callable[[int, np.random.Generator], Floats]] = {
    "gaussian": lambda users, rng: rng.normal(1000, 10, users),
    "exponential": lambda users, rng: rng.exponential(1, users),
    "uniform": lambda users, rng: rng.uniform(100, 10000, users),
    "poisson": lambda users, rng: rng.poisson(5, users).astype(np.float64),
    "triangular": lambda users, rng: rng.triangular(100, 4500, 10000, users),
}
"""Numbers of so many users, by the name of their law and with the parameters of section 4.1 there."""


def made_of_law(name: str, users: int, bins: int, rng: np.random.Generator) -> Dataset:
    """A data set of so many users: a sample of the law in so many equal bins.

    >>> data = made_of_law("poisson", 1000, 5, np.random.default_rng(1))
    >>> data.n, data.size
    (1000, 5)
    """
    draw = LAWS[require_one_of(name, "law", tuple(LAWS))]
    count = require_whole(users, "users", 2, MOST_USERS)
    return Dataset.of_numbers(draw(count, require_generator(rng)), bins)
