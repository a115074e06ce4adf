"""Options that mean the same in every command, and how their text becomes values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from mechdesign.data.numbers import require_number_text, require_whole_text
from mechdesign.domains import Circle, Finite, Interval
from mechdesign.engine import Dask, Engine, Local
from mechdesign.errors import InvalidInput, require_epsilon

Eps = Annotated[float, typer.Option("--eps", help="Privacy parameter, above 0.")]
LossText = Annotated[str, typer.Option("--loss", help="absolute, squared or power:P.")]
LossOrDefault = Annotated[
    str | None, typer.Option("--loss", help="absolute, squared or power:P (absolute; squared with --unbiased).")
]
DomainText = Annotated[str | None, typer.Option("--domain", help="Inputs, as LO,HI.", metavar="LO,HI")]
Circular = Annotated[bool, typer.Option("--circular", help="The domain is a circle (0,2pi unless --domain 0,PERIOD).")]
OutFile = Annotated[Path | None, typer.Option("--out", help="Save the design as JSON (for research use).")]
PlotFile = Annotated[Path | None, typer.Option("--plot", help="Save a picture: .png, .pdf or .svg.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing output files.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress messages.")]
TimeLimit = Annotated[float, typer.Option("--time-limit", help="Seconds --method scip may take.", metavar="S")]


InputsText = Annotated[
    str | None,
    typer.Option("--domain", help="Inputs, as LO,HI; or whole numbers, as LO..HI.", metavar="LO,HI"),
]

_ENGINES = ("local", "dask")
_WHOLE_NUMBERS = re.compile(r"-?[0-9]{1,15}[.][.]-?[0-9]{1,15}", re.ASCII)
MOST_WHOLE = 1000


def parse_interval(text: str, field: str) -> Interval:
    """``LO,HI`` as an interval."""
    if _WHOLE_NUMBERS.fullmatch(text):
        low, high = text.split("..")
        step = f"take the interval --{field}={low},{high}; minimax and table know whole numbers"
        raise InvalidInput(field, text, "be an interval LO,HI here", step)
    ends = text.split(",")
    try:
        numbers = [require_number_text(end) for end in ends]
    except ValueError:
        numbers = []
    if len(numbers) != 2:
        raise InvalidInput(field, text, "be two numbers LO,HI", f"for example --{field} 0,1")
    return Interval(numbers[0], numbers[1])


def parse_domain(text: str | None, *, circular: bool) -> Interval | Circle:
    """The input domain an option names."""
    if not circular:
        return Interval(0.0, 1.0) if text is None else parse_interval(text, "domain")
    if text is None:
        return Circle()
    interval = parse_interval(text, "domain")
    if interval.lower != 0:
        raise InvalidInput("domain", text, "start at 0 on a circle", "for example --domain 0,360")
    return Circle(interval.upper)


def parse_inputs(text: str | None) -> Interval | Finite:
    """``LO,HI`` as an interval, or ``LO..HI`` as the whole numbers from LO to HI.

    >>> parse_inputs("18..21")
    Finite(points=(18.0, 19.0, 20.0, 21.0))
    """
    if text is None or not _WHOLE_NUMBERS.fullmatch(text):
        domain = parse_domain(text, circular=False)
        assert isinstance(domain, Interval)
        return domain
    low, high = map(int, text.split(".."))
    if not 1 <= high - low < MOST_WHOLE:
        step = "for example --domain 18..90" + (f", or the interval --domain={low},{high}" if low < high else "")
        raise InvalidInput("domain", text, f"go up, over at most {MOST_WHOLE} whole numbers", step)
    return Finite(tuple(range(low, high + 1)))


def parse_epsilons(text: str, option: str = "--eps") -> list[float]:
    """One epsilon, a list ``A,B,C`` or a range ``FROM:TO:COUNT``."""
    example = f"for example {option} 0.5,1,2 or {option} 0.5:4:8"
    try:
        if ":" in text:
            start, stop, count = text.split(":")
            number = require_whole_text(count)
            ends = [require_epsilon(require_number_text(end)) for end in (start, stop)]
            if not 2 <= number <= 1000:
                raise InvalidInput("eps", text, "have a count from 2 to 1000", example)
            values = [float(value) for value in np.linspace(ends[0], ends[1], number)]
        else:
            values = [require_epsilon(require_number_text(part)) for part in text.split(",")]
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("eps", text, "be a number, a list A,B,C or a range FROM:TO:COUNT", example) from None
    if any(a >= b for a, b in zip(values, values[1:], strict=False)):
        raise InvalidInput("eps", text, "increase", example)
    return values


def parse_engine(name: str, workers: int, scheduler: str | None) -> Engine:
    """What runs the work: processes of this machine, or a Dask cluster."""
    if name not in _ENGINES:
        raise InvalidInput("engine", name, f"be {' or '.join(_ENGINES)}")
    if name == "dask":
        return Dask(scheduler, workers)
    if scheduler is not None:
        raise InvalidInput("scheduler", scheduler, "come with --engine dask", "add --engine dask")
    return Local(workers)
