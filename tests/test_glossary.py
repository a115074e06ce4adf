"""Every name that may appear in an output has an entry in the glossary, and no entry is half empty."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import attrs
import pytest

import mechdesign as md
from mechdesign import field
from mechdesign.errors import InvalidInput
from mechdesign.glossary import ENTRIES, KINDS, METRIC, NONE, Entry, entry, of_kind
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.methods.registry import METHODS as OF_PROBLEMS, rivalry_of
from mechdesign.studies.budgets.mean_route import NAMES as OF_CAPACITY
from mechdesign.studies.budgets.searches import SEARCHES
from mechdesign.studies.classifiers.concentration import NAMES as OF_CLASSIFIERS
from mechdesign.studies.compared import OPTIMUM
from mechdesign.studies.frequencies import PROTOCOLS, metrics
from mechdesign.studies.frequencies.bench import METHODS, SLOW_METHODS
from mechdesign.studies.frequencies.mean_methods import NAMES as OF_MEANS
from mechdesign.studies.frequencies.postprocess import METHODS as POST_PROCESSINGS
from mechdesign.studies.places import METHODS as OF_PATHS
from tests.methods import problems
from tests.methods.problems import numbers

LINE, CIRCLE = md.Interval(0.0, 1.0), md.Circle()
UNIFORM = md.priors.uniform(LINE)
ROUND = md.Absolute(2 * math.pi)
PROBLEMS = (
    problems.piecewise(1.0),
    problems.piecewise(1.0, ROUND, CIRCLE),
    md.Problem(inputs=(0, 1), loss="squared", privacy=md.Pure(1.0), among=md.UnbiasedPiecewise()),
    numbers(1.0),
    numbers(1.0, inputs=md.Finite((0, 1, 2))),
    numbers(1.0, criterion=md.Average(UNIFORM)),
    numbers(1.0, criterion=md.Lexicographic(UNIFORM)),
    problems.unbiased_under(1.0, UNIFORM, (0, 1)),
    problems.additive(1.0, UNIFORM, (0, 1)),
    md.Problem(loss=[[0, 1], [1, 0]], privacy=md.Pure(1.0)),
    md.Problem(loss=md.Distances(), privacy=md.privacy.metric([0, 1, 2], 1.0), criterion=md.Average()),
    md.Problem(loss=md.Distances(), privacy=md.privacy.metric([(0, 0), (1, 0)], 1.0), criterion=md.Average()),
    md.Problem(
        loss=md.Distances(),
        privacy=md.privacy.metric([(0, 0), (1, 0)], 1.0),
        criterion=md.Average(),
        among=md.InPlane(),
    ),
    problems.vectors(1.0, md.Sphere(3)),
    problems.vectors(1.0, md.CrossPolytope(3)),
)

PRINTED = {
    *(line.key for line in (*catalogue.ON_INTERVALS, *catalogue.ON_CIRCLES, *catalogue.ON_POINTS, *PROTOCOLS)),
    *(name for line in catalogue.ON_POINTS for name in line.also),
    *(line.build(1.0, LINE, md.Absolute()).name for line in catalogue.ON_INTERVALS),
    *(line.build(1.0, CIRCLE, ROUND).name for line in catalogue.ON_CIRCLES),
    *(line.build(1.0, md.Finite((0, 1, 2)), md.Absolute()).name for line in catalogue.ON_POINTS),
    *(line.build(1.0, 4).name for line in PROTOCOLS),
    *(row.name for problem in PROBLEMS for row in field.field_of(md.solve(problem)).rows),
    *(field.THIS, OPTIMUM),
    *(method.optimum for method in OF_PROBLEMS),
    *POST_PROCESSINGS,
    *METHODS,
    *SLOW_METHODS,
    *OF_MEANS,
    *OF_CAPACITY,
    *OF_CLASSIFIERS,
    *OF_PATHS,
    *SEARCHES,
    *metrics.METRICS,
    *("certified optimum", "pairwise optimum", "centre", "two-sided geometric", "rappor", "jrr", "bloom rappor"),
    *("hidden joint response", "hidden joint", PeakedResponse.kind, CountedResponse.kind),
}
"""Wherever an output takes a name from; what is quoted are names that commands have in their own words."""


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_every_name_that_commands_print_has_an_entry(name: str) -> None:
    assert isinstance(entry(name), Entry)


@pytest.mark.parametrize("line", catalogue.ON_POINTS, ids=lambda line: line.key)
def test_all_names_of_a_mechanism_on_points_are_one_entry(line: catalogue.PointsEntry) -> None:
    assert {entry(name) for name in line.also} == {entry(line.key)}


def test_no_spelling_means_two_things() -> None:
    spellings = [spelling for found in ENTRIES for spelling in (found.name, *found.also)]
    assert len(spellings) == len(set(spellings))


@pytest.mark.parametrize("found", ENTRIES, ids=lambda found: found.name)
def test_entries_are_complete_and_in_lower_case(found: Entry) -> None:
    assert all(getattr(found, each.name) for each in attrs.fields(Entry) if each.name != "also")
    assert found.name == found.name.lower()
    assert found.kind in KINDS


def test_every_kind_has_entries_and_every_entry_a_kind() -> None:
    assert [found for kind in KINDS for found in of_kind(kind)] == sorted(
        ENTRIES, key=lambda found: KINDS.index(found.kind)
    )
    assert all(of_kind(kind) for kind in KINDS)


@pytest.mark.parametrize("name", ["unheard-of", 3])
def test_a_name_without_entry_is_bad_input(name: object) -> None:
    with pytest.raises(InvalidInput, match="name"):
        entry(name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("typo", "meant"), [("nrom-sub", "norm-sub"), ("oeu", "oue"), ("square wave", "sw"), ("t-ws", "t-sw")]
)
def test_a_typing_error_is_told_the_nearest_names(typo: str, meant: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        entry(typo)
    assert meant in refused.value.next_step.removesuffix("?").replace(",", "").split()


def test_a_name_like_no_other_is_told_where_all_are() -> None:
    with pytest.raises(InvalidInput, match="lists them all"):
        entry("zzzzzz")


def test_every_problem_that_is_collected_has_rivals() -> None:
    assert all(rivalry_of(problem) is not None for problem in PROBLEMS)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        *(("eps", "epsilon"), ("epsilon", "epsilon"), ("privacy", "ldp"), ("LDP", "ldp"), ("delta", "delta")),
        *(("cdf", "cdf"), ("quantile", "quantile"), ("median", "quantile"), ("top", "top"), ("top:5", "top")),
        *(("claimed", "claimed"), ("worst case", "worst case"), ("worst", "worst case"), ("worth", "worth")),
        *(("renyi", "delta"), ("interval", "confidence"), ("collection", "collection"), ("survey", "survey")),
    ],
)
def test_words_have_entries_as_names_have(said: str, name: str) -> None:
    assert entry(said).name == name


def test_metrics_are_called_as_commands_call_them() -> None:
    found = {one.name: one.title for one in of_kind(METRIC)}
    assert found == {name: one.meaning for name, one in metrics.METRICS.items()}


def test_the_page_has_every_entry_and_no_list_of_its_own() -> None:
    pages = Path(__file__).parents[1] / "docs"
    spec = importlib.util.spec_from_file_location("glossary_pages", pages / "_extensions" / "glossary_pages.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    text = made.text()
    assert all(f"`{found.name}` ({found.title}" in text for found in ENTRIES)
    assert "{glossary}" not in (pages / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert f"*{NONE}*" not in text
    assert f"Good for: {NONE}" not in text
