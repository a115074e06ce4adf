"""Chapter 7: the utility of classifiers under perturbed inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.mutual_information import mutual_information
from mechdesign.papers.claims.claim import AT_LEAST, AT_MOST, Claim, Item, Value
from mechdesign.papers.claims.drawing import Lines, curves
from mechdesign.papers.claims.shared import number_of, picture_of
from mechdesign.papers.gallery.robust_radius import NORMAL_CLASSES, network, proven_radius
from mechdesign.studies.classifiers.choice import rho_curve, smallest_epsilon
from mechdesign.studies.classifiers.concentration import concentration, half_width, perturbation
from mechdesign.studies.classifiers.pac import composed, indicator_delta, pac_delta, printed_deviation
from mechdesign.studies.classifiers.robustness import Robust, hoeffding_points
from mechdesign.studies.classifiers.survival import utility
from mechdesign.words.domains import Finite

PAPER = "Refined mechanism design, chapter 7"

_X, _LOW, _HIGH = [0.5], [0.2], [0.8]
_COMPARED = {"PM": "pm", "SW": "sw", "Laplace": "laplace", "exponential": "exponential-printed", "k-RR": "k-rr"}
_PROVEN = Robust(np.array(_LOW), np.array(_HIGH), "proven")
_TESTED = Robust(np.array(_LOW), np.array(_HIGH), "tested", 0.01, 0.05)


def _inside(name: str) -> float:
    return concentration(perturbation(name, 2.0), _X, _LOW, _HIGH)


def _needed() -> float:
    return smallest_epsilon(lambda eps: float(rho_curve("laplace", [eps], _PROVEN, np.array(_X))[0]), 0.8).epsilon


def _printed_overlap() -> list[Value]:
    """The piecewise formula at x = .05, theta = .1, eps = 2, and what a report does."""
    width, high = 2 * half_width(2.0), math.e
    printed = width * high + (0.2 - width) * high / math.e**2
    return [printed, number_of("window_overlap")]


def _kept_within(name: str, epsilon: float, theta: float) -> float:
    return concentration(perturbation(name, epsilon), _X, [0.5 - theta], [0.5 + theta])


def _lead(best: str, cases: Sequence[tuple[float, float]]) -> float:
    """The least ratio over the cases (eps, theta) of one mechanism's concentration to the best of the others."""
    rivals = [name for name in _COMPARED.values() if name != best]
    return min(_kept_within(best, *case) / max(_kept_within(name, *case) for name in rivals) for case in cases)


def _no_single_best() -> list[Value]:
    later = [(epsilon, theta) for epsilon in (2.0, 4.0, 6.0) for theta in (0.2, 0.3, 0.4)]
    return [_lead("sw", [(2.0, theta) for theta in (0.02, 0.05, 0.1)]), _lead("pm", later), _lead("pm", [(2.0, 0.1)])]


def _concentrations() -> Lines:
    radii = [k / 100 for k in range(1, 50)]
    return {shown: (radii, [_kept_within(name, 2.0, r) for r in radii]) for shown, name in _COMPARED.items()}


def _printed_below(epsilon: float) -> float:
    """Appendix E.2.5's chance that a report of 0.79 is below 0.63."""
    reach = half_width(epsilon)
    return (0.79 - reach) * math.exp(-epsilon / 2) + (reach - 0.16) * math.exp(epsilon / 2)


def _in_printed_boxes(exponential: str) -> list[Value]:
    """Least ratios over eps 1 to 8 and both stroke classifiers: PM to the others, exponential to Laplace."""
    record, boxes = [0.79, 0.48], (([0.63, 0.0], [1.0, 1.0]), ([0.5, 0.0], [1.0, 0.62]))
    names = ("pm", exponential, "laplace-raw")
    kept = [
        [concentration(perturbation(name, epsilon), record, *box) for name in names]
        for epsilon in map(float, range(1, 9))
        for box in boxes
    ]
    return [min(pm / max(rivals) for pm, *rivals in kept), min(one / laplace for _, one, laplace in kept)]


def _slope(name: str, low: float, high: float) -> float:
    return (_kept_within(name, 2.0, high) - _kept_within(name, 2.0, low)) / (high - low)


@cache
def _radii() -> tuple[float, float]:
    return proven_radius(NORMAL_CLASSES), proven_radius(network())


def _to_the_circle() -> float:
    """The distance of example 14's point from the places where both scores are equal, among many of them."""
    angles = np.linspace(0, math.tau, 100_001)
    places = 2 * math.sqrt(math.log(2) + 1) * np.stack([np.cos(angles), np.sin(angles)]) - 1
    return float(np.hypot(*(places - 0.5)).min())


def _informed_curve() -> Lines:
    epsilons = [k / 10 for k in range(1, 61)]
    return {
        "mutual information": (epsilons, [_informed(4, epsilon)[1] for epsilon in epsilons]),
        "min(log 4, eps)": (epsilons, [min(math.log(4), epsilon) for epsilon in epsilons]),
    }


def _informed(size: int, epsilon: float) -> tuple[float, float]:
    """The mutual information of randomised response on uniform values."""
    told = mutual_information(catalogue.randomised_response(epsilon, Finite(tuple(range(size)))))
    return told.lower, told.upper


def _kept_age() -> list[Value]:
    """The printed chance to stay in [0.63, 1] over the exact one, at eps = 1 and 0.5."""
    exact = [concentration(perturbation("pm", epsilon), [0.79], [0.63], [1.0]) for epsilon in (1.0, 0.5)]
    return [(1 - _printed_below(epsilon)) / kept for epsilon, kept in zip((1.0, 0.5), exact, strict=True)]


CLAIMS = (
    Claim(
        "classifier.section-7.2",
        PAPER,
        "section 7.2.1",
        "Laplace at eps = 2 falls within 0.3 with probability 0.46; 0.8 needs eps of at least 5.2",
        (Item("p(2, .3)", "0.46", "0.4512"), Item("eps for .8", "5.2", "5.365")),
        lambda: [_inside("laplace"), _needed()],
        erratum=14,
        picture=picture_of("laplace_concentration"),
    ),
    Claim(
        "classifier.section-7.3.1",
        PAPER,
        "section 7.3.1",
        "concentration at eps = 2, theta = .3, x = .5 of Laplace, PM (which is OGPM) and k-RR on 100 values",
        (
            Item("Laplace", "0.46"),
            Item("PM", "0.86"),
            Item("k-RR", "0.63"),
        ),
        lambda: [_inside(name) for name in ("laplace", "pm", "k-rr")],
    ),
    Claim(
        "classifier.piecewise-overlap",
        PAPER,
        "section 7.3.1, concentration of piecewise mechanisms",
        "the formula at x = .05, theta = .1, eps = 2 is what a report does (the ball reaches beyond the window)",
        (Item("the formula", "0.706"), Item("the report", "0.706", "0.408")),
        _printed_overlap,
        erratum=14,
        picture=picture_of("window_overlap"),
    ),
    Claim(
        "classifier.theorem-15",
        PAPER,
        "example 11",
        "about 1.8e4 points for tau = .02 and omega = .05",
        (Item("points", "18000", units=500.0),),
        lambda: [float(hoeffding_points(0.05, 0.01))],
    ),
    Claim(
        "classifier.example-11",
        PAPER,
        "examples 11, 13 and 15, figure 7.2",
        "the robustness radius at (.5, .5) is .20: of example 14's classifier, and of the network that replicates it",
        (Item("normal classes", "0.20", "0.340"), Item("network", "0.20", "0.385")),
        _radii,
        erratum=14,
        picture=picture_of("robust_radius"),
    ),
    Claim(
        "classifier.example-14",
        PAPER,
        "example 14",
        "the formula for the radius of the round ball, 0.481 at (.5, .5), and as a bound for the square: over sqrt 2",
        (Item("round ball", "0.481"), Item("square ball", "0.3401", relation=AT_LEAST)),
        lambda: [_to_the_circle(), _radii()[0]],
        picture=picture_of("robust_radius"),
    ),
    Claim(
        "classifier.example-15",
        PAPER,
        "example 15",
        "the printed network keeps its label in the square ball of .1 around (.5, .5)",
        (Item("radius", "0.1", relation=AT_LEAST),),
        lambda: [_radii()[1]],
        picture=picture_of("robust_radius"),
    ),
    Claim(
        "classifier.rho-is-a-bound",
        PAPER,
        "section 7.3.3",
        "a label is kept with probability at least rho; eps = 4, theta = .3, tau = .01 (the worst part fails)",
        (Item("rho", "0.936"), Item("kept", "0.936", "0.902", relation=AT_LEAST)),
        lambda: [
            utility(_TESTED, perturbation("pm", 4.0), np.array(_X)).rho,
            number_of("rho_is_no_bound"),
        ],
        erratum=14,
        picture=picture_of("rho_is_no_bound"),
    ),
    Claim(
        "classifier.example-12",
        PAPER,
        "example 12 and section 7.3.3, figure 7.3",
        "at eps = 2 and theta up to 0.1 SW is best; with larger eps and theta PM is, so no mechanism is best for all "
        "(concentration over that of the best other one, least ratio; theta .2 to .4, eps 2, 4, 6)",
        (
            Item("SW, eps = 2, theta to .1", "1", relation=AT_LEAST),
            Item("PM, theta from .2", "1", relation=AT_LEAST),
            Item("PM, eps = 2, theta = .1", "1", relation=AT_MOST),
        ),
        _no_single_best,
        picture=curves("How often a report stays near 0.5, eps = 2", "theta", "probability", _concentrations),
    ),
    Claim(
        "classifier.figure-7.5",
        PAPER,
        "section 7.6.2, figure 7.5",
        "in the boxes that are printed for the stroke classifiers, at eps 1 to 8, PM keeps most, and the exponential "
        "mechanism more than Laplace (least ratios; printed it spends half of eps, and is behind from eps = 6)",
        (
            Item("PM to the others", "1", relation=AT_LEAST),
            Item("exponential to Laplace", "1", relation=AT_LEAST),
        ),
        lambda: _in_printed_boxes("exponential-printed"),
        mended=lambda: _in_printed_boxes("exponential"),
        erratum=14,
    ),
    Claim(
        "classifier.appendix-e.2.3",
        PAPER,
        "appendix E.2.3",
        "over theta the concentration of PM and SW is linear with two slopes, 2p near 0 and 2p/e^eps after (eps = 2)",
        (
            Item("PM, near", "5.437"),
            Item("PM, after", "0.736"),
            Item("SW, near", "6.389"),
            Item("SW, after", "0.865"),
        ),
        lambda: [_slope(name, *ends) for name in ("pm", "sw") for ends in ((0.0, 0.05), (0.3, 0.49))],
        picture=curves("How often a report stays near 0.5, eps = 2", "theta", "probability", _concentrations),
    ),
    Claim(
        "classifier.appendix-e.2.5",
        PAPER,
        "section 7.6.2 and appendix E.2.5",
        "the closed form of the chance to stay in [0.63, 1] from 0.79 under PM (over the exact one)",
        (Item("eps = 1", "1.0000"), Item("eps = .5", "1.0000", "1.0095")),
        _kept_age,
        erratum=14,
    ),
    Claim(
        "classifier.epsilon-of-pm",
        PAPER,
        "section 7.3.3, application 2",
        "eps = 1.8 gives rho of at least 0.8 at theta = .3 under PM (1.386 does)",
        (Item("rho at 1.8", "0.8", relation=AT_LEAST),),
        lambda: [float(rho_curve("pm", [1.8], _PROVEN, np.array(_X))[0])],
        picture=picture_of("laplace_epsilon"),
    ),
    Claim(
        "classifier.exponential",
        PAPER,
        "definition 26",
        "with scores of sensitivity 1 the exponential mechanism of eps = 2 keeps eps (it spends half of it)",
        (Item("loss", "2.00", relation=AT_MOST),),
        lambda: [number_of("exponential_half")],
        picture=picture_of("exponential_half"),
    ),
    Claim(
        "classifier.theorem-16",
        PAPER,
        "theorem 16",
        "two parts of (1, .1)-PAC-LDP are (2, .19)-PAC-LDP",
        (Item("eps", "2.0"), Item("delta", "0.19")),
        lambda: list(composed(1.0, 0.1, 2)),
    ),
    Claim(
        "classifier.theorem-17",
        PAPER,
        "theorem 17",
        "the indicator of delta = .1 makes any pure mechanism (2, .1)-PAC-LDP: PM, and k-RR on 100 values",
        (Item("PM", "0.1", relation=AT_MOST), Item("k-RR", "0.1", "0.163", relation=AT_MOST)),
        lambda: [indicator_delta(0.1, perturbation(name, 2.0).self_mass) for name in ("pm", "k-rr")],
        erratum=14,
        picture=picture_of("indicator"),
    ),
    Claim(
        "classifier.theorem-18",
        PAPER,
        "theorem 18",
        "the extended Gaussian mechanism keeps delta = .1 at eps = 2",
        (Item("delta it has", "0.1", relation=AT_MOST),),
        lambda: [pac_delta(2.0, printed_deviation(2.0, 0.1))],
        picture=picture_of("pac_gaussian"),
    ),
    Claim(
        "classifier.theorem-19",
        "Refined mechanism design, appendix A",
        "theorem 19",
        "the mutual information of an input and its report is at most min(log k, eps), and of order eps^2 where eps is "
        "small (randomised response on k values, in nats; the last is the ratio at eps = .02 and .01)",
        (
            Item("k = 4, eps = 1", "1", relation=AT_MOST),
            Item("k = 4, eps = 4", "1.3863", relation=AT_MOST),
            Item("k = 100, eps = 2", "2", relation=AT_MOST),
            Item("halving eps", "4", units=0.1),
        ),
        lambda: [
            *(_informed(*case) for case in ((4, 1.0), (4, 4.0), (100, 2.0))),
            _informed(4, 0.02)[0] / _informed(4, 0.01)[1],
        ],
        picture=curves("What randomised response on 4 values tells", "eps", "nats", _informed_curve),
    ),
)
