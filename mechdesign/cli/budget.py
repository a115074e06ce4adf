"""The smallest epsilon that meets a utility constraint, by a search with a stated error rate or as Optimus has it.

The constraint is a metric with --at-least or --at-most and a --probability. Lists of protocols, thresholds and methods
are separated by commas; several protocols are ranked by the epsilon they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from mechdesign import plot
from mechdesign.budget import simulation
from mechdesign.budget.adversary import threat
from mechdesign.budget.certified import MOST_RUNS, Bracket
from mechdesign.budget.choice import ranked
from mechdesign.budget.constraint import Constraint
from mechdesign.budget.populations import POPULATIONS, scaled
from mechdesign.budget.runner import CERTIFIED, METHODS, Answer, Settings, Task, run as search
from mechdesign.budget.searches import LEAST, MOST, PRECISION, Range
from mechdesign.budget.simulation import Question
from mechdesign.cli import output
from mechdesign.cli.options import Engines
from mechdesign.cli.sent import Drawn
from mechdesign.cli.signatures import Part
from mechdesign.cli.users import read_users
from mechdesign.collect import metrics
from mechdesign.data.numbers import require_number_text
from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.values.declare import frozen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Counts = NDArray[np.int64]

ALL = "all"
HALVING = (CERTIFIED, "bs", "rbs", "dbs")
"""Methods that stop when an interval is shorter than phi."""
_CURVE_POINTS, _CURVE_RUNS = 33, 100


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


@frozen
class Answered:
    """All budgets; the keys of the only one stand beside them, too."""

    problem: About
    budgets: tuple[Budget, ...]


ANSWERS = ((Answered,), (Answered, Budget))
EXAMPLE = "budget -p grr --metric kendall --at-least 0.7 --population msnbc-like --phi 0.1"


def run(
    protocol: Annotated[str, typer.Option("--protocol", "-p", help="Names: grr, oue, ..., or pm, sw, ... over bins.")],
    engines: Annotated[Engines, Part(workers="Local processes, for several searches.")],
    settings: Settings,
    sent: Drawn,
    metric: Annotated[
        str, typer.Option("--metric", "-u", help=f"One of {', '.join(metrics.METRICS)} (of 10; top:5 of five).")
    ] = "kendall",
    at_least: Annotated[str | None, typer.Option("--at-least", help="Thresholds of a metric to be large.")] = None,
    at_most: Annotated[str | None, typer.Option("--at-most", help="Thresholds of a metric to be small.")] = None,
    probability: Annotated[float, typer.Option("--probability", help="How often it has to hold.")] = 0.9,
    data: Annotated[
        Path | None, typer.Option("--data", "-d", help="One label a row (CSV, text, Parquet), or JSON.", metavar="FILE")
    ] = None,
    population: Annotated[
        str | None, typer.Option("--population", help=f"Instead of data: {', '.join(POPULATIONS)}.")
    ] = None,
    users: Annotated[int | None, typer.Option("--users", help="Scale the population to so many users.")] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column with the labels, by its header.")] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="All items, A,B,C or LO..HI (else those observed).")
    ] = None,
    method: Annotated[str, typer.Option("--method", "-m", help=f"{', '.join(METHODS)}, or all.")] = CERTIFIED,
    postprocess: Annotated[
        str, typer.Option("--postprocess", help=f"One of {', '.join(simulation.METHODS)}.")
    ] = simulation.METHODS[0],
    least: Annotated[float, typer.Option("--min-eps", help="The range starts here.")] = LEAST,
    most: Annotated[float, typer.Option("--max-eps", help="The range ends here.")] = MOST,
    phi: Annotated[
        float | None, typer.Option("--phi", help=f"The precision in eps [{', '.join(HALVING)}: {PRECISION:g}].")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same numbers.")] = 0,
    results: Annotated[
        Path | None, typer.Option("--results", help="Keep simulations here; a stopped run resumes from it.")
    ] = None,
    curve_file: Annotated[
        Path | None, typer.Option("--curve", help="Picture of utility and adversary over eps: .png, .pdf or .svg.")
    ] = None,
) -> None:
    sent.require_writable(curve_file)
    where = engines.engine()
    thresholds, direction = _thresholds(at_least, at_most)
    constraints = [Constraint(metric, value, probability, direction) for value in thresholds]
    counts = _population(data, population, users, column, domain)
    methods = _methods(method)
    span = Range(least, most, _precision(phi, methods))
    settings.require_used(methods)
    names = list(dict.fromkeys(simulation.ProtocolFamily(name.strip().lower()).name for name in protocol.split(",")))
    questions = [Question(name, counts, wish, postprocess, seed) for name in names for wish in constraints]
    tasks = [Task(question, chosen, span, settings.of(chosen)) for question in questions for chosen in methods]
    with output.ending_cleanly(), output.progress("searching", quiet=sent.quiet) as say:
        answers = search(tasks, where, results=results, say=say)
    failures = [error for error in (answer.error() for answer in answers) if error is not None]
    if len(failures) == len(answers):
        raise failures[0] if len(failures) == 1 else _together(failures)
    if curve_file is not None:
        sent.draw(_curve(answers), curve_file)
    if sent.plot is not None:
        sent.draw(_figure(answers, names, methods))
    if sent.as_json:
        rows = tuple(map(_row, answers))
        output.print_json(Answered(_about(answers, counts, span), rows), rows[0] if len(rows) == 1 else None)
        return
    for wish in constraints:
        _print([answer for answer in answers if answer.task.question.constraint == wish], wish, counts)
    sent.say_saved(curve_file, results)


# -- options ----------------------------------------------------------------------------------------------------------


def _thresholds(at_least: str | None, at_most: str | None) -> tuple[list[float], str]:
    if (at_least is None) == (at_most is None):
        rule = "be one of --at-least and --at-most"
        raise InvalidInput("threshold", (at_least, at_most), rule, "for example --metric kendall --at-least 0.7")
    text, direction = (at_least, "at least") if at_least is not None else (at_most, "at most")
    return list(dict.fromkeys(parse_numbers(text or "", "threshold"))), direction


def parse_numbers(text: str, field: str) -> list[float]:
    """Numbers separated by commas."""
    try:
        return [require_number_text(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(field, text, "be a number or a list A,B,C") from None


def _precision(phi: float | None, methods: Sequence[str]) -> float:
    if phi is not None and not {*methods} & {*HALVING}:
        rule = f"come with a method that stops by it: {', '.join(HALVING)}"
        raise InvalidInput("phi", phi, rule, "mpass and bayes stop by --passes and --rounds")
    return PRECISION if phi is None else phi


def _population(
    data: Path | None, population: str | None, users: int | None, column: str | None, domain: str | None
) -> Counts:
    if (data is None) == (population is None):
        raise InvalidInput("data", str(data), "be given, or --population", "for example --population msnbc-like")
    if population is not None:
        if population not in POPULATIONS:
            raise InvalidInput("population", population, f"be one of {', '.join(POPULATIONS)}")
        refuse_with_population(column, domain)
        counts = POPULATIONS[population]()
    else:
        assert data is not None
        counts = read_users(data, column, domain).counts
    return counts if users is None else scaled(counts, users)


def refuse_with_population(column: str | None, domain: str | None) -> None:
    """Options that describe a file say nothing about a population known by name."""
    for option, given in (("column", column), ("domain", domain)):
        if given is not None:
            raise InvalidInput(option, given, "come with --data", f"leave out --{option}")


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
    first = failures[0]
    assert isinstance(first, InvalidInput)
    return InvalidInput(first.field, f"{len(failures)} searches", "be met by some eps in the range", told)


def _methods(text: str) -> list[str]:
    names = [name.strip().lower() for name in text.split(",")]
    if ALL in names:
        return list(METHODS)
    for name in names:
        if name not in METHODS:
            raise InvalidInput("method", name, f"be one of {', '.join(METHODS)}, or {ALL}")
    return list(dict.fromkeys(names))


# -- what leaves ------------------------------------------------------------------------------------------------------


def _interval(answer: Answer) -> tuple[float | None, float] | None:
    result = answer.result
    return (result.lower, result.upper) if isinstance(result, Bracket) else None


def _ends(answer: Answer) -> tuple[float | None, float] | None:
    """``(lo, hi)``: the bracket; of the other searches, the last epsilon that failed below the selected one."""
    result = answer.result
    if result is None:
        return None
    if isinstance(result, Bracket):
        return result.lower, result.upper
    failed = [look.epsilon for look in result.looks if not look.satisfied and look.epsilon < result.epsilon]
    return max(failed, default=None), result.epsilon


def _row(answer: Answer) -> Budget:
    question, result = answer.task.question, answer.result
    bracket = result if isinstance(result, Bracket) else None
    return Budget(
        question.name,
        question.constraint.threshold,
        answer.task.method,
        answer.epsilon,
        _ends(answer),
        question.constraint.probability,
        _interval(answer),
        None if bracket is None else bracket.is_wide(answer.task.span),
        None if bracket is None else bracket.error,
        None if result is None else result.simulations,
        answer.reason or None,
    )


def _about(answers: Sequence[Answer], counts: Counts, span: Range) -> About:
    first = answers[0].task.question
    wish = first.constraint.name, first.constraint.direction, first.constraint.probability, first.method
    return About(*wish, int(counts.sum()), int(counts.size), (span.least, span.most), span.phi, first.seed)


def _print(answers: Sequence[Answer], wish: Constraint, counts: Counts) -> None:
    rows = []
    for place in ranked(answers):
        answer, interval = place.answer, _interval(place.answer)
        bracket = "" if interval is None else f"[{_end(interval[0])}, {output.number(interval[1])}]"
        rows.append(
            [
                answer.task.question.name,
                answer.task.method,
                "none in range" if answer.epsilon is None else output.number(answer.epsilon),
                bracket,
                "" if answer.result is None else f"{answer.result.simulations:,}",
                "not told apart from the best" if place.tied else "",
            ]
        )
    title = f"{wish.words}: {counts.size} items, {int(counts.sum()):,} users"
    output.print_table(title, ["protocol", "method", "eps", "bracket", "simulations", ""], rows, left=2)
    for answer in answers:
        if answer.result is None:
            output.console.print(
                f"  {answer.task.question.name}, {answer.task.method}: {answer.reason}", soft_wrap=True
            )
    brackets = [answer.result for answer in answers if isinstance(answer.result, Bracket)]
    if brackets:
        output.console.print(
            f"  Bracket: holds at its upper end, fails at its lower one; error rate at most {brackets[0].error:g}.",
            soft_wrap=True,
        )
    _print_wide(answers)
    if any(answer.task.method != CERTIFIED for answer in answers):
        output.console.print("  The other methods are heuristics of the literature without an error rate.")


def _print_wide(answers: Sequence[Answer]) -> None:
    """Brackets that are wider than asked for, and what would make them shorter."""
    for answer in answers:
        bracket, span = answer.result, answer.task.span
        if isinstance(bracket, Bracket) and bracket.is_wide(span):
            output.console.print(
                f"  {answer.task.question.name}: the bracket is {bracket.width(span):.3g} wide, wider than "
                f"--phi {span.phi:g}: {answer.task.options.get('most_runs', MOST_RUNS):,} collections do not decide "
                f"eps = {bracket.undecided[0].epsilon:.6g}. Raise --most-runs.",
                soft_wrap=True,
            )


def _end(value: float | None) -> str:
    return "below the range" if value is None else output.number(value)


def _figure(answers: Sequence[Answer], names: Sequence[str], methods: Sequence[str]) -> Figure:
    """A panel a protocol with a line a method; with one method, one panel with a line a protocol."""

    def points(name: str, method: str) -> list[tuple[float, float]]:
        return [
            (answer.task.question.constraint.threshold, answer.epsilon)
            for answer in answers
            if answer.task.question.name == name and answer.task.method == method and answer.epsilon is not None
        ]

    def brackets(name: str) -> list[tuple[float, float, float]]:
        return [
            (answer.task.question.constraint.threshold, answer.result.lower or 0.0, answer.result.upper)
            for answer in answers
            if answer.task.question.name == name and isinstance(answer.result, Bracket)
        ]

    first = answers[0].task.question
    axis = f"threshold of {first.constraint.called} ({first.constraint.direction})"
    title = f"Budget for {first.constraint.called} with probability {first.constraint.probability:g}"
    if len({answer.task.question.constraint.threshold for answer in answers}) == 1:
        rows = [_selection(answer) for answer in answers]
        return plot.selections(rows, f"{first.constraint.words}: {first.counts.size} items")
    if len(methods) == 1:
        lines = {name: points(name, methods[0]) for name in names}
        bands = [band for name in names for band in brackets(name)]
        panel = plot.BudgetPanel(f"{methods[0]}, {first.counts.size} items", lines, bands)
        return plot.budgets([panel], axis, title)
    panels = []
    for name in names:
        lines = {method: points(name, method) for method in methods if method != CERTIFIED}
        panels.append(plot.BudgetPanel(name, lines, brackets(name)))
    return plot.budgets(panels, axis, title)


def _selection(answer: Answer) -> plot.Selection:
    found = _interval(answer)
    bracket = None if found is None else (found[0] or 0.0, found[1])
    return plot.Selection(answer.task.question.name, answer.task.method, answer.epsilon, bracket)


def _curve(answers: Sequence[Answer]) -> Figure:
    """Utility and adversary around the budget of the best protocol."""
    best = ranked(answers)[0].answer
    if best.epsilon is None:
        raise InvalidInput("curve", best.task.question.constraint.words, "have an answer to be drawn")
    question, interval = best.task.question, _interval(best)
    epsilons = np.geomspace(best.epsilon / 10, min(best.epsilon * 5, best.task.span.most), _CURVE_POINTS)
    values = np.stack([question.values(float(epsilon), simulation.COMMON, 0, _CURVE_RUNS) for epsilon in epsilons])
    places, size = np.arange(question.counts.size), question.counts.size
    success = [threat(question.build(float(eps), size), places, question.counts).success for eps in epsilons]
    low, high = np.quantile(values, (0.1, 0.9), axis=1)
    curve = plot.Curve(epsilons.tolist(), values.mean(axis=1).tolist(), low.tolist(), high.tolist(), success)
    marked = (best.epsilon, best.epsilon) if interval is None else (interval[0] or interval[1], interval[1])
    title = f"{question.name}: {question.constraint.words}"
    return plot.trade_off(curve, question.constraint.called, question.constraint.threshold, marked, title)
