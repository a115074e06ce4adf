"""The region where a label is kept, as boxes: split only where it is undecided; an enclosure if cut short.

A *region* decides boxes ``(lower, upper]`` of the coordinates that are sent: kept everywhere, kept nowhere, or
undecided, with a place to split. What is undecided when the limit is reached stays open: the probability of the kept
boxes is a lower bound, that of kept and open boxes an upper bound, and both are exact up to the rounding of sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.studies.classifiers.concentration import Perturbation
from mechdesign.values.declare import Floats, array, content, field, frozen

Mass = Callable[[Floats, Floats], Floats]

MOST_BOXES = 60_000
ROUNDING = 1e-12
_BATCH = 2048
_NOTHING = 1e-15


@frozen
class Enclosure:
    """Bounds on a probability.

    >>> Enclosure(0.25, 0.5).width
    0.25
    """

    lower: float
    upper: float

    @property
    def width(self) -> float:
        return self.upper - self.lower


@frozen
class Decision:
    """Of some boxes: +1 kept, -1 lost, 0 undecided; where to split the undecided ones: coordinate and place."""

    verdict: NDArray[np.int8] = array(np.asarray)
    axis: NDArray[np.intp] = array(np.asarray)
    place: Floats = array(np.asarray)


class LabelRegion(Protocol):
    @property
    def dimensions(self) -> int: ...

    def decide(self, lower: Floats, upper: Floats) -> Decision: ...


def _contents(boxes: tuple[Floats, Floats]) -> tuple[object, object]:
    return content(boxes[0]), content(boxes[1])


@frozen
class Boxes:
    """Boxes that keep the label, boxes still open, and those that lose it; what has no mass may be in none of them."""

    kept: tuple[Floats, Floats] = field(eq=_contents)
    open: tuple[Floats, Floats] = field(eq=_contents)
    lost: tuple[Floats, Floats] = field(eq=_contents)

    def survival(self, law: Perturbation, x: Floats) -> Enclosure:
        """The probability that the label is kept: exact where nothing is open."""
        mass = mass_of(law, x)
        lower = float(mass(*self.kept).sum())
        left = float(mass(*self.open).sum())
        return Enclosure(max(0.0, lower - ROUNDING), min(1.0, lower + left + ROUNDING))

    @property
    def is_exact(self) -> bool:
        return len(self.open[0]) == 0


def mass_of(law: Perturbation, x: Floats) -> Mass:
    """The probability of boxes ``(lower, upper]``."""

    def mass(lower: Floats, upper: Floats) -> Floats:
        if not len(lower):
            return np.zeros(0)
        return np.asarray(np.prod(law.above(x, lower, upper), axis=1))

    return mass


def decompose(region: LabelRegion, mass: Mass | None = None, most: int = MOST_BOXES, gap: float = 0.0) -> Boxes:
    """All of space cut into boxes that keep, lose or have not decided the label.

    With a ``mass`` the heaviest boxes are cut first, boxes without mass are dropped as lost, and it ends when the open
    ones weigh ``gap`` or less. At most about ``most`` boxes are looked at.
    """
    shape = (1, region.dimensions)
    return _cut(region, np.full(shape, -np.inf), np.full(shape, np.inf), mass, most, gap)


def is_kept(region: LabelRegion, lower: Floats, upper: Floats, most: int) -> bool:
    """Whether the label is kept on the closed box, proven; False where the limit is reached first."""
    cells = _cut(region, np.nextafter(lower, -np.inf)[None], upper[None], None, most, 0.0, until_lost=True)
    return cells.is_exact


def _cut(
    region: LabelRegion,
    lower: Floats,
    upper: Floats,
    mass: Mass | None,
    most: int,
    gap: float,
    *,
    until_lost: bool = False,
) -> Boxes:
    empty = np.empty((0, region.dimensions))
    kept, lost = [(empty, empty)], [(empty, empty)]
    weights = np.ones(1)
    seen = 0
    while len(lower) and seen < most and (mass is None or weights.sum() > gap):
        order = np.argsort(-weights, kind="stable")
        now, later = order[: min(_BATCH, most)], order[min(_BATCH, most) :]
        seen += now.size
        low, high = lower[now], upper[now]
        found = region.decide(low, high)
        sure, undecided, gone = found.verdict > 0, found.verdict == 0, found.verdict < 0
        if until_lost and gone.any():
            break  # what is left open says that it was not proven
        kept.append((low[sure], high[sure]))
        lost.append((low[gone], high[gone]))
        low, high = low[undecided], high[undecided]
        axis, place, rows = found.axis[undecided], found.place[undecided], np.arange(len(low))
        middle_high, middle_low = high.copy(), low.copy()
        middle_high[rows, axis] = middle_low[rows, axis] = place
        new_low, new_high = np.concatenate([low, middle_low]), np.concatenate([middle_high, high])
        new_weights = np.ones(len(new_low)) if mass is None else mass(new_low, new_high)
        some = new_weights > _NOTHING / most
        lower = np.concatenate([lower[later], new_low[some]])
        upper = np.concatenate([upper[later], new_high[some]])
        weights = np.concatenate([weights[later], new_weights[some]])
    return Boxes(_joined(kept), (lower, upper), _joined(lost))


def _joined(parts: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])
