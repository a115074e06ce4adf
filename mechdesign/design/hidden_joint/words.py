"""Hidden joint responses in words: what is asked, the law, its variance, and what everybody else can learn."""

from __future__ import annotations

import math

from mechdesign.design.hidden_joint.problem import HiddenJointProblem
from mechdesign.design.hidden_joint.search import parts, ratio
from mechdesign.design.result import Design
from mechdesign.mechanisms.hidden import HiddenResponse, PeakedResponse
from mechdesign.values.digits import rounded_down, rounded_up

_ENCODED = {"response": "", "unary": "; each bit of unary encoding", "hashing": "; hash values"}


def title(problem: HiddenJointProblem) -> str:
    """What is asked, on one line."""
    if problem.count is not None:
        what = f"{problem.count} of them hold the value counted"
    elif isinstance(problem.share, tuple):
        what = f"the worst share from {problem.share[0]:g} to {problem.share[1]:g}"
    else:
        what = "the mean over the prior on the share"
    more = f", {problem.categories} values" if problem.categories > 2 else ""
    slack = f" but for a chance of {problem.delta:g}" if problem.delta else ""
    encoded = _ENCODED[problem.encoding]
    who = f"{problem.users} users together{more}"
    return f"Hidden joint response, eps = {problem.epsilon:g}{slack}: {who}, {what}{encoded}"


def law_words(law: HiddenResponse) -> str:
    """How many lie, and how likely each set of them is."""
    mean = law.users * (1 - law.truth)
    said = f"  p = {law.truth:.6g} (a report is truthful); {mean:.6g} of {law.users} users lie on average"
    if not isinstance(law, PeakedResponse):
        return f"{said}, by a law written down number by number"
    if law.peak == 0:
        return f"{said}, each on their own"
    loss = math.log(law.ratio)
    return f"{said}\n  a set of k liars has probability proportional to e^(-{loss:.6g} |k - {law.peak}|)"


def variance_words(design: Design) -> str:
    """The certified variance, beside that of users who answer on their own."""
    (problem, law, _), certificate = parts(design), design.certificate
    alone, share = f"{problem.independent_variance:.6g}", ratio(design)
    bounds = f"[{rounded_down(certificate.lower)}, {rounded_up(certificate.upper)}]"
    if share < 1 - 1e-9:
        against = f"{100 * share:.3g}% of independent answers' {alone}"
    else:
        against = f"independent answers at this eps have {alone}"
    return (
        f"Variance of the estimated count: {certificate.upper:.6g} (a standard error of "
        f"{math.sqrt(certificate.upper):.6g} users), {against}\n"
        f"  optimum over {certificate.valid_for}: {bounds} (proven in rational arithmetic)"
    ) + (
        "\n  Correlated answers do not help here: the design is plain randomised response."
        if isinstance(law, PeakedResponse) and law.peak == 0
        else ""
    )


def summary(design: Design) -> str:
    """All of it."""
    problem, law, account = parts(design)
    return f"{title(problem)}\n{law_words(law)}\n\n{variance_words(design)}\n\n{loss_words(problem, account.loss)}"


def loss_words(problem: HiddenJointProblem, loss: float) -> str:
    """The guarantee, whoever colludes."""
    slack = f", but for a chance of {problem.delta:g}" if problem.delta else ""
    return (
        "What others can learn about you (eps; computed exactly)\n"
        f"  if everybody else tells the collector all they know: {rounded_up(loss, 4)}{slack} "
        f"(asked for {problem.epsilon:g})"
    )


def trust_words(problem: HiddenJointProblem) -> str:
    """What the guarantee rests on."""
    return (
        "Whoever draws who lies must not work with the collector: a dealer whom all trust to tell nobody, or three\n"
        f"servers of which no two work together (run_servers; jrr --hidden --run-servers). All {problem.users} users\n"
        "must report: if some stay away the errors no longer cancel (design.hidden_joint.without says what that costs)."
    )
