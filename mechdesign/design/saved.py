"""Designs read back from files: everything a file says is checked again before anyone sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mechdesign.design.additive.proof import AdditiveBound
from mechdesign.design.claims import statement_of_claim
from mechdesign.design.custom.proof import LinearBound
from mechdesign.design.evidence import Evidence
from mechdesign.design.finite.proof import FiniteBound, LexicographicBound
from mechdesign.design.minimax.proof import MinimaxBound
from mechdesign.design.piecewise.proof import BathtubBound
from mechdesign.design.points.proof import PointsBound
from mechdesign.design.prior.proof import BinsBound
from mechdesign.design.result import FORMAT, VERSION, Certificate
from mechdesign.design.trade_off.proof import TradeOffBound
from mechdesign.design.unbiased.proof import UnbiasedPriorBound
from mechdesign.design.unbiased_piecewise.proof import UnbiasedBound
from mechdesign.errors import CheckFailed, FileProblem
from mechdesign.exact.statement import Statement
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import domain_to_dict, mechanism_from_dict
from mechdesign.values import files

_READERS = {"mechdesign table": "tables are read by verify", "mechdesign joint response": "it is read by show"}

EVIDENCE: dict[str, type[Evidence]] = {
    evidence.kind: evidence
    for evidence in (
        AdditiveBound,
        BathtubBound,
        BinsBound,
        FiniteBound,
        LexicographicBound,
        LinearBound,
        MinimaxBound,
        PointsBound,
        TradeOffBound,
        UnbiasedBound,
        UnbiasedPriorBound,
    )
}


@dataclass(frozen=True, slots=True)
class SavedDesign:
    """A design read back from a file: mechanism, certificate and statement checked again, the rest as it was written.

    ``statement`` is what was asked, as the evidence decides it. ``problem`` has the same in the file's words, and the
    settings and names that `Statement.named` lists, which nothing decides.
    """

    problem: Mapping[str, Any]
    mechanism: Mechanism | Product
    certificate: Certificate
    statement: Statement
    report: Mapping[str, Any] = field(compare=False)

    def __hash__(self) -> int:
        return hash((self.mechanism, self.certificate, self.statement))


def load_design(path: Path | str) -> SavedDesign:
    """Read a file written by `Design.save` and prove its privacy and its bound again."""
    return design_of_document(files.read_json(path), str(path))


def design_of_document(document: Mapping[str, Any], source: str) -> SavedDesign:
    """The same from the JSON object of a file; ``source`` is its name."""
    if document.get("format") != FORMAT:
        step = _READERS.get(str(document.get("format")), "use a design written with --out")
        raise FileProblem("file format", document.get("format"), f"be {FORMAT!r}", step)
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise FileProblem("file version", document.get("version"), f"be {VERSION}", "update mechdesign")
    for name in ("problem", "mechanism", "certificate", "report"):
        if not isinstance(document.get(name), dict):
            raise FileProblem("file", source, f"hold an object under {name!r}")
    mechanism = mechanism_from_dict(document["mechanism"])
    certificate = _certificate_from_dict(document["certificate"])
    try:
        statement = _statement(document["problem"], mechanism, certificate)
        certificate.check(mechanism, mechanism.epsilon)
    except (CheckFailed, ArithmeticError, TypeError) as failure:
        raise FileProblem("certificate", source, f"hold for the mechanism in the file: {failure}") from None
    return SavedDesign(document["problem"], mechanism, certificate, statement, document["report"])


def _statement(problem: Mapping[str, Any], mechanism: Mechanism | Product, certificate: Certificate) -> Statement:
    """What the file says was asked must be what the mechanism and the evidence are about."""
    said = {name: problem.get(name) for name in ("epsilon", "inputs")}
    if isinstance(mechanism, Product):
        inputs: Any = {"kind": "product", "parts": [domain_to_dict(part.inputs) for part in mechanism.parts]}
    else:
        inputs = domain_to_dict(mechanism.inputs)
    # the shares of a product add up in doubles
    allowed = 1e-12 * mechanism.epsilon if isinstance(mechanism, Product) else 0.0
    is_same = isinstance(said["epsilon"], float) and abs(said["epsilon"] - mechanism.epsilon) <= allowed
    if not is_same or said["inputs"] != inputs:
        raise FileProblem("problem", said, f"be about {mechanism.name} with epsilon {mechanism.epsilon!r} on {inputs}")
    if certificate.evidence is not None:
        return certificate.evidence.statement(problem, mechanism)
    if not certificate.claimed:
        raise CheckFailed("the certificate claims a proof but holds no evidence")
    return statement_of_claim(problem, mechanism, certificate)


def _certificate_from_dict(fields: Mapping[str, Any]) -> Certificate:
    try:
        numbers = {name: _number(fields[name]) for name in ("lower", "upper", "privacy_loss")}
        if type(fields["claimed"]) is not bool or type(fields["valid_for"]) is not str:
            raise TypeError("claimed must be true or false and valid_for a text")
        evidence = _evidence_from_dict(fields["evidence"])
        return Certificate(valid_for=fields["valid_for"], claimed=fields["claimed"], evidence=evidence, **numbers)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, FileProblem):
            raise
        raise FileProblem("certificate", sorted(fields), f"be complete and well-formed: {error}") from None


def _require_plain_numbers(value: Any, name: str = "evidence") -> None:
    """Lists hold numbers (flags under ``equal``): numpy would read numbers out of texts and truth values too."""
    if isinstance(value, dict):
        for key, entry in value.items():
            _require_plain_numbers(entry, key)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, list | dict):
                _require_plain_numbers(entry, name)
            elif type(entry) not in (int, float) and name != "equal":
                raise TypeError(f"{name} must hold numbers only")


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _evidence_from_dict(fields: Any) -> Evidence | None:
    if fields is None:
        return None
    _require_plain_numbers(fields)
    if fields["kind"] not in EVIDENCE:
        raise FileProblem("evidence kind", fields["kind"], f"be one of {', '.join(EVIDENCE)}")
    return EVIDENCE[fields["kind"]].from_dict(fields)
