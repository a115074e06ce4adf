"""`table` and `verify`: a design becomes a file, and the file is checked in integers."""

from __future__ import annotations

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.catalogue import randomised_response as randomised
from mechdesign.studies.frequencies.shipping import SHIPPED
from mechdesign.tables import load_table, privacy_checker
from mechdesign.tables.labels import Labels
from mechdesign.values.declare import evolved


@pytest.fixture
def shipped(run: Any, tmp_path: Path) -> Path:
    path = tmp_path / "t.json"
    assert run("table", "--eps", "1", "--mechanism", "duchi", "--domain=-1,1", "--out", str(path)).code == 0
    return path


def test_a_saved_design_becomes_a_table_that_verifies(run: Any, tmp_path: Path) -> None:
    design, path = tmp_path / "d.json", tmp_path / "t.json"
    assert run("minimax", "--eps", "1", "--gap", "0.01", "--out", str(design)).code == 0
    outcome = run("table", str(design), "--out", str(path))
    assert outcome.code == 0
    assert "no eps-private mechanism has less than" in outcome.out
    verified = run("verify", str(path))
    assert verified.code == 0
    assert verified.out.startswith("PASS window table of 32 bits, 'minimax' (named in the file)")


def test_a_histogram_with_signs_is_solved_and_becomes_a_table_of_signed_coordinates(run: Any, tmp_path: Path) -> None:
    asked, design, path = (tmp_path / name for name in ("problem.json", "d.json", "t.json"))
    inputs = {"kind": "cross-polytope", "count": 3, "radius": 1}
    words = {"inputs": inputs, "loss": {"kind": "power", "exponent": 2, "period": None}, "among": {"kind": "unbiased"}}
    asked.write_text(json.dumps({"kind": "problem", "privacy": {"kind": "pure", "epsilon": 2}} | words))
    assert run("solve", str(asked), "--out", str(design)).code == 0
    outcome = run("table", str(design), "--out", str(path))
    assert outcome.code == 0
    assert 'labels of the inputs: 6: "+1", "-1", "+2", "-2", "+3", "-3"' in outcome.out
    assert run("verify", str(path)).out.startswith("PASS finite table of 32 bits, 'directions'")


def test_verify_answers_machines(run: Any, shipped: Path) -> None:
    answer = run("verify", str(shipped), "--json").json
    assert answer["verdict"] == "PASS"
    assert answer["failures"] == []
    assert answer["epsilon"] == 1
    assert 0.999 < answer["privacy_loss"] <= 1


def test_the_failing_entry_is_named_and_the_exit_code_is_one(run: Any, shipped: Path) -> None:
    shipped.write_bytes(shipped.read_bytes().replace(b'"bits":32', b'"bits":16'))
    outcome = run("verify", str(shipped))
    assert (outcome.code, outcome.out) == (1, "FAIL sha256: does not match the content\n")
    answer = run("verify", str(shipped), "--json")
    assert answer.code == 1
    assert answer.json["verdict"] == "FAIL"
    assert answer.json["failures"] == ["sha256: does not match the content"]


def test_json_says_what_was_made(run: Any) -> None:
    answer = run("table", "--eps", "2", "--loss", "squared", "--bits", "16", "--json").json
    assert (answer["kind"], answer["bits"], answer["epsilon"]) == ("window", 16, 2)
    assert answer["lower"] < answer["error"] < answer["lower"] * 1.01
    assert answer["privacy_loss"] <= 2
    assert len(answer["sha256"]) == 64


def provenance_of(path: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(path.read_bytes())["provenance"]
    return found


def test_the_command_in_the_provenance_has_what_matters_and_no_folders(run: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.csv").write_text("0.6,0.4\n0.4,0.6\n")
    first, second = tmp_path / "1.json", tmp_path / "b" / "2.json"
    second.write_text("old")
    channels = [str(tmp_path / name / "mine.csv") for name in ("a", "b")]
    assert run("table", "--eps", "1", "--channel", channels[0], "--out", str(first)).code == 0
    options = ("--json", "--quiet", "--force", "--bits=32", "--out", str(second))
    assert run("table", "--channel", channels[1], "--eps", "1.0", *options).code == 0
    assert provenance_of(first)["command"] == "table --eps=1.0 --channel=mine.csv --bits=32"
    assert first.read_bytes() == second.read_bytes()


def test_the_command_in_the_provenance_makes_the_table_again(run: Any, shipped: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    assert run(*shlex.split(provenance_of(shipped)["command"]), "--out", str(again)).code == 0
    assert again.read_bytes() == shipped.read_bytes()


def test_a_saved_design_says_its_solver_and_versions_in_the_table(run: Any, tmp_path: Path) -> None:
    design, path = tmp_path / "d.json", tmp_path / "t.json"
    assert run("minimax", "--eps", "1", "--gap", "0.05", "--out", str(design)).code == 0
    report = json.loads(design.read_bytes())["report"]
    assert run("table", str(design), "--out", str(path)).code == 0
    told = provenance_of(path)
    assert told["solver"] == report["solver"]
    assert {name: told[f"design {name}"] for name in report["versions"]} == report["versions"]


def test_a_channel_with_little_to_repair_has_no_warning(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("0.733,0.267\n0.267,0.733\n")  # 1 - (e/(1+e) - 0.5)/0.233 = 0.83% is mixed in
    outcome = run("table", "--eps", "1", "--channel", str(file))
    assert "repaired: 0.00" in outcome.out
    assert outcome.err == ""


def test_categories_have_names(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    answer = run("table", "--eps", "1", "--mechanism", "GRR", "--labels", "no, maybe,yes", "--out", str(path), "--json")
    assert answer.json["input_labels"] == answer.json["output_labels"] == ["no", "maybe", "yes"]
    assert load_table(path).labels == Labels(("no", "maybe", "yes"), ("no", "maybe", "yes"))
    assert run("verify", str(path)).code == 0


@pytest.mark.parametrize("labels", ["", "one", "a,b,a", "a,,b", "a,b\x07"])
def test_names_of_categories_are_different_and_printable(run: Any, labels: str) -> None:
    outcome = run("table", "--eps", "1", "--mechanism", "grr", "--labels", labels)
    assert outcome.code == 2
    assert "--labels" in outcome.err


def test_the_choices_of_mechanisms_include_randomised_response(run: Any) -> None:
    outcome = run("table", "--eps", "1", "--mechanism", "nosuch")
    assert outcome.code == 2
    assert "pm" in outcome.err
    assert "grr with --size or --labels" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "be one of FILE, --eps, and one only (got None)"),
        (["missing.json"], "be readable"),
        (["missing.json", "--eps", "1"], "be readable"),
        ([__file__, "--eps", "1"], "be one of FILE, --eps, and one only"),
        ([__file__, "--loss", "squared"], "left out with FILE (got '--loss')"),
        (["--mechanism", "grr", "--labels", "yes,no"], "mechanism must come with --eps"),
        (["--eps", "-1"], "eps must be"),
        (["--eps", "1", "--bits", "8"], "bits must be one of"),
        (["--eps", "1", "--mechanism", "nonsense"], "mechanism must be one of"),
        (["--eps", "1", "--mechanism", "hm"], "become a table"),
        (["--eps", "1", "--domain", "1,0"], "lower end below"),
        (["--eps", "1", "--loss", "cubic"], "loss must be"),
    ],
    ids=range(12),
)
def test_bad_input_is_exit_code_two_and_leaves_no_file(
    run: Any, tmp_path: Path, arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("table", *arguments, "--out", "t.json")
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.out == ""
    assert list(tmp_path.iterdir()) == []


def test_existing_files_need_force(run: Any, shipped: Path) -> None:
    arguments = ["table", "--eps", "1", "--mechanism", "pm", "--domain=-1,1", "--out", str(shipped)]
    before = shipped.read_bytes()
    assert run(*arguments).code == 2
    assert shipped.read_bytes() == before
    assert run(*arguments, "--force").code == 0
    assert shipped.read_bytes() != before


def test_a_missing_table_is_bad_input(run: Any, tmp_path: Path) -> None:
    outcome = run("verify", str(tmp_path / "none.json"))
    assert outcome.code == 2
    assert "be readable" in outcome.err


SCALE = ("strongly agree", "agree", "neither, nor", "disagree")


def test_labels_are_a_line_of_csv_and_are_shown_with_their_ends(run: Any, tmp_path: Path) -> None:
    line, path = 'strongly agree, agree,"neither, nor",disagree', tmp_path / "t.json"
    outcome = run("table", "--eps", "1", "--mechanism", "grr", "--labels", line, "--out", str(path))
    assert '  labels of the inputs: 4: "strongly agree", "agree", "neither, nor", "disagree"\n' in outcome.out
    assert load_table(path).labels == Labels(SCALE, SCALE)


def test_labels_can_stand_in_a_file_one_a_line(run: Any, tmp_path: Path) -> None:
    file, path = tmp_path / "labels.txt", tmp_path / "t.json"
    file.write_text("\ufeff" + "\n".join(SCALE) + "\n\n", encoding="utf-8")
    assert run("table", "--eps", "1", "--mechanism", "grr", "--labels-file", str(file), "--out", str(path)).code == 0
    assert load_table(path).labels == Labels(SCALE, SCALE)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a,a", "--labels[1] must be different from the others"),
        ('a,"b', "--labels must be a line of CSV"),
        ("a,,b", "--labels[1] must be a text of 1 to 200 characters"),
        ("a,b\tc", "--labels[1] must be a text of 1 to 200 characters"),
        ("a," + "b" * 201, "--labels[1] must be a text of 1 to 200 characters"),
        ("a", "--labels must name from 2 to"),
        ("", "--labels must name from 2 to"),
    ],
)
def test_what_cannot_be_labels_is_refused(run: Any, line: str, words: str) -> None:
    outcome = run("table", "--eps", "1", "--mechanism", "grr", "--labels", line)
    assert outcome.code == 2
    assert words in outcome.err


@pytest.mark.parametrize("name", ["laplace", "pm", None])
@pytest.mark.parametrize("option", [("--labels", "no,yes"), ("--size", "2")])
def test_categories_of_another_mechanism_are_the_mechanisms_fault(
    run: Any, name: str | None, option: tuple[str, str]
) -> None:
    outcome = run("table", "--eps", "1", *option, *([] if name is None else ["--mechanism", name]))
    assert outcome.code == 2
    assert f"--mechanism must be grr with {option[0]}" in outcome.err
    assert "must be left out" not in outcome.err


def test_labels_that_are_the_codes_of_others_come_through_the_shell_unswapped(run: Any, tmp_path: Path) -> None:
    table, data, told = tmp_path / "t.json", tmp_path / "d.csv", tmp_path / "r.csv"
    run("table", "--eps", "9", "--mechanism", "grr", "--labels", "1,0", "--out", str(table))
    data.write_text("x\n" + "0\n" * 900 + "1\n" * 100)
    assert run("apply", str(table), "--in", str(data), "--column", "x", "--out", str(told)).code == 0
    found = run("estimate", str(table), "--in", str(told), "--json").json
    assert found["labels"] == ["1", "0"]
    assert found["estimates"] == pytest.approx([0.1, 0.9], abs=0.02)  # e^-9 of 1000 reports lie: 0.1 of them
    as_codes = run("estimate", str(table), "--in", str(told), "--codes", "--json").json
    assert as_codes["estimates"] == pytest.approx([0.9, 0.1], abs=0.02)


def test_randomised_response_becomes_a_table_of_its_categories(run: Any) -> None:
    answer = run("table", "--eps", "1", "--mechanism", "grr", "--size", "5", "--json").json
    assert (answer["kind"], answer["outputs"], answer["repair"]) == ("finite", 5, None)


@pytest.mark.parametrize("name", [name for entry in catalogue.ON_POINTS for name in (entry.key, *entry.also)])
def test_every_mechanism_on_points_becomes_a_table_by_any_of_its_names(run: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.json"
    assert run("table", "--eps", "1", "--mechanism", name, "--domain", "0..9", "--out", str(path)).code == 0
    assert run("verify", str(path)).code == 0
    assert load_table(path).law.ends == (0.0, 9.0)


def test_a_mechanism_on_points_takes_a_loss_only_if_it_is_tuned_to_it(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("table", "--eps", "1", "--mechanism", "mine", "--size", "3", "--loss", "squared", "--json")
    entry = catalogue.PointsEntry("mine", lambda eps, d, loss: randomised(eps, d), lambda d: True)
    monkeypatch.setattr(catalogue, "ON_POINTS", (*catalogue.ON_POINTS, entry))
    assert "--loss must be left out with --mechanism mine" in run(*words).err
    monkeypatch.setattr(catalogue, "ON_POINTS", (*catalogue.ON_POINTS[:-1], evolved(entry, tuned=True)))
    assert run(*words).json["outputs"] == 3


@pytest.mark.parametrize("name", ["pm", "t-pm", "t-laplace", "duchi"])
def test_json_tells_the_estimator_as_the_file_has_it(run: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.json"
    answer = run("table", "--eps", "1", "--mechanism", name, "--out", str(path), "--json").json
    assert answer["estimator"] == load_table(path).document["estimator"]
    is_clamped = answer["estimator"]["kind"] == "mean before clamping"
    assert is_clamped == name.startswith("t-")
    assert ("debiased report" in load_table(path).summary()) == (not is_clamped)


def test_json_tells_a_repair_as_the_file_has_it(run: Any, tmp_path: Path) -> None:
    file, path = tmp_path / "mine.csv", tmp_path / "t.json"
    file.write_text("a,b,c\n0.7,0.3,0\n0.1,0.9,0\n")
    answer = run("table", "--eps", "1", "--channel", str(file), "--out", str(path), "--json").json
    assert answer["repair"] == load_table(path).document["repair"]
    assert answer["repair"]["dropped"] == 1


def test_an_unknown_mechanism_is_refused_with_those_on_points(run: Any) -> None:
    outcome = run("table", "--eps", "1", "--mechanism", "nosuch", "--domain", "0..9")
    assert outcome.code == 2
    assert f"{', '.join(entry.key for entry in catalogue.ON_POINTS)} with LO..HI" in outcome.err


def test_a_channel_in_a_file_is_repaired_and_the_cost_told(run: Any, tmp_path: Path) -> None:
    file, path = tmp_path / "mine.csv", tmp_path / "t.json"
    file.write_text("low,mid,high\n0.7,0.2,0.1\n0.1,0.2,0.7\n")
    outcome = run("table", "--eps", "1", "--channel", str(file), "--out", str(path))
    assert outcome.code == 0
    assert "repaired: 0.428 of the uniform law mixed in, 0 outputs dropped" in outcome.out
    assert json.loads(path.read_bytes())["labels"] == {"inputs": None, "outputs": ["low", "mid", "high"]}
    assert "42.8% of the uniform law was mixed in" in outcome.err
    assert run("verify", str(path)).code == 0


def test_a_private_channel_needs_no_repair(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("0.6,0.4\n0.4,0.6\n")
    assert run("table", "--eps", "1", "--channel", str(file), "--json").json["repair"] is None


def test_numbers_as_labels_are_the_points(run: Any, tmp_path: Path) -> None:
    file, path = tmp_path / "mine.csv", tmp_path / "t.json"
    file.write_text(",10,20\n-1,0.6,0.4\n1,0.4,0.6\n")
    assert run("table", "--eps", "1", "--channel", str(file), "--out", str(path)).code == 0
    document = json.loads(path.read_bytes())
    assert (document["domain"]["points"], document["law"]["outputs"]) == (["-1", "1"], ["10", "20"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("0.6,0.4\n0.4,0.7\n", "probabilities[1] must be at least 0 and sum to 1"),
        ("0.6,0.4\n0.4,nan\n", "line 2, cell 2 has 'nan'"),
        ("1.1,-0.1\n0.5,0.5\n", "channel file must hold finite numbers, at least -1e-06"),
    ],
)
def test_a_channel_that_is_none_is_refused(run: Any, tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(content)
    outcome = run("table", "--eps", "1", "--channel", str(file))
    assert outcome.code == 2
    assert said in outcome.err


@pytest.mark.parametrize(
    "options",
    [
        ("--mechanism", "grr"),
        ("--mechanism", "grr", "--size", "1"),
        ("--mechanism", "grr", "--size", "3", "--loss", "squared"),
        ("--mechanism", "pm", "--size", "3"),
        ("--mechanism", "pm", "--labels", "a,b"),
        ("--mechanism", "grr", "--labels", "a,b", "--size", "2"),
        ("--channel", "c.csv", "--labels", "a,b"),
        ("--channel", "c.csv", "--mechanism", "pm"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run: Any, options: tuple[str, ...]) -> None:
    assert run("table", "--eps", "1", *options).code == 2


@pytest.mark.parametrize(("labels", "is_told"), [("1,0", True), ("1,2,3", True), ("0,1", False), ("no,yes", False)])
def test_labels_that_are_codes_of_other_categories_are_pointed_out(run: Any, labels: str, is_told: bool) -> None:
    outcome = run("table", "--eps", "1", "--mechanism", "grr", "--labels", labels)
    assert ("are the codes of other categories" in outcome.err) == is_told


def test_a_table_whose_reports_say_nothing_is_pointed_out(run: Any) -> None:
    outcome = run("table", "--eps", "1e-6", "--mechanism", "grr", "--size", "3", "--bits", "16")
    assert "reports say nothing about the data; take --bits 53" in outcome.err


# -- frequency protocols, and smaller windows --------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
def test_a_protocol_is_a_few_numbers_however_many_the_items(run: Any, name: str) -> None:
    answer = run("table", "--protocol", name, "--size", "4096", "--eps", "1", "--json").json
    assert answer["estimator"] is None
    assert answer["report_bytes"] <= 512
    chances = {key: Fraction(answer["chances"][key]) for key in ("p", "q")}
    assert 0 < chances["q"] < chances["p"] < 1
    assert 0.99 < answer["privacy_loss"] <= 1


def test_thousands_of_labels_go_the_whole_way(run: Any, tmp_path: Path) -> None:
    names, table, data = tmp_path / "names.txt", tmp_path / "t.json", tmp_path / "data.csv"
    labels = [f"app {i}" for i in range(4096)]
    names.write_text("\n".join(labels))
    data.write_text("app\n" + "\n".join(labels[i % 7] for i in range(700)) + "\n")
    made = run("table", "--protocol", "oue", "--labels-file", str(names), "--eps", "4", "--out", str(table))
    assert "reports: 512 bytes on one of 4096 items, from 16384 random bytes" in made.out
    assert run("verify", str(table)).code == 0
    assert privacy_checker.check(table.read_bytes()) == 4
    reports = tmp_path / "reports.csv"
    assert run("apply", str(table), "--in", str(data), "--column", "app", "--out", str(reports)).code == 0
    lines = reports.read_text().splitlines()
    assert {len(line.strip('"')) for line in lines[1:]} == {1024}
    found = run("estimate", str(table), "--in", str(reports), "--json").json
    assert found["count"] == 700
    assert found["covariance"] is None
    assert len(found["items"]) == 4096
    assert sum(item["lower"] <= 1 / 7 <= item["upper"] for item in found["items"][:7]) >= 4  # wrong once in 10^6 runs
    lines[5] = "zz" * 512
    reports.write_text("\n".join(lines) + "\n")
    outcome = run("estimate", str(table), "--in", str(reports))
    assert outcome.code == 2
    assert "data row 5" in outcome.err
    assert "zz" not in outcome.err
    exported = run("export", str(table), "--to", "c", "--out", str(tmp_path / "c"), "--json").json
    assert exported["output"] == "512 bytes"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--protocol", "l-grr", "--size", "5"), "to become a table"),
        (("--protocol", "oue"), "--size must be the number of categories"),
        (("--protocol", "oue", "--size", "3", "--labels", "a,b,c"), "be left out with --labels (got '--size')"),
        (("--protocol", "oue", "--size", "3", "--mechanism", "pm"), "left out with --protocol (got '--mechanism')"),
        (("--protocol", "oue", "--size", "3", "--gap", "0.1"), "left out with --protocol (got '--gap')"),
        (("--protocol", "oue", "--size", "3", "--g", "4"), "be an option of oue"),
        (("--protocol", "cms", "--size", "3", "--functions", "3"), "functions must be a power of two"),
        (("--g", "4"), "g must come with --protocol"),
        (("--mechanism", "grr", "--size", "5000"), "take --protocol grr --size 5000"),
        (("--mechanism", "pm", "--gap", "0.1"), "left out with --mechanism (got '--gap')"),
    ],
)
def test_options_that_do_not_fit_are_named(run: Any, options: tuple[str, ...], words: str) -> None:
    outcome = run("table", "--eps", "1", *options)
    assert outcome.code == 2
    assert words in outcome.err


def test_a_wider_gap_gives_a_smaller_table(run: Any, tmp_path: Path) -> None:
    sizes = []
    for gap in ("1e-4", "0.01"):
        path = tmp_path / f"{gap}.json"
        assert run("table", "--eps", "4", "--loss", "squared", "--gap", gap, "--out", str(path)).code == 0
        sizes.append(path.stat().st_size)
        assert "--gap" in json.loads(path.read_bytes())["provenance"]["command"]
    assert sizes[1] < 0.6 * sizes[0]


@pytest.mark.slow
def test_where_a_hundredth_more_error_saves_nine_tenths_it_is_said(run: Any) -> None:
    outcome = run("table", "--eps", "8")
    found = re.search(r"with --gap 0.01 the table is (\d+) kB instead of (\d+) kB, and its worst error", outcome.err)
    assert found is not None
    assert 10 * int(found[1]) <= int(found[2])
    assert "--gap" not in run("table", "--eps", "2").err
