"""What advice is: a mechanism, its error in numbers that were computed, the two next to it, and how to go on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar

from mechdesign.errors import NoAnswer
from mechdesign.values.declare import finite, frozen, number
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.values.notebook import page

R = TypeVar("R", bound="Rated")

EXACT = "exact"
CERTIFIED = "certified: the optimum lies between"
CLAIMED = "claimed, not proven: the optimum lies between"
_DIGITS = 4
_SAME = 1e-9  # relative: errors that differ by less are one number, rounded differently


@frozen
class Expected:
    """An error: a number (``lower == upper``) or an interval; ``unit`` says of what and in what, ``basis`` how sure.

    >>> print(Expected(2.0, 2.5, "worst error, in years", "certified"))
    worst error, in years: 2 to 2.5 (certified)
    """

    lower: float = finite("lower")
    upper: float = number("upper")
    unit: str
    basis: str

    def __str__(self) -> str:
        return f"{self.unit}: {self.ends} ({self.basis})"

    @property
    def ends(self) -> str:
        """The number, or the ends of the interval rounded outwards."""
        if self.lower == self.upper:
            return f"{self.upper:.4g}"
        return f"{rounded_down(self.lower, _DIGITS)} to {rounded_up(self.upper, _DIGITS)}"


@frozen
class Rated:
    """A mechanism and the error that is expected of it. What ranks it is the upper end."""

    mechanism: str
    expected_error: Expected


@frozen
class Advice:
    """What to take for what is wanted, the two runners-up, why, and commands to go on with, as they stand.

    All numbers were computed for this epsilon, these users and these bounds. ``field`` is how many were ranked.
    ``later`` reads the reports where the commands cannot, as there are no data yet: they are in ``reports.csv`` then.
    """

    want: str
    epsilon: float | None
    users: int | None
    mechanism: str
    expected_error: Expected
    runners_up: tuple[Rated, ...]
    why: tuple[str, ...]
    commands: tuple[str, ...]
    field: int
    later: str | None = None

    def __str__(self) -> str:
        article = "the " if self.mechanism.endswith("optimum") else ""
        lines = [f"Take {article}{self.mechanism}.", f"  {self.expected_error}", "", "Next to it:"]
        lines += [f"  {rated.mechanism}: {rated.expected_error.ends}" for rated in self.runners_up]
        lines += ["", "Why:", *(f"  {sentence}" for sentence in self.why)]
        lines += ["", "Go on with:", *(f"  {command}" for command in self.commands)]
        if any(" verify " in command for command in self.commands):
            lines += ["  verify with --formal also has Coq, where it is installed, prove that the table is private"]
        return "\n".join(lines if self.later is None else [*lines, "", "Once there are reports:", f"  {self.later}"])

    def __repr__(self) -> str:
        return f"Advice({self.want!r}, {self.mechanism!r}, {self.expected_error.ends}, the best of {self.field})"

    def _repr_html_(self) -> str:
        return page(self.summary())

    def summary(self) -> str:
        """The advice in plain words, as the command line prints it."""
        return str(self)


def ranked(rated: Iterable[R], before: Sequence[str] = ()) -> list[R]:
    """By error, least first; of those with the same error the earlier one in ``before``, else as they came."""
    found = list(rated)
    if not found:
        raise NoAnswer("no mechanism's error could be computed for this question", 0.0, math.inf)
    order = {name: place for place, name in enumerate(before)}
    found.sort(key=lambda one: one.expected_error.upper)
    least = found[0].expected_error.upper
    ties = [one for one in found if one.expected_error.upper <= least * (1 + _SAME)]
    ties.sort(key=lambda one: order.get(one.mechanism, len(order)))
    return ties + found[len(ties) :]


def advice(
    want: str,
    epsilon: float | None,
    users: int | None,
    rated: Sequence[Rated],
    why: Iterable[str | None],
    commands: Iterable[str],
    later: str | None = None,
) -> Advice:
    """The first of what was ranked, with two runners-up; sentences that are None are left out."""
    best = rated[0]
    reasons = tuple(sentence for sentence in why if sentence is not None)
    error, next_two = best.expected_error, tuple(rated[1:3])
    return Advice(want, epsilon, users, best.mechanism, error, next_two, reasons, tuple(commands), len(rated), later)
