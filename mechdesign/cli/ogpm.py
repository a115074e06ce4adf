"""The optimal piecewise mechanism (OGPM) for a loss, with its certificate and a comparison."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign.cli import output
from mechdesign.cli.given import refuse_given
from mechdesign.cli.looks import save_picture
from mechdesign.cli.options import (
    AsJson,
    Circular,
    DomainText,
    Eps,
    Force,
    LossOrDefault,
    OutFile,
    PlotFile,
    Quiet,
    TimeLimit,
    parse_domain,
    parse_interval,
)
from mechdesign.design import (
    Design,
    Floor,
    PiecewiseProblem,
    PolarProblem,
    UnbiasedPiecewiseProblem,
    floor_of,
    optimal_piecewise,
    optimal_polar,
    optimal_unbiased_piecewise,
)
from mechdesign.domains import Circle, Interval
from mechdesign.errors import InvalidInput
from mechdesign.losses import Power, parse_loss
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.values.digits import rounded_down, rounded_up


def run(
    context: typer.Context,
    eps: Eps,
    loss: LossOrDefault = None,
    domain: DomainText = None,
    outputs: Annotated[
        str | None, typer.Option("--outputs", help="Outputs, as LO,HI (the inputs unless given).", metavar="LO,HI")
    ] = None,
    circular: Circular = False,
    polar: Annotated[bool, typer.Option("--polar", help="Distance (--domain) and angle, eps split optimally.")] = False,
    pieces: Annotated[int | None, typer.Option("--pieces", help="Most pieces m (free unless given).")] = None,
    method: Annotated[str, typer.Option("--method", help="reduction or scip.")] = "reduction",
    unbiased: Annotated[bool, typer.Option("--unbiased", help="Unbiased, least worst-case variance.")] = False,
    at: Annotated[float | None, typer.Option("--at", help="Minimise the error at this input only.")] = None,
    time_limit: TimeLimit = 120.0,
    plot_file: PlotFile = None,
    out: OutFile = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(out, plot_file, force=force)
    _require_compatible(time_limit, circular=circular, polar=polar, unbiased=unbiased, method=method)
    if polar or unbiased:
        step = "they belong to a search over pieces"
        refuse_given(context, ("at", "pieces", "method"), "be left out with --polar and --unbiased", step)
    if outputs is not None and (circular or polar or unbiased):
        raise InvalidInput("outputs", outputs, "be left out with --circular, --polar and --unbiased")
    if polar:
        design = _polar(eps, "absolute" if loss is None else loss, domain)
    elif unbiased:
        design = _unbiased(eps, "squared" if loss is None else loss, domain)
    else:
        inputs = parse_domain(domain, circular=circular)
        period = inputs.period if isinstance(inputs, Circle) else None
        wider = None if outputs is None else parse_interval(outputs, "outputs")
        cost = parse_loss("absolute" if loss is None else loss, period)
        problem = PiecewiseProblem(eps, cost, inputs, wider, at, pieces)
        design = _solve(problem, method, time_limit, quiet=quiet)
    _deliver(design, out=out, plot_file=plot_file, as_json=as_json, force=force)


def _require_compatible(time_limit: float, *, circular: bool, polar: bool, unbiased: bool, method: str) -> None:
    if not (math.isfinite(time_limit) and time_limit > 0):
        raise InvalidInput("time limit", time_limit, "be a finite number of seconds above 0")
    if method not in ("reduction", "scip"):
        raise InvalidInput("method", method, "be reduction or scip")
    if circular + polar + unbiased > 1:
        raise InvalidInput("options", "--circular, --polar, --unbiased", "be given at most one at a time")


def _solve(problem: PiecewiseProblem, method: str, time_limit: float, *, quiet: bool) -> Design:
    if method == "reduction":
        return optimal_piecewise(problem)
    from mechdesign.design.piecewise.program import search_pieces

    with output.progress("global search over pieces (SCIP)", quiet=quiet):
        return search_pieces(problem, time_limit)


def _polar(eps: float, loss: str, domain: str | None) -> Design:
    distances = Interval(0.0, 1.0) if domain is None else parse_interval(domain, "domain")
    return optimal_polar(PolarProblem(eps, parse_loss(loss).exponent, distances))


def _unbiased(eps: float, loss: str, domain: str | None) -> Design:
    power = parse_loss(loss)
    if power != Power(2.0):
        raise InvalidInput("loss", loss, "be squared with --unbiased: the error is a variance", "add --loss squared")
    inputs = parse_domain(domain, circular=False)
    assert isinstance(inputs, Interval)
    return optimal_unbiased_piecewise(UnbiasedPiecewiseProblem(eps, inputs))


def _deliver(design: Design, *, out: Path | None, plot_file: Path | None, as_json: bool, force: bool) -> None:
    mechanism = design.mechanism
    comparison = [] if isinstance(mechanism, Product) else _comparison(design)
    floor = _floor(design)
    if plot_file is not None:
        save_picture(output.density_figure(mechanism), plot_file, overwrite=force)
    if out is not None:
        design.save(out, overwrite=force)
    if as_json:
        output.print_json(_document(design, floor, comparison))
    else:
        _print(design, floor, comparison)
        for path in (out, plot_file):
            if path is not None:
                output.say_saved(path)


def _loss_of(design: Design) -> Power:
    problem = design.problem
    assert isinstance(problem, PiecewiseProblem | UnbiasedPiecewiseProblem)
    assert isinstance(problem.loss, Power)
    return problem.loss


def _floor(design: Design) -> Floor | None:
    problem = design.problem
    if not isinstance(problem, PiecewiseProblem) or problem.at is not None:
        return None
    return floor_of(problem.epsilon, _loss_of(design), problem.inputs)


def _comparison(design: Design) -> list[dict[str, Any]]:
    """Errors of this design and of the catalogue, best first; among unbiased mechanisms if the design is one."""
    mechanism, loss = design.mechanism, _loss_of(design)
    assert not isinstance(mechanism, Product)
    rivals: dict[str, Mechanism] = {"this design": mechanism}
    eps, domain = mechanism.epsilon, mechanism.inputs
    if isinstance(domain, Circle):
        flat = Interval(0.0, domain.period)
        rivals |= {entry.key: entry.build(eps, domain, loss) for entry in catalogue.ON_CIRCLES}
        rivals |= {f"{key} (flattened)": catalogue.build(key, eps, flat) for key in ("pm-c", "sw-c")}
    elif isinstance(domain, Interval):
        unbiased = isinstance(design.problem, UnbiasedPiecewiseProblem)
        entries = [entry for entry in catalogue.ON_INTERVALS if entry.unbiased or not unbiased]
        rivals |= {entry.key: entry.build(eps, domain, loss) for entry in entries}
    at = _at(design)
    rows = [_row(name, rival, loss, at) for name, rival in rivals.items()]
    return sorted(rows, key=lambda row: (row["worst"] if at is None else row["at"], row["average"]))


def _row(name: str, mechanism: Mechanism, loss: Power, at: float | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": name,
        "worst": mechanism.worst_case(loss)[0],
        "average": mechanism.average_loss(loss),
    }
    return row if at is None else row | {"at": float(mechanism.expected_loss(at, loss))}


def _at(design: Design) -> float | None:
    return design.problem.at if isinstance(design.problem, PiecewiseProblem) else None


def _document(design: Design, floor: Floor | None, comparison: list[dict[str, Any]]) -> dict[str, Any]:
    document = design.to_dict()
    mechanism = design.mechanism
    if isinstance(mechanism, Product):
        document["mechanism"]["epsilons"] = [part.epsilon for part in mechanism.parts]
        for fields, part in zip(document["mechanism"]["parts"], mechanism.parts, strict=True):
            fields |= output.piecewise_fields(part)
    else:
        document["mechanism"] |= output.piecewise_fields(mechanism)
    if floor is not None:
        document["floor"] = {
            "lower": floor.lower,
            "upper": floor.upper,
            "bound": floor.bound,
            "attained_by": floor.attained_by,
        }
    if comparison:
        document["comparison"] = comparison
    return document


def _print(design: Design, floor: Floor | None, comparison: list[dict[str, Any]]) -> None:
    mechanism, certificate = design.mechanism, design.certificate
    if isinstance(mechanism, Product):
        _print_polar(design, mechanism)
        return
    assert isinstance(mechanism, Piecewise)
    loss = _loss_of(design)
    output.console.print(
        f"OGPM for {mechanism.inputs} -> {mechanism.outputs}, eps = {mechanism.epsilon:g}, {loss.name} error\n"
        f"{_heights(mechanism)}\n",
        soft_wrap=True,
    )
    output.print_pieces(mechanism)
    output.print_certificate(certificate, _what(design), mechanism)
    _print_pieces_needed(design)
    if floor is not None:
        _print_floor(floor, certificate.upper, loss)
    output.console.print()
    _print_comparison(comparison, loss, _at(design))


def _heights(mechanism: Piecewise) -> str:
    if mechanism.high == mechanism.low:
        return f"the uniform density {mechanism.low:.6g} for every input"
    return f"density p = {mechanism.high:.6g} on a window of width {mechanism.width:.6g}, {mechanism.low:.6g} elsewhere"


def _print_pieces_needed(design: Design) -> None:
    details = design.report.details
    if "optimum_for_any_number_of_pieces" not in details:
        return
    if isinstance(design.problem, PiecewiseProblem) and design.problem.pieces == 1:
        best = details["optimum_for_any_number_of_pieces"]
        output.console.print(f"  pieces: 3 would bring it down to {best:.6g}, the optimum for any number")
    else:
        output.console.print("  pieces: 3 are enough, and for these outputs no number of pieces does better")


def _print_comparison(comparison: list[dict[str, Any]], loss: Power, at: float | None) -> None:
    criterion = "worst" if at is None else "at"
    ours = next(row[criterion] for row in comparison if row["name"] == "this design")
    headings = ["mechanism", "worst case", "average"] + ([] if at is None else [f"at x = {at:g}"]) + ["vs this"]
    table = []
    for row in comparison:
        relative = round(100 * (row[criterion] / ours - 1), 1) + 0.0
        values = [row["worst"], row["average"]] + ([] if at is None else [row["at"]])
        table.append([row["name"], *(output.number(value) for value in values), f"{relative:+.1f}%"])
    output.print_table(f"Expected {loss.name} error over the inputs", headings, table)


def _what(design: Design) -> str:
    problem = design.problem
    if isinstance(problem, UnbiasedPiecewiseProblem):
        return "worst-case variance"
    if isinstance(problem, PiecewiseProblem) and problem.at is not None:
        return f"error at x = {problem.at:g}"
    return "worst-case error"


def _print_floor(floor: Floor, ours: float, loss: Power) -> None:
    if floor.bound == "rotation averaging" and ours <= floor.upper * (1 + 1e-9):
        output.console.print("  no mechanism of any kind does better: on the circle this is the global optimum")
        return
    most, least = (100 * (1 - end / ours) if ours > 0 else 0.0 for end in (floor.lower, floor.upper))
    share = f"{least:.1f}%" if f"{least:.1f}" == f"{most:.1f}" else f"{least:.1f}% to {most:.1f}%"
    basis = output.floor_basis(floor, loss)
    ends = f"[{rounded_down(floor.lower, 6)}, {rounded_up(floor.upper, 6)}]"
    output.console.print(
        f"  optimum over all mechanisms: in {ends}, {share} below this\n"
        f"    ({basis} by the {floor.bound} bound; attained by {floor.attained_by})",
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
    output.print_certificate(design.certificate, "worst-case error, sum of both", mechanism)
