"""Published mechanisms compared: worst-case and whole-domain errors over epsilon, and the certified floor."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.options import Circular, DomainText, LossText, parse_domain, parse_epsilons
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Part
from mechdesign.design import Floor, PiecewiseProblem, floor_of, optimal_piecewise
from mechdesign.domains import Circle, Interval
from mechdesign.errors import InvalidInput
from mechdesign.field import Field, ranked
from mechdesign.losses import Power, parse_loss
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.values.codec import encoded
from mechdesign.values.declare import field, frozen
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.values.schema import shaped

OPTIMUM = "optimal piecewise"
_VISIBLE = 5e-4


@frozen
class Compared:
    """What was asked."""

    epsilons: tuple[float, ...]
    loss: str
    inputs: str


@frozen
class Cell:
    """One mechanism at one epsilon: errors at the worst input and over all, and what it gives away."""

    eps: float
    name: str
    worst: float
    average: float
    above_optimum: float | None
    privacy_loss: float


@frozen
class At:
    """Where a floor is: the interval on the least worst case of any mechanism at one epsilon."""

    eps: float


@frozen
class Answer:
    """Mechanisms by epsilon, and the floor below them."""

    problem: Compared
    cells: tuple[Cell, ...]
    floor: tuple[Mapping[str, Any], ...] = field(
        metadata=shaped(lambda schemas: {"type": "array", "items": schemas.merged(At, Floor)})
    )


ANSWERS = ((Answer,),)


def run(
    eps: Annotated[str, typer.Option("--eps", help="One epsilon, a list A,B,C or a range FROM:TO:COUNT.")],
    sent: Annotated[Sent, Part(out="Save every number, the optimum's too, as .csv.")],
    loss: LossText = "absolute",
    domain: DomainText = None,
    circular: Circular = False,
    mechanisms: Annotated[
        str | None, typer.Option("--mechanisms", help="Names from the catalogue, comma-separated (all unless given).")
    ] = None,
) -> None:
    sent.require_writable()
    if sent.out is not None and sent.out.suffix.lower() != ".csv":
        raise InvalidInput("output file", str(sent.out), "end in .csv", "for example --out errors.csv")
    inputs = parse_domain(domain, circular=circular)
    cost = parse_loss(loss, inputs.period if isinstance(inputs, Circle) else None)
    epsilons = parse_epsilons(eps)
    names = _names(mechanisms, inputs)
    with output.progress(f"{len(names) + 1} mechanisms at {len(epsilons)} values of eps", quiet=sent.quiet) as say:
        floors = []
        for epsilon in epsilons:
            say(f"certified optimum at eps = {epsilon:g}")
            floors.append(floor_of(epsilon, cost, inputs))
        fields = [
            ranked(_mechanisms(names, epsilon, inputs, cost), cost, floor.upper)
            for epsilon, floor in zip(epsilons, floors, strict=True)
        ]
        cells = [cell for epsilon, field in zip(epsilons, fields, strict=True) for cell in _cells(epsilon, field)]
    for epsilon, found in zip(epsilons, fields, strict=True):
        for name, reason in found.left_out.items():
            output.warn(f"{name} is left out at eps = {epsilon:g}: {reason}")
    if sent.plot is not None:
        _draw(cells, fields, floors, epsilons, cost, sent)
    sent.keep(_csv(cells, floors, epsilons))
    if sent.as_json:
        asked = Compared(tuple(epsilons), cost.name, str(inputs))
        rows = (output.merged(At(epsilon), floor) for epsilon, floor in zip(epsilons, floors, strict=True))
        output.print_json(Answer(asked, tuple(cells), tuple(rows)))
        return
    if len(epsilons) == 1:
        _print_leaderboard(cells, floors[0], epsilons[0], cost)
    else:
        for criterion in ("worst", "above_optimum", "average"):
            _print(cells, floors, epsilons, criterion, cost)
            output.console.print()
    sent.say_saved()


def _names(text: str | None, inputs: Interval | Circle) -> list[str]:
    if text is not None:
        names = [name.strip().lower() for name in text.split(",")]
        return [name for name in dict.fromkeys(names) if name != OPTIMUM]
    return [entry.key for entry in (catalogue.ON_CIRCLES if isinstance(inputs, Circle) else catalogue.ON_INTERVALS)]


def _mechanisms(names: list[str], epsilon: float, inputs: Interval | Circle, loss: Power) -> dict[str, Mechanism]:
    optimum = optimal_piecewise(PiecewiseProblem(epsilon, loss, inputs)).own_law
    return {OPTIMUM: optimum} | {name: catalogue.build(name, epsilon, inputs, loss) for name in names}


def _cells(epsilon: float, field: Field) -> list[Cell]:
    """A row for every mechanism whose errors doubles can resolve, in the order of the catalogue."""
    rows = {row.name: row for row in field.rows}
    return [
        Cell(epsilon, name, row.worst, row.average, row.above_optimum, mechanism.privacy_loss())
        for name, mechanism in field.mechanisms.items()
        for row in (rows[name],)
    ]


def _csv(cells: list[Cell], floors: list[Floor], epsilons: list[float]) -> str:
    """A row for every mechanism and epsilon, as in the picture and the tables; the ends of the optimum beside each."""
    optimum = {epsilon: (floor.lower, floor.upper) for epsilon, floor in zip(epsilons, floors, strict=True)}
    rows = [encoded(cell) for cell in cells]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*rows[0], "optimum_lower", "optimum_upper"])
    writer.writerows([*row.values(), *optimum[row["eps"]]] for row in rows)
    return text.getvalue()


def _draw(
    cells: list[Cell], fields: list[Field], floors: list[Floor], epsilons: list[float], cost: Power, sent: Sent
) -> None:
    lines = {name: [cell.worst for cell in cells if cell.name == name] for name in fields[0].mechanisms}
    worst = {name: line for name, line in lines.items() if len(line) == len(epsilons)}
    middle = len(epsilons) // 2
    bounds = [(floor.lower, floor.upper) for floor in floors]
    sent.draw(plot.comparison(epsilons, worst, fields[middle].mechanisms, cost, epsilons[middle], bounds))


# -- tables -----------------------------------------------------------------------------------------------------------


def _is_wide(floor: Floor) -> bool:
    return floor.upper - floor.lower > _VISIBLE * floor.upper


def _floor_text(floor: Floor) -> str:
    """The certified optimum as one number, or as an interval where its width can be seen."""
    if _is_wide(floor):
        return f"[{rounded_down(floor.lower, 3)}, {rounded_up(floor.upper, 3)}]"
    return output.number(floor.upper)


def _print_leaderboard(cells: list[Cell], floor: Floor, epsilon: float, loss: Power) -> None:
    rows = [["certified optimum", _floor_text(floor), "", ""]]
    for cell in sorted(cells, key=lambda cell: (cell.worst, cell.average)):
        ends = output.number(cell.worst), output.number(cell.average)
        rows.append([cell.name, ends[0], _above(cell.above_optimum, floor), ends[1]])
    title = f"Expected {loss.name} error over the inputs, eps = {epsilon:g}"
    output.print_table(title, ["mechanism", "worst case", "above optimum", "average"], rows)
    _print_note([floor])


def _print_note(floors: list[Floor]) -> None:
    if any(_is_wide(floor) for floor in floors):
        text = "The optimum is known to lie in the interval; mechanisms are compared with its upper end."
    elif all(floor.bound == "rotation averaging" for floor in floors):
        text = "The optimum is over all mechanisms: on the circle the optimal piecewise mechanism is globally optimal."
    else:
        gap = max((floor.upper - floor.lower) / floor.upper for floor in floors)
        basis = output.floor_basis(floors[0])
        text = f"The optimum is over all mechanisms, {basis} to within {gap:.1e} of itself."
    output.console.print(f"  {text}", soft_wrap=True)


def _print(cells: list[Cell], floors: list[Floor], epsilons: list[float], criterion: str, loss: Power) -> None:
    most = max(2, (output.console.width - 22) // 12)
    count = min(len(epsilons), most)
    chosen = [round(k * (len(epsilons) - 1) / max(count - 1, 1)) for k in range(count)]
    shown = [epsilons[k] for k in chosen]
    names = list(dict.fromkeys(cell.name for cell in cells))
    value = {(cell.name, cell.eps): getattr(cell, criterion) for cell in cells}
    names.sort(key=lambda name: value.get((name, shown[-1]), math.inf))
    if criterion == "above_optimum":
        rows = [[name, *(_above(value.get((name, epsilons[k])), floors[k]) for k in chosen)] for name in names]
    else:
        rows = [[name, *(_error(value.get((name, epsilon))) for epsilon in shown)] for name in names]
    if criterion == "worst":
        rows.insert(0, ["certified optimum", *(_floor_text(floors[k]) for k in chosen)])
    title = {
        "worst": f"Worst case over the inputs, {loss.name} error",
        "average": f"Average over the inputs, {loss.name} error",
        "above_optimum": f"Above the certified optimum: worst case, {loss.name} error",
    }[criterion]
    output.print_table(title, ["mechanism", *(f"eps={epsilon:.3g}" for epsilon in shown)], rows)
    if criterion == "above_optimum":
        _print_note(floors)


def _error(value: float | None) -> str:
    return "-" if value is None else output.number(value)


def _above(percent: float | None, floor: Floor) -> str:
    """Per cent above the optimum; "at least", where the optimum is only known within a wide interval."""
    if percent is None:
        return "-"
    return f"≥ {output.above(percent, at_least=True)}" if _is_wide(floor) else output.above(percent)
