"""Published mechanisms in closed form; what each is, and who wrote it, stands in glossary.toml beside this file.

Every constructor takes the privacy parameter first and the domain second, and rounds towards privacy: the likelihood
ratio of what it returns is at most ``e^epsilon`` as a rational number, not just up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from mechdesign.errors import InvalidInput, did_you_mean, require_epsilon
from mechdesign.mechanisms.additive import Additive, BoundedLaplace
from mechdesign.mechanisms.circular import CircularLaplace
from mechdesign.mechanisms.discrete import Discrete, TwoSidedGeometric
from mechdesign.mechanisms.mixture import Mixture
from mechdesign.mechanisms.noise import Gaussian, Laplace, Staircase
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise, SublevelWindow
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.mechanisms.truncated import Truncated
from mechdesign.mechanisms.two_point import TwoPoint
from mechdesign.mechanisms.window import Window
from mechdesign.values.declare import evolved, frozen
from mechdesign.values.later import optimize
from mechdesign.words.domains import UNIT, Circle, Finite, Interval, require_domain
from mechdesign.words.losses import Loss, Power

__all__ = [
    "ON_CIRCLES",
    "ON_INTERVALS",
    "ON_POINTS",
    "bounded_laplace",
    "build",
    "compressed",
    "duchi",
    "gaussian",
    "hm",
    "laplace",
    "ogpm",
    "ogpm_circle",
    "ogpm_circle_squared",
    "ogpm_squared",
    "ogpm_unbiased",
    "pm",
    "purkayastha",
    "randomised_response",
    "randomised_response_on_bins",
    "redesigned_sw",
    "staircase",
    "sw",
    "truncated",
    "truncated_laplace",
    "two_heights",
    "two_sided_geometric",
]

SYMMETRIC = Interval(-1.0, 1.0)
CENTRED = AffineWindow()

# more than the rounding of exp and of the products that follow it, far less than anyone can measure
_TOWARDS_PRIVACY = 2.0**-50

_MOST_BINS = 256
_MOST_EPSILON_ON_BINS = 24.0


# -- additive noise ---------------------------------------------------------------------------------------------------


def laplace(epsilon: float, domain: Interval = UNIT) -> Additive:
    """Laplace noise of scale ``length / epsilon`` (Dwork, McSherry, Nissim and Smith 2006).

    >>> laplace(2.0).worst_case(Power(1.0))[0]
    0.5
    """
    epsilon = require_epsilon(epsilon)
    return Additive(epsilon, domain, Laplace(_laplace_scale(epsilon, domain)), "Laplace")


def truncated_laplace(epsilon: float, domain: Interval = UNIT) -> Truncated:
    """T-Laplace: Laplace noise, outputs outside the domain moved to its ends."""
    return Truncated(laplace(epsilon, domain), "T-Laplace")


def bounded_laplace(epsilon: float, domain: Interval = UNIT) -> BoundedLaplace:
    """B-Laplace: Laplace noise conditioned on the domain, normalised for every input (Holohan et al. 2020)."""
    epsilon = require_epsilon(epsilon)
    return BoundedLaplace(epsilon, domain, _laplace_scale(epsilon, domain))


def staircase(epsilon: float, domain: Interval = UNIT, loss: Loss | None = None) -> Additive:
    """Staircase noise (Geng and Viswanath 2014), its share chosen for the loss: absolute by default.

    >>> mechanism = staircase(2.0)
    >>> round(mechanism.worst_case(Power(1.0))[0], 10) == round(math.e / (math.e**2 - 1), 10)
    True
    """
    epsilon = require_epsilon(epsilon)
    power = loss.exponent if isinstance(loss, Power) else 1.0
    noise = Staircase(epsilon, _length_up(domain), 1 / (1 + math.exp(epsilon / 2)))
    if power != 1:
        everything = np.array(np.inf)
        # over ln share: the best share falls exponentially in epsilon
        best = optimize.minimize_scalar(
            lambda log_share: float(evolved(noise, share=math.exp(log_share)).partial(power, everything)),
            bounds=(-epsilon - 1.0, -1e-9),
            method="bounded",
            options={"xatol": 1e-9},
        )
        noise = evolved(noise, share=math.exp(float(best.x)))
    return Additive(epsilon, domain, noise, "staircase")


def gaussian(epsilon: float, deviation: float, domain: Interval = UNIT) -> Additive:
    """Gaussian noise. Not private in the pure sense: its privacy loss is infinite; `Gaussian.delta` gives the delta."""
    return Additive(epsilon, domain, Gaussian(deviation), "Gaussian")


def two_sided_geometric(epsilon: float, domain: Finite) -> TwoSidedGeometric:
    """Two-sided geometric noise on whole numbers (Ghosh, Roughgarden and Sundararajan 2009).

    Epsilon is between the two ends of the domain, as everywhere in this catalogue: a step of one changes probabilities
    by ``e^(epsilon / (last - first))``. Whoever wants epsilon between neighbours passes ``epsilon * (last - first)``.

    >>> eleven = two_sided_geometric(2.0, Finite(range(11)))
    >>> [round(math.log(eleven.mass(0, 0) / eleven.mass(0, x)), 6) for x in (1, 10)]
    [0.2, 2.0]
    """
    return TwoSidedGeometric(epsilon, domain)


# -- unbiased mechanisms for means ------------------------------------------------------------------------------------


def duchi(epsilon: float, domain: Interval = SYMMETRIC) -> TwoPoint:
    """Two outputs beyond the ends of the domain (Duchi, Jordan and Wainwright 2018).

    >>> round(duchi(1.0).worst_case(Power(2.0))[0], 6)
    4.682694
    """
    epsilon = require_epsilon(epsilon)
    rare = 1 / (1 + math.exp(epsilon))
    return TwoPoint(epsilon, domain, min(rare * (1 + _TOWARDS_PRIVACY), math.nextafter(0.5, 0.0)), "Duchi")


def pm(epsilon: float, domain: Interval = SYMMETRIC) -> Piecewise:
    """PM, the piecewise mechanism (Wang et al. 2019), moved from [-1, 1] to the domain.

    >>> h = math.exp(0.5)
    >>> round(pm(1.0).worst_case(Power(2.0))[0], 9) == round(4 * h / (3 * (h - 1) ** 2), 9)
    True
    """
    epsilon = require_epsilon(epsilon)
    reach = 1 / math.tanh(epsilon / 4)  # C = (e^(eps/2) + 1) / (e^(eps/2) - 1)
    low = -math.expm1(-epsilon / 2) / (2 * math.exp(epsilon / 2) + 2)
    return _two_heights(
        epsilon, SYMMETRIC, Interval(-reach, reach), low, AffineWindow((reach + 1) / 2, 0.0), "PM"
    ).moved_to(domain)


def hm(epsilon: float, domain: Interval = SYMMETRIC) -> Mixture | TwoPoint:
    """HM, a coin between PM and Duchi (Wang et al. 2019); Duchi alone below eps = 0.61.

    >>> hm(0.5).name
    'HM'
    """
    epsilon = require_epsilon(epsilon)
    root = math.sqrt(241)
    threshold = math.log((-5 + 2 * math.cbrt(6353 - 405 * root) + 2 * math.cbrt(6353 + 405 * root)) / 27)
    if epsilon <= threshold:
        return evolved(duchi(epsilon, domain), name="HM")
    return Mixture(epsilon, -math.expm1(-epsilon / 2), pm(epsilon, domain), duchi(epsilon, domain), "HM")


def ogpm_unbiased(epsilon: float, domain: Interval = UNIT) -> Piecewise:
    """OGPM-U as printed (Theorem 10). Unbiased, but its outputs reach twice as far as needed: PM has less variance."""
    epsilon = require_epsilon(epsilon)
    reach = 1 / math.tanh(epsilon / 4)
    low = math.exp(-epsilon / 2) / (2 * reach + 1)
    window = AffineWindow((reach + 1) / 2, -(reach - 1) / 4)
    return _two_heights(epsilon, UNIT, Interval(-reach, reach + 1), low, window, "OGPM-U").moved_to(domain)


# -- distribution estimation ------------------------------------------------------------------------------------------


def sw(epsilon: float, domain: Interval = UNIT) -> Piecewise:
    """SW, the square wave mechanism (Li et al. 2020), moved from [0, 1] to the domain.

    >>> round(sw(1.0).worst_case(Power(2.0))[0], 2)
    0.29
    """
    epsilon = require_epsilon(epsilon)
    half = _sw_half_width(epsilon)
    low = 1 / (2 * half * math.exp(epsilon) + 1)
    return _two_heights(epsilon, UNIT, Interval(-half, 1 + half), low, AffineWindow(), "SW").moved_to(domain)


def redesigned_sw(epsilon: float, domain: Interval | Circle = UNIT) -> Piecewise:
    """R-SW: SW's central density on the domain itself, line or circle (definitions 21 and 22 of the TraCS chapter)."""
    epsilon = require_epsilon(epsilon)
    low = -math.expm1(-epsilon) / epsilon / domain.length
    return _two_heights(epsilon, domain, domain, low, AffineWindow(), "R-SW")


def compressed(mechanism: Piecewise) -> Piecewise:
    """PM-C and SW-C: outputs squeezed linearly onto the inputs."""
    return evolved(mechanism.compressed(), name=f"{mechanism.name}-C")


def truncated(mechanism: Piecewise) -> Truncated:
    """T-PM and T-SW: outputs outside the inputs moved to their ends."""
    return Truncated(mechanism, f"T-{mechanism.name}")


# -- OGPM -------------------------------------------------------------------------------------------------------------


def ogpm(epsilon: float, domain: Interval = UNIT) -> Piecewise:
    """OGPM as printed (Theorem 7), central density ``e^(eps/2)``: optimal in its class for the absolute error only.

    >>> round(ogpm(1.0).worst_case(Power(1.0))[0], 5)
    0.37754
    """
    epsilon = require_epsilon(epsilon)
    return _two_heights(epsilon, domain, domain, math.exp(-epsilon / 2) / domain.length, AffineWindow(), "OGPM")


def ogpm_squared(epsilon: float, domain: Interval = UNIT) -> Piecewise:
    """OGPM for the squared error with the corrected heights.

    The window covers the share s of the domain with ``2 (e^eps - 1) s^3 + 3 s^2 = 1``; in terms of the base density
    ``m = 1 / (1 + (e^eps - 1) s)`` this is ``m^3 (e^eps - 1)^2 = (1 - m)^2 (m + 2)``.

    >>> mechanism = ogpm_squared(1.0)
    >>> round(mechanism.high, 6), round(mechanism.worst_case(Power(2.0))[0], 8)
    (1.509333, 0.21729852)
    """
    epsilon = require_epsilon(epsilon)
    low = _squared_base_density(epsilon) / domain.length
    return _two_heights(epsilon, domain, domain, low, AffineWindow(), "OGPM (squared)")


def ogpm_circle(epsilon: float, domain: Circle | None = None) -> Piecewise:
    """OGPM on the circle as printed (Theorem 8): optimal for the circular absolute error."""
    epsilon, circle = require_epsilon(epsilon), domain or Circle()
    return _two_heights(epsilon, circle, circle, math.exp(-epsilon / 2) / circle.length, AffineWindow(), "OGPM")


def ogpm_circle_squared(epsilon: float, domain: Circle | None = None) -> Piecewise:
    """OGPM on the circle for the squared error, with the corrected heights.

    >>> round(ogpm_circle_squared(4.0).worst_case(Power(2.0, 2 * math.pi))[0], 5)
    0.40106
    """
    epsilon, circle = require_epsilon(epsilon), domain or Circle()
    low = _squared_base_density(epsilon) / circle.length
    return _two_heights(epsilon, circle, circle, low, AffineWindow(), "OGPM (squared)")


def purkayastha(epsilon: float, domain: Circle | None = None) -> CircularLaplace:
    """The Purkayastha mechanism on the circle (Weggenmann and Kerschbaum 2021)."""
    return CircularLaplace(epsilon, domain or Circle())


# -- categories -------------------------------------------------------------------------------------------------------


def randomised_response(epsilon: float, domain: Finite) -> Discrete:
    """k-ary randomised response: the truth with probability ``e^eps / (e^eps + k - 1)`` (Kairouz, Oh and Viswanath).

    >>> round(randomised_response(1.0, Finite((0, 1))).privacy_loss(), 12)
    1.0
    """
    epsilon = require_epsilon(epsilon)
    require_domain(domain, (Finite,))
    count = len(domain)
    other = 1 / (math.exp(epsilon) + count - 1)
    table = np.full((count, count), other)
    np.fill_diagonal(table, max(other, other * math.exp(epsilon) * (1 - _TOWARDS_PRIVACY)))
    return Discrete(epsilon, domain, domain, table, "randomised response")


# -- categories from numbers ------------------------------------------------------------------------------------------


def randomised_response_on_bins(
    epsilon: float, domain: Interval = UNIT, loss: Loss | None = None, bins: int | None = None
) -> Window:
    """k-ary randomised response on k equal bins that reports their centres (Kairouz, Oh and Viswanath 2014).

    With ``c = e^eps`` and centres y_b the error at x is ``[sum_b loss(y_b, x) + (c-1) loss(y_nearest, x)] / (c+k-1)``.
    For ``|y - x|^p`` with p >= 1 it is largest at the ends of the domain. Unless ``bins`` says otherwise, k from 1 to
    256 has the least worst case. Beyond eps = 24 the mechanism keeps the ratio e^24: what other bins add to the error
    is then below 1e-8 of the domain's length to the power p.

    >>> mechanism = randomised_response_on_bins(2.0)
    >>> mechanism.points.tolist(), round(mechanism.worst_case(Power(1.0))[0], 6)
    ([0.125, 0.375, 0.625, 0.875], 0.269383)
    """
    epsilon = require_epsilon(epsilon)
    require_domain(domain, (Interval,))
    ratio = largest_safe_height(min(epsilon, _MOST_EPSILON_ON_BINS), 1.0)
    count = _best_bins(ratio, loss) if bins is None else bins
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST_BINS:
        raise InvalidInput("bins", bins, f"be a whole number from 1 to {_MOST_BINS}")
    centres = domain.lower + (np.arange(count) + 0.5) / count * domain.length
    base = np.full(count, 1 / (ratio + count - 1) if count > 1 else 1.0)
    return Window(epsilon, domain, centres, base, ratio, "RR on bins")


def _best_bins(ratio: float, loss: Loss | None) -> int:
    """The number of equal bins with the least error at an end of the domain."""
    power = loss.exponent if isinstance(loss, Power) else 1.0
    counts = np.arange(1, _MOST_BINS + 1)
    # sum over bins of ((b - 1/2) / k)^p, for all k at once
    sums = np.cumsum((counts - 0.5) ** power) / counts**power
    errors = (sums + (ratio - 1) * (0.5 / counts) ** power) / (ratio + counts - 1)
    return int(counts[np.argmin(errors)])


def __dir__() -> list[str]:
    return __all__


# -- by name ----------------------------------------------------------------------------------------------------------


@frozen
class Entry:
    """A line of the catalogue: how to build the mechanism on a domain, tuned to the loss where it can be."""

    key: str
    build: Callable[[float, Interval, Loss], ScalarMechanism]
    unbiased: bool = False


@frozen
class CircularEntry:
    """A line of the catalogue for the circle."""

    key: str
    build: Callable[[float, Circle, Loss], ScalarMechanism]


@frozen
class PointsEntry:
    """A line of the catalogue for finitely many points; ``serves`` says which ones the mechanism takes.

    ``tuned`` says whether ``build`` looks at the loss; ``also`` are other names it is asked for by.
    """

    key: str
    build: Callable[[float, Finite, Loss], ScalarMechanism]
    serves: Callable[[Finite], bool]
    tuned: bool = False
    also: tuple[str, ...] = ()


ON_INTERVALS: tuple[Entry, ...] = (
    Entry("laplace", lambda eps, domain, loss: laplace(eps, domain), unbiased=True),
    Entry("t-laplace", lambda eps, domain, loss: truncated_laplace(eps, domain)),
    Entry("b-laplace", lambda eps, domain, loss: bounded_laplace(eps, domain)),
    Entry("staircase", lambda eps, domain, loss: staircase(eps, domain, loss), unbiased=True),
    Entry("duchi", lambda eps, domain, loss: duchi(eps, domain), unbiased=True),
    Entry("pm", lambda eps, domain, loss: pm(eps, domain), unbiased=True),
    Entry("t-pm", lambda eps, domain, loss: truncated(pm(eps, domain))),
    Entry("pm-c", lambda eps, domain, loss: compressed(pm(eps, domain))),
    Entry("hm", lambda eps, domain, loss: hm(eps, domain), unbiased=True),
    Entry("sw", lambda eps, domain, loss: sw(eps, domain)),
    Entry("t-sw", lambda eps, domain, loss: truncated(sw(eps, domain))),
    Entry("sw-c", lambda eps, domain, loss: compressed(sw(eps, domain))),
    Entry("r-sw", lambda eps, domain, loss: redesigned_sw(eps, domain)),
    Entry("ogpm-u", lambda eps, domain, loss: ogpm_unbiased(eps, domain), unbiased=True),
    Entry("ogpm", lambda eps, domain, loss: ogpm(eps, domain)),
    Entry("ogpm-squared", lambda eps, domain, loss: ogpm_squared(eps, domain)),
    Entry("rr-bins", lambda eps, domain, loss: randomised_response_on_bins(eps, domain, loss)),
)

ON_CIRCLES: tuple[CircularEntry, ...] = (
    CircularEntry("purkayastha", lambda eps, dom, loss: purkayastha(eps, dom)),
    CircularEntry("r-sw", lambda eps, dom, loss: redesigned_sw(eps, dom)),
    CircularEntry("ogpm", lambda eps, dom, loss: ogpm_circle(eps, dom)),
    CircularEntry("ogpm-squared", lambda eps, dom, loss: ogpm_circle_squared(eps, dom)),
)

ON_POINTS: tuple[PointsEntry, ...] = (
    PointsEntry(
        "grr",
        lambda eps, domain, loss: randomised_response(eps, domain),
        serves=lambda domain: True,
        also=("randomised response",),
    ),
    PointsEntry(
        "geometric",
        lambda eps, domain, loss: two_sided_geometric(eps, domain),
        serves=lambda domain: len(domain) > 1 and all(point.is_integer() for point in domain.points),
        also=("two-sided geometric",),
    ),
)


def on_points(name: str) -> PointsEntry | None:
    """The line of that key or other name for mechanisms on points, if there is one.

    >>> on_points("Randomised response").key
    'grr'
    """
    key = name.strip().lower()
    return next((entry for entry in ON_POINTS if key in (entry.key, *entry.also)), None)


def build(name: str, epsilon: float, domain: Interval | Circle | Finite, loss: Loss | None = None) -> ScalarMechanism:
    """The mechanism of that name in the catalogue.

    >>> build("pm-c", 1.0, Interval(0, 10)).name
    'PM-C'
    >>> build("grr", 1.0, Finite((0, 1, 2))).name
    'randomised response'
    """
    require_domain(domain, (Interval, Circle, Finite))
    if not isinstance(name, str):
        raise InvalidInput("mechanism", name, "be a name", "for example 'pm'")
    key = name.strip().lower()
    if isinstance(domain, Circle):
        for circular in ON_CIRCLES:
            if circular.key == key:
                return circular.build(epsilon, domain, loss or Power(1.0, domain.period))
        known = [circular.key for circular in ON_CIRCLES]
    elif isinstance(domain, Finite):
        found = on_points(key)
        if found is not None and found.serves(domain):
            return found.build(epsilon, domain, loss or Power(1.0))
        known = [line.key for line in ON_POINTS if line.serves(domain)]
    else:
        for entry in ON_INTERVALS:
            if entry.key == key:
                return entry.build(epsilon, domain, loss or Power(1.0))
        known = [entry.key for entry in ON_INTERVALS]
    raise InvalidInput("mechanism", name, f"be one of {', '.join(known)} on {domain}", did_you_mean(name, known))


# -- rounding and shared formulas -------------------------------------------------------------------------------------


def two_heights(
    epsilon: float,
    inputs: Interval | Circle,
    outputs: Interval | Circle,
    low: float,
    name: str = "piecewise",
    window: AffineWindow | SublevelWindow = CENTRED,
) -> Piecewise:
    """The piecewise mechanism with base density ``low`` and the largest safe central density."""
    return _two_heights(require_epsilon(epsilon), inputs, outputs, low, window, name)


def largest_safe_height(epsilon: float, low: float) -> float:
    """The largest double we trust to be at most ``e^epsilon low``, proven by `mechdesign.exact`."""
    return max(low, low * math.exp(epsilon) * (1 - _TOWARDS_PRIVACY))


def _two_heights(
    epsilon: float,
    inputs: Interval | Circle,
    outputs: Interval | Circle,
    low: float,
    window: AffineWindow | SublevelWindow,
    name: str,
) -> Piecewise:
    # rounding may push the base density past the uniform one when eps is tiny
    low = min(low, 1 / outputs.length)
    high = largest_safe_height(epsilon, low)
    if high * outputs.length < 1 or low * outputs.length >= 1:
        low = high = 1 / outputs.length
    return Piecewise(epsilon, inputs, outputs, low, high, window, name)


def _squared_base_density(epsilon: float) -> float:
    growth = math.expm1(epsilon)
    share = float(optimize.brentq(lambda s: 2 * growth * s**3 + 3 * s**2 - 1, 0.0, 0.6, xtol=1e-300, rtol=1e-15))
    return 1 / (1 + growth * share)


def _sw_half_width(epsilon: float) -> float:
    if epsilon < 1e-5:
        return 0.5 - epsilon / 3
    growth = math.expm1(epsilon)
    return (epsilon * (growth + 1) - growth) / (2 * (growth + 1) * (growth - epsilon))


def _laplace_scale(epsilon: float, domain: Interval) -> float:
    """The least double with ``length / scale <= epsilon`` exactly."""
    length = Fraction(domain.upper) - Fraction(domain.lower)
    scale = domain.length / epsilon
    while length / Fraction(scale) > Fraction(epsilon):
        scale = math.nextafter(scale, math.inf)
    return scale


def _length_up(domain: Interval) -> float:
    """The domain's length, rounded up."""
    exact = Fraction(domain.upper) - Fraction(domain.lower)
    return domain.length if Fraction(domain.length) >= exact else math.nextafter(domain.length, math.inf)
