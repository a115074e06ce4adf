"""What reports of a table tell: the mean, frequencies or direction of the inputs, each with a confidence interval.

A `Tally` keeps sums of whole numbers only, so reports may come in batches of any size and tallies be merged in any
order: the result is the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.deploy.kinds import VECTOR_UNIT, FiniteLaw, ItemsLaw, Listed, PiecesLaw, Reading, UnaryLaw
from mechdesign.deploy.kinds.items import Rows
from mechdesign.deploy.kinds.law import Moments
from mechdesign.deploy.report_bytes import rows_of_reports
from mechdesign.deploy.shares import shares_of
from mechdesign.deploy.table import MeanEstimator, Table
from mechdesign.deploy.workloads import increasing
from mechdesign.domains import Circle
from mechdesign.errors import InvalidData, InvalidInput, require_number, require_whole
from mechdesign.values.declare import Floats

QUANTITIES = ("mean", "frequencies", "direction", "workload")

_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """An estimate and an interval; ``deviation`` is the estimate's standard deviation that the interval used.

    ``bias`` bounds the table's bias, and is a part of the half width that more reports do not narrow.
    """

    estimate: float
    lower: float
    upper: float
    count: int
    deviation: float
    bias: float
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyEstimate:
    """The share of every point, with one interval each, and the covariance; ``labels`` name the points if they do.

    Tables of items, which may be many, have ``deviations`` in place of a covariance.
    """

    points: Floats
    estimates: Floats
    lower: Floats
    upper: Floats
    count: int
    covariance: Floats | None
    confidence: float
    labels: tuple[str, ...] | None = None
    deviations: Floats | None = None

    @property
    def standard_errors(self) -> Floats:
        """The standard deviation of each estimate."""
        if self.deviations is not None:
            return self.deviations
        assert self.covariance is not None
        return np.asarray(np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0)))


@dataclass(frozen=True, slots=True)
class DirectionEstimate:
    """A direction on the circle; ``lower <= estimate <= upper`` may leave ``[0, period)``, and span it all.

    ``resultant`` estimates how much the inputs agree: the length of the mean of their unit vectors, 1 if all are equal.
    """

    estimate: float
    lower: float
    upper: float
    count: int
    resultant: float
    deviation: float
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class WorkloadEstimate:
    """The answer of each query with an interval of its own, and the covariance.

    Where they are a distribution function, ``monotone`` is the nearest that is one, and ``band`` (lower and upper ends)
    holds the whole function with the confidence: each query has an equal share of what may be missed (Bonferroni).
    ``bias`` bounds the estimator's bias, which intervals and band include.
    """

    names: tuple[str, ...]
    estimates: Floats
    lower: Floats
    upper: Floats
    count: int
    covariance: Floats
    confidence: float
    bias: float
    monotone: Floats | None = None
    band: tuple[Floats, Floats] | None = None

    def quantile(self, share: float) -> tuple[int, int, int]:
        """The first type up to which there are at least so many, and the first and the last that it can be.

        The interval holds for all quantiles at once with the confidence, as it reads them off the band.
        """
        if self.monotone is None or self.band is None:
            rule = "be those of a distribution function to have quantiles"
            raise InvalidInput("workload", "other queries", rule, "design one: workload --queries prefix")
        if not 0 < require_number(share, "quantile") <= 1:
            raise InvalidInput("quantile", share, "lie above 0 and be at most 1", "0.5 is the median")
        last = len(self.names) - 1

        def first(values: Floats) -> int:
            reached = np.flatnonzero(values >= share)
            return int(reached[0]) if reached.size else last

        low, high = self.band
        return first(self.monotone), first(np.maximum.accumulate(high)), first(np.maximum.accumulate(low))


Estimate = WorkloadEstimate | MeanEstimate | FrequencyEstimate | DirectionEstimate


def require_quantity(of: str | None) -> None:
    """One of `QUANTITIES`, or none."""
    if of is not None and of not in QUANTITIES:
        raise InvalidInput("of", of, f"be one of {', '.join(QUANTITIES)}")


class Tally:
    """Reports of one table, as the sums its estimates need.

    >>> from mechdesign.deploy import make_table, sample
    >>> from mechdesign.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> table = make_table(randomised_response(1.0, Finite((0, 1))))
    >>> tally = Tally(table).add(sample(table, [1.0] * 9000)).add(sample(table, [0.0] * 1000))
    >>> found = tally.mean(confidence=0.999999)
    >>> tally.count, found.lower < 0.9 < found.upper
    (10000, True)
    """

    __slots__ = ("_sums", "count", "table")

    def __init__(self, table: Table) -> None:
        if table.law.is_clamped:
            rule = "keep the reports outside the domain: clamped ones have a bias that no affine map takes away"
            raise InvalidInput("table", table.name, rule, "make the table from the mechanism without the clamp")
        self.table = table
        self.count = 0
        self._sums: list[int] = []

    def add(self, reports: ArrayLike) -> Tally:
        """Take in a list of reports; the first that this table cannot give is an `InvalidInput`, and none is added.

        Where outputs have labels, reports are labels.
        """
        names = self.table.output_names
        return self.add_codes(reports if names is None else names.codes(reports, "reports"))

    def add_codes(self, reports: ArrayLike) -> Tally:
        """The same for reports in the numbers of the table's file, as samplers that know no labels give them."""
        if isinstance(self.table.law, ItemsLaw):
            return self.add_rows(rows_of_reports(self.table.law, reports))
        try:
            values = np.asarray(reports)
        except (TypeError, ValueError):
            raise InvalidData("reports", reports, "be one list of numbers, not lists of several lengths") from None
        if isinstance(reports, np.ma.MaskedArray) and np.ma.getmaskarray(reports).any():
            raise InvalidInput("reports", "a masked array", "have no masked entries", "drop what is missing first")
        if values.ndim != 1 or (values.size and values.dtype.kind not in "fiu"):
            raise InvalidInput("reports", f"{values.dtype} of shape {values.shape}", "be one list of numbers")
        reading = _reading(self.table)
        sums: list[int] = []
        for begin in range(0, values.size, _CHUNK):
            chunk = values[begin : begin + _CHUNK].astype(np.float64)
            places, wrong = reading.find(chunk)
            if wrong.any():
                position = int(np.argmax(wrong))
                step = "were they drawn from another table, or rounded on the way?"
                raise InvalidData(
                    f"reports[{begin + position}]", float(chunk[position]), "be a possible output of the table", step
                )
            sums = _added(sums, reading.add_up(places))
        self._sums = _added(self._sums, sums)
        self.count += values.size
        return self

    def add_counts(self, counts: Sequence[int]) -> Tally:
        """Take in reports that are counted already: how often each output of the table's list came, in its order."""
        law = self.table.law
        if not isinstance(law, Listed):
            raise InvalidInput("table", f"{self.table.kind} table", "list its outputs", "add the reports themselves")
        several = [require_whole(count, f"counts[{i}]", 0) for i, count in enumerate(counts)]
        if len(several) != len(law.outputs):
            raise InvalidInput("counts", len(several), f"be {len(law.outputs)}, one for each output")
        self._sums = _added(self._sums, several)
        self.count += sum(several)
        return self

    def add_ones(self, ones: Sequence[int], reports: int) -> Tally:
        """Take in so many reports of unary encoding by how many of them have each bit 1, in the order of the items."""
        law = self.table.law
        if not isinstance(law, UnaryLaw):
            raise InvalidInput(
                "table", f"{self.table.kind} table", "be of unary encoding", "add the reports themselves"
            )
        number = require_whole(reports, "reports", 0)
        several = [require_whole(count, f"ones[{i}]", 0, number) for i, count in enumerate(ones)]
        if len(several) != law.count:
            raise InvalidInput("ones", len(several), f"be {law.count}, one for each item")
        self._sums = _added(self._sums, several)
        self.count += number
        return self

    def add_rows(self, rows: Rows) -> Tally:
        """The same for reports that are bytes, one row each."""
        reading = _reading(self.table)
        _, wrong = reading.find(rows)
        if wrong.any():
            rule, step = "be a possible report of the table", "were they made from another table?"
            raise InvalidData(f"reports[{int(np.argmax(wrong))}]", "bytes", rule, step)
        self._sums = _added(self._sums, reading.add_up(rows))
        self.count += len(rows)
        return self

    def merge(self, other: Tally) -> Tally:
        """Take in all that another tally of the same table has."""
        if other.table != self.table:
            raise InvalidInput("tally", other.table.sha256[:12], f"be of the table {self.table.sha256[:12]}")
        self._sums = _added(self._sums, other._sums)
        self.count += other.count
        return self

    def estimate(self, confidence: float = 0.95, of: str | None = None) -> Estimate:
        """One of `QUANTITIES`: by default the direction on a circle, frequencies where inputs have labels, else the
        mean."""
        are_items = self.table.labels.inputs is not None or self.table.chances is not None
        usual = "frequencies" if are_items else "mean"
        if self.table.workload is not None:
            usual = "workload"
        wanted = of or ("direction" if isinstance(self.table.domain, Circle) else usual)
        found: Estimate = getattr(self, wanted)(confidence)
        return found

    def mean(self, confidence: float = 0.95) -> MeanEstimate:
        """The average of the inputs, by the table's own ``Z = slope Y + intercept``.

        The interval is the average of Z, plus and minus ``z deviation + bias``, a normal approximation with the
        variance seen in the reports, which holds the noise and the spread of the inputs. It covers the mean of the
        population that the inputs were drawn from, and so the more surely the average of these n inputs. So that few
        reports do not look too sure: where outputs are bounded the variance is that of the reports with ``z^2 / 2``
        more at either extreme output (as Agresti and Coull do for a share); else it is at least the file's.
        """
        z = _quantile(confidence)
        said = self._estimator()
        total, squares, ends = self._moments()
        average = total / self.count
        around = squares - total * average
        if ends is not None:
            variance = _variance(around, average, ends, self.count, z) * said.slope**2
        else:
            seen = around / (self.count - 1) if self.count > 1 else Fraction(0)
            variance = max(seen * said.slope**2, said.variance)
        return self._mean(average, variance, z, confidence)

    def guaranteed_mean(self, confidence: float = 0.95) -> MeanEstimate:
        """The average of these n inputs, for any n and any inputs: Chebyshev's inequality, the file's worst variance.

        The half width is ``sqrt(variance / (n (1 - confidence))) + bias``. It says nothing of a population.
        """
        _quantile(confidence)
        total, _, _ = self._moments()
        return self._mean(total / self.count, self._estimator().variance, 1 / math.sqrt(1 - confidence), confidence)

    def frequencies(self, confidence: float = 0.95) -> FrequencyEstimate:
        """The share of every point of a finite domain among the inputs, without bias.

        With the channel W, ``f = L c / n`` for the L of least squares with ``L W^T = I``, weighted by the chances of
        the outputs under equal shares; for randomised response ``(c / n - q) / (p - q)``. Shares sum to 1 and may be
        negative. ``covariance`` is that of n reports with the shares ``c / n`` of the outputs,
        ``L (diag(c / n) - (c / n)(c / n)^T) L^T / n``: it holds the noise and the drawing of inputs from a population.
        Each interval is normal, with ``z^2 / 2`` more reports at either extreme of its row of L as in `mean`.
        """
        z = _quantile(confidence)
        law, chances = self.table.law, self.table.chances
        if isinstance(law, ItemsLaw) and chances is not None:
            n = self._require_reports()
            found = shares_of(law, chances, self._sums, n, confidence)
            about = np.array(law.domain.points), found.estimates, found.lower, found.upper, n
            return FrequencyEstimate(*about, None, confidence, self.table.labels.inputs, found.errors)
        if not isinstance(self.table.law, FiniteLaw):
            rule = "have a finite domain to estimate frequencies"
            raise InvalidInput("table", f"{self.table.kind} table", rule, "take the mean, or the direction on a circle")
        n = self._require_reports()
        inverse = _inverse(self.table)
        shares = np.array(self._sums) / n
        estimates = inverse @ shares
        covariance = _covariance(inverse, shares, estimates, n)
        ends = inverse.min(axis=1), inverse.max(axis=1)
        around = np.diag(covariance) * n * n
        half = z * np.sqrt(_variance(around, estimates, ends, n, z) / n)
        points = np.array(self.table.law.domain.points)
        lower, upper, labels = estimates - half, estimates + half, self.table.labels.inputs
        return FrequencyEstimate(points, estimates, lower, upper, n, covariance, confidence, labels)

    def workload(self, confidence: float = 0.95) -> WorkloadEstimate:
        """The answers of the workload that the table was designed for.

        With the estimator V of the file, ``V c / n`` for the counts c of the outputs. Covariance and intervals are as
        in `frequencies`: they hold the noise and the drawing of inputs from a population.
        """
        z = _quantile(confidence)
        said = self.table.workload
        if said is None:
            step = "make it from a design of a workload: python -m mechdesign workload ... --out design.json"
            raise InvalidInput("table", self.table.name, "hold a workload to answer one", step)
        n = self._require_reports()
        shares = np.array(self._sums) / n
        answers, inverse = said.estimator @ shares, said.estimator
        covariance = _covariance(inverse, shares, answers, n)
        around = np.diag(covariance) * n * n
        ends = inverse.min(axis=1), inverse.max(axis=1)

        def half(z: float) -> Floats:
            return np.asarray(z * np.sqrt(_variance(around, answers, ends, n, z) / n) + said.bias)

        lower, upper = answers - half(z), answers + half(z)
        monotone, band = None, None
        if said.is_distribution:
            deviations = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
            least = max(float(deviations.max()) * 1e-6, 1e-12)
            monotone = increasing(answers, 1 / np.maximum(deviations, least) ** 2)
            together = half(_quantile(1 - (1 - confidence) / max(1, len(answers) - 1)))
            together[-1] = 0.0  # all types: known
            band = (
                np.clip(np.maximum.accumulate(answers - together), 0.0, 1.0),
                np.clip(np.minimum.accumulate((answers + together)[::-1])[::-1], 0.0, 1.0),
            )
            band[0][-1] = band[1][-1] = 1.0
        return WorkloadEstimate(said.names, answers, lower, upper, n, covariance, confidence, said.bias, monotone, band)

    def direction(self, confidence: float = 0.95) -> DirectionEstimate:
        """The direction of the mean of the inputs' unit vectors, on a circle.

        The noise is symmetric about the input, up to half a cell: it shortens the mean vector and does not turn it.
        With the mean resultant (R, phi) of the reports' angles, ``sin(phi - true)`` has by the delta method variance
        ``mean(sin^2(angle - phi)) / (n R^2)``, and the interval is ``phi`` plus and minus ``arcsin(z deviation)``, the
        whole circle past 1; ``z^2 / 2`` more reports at right angles on either side keep few reports from being too
        sure.
        """
        z = _quantile(confidence)
        law = self.table.law
        if not (isinstance(law, PiecesLaw) and law.is_circle):
            rule = "be of a circle to estimate a direction"
            raise InvalidInput("table", f"table on {self.table.domain}", rule, "take the mean")
        n = self._require_reports()
        cosine, sine, double_cosine, double_sine = (total / (VECTOR_UNIT * n) for total in self._sums)
        shrink = law.shrinkage(self.table.name)
        angle = math.atan2(math.copysign(1.0, shrink) * sine, math.copysign(1.0, shrink) * cosine)
        length = math.hypot(cosine, sine)
        across = (1 - double_cosine * math.cos(2 * angle) - double_sine * math.sin(2 * angle)) / 2
        variance = _variance(max(across, 0.0) * n, 0.0, (-1.0, 1.0), n, z)
        deviation = min(math.sqrt(variance / n) / length, math.pi) if length else math.pi
        period = law.domain.period
        unit = period / math.tau
        cell = law.step
        half = min(math.asin(z * deviation) * unit + cell, period / 2) if z * deviation < 1 else period / 2
        at = angle % math.tau * unit
        resultant = length / abs(shrink)
        return DirectionEstimate(at, at - half, at + half, n, resultant, deviation * unit, confidence)

    def _estimator(self) -> MeanEstimator:
        if self.table.labels.inputs is not None:
            step = "take frequencies, or make the table for the numbers themselves: --domain LO..HI"
            raise InvalidInput("table", self.table.name, "have numbers as inputs to estimate a mean, not labels", step)
        found = self.table.estimator
        if self.table.chances is not None:
            raise InvalidInput(
                "table", self.table.name, "have numbers as reports to estimate a mean", "take frequencies"
            )
        if found is None:
            rule = "be of an interval or a finite domain to estimate a mean"
            raise InvalidInput("table", f"table on {self.table.domain}", rule, "take the direction")
        return found

    def _mean(self, average: Fraction, variance: Fraction, width: float, confidence: float) -> MeanEstimate:
        said = self._estimator()
        estimate = float(said.slope * average + said.intercept)
        deviation = math.sqrt(variance / self.count)
        bias = float(said.bias)
        half = width * deviation + bias
        return MeanEstimate(estimate, estimate - half, estimate + half, self.count, deviation, bias, confidence)

    def _moments(self) -> Moments:
        """The sums of Y and Y^2, exactly, and the least and largest Y there is, if there are."""
        self._estimator()
        return self.table.law.moments(self._sums, self._require_reports())

    def _require_reports(self) -> int:
        if not self.count:
            raise InvalidInput("reports", 0, "be at least one", "add the reports first")
        return self.count


def merged(table: Table, *tallies: Tally) -> Tally:
    """All that the tallies of one table have."""
    total = Tally(table)
    for count in tallies:
        total.merge(count)
    return total


def _added(sums: list[int], more: list[int]) -> list[int]:
    return [a + b for a, b in zip(sums, more, strict=True)] if sums and more else sums or more


def _quantile(confidence: float) -> float:
    from scipy.stats import norm

    if not 0 < require_number(confidence, "confidence") < 1:
        raise InvalidInput("confidence", confidence, "lie strictly between 0 and 1", "pass for example 0.95")
    return float(norm.isf((1 - confidence) / 2))


def _variance(around: Any, centre: Any, ends: Any, count: int, z: float) -> Any:
    """The mean square about the centre, as if ``z^2 / 2`` more reports had come at either end."""
    reach = (centre - ends[0]) ** 2 + (ends[1] - centre) ** 2
    half = Fraction(z * z / 2) if isinstance(around, Fraction) else z * z / 2
    return (around + half * reach) / count


def _covariance(inverse: Floats, shares: Floats, means: Floats, n: int) -> Floats:
    """``L (diag(s) - s s^T) L^T / n`` about the means ``L s``, so that no variance is rounded below 0."""
    centred = inverse - means[:, None]
    return np.asarray((centred * shares) @ centred.T / n)


@lru_cache(maxsize=16)
def _reading(table: Table) -> Reading:
    return table.law.reading()


@lru_cache(maxsize=16)
def _inverse(table: Table) -> Floats:
    assert isinstance(table.law, FiniteLaw)
    return table.law.inverse("table", ", or take the mean" if table.labels.inputs is None else "")  # labels have none
