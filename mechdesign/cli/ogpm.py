"""The optimal piecewise mechanism (OGPM) for a loss, with its certificate and a comparison.

It is for single reports. For a mean of many reports ask: advise --want mean
"""

from __future__ import annotations

from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.options import (
    Circular,
    DomainText,
    LossText,
    NoCompare,
    parse_domain,
    parse_interval,
    require_time_limit,
)
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import completion
from mechdesign.errors import InvalidInput
from mechdesign.field import Field, Rank, field_of
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.methods.floor import Floor, floor_of
from mechdesign.methods.piecewise.supports import pieces_of
from mechdesign.methods.result import Design
from mechdesign.methods.summary import certificate_words, mechanism_words
from mechdesign.methods.words import other_goal, power_of
from mechdesign.plot.designs import density_figure
from mechdesign.studies import designed
from mechdesign.studies.designed import Beside, Designed
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.values.rules import left_out_with
from mechdesign.words.classes import Piecewise as PiecewiseClass, UnbiasedPiecewise
from mechdesign.words.criteria import At, Worst
from mechdesign.words.domains import Circle, Interval, Product as Coordinates
from mechdesign.words.losses import Power, parse_loss
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem


@frozen
class Below:
    """What any mechanism at all could do."""

    floor: Floor | None = output.if_shown()


_LOSS = "absolute"
_METHODS = {"reduction": "piecewise", "scip": "piecewise_program"}

ANSWERS = ((Designed, Beside, Below),)
EXAMPLE = "ogpm --eps 2"
RULES = (
    left_out_with("polar", "circular", "unbiased", why="give at most one of them"),
    left_out_with("unbiased", "circular", why="give at most one of them"),
    left_out_with("circular", "outputs", why="a circle is reported on the circle"),
    left_out_with("polar", "at", "pieces", "method", "outputs", why="they belong to a search over pieces"),
    left_out_with("unbiased", "at", "pieces", "method", "outputs", why="they belong to a search over pieces"),
)


def run(
    privacy: Pure,
    among: PiecewiseClass,
    sent: Sent,
    loss: LossText = None,
    domain: DomainText = None,
    at: Annotated[float | None, typer.Option("--at", help="Minimise the error at this input only.")] = None,
    circular: Circular = False,
    polar: Annotated[bool, typer.Option("--polar", help="Distance (--domain) and angle, eps split optimally.")] = False,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="reduction or scip.",
            autocompletion=completion(lambda: _METHODS),
        ),
    ] = "reduction",
    unbiased: Annotated[
        bool, typer.Option("--unbiased", help="Unbiased, least worst-case variance (--loss squared).")
    ] = False,
    no_compare: NoCompare = False,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Seconds --method scip may take.", metavar="S")
    ] = 120.0,
) -> None:
    sent.require_writable()
    require_time_limit(time_limit)
    if method not in _METHODS:
        raise InvalidInput("method", method, f"be {' or '.join(_METHODS)}")
    if polar:
        problem, answers = _polar(privacy, loss, domain), "polar"
    elif unbiased:
        problem, answers = _unbiased(privacy, loss, domain), "unbiased_piecewise"
    else:
        answers, criterion = _METHODS[method], Worst() if at is None else At(at)
        inputs, cost = parse_domain(domain, circular=circular), parse_loss(_LOSS if loss is None else loss)
        problem = Problem(inputs=inputs, loss=cost, privacy=privacy, criterion=criterion, among=among)
    design = _solve(problem, answers, time_limit, quiet=sent.quiet)
    _deliver(design, sent, compare=not no_compare and sent.shows_field)


def _polar(privacy: Pure, loss: str | None, domain: str | None) -> Problem:
    distances = Interval(0.0, 1.0) if domain is None else parse_interval(domain, "domain")
    inputs, cost = Coordinates((distances, Circle())), parse_loss(_LOSS if loss is None else loss)
    return Problem(inputs=inputs, loss=cost, privacy=privacy, among=PiecewiseClass())


def _unbiased(privacy: Pure, loss: str | None, domain: str | None) -> Problem:
    if parse_loss("squared" if loss is None else loss) != Power(2.0):
        rule = "be squared with --unbiased: the error is a variance"
        raise InvalidInput("loss", loss, rule, "add --loss squared")
    inputs = parse_domain(domain, circular=False)
    return Problem(inputs=inputs, loss=Power(2.0), privacy=privacy, among=UnbiasedPiecewise())


def _solve(problem: Problem, method: str, time_limit: float, *, quiet: bool) -> Design:
    from mechdesign.methods.registry import solve

    if method != _METHODS["scip"]:
        return solve(problem, method=method)
    with output.progress("global search over pieces (SCIP)", quiet=quiet):
        return solve(problem, time_limit, method=method)


def _deliver(design: Design, sent: Sent, *, compare: bool) -> None:
    field = field_of(design) if compare else None
    if field is not None and not field.rows:
        field = None
    floor = _floor(design)
    if sent.plot is not None:
        sent.draw(density_figure(design.own_law))
    sent.keep(design)
    if sent.as_json:
        output.print_json(Designed.of(design), Beside(comparison=None if field is None else field.rows), Below(floor))
        return
    _print(design, floor, field)
    way = other_goal(design.problem)
    if way is not None:
        output.show(f"\n{way}")
    sent.say_saved()


def _floor(design: Design) -> Floor | None:
    problem, loss = design.problem, power_of(design.problem)
    if not isinstance(problem.among, PiecewiseClass) or not isinstance(problem.criterion, Worst):
        return None
    if loss is None or not isinstance(problem.inputs, Interval | Circle):
        return None
    return floor_of(problem.epsilon, loss, problem.inputs)


def _print(design: Design, floor: Floor | None, field: Field | None) -> None:
    mechanism, certificate = design.mechanism, design.certificate
    if isinstance(mechanism, Product):
        _print_polar(design, mechanism)
        return
    assert isinstance(mechanism, Piecewise)
    output.console.print(
        f"OGPM for {mechanism.inputs} -> {mechanism.outputs}, eps = {mechanism.epsilon:g}, "
        f"{design.problem.words.measure}\n"
        f"{mechanism_words(mechanism)}\n",
        soft_wrap=True,
    )
    output.show_all(designed.pieces_lines(mechanism))
    output.show(certificate_words(certificate, design.problem.words.headline, mechanism))
    _print_pieces_needed(design)
    if floor is not None:
        _print_floor(floor, certificate.upper)
    if field is not None:
        output.console.print()
        _print_field(field, design)


def _print_pieces_needed(design: Design) -> None:
    details = design.report.details
    if "optimum_for_any_number_of_pieces" not in details:
        return
    if pieces_of(design.problem) == 1:
        best = details["optimum_for_any_number_of_pieces"]
        output.console.print(f"  pieces: 3 would bring it down to {best:.6g}, the optimum for any number")
    else:
        output.console.print("  pieces: 3 are enough, and for these outputs no number of pieces does better")


def _print_field(field: Field, design: Design) -> None:
    criterion = design.problem.criterion
    aimed = [f"at x = {criterion.x:g}"] if isinstance(criterion, At) else []
    headings = ["mechanism", "worst case", "average", *aimed, "vs this"]
    lines = []
    for row in field.rows:
        values = [row.by(Rank.WORST), row.by(Rank.AVERAGE)] + ([] if row.at is None else [row.at])
        relative = round(row.above_optimum or 0.0, 1) + 0.0
        lines.append([row.name, *map(output.number, values), f"{relative:+.1f}%"])
    output.print_table(f"Expected {design.problem.words.measure} over the inputs", headings, lines)


def _print_floor(floor: Floor, ours: float) -> None:
    if floor.bound == "rotation averaging" and ours <= floor.upper * (1 + 1e-9):
        output.console.print("  no mechanism of any kind does better: on the circle this is the global optimum")
        return
    most, least = (100 * (1 - end / ours) if ours > 0 else 0.0 for end in (floor.lower, floor.upper))
    share = f"{least:.1f}%" if f"{least:.1f}" == f"{most:.1f}" else f"{least:.1f}% to {most:.1f}%"
    ends = f"[{rounded_down(floor.lower, 6)}, {rounded_up(floor.upper, 6)}]"
    output.console.print(
        f"  optimum over all mechanisms: in {ends}, {share} below this\n"
        f"    ({output.floor_basis(floor)} by the {floor.bound} bound; attained by {floor.attained_by})",
        soft_wrap=True,
    )


def _print_polar(design: Design, mechanism: Product) -> None:
    distance, angle = mechanism.parts
    details = design.report.details
    output.console.print(f"OGPM for {mechanism.inputs}, eps = {mechanism.epsilon:g}\n", soft_wrap=True)
    rows = [
        ["distance", f"{distance.epsilon:.6g}", f"{details['error_distance']:.6g}"],
        ["angle", f"{angle.epsilon:.6g}", f"{details['error_angle']:.6g}"],
    ]
    output.print_table("Split of eps", ["coordinate", "eps", "worst-case error"], rows)
    for name, part in (("distance", distance), ("angle", angle)):
        if part.epsilon < 1e-3 * design.problem.epsilon:
            output.console.print(f"  at this eps the {name} is best reported (almost) at random")
    output.console.print()
    output.show(certificate_words(design.certificate, design.problem.words.headline, mechanism))
