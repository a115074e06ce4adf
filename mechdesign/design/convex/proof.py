"""Bounds for any linear objective of a table ``q[x, y]`` under linear constraints, over *all* epsilon-LDP tables.

For multipliers ``lambda_k`` (at least 0 where constraint k is an inequality) the objective of every table that meets
``A_k . q <= b_k`` (or ``=``) up to ``tolerance`` is at least

    ``offset - sum_k lambda_k b_k - tolerance sum_k |lambda_k| + min over eps-LDP q of (C + sum_k lambda_k A_k) . q``,

and the last minimum is bounded by one level an input as in `mechdesign.design.finite.proof`. Only constraints with a
multiplier need be there: those left out would only shrink the class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.design.finite.proof import EVERYWHERE_ON_OUTPUTS, matrix_digest
from mechdesign.domains import Finite, require_numbers
from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon, require_finite
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.statement import Aim, Criterion, Statement, stated
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import domain_to_dict

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LinearBound:
    """``minimise costs . q + offset`` subject to ``rows[k] . q <= limits[k]`` (``=`` where ``equal[k]``).

    ``levels`` and ``multipliers`` are the dual solution. Everything is checked in rational arithmetic.

    >>> costs = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> bound = LinearBound(1.0, Finite((0, 1)), Finite((0, 1)), costs, 0.0, np.array([0.2689, 0.2689]))
    >>> round(float(bound.value()), 3)  # two errors of randomised response, 2 / (1 + e)
    0.538
    """

    kind: ClassVar[str] = "linear"

    epsilon: float
    inputs: Finite
    outputs: Finite
    costs: Floats
    offset: float
    levels: Floats
    rows: Floats | None = None
    limits: Floats | None = None
    equal: tuple[bool, ...] = ()
    multipliers: Floats | None = None
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        for name in ("offset", "tolerance"):
            object.__setattr__(self, name, require_finite(getattr(self, name), name))
        if self.tolerance < 0:
            raise InvalidInput("tolerance", self.tolerance, "be at least 0")
        shape, count = (len(self.inputs), len(self.outputs)), len(self.equal)
        if not all(isinstance(flag, bool) for flag in self.equal):
            raise InvalidInput("equal", self.equal, "be true or false for each constraint")
        shapes = {
            "costs": shape,
            "levels": shape[:1],
            "rows": (count, *shape),
            "limits": (count,),
            "multipliers": (count,),
        }
        for name, wanted in shapes.items():
            value = getattr(self, name)
            object.__setattr__(self, name, _array(np.zeros(wanted) if value is None else value, wanted, name))
        assert self.multipliers is not None
        if any(value < 0 and not flag for value, flag in zip(self.multipliers.tolist(), self.equal, strict=True)):
            raise InvalidInput("multipliers", float(self.multipliers.min()), "be at least 0 for inequalities")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearBound) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.epsilon, self.inputs, self.outputs, self.offset, self.equal, self.levels.tobytes()))

    def value(self) -> Fraction:
        """The bound, exactly."""
        costs, total = _fractions(self.costs), Fraction(self.offset)
        for row, limit, multiplier in self._constraints():
            costs = costs + multiplier * row
            total -= multiplier * limit + abs(multiplier) * Fraction(self.tolerance)
        levels = _fractions(self.levels)
        gaps = costs - levels[:, None]
        ratio = exp_upper(self.epsilon)
        least = min(np.where(gaps < 0, ratio * gaps, gaps).sum(axis=0))
        dual = levels.sum() + (least if least < 0 else least / ratio)
        plain = _fractions(self.costs).min(axis=1).sum() + Fraction(self.offset)  # what no table can go below
        return Fraction(max(total + dual, plain))

    def _constraints(self) -> list[tuple[Any, Fraction, Fraction]]:
        assert self.rows is not None
        assert self.limits is not None
        assert self.multipliers is not None
        limits, multipliers = (map(Fraction, array.tolist()) for array in (self.limits, self.multipliers))
        return list(zip(map(_fractions, self.rows), limits, multipliers, strict=True))

    def bound(self, mechanism: Mechanism | Product) -> float:
        self._law(mechanism)
        return float_down(self.value())

    def attained(self, mechanism: Mechanism | Product) -> float:
        law = self._law(mechanism)
        for number, ((row, limit, _), is_equal) in enumerate(zip(self._constraints(), self.equal, strict=True)):
            excess = (row * law).sum() - limit
            if (abs(excess) if is_equal else excess) > Fraction(self.tolerance):
                raise CheckFailed(f"the mechanism breaks constraint {number} of the evidence by {float(excess)!r}")
        return float_up(Fraction((_fractions(self.costs) * law).sum() + Fraction(self.offset)))

    def _law(self, mechanism: Mechanism | Product) -> Any:
        """The mechanism's exact table on all outputs of the evidence."""
        if (
            not isinstance(mechanism, Discrete)
            or mechanism.inputs != self.inputs
            or not set(mechanism.outputs.points) <= set(self.outputs.points)
        ):
            raise CheckFailed(f"the evidence is about tables from {self.inputs} to {self.outputs}")
        law = np.full((len(self.inputs), len(self.outputs)), Fraction(0), dtype=object)
        law[:, self.outputs.index(mechanism.outputs.points)] = mechanism.exact_rows()
        return law

    def scope(self, mechanism: Mechanism | Product) -> str:
        if not self.equal:
            return EVERYWHERE_ON_OUTPUTS
        return f"{EVERYWHERE_ON_OUTPUTS} that meet the stated constraints within {self.tolerance:g}"

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        """The coefficients are decided; the texts of objective and constraints are names for them that nothing ties."""
        assert self.rows is not None
        assert self.limits is not None
        fields = {
            "kind": "custom",
            "epsilon": self.epsilon,
            "inputs": domain_to_dict(self.inputs),
            "outputs": domain_to_dict(self.outputs),
            "costs": matrix_digest(self.costs),
            "offset": self.offset,
            "tolerance": self.tolerance,
            "rows": matrix_digest(self.rows.reshape(len(self.equal), self.costs.size)),
            "limits": self.limits.tolist(),
            "equal": list(self.equal),
        }
        loss = "the linear objective with the coefficients in the file"
        return stated(problem, fields, Criterion(Aim.OBJECTIVE), loss, self.scope(mechanism))

    def to_dict(self) -> dict[str, Any]:
        arrays = ("costs", "levels", "rows", "limits", "multipliers")
        return {
            "kind": self.kind,
            "epsilon": self.epsilon,
            "inputs": list(self.inputs.points),
            "outputs": list(self.outputs.points),
            "offset": self.offset,
            "equal": list(self.equal),
            "tolerance": self.tolerance,
        } | {name: getattr(self, name).tolist() for name in arrays}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        names = ("epsilon", "costs", "offset", "levels", "rows", "limits", "multipliers", "tolerance")
        inputs, outputs = (Finite(tuple(fields[name])) for name in ("inputs", "outputs"))
        return cls(inputs=inputs, outputs=outputs, equal=tuple(fields["equal"]), **{n: fields[n] for n in names})


def _array(values: ArrayLike, shape: tuple[int, ...], name: str) -> Floats:
    array = np.array(require_numbers(values, name), dtype=np.float64)
    if not array.size and 0 in shape:
        array = np.empty(shape)
    if array.shape != shape or not np.isfinite(array).all():
        raise InvalidInput(name, array.shape, f"be finite numbers in the shape {shape}")
    array.setflags(write=False)
    return array


def _fractions(values: Floats) -> Any:
    """An array of the same numbers as Fractions."""
    numbers = np.empty(values.size, dtype=object)
    numbers[:] = [Fraction(value) for value in values.ravel().tolist()]
    return numbers.reshape(values.shape)
