"""Budgets: the smallest epsilon that meets a utility constraint, by searches with a stated error rate or published."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.data.texts import floats, names
from mechdesign.engine import Engine, Local
from mechdesign.errors import InvalidInput, NoAnswer, require_one_of
from mechdesign.studies.budgets import runner
from mechdesign.studies.budgets.certified import MOST_RUNS, Bracket
from mechdesign.studies.budgets.constraint import AT_LEAST, AT_MOST, Constraint
from mechdesign.studies.budgets.populations import POPULATIONS, scaled
from mechdesign.studies.budgets.runner import CERTIFIED, METHODS, Settings, Task
from mechdesign.studies.budgets.searches import LEAST, MOST, PRECISION, Range
from mechdesign.studies.frequencies import metrics, postprocess
from mechdesign.studies.users import read_users
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.codec import left_out
from mechdesign.values.declare import Counts, asked, field, finite, frozen, needed, option
from mechdesign.values.rules import comes_with, exactly_one, require_rules
from mechdesign.values.tables import Column, Grid, number, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL = "all"
HALVING = (CERTIFIED, "bs", "rbs", "dbs")
"""Methods that stop when an interval is shorter than phi."""
POST_PROCESSINGS = ("raw", *postprocess.METHODS, "ibu")
_CURVE_POINTS, _CURVE_RUNS = 33, 100
_RULES = (
    exactly_one("at_least", "at_most", step="for example --metric kendall --at-least 0.7"),
    comes_with("phi", method=HALVING, why="stops by it", step="mpass and bayes stop by --passes and --rounds"),
    comes_with("column", "domain", data=()),
    exactly_one("data", "population", step="for example --population msnbc-like"),
)


def protocol_names() -> Iterable[str]:
    """Every protocol, and mechanisms over bins."""
    from mechdesign.mechanisms.catalogue import ON_INTERVALS
    from mechdesign.studies.frequencies.protocols.catalogue import PROTOCOLS

    return (*(line.key for line in PROTOCOLS), *(line.key for line in ON_INTERVALS))


def _methods(said: Any) -> tuple[str, ...]:
    found = names("method")(said)
    return METHODS if ALL in found else tuple(require_one_of(name, "method", (*METHODS, ALL)) for name in found)


@frozen
class BudgetStudy:
    """Protocols by the epsilon that each of some searches selects.

    >>> asked = BudgetStudy("grr", metric="l1", at_most=0.01, population="msnbc-like", phi=0.5)
    >>> asked.answer().budgets[0].method
    'certified'
    """

    protocol: tuple[str, ...] = needed(
        "--protocol",
        "Names: grr, oue, ..., or pm, sw, ... over bins.",
        "-p",
        read=names("protocol"),
        words=protocol_names,
    )
    metric: str = asked(
        "--metric",
        f"One of {', '.join(metrics.METRICS)} (of 10; top:5 of five).",
        "-u",
        default="kendall",
        words=lambda: metrics.METRICS,
    )
    at_least: tuple[float, ...] | None = asked(
        "--at-least", "Thresholds of a metric to be large.", read=floats("threshold")
    )
    at_most: tuple[float, ...] | None = asked(
        "--at-most", "Thresholds of a metric to be small.", read=floats("threshold")
    )
    probability: float = finite(
        "probability", default=0.9, metadata=option("--probability", "How often it has to hold.")
    )
    data: Path | None = asked(
        "--data", "One label a row (CSV, text, Parquet), or JSON.", "-d", read=Path, metavar="FILE"
    )
    population: str | None = asked(
        "--population", f"Instead of data: {', '.join(POPULATIONS)}.", words=tuple(POPULATIONS)
    )
    users: int | None = asked("--users", "Scale the population to so many users.")
    column: str | None = asked("--column", "The column with the labels, by its header.")
    domain: str | None = asked("--domain", "All items, A,B,C or LO..HI (else those observed).")
    method: tuple[str, ...] = asked(
        "--method",
        f"{', '.join(METHODS)}, or all.",
        "-m",
        read=_methods,
        default=(CERTIFIED,),
        words=lambda: (*METHODS, ALL),
    )
    postprocess: str = asked(
        "--postprocess", f"One of {', '.join(POST_PROCESSINGS)}.", default="raw", words=lambda: POST_PROCESSINGS
    )
    min_eps: float = finite("min eps", default=LEAST, metadata=option("--min-eps", "The range starts here."))
    max_eps: float = finite("max eps", default=MOST, metadata=option("--max-eps", "The range ends here."))
    phi: float | None = asked("--phi", f"The precision in eps [{', '.join(HALVING)}: {PRECISION:g}].")
    seed: int = field(default=0, metadata=option("--seed", "The same seed gives the same numbers."))
    results: Path | None = asked("--results", "Keep simulations here; a stopped run resumes from it.", read=Path)
    settings: Settings = Settings()
    engine: Engine = Local(1)

    def __attrs_post_init__(self) -> None:
        require_rules(self, _RULES)
        self.settings.require_used(self.method)

    @property
    def doing(self) -> str:
        return "searching"

    @property
    def reads(self) -> Sequence[Path]:
        return () if self.data is None else (self.data,)

    @property
    def keeps(self) -> Sequence[Path]:
        return () if self.results is None else (self.results,)

    @property
    def constraints(self) -> list[Constraint]:
        thresholds, direction = (self.at_least, AT_LEAST) if self.at_least else (self.at_most, AT_MOST)
        return [Constraint(self.metric, value, self.probability, direction) for value in thresholds or ()]

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> Budgets:
        """What every search found."""
        from mechdesign.studies.budgets.simulation import ProtocolFamily, Question

        constraints = self.constraints
        counts = self._population(warn)
        span = Range(self.min_eps, self.max_eps, PRECISION if self.phi is None else self.phi)
        families = dict.fromkeys(ProtocolFamily(name).name for name in self.protocol)
        asked = [Question(name, counts, wish, self.postprocess, self.seed) for name in families for wish in constraints]
        tasks = [Task(question, chosen, span, self.settings.of(chosen)) for question in asked for chosen in self.method]
        found = runner.run(tasks, self.engine, results=self.results, say=say)
        failures = [error for error in (one.error() for one in found) if error is not None]
        if len(failures) == len(found):
            raise failures[0] if len(failures) == 1 else _together(failures)
        wish = constraints[0]
        said = wish.name, wish.direction, wish.probability, self.postprocess
        about = About(*said, int(counts.sum()), int(counts.size), (span.least, span.most), span.phi, self.seed)
        return Budgets(about, tuple(map(_row, found)), tuple(found))

    def _population(self, warn: Say) -> Counts:
        if self.data is None:
            counts = POPULATIONS[str(self.population)]()
        else:
            counts = read_users(self.data, self.column, self.domain, warn).counts
        return counts if self.users is None else scaled(counts, self.users)


def _together(failures: Sequence[InvalidInput | NoAnswer]) -> InvalidInput | NoAnswer:
    """One error for several searches without an answer: bad input if all of them are, else an open question.

    What is wrong with an option is said once; only a constraint can be met by one search and not by another.
    """
    wrong = next((f for f in failures if isinstance(f, InvalidInput) and f.field != "constraint"), None)
    if wrong is not None:
        return wrong
    told = "; ".join(str(failure) for failure in failures)
    undecided = [failure for failure in failures if isinstance(failure, NoAnswer)]
    if undecided:
        return NoAnswer(told, min(f.lower for f in undecided), max(f.upper for f in undecided))
    return InvalidInput("constraint", f"{len(failures)} searches", "be met by some eps in the range", told)


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class About:
    """The constraint, the population, and the range that was searched."""

    metric: str
    direction: str | None
    probability: float
    postprocess: str
    users: int
    items: int
    eps_range: tuple[float, float]
    phi: float
    seed: int


@frozen
class Budget:
    """What one search found: the epsilon it selects, and between which ones the least lies."""

    protocol: str
    threshold: float
    method: str
    eps: float | None
    epsilon: tuple[float | None, float] | None
    probability: float
    bracket: tuple[float | None, float] | None
    wider_than_phi: bool | None
    error_rate: float | None
    simulations: int | None
    reason: str | None

    @property
    def drawn(self) -> tuple[float, float] | None:
        """The bracket, from 0 where it begins below the range."""
        return None if self.bracket is None else (self.bracket[0] or 0.0, self.bracket[1])


def _ends(answer: runner.Answer) -> tuple[float | None, float] | None:
    """``(lo, hi)``: the bracket; of the other searches, the last epsilon that failed below the selected one."""
    result = answer.result
    if result is None:
        return None
    if isinstance(result, Bracket):
        return result.lower, result.upper
    failed = [look.epsilon for look in result.looks if not look.satisfied and look.epsilon < result.epsilon]
    return max(failed, default=None), result.epsilon


def _row(answer: runner.Answer) -> Budget:
    question, result = answer.task.question, answer.result
    bracket = result if isinstance(result, Bracket) else None
    return Budget(
        question.name,
        question.constraint.threshold,
        answer.task.method,
        answer.epsilon,
        _ends(answer),
        question.constraint.probability,
        None if bracket is None else (bracket.lower, bracket.upper),
        None if bracket is None else bracket.is_wide(answer.task.span),
        None if bracket is None else bracket.error,
        None if result is None else result.simulations,
        answer.reason or None,
    )


def _bracket(row: Budget) -> str:
    if row.bracket is None:
        return ""
    low, high = row.bracket
    return f"[{'below the range' if low is None else number(low)}, {number(high)}]"


_COLUMNS = (
    Column("protocol", lambda row: row[0].protocol),
    Column("method", lambda row: row[0].method),
    Column("eps", lambda row: "none in range" if row[0].eps is None else number(row[0].eps)),
    Column("bracket", lambda row: _bracket(row[0])),
    Column("simulations", lambda row: "" if row[0].simulations is None else f"{row[0].simulations:,}"),
    Column("", lambda row: "not told apart from the best" if row[1] else ""),
)


@frozen
class Budgets(Answer):
    """All budgets; the keys of the only one stand beside them, too."""

    problem: About
    budgets: tuple[Budget, ...]
    answers: tuple[runner.Answer, ...] = field(metadata=left_out())

    @property
    def said(self) -> tuple[Any, ...]:
        return (self, *(self.budgets if len(self.budgets) == 1 else ()))

    @property
    def rows(self) -> Sequence[Budget]:
        return self.budgets

    def shown(self) -> Iterator[Grid | str]:
        from mechdesign.studies.budgets import choice

        about = self.problem
        for wish in dict.fromkeys(one.task.question.constraint for one in self.answers):
            here = [one for one in self.answers if one.task.question.constraint == wish]
            title = f"{wish.words}: {about.items} items, {about.users:,} users"
            entries = [(_row(place.answer), place.tied) for place in choice.ranked(here)]
            yield table_of(title, _COLUMNS, entries, 2)
            for one in here:
                if one.result is None:
                    yield f"  {one.task.question.name}, {one.task.method}: {one.reason}"
            brackets = [one.result for one in here if isinstance(one.result, Bracket)]
            if brackets:
                error = f"error rate at most {brackets[0].error:g}"
                yield f"  Bracket: holds at its upper end, fails at its lower one; {error}."
            yield from map(_wide, filter(_is_wide, here))
            if any(one.task.method != CERTIFIED for one in here):
                yield "  The other methods are heuristics of the literature without an error rate."

    def plot(self) -> Figure:
        """A panel a protocol with a line a method; with one method, one panel with a line a protocol."""
        from mechdesign import plot

        first, about = self.answers[0].task.question.constraint, self.problem
        rows, methods = self.budgets, dict.fromkeys(row.method for row in self.budgets)
        if len({row.threshold for row in rows}) == 1:
            chosen = [plot.Selection(row.protocol, row.method, row.eps, row.drawn) for row in rows]
            return plot.selections(chosen, f"{first.words}: {about.items} items")

        def line(name: str, method: str) -> list[tuple[float, float]]:
            mine = [row for row in rows if (row.protocol, row.method) == (name, method)]
            return [(row.threshold, row.eps) for row in mine if row.eps is not None]

        def bands(name: str) -> list[tuple[float, float, float]]:
            return [(row.threshold, *row.drawn) for row in rows if row.protocol == name and row.drawn is not None]

        protocols = list(dict.fromkeys(row.protocol for row in rows))
        if len(methods) == 1:
            (method,) = methods
            lines = {name: line(name, method) for name in protocols}
            every = [band for name in protocols for band in bands(name)]
            panels = [plot.BudgetPanel(f"{method}, {about.items} items", lines, every)]
        else:
            panels = [
                plot.BudgetPanel(name, {one: line(name, one) for one in methods if one != CERTIFIED}, bands(name))
                for name in protocols
            ]
        axis = f"threshold of {first.called} ({first.direction})"
        return plot.budgets(panels, axis, f"Budget for {first.called} with probability {first.probability:g}")

    def curve(self) -> Figure:
        """Utility and adversary around the budget of the best protocol."""
        import numpy as np

        from mechdesign import plot
        from mechdesign.studies.budgets import choice
        from mechdesign.studies.budgets.adversary import threat
        from mechdesign.studies.budgets.simulation import COMMON

        best = choice.ranked(self.answers)[0].answer
        question = best.task.question
        if best.epsilon is None:
            raise InvalidInput("curve", question.constraint.words, "have an answer to be drawn")
        epsilons = np.geomspace(best.epsilon / 10, min(best.epsilon * 5, best.task.span.most), _CURVE_POINTS)
        values = np.stack([question.values(float(epsilon), COMMON, 0, _CURVE_RUNS) for epsilon in epsilons])
        places, size = np.arange(question.counts.size), question.counts.size
        success = [threat(question.build(float(eps), size), places, question.counts).success for eps in epsilons]
        low, high = np.quantile(values, (0.1, 0.9), axis=1)
        curve = plot.Curve(epsilons.tolist(), values.mean(axis=1).tolist(), low.tolist(), high.tolist(), success)
        interval = _row(best).bracket
        marked = (best.epsilon, best.epsilon) if interval is None else (interval[0] or interval[1], interval[1])
        title = f"{question.name}: {question.constraint.words}"
        return plot.trade_off(curve, question.constraint.called, question.constraint.threshold, marked, title)


def _is_wide(answer: runner.Answer) -> bool:
    return isinstance(answer.result, Bracket) and answer.result.is_wide(answer.task.span)


def _wide(answer: runner.Answer) -> str:
    """A bracket that is wider than asked for, and what would make it shorter."""
    bracket, span = answer.result, answer.task.span
    assert isinstance(bracket, Bracket)
    runs = f"{answer.task.options.get('most_runs', MOST_RUNS):,} collections"
    return (
        f"  {answer.task.question.name}: the bracket is {bracket.width(span):.3g} wide, wider than --phi {span.phi:g}: "
        f"{runs} do not decide eps = {bracket.undecided[0].epsilon:.6g}. Raise --most-runs."
    )


ANSWERS = ((Budgets,), (Budgets, Budget))
