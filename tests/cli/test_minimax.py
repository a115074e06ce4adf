"""`minimax`: the JSON interface, the reference numbers, files, pictures, and every kind of bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from mechdesign import Absolute, Interval, Power, catalogue, load_design
from mechdesign.field import field_of

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("arguments", "low", "high"),
    [
        (("--eps", "1"), 0.31616897, 0.31616898),
        (("--eps", "2", "--gap", "1e-3"), 0.20082004, 0.20082049),
        (("--eps", "1", "--loss", "squared"), 0.19661193, 0.19661194),
        (("--eps", "2", "--loss", "squared"), 0.10688294, 0.10688314),
    ],
)
def test_the_reference_lies_between_the_bounds(run: Any, arguments: tuple[str, ...], low: float, high: float) -> None:
    certificate = run("minimax", *arguments, "--json").json["certificate"]
    assert certificate["lower"] <= high
    assert certificate["upper"] >= low
    assert certificate["upper"] - certificate["lower"] <= 1e-3 * certificate["upper"]
    assert (certificate["valid_for"], certificate["claimed"]) == ("all mechanisms", False)


def test_json_has_the_keys_of_the_interface(run: Any) -> None:
    outcome = run("minimax", "--eps", "1", "--loss", "squared", "--json")
    document = outcome.json
    assert outcome.err == ""
    assert {"problem", "mechanism", "certificate", "report", "comparison", "least_favourable"} <= document.keys()
    assert len(document["mechanism"]["outputs"]) == len(document["mechanism"]["base"])
    assert {"lower", "upper", "valid_for", "claimed", "privacy_loss"} <= document["certificate"].keys()
    assert {"seconds", "solver", "versions"} <= document["report"].keys()
    assert math.fsum(document["least_favourable"]["weights"]) == pytest.approx(1.0)
    assert all({"name", "worst", "average", "above_optimum"} <= row.keys() for row in document["comparison"])


def test_no_published_mechanism_is_below_the_optimum(run: Any) -> None:
    document = run("minimax", "--eps", "1", "--domain", "-2,3", "--json").json
    rows = document["comparison"]
    assert rows[0]["name"] == "this design"
    assert {row["name"] for row in rows} == {"this design"} | {entry.key for entry in catalogue.ON_INTERVALS}
    for row in rows[1:]:
        mechanism = catalogue.build(row["name"], 1.0, Interval(-2, 3), Absolute())
        worst = mechanism.worst_case(Absolute())[0]
        assert row["worst"] == pytest.approx(worst)
        assert row["above_optimum"] == pytest.approx(100 * (worst / document["certificate"]["upper"] - 1))
        assert row["worst"] >= document["certificate"]["lower"]


def test_people_read_the_certificate_the_mechanism_and_the_field(run: Any) -> None:
    out = run("minimax", "--eps", "1", "--loss", "squared").out
    assert "optimum over all mechanisms: [0.196611" in out
    assert "proven in rational arithmetic" in out
    assert "relative gap" in out
    assert "base measure" in out
    assert "Least-favourable prior" in out
    assert "ogpm-squared" in out
    assert "+10.5%" in out


def test_long_mechanisms_are_summed_up(run: Any) -> None:
    out = run("minimax", "--eps", "2", "--gap", "1e-3").out
    assert "Where the mass is" in out
    assert len(out.splitlines()) < 60


def test_the_average_under_a_prior_is_below_that_of_the_worst_case_design(run: Any) -> None:
    arguments = ("minimax", "--eps", "2", "--loss", "squared", "--json")
    average = run(*arguments, "--criterion", "prior", "--prior", "uniform").json
    rows = {row["name"]: row["average"] for row in average["comparison"]}
    assert average["certificate"]["upper"] == rows["this design"] == min(rows.values())
    worst = run(*arguments).json
    assert average["certificate"]["upper"] < next(
        row["average"] for row in worst["comparison"] if row["name"] == "this design"
    )
    for row in average["comparison"][1:]:
        mechanism = catalogue.build(row["name"], 2.0, Interval(0, 1), Power(2.0))
        assert row["average"] == pytest.approx(mechanism.average_loss(Power(2.0)))


@pytest.fixture
def saved(run: Any, tmp_path: Path) -> Path:
    path = tmp_path / "design.json"
    assert run("minimax", "--eps", "1", "--loss", "squared", "--out", str(path)).code == 0
    return path


def test_a_saved_optimum_is_proven_again_and_shown(run: Any, saved: Path) -> None:
    assert load_design(saved).certificate.valid_for == "all mechanisms"
    outcome = run("show", str(saved))
    assert outcome.code == 0
    assert "squared error, worst case; checked again" in outcome.out
    assert "Least-favourable prior" in outcome.out
    document = run("show", str(saved), "--json").json
    assert len(document["mechanism"]["base"]) == len(document["least_favourable"]["points"]) == 2


def test_a_saved_optimum_with_a_heavier_atom_is_refused(run: Any, saved: Path) -> None:
    document = json.loads(saved.read_text())
    document["certificate"]["evidence"]["atoms"]["radii"][0] *= 1.01
    document["certificate"]["lower"] *= 1.000001
    saved.write_text(json.dumps(document))
    outcome = run("show", str(saved))
    assert outcome.code == 2
    assert "certificate" in outcome.err


def test_a_saved_optimum_is_drawn(run: Any, saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "again.png"
    assert run("show", str(saved), "--plot", str(path)).code == 0
    assert path.read_bytes().startswith(PNG)


def test_a_sweep_lists_certified_designs(run: Any) -> None:
    document = run("minimax", "--sweep", "0.5,1,1.5", "--loss", "squared", "--json").json
    assert document["problem"]["epsilons"] == [0.5, 1.0, 1.5]
    for design in document["designs"]:
        c = math.exp(design["problem"]["privacy"]["epsilon"])
        assert design["certificate"]["lower"] <= c / (1 + c) ** 2 <= design["certificate"]["upper"]
        assert design["comparison"][0]["name"] == "this design"


def test_a_sweep_is_a_table_and_two_pictures(run: Any, tmp_path: Path) -> None:
    errors, structure = tmp_path / "errors.png", tmp_path / "structure.svg"
    pictures = ("--plot", str(errors), "--structure-plot", str(structure))
    outcome = run("minimax", "--sweep", "0.5:1.5:3", "--loss", "squared", *pictures)
    assert outcome.code == 0
    assert "0.1966" in outcome.out
    assert "rr-bins" in outcome.out
    assert errors.read_bytes().startswith(PNG)
    assert "Least-favourable" in outcome.out or structure.stat().st_size > 5_000


BAD: list[tuple[tuple[str, ...], str]] = [
    ((), "--eps, --sweep"),
    (("--eps", "1", "--sweep", "1,2"), "--eps, --sweep"),
    (("--eps", "nan"), "eps must be a number"),
    (("--eps", "0"), "eps must be a finite number above 0"),
    (("--eps", "40"), "eps must lie between"),
    (("--sweep", "2,1"), "increase"),
    (("--sweep", "1:2"), "--sweep 0.5:4:8"),
    (("--eps", "1", "--loss", "cubic"), "absolute, squared or power:P"),
    (("--eps", "1", "--loss", ""), "absolute, squared or power:P"),
    (("--eps", "1", "--criterion", "prior", "--prior", ""), "prior must be"),
    (("--eps", "1", "--slack", "0.1"), "--criterion lexicographic"),
    (("--eps", "1", "--criterion", "lexicographic", "--cap", "0.3", "--slack", "0.1"), "drop --cap"),
    (("--eps", "1", "--criterion", "lexicographic", "--slack", "0"), "slack must"),
    (("--eps", "1", "--domain", "1,0"), "lower end below"),
    (("--eps", "1", "--gap", "0"), "gap must"),
    (("--eps", "1", "--gap", "nan"), "gap must"),
    (("--eps", "1", "--time-limit", "0"), "above 0"),
    (("--eps", "1", "--time-limit", "inf"), "finite number of seconds"),
    (("--eps", "1", "--criterion", "median"), "worst, prior, lexicographic, pareto"),
    (("--eps", "1", "--prior", "uniform"), "add --criterion prior"),
    (("--eps", "1", "--criterion", "prior"), "--prior normal:0.3,0.1"),
    (("--eps", "1", "--criterion", "prior", "--prior", "cauchy:1"), "prior must be"),
    (("--eps", "1", "--criterion", "prior", "--prior", "normal:9,0.01"), "mass inside"),
    (("--eps", "1", "--criterion", "prior", "--prior", "uniform", "--prior-data", __file__), "one or the other"),
    (("--eps", "1", "--criterion", "prior", "--prior-data", "x.csv"), "x.csv"),
    (("--eps", "1", "--criterion", "prior", "--prior-data", "x.csv", "--column", "a"), "x.csv"),
    (("--eps", "1", "--criterion", "prior", "--prior", "uniform", "--column", "a"), "--prior-data"),
    (("--eps", "1", "--unbiased", "--loss", "absolute"), "squared with --unbiased"),
    (("--eps", "1", "--unbiased", "--criterion", "lexicographic"), "criterion must be worst or prior"),
    (("--eps", "1", "--unbiased", "--criterion", "worst", "--prior", "uniform"), "be left out for the worst case"),
    (("--eps", "1", "--unbiased", "--criterion", "prior"), "prior must be given"),
    (("--eps", "1", "--size", "33"), "come with --unbiased"),
    (("--eps", "1", "--unbiased", "--size", "33"), "come with --unbiased and a prior"),
    (("--eps", "1", "--cap", "0.3"), "--criterion lexicographic"),
    (("--eps", "1", "--structure-plot", "x.png"), "come with --sweep"),
    (("--sweep", "1,2", "--criterion", "pareto"), "left out with --criterion pareto (got '--sweep')"),
    (("--sweep", "1,2", "--out", "x.json"), "several designs"),
    (("--eps", "1", "--criterion", "pareto", "--out", "x.json"), "left out with --criterion pareto (got '--out')"),
    (("--eps", "1", "--delta", "0.1"), "delta must come with --loss-matrix"),
    (("--privacy-matrix", __file__), "privacy matrix must come with --loss-matrix"),
    (("--privacy-matrix", __file__, "--loss-matrix", __file__, "--mechanisms", "x"), "(got '--mechanisms')"),
    (("--eps", "1", "--points", "5"), "--criterion pareto"),
    (("--eps", "1", "--criterion", "pareto", "--points", "1"), "from 2 to 1000"),
    (("--sweep", "1,2", "--plot", "x.png", "--structure-plot", "x.png"), "differ"),
    (("--eps", "1", "--plot", "x.docx"), ".png, .pdf, .svg"),
    (("--eps", "1", "--loss-matrix", __file__, "--domain", "0,2"), "left out with --loss-matrix"),
    (("--eps", "1", "--loss-matrix", __file__, "--unbiased"), "left out with --loss-matrix"),
    (("--eps", "1", "--loss-matrix", "m.csv"), "m.csv"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[" ".join(arguments) or "nothing" for arguments, _ in BAD])
def test_bad_input_exits_with_2_and_says_what_is_wrong(
    run: Any, arguments: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("minimax", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [("--eps", "4", "--gap", "1e-6"), ("--sweep", "3.5,4", "--gap", "1e-6")], ids=["one", "sweep"]
)
def test_running_out_of_time_exits_with_3_and_bounds(run: Any, arguments: tuple[str, ...]) -> None:
    outcome = run("minimax", *arguments, "--time-limit", "0.05", "--json")
    assert outcome.code == 3
    assert "the optimum lies in [" in outcome.err
    assert outcome.out == ""


def test_no_answer_names_a_gap_and_the_option_for_the_design_at_hand(run: Any) -> None:
    outcome = run("minimax", "--eps", "6", "--gap", "1e-6", "--time-limit", "0.5")
    words = " ".join(outcome.err.split())
    assert outcome.code == 3
    wider = words.split("a gap of ")[1].split()[0]
    assert f"is within reach; ask with --gap {wider}, or with --best-so-far" in words


@pytest.mark.parametrize(
    "question",
    [(), ("--loss", "power:1.5"), ("--criterion", "prior", "--prior", "uniform")],
    ids=["worst", "claimed", "density"],
)
def test_the_best_so_far_is_a_design_with_an_honest_interval(
    run: Any, tmp_path: Path, question: tuple[str, ...]
) -> None:
    target = tmp_path / "best.json"
    arguments = ("minimax", "--eps", "6", *question, "--gap", "1e-6", "--time-limit", "0.5", "--best-so-far")
    outcome = run(*arguments, "--out", str(target), "--json")
    certificate = outcome.json["certificate"]
    assert outcome.code == 0
    assert "the best design so far" in outcome.err
    assert "stopped" in outcome.json["report"]["details"]
    assert 1e-6 < 1 - certificate["lower"] / certificate["upper"] < 0.5
    shown = run("show", str(target), "--json")
    assert shown.json["certificate"] == certificate


def test_a_design_that_met_its_gap_is_not_called_so_far(run: Any) -> None:
    outcome = run("minimax", "--eps", "1", "--gap", "1e-3", "--best-so-far")
    assert "certified optimum for" in outcome.out
    assert "so far" not in outcome.out + outcome.err


def test_a_sweep_with_best_so_far_has_all_its_rows(run: Any) -> None:
    outcome = run("minimax", "--sweep", "1,6,7", "--gap", "1e-6", "--time-limit", "1.5", "--best-so-far", "--json")
    assert [row["problem"]["privacy"]["epsilon"] for row in outcome.json["designs"]] == [1, 6, 7]
    assert "stopped" in outcome.json["designs"][2]["report"]["details"]


SQUARED = ("minimax", "--eps", "2", "--loss", "squared")


def test_the_lexicographic_optimum_keeps_the_least_worst_case(run: Any) -> None:
    document = run(*SQUARED, "--criterion", "lexicographic", "--json").json
    ours = document["comparison"][0]
    assert ours["name"] == "this design"
    assert ours["worst"] <= 0.10688314 * 1.002
    assert "with worst case at most" in document["certificate"]["valid_for"]
    assert document["certificate"]["lower"] >= run(
        *SQUARED, "--criterion", "prior", "--prior", "uniform", "--json"
    ).json["certificate"]["lower"] * (1 - 1e-3)


def test_with_a_cap_only_rivals_that_keep_it_are_compared(run: Any) -> None:
    arguments = ("minimax", "--eps", "1", "--loss", "squared", "--criterion", "lexicographic", "--cap", "0.2")
    rows = run(*arguments, "--json").json["comparison"]
    assert rows[0]["name"] == "this design"
    for row in rows[1:]:
        keeps = row["worst"] <= 0.2
        assert row["keeps_cap"] is keeps
        assert (row["above_optimum"] is not None and row["above_optimum"] >= 0) if keeps else not row["above_optimum"]
    assert {row["keeps_cap"] for row in rows} == {True, False}
    assert "breaks the cap" in run(*arguments).out


def test_a_lexicographic_sweep_shows_its_worst_case_and_says_its_scope_once(run: Any, tmp_path: Path) -> None:
    picture = tmp_path / "sweep.svg"
    arguments = ("minimax", "--sweep", "1,2", "--loss", "squared", "--criterion", "lexicographic", "--slack", "0.02")
    outcome = run(*arguments, "--plot", str(picture))
    assert outcome.code == 0
    assert "our worst" in outcome.out
    said = " ".join(outcome.out.split())
    assert "with worst case at most the cap at each eps, under the prior rounded to" in said
    assert said.count("with worst case at most") == 1
    for design in run(*arguments, "--json").json["designs"]:
        assert all(row["above_optimum"] >= -1e-6 for row in design["comparison"])


def test_the_gap_is_said_rounded_up(run: Any) -> None:
    arguments = ("minimax", "--eps", "1", "--gap", "1e-3")
    certificate = run(*arguments, "--json").json["certificate"]
    out = run(*arguments).out
    said = float(out.split("better by more than ")[1].split("%")[0])
    assert said >= 100 * (certificate["upper"] - certificate["lower"]) / certificate["upper"]


def test_a_looser_cap_lets_the_average_fall(run: Any) -> None:
    averages = [
        run(*SQUARED, "--criterion", "lexicographic", "--cap", cap, "--json").json["certificate"]
        for cap in ("0.11", "0.12", "0.13")
    ]
    assert averages[0]["lower"] > averages[1]["upper"] > averages[1]["lower"] > averages[2]["upper"]


def test_the_trade_off_is_a_falling_curve_no_rival_is_below(run: Any, tmp_path: Path) -> None:
    arguments = (*SQUARED, "--criterion", "pareto", "--points", "4", "--prior", "normal:0.5,0.15")
    document = run(*arguments, "--json").json
    worst = [design["worst"] for design in document["designs"]]
    average = [design["certificate"]["upper"] for design in document["designs"]]
    assert len(worst) == 4
    assert worst == sorted(worst)
    assert average == sorted(average, reverse=True)
    for row in document["comparison"]:  # the least average with at most this worst case is above the next point's bound
        beyond = next((k for k, place in enumerate(worst) if place >= row["worst"]), -1)
        assert row["average"] >= document["designs"][beyond]["certificate"]["lower"]
        assert row["above_optimum"] >= 0
    picture = tmp_path / "curve.svg"
    outcome = run(*arguments, "--plot", str(picture))
    assert outcome.code == 0
    assert "least average under the prior for each worst case" in outcome.out
    assert picture.stat().st_size > 5_000


def test_a_cap_below_the_optimum_is_refused_with_the_least_possible(run: Any) -> None:
    outcome = run(*SQUARED, "--criterion", "lexicographic", "--cap", "0.1")
    assert outcome.code == 2
    assert "no mechanism keeps a cap below 0.1068" in " ".join(outcome.err.split())


def test_a_sweep_under_a_prior_ranks_by_the_average(run: Any, tmp_path: Path) -> None:
    picture = tmp_path / "sweep.svg"
    arguments = ("minimax", "--sweep", "1,2", "--loss", "squared", "--criterion", "prior", "--prior", "uniform")
    outcome = run(*arguments, "--plot", str(picture))
    assert outcome.code == 0
    assert "average squared error under the prior" in outcome.out
    assert picture.exists()
    for design in run(*arguments, "--json").json["designs"]:
        averages = [row["average"] for row in design["comparison"]]
        assert averages == sorted(averages)
        assert averages[0] == design["certificate"]["upper"]


def test_the_unbiased_optimum_is_the_reference_and_below_the_published(run: Any) -> None:
    arguments = ("minimax", "--eps", "1", "--unbiased", "--domain=-1,1", "--prior", "normal:0,0.2", "--json")
    document = run(*arguments).json
    certificate = document["certificate"]
    assert certificate["lower"] <= 3.48815 * (1 + 1e-4)
    assert certificate["upper"] >= 3.48815 * (1 - 1e-4)
    assert certificate["valid_for"].startswith("unbiased mechanisms")
    rows = {row["name"]: row["average"] for row in document["comparison"]}
    assert rows.keys() == {"this design"} | {entry.key for entry in catalogue.ON_INTERVALS if entry.unbiased}
    assert all(value >= certificate["upper"] for value in rows.values())
    assert rows["laplace"] == pytest.approx(8.0)
    assert len(document["mechanism"]["outputs"]) == len(document["mechanism"]["base"])


def test_the_unbiased_optimum_is_told_drawn_saved_and_proven_again(run: Any, tmp_path: Path) -> None:
    picture, out = tmp_path / "unbiased.svg", tmp_path / "unbiased.json"
    arguments = (
        "minimax",
        "--eps",
        "2",
        "--unbiased",
        "--prior",
        "uniform",
        "--size",
        "9",
        "--plot",
        str(picture),
        "--out",
        str(out),
    )
    outcome = run(*arguments)
    assert outcome.code == 0
    assert "asked under the prior uniform on [0, 1], which is rounded to 9 inputs" in outcome.out
    assert "optimum over unbiased mechanisms" in outcome.out
    assert picture.stat().st_size > 5_000
    assert "checked again" in run("show", str(out)).out


def test_without_a_prior_the_unbiased_optimum_is_that_of_the_worst_case(run: Any) -> None:
    """The least of the uniform average, 3.886, has 4.340 at its worst input: more than HM."""
    document = run("minimax", "--eps", "1", "--unbiased", "--domain=-1,1", "--json").json
    assert document["problem"]["criterion"] == {"kind": "worst"}
    assert document["certificate"]["lower"] <= 3.9907 <= document["certificate"]["upper"] * (1 + 1e-4)
    rows = {row["name"]: row["worst"] for row in document["comparison"]}
    assert rows["this design"] == pytest.approx(document["certificate"]["upper"])
    assert rows["hm"] > 1.07 * rows["this design"]


@pytest.fixture
def ages(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("name,age\n" + "".join(f"p{k},{20 + 3 * (k % 17)}\n" for k in range(200)))
    return path


def test_a_column_of_data_is_a_prior(run: Any, ages: Path) -> None:
    arguments = ("--criterion", "prior", "--prior-data", str(ages), "--column", "age", "--domain", "0,100")
    document = run("minimax", "--eps", "2", *arguments, "--json").json
    assert document["certificate"]["claimed"] is False
    assert document["comparison"][0]["name"] == "this design"
    assert all(20 <= output <= 68 for output in document["mechanism"]["outputs"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--column", "age"), "% of the rows do not; widen --domain"),
        (("--column", "height", "--domain", "0,100"), "be one of the columns of the first line of"),
        (("--column", "name", "--domain", "0,100"), "row 2 of people.csv, column 'name' must be a number"),
    ],
)
def test_a_bad_column_exits_with_2(run: Any, ages: Path, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("minimax", "--eps", "2", "--criterion", "prior", "--prior-data", str(ages), *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())


def test_whole_numbers_become_a_design_and_a_table_for_whole_numbers(run: Any, tmp_path: Path) -> None:
    data = tmp_path / "ages.csv"
    data.write_text("age\n" + "18\n20\n25\n" * 400)
    for name, more in (
        ("worst", []),
        ("prior", ["--criterion", "prior", "--prior-data", str(data), "--column", "age"]),
    ):
        design, table, told = (str(tmp_path / f"{name}-{kind}") for kind in ("d.json", "t.json", "r.csv"))
        outcome = run("minimax", "--eps", "4", "--domain", "18..25", *more, "--out", design)
        assert "optimum over all mechanisms: [" in outcome.out
        assert run("show", design).code == 0
        assert run("table", design, "--out", table).code == 0
        assert run("apply", table, "--in", str(data), "--column", "age", "--out", told).code == 0
        assert {float(line) for line in Path(told).read_text().split()[1:]} <= set(map(float, range(18, 26)))
        found = run("estimate", table, "--in", told, "--confidence", "0.999999", "--json").json
        assert found["lower"] <= 21 <= found["upper"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ogpm", "--domain", "18..90"], "take the interval --domain=18,90"),
        (["compare", "--domain", "18..90"], "take the interval --domain=18,90"),
        (["table", "--mechanism", "pm", "--domain", "18..90"], "take --domain=18,90, or --mechanism grr"),
        (["table", "--mechanism", "grr", "--domain", "1,5"], "for example --domain 1..5"),
        (["minimax", "--domain", "18..90", "--unbiased"], "take --domain=18,90"),
        (["minimax", "--domain", "18..90", "--criterion", "pareto"], "take --domain=18,90"),
        (["minimax", "--domain", "0..250000"], "the interval --domain=0,250000"),
        (["minimax", "--domain", "90..18"], "for example --domain 18..90"),
        (["minimax", "--domain", "1..9", "--loss", "power:3"], "take --loss-matrix"),
        (
            ["minimax", "--domain", "1..9", "--criterion", "prior", "--prior", "normal:3,1"],
            "take weights on its points, or data",
        ),
    ],
)
def test_where_whole_numbers_do_not_go_the_next_step_is_said(run: Any, arguments: list[str], words: str) -> None:
    outcome = run(*arguments, "--eps", "1")
    assert outcome.code == 2
    assert words in outcome.err


def test_randomised_response_takes_whole_numbers_as_they_are(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.json"
    assert run("table", "--eps", "1", "--mechanism", "grr", "--domain", "1..5", "--out", str(table)).code == 0
    assert json.loads(table.read_bytes())["domain"]["points"] == ["1", "2", "3", "4", "5"]


# -- the field is computed when it is seen ----------------------------------------------------------------------------

COMPARING = {
    "minimax": ("minimax", "--eps", "1", "--gap", "1e-2"),
    "minimax on a matrix": ("minimax", "--eps", "1", "--loss-matrix", "LOSSES"),
    "ogpm": ("ogpm", "--eps", "1"),
    "aaa": ("aaa", "--eps", "1", "--prior", "uniform", "--bins", "4"),
}


@pytest.fixture(params=COMPARING)
def comparing(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ...]:
    losses = tmp_path / "losses.csv"
    losses.write_text("0,1\n1,0\n")
    return tuple(str(losses) if word == "LOSSES" else word for word in COMPARING[request.param])


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every field that is computed."""
    seen: list[Any] = []

    def counted(designs: Any, own: Any = None) -> Any:
        seen.append(designs)
        return field_of(designs, own)

    for module in ("studies.optimum", "studies.additive", "cli.ogpm"):
        monkeypatch.setattr(f"mechdesign.{module}.field_of", counted)
    return seen


def test_the_field_is_shown_unless_it_is_unwanted(run: Any, comparing: tuple[str, ...], measured: list[Any]) -> None:
    assert "comparison" in run(*comparing, "--json").json
    assert len(measured) == 1


def test_without_comparison_no_rival_is_measured_nor_told(
    run: Any, comparing: tuple[str, ...], measured: list[Any]
) -> None:
    document = run(*comparing, "--no-compare", "--json").json
    assert "comparison" not in document
    assert document["certificate"]["upper"] > 0
    told = run(*comparing, "--no-compare").out
    assert "laplace" not in told
    assert "single output" not in told
    assert measured == []


def test_a_design_that_is_only_kept_measures_no_rival(
    run: Any, comparing: tuple[str, ...], measured: list[Any], tmp_path: Path
) -> None:
    assert run(*comparing, "--quiet", "--out", str(tmp_path / "kept.json")).code == 0
    assert measured == []
    assert "comparison" in run(*comparing, "--quiet", "--out", str(tmp_path / "told.json"), "--json").json


def test_sweeps_and_trade_offs_leave_the_field_out_too(run: Any, measured: list[Any]) -> None:
    swept = run("minimax", "--sweep", "1,2", "--gap", "1e-2", "--no-compare", "--json").json
    assert all("comparison" not in row for row in swept["designs"])
    arguments = ("--criterion", "pareto", "--points", "2", "--gap", "1e-2", "--no-compare")
    assert "comparison" not in run("minimax", "--eps", "1", *arguments, "--json").json
    assert "best rival" not in run("minimax", "--sweep", "1,2", "--gap", "1e-2", "--no-compare").out
    assert measured == []
