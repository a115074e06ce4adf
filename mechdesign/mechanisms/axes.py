"""Signed sets of few coordinates as items, which a table of whole numbers lists: how vectors of a bounded sum ship.

A vector of the cross-polytope is drawn to one signed coordinate without bias, which needs no privacy of its own: it is
the input of the table. The table reports a signed set of coordinates, and the server adds up what sets stand for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.mechanisms.directions import DirectionResponse, SignedSets
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.values.declare import Counts, Floats, derived, frozen
from mechdesign.words.domains import Finite

MOST_CHANCES = 1 << 18
"""More would make files of many megabytes."""

_UNSURE = 1e-9  # of logarithms


def _sets(response: AxisResponse) -> Counts:
    """1, -1 and 0 for each coordinate; so many that a table would not hold them are not made."""
    count, size = response.law.inputs.count, response.size
    log_reports = math.lgamma(count + 1) - math.lgamma(size + 1) - math.lgamma(count - size + 1) + size * math.log(2)
    if log_reports + math.log(2 * count) > math.log(MOST_CHANCES) + _UNSURE:
        said = f"sets of {size} of {count} coordinates"
        rule = f"have at most {MOST_CHANCES} chances, each of a signed set given a signed coordinate"
        raise InvalidInput("law", said, rule, "ask for fewer coordinates, or a larger epsilon")
    found = np.zeros((math.comb(count, size) << size, count), dtype=np.int64)
    signs = np.array(list(product((1, -1), repeat=size)))
    for number, chosen in enumerate(combinations(range(count), size)):
        found[number * len(signs) : (number + 1) * len(signs), chosen] = signs
    found.setflags(write=False)
    return found


@frozen
class AxisResponse:
    """Signed coordinates with the sets that are reported of them; names are as in ``+1`` and ``+1/-3``.

    *Guarantee.* What `mechdesign.make_table` makes of it is private in whole numbers, whatever a device puts in.

    >>> from mechdesign.words.vectors import CrossPolytope
    >>> axes = AxisResponse(DirectionResponse(2.0, CrossPolytope(3), SignedSets(2), 7.389))
    >>> axes.names, axes.report_names[:3], len(axes.report_names)
    (('+1', '-1', '+2', '-2', '+3', '-3'), ('+1/+2', '+1/-2', '-1/+2'), 12)
    >>> axes.mean(["+1/+2", "+1/-2"]).round(3).tolist()
    [1.47, 0.0, 0.0]
    """

    law: DirectionResponse
    sets: Counts = derived(_sets)

    @property
    def size(self) -> int:
        """How many coordinates a report has."""
        if not isinstance(self.law.reports, SignedSets):
            raise InvalidInput("law", str(self.law.reports), "report SignedSets: caps have no items")
        return self.law.reports.size

    @property
    def names(self) -> tuple[str, ...]:
        """The signed coordinates, which are the inputs of the table."""
        return tuple(f"{sign}{place + 1}" for place in range(self.law.inputs.count) for sign in "+-")

    @property
    def report_names(self) -> tuple[str, ...]:
        """The signed sets."""
        places = [np.flatnonzero(row) for row in self.sets]
        return tuple(
            "/".join(f"{row[place]:+d}"[0] + str(place + 1) for place in chosen)
            for row, chosen in zip(self.sets, places, strict=True)
        )

    def channel(self) -> Discrete:
        """The law of the number of the set, given that of the signed coordinate."""
        law, reports = self.law, len(self.sets)
        gain = law.ratio - 1
        low = 1 / (reports * (1 + gain * law.reports.share(law.inputs.count)))
        holds = np.stack([self.sets > 0, self.sets < 0], axis=2).reshape(reports, -1).T
        inputs, outputs = Finite(tuple(range(len(holds)))), Finite(tuple(range(reports)))
        return Discrete(law.epsilon, inputs, outputs, np.where(holds, low * law.ratio, low), law.name)

    def items(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[np.str_]:
        """The name of a signed coordinate for each vector, drawn so that ``radius`` times it is x on average."""
        corners = self.law.inputs.corner(self.law.inputs.require(x), require_generator(rng))
        places = abs(corners).argmax(axis=-1)
        return np.asarray(np.array(self.names)[2 * places + (corners.sum(axis=-1) < 0)])

    def mean(self, reports: Sequence[str]) -> Floats:
        """The mean of people's vectors, from the names of the sets that they reported.

        It has no bias but that of the table's rounding: with 32 bits a few millionths of each coordinate at most.
        """
        numbers = {name: number for number, name in enumerate(self.report_names)}
        try:
            counts = np.bincount([numbers[name] for name in reports], minlength=len(numbers))
        except (KeyError, TypeError):
            raise InvalidData("reports", "a report", "be the name of one of the signed sets") from None
        if not len(reports):
            raise InvalidInput("reports", 0, "be at least one")
        return np.asarray(self.law.scale / math.sqrt(self.size) * (counts @ self.sets) / len(reports))
