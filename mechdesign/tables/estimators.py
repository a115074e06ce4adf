"""What reports of a table tell: the mean, frequencies or direction of the inputs, each with a confidence interval.

A `Tally` keeps sums of whole numbers only, so reports may come in batches of any size and tallies be merged in any
order: the result is the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidData, InvalidInput, WrongArguments, require_number, require_whole
from mechdesign.intervals import reach_of_mean, require_confidence, sample_variance
from mechdesign.tables.kinds import VECTOR_UNIT, FiniteLaw, ItemsLaw, Listed, PiecesLaw, Reading, UnaryLaw
from mechdesign.tables.kinds.items import Rows
from mechdesign.tables.kinds.law import Moments
from mechdesign.tables.origin import Origin
from mechdesign.tables.reports.payload import rows_of_reports
from mechdesign.tables.shares import shares_of
from mechdesign.tables.table import MeanEstimator, Table
from mechdesign.tables.unlikely import likely
from mechdesign.tables.workloads import increasing
from mechdesign.values.declare import Floats
from mechdesign.words.domains import Circle, Finite, Interval

QUANTITIES = ("mean", "frequencies", "direction", "workload")

_CHUNK = 1 << 18


def _taken_as_number(found: object, other: object) -> NoReturn:
    """An estimate is no number: what the interval of a difference or sum is depends on who is in both."""
    step = "where nobody is in both, the deviation of a difference is the root of the sum of both squares"
    got = f"arithmetic with {type(other).__name__}"
    raise WrongArguments(type(found), got, "be taken by its number to be reckoned with, .estimate", step)


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """An estimate and an interval; ``deviation`` is the estimate's standard deviation that the interval used.

    ``bias`` bounds the table's bias, and is a part of the half width that more reports do not narrow. ``people`` of
    this and other estimates are those who made the reports at the least, where one may have made several.
    """

    estimate: float
    lower: float
    upper: float
    count: int
    deviation: float
    bias: float
    confidence: float
    people: int | None = None
    unlikely: int = 0

    __sub__ = __rsub__ = __add__ = __radd__ = _taken_as_number


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyEstimate:
    """The share of every point, with one interval each, and the covariance; ``labels`` name the points if they do.

    Tables of items, which may be many, have ``deviations`` in place of a covariance; where people may have made several
    reports, whose covariance is a bound, ``deviations`` may be less than it says. Of sketches ``collided`` are the
    parts of the squared reaches below and above that all reports of the same functions share.
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
    people: int | None = None
    unlikely: int = 0
    collided: tuple[Floats, Floats] | tuple[float, float] = (0.0, 0.0)

    __sub__ = __rsub__ = __add__ = __radd__ = _taken_as_number

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
    people: int | None = None
    unlikely: int = 0

    __sub__ = __rsub__ = __add__ = __radd__ = _taken_as_number


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
    people: int | None = None
    unlikely: int = 0

    __sub__ = __rsub__ = __add__ = __radd__ = _taken_as_number

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


_Reaches = Callable[[float], tuple[Floats, Floats]]


class Tally:
    """Reports of one table, or of a device (`Origin`), as the sums that estimates need.

    >>> from mechdesign.tables import make_table, sample
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> table = make_table(randomised_response(1.0, Finite((0, 1))))
    >>> tally = Tally(table).add(sample(table, [1.0] * 9000)).add(sample(table, [0.0] * 1000))
    >>> found = tally.mean(confidence=0.999999)
    >>> tally.count, found.lower < 0.9 < found.upper
    (10000, True)
    """

    __slots__ = ("_sums", "count", "origin", "table", "unlikely")

    def __init__(self, origin: Table | Origin) -> None:
        self.origin = origin if isinstance(origin, Origin) else Origin(origin)
        table = self.origin.table
        if table.law.is_clamped:
            rule = "keep the reports outside the domain: clamped ones have a bias that no affine map takes away"
            raise InvalidInput("table", table.name, rule, "make the table from the mechanism without the clamp")
        self.table = table
        self.count = 0
        self.unlikely = 0
        """Reports that were left out, as no honest client sends them (`mechdesign.tables.unlikely`)."""
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
        reading, judged = _reading(self.table), likely(self.table.law)
        sums: list[int] = []
        out = 0
        for begin in range(0, values.size, _CHUNK):
            chunk = values[begin : begin + _CHUNK].astype(np.float64)
            places, wrong = reading.find(chunk)
            if wrong.any():
                position = int(np.argmax(wrong))
                step = "were they drawn from another table, or rounded on the way?"
                raise InvalidData(
                    f"reports[{begin + position}]", float(chunk[position]), "be a possible output of the table", step
                )
            if judged is not None and (unlikely := judged.leaves_out(chunk)).any():
                out += int(unlikely.sum())
                places = places[~unlikely]
            sums = _added(sums, reading.add_up(places))
        self._sums = _added(self._sums, sums)
        self.count += values.size - out
        self.unlikely += out
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
        judged = likely(self.table.law)
        kept = rows if judged is None else rows[~judged.leaves_out(rows)]
        self._sums = _added(self._sums, reading.add_up(kept))
        self.count += len(kept)
        self.unlikely += len(rows) - len(kept)
        return self

    def merge(self, other: Tally) -> Tally:
        """Take in all that another tally of the same origin has."""
        if other.origin != self.origin:
            rule = f"be of the table {self.table.sha256[:12]}, and of the same device if one made its reports"
            raise InvalidInput("tally", other.table.sha256[:12], rule)
        self._sums = _added(self._sums, other._sums)
        self.count += other.count
        self.unlikely += other.unlikely
        return self

    def estimate(self, confidence: float = 0.95, of: str | None = None) -> Estimate:
        """One of `QUANTITIES`: by default the direction on a circle, frequencies where inputs have labels, else the
        mean."""
        asked = self.origin.once
        are_items = asked.labels.inputs is not None or asked.chances is not None
        usual = "frequencies" if are_items else "mean"
        if asked.workload is not None:
            usual = "workload"
        wanted = of or ("direction" if isinstance(asked.domain, Circle) else usual)
        found: Estimate = getattr(self, wanted)(confidence)
        return replace(found, unlikely=self.unlikely)

    def mean(self, confidence: float = 0.95) -> MeanEstimate:
        """The average of the inputs, by the origin's ``Z = slope Y + intercept``: of a table it is the table's own.

        The interval is the average of Z with the reach of a mean on either side (`reach_of_mean`) and the bias. The
        variance is that seen in the reports, which holds the noise and the spread of the inputs. It covers the mean of
        the population that the inputs were drawn from, and so the more surely the average of these n inputs. What so
        many reports cannot have shown lies at an extreme output; where outputs have no end it lies at an end of the
        inputs, and the variance is at least the file's. Where a person may have made several reports, variances are
        those of `Origin`, and there are as few people as can be.
        """
        require_confidence(confidence)
        said = self._estimator()
        total, squares, ends = self._moments()
        average, people = total / self.count, self._people
        variance = (squares / self.count - average**2) * people / max(people - 1, Fraction(1)) * said.slope**2
        if ends is not None:
            low, high = (float(said.slope * end + said.intercept) for end in ends)
        else:
            variance, (low, high) = max(variance, said.variance), self._input_ends()
        shared, middle = self.origin.shared(variance, self._last_draw_of_means(said)), said.slope * average
        reach = self._reach(float(middle + said.intercept), float(shared), (low, high), confidence)
        return self._mean(average, shared, (float(reach[0]), float(reach[1])), confidence)

    def _reach(self, means: Any, shared: Any, ends: Any, confidence: float) -> tuple[Floats, Floats]:
        """Of averages over all reports, whose variance is ``shared / n``; nobody has made more reports than one may."""
        return reach_of_mean(means, shared / self.origin.most, float(self._people), ends, confidence)

    def guaranteed_mean(self, confidence: float = 0.95) -> MeanEstimate:
        """The average of these n inputs, for any n and any inputs: Chebyshev's inequality, the file's worst variance.

        The half width is ``sqrt(variance / (n (1 - confidence))) + bias``. It says nothing of a population.
        """
        require_confidence(confidence)
        total, _, _ = self._moments()
        variance = self.origin.shared(self._estimator().variance, Fraction(0))
        half = math.sqrt(variance / self.count) / math.sqrt(1 - confidence)
        return self._mean(total / self.count, variance, (half, half), confidence)

    def frequencies(self, confidence: float = 0.95) -> FrequencyEstimate:
        """The share of every point of a finite domain among the inputs, without bias.

        With the channel W, ``f = L c / n`` for the L of least squares with ``L W^T = I``, weighted by the chances of
        the outputs under equal shares; for randomised response ``(c / n - q) / (p - q)``. Shares sum to 1 and may be
        negative. ``covariance`` is that of n reports with the shares ``c / n`` of the outputs,
        ``L (diag(c / n) - (c / n)(c / n)^T) L^T / n``: it holds the noise and the drawing of inputs from a population.
        Each interval is that of a mean, as in `mean`: of what its row of L says for each report. Where a person may
        have made several reports, the covariance is a bound, that of as few people as can be, and ``deviations`` are
        those of `Origin`.
        """
        require_confidence(confidence)
        law, asked = self.origin.law, self.origin.once
        if isinstance(law, ItemsLaw):
            n = self._require_reports()
            found = shares_of(self.origin, self._sums, n, confidence)
            about = np.array(law.domain.points), found.estimates, found.lower, found.upper, n
            labels, errors = asked.labels.inputs, found.errors
            rest = labels, errors, self._told_people
            return FrequencyEstimate(*about, None, confidence, *rest, collided=found.collided)
        if not isinstance(law, FiniteLaw):
            kinds = asked.kind if self.origin.again is None else f"{asked.kind} and {self.origin.again.kind}"
            rule = "have a finite domain to estimate frequencies, and finite rows"
            raise InvalidInput("table", f"{kinds} table", rule, "take the mean, or the direction on a circle")
        n = self._require_reports()
        inverse = _inverse(self.origin)
        shares = np.array(self._sums) / n
        estimates = inverse @ shares
        covariance, reaches = self._reaches(inverse, shares, estimates)
        below, above = reaches(confidence)
        points = np.array(law.domain.points)
        lower, upper, labels = estimates - below, estimates + above, asked.labels.inputs
        deviations = None
        if self.origin.most > 1:
            variances = np.diagonal(covariance) * float(self._people)
            deviations = np.sqrt(self.origin.shared(variances, self.origin.last_draw(inverse)) / n)
        said = points, estimates, lower, upper, n, covariance, confidence, labels
        return FrequencyEstimate(*said, deviations, self._told_people)

    def _reaches(self, inverse: Floats, shares: Floats, means: Floats) -> tuple[Floats, _Reaches]:
        """The covariance of estimates ``L s``, and how far their intervals reach below and above by the confidence."""
        people, ends = float(self._people), (inverse.min(axis=1), inverse.max(axis=1))
        covariance = _covariance(inverse, shares, means, people)
        variances = sample_variance(np.diagonal(covariance) * people, people)
        shared = self.origin.shared(variances, self.origin.last_draw(inverse))
        return covariance, lambda confidence: self._reach(means, shared, ends, confidence)

    def workload(self, confidence: float = 0.95) -> WorkloadEstimate:
        """The answers of the workload that the table was designed for.

        With the estimator V of the file, ``V c / n`` for the counts c of the outputs. Covariance and intervals are as
        in `frequencies`: they hold the noise and the drawing of inputs from a population.
        """
        require_confidence(confidence)
        said = self.origin.workload
        if said is None:
            step = "make it from a design of a workload: python -m mechdesign workload ... --out design.json"
            raise InvalidInput("table", self.origin.once.name, "hold a workload to answer one", step)
        n = self._require_reports()
        shares = np.array(self._sums) / n
        answers = said.estimator @ shares
        covariance, reaches = self._reaches(said.estimator, shares, answers)
        below, above = reaches(confidence)
        lower, upper = answers - below - said.bias, answers + above + said.bias
        monotone, band = None, None
        if said.is_distribution:
            deviations = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
            least = max(float(deviations.max()) * 1e-6, 1e-12)
            monotone = increasing(answers, 1 / np.maximum(deviations, least) ** 2)
            below, above = reaches(1 - (1 - confidence) / max(1, len(answers) - 1))
            first, last = answers - below - said.bias, answers + above + said.bias
            first[-1] = last[-1] = 1.0  # all types: known
            band = (
                np.clip(np.maximum.accumulate(first), 0.0, 1.0),
                np.clip(np.minimum.accumulate(last[::-1])[::-1], 0.0, 1.0),
            )
        about = said.names, answers, lower, upper, n, covariance, confidence, said.bias, monotone, band
        return WorkloadEstimate(*about, self._told_people)

    def direction(self, confidence: float = 0.95) -> DirectionEstimate:
        """The direction of the mean of the inputs' unit vectors, on a circle.

        The noise is symmetric about the input, up to half a cell: it shortens the mean vector and does not turn it.
        With the mean resultant (R, phi) of the reports' angles, ``sin(phi - true)`` has by the delta method variance
        ``mean(sin^2(angle - phi)) / (n R^2)``, and the interval is ``phi`` plus and minus the arc sine of the reach of
        the mean of these sines over R, the whole circle past 1. What n reports cannot have shown is at right angles.
        """
        require_confidence(confidence)
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
        variance = float(self.origin.shared(sample_variance(across, float(self._people)), 0.0))
        reach = float(self._reach(0.0, variance, (-1.0, 1.0), confidence)[0])
        deviation = min(math.sqrt(variance / n) / length, math.pi) if length else math.pi
        period = law.domain.period
        unit = period / math.tau
        cell = law.step
        half = min(math.asin(reach / length) * unit + cell, period / 2) if reach < length else period / 2
        at = angle % math.tau * unit
        resultant = length / abs(shrink)
        about = at, at - half, at + half, n, resultant, deviation * unit, confidence
        return DirectionEstimate(*about, self._told_people)

    def _estimator(self) -> MeanEstimator:
        asked = self.origin.once
        if asked.labels.inputs is not None:
            step = "take frequencies, or make the table for the numbers themselves: --domain LO..HI"
            raise InvalidInput("table", asked.name, "have numbers as inputs to estimate a mean, not labels", step)
        if asked.chances is not None:
            raise InvalidInput("table", asked.name, "have numbers as reports to estimate a mean", "take frequencies")
        found = self.origin.estimator
        if found is None:
            rule = "be of an interval or a finite domain to estimate a mean"
            raise InvalidInput("table", f"table on {asked.domain}", rule, "take the direction")
        return found

    def _last_draw_of_means(self, said: MeanEstimator) -> Fraction:
        """The least variance that the last draw gives to Z."""
        law = self.table.law
        if self.origin.most == 1 or not isinstance(law, Listed):
            return Fraction(0)
        scores = float(said.slope) * np.array([law.outputs])
        return Fraction(float(self.origin.last_draw(scores)[0]))

    @property
    def _people(self) -> Fraction:
        """As few as can have made the reports."""
        return Fraction(self.count, self.origin.most)

    @property
    def _told_people(self) -> int | None:
        return None if self.origin.most == 1 else math.ceil(self._people)

    def _input_ends(self) -> tuple[float, float]:
        domain = self.origin.once.domain
        assert isinstance(domain, Interval | Finite)
        return domain.lower, domain.upper

    def _mean(
        self, average: Fraction, variance: Fraction, reach: tuple[float, float], confidence: float
    ) -> MeanEstimate:
        said = self._estimator()
        estimate = float(said.slope * average + said.intercept)
        deviation = math.sqrt(variance / self.count)
        bias = float(said.bias)
        lower, upper = estimate - reach[0] - bias, estimate + reach[1] + bias
        about = estimate, lower, upper, self.count, deviation, bias, confidence
        return MeanEstimate(*about, self._told_people)

    def _moments(self) -> Moments:
        """The sums of Y and Y^2, exactly, and the least and largest Y there is, if there are."""
        self._estimator()
        return self.table.law.moments(self._sums, self._require_reports())

    def _require_reports(self) -> int:
        if not self.count:
            raise InvalidInput("reports", 0, "be at least one", "add the reports first")
        return self.count


def merged(origin: Table | Origin, *tallies: Tally) -> Tally:
    """All that the tallies of one origin have."""
    total = Tally(origin)
    for count in tallies:
        total.merge(count)
    return total


def _added(sums: list[int], more: list[int]) -> list[int]:
    return [a + b for a, b in zip(sums, more, strict=True)] if sums and more else sums or more


def _covariance(inverse: Floats, shares: Floats, means: Floats, n: float) -> Floats:
    """``L (diag(s) - s s^T) L^T / n`` about the means ``L s``, so that no variance is rounded below 0."""
    centred = inverse - means[:, None]
    return np.asarray((centred * shares) @ centred.T / n)


@lru_cache(maxsize=16)
def _reading(table: Table) -> Reading:
    return table.law.reading()


@lru_cache(maxsize=16)
def _inverse(origin: Origin) -> Floats:
    assert isinstance(origin.law, FiniteLaw)
    instead = ", or take the mean" if origin.once.labels.inputs is None else ""  # labels have none
    return origin.law.inverse("table", instead)
