"""Joint responses in words: what is asked, the law, its variance, and what others can learn about a user."""

from __future__ import annotations

import math

from mechdesign.exact.collusion import JointPrivacy
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods.joint.grouping import Grouping
from mechdesign.methods.joint.search import parts, ratio
from mechdesign.methods.result import Design
from mechdesign.methods.words import heading
from mechdesign.values.digits import rounded_down, rounded_up

_SHOWN = 1e-9


def summary(design: Design) -> str:
    """All of it."""
    problem, law, told = parts(design)
    said = f"{heading(design.problem)}\n{law_words(law)}"
    return f"{said}\n\n{variance_words(design)}\n\n{privacy_words(problem, told)}"


def law_words(law: JointResponse) -> str:
    """The law in the paper's numbers, and as chances of how many of a group are truthful."""
    chances = [f"{t}: {float(w):.4g}" for t, w in enumerate(law.weights) if w > _SHOWN]
    return (
        f"  p = {float(law.truth):.6g} (a report is truthful), rho = {float(law.rho):.6g}\n"
        f"  how many of a group of {law.group} are truthful, with probability: {', '.join(chances)}"
    )


def variance_words(design: Design) -> str:
    """The certified variance, beside that of users who answer on their own."""
    (problem, law, _), certificate = parts(design), design.certificate
    alone, share = f"{problem.independent_variance:.6g}", ratio(design)
    basis = "claimed, not proven" if certificate.claimed else "proven in rational arithmetic"
    bounds = f"[{rounded_down(certificate.lower)}, {rounded_up(certificate.upper)}]"
    if share < 1:
        against = f"{100 * share:.3g}% of independent answers' {alone}"
    else:
        against = f"independent answers at this eps have {alone}"
    plain_response = "\n  Correlated answers do not help here: the design is plain randomised response."
    return (
        f"Variance of the estimated count: {certificate.upper:.6g} (a standard error of "
        f"{math.sqrt(certificate.upper):.6g} users), {against}\n"
        f"  optimum over {certificate.valid_for}: {bounds} ({basis})"
    ) + (plain_response if law.rho == 0 else "")


def privacy_words(problem: Grouping, privacy: JointPrivacy) -> str:
    """What others can learn, on average over the grouping and by how many partners collude."""
    lines = [
        "What others can learn about you (eps; all computed exactly)",
        f"  if nobody in your group colludes:        {eps_words(privacy.conditional[0])}",
    ]
    if problem.colluders:
        lines.append(
            f"  on average over who is in your group:    {eps_words(privacy.averaged)} "
            f"({problem.colluders} of the others collude; asked for {problem.epsilon:g})"
        )
        if problem.colluders > 1:
            lines.append("    (an average, not a bound given the truths of all who collude: those can tell more)")
    for known, epsilon in _told(privacy.conditional):
        who = "your partner colludes" if problem.group == 2 else _partners(known, len(privacy.conditional) - 1)
        cap = problem.privacy.caps[known - 1] if known <= len(problem.privacy.caps) else None
        capped = "" if cap is None else f" (capped at {cap:g})"
        lines.append(f"  {f'if {who}:':<40} {eps_words(epsilon)}{capped}")
    return "\n".join(lines)


def eps_words(epsilon: float) -> str:
    """An epsilon rounded up, or what an infinite one means."""
    return "infinite: what they know can give your answer away" if math.isinf(epsilon) else rounded_up(epsilon, 4)


def _told(profile: tuple[float, ...]) -> list[tuple[int, float]]:
    """The profile up to the first infinite entry, at most eight lines of it."""
    end = next((c for c, epsilon in enumerate(profile) if math.isinf(epsilon)), len(profile) - 1)
    lines = [(c, profile[c]) for c in range(1, end + 1)]
    return lines if len(lines) <= 8 else [*lines[:6], lines[-1]]


def _partners(known: int, others: int) -> str:
    if known == others:
        return f"all {others} of your partners collude"
    return "one of your partners colludes" if known == 1 else f"{known} of your partners collude"
