"""Every field of every problem that changes a certified number changes what is printed of the number.

Fields are those of the declarations: of all problems that files hold, and of the values that their fields may be. The
table has a row for each, so that a field which is new, or was forgotten, fails.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import cvxpy
import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.mechanisms.kinds import PROTOCOLS
from mechdesign.methods import Design
from mechdesign.methods.result import saying_why
from mechdesign.methods.words import asked, heading
from mechdesign.values.declare import evolved
from mechdesign.words.cells import Cells
from mechdesign.words.counts import Moments as ShareMoments
from mechdesign.words.losses import Loss
from mechdesign.words.models import Binned, GaussianLocation, LogisticLocation
from mechdesign.words.objectives import WholeLoss
from mechdesign.words.pairs import Metric, Pairwise
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import Histogram, Marginals, Mean, Moments, Parity, Prefix, Queries, Ranges
from tests.methods import problems
from tests.methods.problems import custom_problem, hidden_problem, joint_problem, numbers, vectors, workload_problem

UNIT = md.Interval(0, 1)
VALUES = md.priors.Atoms([0.0, 0.2, 0.7], [0.25, 0.25, 0.5])
OTHERS = md.priors.Atoms([0.0, 0.2, 0.7], [0.5, 0.25, 0.25])
MATRIX = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
PLACES = Metric([[0, 0], [3, 4], [6, 0]], 0.5)
CELLS = {
    "lows": [0.249, 0.749],
    "highs": [0.251, 0.751],
    "means": [0.25, 0.75],
    "weights": [0.5, 0.5],
    "variances": [1e-7, 1e-7],
}


def additive(**said: Any) -> md.Problem:
    return problems.additive(
        **{"epsilon": 2.0, "prior": VALUES, "inputs": UNIT, "bins": 2, "reach": 3, "tail": 1} | said
    )


def matrix(**said: Any) -> md.Problem:
    return md.Problem(**{"loss": MATRIX, "privacy": md.Pure(1.0)} | said)


def matrix_least(slack: float) -> md.Problem:
    return matrix(criterion=md.Lexicographic([0.8, 0.1, 0.1], slack))


def hidden(**said: Any) -> md.Problem:
    return hidden_problem(**{"epsilon": 1.0, "users": 60, "share": 0.1} | said)


def information(model: Any) -> md.Problem:
    return md.Problem(loss=model, privacy=md.Pure(3.0), criterion=md.Average())


def joint(**said: Any) -> md.Problem:
    return joint_problem(**{"epsilon": 1.0, "users": 900, "share": 0.2} | said)


def minimax(**said: Any) -> md.Problem:
    return numbers(**{"epsilon": 1.0, "loss": md.Squared()} | said)


def places(**said: Any) -> md.Problem:
    return md.Problem(**{"loss": md.Distances(), "privacy": PLACES, "criterion": md.Average()} | said)


def places_least(slack: float) -> md.Problem:
    return places(criterion=md.Lexicographic([0.8, 0.1, 0.1], slack))


TRIANGLE = md.Problem(
    loss=md.Distances(), privacy=Metric([[0, 0], [1, 0], [0, 1]], 0.02), criterion=md.Average(), among=md.InPlane()
)


def polar(**said: Any) -> md.Problem:
    return problems.polar(**{"epsilon": 4.0} | said)


def under(prior: Any = VALUES, **said: Any) -> md.Problem:
    return numbers(**{"epsilon": 1.0, "loss": md.Squared(), "criterion": md.Average(prior)} | said)


def in_cells(**said: Any) -> md.Problem:
    return under(Cells(**CELLS | said))


def trade_off(prior: Any = VALUES, **said: Any) -> md.Problem:
    return numbers(1.0, criterion=md.Lexicographic(prior, **said))


def workload(queries: Any = None, **said: Any) -> md.Problem:
    return workload_problem(1.0, queries or Prefix(3), **said)


def custom(
    losses: Any = MATRIX, most: float | None = 0.3, *, exact: bool = False, offset: float = 0.0, **said: Any
) -> Any:
    """A linear problem on tables: losses on average, and a limit of an entry."""
    numbers = np.asarray(losses, dtype=float)
    sizes = tuple(md.Finite(tuple(range(size))) for size in numbers.shape)

    def limits(q: Any) -> list[Any]:
        return [] if most is None else [q[0, 1] == most if exact else q[0, 1] <= most]

    return custom_problem(1.0, *sizes, lambda q: cvxpy.sum(cvxpy.multiply(numbers, q)) + offset, limits, **said)


def bent(objective: Any = None, constraints: Any = None, **said: Any) -> md.Problem:
    """Problems with maxima, squares and norms."""
    losses = said.pop("losses", MATRIX)

    def greatest(q: Any) -> Any:
        return cvxpy.max(cvxpy.sum(cvxpy.multiply(losses, q), axis=1))

    return custom_problem(1.0, range(3), range(3), objective or greatest, constraints, **said)


def length(scale: float = 1.0, centre: float = 1.0) -> Any:
    return lambda q: scale * cvxpy.norm(cvxpy.diag(q) - centre)


def squared(scale: float = 1.0, centre: float = 1.0, *entries: tuple[int, int]) -> Any:
    return lambda q: sum(scale * cvxpy.square(q[entry] - centre) for entry in entries or ((0, 0), (1, 1)))


@attrs.frozen
class Another:
    """Two problems with different optima."""

    first: Any
    second: Any


@attrs.frozen
class Same:
    """Two problems with the same optimum: names, and how long a search goes on."""

    first: Any
    second: Any


@attrs.frozen
class Follows:
    """A field that cannot be changed alone: another value is refused."""

    changed: Callable[[], Any]


Row = Another | Same | Follows
ROWS: dict[str, Row] = {
    "on a grid.bins": Another(additive(), additive(bins=3)),
    "on a grid.reach": Another(additive(reach=1, tail=3), additive(reach=2, tail=3)),
    "on a grid.tail": Another(additive(reach=1, tail=3), additive(reach=1, tail=6)),
    "hidden.epsilon": Another(hidden(), hidden(epsilon=1.5)),
    "hidden.users": Another(hidden(), hidden(users=80)),
    "hidden.delta": Another(hidden(users=12), hidden(users=12, delta=0.05)),
    "hidden.answers": Follows(lambda: evolved(hidden(), privacy=md.Hidden(1.0, 60, answers=2))),
    "count.share": Another(hidden(), hidden(share=0.2)),
    "together.encoding": Another(hidden(categories=3), hidden(categories=3, encoding="hashing")),
    "collusion.epsilon": Another(joint(), joint(epsilon=1.5)),
    "collusion.users": Another(joint(), joint(users=1000)),
    "collusion.colluders": Another(joint(), joint(colluders=90)),
    "together.group": Another(joint(), joint(group=3)),
    "collusion.caps": Another(joint(), joint(caps=(1.1,))),
    "moments.mean": Another(joint(share=ShareMoments(0.2, 0.1)), joint(share=ShareMoments(0.3, 0.1))),
    "moments.mean_square": Another(joint(share=ShareMoments(0.3, 0.1)), joint(share=ShareMoments(0.3, 0.2))),
    "problem.inputs": Follows(lambda: matrix(inputs=[0, 1, 3])),
    "problem.loss": Another(places(), places(loss=MATRIX)),
    "problem.privacy": Another(matrix(), matrix(privacy=Pairwise([[0, 1, 1], [1, 0, 2], [1, 2, 0]]))),
    "problem.criterion": Another(places(), places(criterion=md.Worst())),
    "problem.among": Another(places(), places(among=md.Onto([[1, 1], [5, 1]]))),
    "matrix.values": Another(matrix(), matrix(loss=MATRIX + np.eye(3))),
    "matrix.input_labels": Same(matrix(), matrix(loss=md.Matrix(MATRIX, input_labels=("a", "b", "c")))),
    "matrix.output_labels": Same(matrix(), matrix(loss=md.Matrix(MATRIX, output_labels=("a", "b", "c")))),
    "distances.exponent": Another(places(), places(loss=md.Distances(2.0))),
    "distances.input_labels": Same(places(), places(loss=md.Distances(input_labels=("a", "b", "c")))),
    "distances.output_labels": Same(places(), places(loss=md.Distances(output_labels=("a", "b", "c")))),
    "power.exponent": Another(minimax(loss=md.Power(2.0)), minimax(loss=md.Power(1.0))),
    "power.period": Follows(lambda: minimax(loss=md.Power(1.0, 3.0))),
    "pure.epsilon": Another(matrix(), matrix(privacy=md.Pure(1.5))),
    "approximate.epsilon": Another(matrix(privacy=md.Approximate(1.0, 0.1)), matrix(privacy=md.Approximate(1.5, 0.1))),
    "approximate.delta": Another(matrix(privacy=md.Approximate(1.0, 0.1)), matrix(privacy=md.Approximate(1.0, 0.2))),
    "sphere.count": Another(vectors(1.0, md.Sphere(20)), vectors(1.0, md.Sphere(30))),
    "sphere.radius": Another(vectors(1.0, md.Sphere(20)), vectors(1.0, md.Sphere(20, 2.0))),
    "ball.count": Another(vectors(1.0, md.Ball(20)), vectors(1.0, md.Ball(90))),
    "ball.radius": Another(vectors(1.0, md.Ball(20)), vectors(1.0, md.Ball(20, 2.0))),
    "cross-polytope.count": Another(vectors(1.0, md.CrossPolytope(20)), vectors(1.0, md.CrossPolytope(90))),
    "cross-polytope.radius": Another(vectors(1.0, md.CrossPolytope(20)), vectors(1.0, md.CrossPolytope(20, 2.0))),
    "pairwise.epsilons": Another(
        places(loss=MATRIX, privacy=Pairwise([[0, 1, 1], [1, 0, 1], [1, 1, 0]])),
        places(loss=MATRIX, privacy=Pairwise([[0, 2, 1], [1, 0, 1], [1, 1, 0]])),
    ),
    "metric.points": Another(places(loss=MATRIX), places(loss=MATRIX, privacy=Metric([[0, 0], [3, 4], [7, 0]], 0.5))),
    "metric.per_unit": Another(places(), places(privacy=Metric(PLACES.points, 0.25))),
    "metric.distance": Another(
        places(loss=MATRIX), places(loss=MATRIX, privacy=Metric(PLACES.points, 0.5, "great circle"))
    ),
    "average.prior": Another(places(), places(criterion=md.Average([0.8, 0.1, 0.1]))),
    "lexicographic.prior": Another(matrix(criterion=md.Lexicographic([0.2, 0.3, 0.5])), matrix_least(1e-3)),
    "lexicographic.cap": Another(trade_off(cap=0.33), trade_off(cap=0.4)),
    "lexicographic.slack": Another(matrix_least(1e-5), matrix_least(0.2)),
    "onto.places": Another(places(among=md.Onto([[1, 1], [5, 1]])), places(among=md.Onto([[1, 2], [5, 1]]))),
    "in the plane.places": Same(TRIANGLE, evolved(TRIANGLE, among=md.InPlane([[0, 0], [0.5, 0.5]]))),
    "piecewise.outputs": Another(
        problems.piecewise(outputs=md.Interval(-1, 2)), problems.piecewise(outputs=md.Interval(-1, 4))
    ),
    "at.x": Another(problems.piecewise(at=0.5), problems.piecewise(at=0.25)),
    "piecewise.pieces": Another(problems.piecewise(), problems.piecewise(pieces=1)),
    "product.parts": Another(polar(), polar(distances=(0, 3))),
    "formula.tolerance": Same(custom(), custom(tolerance=1e-4)),
    "formula.coefficients": Another(custom(), custom(MATRIX * 2)),
    "Coefficients.costs": Another(custom(), custom(MATRIX + np.eye(3))),
    "Coefficients.offset": Another(custom(), custom(offset=1.0)),
    "Coefficients.rows": Another(custom(), custom(most=None)),
    "Coefficients.limits": Another(custom(most=0.3), custom(most=0.1)),
    "Coefficients.equal": Another(custom(most=0.8), custom(most=0.8, exact=True)),
    "Coefficients.pieces": Another(bent(), bent(losses=MATRIX * 2)),
    "Coefficients.shifts": Another(
        bent(lambda q: cvxpy.maximum(q[0, 1], q[1, 0] + 0.1)), bent(lambda q: cvxpy.maximum(q[0, 1], q[1, 0] + 0.2))
    ),
    "Coefficients.maxima": Another(
        bent(lambda q: cvxpy.maximum(q[0, 1], q[1, 0]) + cvxpy.maximum(q[1, 2], q[2, 1])),
        bent(lambda q: cvxpy.maximum(q[0, 1], q[1, 0], q[1, 2]) + cvxpy.maximum(q[2, 1], 0.5)),
    ),
    "Coefficients.of_maxima": Another(
        bent(squared(), lambda q: [cvxpy.maximum(q[0, 1], q[1, 0]) <= 0.1]),
        bent(lambda q: squared()(q) + cvxpy.maximum(q[0, 1], q[1, 0]), lambda q: [q[0, 1] <= 0.1]),
    ),
    "Coefficients.squares": Another(bent(squared()), bent(squared(1.0, 1.0, (0, 0), (1, 1), (2, 2)))),
    "Coefficients.centres": Another(bent(squared()), bent(squared(1.0, 0.9))),
    "Coefficients.scales": Another(bent(squared()), bent(squared(2.0))),
    "Coefficients.of_squares": Another(
        bent(constraints=lambda q: [cvxpy.sum_squares(q[0]) <= 0.4]),
        bent(lambda q: cvxpy.sum_squares(q[0]) + cvxpy.max(q[1]), lambda q: [q[0, 0] <= 0.4]),
    ),
    "Coefficients.sides": Another(bent(length()), bent(length(2.0))),
    "Coefficients.ends": Another(bent(length()), bent(length(1.0, 0.9))),
    "Coefficients.norms": Another(
        bent(lambda q: cvxpy.norm(q[0] - 0.2) + cvxpy.norm(q[1, :2])),
        bent(lambda q: cvxpy.norm(q[0] - 0.2) + cvxpy.norm(q[1])),
    ),
    "Coefficients.of_norms": Another(
        bent(squared(), lambda q: [cvxpy.norm(q[0]) <= 0.7]),
        bent(lambda q: squared()(q) + cvxpy.norm(q[0]), lambda q: [q[0, 0] <= 0.7]),
    ),
    "workload.queries": Another(workload(), workload(Histogram(3))),
    "workload.weights": Another(workload(weights=[1.0, 1.0, 0.5]), workload(weights=[1.0, 0.5, 1.0])),
    "types.size": Another(workload(Histogram(3)), workload(Histogram(4))),
    "prefix.size": Another(workload(Prefix(3)), workload(Prefix(4))),
    "ranges.size": Another(workload(Ranges(3)), workload(Ranges(4))),
    "mean.values": Another(workload(Mean([0.0, 1.0, 3.0])), workload(Mean([0.0, 1.0, 4.0]))),
    "power moments.values": Another(workload(Moments([0.0, 1.0, 3.0])), workload(Moments([0.0, 2.0, 3.0]))),
    "power moments.order": Another(workload(Moments([0.0, 1.0, 3.0])), workload(Moments([0.0, 1.0, 3.0], 3))),
    "marginals.shape": Another(workload(Marginals((2, 2))), workload(Marginals((2, 3)))),
    "marginals.order": Another(workload(Marginals((2, 2))), workload(Marginals((2, 2), 2))),
    "parity.bits": Another(workload(Parity(2)), workload(Parity(3))),
    "parity.order": Another(workload(Parity(2)), workload(Parity(2, 2))),
    "queries.rows": Another(workload(Queries([[1, 0, 2]])), workload(Queries([[1, 2, 0], [0, 1, 0]]))),
    "queries.labels": Same(workload(Queries([[1, 0, 2]])), workload(Queries([[1, 0, 2]], ("a",)))),
    "gaussian location.cells": Another(information(GaussianLocation(4)), information(GaussianLocation(40))),
    "gaussian location.reach": Another(information(GaussianLocation(4)), information(GaussianLocation(4, 2.0))),
    "logistic location.cells": Another(information(LogisticLocation(4)), information(LogisticLocation(40))),
    "logistic location.reach": Another(information(LogisticLocation(4)), information(LogisticLocation(4, 2.0))),
    "binned model.chances": Another(
        information(Binned([0.5, 0.25, 0.25], [1, 0, -1])), information(Binned([0.25, 0.5, 0.25], [1, 0, -1]))
    ),
    "binned model.slopes": Another(
        information(Binned([0.5, 0.25, 0.25], [1, 0, -1])), information(Binned([0.5, 0.25, 0.25], [0, 1, -1]))
    ),
    "interval.lower": Another(minimax(), minimax(inputs=md.Interval(-1, 1))),
    "interval.upper": Another(minimax(), minimax(inputs=md.Interval(0, 3))),
    "circle.period": Another(
        problems.piecewise(loss=md.Absolute(360.0), inputs=md.Circle(360.0)),
        problems.piecewise(loss=md.Absolute(24.0), inputs=md.Circle(24.0)),
    ),
    "finite.points": Another(
        minimax(inputs=md.Finite((0, 1, 2, 3, 4, 5, 9))), minimax(inputs=md.Finite((0, 1, 5, 6, 7, 8, 9)))
    ),
    "atoms.points": Another(under(), under(md.priors.Atoms([0.0, 0.2, 0.9], [0.25, 0.25, 0.5]))),
    "atoms.weights": Another(under(), under(OTHERS)),
    # a prior may have both ranges, and a variance is less than what ranges leave open
    "cells.lows": Same(in_cells(), in_cells(lows=[0.2485, 0.749])),
    "cells.highs": Same(in_cells(), in_cells(highs=[0.2515, 0.751])),
    "cells.variances": Same(in_cells(), in_cells(variances=[0.0, 0.0])),
    "cells.means": Another(in_cells(), in_cells(lows=[0.249, 0.6], means=[0.25, 0.602], highs=[0.251, 0.603])),
    "cells.weights": Another(in_cells(), in_cells(weights=[0.25, 0.75])),
    "density.function": Another(under(md.priors.uniform(UNIT)), under(md.priors.normal(0.3, 0.1, UNIT))),
    "density.domain": Another(under(md.priors.uniform(UNIT)), under(md.priors.uniform(md.Interval(0, 0.5)))),
    "density.breakpoints": Follows(lambda: evolved(md.priors.uniform(UNIT), breakpoints=(0.5,))),
    "density.name": Follows(lambda: evolved(md.priors.uniform(UNIT), name="normal(0.3, 0.1)")),
    "normal.mean": Another(under(md.priors.normal(0.3, 0.2, UNIT)), under(md.priors.normal(0.5, 0.2, UNIT))),
    "normal.deviation": Another(under(md.priors.normal(0.3, 0.2, UNIT)), under(md.priors.normal(0.3, 0.1, UNIT))),
    "beta.first": Another(under(md.priors.beta(2.0, 2.0, UNIT)), under(md.priors.beta(5.0, 2.0, UNIT))),
    "beta.second": Another(under(md.priors.beta(2.0, 2.0, UNIT)), under(md.priors.beta(2.0, 5.0, UNIT))),
    "exponential.rate": Another(under(md.priors.exponential(6.0, UNIT)), under(md.priors.exponential(2.0, UNIT))),
    "histogram.edges": Another(
        under(md.priors.histogram([0.0, 0.25, 1.0], [0.5, 0.5])),
        under(md.priors.histogram([0.0, 0.5, 1.0], [0.5, 0.5])),
    ),
    "histogram.weights": Another(
        under(md.priors.histogram([0.0, 0.25, 1.0], [0.5, 0.5])),
        under(md.priors.histogram([0.0, 0.25, 1.0], [0.75, 0.25])),
    ),
}
TEXTS = ("formula.objective", "formula.constraints", "formula.unread")
"""Names of functions, which nothing certified depends on: the same evidence, whatever they are."""


def _values_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and attrs.has(hint):
        yield hint
    if hint in (Loss, WholeLoss):
        yield from PROTOCOLS[hint]  # the losses that files hold
    for part in typing.get_args(hint):
        yield from _values_in(part)


def _name(kind: type) -> str:
    return str(getattr(kind, "kind", kind.__name__))


def _declared() -> list[str]:
    """The fields of problems, and of the values that they may hold."""
    found: list[str] = []
    left: list[type] = [md.Problem]
    seen: set[type] = set()
    while left:
        kind = left.pop()
        if kind in seen:
            continue
        seen.add(kind)
        hints = typing.get_type_hints(kind)
        for field in attrs.fields(kind):  # type: ignore[arg-type]
            if field.init:
                found.append(f"{_name(kind)}.{field.name}")
                left += _values_in(hints[field.name])
    return found


def test_every_declared_field_has_a_row() -> None:
    assert sorted(_declared()) == sorted((*ROWS, *TEXTS))


def _answer(problem: Any) -> Design:
    try:
        return md.solve(problem, 60)
    except NoAnswer as stopped:
        return typing.cast(Design, stopped.design)


def _said(problem: Problem, design: Design) -> tuple[str, str]:
    """What `summary` says of the number, and what `show` does, but for caps, which are numbers themselves."""
    scope = design.certificate.scope
    of_class = f"{scope.family.value}{scope.narrowed} {scope.onto}"
    shown = f"{problem.inputs}, {problem.words.privacy}, {asked(problem)}"
    return f"{heading(problem)} {of_class}", problem.words.heading or f"{shown} {of_class}"


def _are_apart(first: Design, second: Design) -> bool:
    one, other = first.certificate, second.certificate
    return one.upper < other.lower or other.upper < one.lower


OTHER_OPTIMA = sorted(name for name, row in ROWS.items() if isinstance(row, Another))
SAME_OPTIMUM = sorted(name for name, row in ROWS.items() if isinstance(row, Same))
REFUSED = sorted(name for name, row in ROWS.items() if isinstance(row, Follows))


@pytest.mark.parametrize("name", OTHER_OPTIMA)
def test_a_field_that_changes_a_certified_number_changes_a_printed_word(name: str) -> None:
    row = ROWS[name]
    assert isinstance(row, Another)
    designs = _answer(row.first), _answer(row.second)
    assert _are_apart(*designs)
    for said in zip(*(_said(design.problem, design) for design in designs), strict=True):
        assert said[0] != said[1]
    assert heading(designs[0].problem) in designs[0].summary()


@pytest.mark.parametrize("name", SAME_OPTIMUM)
def test_other_fields_leave_the_optimum_where_it_is(name: str) -> None:
    row = ROWS[name]
    assert isinstance(row, Same)
    assert not _are_apart(_answer(row.first), _answer(row.second))


@pytest.mark.parametrize("name", REFUSED)
def test_fields_that_follow_from_others_are_not_changed_alone(name: str) -> None:
    row = ROWS[name]
    assert isinstance(row, Follows)
    with pytest.raises(InvalidInput):
        row.changed()


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_name_functions_change_nothing(name: str) -> None:
    design = _answer(custom())
    changed = name.removeprefix("formula.")
    assert isinstance(design.problem, md.Problem)
    loss = evolved(design.problem.loss, **{changed: ("none",) if changed == "constraints" else "least of all"})
    other = evolved(design.problem, loss=loss)
    assert evolved(design, problem=other).certificate == design.certificate


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (workload(weights=[1.0, 0.001, 0.5]), "the sum of the queries with weights 1, 0.001, 0.5"),
        (matrix_least(0.5), "worst case within 50% of the least"),
        (places_least(0.01), "worst case within 1% of the least"),
        (trade_off(slack=0.1), "worst case within 15% of the least"),
        (polar(exponent=1.0), "worst-case absolute error"),
        (problems.piecewise(loss=md.Squared(), at=0.25), "squared error at x = 0.25"),
    ],
    ids=["weights", "slack", "slack of pairs", "slack of an interval", "exponent", "at"],
)
def test_the_line_of_the_number_itself_says_what_is_summed_and_how_near_to_the_least(problem: Any, words: str) -> None:
    assert words in problem.words.headline


def test_a_report_decides_no_words() -> None:
    """Bounds far apart are no optimum, whatever the report says of the search; near ones are, whatever it says."""
    with pytest.raises(NoAnswer) as stopped:
        md.solve(numbers(2.5, md.Squared()), gap=1e-6, most_outputs=65)
    found = stopped.value.design
    assert found is not None
    silent = evolved(found, report=evolved(found.report, details={}))
    assert silent.summary().startswith("best design so far")
    best = md.solve(problems.piecewise())
    loud = saying_why(evolved(best, report=evolved(best.report, details={"stopped": "x"})), 0.0, "x")
    assert loud.summary().startswith("certified optimum for")


def test_a_wide_gap_that_was_asked_for_is_said() -> None:
    found = md.solve(places(among=md.InPlane()), gap=0.5)
    assert found.certificate.relative_gap > 1e-2
    assert found.summary().startswith("certified optimum to within ")
