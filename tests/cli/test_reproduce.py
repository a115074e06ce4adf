"""`reproduce`: printed numbers, ours and a verdict, for people, machines and files."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from mechdesign.papers.claims import CLAIMS

ASKED = ("reproduce", "jrr.heuristic", "jrr.theorem-3", "capri.figure-4.1a", "jrr.examples-2-3", "jrr.figure-4.2")


def test_claims_numbers_and_verdicts_are_shown(run: Any) -> None:
    outcome = run(*ASKED)
    assert outcome.code == 0
    lines = [line.split() for line in outcome.out.splitlines()]
    assert ["500", "collude", "(1.0000)", "1.06953", "1.0695"] in lines
    assert ["jrr.heuristic", "beyond", "the", "claim"] in lines
    assert ["jrr.theorem-3", "does", "not", "hold", "as", "printed", "(erratum", "6)"] in lines
    assert ["jrr.figure-4.2", "does", "not", "hold"] in lines
    assert "5 claims: holds: 1, simulated: 0, holds after correction: 0, does not hold as printed: 2," in outcome.out
    assert "jrr.heuristic is beyond the claim: the section derives it" in outcome.out


def test_json_has_every_number(run: Any) -> None:
    document = run(*ASKED, "--json").json
    assert tuple(document["verdicts"].values()) == (1, 0, 0, 2, 0, 1, 0, 1)
    by_id = {claim["id"]: claim for claim in document["claims"]}
    assert by_id["capri.figure-4.1a"]["erratum"] == 16
    assert by_id["capri.figure-4.1a"]["numbers"][1]["printed"] == 0.588
    assert by_id["capri.figure-4.1a"]["numbers"][1]["p_value"] is None


def test_a_simulation_has_its_p_value_beside_it(run: Any) -> None:
    document = run("reproduce", "capri.figure-4.1a-simulated", "--json").json
    (claim,) = document["claims"]
    missed = claim["numbers"][0]
    assert (missed["printed"], claim["verdict"]) == (0.012, "simulated")
    assert missed["lower"] == pytest.approx(0.00523595, abs=1e-8)
    assert missed["p_value"] == pytest.approx(0.1, abs=0.01)
    shown = run("reproduce", "capri.figure-4.1a-simulated", "ldp3.kl", "capri.figure-5.9").out
    assert "simulated (p = 0.1)" in shown
    assert "ldp3.kl is in the published code, not in print: equation (24)" in shown
    assert "capri.figure-5.9 is on stand-in data: 985 households" in shown


def test_a_whole_family_is_one_name(run: Any) -> None:
    document = run("reproduce", "classifier", "--json").json
    asked = [claim["id"] for claim in document["claims"]]
    assert asked == [claim.key for claim in CLAIMS if claim.key.startswith("classifier.")]
    assert len(asked) > 2


def test_the_list_computes_nothing_and_has_everything(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechdesign.cli.reproduce.judge", None)
    document = run("reproduce", "--list", "--json").json
    assert [claim["id"] for claim in document["claims"]] == [claim.key for claim in CLAIMS]
    shown = run("reproduce", "--list").out
    assert all(claim.key in shown for claim in CLAIMS)


def test_reports_are_files(run: Any, tmp_path: Path) -> None:
    report, table = tmp_path / "report.md", tmp_path / "report.csv"
    assert run(*ASKED, "--out", str(report)).code == 0
    assert run(*ASKED, "--out", str(table)).code == 0
    text = report.read_text()
    assert "**jrr.heuristic** (section 4.3.4)" in text
    assert "Verdict: *does not hold as printed (erratum 6)*." in text
    assert "Verdict: *beyond the claim* (the section derives it" in text
    assert "| 500 collude | (1.0000) | 1.06953 | 1.0695 |" in text
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["id"] for row in rows} == set(ASKED[1:])
    spent = next(row for row in rows if row["label"] == "500 collude")
    assert float(spent["lower"]) == pytest.approx(1.0695, abs=1e-4)
    assert run(*ASKED, "--out", str(report)).code == 2


def test_a_table_has_the_numbers_a_correction_rests_on(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "report.csv"
    assert (
        "1 claim: holds: 0, simulated: 0, holds after correction: 1"
        in run("reproduce", "ogpm.figure-5.9", "--out", str(table)).out
    )
    with table.open() as stream:
        row = next(csv.DictReader(stream))
    assert row["verdict"] == "holds after correction (erratum 1)"
    assert float(row["lower"]) == pytest.approx(1.0)
    assert float(row["corrected_lower"]) == float(row["corrected_upper"]) == pytest.approx(0.899, abs=1e-3)


def test_the_picture_of_one_claim_is_a_file(run: Any, tmp_path: Path) -> None:
    picture = tmp_path / "shares.svg"
    outcome = run("reproduce", "jrr.figure-4.5", "--plot", str(picture), "--title", "Shares")
    assert outcome.code == 0
    assert str(picture) in outcome.out
    assert "jrr.figure-4.5" in outcome.out
    drawn = picture.read_text()
    assert "Shares" in drawn
    assert run("reproduce", "jrr.figure-4.5", "--plot", str(picture)).code == 2


def test_a_picture_goes_beside_the_folder_of_a_report(run: Any, tmp_path: Path) -> None:
    picture, folder = tmp_path / "shares.png", tmp_path / "report"
    outcome = run("reproduce", "jrr.figure-4.5", "--plot", str(picture), "--out", str(folder))
    assert outcome.code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert (folder / "index.html").is_file()


def test_unknown_names_exit_with_2_and_the_nearest(run: Any) -> None:
    outcome = run("reproduce", "jrr.heuristics")
    assert (outcome.code, outcome.out) == (2, "")
    assert "jrr.heuristic" in outcome.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("jrr", "--all"), "one or the other"),
        (("jrr", "--out", "report.txt"), ".md or .csv"),
        (("--list", "--out", "report.md"), "left out with --list"),
        (("nothing-like-it",), "nearest: aaa, capri, certified"),
        (("jrr", "--plot", "jrr.png"), "one claim, whose picture it is"),
        (("jrr.theorem-3", "--plot", "jrr.png"), "those of jrr with one: jrr.figure-4.1"),
        (("jrr.figure-4.5", "--plot", "jrr.doc"), ".png"),
        (("jrr.figure-4.5", "--title", "Mine"), "add --plot FILE"),
        (("--list", "--plot", "jrr.png"), "left out with --list"),
    ],
)
def test_bad_input_exits_with_2(run: Any, options: tuple[str, ...], words: str) -> None:
    outcome = run("reproduce", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


def test_slow_claims_are_left_out_and_said_to_be(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [claim for claim in CLAIMS if claim.key in ASKED or claim.slow]
    monkeypatch.setattr("mechdesign.papers.claims.catalogue.CLAIMS", few)
    outcome = run("reproduce")
    assert outcome.code == 0
    assert "5 claims:" in outcome.out
    slow = sum(claim.slow for claim in CLAIMS)
    assert f"{slow} slow claims are left out; --all computes them." in outcome.out


def test_what_was_computed_before_the_end_is_not_lost(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request to end comes while the third claim is computed."""
    from mechdesign.cli import reproduce

    def ended(claim: Any) -> Any:
        if claim.key == "jrr.figure-4.2":
            raise SystemExit(143)
        return judge(claim)

    judge = reproduce.judge
    monkeypatch.setattr("mechdesign.cli.reproduce.judge", ended)
    report = tmp_path / "report.md"
    outcome = run(*ASKED, "--out", str(report))
    assert outcome.code == 143
    assert "3 claims:" in outcome.out
    assert "ended after 3 of 5 claims" in outcome.err
    assert "**jrr.theorem-3**" in report.read_text()


# -- a folder ---------------------------------------------------------------------------------------------------------

FEW = ("reproduce", "jrr.examples-2-3", "jrr.theorem-3", "capri.figure-4.1a")


def test_a_folder_gets_a_page_a_table_and_a_part_for_every_claim(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    outcome = run(*FEW, "--out", str(folder))
    assert outcome.code == 0
    page = (folder / "index.html").read_text()
    assert all(f'<article id="{key}"' in page for key in FEW[1:])
    assert "data:image/png;base64," in page
    assert "**jrr.theorem-3**" in (folder / "report.md").read_text()
    assert len(list((folder / "parts").glob("*.json"))) == 3
    assert f"saved {folder / 'index.html'}" in outcome.out


def test_what_a_folder_holds_is_not_computed_again(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "report"
    before = run(*FEW, "--out", str(folder), "--json").json
    monkeypatch.setattr("mechdesign.papers.report.folder.judge", None)
    again = run(*FEW, "--out", str(folder))
    assert again.code == 0
    assert "Taken from files of an earlier run, not computed again: 3 claims." in again.out
    after = run(*FEW, "--out", str(folder), "--json").json
    assert (before["taken"], sorted(after["taken"])) == ([], sorted(FEW[1:]))
    assert after == before | {"taken": after["taken"]}


def test_numbers_that_were_not_computed_again_are_said_to_be_taken(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    run(*FEW, "--out", str(folder))
    said = "taken from a file of an earlier run, not computed again"
    assert said not in (folder / "index.html").read_text()
    (folder / "parts").joinpath(next((folder / "parts").glob("jrr.theorem-3-*.json")).name).unlink()
    run(*FEW, "--out", str(folder))
    assert (folder / "index.html").read_text().count(said) == 2
    assert "not computed again: 2 claims (" in (folder / "report.md").read_text()


def test_a_damaged_part_is_computed_anew_and_the_others_are_not(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    run(*FEW, "--out", str(folder))
    page = (folder / "index.html").read_text()
    whole = {path: path.stat().st_mtime_ns for path in (folder / "parts").iterdir()}
    (damaged,) = (folder / "parts").glob("jrr.theorem-3-*.json")
    damaged.write_text(damaged.read_text().replace("4.2", "3.8"))
    outcome = run(*FEW, "--out", str(folder))
    assert "not computed again: 2 claims." in outcome.out
    changed = {path for path, when in whole.items() if path.stat().st_mtime_ns != when}
    assert changed == {damaged}
    seconds = r"computed in \d+ s|<p class=\"soft\">(These numbers are t|T)aken from [^<]*</p>"
    assert re.sub(seconds, "", (folder / "index.html").read_text()).split() == re.sub(seconds, "", page).split()


def test_a_folder_with_other_things_in_it_is_refused(run: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    outcome = run(*FEW, "--out", str(tmp_path))
    assert (outcome.code, outcome.out) == (2, "")
    assert "be new, empty, or the folder of an earlier report" in outcome.err
    assert run(*FEW[:2], "--out", str(tmp_path), "--force").code == 0


def test_a_file_where_the_parts_belong_is_refused(run: Any, tmp_path: Path) -> None:
    (tmp_path / "parts").write_text("not a folder")
    outcome = run(*FEW, "--out", str(tmp_path), "--force")
    assert (outcome.code, outcome.out) == (2, "")
    assert "have a folder parts in it" in outcome.err


def test_a_run_that_is_asked_to_end_leaves_a_page_of_what_it_has(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request comes while the second claim is computed; the same command then goes on."""
    from mechdesign.papers.report import folder as module

    judge = module.judge

    def ended(claim: Any) -> Any:
        if claim.key == "jrr.theorem-3":
            raise SystemExit(143)
        return judge(claim)

    monkeypatch.setattr(module, "judge", ended)
    outcome = run(*FEW, "--out", str(tmp_path / "report"))
    assert outcome.code == 143
    assert "ended after 1 of 3 claims; the same command goes on with the others" in outcome.err
    assert "Left out: the run was ended before." in (tmp_path / "report" / "index.html").read_text()
    monkeypatch.setattr(module, "judge", judge)
    assert "not computed again: 1 claim." in run(*FEW, "--out", str(tmp_path / "report")).out


def test_a_page_says_which_claims_its_run_left_out(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [claim for claim in CLAIMS if claim.key in FEW or claim.key == "ibu.table-3"]
    monkeypatch.setattr("mechdesign.papers.claims.catalogue.CLAIMS", few)
    document = run("reproduce", "--quick", "--out", str(tmp_path / "report"), "--json").json
    assert document["left_out"] == ["ibu.table-3"]
    page = (tmp_path / "report" / "index.html").read_text()
    assert "1 claim left out of this run" in page
    assert "Left out: it is slow; --all computes it." in page


# -- the papers' own data ---------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Kosarak's answers with the printed counts."""
    folder = tmp_path / "data"
    folder.mkdir()
    savemat(folder / "Kosarak.mat", {"kos": (np.arange(20_000) < 659).astype(np.uint8)})
    return folder


def test_data_alone_compute_what_depends_on_them(run: Any, data: Path) -> None:
    document = run("reproduce", "--data", str(data), "--json").json
    assert [claim["id"] for claim in document["claims"]] == ["jrr.table-4.3-kosarak"]
    assert document["claims"][0]["verdict"] == "holds"
    assert "jrr.partner" in document["left_out"]


def test_claims_on_data_have_names_like_others_and_are_listed(run: Any, data: Path) -> None:
    asked = ("reproduce", "jrr.partner", "jrr.table-4.3-kosarak")
    document = run(*asked, "--data", str(data), "--json").json
    assert [claim["id"] for claim in document["claims"]] == ["jrr.partner", "jrr.table-4.3-kosarak"]
    assert "jrr.table-4.3-kosarak" in run("reproduce", "--list", "--data", str(data)).out
    assert run(*asked).code == 2


def test_a_part_is_taken_for_the_same_data_only(run: Any, data: Path, tmp_path: Path) -> None:
    command = ("reproduce", "--data", str(data), "--out", str(tmp_path / "report"))
    assert "not computed again" not in run(*command).out
    assert "not computed again: 1 claim." in run(*command).out
    savemat(data / "Kosarak.mat", {"kos": (np.arange(20_000) < 660).astype(np.uint8)})
    changed = run(*command).out
    assert "not computed again" not in changed
    assert "does not hold: 1" in changed


@pytest.mark.parametrize(("folder", "words"), [("none", "readable: no such file"), (".", "hold a data set of the")])
def test_a_folder_without_data_of_the_papers_exits_with_2(run: Any, tmp_path: Path, folder: str, words: str) -> None:
    outcome = run("reproduce", "--data", str(tmp_path / folder))
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


@pytest.mark.parametrize("options", [("--all", "--quick"), ("jrr", "--quick")])
def test_one_choice_of_claims_at_a_time(run: Any, options: tuple[str, ...]) -> None:
    outcome = run("reproduce", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert "one or the other" in outcome.err


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """No farewell: the process is killed as soon as it has kept two parts."""
    folder = tmp_path / "report"
    command = [sys.executable, "-m", "mechdesign", "reproduce", "ogpm", "--quiet", "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while len(list(folder.glob("parts/*.json"))) < 2:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("parts/*.json")}
    assert 2 <= len(kept) < sum(claim.key.startswith("ogpm.") for claim in CLAIMS)
    assert not (folder / "index.html").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert f"not computed again: {len(kept)} claims." in again.stdout
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert (folder / "index.html").exists()


@pytest.mark.parametrize("name", ["rep_jrr.partner", "report.v2", "report"])
def test_a_folder_may_have_a_dot_in_its_name(run: Any, tmp_path: Path, name: str) -> None:
    outcome = run("reproduce", "jrr.partner", "--out", str(tmp_path / name), "--quiet")
    assert outcome.code == 0, outcome.err
    assert (tmp_path / name / "index.html").is_file()


@pytest.mark.parametrize("name", ["report.json", "report.PDF", "there.v2"])
def test_a_file_of_another_format_is_no_folder(run: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "there.v2").write_text("")
    outcome = run("reproduce", "jrr.partner", "--out", str(tmp_path / name), "--force")
    assert outcome.code == 2
    assert "must end in .md or .csv, or be a folder" in outcome.err
    assert not (tmp_path / name).is_dir()
