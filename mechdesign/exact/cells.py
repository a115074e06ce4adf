"""A prior as cells, and what a window mechanism's error is on average over it, exactly."""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.domains import Interval
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.exact.statement import require_said
from mechdesign.mechanisms.window import Window
from mechdesign.priors import Density, density_of_law

Floats = NDArray[np.float64]

MOST_CELLS = 4000
"""More would make the proofs, which are quadratic in them, slow."""

_ROUNDING = 1e-9
_RUNS = 32
_PROFILE = 1e-6  # what sums over coarse cells of a density may be off by
_AGREEMENT = 1e-9  # of mass, of the range and of its square: cells this near to a density's are its own
_MESH = 192  # cells that a density is cut into, beside those of its break points, to find what other cells hold
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_FINEST_WEIGHT = 80  # bits after the point: less mass would only make the exact arithmetic slow


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A prior as cells, sorted: all of a cell's mass lies in its range; an atom is a cell without width.

    >>> Cells.of_atoms([0.0, 1.0], [0.5, 0.5]).are_atoms
    True
    """

    lows: Floats
    highs: Floats
    means: Floats
    weights: Floats
    variances: Floats

    def __post_init__(self) -> None:
        for name in self.__slots__:
            array = np.array(getattr(self, name), dtype=np.float64)
            if array.ndim != 1 or array.shape != np.shape(self.means) or not 0 < array.size <= MOST_CELLS:
                raise InvalidInput(f"cell {name}", array.shape, f"be between 1 and {MOST_CELLS} numbers, one a cell")
            if not np.isfinite(array).all():
                raise InvalidInput(f"cell {name}", float(array[~np.isfinite(array)][0]), "be finite")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if not (self.weights > 0).all():
            raise InvalidInput("cell weights", float(self.weights.min()), "be above 0", "drop cells without mass")
        if not ((self.lows <= self.means) & (self.means <= self.highs)).all():
            raise InvalidInput("cell means", "outside", "lie in the ranges of their cells")
        if not ((self.highs[:-1] <= self.lows[1:]) & (self.means[:-1] < self.means[1:])).all():
            raise InvalidInput("cells", "unsorted or overlapping", "be sorted and apart")
        most = (self.means - self.lows) * (self.highs - self.means)
        # the variance of all mass at the ends, plus what rounding the mean can do
        spacing = np.spacing(np.maximum(np.abs(self.lows), np.abs(self.highs)))
        most = most * (1 + _ROUNDING) + 4 * spacing * (self.highs - self.lows)
        if not ((self.variances >= 0) & (self.variances <= most)).all():
            raise InvalidInput("cell variances", "out of range", "lie between 0 and (mean - low)(high - mean)")

    @classmethod
    def of_atoms(cls, points: ArrayLike, weights: ArrayLike) -> Cells:
        places = np.asarray(points, dtype=np.float64)
        return cls(places, places, places, np.asarray(weights, dtype=np.float64), np.zeros_like(places))

    @property
    def are_atoms(self) -> bool:
        return bool((self.lows == self.highs).all())

    @property
    def mean(self) -> float:
        return float(np.dot(self.weights, self.means) / self.weights.sum())

    def arrays(self) -> tuple[Floats, ...]:
        return self.lows, self.highs, self.means, self.weights, self.variances

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and all(
            np.array_equal(mine, theirs) for mine, theirs in zip(self.arrays(), other.arrays(), strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(array.tobytes() for array in self.arrays()))

    def digest(self) -> str:
        """A hash of all its doubles."""
        content = (np.ascontiguousarray(array, dtype="<f8").tobytes() for array in self.arrays())
        return hashlib.sha256(b"".join(content)).hexdigest()

    def profile(self) -> list[list[float]]:
        """Lower end, weight and mean of a few runs of cells: what refining the cells keeps, up to rounding."""
        starts = np.unique(np.linspace(0, self.means.size, _RUNS + 1).astype(int)[:-1])
        return self._runs(self.lows[starts])

    def _runs(self, ends: Floats) -> list[list[float]]:
        place = np.searchsorted(ends, self.lows, side="right") - 1
        weights = np.bincount(place, self.weights, ends.size)
        first = np.bincount(place, self.weights * (self.means - self.lows[0]), ends.size)
        means = self.lows[0] + np.divide(first, weights, out=np.zeros_like(first), where=weights > 0)
        return [list(run) for run in zip(ends.tolist(), weights.tolist(), means.tolist(), strict=True)]

    def has_profile(self, said: object) -> bool:
        """Whether these cells refine cells of this profile."""
        try:
            runs = np.array(said, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        if runs.ndim != 2 or runs.shape[1] != 3 or not 0 < len(runs) <= _RUNS or not np.isfinite(runs).all():
            return False
        if len(runs) < min(_RUNS, self.means.size) or not (np.diff(runs[:, 0]) > 0).all():
            return False
        if runs[0, 0] != self.lows[0]:
            return False
        mine = np.array(self._runs(runs[:, 0]))
        reach = float(self.highs[-1] - self.lows[0])
        moments = np.abs(mine[:, 1] * (mine[:, 2] - runs[:, 2]))  # a mean counts as its run does
        return bool((np.abs(mine[:, 1] - runs[:, 1]) <= _PROFILE).all() and (moments <= _PROFILE * reach).all())

    def penalties(self, exponent: int) -> list[Fraction]:
        """What an edge inside a cell could save, for each of the places between cells (and before and after all)."""
        ends = (Fraction(float(self.lows[0])), Fraction(float(self.highs[-1])))
        scale = Fraction(1) if exponent == 1 else ends[1] - ends[0]
        columns = (self.lows, self.highs, self.means, self.weights, self.variances)
        inside = [_spread(*cell) * scale for cell in zip(*(column.tolist() for column in columns), strict=True)]
        return [left + right for left, right in zip([Fraction(0), *inside], [*inside, Fraction(0)], strict=True)]

    def to_dict(self) -> dict[str, Any]:
        inside = {name: getattr(self, name).tolist() for name in ("lows", "highs", "variances")}
        return {
            "means": self.means.tolist(),
            "weights": self.weights.tolist(),
            "inside": None if self.are_atoms else inside,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Cells:
        means, weights, inside = fields["means"], fields["weights"], fields["inside"]
        if inside is None:
            return cls.of_atoms(means, weights)
        return cls(inside["lows"], inside["highs"], means, weights, inside["variances"])


def _spread(low: float, high: float, mean: float, weight: float, variance: float) -> Fraction:
    """At least ``weight * E|x - mean|``: what all mass at the ends would give, and the standard deviation."""
    if low == high:
        return Fraction(0)
    x, low_end, high_end = Fraction(mean), Fraction(low), Fraction(high)
    at_ends = 2 * (x - low_end) * (high_end - x) / (high_end - low_end)
    return Fraction(weight) * min(at_ends, Fraction(math.nextafter(math.sqrt(variance), math.inf)))


# -- cells of a density -----------------------------------------------------------------------------------------------


def density_cells(density: Density, cuts: Floats) -> Cells:
    """A density between ``cuts``: masses, means and variances are Gauss-Legendre sums in doubles."""
    lows, highs = cuts[:-1], cuts[1:]
    halves = (highs - lows) / 2
    offsets = halves[:, None] * (1 + _NODES)
    values = density(lows[:, None] + offsets) * _WEIGHTS
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InvalidInput("prior", density.name, "have a finite density, at least 0")
    sums = values.sum(axis=1)
    weights = np.ldexp(np.round(np.ldexp(halves * sums, _FINEST_WEIGHT)), -_FINEST_WEIGHT)
    safe = np.where(sums > 0, sums, 1.0)
    above = (values * offsets).sum(axis=1) / safe
    variances = (values * (offsets - above[:, None]) ** 2).sum(axis=1) / safe
    means = np.clip(lows + above, lows, highs)
    kept = weights > 0
    arrays = (lows, highs, means, weights, np.minimum(variances, (means - lows) * (highs - means)))
    return Cells(*(array[kept] for array in arrays))


def first_cuts(density: Density, count: int) -> Floats:
    """The ends of about ``count`` cells of equal width between the break points of a density, at least two each."""
    domain = density.domain
    kinks = [point for point in density.breakpoints if domain.lower < point < domain.upper]
    ends = np.unique([domain.lower, *kinks, domain.upper])
    counts = np.maximum(2, np.ceil(count * np.diff(ends) / domain.length)).astype(int)
    parts = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(ends[:-1], ends[1:], counts, strict=True)]
    return np.unique(np.append(np.concatenate(parts), domain.upper))


def disagreement(cells: Cells, density: Density) -> float:
    """How far cells are from holding what a density has there, and all of it: in mass, range and square of the range.

    >>> from mechdesign.domains import Interval
    >>> from mechdesign.priors import normal, uniform
    >>> law = uniform(Interval(0, 1))
    >>> coarse = density_cells(law, np.array([0.0, 0.4, 1.0]))
    >>> disagreement(coarse, law) < 1e-12, disagreement(coarse, normal(0.5, 1.0, Interval(0, 1))) > 1e-3
    (True, True)
    """
    domain = density.domain
    if not (domain.lower <= cells.lows[0] and cells.highs[-1] <= domain.upper):
        return math.inf
    fine = density_cells(density, np.unique(np.concatenate([first_cuts(density, _MESH), cells.lows, cells.highs])))
    place = np.searchsorted(cells.lows, fine.lows, side="right") - 1
    inside = (place >= 0) & (fine.highs <= cells.highs[place])
    count, reach = cells.means.size, domain.length
    place, mass = place[inside], fine.weights[inside]
    masses = np.bincount(place, mass, count)
    if not (masses > 0).all():
        return math.inf
    offsets = fine.means[inside] - cells.means[place]
    shifts = np.bincount(place, mass * offsets, count) / masses
    seconds = np.bincount(place, mass * (fine.variances[inside] + (offsets - shifts[place]) ** 2), count)
    return max(
        float(np.abs(masses - cells.weights).sum()) + float(fine.weights[~inside].sum()) + abs(float(masses.sum()) - 1),
        float((masses * np.abs(shifts)).sum()) / reach,
        float(np.abs(seconds - masses * cells.variances).sum()) / reach**2,
    )


def law_of(density: Density, cells: Cells) -> dict[str, Any] | None:
    """What a file says of the density these cells are cut from; nothing where doubles hold them too poorly to tell.

    The margin is for finer cells, which a search may end with.
    """
    law = density.law
    return law if law is not None and disagreement(cells, density) <= _AGREEMENT / 10 else None


# -- what a file says of a prior --------------------------------------------------------------------------------------


def prior_echo(cells: Cells, name: str, values: int | None) -> dict[str, Any]:
    """What a problem says of its prior in a file: enough to see that evidence is about another one."""
    return {
        "name": name,
        "values": values,
        "lower": float(cells.lows[0]),
        "upper": float(cells.highs[-1]),
        "mean": cells.mean,
        "sha256": cells.digest(),
    }


_ECHO = {"name", "values", "lower", "upper", "mean", "sha256", "profile", "law", "rounded"}


def prior_fields(
    problem: Mapping[str, Any], epsilon: float, exponent: int, cells: Cells, mechanism: Window
) -> tuple[dict[str, Any], str]:
    """What a saved problem says of privacy, loss, inputs and prior, and that prior in words; or `FileProblem`.

    A law named in the file is the prior's only if the cells of the evidence are the law's; other names decide nothing.
    """
    said = problem.get("prior")
    _require_echo(said, cells)
    assert isinstance(said, Mapping)
    fields = {
        "epsilon": epsilon,
        "loss": {1: "absolute", 2: "squared"}[exponent],
        "inputs": {"kind": "interval", "lower": mechanism.inputs.lower, "upper": mechanism.inputs.upper},
        "prior": said,
    }
    return fields, _prior_in_words(said, cells, mechanism)


def _require_echo(said: Any, cells: Cells) -> None:
    if not isinstance(said, Mapping) or not said.keys() <= _ECHO or type(said.get("name")) is not str:
        raise FileProblem("problem prior", said, "describe the prior the evidence is about, and no more")
    mine = prior_echo(cells, "", None)
    reach = float(cells.highs[-1] - cells.lows[0]) + abs(mine["mean"])
    for field, tolerance in (("lower", 1e-9), ("upper", 1e-9), ("mean", 1e-9 if cells.are_atoms else _PROFILE)):
        found = said.get(field)
        is_number = type(found) in (int, float)
        if not is_number or not abs(found - mine[field]) <= tolerance * reach:
            raise FileProblem(f"problem prior {field}", found, f"be {mine[field]!r}, which the evidence is about")
    values = said.get("values")
    if values is not None and (type(values) is not int or values < (cells.means.size if cells.are_atoms else 1)):
        raise FileProblem("problem prior values", values, "be null or the number of values the evidence is about")
    if cells.are_atoms:
        require_said(said, "sha256", mine["sha256"])
        if said.get("law") is not None:
            raise FileProblem("problem prior law", said["law"], "be null: only a density has one")
    # of many values a problem keeps the profile of coarser cells than a search may end with
    if not (cells.are_atoms and said.get("profile") is None) and not cells.has_profile(said.get("profile")):
        raise FileProblem("problem prior profile", said.get("profile"), "be that of the cells the evidence is about")


def _prior_in_words(said: Mapping[str, Any], cells: Cells, mechanism: Window) -> str:
    count, name, law = cells.means.size, said["name"], said.get("law")
    if cells.are_atoms:
        if said.get("rounded"):
            return f"the {count} atoms in the file (rounded from a prior named {name!r} there, which is not checked)"
        require_said(said, "name", "data")
        return f"the {count} values in the file"
    if law is None:
        return f"the {count} cells in the file (named {name!r} there, which is not checked)"
    density = density_of_law(law)
    require_said(said, "name", density.name)
    if not (isinstance(density.domain, Interval) and mechanism.inputs.contains(density.domain)):
        rule = f"live inside the inputs {mechanism.inputs}"
        raise FileProblem("problem prior law", f"{density.name} on {density.domain}", rule)
    if not disagreement(cells, density) <= _AGREEMENT:
        raise FileProblem("problem prior law", density.name, "be the density whose cells the evidence holds")
    ends = f"[{density.domain.lower + 0.0:g}, {density.domain.upper + 0.0:g}]"  # no negative zero
    return f"{density.name} on {ends} (its {count} cells in the file agree with it to {_AGREEMENT:g})"


def covers(mechanism: Window, cells: Cells) -> bool:
    """Whether the prior lives on the mechanism's inputs."""
    return bool(mechanism.inputs.lower <= cells.lows[0] and cells.highs[-1] <= mechanism.inputs.upper)


# -- the exact average of a window mechanism --------------------------------------------------------------------------


def exact_average(mechanism: Window, cells: Cells, exponent: int) -> Fraction:
    """The average error as a rational; for wide cells the most over all priors with these cells.

    Inputs of a cell with another law than its mean's are served better by their own, so

        ``E over the cell <= sum_y q(y | mean) E |y - x|^p``,

    which is the error at the mean plus, for p = 2, the variance, and for p = 1 what outputs inside the cell can add.

    >>> from mechdesign.domains import Interval
    >>> half = Window(1.0, Interval(0, 1), [0.25, 0.75], [0.25, 0.25], 2.5)
    >>> exact_average(half, Cells.of_atoms([0.0, 1.0], [0.5, 0.5]), 1)
    Fraction(7, 16)
    """
    points = [Fraction(y) for y in mechanism.points.tolist()]
    turns, starts = _turns(mechanism, points)
    sums = _Sums(mechanism, points)
    laws: dict[int, _Law] = {}
    total = Fraction(0)
    for low, high, mean, weight, variance in zip(*(array.tolist() for array in cells.arrays()), strict=True):
        x = Fraction(mean)
        place = bisect_left(turns, x)
        if place not in laws:
            laws[place] = _Law(sums, starts[place])
        law = laws[place]
        error = law.error(x, exponent)
        if exponent == 2:
            error += Fraction(variance)
        elif low < high:
            error += law.excess(Fraction(low), Fraction(high), x)
        total += Fraction(weight) * error
    return total / sum(map(Fraction, cells.weights.tolist()))


class _Sums:
    """Running sums of a base measure and its moments, which give those of every law without going over its outputs."""

    def __init__(self, mechanism: Window, points: list[Fraction]) -> None:
        base = [Fraction(value) for value in mechanism.base.tolist()]
        self.points, self.mass = points, _running(base)
        products = [b * y for b, y in zip(base, points, strict=True)]
        self.first = _running(products)
        self.second = _running(b * y for b, y in zip(products, points, strict=True))
        self.gain = Fraction(mechanism.ratio) - 1
        extra = 1 - self.mass[-1]
        self.length = extra / self.gain if self.gain else Fraction(0)

    def upto(self, place: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """The moments of the base up to a place on it."""
        k = min(max(bisect_right(self.mass, place) - 1, 0), len(self.points) - 1)
        part, y = place - self.mass[k], self.points[k]
        return place, self.first[k] + part * y, self.second[k] + part * y * y


class _Law:
    """The law whose window starts at a place of the base: the base, and ``ratio - 1`` times the base in the window."""

    def __init__(self, sums: _Sums, start: Fraction) -> None:
        self.sums, self.points = sums, sums.points
        self.start, self.stop = start, start + sums.length
        self.before = sums.upto(start)
        self.all = self.moments(len(self.points))

    def moments(self, count: int) -> tuple[Fraction, Fraction, Fraction]:
        """Mass, first and second moment of the first outputs."""
        sums = self.sums
        window = sums.upto(min(max(sums.mass[count], self.start), self.stop))
        whole = sums.mass[count], sums.first[count], sums.second[count]
        mass, first, second = (b + sums.gain * (w - s) for b, w, s in zip(whole, window, self.before, strict=True))
        return mass, first, second

    def error(self, x: Fraction, exponent: int) -> Fraction:
        mass, first, second = self.all
        if exponent == 2:
            return second - 2 * x * first + x * x
        below, below_first, _ = self.moments(bisect_left(self.points, x))
        return x * below - below_first + (first - below_first) - x * (mass - below)

    def excess(self, low: Fraction, high: Fraction, mean: Fraction) -> Fraction:
        """What spreading a cell's mass to its ends adds to the absolute error: only outputs inside it matter."""
        total = Fraction(0)
        for k in range(bisect_right(self.points, low), bisect_left(self.points, high)):
            y = self.points[k]
            spread = ((high - mean) * (y - low) + (mean - low) * (high - y)) / (high - low)
            total += (self.moments(k + 1)[0] - self.moments(k)[0]) * (spread - abs(y - mean))
        return total


def _running(values: Iterable[Fraction]) -> list[Fraction]:
    sums = [Fraction(0)]
    for value in values:
        sums.append(sums[-1] + value)
    return sums


def _turns(mechanism: Window, points: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """The inputs where the law changes, and where the window starts on the cumulative base before, between and after.

    The window leaves output i when it enters output j: at their midpoint.
    """
    mass = _running(map(Fraction, mechanism.base.tolist()))
    extra = 1 - mass[-1]
    length = extra / (Fraction(mechanism.ratio) - 1) if extra else Fraction(0)
    turns: list[Fraction] = []
    starts, start, left, right = [Fraction(0)], Fraction(0), 0, 0
    last = len(points) - 1
    while True:
        while left < last and mass[left + 1] <= start:
            left += 1
        while right < last and mass[right + 1] <= start + length:
            right += 1
        if start + length >= mass[-1]:
            return turns, starts
        turn = (points[left] + points[right]) / 2
        turns.append(max(turn, turns[-1]) if turns else turn)
        start += min(mass[left + 1] - start, mass[right + 1] - start - length)
        starts.append(start)
