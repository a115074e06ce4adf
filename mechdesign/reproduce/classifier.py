"""Chapter 7: the utility of classifiers under perturbed inputs."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.classifier import (
    Robust,
    composed,
    concentration,
    indicator_delta,
    pac_delta,
    perturbation,
    printed_deviation,
    rho_curve,
    smallest_epsilon,
    utility,
)
from mechdesign.classifier.concentration import half_width
from mechdesign.classifier.robustness import hoeffding_points
from mechdesign.reproduce.claim import AT_LEAST, AT_MOST, Claim, Item, Value

PAPER = "Refined mechanism design, chapter 7"

_X, _LOW, _HIGH = [0.5], [0.2], [0.8]
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
    return [printed, concentration(perturbation("pm", 2.0), [0.05], [-0.05], [0.15])]


CLAIMS = (
    Claim(
        "classifier.section-7.2",
        PAPER,
        "section 7.2.1",
        "Laplace at eps = 2 falls within 0.3 with probability 0.46; 0.8 needs eps of at least 5.2",
        (Item("p(2, .3)", "0.46", "0.4512"), Item("eps for .8", "5.2", "5.365")),
        lambda: [_inside("laplace"), _needed()],
        erratum=14,
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
        "classifier.rho-is-a-bound",
        PAPER,
        "section 7.3.3",
        "a label is kept with probability at least rho; eps = 4, theta = .3, tau = .01 (the worst part fails)",
        (Item("rho", "0.936"), Item("kept", "0.936", "0.902", relation=AT_LEAST)),
        lambda: [
            utility(_TESTED, perturbation("pm", 4.0), np.array(_X)).rho,
            utility(_TESTED, perturbation("pm", 4.0), np.array(_X)).bound,
        ],
        erratum=14,
    ),
    Claim(
        "classifier.epsilon-of-pm",
        PAPER,
        "section 7.3.3, application 2",
        "eps = 1.8 gives rho of at least 0.8 at theta = .3 under PM (1.386 does)",
        (Item("rho at 1.8", "0.8", relation=AT_LEAST),),
        lambda: [float(rho_curve("pm", [1.8], _PROVEN, np.array(_X))[0])],
    ),
    Claim(
        "classifier.exponential",
        PAPER,
        "definition 26",
        "scores of sensitivity 1 spend eps = 2",
        (Item("loss", "2.00", "1.00"),),
        lambda: [perturbation("exponential-printed", 2.0).mechanism.privacy_loss()],
        erratum=14,
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
    ),
    Claim(
        "classifier.theorem-18",
        PAPER,
        "theorem 18",
        "the extended Gaussian mechanism keeps delta = .1 at eps = 2",
        (Item("delta it has", "0.1", relation=AT_MOST),),
        lambda: [pac_delta(2.0, printed_deviation(2.0, 0.1))],
    ),
)
