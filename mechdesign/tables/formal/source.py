"""The file of Coq that is written of a table: its numbers, and theorems in plain form, proven by the check."""

from __future__ import annotations

from pathlib import Path

from mechdesign.methods.result import Design
from mechdesign.tables.export.single import Difference, first_difference, write_texts
from mechdesign.tables.formal.floors.evidence import stated_floor
from mechdesign.tables.formal.floors.stated import StatedFloor
from mechdesign.tables.formal.laws import definition, inputs, is_between_rows, stated_limits
from mechdesign.tables.formal.terms import ratio
from mechdesign.tables.table import Table
from mechdesign.values import files

ENDING = ".v"
"""Of Coq's files."""

FOLDER = Path(__file__).parent
"""The project of Coq, as it stands."""

_HEAD = """\
(* The table {sha256}.
   `coqc` accepts this file with the theories beside it only if all that it states follows. *)
From Coq Require Import ZArith Reals List.
From Mechdesign Require Import Sums Exponential Tables Private Optima Line Pairs Unbiased Workload.
Import ListNotations.
Open Scope Z_scope.

{definition}

Lemma checked : check table = true.
Proof. vm_compute. reflexivity. Qed.
"""

_PRIVATE = """
Open Scope R_scope.

(* No set S of reports is more than e^{epsilon} times as likely under input x as under input y. (What hashed tables hash
   with is any function.) *)
Theorem the_table_is_private : forall hash (S : list (report (the_law table))) x y,
  (0 <= x < {inputs})%Z -> (0 <= y < {inputs})%Z ->
  chance hash table S x <= exp {epsilon} * chance hash table S y.
Proof. exact (private table checked). Qed.
"""

_MIXED = """
(* Inputs between rows take one of several rows at random: the same for them. *)
Theorem the_table_is_private_between_rows : forall hash (S : list (report (the_law table))) draw draw',
  mixture table draw -> mixture table draw' ->
  mixed hash table S draw <= exp {epsilon} * mixed hash table S draw'.
Proof. exact (private_mixed table checked). Qed.
"""

_LIMITS = """
Open Scope Z_scope.
{limits}
Open Scope R_scope.

(* Where a pair of inputs has a limit of its own, it is kept, too. *)
Lemma limits_checked :
  check_limits epsilons places (match the_law table with Finite _ rows => rows | _ => [] end) = true.
Proof. vm_compute. reflexivity. Qed.

Theorem pairs_keep_their_limits : forall hash (S : list (report (the_law table))) x y,
  (0 <= x < {inputs})%Z -> (0 <= y < {inputs})%Z -> place places x y <> (-1)%Z ->
  chance hash table S x <= exp (limit epsilons (place places x y)) * chance hash table S y.
Proof. exact (private_in_pairs table _ _ epsilons places checked eq_refl limits_checked). Qed.
"""

_FLOOR = """
Open Scope Z_scope.

{definition}
Open Scope R_scope.

Lemma certificate_checked : check_{kind} certificate = true.
Proof. vm_compute. reflexivity. Qed.

(* Every mechanism, with any number m of reports, has at least this. *)
Theorem nothing_is_better : {theorem}.
Proof. exact ({proof} certificate certificate_checked). Qed.
"""


def proof_name(table: Table) -> str:
    """What the file is called, without its ending: it names its table."""
    return f"Table_{table.sha256[:16]}"


def proof_of(table: Table, design: Design | None = None) -> str:
    """The text of the file; with a design also what its evidence proves about every mechanism.

    *Guarantee.* The theorems hold the counts of the table themselves. A number that does not prove what is stated is
    refused by Coq, whoever wrote the file.
    """
    return _with_theorems(table, stated_floor(table, design))


def _with_theorems(table: Table, floor: StatedFloor | None) -> str:
    epsilon = table.epsilon
    places = {"epsilon": ratio(epsilon), "inputs": inputs(table)}
    text = _HEAD.format(sha256=table.sha256, definition=definition(table)) + _PRIVATE.format(**places)
    stated = ["the_table_is_private"]
    if is_between_rows(table):
        text += _MIXED.format(**places)
        stated.append("the_table_is_private_between_rows")
    own = stated_limits(table)
    if own is not None:
        text += _LIMITS.format(limits=own, **places)
        stated.append("pairs_keep_their_limits")
    if floor is not None:
        text += _FLOOR.format(definition=floor.definition, kind=floor.kind, theorem=floor.theorem, proof=floor.proof)
        stated.append("nothing_is_better")
    asked = [f"{command} {name}." for command in ("Check", "Print Assumptions") for name in stated]
    return "\n".join([text, *asked, ""])


def export_proof(
    table: Table, directory: Path | str, design: Design | None = None, *, overwrite: bool = False
) -> list[Path]:
    """Write the file of a table with the theories beside it, all or none; report the files.

    Where a floor is stated its certificate is written as well, for the program that is extracted.
    """
    floor = stated_floor(table, design)
    certificate = {} if floor is None else {f"{proof_name(table)}.certificate.json": floor.document}
    texts = {f"{proof_name(table)}.v": _with_theorems(table, floor), **certificate, **theories()}
    return write_texts(texts, Path(directory), overwrite=overwrite)


def proof_difference(table: Table, path: Path | str, design: Design | None = None) -> Difference | None:
    """``None`` if the file is, byte for byte, what `export_proof` writes: by its name a theory, else the table's own.

    Otherwise where it first differs from that.
    """
    theory = theories().get(f"theories/{Path(path).name}")
    return first_difference([theory or proof_of(table, design)], files.read_bytes(Path(path)))


def theories() -> dict[str, str]:
    """The theories by their paths, and what builds them."""
    names = [
        *sorted(FOLDER.glob("theories/*.v")),
        FOLDER / "Makefile",
        FOLDER / "_CoqProject",
        *FOLDER.glob("checker/*"),
    ]
    return {
        path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in names if path.suffix != ".py"
    }
