"""What a sampler needs of a table, as whole numbers and doubles: every language is written from this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from mechdesign.deploy.kinds import ItemsLaw, Law, Number, law_of
from mechdesign.domains import Finite
from mechdesign.errors import FileProblem, InvalidInput, WrongArguments
from mechdesign.values.declare import frozen

_WORD = 1 << 63
_BLOCK = 4096
"""Samplers read the operating system's randomness in blocks of so many bytes."""


@frozen
class Inputs:
    """The inputs a sampler accepts: ``lower <= x <= upper``, or exactly one of ``points`` if there are any.

    Where reports are bytes the inputs are whole numbers below ``count``.
    """

    lower: float
    upper: float
    points: tuple[float, ...] = ()
    count: int = 0


@frozen
class Plan:
    """A sampler to be written: ``bits`` is k, with ``D = 2^k`` counts in a row.

    Where there are labels, one names each point of the domain or each output, in its order: then a sampler takes or
    gives these texts and no numbers.
    """

    kind: str
    epsilon: Fraction
    bits: int
    sha256: str
    law: Law
    input_labels: tuple[str, ...] | None = None
    output_labels: tuple[str, ...] | None = None

    @property
    def inputs(self) -> Inputs:
        """What a sampler accepts."""
        if isinstance(self.law, ItemsLaw):
            return Inputs(*self.law.ends, count=self.law.count)
        return Inputs(*self.law.ends, self.law.domain.points if isinstance(self.law.domain, Finite) else ())

    @property
    def allotted(self) -> int:
        """How many random bytes are taken for a report before its input is looked at."""
        usual = self.law.least_bytes if isinstance(self.law, ItemsLaw) else self.law.enough_bytes
        return min(usual, _BLOCK)

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
        plan = Plan(
            kind=document["kind"],
            epsilon=Fraction(document["epsilon"]),
            bits=document["bits"],
            sha256=_hash(document["sha256"]),
            law=law_of(document),
            input_labels=_labels(document["labels"], "inputs"),
            output_labels=_labels(document["labels"], "outputs"),
        )
        _require_words(plan)
    except InvalidInput as refused:
        if isinstance(refused, WrongArguments):  # an entry that no law of this kind has
            raise FileProblem("table", str(refused), "be a table of schema version 2") from None
        raise
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise FileProblem("table", f"{type(error).__name__}: {error}", "be a table of schema version 2") from None
    return plan


def _hash(text: str) -> str:
    if len(text) != 64 or set(text) - set("0123456789abcdef"):
        raise FileProblem("sha256", text, "be 64 hexadecimal digits")
    return text


def _labels(labels: Mapping[str, Any] | None, side: str) -> tuple[str, ...] | None:
    return None if labels is None or labels[side] is None else tuple(labels[side])


def _require_words(plan: Plan) -> None:
    """Every number fits a signed 64-bit word, and inputs on the grid of the law stay below 2^62."""
    counts = [n for number in plan.law.numbers().values() for n in _counts(number)]
    if not (all(abs(n) < _WORD for n in counts) and all(abs(place) < _WORD >> 1 for place in plan.law.places())):
        raise FileProblem("table", plan.kind, "hold counts below 2^63 only", "samplers count in 64-bit words")


def _counts(number: Number) -> Iterator[int]:
    """All its whole numbers."""
    if isinstance(number, int):
        yield number
    elif isinstance(number, tuple):
        for entry in number:
            yield from _counts(entry)
