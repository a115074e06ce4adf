"""Any linear queries about shares of types (histogram, distribution function, ranges, tables): the least noise, proven.

The noise is the variance that privacy adds to one user's answers, summed over the queries; n users have 1/n of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli.options import BestSoFar, NoCompare, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror, completion
from mechdesign.cli.studies import deliver
from mechdesign.data.matrices import read_matrix
from mechdesign.data.numbers import require_number_text
from mechdesign.errors import InvalidInput
from mechdesign.methods.method import Demands
from mechdesign.studies.questions import prior_of_types
from mechdesign.studies.workload import ANSWERS as ANSWERS, WorkloadStudy, channel_of_file
from mechdesign.values.declare import Floats, stored
from mechdesign.values.rules import comes_with, left_out_with
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import AnyQueries, Mean, Queries, Workload, parse_values, parse_workload, query_words

_MATRICES = (".csv", ".npy")
_LEAST = -1e300
AVERAGE, WORST = "average", "worst"
EXAMPLE = "workload --eps 1 --queries prefix --size 8"
RULES = (comes_with("column", prior_data=()), left_out_with("prior", "prior_data", why="give one or the other"))


def run(
    asked: Annotated[Asked, Mirror(Pure, Demands)],
    sent: Sent,
    queries: Annotated[
        str,
        typer.Option(
            "--queries",
            help="histogram, prefix, ranges, mean, moments:ORDER, marginals:AxB[,ORDER], parity:BITS[,ORDER], or FILE.",
            autocompletion=completion(query_words),
        ),
    ],
    size: Annotated[int | None, typer.Option("--size", help="Number of types.")] = None,
    values: Annotated[
        str | None, typer.Option("--values", help="What the types of mean are worth: A,B,C.", metavar="A,B,C")
    ] = None,
    criterion: Annotated[
        str,
        typer.Option(
            "--criterion",
            help="average over the types, or the worst one.",
            autocompletion=completion(lambda: (AVERAGE, WORST)),
        ),
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
    require_time_limit(time_limit)
    sent.require_writable()
    workload = _workload(queries, size, values)
    loss = Workload(workload, None if weights is None else _numbers(weights, "weights"))
    over = _criterion(criterion, _prior(prior, prior_data, column, workload.size))
    problem = Problem(loss=loss, privacy=asked.of(Pure), criterion=over)
    own = {} if rival is None else {rival.name: channel_of_file(rival, problem)}
    is_seen = sent.shows_field and not no_compare
    deliver(WorkloadStudy(problem, users, own, time_limit, asked["gap"], best_so_far, is_seen), sent)


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
        return stored([require_number_text(part) for part in text.split(",")])
    except ValueError:
        raise InvalidInput(name, text, "be numbers W1,W2,...") from None


def _prior(text: str | None, data: Path | None, column: str | None, size: int) -> Floats | None:
    if data is None:
        return None if text is None or text.strip().lower() == "uniform" else _numbers(text, "prior")
    return prior_of_types(data, column, size)


def _criterion(said: str, prior: Floats | None) -> Average | Worst:
    if said not in (AVERAGE, WORST):
        raise InvalidInput("criterion", said, "be average or worst")
    if said == AVERAGE:
        return Average(prior)
    if prior is not None:
        raise InvalidInput("prior", "weights", "be left out for the worst case", "use --criterion average")
    return Worst()
