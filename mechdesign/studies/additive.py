"""Unbiased noise for means: the optimum of additive noise on a grid, that of any reports, and what is published."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from mechdesign.field import Field, Rank, Row, field_of
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.additive.supports import grid_of, span
from mechdesign.methods.additive.tuning import Trial, Tuning, tune
from mechdesign.methods.result import Design
from mechdesign.methods.summary import certificate_words, mechanism_words, worst_variance
from mechdesign.studies.designed import Beside, Designed, above, gap_lines, grid
from mechdesign.studies.optimum import SECONDS
from mechdesign.values.answers import Answer, Say, if_shown, silent
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved, frozen, one_of
from mechdesign.values.tables import Grid, number, printable
from mechdesign.words.classes import OnGrid, Unbiased
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power
from mechdesign.words.priors import Atoms, Prior
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Form = Literal["additive", "free"]

ADDITIVE: Form = "additive"
FREE: Form = "free"
NAMES: dict[Form, str] = {ADDITIVE: "additive, reports on the grid", FREE: "free reports"}
_GAP = 1e-4  # that both are solved to, unless another is asked
_TUNING_SHARE = 0.5  # of the time limit: the rest is for the optima on the grid that was chosen
_SQUARED = Power(2.0)


@frozen
class AdditiveStudy:
    """Both optima of a problem; with ``tuned`` on the grid that has the least variance, rounding to it included.

    ``form`` is which of the two designs the answer is about, ``clipped`` the share of the data that was moved into the
    bounds, and ``notes`` is what the numbers do not say.
    """

    problem: Problem
    tuned: bool = False
    form: Form = one_of("form", NAMES, default=ADDITIVE)
    seconds: float = SECONDS
    gap: float | None = None
    compare: bool = True
    clipped: float = 0.0
    notes: tuple[str, ...] = ()

    reads: ClassVar[tuple[Path, ...]] = ()
    keeps: ClassVar[tuple[Path, ...]] = ()

    @property
    def doing(self) -> str:
        return f"additive optimum at eps = {self.problem.epsilon:g}"

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> AdditiveOptimum:
        """Both optima and the field."""
        from mechdesign.methods.registry import solve

        clock, problem, tuning, gap = Clock(self.seconds), self.problem, None, _GAP if self.gap is None else self.gap
        if self.tuned:
            assert isinstance(problem.inputs, Interval)
            tuning = tune(problem.epsilon, _prior(problem), problem.inputs, seconds=_TUNING_SHARE * self.seconds)
            problem = evolved(problem, among=OnGrid(tuning.best.bins, tuning.best.reach))
        found = None if tuning is None else tuning.design
        if found is None or found.certificate.relative_gap > gap:
            found = solve(problem, clock.left(), gap=gap)
        say(f"optimum with free reports at eps = {problem.epsilon:g}")
        free, size = evolved(problem, among=Unbiased()), grid_of(problem)[0].bins + 1
        designs: dict[Form, Design] = {ADDITIVE: found, FREE: solve(free, clock.left(), gap=gap, size=size)}
        say("published mechanisms")
        ranked = _with_totals(designs, _prior(problem)) if self.compare else None
        stopped = () if tuning is None or tuning.stopped is None else (f"--tune: {tuning.stopped}",)
        return AdditiveOptimum(problem, designs, self.form, ranked, tuning, self.clipped, self.notes + stopped)


def _prior(problem: Problem) -> Prior:
    """The prior itself, before it is rounded to the grid."""
    return cast(Prior, problem.criterion.prior)


def _with_totals(designs: Mapping[Form, Design], prior: Prior) -> Field:
    """The field of both designs, with the averages under the prior itself."""
    found = field_of({NAMES[name]: design for name, design in designs.items()})
    laws = {**found.mechanisms} | {NAMES[name]: design.own_law for name, design in designs.items()}

    def total(name: str) -> float:
        return cast(ScalarMechanism, laws[name]).average_loss(_SQUARED, prior)

    return evolved(found, rows=tuple(evolved(row, total=total(row.name)) for row in found.rows))


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class Optimum:
    """The interval on an optimum; ``total`` is the variance under the prior itself, rounding to the grid included."""

    lower: float
    upper: float
    valid_for: str
    claimed: bool
    privacy_loss: float
    total: float
    seconds: float

    @classmethod
    def of(cls, design: Design, prior: Prior) -> Optimum:
        found = design.certificate
        ends = (found.lower, found.upper, found.valid_for, found.claimed, found.privacy_loss)
        return cls(*ends, _mechanism(design).average_loss(_SQUARED, prior), design.report.seconds)


@frozen
class Tried:
    """A grid that was tried."""

    bins: int
    reach: int
    variance: float
    total: float
    seconds: float
    span: float

    @classmethod
    def of(cls, trial: Trial) -> Tried:
        return cls(trial.bins, trial.reach, trial.variance, trial.total, trial.seconds, trial.span)


@frozen
class Both:
    """Both optima, and what else is known of the one with additive noise."""

    form: Form
    additive: float
    free: float
    optima: Mapping[str, Optimum]
    span: float
    clipped: float
    notes: tuple[str, ...]
    tuning: tuple[Tried, ...] | None
    baselines: Mapping[str, float] | None = if_shown()
    best_published: str | None = if_shown()


@frozen
class AdditiveOptimum(Answer):
    """Both optima with their field; ``design`` is the one that was asked for."""

    problem: Problem
    designs: Mapping[Form, Design]
    form: Form
    rivalry: Field | None
    tuning: Tuning | None
    clipped: float
    notes: tuple[str, ...]

    @property
    def design(self) -> Design:
        return self.designs[self.form]

    @property
    def rows(self) -> Sequence[Row]:
        return () if self.rivalry is None else self.rivalry.rows

    @property
    def said(self) -> tuple[Any, ...]:
        rows = None if self.rivalry is None else self.rivalry.rows
        return Designed.of(self.design), Beside(None, worst_variance(self.design), rows), self.both

    @property
    def both(self) -> Both:
        """What is said of both designs together."""
        published = None if self.rivalry is None else self.rivalry.rivals
        prior = _prior(self.problem)
        return Both(
            self.form,
            self.designs[ADDITIVE].certificate.upper,
            self.designs[FREE].certificate.upper,
            {name: Optimum.of(design, prior) for name, design in self.designs.items()},
            self._span,
            self.clipped,
            self.notes,
            None if self.tuning is None else tuple(map(Tried.of, self.tuning.trials)),
            None if published is None else {row.name: row.by(Rank.AVERAGE) for row in published},
            None if published is None else published[0].name,
        )

    def plot(self) -> Figure:
        """The noise over the prior on the grid."""
        from mechdesign.plot.designs import noise_figure

        prior = self.designs[ADDITIVE].problem.criterion.prior
        assert isinstance(prior, Atoms)
        return noise_figure(_mechanism(self.design), prior)

    @property
    def _span(self) -> float:
        grid, reach, _ = grid_of(self.problem)
        return span(grid.bins, reach)

    def shown(self) -> Iterator[Grid | str]:
        problem, said = self.problem, self.both
        if self.tuning is not None:
            lines = [_cells(trial, trial == self.tuning.best) for trial in self.tuning.trials]
            headings = ["N", "M", "|A|/|X|", "on the grid", "under the prior itself", "seconds", ""]
            yield grid("Grids tried", headings, lines, left=0)
            yield ""
        prior = printable(getattr(_prior(problem), "name", "data"))
        where = f"{problem.inputs}, eps = {problem.epsilon:g}"
        yield f"unbiased mechanisms on {where}, prior: {prior} on {grid_of(problem)[0].bins + 1} inputs\n"
        if said.clipped:
            yield f"{100 * said.clipped:.3g}% of the rows were moved into the bounds\n"
        for form, design in self.designs.items():
            what = f"variance under the prior, {NAMES[form]}"
            yield certificate_words(design.certificate, what, _mechanism(design))
            yield from gap_lines(design)
            yield ""
        total = said.optima[ADDITIVE].total
        yield (
            f"{mechanism_words(_mechanism(self.designs[ADDITIVE]))}, |A|/|X| = {said.span:.3g}\n"
            f"  rounding to the grid adds {number(total - said.additive)}: "
            f"variance {number(total)} under the prior itself"
        )
        if self.rivalry is not None:
            yield ""
            yield from _ranked(self.rivalry, said)
        for note in said.notes:
            yield f"\nnote: {note}"


def _ranked(field: Field, said: Both) -> Iterator[Grid | str]:
    lines = [
        [row.name, *map(number, (row.by(Rank.AVERAGE), row.total or 0.0)), above(row.above_optimum)]
        for row in field.rows
    ]
    headings = ["mechanism", "on the grid", "under the prior itself", "above free optimum"]
    yield grid("Average variance under the prior", headings, lines)
    best = field.rivals[0]
    yield (
        f"\nbest published: {best.name}, {number(best.by(Rank.AVERAGE))}; "
        f"additive noise has {said.additive / best.by(Rank.AVERAGE):.4g} of its variance"
    )


def _cells(trial: Trial, is_best: bool) -> list[str]:
    numbers = [f"{trial.span:.3g}", number(trial.variance), number(trial.total), f"{trial.seconds:.2f}"]
    return [str(trial.bins), str(trial.reach), *numbers, "chosen" if is_best else ""]


def _mechanism(design: Design) -> ConditionalNoise | UnbiasedWindow:
    assert isinstance(design.mechanism, ConditionalNoise | UnbiasedWindow)
    return design.mechanism


ANSWERS = ((Designed, Beside, Both),)
