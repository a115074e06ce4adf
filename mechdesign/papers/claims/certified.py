"""The certified optima this package states itself: proven anew, beside the numbers it publishes."""

from __future__ import annotations

from mechdesign.methods.registry import solve
from mechdesign.papers.claims.claim import Claim, Item, Value, within
from mechdesign.papers.claims.shared import picture_of
from mechdesign.tables.formal.floors.evidence import stated_floor
from mechdesign.tables.making import make_table
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.domains import UNIT, Interval, cube_of
from mechdesign.words.losses import Power
from mechdesign.words.priors import normal
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import Sphere

PAPER = "Certified optima of this package (CERTIFIED.md, README)"

_EPSILONS = (0.5, 1.0, 2.0, 4.0)
_GAP = 1e-4


def _worst(exponent: float) -> list[Value]:
    problems = (Problem(inputs=UNIT, loss=Power(exponent), privacy=Pure(e)) for e in _EPSILONS)
    found = [solve(problem, gap=_GAP).certificate for problem in problems]
    return [(certificate.lower, certificate.upper) for certificate in found]


def _in_theorems() -> list[Value]:
    """The numbers in the theorems that `export --to coq` writes, which `verify --formal` has Coq accept."""
    designs = [solve(Problem(inputs=UNIT, loss=Power(2.0), privacy=Pure(e)), gap=_GAP) for e in _EPSILONS]
    floors = [stated_floor(make_table(design), design) for design in designs]
    return [floor.least for floor in floors if floor is not None]


def _unbiased() -> list[Value]:
    inputs = Interval(-1.0, 1.0)
    prior = Average(normal(0.0, 0.1, inputs))
    words = [
        Problem(inputs=inputs, loss=Power(2.0), privacy=Pure(e), criterion=prior, among=Unbiased()) for e in _EPSILONS
    ]
    found = [solve(asked, size=33).certificate for asked in words]
    return [(certificate.lower, certificate.upper) for certificate in found]


def _unbiased_worst() -> list[Value]:
    inputs, among = Interval(-1.0, 1.0), Unbiased()
    problems = (Problem(inputs=inputs, loss=Power(2.0), privacy=Pure(e), among=among) for e in _EPSILONS)
    found = [solve(problem, gap=_GAP).certificate for problem in problems]
    return [(certificate.lower, certificate.upper) for certificate in found]


def _items(*texts: str) -> tuple[Item, ...]:
    return tuple(within(f"eps = {epsilon:g}", text, 2 * _GAP) for epsilon, text in zip(_EPSILONS, texts, strict=True))


def _several() -> list[Value]:
    """Lower ends for four numbers, and what sign patterns attain for 2, 5 and 10."""
    asked = (4, 2.0, "lower"), (4, 4.0, "lower"), (2, 4.0, "upper"), (5, 4.0, "upper"), (10, 4.0, "upper")
    found = []
    for count, epsilon, end in asked:
        problem = Problem(inputs=cube_of(count), loss=Power(2.0), privacy=Pure(epsilon), among=Unbiased())
        found.append(float(getattr(solve(problem, method="sign_patterns").certificate, end)))
    return list(found)


def _directions() -> list[Value]:
    """The least worst variance of a vector of 1024 coordinates, a coordinate."""
    asked = (Problem(inputs=Sphere(1024), loss=Power(2.0), privacy=Pure(e), among=Unbiased()) for e in (1.0, 2.0, 4.0))
    found = [solve(problem).certificate for problem in asked]
    return [(certificate.lower / 1024, certificate.upper / 1024) for certificate in found]


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
    Claim(
        "certified.unbiased-worst",
        PAPER,
        "unbiased, worst case on [-1, 1]",
        "the least worst-case variance of any unbiased mechanism at eps = 0.5, 1, 2, 4",
        _items("16.0028", "3.9906", "0.86545", "0.12709"),
        _unbiased_worst,
    ),
    Claim(
        "certified.theorem",
        PAPER,
        "worst case, squared error on [0, 1]",
        "what no mechanism is below, in the theorem that is written for Coq, at eps = 0.5, 1, 2, 4",
        _items("0.23500", "0.19661", "0.10688", "0.02606"),
        _in_theorems,
    ),
    Claim(
        "certified.several",
        PAPER,
        "several numbers of one person on [-1, 1], unbiased",
        "the least worst variance of four numbers is at least this; sign patterns have that for 2, 5 and 10",
        tuple(
            Item(label, text)
            for label, text in (
                ("at least, d = 4, eps = 2", "17.1528"),
                ("at least, d = 4, eps = 4", "2.74459"),
                ("sign patterns, d = 2, eps = 4", "2.310"),
                ("sign patterns, d = 5, eps = 4", "10.54"),
                ("sign patterns, d = 10, eps = 4", "42.15"),
            )
        ),
        _several,
        picture=picture_of("several_numbers"),
    ),
    Claim(
        "certified.directions",
        PAPER,
        "a vector of length 1, unbiased",
        "the least worst variance of 1024 coordinates, a coordinate",
        (Item("eps = 1", "6.3265"), Item("eps = 2", "1.6154"), Item("eps = 4", "0.4346")),
        _directions,
        picture=picture_of("best_cap"),
    ),
)
