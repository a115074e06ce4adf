"""Bounds for any loss matrix, over *all* epsilon-LDP mechanisms with its finitely many inputs and outputs.

Write ``c = e^eps``, ``phi(t) = min(t, c t)`` and ``E_x`` for the expected loss at input x. A mechanism is epsilon-LDP
iff some base measure mu satisfies ``mu(y) <= q(y|x) <= c mu(y)`` for all x, and then for any level v

    ``E_x >= v + sum_y mu(y) phi(loss[x, y] - v)``.

So for weights ``w_x >= 0`` and levels ``v_x``, with ``G(y) = sum_x w_x phi(loss[x, y] - v_x)`` and since
``1/c <= |mu| <= 1``,

    ``sum_x w_x E_x >= sum_x w_x v_x + min over such mu of sum_y mu(y) G(y)``,

where the minimum is ``min G`` if that is negative and ``min G / c`` if not. Weights that sum to one bound the worst
case. Weights equal to a prior bound the average. Weights ``prior + lambda`` bound ``average + sum_x lambda_x E_x``, and
so the average of every mechanism whose worst case is at most a ``cap``, by ``sum(lambda) cap`` less.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.domains import Finite, require_numbers
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput, require_epsilon, require_finite
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.statement import Aim, Criterion, Statement, stated
from mechdesign.mechanisms.discrete import Discrete, whole_numbers
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import domain_to_dict

Floats = NDArray[np.float64]

EVERYWHERE_ON_OUTPUTS = "all mechanisms with these outputs"


@dataclass(frozen=True, slots=True, eq=False)
class FiniteBound:
    """Levels and weights, one an input, that bound the worst case (no ``prior``) or the average under a ``prior``.

    With a prior, ``weights`` are the multipliers lambda of the inputs' errors, all zero unless there is a ``cap`` on
    the worst case. The value is an exact rational in the numbers stored here and an upper bound of ``e^epsilon``.

    >>> levels, weights = np.array([0.2689, 0.2689]), np.array([0.5, 0.5])
    >>> bound = FiniteBound(1.0, np.array([[0.0, 1.0], [1.0, 0.0]]), levels, weights)
    >>> round(float(bound.value()), 4)  # the optimum is that of randomised response, 1 / (1 + e) = 0.26894
    0.2689
    """

    kind: ClassVar[str] = "finite"

    epsilon: float
    losses: Floats
    levels: Floats
    weights: Floats
    prior: Floats | None = None
    cap: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        losses = _finite_array(self.losses, "loss matrix")
        if losses.ndim != 2 or not losses.size:
            raise InvalidInput("loss matrix", losses.shape, "have an input (row) and an output (column)")
        object.__setattr__(self, "losses", losses)
        for name in ("levels", "weights") if self.prior is None else ("levels", "weights", "prior"):
            array = _finite_array(getattr(self, name), name)
            if array.shape != losses.shape[:1]:
                raise InvalidInput(name, array.shape, f"be one number for each of the {losses.shape[0]} inputs")
            if name != "levels" and (array < 0).any():
                raise InvalidInput(name, float(array.min()), "be at least 0")
            object.__setattr__(self, name, array)
        if not (self.weights if self.prior is None else self.prior).any():
            raise InvalidInput("weights" if self.prior is None else "prior", 0.0, "have a positive sum")
        if self.cap is not None:
            object.__setattr__(self, "cap", require_finite(self.cap, "cap"))
        if self.prior is None and self.cap is not None:
            raise InvalidInput("cap", self.cap, "be left out where the worst case itself is bounded")
        if self.prior is not None and self.cap is None and self.weights.any():
            raise InvalidInput("weights", float(self.weights.max()), "be 0 for an average without a cap")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteBound) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        prior = None if self.prior is None else self.prior.tobytes()
        arrays = (self.losses.shape, self.losses.tobytes(), self.levels.tobytes(), self.weights.tobytes())
        return (self.epsilon, *arrays, prior, self.cap)

    def value(self) -> Fraction:
        """The bound: valid for every epsilon-LDP mechanism with these outputs (and a worst case at most the cap)."""
        return max(self._atoms_value(), Fraction(float(self.losses.min())))

    def _atoms_value(self) -> Fraction:
        if self.prior is None:
            return least_weighted_loss(self.epsilon, self.losses, self.levels, self.weights) / exact_sum(self.weights)
        least = least_weighted_loss(self.epsilon, self.losses, self.levels, self.prior, self.weights)
        if self.cap is not None:
            least -= exact_sum(self.weights) * Fraction(self.cap)
        return least / exact_sum(self.prior)

    def bound(self, mechanism: Mechanism | Product) -> float:
        _require_table(mechanism, self.losses.shape)
        return float_down(self.value())

    def attained(self, mechanism: Mechanism | Product) -> float:
        errors = exact_errors(_require_table(mechanism, self.losses.shape), self.losses)
        if self.prior is None:
            return float_up(max(errors))
        if self.cap is not None and max(errors) > Fraction(self.cap):
            raise CheckFailed(f"the mechanism's worst case {float(max(errors))!r} is above the cap {self.cap!r}")
        shares, exponent = whole_numbers(self.prior)
        total = sum((share * error for share, error in zip(shares.tolist(), errors, strict=True)), Fraction(0))
        return float_up(total * Fraction(2) ** exponent / exact_sum(self.prior))

    def scope(self, mechanism: Mechanism | Product) -> str:
        return EVERYWHERE_ON_OUTPUTS if self.cap is None else f"{EVERYWHERE_ON_OUTPUTS} and worst case <= {self.cap!r}"

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        if self.cap is not None:
            rule = "be left out: a bound among capped mechanisms says nothing of others"
            raise FileProblem("evidence cap", self.cap, rule)
        criterion = Criterion(Aim.MATRIX_WORST if self.prior is None else Aim.MATRIX_AVERAGE)
        return self.stated(problem, criterion, self.scope(mechanism), {})

    def stated(
        self, problem: Mapping[str, Any], criterion: Criterion, scope: str, fields: Mapping[str, Any]
    ) -> Statement:
        """The statement about this loss matrix and prior, ``fields`` of the problem beside those all have."""
        rows, columns = self.losses.shape
        loss = f"a matrix of {rows} inputs and {columns} outputs"
        shared = {
            "kind": "finite",
            "epsilon": self.epsilon,
            "criterion": criterion.words,
            "loss": loss,
            "loss_matrix": matrix_digest(self.losses),
            "inputs": domain_to_dict(Finite(tuple(range(rows)))),
            "prior": None if self.prior is None else self.prior.tolist(),
        }
        prior = None if self.prior is None else "the weights in the file"
        return stated(problem, {**shared, **fields}, criterion, loss, scope, prior)

    def to_dict(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "losses": self.losses.tolist()} | self._atoms_to_dict()

    def _atoms_to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "levels": self.levels.tolist(),
            "weights": self.weights.tolist(),
            "prior": None if self.prior is None else self.prior.tolist(),
            "cap": self.cap,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        names = ("epsilon", "losses", "levels", "weights", "prior", "cap")
        return cls(**{name: fields[name] for name in names})


@dataclass(frozen=True, slots=True)
class LexicographicBound:
    """A bound of the average among mechanisms with a capped worst case, and one that shows how low the cap is.

    The cap is at most ``1 + slack`` times what ``worst`` proves to be the least worst case.
    """

    kind: ClassVar[str] = "finite lexicographic"

    average: FiniteBound
    worst: FiniteBound
    slack: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "slack", require_finite(self.slack, "slack"))
        if self.average.cap is None or self.worst.prior is not None:
            raise InvalidInput("evidence", self.kind, "hold a capped average and a worst case")
        if self.average.epsilon != self.worst.epsilon or not np.array_equal(self.average.losses, self.worst.losses):
            raise InvalidInput("evidence", self.kind, "hold two bounds for one epsilon and one loss matrix")
        if not Fraction(self.average.cap) <= (1 + Fraction(self.slack)) * self.worst.value():
            raise InvalidInput("cap", self.average.cap, f"be at most {1 + self.slack!r} times the least worst case")

    @property
    def epsilon(self) -> float:
        return self.average.epsilon

    def bound(self, mechanism: Mechanism | Product) -> float:
        return self.average.bound(mechanism)

    def attained(self, mechanism: Mechanism | Product) -> float:
        return self.average.attained(mechanism)

    def scope(self, mechanism: Mechanism | Product) -> str:
        return f"{self.average.scope(mechanism)}, at most {1 + self.slack!r} times the least"

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        criterion = Criterion(Aim.MATRIX_LEXICOGRAPHIC)
        return self.average.stated(problem, criterion, self.scope(mechanism), {"slack": self.slack})

    def to_dict(self) -> dict[str, Any]:
        parts = {"average": self.average._atoms_to_dict(), "worst": self.worst._atoms_to_dict()}
        shared = {"epsilon": self.epsilon, "losses": self.average.losses.tolist()}
        return {"kind": self.kind, **shared, "slack": self.slack, **parts}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        shared = {name: fields[name] for name in ("epsilon", "losses")}
        average, worst = (FiniteBound.from_dict({**fields[name], **shared}) for name in ("average", "worst"))
        return cls(average, worst, fields["slack"])


def least_weighted_loss(epsilon: float, losses: Floats, levels: Floats, *weights: Floats) -> Fraction:
    """A bound of ``sum_x w_x E_x`` from below for all epsilon-LDP mechanisms, w the exact sum of ``weights``.

    Everything is a Python integer on a common scale but the bound of ``e^epsilon``, which enters once.

    >>> least_weighted_loss(1.0, np.array([[2.0, 3.0]]), np.array([2.0]), np.array([0.5]))
    Fraction(1, 1)
    """
    numbers, weight_exponent = whole_numbers(np.stack(weights))
    shares = numbers.sum(axis=0)
    used = np.flatnonzero(shares)
    whole, exponent = whole_numbers(np.concatenate([levels[used, None], losses[used]], axis=1))
    gaps = whole[:, 1:] - whole[:, :1]
    ratio = exp_upper(epsilon)
    above, below = shares[used] @ np.maximum(gaps, 0), shares[used] @ np.minimum(gaps, 0)
    least = Fraction(min(above * ratio.denominator + below * ratio.numerator), ratio.denominator)
    level = int(shares[used] @ whole[:, 0])
    return (level + (least if least < 0 else least / ratio)) * Fraction(2) ** (exponent + weight_exponent)


def exact_errors(mechanism: Discrete, losses: Floats) -> list[Fraction]:
    """The expected loss at each input, exactly; the mechanism's outputs are numbers of columns of ``losses``.

    >>> from mechdesign.domains import Finite
    >>> coin = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.75, 0.25], [0.5, 0.5]])
    >>> exact_errors(coin, np.array([[0.0, 1.0], [1.0, 0.0]]))
    [Fraction(1, 4), Fraction(1, 2)]
    """
    entries, _ = whole_numbers(mechanism.probabilities)
    costs, exponent = whole_numbers(losses[:, np.array(mechanism.outputs.points, dtype=np.intp)])
    unit = Fraction(2) ** exponent
    pairs = zip((entries * costs).sum(axis=1), entries.sum(axis=1), strict=True)
    return [Fraction(cost, total) * unit for cost, total in pairs]


def exact_sum(values: Floats) -> Fraction:
    """The sum of doubles without rounding."""
    whole, exponent = whole_numbers(values)
    return Fraction(int(whole.sum())) * Fraction(2) ** exponent


def matrix_digest(losses: Floats) -> dict[str, Any]:
    """What identifies a loss matrix in a file without repeating it: its shape and a hash of its doubles."""
    content = np.ascontiguousarray(losses, dtype="<f8").tobytes()
    return {"shape": list(losses.shape), "sha256": hashlib.sha256(content).hexdigest()}


def _require_table(mechanism: Mechanism | Product, shape: tuple[int, ...]) -> Discrete:
    inputs, outputs = shape
    if (
        not isinstance(mechanism, Discrete)
        or mechanism.inputs.points != tuple(range(inputs))
        or not set(mechanism.outputs.points) <= set(range(outputs))
    ):
        raise CheckFailed(f"the evidence is about tables of {inputs} inputs and {outputs} outputs")
    return mechanism


def _finite_array(values: ArrayLike, field: str) -> Floats:
    array = np.array(require_numbers(values, field), dtype=np.float64)
    if not np.isfinite(array).all():
        raise InvalidInput(field, float(array[~np.isfinite(array)][0]), "be finite")
    array.setflags(write=False)
    return array
