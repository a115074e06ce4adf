"""What a design says of itself in plain words: the lines that commands print, as text."""

from __future__ import annotations

from mechdesign.design.hidden_joint.words import summary as hidden_summary
from mechdesign.design.joint.words import law_words, privacy_words, title, variance_words
from mechdesign.design.result import Certificate, Design
from mechdesign.design.words import counted, headline, protected, subject, table_in_words
from mechdesign.errors import plain
from mechdesign.exact.pairs import PairsProof
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window
from mechdesign.values.digits import rounded_down, rounded_up


def summary(design: Design) -> str:
    """Certificate, mechanism, bounds and privacy.

    >>> from mechdesign.design import PiecewiseProblem, optimal_piecewise
    >>> print(summary(optimal_piecewise(PiecewiseProblem(1.0))))
    certified optimum for [0, 1], eps = 1: worst-case error
    OGPM: density p = 1.64872 on a window of width 0.377541, 0.606531 elsewhere
    <BLANKLINE>
    worst-case error: 0.377541
      optimum over piecewise mechanisms onto [0, 1]: [0.3775406687, 0.3775406688] (proven in rational arithmetic)
      privacy loss: 1 (computed exactly, at most eps)
      relative gap: 4.5e-16; no other of them can be better by more than 4.5e-14%
    """
    mechanism, problem = design.mechanism, design.problem
    if isinstance(mechanism, JointResponse):
        from mechdesign.design.joint import parts

        asked, law, told = parts(design)
        return f"{title(asked)}\n{law_words(law)}\n\n{variance_words(design)}\n\n{privacy_words(asked, told)}"
    if isinstance(mechanism, PeakedResponse | CountedResponse):
        return hidden_summary(design)
    what = headline(problem)
    return (
        f"{standing(design)} for {subject(problem)}, {protected(problem)}: {what}\n"
        f"{plain(mechanism.name)}: {mechanism_words(mechanism)}\n\n"
        f"{certificate_words(design.certificate, what, mechanism)}\n{gap_words(design.certificate)}"
    )


def standing(design: Design) -> str:
    """What the design is: the optimum, proven or claimed, or the best that a search found before it was stopped."""
    if "stopped" in design.report.details:
        return "best design so far"
    return "claimed optimum" if design.certificate.claimed else "certified optimum"


def certificate_words(certificate: Certificate, what: str, mechanism: Mechanism | Product) -> str:
    """The interval on the optimum of a class, and the privacy loss."""
    basis = "claimed, not proven" if certificate.claimed else "proven in rational arithmetic"
    bounds = f"[{rounded_down(certificate.lower)}, {rounded_up(certificate.upper)}]"
    return (
        f"{what}: {certificate.upper:.6g}\n"
        f"  optimum over {plain(certificate.scope.words_onto)}: {bounds} ({basis})\n"
        f"{account_words(certificate)}"
    )


def account_words(certificate: Certificate) -> str:
    """What the mechanism gives away; of pairs that which is nearest to its limit, and loudly what is not protected."""
    account = certificate.account
    if not isinstance(account, PairsProof):
        return f"  privacy loss: {certificate.privacy_loss:.12g} (computed exactly, at most eps)"
    one, other = account.pair
    lines = [
        f"  privacy: every pair keeps its eps (decided exactly); nearest to its limit are inputs {one} and {other}, "
        f"with {account.slack:g} left",
        f"  between any two inputs: eps at most {rounded_up(account.loss, 6)}",
        *(f"  {note}" for note in account.privacy.notes),
    ]
    return "\n".join(lines)


def gap_words(certificate: Certificate) -> str:
    """What the interval means for anyone who wants a better mechanism."""
    gap = certificate.relative_gap
    basis = " (claimed)" if certificate.claimed else ""
    better = f"no other of them can be better by more than {rounded_up(100 * gap, 2)}%{basis}"
    return f"  relative gap: {rounded_up(gap, 2)}; {better}"


def gap_text(certificate: Certificate) -> str:
    """The relative gap in two digits, never less than it is."""
    return f"{float(rounded_up(certificate.relative_gap, 2)):.1e}"


def mechanism_words(mechanism: Mechanism) -> str:
    """How reports are drawn, as far as a sentence can say it."""
    match mechanism:
        case Piecewise() if mechanism.high == mechanism.low:
            return f"the uniform density {mechanism.low:.6g} for every input"
        case Piecewise(high=high, low=low):
            return f"density p = {high:.6g} on a window of width {mechanism.width:.6g}, {low:.6g} elsewhere"
        case Product(parts=parts):
            return "; ".join(f"{part.inputs} with eps = {part.epsilon:.6g}, {mechanism_words(part)}" for part in parts)
        case Discrete(probabilities=table):
            return f"a table of {table_in_words(*table.shape)}"
        case ConditionalNoise():
            return (
                f"additive noise: {mechanism.bins + 1} laws on a grid of step {float(mechanism.step):.6g}, "
                f"tails of ratio {mechanism.tail}/{mechanism.tail + 1} from {mechanism.reach} steps beyond the inputs"
            )
        case Window(points=points, base=base) | UnbiasedWindow(points=points, base=base):
            return (
                f"{counted(points.size, 'output')} in [{points[0]:.6g}, {points[-1]:.6g}], "
                f"base measure of mass {float(base.sum()):.6g}\n"
                "  every output has at least its base probability; the rest goes to the outputs around the input,\n"
                f"  at most e^{mechanism.epsilon:g} times the base each"
            )
    return f"from {mechanism.inputs} to {mechanism.outputs}"
