"""Advice on a mean: every published mechanism by the exact error of the estimated mean, and the two-phase protocol."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mechdesign.advice.answer import EXACT, Advice, Expected, Rated, advice, ranked
from mechdesign.advice.commands import command
from mechdesign.advice.question import Numbers, Question, numbers_of
from mechdesign.collect.mean import calibrate
from mechdesign.collect.mean_methods import TWO_PHASE, MeanMethod
from mechdesign.deploy import make_table
from mechdesign.domains import Interval
from mechdesign.errors import CheckFailed, InvalidInput, MechDesignError, NoAnswer
from mechdesign.losses import Power
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.mechanisms.smooth import maximum
from mechdesign.values.declare import Floats

_TABLE = "mean.table.json"
_COLLECTIONS = 6
_SEED = 1
_LEAST_USERS, _MOST_USERS = 1000, 500_000  # for which the two-phase protocol is simulated
_ONE_REPORT = "ogpm"  # the mechanism whose single report is best, which people meet first


def advise_mean(question: Question) -> Advice:
    """The mechanism whose estimated mean is off the least."""
    numbers = numbers_of(question, moves=True)
    users = question.users(None if numbers.values is None else numbers.values.size)
    rated = mean_field(question.epsilon, numbers.interval, users, numbers.values)
    shipped = next((one for one in rated if _becomes_table(one.mechanism, question.epsilon, numbers.interval)), None)
    commands = _commands(question, numbers, [one.mechanism for one in rated[:3]], shipped)
    return advice(question.want, question.epsilon, users, rated, _why(rated, shipped, numbers, users), commands)


def mean_field(epsilon: float, inputs: Interval, users: int, values: Floats | None = None) -> list[Rated]:
    """Ways to estimate a mean by their root mean squared error, least first.

    >>> [one.mechanism for one in mean_field(1.0, Interval(-1, 1), 1000)][:2]
    ['hm', 'duchi']
    """
    rated = []
    for entry in catalogue.ON_INTERVALS:
        try:
            error = mean_error(entry.build(epsilon, inputs, Power(2.0)), users, values)
        except (CheckFailed, NoAnswer):  # an error that doubles cannot resolve is no basis for advice
            continue
        rated.append(Rated(entry.key, Expected(error, error, _unit(values), EXACT)))
    if values is not None and _LEAST_USERS <= users <= _MOST_USERS:
        rated += _two_phase(epsilon, inputs, users, values)
    return ranked(rated)


def mean_error(mechanism: ScalarMechanism, users: int, values: Floats | None) -> float:
    """The root mean squared error of the estimated mean of so many users: exact for the values, else for the worst.

    For users who hold x_i it is ``sqrt(average bias^2 + average variance / n)``, and no more than the largest of
    ``sqrt(bias(x)^2 + variance(x) / n)``, which it is where all of them hold that x.
    """
    line = calibrate(mechanism)
    share = 1 / (users * line.slope**2)
    unbiased = line.is_unbiased
    if values is not None:
        bias = 0.0 if unbiased else float(np.mean(mechanism.mean(values) - values))
        return math.sqrt(bias * bias + float(np.mean(mechanism.variance(values))) * share)

    def squared(x: Floats) -> Floats:
        bias = 0.0 if unbiased else mechanism.mean(x) - x
        return np.asarray(bias * bias + mechanism.variance(x) * share)

    return math.sqrt(maximum(squared, mechanism.breakpoints(Power(2.0)))[0])


def _two_phase(epsilon: float, inputs: Interval, users: int, values: Floats) -> list[Rated]:
    """The two-phase protocol by simulation: each collection designs a mechanism, whose error is exact."""
    held = values if values.size == users else np.resize(values, users)
    method, rng = MeanMethod(TWO_PHASE, epsilon, inputs), np.random.default_rng(_SEED)
    try:
        errors = [method.collect(held, rng).expected for _ in range(_COLLECTIONS)]
    except MechDesignError:  # such as an epsilon or a design beyond its limits: then it is not in the field
        return []
    found = [error for error in errors if error is not None]
    basis = f"the least and the largest of {_COLLECTIONS} simulated collections"
    return [Rated(TWO_PHASE, Expected(min(found), max(found), _unit(values), basis))]


def _unit(values: Floats | None) -> str:
    users = "the users with the largest error there can be" if values is None else "these users"
    return f"root mean squared error of the estimated mean, in the units of the data, for {users}"


def _becomes_table(name: str, epsilon: float, inputs: Interval) -> bool:
    if name == TWO_PHASE:
        return False
    try:
        make_table(catalogue.build(name, epsilon, inputs, Power(2.0)))
    except InvalidInput:
        return False
    return True


def _why(rated: list[Rated], shipped: Rated | None, numbers: Numbers, users: int) -> Iterator[str | None]:
    best = rated[0]
    yield (
        f"Of {len(rated)} ways to report numbers in {numbers.interval} for their mean over {users} users, "
        f"{best.mechanism} has the least error."
    )
    one = next((one for one in rated if one.mechanism == _ONE_REPORT), best)
    times = one.expected_error.upper / best.expected_error.upper
    if times > 1:
        yield (
            f"A mean is not a single number: {_ONE_REPORT}, made for single reports, has {times:.3g} times this error "
            f"({one.expected_error.ends}), as a bias does not average out."
        )
    if shipped is not None and shipped is not best:
        error = shipped.expected_error.ends
        yield f"{best.mechanism} does not become a table to ship; {shipped.mechanism} does (error {error})."
    if numbers.moved:
        yield (
            f"{numbers.moved} values lie outside the bounds and are taken to the nearer end; "
            "the error is that of the mean of what they become."
        )
    unresolved = [entry.key for entry in catalogue.ON_INTERVALS if entry.key not in {one.mechanism for one in rated}]
    if unresolved:
        yield f"Doubles cannot resolve the error of {', '.join(unresolved)} here."
    yield numbers.warning


def _commands(question: Question, numbers: Numbers, names: list[str], shipped: Rated | None) -> tuple[str, ...]:
    domain = numbers.domain
    eps = question.epsilon
    tried = shipped.mechanism if shipped is not None else "pm"
    table = command("table", eps=eps, mechanism=tried, domain=domain, out=_TABLE)
    if question.source is None:
        look = command("compare", eps=eps, loss="squared", domain=domain, mechanisms=",".join(names))
        return look, table, command("export", _TABLE, to="javascript", out="sampler")
    data = {"column": question.column, "clip": numbers.moved > 0}
    file, mechanisms = str(question.source), ",".join(names)
    look = command("mean", file, eps=eps, bounds=domain, mechanism=mechanisms, seed=_SEED, **data)
    if numbers.moved:
        return look, table, command("export", _TABLE, to="javascript", out="sampler")
    return look, table, command("apply", _TABLE, _in=file, column=question.column, out="reports.csv")
