"""The means of several numbers of each person under one epsilon: design, rivals, a collection, and its estimates."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.data.texts import columns as column_names, float_list
from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.intervals import CONFIDENCE
from mechdesign.studies.mean import Estimate, bounds_of
from mechdesign.studies.vector_means import OfNumber, VectorMeans, Way
from mechdesign.values import files
from mechdesign.values.answers import Say, silent
from mechdesign.values.declare import Floats, asked, epsilon, field, finite, frozen, option
from mechdesign.values.rules import comes_with, left_out_with, require_rules
from mechdesign.words.domains import Interval

if TYPE_CHECKING:
    from mechdesign.studies.frequencies.vector_designs import Guesses, VectorDesign

_RULES = (
    left_out_with("reports", "data", "send", "seed", why="reports are estimated from as they are"),
    comes_with("design", by=("grid",)),
    comes_with("send", "seed", data=(), step="add --data FILE"),
    left_out_with("send", "seed", why="what people send is drawn with the system's randomness"),
)
_MOST_NUMBERS = 1000
_LEAST_ON_GRID = 0.2  # below it a search may end with reports that do not tell places apart


def _texts(said: Any) -> tuple[str, ...]:
    """Laws, a semicolon between them."""
    return tuple(part.strip() for part in said.split(";")) if isinstance(said, str) else tuple(said)


def ranges_of(said: Any) -> tuple[Interval, ...]:
    """The range of each number, or one for all."""
    found = bounds_of((-1.0, 1.0) if said is None else said)
    return (found,) if isinstance(found, Interval) else found


@frozen
class VectorStudy:
    """Several numbers of each person, in columns or so many of them, asked with one epsilon in all.

    >>> found = VectorStudy(4.0, count=10).answer()
    >>> found.drawn, round(found.worst, 2), round(found.lower, 1)
    (4, 42.15, 29.4)
    """

    epsilon: float = epsilon()
    data: Path | None = asked(
        "--data", "A CSV or Parquet file, a row a person: one collection is simulated.", read=Path
    )
    columns: tuple[str, ...] = asked("--columns", "The numbers, as columns A,B,C.", read=column_names, default=())
    count: int | None = asked("--count", "How many numbers there are, without names.", metavar="D")
    bounds: tuple[Interval, ...] = field(
        default=None,
        converter=ranges_of,
        metadata=option(
            "--bounds", "What values can be, known beforehand: LO,HI for all, or LO,HI;LO,HI.", metavar="LO,HI"
        ),
    )
    weights: tuple[float, ...] | None = asked(
        "--weights",
        "How much the squared error of each number counts, in units of its range: W,W,...",
        read=float_list("weights"),
        metavar="W,W",
    )
    guess: tuple[str, ...] = asked(
        "--guess",
        "What values may be like, and the error is least: normal:MEAN,DEVIATION, ..., for all, or LAW;LAW.",
        read=_texts,
        default=(),
    )
    by: str | None = asked(
        "--by",
        "Sign patterns, the optimum for one number, or of 2 or 3 numbers a place on a grid, which takes longest.",
        words=("signs", "numbers", "grid"),
    )
    design: Path | None = asked(
        "--design", "The file of a design by grid that --out saved: it is proven again, not searched.", read=Path
    )
    users: int | None = asked("--users", "How near the means of so many people are.", metavar="N")
    width: float | None = asked(
        "--width", "How many people it takes for intervals of +-W, and with --users which eps.", metavar="W"
    )
    send: Path | None = asked(
        "--send",
        "Write what each person of --data sends: signs, or numbers, and 0 where nothing is asked; or one report.",
        read=Path,
    )
    reports: Path | None = asked("--reports", "Such a file: the means are estimated from it.", read=Path)
    seed: int | None = asked("--seed", "Makes the simulation repeatable.")
    confidence: float = finite("confidence", default=CONFIDENCE, metadata=option("--confidence", "Of the intervals."))

    def __attrs_post_init__(self) -> None:
        from mechdesign.errors import require_whole
        from mechdesign.intervals import require_confidence

        require_rules(self, _RULES)
        require_confidence(self.confidence)
        if (self.count is None) == (not self.columns):
            raise InvalidInput("columns", self.columns, "be given, or --count", "for example --columns age,income")
        if self.count is not None:
            require_whole(self.count, "count", 2, _MOST_NUMBERS, _beyond(self.count))
            if self.data is not None or self.reports is not None:
                raise InvalidInput("count", self.count, "be left out with a file", "name its columns: --columns A,B")
        elif not 2 <= len(self.columns) <= _MOST_NUMBERS:
            step = "one column is for mean" if len(self.columns) == 1 else _beyond(len(self.columns))
            raise InvalidInput("columns", len(self.columns), f"be 2 to {_MOST_NUMBERS} of them", step)
        for name, said in (("bounds", self.bounds), ("guess", self.guess), ("weights", self.weights or ())):
            if len(said) not in ((0, self.size) if name == "weights" else (0, 1, self.size)):
                raise InvalidInput(name, f"{len(said)} of them", f"be one for each of the {self.size} numbers")
        require_weights(self.weights or ())
        if self.by == "grid":
            self._require_grid()
        if self.users is not None:
            require_whole(self.users, "users", 1)
        if self.seed is not None:
            require_whole(self.seed, "seed", 0)
        if self.width is not None and not self.width > 0:
            raise InvalidInput("width", self.width, "be above 0")

    def _require_grid(self) -> None:
        """A grid is searched for 2 or 3 numbers that weigh the same, and in seconds for one eps."""
        from mechdesign.methods.cube.supports import USUAL_LEVELS

        if self.size not in USUAL_LEVELS or len(set(self.weights or ())) > 1:
            rule = "be signs or numbers, but for 2 or 3 numbers of the same weight"
            raise InvalidInput("by", "grid", rule, "leave it out for the better of the two")
        if self.epsilon < _LEAST_ON_GRID:
            rule = f"come with an eps of at least {_LEAST_ON_GRID:g}"
            raise InvalidInput("by", "grid", rule, "take signs, which are then within 1% of the optimum")
        if self.users is not None and self.width is not None:
            raise InvalidInput("by", "grid", "be left out where the eps for a width is asked", "leave out --users")

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.columns) if self.count is None else self.count

    @property
    def names(self) -> tuple[str, ...]:
        return self.columns or tuple(f"number {place + 1}" for place in range(self.size))

    @property
    def sides(self) -> tuple[Interval, ...]:
        """The range of each number."""
        return self.bounds * self.size if len(self.bounds) == 1 else self.bounds

    @property
    def halves(self) -> tuple[float, ...]:
        """Half the range of each number in the units in which errors are added up: the root of its weight."""
        return (1.0,) * self.size if self.weights is None else tuple(math.sqrt(weight) for weight in self.weights)

    @property
    def doing(self) -> str:
        return "asking for several numbers"

    @property
    def reads(self) -> Sequence[Path]:
        return [path for path in (self.data, self.reports, self.design) if path is not None]

    @property
    def keeps(self) -> Sequence[Path]:
        return [] if self.send is None else [self.send]

    def designs(self, epsilon: float | None = None) -> list[VectorDesign]:
        """The best design for the worst values, or under a guess that was given, and the one it is better than."""
        from mechdesign.methods.saved import load_design
        from mechdesign.studies.frequencies.vector_designs import vector_designs

        asked = self.epsilon if epsilon is None else epsilon
        by_guess = epsilon is None and bool(self.guess)
        saved = None if self.design is None else load_design(self.design)
        return vector_designs(
            asked, self.sides, self.halves, self._guesses(), by_guess=by_guess, by=self.by, saved=saved
        )

    def least_epsilon(self) -> float | None:
        """The least eps, rounded up to 0.001, at which all intervals of so many people are within the width.

        That is of the design for the worst values. None where no eps that is designed for suffices.
        """
        from mechdesign.methods.sign_patterns.supports import LEAST_EPSILON, MOST_EPSILON

        assert self.users is not None
        assert self.width is not None
        low, high = LEAST_EPSILON, MOST_EPSILON
        if self._widest(high) > self.width:
            return None
        while high - low > 1e-4:
            middle = (low + high) / 2
            low, high = (low, middle) if self._widest(middle) <= self.width else (middle, high)
        return math.ceil(high * 1e3) / 1e3

    def _widest(self, epsilon: float) -> float:
        """The reach of the interval that reaches farthest."""
        return float(self.designs(epsilon)[0].collection.reach(self.users or 1, self.confidence).max())

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> VectorMeans:
        """The design beside its rivals, and with a file what a collection says."""
        if self.send is not None:
            files.require_writable(self.send)
        designs, guesses = self.designs(), self._guesses()
        chosen = designs[0]
        lower = max(one.design.certificate.lower for one in designs if one.is_of_all_numbers)
        ways = [*(Way(one.name, one.worst, one.expected) for one in designs), *self._rivals(guesses)]
        users, estimates = self._collected(chosen, say)
        return VectorMeans(
            *(self.epsilon, self.size, chosen.name, chosen.drawn, chosen.reach),
            *(lower, min(one.worst for one in designs), chosen.worst, chosen.expected),
            *(self.guess or ("uniform",), self.confidence, users, self.width),
            None if self.users is None or self.width is None else self.least_epsilon(),
            self._numbers(chosen, users or self.users, estimates),
            tuple(sorted(ways, key=lambda way: way.worst)),
            chosen.design,
        )

    def _numbers(
        self, chosen: VectorDesign, users: int | None, estimates: Sequence[Estimate | None]
    ) -> tuple[OfNumber, ...]:
        collection = chosen.collection
        reaches = [None] * self.size if users is None else collection.reach(users, self.confidence).tolist()
        alone = collection.reach(1, self.confidence).tolist()
        needed = [None if self.width is None else math.ceil((one / self.width) ** 2) for one in alone]
        shares = collection.shares.tolist()
        sides = [(side.lower, side.upper) for side in self.sides]
        rows = zip(
            self.names, sides, self.weights or [1.0] * self.size, shares, reaches, needed, estimates, strict=True
        )
        return tuple(OfNumber(*row) for row in rows)

    def _guesses(self) -> Guesses:
        """What values may be like: uniform, where nothing is said."""
        from mechdesign.studies.frequencies.vector_designs import Guesses

        laws = self.guess or ("uniform",)
        return Guesses(laws * self.size if len(laws) == 1 else laws, self.sides)

    def _rivals(self, guesses: Guesses) -> Iterator[Way]:
        import numpy as np

        from mechdesign.methods.sign_patterns.rivals import vector_rivals

        squares = guesses.means(np.square)
        for rival in vector_rivals(self.epsilon, self.size):
            yield Way(rival.name, rival.worst(self.halves), rival.average(self.halves, squares))

    def _collected(self, chosen: VectorDesign, say: Say) -> tuple[int | None, Sequence[Estimate | None]]:
        """How many people reported, and the estimates; none without a file."""
        if self.reports is not None:
            rows = self._received(self.reports, chosen)
        elif self.data is not None:
            values = values_within(self.data, self.columns, self.sides)
            say(f"{len(values)} people report")
            rows = self._sent(chosen, values)
        else:
            return None, [None] * self.size
        found = chosen.collection.means(rows, self.confidence)
        return len(rows), [
            Estimate(one.value, one.lower, one.upper, one.standard_error, one.confidence, one.users) for one in found
        ]

    def _sent(self, chosen: VectorDesign, values: Floats) -> Floats:
        import numpy as np

        collection = chosen.collection
        if self.send is None:
            rng = np.random.default_rng(self.seed)
            return collection.reports(values, rng.random, lambda items: chosen.design.own_law.sample(items, rng))
        from mechdesign.tables.draws import draw
        from mechdesign.tables.making import make_table
        from mechdesign.tables.sampler import sample_codes

        table = make_table(chosen.design)
        uniforms = lambda users: draw(53, users) * 2.0**-53  # noqa: E731
        rows = collection.reports(values, uniforms, lambda items: sample_codes(table, items))
        lines = [
            ",".join(chosen.headings(self.columns)),
            *(",".join(f"{one:.17g}" for one in row) for row in rows.tolist()),
        ]
        files.write_atomically(self.send, ("\n".join(lines) + "\n").encode())
        return rows

    def _received(self, path: Path, chosen: VectorDesign) -> Floats:
        """The rows of a file of reports, each one that a person can have sent."""

        rows = values_of_people(path, chosen.headings(self.columns))
        chosen.require_reports(rows, str(path))
        return rows


def require_weights(weights: Sequence[float]) -> None:
    """What each squared error counts: all above 0, within what sums of doubles keep."""
    for place, weight in enumerate(weights):
        if not 1e-12 <= weight <= 1e12:
            step = "leave out a column that does not count"
            raise InvalidInput(f"weights[{place}]", weight, "be above 0, between 1e-12 and 1e12", step)


def values_of_people(path: Path, columns: Sequence[str]) -> Floats:
    """A row a person, and a column for each of these."""
    import numpy as np

    from mechdesign.words.priors import values_of_file

    found = [values_of_file(path, name) for name in columns]
    sizes = sorted({one.size for one in found})
    if len(sizes) > 1:
        raise InvalidInput("columns", sizes, "have as many values each: a row is a person", "leave rows out")
    return np.column_stack(found)


def values_within(path: Path, columns: Sequence[str], sides: Sequence[Interval]) -> Floats:
    """The same, every value in the range of its column, or `InvalidData`."""
    found = values_of_people(path, columns)
    for name, values, side in zip(columns, found.T, sides, strict=True):
        outside = ~side.holds(values)
        if outside.any():
            where = f"column {name!r}, data row {int(outside.argmax()) + 1} first,"
            rule = f"lie in the bounds [{side.lower:g}, {side.upper:g}], as {int(outside.sum())} values do not"
            raise InvalidData(where, "a value", rule, "widen --bounds")
    return found


def _beyond(count: int) -> str:
    return f"of {count} numbers little is proven: draw {_MOST_NUMBERS} of them" if count > _MOST_NUMBERS else ""


ANSWERS = ((VectorMeans,),)
