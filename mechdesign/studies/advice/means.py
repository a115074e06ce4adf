"""Advice on a mean: published mechanisms without bias, by the largest error that the estimated mean can have.

Who holds which value is not known beforehand, so no mechanism is chosen by it: a bias that cancels over these users is
that of the estimate for others, and a choice that depends on the data tells of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.mechanisms.smooth import maximum
from mechdesign.methods.registry import solve
from mechdesign.studies.advice.answer import EXACT, Advice, Expected, Rated, advice, ranked
from mechdesign.studies.advice.commands import command, to_an_answer
from mechdesign.studies.advice.question import Numbers, Question, numbers_of
from mechdesign.studies.frequencies.mean import calibrate
from mechdesign.studies.frequencies.mean_methods import CERTIFIED, TWO_PHASE
from mechdesign.tables.making import make_table
from mechdesign.values.declare import Floats
from mechdesign.values.digits import rounded_down
from mechdesign.words.classes import Unbiased
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

_TABLE = "mean.table.json"
_UNIT = (
    "root mean squared error of the estimated mean, in the units of the data, "
    "for the users with the largest error there can be"
)
_SEED = 1
_AT_ONCE, _NEAR = 5.0, 1e-3  # seconds that the optimum may take, and how near its bounds are to be
_LEAST_USERS, _MOST_USERS = 1000, 500_000  # with which the two-phase protocol is worth a try
_ONE_REPORT = "ogpm"  # the mechanism whose single report is best, which people meet first


def advise_mean(question: Question) -> Advice:
    """The mechanism whose estimated mean is off the least, whatever the users hold."""
    numbers = numbers_of(question, moves=True)
    users = question.users(None if numbers.values is None else numbers.values.size)
    rated = mean_field(question.epsilon, numbers.interval, users)
    shipped = next((one for one in rated if _becomes_table(one.mechanism, question.epsilon, numbers.interval)), None)
    why = _why(rated, shipped, question.epsilon, numbers, users)
    commands, later = _commands(question, numbers, [one.mechanism for one in rated[:3]], shipped)
    return advice(question.want, question.epsilon, users, rated, why, commands, later)


def mean_field(epsilon: float, inputs: Interval, users: int) -> list[Rated]:
    """Ways to estimate a mean without bias by their largest root mean squared error, least first.

    >>> [one.mechanism for one in mean_field(1.0, Interval(-1, 1), 1000)][:2]
    ['hm', 'duchi']
    """
    rated = []
    for entry in catalogue.ON_INTERVALS:
        mechanism = entry.build(epsilon, inputs, Power(2.0))
        try:
            if not calibrate(mechanism).is_unbiased:
                continue
            error = mean_error(mechanism, users)
        except (CheckFailed, NoAnswer):  # an error that doubles cannot resolve is no basis for advice
            continue
        rated.append(Rated(entry.key, Expected(error, error, _UNIT, EXACT)))
    return ranked(rated)


def mean_error(mechanism: ScalarMechanism, users: int) -> float:
    """The largest root mean squared error that the estimated mean of so many users can have, exactly.

    For users who hold x_i it is ``sqrt(average bias^2 + average variance / n)``, and no more than the largest of
    ``sqrt(bias(x)^2 + variance(x) / n)``, which it is where all of them hold that x.
    """
    line = calibrate(mechanism)
    share = 1 / (users * line.slope**2)

    def squared(x: Floats) -> Floats:
        bias = 0.0 if line.is_unbiased else mechanism.mean(x) - x
        return np.asarray(bias * bias + mechanism.variance(x) * share)

    return math.sqrt(maximum(squared, mechanism.breakpoints(Power(2.0)))[0])


def _becomes_table(name: str, epsilon: float, inputs: Interval) -> bool:
    try:
        make_table(catalogue.build(name, epsilon, inputs, Power(2.0)))
    except InvalidInput:
        return False
    return True


def _why(
    rated: list[Rated], shipped: Rated | None, epsilon: float, numbers: Numbers, users: int
) -> Iterator[str | None]:
    best, inputs = rated[0], numbers.interval
    yield (
        f"Of {len(rated)} ways to report numbers in {inputs} without bias for their mean over {users} users, "
        f"{best.mechanism} has the least error."
    )
    if best.expected_error.upper > inputs.length / 2:
        yield (
            f"That is more than half of {inputs}: so few users tell nothing at this eps, the middle is as good a guess."
        )
    one = mean_error(catalogue.build(_ONE_REPORT, epsilon, inputs, Power(2.0)), users)
    times = one / best.expected_error.upper
    if times > 1:
        yield (
            f"A mean is not a single number: {_ONE_REPORT}, made for single reports, has {times:.3g} times this error "
            f"({one:.4g}), as a bias does not average out."
        )
    yield _least_of_all(epsilon, inputs, users, best)
    if shipped is not None and shipped is not best:
        error = shipped.expected_error.ends
        yield f"{best.mechanism} does not become a table to ship; {shipped.mechanism} does (error {error})."
    if _tries_two_phases(numbers):
        yield (
            f"{TWO_PHASE} designs its noise from what a first group of users reports: its error depends on what they "
            "hold, so it is not ranked, and the first command tries it."
        )
    if numbers.moved:
        yield (
            f"{numbers.moved} values lie outside the bounds and are taken to the nearer end; "
            "the mean is that of what they become."
        )
    yield numbers.warning


def _least_of_all(epsilon: float, inputs: Interval, users: int, best: Rated) -> str | None:
    """How far below the published ways the optimum over all unbiased ones is, if it is found at once."""
    asked = Problem(inputs=inputs, loss=Power(2.0), privacy=Pure(epsilon), among=Unbiased())
    try:
        design = solve(asked, _AT_ONCE, gap=_NEAR)
    except (NoAnswer, InvalidInput, CheckFailed):
        return None
    error = math.sqrt(design.certificate.upper / users)
    if error >= best.expected_error.upper:
        return None
    less = rounded_down(100 * (1 - error / best.expected_error.upper), 2)
    return (
        f"The best of all unbiased ways, published or not, has {less}% less error ({error:.4g}, proven): "
        f"mean --mechanism {CERTIFIED} tries it, minimax --unbiased --out designs it for table."
    )


def _tries_two_phases(numbers: Numbers) -> bool:
    return numbers.values is not None and _LEAST_USERS <= numbers.values.size <= _MOST_USERS


def _commands(
    question: Question, numbers: Numbers, names: list[str], shipped: Rated | None
) -> tuple[tuple[str, ...], str | None]:
    domain = numbers.domain
    eps = question.epsilon
    tried = shipped.mechanism if shipped is not None else "pm"
    table = command("table", eps=eps, mechanism=tried, domain=domain, out=_TABLE)
    if question.source is None:
        look = command("compare", eps=eps, loss="squared", domain=domain, mechanisms=",".join(names))
    else:
        data = {"column": question.column, "clip": numbers.moved > 0}
        mechanisms = ",".join([*names, *[TWO_PHASE] * _tries_two_phases(numbers)])
        look = command("mean", str(question.source), eps=eps, bounds=domain, mechanism=mechanisms, seed=_SEED, **data)
    then, later = to_an_answer(_TABLE, question.source, question.column, numbers.moved > 0)
    return (look, table, *then), later
