"""Joint randomised response: users answer in random groups so that errors cancel, and what that costs in privacy."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mechdesign.cli import output
from mechdesign.cli.options import require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror, completion
from mechdesign.cli.studies import deliver, give
from mechdesign.data.numbers import require_number_text
from mechdesign.errors import InvalidInput, require_one_of
from mechdesign.mechanisms.hidden import require_crowd
from mechdesign.mechanisms.joint_encodings import best_hashes
from mechdesign.methods.method import Demands
from mechdesign.studies import joint_column
from mechdesign.studies.joint import ANSWERS as ANSWERS, METHODS, JointStudy
from mechdesign.studies.joint_hidden import HiddenJointStudy
from mechdesign.studies.joint_inside import INSIDE, InsideStudy
from mechdesign.values.rules import comes_with, left_out_with
from mechdesign.words.classes import Class, Together
from mechdesign.words.counts import Count, require_categories, require_group
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.priors import parse_prior
from mechdesign.words.privacy import Collusion, Hidden, require_delta
from mechdesign.words.problem import Problem

EXAMPLE = "jrr --eps 1 --users 10000 --colluders 500 --share 0.03"
RULES = (
    left_out_with("data", "users", "categories", why="the data say how many"),
    left_out_with(
        "data", "hidden", "run_servers", "inside", "run_parties", why="a column is collected in groups, simulated"
    ),
    left_out_with("hidden", "group", "caps", "run_parties", "method", why="all users are one group there"),
    comes_with("run_servers", hidden=(), step="groups run between users: --run-parties N"),
    # there is no design file and no picture of those, and nothing else is run or left out
    left_out_with(
        "inside",
        *("delta", "method", "run_parties", "out", "plot"),
        why="its numbers are in --json; --conditional-eps caps what a partner learns",
        unless="hidden",
    ),
    left_out_with("prior", "share", why="give one or the other"),
)


def run(
    asked: Annotated[Asked, Mirror(Collusion, Count, Together, Demands, Hidden, needs=())],
    sent: Sent,
    answered: joint_column.Column,
    categories: Annotated[int | None, typer.Option("--categories", help="How many values a user can have (2).")] = None,
    prior: Annotated[
        str | None, typer.Option("--prior", help="Instead of --share: the mean under uniform, beta:2,8, ...")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="exact, or scip for an independent check of pairs.",
            autocompletion=completion(lambda: METHODS),
        ),
    ] = "exact",
    run_parties: Annotated[
        int | None,
        typer.Option("--run-parties", help="Run the protocol between this many processes (eps 1).", metavar="N"),
    ] = None,
    hidden: Annotated[
        bool, typer.Option("--hidden", help="The best of all laws, private against everybody else together.")
    ] = False,
    run_servers: Annotated[
        bool, typer.Option("--run-servers", help="With --hidden: three servers draw who lies, and users report.")
    ] = False,
    inside: Annotated[
        str | None,
        typer.Option(
            "--inside",
            help="Inside an encoding of many values: oue or olh.",
            metavar="E",
            autocompletion=completion(lambda: INSIDE),
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Seconds the search, and the protocol, may take.", metavar="S")
    ] = 60.0,
) -> None:
    sent.require_writable()
    require_time_limit(time_limit)
    if inside is not None:
        require_one_of(inside, "inside", INSIDE)
    everyone = answered.read(output.warn)
    if hidden:
        problem, colluders = _hidden_problem(asked, categories, prior, inside), asked["colluders"] or 0
        deliver(HiddenJointStudy(problem, colluders, run_servers, time_limit, asked["gap"]), sent)
        return
    group = 2 if asked["group"] is None else asked["group"]
    if run_parties is not None:
        _require_parties(run_parties, group, asked["epsilon"])
    answers = None if everyone is None else everyone.grouped(group, answered.seed or 0)
    if answers is None:
        question = _problem(asked, categories, prior, run_parties)
    else:
        question = _problem_of(asked, prior, answers)
    if asked["delta"] is not None:
        require_delta(asked["delta"])
    if inside is not None:
        give(InsideStudy(question, inside), sent)
        return
    deliver(
        JointStudy(question, method, time_limit, asked["gap"], asked["delta"], run_parties, answered, everyone), sent
    )


def _problem_of(asked: Asked, prior: str | None, answers: joint_column.Answers) -> Problem:
    """The problem of a column: its users and answers, and its share unless another one is assumed."""
    said = {**asked.said, "users": answers.users}
    if asked["share"] is None and prior is None:
        said["share"] = repr(float(answers.counts[0] / answers.users))
    return _problem(Asked(said), len(answers.counts), prior, None)


def _problem(asked: Asked, categories: int | None, prior: str | None, parties: int | None) -> Problem:
    users, share, caps = asked["users"], asked["share"], asked["caps"]
    if asked["epsilon"] is None and parties is None:
        raise InvalidInput("eps", None, "be given", "for example --eps 1")
    what = _share_or_prior(share, prior)
    crowd = users if users is not None else (10000 if parties is None else parties)
    if users is None and parties is not None and isinstance(what, float) and what > 0:
        what = max(what, 1 / crowd)  # of so few users at least one holds the value
    epsilon = 1.0 if asked["epsilon"] is None else asked["epsilon"]
    among = Together(group=2 if asked["group"] is None else asked["group"])
    privacy = asked.of(Collusion, epsilon=epsilon, users=crowd, caps=() if caps is None else _caps(caps))
    return _count(Count(what), categories, privacy, among)


def _count(loss: Count, categories: int | None, privacy: Collusion | Hidden, among: Class) -> Problem:
    return Problem(
        inputs=Finite(tuple(range(require_categories(2 if categories is None else categories)))),
        loss=loss,
        privacy=privacy,
        criterion=Average() if loss.is_under_prior else Worst(),
        among=among,
    )


def _hidden_problem(asked: Asked, categories: int | None, prior: str | None, inside: str | None) -> Problem:
    if asked["epsilon"] is None:
        raise InvalidInput("eps", None, "be given", "for example --eps 1")
    loss = Count(_share_or_prior(asked["share"], prior))
    users = require_crowd(10000 if asked["users"] is None else asked["users"])
    if inside == "olh":
        if not isinstance(loss.share, float):
            raise InvalidInput("share", "a range or a prior", "be a number with --inside olh")
        categories = best_hashes(asked["epsilon"], users, loss.share)
    among = Together({"olh": "hashing", "oue": "unary"}.get(inside or "", "response"))
    return _count(loss, categories, asked.of(Hidden, users=users), among)


def _share_or_prior(share: str | None, prior: str | None) -> Any:
    return parse_prior(prior, Interval(0.0, 1.0)) if prior is not None else _share("0.1" if share is None else share)


def _share(text: str) -> float | tuple[float, float]:
    try:
        ends = [require_number_text(part) for part in text.split(",")]
    except ValueError:
        ends = []
    if len(ends) not in (1, 2):
        raise InvalidInput("share", text, "be a number or LEAST,MOST", "for example --share 0.03")
    return ends[0] if len(ends) == 1 else (ends[0], ends[1])


def _caps(text: str) -> tuple[float, ...]:
    try:
        return tuple(require_number_text(part) for part in text.split(","))
    except ValueError:
        step = "for example --conditional-eps 1 or 1,2"
        raise InvalidInput("conditional eps", text, "be numbers A,B,...", step) from None


def _require_parties(parties: int, group: int, eps: float | None) -> None:
    """`InvalidInput` in the option's name, before anything is designed."""
    from mechdesign.tables.parties import MOST_EPSILON, require_parties

    if eps is not None and eps > MOST_EPSILON:
        raise InvalidInput("eps", eps, f"be at most {MOST_EPSILON:g} with --run-parties", "it draws with 64 bits")

    try:
        require_parties(parties, require_group(group))
    except InvalidInput as bad:
        if bad.field != "parties":
            raise
        raise InvalidInput("run parties", bad.value, bad.rule, bad.next_step) from None
