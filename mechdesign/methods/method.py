"""What answers some problems: a method says which, how, with which evidence, and what to rank its answers against.

A method is one folder with its search and its proof, and one line in `mechdesign.methods.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

import attrs

from mechdesign.errors import InvalidInput, require_seconds
from mechdesign.methods.evidence import Evidence
from mechdesign.methods.result import LEAST_GAP, Design, require_gap, within_gap
from mechdesign.methods.rivalry import Rivalry
from mechdesign.values.clock import Clock
from mechdesign.values.declare import field, frozen, option, optional
from mechdesign.words.problem import Problem

_GAP_OPTION = option("--gap", "Relative gap of the proven bounds to reach; the method's own unless given.")

Say = Callable[[float, float], object]


@frozen
class Demands:
    """What is demanded of an answer: how near its bounds are, relative to the upper one, and in how many seconds.

    What is left out is up to the method. ``say`` hears of bounds on the way, which are claims until they are proven.
    ``options`` are those of the method that is asked, a value of `Method.options`.

    >>> Demands(gap=2)
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: gap must lie between 1e-9 and 1 (got 2)
    """

    gap: float | None = field(default=None, converter=optional(require_gap), metadata=_GAP_OPTION)
    seconds: float | None = field(default=None, converter=require_seconds)
    say: Say = lambda lower, upper: None
    options: Any = None

    def clock(self) -> Clock:
        """The limit, from now on."""
        return Clock(self.seconds)

    def within(self, usual: float, least: float = LEAST_GAP) -> float:
        """The gap that was demanded, or else what is usual; a method may reach none below its ``least``."""
        if self.gap is not None and self.gap < least:
            raise InvalidInput("gap", self.gap, f"lie between {f'{least:g}'.replace('e-0', 'e-')} and 1")
        return usual if self.gap is None else self.gap

    def met_by(self, design: Design, stopped: str) -> Design:
        """The design if no gap was demanded or its bounds are as near, else `NoAnswer` that carries it."""
        return design if self.gap is None else within_gap(design, self.gap, stopped)


@frozen
class Method:
    """One way to answer problems.

    ``folder`` is where it stands in `mechdesign.methods`: its ``search.answer`` is loaded when a problem is answered,
    its ``rivalry.RIVALRY``, if it has one, when designs are ranked. ``supports`` says why a problem is not answered,
    and nothing where it is. ``optimum`` is what the mechanism of its optimum is called. ``options`` is a class whose
    fields are what only this method has a use for, such as the size of a grid; all have defaults.
    """

    folder: str
    optimum: str
    evidence: tuple[type[Evidence], ...]
    supports: Callable[[Problem], str | None]
    options: type | None = None

    def optional(self, said: Mapping[str, Any]) -> Any:
        """The method's options with these values, or `InvalidInput` for one that it does not have."""
        known = [] if self.options is None else [declared.alias for declared in attrs.fields(self.options)]
        for name, value in said.items():
            if name not in known:
                rule = f"be an option of the method {self.folder}, which has {', '.join(known) or 'none'}"
                raise InvalidInput(name, value, rule, "leave it out")
        return None if self.options is None else self.options(**said)

    def answer(self, problem: Problem, demands: Demands) -> Design:
        """The certified answer, or `NoAnswer` with bounds where demands are not met."""
        module = import_module(f"mechdesign.methods.{self.folder}.search")
        return cast(Design, module.answer(problem, demands))

    @property
    def rivals(self) -> Rivalry | None:
        """What its answers are ranked against; None where nothing is published."""
        name = f"mechdesign.methods.{self.folder}.rivalry"
        return None if find_spec(name) is None else cast(Rivalry, import_module(name).RIVALRY)
