"""The certified optima this package states itself: proven anew, beside the numbers it publishes."""

from __future__ import annotations

from mechdesign.methods.registry import solve
from mechdesign.papers.claims.claim import Claim, Item, Value, within
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.domains import UNIT, Interval
from mechdesign.words.losses import Power
from mechdesign.words.priors import normal
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

PAPER = "Certified optima of this package (CERTIFIED.md, README)"

_EPSILONS = (0.5, 1.0, 2.0, 4.0)
_GAP = 1e-4


def _worst(exponent: float) -> list[Value]:
    problems = (Problem(inputs=UNIT, loss=Power(exponent), privacy=Pure(e)) for e in _EPSILONS)
    found = [solve(problem, gap=_GAP).certificate for problem in problems]
    return [(certificate.lower, certificate.upper) for certificate in found]


def _unbiased() -> list[Value]:
    inputs = Interval(-1.0, 1.0)
    prior = Average(normal(0.0, 0.1, inputs))
    words = [
        Problem(inputs=inputs, loss=Power(2.0), privacy=Pure(e), criterion=prior, among=Unbiased()) for e in _EPSILONS
    ]
    found = [solve(asked, size=33).certificate for asked in words]
    return [(certificate.lower, certificate.upper) for certificate in found]


def _items(*texts: str) -> tuple[Item, ...]:
    return tuple(within(f"eps = {epsilon:g}", text, 2 * _GAP) for epsilon, text in zip(_EPSILONS, texts, strict=True))


CLAIMS = (
    Claim(
        "certified.absolute",
        PAPER,
        "worst case, absolute error on [0, 1]",
        "the least worst-case error of any mechanism at eps = 0.5, 1, 2, 4",
        _items("0.39527", "0.31617", "0.20082", "0.07809"),
        lambda: _worst(1.0),
    ),
    Claim(
        "certified.squared",
        PAPER,
        "worst case, squared error on [0, 1]",
        "the least worst-case error of any mechanism at eps = 0.5, 1, 2, 4",
        _items("0.23500", "0.19661", "0.10688", "0.02606"),
        lambda: _worst(2.0),
    ),
    Claim(
        "certified.unbiased",
        PAPER,
        "unbiased, N(0, 0.1^2) on [-1, 1], 33 inputs",
        "the least average variance of any unbiased mechanism at eps = 0.5, 1, 2, 4",
        _items("15.7738", "3.35084", "0.52930", "0.046919"),
        _unbiased,
    ),
)
