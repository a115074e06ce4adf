"""A floor under every mechanism: the numbers of a certificate of Coq, its theorem, and what they prove.

A certificate is whole numbers. What it proves is computed from them, and a number that Coq's check refuses is no
theorem.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from mechdesign.exact.rational import exp_upper
from mechdesign.tables.formal.terms import ratio, record, shorten, term
from mechdesign.values.declare import frozen

UNIT = 2**40
"""What e^epsilon is a whole multiple of, rounded up, and gaps are."""


@frozen
class StatedFloor:
    """Of a kind that ``theories`` have a check for: the numbers, the theorem that follows, and what proves it."""

    kind: str
    fields: Mapping[str, Any]
    theorem: str
    proof: str
    least: Fraction

    @property
    def definition(self) -> str:
        """The certificate as a value of Coq."""
        fields = {name: term(value) for name, value in self.fields.items()}
        return f"Definition certificate : {self.kind}_certificate := {record(fields)}."

    @property
    def document(self) -> str:
        """The certificate as a file, for the program that is extracted from Coq."""
        said = {"format": "mechdesign certificate", "kind": self.kind, "numbers": self.fields}
        return json.dumps(said, sort_keys=True, separators=(",", ":")) + "\n"


def above(epsilon: Fraction) -> int:
    """e^epsilon over 2^40, rounded up."""
    return math.ceil(exp_upper(float(epsilon)) * UNIT)


def head(epsilon: Fraction, factor: int, letter: str) -> dict[str, int]:
    """The fields that say at which epsilon."""
    return {f"{letter}_num": epsilon.numerator, f"{letter}_den": epsilon.denominator, f"{letter}_ratio": factor}


def least_of(value: Fraction, letter: str) -> tuple[Fraction, dict[str, int]]:
    """What a theorem says is proven, in a dozen digits, and the fields that say it."""
    least = shorten(value)
    return least, {f"{letter}_least_num": least.numerator, f"{letter}_least_den": least.denominator}


def for_types(
    kind: str,
    fields: Mapping[str, Any],
    names: str,
    given: str,
    loss: str,
    share: str,
    count: int,
    least: Fraction,
    is_average: bool,
) -> StatedFloor:
    """The theorem about an average of finitely many inputs, or about the worst of them."""
    if is_average:
        said = (
            f"forall m {names},\n  {given}\n  {ratio(least)} <= sum {count} (fun x => {share} certificate x * {loss})"
        )
    else:
        worst = f"(forall x, (x < {count})%nat -> {loss} <= worst)"
        said = f"forall m {names} worst,\n  {given}\n  {worst} ->\n  {ratio(least)} <= worst"
    return StatedFloor(kind, fields, said, f"{kind}_{'average' if is_average else 'worst'}", least)
