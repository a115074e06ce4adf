"""Which problems a cap on the worst case is answered for: an average under a prior on an interval."""

from __future__ import annotations

from typing import Any, NamedTuple

from mechdesign.exact.cuts import coarse_cells, rounded_to_atoms
from mechdesign.methods.line import Line, line_of, missing_on_line
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Lexicographic
from mechdesign.words.problem import Problem

MOST_ATOMS = 256
"""A prior of more values is rounded to this many cell means, which keeps its mean."""

LEAST_SLACK = 1e-5


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.criterion, Lexicographic):
        return "the criterion must be Lexicographic(prior)"
    if not LEAST_SLACK <= problem.criterion.slack < 1:
        return f"slack must lie between {LEAST_SLACK:g} and 1"
    return missing_on_line(problem)


class Cap(NamedTuple):
    """Numbers of an interval, and what a worst case may be: ``cap``, or ``1 + slack`` times the least."""

    line: Line
    slack: float
    cap: float | None

    @property
    def exponent(self) -> int:
        return int(self.line.exponent)

    @property
    def atoms(self) -> Cells:
        """The prior the average is taken under."""
        return rounded_to_atoms(self.line.prior, MOST_ATOMS)

    @property
    def is_rounded(self) -> bool:
        return not coarse_cells(self.line.prior, MOST_ATOMS).are_atoms


def capped_of(problem: Any) -> Cap:
    """What the problem asks, or `CheckFailed`: evidence may be given any problem."""
    line = line_of(problem, supports)
    return Cap(line, problem.criterion.slack, problem.criterion.cap)
