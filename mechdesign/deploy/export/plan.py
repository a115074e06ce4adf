"""What a sampler needs of a table, as whole numbers and doubles: every language is written from this."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

from mechdesign.errors import FileProblem, InvalidInput

_WORD = 1 << 63


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs a sampler accepts: ``lower <= x <= upper``, or exactly one of ``points`` if there are any."""

    lower: float
    upper: float
    points: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows by their start s: ``W_j = reached[j] + min(max(gained[j] - s, 0), extra)`` are their cumulative counts."""

    outputs: tuple[float, ...]
    reached: tuple[int, ...]
    gained: tuple[int, ...]
    extra: int
    starts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """``thresholds`` pick the row of an input."""

    rows: Rows
    thresholds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class UnbiasedPlan:
    """The input, in units of ``means``, is rounded at random to one of the means beside it, and that row is drawn."""

    rows: Rows
    offset: float
    scale: float
    means: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FinitePlan:
    """One list of cumulative counts, from 0 to D, for each point of the domain."""

    outputs: tuple[float, ...]
    cumulative: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PiecesPlan:
    """``inside`` of ``cells`` equal cells share ``weight`` counts of D, the others share the rest."""

    cells: int
    inside: int
    weight: int
    first: int
    step: float
    anchor: float
    scale: float
    clamp: tuple[float, float] | None
    circular: bool


@dataclass(frozen=True, slots=True)
class AdditivePlan:
    """Blocks of magnitudes with a geometric tail of ratio ``tail / D`` and ``cumulative`` counts inside a block."""

    offset: float
    scale: float
    step: float
    cumulative: tuple[int, ...]
    tail: int
    clamp: tuple[float, float] | None

    @property
    def block(self) -> int:
        return len(self.cumulative) - 1


Law = WindowPlan | UnbiasedPlan | FinitePlan | PiecesPlan | AdditivePlan


@dataclass(frozen=True, slots=True)
class Plan:
    """A sampler to be written: ``bits`` is k, with ``D = 2^k`` counts in a row.

    Where there are labels, one names each point of the domain or each output, in its order: then a sampler takes or
    gives these texts and no numbers.
    """

    kind: str
    epsilon: Fraction
    bits: int
    sha256: str
    inputs: Inputs
    law: Law
    input_labels: tuple[str, ...] | None = None
    output_labels: tuple[str, ...] | None = None

    @property
    def labelled(self) -> bool:
        """Whether the sampler takes or gives texts. Its numbers are then codes, and have a function of their own."""
        return self.input_labels is not None or self.output_labels is not None

    @property
    def stem(self) -> str:
        """The name of everything generated: it names the table it came from."""
        return f"sampler_{self.sha256[:8]}"


def plan_of(document: Mapping[str, Any]) -> Plan:
    """The plan of a table document; what no sampler could run is `FileProblem`.

    The document is expected to have passed the checker: this only guards what the languages rely on.
    """
    try:
        bits = document["bits"]
        plan = Plan(
            kind=document["kind"],
            epsilon=Fraction(document["epsilon"]),
            bits=bits,
            sha256=_hash(document["sha256"]),
            inputs=_inputs(document["domain"]),
            law=_LAWS[document["kind"]](document["law"], document["domain"], 1 << bits),
            input_labels=_labels(document["labels"], "inputs"),
            output_labels=_labels(document["labels"], "outputs"),
        )
    except InvalidInput:
        raise
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise FileProblem("table", f"{type(error).__name__}: {error}", "be a table of schema version 2") from None
    _require_words(plan)
    return plan


def _hash(text: str) -> str:
    if len(text) != 64 or set(text) - set("0123456789abcdef"):
        raise FileProblem("sha256", text, "be 64 hexadecimal digits")
    return text


def _inputs(domain: Mapping[str, Any]) -> Inputs:
    if domain["kind"] == "finite":
        points = _doubles(domain["points"])
        return Inputs(points[0], points[-1], points)
    if domain["kind"] == "circle":
        return Inputs(0.0, float(domain["period"]))
    return Inputs(float(domain["lower"]), float(domain["upper"]))


def _labels(labels: Mapping[str, Any] | None, side: str) -> tuple[str, ...] | None:
    return None if labels is None or labels[side] is None else tuple(labels[side])


def _doubles(texts: Sequence[str]) -> tuple[float, ...]:
    return tuple(float(text) for text in texts)


def _rows(law: Mapping[str, Any], outputs: tuple[float, ...], size: int) -> Rows:
    reached = (0, *accumulate(law["base"]))
    gained = (0, *accumulate(cap - count for cap, count in zip(law["caps"], law["base"], strict=True)))
    return Rows(outputs, reached, gained, size - reached[-1], tuple(law["starts"]))


def _window(law: Mapping[str, Any], domain: Mapping[str, Any], size: int) -> WindowPlan:
    return WindowPlan(_rows(law, _doubles(law["outputs"]), size), _doubles(law["thresholds"]))


def _unbiased(law: Mapping[str, Any], domain: Mapping[str, Any], size: int) -> UnbiasedPlan:
    shift = law["shift"] + size.bit_length() - 1
    rows = _rows(law, _doubles(law["outputs"]), size)
    return UnbiasedPlan(rows, float(law["offset"]), 2.0**shift, tuple(law["means"]))


def _finite(law: Mapping[str, Any], domain: Mapping[str, Any], size: int) -> FinitePlan:
    return FinitePlan(_doubles(law["outputs"]), tuple((0, *accumulate(row)) for row in law["rows"]))


def _pieces(law: Mapping[str, Any], domain: Mapping[str, Any], size: int) -> PiecesPlan:
    counts = (law["cells"], law["inside"], law["weight"], law["first"])
    places = (float(law["step"]), float(law["anchor"]), float(law["scale"]))
    return PiecesPlan(*counts, *places, _clamp(law["clamp"]), domain["kind"] == "circle")


def _additive(law: Mapping[str, Any], domain: Mapping[str, Any], size: int) -> AdditivePlan:
    grid = 2.0 ** law["shift"]
    cumulative = (0, *accumulate(law["weights"]))
    return AdditivePlan(float(law["offset"]), grid, 1 / grid, cumulative, law["tail"], _clamp(law["clamp"]))


def _clamp(ends: Sequence[str] | None) -> tuple[float, float] | None:
    return None if ends is None else (float(ends[0]), float(ends[1]))


_LAWS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], int], Law]] = {
    "window": _window,
    "unbiased": _unbiased,
    "finite": _finite,
    "pieces": _pieces,
    "additive": _additive,
}


def _require_words(plan: Plan) -> None:
    """Every number fits a signed 64-bit word, and inputs on the grid of the law stay below 2^62."""
    law = plan.law
    ends = (plan.inputs.lower, plan.inputs.upper)
    numbers: tuple[int, ...] = ()
    places: tuple[float, ...] = ()
    match law:
        case WindowPlan(rows):
            numbers = (rows.reached[-1], rows.gained[-1], rows.extra, *rows.starts)
        case UnbiasedPlan(rows, offset, scale, means):
            numbers = (rows.reached[-1], rows.gained[-1], rows.extra, *rows.starts, means[0] * 2, means[-1] * 2)
            places = tuple((x - offset) * scale for x in ends)
        case FinitePlan(_, cumulative):
            numbers = tuple(row[-1] for row in cumulative)
        case PiecesPlan():
            numbers = (law.cells, law.weight, law.first)
            places = tuple((x - law.anchor) * law.scale for x in ends)
        case AdditivePlan():
            numbers = (law.cumulative[-1], law.tail)
            places = tuple((x - law.offset) * law.scale for x in ends)
    if not (all(abs(number) < _WORD for number in numbers) and all(abs(place) < _WORD >> 1 for place in places)):
        raise FileProblem("table", plan.kind, "hold counts below 2^63 only", "samplers count in 64-bit words")
