"""A saved design: its mechanism, errors and certificate, checked again, and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.sent import Drawn, Sent
from mechdesign.errors import marked
from mechdesign.mechanisms.directions import DirectionResponse
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.hidden import HiddenResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.mutual_information import mutual_information
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.methods.result import Design
from mechdesign.methods.saved import load_design
from mechdesign.methods.summary import certificate_words, kind_of, name_of, worst_variance
from mechdesign.methods.words import asked, power_of
from mechdesign.plot.designs import least_favourable
from mechdesign.studies import designed, joint
from mechdesign.studies.designed import Beside, Designed, Pieces, pieces_of
from mechdesign.studies.joint import JointAnswer
from mechdesign.studies.joint_hidden import HiddenJoint
from mechdesign.values.answers import Answer
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.words.criteria import Total
from mechdesign.words.domains import Circle
from mechdesign.words.finite_losses import Distances, Matrix
from mechdesign.words.fits.words import Labels
from mechdesign.words.losses import Absolute, Power, Squared
from mechdesign.words.objectives import Formula
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem


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
class Information:
    """How much a report of a table tells about a uniform input, in nats; ``most`` is what its size and loss allow."""

    mechanism: str
    lower: float
    upper: float
    most: float


@frozen
class Shown:
    """What `show` says beside a design."""

    errors: tuple[Errors, ...]
    pieces: tuple[tuple[Pieces, ...], ...]
    checked: Checked
    mutual_information: tuple[Information, ...]


ANSWERS = ((Designed, Beside, Shown), *joint.ANSWERS)
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
    if isinstance(design.mechanism, JointResponse | HiddenResponse):
        _show_joint(design, sent)
        return
    mechanism = design.own_law
    parts = mechanism.parts if isinstance(mechanism, Product) else (cast(ScalarMechanism, mechanism),)
    errors = tuple(row for part in parts for row in _errors(_name(design, part), part, design.problem))
    told = tuple(_told(_name(design, part), part) for part in parts if isinstance(part, Discrete))
    prior = least_favourable(design)
    if sent.as_json:
        pieces = tuple(pieces_of(part) for part in parts if isinstance(part, Piecewise))
        beside = Beside(prior, worst_variance(design))
        output.print_json(Designed.of(design), beside, Shown(errors, pieces, _checked(design), told))
        return
    for part in parts:
        _print_mechanism(part, _called(design, part), prior, design.problem.words.labels, _said(design, part))
    rows = [[row.mechanism, row.loss, output.number(row.worst), output.number(row.average)] for row in errors]
    if rows:
        output.print_table("Expected errors", ["mechanism", "loss", "worst case", "average (uniform)"], rows, left=2)
        output.console.print()
    for one in told:
        ends = f"[{rounded_down(one.lower, 6)}, {rounded_up(one.upper, 6)}] nats, of at most {rounded_up(one.most, 6)}"
        output.console.print(f"what a report tells of a uniform input (mutual information): {ends}\n", soft_wrap=True)
    about = f"certificate ({plot.printable(asked(design.problem))}; {_state(design)})"
    output.show(certificate_words(design.certificate, about, mechanism))
    if designed.is_certified_optimum(mechanism):
        output.show_all(designed.gap_lines(design))
    for text in _named(design.problem).values():
        output.console.print(f"  named in the file, not checked: {text}", soft_wrap=True)
    sent.say_saved()


def _show_joint(design: Design, sent: Sent) -> None:
    """A joint response, as the command that made it says it."""
    again = "\nAll numbers were derived again from the file's problem and law"
    if isinstance(design.mechanism, HiddenResponse):
        found: Answer = HiddenJoint(design)
    else:
        found = JointAnswer.of(design)
        again += "; its lower bound is as claimed" if design.certificate.claimed else "; so was its lower bound"
    if sent.as_json:
        output.print_object(found.as_dict())
        return
    output.show_all((*found.shown(), f"{again}."))
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
    return () if isinstance(design.problem.criterion, Total) else ("upper",)


def _checked(design: Design) -> Checked:
    problem = design.problem
    said = problem.criterion.words, problem.words.loss, design.certificate.valid_for, problem.words.prior
    return Checked(*said, _ends(design), (*_named(problem), "name", "report"))


def _named(problem: Problem) -> dict[str, str]:
    """Texts of a problem that nothing decides: labels, and what functions are called."""
    named = {}
    match problem:
        case Problem(loss=Formula(objective=objective, constraints=constraints)):
            if constraints:
                named["constraints"] = f"the constraints is called {plot.printable('; '.join(constraints))!r}"
            named["objective"] = f"the objective is called {plot.printable(objective)!r}"
        case Problem(loss=Matrix() | Distances() as loss):
            sides = {"input_labels": loss.input_labels, "output_labels": loss.output_labels}
            text = "the labels of inputs and outputs"
            named |= dict.fromkeys((side for side, labels in sides.items() if labels is not None), text)
    return named


def _name(design: Design, part: Mechanism) -> str:
    """What problem, mechanism and evidence say a part is, whatever it is called in the file."""
    return name_of(design) if part is design.mechanism else f"{kind_of(part)} mechanism"


def _called(design: Design, part: Mechanism) -> str:
    """That, and the file's own name where it is another one."""
    from mechdesign.methods.registry import optimum_of

    is_own = part.name in (optimum_of(design), _name(design, part))
    return _name(design, part) + ("" if is_own else f", called {marked(part.name)}")


def _told(name: str, part: Discrete) -> Information:
    found = mutual_information(part)
    return Information(name, found.lower, found.upper, found.most)


def _losses(mechanism: ScalarMechanism, problem: Problem) -> list[Power]:
    """Absolute, squared, and the one that was asked about."""
    if isinstance(mechanism, Discrete | DirectionResponse):
        return []  # of rows and columns distances mean nothing; of directions the certificate says the only one
    period = mechanism.outputs.period if isinstance(mechanism.outputs, Circle) else None
    about = power_of(problem)
    asked = [] if about is None else [Power(about.exponent, period)]
    return list(dict.fromkeys([Absolute(period), Squared(period), *asked]))


def _errors(name: str, mechanism: ScalarMechanism, problem: Problem) -> list[Errors]:
    rows = []
    for loss in _losses(mechanism, problem):
        worst, place = mechanism.worst_case(loss)
        rows.append(Errors(name, loss.name, worst, place, mechanism.average_loss(loss)))
    return rows


def _print_mechanism(mechanism: Mechanism, name: str, prior: Atoms | None, labels: Labels | None, said: str) -> None:
    domain = mechanism.inputs
    output.console.print(f"{name}: {domain} -> {mechanism.outputs}, {said}\n", soft_wrap=True)
    if isinstance(mechanism, Piecewise):
        output.show_all(designed.pieces_lines(mechanism))
    else:
        output.show_all(designed.mechanism_lines(mechanism, prior, labels))


def _said(design: Design, part: Mechanism) -> str:
    """The epsilon of a part, or that every pair has its own."""
    return design.problem.words.privacy if part is design.mechanism else f"eps = {part.epsilon:g}"
