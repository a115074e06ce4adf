"""How certified optima leave `minimax`: one, several over epsilon, or the trade-off of worst case and average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mechdesign import plot
from mechdesign.cli import certified, output
from mechdesign.cli.looks import save_picture
from mechdesign.cli.question import LEXICOGRAPHIC, THIS, Asked, Question
from mechdesign.design import Design
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.product import Product
from mechdesign.values.digits import rounded_down, rounded_up

Row = dict[str, Any]


def one(asked: Asked, epsilon: float, seconds: float, delivery: output.Delivery) -> None:
    """One certified optimum: certificate, mechanism, and the field."""
    with output.progress(f"certified optimum at eps = {epsilon:g}", quiet=delivery.quiet):
        design = next(asked.answers([epsilon], seconds, best_so_far=delivery.best_so_far))
        comparison = asked.comparison(design)
    mechanism = design.mechanism
    assert not isinstance(mechanism, Product)
    _warn_where_open([design])
    if delivery.plot is not None:
        criterion = str(design.problem.to_dict()["criterion"])
        figure = certified.figure(mechanism, design.certificate, asked.loss, criterion, asked.labels)
        save_picture(figure, delivery.plot, overwrite=delivery.force)
    if delivery.out is not None:
        design.save(delivery.out, overwrite=delivery.force)
    if delivery.as_json:
        output.print_json(certified.document(design) | {"comparison": comparison})
        return
    output.console.print(
        f"{_kind(design)} for {asked.subject}, eps = {mechanism.epsilon:g}: {asked.headline}\n", soft_wrap=True
    )
    output.print_certificate(design.certificate, asked.headline, mechanism)
    output.print_gap(design.certificate)
    certified.print_mechanism(mechanism, certified.least_favourable(design.certificate), asked.labels)
    rows = [
        [row["name"], output.number(row["worst"]), output.number(row["average"]), _excess(row)] for row in comparison
    ]
    output.print_table(f"Expected {asked.measure}", ["mechanism", "worst case", "average", asked.excess], rows)
    delivery.say_saved()


def _excess(row: Row) -> str:
    return output.above(row["above_optimum"]) if row.get("keeps_cap", True) else "breaks the cap"


def sweep(asked: Asked, epsilons: list[float], seconds: float, delivery: output.Delivery) -> None:
    """One certified optimum an epsilon, against the best published mechanism there."""
    designs: list[Design] = []
    with output.progress("certified optima", quiet=delivery.quiet) as say:
        for design in asked.answers(epsilons, seconds, best_so_far=delivery.best_so_far):
            designs.append(design)
            say(f"certified optima: {len(designs)} of {len(epsilons)}, up to eps = {design.problem.epsilon:g}")
        comparisons = [asked.comparison(design) for design in designs]
    _warn_where_open(designs)
    if delivery.plot is not None:
        save_picture(_picture(asked, designs, comparisons), delivery.plot, overwrite=delivery.force)
    if delivery.structure is not None:
        save_picture(_structure(asked, designs), delivery.structure, overwrite=delivery.force)
    if delivery.as_json:
        rows = [
            certified.document(design) | {"comparison": comparison}
            for design, comparison in zip(designs, comparisons, strict=True)
        ]
        output.print_json({"problem": _asked(designs, epsilons), "designs": rows})
        return
    output.console.print(
        f"{_kinds(designs)} for {asked.subject}: {asked.headline}\n"
        f"  optimum over {_scopes(designs)}, {_basis(designs)}\n",
        soft_wrap=True,
    )
    _print(asked, designs, comparisons)
    delivery.say_saved()


def _open(designs: Sequence[Design]) -> list[Design]:
    """Those that a limit stopped before their gap."""
    return [design for design in designs if "stopped" in design.report.details]


def _kind(design: Design) -> str:
    if _open([design]):
        return "best design so far"
    return "claimed optimum" if design.certificate.claimed else "certified optimum"


def _kinds(designs: Sequence[Design]) -> str:
    return "best designs so far" if _open(designs) else "certified optima"


def _warn_where_open(designs: Sequence[Design]) -> None:
    for design in _open(designs):
        certificate, problem = design.certificate, design.problem
        asked = problem.to_dict().get("gap")
        basis = "claimed" if certificate.claimed else "proven"
        output.warn(
            f"{design.report.details['stopped']} at eps = {problem.epsilon:g}: the best design so far, "
            f"{basis} to within a relative gap of {output.gap_text(certificate)} (asked for: {asked:g})"
        )


def _asked(designs: list[Design], epsilons: list[float]) -> Row:
    """The problem the designs share."""
    problem = dict(designs[0].problem.to_dict())
    problem.pop("epsilon", None)
    return problem | {"epsilons": epsilons}


def _scopes(designs: list[Design]) -> str:
    """The class the designs are best in, said once where only the cap depends on epsilon."""
    scopes = list(dict.fromkeys(design.certificate.valid_for for design in designs))
    words = list(zip(*(scope.split() for scope in scopes), strict=False))
    differing = [k for k, word in enumerate(words) if len(set(word)) > 1]
    alike = len({len(scope.split()) for scope in scopes}) == 1
    if alike and len(differing) == 1 and words[differing[0] - 1][0] in ("most", "<="):
        place = differing[0]
        comma = "," if words[place][0].endswith(",") else ""
        said = [word[0] for word in words]
        return " ".join([*said[:place], f"the cap at each eps{comma}", *said[place + 1 :]])
    return " or ".join(scopes)


def _basis(designs: list[Design]) -> str:
    claimed = any(design.certificate.claimed for design in designs)
    return "claimed, not proven" if claimed else "proven in rational arithmetic"


def _print(asked: Asked, designs: list[Design], comparisons: list[list[Row]]) -> None:
    rows = []
    for design, comparison in zip(designs, comparisons, strict=True):
        certificate = design.certificate
        rival = next((row for row in comparison if row["name"] != THIS and row.get("keeps_cap", True)), None)
        best = ["", "", ""]
        if rival is not None:
            best = [rival["name"], output.number(rival[asked.ranks_by]), _excess(rival)]
        ends = [rounded_down(certificate.lower, 8), rounded_up(certificate.upper, 8)]
        worst = [output.number(_ours(comparison)["worst"])] if asked.criterion == LEXICOGRAPHIC else []
        rows.append([f"{design.problem.epsilon:.6g}", *ends, output.gap_text(certificate), *worst, *best])
    worst = ["our worst"] if asked.criterion == LEXICOGRAPHIC else []
    headings = ["eps", "lower", "upper", "gap", *worst, "best rival", f"its {asked.ranks_by}", asked.excess]
    title = "Bounds on the optimum" if _open(designs) else "Certified optimum"
    output.print_table(f"{title}, {asked.headline}", headings, rows)


def _picture(asked: Asked, designs: list[Design], comparisons: list[list[Row]]) -> Any:
    names = [name for name in _names(comparisons[0]) if all(name in _names(rows) for rows in comparisons)]
    field = {
        name: [next(row[asked.ranks_by] for row in rows if row["name"] == name) for rows in comparisons]
        for name in names
        if name != THIS
    }
    bounds = [(design.certificate.lower, design.certificate.upper) for design in designs]
    ours = [_ours(rows)[asked.ranks_by] for rows in comparisons]
    epsilons = [design.problem.epsilon for design in designs]
    if not all(math.isclose(high, value) for (_, high), value in zip(bounds, ours, strict=True)):
        bounds = [(value, value) for value in ours]  # the certificate bounds something else than rivals are ranked by
        title = f"worst-case {asked.measure} of the lexicographic optimum, {asked.subject}"
        return plot.sweep(epsilons, bounds, field, f"worst-case {asked.measure}", title, THIS)
    what = f"{'worst-case' if asked.ranks_by == 'worst' else 'average'} {asked.measure}"
    return plot.sweep(epsilons, bounds, field, what, f"{asked.headline}, {asked.subject}")


def _names(rows: list[Row]) -> list[str]:
    return [row["name"] for row in rows if row.get("keeps_cap", True)]


def _ours(rows: list[Row]) -> Row:
    return next(row for row in rows if row["name"] == THIS)


def _structure(asked: Asked, designs: list[Design]) -> Any:
    slices = []
    for design in designs:
        mechanism = design.mechanism
        if isinstance(mechanism, Product) or not certified.is_based(mechanism):
            raise InvalidInput("structure plot", mechanism.name, "be asked of mechanisms with a base measure")
        outputs = certified.gathered(mechanism.points, mechanism.base)
        slices.append(plot.Slice(design.problem.epsilon, outputs, certified.least_favourable(design.certificate)))
    return plot.structure(slices, f"Structure of the optimum: {asked.headline}, {asked.subject}")


# -- worst case against average ---------------------------------------------------------------------------------------


def pareto(question: Question, epsilon: float, count: int, seconds: float, delivery: output.Delivery) -> None:
    """The certified curve from the least worst case to the least average, and where the published mechanisms are."""
    with output.progress(f"certified trade-off, {count} points at eps = {epsilon:g}", quiet=delivery.quiet):
        designs = question.curve(epsilon, count, seconds, best_so_far=delivery.best_so_far)
        ours = [question.point(design) for design in designs]
        field = question.comparison(designs[0])
    _warn_where_open(designs)
    rivals = [row for row in field if row["name"] != THIS]
    for row in rivals:
        row["above_optimum"] = _above_curve(row, ours)
    rivals.sort(key=lambda row: row["above_optimum"])
    if delivery.plot is not None:
        places = {row["name"]: (row["worst"], row["average"]) for row in rivals}
        title = f"Worst case against average, {question.subject}, ε = {epsilon:g}"
        save_picture(plot.pareto(ours, places, question.loss, title), delivery.plot, overwrite=delivery.force)
    if delivery.as_json:
        rows = [
            certified.document(design) | {"worst": worst, "average": average}
            for design, (worst, average) in zip(designs, ours, strict=True)
        ]
        output.print_json({"problem": _asked(designs, [epsilon]), "designs": rows, "comparison": rivals})
        return
    kind = "trade-off so far" if _open(designs) else "certified trade-off"
    output.console.print(
        f"{kind} for {question.subject}, eps = {epsilon:g}: {question.loss.name} error\n"
        f"  least average under the prior for each worst case, over all mechanisms, {_basis(designs)}\n",
        soft_wrap=True,
    )
    _print_curve(designs, ours)
    lines = []
    for row in rivals:
        errors = [output.number(row["worst"]), output.number(row["average"])]
        lines.append([row["name"], *errors, output.above(row["above_optimum"], at_least=True)])
    title = "Published mechanisms, and their average above the curve at their worst case (at least)"
    output.console.print()
    output.print_table(title, ["mechanism", "worst case", "average", "above curve"], lines)
    delivery.say_saved()


def _print_curve(designs: list[Design], ours: list[tuple[float, float]]) -> None:
    rows = []
    for design, (worst, _) in zip(designs, ours, strict=True):
        certificate = design.certificate
        ends = [rounded_down(certificate.lower, 8), rounded_up(certificate.upper, 8)]
        rows.append([output.number(worst), *ends, output.gap_text(certificate)])
    headings = ["worst case", "average, lower", "average, upper", "gap"]
    output.print_table("The curve, from the least worst case to the least average", headings, rows, left=0)


def _above_curve(row: Row, curve: list[tuple[float, float]]) -> float:
    """Per cent by which an average is above that of a mixture of two designs with the same worst case, at least 0.

    The true curve is convex, so it lies below these mixtures, and no mechanism lies below the true curve.
    """
    worst, average = ([place[k] for place in curve] for k in (0, 1))
    best = float(np.interp(row["worst"], worst, np.minimum.accumulate(average)))
    return max(0.0, 100 * (float(row["average"]) / best - 1))
