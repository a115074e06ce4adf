"""Options that mean the same in every command, and how their text becomes values."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from mechdesign.cli.signatures import completion
from mechdesign.data.texts import parse_epsilons as parse_epsilons
from mechdesign.engine import Dask, Engine, Local
from mechdesign.errors import InvalidInput
from mechdesign.values.declare import field, frozen, option
from mechdesign.words.domains import (
    Finite,
    Interval,
    is_whole_range,
    parse_domain as parse_domain,
    parse_interval as parse_interval,
)
from mechdesign.words.losses import NAMED, SPELLINGS

Eps = Annotated[float, typer.Option("--eps", help="Privacy parameter, above 0.")]
LossText = Annotated[
    str | None,
    typer.Option("--loss", help=f"{SPELLINGS} (absolute unless given).", autocompletion=completion(lambda: NAMED)),
]
DomainText = Annotated[str | None, typer.Option("--domain", help="Inputs, as LO,HI.", metavar="LO,HI")]
Circular = Annotated[bool, typer.Option("--circular", help="The domain is a circle (0,2pi unless --domain 0,PERIOD).")]
NoCompare = Annotated[bool, typer.Option("--no-compare", help="Leave out the published mechanisms.")]
BestSoFar = Annotated[
    bool, typer.Option("--best-so-far", help="When limits come first: the best found until then, with its interval.")
]

_ENGINES = ("local", "dask")
MOST_WHOLE = 1000


def parse_inputs(text: str | None) -> Interval | Finite:
    """``LO,HI`` as an interval, or ``LO..HI`` as the whole numbers from LO to HI.

    >>> parse_inputs("18..21")
    Finite(points=(18.0, 19.0, 20.0, 21.0))
    """
    if text is None or not is_whole_range(text):
        domain = parse_domain(text, circular=False)
        assert isinstance(domain, Interval)
        return domain
    low, high = map(int, text.split(".."))
    if not 1 <= high - low < MOST_WHOLE:
        step = "for example --domain 18..90" + (f", or the interval --domain={low},{high}" if low < high else "")
        raise InvalidInput("domain", text, f"go up, over at most {MOST_WHOLE} whole numbers", step)
    return Finite(tuple(range(low, high + 1)))


@frozen
class Engines:
    """The options about what runs the work."""

    workers: int = field(
        default=1, metadata=option("--workers", "Local processes.", "-t", "--thread_number", "--threads")
    )
    name: str = field(default="local", metadata=option("--engine", "local processes or dask.", words=lambda: _ENGINES))
    scheduler: str | None = field(
        default=None, metadata=option("--scheduler", "Address of a Dask scheduler.", metavar="TCP")
    )

    def engine(self) -> Engine:
        """Processes of this machine, or a Dask cluster."""
        if self.name not in _ENGINES:
            raise InvalidInput("engine", self.name, f"be {' or '.join(_ENGINES)}")
        if self.name == "dask":
            return Dask(self.scheduler, self.workers)
        if self.scheduler is not None:
            raise InvalidInput("scheduler", self.scheduler, "come with --engine dask", "add --engine dask")
        return Local(self.workers)


def require_time_limit(seconds: float) -> None:
    """`InvalidInput` unless there is time."""
    if not (math.isfinite(seconds) and seconds > 0):
        raise InvalidInput("time limit", seconds, "be a finite number of seconds above 0")
