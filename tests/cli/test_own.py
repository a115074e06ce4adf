"""`compare` with mechanisms of one's own: matrices, saved designs and tables, whose privacy is decided."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.mechanisms import catalogue
from mechdesign.tables.measured import measured
from tests.methods.problems import numbers

WORDS = ",low,mid,high\nlow,0.5,0.3,0.2\nmid,0.25,0.5,0.25\nhigh,0.2,0.3,0.5\n"
NUMBERS = ",0,0.5,1\n0,0.5,0.3,0.2\n0.5,0.25,0.5,0.25\n1,0.2,0.3,0.5\n"
LOSSES = ",low,mid,high\nlow,0,1,2\nmid,1,0,1\nhigh,2,1,0\n"
OWN = np.array([[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]])
LOSS = np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("own.csv", WORDS), ("numbers.csv", NUMBERS), ("loss.csv", LOSSES)):
        (tmp_path / name).write_text(text)
    return tmp_path


def cells(outcome: Any) -> dict[str, dict[str, Any]]:
    assert outcome.code == 0, outcome.err
    return {cell["name"]: cell for cell in outcome.json["cells"]}


@pytest.mark.usefixtures("folder")
def test_a_matrix_is_measured_from_the_optimum_with_its_inputs_and_outputs(run: Any) -> None:
    outcome = run("compare", "--channel", "own.csv", "--loss-matrix", "loss.csv", "--json")
    own, (floor,) = cells(outcome)["own.csv"], outcome.json["floor"]
    assert own["worst"] == pytest.approx(0.7)
    assert own["privacy_loss"] == pytest.approx(math.log(2.5))
    best = md.solve(md.Problem(loss=LOSS, privacy=md.Pure(floor["eps"]))).certificate
    assert (floor["lower"], floor["upper"]) == (best.lower, best.upper)
    assert own["above_optimum"] == pytest.approx(100 * (0.7 / best.upper - 1))


@pytest.mark.usefixtures("folder")
def test_without_eps_it_is_what_the_matrix_spends(run: Any) -> None:
    (floor,) = run("compare", "--channel", "own.csv", "--loss-matrix", "loss.csv", "--json").json["floor"]
    mechanism = md.mechanisms.Discrete(1.0, md.Finite((0, 1, 2)), md.Finite((0, 1, 2)), OWN)
    assert mechanism.likelihood_ratio().loss <= floor["eps"] <= math.nextafter(math.log(2.5), 1) * (1 + 1e-15)
    assert md.prove_privacy(mechanism, floor["eps"]).holds


@pytest.mark.usefixtures("folder")
def test_the_exact_privacy_of_a_matrix_is_decided(run: Any) -> None:
    outcome = run("compare", "--channel", "own.csv", "--loss-matrix", "loss.csv", "--eps", "0.916")
    assert (outcome.code, outcome.out) == (2, "")
    assert "own.csv must keep eps = 0.916" in outcome.err
    assert "computed exactly" in run("compare", "--channel", "own.csv", "--loss-matrix", "loss.csv", "--eps", "1").out


@pytest.mark.usefixtures("folder")
def test_at_an_epsilon_that_it_does_not_keep_a_matrix_is_left_out_with_the_reason(run: Any) -> None:
    outcome = run("compare", "--channel", "numbers.csv", "--eps", "0.5,2", "--json")
    assert [cell["eps"] for cell in outcome.json["cells"] if cell["name"] == "numbers.csv"] == [2.0]
    assert "numbers.csv is left out at eps = 0.5: its privacy loss is 0.916" in outcome.err


@pytest.mark.usefixtures("folder")
def test_labels_that_are_numbers_are_the_inputs_and_outputs(run: Any) -> None:
    squared = run("compare", "--channel", "numbers.csv", "--loss", "squared", "--json")
    points = np.array([0, 0.5, 1])
    errors = (OWN * (points[None, :] - points[:, None]) ** 2).sum(axis=1)
    assert cells(squared)["numbers.csv"]["worst"] == pytest.approx(errors.max())
    assert cells(squared)["numbers.csv"]["average"] == pytest.approx(errors.mean())


@pytest.mark.usefixtures("folder")
def test_a_matrix_without_labels_has_the_inputs_0_1_and_so_on(run: Any) -> None:
    Path("bare.csv").write_text("0.75,0.25\n0.25,0.75\n")
    outcome = run("compare", "--channel", "bare.csv", "--json")
    assert cells(outcome)["bare.csv"]["worst"] == 0.25
    assert cells(outcome)["bare.csv"]["above_optimum"] == pytest.approx(0, abs=1e-6)  # it is randomised response


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("0.5,0.4\n0.5,0.5\n", (), "row 1 sums to 0.9"),
        ("1,0\n0.5,0.5\n", (), "finite privacy loss"),
        ("0.5,0.5\n0.5,0.5\n", (), "pass --eps"),
        ("0.5,0.6\n-0.1,1.1\n", (), "at least 0"),
        (WORDS, (), "add --loss-matrix FILE"),
        (NUMBERS, ("--domain", "0,1"), "the file says what the inputs are"),
        (NUMBERS, ("--mechanisms", "pm"), "be grr or best single output"),
        (WORDS, ("--loss-matrix", "loss.csv", "--loss", "squared"), "drop one of the two"),
        (NUMBERS, ("--loss-matrix", "loss.csv"), "be low, mid, high, in this order"),
    ],
)
def test_a_matrix_that_cannot_be_compared_is_refused_with_the_reason(
    run: Any, folder: Path, text: str, words: tuple[str, ...], said: str
) -> None:
    (folder / "mine.csv").write_text(text)
    outcome = run("compare", "--channel", "mine.csv", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_saved_designs_and_tables_stand_among_the_published(run: Any, folder: Path) -> None:
    design = md.solve(numbers(1.0))
    design.save(folder / "best.json")
    md.make_table(design).save(folder / "table.json")
    found = cells(run("compare", "--mechanisms", "pm,best.json,table.json", "--json"))
    assert set(found) == {"optimal piecewise", "pm", "best.json", "table.json"}
    assert {cell["eps"] for cell in found.values()} == {1.0}
    for name in ("best.json", "table.json"):
        assert found[name]["worst"] == pytest.approx(design.certificate.upper, rel=1e-6)
        assert -1e-9 < found[name]["above_optimum"] < 0.01
    assert found["table.json"]["privacy_loss"] == pytest.approx(md.load_table(folder / "table.json").privacy_loss)


def test_a_design_of_another_domain_says_the_domain(run: Any, folder: Path) -> None:
    md.solve(numbers(1.0, inputs=md.Interval(-2.0, 2.0))).save(folder / "wide.json")
    assert cells(run("compare", "--mechanisms", "pm,wide.json", "--json"))["pm"]["worst"] == pytest.approx(
        catalogue.pm(1.0, md.Interval(-2.0, 2.0)).worst_case(md.Absolute())[0]
    )
    outcome = run("compare", "--mechanisms", "pm,wide.json", "--domain", "0,1")
    assert outcome.code == 2
    assert "inputs of wide.json must be [0, 1]" in outcome.err


def test_an_edited_design_is_not_believed(run: Any, folder: Path) -> None:
    md.solve(numbers(1.0)).save(folder / "best.json")
    document = json.loads((folder / "best.json").read_text())
    document["mechanism"]["base"][0] *= 2
    (folder / "best.json").write_text(json.dumps(document))
    assert run("compare", "--mechanisms", "best.json").code != 0


def test_finite_designs_and_tables_of_labels_meet_in_one_loss_matrix(run: Any, folder: Path) -> None:
    labels = ("low", "mid", "high")
    told = {"input_labels": labels, "output_labels": labels}
    md.solve(md.Problem(loss=md.Matrix(LOSS, **told), privacy=md.Pure(1.0))).save(folder / "best.json")
    response = catalogue.randomised_response(1.0, md.Finite((0, 1, 2)))
    md.make_table(response, labels=md.tables.labels.Labels(labels, labels)).save(folder / "grr.json")
    words = ("--mechanisms", "best.json,grr.json", "--channel", "own.csv", "--loss-matrix", "loss.csv")
    found = cells(run("compare", *words, "--json"))
    assert set(found) == {"best.json", "grr.json", "own.csv", "grr", "best single output"}
    assert found["best.json"]["above_optimum"] == pytest.approx(0, abs=1e-3)
    assert found["grr.json"]["worst"] == pytest.approx(3 / (math.e + 2), rel=1e-6)


def test_pictures_of_matrices_are_drawn(run: Any, folder: Path) -> None:
    for number, eps in enumerate(("1", "1,2")):
        words = ("compare", "--channel", "numbers.csv", "--eps", eps, "--plot", f"{number}.png")
        assert run(*words).code == 0
        assert (folder / f"{number}.png").stat().st_size > 10_000


def test_a_table_of_another_kind_is_refused_with_what_to_compare_instead(run: Any, folder: Path) -> None:
    md.make_table(catalogue.pm(1.0)).save(folder / "pm.json")
    outcome = run("compare", "--mechanisms", "pm.json")
    assert outcome.code == 2
    assert "compare the design" in outcome.err


@pytest.mark.parametrize("loss", [md.Absolute(), md.Squared()])
def test_errors_of_a_window_table_are_those_that_its_check_computes(loss: md.Power) -> None:
    table = md.make_table(md.solve(numbers(2.0, loss)))
    assert measured(table).worst_case(loss)[0] == pytest.approx(float(table.worst_error(int(loss.exponent))), rel=1e-12)


# -- minimax ----------------------------------------------------------------------------------------------------------


def test_minimax_ranks_files_among_the_rivals(run: Any, folder: Path) -> None:
    md.make_table(md.solve(numbers(1.0))).save(folder / "table.json")
    outcome = run("minimax", "--eps", "1", "--mechanisms", "table.json", "--json")
    (row,) = (row for row in outcome.json["comparison"] if row["name"] == "table.json")
    assert row["published"] is False
    assert abs(row["above_optimum"]) < 0.01


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--eps", "0.5", "--mechanisms", "best.json"), "best.json must keep eps = 0.5"),
        (("--eps", "1", "--mechanisms", "pm"), "published is ranked anyway"),
        (("--sweep", "1,2", "--mechanisms", "best.json"), "be left out with --sweep"),
        (("--eps", "1", "--domain", "0,2", "--mechanisms", "best.json"), "take the problem's inputs"),
        (("--eps", "1", "--mechanisms", "best.json,best.json"), "different names"),
    ],
)
def test_minimax_refuses_files_that_it_cannot_rank(run: Any, folder: Path, words: tuple[str, ...], said: str) -> None:
    md.solve(numbers(1.0), gap=1e-2).save(folder / "best.json")
    outcome = run("minimax", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_a_biased_file_is_refused_among_the_unbiased(run: Any, folder: Path) -> None:
    md.make_table(md.solve(numbers(1.0), gap=1e-2)).save(folder / "table.json")
    outcome = run("minimax", "--eps", "1", "--unbiased", "--mechanisms", "table.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert "be unbiased" in outcome.err


@pytest.mark.parametrize("text", ["1\n", "0.5,0.5\n", "0.25,0.75\n0.75,0.25\n"])
def test_where_nothing_has_to_be_lost_that_is_said(run: Any, folder: Path, text: str) -> None:
    (folder / "mine.csv").write_text(text)
    (folder / "free.csv").write_text("\n".join(["0" + ",1" * text.split()[0].count(",")] * text.count("\n")) + "\n")
    outcome = run("compare", "--channel", "mine.csv", "--loss-matrix", "free.csv", "--eps", "2")
    assert outcome.code == 0, outcome.err
    assert "Nothing has to be lost" in outcome.out


def test_a_loss_above_eps_by_less_than_doubles_show_is_told_as_such(run: Any, folder: Path) -> None:
    chance = math.e / (1 + math.e)  # odds above e, whose logarithm is 1.0 as a double
    np.save(folder / "above.npy", [[chance, 1 - chance], [1 - chance, chance]])
    outcome = run("compare", "--channel", "above.npy", "--eps", "1")
    assert outcome.code == 2
    assert "got 'a privacy loss of a little more than 1.0'" in outcome.err
    assert "its privacy loss is a little more than 1.0" in run("compare", "--channel", "above.npy", "--eps", "1,2").err


def test_a_file_with_outputs_outside_the_class_of_the_optimum_is_refused_by_minimax(run: Any, folder: Path) -> None:
    chance = math.e / (1 + math.e)
    law = np.array([[chance, 1 - chance], [1 - chance, chance]])
    between = md.mechanisms.Discrete(1.001, md.Finite((0, 1)), md.Finite((1 - chance, chance)), law)
    md.make_table(between).save(folder / "between.json")
    words = ("minimax", "--eps", "1.1", "--domain", "0..1", "--mechanisms", "between.json")
    outcome = run(*words, "--loss", "squared")
    assert (outcome.code, outcome.out) == (2, "")
    assert "outputs of between.json must be among the points of {0, 1}" in outcome.err
    compared = run("compare", "--loss", "squared", "--mechanisms", "between.json", "--eps", "1.1", "--json")
    assert cells(compared)["between.json"]["above_optimum"] > 0
    rows = {row["name"]: row for row in run(*words, "--json").json["comparison"]}  # absolute: over all mechanisms
    assert rows["between.json"]["above_optimum"] > 0
