"""The JSON of every command against its schema, and that nothing else ever reaches stdout."""

from __future__ import annotations

import json
import math
import pickle
import re
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from sklearn.tree import DecisionTreeClassifier

from mechdesign import Piecewise, Problem, Pure
from mechdesign.cli import output
from mechdesign.cli.overview import NAMES
from mechdesign.cli.schema import DESIGN, ERROR, schema_of, shapes
from mechdesign.errors import CheckFailed, MissingExtra, NoAnswer, SolverFailed
from mechdesign.methods.saved import design_schema
from mechdesign.studies.budgets import runner
from mechdesign.tables import load_table
from mechdesign.tables.reports import enveloped
from mechdesign.values.codec import encoded

WATER = ("--population", "water-sample", "--capacity", "18000")

# name: command; files are made by the fixture below
ASKED = {
    "advise": "advise --want mean --eps 1 --users 100 --bounds 0,1",
    "ogpm": "ogpm --eps 2",
    "ogpm circular": "ogpm --eps 2 --circular",
    "ogpm unbiased": "ogpm --eps 1 --unbiased",
    "ogpm polar": "ogpm --eps 7 --polar",
    "minimax": "minimax --eps 2 --gap 1e-2",
    "minimax prior": "minimax --eps 1 --criterion prior --prior normal:0.3,0.1 --gap 1e-2",
    "workload": "workload --eps 1 --queries prefix --size 6 --users 1000",
    "workload worst": "workload --eps 1 --queries prefix --size 5 --criterion worst",
    "information": "information --eps 2 --model gaussian-location",
    "minimax unbiased": "minimax --eps 1 --unbiased --prior uniform --size 9 --gap 1e-2",
    "minimax matrix": "minimax --eps 1 --loss-matrix loss.csv",
    "minimax sweep": "minimax --sweep 1,2 --gap 1e-2",
    "minimax of a power": "minimax --eps 1 --loss power:1.5 --gap 1e-2",
    "minimax on whole numbers": "minimax --eps 1 --domain 1..4",
    "minimax under data": "minimax --eps 1 --criterion prior --prior-data data.csv --column x --gap 1e-2",
    "minimax lexicographic": "minimax --eps 1 --criterion lexicographic --gap 1e-2",
    "minimax with a cap": "minimax --eps 1 --criterion lexicographic --cap 0.35 --gap 1e-2",
    "minimax trade-off": "minimax --eps 1 --criterion pareto --points 2 --gap 1e-2",
    "minimax lexicographic matrix": "minimax --eps 1 --loss-matrix loss.csv --criterion lexicographic",
    "minimax alone": "minimax --eps 2 --gap 1e-2 --no-compare",
    "minimax pairs": "minimax --loss-matrix loss.csv --privacy-matrix pairs.csv --criterion prior",
    "metric": "metric --points places.csv --eps 1 --per 2",
    "metric worst": "metric --points places.csv --eps 1 --criterion worst",
    "aaa": "aaa --eps 1 --prior normal:0,0.2 --bins 4",
    "aaa free": "aaa --eps 4 --prior normal:0,0.2 --tune --form free --no-compare",
    "jrr": "jrr --eps 1 --users 100 --colluders 2",
    "jrr group": "jrr --eps 1 --users 100 --group 4 --share 0.05",
    "jrr of a column": "jrr --eps 1 --data labels.csv --value a --runs 20",
    "jrr hidden": "jrr --eps 1 --users 100 --share 0.03 --hidden",
    "jrr with servers": "jrr --eps 1 --users 20 --share 0.1 --hidden --run-servers",
    "jrr inside": "jrr --eps 1 --users 100 --inside oue --categories 5 --conditional-eps 2",
    "jrr between parties": "jrr --eps 1 --run-parties 4",
    "compare": "compare --eps 1 --mechanisms pm,sw",
    "solve": "solve problem.json",
    "show": "show ogpm.json",
    "show joint": "show jrr.json",
    "plot": "plot ogpm.json --out picture.svg",
    "gallery": "gallery k_randomised_response",
    "gallery of all": "gallery",
    "gallery of an erratum": "gallery ldp3_power",
    "glossary": "glossary t-sw",
    "glossary of all": "glossary",
    "reproduce": "reproduce jrr.heuristic jrr.partner",
    "examples": "examples --out examples",
    "constants": "constants --eps 1 --criteria worst --gap 1e-2",
    "bench": "bench -e 1 -p grr,oue -m raw -r 2 -d labels.csv -u l1,mae",
    "gain": "gain --eps 1 --bins 8 --users 500 -p grr -r 1 --method ibu",
    "mean": "mean data.csv --column x --eps 1 --bounds 0,1 --mechanism pm --seed 1",
    "mean of several collections": "mean data.csv --column x --eps 1 --bounds 0,1 --seed 1 --mechanism aaa,sw-em "
    "--runs 2",
    "vector": "vector --eps 2 --count 3 --users 100 --width 0.1",
    "record": "record --eps 1 --columns x --categories y=no,yes",
    "protocols": "protocols --eps 1 --size 4",
    "estimate-counts": "estimate-counts reports.txt -p grr --eps 1 --domain 0..2",
    "budget": "budget -p grr --metric l1 --at-most 0.5 --data labels.csv --most-runs 500 --phi 0.1",
    "budget of a search": "budget -p grr --metric l1 --at-most 0.5 --data labels.csv -m bs --runs 50 --phi 0.1",
    "capacity": "capacity -p grr --population water-sample --capacity 18000 --metric fp --tau 0.05",
    "classifier": "classifier model.pkl --unpickle --data people.csv --eps 2 --label sick --columns age "
    "--mechanism pm --rows 2 --target 0.7",
    "capacity simulated": "capacity -p grr --population water-sample --capacity 18000 --metric fp --tau "
    "0.05 -m simulated --runs 200",
    "capacity by a search of Optimus": "capacity -p grr --population water-sample --capacity 18000 --metric fp --tau "
    "0.05 -m dbs --phi 1 --most-runs 200",
    "capacity at eps": "capacity -p grr --population water-sample --capacity 18000 --at-eps 0.8",
    "capacity numeric at eps": "capacity -p pm --population water-sample --capacity 18000 --at-eps 0.8",
    "table": "table ogpm.json",
    "verify": "verify table.json",
    "export": "export table.json --to python --out sources",
    "export a package": "export table.json --to c --package survey --out packed",
    "export a package with a state": "export grr.json --to c --package survey --out kept --reports 3",
    "apply": "apply table.json --in data.csv --column x --out out.csv",
    "estimate": "estimate table.json --in kept.csv",
    "estimate of frequencies": "estimate grr.json --in answers.csv --frequencies",
    "estimate of a workload": "estimate answers.json --in prefixes.csv --column x",
    "collection": "collection x=table.json answer=grr.json",
    "collect-reports": "collect-reports envelopes.txt --of grr.json --store store.db --new-store",
    "collect-reports with estimates": "collect-reports envelopes.txt --of grr.json --store other.db --new-store --out "
    "collected --least 1 --estimate people",
    "sign": "sign table.json --key secret.key",
    "sign --new-key": "sign --new-key new.key",
    "reproduce --list": "reproduce --list",
    "schema": "schema minimax",
    "trajectory perturb": "trajectory perturb paths.csv --eps 2 --bounds 0,1,0,1 --out reports.csv --force",
    "trajectory apply": "trajectory apply paths.csv --x-table table.json --y-table table.json --bounds 0,1,0,1 --out "
    "released.csv --force",
    "trajectory compare": "trajectory compare --eps 2 --paths 3 --length 4 --methods tracs-d,tracs-c",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every file the commands of the table read."""
    from mechdesign.cli import main

    path = tmp_path_factory.mktemp("json")
    (path / "data.csv").write_text("x\n" + "\n".join(f"{k / 200:.3f}" for k in range(200)) + "\n")
    (path / "labels.csv").write_text("\n".join("abcd"[k * k % 4] for k in range(800)))
    asked = Problem(inputs=(0, 1), loss="absolute", privacy=Pure(1.0), among=Piecewise())
    (path / "problem.json").write_text(json.dumps(encoded(asked)))
    (path / "loss.csv").write_text("0,1,2\n1,0,1\n2,1,0\n")
    (path / "pairs.csv").write_text("0,1,2\n1,0,1\n2,1,0\n")
    (path / "places.csv").write_text("x,y\n0,0\n0,1\n1,0\n1,1\n")
    features = np.random.default_rng(0).random((30, 2))
    sick = (features[:, 0] > 0.4).astype(int)
    (path / "model.pkl").write_bytes(pickle.dumps(DecisionTreeClassifier(random_state=0).fit(features, sick)))
    people = [f"{age:.6f},{bmi:.6f},{ill}" for (age, bmi), ill in zip(features, sick, strict=True)]
    (path / "people.csv").write_text("\n".join(["age,bmi,sick", *people]) + "\n")
    (path / "reports.txt").write_text("\n".join(str(k % 3) for k in range(90)) + "\n")
    (path / "paths.csv").write_text("id,x,y\n" + "".join(f"{k // 4},{k / 16},{k * 7 % 16 / 16}\n" for k in range(16)))
    (path / "codes.csv").write_text("x\n" + "\n".join(str(k % 3) for k in range(90)) + "\n")
    for line in (
        f"table --eps 1 --mechanism grr --size 3 --out {path}/grr.json",
        f"apply {path}/grr.json --in {path}/codes.csv --column x --out {path}/answers.csv",
        f"workload --eps 1 --queries prefix --size 3 --no-compare --out {path}/workload.json",
        f"table {path}/workload.json --out {path}/answers.json",
        f"apply {path}/answers.json --in {path}/codes.csv --column x --out {path}/prefixes.csv",
        f"ogpm --eps 2 --out {path}/ogpm.json",
        f"jrr --eps 1 --users 100 --colluders 2 --out {path}/jrr.json",
        f"table {path}/ogpm.json --out {path}/table.json",
        f"apply {path}/table.json --in {path}/data.csv --column x --out {path}/kept.csv",
        f"sign --new-key {path}/secret.key",
    ):
        with pytest.raises(SystemExit) as stop:
            main([*line.split(), "--quiet"])
        assert not stop.value.code
    grr = load_table(path / "grr.json")
    (path / "envelopes.txt").write_bytes(b"".join(enveloped(grr, k % 3, date(2999, 1, 1)).line for k in range(30)))
    return path


def only_object(printed: str) -> dict[str, Any]:
    """Exactly one JSON object without NaN or bare infinities, or an error."""

    def reject(name: str) -> Any:
        raise AssertionError(f"{name} in JSON")

    document, end = json.JSONDecoder(parse_constant=reject).raw_decode(printed)
    assert isinstance(document, dict)
    assert printed[end:].strip() == ""
    return document


def error_of(said: str) -> dict[str, Any]:
    """The error that a command with --json ends with, alone on its line, as the schema has it."""
    document = only_object(said.splitlines()[-1])
    assert not list(Draft202012Validator(json.loads(schema_of(ERROR))).iter_errors(document))
    assert set(document) == {"error"}
    return document["error"]


def at(document: Any, path: str) -> Any:
    for key in path.split("."):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


Answered = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def seen() -> dict[str, dict[str, Any]]:
    """What commands of the table answered."""
    return {}


@pytest.fixture
def answered(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, seen: dict[str, dict[str, Any]]) -> Answered:
    """The answer of a command of the table, which is run once."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(output, "_FIRST_TICK", 1e-3)  # so that progress is written while the command works

    def answer(name: str) -> dict[str, Any]:
        if name not in seen:
            arguments = ASKED[name].split()
            outcome = run(*arguments, "--json", *(["--force"] if arguments[0] in ("plot", "export", "apply") else []))
            assert outcome.code == 0, outcome.err
            seen[name] = only_object(outcome.out)
        return seen[name]

    return answer


def command_of(name: str) -> str:
    """The command of a line of the table, as `schema` takes it."""
    arguments = ASKED[name].split()
    return " ".join(arguments[: 2 if arguments[0] == "trajectory" else 1])


def test_the_table_has_every_command() -> None:
    assert {command.split()[0] for command in ASKED.values()} == set(NAMES)


# -- schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in ASKED if name != "schema"])
def test_answers_fit_the_schema_of_their_command(answered: Answered, name: str) -> None:
    document = answered(name)
    errors = list(Draft202012Validator(json.loads(schema_of(command_of(name)))).iter_errors(document))
    assert not errors, "\n".join(f"{list(error.path)}: {error.message[:300]}" for error in errors)


def test_every_command_has_a_schema_that_an_answer_was_tried_on() -> None:
    assert set(shapes()) == {command_of(name) for name in ASKED} - {"schema"} | {ERROR}


@pytest.mark.parametrize("command", sorted([*shapes(), DESIGN]))
def test_schemas_are_schemas(command: str) -> None:
    Draft202012Validator.check_schema(json.loads(schema_of(command)))


@pytest.mark.parametrize("name", ["verify", "mean", "ogpm", "minimax with a cap", "capacity", "trajectory compare"])
def test_an_answer_with_a_key_of_another_type_does_not_fit(answered: Answered, name: str) -> None:
    """Else the schemas would say nothing."""
    validator = Draft202012Validator(json.loads(schema_of(command_of(name))))
    for key in answered(name):
        assert not validator.is_valid(answered(name) | {key: [["nonsense"]]}), key


@pytest.mark.parametrize("name", ["mean", "ogpm", "table"])
def test_an_answer_with_a_key_that_nobody_declared_does_not_fit(answered: Answered, name: str) -> None:
    validator = Draft202012Validator(json.loads(schema_of(command_of(name))))
    assert not validator.is_valid(answered(name) | {"surprise": 1})


def test_a_schema_of_two_words_is_printed(run: Any) -> None:
    assert run("schema", "trajectory", "perturb").out == schema_of("trajectory perturb")


def test_the_schema_of_files_that_hold_designs_is_printed(run: Any) -> None:
    assert run("schema", "design").json == design_schema()


def test_a_schema_of_no_command_is_refused_with_those_there_are(run: Any) -> None:
    outcome = run("schema", "minimum")
    assert outcome.code == 2
    assert "be one of" in outcome.err
    assert "minimax" in outcome.err


# -- streams ----------------------------------------------------------------------------------------------------------


def test_progress_goes_to_stderr_beside_the_json(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(output, "_FIRST_TICK", 1e-3)
    arguments, search = ASKED["budget"].split(), runner.run

    def unhurried(*given: Any, **more: Any) -> Any:
        time.sleep(0.5)
        return search(*given, **more)

    monkeypatch.setattr(runner, "run", unhurried)
    outcome = run(*arguments, "--json")
    assert re.search(r"mechdesign: .* s\n", outcome.err)
    assert only_object(outcome.out)
    assert run(*arguments, "--json", "--quiet").err == ""


@pytest.mark.parametrize("command", sorted({command.split()[0] for command in ASKED.values()} - {"trajectory"}))
def test_input_that_fails_prints_nothing_on_stdout(run: Any, tmp_path: Path, command: str) -> None:
    """One value that breaks a rule a command; its own tests have the others."""
    missing = str(tmp_path / "no such file")
    wrong = {
        "aaa": ("--eps", "0", "--prior", "uniform"),
        "apply": (missing, "--in", missing, "--column", "x", "--out", str(tmp_path / "out.csv")),
        "bench": ("-e", "1", "-d", missing),
        "budget": ("-p", "grr", "--at-least", "0.5", "--population", "bees"),
        "capacity": ("-p", "grr", *WATER, "--at-eps", "-1"),
        "classifier": (missing, "--data", missing, "--eps", "1"),
        "collect-reports": (missing, "--of", missing, "--store", missing),
        "collection": (missing,),
        "compare": ("--eps", "nan"),
        "constants": ("--eps", "0"),
        "estimate": (missing, "--in", missing),
        "estimate-counts": (missing, "-p", "grr", "--eps", "1", "--domain", "0..2"),
        "examples": ("--out", __file__),
        "export": (missing, "--to", "python", "--out", str(tmp_path / "out")),
        "gain": ("--laws", "cauchy"),
        "gallery": ("fermat",),
        "glossary": ("unheard-of",),
        "jrr": ("--eps", "-1"),
        "mean": (missing, "--column", "x", "--eps", "1", "--bounds", "0,1"),
        "metric": ("--points", missing, "--eps", "1"),
        "minimax": ("--eps", "inf"),
        "advise": ("--want", "fame"),
        "ogpm": ("--eps", "-1"),
        "plot": (missing, "--out", str(tmp_path / "p.png")),
        "protocols": ("--eps", "1", "--size", "1"),
        "reproduce": ("ogpm.exampel-8",),
        "record": ("--eps", "1", "--columns", "x"),
        "schema": ("minimum",),
        "show": (missing,),
        "sign": (missing, "--key", missing),
        "solve": (missing,),
        "table": ("--eps", "1", "--bits", "7"),
        "vector": ("--eps", "1", "--count", "1"),
        "verify": (missing,),
        "workload": ("--eps", "1", "--queries", "prefix"),
        "information": ("--eps", "1", "--model", "cauchy"),
    }
    outcome = run(command, *wrong[command], "--json")
    assert (outcome.code, outcome.out) == (2, "")
    error = error_of(outcome.err)
    assert error["kind"] == "bad input"
    assert error["field"]
    assert error["rule"] in error["message"]


def test_a_limit_that_was_reached_exits_with_3_and_the_bounds(run: Any) -> None:
    outcome = run("minimax", "--eps", "1", "--gap", "1e-6", "--time-limit", "0.01", "--json")
    assert (outcome.code, outcome.out) == (3, "")
    error = error_of(outcome.err)
    assert error["kind"] == "no answer"
    assert 0 <= error["lower"] <= error["upper"]
    assert error["claimed"] is False
    assert re.search(r"the optimum lies in \[.*, .*\]", error["message"])


@pytest.mark.parametrize(
    ("words", "field", "message"),
    [
        (("ogpm", "--esp", "2"), "--esp", "No such option"),
        (("ogpm", "--eps", "x"), "--eps", "not a valid number"),
        (("ogpm",), "--eps", "Missing option"),
        (("show",), "file", "Missing"),
        (("bench", "--eps"), "--eps", "requires an argument"),
        (("frobnicate",), None, "No such command"),
        (("trajectory", "perturb", "--nonsense"), "--nonsense", "No such option"),
    ],
)
def test_words_of_a_command_that_are_wrong_are_json_too(
    run: Any, words: tuple[str, ...], field: Any, message: str
) -> None:
    outcome = run(*words, "--json") if words[-1] != "--eps" else run(words[0], "--json", *words[1:])
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1
    error = error_of(outcome.err)
    assert (error["kind"], error.get("field")) == ("usage", field)
    assert message in error["message"]
    assert error["next"].endswith("--help")


def test_words_that_are_wrong_are_told_in_text_without_json(run: Any) -> None:
    outcome = run("ogpm", "--esp", "2")
    assert (outcome.code, outcome.out) == (2, "")
    assert re.search("Error: No such option:? '?--esp", outcome.err)  # click has quoted it, and does not


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (MissingExtra("this", "scip"), 1, {"kind": "not installed", "next": "pip install 'mechdesign[scip]'"}),
        (CheckFailed("a result failed"), 1, {"kind": "failed", "message": "a result failed"}),
        (SolverFailed("HiGHS", "it is ill", "take another"), 1, {"kind": "failed", "next": "take another"}),
        (NoAnswer("time", 1.0, math.inf, claimed=True), 3, {"lower": 1.0, "upper": "inf", "claimed": True}),
        (NoAnswer("time", 0.9985, 1.0), 3, {"gap_within_reach": 0.002, "kind": "no answer"}),
        (MemoryError(), 1, {"kind": "failed"}),
        (PermissionError(13, "Permission denied"), 1, {"kind": "failed", "message": "permission denied"}),
        (ImportError("libz.so"), 1, {"kind": "failed"}),
    ],
    ids=lambda told: type(told).__name__,
)
def test_every_error_has_its_kind_and_the_exit_code_it_has_in_text(
    run: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, told: dict[str, Any]
) -> None:
    from mechdesign.cli import protocols

    def fail(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(protocols, "require_epsilon", fail)
    in_text, in_json = (
        run("protocols", "--eps", "1", "--size", "3"),
        run("protocols", "--eps", "1", "--size", "3", "--json"),
    )
    assert in_text.code == in_json.code == code
    found = error_of(in_json.err)
    assert found.items() >= told.items()
    assert in_text.err == f"mechdesign: {found['kind']}: {found['message']}\n"


def test_an_error_that_nobody_expected_does_not_quote_itself(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from mechdesign.cli import protocols

    def fail(*_: Any) -> Any:
        raise KeyError("somebody's value")

    monkeypatch.setattr(protocols, "require_epsilon", fail)
    outcome = run("protocols", "--eps", "1", "--size", "3", "--json")
    assert outcome.code == 1
    assert error_of(outcome.err)["kind"] == "internal error"
    assert "somebody" not in outcome.err


def test_a_failed_table_is_told_as_json_and_exits_with_1(run: Any, folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text((folder / "table.json").read_text().replace('"bits": 32', '"bits": 33').replace("32", "31", 1))
    outcome = run("verify", str(broken), "--json")
    document = only_object(outcome.out)
    assert outcome.code == 1
    assert document["verdict"] == "FAIL"
    assert document["failures"]
    assert set(document) >= {"privacy_loss", "epsilon"}


def test_infinities_are_words(run: Any) -> None:
    document = only_object(run("jrr", "--eps", "1", "--users", "100", "--share", "0.05", "--json").out)
    assert document["privacy"]["conditional_epsilons"][-1] == "inf"


def test_several_questions_have_a_list_and_no_lone_answer(run: Any) -> None:
    document = only_object(run("capacity", "-p", "grr,oue", *WATER, "--at-eps", "1", "--json").out)
    assert "probability" not in document
    assert [row["protocol"] for row in document["cases"][0]["protocols"]] == ["grr", "oue"]


@pytest.mark.parametrize("command", [name for name in NAMES if name != "trajectory"])
def test_every_command_takes_json_and_quiet(run: Any, command: str) -> None:
    shown = run(command, "--help").out
    assert "--json" in shown
    assert "--quiet" in shown
