"""Additive noise for mean estimation (AAA): unbiased, with a law of its own for each input, optimal under a prior.

A design made with --data tells about that column, without any privacy: design from public data, or collect with `mean`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import numpy as np
import typer

from mechdesign import plot
from mechdesign.cli import certified, output
from mechdesign.cli.certified import Beside, Designed
from mechdesign.cli.options import NoCompare, parse_interval, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror
from mechdesign.errors import InvalidData, InvalidInput, require_epsilon
from mechdesign.field import Field, Rank, field_of, proven_prior
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.additive.problem import AdditiveProblem, usual_bins
from mechdesign.methods.additive.tuning import Trial, Tuning, tune
from mechdesign.methods.result import Design
from mechdesign.methods.summary import mechanism_words, worst_variance
from mechdesign.plot.designs import gathered, noise_figure
from mechdesign.studies.mean import parse_bounds
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power
from mechdesign.words.priors import Atoms, Prior, parse_prior, prior_of_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Form = Literal["additive", "free"]

ADDITIVE: Form = "additive"
FREE: Form = "free"
_NAMES: dict[Form, str] = {ADDITIVE: "additive, reports on the grid", FREE: "free reports"}
_TUNING_SHARE = 0.5  # of the time limit: the rest is for the optima on the grid that was chosen
_SQUARED = Power(2.0)
_REVEALS = (
    "the design was made from the rows as they are and reveals this column: design from public data, "
    "or collect under privacy with mean or collect.TwoPhasePlan"
)


@frozen
class Optimum:
    """The interval on an optimum; ``total`` is the variance under the prior itself, rounding to the grid included."""

    lower: float
    upper: float
    valid_for: str
    claimed: bool
    privacy_loss: float
    total: float
    seconds: float


@frozen
class Tried:
    """A grid that was tried."""

    bins: int
    reach: int
    variance: float
    total: float
    seconds: float
    span: float


@frozen
class Both:
    """Both optima, and what else is known of the one with additive noise."""

    form: Form
    additive: float
    free: float
    optima: Mapping[str, Optimum]
    span: float
    clipped: float
    notes: tuple[str, ...]
    tuning: tuple[Tried, ...] | None
    baselines: Mapping[str, float] | None = output.if_shown()
    best_published: str | None = output.if_shown()


ANSWERS = ((Designed, Beside, Both),)
EXAMPLE = "aaa --eps 1 --prior normal:0,0.2 --bins 32"


def run(
    asked: Annotated[Asked, Mirror(AdditiveProblem)],
    sent: Sent,
    data: Annotated[
        Path | None, typer.Option("--data", help="The prior is a CSV file's column, which the design reveals.")
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of --data.")] = None,
    bounds: Annotated[
        str | None, typer.Option("--bounds", help="With --data: what values can be, as LO,HI.", metavar="LO,HI")
    ] = None,
    clip: Annotated[bool, typer.Option("--clip", help="Move values outside the bounds to the nearer end.")] = False,
    tuned: Annotated[
        bool, typer.Option("--tune", help="Find --bins and --reach by the total variance, rounding included.")
    ] = False,
    form: Annotated[
        str, typer.Option("--form", help="What --out and --plot are about: additive, or free for any real reports.")
    ] = ADDITIVE,
    no_compare: NoCompare = False,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 120.0,
) -> None:
    from mechdesign.methods.additive.search import optimal_additive
    from mechdesign.methods.unbiased.search import optimal_unbiased

    epsilon = require_epsilon(asked["epsilon"])
    if form not in _NAMES:
        raise InvalidInput("form", form, f"be {ADDITIVE} or {FREE}")
    require_time_limit(time_limit)
    if tuned and not (asked["bins"] is None and asked["reach"] is None):
        raise InvalidInput("options", "--tune, --bins, --reach", "leave out the grid where it is tuned")
    if asked["reach"] == 0:
        raise InvalidInput("reach", 0, "be a whole number, at least 1")
    sent.require_writable()
    inputs = _inputs(asked["inputs"], bounds, data)
    law, clipped = _law(asked["prior"], data, column, inputs, clip=clip)
    clock = Clock(time_limit)
    with output.progress(f"additive optimum at eps = {epsilon:g}", quiet=sent.quiet) as say:
        tuning = tune(epsilon, law, inputs, seconds=_TUNING_SHARE * time_limit) if tuned else None
        grid = {"bins": usual_bins(epsilon) if asked["bins"] is None else asked["bins"]}
        if tuning is not None:
            grid = {"bins": tuning.best.bins, "reach": tuning.best.reach}
        problem = asked.of(AdditiveProblem, prior=law, inputs=inputs, **grid)
        found = None if tuning is None else tuning.design
        if found is None or found.certificate.relative_gap > problem.gap:
            found = optimal_additive(problem, clock.left())
        designs: dict[Form, Design] = {ADDITIVE: found}
        say(f"optimum with free reports at eps = {epsilon:g}")
        designs[FREE] = optimal_unbiased(problem.free, clock.left())
        say("published mechanisms")
        field = None
        if sent.shows_field and not no_compare:
            field = field_of({_NAMES[name]: design for name, design in designs.items()})
    chosen = designs[form]
    if sent.plot is not None:
        sent.draw(_picture(chosen))
    sent.keep(chosen)
    said = _both(problem, designs, form, field, tuning, clipped, _notes(data, tuning))
    if sent.as_json:
        rows = None if field is None else field.rows
        output.print_json(Designed.of(chosen), Beside(None, worst_variance(chosen), rows), said)
        return
    if tuning is not None:
        _print_tuning(tuning)
    _print(problem, designs, field, said)
    for note in said.notes:
        output.console.print(f"\nnote: {note}", soft_wrap=True)
    sent.say_saved()


def _notes(data: Path | None, tuning: Tuning | None) -> tuple[str, ...]:
    """What the numbers do not say."""
    reveals = () if data is None else (_REVEALS,)
    stopped = () if tuning is None or tuning.stopped is None else (f"--tune: {tuning.stopped}",)
    return reveals + stopped


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
    return gathered(np.clip(values.points, inputs.lower, inputs.upper), values.weights), share


# -- how it is told ---------------------------------------------------------------------------------------------------


def _both(
    problem: AdditiveProblem,
    designs: Mapping[Form, Design],
    form: Form,
    field: Field | None,
    tuning: Tuning | None,
    clipped: float,
    notes: tuple[str, ...],
) -> Both:
    published = None if field is None else field.rivals
    return Both(
        form,
        designs[ADDITIVE].certificate.upper,
        designs[FREE].certificate.upper,
        {name: _optimum(design, cast(Prior, problem.prior)) for name, design in designs.items()},
        problem.span,
        clipped,
        notes,
        None if tuning is None else tuple(map(_tried, tuning.trials)),
        None if published is None else {row.name: row.by(Rank.AVERAGE) for row in published},
        None if published is None else published[0].name,
    )


def _optimum(design: Design, prior: Prior) -> Optimum:
    found = design.certificate
    total = _mechanism(design).average_loss(_SQUARED, prior)
    ends = (found.lower, found.upper, found.valid_for, found.claimed, found.privacy_loss)
    return Optimum(*ends, total, design.report.seconds)


def _tried(trial: Trial) -> Tried:
    return Tried(trial.bins, trial.reach, trial.variance, trial.total, trial.seconds, trial.span)


def _mechanism(design: Design) -> ConditionalNoise | UnbiasedWindow:
    assert isinstance(design.mechanism, ConditionalNoise | UnbiasedWindow)
    return design.mechanism


def _print(problem: AdditiveProblem, designs: Mapping[Form, Design], field: Field | None, said: Both) -> None:
    prior = plot.printable(getattr(problem.prior, "name", "data"))
    where = f"{problem.inputs}, eps = {problem.epsilon:g}"
    output.console.print(
        f"unbiased mechanisms on {where}, prior: {prior} on {problem.bins + 1} inputs\n", soft_wrap=True
    )
    if said.clipped:
        output.console.print(f"{100 * said.clipped:.3g}% of the rows were moved into the bounds\n")
    noise = _mechanism(designs[ADDITIVE])
    assert isinstance(noise, ConditionalNoise)
    for form, design in designs.items():
        certified.print_certificate(design.certificate, f"variance under the prior, {_NAMES[form]}", _mechanism(design))
        certified.print_gap(design)
        output.console.print()
    total = said.optima[ADDITIVE].total
    output.console.print(
        f"{mechanism_words(noise)}, |A|/|X| = {problem.span:.3g}\n"
        f"  rounding to the grid adds {output.number(total - said.additive)}: "
        f"variance {output.number(total)} under the prior itself",
        soft_wrap=True,
    )
    if field is not None:
        output.console.print()
        _print_field(field, said)


def _print_field(field: Field, said: Both) -> None:
    lines = [
        [row.name, *map(output.number, (row.by(Rank.AVERAGE), row.total or 0.0)), output.above(row.above_optimum)]
        for row in field.rows
    ]
    headings = ["mechanism", "on the grid", "under the prior itself", "above free optimum"]
    output.print_table("Average variance under the prior", headings, lines)
    best = field.rivals[0]
    output.console.print(
        f"\nbest published: {best.name}, {output.number(best.by(Rank.AVERAGE))}; "
        f"additive noise has {said.additive / best.by(Rank.AVERAGE):.4g} of its variance",
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
    prior = proven_prior(design.problem)
    assert isinstance(prior, Atoms)
    return noise_figure(_mechanism(design), prior)
