"""How certified optima leave `minimax`: one, several over epsilon, or the trade-off of worst case and average."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mechdesign import plot
from mechdesign.cli import certified, output
from mechdesign.cli.certified import Beside, Designed, Several
from mechdesign.cli.sent import Sent
from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.field import THIS, Field, Rank, Row, field_of
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.methods.additive.problem import AdditiveProblem
from mechdesign.methods.minimax.supports import supports
from mechdesign.methods.result import Design, gap_asked, is_open
from mechdesign.methods.summary import gap_text, standing, worst_variance
from mechdesign.methods.unbiased.problem import UnbiasedProblem
from mechdesign.methods.words import (
    below,
    excess,
    heading,
    headline,
    is_lexicographic,
    labels_of,
    measure,
    other_goal,
    power_of,
    subject,
)
from mechdesign.plot.designs import gathered, is_based, least_favourable
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved, frozen
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RANKED_BY = {Rank.WORST: "worst case", Rank.AVERAGE: "average", Rank.AT: "error at that input"}
"""As the headings of columns have it."""

AnyProblem = UnbiasedProblem | AdditiveProblem | Problem


@frozen
class Sweep:
    """Several designs for one problem but for its epsilon."""

    problem: Mapping[str, Any]
    designs: Several = certified.designs(Beside)


@frozen
class OnCurve:
    """Where a design lies: its worst case, and the average its certificate attains."""

    worst: float
    average: float


@frozen
class Curve:
    """Designs from the least worst case to the least average, and where published mechanisms are."""

    problem: Mapping[str, Any]
    designs: Several = certified.designs(Beside, OnCurve)
    comparison: tuple[Row, ...] | None = output.if_shown()


# -- answers, and where they are not found in time --------------------------------------------------------------------


def solved(
    problem: AnyProblem, epsilons: Sequence[float], seconds: float, gap: float | None = None, *, best_so_far: bool
) -> Iterator[Design]:
    """Answers at several epsilons in ``seconds`` altogether, or `NoAnswer` that names the one where they ran out.

    With ``best_so_far`` each has an equal share of the time left, and the best design found in it stands for an answer.
    """
    from mechdesign.methods.minimax.search import minimax_sweep

    asked = [_at(problem, epsilon) for epsilon in epsilons]
    if isinstance(problem, Problem) and supports(problem) is None:
        answers = minimax_sweep(cast(list[Problem], asked), seconds, gap=gap, best_so_far=best_so_far)
    else:
        answers = _one_by_one(asked, seconds, gap, best_so_far=best_so_far)
    found = 0
    try:
        for design in answers:
            yield design
            found += 1
    except NoAnswer as stopped:
        raise with_options(stopped, f"at eps = {epsilons[found]:g}: {stopped.reason}") from None


def _at(problem: AnyProblem, epsilon: float) -> AnyProblem:
    """The same at another epsilon for all inputs."""
    if isinstance(problem, Problem):
        return evolved(problem, privacy=evolved(problem.privacy, epsilon=epsilon))
    return evolved(problem, epsilon=epsilon)


def _one_by_one(
    asked: Sequence[AnyProblem], seconds: float, gap: float | None, *, best_so_far: bool
) -> Iterator[Design]:
    from mechdesign.methods.registry import solve

    clock = Clock(seconds)
    for place, problem in enumerate(asked):
        own = clock.share(len(asked) - place if best_so_far else 1)
        try:
            yield solve(problem, own.left(), gap=gap)
        except NoAnswer as stopped:
            if not best_so_far or stopped.design is None:
                raise
            yield stopped.design


def with_options(stopped: NoAnswer, reason: str) -> NoAnswer:
    """The same error for another reason; where a design was found it says how to have it."""
    wider, design = stopped.gap_within_reach, stopped.design
    step = "allow more --time-limit"
    if design is not None:
        gap = "" if wider is None else f"--gap {wider:g}, or with "
        step = f"ask with {gap}--best-so-far for the design as it is"
    bounds = (stopped.lower, stopped.upper)
    return NoAnswer(reason, *bounds, claimed=stopped.claimed, design=design, next_step=step)


def _open(designs: Sequence[Design]) -> list[Design]:
    """Those that a limit stopped before their gap."""
    return [design for design in designs if is_open(design)]


def _warn_where_open(designs: Sequence[Design]) -> None:
    for design in _open(designs):
        certificate, problem = design.certificate, design.problem
        basis = "claimed" if certificate.claimed else "proven"
        reason = design.report.details.get("stopped", "the search ended")
        output.warn(
            f"{reason} at eps = {problem.epsilon:g}: the best design so far, {basis} to within a relative gap of "
            f"{gap_text(certificate)} (asked for: {gap_asked(design):g})"
        )


# -- one ---------------------------------------------------------------------------------------------------------------


def one(
    problem: AnyProblem,
    seconds: float,
    sent: Sent,
    own: Mapping[str, Mechanism],
    *,
    gap: float | None,
    best_so_far: bool,
    compare: bool,
) -> None:
    """One certified optimum: certificate, mechanism, and the field, with mechanisms of one's own in it."""
    with output.progress(f"certified optimum at eps = {problem.epsilon:g}", quiet=sent.quiet) as say:
        design = next(solved(problem, [problem.epsilon], seconds, gap, best_so_far=best_so_far))
        say("published mechanisms")
        field = field_of(design, own) if compare and sent.shows_field else None
    _warn_where_open([design])
    if sent.plot is not None:
        sent.draw(plot.of(design))
    sent.keep(design)
    prior = least_favourable(design)
    if sent.as_json:
        rows = None if field is None else field.rows
        output.print_json(Designed.of(design), Beside(prior, worst_variance(design), rows))
        return
    what = headline(problem)
    output.console.print(f"{standing(design)} for {heading(problem)}\n", soft_wrap=True)
    certified.print_certificate(design.certificate, what, design.own_law)
    certified.print_gap(design)
    certified.print_mechanism(design.own_law, prior, labels_of(problem))
    if field is not None:
        both = (Rank.WORST, Rank.AVERAGE)
        lines = [[row.name, *(output.number(row.by(rank)) for rank in both), _excess(row)] for row in field.rows]
        headings = ["mechanism", "worst case", "average", excess(problem)]
        title = f"Expected {measure(problem)}, ranked by the {_RANKED_BY[field.rank]}"
        output.print_table(title, headings, lines)
    output.say_other_goal(other_goal(problem))
    sent.say_saved()


def _excess(row: Row) -> str:
    return "breaks the cap" if row.keeps_cap is False else output.above(row.above_optimum)


# -- several -----------------------------------------------------------------------------------------------------------


def sweep(
    problem: AnyProblem,
    epsilons: list[float],
    seconds: float,
    sent: Sent,
    structure_plot: Path | None,
    *,
    gap: float | None,
    best_so_far: bool,
    compare: bool,
) -> None:
    """One certified optimum an epsilon, against the best published mechanism there."""
    designs: list[Design] = []
    with output.progress("certified optima", quiet=sent.quiet) as say:
        for design in solved(problem, epsilons, seconds, gap, best_so_far=best_so_far):
            designs.append(design)
            say(f"certified optima: {len(designs)} of {len(epsilons)}, up to eps = {design.problem.epsilon:g}")
        fields = [field_of(design) for design in designs] if compare else None
    _warn_where_open(designs)
    if sent.plot is not None:
        sent.draw(_picture(designs, [field_of(design) for design in designs] if fields is None else fields))
    if structure_plot is not None:
        sent.draw(_structure(designs), structure_plot)
    if sent.as_json:
        rows = []
        for k, design in enumerate(designs):
            ranked = None if fields is None else fields[k].rows
            beside = Beside(least_favourable(design), worst_variance(design), ranked)
            rows.append(output.merged(Designed.of(design), beside))
        output.print_json(Sweep(_shared(designs, epsilons), tuple(rows)))
        return
    output.console.print(
        f"{'best designs so far' if _open(designs) else 'certified optima'} for {subject(problem)}: "
        f"{headline(problem)}{below(problem)}\n  optimum over {_scopes(designs)}, {_basis(designs)}\n",
        soft_wrap=True,
    )
    _print(designs, fields)
    sent.say_saved(structure_plot)


def _shared(designs: list[Design], epsilons: list[float]) -> dict[str, Any]:
    """The problem the designs share."""
    problem = output.merged(designs[0].problem)
    del problem["privacy" if isinstance(designs[0].problem, Problem) else "epsilon"]
    return problem | {"epsilons": epsilons}


def _scopes(designs: list[Design]) -> str:
    """The class the designs are best in, said once where only the cap depends on epsilon."""
    scopes = [design.certificate.scope for design in designs]
    words = list(dict.fromkeys(scope.words for scope in scopes))
    alike = list(dict.fromkeys(scope.words_for_any_cap for scope in scopes))
    return " or ".join(words if len(words) == 1 else alike)


def _basis(designs: list[Design]) -> str:
    claimed = any(design.certificate.claimed for design in designs)
    return "claimed, not proven" if claimed else "proven in rational arithmetic"


def _print(designs: list[Design], fields: list[Field] | None) -> None:
    problem = designs[0].problem
    both = fields is not None and is_lexicographic(problem)
    rows = []
    for k, design in enumerate(designs):
        certificate = design.certificate
        ends = [rounded_down(certificate.lower, 8), rounded_up(certificate.upper, 8)]
        rows.append([f"{design.problem.epsilon:.6g}", *ends, gap_text(certificate)])
        if fields is not None:
            field, rival = fields[k], fields[k].best_rival
            best = ["", "", ""] if rival is None else [rival.name, output.number(rival.by(field.rank)), _excess(rival)]
            rows[-1] += [*([output.number(field.this.by(Rank.WORST))] if both else []), *best]
    headings = ["eps", "lower", "upper", "gap"]
    if fields is not None:
        headings += [*(["our worst"] if both else []), "best rival", f"its {fields[0].rank.value}", excess(problem)]
    title = "Bounds on the optimum" if _open(designs) else "Certified optimum"
    output.print_table(f"{title}, {headline(problem)}", headings, rows)


def _picture(designs: list[Design], fields: list[Field]) -> Figure:
    problem, rank = designs[0].problem, fields[0].rank
    lines = {row.name: [_value(field, row.name) for field in fields] for row in fields[0].rivals}
    published = {name: [value for value in line if value is not None] for name, line in lines.items()}
    published = {name: line for name, line in published.items() if len(line) == len(fields)}
    bounds = [(design.certificate.lower, design.certificate.upper) for design in designs]
    ours = [field.this.by(rank) for field in fields]
    epsilons = [design.problem.epsilon for design in designs]
    if not all(math.isclose(high, value) for (_, high), value in zip(bounds, ours, strict=True)):
        bounds = [(value, value) for value in ours]  # the certificate bounds something else than rivals are ranked by
        title = f"worst-case {measure(problem)} of the lexicographic optimum, {subject(problem)}"
        return plot.sweep(epsilons, bounds, published, f"worst-case {measure(problem)}", title, THIS)
    what = f"{'worst-case' if rank is Rank.WORST else 'average'} {measure(problem)}"
    return plot.sweep(epsilons, bounds, published, what, f"{headline(problem)}, {subject(problem)}")


def _value(field: Field, name: str) -> float | None:
    """What a rival is ranked by, if it was measured and keeps the cap."""
    row = field.row(name)
    return None if row is None or row.keeps_cap is False else row.by(field.rank)


def _structure(designs: list[Design]) -> Figure:
    slices = []
    for design in designs:
        mechanism = design.own_law
        if isinstance(mechanism, Product) or not is_based(mechanism):
            raise InvalidInput("structure plot", mechanism.name, "be asked of mechanisms with a base measure")
        outputs = gathered(mechanism.points, mechanism.base)
        slices.append(plot.Slice(design.problem.epsilon, outputs, least_favourable(design)))
    problem = designs[0].problem
    return plot.structure(slices, f"Structure of the optimum: {headline(problem)}, {subject(problem)}")


# -- worst case against average ---------------------------------------------------------------------------------------


def trade_off(
    problem: Problem,
    count: int,
    seconds: float,
    sent: Sent,
    *,
    gap: float | None,
    best_so_far: bool,
    compare: bool,
) -> None:
    """The certified curve from the least worst case to the least average, and where the published mechanisms are."""
    from mechdesign.methods.trade_off.search import pareto

    loss = power_of(problem)
    assert loss is not None
    with output.progress(f"certified trade-off, {count} points at eps = {problem.epsilon:g}", quiet=sent.quiet):
        try:
            designs = pareto(problem, count, seconds, gap=gap, best_so_far=best_so_far)
        except NoAnswer as stopped:
            raise with_options(stopped, stopped.reason) from None
        ours = [_on_curve(design, loss) for design in designs]
        rivals = _beside_curve(designs[0], ours) if compare or sent.plot is not None else []
    _warn_where_open(designs)
    if sent.plot is not None:
        places = {row.name: (row.by(Rank.WORST), row.by(Rank.AVERAGE)) for row in rivals}
        title = f"Worst case against average, {problem.inputs}, ε = {problem.epsilon:g}"
        sent.draw(plot.pareto([(at.worst, at.average) for at in ours], places, loss, title))
    if sent.as_json:
        rows = [output.merged(Designed.of(design), at) for design, at in zip(designs, ours, strict=True)]
        shared = _shared(designs, [problem.epsilon])
        output.print_json(Curve(shared, tuple(rows), tuple(rivals) if compare else None))
        return
    kind = "trade-off so far" if _open(designs) else "certified trade-off"
    output.console.print(
        f"{kind} for {problem.inputs}, eps = {problem.epsilon:g}: {loss.name} error{below(problem)}\n"
        f"  least average under the prior for each worst case, over all mechanisms, {_basis(designs)}\n",
        soft_wrap=True,
    )
    _print_curve(designs, ours)
    if compare:
        lines = []
        for row in rivals:
            errors = [output.number(row.by(Rank.WORST)), output.number(row.by(Rank.AVERAGE))]
            lines.append([row.name, *errors, output.above(row.above_optimum, at_least=True)])
        title = "Published mechanisms, and their average above the curve at their worst case (at least)"
        output.console.print()
        output.print_table(title, ["mechanism", "worst case", "average", "above curve"], lines)
    sent.say_saved()


def _on_curve(design: Design, loss: Power) -> OnCurve:
    mechanism = cast(ScalarMechanism, design.mechanism)
    return OnCurve(mechanism.worst_case(loss)[0], design.certificate.upper)


def _print_curve(designs: list[Design], ours: list[OnCurve]) -> None:
    rows = []
    for design, at in zip(designs, ours, strict=True):
        certificate = design.certificate
        ends = [rounded_down(certificate.lower, 8), rounded_up(certificate.upper, 8)]
        rows.append([output.number(at.worst), *ends, gap_text(certificate)])
    headings = ["worst case", "average, lower", "average, upper", "gap"]
    output.print_table("The curve, from the least worst case to the least average", headings, rows, left=0)


def _beside_curve(design: Design, curve: Sequence[OnCurve]) -> list[Row]:
    """Rivals by the per cent by which their average is above that of a mixture of two designs with the same worst case.

    The true curve is convex, so it lies below these mixtures, and no mechanism lies below the true curve.
    """
    worst, average = [at.worst for at in curve], np.minimum.accumulate([at.average for at in curve])
    rows = []
    for row in field_of(design).rivals:
        best = float(np.interp(row.by(Rank.WORST), worst, average))
        rows.append(evolved(row, above_optimum=max(0.0, 100 * (row.by(Rank.AVERAGE) / best - 1)), keeps_cap=None))
    return sorted(rows, key=lambda row: cast(float, row.above_optimum))
