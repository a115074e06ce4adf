"""`plot`: a picture of every file the package writes, and refusals."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from mechdesign.cli import pictures
from mechdesign.cli.pictures import picture
from mechdesign.errors import FileProblem
from mechdesign.studies.frequencies import bench

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from mechdesign.cli import main

    path = tmp_path_factory.mktemp("plot")
    (path / "loss.csv").write_text("0,1,2\n1,0,1\n2,1,0\n")
    (path / "labels.csv").write_text("\n".join("abcd"[k * k % 4] for k in range(400)))
    for line in (
        f"ogpm --eps 2 --out {path}/piecewise.json",
        f"ogpm --eps 2 --circular --out {path}/circular.json",
        f"ogpm --eps 6 --polar --out {path}/polar.json",
        f"minimax --eps 2 --gap 1e-2 --out {path}/window.json",
        f"minimax --eps 1 --unbiased --prior uniform --size 9 --gap 1e-2 --out {path}/unbiased.json",
        f"minimax --eps 1 --loss-matrix {path}/loss.csv --out {path}/finite.json",
        f"aaa --eps 1 --prior normal:0,0.2 --bins 4 --out {path}/additive.json",
        f"jrr --eps 1 --users 100 --out {path}/joint.json",
        f"table {path}/piecewise.json --out {path}/pieces-table.json",
        f"table {path}/window.json --out {path}/window-table.json",
        f"table {path}/unbiased.json --out {path}/unbiased-table.json",
        f"table --eps 1 --mechanism grr --labels no,maybe,yes --out {path}/grr-table.json",
        f"table --eps 1 --mechanism laplace --out {path}/laplace-table.json",
        f"bench -e 1,2 -p oue,grr -m norm-sub,raw -r 2 -d {path}/labels.csv --results {path}/results.json",
    ):
        with pytest.raises(SystemExit) as stop:
            main([*line.split(), "--quiet"])
        assert not stop.value.code
    return path


FILES = (
    *("piecewise", "circular", "polar", "window", "unbiased", "finite", "additive", "joint"),
    *("pieces-table", "window-table", "unbiased-table", "grr-table", "laplace-table", "results"),
)


@pytest.mark.parametrize("name", FILES)
def test_every_file_has_a_picture(run: Any, folder: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "picture.png"
    outcome = run("plot", str(folder / f"{name}.json"), "--out", str(path))
    assert outcome.code == 0
    assert outcome.out == f"saved {path}\n"
    assert path.read_bytes().startswith(PNG)


def test_of_a_design_it_is_what_show_draws(folder: Path, run: Any, tmp_path: Path) -> None:
    one, other = tmp_path / "one.png", tmp_path / "other.png"
    design = str(folder / "window.json")
    assert run("plot", design, "--out", str(one)).code == run("show", design, "--plot", str(other)).code == 0
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("name", "worst"), [("piecewise", 0.268941), ("circular", 0.844904), ("window", 0.2), ("unbiased", None)]
)
def test_errors_are_those_of_the_loss_that_was_asked_about(folder: Path, name: str, worst: float | None) -> None:
    (axes,) = picture(folder / f"{name}.json", "error").axes
    (line,) = axes.get_lines()
    if worst is not None:
        assert max(line.get_ydata()) == pytest.approx(worst, rel=5e-3)
    asked = json.loads((folder / f"{name}.json").read_text())["problem"]["loss"]
    exponent = asked["exponent"] if isinstance(asked, dict) else 2.0  # what is unbiased is said to have a variance
    assert {1.0: "absolute", 2.0: "squared"}[exponent] in axes.get_ylabel()


def test_a_table_s_rows_are_drawn_as_probabilities(folder: Path) -> None:
    law, profile, _ = picture(folder / "pieces-table.json", "law").axes
    assert "pieces" in law.figure.get_suptitle()
    for row in profile.patches:
        values, edges = row.get_data().values, row.get_data().edges
        assert values.sum() == pytest.approx(1.0, abs=1e-9)
        assert (edges[0], edges[-1]) == (0.0, 1.0)


def test_listed_outputs_keep_their_mass_when_they_are_gathered(folder: Path) -> None:
    _, profile, _ = picture(folder / "window-table.json", "law").axes
    assert all(row.get_data().values.sum() == pytest.approx(1.0, abs=1e-9) for row in profile.patches)


def test_labels_of_a_table_stand_at_its_rows(folder: Path) -> None:
    axes = picture(folder / "grr-table.json", "law").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["no", "maybe", "yes"]


def test_results_are_ordered_as_the_catalogue_is(folder: Path) -> None:
    axes = picture(folder / "results.json", "heat").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["grr", "oue"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["raw", "norm-sub"]
    kept = bench.read_results(folder / "results.json")
    assert (kept.items, kept.users, kept.metrics, len(kept.rows)) == (2, 400, ("l1",), 16)


@pytest.mark.parametrize("broken", [{"origin": None}, {"origin": {"items": "2"}}, {"rows": [["grr"]]}])
def test_results_that_were_edited_are_refused(folder: Path, tmp_path: Path, broken: dict[str, Any]) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(json.loads((folder / "results.json").read_text()) | broken))
    with pytest.raises(FileProblem, match="edited by hand"):
        bench.read_results(path)


def test_results_without_a_finished_cell_have_no_picture(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(json.loads((folder / "results.json").read_text()) | {"rows": []}))
    with pytest.raises(FileProblem, match="at least one finished cell"):
        picture(path, pictures.LAW)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("piecewise", ("--kind", "nice"), "law or error"),
        ("polar", ("--kind", "error"), "be law"),
        ("finite", ("--kind", "error"), "be law"),
        ("pieces-table", ("--kind", "error"), "no saved design"),
        ("joint", ("--kind", "error"), "be law"),
        ("none", (), "readable"),
    ],
)
def test_bad_input_exits_with_2(
    run: Any, folder: Path, tmp_path: Path, name: str, options: tuple[str, ...], words: str
) -> None:
    path = tmp_path / "picture.png"
    outcome = run("plot", str(folder / f"{name}.json"), "--out", str(path), *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert not path.exists()


def test_other_files_and_formats_are_refused(run: Any, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert "saved design, a table" in run("plot", str(other), "--out", str(tmp_path / "p.png")).err
    assert ".png" in run("plot", str(folder / "window.json"), "--out", str(tmp_path / "p.txt")).err
    assert run("plot", str(folder / "window.json"), "--out", str(folder / "window.json"), "--force").code == 2


def test_results_over_several_eps_are_lines_and_of_one_a_heat_map(folder: Path) -> None:
    lines = picture(folder / "results.json", "law").axes[0]
    labels = [line.get_label() for line in lines.lines]
    assert [label.partition(",")[0] for label in labels] == ["grr", "oue"]
    assert lines.get_xlabel() == "privacy parameter ε"
    assert picture(folder / "results.json", "heat").axes[0].images


@pytest.mark.parametrize(("name", "kind"), [("piecewise", "lines"), ("grr-table", "heat"), ("results", "error")])
def test_kinds_are_refused_where_there_is_no_such_picture(
    run: Any, folder: Path, tmp_path: Path, name: str, kind: str
) -> None:
    outcome = run("plot", str(folder / f"{name}.json"), "--kind", kind, "--out", str(tmp_path / "p.png"))
    assert (outcome.code, outcome.out) == (2, "")
    assert "kind must be" in outcome.err


def commands_with_pictures() -> list[str]:
    from mechdesign.cli.app import groups, run_of
    from mechdesign.cli.overview import NAMES

    names = {name: inspect.signature(run_of(name)).parameters for name in NAMES if name not in groups()}
    return sorted(name for name, given in names.items() if "plot" in given or name == "plot")


def test_every_command_that_draws_takes_a_title_and_a_size(run: Any) -> None:
    names = commands_with_pictures()
    assert set(names) >= {
        "aaa",
        "bench",
        "budget",
        "capacity",
        "compare",
        "jrr",
        "mean",
        "minimax",
        "ogpm",
        "plot",
        "show",
    }
    for name in names:
        shown = run(name, "--help").out
        assert "--title" in shown, name
        assert "--plot-size" in shown, name


def test_size_is_how_many_values_there_are_and_never_that_of_a_picture() -> None:
    from mechdesign.cli.app import groups, run_of
    from mechdesign.cli.overview import NAMES

    options = {name: options_of(run_of(name)) for name in NAMES if name not in groups()}
    assert {name for name, held in options.items() if "--size" in held} == {
        *("advise", "minimax", "protocols", "table", "workload")
    }
    for name, held in options.items():
        assert held.get("--size", "size") == "size", name
        assert held.get("--plot-size", "plot_size") == "plot_size", name


def options_of(run: Any) -> dict[str, str]:
    """The parameter behind every option of a command."""
    found = {}
    for name, parameter in inspect.signature(run).parameters.items():
        for mark in getattr(parameter.annotation, "__metadata__", ()):
            for spelling in (mark.default, *(mark.param_decls or ())):
                found[str(spelling)] = name
    return found


def test_a_title_and_a_size_reach_the_picture(run: Any, folder: Path, tmp_path: Path) -> None:
    from PIL import Image

    path, other = tmp_path / "p.svg", tmp_path / "p.png"
    file = str(folder / "piecewise.json")
    assert run("plot", file, "--out", str(path), "--title", "Reports of one day", "--plot-size", "6,4").code == 0
    assert "Reports of one day" in path.read_text()
    assert run("plot", file, "--out", str(other), "--plot-size", "6,4").code == 0
    with Image.open(other) as drawn:
        assert drawn.size == (900, 600)
    again = run("plot", file, "--out", str(other), "--force")  # the next command knows nothing of it
    assert again.code == 0
    with Image.open(other) as drawn:
        assert drawn.size != (900, 600)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--title", "x"), "title must come with a picture"),
        (("--plot-size", "6,4"), "plot-size must come with a picture"),
        (("--plot", "p.png", "--plot-size", "6"), "two numbers W,H"),
        (("--plot", "p.png", "--plot-size", "6,1000"), "from 1 to 60 inches"),
        (("--plot", "p.png", "--title", "a\x1b[31m"), "without control characters"),
    ],
)
def test_looks_that_cannot_be_are_refused_before_any_work(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("ogpm", "--eps", "1", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert "\x1b" not in outcome.err
    assert not list(tmp_path.iterdir())
