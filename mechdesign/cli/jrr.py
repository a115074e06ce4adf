"""Joint randomised response: users answer in random groups so that errors cancel, and what that costs in privacy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechdesign import plot
from mechdesign.cli import jrr_hidden, jrr_inside, output
from mechdesign.cli.jrr_hidden import HiddenTold
from mechdesign.cli.options import require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror
from mechdesign.data.numbers import require_number_text
from mechdesign.errors import InvalidInput
from mechdesign.exact.collusion import JointPrivacy
from mechdesign.mechanisms.joint import JointResponse, require_group
from mechdesign.mechanisms.joint_encodings import best_hashes
from mechdesign.methods.hidden_joint.problem import HiddenJointProblem
from mechdesign.methods.hidden_joint.search import optimal_hidden
from mechdesign.methods.joint.problem import JointProblem
from mechdesign.methods.joint.search import Heuristic, heuristic, optimal_joint, parts
from mechdesign.methods.joint.words import eps_words, law_words, privacy_words, variance_words
from mechdesign.methods.result import Design
from mechdesign.studies import joint_column
from mechdesign.studies.designed import Designed
from mechdesign.values.clock import Clock
from mechdesign.values.codec import encoded
from mechdesign.values.declare import evolved, field, frozen
from mechdesign.values.schema import shaped
from mechdesign.words.domains import Interval
from mechdesign.words.priors import parse_prior
from mechdesign.words.privacy import require_colluders, require_delta

if TYPE_CHECKING:
    from mechdesign.tables.parties import Happening

_SHOWN = 1e-9


def _law() -> dict[str, Any]:
    return shaped(lambda schemas: schemas.of(JointResponse))


@frozen
class Told:
    """What others can learn about a user: on average over the grouping, and by how many partners collude."""

    averaged_epsilon: float
    conditional_epsilons: tuple[float, ...]

    @classmethod
    def of(cls, privacy: JointPrivacy) -> Told:
        return cls(privacy.averaged, privacy.conditional)


@frozen
class PapersChoice:
    """The paper's heuristic for the same problem."""

    mechanism: dict[str, Any] = field(metadata=_law())
    variance: float
    averaged_epsilon: float
    conditional_epsilons: tuple[float, ...]
    agrees_up_to_share_of_colluders: float | None

    @classmethod
    def of(cls, rule: Heuristic) -> PapersChoice:
        told = Told.of(rule.privacy)
        said = told.averaged_epsilon, told.conditional_epsilons
        return cls(encoded(rule.law), rule.variance, *said, rule.agrees_up_to)


@frozen
class Joint:
    """What `jrr` says beside a design: the variance of the count, the law in the paper's numbers, and its privacy."""

    variance: float
    independent_variance: float
    privacy: Told
    p: float
    rho: float
    group: int
    heuristic: PapersChoice | None = None
    hidden: HiddenTold | None = output.if_shown()

    @classmethod
    def of(cls, design: Design, rule: Heuristic | None) -> Joint:
        problem, law, privacy = parts(design)
        return cls(
            design.certificate.upper,
            independent_variance=problem.independent_variance,
            privacy=Told.of(privacy),
            p=float(law.truth),
            rho=float(law.rho),
            group=law.group,
            heuristic=None if rule is None else PapersChoice.of(rule),
        )


@frozen
class Run:
    """One collection between processes."""

    parties: int
    group: int
    law: dict[str, Any] = field(metadata=_law())
    tolerated_colluders: int
    averaged_epsilon_of_their_truths: float
    worst_epsilon_of_their_truths: float
    reports: tuple[int, ...]
    estimate: float
    true_count: int
    seconds: float


@frozen
class Ran:
    """The run, if there was one."""

    run: Run | None = output.if_shown()


@frozen
class Gathered:
    """The column that was collected, if there was one."""

    collected: joint_column.Collected | None = output.if_shown()


ANSWERS = ((Designed, Joint, Ran, Gathered), jrr_hidden.ANSWERS, jrr_inside.ANSWERS)
EXAMPLE = "jrr --eps 1 --users 10000 --colluders 500 --share 0.03"


def run(
    asked: Annotated[Asked, Mirror(JointProblem, HiddenJointProblem, needs=())],
    sent: Sent,
    answered: joint_column.Column,
    prior: Annotated[
        str | None, typer.Option("--prior", help="Instead of --share: the mean under uniform, beta:2,8, ...")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="exact, or scip for an independent check of pairs.")
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
        str | None, typer.Option("--inside", help="Inside an encoding of many values: oue or olh.", metavar="E")
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Seconds the search, and the protocol, may take.", metavar="S")
    ] = 60.0,
) -> None:
    sent.require_writable()
    require_time_limit(time_limit)
    clock = Clock(time_limit)
    if inside is not None and inside not in jrr_inside.INSIDE:
        raise InvalidInput("inside", inside, f"be {' or '.join(jrr_inside.INSIDE)}")
    everyone = answered.read(output.warn)
    for name, value in (
        ("hidden", hidden),
        ("run servers", run_servers),
        ("inside", inside),
        ("run parties", run_parties),
    ):
        if everyone is not None and value:
            raise InvalidInput(name, value, "be left out with --data", "a column is collected in groups, simulated")
    if hidden:
        jrr_hidden.require_alone(
            group=asked["group"],
            conditional_eps=asked["caps"],
            run_parties=run_parties,
            method=None if method == "exact" else method,
        )
        _run_hidden(asked, sent, prior, inside, clock, serving=run_servers)
        return
    if run_servers:
        raise InvalidInput("run servers", "groups", "come with --hidden", "groups run between users: --run-parties N")
    if run_parties is not None:
        _require_parties(run_parties, 2 if asked["group"] is None else asked["group"], asked["epsilon"])
    answers = (
        None
        if everyone is None
        else everyone.grouped(2 if asked["group"] is None else asked["group"], answered.seed or 0)
    )
    problem = _problem(asked, prior, run_parties) if answers is None else _problem_of(asked, prior, answers)
    if asked["delta"] is not None:
        require_delta(asked["delta"])
    if inside is not None:
        jrr_inside.require_alone(delta=asked["delta"], method=None if method == "exact" else method)
        _run_inside(inside, problem, sent, run_parties)
        return
    with output.progress(f"joint response in groups of {problem.group}", quiet=sent.quiet):
        design = _answer(problem, method, time_limit)
        rule = heuristic(problem) if problem.is_pair else None
    played = None
    if run_parties is not None:
        with output.ending_cleanly():
            played = _play(design, run_parties, clock, quiet=sent.quiet)
    collected = None
    if everyone is not None and answers is not None:
        collected = joint_column.collect(answered, everyone, answers, *parts(design)[:2])
    if sent.plot is not None:
        sent.draw(plot.of(design))
    sent.keep(design)
    if sent.as_json:
        print_answer(design, rule, played, collected, delta=asked["delta"])
        return
    print_design(design, rule, delta=asked["delta"])
    if played is not None:
        _print_run(played)
    if collected is not None:
        for one in collected.shown():
            output.show(one)
    sent.say_saved()


def _problem_of(asked: Asked, prior: str | None, answers: joint_column.Answers) -> JointProblem:
    """The problem of a column: its users and answers, and its share unless another one is assumed."""
    for name in ("users", "categories"):
        if asked[name] is not None:
            raise InvalidInput(name, asked[name], "be left out with --data", "the data say how many")
    said = {**asked.said, "users": answers.users, "categories": len(answers.counts)}
    if asked["share"] is None and prior is None:
        said["share"] = repr(float(answers.counts[0] / answers.users))
    return _problem(Asked(said), prior, None)


def _problem(asked: Asked, prior: str | None, parties: int | None) -> JointProblem:
    users, share, caps = asked["users"], asked["share"], asked["caps"]
    if asked["epsilon"] is None and parties is None:
        raise InvalidInput("eps", None, "be given", "for example --eps 1")
    what = _share_or_prior(share, prior)
    crowd = users if users is not None else (10000 if parties is None else parties)
    if users is None and parties is not None and isinstance(what, float) and what > 0:
        what = max(what, 1 / crowd)  # of so few users at least one holds the value
    epsilon = 1.0 if asked["epsilon"] is None else asked["epsilon"]
    return asked.of(JointProblem, epsilon=epsilon, users=crowd, share=what, caps=() if caps is None else _caps(caps))


def _run_hidden(
    asked: Asked, sent: Sent, prior: str | None, inside: str | None, clock: Clock, *, serving: bool
) -> None:
    """The optimum over all laws, and the collection with three servers."""
    problem = _hidden_problem(asked, prior, inside)
    colluders = asked["colluders"] or 0
    require_colluders(colluders, problem.users)
    if serving:
        jrr_hidden.require_served(problem)
    with output.progress(f"joint response of {problem.users} users", quiet=sent.quiet) as say:
        design = optimal_hidden(problem, clock.left())
        played = None
        if serving:
            with output.ending_cleanly():
                played = jrr_hidden.serve(design, clock, say)
    if sent.plot is not None:
        sent.draw(plot.of(design))
    sent.keep(design)
    if sent.as_json:
        jrr_hidden.print_answer(design, colluders, played)
        return
    jrr_hidden.print_design(design, colluders)
    if played is not None:
        jrr_hidden.print_run(played)
    sent.say_saved()


def _hidden_problem(asked: Asked, prior: str | None, inside: str | None) -> HiddenJointProblem:
    if asked["epsilon"] is None:
        raise InvalidInput("eps", None, "be given", "for example --eps 1")
    share = _share_or_prior(asked["share"], prior)
    users = 10000 if asked["users"] is None else asked["users"]
    more = {"epsilon": asked["epsilon"], "users": users, "share": share}
    if inside == "olh":
        if not isinstance(share, float):
            raise InvalidInput("share", "a range or a prior", "be a number with --inside olh")
        more |= {"encoding": "hashing", "categories": best_hashes(asked["epsilon"], users, share)}
    elif inside == "oue":
        more |= {"encoding": "unary"}
    return asked.of(HiddenJointProblem, **more)


def _run_inside(inside: str, problem: JointProblem, sent: Sent, parties: int | None) -> None:
    """Pairs inside an encoding: there is no design file and no picture of those."""
    for name, value in (("out", sent.out), ("plot", sent.plot), ("run parties", parties)):
        if value is not None:
            raise InvalidInput(name, str(value), "be left out with --inside", "its numbers are in --json")
    said = jrr_inside.design_inside(inside, problem)
    if sent.as_json:
        output.print_json(said)
        return
    jrr_inside.print_inside(inside, said)


def _share_or_prior(share: str | None, prior: str | None) -> Any:
    if share is not None and prior is not None:
        raise InvalidInput("options", "--share, --prior", "be given one or the other")
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


def _answer(problem: JointProblem, method: str, seconds: float) -> Design:
    if method == "exact":
        return optimal_joint(problem, seconds)
    if method == "scip":
        from mechdesign.methods.joint.program import search_joint

        return search_joint(problem, seconds)
    raise InvalidInput("method", method, "be exact or scip")


# -- the protocol ------------------------------------------------------------------------------------------------------


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


def _play(design: Design, parties: int, clock: Clock, *, quiet: bool) -> Run:
    """One collection between processes; the values are the design's share of ones, rounded, at least one if any."""
    from mechdesign.exact.collusion import log_up, privacy_of, told_ratio
    from mechdesign.tables.parties import law_to_run, run_parties

    problem, chosen, _ = parts(design)
    law = law_to_run(chosen, problem.privacy)
    share = problem.goal().own / problem.users
    ones = max(round(parties * share), 1 if share else 0)
    values = [1] * ones + [0] * (parties - ones)
    with _bar(f"{parties} parties", quiet=quiet) as step:
        played = run_parties(law, values, seconds=clock.left(), on_progress=step)
    reports = tuple(played.reports[0])
    return Run(
        played.parties,
        played.law.group,
        encoded(played.law),
        played.threshold,
        privacy_of(played.law, parties, played.threshold).averaged,
        log_up(told_ratio(played.law, parties, played.threshold)),
        reports,
        float(played.law.estimate(reports.count(1), parties)),
        ones,
        played.seconds,
    )


@contextmanager
def _bar(message: str, *, quiet: bool) -> Iterator[Callable[[Happening], None]]:
    """A bar over the steps of all parties on a terminal, else the usual lines."""
    import sys

    if quiet or not (sys.stderr is not None and sys.stderr.isatty()):
        with output.progress(message, quiet=quiet) as say:
            yield lambda happening: say(f"{message}: {happening.done} of {happening.total} steps")
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(message, total=None)

        def step(happening: Happening) -> None:
            bar.update(
                task,
                description=f"{message}: {happening.stage}",
                completed=happening.done,
                total=happening.total,
            )

        yield step


# -- answers -----------------------------------------------------------------------------------------------------------


def print_answer(
    design: Design,
    rule: Heuristic | None,
    played: Run | None = None,
    collected: joint_column.Collected | None = None,
    *,
    delta: float | None = None,
) -> None:
    """The answer as JSON: the design, the paper's choice beside it, and what was run."""
    hidden = jrr_hidden.groups_told(*parts(design)[:2], delta)
    output.print_json(
        Designed.of(design), evolved(Joint.of(design, rule), hidden=hidden), Ran(played), Gathered(collected)
    )


def show(design: Design, sent: Sent) -> None:
    """A design that was read from a file, as the command that made it says it."""
    problem, _, _ = parts(design)
    rule = heuristic(problem) if problem.is_pair else None
    if sent.as_json:
        print_answer(design, rule)
        return
    print_design(design, rule)
    bound = "its lower bound is as claimed" if design.certificate.claimed else "so was its lower bound"
    output.console.print(f"\nAll numbers were derived again from the file's problem and law; {bound}.", soft_wrap=True)
    sent.say_saved()


def print_design(design: Design, rule: Heuristic | None, *, delta: float | None = None) -> None:
    """The answer in plain words."""
    problem, law, told = parts(design)
    say = output.console.print
    say(problem.heading, style="bold", soft_wrap=True)
    say(f"{law_words(law)}\n\n{variance_words(design)}\n\n{privacy_words(problem, told)}", soft_wrap=True)
    hidden = jrr_hidden.groups_told(problem, law, delta)
    say(f"\n{jrr_hidden.told_words(hidden, problem.users, told.if_your_partner_colludes)}", soft_wrap=True)
    if rule is not None:
        say()
        _print_heuristic(rule, problem)


def _print_heuristic(rule: Heuristic, problem: JointProblem) -> None:
    say = output.console.print
    over = " - more than asked for" if rule.privacy.averaged > problem.epsilon * (1 + 1e-9) else ""
    say(
        f"The paper's heuristic: p = {float(rule.law.truth):.6g}, rho = {float(rule.law.rho):.6g}, variance "
        f"{output.number(rule.variance)}\n"
        f"  eps on average over the grouping: {eps_words(rule.privacy.averaged)}{over}\n"
        f"  eps if your partner colludes: {eps_words(rule.privacy.conditional[1])}",
        soft_wrap=True,
    )
    if rule.agrees_up_to is None:
        say("  Its rho is not optimal for any number of colluders at this share.", soft_wrap=True)
    else:
        limit = 100 * rule.agrees_up_to
        say(f"  Its rule rho = 1 - 1/p is optimal up to {limit:.3g}% colluders, with a smaller p.", soft_wrap=True)


def _print_run(run: Run) -> None:
    users, told, pooled = len(run.reports), run.worst_epsilon_of_their_truths, run.averaged_epsilon_of_their_truths
    parties = f"{run.parties} processes" if run.parties == users else "2 users and a helper"
    output.console.print(
        f"\nRun between {parties} in {run.seconds:.1f} s "
        f"(semi-honest)\n"
        f"  messages are safe against {run.tolerated_colluders} who pool them; "
        "what their own truth bits tell is above\n"
        f"  eps if {run.tolerated_colluders} of these {users} users pool their truth bits, the grouping unknown: "
        f"{eps_words(told)} at worst\n"
        f"    on average over the grouping: {eps_words(pooled)}"
        + (" (no bound given what the bits were: those can tell more)" if told > pooled else "")
        + "\n"
        f"  reports: {' '.join(map(str, run.reports))} (1 is the value counted)\n"
        f"  estimated count {output.number(run.estimate)}, true count {run.true_count}",
        soft_wrap=True,
    )
