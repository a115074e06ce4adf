"""What a design says of itself in plain words: the lines that commands print, as text."""

from __future__ import annotations

from mechdesign.errors import plain
from mechdesign.exact.rational import float_up
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.directions import CapReports, DirectionResponse, SignedSets
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window
from mechdesign.methods.hidden_joint.words import summary as hidden_summary
from mechdesign.methods.joint.words import summary as joint_summary
from mechdesign.methods.result import WIDE, Certificate, Design, is_open, room
from mechdesign.methods.words import heading
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.words.criteria import Average
from mechdesign.words.fits.words import counted, table_in_words


def summary(design: Design) -> str:
    """Certificate, mechanism, bounds and privacy.

    >>> import mechdesign as md
    >>> problem = md.Problem(inputs=(0, 1), loss="absolute", privacy=md.Pure(1.0), among=md.Piecewise())
    >>> print(summary(md.solve(problem)))
    certified optimum for [0, 1], eps = 1: worst-case absolute error
    OGPM: density p = 1.64872 on a window of width 0.377541, 0.606531 elsewhere
    <BLANKLINE>
    worst-case absolute error: 0.377541
      optimum over piecewise mechanisms onto [0, 1]: [0.3775406687, 0.3775406688] (proven in rational arithmetic)
      privacy loss: 1 (computed exactly, at most eps)
      relative gap: 4.5e-16; no other of them can be better by more than 4.5e-14%
    """
    mechanism, problem = design.mechanism, design.problem
    if isinstance(mechanism, JointResponse):
        return joint_summary(design)
    if isinstance(mechanism, PeakedResponse | CountedResponse):
        return hidden_summary(design)
    beside = worst_variance_words(design)
    return (
        f"{standing(design)} for {heading(problem)}\n"
        f"{plain(name_of(design))}: {mechanism_words(mechanism)}\n\n"
        f"{certificate_words(design.certificate, problem.words.headline, mechanism)}\n{gap_words(design.certificate)}"
    ) + ("" if beside is None else f"\n{beside}")


def standing(design: Design) -> str:
    """What the design is: the optimum, proven or claimed, or the best so far if bounds leave more room than was asked.

    All of it follows from the certificate. A gap that was asked for and is wide is said.
    """
    if is_open(design):
        return "best design so far"
    found = "claimed optimum" if design.certificate.claimed else "certified optimum"
    return f"{found} to within {rounded_up(100 * room(design), 2)}%" if room(design) > WIDE else found


def kind_of(mechanism: object) -> str:
    """The word of a mechanism's class, which a file cannot change."""
    return str(getattr(mechanism, "kind", type(mechanism).__name__))


def name_of(design: Design) -> str:
    """What the mechanism is called: the name of the problem's optimum if it is proven to be that, else its kind.

    The mechanism's own name stands in a file, where anybody may change it.
    """
    from mechdesign.methods.registry import optimum_of

    if standing(design) != "certified optimum":
        return f"{kind_of(design.mechanism)} mechanism"
    return optimum_of(design)


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
    """What the mechanism gives away."""
    return "\n".join(f"  {line}" for line in certificate.account.words)


def worst_variance(design: Design) -> float | None:
    """The largest variance at any input where the average was what is least, never less than it is; else None."""
    mechanism = design.mechanism
    is_average = isinstance(design.problem.criterion, Average)
    return float_up(mechanism.exact_worst_variance()) if is_average and isinstance(mechanism, UnbiasedWindow) else None


def worst_variance_words(design: Design) -> str | None:
    """What the design gives up at its worst input, where there is such a number."""
    worst = worst_variance(design)
    if worst is None:
        return None
    return f"  variance at the worst input: {rounded_up(worst)} (computed exactly; others can have less there)"


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
        case DirectionResponse(reports=CapReports(height=height), scale=scale, favoured=chance):
            cap = f"with chance {chance:.6g} one of the cap above {height:.6g} around one's own"
            return f"a direction, {cap}, stretched to {scale:.6g}"
        case DirectionResponse(reports=SignedSets(size=size), scale=scale, favoured=chance):
            sets = f"{counted(size, 'signed coordinate')}, with chance {chance:.6g} one's own among them"
            return f"{sets}, stretched to {scale:.6g}"
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
