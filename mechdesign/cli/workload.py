"""Any linear queries about shares of types (histogram, distribution function, ranges, tables): the least noise, proven.

The noise is the variance that privacy adds to one user's answers, summed over the queries; n users have 1/n of it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, cast

import numpy as np
import typer

from mechdesign import plot
from mechdesign.cli import certified, output
from mechdesign.cli.answers import with_options
from mechdesign.cli.certified import Beside, Designed
from mechdesign.cli.options import BestSoFar, NoCompare, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror
from mechdesign.data.matrices import read_matrix
from mechdesign.data.numbers import require_number_text
from mechdesign.errors import InvalidInput, NoAnswer, require_whole
from mechdesign.field import Field, Rank, field_of
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.methods.method import Demands
from mechdesign.methods.registry import solve
from mechdesign.methods.result import Design
from mechdesign.methods.summary import gap_text, standing
from mechdesign.methods.words import heading, headline
from mechdesign.methods.workload.estimator import query_noises
from mechdesign.methods.workload.grid_proof import GridBound
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.supports import workload_of
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.domains import Finite
from mechdesign.words.priors import Atoms, prior_of_file
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import AnyQueries, Mean, Queries, Workload, parse_values, parse_workload

_MATRICES = (".csv", ".npy")
_LEAST = -1e300
_MOST_SHOWN = 24


@frozen
class Query:
    """One query: the variance of the noise in one user's answer, on average over the types and at the worst one."""

    name: str
    variance: float
    worst: float


@frozen
class OfWorkload:
    """Each query; with ``--users``, what is expected of their answers together."""

    queries: tuple[Query, ...]
    users: int | None = output.if_shown()
    total_variance: float | None = output.if_shown()
    mean_deviation: float | None = output.if_shown()


ANSWERS = ((Designed, Beside, OfWorkload),)
EXAMPLE = "workload --eps 1 --queries prefix --size 8"


def run(
    asked: Annotated[Asked, Mirror(Pure, Demands)],
    sent: Sent,
    queries: Annotated[
        str,
        typer.Option(
            "--queries",
            help="histogram, prefix, ranges, mean, moments:ORDER, marginals:AxB[,ORDER], parity:BITS[,ORDER], or FILE.",
        ),
    ],
    size: Annotated[int | None, typer.Option("--size", help="Number of types.")] = None,
    values: Annotated[
        str | None, typer.Option("--values", help="What the types of mean are worth: A,B,C.", metavar="A,B,C")
    ] = None,
    criterion: Annotated[
        str, typer.Option("--criterion", help="average over the types, or the worst one.")
    ] = "average",
    prior: Annotated[str | None, typer.Option("--prior", help="uniform, or a weight for each type: W1,W2,...")] = None,
    prior_data: Annotated[Path | None, typer.Option("--prior-data", help="The prior is a column of types.")] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of --prior-data.")] = None,
    weights: Annotated[str | None, typer.Option("--weights", help="A weight for each query: W1,W2,...")] = None,
    users: Annotated[int | None, typer.Option("--users", help="Say what so many users' answers are worth.")] = None,
    rival: Annotated[
        Path | None, typer.Option("--rival", help="A channel of your own to rank: a row a type, .csv or .npy.")
    ] = None,
    no_compare: NoCompare = False,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 120.0,
    best_so_far: BestSoFar = False,
) -> None:
    from mechdesign.methods.workload.search import TIME_LIMIT

    require_time_limit(time_limit)
    sent.require_writable()
    if users is not None:
        require_whole(users, "users", 1)
    workload = _workload(queries, size, values)
    loss = Workload(workload, None if weights is None else _numbers(weights, "weights"))
    over = _criterion(criterion, _prior(prior, prior_data, column, workload.size))
    problem = Problem(loss=loss, privacy=asked.of(Pure), criterion=over)
    own = {} if rival is None else {rival.name: _channel(rival, problem)}
    with output.progress(f"least noise of {workload.words}", quiet=sent.quiet) as say:
        try:
            design = solve(
                problem,
                time_limit,
                gap=asked["gap"],
                method="workload",
                say=lambda low, high: say(f"noise from {max(low, 0):.6g} to {high:.6g}, so far"),
            )
        except NoAnswer as stopped:
            if not best_so_far or stopped.design is None:
                ended = stopped.reason.startswith(TIME_LIMIT)
                way = "more time may close it, or a wider --gap" if ended else "more time does not change that"
                raise with_options(stopped, f"{stopped.reason}; {way}") from None
            design = cast(Design, stopped.design)
            output.warn(f"{stopped.reason}: the best design so far")
        say("published mechanisms")
        field = field_of(design, own) if sent.shows_field and not no_compare else None
    noises = query_noises(design)
    if sent.plot is not None:
        sent.draw(plot.workload_design(design, field_of(design, own) if field is None else field))
    sent.keep(design)
    prior_found = _least_favourable(design)
    if sent.as_json:
        of = _of_workload(design, noises, users)
        output.print_json(Designed.of(design), Beside(prior_found, None, None if field is None else field.rows), of)
        return
    _print(design, noises, field, users, prior_found)
    sent.say_saved()


def _workload(text: str, size: int | None, values: str | None) -> AnyQueries:
    path = Path(text)
    if path.suffix.lower() in _MATRICES:
        for name, given in (("size", size), ("values", values)):
            if given is not None:
                raise InvalidInput(name, given, "be left out with a file of queries", f"drop --{name}")
        read = read_matrix(path, "queries", _LEAST)
        return Queries(read.values, read.input_labels)
    if values is None:
        return parse_workload(text, size)
    if text.strip().lower() != "mean" or size is not None:
        raise InvalidInput("values", values, "come with --queries mean, without --size")
    return Mean(parse_values(values))


def _numbers(text: str, name: str) -> Floats:
    try:
        return np.array([require_number_text(part) for part in text.split(",")])
    except ValueError:
        raise InvalidInput(name, text, "be numbers W1,W2,...") from None


def _prior(text: str | None, data: Path | None, column: str | None, size: int) -> Floats | None:
    if column is not None and data is None:
        raise InvalidInput("column", column, "come with --prior-data", "add --prior-data FILE")
    if text is not None and data is not None:
        raise InvalidInput("options", "--prior, --prior-data", "be given one or the other")
    if data is None:
        return None if text is None or text.strip().lower() == "uniform" else _numbers(text, "prior")
    law = prior_of_file(data, column)
    if not np.isin(law.points, np.arange(size)).all():
        raise InvalidInput("prior data", data.name, f"hold types, which are whole numbers from 0 to {size - 1}")
    prior = np.zeros(size)
    prior[law.points.astype(int)] = law.weights
    return prior


def _criterion(said: str, prior: Floats | None) -> Average | Worst:
    if said not in ("average", "worst"):
        raise InvalidInput("criterion", said, "be average or worst")
    if said == "average":
        return Average(prior)
    if prior is not None:
        raise InvalidInput("prior", "weights", "be left out for the worst case", "use --criterion average")
    return Worst()


def _channel(path: Path, problem: Problem) -> Mechanism:
    table = read_matrix(path, "channel").values
    if table.shape[0] != len(problem.numbers):
        raise InvalidInput("rival", table.shape, f"have a row for each of the {len(problem.numbers)} types")
    return Discrete(problem.epsilon, problem.numbers, Finite(tuple(range(table.shape[1]))), table, path.name)


def _least_favourable(design: Design) -> Atoms | None:
    """The prior no mechanism has less noise under, where the worst type was asked."""
    problem = cast(Problem, design.problem)
    if not isinstance(problem.criterion, Worst):
        return None
    prior = cast(WorkloadBound | GridBound, design.evidence).weights_of_types(problem)
    return Atoms(np.arange(prior.size, dtype=float), prior / prior.sum())


def _of_workload(design: Design, noises: Floats, users: int | None) -> OfWorkload:
    names = workload_of(design.problem).queries.names
    found = tuple(Query(name, *own) for name, own in zip(names, noises.tolist(), strict=True))
    if users is None:
        return OfWorkload(found)
    upper = design.certificate.upper
    return OfWorkload(found, users, upper / users, math.sqrt(float(noises[:, 0].mean()) / users))


def _print(
    design: Design, noises: Floats, field: Field | None, users: int | None, least_favourable: Atoms | None
) -> None:
    problem, workload = design.problem, workload_of(design.problem)
    what = headline(problem)
    output.console.print(f"{standing(design)} for {heading(problem)}\n", soft_wrap=True)
    certified.print_certificate(design.certificate, what, design.own_law)
    certified.print_gap(design)
    law = cast(Discrete, design.mechanism)
    output.console.print(
        f"mechanism: a table of {len(law.inputs)} types and {len(law.outputs)} reports", soft_wrap=True
    )
    if least_favourable is not None:
        shares = ", ".join(f"{share:.4g}" for share in least_favourable.weights[:_MOST_SHOWN])
        more = ", ..." if least_favourable.weights.size > _MOST_SHOWN else ""
        output.console.print(f"least favourable shares: {shares}{more}", soft_wrap=True)
    rows = [
        [name, *map(output.number, own)]
        for name, own in list(zip(workload.queries.names, noises.tolist(), strict=True))[:_MOST_SHOWN]
    ]
    output.console.print()
    headings = ["query", "variance", "at the worst type"]
    if users is not None:
        rows = [
            [*row, output.number(math.sqrt(own / users))] for row, own in zip(rows, noises[:, 0].tolist(), strict=False)
        ]
        headings.append(f"deviation, {users:,} users")
    output.print_table("Noise of each query, one user", headings, rows)
    if len(noises) > _MOST_SHOWN:
        output.console.print(f"  and {len(noises) - _MOST_SHOWN} more; --json has them all", soft_wrap=True)
    if field is not None:
        lines = [
            [row.name, *map(output.number, map(row.by, (Rank.AVERAGE, Rank.WORST))), output.above(row.above_optimum)]
            for row in field.rows
        ]
        output.console.print()
        output.print_table(workload.summed.capitalize(), ["mechanism", "average", "worst type", "above optimum"], lines)
    output.console.print(f"\nproven to within {gap_text(design.certificate)}; ship it: --out design.json, then table")
