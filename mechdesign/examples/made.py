"""How the example data were made: by this seeded script and from nobody. ``python -m mechdesign.examples.made`` again.

Only `random.Random.random` is asked for chance, whose numbers Python promises to keep; the rest is arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import NormalDist

PEOPLE = 2000
SEED = 20260117

_STANDARD = NormalDist()
_YES_SHARE = 0.13
_OPINIONS = (0.08, 0.17, 0.31, 0.29, 0.15)
_CATEGORIES = 200
_WALKERS, _STEPS = 20, 15
_CENTRE, _HALF = (139.68, 35.685), (0.2, 0.16)


def salaries() -> Iterator[str]:
    """Lognormal around 43,000 a year, within 0 to 250,000."""
    yield "salary"
    for chance in _chances("salaries", PEOPLE):
        yield str(min(round(43_000 * math.exp(0.45 * _normal(chance)) / 10) * 10, 250_000))


def ages() -> Iterator[str]:
    """Whole numbers from 18 to 90, with a long upper half."""
    yield "age"
    for chance in _chances("ages", PEOPLE):
        yield str(18 + round(72 * chance**1.7))


def answers() -> Iterator[str]:
    """A yes/no question, and agreement from 1 (not at all) to 5 (fully)."""
    yield "smokes,agree"
    for first, second in zip(_chances("smokes", PEOPLE), _chances("agree", PEOPLE), strict=True):
        yield f"{'yes' if first < _YES_SHARE else 'no'},{1 + _place(second, _OPINIONS)}"


def categories() -> Iterator[str]:
    """One of 200 names each, by Zipf's law."""
    yield "app"
    weights = [1 / rank for rank in range(1, _CATEGORIES + 1)]
    shares = [weight / sum(weights) for weight in weights]
    for chance in _chances("categories", 10 * PEOPLE):
        yield f"app{_place(chance, shares):03d}"


def bearings() -> Iterator[str]:
    """Directions in degrees, around 250 with a spread of 35."""
    yield "degrees"
    for chance in _chances("bearings", PEOPLE):
        yield f"{(250 + 35 * _normal(chance)) % 360:.1f}"


def places() -> Iterator[str]:
    """Walks on a map: walker, hour, longitude, latitude."""
    yield "id,t,lon,lat"
    steps = _chances("places", 2 * _WALKERS * (_STEPS + 1))
    for walker in range(_WALKERS):
        at = [centre + 0.9 * half * (2 * next(steps) - 1) for centre, half in zip(_CENTRE, _HALF, strict=True)]
        for hour in range(_STEPS):
            yield f"{walker},{hour},{at[0]:.5f},{at[1]:.5f}"
            for axis in (0, 1):
                step = 0.25 * _HALF[axis] * (2 * next(steps) - 1)
                low, high = _CENTRE[axis] - _HALF[axis], _CENTRE[axis] + _HALF[axis]
                at[axis] = min(max(at[axis] + step, low), high)


def corners() -> Iterator[str]:
    """Nine squares of a city of one square mile each, and who lives there."""
    yield "name,x,y,people"
    for place, people in enumerate((30, 12, 8, 22, 90, 25, 14, 40, 18)):
        row, column = divmod(place, 3)
        yield f"{['south', 'middle', 'north'][row]} {['west', 'centre', 'east'][column]},{column},{row},{people}"


MADE = {
    "ages.csv": ages,
    "answers.csv": answers,
    "bearings.csv": bearings,
    "categories.csv": categories,
    "corners.csv": corners,
    "places.csv": places,
    "salaries.csv": salaries,
}


def text_of(name: str) -> str:
    """The file of that name as it is made.

    >>> text_of("ages.csv").splitlines()[0]
    'age'
    """
    return "\n".join(MADE[name]()) + "\n"


def _chances(what: str, count: int) -> Iterator[float]:
    random = Random(f"{what} {SEED}")
    return iter([random.random() for _ in range(count)])


def _normal(chance: float) -> float:
    return _STANDARD.inv_cdf(min(max(chance, 1e-9), 1 - 1e-9))


def _place(chance: float, shares: tuple[float, ...] | list[float]) -> int:
    total = 0.0
    for place, share in enumerate(shares):
        total += share
        if chance < total:
            return place
    return len(shares) - 1


if __name__ == "__main__":
    for file in MADE:
        (Path(__file__).parent / file).write_text(text_of(file), encoding="utf-8", newline="\n")
