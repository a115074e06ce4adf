"""Advice on single reports: the certified optimum and its rivals, on a line, a circle, or for a loss matrix."""

from __future__ import annotations

import math

from mechdesign.advice.answer import CERTIFIED, EXACT, Advice, Expected, Rated, advice, ranked
from mechdesign.advice.commands import command, number
from mechdesign.advice.question import Question, numbers_of
from mechdesign.data.matrices import read_matrix
from mechdesign.design import Design, floor_of, optimal_finite, optimal_piecewise
from mechdesign.design.finite import FiniteProblem
from mechdesign.design.minimax import MinimaxProblem, minimax_sweep
from mechdesign.design.piecewise import PiecewiseProblem
from mechdesign.domains import Circle
from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.field import THIS, field_of
from mechdesign.losses import Power
from mechdesign.values.declare import evolved

OPTIMUM, CIRCULAR = "the certified optimum", "the optimal piecewise mechanism"
_GAP = 1e-3
_SAME = 1e-9
_SECONDS = 3.0
_AVERAGED = "For a mean of many such reports another mechanism is right: advise --want {}."


def advise_value(question: Question) -> Advice:
    """The certified optimum for the error of one report in the worst case."""
    numbers = numbers_of(question, whole_too=True)
    problem = MinimaxProblem(question.epsilon, question.loss, numbers.inputs, _GAP)
    design = _within_limits(problem)
    unit = f"worst-case {question.loss.name} error of one report, in the units of the data" + _power(question.loss)
    rated = certified_field(design, OPTIMUM, unit)
    if question.want == "figure":
        commands = _figures(question, numbers.domain, ",".join(one.mechanism for one in rated[1:4]))
    else:
        asked = command(
            "minimax",
            eps=question.epsilon,
            loss=_loss(question),
            domain=numbers.domain,
            gap=_gap_of(design),
            out="optimum.json",
        )
        commands = (asked, *_shipped("optimum", question))
    why = (
        f"No mechanism of any kind has a smaller worst case than the lower end: that is proven, for {numbers.inputs}.",
        _rival_words(rated),
        _AVERAGED.format("mean"),
        numbers.warning,
    )
    return _advice(question, rated, why, commands)


def advise_angle(question: Question) -> Advice:
    """The mechanism for one direction; on the circle OGPM is the optimum of all mechanisms."""
    circle = _circle(question)
    loss = Power(question.loss.exponent, circle.period)
    design = optimal_piecewise(PiecewiseProblem(question.epsilon, loss=loss, inputs=circle))
    unit = f"worst-case {question.loss.name} error of one direction, around the circle [0, {number(circle.period)})"
    rated = _without_twin(certified_field(design, CIRCULAR, unit + _power(question.loss)))
    floor = floor_of(question.epsilon, loss, circle)
    globally = design.certificate.upper <= floor.upper * (1 + 1e-9)
    why = (
        "On the circle no mechanism of any kind does better." if globally else "It is the best piecewise mechanism.",
        _rival_words(rated),
        "The mean direction is estimated from the reports as unit vectors: estimate does it.",
    )
    asked = command(
        "ogpm",
        eps=question.epsilon,
        loss=_loss(question),
        circular=True,
        domain=f"0,{number(circle.period)}",
        out="angle.json",
    )
    return _advice(question, rated, why, (asked, *_shipped("angle", question)))


def advise_matrix(question: Question) -> Advice:
    """The certified optimum for a loss matrix, against randomised response and the answer that tells nothing."""
    if question.matrix is None:
        step = "a .csv or .npy file with a row for each input: --loss-matrix losses.csv"
        raise InvalidInput("loss matrix", None, "be given", step)
    read = read_matrix(question.matrix)
    labels = read.input_labels, read.output_labels
    problem = FiniteProblem(question.epsilon, read.values, gap=_GAP, input_labels=labels[0], output_labels=labels[1])
    try:
        design = optimal_finite(problem, _SECONDS)
    except NoAnswer as stopped:
        design = _best_of(stopped)
    rated = certified_field(design, OPTIMUM, "worst-case loss, in the units of the matrix")
    why = (
        "No mechanism with these outputs has a smaller worst-case loss than the lower end: that is proven.",
        _rival_words(rated),
        "Probabilities of your own become a table, their privacy checked, with table --channel FILE.",
    )
    asked = command(
        "minimax",
        eps=question.epsilon,
        loss_matrix=question.matrix,
        gap=_gap_of(design),
        out="optimum.json",
    )
    return _advice(question, rated, why, (asked, *_shipped("optimum", question)))


def certified_field(design: Design, name: str, unit: str) -> list[Rated]:
    """A design, with the interval its optimum lies in, among its published rivals with their exact errors."""
    certificate = design.certificate
    sure = CERTIFIED if certificate.lower < certificate.upper else "certified"
    own = Rated(name, Expected(certificate.lower, certificate.upper, unit, sure))
    rivals = [
        Rated(row.name, Expected(row.worst, row.worst, unit, EXACT))
        for row in field_of(design).rows
        if row.name != THIS and math.isfinite(row.worst)
    ]
    return ranked([own, *rivals], (name,))


def _without_twin(rated: list[Rated]) -> list[Rated]:
    """A published mechanism that has the optimum's error is the optimum: it lends its name."""
    best, twin = rated[0], rated[1]
    if twin.expected_error.upper > best.expected_error.upper * (1 + _SAME):
        return rated
    return [evolved(best, mechanism=twin.mechanism), *rated[2:]]


def _within_limits(problem: MinimaxProblem) -> Design:
    try:
        return next(minimax_sweep([problem], _SECONDS, best_so_far=True))
    except NoAnswer as stopped:
        return _best_of(stopped)


def _best_of(stopped: NoAnswer) -> Design:
    """The best design of a search that was stopped, with its wider interval."""
    if not isinstance(stopped.design, Design):
        raise stopped
    return stopped.design


def _gap_of(design: Design) -> float | None:
    """The gap that the same command reaches, where it is wider than its own."""
    reached = design.certificate.relative_gap
    if reached <= 1e-4:
        return None
    digit = 10.0 ** math.floor(math.log10(reached))
    return float(f"{min(0.9, math.ceil(1.2 * reached / digit) * digit):.3g}")


def _shipped(name: str, question: Question) -> tuple[str, str]:
    file, table = f"{name}.json", f"{name}.table.json"
    made = command("table", file, out=table)
    if question.source is None or question.want == "matrix":
        return made, command("export", table, to="javascript", out="sampler")
    return made, command("apply", table, _in=question.source, column=question.column, out="reports.csv")


def _figures(question: Question, domain: str, rivals: str) -> tuple[str, ...]:
    eps, loss = question.epsilon, _loss(question)
    span = f"{number(eps / 4)}:{number(min(2 * eps, 8.0)) if eps < 8 else number(2 * eps)}:8"
    over = {"loss": loss, "domain": domain}
    return (
        command("compare", eps=span, plot="errors.pdf", **over),
        command("compare", eps=number(eps), mechanisms=rivals, out="errors.csv", **over),
        command("ogpm", eps=eps, plot="density.pdf", **over),
    )


def _circle(question: Question) -> Circle:
    ends = question.bounds
    if ends is None:
        return Circle()
    if len(ends) != 2 or ends[0] != 0:
        raise InvalidInput("bounds", ends, "be 0,PERIOD for a direction", "for example --bounds 0,360")
    return Circle(ends[1])


def _loss(question: Question) -> str | None:
    name = {1.0: None, 2.0: "squared"}
    return name.get(question.loss.exponent, f"power:{number(question.loss.exponent)}")


def _power(loss: Power) -> str:
    return "" if loss.exponent == 1 else f" to the power {number(loss.exponent)}"


def _rival_words(rated: list[Rated]) -> str | None:
    if len(rated) < 2:
        return None
    best, rival = rated[0].expected_error.upper, rated[1].expected_error.upper
    above = f"{100 * (rival / best - 1):.3g}% above it" if best > 0 else "above it"
    return f"{rated[1].mechanism}, the next of {len(rated)} computed, is {above}."


def _advice(question: Question, rated: list[Rated], why: tuple[str | None, ...], commands: tuple[str, ...]) -> Advice:
    return advice(question.want, question.epsilon, question.users_asked, rated, why, commands)
