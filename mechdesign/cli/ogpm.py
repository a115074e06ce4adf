"""The optimal piecewise mechanism (OGPM) for a loss, with its certificate and a comparison.

It is for single reports. For a mean of many reports ask: advise --want mean
"""

from __future__ import annotations

from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.given import refuse_given
from mechdesign.cli.options import Circular, NoCompare, parse_domain, parse_interval, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror, completion
from mechdesign.errors import InvalidInput
from mechdesign.field import Field, Rank, field_of
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.methods.floor import Floor, floor_of
from mechdesign.methods.piecewise.problem import PiecewiseProblem
from mechdesign.methods.piecewise.search import optimal_piecewise
from mechdesign.methods.polar.problem import PolarProblem
from mechdesign.methods.polar.search import optimal_polar
from mechdesign.methods.result import Design
from mechdesign.methods.summary import certificate_words, mechanism_words
from mechdesign.methods.words import headline, measure, other_goal, power_of
from mechdesign.plot.designs import density_figure
from mechdesign.studies import designed
from mechdesign.studies.designed import Beside, Designed
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.words.classes import UnbiasedPiecewise
from mechdesign.words.domains import Circle, Interval
from mechdesign.words.losses import Power, parse_loss
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem


@frozen
class Below:
    """What any mechanism at all could do."""

    floor: Floor | None = output.if_shown()


ANSWERS = ((Designed, Beside, Below),)
_METHODS = ("reduction", "scip")
EXAMPLE = "ogpm --eps 2"


def run(
    context: typer.Context,
    asked: Annotated[Asked, Mirror(PiecewiseProblem)],
    sent: Sent,
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
    if circular + polar + unbiased > 1:
        raise InvalidInput("options", "--circular, --polar, --unbiased", "be given at most one at a time")
    if polar or unbiased:
        step = "they belong to a search over pieces"
        refuse_given(context, ("at", "pieces", "method"), "be left out with --polar and --unbiased", step)
    if asked["outputs"] is not None and (circular or polar or unbiased):
        raise InvalidInput("outputs", asked["outputs"], "be left out with --circular, --polar and --unbiased")
    if polar:
        design = _polar(asked)
    elif unbiased:
        design = _unbiased(asked)
    else:
        design = _solve(_problem(asked, circular=circular), method, time_limit, quiet=sent.quiet)
    _deliver(design, sent, compare=not no_compare and sent.shows_field)


def _problem(asked: Asked, *, circular: bool) -> PiecewiseProblem:
    inputs = parse_domain(asked["inputs"], circular=circular)
    outputs = None if asked["outputs"] is None else parse_interval(asked["outputs"], "outputs")
    cost = parse_loss(asked.text("loss", "absolute"), inputs.period if isinstance(inputs, Circle) else None)
    return asked.of(PiecewiseProblem, loss=cost, inputs=inputs, outputs=outputs)


def _solve(problem: PiecewiseProblem, method: str, time_limit: float, *, quiet: bool) -> Design:
    from mechdesign.methods.piecewise.program import search_pieces

    if method == "reduction":
        return optimal_piecewise(problem)
    with output.progress("global search over pieces (SCIP)", quiet=quiet):
        return search_pieces(problem, time_limit)


def _polar(asked: Asked) -> Design:
    distances = Interval(0.0, 1.0) if asked["inputs"] is None else parse_interval(asked["inputs"], "domain")
    loss = parse_loss(asked.text("loss", "absolute"))
    return optimal_polar(PolarProblem(asked["epsilon"], loss.exponent, distances))


def _unbiased(asked: Asked) -> Design:
    from mechdesign.methods.registry import solve

    if parse_loss(asked.text("loss", "squared")) != Power(2.0):
        rule = "be squared with --unbiased: the error is a variance"
        raise InvalidInput("loss", asked["loss"], rule, "add --loss squared")
    inputs = parse_domain(asked["inputs"], circular=False)
    assert isinstance(inputs, Interval)
    privacy, among = Pure(asked["epsilon"]), UnbiasedPiecewise()
    return solve(Problem(inputs=inputs, loss=Power(2.0), privacy=privacy, among=among))


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
    if not isinstance(problem, PiecewiseProblem) or problem.at is not None:
        return None
    assert loss is not None
    return floor_of(problem.epsilon, loss, problem.inputs)


def _print(design: Design, floor: Floor | None, field: Field | None) -> None:
    mechanism, certificate = design.mechanism, design.certificate
    if isinstance(mechanism, Product):
        _print_polar(design, mechanism)
        return
    assert isinstance(mechanism, Piecewise)
    output.console.print(
        f"OGPM for {mechanism.inputs} -> {mechanism.outputs}, eps = {mechanism.epsilon:g}, {measure(design.problem)}\n"
        f"{mechanism_words(mechanism)}\n",
        soft_wrap=True,
    )
    output.show_all(designed.pieces_lines(mechanism))
    output.show(certificate_words(certificate, headline(design.problem), mechanism))
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
    if isinstance(design.problem, PiecewiseProblem) and design.problem.pieces == 1:
        best = details["optimum_for_any_number_of_pieces"]
        output.console.print(f"  pieces: 3 would bring it down to {best:.6g}, the optimum for any number")
    else:
        output.console.print("  pieces: 3 are enough, and for these outputs no number of pieces does better")


def _print_field(field: Field, design: Design) -> None:
    at = design.problem.at if isinstance(design.problem, PiecewiseProblem) else None
    headings = ["mechanism", "worst case", "average"] + ([] if at is None else [f"at x = {at:g}"]) + ["vs this"]
    lines = []
    for row in field.rows:
        values = [row.by(Rank.WORST), row.by(Rank.AVERAGE)] + ([] if row.at is None else [row.at])
        relative = round(row.above_optimum or 0.0, 1) + 0.0
        lines.append([row.name, *map(output.number, values), f"{relative:+.1f}%"])
    output.print_table(f"Expected {measure(design.problem)} over the inputs", headings, lines)


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
    output.show(certificate_words(design.certificate, headline(design.problem), mechanism))
