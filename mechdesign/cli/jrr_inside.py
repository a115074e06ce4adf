"""Joint answers inside unary encoding (OUE) and local hashing (OLH): how strongly pairs may be coupled in a budget."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mechdesign.cli import output
from mechdesign.errors import InvalidInput
from mechdesign.exact.collusion import Ratio, conditional_ratio, log_up
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import JointResponse, rho_range
from mechdesign.mechanisms.joint_encodings import JointHashing, JointUnary, best_hashes
from mechdesign.methods.joint.problem import JointProblem
from mechdesign.methods.joint.words import eps_words
from mechdesign.values.codec import encoded
from mechdesign.values.declare import field, frozen
from mechdesign.values.schema import shaped

INSIDE = ("oue", "olh")
_GRID = 1 << 30


def _law() -> dict[str, Any]:
    return shaped(lambda schemas: schemas.any_of(JointUnary, JointHashing))


@frozen
class Inside:
    """Pairs inside an encoding: the strength that the budget allows, and what it is good for."""

    epsilon: float
    users: int
    count: int
    categories: int
    mechanism: dict[str, Any] = field(metadata=_law())
    strength: float
    variance: float
    independent_variance: float
    epsilon_conditional: tuple[float, ...]


ANSWERS = (Inside,)


def design_inside(kind: str, problem: JointProblem) -> Inside:
    """The strongest coupling whose loss keeps the cap once the partner's value and reports are known.

    Without a cap the strongest there is. The loss is decided exactly for the strength that is returned.
    """
    if kind not in INSIDE:
        raise InvalidInput("inside", kind, f"be {' or '.join(INSIDE)}")
    if problem.count is None or problem.group != 2:
        raise InvalidInput("inside", kind, "be asked for pairs and a single share", "drop --group, --prior and ranges")
    if problem.colluders:
        step = "cap what a partner learns with --conditional-eps"
        raise InvalidInput("colluders", problem.colluders, "be left out with --inside", step)
    ratio = exp_lower(problem.epsilon)
    cap = problem.caps[0] if problem.caps else None
    make = _unary if kind == "oue" else _hashing
    law, loss = make(problem, ratio)
    strength = strongest(loss, None if cap is None else exp_lower(cap))
    if strength is None:
        assert cap is not None
        step = f"take at least {problem.epsilon:g}: independent answers give away as much"
        raise InvalidInput("conditional eps", cap, "be no smaller than eps with --inside", step)
    best = law(strength)
    return Inside(
        problem.epsilon,
        problem.users,
        problem.count,
        problem.categories,
        encoded(best),
        float(strength),
        float(best.variance(problem.users, problem.count)),
        float(law(Fraction(0)).variance(problem.users, problem.count)),
        (log_up(loss(Fraction(0))), log_up(loss(strength))),
    )


def require_alone(**options: object) -> None:
    """`InvalidInput` for options that pairs inside an encoding have no use for."""
    for name, value in options.items():
        if value is not None:
            rule = "be left out with --inside, unless --hidden is there too"
            raise InvalidInput(name, value, rule, "cap what a partner learns with --conditional-eps")


Loss = Callable[[Fraction], Ratio]


def _unary(problem: JointProblem, ratio: Fraction) -> tuple[Callable[[Fraction], Any], Loss]:
    def law(strength: Fraction) -> JointUnary:
        return JointUnary.optimised(ratio, problem.categories, strength)

    return law, lambda strength: law(strength).conditional_ratio()


def _hashing(problem: JointProblem, ratio: Fraction) -> tuple[Callable[[Fraction], Any], Loss]:
    assert problem.count is not None
    hashes = best_hashes(problem.epsilon, problem.users, problem.count / problem.users)
    truth = ratio / (ratio + hashes - 1)
    lowest = rho_range(truth, hashes)[0]

    def response(strength: Fraction) -> JointResponse:
        return JointResponse.pair(truth, strength * lowest, hashes)

    return (
        lambda strength: JointHashing(response(strength), problem.categories),
        lambda strength: conditional_ratio(response(strength), 1),
    )


def strongest(loss: Loss, cap: Fraction | None) -> Fraction | None:
    """The largest strength on a grid of ``2^-30`` found by bisection whose loss is at most the cap.

    None if even independent answers are above it.
    """
    if cap is None:
        return Fraction(1)

    def keeps(units: int) -> bool:
        told = loss(Fraction(units, _GRID))
        return told is not None and told <= cap

    if not keeps(0):
        return None
    if keeps(_GRID):
        return Fraction(1)
    low, high = 0, _GRID
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return Fraction(low, _GRID)


def print_inside(kind: str, said: Inside) -> None:
    """The answer in plain words."""
    alone = said.independent_variance
    output.console.print(
        f"Pairs inside {kind.upper()}, eps = {said.epsilon:g}: {said.users} users, ", style="bold", end=""
    )
    output.console.print(f"{said.count} of them hold the value counted, {said.categories} values", style="bold")
    output.console.print(
        f"  coupled with strength {said.strength:.6g} (0: each on their own, 1: as strongly as there is)\n\n"
        f"Variance of the estimated count: {said.variance:.6g}, {100 * said.variance / alone:.3g}% of "
        f"{kind.upper()}'s own {alone:.6g}\n\n"
        "What others can learn about you (eps; all computed exactly)\n"
        f"  if your partner does not collude:  {eps_words(said.epsilon)}\n"
        f"  if your partner colludes:          {eps_words(said.epsilon_conditional[1])}",
        soft_wrap=True,
    )
