"""Lower bounds on the error of every piecewise mechanism, checked in rational arithmetic.

Write ``c = e^eps`` and ``phi(t) = min(t, c t)``. The densities of a piecewise mechanism lie between a base density
``b`` and ``c b`` on outputs of length L. For an input x and any level v,

    ``E[loss(Y, x)] = v + integral of q(y|x) (loss(y, x) - v) >= v + b G(x, v)``,
    ``G(x, v) = integral of phi(loss(y, x) - v) over the outputs``,

because ``b <= q <= c b``. Averaging over atoms ``(x, v)`` with weights, and taking the worst b in ``[1/(cL), 1/L]``,
bounds the worst case over inputs for *any number of pieces*. At the optimum G = 0 and the bound is attained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from mechdesign.design.evidence import EVERYWHERE, IN_CLASS
from mechdesign.domains import Circle
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput, require_epsilon, require_finite
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.statement import Aim, Criterion, Statement, stated
from mechdesign.losses import Power
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import domain_to_dict


@dataclass(frozen=True, slots=True)
class BathtubAtom:
    """An input, the radius whose loss is the level ``v = radius^exponent``, and the atom's weight."""

    x: float
    radius: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class BathtubBound:
    """Atoms that bound the error of every piecewise mechanism at their input from below, for ``|y - x|^exponent``.

    ``lower`` and ``upper`` are the ends of the outputs. All atoms are at one input, the hardest one or the one that was
    asked about. A circle is cut open opposite it: it is the middle.

    >>> bound = BathtubBound(1.0, 1, 0.0, 1.0, (BathtubAtom(0.0, 0.3775406687),))
    >>> round(float(bound.value()), 9)
    0.377540669
    """

    kind: ClassVar[str] = "bathtub"

    epsilon: float
    exponent: int
    lower: float
    upper: float
    atoms: tuple[BathtubAtom, ...]

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)
        if isinstance(self.exponent, bool) or not isinstance(self.exponent, int) or not 1 <= self.exponent <= 16:
            raise InvalidInput("exponent", self.exponent, "be a whole number from 1 to 16")
        if not require_finite(self.lower, "lower") < require_finite(self.upper, "upper"):
            raise InvalidInput("outputs", (self.lower, self.upper), "have their lower end below their upper end")
        if not self.atoms:
            raise InvalidInput("atoms", self.atoms, "hold at least one atom")
        for atom in self.atoms:
            if not self.lower <= require_finite(atom.x, "atom x") <= self.upper:
                raise InvalidInput("atom x", atom.x, "lie among the outputs")
            if not (require_finite(atom.radius, "radius") >= 0 and require_finite(atom.weight, "weight") > 0):
                raise InvalidInput("atom", atom, "have a radius of at least 0 and a weight above 0")
            if atom.x != self.atoms[0].x:
                raise InvalidInput("atom x", atom.x, f"be that of the first atom, {self.atoms[0].x!r}")
        if sum(Fraction(atom.weight) for atom in self.atoms) != 1:
            raise InvalidInput("atom weights", [atom.weight for atom in self.atoms], "sum to exactly 1")

    def value(self) -> Fraction:
        """The bound, an exact rational: valid for every piecewise mechanism with these outputs."""
        ratio = exp_upper(self.epsilon)
        length = Fraction(self.upper) - Fraction(self.lower)
        level = sum(Fraction(atom.weight) * Fraction(atom.radius) ** self.exponent for atom in self.atoms)
        gain = sum(Fraction(atom.weight) * self._gain(atom, ratio) for atom in self.atoms)
        return level + (gain / length if gain < 0 else gain / (ratio * length))

    def bound(self, mechanism: Mechanism | Product) -> float:
        return float_down(self.value())

    @property
    def x(self) -> float:
        """The input the bound is about."""
        return self.atoms[0].x

    def attained(self, mechanism: Mechanism | Product) -> float:
        return float_up(exact_error(self._of_this_kind(mechanism), self.x, self.exponent))

    def _of_this_kind(self, mechanism: Mechanism | Product) -> Piecewise:
        if not isinstance(mechanism, Piecewise):
            raise CheckFailed(f"the evidence is about piecewise mechanisms, not {mechanism.name}")
        if mechanism.window != AffineWindow():
            raise CheckFailed("the evidence is about windows centred at the input")
        if (self.lower, self.upper) != (mechanism.outputs.lower, mechanism.outputs.upper):
            raise CheckFailed("the evidence is about other outputs than the mechanism's")
        if isinstance(mechanism.inputs, Circle):
            # distances round the circle are those on the line only if it is cut open opposite the input
            if self.x != mechanism.inputs.middle:
                raise CheckFailed(f"the evidence is about {self.x!r}, which is not the middle of {mechanism.inputs}")
        elif not mechanism.inputs.lower <= self.x <= mechanism.inputs.upper:
            raise CheckFailed(f"the evidence is about {self.x!r}, which is not among the inputs {mechanism.inputs}")
        return mechanism

    def scope(self, mechanism: Mechanism | Product) -> str:
        """On a circle any mechanism can be averaged over rotations: there the bound holds for all."""
        return EVERYWHERE if isinstance(mechanism.inputs, Circle) else IN_CLASS

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        """The worst case if the atoms are at the hardest input, else the error at theirs."""
        piecewise = self._of_this_kind(mechanism)
        period = piecewise.inputs.period if isinstance(piecewise.inputs, Circle) else None
        loss = Power(float(self.exponent), period).name
        is_hardest = period is not None or is_hardest_input(piecewise, self.x)
        asked_here = period is None and problem.get("criterion") == Criterion(Aim.AT, self.x).words
        criterion = Criterion(Aim.WORST) if is_hardest and not asked_here else Criterion(Aim.AT, self.x)
        return stated(
            problem,
            piecewise_fields(problem, piecewise, self.x)
            | {"epsilon": self.epsilon, "loss": loss, "criterion": criterion.words},
            criterion,
            loss,
            self.scope(mechanism),
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "epsilon": self.epsilon,
            "exponent": self.exponent,
            "lower": self.lower,
            "upper": self.upper,
            "atoms": [{"x": atom.x, "radius": atom.radius, "weight": atom.weight} for atom in self.atoms],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        atoms = tuple(BathtubAtom(atom["x"], atom["radius"], atom["weight"]) for atom in fields["atoms"])
        return cls(fields["epsilon"], fields["exponent"], fields["lower"], fields["upper"], atoms)

    def _gain(self, atom: BathtubAtom, ratio: Fraction) -> Fraction:
        """``G(x, v)`` with an upper bound of ``e^eps``: phi, and so the bound, decreases in it."""
        x, radius = Fraction(atom.x), Fraction(atom.radius)
        left, right = max(Fraction(self.lower), x - radius), min(Fraction(self.upper), x + radius)
        everywhere = self._excess(x, radius, Fraction(self.lower), Fraction(self.upper))
        return everywhere + (ratio - 1) * self._excess(x, radius, left, right)

    def _excess(self, x: Fraction, radius: Fraction, start: Fraction, stop: Fraction) -> Fraction:
        """Integral of ``|y - x|^exponent - radius^exponent`` from start to stop, where ``start <= x <= stop``."""
        power = self.exponent + 1
        return ((x - start) ** power + (stop - x) ** power) / power - radius**self.exponent * (stop - start)


def is_hardest_input(mechanism: Piecewise, x: float) -> bool:
    """Whether no input of an interval is farther from the middle of the outputs.

    For a window centred at the input, pushed back inside, errors in a power of the distance grow with that distance.
    """
    outputs = mechanism.outputs

    def distance(place: float) -> Fraction:
        return abs(2 * Fraction(place) - Fraction(outputs.lower) - Fraction(outputs.upper))

    return all(distance(end) <= distance(x) for end in (mechanism.inputs.lower, mechanism.inputs.upper))


def piecewise_fields(problem: Mapping[str, Any], mechanism: Piecewise, x: float) -> dict[str, Any]:
    """What a saved piecewise problem says of domains and pieces, given that it was solved at x."""
    pieces, needed = problem.get("pieces"), mechanism.pieces(x).densities.size
    if pieces is not None and (type(pieces) is not int or not pieces >= needed):
        raise FileProblem("problem pieces", pieces, f"be null or at least {needed}, what the mechanism has at {x!r}")
    domains = {"inputs": domain_to_dict(mechanism.inputs), "outputs": domain_to_dict(mechanism.outputs)}
    return {"kind": "piecewise", "pieces": pieces} | domains


def exact_error(mechanism: Piecewise, x: float | Fraction, exponent: int) -> Fraction:
    """``E|Y - x|^exponent`` of a mechanism with affine windows, as an exact rational.

    >>> from mechdesign.domains import Interval
    >>> exact_error(Piecewise(1.0, Interval(0, 1), Interval(0, 1), low=0.5, high=1.25), 0.0, 1)
    Fraction(5, 12)
    """
    power = exponent + 1

    def primitive(offset: Fraction) -> Fraction:
        return offset**power / power if offset >= 0 else -((-offset) ** power) / power

    return _exact_expectation(mechanism, x, primitive)


def exact_bias(mechanism: Piecewise, x: float | Fraction) -> Fraction:
    """``E[Y] - x`` of a mechanism with affine windows, as an exact rational.

    >>> from mechdesign.domains import Interval
    >>> exact_bias(Piecewise(1.0, Interval(0, 1), Interval(0, 1), low=0.5, high=1.25), 0.5)
    Fraction(0, 1)
    """
    return _exact_expectation(mechanism, x, lambda offset: offset * offset / 2)


def _exact_expectation(
    mechanism: Piecewise, x: float | Fraction, primitive: Callable[[Fraction], Fraction]
) -> Fraction:
    """The expectation of a function of ``Y - x`` with the given primitive."""
    if not isinstance(mechanism.window, AffineWindow):
        raise InvalidInput("mechanism", mechanism.name, "have affine windows")
    width, at = mechanism.exact_width(), Fraction(x)
    if isinstance(mechanism.outputs, Circle):
        at = centre = Fraction(mechanism.outputs.period) / 2  # every input is alike: turn it to the middle
        lower, upper = Fraction(0), Fraction(mechanism.outputs.period)
    else:
        pivot = Fraction(mechanism.window.pivot)
        centre = pivot + Fraction(mechanism.window.slope) * (at - pivot) + Fraction(mechanism.window.offset)
        lower, upper = Fraction(mechanism.outputs.lower), Fraction(mechanism.outputs.upper)
    start = min(max(centre - width / 2, lower), upper - width) - at
    everywhere = primitive(upper - at) - primitive(lower - at)
    inside = primitive(start + width) - primitive(start)
    return Fraction(mechanism.low) * everywhere + (Fraction(mechanism.high) - Fraction(mechanism.low)) * inside
