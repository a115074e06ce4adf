"""How far estimated frequencies are from the true ones: each metric takes (truth f, estimate g) over the same k items.

Names say whether a metric is a sum or a mean: the tables of LDP3 headed "l1 distance" are means (here ``mae``), and
Optimus divides its norms by k (here ``l1-mean`` and ``l2-mean``). LDP3's kl takes the two the other way round (here
``kl-reversed``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, did_you_mean, require_finite, require_whole
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import require_numbers

SMOOTHING = 1e-6
TOP = 10
_MOST_TOP = 10**6
_OF_QUERIES = (".csv", ".npy")
OWN_NAME = re.compile(r"(?!top:)[^\W\d][\w.]*:[^\W\d][\w.]*")
"""How functions of one's own are called: ``module:name``."""


def l1(truth: ArrayLike, estimate: ArrayLike) -> float:
    """``sum_v |f_v - g_v|``."""
    f, g = _pair(truth, estimate)
    return float(np.abs(f - g).sum())


def l2(truth: ArrayLike, estimate: ArrayLike) -> float:
    """``sqrt(sum_v (f_v - g_v)^2)``."""
    f, g = _pair(truth, estimate)
    return float(np.linalg.norm(f - g))


def l2_mean(truth: ArrayLike, estimate: ArrayLike) -> float:
    """``l2 / k``, as Optimus has it."""
    return l2(truth, estimate) / np.size(truth)


def mae(truth: ArrayLike, estimate: ArrayLike) -> float:
    """``l1 / k``, the mean absolute error."""
    return l1(truth, estimate) / np.size(truth)


def mse(truth: ArrayLike, estimate: ArrayLike) -> float:
    """``l2^2 / k``, the mean squared error."""
    f, g = _pair(truth, estimate)
    return float(np.mean((f - g) ** 2))


def kl(truth: ArrayLike, estimate: ArrayLike, smoothing: float = SMOOTHING) -> float:
    """``sum_v f_v log(f_v / h_v)`` in nats, with ``h = (1 - s) max(g, 0) / sum max(g, 0) + s / k`` for smoothing s.

    The truth has to be a distribution. An estimate without a positive entry counts as uniform.

    >>> round(kl([0.5, 0.5], [1.0, 0.0]), 3)
    6.561
    """
    f, g = _pair(truth, estimate)
    share = require_finite(smoothing, "smoothing")
    if not 0 < share <= 1:
        raise InvalidInput("smoothing", smoothing, "be above 0 and at most 1", f"for example smoothing={SMOOTHING:g}")
    if (f < 0).any() or abs(f.sum() - 1) > 1e-9:
        raise InvalidInput("truth", float(f.sum()), "have entries of at least 0 that sum to 1")
    positive = np.maximum(g, 0.0)
    total = positive.sum()
    even = np.full(f.size, 1.0 / f.size)
    h = (1 - share) * (positive / total if total > 0 else even) + share * even
    present = f > 0
    return max(float(np.sum(f[present] * np.log(f[present] / h[present]))), 0.0)


def kl_reversed(truth: ArrayLike, estimate: ArrayLike, smoothing: float = SMOOTHING) -> float:
    """`kl` with truth and estimate exchanged, as the published code of LDP3 computes kl; its page prints `kl`.

    The estimate is made a distribution, and the truth smoothed.

    >>> round(kl_reversed([1.0, 0.0], [0.5, 0.5]), 3)
    6.561
    """
    f, g = _pair(truth, estimate)
    positive = np.maximum(g, 0.0)
    total = positive.sum()
    return kl(positive / total if total > 0 else np.full(g.size, 1.0 / g.size), f, smoothing)


def emd(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Earth mover's distance, neighbouring items one apart: ``sum_v |F_v - G_v|`` of the running sums.

    Where the sums differ, what is missing or too much moves to one place beyond the last item.

    >>> emd([1, 0, 0], [0, 0, 1])
    2.0
    """
    f, g = _pair(truth, estimate)
    return float(np.abs(np.cumsum(f - g)).sum())


def prefix(truth: ArrayLike, estimate: ArrayLike) -> float:
    """The squared errors of the running sums, added up: the error of the workload ``prefix``.

    >>> prefix([1, 0, 0], [0, 0, 1])
    2.0
    """
    f, g = _pair(truth, estimate)
    return float((np.cumsum(f - g) ** 2).sum())


def ranges(truth: ArrayLike, estimate: ArrayLike) -> float:
    """The squared errors of all ranges of neighbouring items, added up: the error of the workload ``ranges``.

    With ``S_0 = 0`` and the running sums S of the errors a range is a pair, and these are
    ``(k + 1) sum S^2 - (sum S)^2``.

    >>> ranges([1, 0], [0, 1])  # of the ranges (0), (0, 1) and (1)
    2.0
    """
    f, g = _pair(truth, estimate)
    sums = np.cumsum(f - g)
    return float((f.size + 1) * (sums**2).sum() - sums.sum() ** 2)


def kendall(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Kendall's tau-b: 1 for the same order, -1 for the opposite one; 0 where either side has all entries equal."""
    from scipy.stats import kendalltau

    f, g = _pair(truth, estimate)
    if (f == f[0]).all() or (g == g[0]).all():
        return 0.0
    return float(kendalltau(f, g).statistic)


def kendall_optimus(truth: ArrayLike, estimate: ArrayLike) -> float:
    """The Kendall coefficient of Optimus over each pair of items once, in the order of the items.

    The page prints it over the pairs of V x V, where each stands in both orders: `kendall_optimus_squared`.

    Items u before v are concordant if ``f_u > f_v and g_u > g_v``, or ``f_u <= f_v and g_u <= g_v``; the coefficient is
    the share of concordant minus that of discordant pairs. A tie counts as "not above" only, so with ties on one side
    the coefficient depends on the order of the items: use `kendall`.

    >>> kendall_optimus([0.5, 0.5], [0.6, 0.4]), kendall_optimus([0.5, 0.5], [0.4, 0.6])
    (-1.0, 1.0)
    """
    f, g = _pair(truth, estimate)
    if f.size < 2:
        return 1.0
    # of equal entries the later one counts as above, and then there are no ties
    ranks = [np.argsort(np.argsort(side, kind="stable"), kind="stable") for side in (f, g)]
    return kendall(*ranks)


def kendall_optimus_squared(truth: ArrayLike, estimate: ArrayLike) -> float:
    """The Kendall coefficient as Optimus prints it: over all ordered pairs of different items, the "pairs in V x V".

    Of a pair tied on one side only, one of the two orders is concordant and the other is not; of a pair tied on both,
    both are. So this does not depend on the order of the items.

    >>> kendall_optimus_squared([0.5, 0.5], [0.6, 0.4]), kendall_optimus_squared([0.5, 0.5], [0.4, 0.6])
    (0.0, 0.0)
    """
    f, g = _pair(truth, estimate)
    if f.size < 2:
        return 1.0
    pairs = f.size * (f.size - 1) / 2
    tied = [_tied_pairs(np.unique(side, return_counts=True)[1]) for side in (f, g)]
    both = _tied_pairs(np.unique(np.stack([f, g]), axis=1, return_counts=True)[1])
    untied = math.sqrt(pairs - tied[0]) * math.sqrt(pairs - tied[1])
    return float((kendall(f, g) * untied + both) / pairs)


def top_precision(truth: ArrayLike, estimate: ArrayLike, top: int = TOP) -> float:
    """The share of the estimate's ``top`` items (all, if there are fewer) that are among the truth's.

    An item is among the truth's if its f is at least the ``top``-th largest. Ties of the estimate are broken evenly:
    the result is the average over all ways to break them, whatever the order of the items.

    >>> top_precision([0.4, 0.3, 0.2, 0.1], [0.5, 0.1, 0.3, 0.1], 2)
    0.5
    """
    f, g = _pair(truth, estimate)
    t = min(require_whole(top, "top", 1), f.size)
    heavy = f >= np.partition(f, f.size - t)[f.size - t]
    edge = np.partition(g, g.size - t)[g.size - t]
    above, tied = g > edge, g == edge
    room = t - np.count_nonzero(above)
    hits = np.count_nonzero(heavy & above) + room * np.count_nonzero(heavy & tied) / np.count_nonzero(tied)
    return float(hits / t)


@frozen
class Metric:
    """A metric by name: what it measures in words, and whether more of it is better.

    ``step`` is the least that it moves by among so many items, of metrics that count.
    """

    name: str
    meaning: str
    measure: Callable[[ArrayLike, ArrayLike], float]
    more_is_better: bool = False
    step: Callable[[int], float] = lambda _: 0.0


def _step_of_pairs(items: int) -> float:
    """Two neighbours change places: of the pairs, each 1 or -1, one turns."""
    return 4 / (items * (items - 1)) if items > 1 else 0.0


def _step_of_top(top: int, items: int) -> float:
    return 1 / min(top, items)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("l1", "sum of absolute errors", l1),
        Metric("l1-mean", "mean absolute error", mae),
        Metric("l2", "root of the sum of squared errors", l2),
        Metric("l2-mean", "root of the sum of squared errors, over k", l2_mean),
        Metric("mae", "mean absolute error", mae),
        Metric("mse", "mean squared error", mse),
        Metric("kl", f"Kullback-Leibler divergence (nats, smoothing {SMOOTHING:g})", kl),
        Metric("kl-reversed", "Kullback-Leibler divergence with truth and estimate exchanged", kl_reversed),
        Metric("emd", "earth mover's distance (item steps)", emd),
        Metric("prefix", "sum of squared errors of the distribution function", prefix),
        Metric("ranges", "sum of squared errors of all ranges of items", ranges),
        Metric("kendall", "Kendall's tau-b", kendall, more_is_better=True, step=_step_of_pairs),
        Metric(
            "kendall-optimus",
            "Kendall coefficient of Optimus",
            kendall_optimus,
            more_is_better=True,
            step=_step_of_pairs,
        ),
        Metric(
            "kendall-optimus-squared",
            "Kendall coefficient of Optimus over ordered pairs",
            kendall_optimus_squared,
            more_is_better=True,
            step=_step_of_pairs,
        ),
        Metric(
            "top",
            f"precision of the top {TOP}",
            top_precision,
            more_is_better=True,
            step=partial(_step_of_top, TOP),
        ),
    )
}


def of_queries(name: str, queries: ArrayLike) -> Metric:
    """The squared errors of the answers to queries, one a row, added up: the error of a workload of one's own.

    >>> of_queries("both.csv", [[1, 1, 0], [0, 1, 1]]).measure([1, 0, 0], [0, 0, 1])
    2.0
    """
    matrix = require_numbers(queries, "queries")
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise InvalidInput("queries", matrix.shape, "be rows of finite numbers, one a query")
    return Metric(name, _MEANT.format(name), partial(_workload_error, matrix))


_MEANT = "sum of squared errors of the answers to {}"


def _workload_error(queries: Floats, truth: ArrayLike, estimate: ArrayLike) -> float:
    f, g = _pair(truth, estimate)
    if f.size != queries.shape[1]:
        raise InvalidInput("queries", queries.shape[1], f"have {f.size} columns, one for each item")
    return float(((queries @ (f - g)) ** 2).sum())


def _without_queries(name: str, truth: ArrayLike, estimate: ArrayLike) -> float:
    raise InvalidInput("metric", name, "come with its queries", "give them to the plan: workloads={name: rows}")


def _without_function(name: str, truth: ArrayLike, estimate: ArrayLike) -> float:
    raise InvalidInput("metric", name, "come with its function", "give it to the plan: own={name: function}")


def metric(name: str) -> Metric:
    """The metric of that name, or `InvalidInput`; ``top:5`` is `top_precision` of five items.

    The name of a file of queries, or ``module:name`` of a function of one's own, says what is measured; measuring needs
    the queries (`of_queries`) or the function (`mechdesign.studies.frequencies.own`).
    """
    if name in METRICS:
        return METRICS[name]
    if name.lower().endswith(_OF_QUERIES):
        return Metric(name, _MEANT.format(name), partial(_without_queries, name))
    if OWN_NAME.fullmatch(name):
        return Metric(name, f"{name} of truth and estimate", partial(_without_function, name))
    kind, _, count = name.partition(":")
    if kind != "top" or not (count.isascii() and count.isdigit() and 0 < int(count) <= _MOST_TOP):
        rule = f"be one of {', '.join(METRICS)}, top:COUNT, or a file of queries"
        raise InvalidInput("metric", name, rule, did_you_mean(name, METRICS) or "for example l1")
    measure = partial(top_precision, top=int(count))
    step = partial(_step_of_top, int(count))
    return Metric(name, f"precision of the top {int(count)}", measure, more_is_better=True, step=step)


def _tied_pairs(sizes: NDArray[np.int64]) -> float:
    return float(np.sum(sizes * (sizes - 1) / 2))


def _pair(truth: ArrayLike, estimate: ArrayLike) -> tuple[Floats, Floats]:
    f, g = require_numbers(truth, "truth"), require_numbers(estimate, "estimate")
    if f.ndim != 1 or f.size == 0:
        raise InvalidInput("truth", f.shape, "be a list of at least one frequency")
    if f.shape != g.shape:
        raise InvalidInput("estimate", g.shape, f"hold {f.size} frequencies, as the truth does")
    if not (np.isfinite(f).all() and np.isfinite(g).all()):
        raise InvalidInput("frequencies", "infinite ones", "be finite")
    return f, g
