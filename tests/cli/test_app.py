"""The commands as a whole: overview, help, module entry, exit codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mechdesign.cli.overview import NAMES


def test_no_arguments_shows_one_screen_of_what_there_is(run: Any) -> None:
    outcome = run()
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) <= 24
    assert all(len(line) <= 120 for line in outcome.out.splitlines())
    groups = [line[2:11].strip() for line in outcome.out.splitlines() if line.startswith("  ") and line[2] != " "]
    assert groups == ["ask", "design", "study", "simulate", "choose", "ship"]
    named = re.findall(r"[a-z-]+", " ".join(line[11:] for line in outcome.out.splitlines()))
    assert set(NAMES) <= set(named)


@pytest.mark.parametrize("command", NAMES)
def test_every_command_has_help(run: Any, command: str) -> None:
    assert run(command, "--help").code == 0


def test_an_unknown_command_exits_with_2(run: Any) -> None:
    assert run("frobnicate").code == 2


def test_the_module_runs_in_a_fresh_process() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mechdesign", "ogpm", "--eps", "2"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert "0.268941" in done.stdout


def test_a_closed_pipe_leaves_no_traceback() -> None:
    command = f"{sys.executable} -m mechdesign compare --eps 0.5:4:8 | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def _shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)


FULL = ["> /dev/full"] if Path("/dev/full").exists() else []


@pytest.mark.parametrize("redirection", [">&-", *FULL])
def test_an_unwritable_stdout_is_a_plain_failure(redirection: str) -> None:
    done = _shell(f"{sys.executable} -m mechdesign ogpm --eps 2 --json {redirection}")
    assert "Traceback" not in done.stderr
    assert "please report" not in done.stderr
    assert done.returncode == 1


def test_a_name_the_terminal_cannot_spell_is_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "groß.json"
    done = _shell(f"PYTHONIOENCODING=ascii {sys.executable} -m mechdesign ogpm --eps 2 --out '{path}'")
    assert done.returncode == 0
    assert path.exists()


@pytest.mark.parametrize("command", ["ogpm --eps -1 --json", "ogpm --eps x", "mean /dev/zero --eps 1 --bounds 0,1"])
def test_bad_input_exits_with_2_where_nobody_can_be_told(command: str) -> None:
    done = _shell(f"{sys.executable} -m mechdesign {command} 2>&-")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    "command",
    [
        "ogpm --eps 1_0",
        "ogpm --eps \u0663",
        "bench -d x.csv -e 1 -r 1_0",
        "minimax --eps 1 --criterion prior --prior normal:0,1e-320",
        "mean x.csv --column age --eps 1 --bounds 0,1 --mechanism pm --share nan",
        "mean x.csv --column age --eps 1 --bounds 0,1 --mechanism pm --share -0.0",
        "mean x.csv --column age --eps 1 --bounds 0,1 --mechanism pm --form free",
    ],
)
def test_numbers_that_mean_nothing_are_refused(run: Any, command: str) -> None:
    outcome = run(*command.split())
    assert outcome.code == 2
    assert "Warning" not in outcome.err


def test_messages_are_short_and_plain(run: Any, tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text(",".join(f"column{k}" for k in range(20_000)) + "\n" + ",".join(["1"] * 20_000))
    (tmp_path / "bad\x1b[31m.csv").write_text("a\x00b\x1b[31m\nc\n")
    for arguments in (
        ("mean", str(wide), "--column", "age", "--eps", "1", "--bounds", "0,1"),
        ("apply", str(tmp_path / "bad\x1b[31m.csv"), "--in", str(wide), "--out", "out.csv"),
        ("mean", str(tmp_path / "bad\x1b[31m.csv"), "--column", "x", "--eps", "1", "--bounds", "0,1"),
        ("bench", "-d", str(wide), "-e", "1", "--domain", "x" * 10_000),
    ):
        outcome = run(*arguments)
        assert outcome.code == 2
        assert len(outcome.err) < 2100
        assert outcome.err.removesuffix("\n").isprintable()
    assert "(20000 in all)" in run("mean", str(wide), "--column", "age", "--eps", "1", "--bounds", "0,1").err


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (MemoryError(), 1, "out of memory"),
        (ImportError("libarrow.so: failed to map segment"), 1, "failed: a library does not load: libarrow.so: failed"),
        (ValueError("my-HIV-status: positive"), 1, "internal error, please report it: ValueError in verify.py, line"),
    ],
)
def test_faults_nobody_expects_quote_nothing(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fault: Exception, code: int, words: str
) -> None:
    table = tmp_path / "t.json"
    table.write_text("{}")

    def fail(*_: Any, **__: Any) -> None:
        raise fault

    monkeypatch.setattr("mechdesign.cli.verify.files.read_bytes", fail)
    outcome = run("verify", str(table))
    assert outcome.code == code
    assert words in outcome.err
    assert "HIV" not in outcome.err


@pytest.mark.parametrize("name", ["x" * 300, "loop"])
def test_results_that_cannot_be_kept_are_refused_in_plain_words(run: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "data.csv").write_text("1\n2\n" * 50)
    asked = ("bench", "-d", str(tmp_path / "data.csv"), "-e", "1", "-p", "grr", "-m", "raw", "-r", "1")
    outcome = run(*asked, "--results", str(tmp_path / name))
    assert outcome.code == 2
    assert "file must" in outcome.err


# -- what was meant ---------------------------------------------------------------------------------------------------


def test_an_option_that_does_not_exist_is_told_the_one_that_does(run: Any) -> None:
    outcome = run("ogpm", "--epsilon", "1")
    assert (outcome.code, outcome.out) == (2, "")
    assert re.search(
        r"possible options: --eps\)|did you mean '--eps'\?", outcome.err, re.IGNORECASE
    )  # by typer's version


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("mean", "ages.csv", "--eps", "1", "--bounds", "0", "250000"), "did you mean --bounds=0,250000?"),
        (("mean", "ages.csv", "--eps", "1", "--bounds", "-1", "1", "--json"), "did you mean --bounds=-1,1?"),
        (("ogpm", "--eps", "1", "--plot-size", "6", "4"), "did you mean --plot-size=6,4?"),
        (("minimax", "--eps", "1", "--loss", "mse"), "did you mean squared?"),
        (("workload", "--eps", "1", "--queries", "cdf", "--size", "4"), "did you mean prefix?"),
        (("protocols", "--eps", "1", "--size", "4", "-p", "krr"), "did you mean grr?"),
        (("table", "--eps", "1", "--mechanism", "krr", "--size", "4"), "did you mean grr?"),
        (("table", "--eps", "1", "--protocol", "k-rr", "--size", "4"), "did you mean grr?"),
        (("compare", "--eps", "1", "--mechanisms", "ogmp"), "did you mean ogpm?"),
        (("mean", "ages.csv", "--eps", "1", "--bounds", "0,99", "--mechanism", "duch"), "did you mean duchi?"),
        (("budget", "-p", "krr", "--at-least", "0.5", "--population", "msnbc-like"), "did you mean grr?"),
    ],
)
def test_natural_spellings_are_told_what_they_mean(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ages.csv").write_text("age\n20\n30\n")
    outcome = run(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert meant in outcome.err


def test_two_numbers_of_no_pair_are_given_no_hint(run: Any) -> None:
    assert "did you mean" not in run("ogpm", "--eps", "1", "2").err


# -- what is missing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("mean", "salary.csv"),
        ("mean", "salary.csv", "--eps", "1"),
        ("apply", "salary.json"),
        ("estimate", "salary.json"),
        ("classifier", "salary.onnx"),
        ("budget", "--data", "salary.csv"),
        ("metric", "--points", "salary.csv"),
        ("trajectory", "perturb", "salary.csv"),
    ],
)
def test_a_file_that_is_missing_is_told_before_an_option_that_is(run: Any, words: tuple[str, ...]) -> None:
    outcome = run(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert re.search("file must exist and be readable: no such file or directory .got 'salary[.]", outcome.err)


def test_a_pattern_of_files_is_no_missing_file(run: Any, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("{}")
    outcome = run("apply", str(tmp_path / "t.json"), "--in", str(tmp_path / "day-*.csv"))
    assert "no such file" not in outcome.err
    assert "--out" in outcome.err
