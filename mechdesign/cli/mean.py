"""The mean of a column of data, collected under privacy: estimate, interval, and the error without privacy."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.certified import if_shown
from mechdesign.cli.estimated import Estimated, OfReports
from mechdesign.cli.given import refuse_given
from mechdesign.cli.options import Eps, parse_interval, require_seed
from mechdesign.cli.sent import Drawn
from mechdesign.collect.mean import EstimatedMean, mean_without_privacy
from mechdesign.collect.mean_methods import NAMES, PAPER, TWO_PHASE, Collected, MeanMethod
from mechdesign.collect.tuning import tune_two_phase
from mechdesign.collect.two_phase import FORMS, SHARE
from mechdesign.domains import Interval
from mechdesign.errors import InvalidData, InvalidInput, require_epsilon
from mechdesign.plot.means import mean_intervals
from mechdesign.priors import Density, parse_prior, values_of_file
from mechdesign.values.codec import left_out
from mechdesign.values.declare import evolved, field, frozen
from mechdesign.values.schema import shaped

Floats = NDArray[np.float64]

_FORM = "additive"
_TUNING_SEED = 0
_MOST_RUNS = 100_000
_MOST_SEED_BITS = 53  # so that JSON readers with doubles see the same seed


@frozen
class Plan:
    """How users were divided between histogram and numbers."""

    first: int
    second: int
    share: float
    bins: int | None
    weight: float | None
    form: str


@frozen
class OverRuns:
    """Errors over all collections, and how often the interval held the truth."""

    mean_absolute_error: float
    rmse: float
    bias: float
    coverage: float | None


@frozen
class Result:
    """What one mechanism gave: its first collection, how far that is off, and what it is worth.

    ``bias`` is the largest that it has for any input. Where it is more than the standard error there is no ``worth``.
    """

    mechanism: str
    found: EstimatedMean = field(metadata=left_out())
    error: float
    expected_error: float | None
    bias: float
    worth: float | None
    plan: Plan | None = if_shown()
    over_runs: OverRuns | None = None


def _results() -> dict[str, Any]:
    kinds = EstimatedMean, Estimated, OfReports, Result
    return shaped(lambda schemas: {"type": "array", "items": schemas.merged(*kinds)})


@frozen
class Answer:
    """One simulated collection by each mechanism, and the mean without privacy."""

    file: str
    column: str | None
    users: int
    clipped: int
    bounds: tuple[float, float]
    epsilon: float
    confidence: float
    guess: str | None
    seed: int
    runs: int
    without_privacy: Mapping[str, Any] = field(
        metadata=shaped(lambda schemas: schemas.merged(EstimatedMean, Estimated, OfReports))
    )
    results: tuple[Mapping[str, Any], ...] = field(metadata=_results())


ANSWERS = ((Answer,),)
EXAMPLE = """\
examples
mean ages.csv --column age --eps 1 --bounds 18,90 --mechanism pm --seed 1"""


def run(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.", metavar="FILE")],
    eps: Eps,
    sent: Drawn,
    column: Annotated[
        str | None, typer.Option("--column", help="The column whose mean is wanted (if there are several).")
    ] = None,
    bounds: Annotated[
        str | None, typer.Option("--bounds", help="What values can be, known beforehand, as LO,HI.", metavar="LO,HI")
    ] = None,
    mechanism: Annotated[
        str, typer.Option("--mechanism", help=f"Names, comma-separated: {', '.join(NAMES)}.")
    ] = TWO_PHASE,
    runs: Annotated[int, typer.Option("--runs", help="Collections to simulate; the first one is shown.")] = 1,
    seed: Annotated[int | None, typer.Option("--seed", help="Makes the simulation repeatable.")] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the interval.")] = 0.95,
    share: Annotated[
        float | None, typer.Option("--share", help=f"aaa: share of the users asked for the histogram: {SHARE}.")
    ] = None,
    bins: Annotated[
        int | None, typer.Option("--bins", help="aaa: bins of the histogram (8 or 16); sw-em, sw-ems: 256.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--form", help="aaa: additive (if not given), or free for the certified optimum.")
    ] = None,
    clip: Annotated[bool, typer.Option("--clip", help="Move values outside the bounds to the nearer end.")] = False,
    guess: Annotated[
        str | None,
        typer.Option("--guess", help="aaa: what the data may be like, as normal:MEAN,DEVIATION; picks share and bins."),
    ] = None,
) -> None:
    sent.require_writable()
    inputs = parse_bounds(bounds)
    if guess is not None:
        refuse_given(context, ("share", "bins"), "be left out with --guess", "it picks them")
    law = None if guess is None else parse_prior(guess, inputs)
    if not 1 <= runs <= _MOST_RUNS:
        raise InvalidInput("runs", runs, f"be a whole number from 1 to {_MOST_RUNS}")
    methods = _methods(mechanism, require_epsilon(eps), inputs, bins, share, form, confidence)
    if law is not None and not any(method.is_two_phase for method in methods):
        raise InvalidInput("guess", guess, "come with aaa or aaa-paper", "drop --guess")
    values, clipped = _values(file, column, inputs, clip=clip)
    name = file.name if column is None else column
    start = secrets.randbits(_MOST_SEED_BITS) if seed is None else require_seed(seed)
    with output.progress(f"{runs} collections from {values.size} users", quiet=sent.quiet) as say:
        rows = []
        plain = mean_without_privacy(values, inputs, confidence)
        for method in methods:
            if law is not None and method.is_two_phase:
                say(f"the best share and bins for {method.name}")
                method = _tuned(method, values.size, law)
            say(f"{runs} collections from {values.size} users with {method.name}")
            rows.append(_collected(method, values, plain, runs, start))
    if sent.plot is not None:
        title = f"Mean of {name} under local privacy, ε = {eps:g}, {values.size} users, one collection each"
        sent.draw(mean_intervals({row.mechanism: row.found for row in rows}, plain, name, title))
    if sent.as_json:
        data = str(file), column, values.size, clipped
        problem = (inputs.lower, inputs.upper), eps, confidence, guess
        results = tuple(_said(row.found) | output.merged(row) for row in rows)
        output.print_json(Answer(*data, *problem, start, runs, _said(plain), results))
        return
    _print(rows, plain, name, inputs, eps, clipped, runs)
    sent.say_saved()


def parse_bounds(text: str | None) -> Interval:
    """What values of a file can be, which has to be given."""
    if text is None:
        step = "say what is known beforehand, such as --bounds 0,120 for ages: the data's own range is not private"
        raise InvalidInput("bounds", None, "be given with data, as LO,HI", step)
    try:
        return parse_interval(text, "bounds")
    except InvalidInput as error:
        raise InvalidInput("bounds", text, error.rule, error.next_step) from None


def _methods(
    names: str,
    epsilon: float,
    inputs: Interval,
    bins: int | None,
    share: float | None,
    form: str | None,
    confidence: float,
) -> list[MeanMethod]:
    keys = list(dict.fromkeys(name.strip().lower() for name in names.split(",")))
    more = (SHARE if share is None else share, _FORM if form is None else form, confidence)
    methods = [MeanMethod(name, epsilon, inputs, bins, *more) for name in keys]
    for option, value in (("share", share), ("form", form)):
        if value is not None and not any(method.is_two_phase for method in methods):
            raise InvalidInput(option, value, "come with aaa or aaa-paper", f"drop --{option}")
    if bins is not None and not any(method.takes_bins for method in methods):
        raise InvalidInput("bins", bins, "come with aaa, sw-em or sw-ems", "drop --bins")
    return methods


def _tuned(method: MeanMethod, users: int, guess: Density) -> MeanMethod:
    weight = method.plan(users).weight if method.name == PAPER else None
    best = tune_two_phase(
        method.epsilon, users, guess, method.inputs, _TUNING_SEED, step=FORMS[method.form], weight=weight
    )[0]
    return evolved(method, share=best.plan.share, bins=best.plan.bins)


def _values(file: Path, column: str | None, inputs: Interval, *, clip: bool) -> tuple[Floats, int]:
    values = values_of_file(file, column)
    outside = int(((values < inputs.lower) | (values > inputs.upper)).sum())
    if outside and not clip:
        span = f"{float(values.min()):.10g} to {float(values.max()):.10g}"
        first = int(np.argmax((values < inputs.lower) | (values > inputs.upper))) + 1
        rule = f"lie in the bounds [{inputs.lower:g}, {inputs.upper:g}], as {outside} of {values.size} do not"
        raise InvalidData(
            f"{_called(column)}, data row {first} first,",
            span,
            rule,
            "widen --bounds, or pass --clip to move them to the ends",
        )
    return np.clip(values, inputs.lower, inputs.upper), outside


def _called(column: str | None) -> str:
    return "the column" if column is None else f"column {column!r}"


def _said(found: EstimatedMean) -> dict[str, Any]:
    """The estimate as all commands say it; ``value`` and ``users`` are its older names."""
    shape = Estimated(found.value, found.lower, found.upper, found.standard_error)
    return output.merged(found, shape, OfReports(found.confidence, found.users))


def _collected(method: MeanMethod, values: Floats, plain: EstimatedMean, runs: int, seed: int) -> Result:
    # by its name, so that a mechanism's numbers do not depend on which others are asked for
    children = np.random.SeedSequence([seed, NAMES.index(method.name)]).spawn(runs)
    found = [method.collect(values, np.random.default_rng(child)) for child in children]
    first, truth, plan = found[0], float(values.mean()), None
    if method.is_two_phase:
        made = method.plan(values.size)
        plan = Plan(made.first, made.second, made.share, made.bins, made.weight, method.form)
    over_runs = _over_runs(found, truth) if runs > 1 else None
    noise = over_runs.rmse if first.expected is None and over_runs is not None else first.expected
    error = first.estimate.value - truth
    worth = None if _is_biased(first) else _worth(noise, plain)
    return Result(method.name, first.estimate, error, first.expected, first.bias, worth, plan, over_runs)


def _is_biased(found: Collected) -> bool:
    """Whether the bias that there may be is more than the noise."""
    noise = found.estimate.standard_error
    return noise is not None and found.bias > noise


def _over_runs(found: list[Collected], truth: float) -> OverRuns:
    errors = np.array([collected.estimate.value - truth for collected in found])
    covers = [collected.estimate.covers(truth) for collected in found]
    coverage = None if None in covers else covers.count(True) / len(covers)
    rmse = math.sqrt(float(np.mean(errors**2)))
    return OverRuns(float(np.abs(errors).mean()), rmse, float(errors.mean()), coverage)


def _worth(noise: float | None, plain: EstimatedMean) -> float | None:
    """Users without privacy whose mean is as near to the population's."""
    if noise is None or not plain.standard_error:
        return None
    return float(plain.users / (1 + (noise / plain.standard_error) ** 2))


def _print(
    rows: list[Result], plain: EstimatedMean, column: str, inputs: Interval, eps: float, clipped: int, runs: int
) -> None:
    users, level = plain.users, f"{100 * plain.confidence:g}% interval"
    span = f"bounds [{inputs.lower:g}, {inputs.upper:g}]"
    title = f"Mean of {plot.printable(column)}: {users} users, {span}, eps = {eps:g}, one simulated collection"
    lines = [
        [
            row.mechanism,
            output.number(row.found.value),
            _interval(row.found),
            f"{row.error:+.3g}",
            _or_dash(row.expected_error),
            _users(row.worth),
        ]
        for row in rows
    ]
    lines.append(["without privacy", output.number(plain.value), _interval(plain), "0", "0", str(users)])
    output.print_table(title, ["mechanism", "estimate", level, "error", "expected error", "worth"], lines)
    notes = [
        "error: distance from the mean of these users, which a real collection would not show;",
        "expected error: its root mean square over the noise, exact for a mechanism that is fixed beforehand (for aaa,",
        "designed from the first group's reports, up to O(1/n)). Without privacy the only error is who was asked:",
        f"a standard error of {plain.standard_error:.3g}.",
        "worth: how many users without privacy would tell as much about the population.",
    ]
    if any(row.expected_error is None for row in rows):
        notes.append(
            "sw-em, sw-ems: the estimate is the histogram's, biased by an unknown amount: no interval; sw has one."
        )
    for row in rows:
        if row.bias > (row.found.standard_error or math.inf):
            notes.append(
                f"{row.mechanism}: no worth: it is biased by up to {row.bias:.3g}, whatever the number of users; how "
                "much of that cancels here is up to these very values."
            )
        if row.plan is not None:
            plan = row.plan
            notes.append(
                f"{row.mechanism}: {plan.first} users gave a histogram of {plan.bins} bins, {plan.second} a number."
            )
    if clipped:
        notes.append(f"{clipped} values lay outside the bounds and were moved to the nearer end.")
    output.console.print("\n".join(f"  {note}" for note in notes), soft_wrap=True)
    if runs > 1:
        output.console.print()
        summary = [
            [
                row.mechanism,
                *(f"{value:.3g}" for value in (over.mean_absolute_error, over.rmse, over.bias)),
                "-" if over.coverage is None else f"{over.coverage:.1%}",
            ]
            for row in rows
            if (over := row.over_runs) is not None
        ]
        heads = ["mechanism", "mean absolute error", "RMSE", "average error", "intervals that cover"]
        output.print_table(f"Over {runs} collections from the same users", heads, summary)


def _interval(found: EstimatedMean) -> str:
    return "-" if found.lower is None else f"[{found.lower:.5g}, {found.upper:.5g}]"


def _users(count: float | None) -> str:
    return "-" if count is None else f"{count:.0f}" if count >= 10 else f"{count:.2g}"


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
