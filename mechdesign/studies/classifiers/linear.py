"""Linear classifiers: boxes decided in closed form, and the probability that the label is kept, enclosed.

The label is kept where all margins ``w . y + b`` to the other labels are above 0. The law of one margin is a sum of
independent ``w_i M_i(x_i)``. Each term is rounded down to a grid of step h, and the laws on the grid are convolved:
the sum S then lies in ``[S', S' + d h)`` for its rounded value S', so

    ``Pr[S' > 0] <= Pr[S > 0] <= Pr[S' + d h > 0]``.

Mass beyond the grid (of noise that is not moved into [0, 1]) counts against the lower and for the upper bound. Where
all outputs are finitely many and few, the sum is over them all, exactly. With several margins ``max_c Pr[lost to c] <=
Pr[lost] <= sum_c Pr[lost to c]``: two labels give an interval as narrow as the grid, more labels a wider one.

**Swept**. Up to three coordinates are enclosed in a second way, for any number of labels. The other coordinates are
cut into boxes. For those of one box, the last coordinate keeps the label surely on one interval, and possibly on a
wider one, since the region is convex: both ends are linear in the bounds of the margins over the box. The boxes at
which the two differ most are cut on. Both enclosures hold, and so does what they have in common.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mechdesign.studies.classifiers.cells import ROUNDING, Enclosure
from mechdesign.studies.classifiers.concentration import Perturbation
from mechdesign.studies.classifiers.models import Record
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.values.later import signal

BINS = 1 << 14
_FEW, _FEW_TERMS = 2_000_000, 8
_TAIL = 1e-9
_SWEPT, _MOST_SWEPT, _CLOSED, _NARROW = 3, 1 << 13, 1e-12, 1e-3
_OF_FFT = 1e-14  # what a convolution by Fourier transform may be off, an entry


@frozen
class LinearRegion:
    """Margins ``weights @ y + bias``, a row for each other label, over the coordinates that are sent."""

    weights: Floats = array(np.asarray)
    bias: Floats = array(np.asarray)
    terms: float = 0.0  # the size of what was added up to the bias

    @property
    def slack(self) -> float:
        """More than the rounding of a margin on [0, 1]: within it neither label is sure."""
        sizes = np.abs(self.weights).sum(axis=1) + np.abs(self.bias)
        return float(1e-12 * (sizes.max(initial=0.0) + self.terms + 1e-300))

    def is_kept(self, lower: Floats, upper: Floats) -> bool:
        """Whether the label is kept on the whole closed box."""
        least = np.minimum(self.weights * lower, self.weights * upper).sum(axis=1) + self.bias
        return bool((least > self.slack).all())

    def survival(self, law: Perturbation, x: Floats, bins: int = BINS) -> Enclosure:
        """Bounds on the probability that the label is kept."""
        if not len(self.weights):
            return Enclosure(1.0, 1.0)
        exact = self._over_outputs(law, x)
        if exact is not None:
            return exact
        swept = _swept(self, law, x) if x.size <= _SWEPT else Enclosure(0.0, 1.0)
        if swept.width < _NARROW:
            return swept
        bins *= 1 if x.size <= _FEW_TERMS else 4  # every term rounds once more
        lost = [_lost(row, bias, law, x, bins, self.slack) for row, bias in zip(self.weights, self.bias, strict=True)]
        lower = 1 - sum(part.upper for part in lost)
        upper = 1 - max(part.lower for part in lost)
        return Enclosure(max(swept.lower, lower - ROUNDING), min(swept.upper, upper + ROUNDING))

    def _over_outputs(self, law: Perturbation, x: Floats) -> Enclosure | None:
        """The sum over all outputs, where they are few."""
        laws = [law.atoms(float(value)) for value in x]
        sizes = [0 if part is None else part[0].size for part in laws]
        if 0 in sizes or math.prod(sizes) * len(self.bias) > _FEW:
            return None
        margins, chances = self.bias[:, None], np.ones(1)
        for part, column in zip(laws, self.weights.T, strict=True):
            assert part is not None
            margins = (margins[:, :, None] + (column[:, None] * part[0])[:, None, :]).reshape(len(self.bias), -1)
            chances = (chances[:, None] * part[1]).ravel()
        least = margins.min(axis=0)
        lower, upper = float(chances[least > self.slack].sum()), float(chances[least >= -self.slack].sum())
        return Enclosure(max(0.0, lower - ROUNDING), min(1.0, upper + ROUNDING))


def _lost(weights: Floats, bias: float, law: Perturbation, x: Floats, bins: int, slack: float) -> Enclosure:
    """Bounds on ``Pr[weights . M(x) + bias <= 0]``."""
    used = np.flatnonzero(weights)
    if not used.size:
        return Enclosure(float(bias < -slack), float(bias <= slack))
    spans = [_span(law, float(x[i])) for i in used]
    step = sum(abs(weights[i]) * (high - low) for i, (low, high) in zip(used, spans, strict=True)) / bins
    total, start, inside = np.ones(1), float(bias), 1.0
    for i, (low, high) in zip(used, spans, strict=True):
        weight = float(weights[i])
        first = weight * (low if weight > 0 else high)
        count = math.floor(abs(weight) * (high - low) / step) + 1
        edges = (first + step * np.arange(count + 1)) / weight
        # cells [e, e + step) of weight * y; with a negative weight they are ( , ] of y
        if weight > 0:
            below = law.cdf(edges, x[i]) - law.mass(edges, x[i])
            chances = np.diff(below)
        else:
            chances = -np.diff(law.cdf(edges, x[i]))
        chances = np.maximum(chances, 0.0)
        inside *= min(1.0, float(chances.sum()))
        total, start = np.maximum(signal.fftconvolve(total, chances), 0.0), start + first
    places = start + step * np.arange(total.size)
    rounding = _OF_FFT * total.size * used.size
    at_least = float(total[places + used.size * step <= -slack].sum()) - rounding
    at_most = float(total[places <= slack].sum()) + max(0.0, 1 - inside) + rounding
    return Enclosure(max(0.0, at_least), min(1.0, at_most))


def _swept(region: LinearRegion, law: Perturbation, x: Floats) -> Enclosure:
    """Bounds on the probability that the label is kept: see *Swept* above."""
    last = int(np.abs(region.weights).max(axis=0).argmax())  # its interval is the most sure
    others = np.delete(np.arange(x.size), last)
    moves = np.abs(region.weights[:, others]).max(axis=0)
    lower = upper = np.zeros((1, 0))
    spans = [_span(law, float(x[i])) for i in others]
    edges = [np.concatenate([[-np.inf], np.linspace(low, high, 9), [np.inf]]) for low, high in spans]
    if spans:
        lower = np.stack(np.meshgrid(*(part[:-1] for part in edges), indexing="ij"), axis=-1).reshape(-1, len(spans))
        upper = np.stack(np.meshgrid(*(part[1:] for part in edges), indexing="ij"), axis=-1).reshape(-1, len(spans))
    ends = _ends(region, law, x, others, last, lower, upper)
    while True:
        width = np.where(np.isfinite(upper - lower).all(axis=1), ends[1] - ends[0], 0.0)
        cut = width >= max(width.max() / 2, _CLOSED)
        if not spans or not cut.any() or len(lower) + cut.sum() > _MOST_SWEPT:
            return Enclosure(max(0.0, float(ends[0].sum()) - ROUNDING), min(1.0, float(ends[1].sum()) + ROUNDING))
        low, high = lower[cut], upper[cut]
        axis = (moves * (high - low)).argmax(axis=1)
        rows, middle = np.arange(len(low)), (low + high) / 2
        left, right = high.copy(), low.copy()
        left[rows, axis] = right[rows, axis] = middle[rows, axis]
        low, high = np.concatenate([low, right]), np.concatenate([left, high])
        lower, upper = np.concatenate([lower[~cut], low]), np.concatenate([upper[~cut], high])
        ends = np.concatenate([ends[:, ~cut], _ends(region, law, x, others, last, low, high)], axis=1)


def _ends(
    region: LinearRegion, law: Perturbation, x: Floats, others: Any, last: int, lower: Floats, upper: Floats
) -> Floats:
    """How likely the others are in each box and the last coordinate keeps the label: surely, and possibly."""
    weights, slopes = region.weights[:, others], region.weights[:, last]
    masses = np.prod(law.above(x[others], lower, upper), axis=1)
    found = []
    for slack, down, up in ((region.slack, lower, upper), (-region.slack, upper, lower)):
        bounds = np.where(weights > 0, down[:, None, :], np.where(weights < 0, up[:, None, :], 0.0))
        margins = (weights * bounds).sum(axis=2) + region.bias - slack
        low, high = np.full(len(lower), -np.inf), np.full(len(lower), np.inf)
        for slope, margin in zip(slopes, margins.T, strict=True):  # kept where slope * y + margin > 0
            if slope > 0:
                low = np.maximum(low, -margin / slope)
            elif slope < 0:
                high = np.minimum(high, -margin / slope)
            else:
                low = np.where(margin > 0, low, np.inf)
        found.append(law.between(x[last], low, high))
    # at a sure end the margin is the slack, above 0: the end keeps the label too
    return np.asarray(masses * np.stack([np.minimum(*found), found[1]]))


def _span(law: Perturbation, x: float) -> tuple[float, float]:
    """Where almost all reports lie, a little wider than they do."""
    if law.is_clipped:
        return -1e-9, 1 + 1e-9
    low, high = (float(end) for end in law.mechanism.quantile(np.array([_TAIL, 1 - _TAIL]), law.given(x)))
    return low - 1e-9, high + 1e-9


def linear_region(record: Record) -> LinearRegion | None:
    """The region of a linear classifier of scikit-learn, scalers before it included; None for other models."""
    model, sent = record.classifier.model, list(record.columns)
    scale, shift = np.ones(record.classifier.features), np.zeros(record.classifier.features)
    if type(model).__name__ == "Pipeline" and type(model).__module__.startswith("sklearn."):
        for _, stage in model.steps[:-1]:
            if not _is_affine(stage):
                return None
            origin = stage.transform(np.zeros((1, scale.size)))[0]
            factor = stage.transform(np.ones((1, scale.size)))[0] - origin
            scale, shift = scale * factor, shift * factor + origin
        model = model.steps[-1][1]
    if not _is_linear(model):
        return None
    coefficients = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    intercepts = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64).ravel(), len(coefficients))
    if coefficients.ndim != 2 or len(coefficients) != (1 if len(model.classes_) == 2 else len(model.classes_)):
        return None
    if len(model.classes_) == 2:
        sign = 1.0 if record.label == model.classes_[1] else -1.0
        rows, bias = sign * coefficients, sign * intercepts
        is_fixed = ~(coefficients[:, sent] != 0).any(axis=1)
    else:
        label = int(np.flatnonzero(model.classes_ == record.label)[0])
        others = np.arange(len(model.classes_)) != label
        rows, bias = coefficients[label] - coefficients[others], intercepts[label] - intercepts[others]
        is_fixed = ~(coefficients[:, sent] != 0).any(axis=1)
        is_fixed = is_fixed[others] & is_fixed[label]
    terms = float((np.abs(rows * shift) + np.abs(rows * scale)).sum(axis=1).max() + np.abs(bias).max())
    bias = bias + rows @ shift
    rows = rows * scale
    rest = np.setdiff1d(np.arange(record.classifier.features), sent)
    # scores that no report changes lose to this label as they do at the record itself, ties included
    return LinearRegion(rows[~is_fixed][:, sent], (bias + rows[:, rest] @ record.x[rest])[~is_fixed], terms)


_LINEAR = (
    "LogisticRegression",
    "LogisticRegressionCV",
    "LinearSVC",
    "Perceptron",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "LinearDiscriminantAnalysis",
    "PassiveAggressiveClassifier",
)


def _is_linear(model: Any) -> bool:
    return type(model).__module__.startswith("sklearn.") and type(model).__name__ in _LINEAR


def _is_affine(stage: Any) -> bool:
    is_plain = type(stage).__name__ in ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
    return is_plain and type(stage).__module__.startswith("sklearn.") and not getattr(stage, "clip", False)
