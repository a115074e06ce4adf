"""Models with one parameter, as the chances of cells and how fast these change: ``p_i`` and ``p_i'``.

>>> model = GaussianLocation(cells=2)
>>> model.chances.round(6).tolist(), model.slopes.round(6).tolist()
([0.5, 0.5], [-0.398942, 0.398942])
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import Floats, array, finite, frozen, stored, whole
from mechdesign.words.domains import require_numbers

MOST_CELLS = 512


def _edges(cells: int, reach: float) -> Floats:
    """Equal cells on ``[-reach, reach]``; the first and the last go on to infinity."""
    edges = np.linspace(-reach, reach, cells + 1)
    edges[0], edges[-1] = -np.inf, np.inf
    return edges


def _require_reach(reach: float) -> None:
    if not 0 < reach <= 30:
        raise InvalidInput("reach", reach, "lie above 0 and be at most 30 standard units")


@frozen
class GaussianLocation:
    """The mean of a normal law, in standard deviations, around 0: equal cells on [-reach, reach], open at the ends."""

    kind: ClassVar[str] = "gaussian location"

    cells: int = whole("cells", 2, MOST_CELLS, default=40)
    reach: float = finite("reach", default=4.0)

    def __attrs_post_init__(self) -> None:
        _require_reach(self.reach)

    @property
    def chances(self) -> Floats:
        from scipy.stats import norm

        edges = _edges(self.cells, self.reach)
        left = np.diff(norm.cdf(edges))  # of both halves take the one that doubles resolve
        return np.asarray(np.where(edges[:-1] >= 0, left[::-1], left))

    @property
    def slopes(self) -> Floats:
        from scipy.stats import norm

        return np.asarray(-np.diff(norm.pdf(_edges(self.cells, self.reach))))

    @property
    def unbinned(self) -> float:
        """The information of one observation itself."""
        return 1.0

    @property
    def middle(self) -> float:
        """The density at 0."""
        return 1 / math.sqrt(2 * math.pi)

    @property
    def words(self) -> str:
        return f"the mean of a normal law, {self.cells} cells on +-{self.reach:g} deviations"


@frozen
class LogisticLocation:
    """The centre of a logistic law, in units of its scale, around 0; its cells are those of `GaussianLocation`."""

    kind: ClassVar[str] = "logistic location"

    cells: int = whole("cells", 2, MOST_CELLS, default=40)
    reach: float = finite("reach", default=8.0)

    def __attrs_post_init__(self) -> None:
        _require_reach(self.reach)

    @property
    def chances(self) -> Floats:
        edges = _edges(self.cells, self.reach)
        with np.errstate(over="ignore"):
            left = np.diff(1 / (1 + np.exp(-edges)))
        return np.asarray(np.where(edges[:-1] >= 0, left[::-1], left))

    @property
    def slopes(self) -> Floats:
        with np.errstate(over="ignore"):
            share = 1 / (1 + np.exp(np.abs(_edges(self.cells, self.reach))))
        return np.asarray(-np.diff(share * (1 - share)))

    @property
    def unbinned(self) -> float:
        return 1 / 3

    @property
    def middle(self) -> float:
        """The density at 0."""
        return 1 / 4

    @property
    def words(self) -> str:
        return f"the centre of a logistic law, {self.cells} cells on +-{self.reach:g} scales"


def _row(name: str) -> Any:
    def convert(said: Any) -> Floats:
        numbers = stored(np.atleast_1d(require_numbers(said, name)))
        if numbers.ndim != 1 or not 2 <= numbers.size <= MOST_CELLS or not np.isfinite(numbers).all():
            raise InvalidInput(name, numbers.shape, f"be 2 to {MOST_CELLS} finite numbers, one a cell")
        return numbers

    return array(convert)


@frozen
class Binned:
    """Any model: the chance of each cell at the parameter, and its derivative there."""

    kind: ClassVar[str] = "binned model"

    chances: Floats = _row("chances")
    slopes: Floats = _row("slopes")

    def __attrs_post_init__(self) -> None:
        chances, slopes = self.chances, self.slopes
        if chances.shape != slopes.shape:
            raise InvalidInput("slopes", slopes.size, f"be one for each of the {chances.size} cells")
        if (chances < 0).any() or not abs(float(chances.sum()) - 1) <= 1e-6:
            raise InvalidInput("chances", float(chances.sum()), "be at least 0 and sum to 1")
        endless = np.flatnonzero((chances == 0) & (slopes != 0))
        if endless.size:
            rule = f"be above 0 in cell {endless[0]}, where the slope is not: the information would be infinite"
            raise InvalidInput("chances", 0.0, rule, "move the parameter inside its range, or join the cell to another")
        if not slopes.any():
            raise InvalidInput("slopes", "zeros", "tell something of the parameter")
        if not abs(float(slopes.sum())) <= 1e-6 * float(np.abs(slopes).sum()):
            raise InvalidInput("slopes", float(slopes.sum()), "sum to 0, as chances sum to 1 for every parameter")

    @property
    def unbinned(self) -> None:
        return None

    @property
    def words(self) -> str:
        return f"a model of {self.chances.size} cells"


Model = GaussianLocation | LogisticLocation | Binned
"""What reports are to tell of one parameter: a loss is the variance of an efficient estimate."""

MODELS = {"gaussian-location": GaussianLocation, "logistic-location": LogisticLocation}
"""The models that have a name."""
