"""Every method: what it answers, and what proves its designs. Files, `solve` and documentation go by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations, product
from typing import Any

import attrs

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.kinds import PROTOCOLS
from mechdesign.methods.additive.proof import AdditiveBound
from mechdesign.methods.additive.supports import supports as additive_supports
from mechdesign.methods.approximate.proof import HockeyBound
from mechdesign.methods.approximate.supports import supports as approximate_supports
from mechdesign.methods.ball.proof import DirectionBound
from mechdesign.methods.ball.supports import supports as ball_supports
from mechdesign.methods.convex.proof import ConvexBound, ConvexClaim
from mechdesign.methods.convex.supports import supports as convex_supports
from mechdesign.methods.cube.proof import CubeBound
from mechdesign.methods.cube.supports import CubeOptions, supports as cube_supports
from mechdesign.methods.evidence import Evidence
from mechdesign.methods.finite.proof import FiniteBound, LexicographicBound
from mechdesign.methods.finite.supports import supports as finite_supports
from mechdesign.methods.hidden_joint.proof import HockeyDuals, IndependentBest, PeakLines
from mechdesign.methods.hidden_joint.supports import supports as hidden_joint_supports
from mechdesign.methods.information.proof import InformationBound
from mechdesign.methods.information.supports import supports as information_supports
from mechdesign.methods.joint.proof import ClosedForm, DualBound, JointClaim
from mechdesign.methods.joint.supports import supports as joint_supports
from mechdesign.methods.joint_program.supports import supports as joint_program_supports
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
from mechdesign.methods.workload.grid_proof import GridBound
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.supports import WorkloadOptions, supports as workload_supports
from mechdesign.values.codec import Codec
from mechdesign.values.declare import evolved
from mechdesign.words.classes import All, OnGrid, Piecewise, Unbiased, UnbiasedPiecewise
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.domains import UNIT, Interval
from mechdesign.words.losses import Absolute, Power, Squared
from mechdesign.words.pairs import Pairs
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

METHODS = (
    Method("finite", "finite optimum", (FiniteBound, LexicographicBound), finite_supports),
    Method("pairwise", "pairwise optimum", (PairsBound, PairsLexicographicBound, PlaneBound), pairwise_supports),
    Method("approximate", "approximate optimum", (HockeyBound,), approximate_supports),
    Method("minimax", "minimax", (MinimaxBound, MinimaxClaim), minimax_supports, MinimaxOptions),
    Method("prior", "randomised response on bins", (BinsBound,), prior_supports),
    Method("trade_off", "capped average", (TradeOffBound,), trade_off_supports),
    Method("piecewise", "OGPM", (BathtubBound, PiecewiseClaim), piecewise_supports),
    Method("piecewise_program", "OGPM", (PiecewiseClaim,), piecewise_program_supports),
    Method("polar", "OGPM (polar)", (SplitClaim,), polar_supports),
    Method("unbiased_worst", "unbiased optimum", (UnbiasedWorstBound,), unbiased_worst_supports),
    Method("unbiased", "unbiased optimum", (UnbiasedPriorBound,), unbiased_supports, UnbiasedOptions),
    Method("additive", "additive optimum", (AdditiveBound,), additive_supports),
    Method("sign_patterns", "sign patterns", (SignPatternsBound,), sign_patterns_supports),
    Method("ball", "directions", (DirectionBound,), ball_supports),
    Method("cube", "response on a grid", (CubeBound,), cube_supports, CubeOptions),
    Method("unbiased_piecewise", "OGPM (unbiased)", (UnbiasedBound,), unbiased_piecewise_supports),
    Method("joint", "joint randomised response", (ClosedForm, DualBound), joint_supports),
    Method("joint_program", "joint randomised response", (JointClaim,), joint_program_supports),
    Method("hidden_joint", "hidden joint response", (PeakLines, IndependentBest, HockeyDuals), hidden_joint_supports),
    Method("workload", "workload optimum", (WorkloadBound, GridBound), workload_supports, WorkloadOptions),
    Method("convex", "custom optimum", (ConvexBound, ConvexClaim), convex_supports),
    Method("information", "information optimum", (InformationBound,), information_supports),
)
"""What answers a `Problem`, a line each; of several that do the first does."""

_NEAREST, _FEW_USERS = 3, 100
"""Methods that are named to who asks what none answers."""

EVIDENCE: tuple[type[Evidence], ...] = tuple(dict.fromkeys(kind for method in METHODS for kind in method.evidence))
"""What the designs of files may rest on."""


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

    >>> from mechdesign.words.privacy import Pure
    >>> design = solve(Problem(loss=[[0, 1], [1, 0]], privacy=Pure(1.0)), gap=1e-3)
    >>> round(design.certificate.upper, 3)
    0.269
    """
    if not isinstance(problem, Problem):
        step = "for example md.Problem(loss=[[0, 1], [1, 0]], privacy=md.Pure(1.0))"
        raise InvalidInput("problem", problem, "be a Problem", step)
    chosen = method_of(problem, method)
    return chosen.answer(problem, Demands(gap, seconds, say, chosen.optional(options)))


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
    near: dict[tuple[str, ...], str] = {}  # by the words that are changed: one method each
    step = ""
    for names, said, other in _said_otherwise(problem):
        found = [method.folder for method in METHODS if method.folder in reasons and method.supports(other) is None]
        step = step or (f"it is answered with {said}" if found else "")
        fresh = [folder for folder in found if folder not in near.values()]
        if fresh:
            near.setdefault(names, fresh[0])
        if len(near) >= _NEAREST:
            break
    of_loss = sorted(reasons, key=lambda name: type(problem.loss).__name__.lower() not in (reasons[name] or "").lower())
    shown = list(dict.fromkeys([*near.values(), *of_loss]))[:_NEAREST]
    missed = "; ".join(f"{key}: {reasons[key]}" for key in shown)
    rest = "" if len(shown) == len(reasons) else "; md.methods(problem) lists the rest"
    raise InvalidInput("problem", problem, f"be one that a method answers ({missed}{rest})", step)


def rivalry_of(problem: Problem) -> Rivalry | None:
    """What is published for a problem: of the methods that answer it the first that says so; None if none does."""
    found = (method.rivals for method in METHODS if method.supports(problem) is None)
    return next((rivalry for rivalry in found if rivalry is not None), None)


def _said_otherwise(problem: Problem) -> Iterator[tuple[tuple[str, ...], str, Problem]]:
    """The problem with one of its words another, then two, wherever that makes one: first the same at a near eps."""
    within = min(max(problem.epsilon, LEAST_EPSILON), MOST_EPSILON)
    criteria = {"criterion": (Average(problem.criterion.prior), Average(), Worst())}
    grid = (OnGrid(problem.among.bins),) if isinstance(problem.among, OnGrid) else ()  # its reach left out
    classes = {"among": (*grid, All(), Piecewise(), Unbiased(), UnbiasedPiecewise())}
    words: dict[str, Sequence[Any]]
    if isinstance(problem.privacy, Pairs):
        words = {**criteria, **classes, "privacy": (Pure(within),)}
    else:
        epsilons = [evolved(problem.privacy, epsilon=epsilon) for epsilon in (within, 1.0)]
        scale = {"inputs": (UNIT,)} if isinstance(problem.inputs, Interval) else {}
        powers = {"loss": (Absolute(), Squared())} if isinstance(problem.loss, Power) else {}
        words = {"privacy": [*epsilons, _plain(problem.privacy)], **scale, **criteria, **classes, **powers}
    for names in (*((name,) for name in words), *combinations(words, 2)):
        for values in product(*(words[name] for name in names)):
            changed = dict(zip(names, values, strict=True))
            with suppress(InvalidInput):
                yield (
                    names,
                    ", ".join(f"{name}={value}" for name, value in changed.items()),
                    evolved(problem, **changed),
                )


def _plain(privacy: Any) -> Any:
    """The same kind at eps = 1, with few users, and with what may be left out left out."""
    fields = attrs.fields_dict(type(privacy))
    usual = {name: field.default for name, field in fields.items() if field.init and field.default is not attrs.NOTHING}
    few = {"users": min(privacy.users, _FEW_USERS)} if "users" in fields else {}
    return evolved(privacy, **usual, **few, epsilon=1.0)


def optimum_of(design: Design) -> str:
    """What the mechanism is called if it is the optimum: by the method whose evidence proves it, or by the problem."""
    named = (method.optimum for method in METHODS if type(design.evidence) in method.evidence)
    return design.problem.words.optimum or next(named)


CODEC = Codec(PROTOCOLS)
"""How designs are read from files."""
