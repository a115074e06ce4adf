"""Published mechanisms, and your own, compared: errors over epsilon, and how far each is above the certified optimum.

Your own come from files, and what they give away is decided, not believed. A matrix of probabilities (--channel) has a
row for each input and a column for each output, with labels in its first column and line, or without; labels that are
increasing numbers are the inputs and outputs, else --loss-matrix says what each output costs at each input. Saved
designs and tables stand among the --mechanisms. Without --eps it is what the file spends.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.compared import BY_PROGRAM, Matrix, Numbers, matrix_of, names_for
from mechdesign.cli.given import refuse_given
from mechdesign.cli.options import Circular, DomainText, LossText, parse_domain, parse_epsilons
from mechdesign.cli.own import Own, is_file, read_channel, read_files, require_different
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Part
from mechdesign.design.floor import Floor
from mechdesign.domains import Circle, Finite, Interval
from mechdesign.errors import InvalidInput
from mechdesign.field import Field, Rank, Row, above_nothing
from mechdesign.losses import parse_loss
from mechdesign.values.codec import encoded
from mechdesign.values.declare import field, frozen
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.values.schema import shaped

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
EXAMPLE = "compare --eps 1"


def run(
    context: typer.Context,
    sent: Annotated[Sent, Part(out="Save every number, the optimum's too, as .csv.")],
    eps: Annotated[
        str | None,
        typer.Option("--eps", help="One epsilon, a list A,B,C or FROM:TO:COUNT; else what your own file spends."),
    ] = None,
    loss: LossText = "absolute",
    domain: DomainText = None,
    circular: Circular = False,
    mechanisms: Annotated[
        str | None,
        typer.Option(
            "--mechanisms",
            help="Names from the catalogue (all unless given); saved designs and tables, as pm,sw,own.json.",
            metavar="A,B,...",
        ),
    ] = None,
    channel: Annotated[
        Path | None, typer.Option("--channel", help="Your own matrix of probabilities, rows = inputs: .csv or .npy.")
    ] = None,
    loss_matrix: Annotated[
        Path | None, typer.Option("--loss-matrix", help="What each output (column) costs at each input (row).")
    ] = None,
) -> None:
    sent.require_writable()
    if sent.out is not None and sent.out.suffix.lower() != ".csv":
        raise InvalidInput("output file", str(sent.out), "end in .csv", "for example --out errors.csv")
    names, mine = _asked(mechanisms, channel)
    epsilons = _epsilons(eps, mine)
    if loss_matrix is not None or any(isinstance(one.mechanism.inputs, Finite) for one in mine):
        refuse_given(context, ("domain", "circular"), "be left out", "the file says what the inputs are")
        if loss_matrix is not None:
            refuse_given(context, ("loss",), "be left out with --loss-matrix", "drop one of the two")
        cost = parse_loss(loss)
        about: Matrix | Numbers = matrix_of(mine, names, cost, loss_matrix)
    else:
        inputs = _inputs(domain, mine, circular=circular)
        cost = parse_loss(loss, inputs.period if isinstance(inputs, Circle) else None)
        about = Numbers(inputs, cost, names_for(names, inputs), mine)
    for one in mine:
        one.require(epsilons)
    with output.progress(f"{about.count} mechanisms at {len(epsilons)} values of eps", quiet=sent.quiet) as say:
        floors, fields = [], []
        for epsilon in epsilons:
            say(f"certified optimum at eps = {epsilon:g}")
            floor, field = about.at(epsilon)
            floors.append(floor)
            fields.append(field)
        cells = [cell for epsilon, field in zip(epsilons, fields, strict=True) for cell in _cells(epsilon, field)]
    for epsilon, found in zip(epsilons, fields, strict=True):
        for name, reason in found.left_out.items():
            output.warn(f"{name} is left out at eps = {epsilon:g}: {reason}")
    if sent.plot is not None:
        _draw(cells, fields, floors, epsilons, about, sent)
    sent.keep(_csv(cells, floors, epsilons))
    if sent.as_json:
        asked = Compared(tuple(epsilons), about.loss_name, str(about.inputs))
        rows = (output.merged(At(epsilon), floor) for epsilon, floor in zip(epsilons, floors, strict=True))
        output.print_json(Answer(asked, tuple(cells), tuple(rows)))
        return
    if len(epsilons) == 1:
        _print_leaderboard(cells, floors[0], epsilons[0], about.measure)
    else:
        for criterion in ("worst", "above_optimum", "average"):
            _print(cells, floors, epsilons, criterion, about.measure)
            output.console.print()
    for one in mine:
        said = f"  {one.name}: privacy loss {one.ratio.loss!r}, computed exactly"
        output.console.print(said, soft_wrap=True)
    sent.say_saved()


def _asked(text: str | None, channel: Path | None) -> tuple[list[str] | None, tuple[Own, ...]]:
    """Names of the catalogue, None for all of them, and mechanisms from files."""
    names = [] if text is None else [name.strip() for name in text.split(",")]
    files = read_files([name for name in names if is_file(name)])
    mine = (*files, *(() if channel is None else (read_channel(channel),)))
    require_different(mine)
    known = [name.lower() for name in names if not is_file(name)]
    return (known or None), mine


def _epsilons(text: str | None, mine: tuple[Own, ...]) -> list[float]:
    if text is not None:
        return parse_epsilons(text)
    if not mine:
        raise InvalidInput("--eps", None, "be given where no file of your own says it", "for example --eps 1")
    return [max(one.spends for one in mine)]


def _inputs(text: str | None, mine: tuple[Own, ...], *, circular: bool) -> Interval | Circle:
    """The domain that is asked for, or else that of the files."""
    if text is not None or circular or not mine:
        inputs = parse_domain(text, circular=circular)
    else:
        inputs = mine[0].mechanism.inputs
    for one in mine:
        if one.mechanism.inputs != inputs:
            step = "compare files of one domain" if text is None and not circular else "drop --domain and --circular"
            raise InvalidInput(f"inputs of {one.name}", str(one.mechanism.inputs), f"be {inputs}", step)
    return inputs


def _cells(epsilon: float, field: Field) -> list[Cell]:
    """A row for every mechanism whose errors doubles can resolve, in the order of the catalogue."""
    return [
        Cell(
            epsilon,
            name,
            row.by(Rank.WORST),
            row.by(Rank.AVERAGE),
            above_nothing(row).above_optimum,
            _loss_of(field, name),
        )
        for name, row in _in_order(field).items()
    ]


def _in_order(field: Field) -> dict[str, Row]:
    """The rows by name, in the order in which the mechanisms were named."""
    rows = {row.name: row for row in field.rows}
    named = {name: rows[name] for name in field.mechanisms if name in rows}
    return named | rows


def _loss_of(field: Field, name: str) -> float:
    """What a mechanism gives away; an answer that is always the same gives nothing."""
    mechanism = field.mechanisms.get(name)
    return 0.0 if mechanism is None else mechanism.privacy_loss()


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
    cells: list[Cell],
    fields: list[Field],
    floors: list[Floor],
    epsilons: list[float],
    about: Matrix | Numbers,
    sent: Sent,
) -> None:
    lines = {name: [cell.worst for cell in cells if cell.name == name] for name in _in_order(fields[0])}
    worst = {name: line for name, line in lines.items() if len(line) == len(epsilons)}
    bounds = [(floor.lower, floor.upper) for floor in floors]
    if isinstance(about, Matrix):
        sent.draw(plot.worst_cases(epsilons, worst, f"worst-case {about.measure}", bounds))
        return
    middle = len(epsilons) // 2
    sent.draw(plot.comparison(epsilons, worst, fields[middle].mechanisms, about.loss, epsilons[middle], bounds))


# -- tables -----------------------------------------------------------------------------------------------------------


def _is_wide(floor: Floor) -> bool:
    return floor.upper - floor.lower > _VISIBLE * floor.upper


def _floor_text(floor: Floor) -> str:
    """The certified optimum as one number, or as an interval where its width can be seen."""
    if _is_wide(floor):
        return f"[{rounded_down(floor.lower, 3)}, {rounded_up(floor.upper, 3)}]"
    return output.number(floor.upper)


def _print_leaderboard(cells: list[Cell], floor: Floor, epsilon: float, measure: str) -> None:
    rows = [["certified optimum", _floor_text(floor), "", ""]]
    for cell in sorted(cells, key=lambda cell: (cell.worst, cell.average)):
        ends = output.number(cell.worst), output.number(cell.average)
        rows.append([cell.name, ends[0], _above(cell.above_optimum, floor), ends[1]])
    title = f"Expected {measure} over the inputs, eps = {epsilon:g}"
    output.print_table(title, ["mechanism", "worst case", "above optimum", "average"], rows)
    _print_note([floor])


def _print_note(floors: list[Floor]) -> None:
    if any(_is_wide(floor) for floor in floors):
        text = "The optimum is known to lie in the interval; mechanisms are compared with its upper end."
    elif not any(floor.upper for floor in floors):
        text = "Nothing has to be lost: the best single output makes no error, whatever the input."
    elif all(floor.bound == "rotation averaging" for floor in floors):
        text = "The optimum is over all mechanisms: on the circle the optimal piecewise mechanism is globally optimal."
    else:
        gap = max((floor.upper - floor.lower) / floor.upper for floor in floors if floor.upper > 0)
        basis = output.floor_basis(floors[0])
        which = " with these inputs and outputs, " if floors[0].bound == BY_PROGRAM else ", "
        text = f"The optimum is over all mechanisms{which}{basis} to within {gap:.1e} of itself."
    output.console.print(f"  {text}", soft_wrap=True)


def _print(cells: list[Cell], floors: list[Floor], epsilons: list[float], criterion: str, measure: str) -> None:
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
        "worst": f"Worst case over the inputs, {measure}",
        "average": f"Average over the inputs, {measure}",
        "above_optimum": f"Above the certified optimum: worst case, {measure}",
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
