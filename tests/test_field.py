"""The field: published mechanisms measured and ranked against what was designed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import mechdesign as md
from mechdesign import catalogue
from mechdesign.errors import InvalidInput
from mechdesign.field import THIS, Field, Rank, Row, above_nothing, field_of, ranked
from mechdesign.mechanisms import Discrete, rounded_towards_privacy
from mechdesign.methods import solve
from mechdesign.methods.finite.rivalry import SINGLE
from mechdesign.values.declare import evolved
from mechdesign.words import priors
from tests.methods import problems
from tests.methods.problems import joint_problem, numbers

UNIT = md.Interval(0, 1)
NORMAL = priors.normal(0.3, 0.1, UNIT)
LOSSES = [[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]

DESIGNS: dict[str, Callable[[], md.Design]] = {
    "piecewise": lambda: md.solve(problems.piecewise(1.0, md.Squared())),
    "piecewise at an input": lambda: md.solve(problems.piecewise(1.0, at=0.2)),
    "circle": lambda: md.solve(problems.piecewise(1.0, md.Absolute(360.0), md.Circle(360.0))),
    "unbiased piecewise": lambda: md.solve(
        md.Problem(inputs=(0, 1), loss="squared", privacy=md.Pure(1.0), among=md.UnbiasedPiecewise())
    ),
    "minimax": lambda: md.solve(numbers(1.0), gap=1e-2),
    "whole numbers": lambda: md.solve(numbers(1.0, inputs=md.Finite((1, 2, 3)))),
    "prior": lambda: md.solve(numbers(1.0, criterion=md.Average(NORMAL)), gap=1e-2),
    "capped": lambda: md.solve(numbers(1.0, criterion=md.Lexicographic(NORMAL, cap=0.35)), gap=1e-2),
    "lexicographic": lambda: md.solve(numbers(1.0, criterion=md.Lexicographic(NORMAL)), gap=1e-2),
    "unbiased": lambda: md.solve(problems.unbiased_under(1.0, NORMAL, UNIT), gap=1e-2, size=9),
    "additive": lambda: md.solve(problems.additive(1.0, NORMAL, UNIT, bins=8)),
    "matrix": lambda: md.solve(md.Problem(loss=LOSSES, privacy=md.Pure(1.0))),
    "matrix under a prior": lambda: md.solve(
        md.Problem(loss=LOSSES, privacy=md.Pure(1.0), criterion=md.Average([0.5, 0.3, 0.2]))
    ),
    "lexicographic matrix": lambda: md.solve(
        md.Problem(loss=LOSSES, privacy=md.Pure(1.0), criterion=md.Lexicographic(slack=1e-5))
    ),
}
UNRANKED: dict[str, Callable[[], md.Design]] = {
    "polar": lambda: md.solve(problems.polar(3.0)),
    "joint": lambda: solve(joint_problem(1.0, 100, 0.3)),
}


@pytest.fixture(scope="module", params=DESIGNS)
def ranking(request: pytest.FixtureRequest) -> tuple[md.Design, Field]:
    design = DESIGNS[request.param]()
    return design, field_of(design)


def test_the_design_stands_among_published_mechanisms(ranking: tuple[md.Design, Field]) -> None:
    _, field = ranking
    assert field.this.name == THIS
    assert not field.this.published
    assert field.rivals
    assert all(row.published for row in field.rivals)


def test_rows_are_in_the_order_of_what_they_are_ranked_by(ranking: tuple[md.Design, Field]) -> None:
    _, field = ranking
    keeping = [row.by(field.rank) for row in field.rows if row.keeps_cap is not False]
    assert keeping == sorted(keeping)
    assert all(row.keeps_cap is False for row in field.rows[len(keeping) :])


@pytest.mark.parametrize(
    "name", ["minimax", "whole numbers", "prior", "capped", "unbiased", "matrix", "matrix under a prior"]
)
def test_no_rival_is_better_than_the_bound_says(name: str) -> None:
    """The certified optimum over all mechanisms is a bound for the published ones, too."""
    design = DESIGNS[name]()
    field = field_of(design)
    for row in field.rivals:
        if row.keeps_cap is not False:
            assert row.by(field.rank) >= (1 - 1e-9) * design.certificate.lower, row.name


def test_the_percentage_is_that_of_the_numbers(ranking: tuple[md.Design, Field]) -> None:
    _, field = ranking
    first = next(row for row in field.rows if row.above_optimum is not None)
    assert first.above_optimum is not None
    least = first.by(field.rank) / (1 + first.above_optimum / 100)
    for row in field.rows:
        if row.above_optimum is not None:
            assert row.above_optimum == pytest.approx(100 * (row.by(field.rank) / least - 1), abs=1e-9)


@pytest.mark.parametrize("name", [name for name in DESIGNS if "matrix" not in name])
def test_rivals_are_measured_as_themselves(name: str) -> None:
    design = DESIGNS[name]()
    field, loss = field_of(design), design.problem.loss
    for row in field.rivals:
        assert row.worst == pytest.approx(field.mechanisms[row.name].worst_case(loss)[0], rel=1e-12)


def test_a_cap_is_told_of_every_rival_and_breaking_it_leaves_no_percentage() -> None:
    field = field_of(DESIGNS["capped"]())
    assert field.rank is Rank.AVERAGE
    for row in field.rivals:
        assert row.keeps_cap is (row.worst <= 0.35)
        assert (row.above_optimum is None) is not row.keeps_cap
    assert field.best_rival is None or field.best_rival.keeps_cap


def test_a_lexicographic_optimum_is_measured_from_the_least_worst_case() -> None:
    design = DESIGNS["lexicographic"]()
    this = field_of(design).this
    assert this.above_optimum is not None
    assert 0 <= this.above_optimum <= 0.1 + 1e-6  # its worst case may be 0.1% above the least


def test_unbiased_designs_meet_unbiased_rivals_only() -> None:
    unbiased = {entry.key for entry in catalogue.ON_INTERVALS if entry.unbiased}
    for name in ("unbiased", "additive", "unbiased piecewise"):
        assert {row.name for row in field_of(DESIGNS[name]()).rivals} == unbiased


def test_at_an_input_rivals_are_ranked_there() -> None:
    field = field_of(DESIGNS["piecewise at an input"]())
    assert field.rank is Rank.AT
    pm = field.row("pm")
    assert pm is not None
    assert pm.at == float(catalogue.pm(1.0, UNIT).expected_loss(0.2, md.Absolute()))


def test_two_designs_are_measured_from_the_better_one() -> None:
    additive = DESIGNS["additive"]()
    free = md.solve(evolved(additive.problem, among=md.Unbiased()), size=9)
    field = field_of({"on the grid": additive, "free": free})
    assert [row.name for row in field.rows if not row.published] == ["free", "on the grid"]
    first = field.rows[0]
    assert (first.name, first.above_optimum) == ("free", 0.0)


def test_a_matrix_has_randomised_response_and_the_best_single_output() -> None:
    field = field_of(DESIGNS["matrix"]())
    assert {row.name for row in field.rivals} == {"grr", SINGLE}
    single = field.row(SINGLE)
    assert single is not None
    assert single.worst == min(np.array(LOSSES).max(axis=0))


def test_a_matrix_without_an_output_for_each_input_has_no_randomised_response() -> None:
    field = field_of(md.solve(md.Problem(loss=[[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]], privacy=md.Pure(1.0))))
    assert [row.name for row in field.rivals] == [SINGLE]


def _halves(epsilon: float, points: md.Finite) -> Discrete:
    """Whether it is in the upper half, by randomised response: the ends are reported."""
    upper = np.arange(len(points)) >= len(points) / 2
    stay = math.exp(epsilon) / (1 + math.exp(epsilon))
    rows = np.where(upper[:, None] == np.array([False, True]), stay, 1 - stay)
    return rounded_towards_privacy(epsilon, points, md.Finite((points.lower, points.upper)), rows, "halves")


def test_an_entry_for_points_is_all_that_a_new_mechanism_on_them_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalogue.PointsEntry("halves", lambda e, points, loss: _halves(e, points), lambda p: len(p) > 1)
    monkeypatch.setattr(catalogue, "ON_POINTS", (*catalogue.ON_POINTS, entry))
    points = md.Finite(range(5))
    assert catalogue.build("halves", 1.0, points) == _halves(1.0, points)
    row = field_of(md.solve(numbers(1.0, md.Absolute(), points))).row("halves")
    assert row is not None
    assert row.worst == _halves(1.0, points).worst_case(md.Absolute())[0]
    assert field_of(DESIGNS["matrix"]()).row("halves") is not None


def test_noise_beyond_the_points_is_no_rival_among_those_who_report_them() -> None:
    assert {row.name for row in field_of(DESIGNS["matrix"]()).rivals} == {"grr", SINGLE}


@pytest.mark.parametrize("name", ["grr", "Randomised response"])
def test_a_row_answers_to_all_names_of_its_mechanism(name: str) -> None:
    row = field_of(DESIGNS["matrix"]()).row(name)
    assert row is not None
    assert row.name == "grr"


def test_ones_own_mechanism_does_not_take_the_other_name_of_a_rival() -> None:
    design = DESIGNS["matrix"]()
    own = {"randomised response": catalogue.randomised_response(1.0, design.problem.inputs)}
    with pytest.raises(InvalidInput, match="no other mechanism has"):
        field_of(design, own)


@pytest.mark.parametrize("name", UNRANKED)
def test_where_nothing_is_published_the_field_is_empty(name: str) -> None:
    assert field_of(UNRANKED[name]()).rows == ()


def test_what_doubles_cannot_resolve_is_named_and_left_out() -> None:
    class Unmeasurable:
        def worst_case(self, loss: md.Power) -> tuple[float, float]:
            raise md.CheckFailed("lost in rounding")

    field = ranked({"pm": catalogue.pm(1.0), "lost": Unmeasurable()}, md.Absolute(), best=0.3)  # type: ignore[dict-item]
    assert [row.name for row in field.rows] == ["pm"]
    assert field.left_out == {"lost": "lost in rounding"}
    assert set(field.mechanisms) == {"pm"}


def test_a_best_of_nothing_has_no_percentage() -> None:
    field = ranked({"pm": catalogue.pm(1.0)}, md.Absolute(), best=math.inf)
    assert field.rows[0].above_optimum is None


def test_fields_are_values() -> None:
    design = DESIGNS["matrix"]()
    assert field_of(design) == field_of(design)


def test_no_design_is_no_field() -> None:
    with pytest.raises(md.InvalidInput, match="designs must be at least one"):
        field_of({})


def test_a_field_is_told_in_lines_that_are_in_its_order(ranking: tuple[md.Design, Field]) -> None:
    _, field = ranking
    lines = field.summary().splitlines()
    assert [line.partition("  ")[0].strip() for line in lines[2 : 2 + len(field.rows)]] == [
        row.name for row in field.rows
    ]
    assert all(name in field.summary() for name in field.left_out)


def test_a_percentage_that_is_shown_is_lost_at_least() -> None:
    field = field_of(DESIGNS["piecewise"]())
    for row in field.rows:
        assert row.above_optimum is not None
        assert float(row.excess.rstrip("%")) <= row.above_optimum < float(row.excess.rstrip("%")) + 0.1001


def test_what_breaks_the_cap_says_so_in_words() -> None:
    field = field_of(DESIGNS["capped"]())
    breaking = [row for row in field.rows if row.keeps_cap is False]
    assert breaking
    assert {row.excess for row in breaking} == {"breaks the cap"}


def test_a_notebook_shows_a_row_a_mechanism_and_no_markup_of_names() -> None:
    field = ranked({"<b>": catalogue.pm(1.0)}, md.Squared(), best=1.0)
    shown = field._repr_html_()
    assert "<b>" not in shown
    assert shown.count("<tr>") == 2


def test_own_reports_between_the_points_are_refused_where_the_optimum_is_over_points() -> None:
    chance = math.e / (1 + math.e)
    law = np.array([[chance, 1 - chance], [1 - chance, chance]])
    between = Discrete(1.001, md.Finite((0, 1)), md.Finite((1 - chance, chance)), law)
    squared = md.solve(numbers(1.001, md.Squared(), md.Finite((0, 1))))
    assert between.worst_case(md.Squared())[0] < squared.certificate.lower  # it is of another class
    with pytest.raises(InvalidInput, match="be among the points"):
        field_of(squared, {"mine": between})
    absolute = md.solve(numbers(1.001, md.Absolute(), md.Finite((0, 1))))
    row = field_of(absolute, {"mine": between}).row("mine")
    assert row is not None
    assert row.worst > absolute.certificate.lower


def test_where_the_optimum_is_over_a_class_the_field_names_it() -> None:
    piecewise = field_of(md.solve(problems.piecewise(1.0, md.Squared())))
    best = piecewise.best_rival
    assert best is not None
    assert best.excess.startswith("-")  # randomised response on bins is not piecewise
    assert "optimum of piecewise mechanisms onto [0, 1]; others are not bound by it" in piecewise.summary()
    assert "above optimum" not in piecewise.summary()
    assert "above optimum" in field_of(md.solve(numbers(1.0))).summary()


@pytest.mark.parametrize(("measured", "shown"), [(-0.1, 0.0), (12.5, 12.5), (None, None)])
def test_a_rival_of_the_class_is_never_told_to_be_below_it(measured: float | None, shown: float | None) -> None:
    assert above_nothing(Row("mine", 1.0, 1.0, above_optimum=measured)).above_optimum == shown


def test_the_picture_of_a_field_has_a_bar_and_a_percentage_for_each_row() -> None:
    field = md.field_of(md.solve(problems.piecewise(1.0)))
    axes = field.plot().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()][::-1] == [row.name for row in field.rows]
    assert [bar.get_width() for bar in axes.patches][::-1] == [row.worst for row in field.rows]
    assert [text.get_text() for text in axes.texts][::-1] == [row.excess for row in field.rows]


def test_equal_errors_are_not_told_to_be_below_each_other() -> None:
    field = md.field_of(md.solve(problems.piecewise(1.0)))
    row = field.row("pm-c")
    assert row is not None
    assert row.worst == pytest.approx(field.this.worst, rel=1e-12)
    assert row.excess == "+0.0%"
