"""One estimate from several: reports of one question that came from different tables, such as an app's releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from mechdesign.errors import InvalidInput, require_one_of
from mechdesign.tables.estimators import Estimate, FrequencyEstimate, MeanEstimate
from mechdesign.values.declare import Floats

WEIGHTS = ("people", "precision")


def merged_estimate(estimates: Sequence[Estimate], weights: str = "people") -> MeanEstimate | FrequencyEstimate:
    """Estimates of one quantity from different people, each by its own table, as one: an average with weights.

    * ``people``: by the number of reports, or of people where one may have made several. It estimates the mean, or the
      shares, of all these people together, however much those of one table differ from those of another, and the
      interval is about them (and about a population from which every table's people are drawn in these proportions).
    * ``precision``: by the inverse square of the half widths (without the bias bounds). It has the narrower interval,
      and means something only if the people of all tables are drawn from one population: else it estimates an average
      in which people count the more the less noise their table has.

    The tables' errors are independent: on each side the interval's reaches add in squares (Zou and Donner 2008), bias
    bounds as they are. Items whose hashes collide in the sketches of all tables move all of them alike: what this adds
    to the reaches adds up as it is, too.

    >>> old = MeanEstimate(1.0, 0.7, 1.3, 100, 0.15, 0.0, 0.95)
    >>> new = MeanEstimate(2.0, 1.6, 2.4, 300, 0.20, 0.0, 0.95)
    >>> merged_estimate([old, new]).estimate, round(merged_estimate([old, new], "precision").estimate, 2)
    (1.75, 1.36)
    """
    require_one_of(weights, "weights", WEIGHTS)
    found = list(estimates)
    if not found:
        raise InvalidInput("estimates", 0, "be at least one")
    if len({estimate.confidence for estimate in found}) > 1:
        raise InvalidInput("estimates", "several confidences", "have one confidence")
    if all(isinstance(estimate, MeanEstimate) for estimate in found):
        return _means(cast(list[MeanEstimate], found), weights)
    if all(isinstance(estimate, FrequencyEstimate) for estimate in found):
        return _frequencies(cast(list[FrequencyEstimate], found), weights)
    rule = "be means, or frequencies, all of them"
    raise InvalidInput("estimates", "others", rule, "directions of several tables are not merged")


def _means(found: list[MeanEstimate], weights: str) -> MeanEstimate:
    below = np.array([one.estimate - one.lower - one.bias for one in found])
    above = np.array([one.upper - one.estimate - one.bias for one in found])
    each = _weights(weights, _people(found), ((below + above) / 2) ** 2)
    estimate = float(each @ [one.estimate for one in found])
    bias = float(each @ [one.bias for one in found])
    deviation = math.hypot(*(each * [one.deviation for one in found]))
    lower = estimate - math.hypot(*(each * below)) - bias
    upper = estimate + math.hypot(*(each * above)) + bias
    count = sum(one.count for one in found)
    about = estimate, lower, upper, count, deviation, bias, found[0].confidence
    return MeanEstimate(*about, _told_people(found))


def _frequencies(found: list[FrequencyEstimate], weights: str) -> FrequencyEstimate:
    first = found[0]
    if any(one.labels != first.labels or not np.array_equal(one.points, first.points) for one in found):
        raise InvalidInput("estimates", "different values", "be of tables with the same inputs and labels")
    squares = np.array([((one.upper - one.lower) / 2) ** 2 for one in found])
    each = _weights(weights, _people(found), squares.mean(axis=1))
    estimates = each @ np.array([one.estimates for one in found])
    below = _reach(each, [one.estimates - one.lower for one in found], [one.collided[0] for one in found])
    above = _reach(each, [one.upper - one.estimates for one in found], [one.collided[1] for one in found])
    count = sum(one.count for one in found)
    known = [one.covariance for one in found if one.covariance is not None]
    covariance = np.tensordot(each**2, np.array(known), axes=1) if len(known) == len(found) else None
    errors = np.sqrt(each**2 @ np.array([one.standard_errors**2 for one in found]))
    about = first.points, estimates, estimates - below, estimates + above, count, covariance, first.confidence
    is_said = covariance is not None and all(one.deviations is None for one in found)
    return FrequencyEstimate(*about, first.labels, None if is_said else errors, _told_people(found))


def _people(found: Sequence[MeanEstimate | FrequencyEstimate]) -> list[int]:
    return [one.count if one.people is None else one.people for one in found]


def _told_people(found: Sequence[MeanEstimate | FrequencyEstimate]) -> int | None:
    return None if all(one.people is None for one in found) else sum(_people(found))


def _reach(each: Floats, reaches: Sequence[Floats], collided: Sequence[Floats | float]) -> Floats:
    """Reaches of independent errors, in squares, and what is the same in all of them, added up."""
    shared = np.array([np.broadcast_to(square, reach.shape) for square, reach in zip(collided, reaches, strict=True)])
    own = np.maximum(np.array(reaches) ** 2 - shared, 0.0)
    return np.asarray(np.sqrt(each**2 @ own + (each @ np.sqrt(shared)) ** 2))


def _weights(by: str, counts: Sequence[int], squares: Floats) -> Floats:
    """Weights that add up to 1. Where half widths are 0 those tables alone count."""
    if by == "people":
        raw = np.array(counts, dtype=np.float64)
    else:
        raw = (squares == 0).astype(np.float64) if (squares == 0).any() else 1.0 / squares
    return np.asarray(raw / raw.sum())
