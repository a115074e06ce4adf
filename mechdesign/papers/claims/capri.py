"""CAPRI: what its simulations and its selected budgets tell an adversary, and its algorithms taken as printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from mechdesign.papers.claims.budget import PAPER
from mechdesign.papers.claims.claim import AT_LEAST, AT_MOST, Claim, Item, Value
from mechdesign.papers.claims.drawing import Lines, curves
from mechdesign.studies.budgets.adversary import detection, threat
from mechdesign.studies.budgets.capacity import Capacity, Requirement
from mechdesign.studies.budgets.capri import capri
from mechdesign.studies.budgets.outlook import outlook
from mechdesign.studies.budgets.populations import SAMPLE_TOTAL, WATER_TOTAL, scaled, water_like
from mechdesign.studies.budgets.searches import FIRST_POINTS, ROUNDS
from mechdesign.studies.frequencies.protocols.catalogue import protocol
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol

_THREE = {"GRR": "grr", "OUE": "oue", "RAPPOR": "sue"}
"""From the easiest to attack to the hardest, as the page has them."""
_EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
_ETAS = (0.0, 5.0, 10.0, 20.0)
_WISHED = (0.7, 0.9)
_PHI, _DELTA, _RUNS = 0.01, 0.002, 2500


def _binary(cap: int, total: int) -> Capacity:
    """The thousand users of figure 4.1."""
    return Capacity([0, 1], [1000 - total, total], cap)


def _overestimated(cap: int, total: int) -> list[Value]:
    """The least of Chebyshev's bound over Pr[FN], and its distance from it at eps = 2 over that at .5."""
    found = [outlook(_binary(cap, total), "grr", k / 10) for k in range(2, 21)]
    apart = [seen.chebyshev - seen.probability["FN"] for seen in found]
    return [min(seen.chebyshev / seen.probability["FN"] for seen in found), apart[-1] / apart[3]]


def _alarm_lines() -> Lines:
    epsilons = [k / 20 for k in range(2, 41)]
    found = [outlook(_binary(500, 600), "grr", epsilon) for epsilon in epsilons]
    return {
        "Chebyshev's bound": (epsilons, [seen.chebyshev for seen in found]),
        "exact": (epsilons, [seen.probability["FN"] for seen in found]),
    }


def _printed_bound(cap: int, total: int, epsilon: float) -> float:
    """Equation 4.2.3 for a thousand users."""
    p = 1 / (1 + math.exp(-epsilon))
    return math.inf if cap == total else p * (1 - p) * 1000 / ((2 * p - 1) * (total - cap)) ** 2


def _bound_at_the_total() -> list[Value]:
    missed = outlook(_binary(500, 500), "grr", 8.0).probability["FN"]
    return [_printed_bound(500, 500, 8.0) - missed]


@cache
def _law(name: str, epsilon: float) -> FrequencyProtocol:
    return protocol(name, epsilon, water_like().size)


def _success(name: str, epsilon: float) -> float:
    counts = water_like()
    return threat(_law(name, epsilon), np.arange(counts.size), counts).success


def _squared_error(name: str, epsilon: float) -> float:
    counts = water_like()
    return threat(_law(name, epsilon), np.arange(counts.size), counts).squared_error


def _f_score(name: str, epsilon: float, eta: float) -> float:
    counts = water_like()
    return detection(_law(name, epsilon), np.arange(counts.size), counts, eta).f_score


def _threats() -> list[Value]:
    """The least ratios over eps: of a protocol to the next one, and of an eps to the one before."""
    names = tuple(_THREE.values())
    pairs = list(zip(names, names[1:], strict=False))

    def first_over_second(score: Callable[[str, float], float]) -> float:
        return min(score(one, e) / score(other, e) for one, other in pairs for e in _EPSILONS)

    def later_over_earlier(score: Callable[[str, float], float]) -> float:
        steps = list(zip(_EPSILONS, _EPSILONS[1:], strict=False))
        return min(score(name, after) / score(name, before) for name in names for before, after in steps)

    scores: tuple[Callable[[str, float], float], ...] = (_success, lambda name, e: 1 / _squared_error(name, e))
    return [compared(score) for score in scores for compared in (first_over_second, later_over_earlier)]


def _success_lines() -> Lines:
    return {shown: (_EPSILONS, [_success(name, e) for e in _EPSILONS]) for shown, name in _THREE.items()}


def _detections() -> list[Value]:
    """The least ratios of F-scores: of a protocol to the next, of an eps to the one before, of an eta to the last."""
    names = tuple(_THREE.values())
    pairs, steps, rises = list(pairwise(names)), list(pairwise(_EPSILONS)), list(pairwise(_ETAS))
    return [
        min(_f_score(a, e, eta) / _f_score(b, e, eta) for a, b in pairs for e in _EPSILONS for eta in _ETAS),
        min(_f_score(name, b, eta) / _f_score(name, a, eta) for name in names for a, b in steps for eta in _ETAS),
        min(_f_score(name, e, b) / _f_score(name, e, a) for name in names for e in _EPSILONS for a, b in rises),
    ]


def _f_score_lines() -> Lines:
    return {
        f"{shown}, eta = {eta:g}": (_EPSILONS, [_f_score(_THREE[shown], e, eta) for e in _EPSILONS])
        for eta in (5.0, 20.0)
        for shown in _THREE
    }


@cache
def _selected(name: str, least: float, delta: float, runs: int = _RUNS) -> tuple[float, int]:
    """The budget that CAPRI, or CAPRI-R, selects for 100,000 households, and at how many epsilons it simulates."""
    counts = scaled(water_like(), 100_000)
    capacity = Capacity(np.arange(counts.size), counts, round(0.98 * float(np.arange(counts.size) @ counts)))
    rng = np.random.default_rng([int(100 * least), round(1000 * delta)])
    found = capri(capacity, Requirement("tp", least), name, rng, runs=runs, phi=_PHI, delta=delta)
    return found.epsilon, len(found.tested)


def _relaxed() -> list[Value]:
    both = [[_selected(name, least, delta) for delta in (0.0, _DELTA)] for name in ("grr", "sue") for least in _WISHED]
    return [max(abs(plain[0] - relaxed[0]) / plain[0] for plain, relaxed in both)]


def _looks() -> list[Value]:
    plain, relaxed = (_selected("grr", 0.9, delta, runs=100)[1] for delta in (0.0, _DELTA))
    return [relaxed / plain, (FIRST_POINTS + ROUNDS) / plain]


def _relaxed_lines() -> Lines:
    return {
        f"{shown}, {method}": (_WISHED, [_selected(_THREE[shown], least, delta)[0] for least in _WISHED])
        for shown in ("GRR", "RAPPOR")
        for method, delta in (("CAPRI", 0.0), ("CAPRI-R", _DELTA))
    }


def _runs(num_runs: int, *, last: int) -> list[Value]:
    """Lines 5 to 15 of Algorithm 7 where every run exceeds the capacity, with k from 0 to ``last``."""
    num_tp = sum(1 for _ in range(last + 1))
    return [num_tp / num_runs]


def _steps(delta: float) -> float:
    """How often CAPRI-R looks until its interval is shorter than phi: of a length L ``L / 2 + delta`` is kept."""
    length, steps = 10 - 0.001, 0
    while length >= _PHI:
        kept = length / 2 + delta
        if kept >= length or steps > _ENDLESS:
            return math.inf
        length, steps = kept, steps + 1
    return steps


_ENDLESS = 10_000


def _order(labels: Sequence[str]) -> tuple[Item, ...]:
    return tuple(Item(label, "1", relation=AT_LEAST) for label in labels)


CLAIMS = (
    Claim(
        "capri.figure-4.1bc",
        PAPER,
        "section 4.2.2, figures 4.1b and 4.1c",
        "under each eps (0.2 to 2) Chebyshev's bound is above Pr[FN], by more at low eps, and both converge "
        "(capacity 500, total 600, and 400, 500; N = 1000)",
        (
            Item("least ratio (500, 600)", "1", relation=AT_LEAST),
            Item("distance at 2 over that at .5 (500, 600)", "0.1", relation=AT_MOST),
            Item("least ratio (400, 500)", "1", relation=AT_LEAST),
            Item("distance at 2 over that at .5 (400, 500)", "0.1", relation=AT_MOST),
        ),
        lambda: [*_overestimated(500, 600), *_overestimated(400, 500)],
        picture=curves("Pr[FN], capacity 500, total 600, N = 1000", "eps", "Pr[FN]", _alarm_lines, ylim=(0, 1.05)),
    ),
    Claim(
        "capri.figure-4.1d",
        PAPER,
        "section 4.2.2, figure 4.1d",
        "at capacity 500 and total 500 the bound of equation 4.2.3 and Pr[FN] converge as eps becomes higher (eps = 8)",
        (Item("bound less Pr[FN]", "0.0", "inf"),),
        _bound_at_the_total,
        erratum=20,
    ),
    Claim(
        "capri.figure-5.9-sample",
        PAPER,
        "section 5.2.2.2, figure 5.9",
        "10% of the real dataset is used, such that the total is 15,620 (of 1,598,489)",
        (Item("share of the total (%)", "10", "0.98"),),
        lambda: [100 * SAMPLE_TOTAL / WATER_TOTAL],
        erratum=20,
    ),
    Claim(
        "capri.runs",
        PAPER,
        "algorithm 7, lines 5 and 15",
        "pr is the empirical probability of num_runs simulations (num_runs = 100, all of them exceed the capacity)",
        (Item("probability", "1", relation=AT_MOST),),
        lambda: _runs(100, last=100),
        mended=lambda: _runs(100, last=99),
        erratum=20,
    ),
    Claim(
        "capri.relaxed",
        PAPER,
        "section 6.1.5",
        "with eps + delta and eps - delta in lines 17 and 19 the search still ends, within 100 steps, say (phi = .01)",
        (
            Item("steps at delta = .002", "100", relation=AT_MOST),
            Item("steps at delta = .005", "100", "inf", AT_MOST),
        ),
        lambda: [_steps(_DELTA), _steps(_PHI / 2)],
        erratum=20,
    ),
    Claim(
        "capri.figure-6.1",
        PAPER,
        "section 6.1.3, figure 6.1",
        "the adversary's success is highest and its squared error lowest against GRR, then OUE, then RAPPOR, and both "
        "change with eps as expected (least ratios over eps from 0.5 to 5)",
        _order(
            (
                "success, a protocol over the next",
                "success, an eps over the one before",
                "squared error, the next over a protocol",
                "squared error, the one before over an eps",
            )
        ),
        _threats,
        stand_in="98,511 households that use 1,598,489 in all, as printed, with an outline made here",
        picture=curves("A Bayesian adversary's success, even prior", "eps", "success rate", _success_lines),
    ),
    Claim(
        "capri.figure-6.2",
        PAPER,
        "section 6.1.3, figures 6.2 to 6.5",
        "the F-score of guessing who is at most eta = 0, 5, 10 or 20 is highest for GRR, then OUE, then RAPPOR; it "
        "rises with eps and with eta (least ratios over eps from 0.5 to 5)",
        _order(("a protocol over the next", "an eps over the one before", "an eta over the one before")),
        _detections,
        stand_in="98,511 households that use 1,598,489 in all, as printed, with an outline made here",
        picture=curves("Guessing who uses at most eta", "eps", "F-score", _f_score_lines, ylim=(0, 1.5)),
    ),
    Claim(
        "capri.figure-6.6",
        PAPER,
        "section 6.1.6, figure 6.6",
        "CAPRI and CAPRI-R select similar budgets, with GRR and RAPPOR (Pr[TP] of .7 and .9; 2500 runs at an eps, "
        "delta = .002; within a tenth)",
        (Item("largest difference, as a share", "0.1", relation=AT_MOST),),
        _relaxed,
        slow=True,
        stand_in="100,000 households with the outline of our own city, capacity 98% of their total",
        picture=curves("Budgets for 100,000 households", "Pr[TP] asked for", "eps", _relaxed_lines),
    ),
    Claim(
        "capri.figure-6.7",
        PAPER,
        "section 6.1.6, figure 6.7",
        "CAPRI is faster than CAPRI-R and much faster than Bayesian optimisation (counted in epsilons at which "
        "num_runs collections are simulated; delta = .002, init_points and iter_num are 20, as section 5.1.5 has it)",
        (
            Item("CAPRI-R's over CAPRI's", "1", relation=AT_LEAST),
            Item("Bayes' over CAPRI's", "2", relation=AT_LEAST),
        ),
        _looks,
    ),
)
