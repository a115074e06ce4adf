"""IBU's gain by eps, number of users, number of items and distribution: figures 3 and 4 of its paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mechdesign.papers.claims.claim import AT_LEAST, AT_MOST, Claim, Item, Value
from mechdesign.papers.claims.drawing import Lines, curves
from mechdesign.papers.claims.frequency import LAWS, MANY_TIMES, ONCE, PAPER, Cells

Floats = NDArray[np.float64]

_USERS, _ITEMS, _EPSILONS = range(3)
"""What a cell is told by, in this order."""
_SETTING = "MSE, average over all protocols, synthetic data and the rest of the grid, four runs"


def _by(place: int, cells: Cells) -> tuple[list[float], Floats]:
    """The values of one setting, and for each (row) and distribution (column) the gain in MSE, in per cent."""
    values = sorted({key[place] for key in cells})
    found = [np.mean([gain for key, gain in cells.items() if key[place] == one], axis=0)[:, 0] for one in values]
    return [float(one) for one in values], np.array([gain.mean(axis=0) for gain in found])


def _steps(place: int, cells: Cells, *, falls: bool = False) -> list[Value]:
    """Each average gain over the one before, or under it."""
    gains = _by(place, cells)[1].mean(axis=1)
    return [*map(float, gains[:-1] / gains[1:] if falls else gains[1:] / gains[:-1])]


def _lines(place: int, cells: Callable[[], Cells]) -> Callable[[], Lines]:
    def found() -> Lines:
        values, gains = _by(place, cells())
        return {law: (values, gains[:, k].tolist()) for k, law in enumerate(LAWS)}

    return found


def _ranks() -> list[Value]:
    """By the averages of tables 2 and 3 as printed: of uniform data from above, of exponential data from below."""
    averages = [np.mean(table.of_squares, axis=1) for table in (ONCE, MANY_TIMES)]
    uniform, exponential = LAWS.index("uniform"), LAWS.index("exponential")
    return [
        *(1 + int((gains > gains[uniform]).sum()) for gains in averages),
        *(1 + int((gains < gains[exponential]).sum()) for gains in averages),
    ]


def _rising(labels: Sequence[str]) -> tuple[Item, ...]:
    return tuple(Item(label, "1", relation=AT_LEAST) for label in labels)


def _of_figure(number: int, kind: str, cells: Callable[[], Cells]) -> tuple[Claim, ...]:
    place = f"section 4.2, figure {number}, and abstract"
    title = f"What IBU gains, {kind} protocols"
    return (
        Claim(
            f"ibu.figure-{number}-eps",
            PAPER,
            place,
            f"{kind} protocols: the lower eps, the higher IBU's gain ({_SETTING})",
            _rising(("eps = 1 over eps = 2", "eps = 2 over eps = 4")),
            lambda: _steps(_EPSILONS, cells(), falls=True),
            slow=True,
            picture=curves(title, "eps", "gain in MSE (%)", _lines(_EPSILONS, cells), ylim=(0, 75)),
        ),
        Claim(
            f"ibu.figure-{number}-users",
            PAPER,
            place,
            f"{kind} protocols: the gain is higher when the number of users is (a twentieth less is noise; {_SETTING})",
            (Item("100,000 users over 20,000", "0.95", relation=AT_LEAST),),
            lambda: _steps(_USERS, cells()),
            slow=True,
        ),
        Claim(
            f"ibu.figure-{number}-items",
            PAPER,
            place,
            f"{kind} protocols: IBU outperforms MI as the number of items grows ({_SETTING})",
            _rising(("50 items over 2", "100 over 50", "200 over 100")),
            lambda: _steps(_ITEMS, cells()),
            slow=True,
            picture=curves(title, "number of items, k", "gain in MSE (%)", _lines(_ITEMS, cells), ylim=(0, 75)),
        ),
    )


_LAWS = Claim(
    "ibu.figure-3-laws",
    PAPER,
    "section 4.2, figures 3 and 4",
    "the uniform distribution has the highest gain, Gaussian and exponential the lowest (by the averages that tables 2 "
    "and 3 print for the same experiments; the highest gain of a single protocol, BLH's 57, is on uniform data)",
    (
        Item("uniform's rank, from above, table 2", "1", "2", units=0.5),
        Item("uniform's rank, from above, table 3", "1", "2", units=0.5),
        Item("exponential's rank, from below, table 2", "2", "3", AT_MOST),
        Item("exponential's rank, from below, table 3", "2", "3", AT_MOST),
    ),
    _ranks,
    erratum=12,
)

CLAIMS = (*_of_figure(3, "one-time", ONCE.cells), *_of_figure(4, "longitudinal", MANY_TIMES.cells), _LAWS)
