"""The least noise of linear queries about shares of types: the certified design, each query's noise, and the field."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from mechdesign.data.matrices import read_matrix
from mechdesign.errors import InvalidInput, NoAnswer, require_whole
from mechdesign.field import Field, Rank, field_of
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.methods.result import Design
from mechdesign.methods.summary import certificate_words, gap_text, standing
from mechdesign.methods.words import heading
from mechdesign.methods.workload.estimator import query_noises
from mechdesign.methods.workload.grid_proof import GridBound
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.supports import workload_of
from mechdesign.studies.designed import Beside, Designed, above, gap_lines, grid
from mechdesign.studies.optimum import SECONDS, with_options
from mechdesign.values.answers import Answer, Say, if_shown, silent
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats, array, field, frozen, optional
from mechdesign.values.tables import Grid, number
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Finite
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_SHOWN = 24


@frozen
class WorkloadStudy:
    """Queries answered with the least noise, ranked beside what is published and ``own`` channels by name.

    With ``users`` it says what so many users' answers are worth.
    """

    problem: Problem
    users: int | None = field(default=None, converter=optional(lambda said: require_whole(said, "users", 1)))
    own: Mapping[str, Mechanism] = field(factory=dict)
    seconds: float = SECONDS
    gap: float | None = None
    best_so_far: bool = False
    compare: bool = True

    reads: ClassVar[tuple[Path, ...]] = ()
    keeps: ClassVar[tuple[Path, ...]] = ()

    @property
    def doing(self) -> str:
        return f"least noise of {workload_of(self.problem).queries.words}"

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> LeastNoise:
        """The design with the least noise, and its field."""
        design = self._solved(say, warn)
        say("published mechanisms")
        ranked = field_of(design, self.own) if self.compare else None
        return LeastNoise(design, ranked, query_noises(design), self.users, self.own)

    def _solved(self, say: Say, warn: Say) -> Design:
        from mechdesign.methods.registry import solve

        clock = Clock(self.seconds)

        def heard(low: float, high: float) -> None:
            say(f"noise from {max(low, 0):.6g} to {high:.6g}, so far")

        try:
            return solve(self.problem, self.seconds, gap=self.gap, method="workload", say=heard)
        except NoAnswer as stopped:
            if not self.best_so_far or stopped.design is None:
                more = "more time may close it, or a wider --gap" if clock.is_over else "more time does not change that"
                raise with_options(stopped, f"{stopped.reason}; {more}") from None
            warn(f"{stopped.reason}: the best design so far")
            return cast(Design, stopped.design)


def channel_of_file(path: Path, problem: Problem) -> Mechanism:
    """A channel of one's own, a row a type."""
    table = read_matrix(path, "channel").values
    if table.shape[0] != len(problem.numbers):
        raise InvalidInput("rival", table.shape, f"have a row for each of the {len(problem.numbers)} types")
    return Discrete(problem.epsilon, problem.numbers, Finite(tuple(range(table.shape[1]))), table, path.name)


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class Query:
    """One query: the variance of the noise in one user's answer, on average over the types and at the worst one."""

    name: str
    variance: float
    worst: float


@frozen
class OfWorkload:
    """Each query; with ``--users``, what is expected of their answers together."""

    queries: tuple[Query, ...]
    users: int | None = if_shown()
    total_variance: float | None = if_shown()
    mean_deviation: float | None = if_shown()


@frozen
class LeastNoise(Answer):
    """The design, the noise of every query, and the field."""

    design: Design
    rivalry: Field | None
    noises: Floats = array()
    users: int | None = None
    own: Mapping[str, Mechanism] = field(factory=dict)

    @property
    def problem(self) -> Problem:
        return self.design.problem

    @property
    def rows(self) -> Sequence[Query]:
        names = workload_of(self.problem).queries.names
        return tuple(Query(name, *own) for name, own in zip(names, self.noises.tolist(), strict=True))

    @property
    def said(self) -> tuple[Any, ...]:
        beside = Beside(self.least_favourable, None, None if self.rivalry is None else self.rivalry.rows)
        return Designed.of(self.design), beside, self._of_workload()

    def _of_workload(self) -> OfWorkload:
        if self.users is None:
            return OfWorkload(tuple(self.rows))
        deviation = math.sqrt(float(self.noises[:, 0].mean()) / self.users)
        return OfWorkload(tuple(self.rows), self.users, self.design.certificate.upper / self.users, deviation)

    @property
    def least_favourable(self) -> Atoms | None:
        """The prior no mechanism has less noise under, where the worst type was asked."""
        if not isinstance(self.problem.criterion, Worst):
            return None
        prior = cast(WorkloadBound | GridBound, self.design.evidence).weights_of_types(self.problem)
        return Atoms(np.arange(prior.size, dtype=float), prior / prior.sum())

    def plot(self) -> Figure:
        """The design and the noise of what is ranked beside it."""
        from mechdesign import plot

        return plot.workload_design(
            self.design, field_of(self.design, self.own) if self.rivalry is None else self.rivalry
        )

    def shown(self) -> Iterator[Grid | str]:
        design, problem = self.design, self.problem
        yield f"{standing(design)} for {heading(problem)}\n"
        yield certificate_words(design.certificate, problem.words.headline, design.own_law)
        yield from gap_lines(design)
        law = cast(Discrete, design.mechanism)
        yield f"mechanism: a table of {len(law.inputs)} types and {len(law.outputs)} reports"
        least = self.least_favourable
        if least is not None:
            shares = ", ".join(f"{share:.4g}" for share in least.weights[:_MOST_SHOWN])
            more = ", ..." if least.weights.size > _MOST_SHOWN else ""
            yield f"least favourable shares: {shares}{more}"
        yield ""
        yield self._noise()
        if len(self.noises) > _MOST_SHOWN:
            yield f"  and {len(self.noises) - _MOST_SHOWN} more; --json has them all"
        if self.rivalry is not None:
            lines = [
                [row.name, *map(number, map(row.by, (Rank.AVERAGE, Rank.WORST))), above(row.above_optimum)]
                for row in self.rivalry.rows
            ]
            yield ""
            yield grid(
                workload_of(problem).summed.capitalize(), ["mechanism", "average", "worst type", "above optimum"], lines
            )
        yield f"\nproven to within {gap_text(design.certificate)}; ship it: --out design.json, then table"

    def _noise(self) -> Grid:
        rows = [[row.name, number(row.variance), number(row.worst)] for row in self.rows[:_MOST_SHOWN]]
        headings = ["query", "variance", "at the worst type"]
        if self.users is not None:
            deviations = [math.sqrt(row.variance / self.users) for row in self.rows[:_MOST_SHOWN]]
            rows = [[*row, number(deviation)] for row, deviation in zip(rows, deviations, strict=True)]
            headings.append(f"deviation, {self.users:,} users")
        return grid("Noise of each query, one user", headings, rows)


ANSWERS = ((Designed, Beside, OfWorkload),)
