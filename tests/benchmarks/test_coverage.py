"""The page of coverages: it names every interval that commands print, and a sample of it is drawn again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scipy import stats

from benchmarks import coverage
from benchmarks.coverage import KINDS, PAGE, measure, row

PACKAGE = Path(coverage.__file__).parent.parent / "mechdesign"
ENDS = re.compile(r"\b(reach_of_mean|clopper_pearson|interval_of_runs|bounded_mean|shares_of|share_intervals)\(")
QUANTILES = re.compile(r"\b(stdtrit|ndtri|betaincinv|NormalDist|norm\.(isf|ppf)|t\.ppf|student\.)\b")
NO_INTERVALS = {
    "studies/budgets/simulation",  # inverse transform of binomials
    "studies/classifiers/pac",  # deviations of Gaussian noise
    "mechanisms/noise",  # quantiles of Gaussian noise
    "mechanisms/directions",  # inverse transform of heights on a sphere
    "mechanisms/smooth",
    "studies/frequencies/protocols/prefix",  # how far a string's count must stand out to be kept
    "studies/frequencies/protocols/regression",  # the same
    "examples/made",  # values that follow a law
    "papers/claims/jrr",  # tolerances of claims
}
SAID = re.compile(r"95%|% interval|Of the interval|--confidence")


def sources() -> dict[str, str]:
    """Every module of the package by its path without ending."""
    return {str(file.relative_to(PACKAGE))[:-3]: file.read_text() for file in sorted(PACKAGE.rglob("*.py"))}


def test_every_module_that_makes_intervals_stands_on_the_page() -> None:
    """Where one of the formulas is called, or a quantile taken, an interval is made."""
    named = {name for kind in KINDS for name in kind.modules}
    made = {name for name, text in sources().items() if ENDS.search(text)} - {"intervals"}
    # they print, or join, what others make
    callers = {"studies/frequencies/survey_shares", "studies/frequencies/two_phase", "studies/record"}
    assert made - callers == named
    loose = {name for name, text in sources().items() if QUANTILES.search(text)} - {"intervals"}
    assert loose <= NO_INTERVALS


def test_every_command_that_prints_an_interval_stands_on_the_page() -> None:
    named = {name for kind in KINDS for name in kind.commands}
    printing = {
        name.removeprefix("cli/").replace("_", "-")
        for name, text in sources().items()
        if name.startswith("cli/") and SAID.search(text)
    }
    assert printing - {"overview", "budget", "certified"} <= named


def test_the_page_has_every_kind_and_every_setting() -> None:
    split = re.split(r"^## (.*)$", PAGE.read_text(), flags=re.MULTILINE)[1:]
    parts = dict(zip(split[::2], split[1::2], strict=True))
    assert list(parts) == [kind.name for kind in KINDS]
    for kind in KINDS:
        assert all(f"`{name}`" in parts[kind.name] for name in kind.commands)
        settings = [line.split(" | ")[:2] for line in parts[kind.name].splitlines() if line.startswith("| ")][1:]
        assert len(settings) == len({tuple(line) for line in settings})
        assert all(row.count("|") == 7 for row in parts[kind.name].splitlines() if row.startswith("| "))


SHOWN = re.compile(r"^\| (.*) \| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d,]+) \|$", re.MULTILINE)


def test_no_interval_on_the_page_holds_less_than_94_percent() -> None:
    """Up to four standard errors, but for Student's over runs, whose kind says that it is an approximation."""
    page = PAGE.read_text()
    for kind, part in zip(KINDS, re.split(r"^## .*$", page, flags=re.MULTILINE)[1:], strict=True):
        rows = SHOWN.findall(part)
        assert rows
        for setting, _, _, worst, error, _ in rows:
            if kind.name != "Metrics over runs":
                assert float(worst) >= 0.94 - 4 * float(error), (kind.name, setting)


SAMPLE = [
    ("Means without privacy", 2),  # 1% ones, 30 users
    ("Means without privacy", 3),
    ("Shares of a table", 3),
    ("Shares of items", 2),
    ("Queries, bands and quantiles", 1),
    ("Labels that survive", 0),
]


@pytest.mark.parametrize(("name", "place"), SAMPLE)
def test_a_sample_of_the_page_is_what_it_says(name: str, place: int) -> None:
    """200 runs with the page's seed.

    At 94% each fails with chance below 1e-4 (the worst of five intervals of a run: 5e-4); an interval that holds in 80%
    of all runs is found with a chance above .97.
    """
    kind = next(kind for kind in KINDS if kind.name == name)
    case = list(kind.cases())[place]
    found = measure(kind, place, case, 200)
    least = stats.binom.ppf(1e-4, 200, 0.94)
    assert found.worst * 200 >= least
    assert stats.binom.cdf(least - 1, 200, 0.8) > 0.97
    assert row(case, found).startswith(f"| {case.setting} | ")
