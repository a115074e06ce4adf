"""The certified optimum: the best mechanism there is for a loss and a criterion, with a proof that none does better.

It is for single reports, unless --unbiased is given. For a mean of many reports ask: advise --want mean
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, cast

import typer

from mechdesign.cli.options import BestSoFar, NoCompare, parse_epsilons, parse_inputs, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror, completion
from mechdesign.cli.studies import ask, deliver, give, told
from mechdesign.data.matrices import read_matrix
from mechdesign.errors import InvalidInput, require_epsilon, require_one_of
from mechdesign.methods.method import Demands
from mechdesign.methods.unbiased.supports import UnbiasedOptions
from mechdesign.studies import optimum, pairs
from mechdesign.studies.optimum import POINTS, OptimumStudy, ParetoStudy, SweepStudy
from mechdesign.studies.own import Own, is_file, read_files
from mechdesign.studies.pairs import PairsStudy
from mechdesign.studies.questions import parse_weights, prior_of_column
from mechdesign.values.rules import comes_with, exactly_one, left_out_with
from mechdesign.words.classes import All, Unbiased
from mechdesign.words.criteria import Average, Lexicographic, Worst, named_criterion
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.finite_losses import Matrix
from mechdesign.words.losses import Power, parse_loss
from mechdesign.words.pairs import Pairwise
from mechdesign.words.priors import Prior, named_prior
from mechdesign.words.privacy import Approximate, Pure
from mechdesign.words.problem import Problem

WORST, PRIOR, LEXICOGRAPHIC, PARETO = "worst", "prior", "lexicographic", "pareto"
CRITERIA = (WORST, PRIOR, LEXICOGRAPHIC, PARETO)
ANSWERS = (*optimum.ANSWERS, *pairs.ANSWERS)
EXAMPLE = "minimax --eps 2 --loss squared"
_NUMBERS = ("loss", "inputs", "size", "cap", "prior_data", "column", "unbiased", "structure_plot")
_SEVERAL = "there are several designs: --json keeps them all"
RULES = (
    exactly_one("epsilon", "sweep", "privacy_matrix", step="for example --eps 2"),
    left_out_with("privacy_matrix", *_NUMBERS, "delta", "mechanisms", why="it is for finite inputs alone"),
    left_out_with("loss_matrix", *_NUMBERS, why="it is the inputs, the outputs and the loss"),
    comes_with("privacy_matrix", "delta", loss_matrix=(), step="add --loss-matrix FILE"),
    left_out_with("sweep", "out", "mechanisms", why=_SEVERAL),
    left_out_with("criterion", "sweep", "out", "mechanisms", word=PARETO, why=_SEVERAL),
    left_out_with("criterion", "loss_matrix", "privacy_matrix", word=PARETO, why="take worst, prior or lexicographic"),
    comes_with("points", criterion=(PARETO,)),
    comes_with("structure_plot", sweep=(), step="for example --sweep 0.5:4:8"),
    comes_with("slack", "cap", criterion=(LEXICOGRAPHIC,)),
    left_out_with("cap", "slack", why="drop --cap or --slack"),
    left_out_with("no_compare", "mechanisms", why="they are rivals to compare with"),
    comes_with("column", prior_data=()),
    left_out_with("prior", "prior_data", why="give one or the other"),
)

_SLACK = 1e-5  # of a loss matrix with one epsilon, whose least worst case is known well


def run(
    asked: Annotated[Asked, Mirror(Pure, Problem, Demands, Lexicographic, UnbiasedOptions, needs=())],
    sent: Sent,
    criterion: Annotated[
        str | None,
        typer.Option(
            "--criterion",
            help="worst (default), prior, lexicographic or pareto.",
            autocompletion=completion(lambda: CRITERIA),
        ),
    ] = None,
    prior_data: Annotated[Path | None, typer.Option("--prior-data", help="The prior is a column of data.")] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of --prior-data.")] = None,
    unbiased: Annotated[
        bool, typer.Option("--unbiased", help="E[Y|x] = x: variance, at the worst input or under --prior.")
    ] = False,
    points: Annotated[int | None, typer.Option("--points", help="Designs along --criterion pareto (7).")] = None,
    sweep: Annotated[
        str | None, typer.Option("--sweep", help="Epsilons instead of --eps: A,B,C or FROM:TO:COUNT.", metavar="RANGE")
    ] = None,
    loss_matrix: Annotated[
        Path | None, typer.Option("--loss-matrix", help="Finite inputs (rows) and outputs (columns): .csv or .npy.")
    ] = None,
    privacy_matrix: Annotated[
        Path | None,
        typer.Option("--privacy-matrix", help="An eps for each pair instead of --eps, inf for none: .csv or .npy."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", help="With --loss-matrix: privacy but for this probability.")
    ] = None,
    structure_plot: Annotated[
        Path | None, typer.Option("--structure-plot", help="With --sweep: outputs, base and prior against eps.")
    ] = None,
    mechanisms: Annotated[
        str | None,
        typer.Option("--mechanisms", help="Your own among the rivals: saved designs and tables.", metavar="FILE,..."),
    ] = None,
    no_compare: NoCompare = False,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 120.0,
    best_so_far: BestSoFar = False,
) -> None:
    require_time_limit(time_limit)
    if criterion is not None:
        require_one_of(criterion, "criterion", CRITERIA)
    if privacy_matrix is not None:
        assert loss_matrix is not None
        problem = _pairs_problem(asked, privacy_matrix, loss_matrix, criterion or WORST)
        is_seen = not no_compare and sent.shows_field
        deliver(PairsStudy(problem, time_limit, asked["gap"], best_so_far, is_seen), sent)
        return
    epsilons = [require_epsilon(asked["epsilon"])] if sweep is None else parse_epsilons(sweep, "--sweep")
    sent.require_writable(structure_plot)
    mine = () if mechanisms is None else _own(mechanisms, epsilons)
    if loss_matrix is not None:
        question = _matrix_problem(asked, epsilons[0], delta, loss_matrix, criterion or WORST)
    else:
        question = _problem(asked, epsilons[0], criterion, prior_data, column, unbiased=unbiased)
    gap, options = asked["gap"], {} if asked["size"] is None else {"size": asked["size"]}
    if criterion == PARETO:
        count = POINTS if points is None else points
        give(ParetoStudy(question, count, time_limit, gap, best_so_far, not no_compare), sent)
        return
    if sweep is not None:
        study = SweepStudy(question, tuple(epsilons), time_limit, gap, best_so_far, not no_compare, options)
        found = ask(study, sent, structure_plot)
        if structure_plot is not None:
            sent.draw(found.structure(), structure_plot)
        told(found, study, sent, structure_plot)
        return
    own = {one.name: one.mechanism for one in mine}
    is_seen = not no_compare and sent.shows_field
    deliver(OptimumStudy(question, time_limit, gap, best_so_far, is_seen, options, own), sent)


def _own(text: str, epsilons: list[float]) -> tuple[Own, ...]:
    """Mechanisms from files, which must keep the epsilon."""
    names = [name.strip() for name in text.split(",")]
    published = [name for name in names if not is_file(name)]
    if published:
        rule = "be files of saved designs or tables, .json: what is published is ranked anyway"
        raise InvalidInput("--mechanisms", published[0], rule, "for example --mechanisms own.json")
    return read_files(names, epsilons)


# -- problems on numbers ----------------------------------------------------------------------------------------------


def _problem(
    asked: Asked, epsilon: float, criterion: str | None, prior_data: Path | None, column: str | None, *, unbiased: bool
) -> Problem:
    inputs, loss, prior = parse_inputs(asked["inputs"]), asked["loss"], asked["prior"]
    if isinstance(inputs, Finite) and (unbiased or criterion == PARETO):
        what = "with --unbiased" if unbiased else f"with --criterion {criterion}"
        step = f"take --domain={inputs.lower:g},{inputs.upper:g}: its mechanism takes whole numbers too"
        raise InvalidInput("domain", asked["inputs"], f"be an interval LO,HI {what}", step)
    power = parse_loss(("squared" if unbiased else "absolute") if loss is None else loss)
    if unbiased:
        if power != Power(2.0):
            raise InvalidInput(
                "loss", loss, "be squared with --unbiased: the error is a variance", "add --loss squared"
            )
        if criterion not in (None, WORST, PRIOR):
            raise InvalidInput("criterion", criterion, "be worst or prior with --unbiased", "drop --criterion")
        if criterion is None and not (prior is None and prior_data is None):
            criterion = PRIOR
    criterion = criterion or WORST
    if asked["size"] is not None and not (unbiased and criterion == PRIOR):
        raise InvalidInput("size", asked["size"], "come with --unbiased and a prior", "drop --size")
    if criterion == WORST and (prior is not None or prior_data is not None):
        given = prior if prior is not None else str(prior_data)
        raise InvalidInput("prior", given, "be left out for the worst case", "add --criterion prior")
    if criterion == PRIOR and prior is None and prior_data is None:
        raise InvalidInput("prior", None, "be given with --criterion prior", "for example --prior normal:0.3,0.1")
    law = None if criterion == WORST else _prior(prior, prior_data, column, inputs)
    least = Worst() if law is None else Average(law) if criterion == PRIOR else asked.of(Lexicographic, prior=law)
    among = Unbiased() if unbiased else All()
    return Problem(inputs=inputs, loss=power, privacy=Pure(epsilon), criterion=least, among=among)


def _prior(text: str | None, data: Path | None, column: str | None, inputs: Interval | Finite) -> Prior:
    if data is None:
        return cast(Prior, named_prior("uniform" if text is None else text, inputs))
    return prior_of_column(data, column, inputs)


# -- a loss matrix ----------------------------------------------------------------------------------------------------


def _matrix_problem(asked: Asked, epsilon: float, delta: float | None, file: Path, criterion: str) -> Problem:
    table = read_matrix(file)
    slack = _SLACK if criterion == LEXICOGRAPHIC and asked["slack"] is None else asked["slack"]
    weights = _weights(asked["prior"], criterion, table.values.shape[0])
    loss = Matrix(table.values, table.input_labels, table.output_labels)
    privacy = Pure(epsilon) if delta is None else Approximate(epsilon, delta)
    return Problem(loss=loss, privacy=privacy, criterion=named_criterion(criterion, weights, slack))


def _pairs_problem(asked: Asked, privacy: Path, losses: Path, criterion: str) -> Problem:
    table, said = read_matrix(losses), read_matrix(privacy, "privacy matrix", 0.0, most=math.inf)
    if said.input_labels is not None and said.output_labels is not None and said.input_labels != said.output_labels:
        step = "give both the same labels in one order"
        raise InvalidInput("privacy matrix", privacy.name, "name its rows and its columns alike", step)
    if None not in (said.input_labels, table.input_labels) and said.input_labels != table.input_labels:
        raise InvalidInput("privacy matrix", privacy.name, "name the rows of the loss matrix, in their order")
    names = table.input_labels if said.input_labels is None else said.input_labels
    weights = _weights(asked["prior"], criterion, len(table.values))
    return Problem(
        loss=Matrix(table.values, names, table.output_labels),
        privacy=Pairwise(said.values),
        criterion=named_criterion(criterion, weights, asked["slack"]),
    )


def _weights(text: str | None, criterion: str, count: int) -> list[float] | None:
    if criterion != WORST:
        return parse_weights(text, count)
    if text is not None:
        raise InvalidInput("prior", text, "be left out for the worst case", "add --criterion prior")
    return None
