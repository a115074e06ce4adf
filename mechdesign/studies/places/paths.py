"""Trajectories: places in the order they were visited, many people's at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.studies.places.regions import Region, Shape, require_rows
from mechdesign.values.declare import Floats, array, frozen

Places = NDArray[np.intp]


@frozen
class Paths:
    """``places`` of all paths, one behind the other; path k is ``places[starts[k]:starts[k + 1]]``.

    >>> paths = Paths.of([[[0, 0], [1, 1]], [[0.5, 0.5]]])
    >>> len(paths), paths.lengths.tolist(), [rows.tolist() for rows in paths.steps()]
    (2, [2, 1], [[0, 2], [1]])
    """

    places: Floats = array(require_rows)
    starts: Places = array(lambda said: np.asarray(said, dtype=np.intp))

    def __attrs_post_init__(self) -> None:
        starts = self.starts
        if starts.ndim != 1 or starts[0] != 0 or starts[-1] != len(self.places) or (np.diff(starts) < 1).any():
            raise InvalidInput("starts", Shape(starts.shape), "rise from 0 to the number of locations")

    @classmethod
    def of(cls, paths: Sequence[ArrayLike]) -> Paths:
        """Paths from a list of tables with two columns."""
        tables = [require_rows(path, f"path {number}") for number, path in enumerate(paths, 1)]
        if not tables or not all(map(len, tables)):
            raise InvalidInput("paths", len(tables), "be at least one, each of one location or more")
        return cls(np.concatenate(tables), np.cumsum([0, *map(len, tables)]))

    @classmethod
    def of_one(cls, path: ArrayLike) -> Paths:
        """A single path."""
        return cls.of([path])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Floats]:
        return (self.places[a:b] for a, b in zip(self.starts, self.starts[1:], strict=False))

    @property
    def lengths(self) -> Places:
        return np.diff(self.starts)

    def steps(self) -> Iterator[Places]:
        """Rows of the first places of all paths, of the second places of those that have one, and so on.

        Paths keep their order, longer ones first, so rows of one step are those of the last plus 1, cut short.
        """
        longest_first = np.argsort(-self.lengths, kind="stable")
        lengths = self.lengths[longest_first]
        active = np.searchsorted(-lengths, -np.arange(1, lengths[0] + 1), side="right")
        firsts = self.starts[:-1][longest_first]
        for step, count in enumerate(active.tolist()):
            yield firsts[:count] + step

    def replaced(self, places: Floats) -> Paths:
        """The same paths through other places."""
        return Paths(places, self.starts)


def uniform_paths(region: Region, count: int, length: int, rng: np.random.Generator) -> Paths:
    """Paths of independent uniform places, as in the chapter's synthetic experiments.

    >>> from mechdesign.studies.places.regions import Rectangle
    >>> uniform_paths(Rectangle(0, 1, 0, 1), 3, 5, np.random.default_rng(1)).places.shape
    (15, 2)
    """
    count, length = require_whole(count, "count", 1), require_whole(length, "length", 1)
    places = uniform_places(region, count * length, rng)
    return Paths(places, np.arange(count + 1) * length)


def uniform_places(region: Region, count: int, rng: np.random.Generator) -> Floats:
    """Uniform places, by rejection from the smallest upright rectangle around the region."""
    west, east, south, north = region.bounds
    low, high = np.array([west, south]), np.array([east, north])
    found = np.empty((0, 2))
    while len(found) < count:
        tries = low + rng.random((2 * (count - len(found)) + 16, 2)) * (high - low)
        found = np.concatenate([found, tries[region.contains(tries)]])
    return found[:count]
