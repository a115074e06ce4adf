"""What is written for Coq: the numbers of the file, and a floor that is no higher than the certificate's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mechdesign import Average, Pairwise, Problem, Pure, solve
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.methods.result import Design
from mechdesign.tables import Table, make_table
from mechdesign.tables.formal import export_proof, proof_name, proof_of
from mechdesign.tables.formal.floors.line import MOST_VALUES
from mechdesign.tables.formal.laws import KINDS
from mechdesign.tables.formal.source import theories
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Absolute
from mechdesign.words.priors import Atoms, uniform
from mechdesign.words.workloads import Histogram, Prefix
from tests.tables.conftest import rehashed
from tests.tables.formal.conftest import LINE, workload
from tests.tables.formal.test_extracted import CHANCES, places


@pytest.mark.parametrize("kind", KINDS)
def test_the_theorem_holds_the_numbers_of_the_table_itself(kinds: dict[str, Table], kind: str) -> None:
    table = kinds[kind]
    law = table.document["law"]
    numbers = [here[i] for name in CHANCES[kind].split() for here, i in places(law, name)]
    text = proof_of(table)
    start = text.index("the_law := ")
    written = [int(n) for n in re.findall(r"-?\d+", text[start : text.index("|}", start)])]
    counted = {"finite": 1, "window": 2, "unbiased": 2}.get(kind, int("count" in table.document["domain"]))
    assert written[counted:] == numbers
    assert table.sha256 in text
    assert proof_name(table) == f"Table_{table.sha256[:16]}"


def test_names_and_labels_are_not_written(kinds: dict[str, Table]) -> None:
    document = json.loads(kinds["finite"].content)
    said = '*) Axiom cheat : False. (* " \u202e'
    labels = {side: [said, '"', "(*"] for side in ("inputs", "outputs")}
    named = Table(rehashed(document | {"name": said, "labels": labels}))
    assert proof_of(named) == proof_of(kinds["finite"]).replace(kinds["finite"].sha256, named.sha256)


@pytest.mark.parametrize("path", sorted(path for path in theories() if path.endswith(".v")))
def test_theories_leave_nothing_open(path: str) -> None:
    text = re.sub(r"\(\*.*?\*\)", "", theories()[path], flags=re.DOTALL)
    assert not re.search(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Unset|bypass_check)\b", text)


def test_limits_of_pairs_are_stated_of_their_own() -> None:
    table = make_table(solve(Problem(loss=[[0, 1], [1, 0]], privacy=Pairwise([[0, 1], [0.5, 0]]))))
    text = proof_of(table)
    assert "Theorem pairs_keep_their_limits" in text
    assert "(1, 2); (1, 1)" in text


def test_a_table_without_a_certificate_has_no_theorem_about_others(kinds: dict[str, Table]) -> None:
    assert "nothing_is_better" not in proof_of(kinds["finite"])
    assert "nothing_is_better" in proof_of(kinds["window"])


def test_a_design_of_another_epsilon_or_of_other_queries_is_refused(
    designs: dict[str, Design], kinds: dict[str, Table]
) -> None:
    with pytest.raises(InvalidInput, match="the table's epsilon"):
        proof_of(kinds["response"], designs["distance"])
    with pytest.raises(InvalidInput, match="ask the queries of the table"):
        proof_of(make_table(workload(Histogram(4), Average())), designs["workload, average"])


def test_a_workload_of_too_many_types_is_refused_with_what_can_be_done() -> None:
    design = solve(Problem(loss=Prefix(17), privacy=Pure(1.0), criterion=Average()), gap=0.1)
    with pytest.raises(InvalidInput, match=r"at most 16 types.*every corner"):
        proof_of(make_table(design), design)


def test_a_prior_of_too_many_values_or_of_none_is_refused_with_what_can_be_done() -> None:
    values = Atoms([k / 128 for k in range(MOST_VALUES + 1)], [1 / (MOST_VALUES + 1)] * (MOST_VALUES + 1))
    for prior, rule in ((values, "at most 100 values"), (uniform(Interval(0, 1)), "single values")):
        problem = Problem(inputs=Interval(0, 1), loss=Absolute(), privacy=Pure(1.0), criterion=Average(prior))
        design = solve(problem, gap=1e-2)
        with pytest.raises(InvalidInput, match=rf"{rule}.*leave the design out"):
            proof_of(make_table(design), design)


def test_a_design_with_other_limits_of_pairs_is_refused(designs: dict[str, Design]) -> None:
    other = solve(Problem(loss=LINE, privacy=Pairwise([[0, 1, 2], [1, 0, 0.75], [2, 0.75, 0]])))
    with pytest.raises(InvalidInput, match="the table's limit for each pair"):
        proof_of(make_table(designs["pairs, worst case"]), other)


def test_a_certificate_is_written_beside_the_theorem_that_it_proves(kinds: dict[str, Table], tmp_path: Path) -> None:
    text, certificate = (path.read_text() for path in export_proof(kinds["window"], tmp_path)[:2])
    numbers = json.loads(certificate)["numbers"]
    assert f"({numbers['l_least_num']} / {numbers['l_least_den']}) <= worst" in text
    assert f"l_ratio := {numbers['l_ratio']}" in text


def test_the_folder_holds_all_that_coq_needs_and_is_written_once(tmp_path: Path) -> None:
    table = make_table(catalogue.randomised_response(1.0, Finite((0, 1))))
    written = export_proof(table, tmp_path)
    assert written[0].name == f"{proof_name(table)}.v"
    assert {path.relative_to(tmp_path).as_posix() for path in written[1:]} == set(theories())
    assert export_proof(table, tmp_path) == written
    written[0].write_text("mine")
    with pytest.raises(FileProblem, match="not exist yet"):
        export_proof(table, tmp_path)
