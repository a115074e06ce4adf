"""Advice on single reports: the certified optimum and its rivals, on a line, a circle, or for a loss matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from mechdesign.data.matrices import read_matrix
from mechdesign.errors import CheckFailed, InvalidData, InvalidInput, NoAnswer
from mechdesign.field import THIS, Rank, field_of
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.methods.floor import floor_of
from mechdesign.methods.registry import solve
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import on_interval, on_points
from mechdesign.studies.advice.answer import CERTIFIED, CLAIMED, EXACT, Advice, Expected, Rated, advice, ranked
from mechdesign.studies.advice.commands import command, number, pair, to_an_answer
from mechdesign.studies.advice.question import Question, numbers_of, values_of
from mechdesign.values.declare import evolved
from mechdesign.values.digits import rounded_down
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.finite_losses import Matrix
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

OPTIMUM, CIRCULAR = "certified optimum", "optimal piecewise"  # as the glossary has them
_GAP = 1e-3
_SAME = 1e-9
_SECONDS = 2.0
_PATIENCE = 20.0  # seconds a command may take for more than was found here
_USUAL_GAP = 1e-4  # of minimax
_AVERAGED = "For a mean of many such reports another mechanism is right: advise --want mean."
_STOPPED = "The search for the certified optimum was stopped before it found a better one."
_CATALOGUE = tuple(entry.key for entry in catalogue.ON_INTERVALS)


def advise_value(question: Question) -> Advice:
    """The certified optimum for the error of one report in the worst case."""
    numbers = numbers_of(question, whole_too=True)
    problem = Problem(inputs=numbers.inputs, loss=question.loss, privacy=Pure(question.epsilon))
    design = _within_limits(problem)
    unit = f"worst-case {question.loss.name} error of one report, in the units of the data" + _power(question.loss)
    rated = ranked([_certified(design, OPTIMUM, unit), *_exact(_worst_cases(problem), unit)], (OPTIMUM,))
    names = [one.mechanism for one in rated if one.mechanism in _CATALOGUE]
    if question.want == "figure":
        commands = _figures(question, numbers.domain, names[:3])
    elif rated[0].mechanism == OPTIMUM:
        asked = command(
            "minimax",
            eps=question.epsilon,
            loss=_loss(question),
            domain=numbers.domain,
            out="optimum.json",
            **_effort(design),
        )
        commands = (asked, *_shipped("optimum", question))
    else:
        commands = _published(question, numbers.interval, names)
    why = (
        _floor_words(design, f"for {numbers.inputs}"),
        _rival_words(rated),
        None if rated[0].mechanism == OPTIMUM else _STOPPED,
        _AVERAGED,
        numbers.warning,
    )
    return _advice(question, rated, why, commands)


def advise_angle(question: Question) -> Advice:
    """The mechanism for one direction; on the circle OGPM is the optimum of all mechanisms."""
    circle = _circle(question)
    loss = Power(question.loss.exponent, circle.period)
    design = solve(Problem(inputs=circle, loss=loss, privacy=Pure(question.epsilon)))
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
    then, later = to_an_answer("angle.table.json", question.source, question.column)
    commands = (asked, command("table", "angle.json", out="angle.table.json"), *then)
    return advice(question.want, question.epsilon, question.users_asked, rated, why, commands, later)


def advise_matrix(question: Question) -> Advice:
    """The certified optimum for a loss matrix, against randomised response and the answer that tells nothing."""
    if question.matrix is None:
        step = "a .csv or .npy file with a row for each input: --loss-matrix losses.csv"
        raise InvalidInput("loss matrix", None, "be given", step)
    read = read_matrix(question.matrix)
    loss = Matrix(read.values, read.input_labels, read.output_labels)
    problem = Problem(loss=loss, privacy=Pure(question.epsilon))
    try:
        design = solve(problem, _SECONDS, gap=_GAP)
    except NoAnswer as stopped:
        design = _best_of(stopped)
    rated = certified_field(design, OPTIMUM, "worst-case loss, in the units of the matrix")
    why = (
        _floor_words(design, "for this matrix"),
        _rival_words(rated),
        "Probabilities of your own become a table, their privacy checked, with table --channel FILE.",
    )
    asked = command(
        "minimax",
        eps=question.epsilon,
        loss_matrix=question.matrix,
        **_effort(design),
        out="optimum.json",
    )
    return _advice(question, rated, why, (asked, *_shipped("optimum", question)))


def certified_field(design: Design, name: str, unit: str) -> list[Rated]:
    """A design, with the interval its optimum lies in, among its published rivals with their exact errors."""
    errors = {row.name: row.by(Rank.WORST) for row in field_of(design).rows if row.name != THIS}
    return ranked([_certified(design, name, unit), *_exact(errors, unit)], (name,))


def _certified(design: Design, name: str, unit: str) -> Rated:
    certificate = design.certificate
    sure = CLAIMED if certificate.claimed else CERTIFIED
    return Rated(name, Expected(certificate.lower, certificate.upper, unit, sure))


def _exact(errors: Mapping[str, float], unit: str) -> list[Rated]:
    return [Rated(name, Expected(error, error, unit, EXACT)) for name, error in errors.items() if math.isfinite(error)]


def _worst_cases(problem: Problem) -> dict[str, float]:
    """The published mechanisms by worst case; where inputs are whole numbers, those for intervals serve them too."""
    found, loss, inputs = {}, problem.loss, problem.inputs
    assert isinstance(loss, Power)
    assert isinstance(inputs, Interval | Finite)
    span = Interval(inputs.lower, inputs.upper)
    mechanisms = on_interval(problem.epsilon, span, loss, unbiased=False)
    if isinstance(inputs, Finite):
        mechanisms |= on_points(problem.epsilon, inputs, loss)
    for name, mechanism in mechanisms.items():
        scalar = cast(ScalarMechanism, mechanism)
        try:
            if isinstance(inputs, Finite) and name in _CATALOGUE:
                found[name] = float(np.max(scalar.expected_loss(np.asarray(inputs.points), loss)))
            else:
                found[name] = scalar.worst_case(loss)[0]
        except CheckFailed:  # an error that doubles cannot resolve is no basis for advice
            continue
    return found


def _without_twin(rated: list[Rated]) -> list[Rated]:
    """A published mechanism that has the optimum's error is the optimum: it lends its name."""
    best, twin = rated[0], rated[1]
    if twin.expected_error.upper > best.expected_error.upper * (1 + _SAME):
        return rated
    return [evolved(best, mechanism=twin.mechanism), *rated[2:]]


def _within_limits(problem: Problem) -> Design:
    try:
        return solve(problem, _SECONDS, gap=_GAP)
    except NoAnswer as stopped:
        return _best_of(stopped)


def _best_of(stopped: NoAnswer) -> Design:
    """The best design of a search that was stopped, with its wider interval."""
    if not isinstance(stopped.design, Design):
        raise stopped
    return stopped.design


def _effort(design: Design) -> dict[str, object]:
    """The options with which the same command ends in time: the gap that was reached, or whatever is reached."""
    reached = design.certificate.relative_gap
    if reached > 2 * _GAP:
        return {"time_limit": number(_PATIENCE), "best_so_far": True}
    if reached <= _USUAL_GAP:
        return {}
    digit = 10.0 ** math.floor(math.log10(reached))
    return {"gap": float(f"{math.ceil(1.2 * reached / digit) * digit:.3g}")}


def _shipped(name: str, question: Question) -> tuple[str, str]:
    file, table = f"{name}.json", f"{name}.table.json"
    made = command("table", file, out=table)
    if question.source is None or question.want == "matrix":
        return made, command("export", table, to="javascript", out="sampler")
    return made, command("apply", table, _in=question.source, column=question.column, out="reports.csv")


def _figures(question: Question, domain: str, names: Sequence[str]) -> tuple[str, ...]:
    eps, over = question.epsilon, {"loss": _loss(question), "domain": domain}
    span = f"{number(eps / 4)}:{number(max(eps, min(2 * eps, 8.0)))}:8"
    return (
        command("compare", eps=span, plot="errors.pdf", **over),
        command("compare", eps=number(eps), mechanisms=",".join(names), out="errors.csv", **over),
        command("ogpm", eps=eps, plot="density.pdf", **over),
    )


def _published(question: Question, inputs: Interval, names: Sequence[str]) -> tuple[str, ...]:
    """Where a published mechanism is the best that was found in time."""
    eps, domain, table = question.epsilon, pair((inputs.lower, inputs.upper)), "value.table.json"
    three = command("compare", eps=eps, loss=_loss(question), domain=domain, mechanisms=",".join(names[:3]))
    made = command("table", eps=eps, mechanism=names[0], domain=domain, out=table)
    return three, made, command("export", table, to="javascript", out="sampler")


def _circle(question: Question) -> Circle:
    """The circle of the bounds, else that of radians; data that turn further are in another unit, and refused."""
    ends = question.bounds
    if ends is not None and (len(ends) != 2 or ends[0] != 0):
        raise InvalidInput("bounds", ends, "be 0,PERIOD for a direction", "for example --bounds 0,360")
    circle = Circle() if ends is None else Circle(ends[1])
    values = values_of(question)
    beyond = 0 if values is None else int(((values < 0) | (values > circle.period)).sum())
    if values is not None and beyond:
        rule = f"lie on the circle from 0 to {number(circle.period)}; {beyond} of {values.size} values do not"
        raise InvalidData("data", "values", rule, "say what a full turn is: --bounds 0,360 for degrees")
    return circle


def _loss(question: Question) -> str | None:
    name = {1.0: None, 2.0: "squared"}
    return name.get(question.loss.exponent, f"power:{number(question.loss.exponent)}")


def _power(loss: Power) -> str:
    return "" if loss.exponent == 1 else f" to the power {number(loss.exponent)}"


def _floor_words(design: Design, where: str) -> str:
    certificate = design.certificate
    basis = "claimed, in doubles" if certificate.claimed else "proven in rational arithmetic"
    least = rounded_down(certificate.lower, 4)
    return f"Over {certificate.valid_for} the optimum {where} is at least {least}: {basis}."


def _rival_words(rated: list[Rated]) -> str | None:
    if len(rated) < 2:
        return None
    best, rival = rated[0].expected_error.upper, rated[1].expected_error.upper
    above = f"{100 * (rival / best - 1):.3g}% above it" if best > 0 else "above it"
    return f"{rated[1].mechanism}, the next of {len(rated)} computed, is {above}."


def _advice(question: Question, rated: list[Rated], why: tuple[str | None, ...], commands: tuple[str, ...]) -> Advice:
    return advice(question.want, question.epsilon, question.users_asked, rated, why, commands)
