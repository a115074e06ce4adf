"""The certified optimum where every pair of inputs has an epsilon of its own, and what a Bayesian adversary keeps."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mechdesign.errors import NoAnswer
from mechdesign.field import field_of
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.pairwise.proof import output_columns
from mechdesign.methods.pairwise.rivals import adversary_error
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.methods.result import Design, is_open
from mechdesign.methods.summary import certificate_words, gap_text, gap_words, standing
from mechdesign.methods.words import excess, heading, is_lexicographic
from mechdesign.plot.designs import names_of
from mechdesign.studies.designed import Designed, above, finite_lines, grid
from mechdesign.studies.optimum import with_options
from mechdesign.values.answers import Answer, Say, if_shown, silent
from mechdesign.values.declare import frozen
from mechdesign.values.tables import Grid, number
from mechdesign.words.classes import InPlane
from mechdesign.words.criteria import Worst
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECONDS = 300.0


@frozen
class PairsStudy:
    """A problem of pairs or of a metric, answered and ranked; ``gap`` left out is one within reach of so many places.

    >>> import mechdesign as md
    >>> problem = md.Problem(loss=md.Distances(1.0), privacy=md.Metric([[0.0], [1.0], [2.0]], 1.0))
    >>> PairsStudy(problem).answer().around.adversary_error is None
    True
    """

    problem: Problem
    seconds: float = SECONDS
    gap: float | None = None
    best_so_far: bool = False
    compare: bool = True

    reads: ClassVar[tuple[Path, ...]] = ()
    keeps: ClassVar[tuple[Path, ...]] = ()

    @property
    def doing(self) -> str:
        return f"certified optimum, {self.problem.words.privacy}"

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> PairsOptimum:
        """The optimum, its rivals, and what is not protected."""
        notes = pairs_of(self.problem).notes
        for note in notes:
            warn(note)
        design = self._solved(say)
        if is_open(design):
            said = design.report.details.get("stopped", "the search ended")
            gap = gap_text(design.certificate)
            warn(f"{said}: the best design so far, proven to within a relative gap of {gap}")
        say("published mechanisms")
        if not self.compare:
            return PairsOptimum(design, Around(notes))
        return PairsOptimum(design, Around(notes, _rivals(design), _adversary_error(design)))

    def _solved(self, say: Say) -> Design:
        from mechdesign.methods.registry import solve

        def heard(lower: float, upper: float) -> None:
            ends = f", between {lower:.6g} and {upper:.6g}" if 0 < lower <= upper else ""
            say(f"{self.doing}{ends}")

        try:
            return solve(self.problem, self.seconds, gap=self.gap, say=heard)
        except NoAnswer as stopped:
            if self.best_so_far and stopped.design is not None:
                found: Design = stopped.design
                return found
            raise with_options(stopped, stopped.reason) from None


def usual_gap(problem: Problem) -> float | None:
    """A gap within reach of many places; None is that of the method."""
    size, is_worst = len(problem.numbers), isinstance(problem.criterion, Worst)
    if isinstance(problem.among, InPlane):
        return 1e-3 if size <= 16 else 1e-2 if size <= 40 else 0.1
    if size <= 128:
        return None
    return 1e-3 if size <= (200 if is_worst else 600) else 0.1


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class Rival:
    """A published mechanism: its expected loss between two ends, and how far above the optimum it is at least.

    Beside a lexicographic optimum it is the worst-case loss, above that of the design, which is next to the least.
    """

    name: str
    lower: float
    upper: float
    above_optimum: float | None


@frozen
class Around:
    """Beside a design for pairs: rivals, what a Bayesian adversary is left with, what must be said of privacy."""

    notes: tuple[str, ...]
    comparison: tuple[Rival, ...] | None = if_shown()
    adversary_error: float | None = if_shown()


@frozen
class PairsOptimum(Answer):
    """One certified optimum: certificate, mechanism, rivals, and what is not protected."""

    design: Design
    around: Around

    @property
    def said(self) -> tuple[Any, ...]:
        return Designed.of(self.design), self.around

    @property
    def rows(self) -> Sequence[Rival]:
        return self.around.comparison or ()

    def plot(self) -> Figure:
        """The picture of the design."""
        return self.design.plot()

    def shown(self) -> Iterator[Grid | str]:
        problem, table = _of(self.design)
        what = problem.words.headline
        yield f"{standing(self.design)} for {heading(problem)}\n"
        yield certificate_words(self.design.certificate, what, table)
        yield gap_words(self.design.certificate)
        if self.around.adversary_error is not None:
            known = "a Bayesian adversary who knows the prior and guesses one of the places"
            yield f"  {known} is left with an expected loss of {self.around.adversary_error:.6g}"
        yield ""
        yield from finite_lines(table, *names_of(table, problem.words.labels))
        if self.around.comparison:
            rows = [
                [row.name, number(row.lower), number(row.upper), above(row.above_optimum, at_least=True)]
                for row in self.around.comparison
            ]
            by = "worst-case loss" if is_lexicographic(problem) else what
            yield grid(f"Rivals: {by}", ["mechanism", "at least", "at most", excess(problem)], rows)


def _of(design: Design) -> tuple[Problem, Discrete]:
    problem, table = design.problem, design.mechanism
    assert isinstance(table, Discrete)
    return problem, table


def _rivals(design: Design) -> tuple[Rival, ...]:
    """Published mechanisms, the best first."""
    field = field_of(design)
    return tuple(Rival(row.name, *row.ends(field.rank), row.above_optimum) for row in field.rivals)


def _adversary_error(design: Design) -> float | None:
    """What is left to an adversary who knows the prior."""
    problem, table = _of(design)
    if problem.weights is None:
        return None
    wide = np.zeros((len(table.inputs), problem.table.width))
    wide[:, output_columns(table, problem)] = table.probabilities
    return adversary_error(wide, problem)


ANSWERS = ((Designed, Around),)
