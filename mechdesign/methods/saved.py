"""Designs read back from files: problem, mechanism and evidence are values again, and all else is derived from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mechdesign.errors import CheckFailed, FileProblem
from mechdesign.mechanisms.kinds import JOINT_KINDS, KINDS
from mechdesign.methods.result import FORMAT, USE, VERSION, Design, Report
from mechdesign.values import files
from mechdesign.values.codec import is_same
from mechdesign.values.schema import DIALECT, Schemas
from mechdesign.words.problem import Problem

_PARTS = ("problem", "mechanism", "certificate", "report")
_READERS = {"mechdesign table": "tables are read by verify"}


def load_design(path: Path | str) -> Design:
    """Read a file written by `Design.save`: the same design, with its privacy and its bounds derived again.

    *Guarantee.* No bound, scope or privacy loss is taken from the file. What it says of them is compared with what was
    derived, and a file that says something else is refused.
    """
    return design_of_document(files.read_json(path), str(path))


def design_of_document(document: Mapping[str, Any], source: str) -> Design:
    """The same from the JSON object of a file; ``source`` is its name."""
    from mechdesign.methods.registry import CODEC, EVIDENCE

    if document.get("format") != FORMAT:
        step = _READERS.get(str(document.get("format")), "use a design written with --out")
        raise FileProblem("file format", document.get("format"), f"be {FORMAT!r}", step)
    if type(document.get("version")) is not int or document["version"] != VERSION:
        step = "design it again: since version 3 a problem is said in five words"
        raise FileProblem("file version", document.get("version"), f"be {VERSION}", step)
    for name in _PARTS:
        if not isinstance(document.get(name), dict):
            raise FileProblem("file", source, f"hold an object under {name!r}")
    if document.get("use", USE) != USE:
        raise FileProblem("file use", document["use"], f"be {USE!r}")
    for name in document.keys() - {"format", "version", "use", *_PARTS}:
        raise FileProblem(f"file {name}", document[name], "be left out: no such field is known")
    said = document["certificate"]
    problem = CODEC.of_kind((Problem,), document["problem"], "problem")
    evidence = CODEC.of_kind(EVIDENCE, said.get("evidence"), "evidence")
    mechanism = CODEC.of_kind((*KINDS, *JOINT_KINDS), document["mechanism"], "mechanism")
    report = CODEC.decoded(Report, document["report"], "report")
    try:
        design = Design(problem, mechanism, evidence, report)
    except (CheckFailed, ArithmeticError) as failure:
        raise FileProblem("certificate", source, f"hold for the mechanism in the file: {failure}") from None
    _require_said(said, design)
    return design


def design_schema() -> dict[str, Any]:
    """The JSON schema of these files: what may prove a design, and each kind with its fields, once.

    >>> schema = design_schema()
    >>> schema["$defs"]["BathtubBound"]["required"]
    ['kind', 'radius']
    """
    from mechdesign.methods.registry import CODEC, EVIDENCE

    schemas = Schemas(CODEC.protocols)
    derived = {"lower": float, "upper": float, "valid_for": str, "claimed": bool, "privacy_loss": float}
    certificate = {name: schemas.of(kind) for name, kind in derived.items()} | {"privacy": {}, "evidence": {}}
    document = {
        **{name: {"const": text} for name, text in (("format", FORMAT), ("version", VERSION), ("use", USE))},
        "problem": schemas.of(Problem),
        "mechanism": schemas.any_of(*KINDS, *JOINT_KINDS),
        "certificate": _object(certificate),
        "report": schemas.of(Report),
    }
    ends = [{"claimed": {"const": kind.claimed}, "evidence": schemas.of(kind)} for kind in EVIDENCE]
    proven = [{"properties": {"certificate": {"properties": one}}} for one in ends]
    head = {"$schema": DIALECT, "title": FORMAT} | _object(document)
    return head | {"anyOf": proven, "$defs": schemas.definitions}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _require_said(said: Mapping[str, Any], design: Design) -> None:
    """The certificate in the file must be the one that was derived, but for last digits in which computers differ."""
    derived = json.loads(files.dump_json(design.certificate.document()))  # infinities as files write them
    if said.keys() != derived.keys():
        raise FileProblem("certificate", sorted(said), f"hold {', '.join(derived)}")
    for key in (key for key in derived if key != "evidence"):
        _require_same(said[key], derived[key], f"certificate {key}")


def _require_same(said: Any, derived: Any, place: str) -> None:
    if isinstance(said, dict) and isinstance(derived, dict):
        if said.keys() != derived.keys():
            raise FileProblem(place, sorted(said), f"hold {', '.join(derived)}")
        for key in derived:
            _require_same(said[key], derived[key], f"{place} {key}")
    elif not is_same(said, derived):
        what = "be a number: " if isinstance(derived, float) and isinstance(said, str | bool) else "be "
        raise FileProblem(place, said, f"{what}{derived!r}, what was derived")
