"""Every design problem: what proves its designs and what answers it. Files, `solve` and documentation go by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mechdesign.errors import InvalidInput, require_seconds
from mechdesign.mechanisms.kinds import PROTOCOLS
from mechdesign.methods.additive.proof import AdditiveBound
from mechdesign.methods.additive.supports import supports as additive_supports
from mechdesign.methods.approximate.proof import HockeyBound
from mechdesign.methods.approximate.supports import supports as approximate_supports
from mechdesign.methods.ball.proof import DirectionBound
from mechdesign.methods.ball.supports import supports as ball_supports
from mechdesign.methods.convex.proof import ConvexBound, ConvexClaim
from mechdesign.methods.convex.supports import supports as convex_supports
from mechdesign.methods.evidence import Evidence, Problem as AnyProblem
from mechdesign.methods.finite.proof import FiniteBound, LexicographicBound
from mechdesign.methods.finite.supports import supports as finite_supports
from mechdesign.methods.hidden_joint.proof import HockeyDuals, IndependentBest, PeakLines
from mechdesign.methods.hidden_joint.supports import supports as hidden_joint_supports
from mechdesign.methods.information.proof import InformationBound
from mechdesign.methods.information.supports import supports as information_supports
from mechdesign.methods.joint.problem import JointProblem
from mechdesign.methods.joint.proof import ClosedForm, DualBound, JointClaim
from mechdesign.methods.line import LEAST_EPSILON, MOST_EPSILON
from mechdesign.methods.method import Demands, Method, Say
from mechdesign.methods.minimax.proof import MinimaxBound, MinimaxClaim
from mechdesign.methods.minimax.supports import MinimaxOptions, supports as minimax_supports
from mechdesign.methods.pairwise.lexicographic_proof import PairsLexicographicBound
from mechdesign.methods.pairwise.plane_proof import PlaneBound
from mechdesign.methods.pairwise.proof import PairsBound
from mechdesign.methods.pairwise.supports import supports as pairwise_supports
from mechdesign.methods.piecewise.proof import BathtubBound, PiecewiseClaim
from mechdesign.methods.piecewise.supports import supports as piecewise_supports
from mechdesign.methods.piecewise_program.supports import supports as piecewise_program_supports
from mechdesign.methods.polar.proof import SplitClaim
from mechdesign.methods.polar.supports import supports as polar_supports
from mechdesign.methods.prior.proof import BinsBound
from mechdesign.methods.prior.supports import supports as prior_supports
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Rivalry
from mechdesign.methods.sign_patterns.proof import SignPatternsBound
from mechdesign.methods.sign_patterns.supports import supports as sign_patterns_supports
from mechdesign.methods.trade_off.proof import TradeOffBound
from mechdesign.methods.trade_off.supports import supports as trade_off_supports
from mechdesign.methods.unbiased.proof import UnbiasedPriorBound
from mechdesign.methods.unbiased.supports import UnbiasedOptions, supports as unbiased_supports
from mechdesign.methods.unbiased_piecewise.proof import UnbiasedBound
from mechdesign.methods.unbiased_piecewise.supports import supports as unbiased_piecewise_supports
from mechdesign.methods.unbiased_worst.proof import UnbiasedWorstBound
from mechdesign.methods.unbiased_worst.supports import supports as unbiased_worst_supports
from mechdesign.methods.words import optimum_name
from mechdesign.methods.workload.grid_proof import GridBound
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.supports import WorkloadOptions, supports as workload_supports
from mechdesign.values.codec import Codec
from mechdesign.values.declare import evolved, frozen
from mechdesign.words.classes import All, Piecewise, Unbiased, UnbiasedPiecewise
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.privacy import Approximate, Pure
from mechdesign.words.problem import Problem


@frozen
class Entry:
    """A design problem: what its designs rest on, and what answers it in so many seconds (None is no limit)."""

    problem: type[AnyProblem]
    proven_by: tuple[type[Evidence], ...]
    answer: Callable[[Any, float | None], Design]


def _answer(module: str, name: str) -> Callable[[Any, float | None], Design]:
    """What a search answers, read when it is asked for; without a limit its own is meant."""

    def answer(problem: Any, seconds: float | None) -> Design:
        search = getattr(import_module(f"mechdesign.methods.{module}.search"), name)
        found: Design = search(problem) if seconds is None else search(problem, seconds)
        return found

    return answer


ENTRIES = (Entry(JointProblem, (ClosedForm, DualBound, JointClaim), _answer("joint", "optimal_joint")),)
"""Every problem that is a class of its own, a line each."""

METHODS = (
    Method("finite", "finite optimum", (FiniteBound, LexicographicBound), finite_supports),
    Method("minimax", "minimax", (MinimaxBound, MinimaxClaim), minimax_supports, MinimaxOptions),
    Method("prior", "randomised response on bins", (BinsBound,), prior_supports),
    Method("trade_off", "capped average", (TradeOffBound,), trade_off_supports),
    Method("pairwise", "pairwise optimum", (PairsBound, PairsLexicographicBound, PlaneBound), pairwise_supports),
    Method("piecewise", "OGPM", (BathtubBound, PiecewiseClaim), piecewise_supports),
    Method("piecewise_program", "OGPM", (PiecewiseClaim,), piecewise_program_supports),
    Method("polar", "OGPM (polar)", (SplitClaim,), polar_supports),
    Method("unbiased_worst", "unbiased optimum", (UnbiasedWorstBound,), unbiased_worst_supports),
    Method("unbiased", "unbiased optimum", (UnbiasedPriorBound,), unbiased_supports, UnbiasedOptions),
    Method("additive", "additive optimum", (AdditiveBound,), additive_supports),
    Method("sign_patterns", "sign patterns", (SignPatternsBound,), sign_patterns_supports),
    Method("ball", "directions", (DirectionBound,), ball_supports),
    Method("approximate", "approximate optimum", (HockeyBound,), approximate_supports),
    Method("unbiased_piecewise", "OGPM (unbiased)", (UnbiasedBound,), unbiased_piecewise_supports),
    Method("hidden_joint", "hidden joint response", (PeakLines, IndependentBest, HockeyDuals), hidden_joint_supports),
    Method("workload", "workload optimum", (WorkloadBound, GridBound), workload_supports, WorkloadOptions),
    Method("convex", "custom optimum", (ConvexBound, ConvexClaim), convex_supports),
    Method("information", "information optimum", (InformationBound,), information_supports),
)
"""What answers a `Problem`, a line each; of several that do the first does."""

PROVEN_BY: dict[type[AnyProblem], tuple[type[Evidence], ...]] = {
    **{entry.problem: entry.proven_by for entry in ENTRIES},
    Problem: tuple(dict.fromkeys(kind for method in METHODS for kind in method.evidence)),
}
"""The problems that files hold, and for each the kinds of evidence that its designs may rest on."""

_ANSWERS = {entry.problem: entry.answer for entry in ENTRIES}


def solve(
    problem: Any,
    seconds: float | None = None,
    *,
    gap: float | None = None,
    method: str | None = None,
    say: Say = lambda lower, upper: None,
    **options: Any,
) -> Design:
    """The certified answer to a design problem, or `NoAnswer` with bounds where its demands are not met.

    ``gap`` is the relative distance between the proven bounds at which a search may stop, ``seconds`` a limit; left out
    both are up to the method. ``method`` chooses one of `methods`; ``say`` hears of bounds on the way, as claims.
    ``options`` are the method's own, such as the size of a grid.
    Classes of problems that hold a gap themselves are given none; joint responses have 60 seconds unless more is given.

    >>> from mechdesign.words.privacy import Pure
    >>> design = solve(Problem(loss=[[0, 1], [1, 0]], privacy=Pure(1.0)), gap=1e-3)
    >>> round(design.certificate.upper, 3)
    0.269
    """
    if isinstance(problem, Problem):
        chosen = method_of(problem, method)
        return chosen.answer(problem, Demands(gap, seconds, say, chosen.optional(options)))
    answer = _ANSWERS.get(type(problem))
    if answer is None:
        kinds = ", ".join(sorted(kind.__name__ for kind in (*_ANSWERS, Problem)))
        step = "for example md.Problem(loss=[[0, 1], [1, 0]], privacy=md.Pure(1.0))"
        raise InvalidInput("problem", problem, f"be one of {kinds}", step)
    for name, value in (("gap", gap), ("method", method), *options.items()):
        if value is not None:
            raise InvalidInput(name, value, f"be left out for a {type(problem).__name__}, which has its own")
    return answer(problem, require_seconds(seconds))


def methods(problem: Problem) -> dict[str, str | None]:
    """What answers a problem: of every method why it does not, and None where it does.

    >>> from mechdesign.words.privacy import Pure
    >>> found = methods(Problem(loss=[[0, 1], [1, 0]], privacy=Pure(1.0)))
    >>> found["finite"] is None, found["pairwise"]
    (True, 'privacy must be an epsilon for each pair, a Pairwise or a Metric')
    """
    return {method.folder: method.supports(problem) for method in METHODS}


def method_of(problem: Problem, name: str | None = None) -> Method:
    """The method of that name, or else the first that answers the problem."""
    if name is not None and name not in (known := [method.folder for method in METHODS]):
        raise InvalidInput("method", name, f"be one of {', '.join(known)}", "leave it out for the first that answers")
    reasons = {key: why for key, why in methods(problem).items() if name in (None, key)}
    able = [method for method in METHODS if reasons.get(method.folder, "") is None]
    if able:
        return able[0]
    near, step = [], "md.methods(problem) lists the methods" if name is None else ""
    for word, other in _said_otherwise(problem):
        near = [method.folder for method in METHODS if method.folder in reasons and method.supports(other) is None]
        if near:
            step = f"it is answered with {word}"
            break
    missed = "; ".join(f"{key}: {reasons[key]}" for key in dict.fromkeys([*near, *reasons]))
    raise InvalidInput("problem", problem, f"be one that a method answers ({missed})", step)


def _said_otherwise(problem: Problem) -> Iterator[tuple[str, Problem]]:
    """The problem with one of its words another one, wherever that makes one: the same at a near eps first."""
    criteria = Worst(), Average(problem.criterion.prior)
    classes = All(), Piecewise(), Unbiased(), UnbiasedPiecewise()
    within = min(max(problem.epsilon, LEAST_EPSILON), MOST_EPSILON)
    kept = isinstance(problem.privacy, Pure | Approximate)
    nearest = evolved(problem.privacy, epsilon=within) if kept else Pure(within)
    near, far = (("privacy", (nearest,)),), (("criterion", criteria), ("among", classes))
    for name, values in (*near, *far) if kept else (*far, *near):
        for value in values:
            with suppress(InvalidInput):
                yield f"{name}={value}", evolved(problem, **{name: value})


def rivalry_of(problem: object) -> Rivalry | None:
    """What is said of the rivals of a problem's designs: by what answers it, or by its folder; None if nothing.

    >>> from mechdesign.words.privacy import Pure
    >>> rivalry_of(Problem(loss=[[0, 1], [1, 0]], privacy=Pure(1.0))) is None, rivalry_of(0) is None
    (False, True)
    """
    if isinstance(problem, Problem):
        return method_of(problem).rivals
    folder = type(problem).__module__.rpartition(".")[0]
    if not folder.startswith("mechdesign.methods.") or find_spec(f"{folder}.rivalry") is None:
        return None
    found: Rivalry = import_module(f"{folder}.rivalry").RIVALRY
    return found


def optimum_of(design: Design) -> str:
    """What the mechanism is called if it is the optimum: by the method whose evidence proves it, or by the problem."""
    named = (method.optimum for method in METHODS if type(design.evidence) in method.evidence)
    said = design.problem.words.optimum if isinstance(design.problem, Problem) else None
    return said or next(named, optimum_name(design.problem))


CODEC = Codec(PROTOCOLS)
"""How designs are read from files."""
