"""The coarsest grid and the shortest reach that are good enough for additive noise."""

from __future__ import annotations

from mechdesign.errors import InvalidInput, NoAnswer, require_finite, require_whole
from mechdesign.mechanisms.catalogue import SYMMETRIC
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.methods.additive.supports import fits, span
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen
from mechdesign.words.classes import MOST_BINS, OnGrid
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Squared
from mechdesign.words.priors import Prior
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

_FIRST_BINS, _MOST_TRIED = 4, 128
_LEAST_WITHIN = 1e-4


@frozen
class Trial:
    """A grid that was tried: average variance on it, and in ``total`` with what rounding to it adds."""

    bins: int
    reach: int
    variance: float
    total: float
    seconds: float

    @property
    def span(self) -> float:
        """The paper's ``q = |A| / |X|``."""
        return span(self.bins, self.reach)


@frozen
class Tuning:
    """The design that was chosen with its trial, and all grids that were tried on the way.

    ``stopped`` says what ended the search before finer grids, or a shorter reach, were known to be of no use.
    """

    design: Design
    best: Trial
    trials: tuple[Trial, ...]
    stopped: str | None = None


def tune(
    epsilon: float,
    prior: Prior,
    inputs: Interval = SYMMETRIC,
    within: float = 1e-3,
    most_bins: int = _MOST_TRIED,
    seconds: float | None = None,
) -> Tuning:
    """The coarsest grid, and then the shortest reach, whose total variance is ``within`` of the best one tried.

    Grids that double their bins only get better: the mechanism of a grid is one on the next. Doubling ends where it
    gains less than half of ``within``, halving the reach where that costs more than what is left of it. If
    ``most_bins`` or ``seconds`` end the search before, the best grid so far is the answer and ``stopped`` says why; a
    search without any grid is `NoAnswer`.

    >>> from mechdesign.words.priors import normal
    >>> tuning = tune(1.0, normal(0, 0.2, SYMMETRIC), within=0.01)
    >>> tuning.best.bins, len(tuning.trials)
    (8, 6)
    """
    from mechdesign.methods.additive.search import answer, total_variance

    if not _LEAST_WITHIN <= require_finite(within, "within") < 1:
        raise InvalidInput("within", within, f"lie between {_LEAST_WITHIN:g} and 1")
    require_whole(most_bins, "most bins", _FIRST_BINS, MOST_BINS)
    clock = Clock(seconds)
    trials: list[Trial] = []
    designs: list[Design] = []

    def attempt(bins: int, reach: int | None = None) -> float:
        among, criterion = OnGrid(bins, reach), Average(prior)
        problem = Problem(inputs=inputs, loss=Squared(), privacy=Pure(epsilon), criterion=criterion, among=among)
        design = answer(problem, Demands(within / 10, clock.left()))
        assert isinstance(design.mechanism, ConditionalNoise)
        total = total_variance(design.mechanism, prior)
        trials.append(Trial(bins, design.mechanism.reach, design.certificate.upper, total, design.report.seconds))
        designs.append(design)
        return total

    stopped = gained = None
    last, bins = attempt(_FIRST_BINS), 2 * _FIRST_BINS
    try:
        while bins <= most_bins and fits(epsilon, bins):
            total = attempt(bins)
            gained = (last - total) / total
            if gained <= within / 2:
                break
            last, bins = total, 2 * bins
        else:
            tail = "" if gained is None else f", although the last doubling still gained {100 * gained:.2g}%"
            stopped = f"grids of more than {bins // 2} bins were not tried{tail}"
    except NoAnswer as ended:
        stopped = f"the grid of {bins} bins was not solved: {ended.reason}"
    most = (1 + within) * min(trial.total for trial in trials)
    best = next(k for k, trial in enumerate(trials) if trial.total <= most)
    try:
        while trials[best].reach > 1 and attempt(trials[best].bins, trials[best].reach // 2) <= most:
            best = len(trials) - 1
    except NoAnswer as ended:
        stopped = stopped or f"a shorter reach than {trials[best].reach} steps was not solved: {ended.reason}"
    return Tuning(designs[best], trials[best], tuple(trials), stopped)
