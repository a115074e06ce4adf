"""Numbers and categories of each person under one epsilon: which questions are drawn, and what a collection says."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mechdesign.data.texts import columns as column_names, float_list
from mechdesign.errors import InvalidInput
from mechdesign.intervals import CONFIDENCE
from mechdesign.studies.mean import Estimate
from mechdesign.studies.vector import ranges_of, require_weights, values_within
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.declare import Floats, asked, epsilon, field, finite, frozen, option
from mechdesign.values.rules import comes_with, require_rules
from mechdesign.values.tables import Column, Grid, number, printable, table_of
from mechdesign.words.domains import Interval

if TYPE_CHECKING:
    from mechdesign.studies.frequencies.record_designs import RecordDesign

_RULES = (comes_with("seed", data=(), step="add --data FILE"),)
_MOST_QUESTIONS = 100


def _categories(said: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Columns and their labels, from text or from a mapping.

    >>> _categories("city=Bern,Rome; stars=1..3")
    (('city', ('Bern', 'Rome')), ('stars', ('1', '2', '3')))
    """
    from mechdesign.studies.frequencies.datasets import parse_domain_labels, require_domain_labels

    if isinstance(said, str):
        pairs = [_named(part) for part in said.split(";")]
    else:
        try:
            pairs = list(dict(said).items())
        except (TypeError, ValueError):
            raise InvalidInput("categories", said, "be names, each with its labels") from None
    found = tuple((name, parse_domain_labels(all) if isinstance(all, str) else tuple(all)) for name, all in pairs)
    for _, labels in found:
        require_domain_labels(labels)
    return found


def _named(part: str) -> tuple[str, str]:
    name, sign, labels = (one.strip() for one in part.partition("="))
    if not (name and sign and labels):
        step = "for example --categories 'city=Bern,Rome;stars=1..5'"
        raise InvalidInput("categories", part, "be NAME=LABEL,LABEL,..., semicolons between them", step)
    return name, labels


@frozen
class RecordStudy:
    """Numbers in columns and categories with known labels, of each person, asked with one epsilon in all.

    >>> found = RecordStudy(1.0, columns="age", bounds="18,90", categories={"city": ("Bern", "Rome", "Ulm")}).answer()
    >>> found.ways[0].name, [question.name for question in found.questions]
    ('1 of 2 questions', ['age', 'city'])
    """

    epsilon: float = epsilon()
    columns: tuple[str, ...] = asked("--columns", "The numbers, as columns A,B,C.", read=column_names, default=())
    bounds: tuple[Interval, ...] = field(
        default=None,
        converter=ranges_of,
        metadata=option(
            "--bounds", "What numbers can be, known beforehand: LO,HI for all, or LO,HI;LO,HI.", metavar="LO,HI"
        ),
    )
    categories: tuple[tuple[str, tuple[str, ...]], ...] = asked(
        "--categories",
        "The categories, as columns with all their labels: NAME=A,B,C;NAME=LO..HI.",
        read=_categories,
        default=(),
        metavar="NAME=A,B",
    )
    weights: tuple[float, ...] | None = asked(
        "--weights",
        "How much the squared error of each counts, numbers first: of a number in units of half its range, of a "
        "category of all its shares together.",
        read=float_list("weights"),
        metavar="W,W",
    )
    data: Path | None = asked(
        "--data", "A CSV or Parquet file, a row a person: one collection is simulated.", read=Path
    )
    seed: int | None = asked("--seed", "Makes the simulation repeatable.")
    confidence: float = finite("confidence", default=CONFIDENCE, metadata=option("--confidence", "Of the intervals."))

    keeps: ClassVar[tuple[Path, ...]] = ()
    doing: ClassVar[str] = "asking for numbers and categories"

    def __attrs_post_init__(self) -> None:
        from mechdesign.errors import require_whole
        from mechdesign.intervals import require_confidence
        from mechdesign.methods.sign_patterns.supports import LEAST_EPSILON, MOST_EPSILON

        require_rules(self, _RULES)
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g}, where designs for numbers are proven"
            raise InvalidInput("epsilon", self.epsilon, rule)
        require_confidence(self.confidence)
        if not self.columns:
            raise InvalidInput(
                "columns", self.columns, "be given", "shares of categories alone are of bench, or advise"
            )
        if not self.categories:
            raise InvalidInput("categories", self.categories, "be given", "numbers alone are of mean, or vector")
        if len(set(self.names)) < len(self.names) or len(self.names) > _MOST_QUESTIONS:
            rule = f"be at most {_MOST_QUESTIONS} columns, each once, numbers and categories together"
            raise InvalidInput("columns", f"{len(self.names)} of them", rule)
        for name, said, allowed in (
            ("bounds", len(self.bounds), (1, len(self.columns))),
            ("weights", len(self.weights or ()), (0, len(self.names))),
        ):
            if said not in allowed:
                raise InvalidInput(name, f"{said} of them", f"be {allowed[1]}, one for each")
        require_weights(self.weights or ())
        if self.seed is not None:
            require_whole(self.seed, "seed", 0)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all columns, numbers first."""
        return (*self.columns, *(name for name, _ in self.categories))

    @property
    def sides(self) -> tuple[Interval, ...]:
        """The range of each number."""
        return self.bounds * len(self.columns) if len(self.bounds) == 1 else self.bounds

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many labels each category has."""
        return tuple(len(labels) for _, labels in self.categories)

    @property
    def reads(self) -> Sequence[Path]:
        return [] if self.data is None else [self.data]

    def _weighed(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Half the range of each number in the units in which errors are added up, and weights of categories."""
        weights = self.weights or (1.0,) * len(self.names)
        count = len(self.columns)
        return tuple(map(math.sqrt, weights[:count])), weights[count:]

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> RecordMeans:
        """The design beside its rivals, and with a file what a collection says."""
        from mechdesign.studies.frequencies.record_designs import least_error, published_ways, record_designs

        halves, weights = self._weighed()
        people = None if self.data is None else self._people(self.data)
        say("designs for each number of questions that may be drawn")
        designs = record_designs(self.epsilon, self.sides, halves, self.sizes, weights)
        published = published_ways(self.epsilon, halves, self.sizes, weights)
        ways = [*((one.name, one.worst) for one in designs), *published.items()]
        chosen = designs[0]
        return RecordMeans(
            *(self.epsilon, chosen.drawn, chosen.epsilon, least_error(designs, weights), chosen.worst),
            *(self.confidence, None if people is None else len(people[0])),
            self._questions(chosen, None if people is None else self._collected(chosen, *people)),
            tuple(sorted((AskedBy(*way) for way in ways), key=lambda way: way.worst)),
        )

    def _people(self, path: Path) -> tuple[Floats, list[list[int]]]:
        """Numbers, a row a person, and of each category the places of the people's labels."""
        from mechdesign.data.labels import label_places

        values = values_within(path, self.columns, self.sides)
        places = [label_places(path, name, labels) for name, labels in self.categories]
        if any(len(one) != len(values) for one in places):
            rule = "have as many values each: a row is a person"
            raise InvalidInput("columns", [len(values), *map(len, places)], rule, "leave rows out")
        return values, places

    def _collected(
        self, chosen: RecordDesign, values: Floats, places: Sequence[Sequence[int]]
    ) -> list[tuple[int, list[Estimate]]]:
        """Of each column how many were asked, and its estimates: one simulated collection."""
        import numpy as np

        from mechdesign.studies.frequencies.intervals import POPULATION, share_intervals
        from mechdesign.studies.frequencies.sign_reports import drawn_places

        rng = np.random.default_rng(self.seed)
        drawn = drawn_places(np.array(chosen.shares), chosen.drawn, rng.random(len(values)))
        heard = [(drawn == question).any(axis=1) for question in range(len(chosen.shares))]
        fewest = min(int(one.sum()) for one in heard)
        if fewest < 2:
            rule = "be so many that each question is put to two of them at least"
            raise InvalidInput("data", f"{len(values)} people", rule, "ask more people, or fewer questions")
        own = chosen.numbers
        sent = own.collection.reports(values[heard[0]], rng.random, lambda one: own.design.own_law.sample(one, rng))
        means = own.collection.means(sent, self.confidence)
        found = [
            (len(sent), [Estimate(m.value, m.lower, m.upper, m.standard_error, m.confidence, m.users)]) for m in means
        ]
        for law, held, asked_here in zip(chosen.categories, places, heard[1:], strict=True):
            counts = np.bincount(np.asarray(held)[asked_here], minlength=law.size)
            users = int(counts.sum())
            support = law.simulate(counts, rng)
            ends = share_intervals(law, support, users, POPULATION, self.confidence)
            columns = (law.estimate(support, users), ends.lower, ends.upper, ends.errors)
            shares = zip(*(one.tolist() for one in columns), strict=True)
            found.append(
                (users, [Estimate(f, low, high, error, self.confidence, users) for f, low, high, error in shares])
            )
        return found

    def _questions(
        self, chosen: RecordDesign, collected: Sequence[tuple[int, list[Estimate]]] | None
    ) -> tuple[OfColumn, ...]:
        group, *shares = chosen.shares
        within = chosen.numbers.collection.shares.tolist()
        about: list[tuple[str, str, tuple[str, ...], float]] = [
            (name, chosen.numbers.name, (), group * part) for name, part in zip(self.columns, within, strict=True)
        ]
        for (name, labels), law, share in zip(self.categories, chosen.categories, shares, strict=True):
            about.append((name, f"subsets of {law.subset} of {law.size}", labels, share))
        said: Sequence[tuple[int | None, list[Estimate]]] = collected or [(None, [])] * len(about)
        return tuple(OfColumn(*one, users, tuple(found)) for one, (users, found) in zip(about, said, strict=True))


@frozen
class OfColumn:
    """A column: how it is reported, how often it is asked for, and its mean, or the share of each label."""

    name: str
    way: str
    labels: tuple[str, ...]
    asked: float
    users: int | None
    estimates: tuple[Estimate, ...]


@frozen
class AskedBy:
    """A way to ask for all columns: the error of one person at the worst answers."""

    name: str
    worst: float


_WAYS = (Column("way", lambda way: way.name), Column("worst", lambda way: number(way.worst)))
_ASKED = (
    Column("column", lambda one: printable(one.name)),
    Column("reported by", lambda one: one.way),
    Column("asked for", lambda one: f"{one.asked:.1%}"),
)


@frozen
class RecordMeans(Answer):
    """The design for a record, the error of all answers, and other ways beside it; with data, estimates.

    No unbiased mechanism has an error below ``lower``.
    """

    epsilon: float
    drawn: int
    epsilon_each: float
    lower: float
    worst: float
    confidence: float
    users: int | None
    questions: tuple[OfColumn, ...]
    ways: tuple[AskedBy, ...]

    @property
    def rows(self) -> Sequence[OfColumn]:
        return self.questions

    def shown(self) -> Iterator[Grid | str]:
        numbers = sum(not one.labels for one in self.questions)
        all_questions = len(self.questions) - numbers + 1
        yield f"numbers: {numbers}, categories: {all_questions - 1}, of each person, eps = {self.epsilon:g} in all:"
        yield f"{self.drawn} of {all_questions} questions drawn, each with eps = {self.epsilon_each:g};"
        yield "the numbers together are one question."
        yield f"  squared error of all answers, one person, weighed: {number(self.worst)} at most"
        yield f"  every unbiased mechanism has at least {number(self.lower)}"
        yield ""
        yield table_of("Each column", _ASKED, self.questions)
        if self.users is not None:
            yield ""
            yield self._estimates()
        yield ""
        yield table_of("Ways to ask, by the squared error of all answers, one person", _WAYS, self.ways)

    def _estimates(self) -> Grid:
        headings = ("column", "people asked", "estimate", f"{100 * self.confidence:g}% interval")
        rows = []
        for one in self.questions:
            for label, found in zip(one.labels or ("",), one.estimates, strict=True):
                name = f"{printable(one.name)} = {printable(label)}" if label else printable(one.name)
                rows.append((name, str(one.users), number(found.estimate), found.interval))
        return Grid(f"Means and shares, {self.users} people, one simulated collection", headings, tuple(rows))


ANSWERS = ((RecordMeans,),)
