"""What a design problem is answered with: problem + mechanism + certificate + report, as a value and as a file."""

from __future__ import annotations

import importlib.metadata
import math
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer, plain, require_finite
from mechdesign.exact.privacy import Account, prove
from mechdesign.mechanisms.hidden import TogetherLaw, require_own_law
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism, require_scalar
from mechdesign.methods.evidence import Evidence
from mechdesign.values import files
from mechdesign.values.codec import encoded, if_any
from mechdesign.values.declare import derived, evolved, field, frozen, optional
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.values.notebook import page
from mechdesign.words.criteria import Scope
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = "mechdesign research file"
VERSION = 3
USE = "research only, not for deployment"

WIDE = 1e-2
"""A relative gap from which on words say how wide it is: nobody takes the design for the optimum itself."""

_ROUNDING = 1e-9  # relative: how far rounding may put a mechanism outside its class, and so below the bound


LEAST_GAP = 1e-9


def require_gap(said: object) -> float:
    """A relative distance of bounds that searches reach, or `InvalidInput`."""
    value = require_finite(said, "gap")
    if not LEAST_GAP <= value < 1:
        raise InvalidInput("gap", said, "lie between 1e-9 and 1")
    return value


@frozen
class Certificate:
    """Checkable evidence: ``[lower, upper]`` holds the optimum of the class, and the privacy was proven exactly.

    *Guarantee.* ``upper`` is attained by the design's mechanism (if ``claimed``, it is the largest error found).
    ``lower`` holds for every mechanism in ``scope``, where "these outputs" are the problem's; unless ``claimed`` it was
    derived from ``evidence`` in rational arithmetic. ``account`` says which privacy the mechanism was proven to keep,
    and what it gives away.
    """

    lower: float
    upper: float
    scope: Scope
    claimed: bool
    account: Account
    evidence: Evidence

    def __repr__(self) -> str:
        ends = f"lower={rounded_down(self.lower)}, upper={rounded_up(self.upper)}"
        rests = "claimed" if self.claimed else "proven"
        return f"Certificate({ends}, {rests}, valid_for={self.valid_for!r}, privacy_loss={self.privacy_loss!r})"

    @property
    def privacy_loss(self) -> float:
        """The epsilon that the mechanism really has; of a joint response the averaged one."""
        return self.account.loss

    @property
    def valid_for(self) -> str:
        """The scope in words."""
        return self.scope.words

    @property
    def relative_gap(self) -> float:
        """``(upper - lower) / upper``."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    def document(self) -> dict[str, Any]:
        """The certificate as JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "valid_for": self.valid_for,
            "claimed": self.claimed,
            "privacy_loss": self.privacy_loss,
            "privacy": self.account.document(),
            "evidence": encoded(self.evidence),
        }


def certify(problem: Problem, mechanism: Mechanism | TogetherLaw, evidence: Evidence) -> Certificate:
    """All that problem, mechanism and evidence prove together, without any solver, or `CheckFailed`."""
    account = prove(problem.privacy, mechanism)
    scope = evidence.scope(problem, mechanism)
    lower, upper = evidence.bound(problem, mechanism), evidence.attained(problem, mechanism)
    if not (math.isfinite(lower) and math.isfinite(upper) and lower >= 0):
        raise CheckFailed(f"the bounds [{lower!r}, {upper!r}] must be finite and at least 0")
    if not lower <= upper * (1 + _ROUNDING):
        raise CheckFailed(f"the lower bound {lower!r} is above {upper!r}, what the mechanism attains")
    return Certificate(lower, max(lower, upper), scope, evidence.claimed, account, evidence)


def _read_only(entries: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(entries))


@frozen
class Report:
    """How the answer was found: wall-clock seconds, solver, versions, details worth telling, and the gap demanded."""

    seconds: float
    solver: str
    versions: Mapping[str, str] = field(converter=_read_only)
    details: Mapping[str, Any] = field(factory=dict, converter=_read_only)
    gap: float | None = field(default=None, converter=optional(require_gap), metadata=if_any())

    def __reduce__(self) -> tuple[type[Report], tuple[object, ...]]:
        """Read-only views cannot be pickled or copied: their content can."""
        return Report, (self.seconds, self.solver, dict(self.versions), dict(self.details), self.gap)


@frozen
class Design:
    """The answer to a design problem. It exists only if its mechanism is private and its bounds were derived.

    Designs are values: equal if problem, mechanism and evidence are, however they were found, and whether they were
    found or read from a file.
    """

    problem: Problem
    mechanism: Mechanism | TogetherLaw
    evidence: Evidence
    report: Report = field(eq=False)
    certificate: Certificate = derived(lambda design: certify(design.problem, design.mechanism, design.evidence))

    def __repr__(self) -> str:
        certificate, name = self.certificate, getattr(self.mechanism, "name", "joint response")
        ends = f"[{rounded_down(certificate.lower)}, {rounded_up(certificate.upper)}]"
        rests = "claimed" if certificate.claimed else "proven"
        return f"Design(epsilon={self.problem.epsilon!r}, {plain(name)!r}, optimum in {ends}, {rests})"

    def _repr_html_(self) -> str:
        return page(self.summary(), self.plot)

    def summary(self) -> str:
        """Certificate, mechanism, bounds and privacy in plain words, as commands print them."""
        from mechdesign.methods.summary import summary

        return summary(self)

    def plot(self) -> Figure:
        """The picture of the mechanism with what its certificate knows: `mechdesign.plot.of`. Needs matplotlib."""
        from mechdesign.plot.designs import of

        return of(self)

    @property
    def own_law(self) -> Mechanism:
        """The mechanism as the law of one user's report; `InvalidInput` says what to do where there is none."""
        return require_own_law(self.mechanism)

    @property
    def scalar_law(self) -> ScalarMechanism:
        """The same where reports are single numbers; `InvalidInput` where they are tuples."""
        return require_scalar(self.own_law)

    def document(self) -> dict[str, Any]:
        """The design as JSON."""
        return {
            "problem": encoded(self.problem, "problem"),
            "mechanism": encoded(self.mechanism, "mechanism"),
            "certificate": self.certificate.document(),
            "report": encoded(self.report, "report"),
        }

    def save(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Write the design as JSON for research use; a table for deployment is a different thing."""
        document = {"format": FORMAT, "version": VERSION, "use": USE} | self.document()
        return files.write_atomically(path, files.dump_json(document).encode(), overwrite=overwrite)


def is_open(design: Design) -> bool:
    """Whether the bounds leave more room than was asked: decided by the certificate, whatever a report says.

    Closed forms are asked for no gap: they are open where anybody would look for a better one.
    """
    return room(design) > gap_asked(design)


def gap_asked(design: Design) -> float:
    """The relative gap that was demanded."""
    return WIDE if design.report.gap is None else design.report.gap


def room(design: Design) -> float:
    """The relative gap; none where the bounds are next to each other for losses of the problem's size."""
    certificate = design.certificate
    is_negligible = certificate.upper - certificate.lower <= design.problem.negligible
    return 0.0 if is_negligible else certificate.relative_gap


def saying_why(design: Design, gap: float, stopped: str) -> Design:
    """The design; if its certificate is wider than was asked, its report says why the search stopped."""
    if design.certificate.relative_gap <= gap:
        return design
    details = {**design.report.details, "stopped": stopped}
    return evolved(design, report=evolved(design.report, details=details))


def within_gap(design: Design, gap: float, stopped: str) -> Design:
    """The design if its certificate is as narrow as was asked, else `NoAnswer` that carries it."""
    certificate = design.certificate
    if certificate.relative_gap <= gap:
        return design
    reason = f"{stopped} at a relative gap of {certificate.relative_gap:.2g}"
    raise NoAnswer(reason, certificate.lower, certificate.upper, claimed=certificate.claimed, design=design)


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python, this package and the named distributions."""
    found = {"python": platform.python_version()}
    return found | {name: _installed(name) for name in ("mechdesign", *packages)}


@cache
def _installed(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed as a distribution"
