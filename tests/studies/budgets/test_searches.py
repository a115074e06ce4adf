"""The five searches step through epsilon as the algorithms print it, and agree on the paper's kind of populations."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from mechdesign.errors import InvalidInput, MissingExtra
from mechdesign.studies.budgets import certified
from mechdesign.studies.budgets.constraint import Constraint
from mechdesign.studies.budgets.ledger import Ledger, RunTally
from mechdesign.studies.budgets.populations import emoji_like, msnbc_like
from mechdesign.studies.budgets.searches import SEARCHES, Range, bayes, bs, dbs, mpass, rbs
from mechdesign.studies.budgets.simulation import Question


class Scripted:
    """A ledger without noise: the metric is epsilon / 20, and is good from ``target`` on."""

    def __init__(self, target: float) -> None:
        self.question = SimpleNamespace(
            constraint=Constraint("kendall", target / 20, 0.9), name="scripted", seed=0, counts=np.array([1, 1])
        )
        self.asked: list[tuple[float, int]] = []

    def tally(self, epsilon: float, stream: int, runs: int, start: int = 0) -> RunTally:
        self.asked.append((epsilon, runs))
        return RunTally(runs, runs * self.question.constraint.holds(epsilon / 20), runs * epsilon / 20)


def quiet(_: str) -> None: ...


FEW = {"bayes": {"first_points": 5, "rounds": 2}}


def test_bs_halves_as_algorithm_1_does():
    found = bs(Scripted(3.0), Range(0.0001, 20.0001, 2.0), quiet)
    assert [round(look.epsilon, 3) for look in found.looks] == [10.0, 5.0, 2.5, 3.75]
    assert found.epsilon == pytest.approx(3.75, abs=1e-3)


def test_bs_returns_the_upper_end_within_phi():
    found = bs(Scripted(3.0), Range(), quiet)
    assert 3.0 <= found.epsilon < 3.01
    assert found.simulations == 500 * len(found.looks) == 500 * math.ceil(math.log2(19.999 / 0.01))


def test_rbs_keeps_a_quarter_more_as_algorithm_2_does():
    found = rbs(Scripted(3.0), Range(0.0001, 20.0001, 8.0), quiet)
    # [0, 20] -> 10 good, upper end 15 -> 7.5 good, upper end 11.25 -> 5.625 good, upper end 8.4375 -> 4.21875 good
    assert [round(look.epsilon, 3) for look in found.looks] == [10.0, 7.5, 5.625, 4.219]
    assert found.epsilon == pytest.approx(4.21875 + 8.4375 / 4, abs=1e-3)


def test_rbs_refuses_a_g_that_never_ends():
    with pytest.raises(InvalidInput, match="above 2"):
        rbs(Scripted(3.0), Range(), quiet, g=2)


def test_dbs_simulates_more_near_the_threshold():
    ledger = Scripted(3.0)
    dbs(ledger, Range(0.0001, 20.0001, 2.0), quiet, least_runs=10, most_runs=60, c=1.0)
    # |average - omega| = |eps - 3| / 20: 20 / 7, 20 / 2, 20 / 0.4999 and 20 / 0.7501 collections
    spent = {round(eps, 3): 0 for eps, _ in ledger.asked}
    for eps, runs in ledger.asked:
        spent[round(eps, 3)] += runs
    assert spent == {10.0: 10, 5.0: 10, 2.5: 40, 3.75: 26}


def test_dbs_never_exceeds_the_most_even_at_the_threshold():
    ledger = Scripted(10.0)
    dbs(ledger, Range(1.0, 19.0, 17.9), quiet, least_runs=10, most_runs=60)
    assert sum(runs for _, runs in ledger.asked) == 60


def test_dbs_shares_stay_below_one_where_fewer_are_desired():
    found = dbs(Scripted(3.0), Range(), quiet, least_runs=100, c=1e-6)
    assert all(look.tally.runs == 100 and look.tally.share <= 1 for look in found.looks)


def test_mpass_zooms_as_algorithm_4_does():
    found = mpass(Scripted(3.3), Range(1.0, 6.0, 0.01), quiet, passes=3, g=4)
    first = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    second = [3 + k / 4 for k in range(9)]
    third = [3.25 + k / 16 for k in range(9)]
    assert [look.epsilon for look in found.looks] == pytest.approx(first + second + third)
    assert found.epsilon == 3.3125


def test_mpass_stays_inside_the_range():
    found = mpass(Scripted(0.02), Range(0.001, 2.0, 0.01), quiet)
    assert all(0.001 <= look.epsilon <= 2.0 for look in found.looks)


def test_bayes_finds_where_the_average_is_the_threshold():
    pytest.importorskip("sklearn", reason="an optional dependency")
    found = bayes(Scripted(3.0), Range(), quiet, runs=10)
    assert len(found.looks) == 40
    assert found.epsilon == pytest.approx(3.0, abs=0.05)


@pytest.mark.parametrize("name", sorted(SEARCHES))
def test_a_constraint_out_of_reach_names_the_best_epsilon(name):
    if name == "bayes":
        pytest.importorskip("sklearn", reason="an optional dependency")
    with pytest.raises(InvalidInput, match=r"best seen: probability 0, average .* at eps = ") as caught:
        SEARCHES[name](Scripted(19.0), Range(0.5, 10.0, 0.5), quiet, **FEW.get(name, {}))
    assert "[0.5, 10]" in str(caught.value)


@pytest.mark.parametrize(
    ("population", "name", "threshold"),
    [(msnbc_like, "grr", 0.5), (msnbc_like, "oue", 0.3), (emoji_like, "grr", 0.7)],
    ids=["msnbc-grr", "msnbc-oue", "emoji-grr"],
)
def test_the_five_agree_within_a_tenth_beside_the_certified_bracket(population, name, threshold):
    pytest.importorskip("sklearn", reason="an optional dependency")
    question = Question(name, population(), Constraint("kendall", threshold, 0.5))
    ledger = Ledger(question)
    found = [method(ledger, Range(), quiet, **options(key)).epsilon for key, method in SEARCHES.items()]
    assert max(found) - min(found) < 0.1
    bracket = certified.search(ledger, Range(), most_runs=1000)
    assert bracket.lower is not None
    assert all(bracket.lower - 0.05 < epsilon < bracket.upper + 0.05 for epsilon in found)


def options(name: str) -> dict[str, int]:
    if name == "dbs":
        return {"least_runs": 50, "most_runs": 300}
    return {"runs": 200}


def test_bayes_without_its_extra_says_which(monkeypatch):
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("mechdesign.studies.budgets.bayes.import_module", missing)
    with pytest.raises(MissingExtra, match=r"mechdesign\[bayes\]"):
        bayes(Scripted(3.0), Range(), quiet)


def test_bayes_ignores_the_probability():
    pytest.importorskip("sklearn", reason="an optional dependency")
    found = []
    for probability in (0.5, 0.9):
        question = Question("grr", msnbc_like(), Constraint("kendall", 0.5, probability))
        found.append(bayes(Ledger(question), Range(0.001, 2.0), quiet, runs=100, first_points=10, rounds=5).epsilon)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: Range(2.0, 1.0), "range"),
        (lambda: Range(0.0, 1.0), "eps"),
        (lambda: Range(0.1, 1.0, 1.0), "phi"),
        (lambda: Range(0.1, 1.0, math.nan), "phi"),
        (lambda: bs(Scripted(3.0), Range(), quiet, runs=0), "runs"),
        (lambda: mpass(Scripted(3.0), Range(), quiet, g=1), "g must be above 1"),
        (lambda: mpass(Scripted(3.0), Range(), quiet, passes=0), "passes"),
        (lambda: dbs(Scripted(3.0), Range(), quiet, c=0), "C, N_min"),
        (lambda: dbs(Scripted(3.0), Range(), quiet, least_runs=10, most_runs=5), "C, N_min"),
    ],
)
def test_bad_parameters_are_refused(change, words):
    with pytest.raises(InvalidInput, match=words):
        change()


@pytest.mark.parametrize(("name", "threshold", "seed"), [("oue", 0.7, 1), ("olh", 0.7, 0), ("grr", 0.9, 2)])
def test_bayes_finds_the_narrow_valley_at_small_epsilons(name, threshold, seed):
    users = 10**5 if name == "olh" else 989_818
    question = Question(name, msnbc_like(users), Constraint("kendall", threshold, 0.5), seed=seed)
    found = [method(Ledger(question), Range(), quiet, runs=100).epsilon for method in (bayes, rbs)]
    assert abs(found[0] - found[1]) < 0.1
