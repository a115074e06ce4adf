"""The field: what is published for a problem, measured and ranked against its optimum. Computed when it is asked for.

>>> import mechdesign as md
>>> design = md.solve(md.Problem(loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]], privacy=md.Pure(1.0)))
>>> [(row.name, round(row.above_optimum, 1)) for row in md.field_of(design).rows]
[('this design', 0.0), ('grr', 5.1), ('best single output', 65.3)]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from mechdesign.errors import CheckFailed, InvalidInput, plain
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism, require_law
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost, Rivalry
from mechdesign.values.codec import if_any
from mechdesign.values.declare import evolved, field, frozen
from mechdesign.values.notebook import grid
from mechdesign.words.criteria import Family, Lexicographic
from mechdesign.words.losses import Loss
from mechdesign.words.priors import Prior
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NARROWEST = 8  # a column of numbers
_UNSURE = 1e-9

THIS = "this design"
_NARROW = (
    Family.PIECEWISE,
    Family.ONE_PIECE,
    Family.UNBIASED_PIECEWISE,
    Family.UNBIASED_ON_GRID,
)
"""Families that rivals need not be of."""


class Rank(Enum):
    """What mechanisms are ranked by: a column of `Row`."""

    WORST = "worst"
    AVERAGE = "average"
    AT = "at"


@frozen
class Row:
    """One mechanism: its expected loss at the worst input, and averaged over the prior or else over the inputs.

    ``at`` is the loss at the one input a problem is about, ``total`` the average under the prior itself where problems
    round it to a grid. ``above_optimum`` is in per cent of what the ranking is about, at least; None where nothing is
    lost or there is nothing to compare. ``keeps_cap`` says whether the worst case is allowed, where it is capped.
    ``published`` tells rivals from the designs that they are measured against, and from mechanisms of one's own.

    Where a loss is enclosed only, what it is ranked by is the upper end and ``lower`` the other; ``above_optimum`` is
    that of the lower end. A loss that nobody computed is None: by that such a mechanism is not ranked.
    """

    name: str
    worst: float | None
    average: float | None
    lower: float | None = field(default=None, metadata=if_any())
    at: float | None = field(default=None, metadata=if_any())
    total: float | None = field(default=None, metadata=if_any())
    above_optimum: float | None = None
    keeps_cap: bool | None = field(default=None, metadata=if_any())
    published: bool = True

    @property
    def excess(self) -> str:
        """How far above the optimum it is, rounded down, or that it breaks the cap; empty where nothing is known."""
        if self.keeps_cap is False:
            return "breaks the cap"
        if self.above_optimum is None:
            return ""
        above = 0.0 if abs(self.above_optimum) < _UNSURE else self.above_optimum
        return f"{math.floor(10 * above) / 10 + 0.0:+.1f}%"

    def by(self, rank: Rank) -> float:
        """The number it is ranked by."""
        return cast(float, getattr(self, rank.value))

    def ends(self, rank: Rank) -> tuple[float, float]:
        """What it is ranked by, between two ends: equal where it is known."""
        upper = self.by(rank)
        return (upper if self.lower is None else self.lower), upper


@frozen
class Field:
    """Mechanisms ranked, best first; those that break a cap come last.

    ``left_out`` names those whose errors doubles cannot resolve, with the reason. ``among`` says, in words, in which
    class of mechanisms the design is the best, where others are ranked beside it: these can be better. It is empty
    where all are of the class.
    """

    rank: Rank
    rows: tuple[Row, ...]
    left_out: Mapping[str, str] = field(factory=dict)
    mechanisms: Mapping[str, Mechanism] = field(factory=dict, eq=False, repr=False)
    among: str = ""

    def row(self, name: str) -> Row | None:
        """The row of that name; mechanisms on points answer to their other names, too."""
        entry = catalogue.on_points(name)
        spellings = (name,) if entry is None else (name, entry.key)
        found = {row.name: row for row in self.rows}
        return next((found[spelling] for spelling in spellings if spelling in found), None)

    def _repr_html_(self) -> str:
        return grid(self._title, *self._cells())

    def plot(self) -> Figure:
        """The ranking as bars: `mechdesign.plot.ranking`. Needs matplotlib."""
        from mechdesign.plot.rankings import ranking

        return ranking(self)

    def summary(self) -> str:
        """A line a mechanism, as wide as a terminal, and what was left out.

        >>> from mechdesign.mechanisms.catalogue import duchi, laplace
        >>> from mechdesign.words.losses import Power
        >>> print(ranked({"laplace": laplace(1.0), "duchi": duchi(1.0)}, Power(1.0), best=0.5).summary())
        Ranked by worst: per cent above the optimum at least
        mechanism     worst   average  above optimum
        laplace           1         1        +100.0%
        duchi       2.16395   2.00991        +332.7%
        """
        headings, rows = self._cells()
        widths = [max(len(row[k]) for row in (headings, *rows)) for k in range(len(headings))]

        def line(cells: Sequence[str]) -> str:
            numbers = (cell.rjust(max(width, _NARROWEST)) for cell, width in zip(cells[1:], widths[1:], strict=True))
            return "  ".join([cells[0].ljust(widths[0]), *numbers])

        left = [f"left out: {plain(name)} ({plain(why)})" for name, why in self.left_out.items()]
        return "\n".join([self._title, line(headings), *map(line, rows), *left])

    @property
    def _title(self) -> str:
        said = f"of {self.among}; others are not bound by it" if self.among else "at least"
        return f"Ranked by {self.rank.value}: per cent above the optimum {said}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = [[plain(row.name), _shown(row.worst), _shown(row.average), row.excess] for row in self.rows]
        return ["mechanism", "worst", "average", f"vs {THIS}" if self.among else "above optimum"], rows

    @property
    def this(self) -> Row:
        """The design's own row."""
        row = self.row(THIS)
        assert row is not None
        return row

    @property
    def rivals(self) -> tuple[Row, ...]:
        """The published ones: neither designed here, nor the reader's own."""
        return tuple(row for row in self.rows if row.published)

    @property
    def best_rival(self) -> Row | None:
        """The first that keeps the cap, if there is one."""
        return next((row for row in self.rivals if row.keeps_cap is not False), None)


def _shown(loss: float | None) -> str:
    return "" if loss is None else f"{loss:.6g}"


Measure = Callable[[str, Mechanism], Row]


def field_of(designs: Design | Mapping[str, Design], own: Mapping[str, Mechanism] | None = None) -> Field:
    """A design among the published mechanisms that solve the same problem; of several designs, each under its name.

    ``own`` are mechanisms of your own by name, which are ranked with them: for the same inputs, and unbiased where the
    problem asks for that. Their privacy is proven first, or of a `FromDensity` tried: another's error means nothing.
    Where the optimum is over mechanisms with the outputs of the problem, theirs are among them, or they are refused.

    The percentage is measured from the upper end of the certified interval: at least so much is lost. For a
    lexicographic optimum it is measured from the least worst case there is. Average errors of rivals are taken under
    the prior that the proof is about. For polar coordinates, joint responses and objectives of one's own nothing is
    published that could be ranked.
    """
    from mechdesign.methods.registry import rivalry_of

    if not isinstance(designs, Design | Mapping):
        raise InvalidInput("designs", designs, "be a Design, or several by name", "for example md.solve(problem)")
    entered = {THIS: designs} if isinstance(designs, Design) else dict(designs)
    if not entered:
        raise InvalidInput("designs", 0, "be at least one")
    own = {name: require_law(mechanism, name) for name, mechanism in (own or {}).items()}
    problem = next(iter(entered.values())).problem
    rank = _rank(problem)
    rivalry = rivalry_of(problem)
    return Field(rank, ()) if rivalry is None else _declared_field(entered, own, rivalry, rank)


def _declared_field(entered: Mapping[str, Design], own: Mapping[str, Mechanism], rivalry: Rivalry, rank: Rank) -> Field:
    """The designs among what the method says of rivals."""
    first = next(iter(entered.values()))
    laws = dict(rivalry.published(first))
    taken = {*entered, *laws, *_other_names(laws)}
    for name, mechanism in own.items():
        if name in taken:
            raise InvalidInput("name", name, "be one that no other mechanism has", "call yours something else")
        laws[name] = rivalry.law_of(first, name, mechanism)
    lost = {name: rivalry.certified(first, design) for name, design in entered.items()}
    designed = [_of_lost(name, one) for name, one in lost.items()]
    found = _measured(laws, lambda name, law: _of_lost(name, rivalry.lost(first, law)), rank)
    scope = first.certificate.scope
    among = scope.words_onto if scope.family in _NARROW else ""
    best = rivalry.least(first, next(iter(lost.values())))
    if best is None:
        best = min(one.by(rank) for one in designed)
    criterion = first.problem.criterion
    cap = criterion.cap if isinstance(criterion, Lexicographic) else None
    ranked = _ranked(evolved(found, rows=(*designed, *found.rows), among=among), best, cap, entered, own)
    return ranked if among else evolved(ranked, rows=tuple(map(above_nothing, ranked.rows)))


def _of_lost(name: str, lost: Lost) -> Row:
    return Row(name, lost.worst, lost.average, lost.lower, lost.at)


def above_nothing(row: Row) -> Row:
    """The row of a mechanism of the class of the optimum: it cannot be below that, whatever a gap leaves open."""
    return row if row.above_optimum is None else evolved(row, above_optimum=max(0.0, row.above_optimum))


def ranked(mechanisms: Mapping[str, Mechanism], loss: Loss, best: float, prior: Prior | None = None) -> Field:
    """Mechanisms of one's own choice by worst case, in per cent above ``best``.

    >>> from mechdesign.mechanisms.catalogue import duchi, laplace
    >>> from mechdesign.words.losses import Power
    >>> field = ranked({"laplace": laplace(1.0), "duchi": duchi(1.0)}, Power(1.0), best=1.0)
    >>> [row.name for row in field.rows]
    ['laplace', 'duchi']
    """
    found = _measured(mechanisms, lambda name, mechanism: _row(name, mechanism, loss, prior), Rank.WORST)
    return _ranked(found, best, None, ())


def _other_names(published: Iterable[str]) -> list[str]:
    """Those that mechanisms on points answer to."""
    return [name for entry in catalogue.ON_POINTS if entry.key in published for name in entry.also]


# -- what is measured -------------------------------------------------------------------------------------------------


def _rank(problem: Problem) -> Rank:
    return Rank(problem.criterion.ranks_by)


def _row(name: str, mechanism: Mechanism, loss: Loss, prior: Prior | None) -> Row:
    scalar = cast(ScalarMechanism, mechanism)
    return Row(name, scalar.worst_case(loss)[0], scalar.average_loss(loss, prior))


def _measured(mechanisms: Mapping[str, Any], measure: Measure, rank: Rank) -> Field:
    rows, left_out = [], {}
    for name, mechanism in mechanisms.items():
        try:
            rows.append(measure(name, mechanism))
        except CheckFailed as failure:  # an error that doubles cannot resolve is no basis for a comparison
            left_out[name] = str(failure)
    return Field(rank, tuple(rows), left_out, {row.name: mechanisms[row.name] for row in rows})


# -- how it is ranked -------------------------------------------------------------------------------------------------


def _ranked(
    found: Field, best: float, cap: float | None, entered: Iterable[str], unpublished: Iterable[str] = ()
) -> Field:
    own, mine = frozenset(entered), frozenset(unpublished)

    def placed(row: Row) -> Row:
        keeps = cap is None or row.name in own or row.by(Rank.WORST) <= cap
        above = 100 * (row.ends(found.rank)[0] / best - 1) if 0 < best < math.inf and keeps else None
        capped = None if cap is None else keeps
        return evolved(row, above_optimum=above, keeps_cap=capped, published=row.name not in own | mine)

    def place(row: Row) -> tuple[object, ...]:
        tie = math.inf if row.average is None else row.average
        return row.keeps_cap is False, row.by(found.rank), row.name not in own, tie

    rows = sorted(map(placed, found.rows), key=place)
    return evolved(found, rows=tuple(rows))
