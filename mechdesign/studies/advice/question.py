"""What advice is asked about: what is wanted, of how many users, at which epsilon, over which bounds or labels.

Data, if there are any, are read through `mechdesign.data` and never shown. Bounds that were not given are proposed from
them, rounded outwards; they are no longer private then, and the advice says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechdesign.errors import InvalidData, InvalidInput, require_epsilon, require_finite, require_one_of
from mechdesign.studies.advice.commands import number
from mechdesign.studies.frequencies.datasets import Dataset, parse_domain_labels, read_dataset
from mechdesign.studies.frequencies.protocols.arguments import require_item_count, require_users
from mechdesign.values.declare import Floats, field, frozen, one_of, optional
from mechdesign.words.domains import Finite, Interval, require_numbers
from mechdesign.words.losses import Power, parse_loss
from mechdesign.words.priors import values_of_file

WANTS = {
    "mean": "the mean of many numbers",
    "means": "the means of several numbers of each person",
    "value": "each number as such, one report at a time",
    "distribution": "how numbers are spread: a histogram",
    "categories": "how often each of several answers is given",
    "yes-no": "the share of yes",
    "ranges": "shares of ranges of numbers: a distribution function",
    "tables": "tables of several attributes",
    "place": "one place a person",
    "angle": "a direction",
    "trajectory": "a path of places",
    "matrix": "the best mechanism for a loss matrix of your own",
    "figure": "a figure of mechanisms against the optimum",
    "alarm": "the smallest epsilon that keeps a capacity alarm right",
}
"""What can be wanted, in words."""

OF_ALL = ("data", "column")
_REPORT = ("epsilon", "users")
OF_WANT = {
    "mean": (*_REPORT, "bounds"),
    "means": (*_REPORT, "bounds", "size"),
    "value": (*_REPORT, "bounds", "loss"),
    "distribution": (*_REPORT, "bounds", "size"),
    "categories": (*_REPORT, "size", "labels"),
    "yes-no": (*_REPORT, "labels"),
    "ranges": (*_REPORT, "bounds", "size"),
    "tables": (*_REPORT, "attributes"),
    "place": (*_REPORT, "bounds", "per"),
    "angle": (*_REPORT, "bounds", "loss"),
    "trajectory": (*_REPORT, "bounds"),
    "matrix": ("epsilon", "loss_matrix"),
    "figure": ("epsilon", "bounds", "loss"),
    "alarm": ("capacity", "metric", "tau"),
}
"""What a question may say beside its data."""

Bounds = Sequence[float] | str | Interval | Finite
"""``(LO, HI)``, or ``(W, E, S, N)`` of places; a ``range`` or `Finite` of whole numbers; or such as text."""

MOST_WHOLE = 1000
NOT_PRIVATE = (
    "The bounds were proposed from the data, rounded outwards. Bounds taken from the data are not private: "
    "give what is known beforehand with --bounds."
)


Data = Path | Floats | tuple[str, ...]
"""A file, numbers, or answers that are text."""


def _data(said: Any) -> Data | None:
    if said is None or isinstance(said, Path):
        return said
    if isinstance(said, str):
        return Path(said)
    if isinstance(said, list | tuple) and said and all(isinstance(one, str) for one in said):
        return tuple(said)
    numbers = np.array(require_numbers(said, "data").ravel())
    if not numbers.size or not np.isfinite(numbers).all():
        raise InvalidData("data", said, "be finite numbers or answers that are text, at least one")
    numbers.setflags(write=False)
    return numbers


def _unit(said: Any) -> float:
    unit = require_finite(said, "per")
    if not unit > 0:
        raise InvalidInput("per", said, "be above 0", "for example --per 100, if eps is for a hundred units")
    return unit


@frozen
class Question:
    """A question, each part checked once; what a want needs and was not given is asked for where it is used."""

    want: str = one_of("want", WANTS)
    eps: float | None = field(default=None, converter=optional(require_epsilon))
    data: Data | None = field(default=None, converter=_data, eq=False, repr=False)
    column: str | None = None
    bounds: tuple[float, ...] | None = None
    whole: bool = False
    users_asked: int | None = field(default=None, converter=optional(require_users))
    size: int | None = field(default=None, converter=optional(require_item_count))
    labels: tuple[str, ...] | None = None
    loss: Power = field(default=Power(1.0))
    matrix: Path | None = field(default=None, converter=optional(Path))
    capacity: float | None = None
    metric: str = "fp"
    tau: float = 0.05
    per: float | None = field(default=None, converter=optional(_unit))
    attributes: str | None = None

    @property
    def epsilon(self) -> float:
        if self.eps is None:
            raise InvalidInput("eps", None, "be given", "for example --eps 1")
        return self.eps

    @property
    def source(self) -> Path | None:
        """The file that commands can go on with."""
        return self.data if isinstance(self.data, Path) else None

    @property
    def has_data(self) -> bool:
        return self.data is not None

    def users(self, held: int | None = None) -> int:
        """The users the errors are for: those asked for, else those of the data."""
        if self.users_asked is not None:
            return self.users_asked
        if held is None:
            raise InvalidInput("users", None, "be given without data", "for example --users 50000")
        return require_users(held)


@frozen
class Numbers:
    """Numbers between bounds; ``values`` lie inside, and ``moved`` of them did not before."""

    inputs: Interval | Finite
    values: Floats | None = field(eq=False, repr=False)
    moved: int = 0
    proposed: bool = False

    @property
    def interval(self) -> Interval:
        return self.inputs if isinstance(self.inputs, Interval) else Interval(self.inputs.lower, self.inputs.upper)

    @property
    def domain(self) -> str:
        """The bounds as commands take them."""
        dots = ".." if isinstance(self.inputs, Finite) else ","
        return f"{number(self.inputs.lower)}{dots}{number(self.inputs.upper)}"

    @property
    def warning(self) -> str | None:
        return NOT_PRIVATE if self.proposed else None


def numbers_of(question: Question, *, whole_too: bool = False, moves: bool = False) -> Numbers:
    """The bounds and, if there are any, the data between them.

    With ``whole_too`` whole numbers may be a domain of their own. Values outside the bounds are refused, or with
    ``moves`` taken to the nearer end.
    """
    values = values_of(question)
    ends = question.bounds
    proposed = ends is None
    if ends is None:
        if values is None:
            step = "say what numbers can be, such as --bounds 0,120, or pass --data"
            raise InvalidInput("bounds", None, "be given", step)
        ends = proposed_bounds(values)
    if len(ends) != 2:
        raise InvalidInput("bounds", ends, "be two numbers LO,HI", "for example --bounds 0,120")
    interval = Interval(*ends)
    whole = question.whole or (proposed and values is not None and _are_whole(values, interval))
    inputs: Interval | Finite = _whole_numbers(interval) if whole and whole_too else interval
    if values is None:
        return Numbers(inputs, None, proposed=proposed)
    inside = np.clip(values, interval.lower, interval.upper)
    moved = int((inside != values).sum())
    if moved and not moves:
        step = "give bounds that hold all of them"
        raise InvalidData("data", "values", f"lie between the bounds; {moved} of {values.size} values do not", step)
    if isinstance(inputs, Finite) and not _are_whole(values, interval):
        raise InvalidData("data", "values", "be whole numbers between bounds LO..HI", "give the bounds as LO,HI")
    return Numbers(inputs, inside, moved, proposed)


def proposed_bounds(values: Floats) -> tuple[float, float]:
    """Round numbers around all of them, half a power of ten apart or its multiples.

    >>> proposed_bounds(np.array([18.0, 44.0, 87.0]))
    (15.0, 90.0)
    """
    low, high = float(values.min()), float(values.max())
    if not low < high:
        raise InvalidInput("bounds", None, "be given: all values are the same", "for example --bounds 0,120")
    step = 10.0 ** math.floor(math.log10(high - low)) / 2
    ends = math.floor(low / step) * step, math.ceil(high / step) * step
    return float(f"{ends[0]:.12g}"), float(f"{ends[1]:.12g}")


def dataset_of(question: Question) -> Dataset | None:
    """How many users hold each answer, if there are data."""
    if question.source is not None:
        return read_dataset(question.source, column=question.column, domain=question.labels)
    if question.data is None:
        return None
    if isinstance(question.data, tuple):
        return Dataset.of_labels(question.data, question.labels)
    numbers = np.asarray(question.data)
    if (numbers != np.round(numbers)).any():
        raise InvalidData("data", numbers, "be whole numbers or text, as answers are", "take another want")
    return Dataset.of_labels([int(number) for number in numbers], question.labels)


def parse_bounds(text: str | None) -> tuple[tuple[float, ...] | None, bool]:
    """``LO,HI``, ``LO..HI`` for whole numbers, ``W,E,S,N`` for places; and whether they are whole numbers.

    >>> parse_bounds("18..90"), parse_bounds("0,1")
    (((18.0, 90.0), True), ((0.0, 1.0), False))
    """
    if text is None:
        return None, False
    whole = ".." in text
    parts = text.split("..") if whole else text.split(",")
    try:
        ends = tuple(map(float, parts))
    except ValueError:
        ends = ()
    if len(ends) not in ((2,) if whole else (2, 4)):
        raise InvalidInput("bounds", text, "be LO,HI or LO..HI, or W,E,S,N for places", "for example --bounds 0,120")
    return ends, whole


def question_of(want: str, **asked: Any) -> Question:
    """A question from what Python and the command line say; what has no effect on it is refused.

    The names are those of `mechdesign.advise`. None stands for what was not given.
    """
    require_one_of(want, "want", WANTS)
    given = {name: value for name, value in asked.items() if value is not None}
    idle = [name for name in given if name not in (*OF_ALL, *OF_WANT[want])]
    if idle:
        known = ", ".join((*OF_ALL, *OF_WANT[want]))
        raise InvalidInput("options", ", ".join(idle), f"be about {want}", f"it takes {known}")
    if "column" in given and not isinstance(given.get("data"), str | Path):
        raise InvalidInput("column", given["column"], "come with a data file", "add the file")
    ends, whole = _ends(given.get("bounds"))
    loss, labels = given.get("loss", "absolute"), given.get("labels")
    if isinstance(labels, str):
        labels = parse_domain_labels(labels)
    return Question(
        want,
        given.get("epsilon"),
        given.get("data"),
        given.get("column"),
        ends,
        whole,
        given.get("users"),
        given.get("size"),
        None if labels is None else tuple(map(str, labels)),
        loss if isinstance(loss, Power) else parse_loss(loss),
        given.get("loss_matrix"),
        given.get("capacity"),
        given.get("metric", "fp"),
        given.get("tau", 0.05),
        given.get("per"),
        given.get("attributes"),
    )


def _ends(bounds: Bounds | None) -> tuple[tuple[float, ...] | None, bool]:
    if bounds is None or isinstance(bounds, str):
        return parse_bounds(bounds)
    if isinstance(bounds, Interval | Finite):
        return (bounds.lower, bounds.upper), isinstance(bounds, Finite)
    ends = tuple(float(end) for end in require_numbers(bounds, "bounds").ravel())
    return ((ends[0], ends[-1]), True) if isinstance(bounds, range) else (ends, False)


def values_of(question: Question) -> Floats | None:
    """The numbers in the data, if there are any."""
    if question.source is not None:
        return values_of_file(question.source, question.column)
    if isinstance(question.data, tuple):
        raise InvalidData("data", question.data, "be numbers", "for answers that are text take --want categories")
    return None if question.data is None else np.asarray(question.data, dtype=np.float64)


def _are_whole(values: Floats, interval: Interval) -> bool:
    return interval.length < MOST_WHOLE and bool((values == np.round(values)).all())


def _whole_numbers(interval: Interval) -> Finite:
    low, high = round(interval.lower), round(interval.upper)
    if (low, high) != (interval.lower, interval.upper):
        raise InvalidInput("bounds", str(interval), "be whole numbers LO..HI", "for example --bounds 18..90")
    if high - low >= MOST_WHOLE:
        raise InvalidInput("bounds", str(interval), f"hold at most {MOST_WHOLE} whole numbers", "or give LO,HI")
    return Finite(tuple(range(low, high + 1)))
