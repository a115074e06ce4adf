"""Published mechanisms compared: worst-case and whole-domain errors over epsilon, and the certified floor."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.looks import save_picture
from mechdesign.cli.options import (
    AsJson,
    Circular,
    DomainText,
    Force,
    LossText,
    PlotFile,
    Quiet,
    parse_domain,
    parse_epsilons,
)
from mechdesign.design import Floor, PiecewiseProblem, floor_of, optimal_piecewise
from mechdesign.domains import Circle, Interval
from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.losses import Power, parse_loss
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.values import files
from mechdesign.values.digits import rounded_down, rounded_up

Row = dict[str, Any]
Field = dict[str, Mechanism]

OPTIMUM = "optimal piecewise"
_COLUMNS = ("eps", "name", "worst", "average", "above_optimum", "privacy_loss")
_VISIBLE = 5e-4


def run(
    eps: Annotated[str, typer.Option("--eps", help="One epsilon, a list A,B,C or a range FROM:TO:COUNT.")],
    loss: LossText = "absolute",
    domain: DomainText = None,
    circular: Circular = False,
    mechanisms: Annotated[
        str | None, typer.Option("--mechanisms", help="Names from the catalogue, comma-separated (all unless given).")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Save every number, the optimum's too, as .csv.")] = None,
    plot_file: PlotFile = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(out, plot_file, force=force)
    if out is not None and out.suffix.lower() != ".csv":
        raise InvalidInput("output file", str(out), "end in .csv", "for example --out errors.csv")
    inputs = parse_domain(domain, circular=circular)
    cost = parse_loss(loss, inputs.period if isinstance(inputs, Circle) else None)
    epsilons = parse_epsilons(eps)
    names = _names(mechanisms, inputs)
    with output.progress(f"{len(names) + 1} mechanisms at {len(epsilons)} values of eps", quiet=quiet) as say:
        floors = []
        for epsilon in epsilons:
            say(f"certified optimum at eps = {epsilon:g}")
            floors.append(floor_of(epsilon, cost, inputs))
        fields = [_field(names, epsilon, inputs, cost) for epsilon in epsilons]
        cells = _cells(fields, floors, epsilons, cost)
    if plot_file is not None:
        _draw(cells, fields, floors, epsilons, cost, plot_file, force=force)
    if out is not None:
        files.write_atomically(out, _csv(cells, floors, epsilons).encode(), overwrite=force)
    if as_json:
        problem = {"epsilons": epsilons, "loss": cost.name, "inputs": str(inputs)}
        output.print_json({"problem": problem, "cells": cells, "floor": _floor_rows(floors, epsilons)})
        return
    if len(epsilons) == 1:
        _print_leaderboard(cells, floors[0], epsilons[0], cost)
    else:
        for criterion in ("worst", "above_optimum", "average"):
            _print(cells, floors, epsilons, criterion, cost)
            output.console.print()
    output.Delivery(out, plot_file).say_saved()


def _names(text: str | None, inputs: Interval | Circle) -> list[str]:
    if text is not None:
        names = [name.strip().lower() for name in text.split(",")]
        return [name for name in dict.fromkeys(names) if name != OPTIMUM]
    return [entry.key for entry in (catalogue.ON_CIRCLES if isinstance(inputs, Circle) else catalogue.ON_INTERVALS)]


def _field(names: list[str], epsilon: float, inputs: Interval | Circle, loss: Power) -> dict[str, Mechanism]:
    optimum = optimal_piecewise(PiecewiseProblem(epsilon, loss, inputs)).mechanism
    field: dict[str, Any] = {OPTIMUM: optimum}
    return field | {name: catalogue.build(name, epsilon, inputs, loss) for name in names}


def _cells(fields: list[Field], floors: list[Floor], epsilons: list[float], cost: Power) -> list[Row]:
    """A row for every mechanism and epsilon whose errors doubles can resolve."""
    cells = []
    for epsilon, field, floor in zip(epsilons, fields, floors, strict=True):
        for name, mechanism in field.items():
            try:
                worst, average = mechanism.worst_case(cost)[0], mechanism.average_loss(cost)
            except CheckFailed as failure:
                output.warn(f"{name} is left out at eps = {epsilon:g}: {failure}")
                continue
            row = {"eps": epsilon, "name": name, "worst": worst, "average": average}
            row["above_optimum"] = 100 * (worst / floor.upper - 1) if floor.upper > 0 else None
            cells.append(row | {"privacy_loss": mechanism.privacy_loss()})
    return cells


def _floor_rows(floors: list[Floor], epsilons: list[float]) -> list[Row]:
    return [{"eps": epsilon} | asdict(floor) for epsilon, floor in zip(epsilons, floors, strict=True)]


def _csv(cells: list[Row], floors: list[Floor], epsilons: list[float]) -> str:
    """A row for every mechanism and epsilon, as in the picture and the tables; the ends of the optimum beside each."""
    optimum = {epsilon: (floor.lower, floor.upper) for epsilon, floor in zip(epsilons, floors, strict=True)}
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_COLUMNS, "optimum_lower", "optimum_upper"])
    writer.writerows([*(cell[column] for column in _COLUMNS), *optimum[cell["eps"]]] for cell in cells)
    return text.getvalue()


def _draw(
    cells: list[Row],
    fields: list[Field],
    floors: list[Floor],
    epsilons: list[float],
    cost: Power,
    file: Path,
    *,
    force: bool,
) -> None:
    lines = {name: [cell["worst"] for cell in cells if cell["name"] == name] for name in fields[0]}
    worst = {name: line for name, line in lines.items() if len(line) == len(epsilons)}
    middle = len(epsilons) // 2
    bounds = [(floor.lower, floor.upper) for floor in floors]
    figure = plot.comparison(epsilons, worst, fields[middle], cost, epsilons[middle], bounds)
    save_picture(figure, file, overwrite=force)


# -- tables -----------------------------------------------------------------------------------------------------------


def _is_wide(floor: Floor) -> bool:
    return floor.upper - floor.lower > _VISIBLE * floor.upper


def _floor_text(floor: Floor) -> str:
    """The certified optimum as one number, or as an interval where its width can be seen."""
    if _is_wide(floor):
        return f"[{rounded_down(floor.lower, 3)}, {rounded_up(floor.upper, 3)}]"
    return output.number(floor.upper)


def _print_leaderboard(cells: list[Row], floor: Floor, epsilon: float, loss: Power) -> None:
    rows = [["certified optimum", _floor_text(floor), "", ""]]
    for cell in sorted(cells, key=lambda cell: (cell["worst"], cell["average"])):
        errors = [output.number(cell[criterion]) for criterion in ("worst", "average")]
        rows.append([cell["name"], errors[0], _above(cell["above_optimum"], floor), errors[1]])
    title = f"Expected {loss.name} error over the inputs, eps = {epsilon:g}"
    output.print_table(title, ["mechanism", "worst case", "above optimum", "average"], rows)
    _print_note([floor], loss)


def _print_note(floors: list[Floor], loss: Power) -> None:
    if any(_is_wide(floor) for floor in floors):
        text = "The optimum is known to lie in the interval; mechanisms are compared with its upper end."
    elif all(floor.bound == "rotation averaging" for floor in floors):
        text = "The optimum is over all mechanisms: on the circle the optimal piecewise mechanism is globally optimal."
    else:
        gap = max((floor.upper - floor.lower) / floor.upper for floor in floors)
        basis = output.floor_basis(floors[0], loss)
        text = f"The optimum is over all mechanisms, {basis} to within {gap:.1e} of itself."
    output.console.print(f"  {text}", soft_wrap=True)


def _print(cells: list[Row], floors: list[Floor], epsilons: list[float], criterion: str, loss: Power) -> None:
    most = max(2, (output.console.width - 22) // 12)
    count = min(len(epsilons), most)
    chosen = [round(k * (len(epsilons) - 1) / max(count - 1, 1)) for k in range(count)]
    shown = [epsilons[k] for k in chosen]
    names = list(dict.fromkeys(cell["name"] for cell in cells))
    value = {(cell["name"], cell["eps"]): cell[criterion] for cell in cells}
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
        _print_note(floors, loss)


def _error(value: float | None) -> str:
    return "-" if value is None else output.number(value)


def _above(percent: float | None, floor: Floor) -> str:
    """Per cent above the optimum; "at least", where the optimum is only known within a wide interval."""
    if percent is None:
        return "-"
    return f"≥ {output.above(percent, at_least=True)}" if _is_wide(floor) else output.above(percent)
