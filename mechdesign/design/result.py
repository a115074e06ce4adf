"""What a design problem is answered with: problem + mechanism + certificate + report, as a value and as a file."""

from __future__ import annotations

import importlib.metadata
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from mechdesign import files
from mechdesign.domains import Circle, Interval
from mechdesign.errors import CheckFailed
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import mechanism_to_dict
from mechdesign.mechanisms.window import Window
from mechdesign.proof import (
    BathtubBound,
    MinimaxBound,
    UnbiasedBound,
    exact_bias,
    exact_error,
    exact_worst_error,
    float_down,
    float_up,
    prove_privacy,
)

FORMAT = "mechdesign research file"
VERSION = 1

Evidence = BathtubBound | UnbiasedBound | MinimaxBound

IN_CLASS = "piecewise mechanisms"
IN_UNBIASED_CLASS = "unbiased piecewise mechanisms"
EVERYWHERE = "all mechanisms"

_ROUNDING = 1e-12


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
    `check` derives it again from ``evidence`` in rational arithmetic (times ``scale``).
    """

    lower: float
    upper: float
    valid_for: str
    claimed: bool
    privacy_loss: float
    evidence: Evidence | None = None
    scale: float = 1.0

    @property
    def relative_gap(self) -> float:
        """``(upper - lower) / upper``."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    def check(self, mechanism: Mechanism | Product, epsilon: float) -> None:
        """Re-derive what the certificate says without any solver, or raise `CheckFailed`."""
        prove_privacy(mechanism, epsilon)
        if not abs(mechanism.privacy_loss() - self.privacy_loss) <= 1e-12 * max(1.0, epsilon):
            raise CheckFailed(f"the certificate's privacy loss {self.privacy_loss!r} is not the mechanism's")
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower >= 0):
            raise CheckFailed(f"the bounds [{self.lower!r}, {self.upper!r}] must be finite and at least 0")
        if not self.lower <= self.upper:
            raise CheckFailed(f"the certificate's lower bound {self.lower!r} is above its upper bound {self.upper!r}")
        if self.claimed:
            return
        if self.evidence is None or self.evidence.epsilon != epsilon:
            raise CheckFailed("the certificate claims a proof but holds no evidence for this epsilon")
        scope, scale = _scope(self.evidence, mechanism)
        if (self.valid_for, self.scale) != (scope, scale):
            raise CheckFailed(f"the evidence is about {scope!r} at scale {scale!r}, not what the certificate says")
        proven = float_down(self.evidence.value() * Fraction(self.scale))
        if not self.lower <= proven:
            raise CheckFailed(f"the evidence proves {proven!r}, less than the certificate's {self.lower!r}")
        attained = _attained(mechanism, self.evidence)
        if not attained <= self.upper:
            raise CheckFailed(f"the mechanism has error {attained!r}, above the certificate's {self.upper!r}")

    def to_dict(self) -> dict[str, Any]:
        return {
            "lower": self.lower,
            "upper": self.upper,
            "valid_for": self.valid_for,
            "claimed": self.claimed,
            "privacy_loss": self.privacy_loss,
            "evidence": _evidence_to_dict(self.evidence),
            "scale": self.scale,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """How the answer was found: wall-clock seconds, solver, versions, and details worth telling."""

    seconds: float
    solver: str
    versions: Mapping[str, str]
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def to_dict(self) -> dict[str, Any]:
        return {
            "seconds": self.seconds,
            "solver": self.solver,
            "versions": dict(self.versions),
            "details": dict(self.details),
        }


@dataclass(frozen=True, slots=True)
class Design:
    """The answer to a design problem. It exists only if its certificate checked."""

    problem: Problem
    mechanism: Mechanism | Product
    certificate: Certificate
    report: Report

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


def _scope(evidence: Evidence, mechanism: Mechanism | Product) -> tuple[str, float]:
    """The class the evidence is about, and the factor from its units to the mechanism's."""
    if isinstance(evidence, UnbiasedBound):
        return IN_UNBIASED_CLASS, unbiased_scale(mechanism.inputs)
    everywhere = isinstance(evidence, MinimaxBound) or isinstance(mechanism.inputs, Circle)
    return EVERYWHERE if everywhere else IN_CLASS, 1.0


def unbiased_scale(inputs: object) -> float:
    """From variances on [-1, 1] to variances on ``inputs``, rounded down."""
    if not isinstance(inputs, Interval):
        raise CheckFailed("the evidence is about inputs on an interval")
    return float_down(((Fraction(inputs.upper) - Fraction(inputs.lower)) / 2) ** 2)


def _attained(mechanism: Mechanism | Product, evidence: Evidence) -> float:
    """The exact error of the mechanism at the input the evidence is about, rounded up."""
    if isinstance(evidence, MinimaxBound):
        if not isinstance(mechanism, Window) or mechanism.inputs != Interval(evidence.lower, evidence.upper):
            raise CheckFailed(f"the evidence is about other mechanisms than {mechanism.name}")
        return float_up(exact_worst_error(mechanism, evidence.exponent))
    if not isinstance(mechanism, Piecewise):
        raise CheckFailed(f"the evidence is about piecewise mechanisms, not {mechanism.name}")
    if isinstance(evidence, UnbiasedBound):
        return _unbiased_variance(mechanism)
    if mechanism.window != AffineWindow():
        raise CheckFailed("the evidence is about windows centred at the input")
    if (evidence.lower, evidence.upper) != (mechanism.outputs.lower, mechanism.outputs.upper):
        raise CheckFailed("the evidence is about other outputs than the mechanism's")
    return max(float_up(exact_error(mechanism, atom.x, evidence.exponent)) for atom in evidence.atoms)


def _unbiased_variance(mechanism: Piecewise) -> float:
    """The worst second moment about the input; biases beyond the spacing of the domain's doubles are refused.

    The bias is linear in the input where the window moves freely, so both ends and the middle decide.
    """
    inputs, outputs = mechanism.inputs, mechanism.outputs
    spacing = math.ulp(max(abs(outputs.lower), abs(outputs.upper)))
    for x in (inputs.lower, inputs.middle, inputs.upper):
        bias = abs(exact_bias(mechanism, x))
        if bias > 16 * spacing + _ROUNDING * inputs.length:
            raise CheckFailed(f"the mechanism's bias at {x!r} is {float(bias)!r}")
    return max(float_up(exact_error(mechanism, end, 2)) for end in (inputs.lower, inputs.upper))


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python, this package and the named distributions."""
    found = {"python": platform.python_version()}
    for name in ("mechdesign", *packages):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed as a distribution"
    return found


def _evidence_to_dict(evidence: Evidence | None) -> dict[str, Any] | None:
    match evidence:
        case None:
            return None
        case BathtubBound():
            return {
                "kind": "bathtub",
                "epsilon": evidence.epsilon,
                "exponent": evidence.exponent,
                "lower": evidence.lower,
                "upper": evidence.upper,
                "atoms": [{"x": atom.x, "radius": atom.radius, "weight": atom.weight} for atom in evidence.atoms],
            }
        case MinimaxBound():
            return {
                "kind": "minimax",
                "epsilon": evidence.epsilon,
                "exponent": evidence.exponent,
                "lower": evidence.lower,
                "upper": evidence.upper,
                "inputs": evidence.inputs.tolist(),
                "radii": evidence.radii.tolist(),
                "weights": evidence.weights.tolist(),
            }
        case UnbiasedBound():
            return {
                "kind": "unbiased",
                "epsilon": evidence.epsilon,
                "start": evidence.start,
                "stop": evidence.stop,
            }
