"""Quadratic classifiers and networks of rectifiers, a few columns sent: where the label is kept, by bounds of margins.

A margin, the score of the label less that of another, is bounded over a box from its value at the middle and its slopes
in the box. The box keeps the label where all margins are above 0, and loses it where one is below; else it is cut in
halves. Along the border of the label some boxes stay open whatever the limit, so answers are intervals.

**Quadratic** (quadratic discriminant analysis, naive Bayes with normal laws): ``m(y) = y A y + g y + c`` is within
``|m'(y0)| r + r |A| r`` of ``m(y0)`` for half sides r: what is left out is of second order.

**Networks.** Each layer's values at the middle go on with the least and the greatest slopes in each coordinate.
Rectifiers that are surely on keep slopes, those that are surely off end them; where all are one or the other, the
network is affine in the box and the bounds are exact.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np

from mechdesign.studies.classifiers.cells import Decision
from mechdesign.studies.classifiers.models import Record
from mechdesign.values.declare import Floats, array, frozen

MOST_COLUMNS = 3
_ROUNDING = 1e-9

Bounds = tuple[Floats, Floats]


class Margins(Protocol):
    def bounds(self, lower: Floats, upper: Floats) -> Bounds:
        """The least and the most of every margin over each box."""
        ...


@frozen
class MarginRegion:
    """Where a classifier with bounded margins keeps the label of a record."""

    record: Record
    margins: Margins

    @property
    def dimensions(self) -> int:
        return len(self.record.columns)

    def decide(self, lower: Floats, upper: Floats) -> Decision:
        verdict = np.zeros(len(lower), dtype=np.int8)
        ends = np.isfinite(lower) & np.isfinite(upper)
        whole = ends.all(axis=1)
        if whole.any():
            least, most = self.margins.bounds(lower[whole], upper[whole])
            verdict[whole] = np.where((least > 0).all(axis=1), 1, np.where((most < 0).any(axis=1), -1, 0))
        with np.errstate(invalid="ignore"):
            axis = (upper - lower).argmax(axis=1)
        rows = np.arange(len(lower))
        return Decision(verdict, axis, _between(lower[rows, axis], upper[rows, axis]))


def _between(low: Floats, high: Floats) -> Floats:
    """A place inside: the middle, and for sides without an end one twice as far out as the other end."""
    beyond = np.where(
        np.isfinite(low), 2 * np.maximum(low, 0.5), np.where(np.isfinite(high), -2 * np.maximum(-high, 0.5), 0)
    )
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, beyond))


def margin_region(record: Record) -> MarginRegion | None:
    """The region of a classifier of scikit-learn of these kinds; None for others, and for many columns."""
    model = record.classifier.model
    if not type(model).__module__.startswith("sklearn.") or len(record.columns) > MOST_COLUMNS:
        return None
    match type(model).__name__:
        case "QuadraticDiscriminantAnalysis" if hasattr(model, "rotations_"):
            scores = [_gaussian(*said) for said in zip(model.means_, _precisions(model), model.priors_, strict=True)]
            margins: Margins = _quadratic(record, scores)
        case "GaussianNB":
            precisions = [np.diag(1 / variance) for variance in model.var_]
            scores = [_gaussian(*said) for said in zip(model.theta_, precisions, model.class_prior_, strict=True)]
            margins = _quadratic(record, scores)
        case "MLPClassifier" if model.activation == "relu" and model.out_activation_ in ("logistic", "softmax"):
            if np.ndim(model.classes_[0]) or (model.n_outputs_ == 1) != (model.out_activation_ == "logistic"):
                return None
            margins = _network(record, model)
        case _:
            return None
    return MarginRegion(record, margins)


# -- quadratics --------------------------------------------------------------------------------------------------------

Score = tuple[Floats, Floats, float]
"""``y A y + g y + c``."""


@frozen
class Quadratics:
    """Margins ``y A y + g y + c``, one for each other label."""

    square: Floats = array(np.asarray)
    slope: Floats = array(np.asarray)
    constant: Floats = array(np.asarray)
    terms: float = 0.0

    def bounds(self, lower: Floats, upper: Floats) -> Bounds:
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        at = np.einsum("ni,mij,nj->nm", middle, self.square, middle) + middle @ self.slope.T + self.constant
        slopes = self.slope + 2 * np.einsum("mij,nj->nmi", self.square, middle)
        away = np.einsum("nmi,ni->nm", np.abs(slopes), half)
        away += np.einsum("ni,mij,nj->nm", half, np.abs(self.square), half)
        away += _ROUNDING * self.terms * (1 + np.abs(middle).max(axis=1, keepdims=True)) ** 2
        return at - away, at + away


def _gaussian(mean: Floats, precision: Floats, prior: float) -> Score:
    """The log of a normal density times a prior, up to what all have."""
    constant = float(np.log(prior)) + float(np.linalg.slogdet(precision)[1]) / 2 - float(mean @ precision @ mean) / 2
    return -precision / 2, precision @ mean, constant


def _precisions(model: Any) -> list[Floats]:
    return [
        rotation / scaling @ rotation.T for rotation, scaling in zip(model.rotations_, model.scalings_, strict=True)
    ]


def _quadratic(record: Record, scores: list[Score]) -> Quadratics:
    label = int(np.flatnonzero(record.classifier.model.classes_ == record.label)[0])
    sent = list(record.columns)
    known = record.x.copy()
    known[sent] = 0.0
    margins = []
    for other in (score for k, score in enumerate(scores) if k != label):
        square, slope, constant = (cast(Any, mine) - its for mine, its in zip(scores[label], other, strict=True))
        slope_sent = (slope + 2 * square @ known)[sent]
        margins.append((square[np.ix_(sent, sent)], slope_sent, constant + known @ square @ known + slope @ known))
    terms = max(float(np.abs(part).sum()) for score in scores for part in score)
    square, slope, constant = (np.array(part) for part in zip(*margins, strict=True))
    return Quadratics(square, slope, constant, terms)


# -- networks ----------------------------------------------------------------------------------------------------------


@frozen
class Rectifiers:
    """Layers ``W v + b`` with rectifiers between them; the last gives the margins."""

    layers: tuple[tuple[Floats, Floats], ...]

    def bounds(self, lower: Floats, upper: Floats) -> Bounds:
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        value, count, size = middle, len(lower), lower.shape[1]
        least = most = np.broadcast_to(np.eye(size), (count, size, size))
        sizes = np.abs(middle) + half
        for place, (weight, bias) in enumerate(self.layers):
            up, down = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
            value = value @ weight.T + bias
            sizes = sizes @ np.abs(weight).T + np.abs(bias)
            least, most = up @ least + down @ most, up @ most + down @ least
            away = np.einsum("nij,nj->ni", np.maximum(np.abs(least), np.abs(most)), half) + _ROUNDING * sizes
            if place == len(self.layers) - 1:
                break
            on, off = (value - away > 0)[:, :, None], (value + away < 0)[:, :, None]
            least = np.where(off, 0.0, np.where(on, least, np.minimum(least, 0.0)))
            most = np.where(off, 0.0, np.where(on, most, np.maximum(most, 0.0)))
            value = np.maximum(value, 0.0)
        return value - away, value + away


def _network(record: Record, model: Any) -> Rectifiers:
    layers = [(weight.T, bias) for weight, bias in zip(model.coefs_, model.intercepts_, strict=True)]
    sent = list(record.columns)
    known = record.x.copy()
    known[sent] = 0.0
    weight, bias = layers[0]
    layers[0] = weight[:, sent], bias + weight @ known
    label = int(np.flatnonzero(model.classes_ == record.label)[0])
    weight, bias = layers[-1]
    if model.n_outputs_ == 1:
        sign = 1.0 if label == 1 else -1.0
        layers[-1] = sign * weight, sign * bias
    else:
        others = np.arange(len(bias)) != label
        layers[-1] = weight[label] - weight[others], bias[label] - bias[others]
    return Rectifiers(tuple(layers))
