"""What `jrr` says where the grouping is hidden: three numbers for groups, and the optimum of all laws with --hidden."""

from __future__ import annotations

from collections.abc import Callable

from mechdesign.cli import output
from mechdesign.cli.sent import Sent
from mechdesign.errors import InvalidInput
from mechdesign.exact.hidden import MOST_USERS, HiddenLoss, hidden_loss
from mechdesign.mechanisms.hidden import TogetherLaw
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods.hidden_joint.problem import HiddenJointProblem
from mechdesign.methods.hidden_joint.search import parts, without
from mechdesign.methods.hidden_joint.words import eps_word, is_plain, law_words, trust_words, variance_words
from mechdesign.methods.joint.problem import JointProblem
from mechdesign.methods.result import Design
from mechdesign.studies.designed import Designed
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_up

GROUPS_DELTA = 1e-6
"""The chance that is left out of what groups tell where none was named: without one their numbers are often endless."""


_BLIND = (
    "  The number before the last is for a collector to whom the values of those who do not collude could as well be\n"
    "  anything; whoever has an idea of them, from a known share for example, learns more, up to the last number."
)


@frozen
class HiddenTold:
    """The exact epsilon where nobody knows the grouping, as an interval, but for a chance ``delta``.

    ``if_they_collude`` is for a collector who knows nothing of the values of those who do not.
    """

    delta: float
    colluders: int
    if_they_collude: tuple[float, float]
    if_all_others_collude: tuple[float, float]


@frozen
class HiddenNumbers:
    """What `jrr --hidden` says beside a design; ``floor`` is the variance that is left however many users there are."""

    variance: float
    independent_variance: float
    p: float
    mean_liars: float
    floor: float | None
    hidden: HiddenTold | None = output.if_shown()
    one_in_ten_stay_away: float | None = output.if_shown()


@frozen
class ServersSaid:
    """One collection with three servers."""

    servers: int
    users: int
    delta: float
    seconds: float
    bytes_sent: tuple[int, int, int]
    reports_of_one: int
    estimate: float
    true_count: int


@frozen
class Served:
    """The collection, if there was one."""

    run: ServersSaid | None = output.if_shown()


ANSWERS = (Designed, HiddenNumbers, Served)


def told(law: TogetherLaw, users: int, colluders: int, delta: float) -> HiddenTold | None:
    """What a law tells with its grouping hidden; None where that is not computed."""
    peaked = not isinstance(law, JointResponse) and not delta
    if users > MOST_USERS and not peaked:
        return None
    everybody = hidden_loss(law, users, users - 1, delta)
    some = everybody if users > MOST_USERS else hidden_loss(law, users, colluders, delta)
    return HiddenTold(delta, colluders, _ends(some), _ends(everybody))


def _ends(loss: HiddenLoss) -> tuple[float, float]:
    return loss.lower, loss.upper


def told_words(said: HiddenTold | None, users: int, known: float) -> str:
    """Three numbers in plain words; ``known`` is the epsilon if the grouping is known and a partner colludes."""
    lines = [
        "Three ways to be known (eps; all computed exactly)",
        f"  the grouping is known and a partner colludes:          {eps_word(known)}",
    ]
    if said is None:
        return "\n".join([*lines, f"  the grouping is hidden: not computed for more than {MOST_USERS} users"])
    slack = f" (but for a chance of {said.delta:g})" if said.delta else ""
    who = "nobody colludes" if not said.colluders else f"{said.colluders} others collude"
    for group, ends in ((who, said.if_they_collude), ("everybody else colludes", said.if_all_others_collude)):
        lines.append(f"  {f'the grouping is hidden and {group}:':<54} {eps_word(ends[1])}{slack}")
    return "\n".join([*lines, _BLIND] if said.colluders < users - 1 else lines)


# -- the optimum over all laws -----------------------------------------------------------------------------------------


def hidden_told(design: Design, colluders: int) -> HiddenTold | None:
    """The same for a design over all laws."""
    problem, law, _ = parts(design)
    if problem.encoding == "unary":
        return None
    return told(law, problem.users, colluders, problem.delta)


def print_answer(design: Design, colluders: int, run: ServersSaid | None = None) -> None:
    """The answer as JSON."""
    problem, law, _ = parts(design)
    floor = None if problem.floor is None else problem.floor * problem.independent_variance
    numbers = HiddenNumbers(
        design.certificate.upper,
        problem.independent_variance,
        law.truth,
        law.users * (1 - law.truth),
        floor,
        hidden_told(design, colluders),
        _away(design),
    )
    output.print_json(Designed.of(design), numbers, Served(run))


def _away(design: Design) -> float | None:
    problem, _, _ = parts(design)
    gone = problem.users // 10
    if problem.count is None or problem.encoding == "hashing" or not gone:
        return None
    return without(design, gone).variance


def print_design(design: Design, colluders: int) -> None:
    """The answer in plain words."""
    problem, law, account = parts(design)
    say = output.console.print
    say(problem.heading, style="bold", soft_wrap=True)
    say(f"{law_words(law)}\n\n{variance_words(design)}", soft_wrap=True)
    if problem.floor is not None:
        say(
            f"  {100 * problem.floor:.3g}% are left however many users there are: the share's own 4 s (1-s)",
            soft_wrap=True,
        )
    slack = f" (but for a chance of {problem.delta:g})" if problem.delta else ""
    say("\nThree ways to be known (eps; all computed exactly)\n  the grouping is known: there is none", soft_wrap=True)
    said = hidden_told(design, colluders)
    if said is not None:
        who = "nobody colludes" if not colluders else f"{colluders} others collude"
        at_most = "at most " if problem.users > MOST_USERS and colluders < problem.users - 1 else ""
        say(f"  {f'{who}:':<28} {at_most}{eps_word(said.if_they_collude[1])}{slack}", soft_wrap=True)
    say(
        f"  everybody else colludes:     {eps_word(account.loss)}{slack} (asked for {problem.epsilon:g})",
        soft_wrap=True,
    )
    blind = said is not None and colluders < problem.users - 1 and not is_plain(law)
    say(f"{_BLIND}\n" if blind else "", soft_wrap=True)
    gone = _away(design)
    if gone is not None:
        ratio = gone / design.certificate.upper
        say(
            f"If one user in ten stays away, the count of the others has variance {gone:.6g} "
            f"({ratio:.3g} times that of all).",
            soft_wrap=True,
        )
    say(trust_words(problem, law), soft_wrap=True)


def show(design: Design, sent: Sent) -> None:
    """A design that was read from a file, as the command that made it says it."""
    if sent.as_json:
        print_answer(design, 0)
        return
    print_design(design, 0)
    output.console.print("\nAll numbers were derived again from the file's problem and law.", soft_wrap=True)
    sent.say_saved()


def require_alone(**options: object) -> None:
    """`InvalidInput` for options about groups, which --hidden has none of."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if given:
        raise InvalidInput("options", ", ".join(given), "be left out with --hidden", "all users are one group there")


def require_served(problem: HiddenJointProblem) -> int:
    """How many users hold the value counted in a run of the servers, or `InvalidInput`."""
    if problem.encoding != "response":
        step = "drop --inside"
        raise InvalidInput("run servers", problem.encoding, "come without an encoding: users report their values", step)
    if problem.count is None:
        what = "a range or a prior"
        raise InvalidInput("run servers", what, "be asked for a single share of users", "for example --share 0.03")
    return problem.count


def serve(design: Design, clock: Clock, on_progress: Callable[[str], None]) -> ServersSaid:
    """One collection with three servers; the values are the design's share of ones."""
    from mechdesign.tables.servers import drawn_delta, run_servers

    problem, law, _ = parts(design)
    ones = require_served(problem)
    values = [0] * ones + [1] * (problem.users - ones)
    played = run_servers(
        law,
        values,
        seconds=clock.left(),
        on_progress=lambda step: on_progress(f"servers: {step.stage}, {step.done} of {step.total}"),
    )
    return ServersSaid(
        len(played.sent),
        problem.users,
        min(1.0, problem.delta + drawn_delta(law, problem.epsilon)),
        played.seconds,
        played.sent,
        played.reports.count(0),
        played.estimate(0),
        ones,
    )


def print_run(run: ServersSaid) -> None:
    """What came of it, in plain words."""
    output.console.print(
        f"\nRun with {run.servers} servers and a process that plays the {run.users} users in {run.seconds:.1f} s "
        f"(semi-honest; no two servers may pool what they see)\n"
        f"  each server sent {max(run.bytes_sent)} bytes; what was really drawn keeps eps but for a chance of "
        f"{rounded_up(run.delta, 2)}\n"
        f"  {run.reports_of_one} reports of the value counted: estimated count {output.number(run.estimate)}, "
        f"true count {run.true_count}",
        soft_wrap=True,
    )


def groups_told(problem: JointProblem, law: JointResponse, delta: float | None) -> HiddenTold | None:
    """What groups tell, at the chance that was named or `GROUPS_DELTA`."""
    return told(law, problem.users, problem.colluders, GROUPS_DELTA if delta is None else delta)
