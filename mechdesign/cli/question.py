"""What `minimax` is asked: which criterion, and with it the problem, its solver, and how rivals are measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mechdesign.design import Certificate, Design
from mechdesign.design.additive.proof import AdditiveBound
from mechdesign.design.minimax.search import MinimaxProblem, minimax_sweep, optimal_minimax
from mechdesign.design.trade_off.proof import TradeOffBound
from mechdesign.design.unbiased.proof import UnbiasedPriorBound
from mechdesign.domains import Finite, Interval
from mechdesign.errors import CheckFailed, NoAnswer
from mechdesign.losses import Power
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.priors import Atoms, Prior

if TYPE_CHECKING:
    from mechdesign.design.trade_off.search import TradeOffProblem

WORST, PRIOR, LEXICOGRAPHIC, PARETO = "worst", "prior", "lexicographic", "pareto"
CRITERIA = (WORST, PRIOR, LEXICOGRAPHIC, PARETO)
THIS = "this design"

Row = dict[str, Any]
Labels = tuple[Sequence[str], Sequence[str]]


class Asked(Protocol):
    """What every question can do: be answered, be told, and be compared with what is published."""

    @property
    def criterion(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def headline(self) -> str:
        """The certified quantity in words."""
        ...

    @property
    def measure(self) -> str:
        """What is small for a good mechanism: an error, a variance, a loss."""
        ...

    @property
    def ranks_by(self) -> str:
        """What rivals are ranked by: ``worst`` or ``average``."""
        ...

    @property
    def excess(self) -> str:
        """The heading of how far rivals are above this design."""
        ...

    @property
    def loss(self) -> Power | None: ...
    @property
    def labels(self) -> Labels | None: ...
    def answers(self, epsilons: Sequence[float], seconds: float, *, best_so_far: bool) -> Iterator[Design]: ...
    def comparison(self, design: Design) -> list[Row]: ...


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "input"), counted(2, "input")
    ('1 input', '2 inputs')
    """
    return f"{number} {noun}" + ("" if number == 1 else "s")


def with_excess(rows: list[Row], by: str, cap: float | None = None, least: float | None = None) -> list[Row]:
    """The rows, the first of them this design, ranked, with per cent above this design, or above ``least``.

    With a cap on the worst case those that break it come last and are not compared: ``keeps_cap`` says so.
    """
    best = rows[0][by] if least is None else least
    for row in rows:
        keeps = cap is None or row["name"] == THIS or row["worst"] <= cap
        row["above_optimum"] = 100 * (row[by] / best - 1) if best > 0 and keeps else None
        if cap is not None:
            row["keeps_cap"] = keeps
    return sorted(rows, key=lambda row: (not row.get("keeps_cap", True), row[by], row["name"] != THIS))


def one_by_one(
    answer: Callable[[float, float], Design], epsilons: Sequence[float], seconds: float, *, best_so_far: bool
) -> Iterator[Design]:
    """Answers at several epsilons in ``seconds`` altogether, or `NoAnswer` that names the one where they ran out.

    With ``best_so_far`` each has an equal share of the time left, and the best design found in it stands for an answer.
    """
    deadline = time.perf_counter() + seconds
    for place, epsilon in enumerate(epsilons):
        left = max(deadline - time.perf_counter(), 1e-3)
        try:
            design = answer(epsilon, left / (len(epsilons) - place) if best_so_far else left)
        except NoAnswer as stopped:
            if not best_so_far or stopped.design is None:
                raise at_epsilon(epsilon, stopped) from None
            design = stopped.design
        yield design


def at_epsilon(epsilon: float, stopped: NoAnswer) -> NoAnswer:
    """The same error, saying where, and which options to ask with instead."""
    return with_options(stopped, f"at eps = {epsilon:g}: {stopped.reason}")


def with_options(stopped: NoAnswer, reason: str) -> NoAnswer:
    """The same error for another reason; where a design was found it says how to have it."""
    wider, design = stopped.gap_within_reach, stopped.design
    step = "allow more --time-limit"
    if design is not None:
        gap = "" if wider is None else f"--gap {wider:g}, or with "
        step = f"ask with {gap}--best-so-far for the design as it is"
    bounds = (stopped.lower, stopped.upper)
    return NoAnswer(reason, *bounds, claimed=stopped.claimed, design=design, next_step=step)


@dataclass(frozen=True, slots=True)
class Question:
    """A certified optimum on an interval or on finitely many numbers.

    ``unbiased`` asks for ``E[Y|x] = x``; then the error is the variance.
    """

    criterion: str
    loss: Power
    inputs: Interval | Finite
    prior: Prior | None
    cap: float | None
    gap: float | None
    unbiased: bool
    size: int
    slack: float = 1e-3

    def answer(self, epsilon: float, seconds: float | None) -> Design:
        """Solve it at one epsilon."""
        if self.unbiased:
            from mechdesign.design.unbiased.search import UnbiasedProblem, optimal_unbiased

            free = UnbiasedProblem(epsilon, self._prior(), self._interval(), self.size, self._gap(1e-4))
            return optimal_unbiased(free, seconds)
        if self.criterion == WORST:
            return optimal_minimax(self.worst_case(epsilon), seconds)
        if self.criterion == PRIOR:
            from mechdesign.design.prior.search import PriorProblem, optimal_prior

            problem = PriorProblem(epsilon, self._prior(), self.loss, self.inputs, self._gap(1e-6))
            return optimal_prior(problem, seconds)
        from mechdesign.design.trade_off.search import optimal_trade_off

        return optimal_trade_off(self._trade_off(epsilon), seconds)

    def curve(self, epsilon: float, count: int, seconds: float, *, best_so_far: bool) -> list[Design]:
        """The certified trade-off between worst case and average, from one end to the other."""
        from mechdesign.design.trade_off.search import pareto

        try:
            return pareto(self._trade_off(epsilon), count, seconds, best_so_far=best_so_far)
        except NoAnswer as stopped:
            raise with_options(stopped, stopped.reason) from None

    def point(self, design: Design) -> tuple[float, float]:
        """The worst case of a design and the average its certificate attains."""
        assert not isinstance(design.mechanism, Product)
        return design.mechanism.worst_case(self.loss)[0], design.certificate.upper

    def _trade_off(self, epsilon: float) -> TradeOffProblem:
        from mechdesign.design.trade_off.search import TradeOffProblem

        return TradeOffProblem(
            epsilon, self._prior(), self.loss, self._interval(), self.cap, self._gap(1e-3), self.slack
        )

    def answers(self, epsilons: Sequence[float], seconds: float, *, best_so_far: bool) -> Iterator[Design]:
        """Solve it at several epsilons, in ``seconds`` altogether; `NoAnswer` names the one where they ran out."""
        if self.criterion == WORST and not self.unbiased:
            found = 0
            try:
                for design in minimax_sweep(map(self.worst_case, epsilons), seconds, best_so_far=best_so_far):
                    yield design
                    found += 1
            except NoAnswer as stopped:
                raise at_epsilon(epsilons[found], stopped) from None
            return
        yield from one_by_one(self.answer, epsilons, seconds, best_so_far=best_so_far)

    def worst_case(self, epsilon: float) -> MinimaxProblem:
        return MinimaxProblem(epsilon, self.loss, self.inputs, self._gap(1e-4))

    def _gap(self, usual: float) -> float:
        return usual if self.gap is None else self.gap

    def _interval(self) -> Interval:
        assert isinstance(self.inputs, Interval)
        return self.inputs

    def _prior(self) -> Prior:
        assert self.prior is not None
        return self.prior

    @property
    def subject(self) -> str:
        return str(self.inputs)

    @property
    def labels(self) -> Labels | None:
        return None

    @property
    def measure(self) -> str:
        return "variance" if self.unbiased else f"{self.loss.name} error"

    @property
    def ranks_by(self) -> str:
        """What the certificate bounds, hence what rivals are ranked by: ``worst`` or ``average``."""
        return "average" if self.criterion == PRIOR or self.cap is not None else "worst"

    @property
    def excess(self) -> str:
        return "worst above least" if self.criterion == LEXICOGRAPHIC and self.cap is None else "above optimum"

    @property
    def headline(self) -> str:
        """The certified quantity in words."""
        if self.unbiased:
            return "variance under the prior"
        if self.criterion == WORST:
            return f"worst-case {self.loss.name} error"
        average = f"average {self.loss.name} error under the prior"
        if self.criterion != LEXICOGRAPHIC:
            return average
        within = f"within {100 * self.slack:g}% of the least" if self.cap is None else f"at most {self.cap!r}"
        return f"{average}, worst case {within}"

    # -- the field ----------------------------------------------------------------------------------------------------

    def rivals(self, epsilon: float) -> dict[str, Mechanism]:
        """The published mechanisms that solve the same problem; only unbiased ones against an unbiased design."""
        if isinstance(self.inputs, Finite):
            return {"randomised response": catalogue.randomised_response(epsilon, self.inputs)}
        entries = [entry for entry in catalogue.ON_INTERVALS if entry.unbiased or not self.unbiased]
        return {entry.key: entry.build(epsilon, self._interval(), self.loss) for entry in entries}

    def comparison(self, design: Design) -> list[Row]:
        """Worst case and average of this design and its rivals, best first, and per cent above the optimum.

        The percentage is measured from the upper end of the certified interval: at least so much is lost. For the
        lexicographic optimum it is measured from the least worst case there is; under a given cap, rivals that break
        it are not compared.
        """
        prior = measured_prior(design.certificate) or self.prior
        mechanism = design.mechanism
        assert not isinstance(mechanism, Product)
        ours = self._row(THIS, mechanism, prior)
        if self.ranks_by == "average":
            ours["average"] = design.certificate.upper
        elif self.criterion == WORST:
            ours["worst"] = design.certificate.upper
        rows = [ours]
        for name, rival in self.rivals(design.problem.epsilon).items():
            try:
                rows.append(self._row(name, rival, prior))
            except CheckFailed:  # an error that doubles cannot resolve is no basis for a comparison
                continue
        return with_excess(rows, self.ranks_by, self.cap, self._least(design))

    def _least(self, design: Design) -> float | None:
        """The least worst case there is, which the lexicographic optimum stays near to."""
        evidence = design.certificate.evidence
        if self.criterion == LEXICOGRAPHIC and self.cap is None and isinstance(evidence, TradeOffBound):
            return evidence.cap / (1 + self.slack)
        return None

    def _row(self, name: str, mechanism: Mechanism, prior: Prior | None) -> Row:
        worst, average = mechanism.worst_case(self.loss)[0], mechanism.average_loss(self.loss, prior)
        return {"name": name, "worst": worst, "average": average}


def measured_prior(certificate: Certificate) -> Atoms | None:
    """The rounded prior a certificate is about, if it was rounded: rivals are measured under the same one."""
    evidence = certificate.evidence
    if isinstance(evidence, TradeOffBound):
        return Atoms(evidence.prior.means, evidence.prior.weights / evidence.prior.weights.sum())
    if isinstance(evidence, UnbiasedPriorBound | AdditiveBound):
        places = np.linspace(evidence.lower, evidence.upper, evidence.weights.size)
        return Atoms(places, evidence.weights / evidence.weights.sum())
    return None
