"""The shape every mechanism has: `Mechanism`, and `ScalarMechanism` where inputs and outputs are single numbers."""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.words.domains import Circle, Domain, Finite, Interval, Line, Product
from mechdesign.words.losses import Loss
from mechdesign.words.priors import Prior
from mechdesign.words.vectors import Vectors

Floats = NDArray[np.float64]


class Mechanism(Protocol):
    """An immutable family of laws, one for each input ``x``, with everything about them exact up to rounding.

    Arguments broadcast like numpy's. A law may have a density part and atoms: ``density`` is the former, ``mass`` the
    probability of exactly ``y``.

    Inputs and outputs are single numbers (then it is a `ScalarMechanism`, and is asked about one ``loss`` and one
    ``prior``) or tuples (then coordinates come last, and losses and priors are sequences, one a coordinate).
    """

    @property
    def name(self) -> str: ...
    @property
    def epsilon(self) -> float:
        """The privacy parameter the mechanism was built for; `privacy_loss` says what it achieves."""
        ...

    @property
    def inputs(self) -> Domain | Vectors: ...
    @property
    def outputs(self) -> Domain | Vectors: ...

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats: ...
    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats: ...
    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats: ...
    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats: ...
    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        """Outputs for simulation: one for each ``x``, or ``size`` of them for a single ``x``."""
        ...

    def moment(self, x: ArrayLike, order: int) -> Floats:
        """``E[Y^order | x]``."""
        ...

    def expected_loss(self, x: ArrayLike, loss: Any, /) -> Floats:
        """``E[loss(Y, x) | x]``."""
        ...

    def breakpoints(self, loss: Any, /) -> tuple[Any, ...]:
        """Inputs between which the expected loss is smooth, the ends of the domain included."""
        ...

    def likelihood_ratio(self) -> LikelihoodRatio: ...

    def mean(self, x: ArrayLike) -> Floats: ...
    def variance(self, x: ArrayLike) -> Floats: ...
    def worst_case(self, loss: Any, /) -> tuple[float, Any]:
        """The largest expected loss over the inputs, and an input where it is taken."""
        ...

    def average_loss(self, loss: Any, prior: Any = None, /) -> float:
        """The expected loss averaged over a prior (uniform if none is given)."""
        ...

    def privacy_loss(self) -> float:
        """``ln sup q(y|x)/q(y|x')``: the epsilon the mechanism really has."""
        ...


class ScalarMechanism(Mechanism, Protocol):
    """A mechanism for one number: what a mechanism for tuples is made of."""

    @property
    def inputs(self) -> Interval | Circle | Finite: ...
    @property
    def outputs(self) -> Interval | Circle | Finite | Line: ...

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats: ...
    def breakpoints(self, loss: Loss) -> tuple[float, ...]: ...
    def worst_case(self, loss: Loss) -> tuple[float, float]: ...
    def average_loss(self, loss: Loss, prior: Prior | None = None) -> float: ...


_OF = {
    "Design": "take its mechanism, design.mechanism",
    "Table": "take the mechanism that it was made from, or mechdesign.tables.measured.measured(table) for its errors",
}


def require_law(said: Any, field: str = "mechanism") -> Any:
    """A mechanism, or `InvalidInput` that says where a design or a table has one.

    >>> require_law(1.0)
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: mechanism must be a mechanism (got 1.0); for example catalogue.pm(1.0)
    """
    if all(hasattr(said, name) for name in ("inputs", "outputs", "expected_loss")):
        return said
    raise InvalidInput(field, said, "be a mechanism", _OF.get(type(said).__name__, "for example catalogue.pm(1.0)"))


def require_scalar(mechanism: Mechanism) -> ScalarMechanism:
    """The mechanism, if it is for one number, or `InvalidInput` that says where those for one number are."""
    if isinstance(mechanism.inputs, Product):
        raise InvalidInput("mechanism", mechanism.name, "take one number", "use those of its coordinates, .parts")
    return cast(ScalarMechanism, mechanism)
