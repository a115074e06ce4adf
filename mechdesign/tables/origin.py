"""Where reports come from: all that lies between a person's value and a report, and how many one person may send."""

from __future__ import annotations

from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.tables import checker
from mechdesign.tables.kinds import FiniteLaw, Law, Listed
from mechdesign.tables.table import MeanEstimator, Table
from mechdesign.tables.workloads import Answering, exact_bias
from mechdesign.values.declare import Floats, derived, evolved, frozen, whole
from mechdesign.words.domains import Finite


@frozen
class Origin:
    """Reports of ``once``, or of ``again`` drawn for what ``once`` gave; of one person there are at most ``most``.

    Where ``remembers``, a person's reports of one value share what ``once`` gave; else each is a draw of its own.
    ``device`` is the hash of the device file that says all this, if one does.

    **What several reports of one person are worth.** Let a report be scored so that the average score of n reports is
    the estimate, and write T for the variance of one score. The scores of different people are independent; of one
    person's r of them Cauchy and Schwarz give ``Var(sum) <= r (sum of their variances)``, with equality where all are
    alike, as those of one memory are. With ``r <= R`` (`most`) the average of all n has a variance of at most
    ``R T / n``: that of n / R people with one report each. Of a score, what the last draw adds is independent of all
    others given what a person's reports share (the remembered draw, or without memory the value): with w for the least
    variance of that draw, over all that can be shared, Cauchy and Schwarz are needed for the rest alone, and

        ``Var(average) <= (R (T - w) + w) / n = (R T - (R - 1) w) / n``.

    So nothing is assumed of how values change, of how many reports each person sent up to R, or of who sent them. What
    is estimated is the average over reports: people count by how many reports they sent.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> table = make_table(randomised_response(1.0, Finite((0, 1))), bits=16)
    >>> (stays, turns), (back, _) = table.law.rows
    >>> Origin(table, table).law.rows[0][0] == stays * stays + turns * back
    True
    """

    once: Table
    again: Table | None = None
    most: int = whole("most", 1, default=1)
    remembers: bool = False
    device: str | None = None
    law: Law | None = derived(lambda origin: _law(origin))
    """That of a report given the value; None where the two draws have none that can be listed."""

    @property
    def table(self) -> Table:
        """The table whose outputs are reported."""
        return self.once if self.again is None else self.again

    @property
    def estimator(self) -> MeanEstimator | None:
        """How the mean of the values is estimated, where it is."""
        first = self.once.estimator
        if self.again is None or first is None:
            return first
        if isinstance(self.law, FiniteLaw):
            return _exact(self.law)
        second = self.again.estimator
        return None if second is None else _in_turn(first, second)

    @property
    def workload(self) -> Answering | None:
        """The workload that the first table answers, its estimator now one of what is reported."""
        said = self.once.workload
        if said is None or self.again is None:
            return said
        if not isinstance(self.law, FiniteLaw):
            rule = "be a finite table where the first one answers a workload"
            raise InvalidInput("again", self.again.kind, rule, "draw again from a finite table")
        estimator = said.estimator @ _second(self.once.law, self.again.law).inverse("again")
        exact = exact_bias(said.queries, estimator, self.law.rows, self.law.whole)
        return evolved(said, estimator=estimator, bias=float(exact))

    def shared(self, variance: Any, last: Any) -> Any:
        """``R T - (R - 1) w``, which over n bounds the variance of the average of n reports."""
        return self.most * variance - (self.most - 1) * np.minimum(last, variance)

    def last_draw(self, scores: Floats) -> Floats:
        """The least variance that the last draw alone gives to scores of the outputs (w above): one for each row."""
        laws = self._last_laws() if self.most > 1 else None
        if laws is None:
            return np.zeros(len(scores))
        return np.asarray(np.maximum((scores**2 @ laws.T - (scores @ laws.T) ** 2).min(axis=1), 0.0))

    def _last_laws(self) -> Floats | None:
        """The laws of a report given what a person's reports share, as rows; None where they are not listed."""
        first, last = self.once.law, self.table.law
        if self.again is not None:
            assert isinstance(first, Listed)
            return last.probabilities(np.array(first.outputs)) if isinstance(last, Listed) else None
        if self.remembers or not isinstance(first, FiniteLaw):
            return None
        return first.probabilities(np.array(first.domain.points))


def _law(origin: Origin) -> Law | None:
    first = origin.once.law
    if origin.again is None:
        return first
    if not (isinstance(first, FiniteLaw) and isinstance(origin.again.law, FiniteLaw)):
        return None
    second = _second(first, origin.again.law)
    columns = list(zip(*second.rows, strict=True))
    rows = tuple(tuple(sum(map(mul, row, column)) for column in columns) for row in first.rows)
    return FiniteLaw(first.domain, first.bits + second.bits, second.outputs, rows)


def _second(first: Law, law: Law) -> FiniteLaw:
    """The second table's rows for what the first gives, in its order."""
    assert isinstance(first, Listed)
    assert isinstance(law, FiniteLaw)
    places = {point: i for i, point in enumerate(law.domain.points)}
    rows = tuple(law.rows[places[output]] for output in first.outputs)
    return FiniteLaw(Finite(first.outputs), law.bits, law.outputs, rows)


def _exact(law: FiniteLaw) -> MeanEstimator:
    """As for a table with these rows."""
    outputs = [Fraction(output) for output in law.outputs]
    sums = [[sum(map(mul, row, (y**p for y in outputs))) / law.whole for p in (1, 2)] for row in law.rows]
    pairs = [(mean, Fraction(x)) for (mean, _), x in zip(sums, law.domain.points, strict=True)]
    said = checker.mean_estimator(pairs, max(second - mean**2 for mean, second in sums))
    return MeanEstimator(of="mean", **{name: Fraction(text) for name, text in said.items() if name != "kind"})


def _in_turn(first: MeanEstimator, second: MeanEstimator) -> MeanEstimator:
    """The first of the second: ``(a + b)^2 <= 2 a^2 + 2 b^2`` where the second's bias varies with what it is given."""
    slope, bias = first.slope * second.slope, abs(first.slope) * second.bias
    before = 2 * (first.variance + bias**2) if bias else first.variance
    intercept = first.slope * second.intercept + first.intercept
    return MeanEstimator(first.bias + bias, intercept, "mean", slope, before + first.slope**2 * second.variance)
