"""Joint responses as files, and read back: a file's parameters are taken, what follows from them is derived again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mechdesign.design.joint.problem import JointProblem
from mechdesign.design.joint.proof import privacy_of
from mechdesign.design.joint.search import JointCertificate, JointDesign, class_of, independent_variance, optimal_joint
from mechdesign.design.result import Report
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput, NoAnswer
from mechdesign.exact.rational import float_up
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.values import files

FORMAT = "mechdesign joint response"
VERSION = 1

_MOST_DIGITS = 8192  # of a weight: p^64 with p on the finest grid has some 6000
_CLAIMED = 1e-5  # relative: how far a solver's bound may be off
_SECTIONS = ("problem", "mechanism", "certificate", "privacy", "report")
_EDITED = "was it cut short, or edited by hand? design it again with jrr"


def save_joint(design: JointDesign, path: Path | str, *, overwrite: bool = False) -> Path:
    """Write the design as JSON, all of it or nothing."""
    document = {"format": FORMAT, "version": VERSION} | design.to_dict()
    return files.write_atomically(path, files.dump_json(document).encode(), overwrite=overwrite)


def load_joint(path: Path | str, seconds: float = 60.0) -> JointDesign:
    """Read a file of `save_joint`; `joint_of_document` says what is checked."""
    return joint_of_document(files.read_json(path), str(path), seconds)


def joint_of_document(document: Mapping[str, Any], source: str, seconds: float = 60.0) -> JointDesign:
    """The design a file holds, or `FileProblem`.

    *Guarantee.* Only the problem and the weights of the law are taken from the file. That the law keeps every budget is
    proven again; its p and rho, its variance and that of independent answers, and all epsilons are computed again,
    exactly, and the file must say the same. The lower bound is the file's or the one a new search of at most
    ``seconds`` proves, whichever is less; if the file calls it ``claimed`` it stays a claim.
    """
    if document.get("format") != FORMAT:
        raise FileProblem("file format", document.get("format"), f"be {FORMAT!r}", "use a file written by jrr --out")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise FileProblem("file version", document.get("version"), f"be {VERSION}", "update mechdesign")
    for name in _SECTIONS:
        if not isinstance(document.get(name), dict):
            raise FileProblem("file", source, f"hold an object under {name!r}", _EDITED)
    try:
        design = _derived(document, seconds)
    except CheckFailed as failure:
        raise FileProblem("certificate", source, f"hold for the mechanism in the file: {failure}", _EDITED) from None
    except InvalidInput as bad:
        raise FileProblem("file", source, f"hold a joint response: {bad}", _EDITED) from None
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        rule = f"be complete and well-formed: {type(error).__name__} {error}"
        raise FileProblem("file", source, rule, _EDITED) from None
    _require_same(document, {"format": FORMAT, "version": VERSION} | design.to_dict())
    return replace(design, certificate=_proven_again(design, seconds))


def _derived(document: Mapping[str, Any], seconds: float) -> JointDesign:
    """The design that the problem and the weights of a file make, with the lower bound the file says."""
    problem, law = JointProblem.from_dict(document["problem"]), _law(document["mechanism"])
    if (law.group, law.categories) != (problem.group, problem.categories):
        raise CheckFailed(f"the law is for groups of {law.group} with {law.categories} values, the problem for others")
    said = document["certificate"]
    if type(said["claimed"]) is not bool or type(said["lower"]) not in (int, float):
        raise TypeError("claimed must be true or false and lower a number")
    upper = float_up(problem.goal().variance(law.truth, law.covariance))
    certificate = JointCertificate(float(said["lower"]), upper, class_of(problem), said["claimed"])
    if not certificate.lower >= 0:
        raise CheckFailed(f"the lower bound {certificate.lower!r} must be at least 0")
    privacy = privacy_of(law, problem.users, problem.colluders)
    report = _report(document["report"])
    return JointDesign(problem, law, certificate, privacy, independent_variance(problem), report)


def _law(fields: Mapping[str, Any]) -> JointResponse:
    for weight in fields["weights"]:
        # Fraction would take 1e999999999, too
        if type(weight) is not str or len(weight) > _MOST_DIGITS or not set(weight) <= set("/0123456789"):
            raise TypeError("weights must be texts p or p/q")
    return JointResponse.from_dict(fields)


def _report(fields: Mapping[str, Any]) -> Report:
    """How the design was found, as the file says."""
    seconds, solver, versions, details = (fields[name] for name in ("seconds", "solver", "versions", "details"))
    if type(seconds) not in (int, float) or type(solver) is not str:
        raise TypeError("seconds must be a number and solver a text")
    if not (isinstance(versions, dict) and isinstance(details, dict)):
        raise TypeError("versions and details must be objects")
    if not all(type(version) is str for version in versions.values()):
        raise TypeError("versions must be texts")
    return Report(float(seconds), solver, MappingProxyType(versions), MappingProxyType(details))


def _require_same(said: Mapping[str, Any], derived: dict[str, Any], where: str = "") -> None:
    """What a file says must be what follows from its parameters, entry by entry."""
    true = json.loads(files.dump_json(derived))  # infinities as files write them
    for name in sorted(said.keys() | true.keys()):
        entry = f"{where}{name}"
        if name not in true or name not in said:
            rule = "be there" if name in true else "not be there"
            raise FileProblem(entry, said.get(name), rule, _EDITED)
        if isinstance(true[name], dict) and isinstance(said[name], dict):
            _require_same(said[name], true[name], f"{entry}.")
        elif said[name] != true[name]:
            raise FileProblem(entry, said[name], f"be {true[name]!r}, what the file's parameters give", _EDITED)


def _proven_again(design: JointDesign, seconds: float) -> JointCertificate:
    """The certificate with no more than a new search proves; nobody can say more than the best law known attains."""
    try:
        again = optimal_joint(design.problem, seconds).certificate
        lower, upper = again.lower, again.upper
    except NoAnswer as limit:
        lower, upper = limit.lower, limit.upper
    said = design.certificate
    if said.lower > upper * (1 + (_CLAIMED if said.claimed else 0.0)):
        raise FileProblem("certificate.lower", said.lower, f"be at most {upper!r}, which another law attains", _EDITED)
    return said if said.claimed else replace(said, lower=min(said.lower, lower))
