"""Coq accepts tables and certificates of every kind, and refuses what is forged."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mechdesign.methods.result import Design
from mechdesign.tables import Table, make_table
from mechdesign.tables.formal import (
    REALS,
    Acceptance,
    Refusal,
    acceptance_of,
    proof_name,
    proof_of,
    require_checked_again,
)
from mechdesign.tables.formal.laws import KINDS


def accepted_of(table: Table, folder: Path, text: str | None = None) -> Acceptance:
    return acceptance_of(proof_of(table) if text is None else text, proof_name(table), folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_every_kind_is_private_by_a_theorem(kinds: dict[str, Table], coq: Path, kind: str) -> None:
    found = accepted_of(kinds[kind], coq)
    said = f"(0 <= y < {rows_of(kinds[kind])})%Z -> chance hash table S x <= exp (1 / 1) * chance hash table S y"
    assert found.statements[0].startswith("the_table_is_private : forall (hash : Z -> Z -> Z) ")
    assert found.statements[0].endswith(said)
    assert set(found.axioms) == REALS


def rows_of(table: Table) -> Any:
    """How many rows reports are drawn from, by the description of the format."""
    law, domain = table.document["law"], table.document["domain"]
    if "starts" in law:
        return len(law["starts"])
    if "points" in domain:
        return len(domain["points"])
    if table.kind == "additive":
        return law["most"] - law["least"] + 1
    return law["cells"] if table.kind == "pieces" else domain["count"]


@pytest.mark.parametrize(
    "name",
    [
        "matrix, worst case",
        "matrix, average",
        "whole numbers",
        "distance",
        "square",
        "workload, average",
        "workload, worst type",
        "queries with weights",
        "more queries than types",
        "prior, distance",
        "prior, square",
        "without bias",
        "pairs, worst case",
        "pairs, average",
    ],
)
def test_nothing_is_better_by_a_theorem(designs: dict[str, Design], coq: Path, name: str) -> None:
    design = designs[name]
    table = make_table(design)
    found = acceptance_of(proof_of(table, design), proof_name(table), coq)
    assert found.statements[-1].startswith("nothing_is_better : forall")
    least = Fraction(*map(int, re.findall(r"(\d+) / (\d+) <= ", found.statements[-1])[-1]))
    assert 0 <= design.certificate.lower - float(least) <= 1e-6 * design.certificate.lower
    assert set(found.axioms) == REALS


def changed(text: str, pattern: str, new: str) -> str:
    found = re.sub(pattern, new, text, count=1)
    assert found != text
    return found


@pytest.mark.parametrize(
    "name",
    [
        "matrix, worst case",
        "square",
        "prior, square",
        "workload, average",
        "without bias",
        "pairs, worst case",
    ],
)
def test_a_floor_that_is_a_millionth_higher_is_refused(designs: dict[str, Design], coq: Path, name: str) -> None:
    table = make_table(designs[name])
    text = proof_of(table, designs[name])
    numbers = re.search(r"_least_num := (\d+)", text)
    assert numbers is not None
    more = str(int(numbers[1]) * 1_000_001 // 1_000_000 + 1)
    with pytest.raises(Refusal, match="Unable to unify"):
        acceptance_of(text.replace(numbers[1], more), proof_name(table), coq)


@pytest.mark.parametrize("name", ["distance", "square"])
def test_atoms_outside_the_interval_prove_nothing(designs: dict[str, Design], coq: Path, name: str) -> None:
    table = make_table(designs[name])
    text = proof_of(table, designs[name])
    text = changed(text, "l_high_num := 1;", "l_high_num := 0;")
    for stated in (r"\(1 / 1\) m q", r"\(1 / 1\) -> sum"):
        text = changed(text, stated, stated.replace("1 / 1", "0 / 1").replace("\\", ""))
    with pytest.raises(Refusal, match="Unable to unify"):
        acceptance_of(text, proof_name(table), coq)


CHECK = r"Lemma checked : check table = true.\nProof. vm_compute. reflexivity. Qed."
FORGERIES: dict[str, tuple[str, str]] = {
    "a count is another one": (r"\[\[(\d+)", r"[[1\1"),
    "the cap is another one": (r"cap := (\d+)", r"cap := \g<1>0"),
    "the theorem says less epsilon": (r"exp \(1 / 1\)", "exp (99 / 100)"),
    "the theorem says more inputs": ("0 <= y < 3", "0 <= y < 4"),
    "the check is not made": ("Proof. vm_compute. reflexivity. Qed.", "Admitted."),
    "an axiom has a name of Coq's": (
        CHECK,
        "Module Classical_Prop. Axiom classic : False. End Classical_Prop.\n"
        "Lemma checked : check table = true.\nProof. destruct Classical_Prop.classic. Qed.",
    ),
    "an axiom helps": (CHECK, "Axiom checked : check table = true."),
    "a theorem is left open": (r"Proof. exact \(private table checked\). Qed.", "Admitted."),
    "another check is made": ("check table = true", "0 + 0 = 0"),
    "nobody asks for axioms": ("Print Assumptions the_table_is_private.\n", ""),
    "another exponential": ("Open Scope R_scope.", "Open Scope R_scope.\nDefinition exp x := Rtrigo_def.exp (2 * x)."),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_file_is_refused(kinds: dict[str, Table], coq: Path, forgery: str) -> None:
    pattern, new = FORGERIES[forgery]
    text = changed(proof_of(kinds["finite"]), pattern, new)
    with pytest.raises(Refusal):
        accepted_of(kinds["finite"], coq, text)


@pytest.mark.slow
def test_theorems_rest_on_no_axioms_but_those_of_the_reals(coq: Path) -> None:
    names = {
        "Private": ("private_at", "private", "private_mixed", "private_limit", "private_in_pairs"),
        "Optima": ("finite_average", "finite_worst"),
        "Line": ("line_average", "line_worst", "line_everywhere", "line_prior"),
        "Pairs": ("pairs_average", "pairs_worst"),
        "Unbiased": ("unbiased_average",),
        "Workload": ("workload_average", "workload_worst"),
        "Exponential": ("exp_down_ok", "exp_up_ok"),
    }
    every = [name for part in names.values() for name in part]
    asked = "".join(f"{command} {name}.\n" for command in ("Check", "Print Assumptions") for name in every)
    found = acceptance_of(f"From Mechdesign Require Import {' '.join(names)}.\n{asked}", "Axioms", coq)
    assert set(found.axioms) == REALS


@pytest.mark.slow
def test_a_program_of_its_own_passes_what_was_compiled(kinds: dict[str, Table], coq: Path) -> None:
    accepted_of(kinds["response"], coq)
    require_checked_again(proof_name(kinds["response"]), coq)
    compiled = coq / "shipped" / f"{proof_name(kinds['response'])}.vo"
    content = bytearray(compiled.read_bytes())
    content[len(content) // 2] ^= 1
    compiled.write_bytes(bytes(content))
    with pytest.raises(Refusal, match="coqchk"):
        require_checked_again(proof_name(kinds["response"]), coq)


HIDDEN = {
    "an axiom": "Axiom nothing : False.",
    "what is left open": "Lemma nothing : False.\nAdmitted.",
    "a loop": "Unset Guard Checking.\nFixpoint nothing (n : nat) : False := nothing n.\nSet Guard Checking.",
    "what denies itself": "Unset Positivity Checking.\nInductive nothing := made : (nothing -> False) -> nothing.",
    "a universe in itself": "Unset Universe Checking.\nDefinition nothing : Type := Type.\nSet Universe Checking.",
}


@pytest.mark.slow
@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_a_file_does_not_have_printed_is_found(coq: Path, hidden: str) -> None:
    name = f"Hidden_{list(HIDDEN).index(hidden)}"
    stated = "Lemma stated : 0 = 0.\nProof. reflexivity. Qed.\nCheck stated. Print Assumptions stated."
    acceptance_of(f"{HIDDEN[hidden]}\n{stated}\n", name, coq)
    with pytest.raises(Refusal, match=rf"axioms of its own: (.*\s)?Shipped\.{name}\.nothing"):
        require_checked_again(name, coq)
