"""The budget with evidence: an interval of epsilons, each end decided by a sequential test with a stated error rate.

**Tests.** ``P`` is the probability that a collection at an epsilon meets the constraint, pi the one wanted. After n
collections of which s met it, the likelihood ratio against pi, mixed evenly over all larger (or all smaller) values,

    ``E+ = int_pi^1 x^s (1 - x)^(n - s) dx / [(1 - pi) pi^s (1 - pi)^(n - s)]``,

is a non-negative supermartingale from 1 if ``P <= pi`` (and ``E-`` likewise if ``P >= pi``). So by Ville's inequality
it *ever* reaches 1 / alpha with probability at most alpha: looking after every batch costs nothing. An epsilon *holds*
when E+ gets there, *fails* when E- does, and is left undecided when the most collections allowed are spent.

**Search.** Bisection, then from both sides of what stays undecided, each test with alpha = error / J. At one epsilon
one of the two verdicts is wrong at most. In the bisection all epsilons see the same noise in standard units (common
random numbers), so verdicts near each other hardly ever contradict. Which epsilons it tests depends on that noise; but
as long as every verdict is right its path is fixed beforehand, so the first wrong one is at an epsilon of that path.
After an undecided test this argument ends (the next epsilon would be chosen by the very noise it is tested with), so
from there on every test has fresh noise, and errs with probability alpha at most whatever was seen before. J counts
the path and the tests with fresh noise: all verdicts are right together with probability ``1 - error``, however the
probability depends on epsilon.

*Guarantee.* With probability at least ``1 - error`` over the simulations, the constraint holds with probability at
least pi at ``upper``, and fails to at ``lower``. If its probability rises with epsilon, as it does for all protocols
here up to rounding of their whole parameters, the least epsilon lies between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from mechdesign.errors import InvalidInput, NoAnswer, require_number, require_whole
from mechdesign.studies.budgets.ledger import BATCH, COMMON, Ledger, RunTally, Say
from mechdesign.studies.budgets.searches import MOST_COUNT, Range, SearchLook, unmet_constraint
from mechdesign.values.declare import frozen
from mechdesign.values.later import special

ERROR = 0.05
MOST_RUNS = 20_000
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


@frozen
class Verdict:
    """What the test said at one epsilon, after how many collections."""

    epsilon: float
    verdict: str
    tally: RunTally


@frozen
class Bracket:
    """The constraint holds at ``upper`` and fails at ``lower``, together wrong with probability at most ``error``.

    ``lower`` is None if no epsilon of the range was found to fail. ``verdicts`` is the evidence.
    """

    lower: float | None
    upper: float
    error: float
    verdicts: tuple[Verdict, ...]

    @property
    def epsilon(self) -> float:
        """The budget to use: the end at which the constraint holds."""
        return self.upper

    @property
    def undecided(self) -> tuple[Verdict, ...]:
        """Epsilons inside the bracket that the collections allowed did not decide: what keeps it wide."""
        return tuple(verdict for verdict in self.verdicts if verdict.verdict == UNDECIDED)

    def width(self, span: Range) -> float:
        """How long it is; where nothing was found to fail, from the start of the range."""
        return self.upper - (span.least if self.lower is None else self.lower)

    def is_wide(self, span: Range) -> bool:
        """Whether it is longer than the precision asked for, up to rounding."""
        return self.width(span) > span.phi * (1 + 1e-9)

    @property
    def simulations(self) -> int:
        return sum(verdict.tally.runs for verdict in self.verdicts)


def search(
    ledger: Ledger, span: Range, say: Say = lambda _: None, *, error: float = ERROR, most_runs: int = MOST_RUNS
) -> Bracket:
    """The interval, no longer than ``span.phi`` unless epsilons inside it stay undecided."""
    chance = require_number(error, "error")
    if not 1e-9 <= chance < 0.5:
        raise InvalidInput("error", error, "lie between 1e-9 and 0.5", f"for example error={ERROR}")
    require_whole(most_runs, "most runs", BATCH, MOST_COUNT)
    alpha = chance / most_tests(span)
    verdicts: list[Verdict] = []

    def at(epsilon: float) -> str:
        found = decide(ledger, epsilon, alpha, most_runs)
        verdicts.append(found)
        return found.verdict

    def afresh(epsilon: float) -> str:
        found = decide(ledger, epsilon, alpha, most_runs, stream=1 + len(verdicts))
        verdicts.append(found)
        return found.verdict

    say(f"eps = {span.most:g}")
    top = at(span.most)
    if top == FAILS:
        looks = [SearchLook(verdict.epsilon, verdict.tally, False) for verdict in verdicts]
        raise unmet_constraint(ledger.question, span, looks)
    if top == UNDECIDED:
        share = verdicts[-1].tally.share
        reason = (
            f"{most_runs} collections do not decide eps = {span.most:g}, where {share:.4g} of them met the constraint"
        )
        raise NoAnswer(reason, span.least, math.inf)
    bottom = at(span.least)
    if bottom == HOLDS:
        return Bracket(None, span.least, chance, tuple(verdicts))
    low, high = span.least, span.most
    dark = (low, low) if bottom == UNDECIDED else None
    while dark is None and high - low > span.phi:
        say(f"eps in [{low:.4g}, {high:.4g}]")
        middle = (low + high) / 2
        verdict = at(middle)
        if verdict == HOLDS:
            high = middle
        elif verdict == FAILS:
            low = middle
        else:
            dark = (middle, middle)
    if dark is not None:
        _look_around(dark, low, high, span, afresh, say)
    failing = max((verdict.epsilon for verdict in verdicts if verdict.verdict == FAILS), default=None)
    holding = [verdict.epsilon for verdict in verdicts if verdict.verdict == HOLDS]
    return Bracket(failing, min(eps for eps in holding if failing is None or eps > failing), chance, tuple(verdicts))


def _look_around(
    dark: tuple[float, float], low: float, high: float, span: Range, at: Callable[[float], str], say: Say
) -> None:
    """Verdicts on both sides of an epsilon that stayed undecided, each to within half of ``phi``."""
    first, last = dark
    while high - last > span.phi / 2:
        say(f"eps in [{low:.4g}, {high:.4g}]")
        middle = (last + high) / 2
        verdict = at(middle)
        last, high = (last, middle) if verdict == HOLDS else (middle, high)
    while first - low > span.phi / 2:
        say(f"eps in [{low:.4g}, {high:.4g}]")
        middle = (low + first) / 2
        verdict = at(middle)
        low, first = (middle, first) if verdict == FAILS else (low, middle)


def most_tests(span: Range) -> int:
    """J: the two ends, the path of the bisection, and the halvings on both sides of an undecided epsilon.

    >>> most_tests(Range(0.001, 20.0, 0.01))
    37
    """
    length = span.most - span.least
    path, sides = math.ceil(math.log2(length / span.phi)), math.ceil(math.log2(length / (span.phi / 2)))
    return 2 + path + 2 * sides


def decide(ledger: Ledger, epsilon: float, alpha: float, most_runs: int, stream: int = COMMON) -> Verdict:
    """The sequential test at one epsilon: it looks after every batch and stops as soon as it can."""
    probability, bar = ledger.question.constraint.probability, math.log(1 / alpha)
    tally, batch = RunTally(), 0
    while tally.runs + BATCH <= most_runs:
        tally += ledger.batch(epsilon, stream, batch)
        batch += 1
        if evidence_above(tally.met, tally.runs, probability) >= bar:
            return Verdict(epsilon, HOLDS, tally)
        if evidence_above(tally.runs - tally.met, tally.runs, 1 - probability) >= bar:
            return Verdict(epsilon, FAILS, tally)
    return Verdict(epsilon, UNDECIDED, tally)


def evidence_above(met: int, runs: int, probability: float) -> float:
    """``log E+``: the evidence that what happened ``met`` times in ``runs`` is likelier than ``probability``.

    >>> round(evidence_above(1, 1, 0.5), 6) == round(math.log(1.5), 6)  # int_.5^1 x dx / (.5 * .5)
    True
    """
    missed = runs - met
    tail = float(special.betaincc(met + 1, missed + 1, probability))
    if tail == 0.0:
        return -math.inf
    null = met * math.log(probability) + missed * math.log1p(-probability) + math.log1p(-probability)
    return float(special.betaln(met + 1, missed + 1)) + math.log(tail) - null
