"""Which mechanism for what is wanted: computed at these users and this epsilon, never a rule of thumb.

>>> import mechdesign as md
>>> advice = md.advise("yes-no", epsilon=1.0, users=1000)
>>> advice.mechanism, f"{advice.expected_error.upper:.4f}", advice.runners_up[0].mechanism
('grr', '0.0303', 'ss')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from numpy.typing import ArrayLike

from mechdesign.studies.advice.answer import Advice, Expected, Rated
from mechdesign.studies.advice.question import WANTS, Bounds, Question, question_of
from mechdesign.values.declare import named_arguments
from mechdesign.words.losses import Power

__all__ = ["WANTS", "Advice", "Expected", "Rated", "advise"]

_ADVISERS = {
    "mean": "means.advise_mean",
    "means": "vectors.advise_means",
    "value": "single.advise_value",
    "distribution": "shapes.advise_shape",
    "categories": "shares.advise_shares",
    "yes-no": "shares.advise_shares",
    "ranges": "shapes.advise_shape",
    "tables": "tables.advise_tables",
    "place": "places.advise_place",
    "angle": "single.advise_angle",
    "trajectory": "places.advise_place",
    "matrix": "single.advise_matrix",
    "figure": "single.advise_value",
    "alarm": "alarm.advise_alarm",
}
"""Who advises on what is wanted, read when it is asked for: together they read every search that there is."""


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
    about bins, and about how many means. ``loss`` (absolute unless given) is that of a single report; ``loss_matrix``
    is a file; ``capacity``, ``metric`` (fp) and ``tau`` (0.05) are those of an alarm. With ``per`` a place is the
    better hidden from another the nearer they are: epsilon is for so many units, ``data`` lists places, ``column`` is a
    prior's weights. ``attributes`` are the sizes of those that tables are of, and of how many a table is: "4x4x3,2".

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
    module, _, name = _ADVISERS[question.want].partition(".")
    adviser: Callable[[Question], Advice] = getattr(import_module(f"mechdesign.studies.advice.{module}"), name)
    return adviser(question)
