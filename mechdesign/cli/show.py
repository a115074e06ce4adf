"""A saved design: its mechanism, errors and certificate, checked again, and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign import plot
from mechdesign.cli import certified, jrr, output
from mechdesign.cli.looks import save_picture
from mechdesign.cli.options import AsJson, Force, PlotFile, Quiet
from mechdesign.cli.pictures import design_figure, labels_of
from mechdesign.cli.question import Labels
from mechdesign.design import SavedDesign
from mechdesign.design.joint import JointProblem
from mechdesign.design.saved import design_of_document
from mechdesign.domains import Circle
from mechdesign.errors import InvalidInput
from mechdesign.exact.statement import Aim, Statement
from mechdesign.losses import Absolute, Power, Squared, parse_loss
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import mechanism_to_dict
from mechdesign.priors import Atoms
from mechdesign.values import files

_MATRIX = {
    Aim.MATRIX_WORST: "worst-case loss",
    Aim.MATRIX_AVERAGE: "average loss under the prior",
    Aim.MATRIX_LEXICOGRAPHIC: "average loss at the least worst case",
}
_NAMES = {
    "OGPM",
    "OGPM (polar)",
    "OGPM (unbiased)",
    "minimax",
    "randomised response on bins",
    "capped average",
    "additive optimum",
    "unbiased optimum",
    "finite optimum",
    "custom optimum",
}
"""What designs call their mechanisms; any other name is marked as the file's own."""

_CALLED = {"objective": "the objective", "constraints": "the constraints"}


def run(
    file: Annotated[Path, typer.Argument(help="A file written with --out.", metavar="FILE")],
    plot_file: PlotFile = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(None, plot_file, force=force)
    document = files.read_json(file)
    with output.progress("checking the certificate", quiet=quiet):
        saved = design_of_document(document, str(file))
    if isinstance(saved.problem, JointProblem):
        jrr.show(saved, plot_file, as_json=as_json, force=force)
        return
    parts = saved.mechanism.parts if isinstance(saved.mechanism, Product) else (saved.mechanism,)
    errors = [row for part in parts for row in _errors(part, saved)]
    if plot_file is not None:
        save_picture(design_figure(saved), plot_file, overwrite=force)
    if as_json:
        output.print_json(_document(saved, parts, errors))
        return
    prior = certified.least_favourable(saved.certificate)
    for part in parts:
        _print_mechanism(part, prior, labels_of(saved))
    rows = [
        [row["mechanism"], row["loss"], output.number(row["worst"]), output.number(row["average"])] for row in errors
    ]
    if rows:
        output.print_table("Expected errors", ["mechanism", "loss", "worst case", "average (uniform)"], rows, left=2)
        output.console.print()
    asked = plot.printable(_asked(saved.statement))
    output.print_certificate(saved.certificate, f"certificate ({asked}; {_state(saved)})", saved.mechanism)
    if certified.is_certified_optimum(saved.mechanism):
        output.print_gap(saved.certificate)
    _print_named(saved)
    if plot_file is not None:
        output.say_saved(plot_file)


def _asked(statement: Statement) -> str:
    """What the certificate is about, in words, all of it as the evidence decides it."""
    aim = statement.criterion.aim
    if aim is Aim.OBJECTIVE:
        return statement.loss
    if aim in _MATRIX:
        asked = f"{_MATRIX[aim]}, {statement.loss}"
    else:
        asked = f"{statement.loss} error, {statement.criterion.words}"
    return asked if statement.prior is None else f"{asked}; prior: {statement.prior}"


def _state(saved: SavedDesign) -> str:
    """Which ends of the certificate were computed again."""
    ends = _ends(saved)
    if len(ends) == 2:
        return "checked again"
    return "upper end computed again, lower end as claimed in the file" if ends else "bounds as claimed in the file"


def _ends(saved: SavedDesign) -> list[str]:
    if not saved.certificate.claimed:
        return ["lower", "upper"]
    return [] if saved.statement.criterion.aim is Aim.OBJECTIVE else ["upper"]


def _print_named(saved: SavedDesign) -> None:
    """Texts of the file that nothing decides, apart from what was checked."""
    for field in sorted(saved.statement.named & _CALLED.keys()):
        said = saved.problem[field]
        text = said if isinstance(said, str) else "; ".join(said)
        if text:
            output.console.print(
                f"  named in the file, not checked: {_CALLED[field]} is called {plot.printable(text)!r}", soft_wrap=True
            )
    if labels_of(saved) is not None:
        output.console.print("  named in the file, not checked: the labels of inputs and outputs", soft_wrap=True)


def _name(mechanism: Mechanism | Product) -> str:
    return mechanism.name if mechanism.name in _NAMES else f"{plot.printable(mechanism.name)!r} (named in the file)"


def _losses(mechanism: Mechanism, saved: SavedDesign) -> list[Power]:
    """Absolute, squared, and the one that was asked about."""
    if isinstance(mechanism, Discrete):  # its inputs and outputs are rows and columns, distances mean nothing
        return []
    period = mechanism.outputs.period if isinstance(mechanism.outputs, Circle) else None
    losses = [Absolute(period), Squared(period)]
    try:
        asked = parse_loss(str(saved.problem.get("loss")).removeprefix("circular "), period)
    except InvalidInput:
        return losses
    return losses if asked in losses else [*losses, asked]


def _errors(mechanism: Mechanism, saved: SavedDesign) -> list[dict[str, Any]]:
    return [
        {
            "mechanism": _name(mechanism),
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
        "checked": _checked(saved),
    } | certified.prior_fields(certified.least_favourable(saved.certificate))


def _checked(saved: SavedDesign) -> dict[str, Any]:
    """What the evidence decides, and which fields of the problem it does not."""
    statement = saved.statement
    return {
        "criterion": statement.criterion.words,
        "loss": statement.loss,
        "scope": statement.scope,
        "prior": statement.prior,
        "ends": _ends(saved),
        "not_checked": [*sorted(statement.named), "report"],
    }


def _fields(parts: tuple[Mechanism, ...]) -> dict[str, Any]:
    if len(parts) > 1:
        return {}
    return output.piecewise_fields(parts[0]) or certified.mechanism_fields(parts[0])


def _print_mechanism(mechanism: Mechanism, prior: Atoms | None, labels: Labels | None) -> None:
    domain = mechanism.inputs
    output.console.print(f"{_name(mechanism)}: {domain} -> {mechanism.outputs}, eps = {mechanism.epsilon:g}\n")
    if isinstance(mechanism, Piecewise):
        output.print_pieces(mechanism)
    else:
        certified.print_mechanism(mechanism, prior, labels)
