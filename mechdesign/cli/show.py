"""A saved design: its mechanism, errors and certificate, checked again, and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from mechdesign import plot
from mechdesign.cli import certified, jrr, jrr_hidden, output
from mechdesign.cli.certified import Beside, Designed, Pieces, pieces_of
from mechdesign.cli.sent import Drawn
from mechdesign.criteria import Aim
from mechdesign.design import Design, FiniteProblem, PairwiseProblem, load_design
from mechdesign.design.convex import TableProblem
from mechdesign.design.evidence import Problem
from mechdesign.design.hidden_joint import HiddenJointProblem
from mechdesign.design.joint import JointProblem
from mechdesign.design.words import Labels, asked, labels_of, loss_of, power_of, prior_of, protected
from mechdesign.domains import Circle
from mechdesign.losses import Absolute, Power, Squared
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.plot.designs import least_favourable
from mechdesign.priors import Atoms
from mechdesign.values.declare import frozen

DESIGNED = {
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


@frozen
class Errors:
    """The expected loss of a mechanism over the inputs."""

    mechanism: str
    loss: str
    worst: float
    worst_at: float
    average: float


@frozen
class Checked:
    """What the evidence decides, which ends of the certificate follow from it, and which texts nothing decides."""

    criterion: str
    loss: str
    scope: str
    prior: str | None
    ends: tuple[Literal["lower", "upper"], ...]
    not_checked: tuple[str, ...]


@frozen
class Shown:
    """What `show` says beside a design."""

    errors: tuple[Errors, ...]
    pieces: tuple[tuple[Pieces, ...], ...]
    checked: Checked


ANSWERS = ((Designed, Beside, Shown), *jrr.ANSWERS)
EXAMPLE = """\
ogpm --eps 2 --out design.json
show design.json"""


def run(
    file: Annotated[Path, typer.Argument(help="A file written with --out.", metavar="FILE")],
    sent: Drawn,
) -> None:
    sent.require_writable()
    with output.progress("checking the certificate", quiet=sent.quiet):
        design = load_design(file)
    if sent.plot is not None:
        sent.draw(plot.of(design))
    if isinstance(design.problem, JointProblem):
        jrr.show(design, sent)
        return
    if isinstance(design.problem, HiddenJointProblem):
        jrr_hidden.show(design, sent)
        return
    mechanism = design.own_law
    parts = mechanism.parts if isinstance(mechanism, Product) else (cast(ScalarMechanism, mechanism),)
    errors = tuple(row for part in parts for row in _errors(part, design.problem))
    prior = least_favourable(design)
    if sent.as_json:
        pieces = tuple(pieces_of(part) for part in parts if isinstance(part, Piecewise))
        output.print_json(Designed.of(design), Beside(prior), Shown(errors, pieces, _checked(design)))
        return
    for part in parts:
        _print_mechanism(part, prior, labels_of(design.problem), _said(design, part))
    rows = [[row.mechanism, row.loss, output.number(row.worst), output.number(row.average)] for row in errors]
    if rows:
        output.print_table("Expected errors", ["mechanism", "loss", "worst case", "average (uniform)"], rows, left=2)
        output.console.print()
    about = f"certificate ({plot.printable(asked(design.problem))}; {_state(design)})"
    output.print_certificate(design.certificate, about, mechanism)
    if certified.is_certified_optimum(mechanism):
        output.print_gap(design.certificate)
    for text in _named(design.problem).values():
        output.console.print(f"  named in the file, not checked: {text}", soft_wrap=True)
    sent.say_saved()


def _state(design: Design) -> str:
    """Which ends of the certificate were computed again."""
    ends = _ends(design)
    if len(ends) == 2:
        return "checked again"
    return "upper end computed again, lower end as claimed in the file" if ends else "bounds as claimed in the file"


def _ends(design: Design) -> tuple[Literal["lower", "upper"], ...]:
    if not design.certificate.claimed:
        return "lower", "upper"
    return () if design.problem.criterion.aim is Aim.OBJECTIVE else ("upper",)


def _checked(design: Design) -> Checked:
    problem = design.problem
    said = problem.criterion.words, loss_of(problem), design.certificate.valid_for, prior_of(problem)
    return Checked(*said, _ends(design), (*_named(problem), "report"))


def _named(problem: Problem) -> dict[str, str]:
    """Texts of a problem that nothing decides: labels, and what functions are called."""
    named = {}
    match problem:
        case TableProblem(objective=objective, constraints=constraints):
            if constraints:
                named["constraints"] = f"the constraints is called {plot.printable('; '.join(constraints))!r}"
            named["objective"] = f"the objective is called {plot.printable(objective)!r}"
        case FiniteProblem() | PairwiseProblem():
            sides = {"input_labels": problem.input_labels, "output_labels": problem.output_labels}
            text = "the labels of inputs and outputs"
            named |= dict.fromkeys((side for side, labels in sides.items() if labels is not None), text)
    return named


def _name(mechanism: Mechanism) -> str:
    return mechanism.name if mechanism.name in DESIGNED else f"{plot.printable(mechanism.name)!r} (named in the file)"


def _losses(mechanism: ScalarMechanism, problem: Problem) -> list[Power]:
    """Absolute, squared, and the one that was asked about."""
    if isinstance(mechanism, Discrete):  # its inputs and outputs are rows and columns, distances mean nothing
        return []
    period = mechanism.outputs.period if isinstance(mechanism.outputs, Circle) else None
    about = power_of(problem)
    return list(dict.fromkeys([Absolute(period), Squared(period), *([] if about is None else [about])]))


def _errors(mechanism: ScalarMechanism, problem: Problem) -> list[Errors]:
    rows = []
    for loss in _losses(mechanism, problem):
        worst, place = mechanism.worst_case(loss)
        rows.append(Errors(_name(mechanism), loss.name, worst, place, mechanism.average_loss(loss)))
    return rows


def _print_mechanism(mechanism: Mechanism, prior: Atoms | None, labels: Labels | None, said: str) -> None:
    domain = mechanism.inputs
    output.console.print(f"{_name(mechanism)}: {domain} -> {mechanism.outputs}, {said}\n", soft_wrap=True)
    if isinstance(mechanism, Piecewise):
        certified.print_pieces(mechanism)
    else:
        certified.print_mechanism(mechanism, prior, labels)


def _said(design: Design, part: Mechanism) -> str:
    """The epsilon of a part, or that every pair has its own."""
    return protected(design.problem) if isinstance(design.problem, PairwiseProblem) else f"eps = {part.epsilon:g}"
