"""Which mechanism for what is wanted: computed at these users and this epsilon, never a rule of thumb.

>>> import mechdesign as md
>>> advice = md.advise("yes-no", epsilon=1.0, users=1000)
>>> advice.mechanism, f"{advice.expected_error.upper:.4f}", [one.mechanism for one in advice.runners_up]
('grr', '0.0303', ['ss', 'sue'])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from numpy.typing import ArrayLike

from mechdesign.advice.alarm import advise_alarm
from mechdesign.advice.answer import Advice, Expected, Rated
from mechdesign.advice.means import advise_mean
from mechdesign.advice.places import advise_place
from mechdesign.advice.question import WANTS, Bounds, Question, question_of
from mechdesign.advice.shapes import advise_shape
from mechdesign.advice.shares import advise_shares
from mechdesign.advice.single import advise_angle, advise_matrix, advise_value
from mechdesign.advice.tables import advise_tables
from mechdesign.losses import Power
from mechdesign.values.declare import named_arguments

__all__ = ["WANTS", "Advice", "Expected", "Rated", "advise"]

_ADVISERS: dict[str, Callable[[Question], Advice]] = {
    "mean": advise_mean,
    "value": advise_value,
    "distribution": advise_shape,
    "categories": advise_shares,
    "yes-no": advise_shares,
    "ranges": advise_shape,
    "tables": advise_tables,
    "place": advise_place,
    "angle": advise_angle,
    "trajectory": advise_place,
    "matrix": advise_matrix,
    "figure": advise_value,
    "alarm": advise_alarm,
}


@named_arguments
def advise(
    want: str,
    *,
    epsilon: float | None = None,
    users: int | None = None,
    data: str | Path | ArrayLike | None = None,
    column: str | None = None,
    bounds: Bounds | None = None,
    size: int | None = None,
    labels: Sequence[str | int] | str | None = None,
    loss: str | Power | None = None,
    loss_matrix: str | Path | None = None,
    capacity: float | None = None,
    metric: str | None = None,
    tau: float | None = None,
    per: float | None = None,
    attributes: str | None = None,
) -> Advice:
    """The mechanism to take for what is wanted, its expected error, two runners-up, why, and three commands.

    ``want`` is one of `WANTS`; what has no effect on it is refused. ``users`` are those of the data unless given.
    ``data`` is a file (with ``column``) or numbers, ``bounds`` what they can be: ``(LO, HI)``, a ``range`` of whole
    numbers, or ``(W, E, S, N)`` for places. ``size`` or ``labels`` are about the answers of categories; ``size`` also
    about bins. ``loss`` (absolute unless given) is that of a single report; ``loss_matrix`` is a file; ``capacity``,
    ``metric`` (fp) and ``tau`` (0.05) are those of an alarm. With ``per`` a place is the better hidden from another
    the nearer they are: epsilon is for so many units, ``data`` lists places, ``column`` is a prior's weights.
    ``attributes`` are the sizes of those that tables are of, and of how many a table is: "4x4x3,2".

    *Guarantee.* Errors are exact, or an interval whose ``basis`` says how it was found. No value of the data is told;
    bounds proposed from them are rounded outwards, and the advice says that they are not private.

    >>> print(advise("value", epsilon=1.0, bounds=(0, 1)).expected_error.basis)
    certified: the optimum lies between
    """
    question = question_of(
        want,
        epsilon=epsilon,
        users=users,
        data=data,
        column=column,
        bounds=bounds,
        size=size,
        labels=labels,
        loss=loss,
        loss_matrix=loss_matrix,
        capacity=capacity,
        metric=metric,
        tau=tau,
        per=per,
        attributes=attributes,
    )
    return _ADVISERS[question.want](question)
