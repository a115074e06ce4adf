"""Hidden joint responses in words: what is asked, the law, its variance, and what everybody else can learn."""

from __future__ import annotations

import math

from mechdesign.mechanisms.hidden import HiddenResponse, PeakedResponse
from mechdesign.methods.hidden_joint.crowd import Crowd
from mechdesign.methods.hidden_joint.search import parts, ratio
from mechdesign.methods.result import Design
from mechdesign.methods.words import heading
from mechdesign.values.digits import rounded_down, rounded_up

_PLAIN = {
    "response": "randomised response",
    "unary": "symmetric unary encoding",
    "hashing": "local hashing",
}


def law_words(law: HiddenResponse) -> str:
    """How many lie, and how likely each set of them is."""
    mean = law.users * (1 - law.truth)
    said = f"  p = {law.truth:.6g} (a report is truthful); {mean:.6g} of {law.users} users lie on average"
    if not isinstance(law, PeakedResponse):
        return f"{said}, by a law written down number by number"
    if is_plain(law):
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
    words = (
        f"Variance of the estimated count: {certificate.upper:.6g} (a standard error of "
        f"{math.sqrt(certificate.upper):.6g} users), {against}\n"
        f"  optimum over {certificate.valid_for}: {bounds} (proven in rational arithmetic)"
    )
    if is_plain(law):
        words += f"\n  Correlated answers do not help here: the design is plain {_PLAIN[problem.encoding]}."
    if problem.encoding == "unary" and problem.count is not None:
        own = _optimised_variance(problem.epsilon, problem.users, problem.count)
        words += f"\n  OUE, whose bits are not symmetric, has {own:.6g} with independent answers"
    return words


def _optimised_variance(epsilon: float, users: int, count: int) -> float:
    """``(n_x / 4 + (n - n_x) q (1-q)) / (1/2 - q)^2`` with ``q = 1 / (e^eps + 1)``: OUE of users on their own."""
    zero = 1 / (math.exp(epsilon) + 1)
    return (count / 4 + (users - count) * zero * (1 - zero)) / (0.5 - zero) ** 2


def is_plain(law: HiddenResponse) -> bool:
    """Whether users answer on their own, so that nobody need draw for them."""
    return isinstance(law, PeakedResponse) and law.peak == 0


def summary(design: Design) -> str:
    """All of it."""
    problem, law, account = parts(design)
    said = heading(design.problem), law_words(law)
    return "\n".join(said) + f"\n\n{variance_words(design)}\n\n{loss_words(problem, account.loss)}"


def loss_words(problem: Crowd, loss: float) -> str:
    """The guarantee, whoever colludes."""
    slack = f", but for a chance of {problem.delta:g}" if problem.delta else ""
    return (
        "What others can learn about you (eps; computed exactly)\n"
        f"  if everybody else tells the collector all they know: {eps_word(loss)}{slack} "
        f"(asked for {problem.epsilon:g})"
    )


def eps_word(epsilon: float) -> str:
    """An epsilon rounded up to four digits; one that has no more is said as it is.

    >>> eps_word(0.01), eps_word(0.123456), eps_word(math.inf)
    ('0.01', '0.1235', 'infinite')
    """
    if math.isinf(epsilon):
        return "infinite"
    short = f"{epsilon:.4g}"
    return short if float(short) == epsilon else rounded_up(epsilon, 4)


def trust_words(problem: Crowd, law: HiddenResponse) -> str:
    """What the guarantee rests on."""
    if is_plain(law):
        return "All users draw for themselves: there is nobody whom they must trust."
    return (
        "Whoever draws who lies must not work with the collector: a dealer whom all trust to tell nobody, or three\n"
        f"servers of which no two work together (run_servers; jrr --hidden --run-servers). All {problem.users} users\n"
        "must report: if some stay away the errors no longer cancel (design.hidden_joint.without says what that costs)."
    )
