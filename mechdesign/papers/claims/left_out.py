"""Headline numbers of the papers that no claim covers, and why: a report that kept quiet about them would mislead."""

from __future__ import annotations

from dataclasses import dataclass

_DATA = "the data may not be shipped with this package"
_YOURS = f"{_DATA}; --data FOLDER computes it from yours"
_CLOCK = "seconds on the authors' computer; our own are in the benchmarks"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a paper says at a place, and why it is not computed.

    ``claims`` are those that a folder of data computes in its place.
    """

    paper: str
    place: str
    words: str
    why: str
    claims: tuple[str, ...] = ()


_THESIS = "Refined mechanism design"
_IBU = "Utility gain of iterative Bayesian update (IBU)"
_BUDGET = "Budget selection (Optimus, CAPRI)"

LEFT_OUT = (
    LeftOut(
        f"{_THESIS}, chapter 5 (OGPM)",
        "section 5.6.2, figures 5.16 and 5.17",
        "OGPM's distribution and mean errors on MotionSense as shares of PM-C's and SW-C's",
        _YOURS,
        ("ogpm.figure-5.16", "ogpm.figure-5.17"),
    ),
    LeftOut(
        f"{_THESIS}, chapter 6 (TraCS)",
        "section 6.3.1, figure 6.7",
        "errors on the TKY and CHI trajectories as shares of the strawman's",
        _YOURS,
        ("tracs.figure-6.7-tky", "tracs.figure-6.7-chi"),
    ),
    LeftOut(
        f"{_THESIS}, chapter 6 (TraCS)",
        "section 6.3.2, figures 6.9 and 6.10",
        "errors, range queries and hotspots among the places of TKY and CHI",
        f"{_DATA}; trajectory compare --points computes ours, with rivals that spend the epsilon they say",
    ),
    LeftOut(f"{_THESIS}, chapter 6 (TraCS)", "table 6.2", "milliseconds for a location", _CLOCK),
    LeftOut(
        f"{_THESIS}, chapter 7",
        "section 7.6, figures 7.5 and 7.6",
        "boxes in which logistic regressions trained on stroke and bank data keep their labels",
        _YOURS,
        ("classifier.figure-7.5-box", "classifier.figure-7.6-box"),
    ),
    LeftOut(
        f"{_THESIS}, chapter 7",
        "section 7.6, figures 7.5 to 7.7 and E.1 to E.7",
        "utility of classifiers trained on stroke, bank and MNIST data",
        f"{_DATA}; the trained classifiers are public with the chapter's code, as pickles, which run what is in them: "
        "classifier reads those you trust",
    ),
    LeftOut(f"{_THESIS}, chapter 7", "table 7.2", "milliseconds for a bound", _CLOCK),
    LeftOut(
        "Adaptive additive noise (AAA)",
        "section 7.2, figure 5",
        "the least error on taxi, income and retirement data",
        _DATA,
    ),
    LeftOut(
        _IBU,
        "tables 2 and 3, the row of census data; figures 1 and 2",
        "gains on income data, and that THE and SUE gain most (without that row BLH does, as printed too)",
        _DATA,
    ),
    LeftOut(
        "LDP3, a toolkit for frequency estimation",
        "tables I to III, columns with post-processing",
        "errors after seven kinds of post-processing",
        f"they depend on the frequencies of Kosarak, BMS-POS and Porto: {_DATA}; --data FOLDER computes from yours "
        "the four columns whose method is as printed",
        ("ldp3.table-1-processed", "ldp3.table-2-processed", "ldp3.table-3-processed"),
    ),
    LeftOut(
        "LDP3, a toolkit for frequency estimation", "section IV-C, figures 3 to 5", "times by number of threads", _CLOCK
    ),
    LeftOut(
        _BUDGET,
        "section 5.1.3, figures 5.3 and 5.4",
        "seconds of the five searches",
        f"{_CLOCK}; the collections they simulate are counted",
    ),
    LeftOut(
        _BUDGET,
        "section 5.1.5, figures 5.6c and 5.6d",
        "what Bayesian optimisation selects after few points and rounds",
        "it is up to where its starts fall; how many looks it takes is their number and that of the rounds",
    ),
    LeftOut(
        _BUDGET,
        "section 5.2.2.1, figure 5.8",
        "how often repeated searches select eps = 0.636",
        "capacity, threshold and protocol of the figure are not printed",
    ),
)
