"""Joint responses whose grouping is hidden: three numbers for groups, and the optimum over all laws."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mechdesign.errors import InvalidInput
from mechdesign.exact.hidden import MOST_USERS, HiddenLoss, hidden_loss
from mechdesign.mechanisms.hidden import TogetherLaw
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods.hidden_joint.crowd import Crowd, crowd_of
from mechdesign.methods.hidden_joint.search import parts, without
from mechdesign.methods.hidden_joint.words import eps_word, is_plain, law_words, trust_words, variance_words
from mechdesign.methods.joint.grouping import Grouping
from mechdesign.methods.result import Design
from mechdesign.methods.words import heading
from mechdesign.studies.designed import Designed
from mechdesign.values.answers import Answer, Say, if_shown, silent
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_up
from mechdesign.values.tables import Grid, number
from mechdesign.words.privacy import Hidden, require_colluders
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    hidden: HiddenTold | None = if_shown()
    one_in_ten_stay_away: float | None = if_shown()


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

    run: ServersSaid | None = if_shown()


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


@frozen
class HiddenJointStudy:
    """The best of all laws, private against everybody else together; with ``serving`` it is run with three servers."""

    problem: Problem
    colluders: int = 0
    serving: bool = False
    seconds: float = 60.0
    gap: float | None = None

    reads: ClassVar[tuple[Path, ...]] = ()
    keeps: ClassVar[tuple[Path, ...]] = ()

    def __attrs_post_init__(self) -> None:
        require_colluders(self.colluders, self._users)
        if self.serving:
            require_served(crowd_of(self.problem))

    @property
    def doing(self) -> str:
        return f"joint response of {self._users} users"

    @property
    def _users(self) -> int:
        if not isinstance(self.problem.privacy, Hidden):
            raise InvalidInput("privacy", self.problem.privacy, "be Hidden: private against everybody else together")
        return self.problem.privacy.users

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> HiddenJoint:
        """The optimum, and the collection if it is asked for."""
        from mechdesign.methods.registry import solve

        clock = Clock(self.seconds)
        design = solve(self.problem, clock.left(), gap=self.gap, method="hidden_joint")
        return HiddenJoint(design, self.colluders, serve(design, clock, say) if self.serving else None)


@frozen
class HiddenJoint(Answer):
    """The optimum over all laws, what it tells, and a collection with it."""

    design: Design
    colluders: int = 0
    run: ServersSaid | None = None

    @property
    def said(self) -> tuple[Any, ...]:
        problem, law, _ = parts(self.design)
        floor = None if problem.floor is None else problem.floor * problem.independent_variance
        numbers = HiddenNumbers(
            self.design.certificate.upper,
            problem.independent_variance,
            law.truth,
            law.users * (1 - law.truth),
            floor,
            hidden_told(self.design, self.colluders),
            _away(self.design),
        )
        return Designed.of(self.design), numbers, Served(self.run)

    @property
    def rows(self) -> Sequence[Any]:
        return self.said[1:2]

    def plot(self) -> Figure:
        """The picture of the design."""
        return self.design.plot()

    def shown(self) -> Iterator[Grid | str]:
        problem, law, account = parts(self.design)
        yield heading(self.design.problem)
        yield f"{law_words(law)}\n\n{variance_words(self.design)}"
        if problem.floor is not None:
            yield (f"  {100 * problem.floor:.3g}% are left however many users there are: the share's own 4 s (1-s)")
        slack = f" (but for a chance of {problem.delta:g})" if problem.delta else ""
        yield "\nThree ways to be known (eps; all computed exactly)\n  the grouping is known: there is none"
        said = hidden_told(self.design, self.colluders)
        if said is not None:
            who = "nobody colludes" if not self.colluders else f"{self.colluders} others collude"
            at_most = "at most " if problem.users > MOST_USERS and self.colluders < problem.users - 1 else ""
            yield f"  {f'{who}:':<28} {at_most}{eps_word(said.if_they_collude[1])}{slack}"
        yield (f"  everybody else colludes:     {eps_word(account.loss)}{slack} (asked for {problem.epsilon:g})")
        blind = said is not None and self.colluders < problem.users - 1 and not is_plain(law)
        yield f"{_BLIND}\n" if blind else ""
        gone = _away(self.design)
        if gone is not None:
            ratio = gone / self.design.certificate.upper
            yield (
                f"If one user in ten stays away, the count of the others has variance {gone:.6g} "
                f"({ratio:.3g} times that of all)."
            )
        yield trust_words(problem, law)
        if self.run is not None:
            yield _run_words(self.run)


def _away(design: Design) -> float | None:
    problem, _, _ = parts(design)
    gone = problem.users // 10
    if problem.count is None or problem.encoding == "hashing" or not gone:
        return None
    return without(design, gone).variance


def require_served(problem: Crowd) -> int:
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


def _run_words(run: ServersSaid) -> str:
    """What came of it, in plain words."""
    return (
        f"\nRun with {run.servers} servers and a process that plays the {run.users} users in {run.seconds:.1f} s "
        f"(semi-honest; no two servers may pool what they see)\n"
        f"  each server sent {max(run.bytes_sent)} bytes; what was really drawn keeps eps but for a chance of "
        f"{rounded_up(run.delta, 2)}\n"
        f"  {run.reports_of_one} reports of the value counted: estimated count {number(run.estimate)}, "
        f"true count {run.true_count}"
    )


def groups_told(problem: Grouping, law: JointResponse, delta: float | None) -> HiddenTold | None:
    """What groups tell, at the chance that was named or `GROUPS_DELTA`."""
    return told(law, problem.users, problem.colluders, GROUPS_DELTA if delta is None else delta)


ANSWERS = (Designed, HiddenNumbers, Served)
