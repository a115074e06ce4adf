"""Joint randomised response in groups: the optimum, what it tells, a collection between processes or of a column."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mechdesign.errors import InvalidInput
from mechdesign.exact.collusion import JointPrivacy
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods.joint.grouping import Grouping, grouping_of
from mechdesign.methods.joint.search import Heuristic, heuristic, parts
from mechdesign.methods.joint.words import eps_words, law_words, privacy_words, variance_words
from mechdesign.methods.result import Design
from mechdesign.methods.words import heading
from mechdesign.studies import joint_column, joint_hidden, joint_inside
from mechdesign.studies.designed import Designed
from mechdesign.studies.joint_hidden import HiddenTold, groups_told, told_words
from mechdesign.values.answers import Answer, Say, if_shown, silent
from mechdesign.values.clock import Clock
from mechdesign.values.codec import encoded
from mechdesign.values.declare import evolved, field, frozen, one_of
from mechdesign.values.schema import shaped
from mechdesign.values.tables import Grid, number
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mechdesign.tables.parties import Happening

SECONDS = 60.0
METHODS = {"exact": "joint", "scip": "joint_program"}


@frozen
class JointStudy:
    """The optimal response of groups; ``parties`` processes run it, or the answers of ``everyone`` are collected.

    ``delta`` is the chance that what is told of a hidden grouping leaves out.

    >>> from mechdesign.words.classes import Together
    >>> from mechdesign.words.counts import Count
    >>> from mechdesign.words.privacy import Collusion
    >>> pairs = Problem(loss=Count(0.1), privacy=Collusion(1.0, users=100), among=Together(group=2))
    >>> found = JointStudy(pairs).answer()
    >>> found.design.certificate.upper < found.joint.independent_variance
    True
    """

    problem: Problem
    method: str = one_of("method", tuple(METHODS), default="exact")
    seconds: float = SECONDS
    gap: float | None = None
    delta: float | None = None
    parties: int | None = None
    column: joint_column.Column = joint_column.Column()
    everyone: joint_column.Answers | None = None

    keeps: ClassVar[tuple[Path, ...]] = ()

    def __attrs_post_init__(self) -> None:
        if self.parties is not None and self.everyone is not None:
            step = "a column is collected in groups, simulated"
            raise InvalidInput("run parties", self.parties, "be left out with --data", step)

    @property
    def doing(self) -> str:
        return f"joint response in groups of {grouping_of(self.problem).group}"

    @property
    def reads(self) -> Sequence[Path]:
        return () if self.column.data is None else (self.column.data,)

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> JointAnswer:
        """The optimum, the paper's choice beside it, and what was run."""
        from mechdesign.methods.registry import solve

        clock = Clock(self.seconds)
        design = solve(self.problem, self.seconds, gap=self.gap, method=METHODS[self.method])
        played = None if self.parties is None else _play(design, self.parties, clock, say)
        return evolved(JointAnswer.of(design), delta=self.delta, run=played, collected=self._collected(design))

    def _collected(self, design: Design) -> joint_column.Collected | None:
        if self.everyone is None:
            return None
        problem, law, _ = parts(design)
        grouped = self.everyone.grouped(problem.group, self.column.seed or 0)
        if grouped.users != problem.users:
            rule = f"be {grouped.users}, as many as are in whole groups of the data"
            raise InvalidInput("users", problem.users, rule)
        return joint_column.collect(self.column, self.everyone, grouped, problem, law)


def _play(design: Design, parties: int, clock: Clock, say: Say) -> Run:
    """One collection between processes; the values are the design's share of ones, rounded, at least one if any."""
    from mechdesign.exact.collusion import log_up, privacy_of, told_ratio
    from mechdesign.tables.parties import law_to_run, run_parties

    problem, chosen, _ = parts(design)
    law = law_to_run(chosen, problem.privacy)
    share = problem.goal().own / problem.users
    ones = max(round(parties * share), 1 if share else 0)
    values = [1] * ones + [0] * (parties - ones)

    def step(happening: Happening) -> None:
        say(f"{parties} parties: {happening.done} of {happening.total} steps")

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


# -- answers ----------------------------------------------------------------------------------------------------------


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
    hidden: HiddenTold | None = if_shown()

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

    run: Run | None = if_shown()


@frozen
class Gathered:
    """The column that was collected, if there was one."""

    collected: joint_column.Collected | None = if_shown()


@frozen
class JointAnswer(Answer):
    """A design, the paper's choice beside it, and what was run."""

    design: Design
    rule: Heuristic | None
    delta: float | None = None
    run: Run | None = None
    collected: joint_column.Collected | None = None

    @classmethod
    def of(cls, design: Design) -> JointAnswer:
        """What is said of a design that is there."""
        return cls(design, heuristic(design.problem) if parts(design)[0].is_pair else None)

    @property
    def hidden(self) -> HiddenTold | None:
        """What is told where nobody knows the grouping."""
        return groups_told(*parts(self.design)[:2], self.delta)

    @property
    def joint(self) -> Joint:
        return evolved(Joint.of(self.design, self.rule), hidden=self.hidden)

    @property
    def said(self) -> tuple[Any, ...]:
        return Designed.of(self.design), self.joint, Ran(self.run), Gathered(self.collected)

    @property
    def rows(self) -> Sequence[Any]:
        return (self.joint,) if self.collected is None else self.collected.rows

    def plot(self) -> Figure:
        """The picture of the design."""
        return self.design.plot()

    def shown(self) -> Iterator[Grid | str]:
        problem, law, told = parts(self.design)
        yield heading(self.design.problem)
        yield f"{law_words(law)}\n\n{variance_words(self.design)}\n\n{privacy_words(problem, told)}"
        yield f"\n{told_words(self.hidden, problem.users, told.if_your_partner_colludes)}"
        if self.rule is not None:
            yield ""
            yield from _heuristic_lines(self.rule, problem)
        if self.run is not None:
            yield _run_words(self.run)
        if self.collected is not None:
            yield from self.collected.shown()


def _heuristic_lines(rule: Heuristic, problem: Grouping) -> Iterator[str]:
    over = " - more than asked for" if rule.privacy.averaged > problem.epsilon * (1 + 1e-9) else ""
    yield (
        f"The paper's heuristic: p = {float(rule.law.truth):.6g}, rho = {float(rule.law.rho):.6g}, variance "
        f"{number(rule.variance)}\n"
        f"  eps on average over the grouping: {eps_words(rule.privacy.averaged)}{over}\n"
        f"  eps if your partner colludes: {eps_words(rule.privacy.conditional[1])}"
    )
    if rule.agrees_up_to is None:
        yield "  Its rho is not optimal for any number of colluders at this share."
    else:
        limit = 100 * rule.agrees_up_to
        yield f"  Its rule rho = 1 - 1/p is optimal up to {limit:.3g}% colluders, with a smaller p."


def _run_words(run: Run) -> str:
    users, told, pooled = len(run.reports), run.worst_epsilon_of_their_truths, run.averaged_epsilon_of_their_truths
    parties = f"{run.parties} processes" if run.parties == users else "2 users and a helper"
    return (
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
        f"  estimated count {number(run.estimate)}, true count {run.true_count}"
    )


ANSWERS = ((Designed, Joint, Ran, Gathered), joint_hidden.ANSWERS, joint_inside.ANSWERS)
