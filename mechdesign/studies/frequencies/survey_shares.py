"""Shares of items from files of real reports, each with the survey that says what its clients ran.

Users with epsilons or protocols of their own are groups: a file and a survey each. Then ``ibu`` is GIBU, whose
likelihood is the sum over the groups: it takes all users for samples of one population; the unbiased estimates and
intervals do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mechdesign.errors import InvalidInput, require_one_of
from mechdesign.intervals import CONFIDENCE
from mechdesign.studies.frequencies import estimators, postprocess
from mechdesign.studies.frequencies.by_method import estimated, has_surrogate, reports_are_items
from mechdesign.studies.frequencies.fit import Fit, require_fit
from mechdesign.studies.frequencies.intervals import POPULATION, Heard, Intervals, intervals_of_groups, share_intervals
from mechdesign.studies.frequencies.ranking import IBU, LIKELY, METHODS, PUBLISHED_IBU, RAW, SLOW_METHODS
from mechdesign.studies.frequencies.survey import Survey
from mechdesign.values.declare import Floats, array, frozen

SURVEY_METHODS = METHODS + SLOW_METHODS


@frozen
class SurveyShares:
    """By item: the estimate asked for, the unbiased one, and what surrounds the latter; by group how reports fit.

    ``gap`` bounds how far the likelihood of all groups is from its maximum.
    """

    items: tuple[str, ...]
    groups: tuple[Heard, ...]
    fits: tuple[Fit, ...]
    estimate: Floats = array()
    unbiased: Floats = array()
    around: Intervals
    gap: float | None = None

    @property
    def n(self) -> int:
        """How many reports there are."""
        return sum(group.n for group in self.groups)


def estimate_surveys(
    asked: Sequence[tuple[Path | str, Survey]],
    method: str = "norm-sub",
    share: str = POPULATION,
    *,
    order: str | None = None,
) -> SurveyShares:
    """What the reports in files say, each file with its survey, all of the same items in the same order.

    Reports that do not fit their survey are refused. ``share`` says whose share the intervals are for, ``order`` that
    of pairs where numbers do not tell (`count_reports`).
    """
    require_one_of(method, "method", SURVEY_METHODS)
    items = asked[0][1].items
    for _, survey in asked:
        _require_method(method, survey, len(asked) > 1)
        if survey.items != items:
            raise InvalidInput("survey", f"{len(survey.items)} items", "have the items of the first, in that order")
    heard, fits = [], []
    for file, survey in asked:
        counted = survey.count(file, order=order)
        fits.append(require_fit(survey.law, counted, survey.items, Path(file).name))
        heard.append(Heard(survey.law, np.asarray(counted.support), counted.n))
    if len(heard) == 1:
        law, support, n = heard[0].law, heard[0].support, heard[0].n
        unbiased, around = heard[0].unbiased, share_intervals(law, support, n, share, CONFIDENCE)
        estimate, gap = estimated(law, support, n, method), None
    else:
        unbiased, around = intervals_of_groups(heard, share, CONFIDENCE)
        estimate, gap = _of_groups(heard, unbiased, method)
    return SurveyShares(items, tuple(heard), tuple(fits), estimate, unbiased, around, gap)


def _require_method(method: str, survey: Survey, are_several: bool) -> None:
    law = survey.law
    if are_several and method in (LIKELY, PUBLISHED_IBU):
        raise InvalidInput("method", method, "be another one for several groups", f"use {IBU} or norm-sub")
    if method in (IBU, PUBLISHED_IBU) and not has_surrogate(law):
        raise InvalidInput("method", method, f"be another one for {law.name}, whose sums are no counts", "use norm-sub")
    if method == LIKELY and not reports_are_items(law):
        rule = f"be another one for {law.name}: its reports are no items, and only the support of items is kept"
        raise InvalidInput("method", method, rule, "use ibu or norm-sub")


def _of_groups(heard: Sequence[Heard], unbiased: Floats, method: str) -> tuple[Floats, float | None]:
    """The estimate asked for and, of a likelihood, how far from the best it may be."""
    if method == RAW:
        return unbiased, None
    if method == IBU:
        likely = estimators.ibu_of_groups([estimators.of_support(one.support, one.law.p, one.law.q) for one in heard])
        return likely.frequencies, likely.gap
    n = sum(one.n for one in heard)

    def variance(f: Floats) -> Floats:
        return np.asarray(sum((one.n / n) ** 2 * one.law.variance(f, one.n) for one in heard))

    return postprocess.METHODS[method](unbiased, postprocess.SupportNoise(n, variance)), None
