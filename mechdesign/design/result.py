"""What a design problem is answered with: problem + mechanism + certificate + report, as a value and as a file."""

from __future__ import annotations

import importlib.metadata
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from mechdesign.design.evidence import Evidence
from mechdesign.errors import CheckFailed, NoAnswer
from mechdesign.exact.privacy import prove_privacy
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import mechanism_to_dict
from mechdesign.values import files

FORMAT = "mechdesign research file"
VERSION = 1

_ATTAINED = 1e-9  # relative: how near the upper end is to what the mechanism attains


class Problem(Protocol):
    """What the user wants."""

    @property
    def epsilon(self) -> float: ...
    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Certificate:
    """Checkable evidence: ``[lower, upper]`` holds the optimum of the class, and the privacy loss was computed exactly.

    *Guarantee.* ``upper`` is attained by the design's mechanism (if ``claimed``, it is the largest error found).
    ``lower`` holds for every mechanism that ``valid_for`` describes, with the mechanism's outputs; unless ``claimed``,
    `check` derives it again from ``evidence`` in rational arithmetic.
    """

    lower: float
    upper: float
    valid_for: str
    claimed: bool
    privacy_loss: float
    evidence: Evidence | None = None

    @property
    def relative_gap(self) -> float:
        """``(upper - lower) / upper``."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    def check(self, mechanism: Mechanism | Product, epsilon: float) -> None:
        """Re-derive what the certificate says without any solver, or raise `CheckFailed`."""
        prove_privacy(mechanism, epsilon)
        if not abs(mechanism.privacy_loss() - self.privacy_loss) <= 1e-12 * max(1.0, epsilon) * min(1.0, epsilon):
            raise CheckFailed(f"the certificate's privacy loss {self.privacy_loss!r} is not the mechanism's")
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower >= 0):
            raise CheckFailed(f"the bounds [{self.lower!r}, {self.upper!r}] must be finite and at least 0")
        if not self.lower <= self.upper:
            raise CheckFailed(f"the certificate's lower bound {self.lower!r} is above its upper bound {self.upper!r}")
        if self.claimed:
            if self.evidence is not None:
                raise CheckFailed("a certificate with evidence is proven or refused, never just claimed")
            return
        if self.evidence is None or self.evidence.epsilon != epsilon:
            raise CheckFailed("the certificate claims a proof but holds no evidence for this epsilon")
        scope = self.evidence.scope(mechanism)
        if self.valid_for != scope:
            raise CheckFailed(f"the evidence is about {scope!r}, not about {self.valid_for!r}")
        proven = self.evidence.bound(mechanism)
        if not self.lower <= proven:
            raise CheckFailed(f"the evidence proves {proven!r}, less than the certificate's {self.lower!r}")
        attained = self.evidence.attained(mechanism)
        if not attained <= self.upper:
            raise CheckFailed(f"the mechanism has error {attained!r}, above the certificate's {self.upper!r}")
        # rounding may put a mechanism a hair outside its class, and so below the bound
        if not self.upper <= max(attained, proven) * (1 + _ATTAINED):
            raise CheckFailed(f"the mechanism has error {attained!r}, not the certificate's {self.upper!r}")

    def to_dict(self) -> dict[str, Any]:
        return {
            "lower": self.lower,
            "upper": self.upper,
            "valid_for": self.valid_for,
            "claimed": self.claimed,
            "privacy_loss": self.privacy_loss,
            "evidence": None if self.evidence is None else self.evidence.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """How the answer was found: wall-clock seconds, solver, versions, and details worth telling."""

    seconds: float
    solver: str
    versions: Mapping[str, str]
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("versions", "details"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[type[Report], tuple[object, ...]]:
        """Read-only views cannot be pickled or copied: their content can."""
        return Report, (self.seconds, self.solver, dict(self.versions), dict(self.details))

    def to_dict(self) -> dict[str, Any]:
        return {
            "seconds": self.seconds,
            "solver": self.solver,
            "versions": dict(self.versions),
            "details": dict(self.details),
        }


@dataclass(frozen=True, slots=True)
class Design:
    """The answer to a design problem. It exists only if its certificate checked.

    Designs are values: equal if problem, mechanism and certificate are, however they were found.
    """

    problem: Problem
    mechanism: Mechanism | Product
    certificate: Certificate
    report: Report = field(compare=False)

    def __post_init__(self) -> None:
        self.certificate.check(self.mechanism, self.problem.epsilon)

    def to_dict(self) -> dict[str, Any]:
        return {
            "problem": self.problem.to_dict(),
            "mechanism": mechanism_to_dict(self.mechanism),
            "certificate": self.certificate.to_dict(),
            "report": self.report.to_dict(),
        }

    def save(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Write the design as JSON for research use; a table for deployment is a different thing."""
        document = {"format": FORMAT, "version": VERSION, "use": "research only, not for deployment"} | self.to_dict()
        return files.write_atomically(path, files.dump_json(document).encode(), overwrite=overwrite)


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
