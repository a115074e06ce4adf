"""Optimus' algorithms as printed, against the package's own searches."""

from __future__ import annotations

import math

import pytest

from mechdesign.papers.claims import CORRECTED, HOLDS, REPLACED, STAND_IN, judge, named, searches
from mechdesign.studies.budgets import Constraint, Question, Task, run


@pytest.mark.parametrize("g", [3, 4, 6, 10])
def test_the_steps_of_rbs_are_those_the_search_takes_whatever_it_sees(g):
    easy = Question("grr", [900, 100], Constraint("kendall", -0.5, 0.5))
    (answer,) = run([Task(easy, "rbs", options={"runs": 1, "g": g})])
    assert len(answer.result.looks) == searches._steps(g)


def test_rbs_never_ends_with_the_g_that_is_recommended():
    assert math.isinf(searches._steps(2))
    (claim,) = named(["optimus.relaxed"])
    assert judge(claim).verdict == REPLACED


def test_a_share_by_the_collections_that_were_wished_for_is_above_one():
    (claim,) = named(["optimus.dynamic-share"])
    found = judge(claim)
    assert (found.ours, found.mended) == (((1.5, 1.5),), ((0.3, 0.3),))
    assert found.verdict == CORRECTED


def test_relaxation_takes_as_many_looks_as_figure_5_6a_says():
    (claim,) = named(["optimus.figure-5.6a"])
    assert judge(claim).verdict == HOLDS


def test_collections_are_counted_search_by_search(monkeypatch):
    """Three made-up rows: of each ratio the one that is hardest on the claim counts."""

    class Selected:
        def __init__(self, simulations):
            self.simulations = simulations

    rows = [[10, 20, 5, 30, 40], [10, 20, 8, 22, 50], [10, 15, 12, 60, 45]]  # bs, rbs, dbs, mpass, bayes
    monkeypatch.setattr(searches, "searched", lambda *_: [[Selected(n) for n in row] for row in rows])
    assert searches._simulated(None, (), ()) == pytest.approx([1.2, 1.25, 1.1])


@pytest.mark.slow
@pytest.mark.parametrize("key", ["optimus.figure-5.5", "optimus.figure-5.6b"])
def test_budgets_rise_with_pi_and_collections_with_c(key):
    (claim,) = named([key])
    found = judge(claim)
    assert found.verdict == STAND_IN
    assert all(item.agrees_with(value) for item, value in zip(claim.items, found.ours, strict=True))
