"""A saved design: its pieces, errors and certificate, checked again, and a picture of its density."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, PlotFile
from mechdesign.design import SavedDesign, load_design
from mechdesign.domains import Circle
from mechdesign.losses import Absolute, Power, Squared
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import mechanism_to_dict


def run(
    file: Annotated[Path, typer.Argument(help="A file written with --out.", metavar="FILE")],
    plot_file: PlotFile = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    output.require_outputs(None, plot_file, force=force)
    saved = load_design(file)
    parts = saved.mechanism.parts if isinstance(saved.mechanism, Product) else (saved.mechanism,)
    errors = [row for part in parts for row in _errors(part)]
    if plot_file is not None:
        plot.save(output.density_figure(saved.mechanism), plot_file, overwrite=force)
    if as_json:
        output.print_json(_document(saved, parts, errors))
        return
    for part in parts:
        _print_mechanism(part)
    rows = [
        [row["mechanism"], row["loss"], output.number(row["worst"]), output.number(row["average"])] for row in errors
    ]
    output.print_table("Expected errors", ["mechanism", "loss", "worst case", "average"], rows, left=2)
    output.console.print()
    asked = f"{saved.problem.get('loss')} error, {saved.problem.get('criterion')}"
    state = "bounds as claimed in the file" if saved.certificate.claimed else "checked again"
    output.print_certificate(saved.certificate, f"certificate ({asked}; {state})", saved.mechanism)
    if plot_file is not None:
        output.console.print(f"saved {plot_file}")


def _losses(mechanism: Mechanism) -> list[Power]:
    period = mechanism.outputs.period if isinstance(mechanism.outputs, Circle) else None
    return [Absolute(period), Squared(period)]


def _errors(mechanism: Mechanism) -> list[dict[str, Any]]:
    return [
        {
            "mechanism": mechanism.name,
            "loss": loss.name,
            "worst": mechanism.worst_case(loss)[0],
            "worst_at": mechanism.worst_case(loss)[1],
            "average": mechanism.average_loss(loss),
        }
        for loss in _losses(mechanism)
    ]


def _document(saved: SavedDesign, parts: tuple[Mechanism, ...], errors: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "problem": dict(saved.problem),
        "mechanism": mechanism_to_dict(saved.mechanism),
        "certificate": saved.certificate.to_dict(),
        "report": dict(saved.report),
        "errors": errors,
        "pieces": [output.piece_rows(part) for part in parts if isinstance(part, Piecewise)],
    }


def _print_mechanism(mechanism: Mechanism) -> None:
    domain = mechanism.inputs
    output.console.print(f"{mechanism.name}: {domain} -> {mechanism.outputs}, eps = {mechanism.epsilon:g}\n")
    if isinstance(mechanism, Piecewise):
        output.print_pieces(mechanism)
