"""The mechanism with the least noise for a workload over *all* epsilon-LDP mechanisms, with its proof.

**Problem.** k types, a prior p, queries W. A channel Q and an estimator with ``V Q = W`` are wanted with the least
noise ``sum_x p_x sum_o Q_ox |V_o|^2 - sum_x p_x |W_x|^2``; for a given Q it is ``tr(W M^-1 W') - ...``, ``M = Q' D^-1
Q``.

**Program.** Splitting an output never lowers M, and every row with a ratio of at most c is a mixture of rows in {1,
c}^k: weights on those are a convex program (`mechdesign.methods.workload.master`), whose rows are found as they are
needed (`mechdesign.methods.workload.columns`). For the worst type the prior is the least favourable one: the least
noise is concave in it, and mechanisms found for some priors bound it from above for all.

**Few queries.** Two or three queries whose mirror images leave few types have a program of their own
(`mechdesign.methods.workload.space`), at any number of types.

**Proof.** ``X = M^-1 W'`` and the prices of rows (`mechdesign.methods.workload.proof`). Beyond 24 types both come from
a semidefinite relaxation with splits (`mechdesign.methods.workload.interior`; beyond 144 types without, by splitting:
`mechdesign.methods.workload.relaxation`), or, for tables of several attributes, from counts of pairs
(`mechdesign.methods.workload.grid_search`). Where rows and relaxation stay apart, the prices are those of the rows, and
a tree shows what is wanting in them (`mechdesign.methods.workload.branching`).

Source of the problem: McKenna, Maity, Mazumdar, Miklau, A workload-adaptive mechanism for linear queries under local
differential privacy, 2020, where it is answered by projected gradients without a bound.
"""

from __future__ import annotations

from collections.abc import Callable

from threadpoolctl import threadpool_limits

from mechdesign.errors import InvalidInput
from mechdesign.exact.bits import MOST_BITS
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, saying_why, within_gap
from mechdesign.methods.workload.routes import equal_steps, few, games, pairs, relaxed, rows, space, split
from mechdesign.methods.workload.supports import WorkloadOptions
from mechdesign.methods.workload.task import Task
from mechdesign.values.declare import frozen
from mechdesign.words.problem import Problem

TIME_LIMIT = "the time limit was reached"


@frozen
class Route:
    """One way to an answer: whether it can be taken, and whether it is the first to take where it can."""

    name: str
    fits: Callable[[Task], bool]
    answer: Callable[[Task], Design]
    leads: Callable[[Task], bool] = lambda task: True
    stops: str = "the search ended"


ROUTES = (
    Route("pairs", pairs.fits, pairs.answer, pairs.leads, "counts of pairs of types prove no more"),
    Route("space", space.fits, space.answer, lambda task: task.size > MOST_BITS),
    Route("few", few.fits, few.answer),
    Route("games", games.fits, games.answer),
    Route("equal_steps", equal_steps.fits, equal_steps.answer),
    Route("rows", rows.fits, rows.answer),
    Route("relaxed", relaxed.fits, relaxed.answer),
    Route("split", split.fits, split.answer),
)
"""The first that fits and leads is taken, unless another is asked for by name; `games` and `split` fit always."""


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if the time runs out first, with the design found until then.

    The mechanism is a table whose outputs are numbers; `mechdesign.methods.workload.estimator` is what a report adds to
    the answers. Bounds that are told on the way are those of the rows so far, not proven. The option ``route`` chooses
    one of `ROUTES`.

    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.privacy import Pure
    >>> from mechdesign.words.workloads import Histogram
    >>> problem = Problem(loss=Histogram(4), privacy=Pure(1.0), criterion=Average())
    >>> design = answer(problem, Demands(gap=1e-6))  # randomised response is best here
    >>> round(design.certificate.lower, 4), round(design.certificate.upper, 4)
    (7.5562, 7.5562)
    """
    task = Task(problem, demands)
    route = _route(task, (demands.options or WorkloadOptions()).route)
    with threadpool_limits(1, user_api="blas"):
        design = route.answer(task)
    stopped = TIME_LIMIT if task.clock.is_over else route.stops
    return within_gap(saying_why(design, task.gap, stopped), task.gap, stopped)


def _route(task: Task, name: str | None) -> Route:
    fitting = [route for route in ROUTES if route.fits(task)]
    if name is None:
        return next(route for route in fitting if route.leads(task))
    for route in fitting:
        if route.name == name:
            return route
    rule = f"be a route to this workload, which has {', '.join(route.name for route in fitting)}"
    raise InvalidInput("route", name, rule, "leave it out for the usual one")
