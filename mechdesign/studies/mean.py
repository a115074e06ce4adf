"""The mean of a column of data, collected under privacy: estimate, interval, and the error without privacy."""

from __future__ import annotations

import math
import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mechdesign.data.texts import columns as column_names, names
from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.intervals import CONFIDENCE
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.codec import encoded, if_any, left_out
from mechdesign.values.declare import Floats, asked, epsilon, evolved, field, finite, frozen, needed, option, whole
from mechdesign.values.rules import comes_with, left_out_with, require_rules
from mechdesign.values.schema import shaped
from mechdesign.values.tables import Column, Grid, number, printable, table_of
from mechdesign.words.domains import Interval, parse_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mechdesign.studies.frequencies.mean import EstimatedMean
    from mechdesign.studies.frequencies.mean_methods import Collected, MeanMethod
    from mechdesign.words.priors import Density

_TWO_PHASE = ("aaa", "aaa-paper")
_WITH_BINS = (*_TWO_PHASE, "sw-em", "sw-ems")
_TUNING_SEED = 0
_MOST_SEED_BITS = 53  # so that JSON readers with doubles see the same seed
_RULES = (
    left_out_with("columns", "column", "guess", "share", why="each of several columns has users of its own"),
    left_out_with("guess", "share", "bins", why="it picks them"),
    comes_with("guess", "share", "form", mechanism=_TWO_PHASE, step="drop it"),
    comes_with("bins", mechanism=_WITH_BINS, step="drop --bins"),
)


def mechanism_names() -> Iterable[str]:
    """Every way to estimate a mean."""
    from mechdesign.mechanisms.catalogue import ON_INTERVALS

    return (*_WITH_BINS, *(entry.key for entry in ON_INTERVALS), "certified-worst")


def bounds_of(said: Any) -> Interval | tuple[Interval, ...]:
    """What values of a file can be, which has to be given: of several columns one for each.

    >>> bounds_of("18,90; 0,24")
    (Interval(lower=18.0, upper=90.0), Interval(lower=0.0, upper=24.0))
    """
    if isinstance(said, str) and ";" in said:
        return tuple(parse_bounds(part.strip()) for part in said.split(";"))
    if isinstance(said, list | tuple) and said and not isinstance(said[0], int | float):
        return tuple(map(parse_bounds, said))
    return parse_bounds(said)


def parse_bounds(said: Any) -> Interval:
    """What values of a column can be, which has to be given."""
    if said is None:
        step = "say what is known beforehand, such as --bounds 0,120 for ages: the data's own range is not private"
        raise InvalidInput("bounds", None, "be given with data, as LO,HI", step)
    try:
        return parse_interval(said, "bounds")
    except InvalidInput as error:
        raise InvalidInput("bounds", said, error.rule, error.next_step) from None


@frozen
class ColumnMean:
    """Collections of a column by each mechanism, simulated from its users.

    >>> ColumnMean("ages.csv", 1.0, bounds=(18, 90), mechanism="pm", share=0.2)
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: share must come with --mechanism aaa, aaa-paper (got 0.2); drop it
    """

    file: Path = needed("FILE", "A CSV or Parquet file.", read=Path, metavar="FILE")
    epsilon: float = epsilon()
    column: str | None = asked("--column", "The column whose mean is wanted (if there are several).")
    bounds: Interval | tuple[Interval, ...] = field(
        default=None,
        converter=bounds_of,
        metadata=option(
            "--bounds",
            "What values can be, known beforehand, as LO,HI; of several columns as LO,HI;LO,HI.",
            metavar="LO,HI",
        ),
    )
    columns: tuple[str, ...] = asked(
        "--columns",
        "Several columns A,B,C: each user is asked for one of them, with all of epsilon.",
        read=column_names,
        default=(),
    )
    mechanism: tuple[str, ...] = asked(
        "--mechanism",
        "Names, comma-separated: aaa, aaa-paper, sw-em, sw-ems, certified-worst, laplace, pm, hm, sw, ...",
        read=names("mechanism"),
        default=("aaa",),
        words=mechanism_names,
    )
    runs: int = whole(
        "runs", 1, 100_000, default=1, metadata=option("--runs", "Collections to simulate; the first one is shown.")
    )
    seed: int | None = asked("--seed", "Makes the simulation repeatable.")
    confidence: float = finite("confidence", default=CONFIDENCE, metadata=option("--confidence", "Of the interval."))
    share: float | None = asked("--share", "aaa: share of the users asked for the histogram: 0.1.")
    bins: int | None = asked("--bins", "aaa: bins of the histogram (8 or 16); sw-em, sw-ems: 256.")
    form: str | None = asked(
        "--form",
        "aaa: additive (if not given), or free for the certified optimum.",
        words=lambda: ("additive", "free"),
    )
    clip: bool = field(default=False, metadata=option("--clip", "Move values outside the bounds to the nearer end."))
    guess: str | None = asked(
        "--guess", "aaa: what the data may be like, as normal:MEAN,DEVIATION; picks share and bins."
    )

    keeps: ClassVar[tuple[Path, ...]] = ()

    def __attrs_post_init__(self) -> None:
        require_rules(self, _RULES)
        count = 1 if isinstance(self.bounds, Interval) else len(self.bounds)
        if count != max(len(self.columns), 1):
            rule = f"be one LO,HI for each of {len(self.columns)} columns" if self.columns else "be one LO,HI"
            raise InvalidInput("bounds", f"{count} of them", rule, "several are said as 18,90;0,24 with --columns A,B")

    @property
    def inputs(self) -> Interval:
        """The bounds of one column."""
        assert isinstance(self.bounds, Interval)
        return self.bounds

    @property
    def each(self) -> tuple[ColumnMean, ...]:
        """The same of every one of several columns."""
        assert isinstance(self.bounds, tuple)
        pairs = zip(self.columns, self.bounds, strict=True)
        return tuple(evolved(self, columns=(), column=name, bounds=bounds) for name, bounds in pairs)

    @property
    def doing(self) -> str:
        return f"{self.runs} collections"

    @property
    def reads(self) -> Sequence[Path]:
        return (self.file,)

    def methods(self) -> list[MeanMethod]:
        """The mechanisms with what they were told."""
        from mechdesign.studies.frequencies.mean_methods import MeanMethod
        from mechdesign.studies.frequencies.two_phase import SHARE

        told = (
            SHARE if self.share is None else self.share,
            "additive" if self.form is None else self.form,
            self.confidence,
        )
        return [MeanMethod(name, self.epsilon, self.inputs, self.bins, *told) for name in self.mechanism]

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> Means | SeveralMeans:
        """One simulated collection by each mechanism, or several."""
        from mechdesign.words.priors import parse_prior

        if self.columns:
            return _several(self, say)
        law = None if self.guess is None else parse_prior(self.guess, self.inputs)
        values, clipped = self.values()
        return self.of_groups(values, clipped, self.start(), say, law=law)

    def start(self) -> int:
        """The seed: the one that was said, or one of the system's."""
        return secrets.randbits(_MOST_SEED_BITS) if self.seed is None else _require_seed(self.seed)

    def of_groups(
        self,
        values: Floats,
        clipped: int,
        start: int,
        say: Say,
        group: Callable[[int], Floats] | None = None,
        law: Density | None = None,
    ) -> Means:
        """Collections from everybody, or in run i from ``group(i)`` of them, drawn at random."""
        from mechdesign.studies.frequencies.mean import mean_without_privacy

        asked_in = group or (lambda run: values)
        plain = mean_without_privacy(values, self.inputs, self.confidence)
        users, rows = asked_in(0).size, []
        for method in self.methods():
            if law is not None and method.is_two_phase:
                say(f"the best share and bins for {method.name}")
                method = _tuned(method, users, law)
            say(f"{self.runs} collections from {users} users with {method.name}")
            rows.append(_collected(method, asked_in, values, plain, self.runs, start))
        data = str(self.file), self.column, users, clipped, (self.inputs.lower, self.inputs.upper)
        return Means(*data, self.epsilon, self.confidence, self.guess, start, self.runs, _said(plain), tuple(rows))

    def values(self) -> tuple[Floats, int]:
        """The values of the column, inside the bounds, and how many had to be moved there."""
        from mechdesign.words.priors import values_of_file

        values, inputs = values_of_file(self.file, self.column), self.inputs
        outside = (values < inputs.lower) | (values > inputs.upper)
        count = int(outside.sum())
        if count and not self.clip:
            span = f"{float(values.min()):.10g} to {float(values.max()):.10g}"
            rule = f"lie in the bounds [{inputs.lower:g}, {inputs.upper:g}], as {count} of {values.size} do not"
            called = "the column" if self.column is None else f"column {self.column!r}"
            where = f"{called}, data row {int(outside.argmax()) + 1} first,"
            raise InvalidData(where, span, rule, "widen --bounds, or pass --clip to move them to the ends")
        return values.clip(inputs.lower, inputs.upper), count


def _require_seed(seed: int) -> int:
    if seed < 0:
        raise InvalidInput("seed", seed, "be a whole number, at least 0")
    return seed


def _tuned(method: MeanMethod, users: int, guess: Density) -> MeanMethod:
    from mechdesign.studies.frequencies.tuning import tune_two_phase
    from mechdesign.studies.frequencies.two_phase import FORMS

    weight = method.plan(users).weight if method.name == "aaa-paper" else None
    step = FORMS[method.form]
    best = tune_two_phase(method.epsilon, users, guess, method.inputs, _TUNING_SEED, step=step, weight=weight)[0]
    return evolved(method, share=best.plan.share, bins=best.plan.bins)


def _several(study: ColumnMean, say: Say) -> SeveralMeans:
    """Users are dealt out over the columns anew in every collection: all groups have the same size up to one."""
    import numpy as np

    from mechdesign.studies.frequencies.several import deal_coordinates

    columns = [(one, *one.values()) for one in study.each]
    sizes = {values.size for _, values, _ in columns}
    if len(sizes) > 1:
        raise InvalidInput("columns", sorted(sizes), "have as many values each: a row is a user", "leave rows out")
    users, start, count = sizes.pop(), study.start(), len(columns)

    def dealt(run: int) -> Any:
        return deal_coordinates(users, count, np.random.default_rng([start, count, run]))

    found = []
    for place, (one, values, clipped) in enumerate(columns):
        group = lambda run, place=place, values=values: values[dealt(run) == place]  # noqa: E731
        found.append(one.of_groups(values, clipped, start, say, group))
    return SeveralMeans(users, tuple(found))


def _collected(
    method: MeanMethod, group: Callable[[int], Floats], values: Floats, plain: EstimatedMean, runs: int, seed: int
) -> Result:
    import numpy as np

    from mechdesign.studies.frequencies.mean_methods import NAMES

    # by its name, so that a mechanism's numbers do not depend on which others are asked for
    children = np.random.SeedSequence([seed, NAMES.index(method.name)]).spawn(runs)
    found = [method.collect(group(run), np.random.default_rng(child)) for run, child in enumerate(children)]
    first, truth, plan = found[0], float(values.mean()), None
    if method.is_two_phase:
        made = method.plan(group(0).size)
        plan = Plan(made.first, made.second, made.share, made.bins, made.weight, method.form)
    over_runs = _over_runs(found, truth) if runs > 1 else None
    expected = None if first.expected is None else math.hypot(first.expected, _of_drawing(values, group(0).size))
    noise = over_runs.rmse if expected is None and over_runs is not None else expected
    said, error = _said(first.estimate), first.estimate.value - truth
    is_biased = said.standard_error is not None and first.bias > said.standard_error
    worth = None
    if noise is not None and plain.standard_error and not is_biased:
        worth = float(plain.users / (1 + (noise / plain.standard_error) ** 2))
    return Result(said, method.name, error, expected, first.bias, worth, plan, over_runs)


def _of_drawing(values: Floats, count: int) -> float:
    """How far the mean of ``count`` of these values, drawn without putting back, is from that of all."""
    if count == values.size:
        return 0.0
    return math.sqrt(float(values.var(ddof=1)) / count * (1 - count / values.size))


def _over_runs(found: Sequence[Collected], truth: float) -> OverRuns:
    import numpy as np

    errors = np.array([collected.estimate.value - truth for collected in found])
    covers = [collected.estimate.covers(truth) for collected in found]
    coverage = None if None in covers else covers.count(True) / len(covers)
    rmse = math.sqrt(float(np.mean(errors**2)))
    return OverRuns(float(np.abs(errors).mean()), rmse, float(errors.mean()), coverage)


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class Plan:
    """How users were divided between histogram and numbers."""

    first: int
    second: int
    share: float
    bins: int | None
    weight: float | None
    form: str


@frozen
class OverRuns:
    """Errors over all collections, and how often the interval held the truth."""

    mean_absolute_error: float
    rmse: float
    bias: float
    coverage: float | None


@frozen
class Estimate:
    """An estimate, its interval and its standard error, null where nobody knows them, and what it rests on."""

    estimate: float
    lower: float | None
    upper: float | None
    standard_error: float | None
    confidence: float
    count: int

    @property
    def mean(self) -> EstimatedMean:
        """The same, as it was collected."""
        from mechdesign.studies.frequencies.mean import EstimatedMean

        said = self.standard_error, self.lower, self.upper
        return EstimatedMean(self.estimate, *said, self.confidence, self.count)

    @property
    def interval(self) -> str:
        """The interval for the eyes."""
        return "-" if self.lower is None else f"[{self.lower:.5g}, {self.upper:.5g}]"


def _said(found: EstimatedMean) -> Estimate:
    error = found.lower, found.upper, found.standard_error
    return Estimate(found.value, *error, found.confidence, found.users)


@frozen
class Result:
    """What one mechanism gave: its first collection, how far that is off, and what it is worth.

    ``bias`` is the largest that it has for any input. Where it is more than the standard error there is no ``worth``.
    """

    found: Estimate = field(metadata=left_out())
    mechanism: str
    error: float
    expected_error: float | None
    bias: float
    worth: float | None
    plan: Plan | None = field(default=None, metadata=if_any())
    over_runs: OverRuns | None = None


_COLUMNS = (
    Column("mechanism", lambda row: row.mechanism),
    Column("mean absolute error", lambda row: f"{row.over_runs.mean_absolute_error:.3g}"),
    Column("RMSE", lambda row: f"{row.over_runs.rmse:.3g}"),
    Column("average error", lambda row: f"{row.over_runs.bias:.3g}"),
    Column("intervals that cover", lambda row: _cover(row.over_runs.coverage)),
)


def _cover(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _results() -> dict[str, Any]:
    return shaped(lambda schemas: {"type": "array", "items": schemas.merged(Estimate, Result)})


@frozen
class Means(Answer):
    """One simulated collection by each mechanism, and the mean without privacy."""

    file: str
    column: str | None
    users: int
    clipped: int
    bounds: tuple[float, float]
    epsilon: float
    confidence: float
    guess: str | None
    seed: int
    runs: int
    without_privacy: Estimate
    results: tuple[Result, ...] = field(metadata=_results())

    @property
    def name(self) -> str:
        """What is averaged."""
        return Path(self.file).name if self.column is None else self.column

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | {"results": [encoded(row.found) | encoded(row) for row in self.results]}

    @property
    def rows(self) -> Sequence[Any]:
        return list(self.as_dict()["results"])

    def plot(self) -> Figure:
        """An interval a mechanism, beside that without privacy."""
        from mechdesign.plot.means import mean_intervals

        about = f"ε = {self.epsilon:g}, {self.users} users, one collection each"
        title = f"Mean of {self.name} under local privacy, {about}"
        intervals = {row.mechanism: row.found.mean for row in self.results}
        return mean_intervals(intervals, self.without_privacy.mean, self.name, title)

    def shown(self) -> Iterator[Grid | str]:
        plain, users = self.without_privacy, self.users
        span = f"bounds [{self.bounds[0]:g}, {self.bounds[1]:g}], eps = {self.epsilon:g}"
        title = f"Mean of {printable(self.name)}: {users} users, {span}, one simulated collection"
        lines = [
            (
                *(row.mechanism, number(row.found.estimate), row.found.interval, f"{row.error:+.3g}"),
                *("-" if row.expected_error is None else f"{row.expected_error:.3g}", _users(row.worth)),
            )
            for row in self.results
        ]
        lines.append(("without privacy", number(plain.estimate), plain.interval, "0", "0", str(plain.count)))
        level = f"{100 * plain.confidence:g}% interval"
        headings = ("mechanism", "estimate", level, "error", "expected error", "worth")
        yield Grid(title, headings, tuple(lines))
        yield from (f"  {note}" for note in self._notes())
        if self.runs > 1:
            yield ""
            yield table_of(f"Over {self.runs} collections from the same users", _COLUMNS, self.results)

    def _notes(self) -> Iterator[str]:
        yield "error: distance from the mean of these users, which a real collection would not show;"
        exact = "exact for a mechanism that is fixed beforehand (for aaa,"
        yield f"expected error: its root mean square over the noise, {exact}"
        yield "designed from the first group's reports, up to O(1/n)). Without privacy the only error is who was asked:"
        yield f"a standard error of {self.without_privacy.standard_error:.3g}."
        yield "worth: how many users without privacy would tell as much about the population."
        if any(row.expected_error is None for row in self.results):
            biased = "biased by an unknown amount: no interval; sw has one."
            yield f"sw-em, sw-ems: the estimate is the histogram's, {biased}"
        for row in self.results:
            if row.bias > (row.found.standard_error or math.inf):
                yield (
                    f"{row.mechanism}: no worth: it is biased by up to {row.bias:.3g}, whatever the number of users; "
                    "how much of that cancels here is up to these very values."
                )
            if row.plan is not None:
                counts = row.plan.first, row.plan.bins, row.plan.second
                yield "{}: {} users gave a histogram of {} bins, {} a number.".format(row.mechanism, *counts)
        if self.clipped:
            yield f"{self.clipped} values lay outside the bounds and were moved to the nearer end."


def _users(count: float | None) -> str:
    return "-" if count is None else f"{count:.0f}" if count >= 10 else f"{count:.2g}"


@frozen
class SeveralMeans(Answer):
    """The means of several columns: every user was asked for one of them, with all of epsilon."""

    users: int
    columns: tuple[Means, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"users": self.users, "columns": [one.as_dict() for one in self.columns]}

    @property
    def rows(self) -> Sequence[Any]:
        return [{"column": one.column} | row for one in self.columns for row in one.rows]

    def plot(self) -> Figure:
        """A panel a column: an interval a mechanism, beside that without privacy."""
        from mechdesign.plot.means import means_of_columns

        about = f"ε = {self.columns[0].epsilon:g}, {self.users} users, each asked for one column"
        panels = [
            ({row.mechanism: row.found.mean for row in one.results}, one.without_privacy.mean, one.name)
            for one in self.columns
        ]
        return means_of_columns(panels, f"Means under local privacy, {about}")

    def shown(self) -> Iterator[Grid | str]:
        share = f"{self.users} users, each asked for one of {len(self.columns)} columns, drawn at random"
        yield f"{share}, with all of eps. The expected error counts that draw, too."
        for one in self.columns:
            yield ""
            yield from one.shown()


ANSWERS = ((Means,), (SeveralMeans,))
