"""A saved design: its mechanism, errors and certificate, checked again, and its picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign import files, plot
from mechdesign.cli import certified, jrr, output
from mechdesign.cli.options import AsJson, Force, PlotFile
from mechdesign.cli.question import Labels
from mechdesign.design import SavedDesign, joint_saved
from mechdesign.design.joint import heuristic
from mechdesign.design.saved import design_of_document
from mechdesign.domains import Circle
from mechdesign.errors import InvalidInput
from mechdesign.losses import Absolute, Power, Squared, parse_loss
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import mechanism_to_dict
from mechdesign.priors import Atoms

_FINITE = {
    "worst": "worst-case loss",
    "prior": "average loss under the prior",
    "lexicographic": "average loss at the least worst case",
}


def run(
    file: Annotated[Path, typer.Argument(help="A file written with --out.", metavar="FILE")],
    plot_file: PlotFile = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    output.require_outputs(None, plot_file, force=force)
    document = files.read_json(file)
    if document.get("format") == joint_saved.FORMAT:
        _show_joint(document, str(file), plot_file, as_json=as_json, force=force)
        return
    saved = design_of_document(document, str(file))
    parts = saved.mechanism.parts if isinstance(saved.mechanism, Product) else (saved.mechanism,)
    errors = [row for part in parts for row in _errors(part, saved)]
    if plot_file is not None:
        figure = certified.figure(saved.mechanism, saved.certificate, _loss(saved), _criterion(saved), _labels(saved))
        plot.save(figure, plot_file, overwrite=force)
    if as_json:
        output.print_json(_document(saved, parts, errors))
        return
    prior = certified.least_favourable(saved.certificate)
    for part in parts:
        _print_mechanism(part, prior, _labels(saved))
    rows = [
        [row["mechanism"], row["loss"], output.number(row["worst"]), output.number(row["average"])] for row in errors
    ]
    if rows:
        output.print_table("Expected errors", ["mechanism", "loss", "worst case", "average (uniform)"], rows, left=2)
        output.console.print()
    asked = plot.printable(_asked(saved))
    state = "bounds as claimed in the file" if saved.certificate.claimed else "checked again"
    output.print_certificate(saved.certificate, f"certificate ({asked}; {state})", saved.mechanism)
    if certified.is_certified_optimum(saved.mechanism):
        output.print_gap(saved.certificate)
    if plot_file is not None:
        output.say_saved(plot_file)


def _show_joint(
    document: Mapping[str, Any], source: str, plot_file: Path | None, *, as_json: bool, force: bool
) -> None:
    with output.progress("deriving the design again", quiet=as_json):
        design = joint_saved.joint_of_document(document, source)
    rule = heuristic(design.problem) if design.problem.is_pair else None
    if plot_file is not None:
        from mechdesign.plot.joint import joint_design

        plot.save(joint_design(design), plot_file, overwrite=force)
    if as_json:
        output.print_json(jrr.document_of(design, rule))
        return
    jrr.print_design(design, rule)
    bound = "its lower bound is as claimed" if design.certificate.claimed else "so was its lower bound"
    output.console.print(f"\nAll numbers were derived again from the file's problem and law; {bound}.", soft_wrap=True)
    if plot_file is not None:
        output.say_saved(plot_file)


def _criterion(saved: SavedDesign) -> str:
    return str(saved.problem.get("criterion", ""))


def _asked(saved: SavedDesign) -> str:
    """What the certificate is about, in words."""
    criterion, loss = _criterion(saved), saved.problem.get("loss")
    if saved.problem.get("kind") == "finite":
        return f"{_FINITE.get(criterion, criterion)}, {loss}"
    return f"{loss} error, {criterion}"


def _loss(saved: SavedDesign) -> Power:
    """The loss a picture shows errors for: the one the file says was asked about, if it is a power."""
    try:
        return parse_loss(str(saved.problem.get("loss")))
    except InvalidInput:
        return Power(2.0)


def _losses(mechanism: Mechanism, saved: SavedDesign) -> list[Power]:
    """Absolute, squared, and the one that was asked about."""
    if isinstance(mechanism, Discrete):  # its inputs and outputs are rows and columns, distances mean nothing
        return []
    period = mechanism.outputs.period if isinstance(mechanism.outputs, Circle) else None
    losses = [Absolute(period), Squared(period)]
    try:
        asked = parse_loss(str(saved.problem.get("loss")), period)
    except InvalidInput:
        return losses
    return losses if asked in losses else [*losses, asked]


def _errors(mechanism: Mechanism, saved: SavedDesign) -> list[dict[str, Any]]:
    return [
        {
            "mechanism": mechanism.name,
            "loss": loss.name,
            "worst": mechanism.worst_case(loss)[0],
            "worst_at": mechanism.worst_case(loss)[1],
            "average": mechanism.average_loss(loss),
        }
        for loss in _losses(mechanism, saved)
    ]


def _document(saved: SavedDesign, parts: tuple[Mechanism, ...], errors: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "problem": dict(saved.problem),
        "mechanism": mechanism_to_dict(saved.mechanism) | _fields(parts),
        "certificate": saved.certificate.to_dict(),
        "report": dict(saved.report),
        "errors": errors,
        "pieces": [output.piece_rows(part) for part in parts if isinstance(part, Piecewise)],
    } | certified.prior_fields(certified.least_favourable(saved.certificate))


def _fields(parts: tuple[Mechanism, ...]) -> dict[str, Any]:
    return certified.mechanism_fields(parts[0]) if len(parts) == 1 else {}


def _labels(saved: SavedDesign) -> Labels | None:
    """The labels of a finite problem's inputs and outputs, if the file has both and they fit the mechanism."""
    rows, columns = (saved.problem.get(f"{side}_labels") for side in ("input", "output"))
    mechanism = saved.mechanism
    if not (isinstance(mechanism, Discrete) and isinstance(rows, list) and isinstance(columns, list)):
        return None
    fits = len(rows) == len(mechanism.inputs) and len(columns) > mechanism.outputs.upper
    return (list(map(str, rows)), list(map(str, columns))) if fits else None


def _print_mechanism(mechanism: Mechanism, prior: Atoms | None, labels: Labels | None) -> None:
    domain = mechanism.inputs
    name = plot.printable(mechanism.name)
    output.console.print(f"{name}: {domain} -> {mechanism.outputs}, eps = {mechanism.epsilon:g}\n")
    if isinstance(mechanism, Piecewise):
        output.print_pieces(mechanism)
    else:
        certified.print_mechanism(mechanism, prior, labels)
