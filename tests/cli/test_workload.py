"""The commands of workloads and information: bad input in words, limits with bounds, files and pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--queries", "prefix"), "size must be given"),
        (("--queries", "averages", "--size", "4"), "be one of histogram, prefix"),
        (("--queries", "prefix", "--size", "1"), "size must"),
        (("--queries", "prefix", "--size", "4", "--prior", "0.5,0.5,0,0"), "at a type without weight"),
        (("--queries", "prefix", "--size", "4", "--prior", "0.5,0.5"), "one weight for each of the 4 inputs"),
        (("--queries", "prefix", "--size", "4", "--weights", "1,2"), "4 numbers above 0"),
        (
            ("--queries", "prefix", "--size", "4", "--criterion", "worst", "--prior", "1,0,0,0"),
            "left out for the worst",
        ),
        (("--queries", "prefix", "--size", "4", "--column", "x"), "come with --prior-data"),
        (("--queries", "mean", "--values", "1,1"), "differ"),
        (("--queries", "prefix", "--values", "1,2"), "come with --queries mean"),
        (
            (
                "--queries",
                "missing.csv",
            ),
            "missing.csv",
        ),
        (("--queries", "prefix", "--size", "4", "--users", "0"), "users must"),
    ],
)
def test_what_is_wrong_is_said_with_exit_code_2(run: Any, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("workload", "--eps", "1", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(("eps", "code"), [("0", 2), ("20", 2), ("nan", 2)])
def test_epsilons_out_of_range_are_refused(run: Any, eps: str, code: int) -> None:
    assert run("workload", "--eps", eps, "--queries", "prefix", "--size", "4").code == code
    assert run("information", "--eps", eps).code == code


def test_files_of_queries_with_zeros_or_of_another_shape_are_refused(run: Any, tmp_path: Path) -> None:
    (tmp_path / "zeros.csv").write_text("1,0\n0,0\n")
    outcome = run("workload", "--eps", "1", "--queries", str(tmp_path / "zeros.csv"))
    assert outcome.code == 2
    assert "ask something" in outcome.err
    (tmp_path / "odd.csv").write_text("1,0\n1\n")
    assert run("workload", "--eps", "1", "--queries", str(tmp_path / "odd.csv")).code == 2


def test_a_limit_gives_the_interval_and_exit_code_3(run: Any) -> None:
    asked = ("workload", "--eps", "1", "--queries", "prefix", "--size", "30", "--gap", "1e-7", "--time-limit", "1")
    outcome = run(*asked, "--no-compare")
    assert (outcome.code, outcome.out) == (3, "")
    assert re.search(r"the optimum lies in \[.*, .*\]", outcome.err)
    best = run(*asked, "--no-compare", "--best-so-far")
    assert best.code == 0
    assert "best design so far" in best.out


def test_where_time_is_not_what_is_missing_it_is_not_said_to_be(run: Any) -> None:
    outcome = run("workload", "--eps", "0.5", "--queries", "marginals:4x4x4,1", "--no-compare")
    assert (outcome.code, outcome.out) == (3, "")
    assert "counts of pairs of types prove no more" in outcome.err
    assert "more time does not change that" in outcome.err
    assert "ask with --gap 0.08" in outcome.err


def test_a_channel_of_ones_own_is_ranked_and_a_picture_drawn(run: Any, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("0.5,0.25,0.25\n0.25,0.5,0.25\n0.25,0.25,0.5\n")
    picture = tmp_path / "rows.png"
    arguments = ("--queries", "prefix", "--size", "3", "--rival", str(tmp_path / "own.csv"), "--plot", str(picture))
    outcome = run("workload", "--eps", "1", *arguments)
    assert outcome.code == 0, outcome.err
    assert "own.csv" in outcome.out
    assert picture.stat().st_size > 1000


def test_a_prior_is_read_from_data(run: Any, tmp_path: Path) -> None:
    (tmp_path / "types.csv").write_text("t\n" + "0\n1\n2\n2\n" * 5)
    data = ("--prior-data", str(tmp_path / "types.csv"), "--column", "t")
    told = run("workload", "--eps", "1", "--queries", "prefix", "--size", "3", *data, "--no-compare")
    said = run(
        "workload", "--eps", "1", "--queries", "prefix", "--size", "3", "--prior", "0.25,0.25,0.5", "--no-compare"
    )
    assert told.code == 0, told.err
    assert told.out == said.out


def test_a_model_in_a_file_with_infinite_information_is_refused(run: Any, tmp_path: Path) -> None:
    (tmp_path / "model.csv").write_text("0.5,-1\n0.5,0.5\n0,0.5\n")
    outcome = run("information", "--eps", "1", "--model", str(tmp_path / "model.csv"))
    assert outcome.code == 2
    assert "infinite" in outcome.err
    (tmp_path / "model.csv").write_text("0.5,-1\n0.5,1\n")
    assert run("information", "--eps", "1", "--model", str(tmp_path / "model.csv")).code == 0


def test_a_table_for_a_workload_stands_beside_protocols_in_the_bench(run: Any, tmp_path: Path) -> None:
    """Its mean error over 400 runs is the noise that was promised."""
    design, table, data = (str(tmp_path / name) for name in ("design.json", "table.json", "data.csv"))
    made = run("workload", "--eps", "1", "--queries", "prefix", "--size", "8", "--out", design, "--quiet", "--json")
    noise = made.json["certificate"]["upper"]
    assert run("table", design, "--out", table).code == 0
    users = 8000
    Path(data).write_text("bin\n" + "".join(f"{k % 8}\n" for k in range(users)))
    asked = ("bench", "-e", "1", "-d", data, "--column", "bin", "--domain", "0..7", "-m", "raw", "-r", "400", "--json")
    cells = run(*asked, "-p", f"{table},grr,ss,oue", "-u", "prefix").json["cells"]
    errors = {cell["protocol"]: cell for cell in cells}
    own = errors.pop(table)
    assert len(errors) == 3
    assert all(other["low"] > own["high"] for other in errors.values())
    # shares are known exactly in these data, so that noise is all there is to the error: 4 standard errors, 1 in 16000
    spread = (own["high"] - own["low"]) / 2 / 1.96
    assert abs(own["mean"] - noise / users) < 4 * spread


def test_weights_of_queries_stand_in_every_line_of_a_number(run: Any, tmp_path: Path) -> None:
    """Of these the second query alone has more noise than the certified sum."""
    path = tmp_path / "w.json"
    arguments = ("--queries", "prefix", "--size", "3", "--eps", "1", "--weights", "1,0.001,0.5")
    printed = run("workload", *arguments, "--out", str(path)).out
    words = "the sum of the queries with weights 1, 0.001, 0.5, on average"
    assert printed.count(words) == 2
    assert "all queries" not in printed.lower()
    assert "The sum of the queries with weights 1, 0.001, 0.5\n" in printed
    assert words in run("show", str(path)).out


def test_the_sign_of_an_odd_number_of_cells_is_said_to_be_beyond_them(run: Any, tmp_path: Path) -> None:
    printed = run("information", "--eps", "1", "--cells", "3").out
    assert "the noisy sign of the observation has 0.135952, 4.67" in printed
    assert "times that optimum: the cell alone does not tell it" in printed
    answer = run("information", "--eps", "1", "--cells", "3", "--json").json
    assert (answer["sign_in_class"], answer.get("sign_below")) == (False, None)
    rows = tmp_path / "model.csv"
    rows.write_text("0.5,0.2\n0.25,0.3\n0.25,-0.5\n")
    assert "the noisy sign of the slope of the cell has" in run("information", "--eps", "1", "--model", str(rows)).out
