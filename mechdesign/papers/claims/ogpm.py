"""Chapter 5 of the refined mechanism design thesis: the optimal piecewise mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.methods.piecewise.regression import fit_height
from mechdesign.methods.polar.search import best_split
from mechdesign.methods.registry import solve
from mechdesign.methods.result import Design
from mechdesign.papers.claims.claim import AT_LEAST, AT_MOST, Bounds, Claim, Item, Picture, Value
from mechdesign.papers.claims.drawing import Lines, curves, over_inputs
from mechdesign.papers.claims.shared import picture_of
from mechdesign.papers.gallery import entry
from mechdesign.words import classes
from mechdesign.words.criteria import At
from mechdesign.words.domains import Circle, Interval, Product
from mechdesign.words.losses import Absolute, Power, Squared
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

PAPER = "Refined mechanism design, chapter 5 (OGPM)"

_UNIT, _CIRCLE = Interval(0.0, 1.0), Circle()
_FLAT = Interval(0.0, _CIRCLE.period)
_RIVALS = ("pm-c", "sw-c")
_EPSILONS = np.arange(1, 8.01, 0.25)
_PLOTTED, _GAP = 1000, 1e-4
_NOISES = ("staircase", "t-laplace", "b-laplace")
_AMONG_PIECEWISE = 'section 5.2.1 says for which mechanisms it is optimal: "based on piecewise distributions"'


def _worst(mechanism: Mechanism, loss: Power) -> float:
    return float(mechanism.worst_case(loss)[0])


def _best(epsilon: float, exponent: float, domain: Interval | Circle = _UNIT) -> Piecewise:
    mechanism = _design(epsilon, exponent, domain).mechanism
    assert isinstance(mechanism, Piecewise)
    return mechanism


def _design(epsilon: float, exponent: float, inputs: Interval | Circle | Product, **words: Any) -> Design:
    among = classes.Piecewise()
    return solve(Problem(inputs=inputs, loss=Power(exponent), privacy=Pure(epsilon), among=among, **words))


def _closed_form() -> list[Value]:
    mechanism = catalogue.ogpm(1.0)
    middle = mechanism.pieces(0.5).edges
    return [mechanism.high, mechanism.pieces(0.0).edges[1], middle[1], middle[2]]


def _squared_heights() -> list[Value]:
    return [_best(epsilon, 2.0).high for epsilon in (1.0, 2.0, 4.0, 8.0)]


def _errors_at_zero() -> list[Value]:
    loss = Squared()
    return [float(build(1.0).expected_loss(0.0, loss)) for build in (catalogue.ogpm, catalogue.sw)]


def _whole_domain() -> list[Value]:
    loss = Absolute()
    return [
        catalogue.ogpm(epsilon).average_loss(loss) / catalogue.build(rival, epsilon, _UNIT).average_loss(loss)
        for epsilon in (2.0, 4.0)
        for rival in _RIVALS
    ]


@cache
def _rival_mean(rival: str, exponent: float) -> float:
    return float(np.mean([_worst(catalogue.build(rival, e, _UNIT), Power(exponent)) for e in _EPSILONS]))


def _worst_over_epsilon(build: Callable[[float], Mechanism]) -> list[Value]:
    ours = float(np.mean([_worst(build(float(e)), Squared()) for e in _EPSILONS]))
    return [ours / _rival_mean(rival, 2.0) for rival in _RIVALS]


def _circle_shares(build: Callable[[float], Mechanism], rival_loss: Power) -> list[Value]:
    """Averages over 1000 equispaced inputs with both ends, as a figure has them: the errors of rivals peak there."""
    loss, places = Squared(_CIRCLE.period), np.linspace(0, _CIRCLE.period, _PLOTTED)

    def average(rival: str, epsilon: float) -> float:
        return float(np.mean(catalogue.build(rival, epsilon, _FLAT).expected_loss(places, rival_loss)))

    return [build(epsilon).average_loss(loss) / average(rival, epsilon) for epsilon in (2.0, 4.0) for rival in _RIVALS]


def _circle_over_epsilon(build: Callable[[float, float], Mechanism]) -> list[Value]:
    """Worst cases of PM-C and SW-C as on the flattened circle; by theorem 6 errors grow with the length's power."""
    shares: list[Value] = []
    for exponent in (1.0, 2.0):
        loss = Power(exponent, _CIRCLE.period)
        ours = float(np.mean([_worst(build(float(e), exponent), loss) for e in _EPSILONS]))
        shares += [ours / (_CIRCLE.period**exponent * _rival_mean(rival, exponent)) for rival in _RIVALS]
    return shares


def _circle_density() -> list[Value]:
    mechanism = catalogue.ogpm_circle(1.0)
    return [mechanism.high, mechanism.low, mechanism.width / 2 / math.pi]


def _split() -> list[Value]:
    """The worst input is an end of the line, and any point of the circle."""
    circular = Squared(_CIRCLE.period)

    def on_line(epsilon: float) -> float:
        return float(catalogue.ogpm(epsilon).expected_loss(0.0, Squared()))

    def on_circle(epsilon: float) -> float:
        return float(catalogue.ogpm_circle(epsilon).expected_loss(0.0, circular))

    found = best_split(1 + 2 * math.pi, on_line, on_circle)
    return [found.first, found.second]


def _polar_design() -> list[Value]:
    details = _design(1 + 2 * math.pi, 2.0, Product((_UNIT, _CIRCLE))).report.details
    return [float(details["epsilon_distance"]), float(details["epsilon_angle"])]


def _b_laplace_mass() -> list[Value]:
    """The printed density ``e^(-eps |y - x|) eps / (1 - e^-eps)``, integrated over [0, 1]."""
    epsilon = 2.0

    def mass(x: float) -> float:
        return (2 - math.exp(-epsilon * x) - math.exp(-epsilon * (1 - x))) / -math.expm1(-epsilon)

    return [mass(0.0), mass(0.5)]


def _aimed() -> list[Value]:
    found = _design(1.0, 1.0, _UNIT, criterion=At(0.2))
    usual = _best(1.0, 1.0)
    assert isinstance(found.mechanism, Piecewise)
    aimed = (found.certificate.lower, found.certificate.upper)
    return [found.mechanism.high, aimed, usual.high, float(usual.expected_loss(0.2, Absolute()))]


def _fitted() -> list[Value]:
    fit = fit_height(np.random.default_rng(1).uniform(0.1, 4, 50).tolist(), Absolute())
    return [fit.rate, fit.shift, fit.largest_residual]


def _unbiased() -> list[Value]:
    return [float(catalogue.ogpm_unbiased(1.0).mean(0.25)), _least_unbiased(1.0), _least_unbiased(4.0)]


def _least_unbiased(epsilon: float) -> float:
    """The least worst variance of unbiased mechanisms with theorem 10's outputs and three pieces, over its own.

    Of the base density m all else follows: the window's length from the total mass, its middle from the mean. The
    worst input is an end of the inputs, where the window is furthest from the middle of the outputs.
    """
    reach = (math.exp(epsilon / 2) + 1) / (math.exp(epsilon / 2) - 1)
    length, more = 2 * reach + 1, math.expm1(epsilon)

    def variance(base: float) -> float:
        window = (1 - base * length) / (base * more)
        middle = -base * length / 2 / (base * more * window)  # the mean at x = 0 is 0
        if middle - window / 2 < -reach:
            return math.inf
        around = base * ((reach + 1) ** 3 + reach**3) / 3
        return around + base * more * window * (middle**2 + window**2 / 12)

    bases = np.linspace(0, 1 / length, 4001)[1:-1].tolist()
    return min(map(variance, bases)) / float(catalogue.ogpm_unbiased(epsilon).variance(0.0))


def _pm_share() -> list[Value]:
    theorem, pm = catalogue.ogpm_unbiased(1.0), catalogue.build("pm", 1.0, _UNIT)
    return [float(pm.variance(0.0)) / float(theorem.variance(0.0))]


def _optimum(exponent: float, epsilons: Sequence[float]) -> list[Value]:
    """Over all mechanisms: proven bounds of the least worst case."""
    found: list[Value] = []
    for epsilon in epsilons:
        problem = Problem(inputs=_UNIT, loss=Power(exponent), privacy=Pure(epsilon))
        certificate = solve(problem, gap=_GAP).certificate
        found.append((certificate.lower, certificate.upper))
    return found


def _circle_optimum() -> list[Value]:
    certificate = _design(2.0, 1.0, _CIRCLE).certificate
    assert certificate.valid_for == "all mechanisms"
    bounds: Bounds = certificate.lower, certificate.upper
    return [bounds]


def _circle_squared() -> list[Value]:
    certificate = _design(4.0, 2.0, _CIRCLE).certificate
    return [(certificate.lower, certificate.upper)]


def _all_places(domain: Interval) -> Any:
    return np.linspace(domain.lower, domain.upper, _PLOTTED + 1)


def _largest_share(law: ScalarMechanism, rival: ScalarMechanism, loss: Power, domain: Interval = _UNIT) -> float:
    """The largest of the shares that one mechanism's errors have of another's, over the values of a domain."""
    places = _all_places(domain)
    return _without_noise(np.max(law.expected_loss(places, loss) / rival.expected_loss(places, loss)))


def _without_noise(share: Any) -> float:
    """PM-C is OGPM at the ends of the domain: there the share is 1 but for the last bit."""
    return round(float(share), 12)


def _everywhere() -> list[Value]:
    loss = Absolute()
    return [
        _largest_share(catalogue.ogpm(epsilon), catalogue.build(rival, epsilon, _UNIT), loss)
        for epsilon in (2.0, 4.0)
        for rival in _RIVALS
    ]


def _largest_worst_shares(rivals: Sequence[str], losses: Sequence[Power]) -> list[Value]:
    """The largest of the shares that OGPM's worst error has of a rival's, over eps from 1 to 8."""
    return [
        _without_noise(
            max(
                _worst(catalogue.ogpm(float(e)), loss) / _worst(catalogue.build(rival, float(e), _UNIT, loss), loss)
                for e in _EPSILONS
            )
        )
        for loss in losses
        for rival in rivals
    ]


def _small_leads() -> list[Value]:
    """By how much OGPM's absolute error is below a rival's at most, over the values of the domain."""
    places = _all_places(_UNIT)

    def errors(name: str, epsilon: float) -> Any:
        return catalogue.build(name, epsilon, _UNIT).expected_loss(places, Absolute())

    return [float(np.max(errors(rival, e) - errors("ogpm", e))) for e in (0.4, 0.8) for rival in _RIVALS]


def _small_laws() -> dict[str, tuple[ScalarMechanism, Power]]:
    laws = {name: (catalogue.build(key, 0.4, _UNIT), Absolute()) for name, key in (("PM-C", "pm-c"), ("SW-C", "sw-c"))}
    return {"OGPM": (catalogue.ogpm(0.4), Absolute()), **laws}


def _own_domains() -> list[Value]:
    """PM and T-PM on [-1, 1], SW and T-SW on [0, 1], squared error, eps = 2."""
    homes = {"pm": Interval(-1.0, 1.0), "t-pm": Interval(-1.0, 1.0), "sw": _UNIT, "t-sw": _UNIT}
    return [
        _largest_share(catalogue.ogpm(2.0, home), catalogue.build(name, 2.0, home), Squared(), home)
        for name, home in homes.items()
    ]


def _average_shares() -> list[Value]:
    """Average absolute errors over [0, 1] as shares of those of three kinds of noise."""
    places, loss = _all_places(_UNIT), Absolute()
    found: list[Value] = []
    for epsilon in (2.0, 4.0):
        ours = np.mean(catalogue.ogpm(epsilon).expected_loss(places, loss))
        noises = (catalogue.build(name, epsilon, _UNIT, loss) for name in _NOISES)
        found += [float(ours / np.mean(noise.expected_loss(places, loss))) for noise in noises]
    return found


def _of_purkayastha() -> list[Value]:
    return [
        max(
            _worst(catalogue.ogpm_circle(float(e)), loss) / _worst(catalogue.purkayastha(float(e)), loss)
            for e in _EPSILONS
        )
        for loss in (Absolute(_CIRCLE.period), Squared(_CIRCLE.period))
    ]


def _three_pieces() -> list[Value]:
    """The least worst squared error at eps = 2 with 1,000 free pieces over that with three."""
    ours, with_many = entry("three_pieces").exhibit().answer()
    return [with_many / ours]


# -- pictures ---------------------------------------------------------------------------------------------------------


def _on_line(epsilon: float) -> Picture:
    def laws() -> Mapping[str, tuple[ScalarMechanism, Power]]:
        names = {"OGPM": "ogpm", "PM-C": "pm-c", "SW-C": "sw-c"}
        return {shown: (catalogue.build(name, epsilon, _UNIT), Absolute()) for shown, name in names.items()}

    return over_inputs(f"Absolute error at eps = {epsilon:g}", laws, (0, 1))


def _on_circle(epsilon: float) -> Picture:
    def laws() -> Mapping[str, tuple[ScalarMechanism, Power]]:
        rivals = {"PM-C": "pm-c", "SW-C": "sw-c"}
        flat = {shown: (catalogue.build(name, epsilon, _FLAT), Squared()) for shown, name in rivals.items()}
        around = Squared(_CIRCLE.period)
        own = {"theorem 8": catalogue.ogpm_circle(epsilon), "optimum": catalogue.ogpm_circle_squared(epsilon)}
        return {name: (law, around) for name, law in own.items()} | flat

    title = f"Squared error on the circle at eps = {epsilon:g} (rivals on the flattened circle)"
    return over_inputs(title, laws, (0, _CIRCLE.period))


def _noise_over_inputs() -> Mapping[str, tuple[ScalarMechanism, Power]]:
    names = {"OGPM": "ogpm", "staircase": "staircase", "T-Laplace": "t-laplace", "B-Laplace": "b-laplace"}
    return {shown: (catalogue.build(name, 2.0, _UNIT, Absolute()), Absolute()) for shown, name in names.items()}


def _square_waves() -> Mapping[str, tuple[ScalarMechanism, Power]]:
    names = {"OGPM": "ogpm", "SW": "sw", "T-SW": "t-sw"}
    return {shown: (catalogue.build(name, 2.0, _UNIT), Squared()) for shown, name in names.items()}


def _worst_over_epsilon_of(names: Mapping[str, str], loss: Power, title: str) -> Picture:
    def lines() -> Lines:
        epsilons = [float(e) for e in _EPSILONS]
        return {
            shown: (epsilons, [_worst(catalogue.build(name, e, _UNIT, loss), loss) for e in epsilons])
            for shown, name in names.items()
        }

    return curves(title, "eps", "worst expected error", lines, yscale="log")


def _circle_over_epsilon_lines() -> Lines:
    epsilons, loss = [float(e) for e in _EPSILONS], Squared(_CIRCLE.period)
    rivals = {"PM-C": "pm-c", "SW-C": "sw-c"}
    flat = {
        shown: (epsilons, [_worst(catalogue.build(name, e, _FLAT), Squared()) for e in epsilons])
        for shown, name in rivals.items()
    }
    own = {"theorem 8": catalogue.ogpm_circle, "optimum": catalogue.ogpm_circle_squared}
    return {name: (epsilons, [_worst(build(e), loss) for e in epsilons]) for name, build in own.items()} | flat


def _purkayastha_lines() -> Lines:
    epsilons, loss = [float(e) for e in _EPSILONS], Absolute(_CIRCLE.period)
    both: dict[str, Callable[[float], Mechanism]] = {
        "OGPM": catalogue.ogpm_circle,
        "Purkayastha": catalogue.purkayastha,
    }
    return {name: (epsilons, [_worst(build(e), loss) for e in epsilons]) for name, build in both.items()}


# -- claims -----------------------------------------------------------------------------------------------------------


def _shares(*printed: str) -> tuple[Item, ...]:
    names = [f"eps = {epsilon}, of {rival}" for epsilon in (2, 4) for rival in ("PM-C", "SW-C")]
    return tuple(Item(name, text) for name, text in zip(names, printed, strict=True))


CLAIMS = (
    Claim(
        "ogpm.example-6",
        PAPER,
        "example 6, figure 5.4",
        "at eps = 1 the optimal mechanism has p = 1.64, on [0, 0.38) for x = 0 and on [0.31, 0.69) for x = 0.5",
        (Item("p", "1.64"), Item("end at 0", "0.38"), Item("start at .5", "0.31"), Item("end at .5", "0.69")),
        _closed_form,
        picture=picture_of("ogpm_absolute"),
    ),
    Claim(
        "ogpm.theorem-7-squared",
        PAPER,
        "theorem 7",
        "p = e^(eps/2) is optimal for squared error too, among piecewise mechanisms",
        (
            Item("p at eps = 1", "1.6487", "1.509333"),
            Item("p at eps = 2", "2.7183", "2.230012"),
            Item("p at eps = 4", "7.3891", "4.625211"),
            Item("p at eps = 8", "54.598", "18.081562"),
        ),
        _squared_heights,
        erratum=1,
        picture=picture_of("ogpm_squared"),
    ),
    Claim(
        "ogpm.hypothesis-1",
        PAPER,
        "hypothesis 1 and section 5.2.2, figure 5.2",
        "the optimum with more pieces is that with three (squared error, eps = 2: a linear program of 1,000 pieces, "
        "exact up to their width)",
        (Item("its error over that of three", "1.0000"),),
        _three_pieces,
        picture=picture_of("three_pieces"),
    ),
    Claim(
        "ogpm.mse-at-0",
        PAPER,
        "section C.2.5",
        "at eps = 1 and x = 0 the mean squared error is 0.22, that of SW 0.29",
        (Item("OGPM", "0.22"), Item("SW", "0.29")),
        _errors_at_zero,
    ),
    Claim(
        "ogpm.section-5.6",
        PAPER,
        "section 5.6.1, figure 5.8",
        "absolute error, averaged over the whole domain, as a share of that of PM-C and SW-C",
        _shares("0.942", "0.923", "0.905", "0.747"),
        _whole_domain,
        picture=_on_line(4.0),
    ),
    Claim(
        "ogpm.figure-c.3",
        PAPER,
        "appendix C.2.7, figure C.3",
        "OGPM's absolute error is at most 0.008 smaller than PM-C's and SW-C's at eps = 0.4, at most 0.015 at 0.8 "
        "(largest distance over 1,001 values)",
        (
            Item("PM-C, eps = .4", "0.008"),
            Item("SW-C, eps = .4", "0.008"),
            Item("PM-C, eps = .8", "0.015"),
            Item("SW-C, eps = .8", "0.015"),
        ),
        _small_leads,
        picture=over_inputs("Absolute error at eps = 0.4", _small_laws, (0, 1)),
    ),
    Claim(
        "ogpm.figure-5.9",
        PAPER,
        "section 5.6.1, figure 5.9",
        "worst-case squared error, averaged over eps (the page gives no grid: 1 to 8), as a share of PM-C's and SW-C's",
        (Item("of PM-C", "0.899"), Item("of SW-C", "0.617")),
        lambda: _worst_over_epsilon(catalogue.ogpm),
        mended=lambda: _worst_over_epsilon(lambda epsilon: _best(epsilon, 2.0)),
        erratum=1,
        picture=_worst_over_epsilon_of(
            {"theorem 7": "ogpm", "optimum": "ogpm-squared", "PM-C": "pm-c", "SW-C": "sw-c"},
            Squared(),
            "Worst squared error on [0, 1]",
        ),
    ),
    Claim(
        "ogpm.figure-5.10",
        PAPER,
        "section 5.6.1, figure 5.10",
        "circle: average squared error (so the text; the caption says absolute), as a share of that of PM-C and SW-C, "
        "which treat the circle as an interval",
        _shares("0.475", "0.430", "0.413", "0.246"),
        lambda: _circle_shares(catalogue.ogpm_circle, Squared()),
        mended=lambda: _circle_shares(lambda epsilon: _best(epsilon, 2.0, _CIRCLE), Squared()),
        erratum=1,
        picture=_on_circle(2.0),
    ),
    Claim(
        "ogpm.figure-5.10-circular",
        PAPER,
        "section 5.6.1, figure 5.10",
        "the same shares, with the errors of PM-C and SW-C measured round the circle as ours are",
        _shares("0.475", "0.430", "0.413", "0.246"),
        lambda: _circle_shares(lambda epsilon: _best(epsilon, 2.0, _CIRCLE), Squared(_CIRCLE.period)),
        beyond="the page has the shares for rivals that treat the circle as an interval, distances included",
    ),
    Claim(
        "ogpm.figure-5.11",
        PAPER,
        "section 5.6.1, figure 5.11",
        "circle: worst-case error averaged over eps (1 to 8), as a share of PM-C and SW-C on the flattened circle",
        (
            Item("absolute, of PM-C", "0.500"),
            Item("absolute, of SW-C", "0.416"),
            Item("squared, of PM-C", "0.224"),
            Item("squared, of SW-C", "0.154"),
        ),
        lambda: _circle_over_epsilon(lambda epsilon, _: catalogue.ogpm_circle(epsilon)),
        mended=lambda: _circle_over_epsilon(lambda epsilon, exponent: _best(epsilon, exponent, _CIRCLE)),
        erratum=1,
        picture=curves(
            "Worst squared error on the circle", "eps", "squared radians", _circle_over_epsilon_lines, yscale="log"
        ),
    ),
    Claim(
        "ogpm.figure-5.8",
        PAPER,
        "section 5.6.1, figure 5.8",
        "OGPM has the lowest absolute error at every x (largest share of the rival's error over 1,001 values)",
        tuple(
            Item(f"eps = {epsilon}, of {rival}", "1", relation=AT_MOST)
            for epsilon in (2, 4)
            for rival in ("PM-C", "SW-C")
        ),
        _everywhere,
        picture=_on_line(2.0),
    ),
    Claim(
        "ogpm.figure-5.9-lowest",
        PAPER,
        "section 5.6.1, figure 5.9",
        "OGPM has the lowest worst-case error at every eps, for both errors, and almost PM-C's for the absolute one "
        "(largest share over eps from 1 to 8)",
        (
            Item("absolute, of PM-C", "1.00"),
            Item("absolute, of SW-C", "1", relation=AT_MOST),
            Item("squared, of PM-C", "1", relation=AT_MOST),
            Item("squared, of SW-C", "1", relation=AT_MOST),
        ),
        lambda: _largest_worst_shares(_RIVALS, (Absolute(), Squared())),
    ),
    Claim(
        "ogpm.figure-5.12",
        PAPER,
        "section 5.6.1, figure 5.12",
        "at eps = 2 OGPM has the lowest squared error at every x against PM, SW and both truncated to the inputs "
        "(largest share over 1,001 values, each on its own domain)",
        tuple(Item(f"of {rival}", "1", relation=AT_MOST) for rival in ("PM", "T-PM", "SW", "T-SW")),
        _own_domains,
        picture=over_inputs("Squared error at eps = 2", _square_waves, (0, 1)),
    ),
    Claim(
        "ogpm.figure-5.13",
        PAPER,
        "section 5.6.1, figure 5.13",
        "OGPM generally has lower absolute errors than the staircase mechanism, T-Laplace and B-Laplace (its average "
        "over the domain as a share of theirs; at eps = 2 and x = 0 T-Laplace has less)",
        tuple(
            Item(f"eps = {epsilon}, of {rival}", "1", relation=AT_MOST)
            for epsilon in (2, 4)
            for rival in ("the staircase", "T-Laplace", "B-Laplace")
        ),
        _average_shares,
        picture=over_inputs("Absolute error at eps = 2", _noise_over_inputs, (0, 1)),
    ),
    Claim(
        "ogpm.figure-5.14",
        PAPER,
        "section 5.6.1, figure 5.14",
        "OGPM has the lowest worst-case absolute error at every eps among these, and the staircase mechanism comes "
        "near it at large eps (largest share over eps from 1 to 8)",
        tuple(Item(f"of {rival}", "1", relation=AT_MOST) for rival in ("the staircase", "T-Laplace", "B-Laplace")),
        lambda: _largest_worst_shares(_NOISES, (Absolute(),)),
        picture=_worst_over_epsilon_of(
            {"OGPM": "ogpm", "staircase": "staircase", "T-Laplace": "t-laplace", "B-Laplace": "b-laplace"},
            Absolute(),
            "Worst absolute error on [0, 1]",
        ),
    ),
    Claim(
        "ogpm.figure-5.15",
        PAPER,
        "section 5.6.1, figure 5.15",
        "on the circle OGPM has a lower error than the Purkayastha mechanism at every eps (largest share over eps from "
        "1 to 8)",
        (Item("absolute error", "1", relation=AT_MOST), Item("squared error", "1", relation=AT_MOST)),
        _of_purkayastha,
        picture=curves("Worst absolute error on the circle", "eps", "radians", _purkayastha_lines, yscale="log"),
    ),
    Claim(
        "ogpm.example-7",
        PAPER,
        "example 7, figure 5.6",
        "at eps = 1 the circular mechanism has density 0.26 within 0.38 pi of the input and 0.09 elsewhere",
        (Item("density near", "0.26"), Item("density far", "0.09"), Item("reach / pi", "0.38")),
        _circle_density,
        picture=picture_of("ogpm_circle"),
    ),
    Claim(
        "ogpm.theorem-9",
        PAPER,
        "theorems 8 and 9",
        "theorem 8 is optimal on the circle for squared error, and its error is theorem 9's (the formula at eps = 4)",
        (Item("MSE in rad^2", "0.48566", "0.40106"),),
        _circle_squared,
        erratum=1,
        picture=picture_of("ogpm_circle_squared"),
    ),
    Claim(
        "ogpm.circle-optimal",
        PAPER,
        "theorem 8",
        "the mechanism is optimal on the circle for absolute error (eps = 2; among piecewise mechanisms; it is so "
        "among all)",
        (Item("error in rad", "0.8449"),),
        _circle_optimum,
    ),
    Claim(
        "ogpm.example-5",
        PAPER,
        "example 5",
        "regressed on 50 random eps, the solved heights are e^(eps/2) - 0.07, with an error of at most 0.01",
        (Item("rate", "0.5", units=0.01), Item("shift", "-0.07"), Item("largest residual", "0.01", relation=AT_MOST)),
        _fitted,
    ),
    Claim(
        "ogpm.example-8",
        PAPER,
        "example 8",
        "aimed at x = 0.2, eps = 1: p = 1.54 and error 0.241 there; the worst-case design has 1.64 and 0.243",
        (
            Item("p, aimed", "1.54"),
            Item("error, aimed", "0.241"),
            Item("p, worst case", "1.64"),
            Item("error, worst case", "0.243"),
        ),
        _aimed,
        picture=picture_of("ogpm_aimed"),
    ),
    Claim(
        "ogpm.split",
        PAPER,
        "section C.2.6",
        "eps = 1 + 2 pi is best split into 1.32 for the distance and 5.69 for the angle (printed heights)",
        (Item("distance", "1.32", "1.299"), Item("angle", "5.69", "5.985")),
        _split,
        erratum=4,
        picture=picture_of("polar_split"),
    ),
    Claim(
        "ogpm.split-optimal",
        PAPER,
        "section C.2.6",
        "the split of the same eps for the mechanisms that are optimal for squared error (erratum 1)",
        (Item("distance", "1.32"), Item("angle", "5.69")),
        _polar_design,
        beyond="the page splits eps for the mechanisms of theorems 7 and 8, with their printed heights",
    ),
    Claim(
        "ogpm.b-laplace",
        PAPER,
        "section C.2.8",
        "the normalisation constant of B-Laplace is (1 - e^-eps)/2, whatever x is: the total mass at eps = 2 is 1",
        (Item("mass at x = 0", "1.00"), Item("mass at x = .5", "1.00", "1.46")),
        _b_laplace_mass,
        erratum=4,
        picture=picture_of("bounded_laplace"),
    ),
    Claim(
        "ogpm.staircase",
        PAPER,
        "section 5.6.1",
        "the staircase mechanism's expected absolute error is e^(eps/2)/(e^eps - 1) (at eps = 2)",
        (Item("error", "0.42546"),),
        lambda: [_worst(catalogue.staircase(2.0, _UNIT, Absolute()), Absolute())],
        picture=picture_of("staircase_noise"),
    ),
    Claim(
        "ogpm.circular-distance",
        PAPER,
        "section 5.3",
        "the distance on the circle, the smaller of two arcs, is min(|y - x|, |y - (2 pi - x)|) (from 1 to 6)",
        (Item("distance", "0.7168", "1.2832"),),
        lambda: [float(Absolute(_CIRCLE.period)(6.0, 1.0))],
        erratum=4,
    ),
    Claim(
        "ogpm.theorem-10",
        PAPER,
        "theorem 10",
        "it is unbiased, and optimal for squared error among unbiased piecewise mechanisms with the outputs [-C, C "
        "+ 1)",
        (
            Item("its mean at x = .25", "0.25", units=1e-6),
            Item("least variance over its, eps = 1", "1", "0.968", relation=AT_LEAST),
            Item("least variance over its, eps = 4", "1", "0.775", relation=AT_LEAST),
        ),
        _unbiased,
        erratum=4,
        picture=picture_of("theorem_10"),
    ),
    Claim(
        "ogpm.theorem-10-pm",
        PAPER,
        "theorem 10",
        "the variance of PM, moved to [0, 1), over that of theorem 10's mechanism (eps = 1, x = 0)",
        (Item("variance of PM over its", "1", relation=AT_LEAST),),
        _pm_share,
        beyond="the theorem is about mechanisms with the outputs [-C, C + 1); those of PM are fewer",
    ),
    Claim(
        "ogpm.optimal-absolute",
        PAPER,
        "theorem 7",
        "the least worst absolute error of any mechanism, beside theorem 7's 1/(1 + e^(eps/2))",
        (
            Item("eps = 1", "0.37754", "0.3162"),
            Item("eps = 2", "0.26894", "0.2008"),
            Item("eps = 4", "0.11920", "0.0781"),
        ),
        lambda: _optimum(1.0, (1.0, 2.0, 4.0)),
        erratum=3,
        beyond=_AMONG_PIECEWISE,
        picture=picture_of("minimax_absolute"),
    ),
    Claim(
        "ogpm.optimal-squared",
        PAPER,
        "theorem 7",
        "the least worst squared error of any mechanism, beside theorem 7's",
        (
            Item("eps = 1", "0.22087", "0.1966"),
            Item("eps = 2", "0.13787", "0.1069"),
            Item("eps = 4", "0.04921", "0.0261"),
        ),
        lambda: _optimum(2.0, (1.0, 2.0, 4.0)),
        erratum=3,
        beyond=_AMONG_PIECEWISE,
        picture=picture_of("two_points"),
    ),
)
