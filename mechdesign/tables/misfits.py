"""Rows of data that do not fit a table: refused, left out, reported as empty, or counted as a category.

Only ``category`` hides whose value did not fit: it is a value like any other, and its report is drawn from the table.
A row that is left out, and a report that is empty, tell everybody who reads the reports that this person's value was
missing or outside the domain. The table's epsilon says nothing about that.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.columns import Reading, Truths, unfit
from mechdesign.data.numbers import number_of
from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.tables.frames_columns import drawn_from, reading_of, told
from mechdesign.tables.sampler import sample_codes
from mechdesign.tables.table import Table
from mechdesign.values.declare import field, frozen


class OnBad(StrEnum):
    """What becomes of a row whose value is missing, is no number or label, or lies outside the domain."""

    REFUSE = "refuse"
    DROP = "drop"
    NULL = "null"
    CATEGORY = "category"


def _on_bad(said: Any) -> OnBad:
    try:
        return OnBad(said)
    except ValueError:
        raise InvalidInput("on_bad", said, f"be one of {', '.join(OnBad)}") from None


@frozen
class Misfits:
    """The policy; of ``category`` also the value that stands for all that does not fit: a label, or a number.

    >>> Misfits("category", "other").on_bad
    <OnBad.CATEGORY: 'category'>
    """

    on_bad: OnBad = field(default=OnBad.REFUSE, converter=_on_bad)
    category: str | float | None = None

    def __attrs_post_init__(self) -> None:
        if (self.on_bad is OnBad.CATEGORY) != (self.category is not None):
            rule = "be given with on_bad='category', and only then"
            raise InvalidInput("category", self.category, rule, "it is the value that stands for all that does not fit")

    def require(self, table: Table) -> None:
        """Whether the category is an input of the table."""
        if self.category is not None:
            self._code(table)

    def _code(self, table: Table) -> float:
        assert self.category is not None
        names, given = table.input_names, self.category
        if names is not None:
            return float(names.codes(given, "category"))
        number = number_of(str(given))
        if number is None:
            raise InvalidInput("category", given, f"be a number of the domain {table.domain}: it has no labels")
        return float(table.law.domain.require(number, "category"))

    @property
    def warning(self) -> str:
        """What the reports of the others tell of people whose value did not fit; empty if nothing."""
        told = {OnBad.DROP: "rows that do not fit are missing", OnBad.NULL: "reports of rows that do not fit are empty"}
        if self.on_bad not in told:
            return ""
        return f"{told[self.on_bad]}: this tells whose values did not fit, and no epsilon covers it"


REFUSE = Misfits()


@frozen
class Drawn:
    """Reports of a batch of rows: ``reports`` for the rows that are kept; empty where ``wrong``.

    ``kept`` is None where all rows are; ``bad`` counts those that do not fit.
    """

    reports: NDArray[Any]
    kept: Truths | None
    wrong: Truths | None
    bad: int


def drawn(table: Table, column: Any, reading: Reading, place: str, before: int, policy: Misfits) -> Drawn:
    """Reports of one batch by the policy; under ``refuse`` its first row that does not fit is the `InvalidData`."""
    try:
        return Drawn(drawn_from(table, column, reading, place, before), None, None, 0)
    except InvalidData:
        if policy.on_bad is OnBad.REFUSE:
            raise
    wrong = unfitting(table, column, reading, place)
    bad = int(wrong.sum())
    good = drawn_from(table, column.filter(~wrong), reading, place, before)
    if policy.on_bad is OnBad.DROP:
        return Drawn(good, ~wrong, None, bad)
    reports = np.empty(len(column), dtype=good.dtype)
    reports[~wrong] = good
    if policy.on_bad is OnBad.CATEGORY:
        reports[wrong] = told(table, sample_codes(table, np.full(bad, policy._code(table))))
        return Drawn(reports, None, None, bad)
    reports[wrong] = None if reports.dtype == object else np.nan
    return Drawn(reports, None, wrong, bad)


def refused(error: InvalidData, bad: int, rows: int) -> InvalidData:
    """The error about the first row that does not fit, which also counts all of them."""
    many = f"{bad:,} of {rows:,} rows do not fit" if bad > 1 else f"the other {rows - 1:,} rows fit"
    step = f"{error.next_step}; {many}" if error.next_step else many
    return InvalidData(error.field, error.value, error.rule, step)


def unfitting(table: Table, column: Any, reading: Reading, place: str) -> Truths:
    """Which rows of a column do not fit the table."""
    return unfit(column, reading_of(table, reading), table.law.domain.holds, place)


def replaced(frame: Any, column: str, found: Drawn) -> Any:
    """A pandas frame with reports in a column, without its index and attributes, which nobody asked to keep."""
    rows = frame if found.kept is None else frame[found.kept]
    told = rows.reset_index(drop=True)
    told.attrs = {}
    told[column] = found.reports  # `assign` takes names that are words only
    return told if found.reports.dtype.kind == "f" else told.astype({column: str})  # of no rows, as of any
