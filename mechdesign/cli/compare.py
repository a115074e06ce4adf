"""Published mechanisms compared: worst-case and whole-domain errors over epsilon."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mechdesign import plot
from mechdesign.cli import output
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
from mechdesign.design import PiecewiseProblem, optimal_piecewise
from mechdesign.domains import Circle, Interval
from mechdesign.losses import Power, parse_loss
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import Mechanism

OPTIMUM = "optimal piecewise"


def run(
    eps: Annotated[str, typer.Option("--eps", help="One epsilon, a list A,B,C or a range FROM:TO:COUNT.")],
    loss: LossText = "absolute",
    domain: DomainText = None,
    circular: Circular = False,
    mechanisms: Annotated[
        str | None, typer.Option("--mechanisms", help="Names from the catalogue, comma-separated (all unless given).")
    ] = None,
    plot_file: PlotFile = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(None, plot_file, force=force)
    inputs = parse_domain(domain, circular=circular)
    cost = parse_loss(loss, inputs.period if isinstance(inputs, Circle) else None)
    epsilons = parse_epsilons(eps)
    names = _names(mechanisms, inputs)
    with output.progress(f"{len(names) + 1} mechanisms at {len(epsilons)} values of eps", quiet=quiet or as_json):
        cells, fields = _cells(names, epsilons, inputs, cost)
    if plot_file is not None:
        worst = {name: [cell["worst"] for cell in cells if cell["name"] == name] for name in fields[0]}
        middle = len(epsilons) // 2
        figure = plot.comparison(epsilons, worst, fields[middle], cost, epsilons[middle])
        plot.save(figure, plot_file, overwrite=force)
    if as_json:
        problem = {"epsilons": epsilons, "loss": cost.name, "inputs": str(inputs)}
        output.print_json({"problem": problem, "cells": cells})
        return
    for criterion in ("worst", "average"):
        _print(cells, epsilons, criterion, cost)
        output.console.print()
    if plot_file is not None:
        output.console.print(f"saved {plot_file}")


def _names(text: str | None, inputs: Interval | Circle) -> list[str]:
    if text is not None:
        names = [name.strip().lower() for name in text.split(",")]
        return [name for name in dict.fromkeys(names) if name != OPTIMUM]
    return [entry.key for entry in (catalogue.ON_CIRCLES if isinstance(inputs, Circle) else catalogue.ON_INTERVALS)]


def _cells(
    names: list[str], epsilons: list[float], inputs: Interval | Circle, cost: Power
) -> tuple[list[dict[str, Any]], list[dict[str, Mechanism]]]:
    fields = [_field(names, epsilon, inputs, cost) for epsilon in epsilons]
    cells: list[dict[str, Any]] = [
        {
            "eps": epsilon,
            "name": name,
            "worst": mechanism.worst_case(cost)[0],
            "average": mechanism.average_loss(cost),
            "privacy_loss": mechanism.privacy_loss(),
        }
        for epsilon, field in zip(epsilons, fields, strict=True)
        for name, mechanism in field.items()
    ]
    return cells, fields


def _field(names: list[str], epsilon: float, inputs: Interval | Circle, loss: Power) -> dict[str, Mechanism]:
    optimum = optimal_piecewise(PiecewiseProblem(epsilon, loss, inputs)).mechanism
    field: dict[str, Any] = {OPTIMUM: optimum}
    return field | {name: catalogue.build(name, epsilon, inputs, loss) for name in names}


def _print(cells: list[dict[str, Any]], epsilons: list[float], criterion: str, loss: Power) -> None:
    most = max(2, (output.console.width - 22) // 12)
    count = min(len(epsilons), most)
    shown = [epsilons[round(k * (len(epsilons) - 1) / max(count - 1, 1))] for k in range(count)]
    names = list(dict.fromkeys(cell["name"] for cell in cells))
    value = {(cell["name"], cell["eps"]): cell[criterion] for cell in cells}
    names.sort(key=lambda name: value[name, shown[-1]])
    rows = [[name, *(output.number(value[name, epsilon]) for epsilon in shown)] for name in names]
    title = {"worst": "Worst case", "average": "Average"}[criterion] + f" over the inputs, {loss.name} error"
    output.print_table(title, ["mechanism", *(f"eps={epsilon:.3g}" for epsilon in shown)], rows)
