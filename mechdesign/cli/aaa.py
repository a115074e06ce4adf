"""Additive noise for mean estimation (AAA): unbiased, with a law of its own for each input, optimal under a prior.

A design made with --data tells about that column, without any privacy: design from public data, or collect with `mean`.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from mechdesign import plot
from mechdesign.cli import certified, output
from mechdesign.cli.looks import save_picture
from mechdesign.cli.mean import parse_bounds
from mechdesign.cli.options import AsJson, DomainText, Eps, Force, OutFile, PlotFile, Quiet, parse_interval
from mechdesign.cli.question import measured_prior
from mechdesign.design import Design
from mechdesign.design.additive.search import AdditiveProblem, Trial, Tuning, optimal_additive, tune, usual_bins
from mechdesign.design.unbiased.search import optimal_unbiased
from mechdesign.domains import Interval
from mechdesign.errors import CheckFailed, InvalidData, InvalidInput, require_epsilon
from mechdesign.losses import Power
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.priors import Atoms, Prior, parse_prior, prior_of_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]

ADDITIVE, FREE = "additive", "free"
_NAMES = {ADDITIVE: "additive, reports on the grid", FREE: "free reports"}
_TUNING_SHARE = 0.5  # of the time limit: the rest is for the optima on the grid that was chosen
_SQUARED = Power(2.0)
_REVEALS = (
    "the design was made from the rows as they are and reveals this column: design from public data, "
    "or collect under privacy with mean or collect.TwoPhasePlan"
)


def run(
    eps: Eps,
    prior: Annotated[str | None, typer.Option("--prior", help="uniform, normal:MEAN,DEVIATION, ...")] = None,
    domain: DomainText = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="The prior is a CSV file's column, which the design reveals.")
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of --data.")] = None,
    bounds: Annotated[
        str | None, typer.Option("--bounds", help="With --data: what values can be, as LO,HI.", metavar="LO,HI")
    ] = None,
    clip: Annotated[bool, typer.Option("--clip", help="Move values outside the bounds to the nearer end.")] = False,
    bins: Annotated[
        int | None, typer.Option("--bins", help="N: the grid has N + 1 inputs (32, 16 for tiny eps).")
    ] = None,
    reach: Annotated[
        int | None, typer.Option("--reach", help="M: tails begin M steps beyond the inputs (4 N, more for small eps).")
    ] = None,
    tuned: Annotated[
        bool, typer.Option("--tune", help="Find --bins and --reach by the total variance, rounding included.")
    ] = False,
    form: Annotated[
        str, typer.Option("--form", help="What --out and --plot are about: additive, or free for any real reports.")
    ] = ADDITIVE,
    gap: Annotated[float, typer.Option("--gap", help="Relative gap of the proven bounds to reach.")] = 1e-4,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 120.0,
    plot_file: PlotFile = None,
    out: OutFile = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    epsilon = require_epsilon(eps)
    if form not in _NAMES:
        raise InvalidInput("form", form, f"be {ADDITIVE} or {FREE}")
    if not (math.isfinite(time_limit) and time_limit > 0):
        raise InvalidInput("time limit", time_limit, "be a finite number of seconds above 0")
    if tuned and not (bins is None and reach is None):
        raise InvalidInput("options", "--tune, --bins, --reach", "leave out the grid where it is tuned")
    if reach == 0:
        raise InvalidInput("reach", reach, "be a whole number, at least 1")
    output.require_outputs(out, plot_file, force=force)
    inputs = _inputs(domain, bounds, data)
    law, clipped = _law(prior, data, column, inputs, clip=clip)
    deadline = time.perf_counter() + time_limit
    with output.progress(f"additive optimum at eps = {epsilon:g}", quiet=quiet) as say:
        tuning = tune(epsilon, law, inputs, seconds=_TUNING_SHARE * time_limit) if tuned else None
        if tuning is not None:
            bins, reach = tuning.best.bins, tuning.best.reach
        bins = usual_bins(epsilon) if bins is None else bins
        problem = AdditiveProblem(epsilon, law, inputs, bins, reach or 0, gap=gap)
        found = None if tuning is None else tuning.design
        if found is None or found.certificate.relative_gap > gap:
            found = optimal_additive(problem, _left(deadline))
        designs = {ADDITIVE: found}
        say(f"optimum with free reports at eps = {epsilon:g}")
        designs[FREE] = optimal_unbiased(problem.free, _left(deadline))
        say("published mechanisms")
        rows = _comparison(problem, designs)
    chosen = designs[form]
    notes = _notes(data, tuning)
    if plot_file is not None:
        save_picture(_picture(chosen), plot_file, overwrite=force)
    if out is not None:
        chosen.save(out, overwrite=force)
    if as_json:
        output.print_json(_document(problem, designs, form, rows, tuning, clipped) | {"notes": notes})
        return
    if tuning is not None:
        _print_tuning(tuning)
    _print(problem, designs, rows, clipped)
    for note in notes:
        output.console.print(f"\nnote: {note}", soft_wrap=True)
    output.Delivery(out, plot_file).say_saved()


def _notes(data: Path | None, tuning: Tuning | None) -> list[str]:
    """What the numbers do not say."""
    notes = [] if data is None else [_REVEALS]
    if tuning is not None and tuning.stopped is not None:
        notes.append(f"--tune: {tuning.stopped}")
    return notes


def _left(deadline: float) -> float:
    return max(deadline - time.perf_counter(), 1e-3)


def _inputs(domain: str | None, bounds: str | None, data: Path | None) -> Interval:
    if data is None:
        if bounds is not None:
            raise InvalidInput("bounds", bounds, "come with --data", "use --domain")
        return catalogue.SYMMETRIC if domain is None else parse_interval(domain, "domain")
    if domain is not None:
        raise InvalidInput("domain", domain, "be left out with --data", "use --bounds")
    return parse_bounds(bounds)


def _law(
    text: str | None, data: Path | None, column: str | None, inputs: Interval, *, clip: bool
) -> tuple[Prior, float]:
    """The prior, and the share of the data that was moved into the bounds."""
    if data is None:
        alone = [name for name, given in (("--column", column is not None), ("--clip", clip)) if given]
        if alone:
            raise InvalidInput("options", ", ".join(alone), "come with --data", "add --data FILE.csv")
        if text is None:
            raise InvalidInput("prior", None, "be given", "for example --prior normal:0,0.2, or --data FILE.csv")
        return parse_prior(text, inputs), 0.0
    if text is not None:
        raise InvalidInput("options", "--prior, --data", "be given one or the other")
    values = prior_of_file(data, column)
    outside = (values.points < inputs.lower) | (values.points > inputs.upper)
    if not outside.any():
        return values, 0.0
    share = float(values.weights[outside].sum())
    if not clip:
        span = f"{float(values.points[0]):.10g} to {float(values.points[-1]):.10g}"
        rule = f"lie in the bounds [{inputs.lower:g}, {inputs.upper:g}], as {100 * share:.3g}% of the rows do not"
        where = "the column" if column is None else f"column {column!r}"
        raise InvalidData(where, span, rule, "widen --bounds, or pass --clip to move them to the ends")
    return certified.gathered(np.clip(values.points, inputs.lower, inputs.upper), values.weights), share


# -- the field --------------------------------------------------------------------------------------------------------


def _comparison(problem: AdditiveProblem, designs: dict[str, Design]) -> list[Row]:
    """Both optima and the published unbiased mechanisms, by their average variance under the prior on the grid.

    ``total`` is the average under the prior itself: additive noise pays for rounding there, the others need none.
    """
    grid = _grid_prior(problem)
    field: dict[str, Mechanism] = {_NAMES[form]: _mechanism(design) for form, design in designs.items()}
    for entry in catalogue.ON_INTERVALS:
        if entry.unbiased:
            field[entry.key] = entry.build(problem.epsilon, problem.inputs, _SQUARED)
    certain = {_NAMES[form]: design.certificate.upper for form, design in designs.items()}
    best = designs[FREE].certificate.upper
    rows = []
    for name, mechanism in field.items():
        try:
            average = certain[name] if name in certain else mechanism.average_loss(_SQUARED, grid)
            total = mechanism.average_loss(_SQUARED, problem.prior)
        except CheckFailed:  # an error that doubles cannot resolve is no basis for a comparison
            continue
        excess = 100 * (average / best - 1)
        rows.append(
            {
                "name": name,
                "average": average,
                "total": total,
                "above_optimum": excess,
                "published": name not in certain,
            }
        )
    return sorted(rows, key=lambda row: row["average"])


def _grid_prior(problem: AdditiveProblem) -> Atoms:
    places = np.linspace(problem.inputs.lower, problem.inputs.upper, problem.bins + 1)
    return Atoms(places, problem.weights / problem.weights.sum())


def _mechanism(design: Design) -> ConditionalNoise | UnbiasedWindow:
    assert isinstance(design.mechanism, ConditionalNoise | UnbiasedWindow)
    return design.mechanism


def _best_published(rows: list[Row]) -> Row:
    return next(row for row in rows if row["published"])


# -- how it is told ---------------------------------------------------------------------------------------------------


def _document(
    problem: AdditiveProblem,
    designs: dict[str, Design],
    form: str,
    rows: list[Row],
    tuning: Tuning | None,
    clipped: float,
) -> Row:
    optima = {
        name: design.certificate.to_dict() | {"total": _total(rows, name), "seconds": design.report.seconds}
        for name, design in designs.items()
    }
    for certificate in optima.values():
        del certificate["evidence"]  # it is in the design
    return certified.document(designs[form]) | {
        "form": form,
        "additive": designs[ADDITIVE].certificate.upper,
        "free": designs[FREE].certificate.upper,
        "baselines": {row["name"]: row["average"] for row in rows if row["published"]},
        "optima": optima,
        "comparison": rows,
        "best_published": _best_published(rows)["name"],
        "span": problem.span,
        "clipped": clipped,
        "tuning": None if tuning is None else [asdict(trial) | {"span": trial.span} for trial in tuning.trials],
    }


def _total(rows: list[Row], form: str) -> float:
    return next(float(row["total"]) for row in rows if row["name"] == _NAMES[form])


def _print(problem: AdditiveProblem, designs: dict[str, Design], rows: list[Row], clipped: float) -> None:
    prior = "data" if isinstance(problem.prior, Atoms) else plot.printable(problem.prior.name)
    where = f"{problem.inputs}, eps = {problem.epsilon:g}"
    output.console.print(
        f"unbiased mechanisms on {where}, prior: {prior} on {problem.bins + 1} inputs\n", soft_wrap=True
    )
    if clipped:
        output.console.print(f"{100 * clipped:.3g}% of the rows were moved into the bounds\n")
    noise = _mechanism(designs[ADDITIVE])
    assert isinstance(noise, ConditionalNoise)
    for form, design in designs.items():
        output.print_certificate(design.certificate, f"variance under the prior, {_NAMES[form]}", _mechanism(design))
        output.print_gap(design.certificate)
        output.console.print()
    total = _total(rows, ADDITIVE)
    output.console.print(
        f"{certified.noise_in_words(noise)}, |A|/|X| = {problem.span:.3g}\n"
        f"  rounding to the grid adds {output.number(total - designs[ADDITIVE].certificate.upper)}: "
        f"variance {output.number(total)} under the prior itself\n",
        soft_wrap=True,
    )
    lines = [
        [row["name"], output.number(row["average"]), output.number(row["total"]), output.above(row["above_optimum"])]
        for row in rows
    ]
    headings = ["mechanism", "on the grid", "under the prior itself", "above free optimum"]
    output.print_table("Average variance under the prior", headings, lines)
    best, ours = _best_published(rows), designs[ADDITIVE].certificate.upper
    output.console.print(
        f"\nbest published: {best['name']}, {output.number(best['average'])}; "
        f"additive noise has {ours / best['average']:.4g} of its variance",
        soft_wrap=True,
    )


def _print_tuning(tuning: Tuning) -> None:
    lines = [_trial_cells(trial, trial == tuning.best) for trial in tuning.trials]
    headings = ["N", "M", "|A|/|X|", "on the grid", "under the prior itself", "seconds", ""]
    output.print_table("Grids tried", headings, lines, left=0)
    output.console.print()


def _trial_cells(trial: Trial, is_best: bool) -> list[str]:
    numbers = [f"{trial.span:.3g}", output.number(trial.variance), output.number(trial.total), f"{trial.seconds:.2f}"]
    return [str(trial.bins), str(trial.reach), *numbers, "chosen" if is_best else ""]


def _picture(design: Design) -> Figure:
    mechanism, prior = _mechanism(design), measured_prior(design.certificate)
    assert isinstance(mechanism, ConditionalNoise | UnbiasedWindow)
    assert prior is not None
    return certified.noise_figure(mechanism, prior)
