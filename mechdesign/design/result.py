"""What a design problem is answered with: problem + mechanism + certificate + report, as a value and as a file."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from mechdesign import files
from mechdesign.domains import Circle, Interval
from mechdesign.errors import CheckFailed, FileProblem
from mechdesign.losses import Power
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import domain_to_dict, mechanism_from_dict, mechanism_to_dict
from mechdesign.mechanisms.window import Window
from mechdesign.proof import (
    BathtubAtom,
    BathtubBound,
    MinimaxBound,
    UnbiasedBound,
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


class Problem(Protocol):
    """What the user wants."""

    @property
    def epsilon(self) -> float: ...
    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Certificate:
    """Checkable evidence: ``[lower, upper]`` holds the optimum of the class, and the privacy loss was computed exactly.

    *Guarantee.* ``upper`` is attained by the design's mechanism. ``lower`` holds for every mechanism that
    ``valid_for`` describes; unless ``claimed``, `check` derives it again from ``evidence`` in rational arithmetic
    (times ``scale``).
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


@dataclass(frozen=True, slots=True)
class SavedDesign:
    """A design read back from a file: mechanism and certificate checked again, the rest as it was written."""

    problem: Mapping[str, Any]
    mechanism: Mechanism | Product
    certificate: Certificate
    report: Mapping[str, Any]


def load_design(path: Path | str) -> SavedDesign:
    """Read a file written by `Design.save` and prove its privacy and its bound again."""
    document = files.read_json(path)
    if document.get("format") != FORMAT:
        raise FileProblem("file format", document.get("format"), f"be {FORMAT!r}", "use a file written with --out")
    if document.get("version") != VERSION:
        raise FileProblem("file version", document.get("version"), f"be {VERSION}", "update mechdesign")
    for name in ("problem", "mechanism", "certificate", "report"):
        if not isinstance(document.get(name), dict):
            raise FileProblem("file", str(path), f"hold an object under {name!r}")
    mechanism = mechanism_from_dict(document["mechanism"])
    certificate = _certificate_from_dict(document["certificate"])
    _require_same_problem(document["problem"], mechanism, certificate)
    try:
        certificate.check(mechanism, mechanism.epsilon)
    except CheckFailed as failure:
        raise FileProblem("certificate", str(path), f"hold for the mechanism in the file: {failure}") from None
    return SavedDesign(document["problem"], mechanism, certificate, document["report"])


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
        ends = (mechanism.inputs.lower, mechanism.inputs.upper)
        return max(float_up(exact_error(mechanism, end, 2)) for end in ends)
    if (evidence.lower, evidence.upper) != (mechanism.outputs.lower, mechanism.outputs.upper):
        raise CheckFailed("the evidence is about other outputs than the mechanism's")
    return max(float_up(exact_error(mechanism, atom.x, evidence.exponent)) for atom in evidence.atoms)


def _require_same_problem(problem: Mapping[str, Any], mechanism: Mechanism | Product, certificate: Certificate) -> None:
    """What the file says was asked must be what the mechanism and the evidence are about."""
    said = {name: problem.get(name) for name in ("epsilon", "inputs")}
    if isinstance(mechanism, Product):
        inputs: Any = {"kind": "product", "parts": [domain_to_dict(part.inputs) for part in mechanism.parts]}
    else:
        inputs = domain_to_dict(mechanism.inputs)
    is_same = isinstance(said["epsilon"], float) and abs(said["epsilon"] - mechanism.epsilon) <= 1e-12
    if not is_same or said["inputs"] != inputs:
        raise FileProblem("problem", said, f"be about {mechanism.name} with epsilon {mechanism.epsilon!r} on {inputs}")
    evidence = certificate.evidence
    if evidence is None or isinstance(mechanism, Product):
        return
    exponent = 2.0 if isinstance(evidence, UnbiasedBound) else float(evidence.exponent)
    period = mechanism.inputs.period if isinstance(mechanism.inputs, Circle) else None
    if problem.get("loss") != Power(exponent, period).name:
        raise FileProblem("problem loss", problem.get("loss"), f"be the evidence's, {Power(exponent, period).name}")
    if isinstance(evidence, BathtubBound) and isinstance(mechanism, Piecewise) and period is None:
        farthest = max(mechanism.inputs.lower, mechanism.inputs.upper, key=lambda x: abs(x - mechanism.outputs.middle))
        expected = {f"at {atom.x!r}" for atom in evidence.atoms}
        if all(atom.x == farthest for atom in evidence.atoms):
            expected.add("worst case")
        if problem.get("criterion") not in expected:
            raise FileProblem("problem criterion", problem.get("criterion"), f"be one of {sorted(expected)}")


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


def _certificate_from_dict(fields: Mapping[str, Any]) -> Certificate:
    try:
        return Certificate(
            float(fields["lower"]),
            float(fields["upper"]),
            str(fields["valid_for"]),
            bool(fields["claimed"]),
            float(fields["privacy_loss"]),
            _evidence_from_dict(fields["evidence"]),
            float(fields["scale"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, FileProblem):
            raise
        raise FileProblem("certificate", dict(fields), f"be complete: {error}") from None


def _evidence_from_dict(fields: Any) -> Evidence | None:
    if fields is None:
        return None
    if fields["kind"] == "bathtub":
        atoms = tuple(BathtubAtom(atom["x"], atom["radius"], atom["weight"]) for atom in fields["atoms"])
        return BathtubBound(fields["epsilon"], fields["exponent"], fields["lower"], fields["upper"], atoms)
    if fields["kind"] == "unbiased":
        return UnbiasedBound(fields["epsilon"], fields["start"], fields["stop"])
    if fields["kind"] == "minimax":
        arrays = (np.array(fields[name], dtype=np.float64) for name in ("inputs", "radii", "weights"))
        return MinimaxBound(fields["epsilon"], fields["exponent"], fields["lower"], fields["upper"], *arrays)
    raise FileProblem("evidence kind", fields["kind"], "be bathtub, minimax or unbiased")
