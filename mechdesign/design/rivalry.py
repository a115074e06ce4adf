"""What a problem says of its rivals: which mechanisms are published for it, and what each of them loses.

A problem's folder may have a module ``rivalry`` with an object ``RIVALRY`` of this shape. It is read when somebody asks
for it: published mechanisms take time to make, and few who design one want to see them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from mechdesign.design.result import Design
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.values.declare import frozen


@frozen
class Lost:
    """The expected loss of a mechanism at the worst input, and averaged under the prior or else over the inputs.

    None is not known. What problems rank by may be an upper end, and ``lower`` the lower one.
    """

    worst: float | None
    average: float | None
    lower: float | None = None


class Rivalry(Protocol):
    """Laws are whatever a problem measures: mechanisms, or what is known of them."""

    def published(self, design: Design) -> Mapping[str, Any]:
        """The laws that are published for the problem of the design, by name."""
        ...

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Any:
        """The law of a mechanism of the reader's own, or `InvalidInput` or `CheckFailed` where it is no rival."""
        ...

    def lost(self, design: Design, law: Any) -> Lost:
        """What a law loses, measured as the design is."""
        ...

    def certified(self, first: Design, design: Design) -> Lost:
        """What a design loses, as its certificate says it; measured as the first of several is."""
        ...

    def least(self, design: Design, lost: Lost) -> float | None:
        """The least that there is, if it is known, where it is not what designs lose themselves."""
        ...


def rivalry_of(problem: object) -> Rivalry | None:
    """What the folder of the problem says of its rivals; None if nothing.

    >>> from mechdesign.design.pairwise import PairwiseProblem
    >>> from mechdesign.pairs import Metric
    >>> rivalry_of(PairwiseProblem(Metric([0, 1], 1.0), [[0, 1], [1, 0]])) is None, rivalry_of(0) is None
    (False, True)
    """
    folder = type(problem).__module__.rpartition(".")[0]
    if not folder.startswith("mechdesign.design.") or find_spec(f"{folder}.rivalry") is None:
        return None
    found: Rivalry = import_module(f"{folder}.rivalry").RIVALRY
    return found
