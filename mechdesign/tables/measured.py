"""A table among mechanisms: its errors, in doubles, from its counts; its privacy, exactly, from its check."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.tables.kinds import FiniteLaw, WindowLaw
from mechdesign.tables.table import Table
from mechdesign.values.declare import Floats, field, frozen
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Loss

_MOST_BITS = 53  # counts over 2^bits that doubles hold
_MOST_ENTRIES = 1 << 24
_AT_ONCE = 1 << 22  # entries of rows that are taken together


def _window_table(_: Any, __: Any, table: Table) -> None:
    if not isinstance(table.law, WindowLaw):
        raise InvalidInput("table", table.kind, "be a window table")
    if len(table.law.starts) * len(table.law.outputs) > _MOST_ENTRIES:
        raise InvalidInput("table", len(table.law.outputs), "have fewer outputs to be compared")


@frozen
class MeasuredTable:
    """A window table with what comparisons ask of a mechanism.

    An input has the row of its nearest threshold, so its expected loss is smooth between thresholds and outputs.

    *Guarantee.* `likelihood_ratio` is the exact ratio that the table's check decides. Errors are computed in doubles.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.methods import solve
    >>> from mechdesign.words.losses import Absolute
    >>> from mechdesign.words.privacy import Pure
    >>> from mechdesign.words.problem import Problem
    >>> table = make_table(solve(Problem(inputs=(0, 1), loss="absolute", privacy=Pure(1.0))))
    >>> worst, _ = MeasuredTable(table).worst_case(Absolute())
    >>> abs(worst - float(table.worst_error(1))) < 1e-12
    True
    """

    table: Table = field(validator=_window_table)

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def epsilon(self) -> float:
        return float(self.table.epsilon)

    @property
    def law(self) -> WindowLaw:
        """The table's counts."""
        law = self.table.law
        assert isinstance(law, WindowLaw)
        return law

    @property
    def inputs(self) -> Interval:
        domain: Interval = self.law.domain
        return domain

    @property
    def outputs(self) -> Finite:
        return Finite(self.law.outputs)

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        """``E[loss(Y, x) | x]``."""
        return self._expected(x, loss)

    def moment(self, x: ArrayLike, order: int) -> Floats:
        """``E[Y^order | x]``."""
        power = analysis.require_order(order)
        return self._expected(x, lambda y, _: y**power)

    def _expected(self, x: ArrayLike, of: Callable[[Floats, Floats], Floats]) -> Floats:
        inputs = np.asarray(self.inputs.require(x))
        rows, outputs, turns = _rows(self.table), np.asarray(self.law.outputs), np.asarray(self.law.thresholds)
        flat = inputs.ravel()
        found = np.empty(flat.size)
        step = max(1, _AT_ONCE // outputs.size)
        for start in range(0, flat.size, step):
            some = flat[start : start + step]
            told = np.broadcast_to(of(outputs[None, :], some[:, None]), (some.size, outputs.size))
            found[start : start + step] = np.einsum("ij,ij->i", rows[np.searchsorted(turns, some)], told)
        return found.reshape(inputs.shape)

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        """Thresholds, from both sides, and outputs: the law jumps at the former, losses bend at the latter."""
        del loss
        lower, upper = self.inputs.lower, self.inputs.upper
        turns = np.asarray(self.law.thresholds)
        cuts = np.concatenate([[lower, upper], turns, np.nextafter(turns, np.inf), self.law.outputs])
        return (*np.unique(cuts[(cuts >= lower) & (cuts <= upper)]).tolist(),)

    def likelihood_ratio(self) -> LikelihoodRatio:
        """The table's own, exact."""
        return LikelihoodRatio(self.table.ratio)

    mean = analysis.mean
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss


@lru_cache(maxsize=4)
def _rows(table: Table) -> Floats:
    law = table.law
    assert isinstance(law, WindowLaw)
    return np.array([[count / law.whole for count in law.counts(row)] for row in range(len(law.starts))])


def measured(table: Table) -> Discrete | MeasuredTable:
    """The table as a mechanism whose errors can be compared, or `InvalidInput` that says what to compare instead.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.mechanisms.catalogue import pm, randomised_response
    >>> measured(make_table(randomised_response(1.0, Finite((0, 1))))).name
    'randomised response'
    """
    law = table.law
    instead = "compare the design that it was made from: the table is within rounding of it"
    if isinstance(law, FiniteLaw):
        if table.bits > _MOST_BITS:
            raise InvalidInput("table", f"{table.bits} bits", f"have at most {_MOST_BITS} bits to be compared", instead)
        rows = np.array([[float(Fraction(count, law.whole)) for count in row] for row in law.rows])
        return Discrete(float(table.epsilon), law.domain, Finite(law.outputs), rows, table.name)
    if isinstance(law, WindowLaw):
        return MeasuredTable(table)
    raise InvalidInput("table", f"a table of kind {table.kind}", "be of kind window or finite to be compared", instead)
