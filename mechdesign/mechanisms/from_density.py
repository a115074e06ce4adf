"""A mechanism of one's own, known by a density that is a Python function: to be compared, never to be shipped."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.adaptive import Panels, integrals
from mechdesign.mechanisms.quadrature import loss_kinks
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.values.declare import epsilon, field, frozen
from mechdesign.words.domains import Circle, Finite, Interval, only
from mechdesign.words.losses import Loss
from mechdesign.words.priors import Atoms, Prior

Floats = NDArray[np.float64]

_TRIED_INPUTS, _TRIED_OUTPUTS = 33, 512
_SHARES = (1e-9, 0.5, 1 - 1e-9)  # where cells of outputs are tried: beside their ends, where densities may jump
_PANELS = 16
_TOTAL = 1e-6  # how far the density may integrate from 1
_RATIO = 1e-9  # relative: what rounding in a density of exactly e^eps may do
_SEARCHED, _FINER, _ROUNDS = 129, 33, 4
_BISECTIONS = 48
_OVER_INPUTS = 1e-9


def _nowhere(_: float) -> tuple[float, ...]:
    return ()


def _function(what: str) -> Callable[[object, object, object], None]:
    def check(_: object, __: object, said: object) -> None:
        if not callable(said):
            step = "for example lambda y, x: numpy.where(numpy.abs(y - x) < 0.2, 2.0, 0.5)"
            raise InvalidInput(what, said, "be a function", step if what == "density" else "")

    return check


@frozen
class FromDensity:
    """The law with density ``function(y, x)`` of the output y at the input x: arrays go in, an array comes out.

    ``kinks(x)`` may list the outputs where the density jumps or bends, which makes integrals faster and sharper.

    *Guarantee.* Moments, losses and the cdf are numerical integrals, refined until halving a panel changes less than
    1e-11 of the largest. When it is made, 33 inputs and 512 cells of outputs are tried: the density is finite, at least
    0, integrates to 1 to within 1e-6, and no ratio is above ``e^epsilon``. **Nothing else is known of its privacy**:
    `sampled_loss` is the largest that was met there, and what it has may be more. So it has no `likelihood_ratio`,
    cannot be proven, be a design, become a table or be in a file. What is to be shipped, cut into cells
    (`mechdesign.mechanisms.Discrete`): then privacy is decided.

    >>> from mechdesign.words.losses import Absolute
    >>> unit = Interval(0, 1)
    >>> own = FromDensity(2.0, unit, unit, lambda y, x: 1 + (2 * x - 1) * (y - 0.5))
    >>> worst, place = own.worst_case(Absolute())
    >>> round(worst, 9), place in (0.0, 1.0), round(own.sampled_loss, 6)  # 1/2 - 1/12, and ln 3 of 2
    (0.416666667, True, 1.098612)
    >>> own.privacy_loss()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mechdesign.errors.CheckFailed: own density is known by its values only: no privacy can be proven of it; ...
    """

    epsilon: float = epsilon()
    inputs: Interval | Circle | Finite = field(validator=only(Interval, Circle, Finite))
    outputs: Interval | Circle = field(validator=only(Interval, Circle))
    function: Callable[..., ArrayLike] = field(validator=_function("density"))
    name: str = "own density"
    kinks: Callable[[float], Iterable[float]] = field(default=_nowhere, validator=_function("kinks"))

    def __attrs_post_init__(self) -> None:
        places = _inputs_to_try(self.inputs, _TRIED_INPUTS)
        totals = self._expected(places, lambda y, _: np.ones_like(y), _nowhere)[1]
        worst = int(np.argmax(np.abs(totals - 1)))
        if abs(totals[worst] - 1) > _TOTAL:
            rule = f"integrate to 1 over {self.outputs} at every input"
            raise InvalidInput("density", float(totals[worst]), rule, f"look at x = {places[worst]:g}")
        if self.sampled_loss > self.epsilon * (1 + _RATIO) + _RATIO:
            rule = f"keep eps = {self.epsilon:g}: a ratio of e^{self.sampled_loss:.6g} was met"
            raise InvalidInput("density", self.name, rule, "pass the epsilon that it has, or lift its lowest values")

    @property
    def sampled_loss(self) -> float:
        """The largest privacy loss among the inputs and outputs tried: what it has is this or more."""
        places = _inputs_to_try(self.inputs, _TRIED_INPUTS)
        known = [kink for x in places.tolist() for kink in self.kinks(x)]
        grid = np.linspace(self.outputs.lower, self.outputs.upper, _TRIED_OUTPUTS + 1)
        edges = np.unique([*grid, *(kink for kink in known if self.outputs.lower < kink < self.outputs.upper)])
        widths = np.diff(edges)
        tried = np.concatenate([edges[:-1] + share * widths for share in _SHARES])
        values = self.density(tried[:, None], places[None, :])
        most, least = values.max(axis=1), values.min(axis=1)
        used = most > 0
        if (least[used] == 0).any():
            return math.inf
        return float(np.log(most[used] / least[used]).max(initial=0.0))

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        """The density: 0 outside the outputs."""
        outputs, inputs = np.broadcast_arrays(analysis.require_outputs(y), self.inputs.require(x))
        inside = (outputs >= self.outputs.lower) & (outputs <= self.outputs.upper)
        return np.where(inside, self._values(np.where(inside, outputs, self.outputs.lower), inputs), 0.0)

    def _values(self, y: Floats, x: Floats) -> Floats:
        try:
            values = np.asarray(self.function(y, x), dtype=np.float64)
            values = np.broadcast_to(values, y.shape)
        except (TypeError, ValueError) as error:
            step = "use numpy's functions, or wrap it in numpy.vectorize"
            raise InvalidInput("density", type(error).__name__, "take arrays and give numbers", step) from error
        bad = ~(np.isfinite(values) & (values >= 0))
        if bad.any():
            raise InvalidInput("density", float(values[bad][0]), "be finite and at least 0 everywhere")
        return values

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(analysis.require_outputs(y).shape, self.inputs.require(x).shape))

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, inputs = np.broadcast_arrays(analysis.require_outputs(y), self.inputs.require(x))
        stops = np.clip(outputs, self.outputs.lower, self.outputs.upper).ravel()
        found = np.empty(stops.size)
        for place in np.unique(inputs):
            mine = np.flatnonzero(inputs.ravel() == place)
            edges, below = self._cumulative(place)
            panel = np.clip(np.searchsorted(edges, stops[mine], side="right") - 1, 0, edges.size - 2)
            found[mine] = below[panel] + self._between(edges[panel], stops[mine], np.full(mine.size, place))
        return np.clip(found, 0.0, 1.0).reshape(outputs.shape)

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        probabilities, inputs = np.broadcast_arrays(analysis.require_probabilities(u), self.inputs.require(x))
        wanted, places = probabilities.ravel(), inputs.ravel()
        low, high, below = (np.empty(wanted.size) for _ in range(3))
        for place in np.unique(places):
            mine = np.flatnonzero(places == place)
            edges, upto = self._cumulative(place)
            panel = np.clip(np.searchsorted(upto, wanted[mine], side="left") - 1, 0, edges.size - 2)
            low[mine], high[mine], below[mine] = edges[panel], edges[panel + 1], upto[panel]
        for _ in range(_BISECTIONS):
            middle = low + (high - low) / 2
            reached = below + self._between(low, middle, places)
            enough = reached >= wanted
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
            below = np.where(enough, below, reached)
        return np.asarray(high.reshape(probabilities.shape))

    def _cumulative(self, x: float) -> tuple[Floats, Floats]:
        """Where panels end at one input, and the probability up to there."""
        edges = self._cuts(x, ())
        owner = np.arange(edges.size - 1)
        panels = Panels(edges[:-1], edges[1:], owner, owner.size)
        masses = integrals(lambda y, _: self._values(y, np.full(y.shape, x))[..., None], panels)[:, 0]
        return edges, np.concatenate([[0.0], np.cumsum(masses)])

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        return self.quantile(analysis.require_generator(rng).random(inputs.shape), inputs)

    def moment(self, x: ArrayLike, order: int) -> Floats:
        power = analysis.require_order(order)
        if isinstance(self.outputs, Circle) and order > 0:
            raise InvalidInput("moment", order, "be asked of outputs on a line", "use a circular loss instead")
        return self._average(x, lambda y, _: y**power, _nowhere)

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        analysis.require_matching_loss(loss, self.outputs)
        ends = self.outputs.lower, self.outputs.upper
        return self._average(x, loss, lambda place: loss_kinks(loss, place, *ends))

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        """The ends of the inputs: what lies between is not known."""
        return self.inputs.points if isinstance(self.inputs, Finite) else (self.inputs.lower, self.inputs.upper)

    def likelihood_ratio(self) -> LikelihoodRatio:
        """Always `CheckFailed`: values at some places prove nothing of the others."""
        raise CheckFailed(
            f"{self.name} is known by its values only: no privacy can be proven of it; "
            "cut it into cells (mechdesign.mechanisms.Discrete), or compare it as it is"
        )

    def worst_case(self, loss: Loss) -> tuple[float, float]:
        """The largest expected loss that a search over the inputs met, and where: the largest there is, or a bit less.

        129 inputs are tried, and four times 33 around the best.
        """
        if isinstance(self.inputs, Finite):
            return analysis.worst_case(self, loss)
        places = _inputs_to_try(self.inputs, _SEARCHED)
        for _ in range(_ROUNDS):
            errors = self.expected_loss(places, loss)
            best = int(np.argmax(errors))
            around = places[max(best - 1, 0)], places[min(best + 1, places.size - 1)]
            places = np.unique([*np.linspace(*around, _FINER), places[best]])
        errors = self.expected_loss(places, loss)
        best = int(np.argmax(errors))
        return float(errors[best]), float(places[best])

    def average_loss(self, loss: Loss, prior: Prior | None = None) -> float:
        """The expected loss averaged over a prior, uniform on the inputs if none is given."""
        if isinstance(self.inputs, Finite) or isinstance(prior, Atoms):
            return analysis.average_loss(self, loss, prior)
        if prior is None:
            cuts = np.linspace(self.inputs.lower, self.inputs.upper, 5)
            total = integrals(lambda x, _: self.expected_loss(x, loss)[..., None], Panels.between([cuts]), _OVER_INPUTS)
            return float(total[0, 0]) / self.inputs.length
        law = prior
        if law.domain.lower < self.inputs.lower or law.domain.upper > self.inputs.upper:
            raise InvalidInput("prior", law.name, f"live inside the inputs {self.inputs}", "move or rescale the prior")
        cuts = np.unique([law.domain.lower, law.domain.upper, *law.breakpoints])
        total = integrals(
            lambda x, _: (self.expected_loss(x, loss) * law(x))[..., None], Panels.between([cuts]), _OVER_INPUTS
        )
        return float(total[0, 0])

    mean = analysis.mean
    variance = analysis.variance
    privacy_loss = analysis.privacy_loss

    # -- integrals ---------------------------------------------------------------------------------------------------

    def _average(
        self, x: ArrayLike, worth: Callable[[Floats, Floats], Floats], bends: Callable[[float], Iterable[float]]
    ) -> Floats:
        """``E[worth(Y, x)]``; ``bends(x)`` are the outputs where ``worth`` is not smooth."""
        asked = self.inputs.require(x)
        inputs, place = np.unique(asked, return_inverse=True)
        if not inputs.size:
            return asked
        found, totals = self._expected(inputs, worth, bends)
        if (np.abs(totals - 1) > _TOTAL).any():
            raise CheckFailed(f"{self.name} does not integrate to 1 at one of the inputs asked about")
        return np.asarray(found[place].reshape(asked.shape))

    def _expected(
        self, x: Floats, worth: Callable[[Floats, Floats], Floats], bends: Callable[[float], Iterable[float]]
    ) -> tuple[Floats, Floats]:
        """``E[worth(Y, x)]`` and the total probability for each input."""

        def weighed(y: Floats, owner: NDArray[np.intp]) -> Floats:
            values = self._values(y, x[owner])
            return np.stack([values * worth(y, x[owner]), values], axis=-1)

        found = integrals(weighed, Panels.between([self._cuts(place, bends(place)) for place in x.tolist()]))
        return found[:, 0], found[:, 1]

    def _between(self, start: Floats, stop: Floats, x: Floats) -> Floats:
        """The probability of ``start < Y < stop`` for each input, between two places that nothing is known between."""
        panels = Panels(start, stop, np.arange(start.size), start.size)
        return integrals(lambda y, owner: self._values(y, x[owner])[..., None], panels)[:, 0]

    def _cuts(self, x: float, more: Iterable[float]) -> Floats:
        """Where panels begin and end: equal ones, the input, and what is known to bend."""
        start, stop = self.outputs.lower, self.outputs.upper
        cuts = np.array([x, *more, *self.kinks(x), *np.linspace(start, stop, _PANELS + 1)], dtype=np.float64)
        return np.unique(cuts[(cuts >= start) & (cuts <= stop)])


def _inputs_to_try(inputs: Interval | Circle | Finite, count: int) -> Floats:
    """All of a finite set, or equally spaced ones and both ends."""
    if isinstance(inputs, Finite):
        return np.asarray(inputs.points)
    return np.linspace(inputs.lower, inputs.upper, count)
