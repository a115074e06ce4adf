"""Coq, where it is there: what it accepted, in its own words, and the axioms that rests on."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mechdesign.errors import InvalidInput
from mechdesign.methods.result import Design
from mechdesign.tables.formal.source import proof_name, proof_of, theories
from mechdesign.tables.table import Table
from mechdesign.values.declare import frozen

REALS = frozenset(
    (
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    )
)
"""The axioms that the real numbers of Coq's standard library rest on: no others are accepted."""

ORDER = ("Sums", "Exponential", "Tables", "Private", "Optima", "Line", "Pairs", "Unbiased", "Workload")
_LIBRARIES = ("-Q", "theories", "Mechdesign", "-Q", "shipped", "Shipped")
_STATED = re.compile(r"^\S.*\n(?:\s.*\n)*", re.MULTILINE)
_AXIOMS = re.compile(r"^(?:Axioms:|Closed under the global context)\n", re.MULTILINE)
_SUMMARY = re.compile(r"^\* (.*?):\s*(.*?)\s*$(?=\n\s*\n|\s*\Z)", re.MULTILINE | re.DOTALL)
_UNSAFE = ("Constants/Inductives relying on", "Inductives whose positivity")


class Refusal(Exception):
    """What Coq said instead."""


@frozen
class Acceptance:
    """Statements that Coq accepted, as it prints them, and the axioms that they rest on."""

    statements: tuple[str, ...]
    axioms: tuple[str, ...]


def require_coq() -> None:
    """`InvalidInput` where there is no Coq."""
    for tool in ("coqc", "coqchk"):
        if shutil.which(tool) is None:
            step = "install it (Debian: apt-get install coq), or leave --formal out: the checker needs no Coq"
            raise InvalidInput("formal", f"no {tool}", "find Coq 8.16 or later on this machine", step)


def theorems(table: Table, design: Design | None = None) -> Acceptance:
    """What coqc and coqchk accept of a table, and with its design of every mechanism, or `Refusal`.

    The theories are checked with it, each time: nothing that was compiled before is believed.
    """
    with tempfile.TemporaryDirectory() as place:
        folder, name = Path(place), proof_name(table)
        source = proof_of(table, design)
        build_theories(folder)
        found = acceptance_of(source, name, folder)
        require_checked_again(name, folder)
        return found


def build_theories(folder: Path) -> None:
    """Put the theories in a folder and have Coq check them."""
    for path, text in theories().items():
        if path.endswith(".v"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    for name in ORDER:
        _run(folder, ["coqc", "-q", "-Q", "theories", "Mechdesign", f"theories/{name}.v"])


def acceptance_of(source: str, name: str, folder: Path) -> Acceptance:
    """What `coqc` accepts of a file, among theories that were built in the folder, or `Refusal`.

    *Guarantee.* Statements are what Coq printed of theorems that it accepted, each with what it rests on; axioms other
    than those of Coq's real numbers are refused.
    """
    (folder / "shipped").mkdir(exist_ok=True)
    (folder / "shipped" / f"{name}.v").write_text(source, encoding="utf-8")
    stated, *listed = _AXIOMS.split(_run(folder, ["coqc", "-q", *_LIBRARIES, f"shipped/{name}.v"]).stdout)
    axioms = {text.split(":")[0].strip() for text in _STATED.findall("".join(listed))}
    if not axioms <= REALS:
        raise Refusal(f"it rests on axioms that are not those of the reals: {', '.join(sorted(axioms - REALS))}")
    statements = tuple(" ".join(text.split()) for text in _STATED.findall(stated))
    if not 0 < len(statements) <= len(listed):
        raise Refusal("it does not say of every theorem what it rests on")
    return Acceptance(statements, tuple(sorted(axioms)))


def require_checked_again(name: str, folder: Path) -> None:
    """`Refusal` unless `coqchk`, a program of its own, passes what was compiled: the theories and the file.

    Coq's standard library is taken as installed, its axioms with it. Any other axiom is refused, whatever the file has
    Coq print, and so is what was compiled with a check of Coq turned off.
    """
    modules = [*(f"Mechdesign.{theory}" for theory in ORDER), f"Shipped.{name}"]
    ours = (word for module in modules for word in ("-norec", module))
    done = _run(folder, ["coqchk", "-o", "-silent", *_LIBRARIES, *ours])
    found = dict(_SUMMARY.findall(done.stdout + done.stderr))
    if "Axioms" not in found:
        raise Refusal("coqchk does not say which axioms there are")
    own = [axiom for axiom in found["Axioms"].split() if not axiom.startswith("Coq.") and axiom != "<none>"]
    unsafe = [name for words, name in found.items() if words.startswith(_UNSAFE) and name != "<none>"]
    if own or unsafe:
        raise Refusal(f"coqchk: it rests on axioms of its own: {', '.join([*own, *unsafe])}")


def _run(folder: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Refusal(f"{command[0]}: {' '.join(said[-6:])[:600]}")
    return done
