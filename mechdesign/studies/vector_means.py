"""The answer about several numbers of each person: the design, each number, and published ways beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mechdesign.studies.mean import Estimate
from mechdesign.values.answers import Answer
from mechdesign.values.codec import left_out
from mechdesign.values.declare import field, frozen
from mechdesign.values.tables import Column, Grid, number, printable, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@frozen
class Way:
    """A way to ask for all numbers: the error of one person at the worst values, and on average under the guess."""

    name: str
    worst: float
    expected: float


@frozen
class OfNumber:
    """One number: how often it is asked for, how near its mean is, and what a collection said."""

    name: str
    bounds: tuple[float, float]
    weight: float
    asked: float
    reach: float | None
    people: int | None
    estimate: Estimate | None = None


_WAYS = (
    Column("way", lambda way: way.name),
    Column("worst", lambda way: number(way.worst)),
    Column("under the guess", lambda way: number(way.expected)),
)


@frozen
class VectorMeans(Answer):
    """The design for several numbers, what is proven of it, each number, and other ways beside it.

    ``lower`` and ``upper`` are ends of the optimum for the worst values; without a guess, the design has ``upper``.
    """

    epsilon: float
    count: int
    way: str
    drawn: int
    reach: int
    lower: float
    upper: float
    worst: float
    expected: float
    guess: tuple[str, ...]
    confidence: float
    users: int | None
    width: float | None
    epsilon_for_width: float | None
    numbers: tuple[OfNumber, ...]
    ways: tuple[Way, ...]
    design: Any = field(metadata=left_out(), eq=False)

    @property
    def rows(self) -> Sequence[OfNumber]:
        return self.numbers

    @property
    def said(self) -> tuple[Any, ...]:
        return (self,)

    def plot(self) -> Figure:
        """Errors over eps with what is proven, and with a collection the intervals of the means."""
        from mechdesign.plot.vectors import vector_errors

        return vector_errors([self.count])

    def shown(self) -> Iterator[Grid | str]:
        yield from self._asked_for()
        yield f"  variance of one report, in units of half a range, all together: {number(self.worst)} at most"
        yield f"  expected, if values are as guessed ({'; '.join(self.guess)}): {number(self.expected)}"
        yield f"  optimum over unbiased mechanisms: [{self.lower:.6g}, {self.upper:.6g}], proven in rational arithmetic"
        yield ""
        yield self._of_numbers()
        if self.epsilon_for_width is not None:
            start = f"  All are within +-{self.width:g} from eps = {self.epsilon_for_width:g} on"
            yield f"{start}, by the design for the worst values."
        yield ""
        yield table_of(f"Ways to ask, by the variance of one report (guess: {'; '.join(self.guess)})", _WAYS, self.ways)
        least, expected = self.ways[0], min(self.ways, key=lambda way: way.expected)
        if least.worst < self.worst:
            yield f"  {least.name} has less variance than {self.way}, whatever values are."
        if expected.expected < self.expected:
            yield f"  {expected.name} has less variance than {self.way}, if values are as guessed."
        if self._has_grid:
            yield "  With less variance at the worst values, after some seconds: --by grid."

    @property
    def _has_grid(self) -> bool:
        """Whether a response on a grid was not asked for and has less variance at the worst values: from eps = 1 on."""
        from mechdesign.methods.cube.supports import USUAL_LEVELS
        from mechdesign.studies.frequencies.vector_designs import GRID

        alike = self.count in USUAL_LEVELS and len({one.weight for one in self.numbers}) == 1
        return alike and self.way != GRID and self.epsilon >= 1

    def _asked_for(self) -> Iterator[str]:
        """Which numbers are drawn, and how they are reported."""
        from mechdesign.studies.frequencies.vector_designs import GRID, SIGNS

        start = f"{self.count} numbers of each person, eps = {self.epsilon:g} in all: "
        if self.way == GRID:
            levels, reports = self.design.evidence.levels(self.count), len(self.design.mechanism.outputs)
            yield f"{start}each is rounded to {levels} levels"
            yield f"without bias, and one of {reports} reports says where on their grid they are."
            return
        if self.way == SIGNS:
            near = "" if not self.reach else f", or one that differs in up to {self.reach} signs,"
            yield f"{start}{self.drawn} are drawn and rounded"
            yield f"to signs, and a pattern of signs is reported, one's own{near} e^eps times as likely as any other."
            return
        drawn = "each" if self.drawn == self.count else f"{self.drawn} drawn, and each"
        yield f"{start}{drawn}"
        yield f"reported with eps = {self.epsilon / self.drawn:g} by the certified optimum for one number in [-1, 1]."

    def _of_numbers(self) -> Grid:
        level = f"{100 * self.confidence:g}% interval"
        headings = ["number", "bounds", "asked for"]
        if any(one.reach is not None for one in self.numbers):
            headings.append("within +-")
        if self.width is not None:
            headings.append(f"people for +-{self.width:g}")
        if self.users is not None:
            headings += ["estimate", level]
        rows = []
        for one in self.numbers:
            cells = [printable(one.name), f"[{one.bounds[0]:g}, {one.bounds[1]:g}]", f"{one.asked:.1%}"]
            cells += [] if one.reach is None else [f"{one.reach:.3g}"]
            cells += [] if one.people is None else [f"{one.people:,}"]
            cells += [] if one.estimate is None else [number(one.estimate.estimate), one.estimate.interval]
            rows.append(tuple(cells))
        who = "" if self.users is None else f", {self.users} people"
        return Grid(f"Each number{who}", tuple(headings), tuple(rows))
