"""The certified optimum: the best mechanism there is for a loss and a criterion, with a proof that none does better."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import answers, output
from mechdesign.cli.options import (
    AsJson,
    DomainText,
    Force,
    LossOrDefault,
    OutFile,
    PlotFile,
    Quiet,
    parse_domain,
    parse_epsilons,
)
from mechdesign.cli.question import CRITERIA, LEXICOGRAPHIC, PARETO, PRIOR, WORST, Asked, Question
from mechdesign.domains import Interval
from mechdesign.errors import InvalidData, InvalidInput, require_epsilon
from mechdesign.losses import Power, parse_loss
from mechdesign.priors import Prior, parse_prior


def run(
    eps: Annotated[float | None, typer.Option("--eps", help="Privacy parameter, above 0.")] = None,
    loss: LossOrDefault = None,
    domain: DomainText = None,
    criterion: Annotated[
        str | None, typer.Option("--criterion", help="worst (default), prior, lexicographic or pareto.")
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option("--prior", help="uniform, normal:MEAN,DEVIATION, ...; with --loss-matrix weights W1,W2,..."),
    ] = None,
    prior_data: Annotated[Path | None, typer.Option("--prior-data", help="The prior is a column of data.")] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of --prior-data.")] = None,
    unbiased: Annotated[bool, typer.Option("--unbiased", help="E[Y|x] = x, least variance under the prior.")] = False,
    size: Annotated[
        int | None, typer.Option("--size", help="Equispaced inputs the prior of --unbiased is rounded to (33).")
    ] = None,
    cap: Annotated[
        float | None, typer.Option("--cap", help="With --criterion lexicographic: worst case at most this.")
    ] = None,
    slack: Annotated[
        float | None,
        typer.Option("--slack", help="Without --cap: worst case at most 1 + S times the least.", metavar="S"),
    ] = None,
    points: Annotated[int | None, typer.Option("--points", help="Designs along --criterion pareto (7).")] = None,
    sweep: Annotated[
        str | None, typer.Option("--sweep", help="Epsilons instead of --eps: A,B,C or FROM:TO:COUNT.", metavar="RANGE")
    ] = None,
    loss_matrix: Annotated[
        Path | None, typer.Option("--loss-matrix", help="Finite inputs (rows) and outputs (columns): .csv or .npy.")
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            "--gap",
            help="Relative gap of the proven bounds to reach (1e-4; under a prior 1e-6; trade-offs 1e-3).",
        ),
    ] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 120.0,
    plot_file: PlotFile = None,
    structure_plot: Annotated[
        Path | None, typer.Option("--structure-plot", help="With --sweep: outputs, base and prior against eps.")
    ] = None,
    out: OutFile = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    if not (math.isfinite(time_limit) and time_limit > 0):
        raise InvalidInput("time limit", time_limit, "be a finite number of seconds above 0")
    epsilons = _epsilons(eps, sweep)
    _require_single(sweep, criterion, out, structure_plot, points)
    if slack is not None and (criterion != LEXICOGRAPHIC or cap is not None):
        rule = "come with --criterion lexicographic, without --cap"
        raise InvalidInput("slack", slack, rule, "add --criterion lexicographic, or drop --cap")
    output.require_outputs(out, plot_file, structure_plot, force=force)
    delivery = output.Delivery(out, plot_file, structure_plot, as_json, force, quiet)
    if loss_matrix is not None:
        _require_left_out("--loss-matrix", loss=loss, domain=domain, prior_data=prior_data, column=column, size=size)
        _require_left_out("--loss-matrix", cap=cap, unbiased=unbiased or None, structure_plot=structure_plot)
        from mechdesign.cli import finite

        asked: Asked = finite.ask(loss_matrix, criterion or WORST, prior, gap, slack)
    else:
        asked = question = _question(
            loss, domain, criterion, prior, prior_data, column, unbiased, size, cap, gap, slack
        )
        if question.criterion == PARETO:
            answers.pareto(question, epsilons[0], 7 if points is None else points, time_limit, delivery)
            return
    if sweep is None:
        answers.one(asked, epsilons[0], time_limit, delivery)
    else:
        answers.sweep(asked, epsilons, time_limit, delivery)


def _epsilons(eps: float | None, sweep: str | None) -> list[float]:
    if (eps is None) == (sweep is None):
        raise InvalidInput("options", "--eps, --sweep", "be given one or the other", "for example --eps 2")
    if sweep is not None:
        return parse_epsilons(sweep, "--sweep")
    assert eps is not None
    return [require_epsilon(eps)]


def _require_single(
    sweep: str | None, criterion: str | None, out: Path | None, structure_plot: Path | None, points: int | None
) -> None:
    if criterion is not None and criterion not in CRITERIA:
        raise InvalidInput("criterion", criterion, f"be one of {', '.join(CRITERIA)}", "for example --criterion prior")
    several = sweep is not None or criterion == PARETO
    if several and out is not None:
        raise InvalidInput(
            "out", str(out), "be left out where there are several designs", "use --json to keep them all"
        )
    if sweep is not None and criterion == PARETO:
        raise InvalidInput("options", "--sweep, --criterion pareto", "be given one or the other")
    if points is not None and criterion != PARETO:
        raise InvalidInput("points", points, "come with --criterion pareto", "add --criterion pareto")
    if structure_plot is not None and sweep is None:
        raise InvalidInput("structure plot", str(structure_plot), "come with --sweep", "for example --sweep 0.5:4:8")


def _require_left_out(beside: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise InvalidInput(option, str(value), f"be left out with {beside}", f"drop {option} or {beside}")


def _question(
    loss: str | None,
    domain: str | None,
    criterion: str | None,
    prior: str | None,
    prior_data: Path | None,
    column: str | None,
    unbiased: bool,
    size: int | None,
    cap: float | None,
    gap: float | None,
    slack: float | None,
) -> Question:
    inputs = parse_domain(domain, circular=False)
    assert isinstance(inputs, Interval)
    power = parse_loss(("squared" if unbiased else "absolute") if loss is None else loss)
    if unbiased:
        if power != Power(2.0):
            raise InvalidInput(
                "loss", loss, "be squared with --unbiased: the error is a variance", "add --loss squared"
            )
        if criterion not in (None, PRIOR):
            raise InvalidInput("criterion", criterion, "be prior with --unbiased", "drop --criterion")
        criterion = PRIOR
    elif size is not None:
        raise InvalidInput("size", size, "come with --unbiased", "drop --size")
    criterion = criterion or WORST
    if cap is not None and criterion != LEXICOGRAPHIC:
        raise InvalidInput("cap", cap, "come with --criterion lexicographic", "add --criterion lexicographic")
    if criterion == WORST and (prior is not None or prior_data is not None):
        given = prior if prior is not None else str(prior_data)
        raise InvalidInput("prior", given, "be left out for the worst case", "add --criterion prior")
    if criterion == PRIOR and not unbiased and prior is None and prior_data is None:
        raise InvalidInput("prior", None, "be given with --criterion prior", "for example --prior normal:0.3,0.1")
    law = None if criterion == WORST else _prior(prior, prior_data, column, inputs)
    if column is not None and prior_data is None:
        raise InvalidInput("column", column, "come with --prior-data", "add --prior-data FILE")
    more = (33 if size is None else size, 1e-3 if slack is None else slack)
    return Question(criterion, power, inputs, law, cap, gap, unbiased, *more)


def _prior(text: str | None, data: Path | None, column: str | None, inputs: Interval) -> Prior:
    if text is not None and data is not None:
        raise InvalidInput("options", "--prior, --prior-data", "be given one or the other")
    if data is None:
        return parse_prior("uniform" if text is None else text, inputs)
    from mechdesign.priors import prior_of_file

    law = prior_of_file(data, column)
    low, high = float(law.points[0]), float(law.points[-1])
    if low < inputs.lower or high > inputs.upper:
        rule = f"lie in the domain {inputs}"
        wrong = float(law.weights[(law.points < inputs.lower) | (law.points > inputs.upper)].sum())
        rule += f", as {100 * wrong:.3g}% of the rows do not"
        raise InvalidData("prior data", f"{low!r} to {high!r}", rule, "widen --domain to what values can be")
    return law
