"""What IBU gains over inversion: the table of the utility gain paper, and its figures by eps, bins and users.

Data are samples of its five laws in equal bins. With no option it is table 2, with 4 runs in place of 20.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.options import parse_epsilons
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Part
from mechdesign.collect.gain import LONGITUDINAL, METHODS, ONE_TIME, STEPPED, Gain, GainPlan, Gains, gains
from mechdesign.collect.laws import LAWS
from mechdesign.data.numbers import require_whole_text
from mechdesign.errors import InvalidInput
from mechdesign.values.declare import frozen

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@frozen
class Averages:
    """Average gains in per cent: of one error, over all cells in which the field has this value."""

    field: str
    value: str | float
    mse: float
    mae: float


@frozen
class Answer:
    """The plan, the gain of every cell, and averages by law, protocol, eps, bins and users."""

    plan: GainPlan
    cells: tuple[Gain, ...]
    averages: tuple[Averages, ...]


ANSWERS = ((Answer,),)
_AXES = {"epsilon": "privacy parameter ε", "bins": "number of bins", "users": "number of users"}
EXAMPLE = "gain --eps 1,4 --bins 20,100 --users 20000 -p grr,oue -r 2 --method ibu"


def run(
    sent: Annotated[Sent, Part("out")],
    epsilon: Annotated[str, typer.Option("--eps", "-e", help="One, a list A,B,C or FROM:TO:COUNT.")] = "1,2,4",
    protocol: Annotated[
        str, typer.Option("--protocols", "-p", help="Names, all (seven one-time) or longitudinal (limit 2 eps).")
    ] = "all",
    law: Annotated[str, typer.Option("--laws", help=f"{', '.join(LAWS)}, or all.")] = "all",
    bins: Annotated[str, typer.Option("--bins", help="Numbers of bins, K,K,...")] = "2,50,100,200",
    users: Annotated[str, typer.Option("--users", help="Numbers of users, N,N,...")] = "20000,100000",
    repeat: Annotated[int, typer.Option("--repeat", "-r", help="Runs of every cell.")] = 4,
    method: Annotated[
        str, typer.Option("--method", "-m", help=f"{' or '.join(METHODS)}: 10,000 steps, or their limit.")
    ] = STEPPED,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same numbers.")] = 0,
) -> None:
    sent.require_writable()
    names = {"all": ONE_TIME, "longitudinal": LONGITUDINAL}.get(protocol) or tuple(_texts(protocol))
    laws = tuple(LAWS) if law == "all" else tuple(_texts(law))
    whole = (_wholes(bins, "bins"), _wholes(users, "users"))
    plan = GainPlan(names, laws, tuple(parse_epsilons(epsilon)), *whole, repeat, method.strip().lower(), seed)
    with output.ending_cleanly(), output.progress("drawing data", quiet=sent.quiet) as say:
        found = gains(plan, lambda done, total: say(f"{done} of {total} settings and protocols"))
    if sent.plot is not None:
        sent.draw(gain_figure(found))
    if sent.as_json:
        output.print_json(Answer(plan, found.cells, _averages(found)))
        return
    for one in found.grids():
        output.print_table(one.title, one.headings, one.rows, left=one.left)
        output.console.print()
    sent.say_saved()


def gain_figure(found: Gains) -> Figure:
    """Figures 3 and 4: the gain in mse over eps, bins and users, a line a law, over all protocols."""
    panels = {
        _AXES[name]: {
            law: (values, [found.average("mse", law=law, **{name: one}) for one in values]) for law in found.plan.laws
        }
        for name, _, values in found.settings()
    }
    title = f"What {found.plan.method} gains over norm-mul, averaged over {len(found.plan.protocols)} protocols"
    return plot.gains(panels, "gain in mean squared error (%)", title)


def _averages(found: Gains) -> tuple[Averages, ...]:
    plan = found.plan
    fields: tuple[tuple[str, tuple[str | float, ...]], ...] = (
        ("law", plan.laws),
        ("protocol", plan.protocols),
        ("epsilon", plan.epsilons),
        ("bins", plan.bins),
        ("users", plan.users),
    )
    return tuple(
        Averages(name, value, *(found.average(error, **{name: value}) for error in ("mse", "mae")))
        for name, values in fields
        for value in values
    )


def _texts(text: str) -> list[str]:
    return [part.strip().lower() for part in text.split(",")]


def _wholes(text: str, name: str) -> tuple[int, ...]:
    try:
        return tuple(require_whole_text(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput(name, text, "be whole numbers K,K,...", f"for example --{name} 50,100") from None
