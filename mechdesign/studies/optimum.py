"""Certified optima: one with its field, several over epsilon, or the trade-off of worst case and average.

A study of this kind asks a design problem and ranks what is published against its answer. Where a limit comes first
there is no answer but `NoAnswer`, which says what does; with ``best_so_far`` the best design found stands for one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.field import THIS, Field, Rank, Row, field_of
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.methods.minimax.supports import supports
from mechdesign.methods.result import Design, gap_asked, is_open
from mechdesign.methods.summary import certificate_words, gap_text, standing, worst_variance
from mechdesign.methods.words import below, excess, heading, is_lexicographic, other_goal, power_of
from mechdesign.plot.designs import gathered, is_based, least_favourable
from mechdesign.studies import designed
from mechdesign.studies.designed import Beside, Designed, Several, above, gap_lines, grid, mechanism_lines
from mechdesign.values.answers import Answer, Say, if_shown, merged, silent
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved, field, frozen
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.values.tables import Grid, number, printable
from mechdesign.words.classes import UnbiasedClass
from mechdesign.words.losses import Power
from mechdesign.words.priors import Atoms, Density
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECONDS = 120.0
POINTS = 7
_RANKED_BY = {Rank.WORST: "worst case", Rank.AVERAGE: "average", Rank.AT: "error at that input"}
"""As the headings of columns have it."""


# -- questions --------------------------------------------------------------------------------------------------------


@frozen
class OptimumStudy:
    """One certified optimum, and the field: what is published, with ``own`` mechanisms by name in it.

    >>> import mechdesign as md
    >>> problem = md.Problem(loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]], privacy=md.Pure(1.0))
    >>> OptimumStudy(problem).answer().frame()["name"].tolist()
    ['this design', 'grr', 'best single output']
    """

    problem: Problem
    seconds: float = SECONDS
    gap: float | None = None
    best_so_far: bool = False
    compare: bool = True
    options: Mapping[str, Any] = field(factory=dict)
    own: Mapping[str, Mechanism] = field(factory=dict)

    reads: ClassVar[tuple[Path, ...]] = ()
    keeps: ClassVar[tuple[Path, ...]] = ()

    @property
    def doing(self) -> str:
        return f"certified optimum at eps = {self.problem.epsilon:g}"

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> Optimum:
        """The optimum and its field."""
        problem = self.problem
        asked = problem, [problem.epsilon], self.seconds, self.gap, self.options
        design = next(_solved(*asked, best_so_far=self.best_so_far))
        _warn_where_open([design], warn)
        say("published mechanisms")
        return Optimum(design, field_of(design, self.own) if self.compare else None, problem)


@frozen
class SweepStudy:
    """One certified optimum an epsilon, against the best published mechanism there."""

    problem: Problem
    epsilons: tuple[float, ...] = field(converter=tuple)
    seconds: float = SECONDS
    gap: float | None = None
    best_so_far: bool = False
    compare: bool = True
    options: Mapping[str, Any] = field(factory=dict)

    doing: ClassVar[str] = "certified optima"
    reads: ClassVar[tuple[Path, ...]] = ()
    keeps: ClassVar[tuple[Path, ...]] = ()

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> Sweep:
        """The optima, in ``seconds`` altogether."""
        designs: list[Design] = []
        asked = self.problem, self.epsilons, self.seconds, self.gap, self.options
        for design in _solved(*asked, best_so_far=self.best_so_far):
            designs.append(design)
            so_far = f"{len(designs)} of {len(self.epsilons)}, up to eps = {design.problem.epsilon:g}"
            say(f"certified optima: {so_far}")
        _warn_where_open(designs, warn)
        fields = tuple(map(field_of, designs)) if self.compare else None
        return Sweep(tuple(designs), fields, self.problem)


@frozen
class ParetoStudy:
    """The certified curve from the least worst case to the least average, and where the published mechanisms are."""

    problem: Problem
    points: int = POINTS
    seconds: float = SECONDS
    gap: float | None = None
    best_so_far: bool = False
    compare: bool = True

    reads: ClassVar[tuple[Path, ...]] = ()
    keeps: ClassVar[tuple[Path, ...]] = ()

    @property
    def doing(self) -> str:
        return f"certified trade-off, {self.points} points at eps = {self.problem.epsilon:g}"

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> Pareto:
        """The designs along the curve."""
        from mechdesign.methods.trade_off.search import pareto

        try:
            designs = pareto(self.problem, self.points, self.seconds, gap=self.gap, best_so_far=self.best_so_far)
        except NoAnswer as stopped:
            raise with_options(stopped, stopped.reason) from None
        _warn_where_open(designs, warn)
        places = tuple(_on_curve(design, _power(self.problem)) for design in designs)
        return Pareto(
            self.problem, tuple(designs), places, tuple(_beside_curve(designs[0], places)) if self.compare else None
        )


# -- answers, and where they are not found in time --------------------------------------------------------------------


def _solved(
    problem: Problem,
    epsilons: Sequence[float],
    seconds: float,
    gap: float | None,
    options: Mapping[str, Any],
    *,
    best_so_far: bool,
) -> Iterator[Design]:
    """Answers at several epsilons in ``seconds`` altogether, or `NoAnswer` that names the one where they ran out.

    With ``best_so_far`` each has an equal share of the time left, and the best design found in it stands for an answer.
    """
    from mechdesign.methods.minimax.search import minimax_sweep

    asked = [_at(problem, epsilon) for epsilon in epsilons]
    if supports(problem) is None:
        answers = minimax_sweep(asked, seconds, gap=gap, best_so_far=best_so_far)
    else:
        answers = _one_by_one(asked, seconds, gap, options, best_so_far=best_so_far)
    found = 0
    try:
        for design in answers:
            yield design
            found += 1
    except NoAnswer as stopped:
        raise with_options(stopped, f"at eps = {epsilons[found]:g}: {stopped.reason}") from None


def _at(problem: Problem, epsilon: float) -> Problem:
    """The same at another epsilon for all inputs."""
    return evolved(problem, privacy=evolved(problem.privacy, epsilon=epsilon))


def _one_by_one(
    asked: Sequence[Problem], seconds: float, gap: float | None, options: Mapping[str, Any], *, best_so_far: bool
) -> Iterator[Design]:
    from mechdesign.methods.registry import solve

    clock = Clock(seconds)
    for place, problem in enumerate(asked):
        own = clock.share(len(asked) - place if best_so_far else 1)
        try:
            yield solve(problem, own.left(), gap=gap, **options)
        except NoAnswer as stopped:
            if not best_so_far or stopped.design is None:
                raise
            yield stopped.design


def with_options(stopped: NoAnswer, reason: str) -> NoAnswer:
    """The same error for another reason; where a design was found it says how to have it."""
    wider, design = stopped.gap_within_reach, stopped.design
    step = "allow more --time-limit"
    if design is not None:
        gap = "" if wider is None else f"--gap {wider:g}, or with "
        step = f"ask with {gap}--best-so-far for the design as it is"
    bounds = (stopped.lower, stopped.upper)
    return NoAnswer(reason, *bounds, claimed=stopped.claimed, design=design, next_step=step)


def _open(designs: Sequence[Design]) -> list[Design]:
    """Those that a limit stopped before their gap."""
    return [design for design in designs if is_open(design)]


def _warn_where_open(designs: Sequence[Design], warn: Say) -> None:
    for design in _open(designs):
        certificate, problem = design.certificate, design.problem
        basis = "claimed" if certificate.claimed else "proven"
        reason = design.report.details.get("stopped", "the search ended")
        warn(
            f"{reason} at eps = {problem.epsilon:g}: the best design so far, {basis} to within a relative gap of "
            f"{gap_text(certificate)} (asked for: {gap_asked(design):g})"
        )


# -- one ---------------------------------------------------------------------------------------------------------------


@frozen
class Optimum(Answer):
    """A certified optimum: certificate, mechanism and the field."""

    design: Design
    rivalry: Field | None
    asked: Problem | None = None

    @property
    def said(self) -> tuple[Any, ...]:
        rows = None if self.rivalry is None else self.rivalry.rows
        beside = Beside(least_favourable(self.design), worst_variance(self.design), rows)
        return Designed.of(self.design), beside

    @property
    def rows(self) -> Sequence[Row]:
        return () if self.rivalry is None else self.rivalry.rows

    def plot(self) -> Figure:
        """The picture of the design."""
        return self.design.plot()

    def shown(self) -> Iterator[Grid | str]:
        design, problem = self.design, self.design.problem
        yield f"{standing(design)} for {heading(problem)}\n{_rounded_from(self.asked, design)}"
        yield certificate_words(design.certificate, problem.words.headline, design.own_law)
        yield from gap_lines(design)
        yield from mechanism_lines(design.own_law, least_favourable(design), problem.words.labels)
        if self.rivalry is not None:
            both = (Rank.WORST, Rank.AVERAGE)
            lines = [[row.name, *(number(row.by(rank)) for rank in both), _excess(row)] for row in self.rivalry.rows]
            headings = ["mechanism", "worst case", "average", excess(problem)]
            title = f"Expected {problem.words.measure}, ranked by the {_RANKED_BY[self.rivalry.rank]}"
            yield grid(title, headings, lines)
        way = other_goal(problem)
        if way is not None:
            yield f"\n{way}"


def _rounded_from(asked: Problem | None, design: Design) -> str:
    """The prior that was asked about, where the design's own is what it was rounded to."""
    held = design.problem
    if asked is None or not isinstance(held.among, UnbiasedClass):
        return ""
    prior, rounded = asked.criterion.prior, held.criterion.prior
    if not isinstance(rounded, Atoms) or prior == rounded:
        return ""
    name = f"{prior.name} on {prior.domain}" if isinstance(prior, Density) else "of the data"
    return f"  asked under the prior {printable(name)}, which is rounded to {rounded.points.size} inputs\n"


def _excess(row: Row) -> str:
    return "breaks the cap" if row.keeps_cap is False else above(row.above_optimum)


# -- several -----------------------------------------------------------------------------------------------------------


@frozen
class Swept:
    """Several designs for one problem but for its epsilon."""

    problem: Mapping[str, Any]
    designs: Several = designed.designs(Beside)


@frozen
class Sweep(Answer):
    """A certified optimum an epsilon, and the field of each."""

    designs: tuple[Design, ...]
    fields: tuple[Field, ...] | None
    asked: Problem | None = None

    @property
    def said(self) -> tuple[Any, ...]:
        epsilons = [design.problem.epsilon for design in self.designs]
        return (Swept(_shared(self.designs, epsilons), tuple(self.rows)),)

    @property
    def rows(self) -> Sequence[dict[str, Any]]:
        fields = [None] * len(self.designs) if self.fields is None else [one.rows for one in self.fields]
        return [
            merged(Designed.of(design), Beside(least_favourable(design), worst_variance(design), rows))
            for design, rows in zip(self.designs, fields, strict=True)
        ]

    def shown(self) -> Iterator[Grid | str]:
        designs, problem = self.designs, self.designs[0].problem
        yield (
            f"{'best designs so far' if _open(designs) else 'certified optima'} for {problem.words.subject}: "
            f"{problem.words.headline}{below(problem)}\n"
            f"{_rounded_from(self.asked, designs[0])}  optimum over {_scopes(designs)}, {_basis(designs)}\n"
        )
        both = is_lexicographic(problem)
        rows = []
        for k, design in enumerate(designs):
            certificate = design.certificate
            ends = [rounded_down(certificate.lower, 8), rounded_up(certificate.upper, 8)]
            rows.append([f"{design.problem.epsilon:.6g}", *ends, gap_text(certificate)])
            if self.fields is not None:
                one, rival = self.fields[k], self.fields[k].best_rival
                best = ["", "", ""] if rival is None else [rival.name, number(rival.by(one.rank)), _excess(rival)]
                rows[-1] += [*([number(one.this.by(Rank.WORST))] if both else []), *best]
        headings = ["eps", "lower", "upper", "gap"]
        if self.fields is not None:
            rank = self.fields[0].rank.value
            headings += [*(["our worst"] if both else []), "best rival", f"its {rank}", excess(problem)]
        title = "Bounds on the optimum" if _open(designs) else "Certified optimum"
        yield grid(f"{title}, {problem.words.headline}", headings, rows)

    def plot(self) -> Figure:
        """The optimum and what is published over epsilon."""
        from mechdesign import plot

        fields = tuple(map(field_of, self.designs)) if self.fields is None else self.fields
        problem, rank = self.designs[0].problem, fields[0].rank
        lines = {row.name: [_value(one, row.name) for one in fields] for row in fields[0].rivals}
        published = {name: [value for value in line if value is not None] for name, line in lines.items()}
        published = {name: line for name, line in published.items() if len(line) == len(fields)}
        bounds = [(design.certificate.lower, design.certificate.upper) for design in self.designs]
        ours = [one.this.by(rank) for one in fields]
        epsilons = [design.problem.epsilon for design in self.designs]
        if not all(math.isclose(high, value) for (_, high), value in zip(bounds, ours, strict=True)):
            bounds = [(value, value) for value in ours]  # the certificate bounds something else than rivals
            title = f"worst-case {problem.words.measure} of the lexicographic optimum, {problem.words.subject}"
            return plot.sweep(epsilons, bounds, published, f"worst-case {problem.words.measure}", title, THIS)
        what = f"{'worst-case' if rank is Rank.WORST else 'average'} {problem.words.measure}"
        return plot.sweep(epsilons, bounds, published, what, f"{problem.words.headline}, {problem.words.subject}")

    def structure(self) -> Figure:
        """Outputs, base measures and least-favourable priors over epsilon."""
        from mechdesign import plot

        slices = []
        for design in self.designs:
            mechanism = design.own_law
            if isinstance(mechanism, Product) or not is_based(mechanism):
                raise InvalidInput("structure plot", mechanism.name, "be asked of mechanisms with a base measure")
            outputs = gathered(mechanism.points, mechanism.base)
            slices.append(plot.Slice(design.problem.epsilon, outputs, least_favourable(design)))
        problem = self.designs[0].problem
        return plot.structure(slices, f"Structure of the optimum: {problem.words.headline}, {problem.words.subject}")


def _shared(designs: Sequence[Design], epsilons: list[float]) -> dict[str, Any]:
    """The problem the designs share."""
    problem = merged(designs[0].problem)
    del problem["privacy"]
    return problem | {"epsilons": epsilons}


def _scopes(designs: Sequence[Design]) -> str:
    """The class the designs are best in, said once where only the cap depends on epsilon."""
    scopes = [design.certificate.scope for design in designs]
    words = list(dict.fromkeys(scope.words for scope in scopes))
    alike = list(dict.fromkeys(scope.words_for_any_cap for scope in scopes))
    return " or ".join(words if len(words) == 1 else alike)


def _basis(designs: Sequence[Design]) -> str:
    claimed = any(design.certificate.claimed for design in designs)
    return "claimed, not proven" if claimed else "proven in rational arithmetic"


def _value(one: Field, name: str) -> float | None:
    """What a rival is ranked by, if it was measured and keeps the cap."""
    row = one.row(name)
    return None if row is None or row.keeps_cap is False else row.by(one.rank)


# -- worst case against average ---------------------------------------------------------------------------------------


@frozen
class OnCurve:
    """Where a design lies: its worst case, and the average its certificate attains."""

    worst: float
    average: float


@frozen
class Curve:
    """Designs from the least worst case to the least average, and where published mechanisms are."""

    problem: Mapping[str, Any]
    designs: Several = designed.designs(Beside, OnCurve)
    comparison: tuple[Row, ...] | None = if_shown()


@frozen
class Pareto(Answer):
    """The least average under the prior for each worst case, over all mechanisms."""

    problem: Problem
    designs: tuple[Design, ...]
    places: tuple[OnCurve, ...]
    rivals: tuple[Row, ...] | None

    @property
    def said(self) -> tuple[Any, ...]:
        return (Curve(_shared(self.designs, [self.problem.epsilon]), tuple(self.rows), self.rivals),)

    @property
    def rows(self) -> Sequence[dict[str, Any]]:
        return [merged(Designed.of(design), at) for design, at in zip(self.designs, self.places, strict=True)]

    def plot(self) -> Figure:
        """The curve, and the published mechanisms above it."""
        from mechdesign import plot

        rivals = _beside_curve(self.designs[0], self.places) if self.rivals is None else self.rivals
        places = {row.name: (row.by(Rank.WORST), row.by(Rank.AVERAGE)) for row in rivals}
        title = f"Worst case against average, {self.problem.inputs}, ε = {self.problem.epsilon:g}"
        points = [(at.worst, at.average) for at in self.places]
        return plot.pareto(points, places, _power(self.problem), title)

    def shown(self) -> Iterator[Grid | str]:
        problem, designs = self.problem, self.designs
        kind = "trade-off so far" if _open(designs) else "certified trade-off"
        yield (
            f"{kind} for {problem.inputs}, eps = {problem.epsilon:g}: {_power(problem).name} error{below(problem)}\n"
            f"  least average under the prior for each worst case, over all mechanisms, {_basis(designs)}\n"
        )
        rows = []
        for design, at in zip(designs, self.places, strict=True):
            certificate = design.certificate
            ends = [rounded_down(certificate.lower, 8), rounded_up(certificate.upper, 8)]
            rows.append([number(at.worst), *ends, gap_text(certificate)])
        headings = ["worst case", "average, lower", "average, upper", "gap"]
        yield grid("The curve, from the least worst case to the least average", headings, rows, left=0)
        if self.rivals is not None:
            lines = []
            for row in self.rivals:
                errors = [number(row.by(Rank.WORST)), number(row.by(Rank.AVERAGE))]
                lines.append([row.name, *errors, above(row.above_optimum, at_least=True)])
            yield ""
            title = "Published mechanisms, and their average above the curve at their worst case (at least)"
            yield grid(title, ["mechanism", "worst case", "average", "above curve"], lines)


def _power(problem: Problem) -> Power:
    loss = power_of(problem)
    assert loss is not None
    return loss


def _on_curve(design: Design, loss: Power) -> OnCurve:
    mechanism = cast(ScalarMechanism, design.mechanism)
    return OnCurve(mechanism.worst_case(loss)[0], design.certificate.upper)


def _beside_curve(design: Design, curve: Sequence[OnCurve]) -> list[Row]:
    """Rivals by the per cent by which their average is above that of a mixture of two designs with the same worst case.

    The true curve is convex, so it lies below these mixtures, and no mechanism lies below the true curve.
    """
    worst, average = [at.worst for at in curve], np.minimum.accumulate([at.average for at in curve])
    rows = []
    for row in field_of(design).rivals:
        best = float(np.interp(row.by(Rank.WORST), worst, average))
        rows.append(evolved(row, above_optimum=max(0.0, 100 * (row.by(Rank.AVERAGE) / best - 1)), keeps_cap=None))
    return sorted(rows, key=lambda row: cast(float, row.above_optimum))


ANSWERS = ((Designed, Beside), (Swept,), (Curve,))
