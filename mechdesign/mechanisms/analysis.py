"""What follows from a mechanism's expected loss alone, written once and used as methods by every mechanism."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import smooth
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.words.domains import Circle, Finite, Interval, Line, require_numbers
from mechdesign.words.losses import Loss, Power
from mechdesign.words.priors import Atoms, Density, Prior

Floats = NDArray[np.float64]

_SQUARED = Power(2.0)


def mean(self: ScalarMechanism, x: ArrayLike) -> Floats:
    """``E[Y | x]``."""
    return self.moment(x, 1)


def variance(self: ScalarMechanism, x: ArrayLike) -> Floats:
    """``Var(Y | x)``, taken about the input so that far-away domains lose no digits."""
    centre = self.inputs.require(x)
    if isinstance(self.outputs, Circle):
        raise InvalidInput("variance", self.name, "be asked of outputs on a line", "use a circular loss instead")
    bias = self.mean(centre) - centre
    return np.asarray(self.expected_loss(centre, _SQUARED) - bias * bias)


def worst_case(self: ScalarMechanism, loss: Loss) -> tuple[float, float]:
    """The largest expected loss over the inputs, and an input where it is taken."""
    if isinstance(self.inputs, Finite):
        points = np.asarray(self.inputs.points)
        values = self.expected_loss(points, loss)
        best = int(np.argmax(values))
        return float(values[best]), float(points[best])
    return smooth.maximum(lambda x: self.expected_loss(x, loss), self.breakpoints(loss))


def average_loss(self: ScalarMechanism, loss: Loss, prior: Prior | None = None) -> float:
    """The expected loss averaged over a prior, uniform on the inputs if none is given."""
    if isinstance(prior, Atoms):
        points = self.inputs.require(prior.points, "prior points")
        return float(np.dot(self.expected_loss(points, loss), prior.weights))
    if isinstance(self.inputs, Finite):
        if prior is not None:
            raise InvalidInput("prior", prior.name, "be weights on the points of a finite domain", "use priors.Atoms")
        return float(np.mean(self.expected_loss(np.asarray(self.inputs.points), loss)))
    if prior is None:
        total = smooth.integral(lambda x: self.expected_loss(x, loss), self.breakpoints(loss))
        return total / self.inputs.length
    return _average_over_density(self, loss, prior, self.inputs)


def _average_over_density(mechanism: ScalarMechanism, loss: Loss, prior: Density, inputs: Interval | Circle) -> float:
    lower, upper = prior.domain.lower, prior.domain.upper
    if lower < inputs.lower or upper > inputs.upper:
        raise InvalidInput("prior", prior.name, f"live inside the inputs {inputs}", "move or rescale the prior")
    cuts = {lower, upper, *prior.breakpoints, *mechanism.breakpoints(loss)}
    inside = sorted(cut for cut in cuts if lower <= cut <= upper)
    return smooth.integral(lambda x: mechanism.expected_loss(x, loss) * prior(x), inside)


def privacy_loss(self: ScalarMechanism) -> float:
    """``ln sup q(y|x)/q(y|x')`` over all pairs of inputs and all outputs: the epsilon the mechanism really has."""
    return self.likelihood_ratio().loss


def require_matching_loss(loss: Loss, outputs: Interval | Circle | Finite | Line) -> None:
    """A mechanism with outputs on a circle answers only for losses on the same circle."""
    if isinstance(outputs, Circle) and isinstance(loss, Power) and loss.period != outputs.period:
        raise InvalidInput(
            "loss", loss.name, f"be circular with period {outputs.period:g}", "use loss.on_circle(period)"
        )


def require_generator(rng: object) -> np.random.Generator:
    """Simulation randomness is passed explicitly, as a numpy Generator."""
    if not isinstance(rng, np.random.Generator):
        raise InvalidInput("rng", rng, "be a numpy Generator", "pass numpy.random.default_rng(seed)")
    return rng


def inputs_for_sampling(inputs: Interval | Circle | Finite, x: ArrayLike, size: int | None) -> Floats:
    """The inputs of a sample, one an output."""
    values = inputs.require(x)
    if size is None:
        return values
    if values.ndim != 0:
        raise InvalidInput("size", size, "be left out when x is an array", "the sample has the shape of x")
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
        raise InvalidInput("size", size, "be a whole number, at least 0")
    return np.broadcast_to(values, (int(size),))


def require_probabilities(u: ArrayLike) -> Floats:
    """Arguments of a quantile function."""
    values = require_numbers(u, "u")
    if not ((values >= 0) & (values <= 1)).all():
        raise InvalidInput("u", u, "lie in [0, 1]")
    return values


def require_outputs(y: ArrayLike) -> Floats:
    """Arguments of a density or a cdf: any numbers, those outside the outputs have density 0."""
    return require_numbers(y, "y")


def require_order(order: int) -> int:
    """The order of a moment."""
    if isinstance(order, bool) or not isinstance(order, int) or not 0 <= order <= 16:
        raise InvalidInput("order", order, "be a whole number from 0 to 16")
    return order
