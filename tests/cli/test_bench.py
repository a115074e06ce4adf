"""`bench`: LDP3's options, the ranked table, the files, and every refusal."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign import Finite, catalogue, tables as deploy
from mechdesign.studies.bench import line_figure
from mechdesign.studies.frequencies import bench, metrics, protocols


@pytest.fixture
def data(tmp_path: Path) -> str:
    path = tmp_path / "data.csv"
    path.write_text("\n".join(str(v) for v, count in enumerate([600, 250, 100, 50]) for _ in range(count)))
    return str(path)


def test_the_options_of_ldp3_rank_every_combination(run: Any, data: str) -> None:
    document = run(
        "bench", "-e", "1", "-p", "all", "-m", "all", "-r", "2", "-t", "1", "-d", data, "-u", "l1", "--json"
    ).json
    assert document["problem"] == {"users": 1000, "items": 4, "runs": 2, "seed": 0, "confidence": 0.95}
    ranked = document["ranking"]["l1"]
    assert {row["protocol"] for row in ranked} == set(bench.ONE_TIME)
    assert {row["method"] for row in ranked} == set(bench.METHODS)
    assert [row["mean"] for row in ranked] == sorted(row["mean"] for row in ranked)
    assert all(row["interval"] is None for row in ranked)  # two runs are too few for one


def test_ldp3_s_long_names_and_spellings_mean_the_same(run: Any, data: str) -> None:
    short = run("bench", "-e", "1", "-p", "sue,ss", "-m", "norm-sub", "-r", "2", "-d", data, "-u", "kl", "--json").json
    long = run(
        "bench", "--epsilon", "1", "--protocol", "rappor,subset", "--method", "norm_sub", "--repeat", "2",
        "--dataset", data, "--utility_metric", "kl", "--thread_number", "1", "--json",
    ).json  # fmt: skip
    assert short == long


@pytest.mark.parametrize(
    ("line", "protocols_named", "methods_named", "runs"),
    [
        ("-e 1.0 -p RAPPOR -m Norm-Sub -r 10 -t 1 -d DATA -u l1", ["sue"], ["norm-sub"], 10),  # its README's
        ("-e 1 -p grr olh -m norm norm_sub -r 2 -t 1 -d DATA -u kl", ["grr", "olh"], ["norm", "norm-sub"], 2),
        ("-p grr, blh,olh -m base_pos -e 1 -d DATA -r 2 -u l2", ["grr", "blh", "olh"], ["base-pos"], 2),
        ("--protocol rappor oue subset --method norm_cut norm_mul power power_ns --epsilon 1 --repeat 2 --dataset DATA"
         " --thread_number 1 --utility_metric l1", ["sue", "oue", "ss"],
         ["norm-cut", "norm-mul", "power", "power-ns"], 2),
        ("-e 1 -p all -m all -r 2 -t 1 -d DATA -u l1", list(bench.ONE_TIME), list(bench.METHODS), 2),
        ("-e 1 -p all grr -m norm all -r 2 -t 1 -d DATA -u l1", list(bench.ONE_TIME), list(bench.METHODS), 2),
        ("-e 1 -p=grr oue -m norm -r 2 -d DATA", ["grr", "oue"], ["norm"], 2),
    ],
    ids=str,
)  # fmt: skip
def test_command_lines_of_ldp3_run_as_they_are(
    run: Any, data: str, line: str, protocols_named: list[str], methods_named: list[str], runs: int
) -> None:
    line = line.replace("-p=grr", "--protocol=grr")
    document = run("bench", *(data if part == "DATA" else part for part in line.split()), "--json").json
    (ranked,) = document["ranking"].values()
    assert {row["protocol"] for row in ranked} == set(protocols_named)
    assert {row["method"] for row in ranked} == set(methods_named)
    assert document["problem"]["runs"] == runs


def test_a_word_after_an_option_without_a_list_is_still_refused(run: Any, data: str) -> None:
    outcome = run("bench", "-e", "1", "-d", data, "stray", "-p", "grr")
    assert outcome.code == 2
    assert "stray" in outcome.err


def test_lists_by_blanks_and_by_commas_are_the_same(run: Any, data: str) -> None:
    by_blanks = ("bench", "-e", "1", "2", "-p", "grr", "oue", "-m", "raw", "norm", "-u", "l1", "mae", "-r", "2")
    by_commas = ("bench", "-e", "1,2", "-p", "grr,oue", "-m", "raw,norm", "-u", "l1,mae", "-r", "2")
    assert run(*by_blanks, "-d", data, "--json").json == run(*by_commas, "-d", data, "--json").json


def test_ldp3_s_l1_and_kl_are_here_by_other_names(run: Any, data: str) -> None:
    options = ("bench", "-e", "1", "-p", "grr", "-m", "norm-sub", "-r", "3", "-d", data, "--json")
    found = run(*options, "-u", "l1", "mae", "kl", "kl-reversed").json
    means = {name: rows[0]["mean"] for name, rows in found["ranking"].items()}
    assert means["mae"] == pytest.approx(means["l1"] / 4)
    assert found["metrics"]["l1"] == "sum of absolute errors"
    assert "truth and estimate exchanged" in found["metrics"]["kl-reversed"]
    assert means["kl"] != means["kl-reversed"]
    help_text = " ".join(run("bench", "--help").out.split())
    assert "is mae (l1 is the sum)" in help_text
    assert "is kl-reversed (kl is as its page has it)" in help_text


def test_a_million_million_runs_are_refused_before_any_is_listed(run: Any, data: str) -> None:
    outcome = run("bench", "-e", "1", "-d", data, "-r", "1000000000000")
    assert (outcome.code, outcome.out) == (2, "")
    most = 2_000_000 // (len(bench.ONE_TIME) * len(bench.METHODS))
    assert f"runs must make at most 2000000 results: {most} runs of these protocols, methods and eps" in outcome.err


def test_the_table_shows_ranks_and_intervals(run: Any, data: str) -> None:
    out = run("bench", "-e", "1,2", "-p", "grr,oue", "-m", "raw,norm-sub", "-r", "3", "-d", data).out
    assert out.count("sum of absolute errors") == 2
    assert out.count("95% interval") == 2
    first = next(line.split() for line in out.splitlines() if line.startswith("1 "))
    assert first[1] in ("grr", "oue")
    assert float(first[3]) > 0


def test_a_long_table_says_what_it_leaves_out(run: Any, data: str) -> None:
    out = run("bench", "-e", "1", "-r", "1", "-d", data).out
    assert "more; --out saves all cells" in out
    assert "from 5 runs on" in out


def test_several_metrics_have_a_ranking_each(run: Any, data: str) -> None:
    document = run(
        "bench", "-e", "1", "-p", "grr", "-m", "raw,power", "-r", "2", "-d", data, "-u", "mse,kendall", "--json"
    ).json
    assert list(document["ranking"]) == ["mse", "kendall"]
    assert document["metrics"] == {"mse": "mean squared error", "kendall": "Kendall's tau-b"}


def test_cells_are_saved_as_csv_json_and_parquet_alike(run: Any, data: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="an optional dependency")
    options = ("bench", "-e", "1", "-p", "grr,oue", "-m", "raw", "-r", "2", "-d", data, "-u", "mae")
    for suffix in ("csv", "json", "parquet"):
        assert run(*options, "--out", str(tmp_path / f"cells.{suffix}")).code == 0
    cells = json.loads((tmp_path / "cells.json").read_text())["cells"]
    assert len(cells) == 4
    with (tmp_path / "cells.csv").open() as stream:
        read = [
            row | {"epsilon": float(row["epsilon"]), "run": int(row["run"]), "mae": float(row["mae"])}
            for row in csv.DictReader(stream)
        ]
    assert read == cells
    assert parquet.read_table(tmp_path / "cells.parquet").to_pylist() == cells


def test_results_resume_and_do_not_change(run: Any, data: str, tmp_path: Path) -> None:
    options = (
        "bench",
        "-e",
        "1",
        "-p",
        "grr,oue",
        "-m",
        "raw",
        "-d",
        data,
        "--results",
        str(tmp_path / "r.json"),
        "--json",
    )
    short = run(*options, "-r", "2")
    kept = (tmp_path / "r.json").read_bytes()
    again = run(*options, "-r", "2")
    assert again.json == short.json
    assert f"4 cells taken as {tmp_path / 'r.json'} has them; 3 of them, at random, computed again" in again.err
    assert "taken" not in short.err
    assert (tmp_path / "r.json").read_bytes() == kept
    assert run(*options, "-r", "3").json["problem"]["runs"] == 3


def test_the_heat_map_is_drawn(run: Any, data: str, tmp_path: Path) -> None:
    path = tmp_path / "map.png"
    outcome = run(
        "bench", "-e", "0.5:2:6", "-p", "grr,she", "-m", "raw,ibu", "-r", "1", "-d", data, "--plot", str(path)
    )
    assert outcome.code == 0
    assert path.stat().st_size > 20_000


def test_items_nobody_holds_come_with_the_domain(run: Any, data: str) -> None:
    options = ("bench", "-e", "1", "-p", "grr", "-m", "raw", "-r", "1", "-d", data, "--json")
    assert run(*options).json["problem"]["items"] == 4
    assert run(*options, "--domain", "0..9").json["problem"]["items"] == 10


def test_gaps_in_observed_numbers_are_pointed_out(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("1\n2\n9\n")
    options = ("bench", "-e", "1", "-p", "grr", "-m", "raw", "-r", "1", "-d", str(path), "--json")
    assert "6 whole numbers" in run(*options).err
    assert run(*options, "--domain", "1..9").err == ""


def test_a_table_file_is_a_protocol(run: Any, data: str, tmp_path: Path) -> None:
    path = tmp_path / "Mine.json"
    deploy.make_table(catalogue.randomised_response(2.0, Finite(range(4)))).save(path)
    document = run("bench", "-e", "1", "-p", f"grr,{path}", "-m", "raw,ml", "-r", "2", "-d", data, "--json").json
    found = {(row["protocol"], row["eps"]) for row in document["ranking"]["l1"]}
    assert found == {("grr", 1.0), (str(path), 2.0)}


@pytest.mark.slow
def test_two_workers_and_a_local_dask_cluster_give_the_same(run: Any, data: str) -> None:
    pytest.importorskip("distributed", reason="an optional dependency")
    options = ("bench", "-e", "1", "-p", "grr,oue", "-m", "raw", "-r", "2", "-d", data, "--json", "--quiet")
    alone = run(*options).json
    assert run(*options, "-t", "2").json == alone
    assert run(*options, "--engine", "dask").json == alone


def test_what_does_not_exist_is_marked_and_the_rest_goes_on(run: Any, data: str, tmp_path: Path) -> None:
    options = ("bench", "-e", "1,40", "-p", "l-soue,she", "-m", "raw,ibu", "-r", "1", "-d", data)
    said = run(*options, "--json").json
    assert {(row["protocol"], row["method"], row["eps"]) for row in said["ranking"]["l1"]} == {
        ("l-soue", "raw", 1.0), ("l-soue", "ibu", 1.0), ("she", "raw", 1.0), ("she", "raw", 40.0)
    }  # fmt: skip
    gone = {(row["protocol"], tuple(row["eps"]), tuple(row["methods"])) for row in said["left_out"]}
    assert gone == {("she", (1.0, 40.0), ("ibu",)), ("l-soue", (40.0,), ())}
    outcome = run(*options, "--plot", str(tmp_path / "map.png"))
    assert outcome.code == 0
    assert "l-soue at eps = 40: impossible (eps must be at most 32.6931" in outcome.out
    assert "she at eps = 1, 40: no ibu" in outcome.out


def test_the_limit_is_an_option(run: Any, data: str) -> None:
    options = ("bench", "-e", "1", "-p", "l-oue", "-m", "raw", "-r", "2", "-d", data, "--json")
    assert run(*options).json == run(*options, "--limit", "2").json
    assert run(*options).json["ranking"] != run(*options, "--limit", "5").json["ranking"]


def test_inputs_are_never_overwritten(run: Any, data: str, tmp_path: Path) -> None:
    design = tmp_path / "Mine.json"
    deploy.make_table(catalogue.randomised_response(2.0, Finite(range(4)))).save(design)
    json_data = tmp_path / "data.json"
    json_data.write_text('{"a": 3, "b": 4, "c": 1, "d": 1}')
    for source, option, path in (
        (data, "--out", data), (str(json_data), "--out", str(json_data)), (str(json_data), "--results", str(json_data)),
        (data, "--out", str(design)), (data, "--results", str(design)),
    ):  # fmt: skip
        before = Path(path).read_bytes()
        outcome = run("bench", "-e", "1", "-p", f"grr,{design}", "-r", "1", "-d", source, option, path, "--force")
        assert outcome.code == 2
        assert "never overwritten" in outcome.err
        assert Path(path).read_bytes() == before


def test_a_scheduler_is_asked_for_before_the_data_are_read(run: Any, data: str) -> None:
    pytest.importorskip("distributed", reason="an optional dependency")
    Path(data).write_text("")  # which would be refused
    outcome = run("bench", "-e", "1", "-d", data, "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert outcome.code == 2
    assert "scheduler must be the address" in outcome.err


def test_help_names_every_method_and_metric(run: Any) -> None:
    out = " ".join(run("bench", "--help").out.split())
    assert all(name in out for name in (*bench.METHODS, *metrics.METRICS))
    assert len(protocols.PROTOCOLS) == len(bench.ONE_TIME) + len(bench.LONGITUDINAL)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-e", "0"), "eps"),
        (("-e", "nan"), "eps"),
        (("-e", "100"), "eps"),
        (("-e", "1", "-p", "xyz"), "protocol"),
        (("-e", "1", "-p", ""), "protocol"),
        (("-e", "1", "-m", "norm-max"), "method must be one of raw"),
        (("-e", "1", "-u", "l7"), "metric must be one of l1"),
        (("-e", "1", "-r", "0"), "runs"),
        (("-e", "1", "-t", "0"), "workers"),
        (("-e", "1", "--seed", "-1"), "seed"),
        (("-e", "1", "--engine", "ray"), "local or dask"),
        (("-e", "1", "--scheduler", "tcp://x:1"), "--engine dask"),
        (("-e", "1", "--domain", "0,1,2"), "must hold an item of the domain"),
        (("-e", "1", "--domain", "0,0,1"), "once"),
        (("-e", "1", "--domain", "0,,1"), "empty"),
        (("-e", "1", "--domain", "7"), "two items"),
        (("-e", "1", "--column", "age"), "column"),
        (("-e", "1", "-p", "she", "-m", "ibu"), "no ibu of she"),
        (("-e", "1", "-p", "grr", "--limit", "0"), "limit"),
        (("-e", "1", "--engine", "dask", "--scheduler", "nowhere"), "scheduler must be an address"),
        (("-e", "1", "--out", "cells.txt"), ".parquet"),
        (("-e", "1", "--plot", "map.txt"), ".png"),
        (("-e", "1", "-d", "none.csv"), "readable"),
        (("-e", "1", "-p", "none.json"), "readable"),
    ],
    ids=str,
)
def test_bad_input_exits_with_2(run: Any, data: str, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("bench", *(() if "-d" in arguments else ("-d", data)), *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""


def test_a_scheduler_that_is_not_there_exits_with_2(run: Any, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="an optional dependency")
    monkeypatch.setattr("mechdesign.engine._ANSWER_SECONDS", 0.5)
    outcome = run(
        "bench", "-e", "1", "-p", "grr", "-r", "1", "-d", data, "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"
    )
    assert outcome.code == 2
    assert "scheduler must be the address of a Dask scheduler that answers" in outcome.err


def test_dask_that_is_not_installed_names_its_extra(run: Any, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    outcome = run("bench", "-e", "1", "-p", "grr", "-r", "1", "-d", data, "--engine", "dask")
    assert outcome.code == 1
    assert "mechdesign[data]" in outcome.err


def test_data_with_the_same_users_in_another_order_is_the_same_data(run: Any, data: str, tmp_path: Path) -> None:
    lines = Path(data).read_text().splitlines()
    shuffled = tmp_path / "shuffled.csv"
    shuffled.write_text("\n".join(np.random.default_rng(0).permutation(lines)))
    options = ("bench", "-e", "1", "-p", "oue", "-m", "raw", "-r", "2", "--json", "-d")
    assert run(*options, data).json == run(*options, str(shuffled)).json


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-e", "1,2", "--kind", "lines"), "come with --plot"),
        (("-e", "1", "--kind", "lines", "--plot", "p.png"), "come with several eps"),
        (("-e", "1,2", "--kind", "bars", "--plot", "p.png"), "lines, heat"),
    ],
)
def test_kinds_of_pictures_that_cannot_be_are_refused(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("a\nb\na\n")
    outcome = run("bench", "-d", "labels.txt", "-r", "1", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


def test_each_line_is_a_protocol_with_its_best_post_processing() -> None:
    means = {("oue", "raw"): (0.5, 0.3), ("oue", "norm-sub"): (0.4, 0.2), ("grr", "raw"): (0.9, 0.1)}
    ranks = [
        bench.Rank(protocol, method, epsilon, mean, None)
        for (protocol, method), line in means.items()
        for epsilon, mean in zip((1.0, 2.0), line, strict=True)
    ]
    order = (("grr", "oue"), ("raw", "norm-sub"))
    axes = line_figure(ranks, "l1", order, 10, 1000).axes[0]
    drawn = {line.get_label(): line.get_ydata().tolist() for line in axes.lines}
    assert drawn == {"grr, raw": [0.9, 0.1], "oue, norm-sub": [0.4, 0.2]}
    best = line_figure(ranks, "kendall", order, 10, 1000).axes[0]  # where more is better
    assert [line.get_label() for line in best.lines] == ["grr, raw", "oue, raw"]


@pytest.fixture
def colours(tmp_path: Path) -> Path:
    path = tmp_path / "colours.csv"
    path.write_text("colour\n" + "red\nblue\ngreen\ngreen\n" * 50)
    return path


def _with_queries(run: Any, colours: Path, text: str, *more: str) -> Any:
    (colours.parent / "Asked_of.csv").write_text(text)
    metric = str(colours.parent / "Asked_of.csv")
    data = ("-d", str(colours), "--column", "colour")
    return run("bench", "-e", "1", *data, "-p", "grr", "-m", "raw", "-r", "6", "-u", metric, *more)


def test_queries_from_a_file_are_a_metric(run: Any, colours: Path) -> None:
    """Of single items they are the squared errors of the shares: three times their mean, in the same runs."""
    single = _with_queries(run, colours, "1,0,0\n0,1,0\n0,0,1\n", "--json").json["cells"][0]
    mean = run(
        *("bench", "-e", "1", "-d", str(colours), "--column", "colour"),
        *("-p", "grr", "-m", "raw", "-r", "6", "-u", "mse", "--json"),
    ).json["cells"][0]
    assert single["mean"] == pytest.approx(3 * mean["mean"], rel=1e-9)


def test_columns_of_queries_are_found_by_the_names_of_items(run: Any, colours: Path) -> None:
    """In the order of the data they are blue, green, red."""
    by_place = _with_queries(run, colours, "2,0,1\n", "--json").json["cells"][0]
    by_name = _with_queries(run, colours, ",red,blue,green\nboth,1,2,0\n", "--json").json["cells"][0]
    assert by_name["mean"] == by_place["mean"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,0\n", "have 3, one for each item"),
        ("0,0,0\n1,0,0\n", "ask something"),
        ("1e200,0,0\n", "another unit"),
        (",red,blue,yellow\nq,1,0,0\n", "name the items of the data, all of them"),
    ],
)
def test_queries_that_do_not_fit_the_items_are_refused(run: Any, colours: Path, text: str, words: str) -> None:
    outcome = _with_queries(run, colours, text)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


def test_a_first_line_that_may_name_items_or_be_a_query_is_not_guessed_at(run: Any, tmp_path: Path) -> None:
    counts = tmp_path / "counts.csv"
    counts.write_text("colour\n" + "0\n1\n2\n2\n" * 50)
    either = _with_queries(run, counts, "2,1,0\n1,0,0\n")
    assert either.code == 2
    assert "show whether its first line names the items or is a query" in either.err
    named = _with_queries(run, counts, ",2,1,0\nfirst,0,1,2\n", "--json")
    query = _with_queries(run, counts, "mean,2,1,0\nfirst,1,0,0\n", "--json")
    assert (named.code, query.code) == (0, 0)
    assert named.json["cells"][0]["mean"] != query.json["cells"][0]["mean"]


def test_kept_results_of_other_queries_are_not_gone_on_with(run: Any, colours: Path) -> None:
    kept = str(colours.parent / "kept.json")
    assert _with_queries(run, colours, "1,0,0\n", "--results", kept).code == 0
    assert _with_queries(run, colours, "1,0,0\n", "--results", kept).code == 0
    outcome = _with_queries(run, colours, "0,1,0\n", "--results", kept)
    assert outcome.code == 2
    assert "its workloads differ" in outcome.err
    assert run("plot", kept, "--out", str(colours.parent / "kept.png")).code == 0


# -- what moved scripts of LDP3 have to know ---------------------------------------------------------------------------


def test_a_moved_script_is_told_that_its_l1_is_a_mean(run: Any, data: str) -> None:
    """Without -u nobody asked for LDP3's metric, and nothing is said."""
    options = ("bench", "-e", "1", "-p", "grr", "-m", "norm_sub", "-r", "2", "-d", data)
    note = "l1 is the sum over the 4 items; LDP3's l1 is their mean, 4 times less: -u mae"
    assert note in run(*options, "-u", "l1").out
    assert note in run(*options, "-u", "l1", "--json").json["notes"]
    assert "its code exchanges truth and estimate: -u kl-reversed" in run(*options, "-u", "kl").out
    assert run(*options, "--json").json["notes"] == []


def test_columns_of_ldp3_are_in_the_table_and_the_json(run: Any, data: str) -> None:
    options = ("bench", "-e", "1", "-p", "grr", "-m", "raw", "norm_sub", "norm_cut", "-r", "3", "-d", data)
    out = run(*options).out
    assert "win rate" in out
    assert "protocol" in out
    assert out.splitlines()[-3].split() == ["protocol", "without", "average", "with", "best"]
    found = run(*options, "--json").json
    ranks = {row["method"]: row for row in found["ranking"]["l1"]}
    (effect,) = found["effects"]["l1"]
    assert effect["without"] == ranks["raw"]["mean"]
    assert effect["average_with"] == pytest.approx((ranks["norm-sub"]["mean"] + ranks["norm-cut"]["mean"]) / 2)
    assert ranks["norm-sub"]["win_rate"] + ranks["norm-cut"]["win_rate"] == pytest.approx(1)
    assert ranks["raw"]["win_rate"] is None


def test_the_column_without_needs_raw_and_says_so(run: Any, data: str) -> None:
    options = ("bench", "-e", "1", "-p", "grr", "-m", "norm_sub", "norm_cut_ldp3", "-r", "2", "-d", data)
    assert "the column without is empty: add raw to --methods" in run(*options).out
    assert run(*options, "--json").json["effects"]["l1"][0]["without"] is None


def test_the_gain_over_the_inverted_estimate_is_a_column(run: Any, data: str) -> None:
    options = (
        "bench",
        "-e",
        "1",
        "-p",
        "oue",
        "-m",
        "norm-mul",
        "ibu-10000",
        "-r",
        "3",
        "-d",
        data,
        "-u",
        "mse",
        "mae",
    )
    assert run(*options).out.count("gain over norm-mul") == 2
    found = run(*options, "--json").json["ranking"]
    for rows in found.values():
        mean = {row["method"]: row["mean"] for row in rows}
        gain = {row["method"]: row["gain"] for row in rows}
        assert gain["ibu-10000"] == pytest.approx(max(100 * (1 - mean["ibu-10000"] / mean["norm-mul"]), 0))
        assert gain["norm-mul"] is None


# -- data from numbers, and from laws ----------------------------------------------------------------------------------


def test_numbers_are_put_in_bins(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    path.write_text("pay\n" + "\n".join(map(str, [0, 10, 20, 30, 40.5] * 20)))
    options = ("bench", "-e", "1", "-p", "grr", "-m", "raw", "-r", "1", "-d", str(path), "--column", "pay", "--json")
    assert run(*options, "--bins", "4").json["problem"]["items"] == 4
    wide = run(*options, "--bins", "10", "--domain", "0,100").json["problem"]
    assert (wide["items"], wide["users"]) == (10, 100)
    outcome = run(*options, "--bins", "10", "--domain", "0,40")
    assert outcome.code == 2
    assert "must lie in [0, 40]" in outcome.err
    assert "40.5" not in outcome.err


def test_a_law_stands_in_for_data(run: Any) -> None:
    options = ("bench", "-e", "1", "--law", "poisson", "--users", "300", "--bins", "6", "-p", "grr", "-m", "raw")
    found = run(*options, "-r", "2", "--json").json
    assert (found["problem"]["users"], found["problem"]["items"]) == (300, 6)
    assert run(*options, "-r", "2", "--json").json == found
    assert run(*options, "-r", "2", "--seed", "1", "--json").json["ranking"] != found["ranking"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "one of --dataset, --law, and one only"),
        (("-d", "DATA", "--law", "poisson", "--users", "9", "--bins", "3"), "one of --dataset, --law, and one only"),
        (("-d", "DATA", "--users", "9"), "users must come with --law"),
        (("--law", "poisson", "--bins", "3"), "users must be given with --law"),
        (("--law", "poisson", "--users", "9"), "bins must be given with --law"),
        (("--law", "cauchy", "--users", "9", "--bins", "3"), "law must be one of gaussian"),
        (
            ("--law", "poisson", "--users", "9", "--bins", "3", "--domain", "0,9"),
            "--law (got '--domain')",
        ),
        (("--law", "poisson", "--users", "9", "--bins", "3", "--column", "x"), "--law (got '--column')"),
        (("-d", "DATA", "--bins", "3", "--domain", "a,b"), "be two numbers LO,HI"),
        (("-d", "DATA", "--bins", "1"), "bins must be"),
    ],
    ids=str,
)
def test_sources_that_contradict_each_other_are_refused(
    run: Any, data: str, options: tuple[str, ...], words: str
) -> None:
    outcome = run("bench", "-e", "1", "-p", "grr", *(data if option == "DATA" else option for option in options))
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
