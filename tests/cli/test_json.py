"""The JSON of every command against its schema and a table of keys, and that nothing else ever reaches stdout."""

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

from mechdesign.budget import runner
from mechdesign.cli import output
from mechdesign.cli.overview import NAMES
from mechdesign.cli.schema import ERROR, schema_of, shapes
from mechdesign.deploy import load_table
from mechdesign.deploy.reports import enveloped
from mechdesign.errors import CheckFailed, MissingExtra, NoAnswer, SolverFailed

# -- types ------------------------------------------------------------------------------------------------------------


def number(value: Any) -> bool:
    return (isinstance(value, int | float) and not isinstance(value, bool)) or value == "inf"


def text(value: Any) -> bool:
    return isinstance(value, str)


def flag(value: Any) -> bool:
    return isinstance(value, bool)


def mapping(value: Any) -> bool:
    return isinstance(value, dict)


def none(value: Any) -> bool:
    return value is None


def known_or_none(value: Any) -> bool:
    """An end of an interval, which so few runs may not have."""
    return value is None or number(value)


def numbers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(number, value))


def ends(value: Any) -> bool:
    return numbers(value) and len(value) == 2 and value[0] <= value[1]


def pair(value: Any) -> bool:
    return numbers(value) and len(value) == 2


def values(value: Any) -> bool:
    return mapping(value) and bool(value) and all(map(number, value.values()))


def rows(**fields: Any) -> Any:
    """A list of objects that have these keys at least."""

    def check(value: Any) -> bool:
        filled = isinstance(value, list) and bool(value)
        return filled and all(kind(row[key]) for row in value for key, kind in fields.items())

    return check


DESIGN = {
    "problem": mapping,
    "mechanism.kind": text,
    "certificate.lower": number,
    "certificate.upper": number,
    "certificate.valid_for": text,
    "certificate.claimed": flag,
    "certificate.privacy_loss": number,
    "report.seconds": number,
    "report.solver": text,
    "report.versions": mapping,
}
PIECES = {"mechanism.p": number, "mechanism.pieces": rows(x=number, edges=numbers, densities=numbers)}
COMPARED = {"comparison": rows(name=text, worst=number, average=number)}
BASED = {"mechanism.outputs": numbers, "mechanism.base": numbers}
JOINT = DESIGN | {
    "p": number,
    "rho": number,
    "group": number,
    "variance": number,
    "variance_rr": number,
    "epsilon_average": number,
    "epsilon_conditional": numbers,
}
ESTIMATED = {"estimate": number, "lower": number, "upper": number, "standard_error": number, "confidence": number}
ABOUT_A_NAME = dict.fromkeys(("name", "kind", "title", "what", "formula", "citation", "good_for"), text)
ALARMS = dict.fromkeys(("probability.TP", "probability.TN", "probability.FP", "probability.FN"), number)

WATER = ("--population", "water-sample", "--capacity", "18000")

# name: (arguments, keys and their types); files are made by the fixture below
TABLE: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "advise": (
        ("advise", "--want", "mean", "--eps", "1", "--users", "100", "--bounds", "0,1"),
        {"mechanism": text, "why": bool, "commands": lambda value: len(value) == 3, "want": text, "field": number}
        | {"expected_error.lower": number, "expected_error.unit": text, "expected_error.basis": text}
        | {"runners_up": rows(mechanism=text, expected_error=mapping)},
    ),
    "ogpm": (
        ("ogpm", "--eps", "2"),
        DESIGN | PIECES | COMPARED | {"floor.lower": number, "floor.upper": number},
    ),
    "ogpm circular": (("ogpm", "--eps", "2", "--circular"), DESIGN | PIECES | COMPARED | {"floor.upper": number}),
    "ogpm unbiased": (("ogpm", "--eps", "1", "--unbiased"), DESIGN | PIECES | COMPARED),
    "ogpm polar": (("ogpm", "--eps", "7", "--polar"), DESIGN),
    "minimax": (("minimax", "--eps", "2", "--gap", "1e-2"), DESIGN | BASED | COMPARED),
    "minimax prior": (
        ("minimax", "--eps", "1", "--criterion", "prior", "--prior", "normal:0.3,0.1", "--gap", "1e-2"),
        DESIGN | BASED | COMPARED,
    ),
    "workload": (
        ("workload", "--eps", "1", "--queries", "prefix", "--size", "6", "--users", "1000"),
        DESIGN
        | COMPARED
        | {"queries": rows(name=text, variance=number, worst=number), "total_variance": number, "users": number},
    ),
    "workload worst": (
        ("workload", "--eps", "1", "--queries", "prefix", "--size", "5", "--criterion", "worst"),
        DESIGN | COMPARED | {"least_favourable.weights": numbers},
    ),
    "information": (
        ("information", "--eps", "2", "--model", "gaussian-location"),
        DESIGN | {"information.lower": number, "information.upper": number, "sign": number, "unbinned": number},
    ),
    "minimax unbiased": (
        ("minimax", "--eps", "1", "--unbiased", "--size", "9", "--gap", "1e-2"),
        DESIGN | BASED | COMPARED,
    ),
    "minimax matrix": (("minimax", "--eps", "1", "--loss-matrix", "loss.csv"), DESIGN | BASED | COMPARED),
    "minimax sweep": (
        ("minimax", "--sweep", "1,2", "--gap", "1e-2"),
        {"problem.epsilons": numbers, "designs": rows(problem=mapping, mechanism=mapping, certificate=mapping)},
    ),
    "minimax of a power": (("minimax", "--eps", "1", "--loss", "power:1.5", "--gap", "1e-2"), DESIGN | BASED),
    "minimax on whole numbers": (("minimax", "--eps", "1", "--domain", "1..4"), DESIGN | BASED | COMPARED),
    "minimax under data": (
        (
            *("minimax", "--eps", "1", "--criterion", "prior", "--prior-data", "data.csv", "--column", "x"),
            *("--gap", "1e-2"),
        ),
        DESIGN | BASED | COMPARED,
    ),
    "minimax lexicographic": (
        ("minimax", "--eps", "1", "--criterion", "lexicographic", "--gap", "1e-2"),
        DESIGN | BASED | COMPARED,
    ),
    "minimax with a cap": (
        ("minimax", "--eps", "1", "--criterion", "lexicographic", "--cap", "0.35", "--gap", "1e-2"),
        DESIGN | BASED | {"comparison": rows(name=text, keeps_cap=flag)},
    ),
    "minimax trade-off": (
        ("minimax", "--eps", "1", "--criterion", "pareto", "--points", "2", "--gap", "1e-2"),
        {"problem.epsilons": numbers, "designs": rows(worst=number, average=number)} | COMPARED,
    ),
    "minimax lexicographic matrix": (
        ("minimax", "--eps", "1", "--loss-matrix", "loss.csv", "--criterion", "lexicographic"),
        DESIGN | BASED | COMPARED,
    ),
    "minimax alone": (("minimax", "--eps", "2", "--gap", "1e-2", "--no-compare"), DESIGN | BASED),
    "minimax pairs": (
        ("minimax", "--loss-matrix", "loss.csv", "--privacy-matrix", "pairs.csv", "--criterion", "prior"),
        DESIGN | {"notes": lambda value: value == [], "comparison": lambda value: value == []},
    ),
    "metric": (
        ("metric", "--points", "places.csv", "--eps", "1", "--per", "2"),
        DESIGN | {"comparison": rows(name=text, lower=number, upper=number), "adversary_error": number},
    ),
    "metric worst": (("metric", "--points", "places.csv", "--eps", "1", "--criterion", "worst"), DESIGN),
    "aaa": (
        ("aaa", "--eps", "1", "--prior", "normal:0,0.2", "--bins", "4"),
        DESIGN | BASED | {"additive": number, "free": number, "baselines": values},
    ),
    "aaa free": (
        ("aaa", "--eps", "4", "--prior", "normal:0,0.2", "--tune", "--form", "free", "--no-compare"),
        DESIGN | BASED | {"tuning": rows(bins=number, reach=number, total=number)},
    ),
    "jrr": (("jrr", "--eps", "1", "--users", "100", "--colluders", "2"), JOINT),
    "jrr group": (("jrr", "--eps", "1", "--users", "100", "--group", "4", "--share", "0.05"), JOINT),
    "jrr of a column": (
        ("jrr", "--eps", "1", "--data", "labels.csv", "--value", "a", "--runs", "20"),
        JOINT
        | {"collected.value": text, "collected.left_out": number, "collected.estimate": number}
        | {"collected.joint.are": number, "collected.independent.are_percentiles": mapping},
    ),
    "jrr hidden": (
        ("jrr", "--eps", "1", "--users", "100", "--share", "0.03", "--hidden"),
        DESIGN | {"variance": number, "p": number, "mean_liars": number, "hidden.delta": number},
    ),
    "jrr with servers": (
        ("jrr", "--eps", "1", "--users", "20", "--share", "0.1", "--hidden", "--run-servers"),
        DESIGN | {"run.servers": number, "run.estimate": number, "run.bytes_sent": numbers},
    ),
    "jrr inside": (
        ("jrr", "--eps", "1", "--users", "100", "--inside", "oue", "--categories", "5", "--conditional-eps", "2"),
        {"strength": number, "variance": number, "independent_variance": number, "epsilon_conditional": numbers},
    ),
    "jrr between parties": (
        ("jrr", "--eps", "1", "--run-parties", "4"),
        JOINT | {"run.parties": number, "run.reports": numbers, "run.estimate": number},
    ),
    "compare": (
        ("compare", "--eps", "1", "--mechanisms", "pm,sw"),
        {
            "problem.epsilons": numbers,
            "cells": rows(eps=number, name=text, worst=number, average=number, privacy_loss=number),
            "floor": rows(eps=number, lower=number, upper=number),
        },
    ),
    "solve": (("solve", "problem.json"), DESIGN | {"problem.epsilon": number}),
    "show": (("show", "ogpm.json"), DESIGN | PIECES | {"errors": rows(loss=text, worst=number, average=number)}),
    "show joint": (("show", "jrr.json"), JOINT),
    "plot": (("plot", "ogpm.json", "--out", "picture.svg"), {"file": text, "picture": text, "kind": text}),
    "gallery": (
        ("gallery", "k_randomised_response"),
        {
            "name": text,
            "chapter": text,
            "title": text,
            "statement": text,
            "ours": number,
            "reference": number,
            "relation": text,
            "tolerance": number,
            "printed": none,
            "agrees": flag,
        },
    ),
    "gallery of all": (("gallery",), {"entries": rows(name=text, chapter=text, title=text)}),
    "gallery of an erratum": (("gallery", "ldp3_power"), {"printed": number, "agrees": flag}),
    "glossary": (("glossary", "t-sw"), ABOUT_A_NAME),
    "glossary of all": (("glossary",), {"entries": rows(**ABOUT_A_NAME)}),
    "reproduce": (
        ("reproduce", "jrr.heuristic", "jrr.partner"),
        {
            "claims": rows(id=text, paper=text, place=text, words=text, verdict=text, seconds=number, cost=text),
            "claims.1.numbers": rows(label=text, printed=number, corrected=number, lower=number, upper=number),
            "verdicts": values,
        },
    ),
    "examples": (("examples", "--out", "examples"), {"files": mapping}),
    "constants": (
        ("constants", "--eps", "1", "--criteria", "worst", "--gap", "1e-2"),
        {"constants": rows(epsilon=number, lower=number, upper=number, valid_for=text, claimed=flag)},
    ),
    "bench": (
        ("bench", "-e", "1", "-p", "grr,oue", "-m", "raw", "-r", "2", "-d", "labels.csv", "-u", "l1,mae"),
        {
            "cells": rows(
                protocol=text,
                postprocess=text,
                eps=number,
                metric=text,
                mean=number,
                low=known_or_none,
                high=known_or_none,
            )
        },
    ),
    "gain": (
        ("gain", "--eps", "1", "--bins", "8", "--users", "500", "-p", "grr", "-r", "1", "--method", "ibu"),
        {
            "cells": rows(law=text, protocol=text, users=number, bins=number, eps=number, mse=number, mae=number),
            "averages": rows(field=text, mse=number, mae=number),
        },
    ),
    "mean": (
        ("mean", "data.csv", "--column", "x", "--eps", "1", "--bounds", "0,1", "--mechanism", "pm", "--seed", "1"),
        {"epsilon": number, "results": rows(mechanism=text, count=number, **ESTIMATED)},
    ),
    "mean of several collections": (
        (
            *("mean", "data.csv", "--column", "x", "--eps", "1", "--bounds", "0,1", "--seed", "1"),
            *("--mechanism", "aaa,sw-em", "--runs", "2"),
        ),
        {"results.0.plan.bins": number, "results.1.lower": none, "results.1.over_runs.rmse": number},
    ),
    "protocols": (
        ("protocols", "--eps", "1", "--size", "4"),
        {"epsilon": number, "protocols": rows(key=text, name=text)},
    ),
    "estimate-counts": (
        ("estimate-counts", "reports.txt", "-p", "grr", "--eps", "1", "--domain", "0..2"),
        {"problem": mapping, "items": rows(item=text, frequency=number, standard_error=number, interval=ends)}
        | {"items": rows(estimate=number, lower=number, upper=number)},
    ),
    "budget": (
        (
            *("budget", "-p", "grr", "--metric", "l1", "--at-most", "0.5", "--data", "labels.csv"),
            *("--most-runs", "500", "--phi", "0.1"),
        ),
        {"epsilon": ends, "probability": number, "method": text, "simulations": number, "budgets": rows(epsilon=ends)},
    ),
    "budget of a search": (
        (
            *("budget", "-p", "grr", "--metric", "l1", "--at-most", "0.5", "--data", "labels.csv"),
            *("-m", "bs", "--runs", "50", "--phi", "0.1"),
        ),
        {"epsilon": ends, "probability": number, "method": text, "simulations": number},
    ),
    "capacity": (
        ("capacity", "-p", "grr", *WATER, "--metric", "fp", "--tau", "0.05"),
        {"epsilon": ends, "probability": pair, "cases": rows(capacity=number, tau=number, budgets=rows(epsilon=ends))},
    ),
    "classifier": (
        (
            *("classifier", "model.pkl", "--unpickle", "--data", "people.csv", "--eps", "2", "--label", "sick"),
            *("--columns", "age", "--mechanism", "pm", "--rows", "2", "--target", "0.7"),
        ),
        {
            "results": rows(mechanism=text, epsilon=number, total_epsilon=number, pac_delta=number, rho_is=text),
            "results.0.rho": values,
            "results.0.exact.average": ends,
            "results.0.simulated.worst": values,
            "best_guarantee": rows(epsilon=number, average=number, worst=number),
            "smallest_epsilon": rows(mechanism=text, target=number, epsilon=number, rho=number),
            "label_against_error": lambda value: value == [],
            "records": number,
            "misclassified": number,
            "delta": none,
            "seed": number,
        },
    ),
    "capacity simulated": (
        ("capacity", "-p", "grr", *WATER, "--metric", "fp", "--tau", "0.05", "-m", "simulated", "--runs", "200"),
        {"epsilon": ends, "probability": pair},
    ),
    "capacity by a search of Optimus": (
        (
            *("capacity", "-p", "grr", *WATER, "--metric", "fp", "--tau", "0.05", "-m", "dbs", "--phi", "1"),
            *("--most-runs", "200"),
        ),
        {"epsilon": ends, "probability": pair, "problem.method": text},
    ),
    "capacity at eps": (
        ("capacity", "-p", "grr", *WATER, "--at-eps", "0.8"),
        ALARMS | {"exact": flag, "method": text, "chebyshev": number, "epsilon": number},
    ),
    "capacity numeric at eps": (
        ("capacity", "-p", "pm", *WATER, "--at-eps", "0.8"),
        ALARMS | {"exact": flag, "method": text, "chebyshev": number, "error": number},
    ),
    "table": (
        ("table", "ogpm.json"),
        {"kind": text, "epsilon": number, "bits": number, "privacy_loss": number, "sha256": text},
    ),
    "verify": (
        ("verify", "table.json"),
        {"verdict": text, "failures": lambda value: value == [], "privacy_loss": number, "epsilon": number},
    ),
    "export": (("export", "table.json", "--to", "python", "--out", "sources"), {"language": text, "files": bool}),
    "export with a state": (
        ("export", "grr.json", "--to", "python", "--out", "device", "--reports", "3", "--values", "1"),
        {"language": text, "device": bool, "files": bool},
    ),
    "export a package": (
        ("export", "table.json", "--to", "c", "--package", "survey", "--out", "packed"),
        {"package": text, "folder": text, "tables": bool, "files": bool},
    ),
    "export a package with a state": (
        ("export", "grr.json", "--to", "c", "--package", "survey", "--out", "kept", "--reports", "3"),
        {"package": text, "device": bool, "tables": bool, "files": bool},
    ),
    "apply": (
        ("apply", "table.json", "--in", "data.csv", "--column", "x", "--out", "out.csv"),
        {"rows": number, "epsilon": number, "privacy_loss": number},
    ),
    "estimate": (("estimate", "table.json", "--in", "kept.csv"), ESTIMATED | {"count": number, "deviation": number}),
    "estimate of frequencies": (
        ("estimate", "grr.json", "--in", "answers.csv", "--frequencies"),
        {"estimates": numbers, "items": rows(item=text, estimate=number, lower=number, standard_error=number)},
    ),
    "estimate of a workload": (
        ("estimate", "answers.json", "--in", "prefixes.csv", "--column", "x"),
        {"queries": rows(item=text, estimate=number, lower=number, upper=number), "bias": number}
        | {"distribution.monotone": numbers, "distribution.quantiles": rows(share=number, type=number, lower=number)},
    ),
    "collection": (
        ("collection", "x=table.json", "answer=grr.json"),
        {"epsilon": number, "exact_epsilon": text, "privacy_loss": number, "sha256": text, "spending": text}
        | {"attributes": rows(name=text, table=text, epsilon=number, share=number, report=text, bytes=number)},
    ),
    "collect-reports": (
        ("collect-reports", "envelopes.txt", "--of", "grr.json", "--store", "store.db", "--new-store"),
        {"accepted": number, "refused": values, "batches": lambda value: value == [], "waiting": number},
    ),
    "collect-reports with estimates": (
        (
            *("collect-reports", "envelopes.txt", "--of", "grr.json", "--store", "other.db", "--new-store"),
            *("--out", "collected", "--least", "1", "--estimate", "people"),
        ),
        {"estimates": rows(tables=number, count=number, confidence=number, weights=text)}
        | {"batches": rows(file=text, count=number, table=text), "estimates.0.estimate": number},
    ),
    "sign": (
        ("sign", "table.json", "--key", "secret.key"),
        {"file": text, "comment": text, "public_key": text},
    ),
    "sign --new-key": (("sign", "--new-key", "new.key"), {"file": text, "comment": none, "public_key": text}),
    "reproduce --list": (("reproduce", "--list"), {"claims": rows(id=text, paper=text, cost=text)}),
    "schema": (("schema", "minimax"), {"title": text, "anyOf": lambda value: len(value) == 4}),
    "trajectory perturb": (
        ("trajectory", "perturb", "paths.csv", "--eps", "2", "--bounds", "0,1,0,1", "--out", "reports.csv", "--force"),
        {"rows": number, "epsilon_location": number, "released": flag, "files": bool},
    ),
    "trajectory apply": (
        (
            *("trajectory", "apply", "paths.csv", "--x-table", "table.json", "--y-table", "table.json"),
            *("--bounds", "0,1,0,1", "--out", "released.csv", "--force"),
        ),
        {"rows": number, "released": lambda value: value is True},
    ),
    "trajectory compare": (
        ("trajectory", "compare", "--eps", "2", "--paths", "3", "--length", "4", "--methods", "tracs-d,tracs-c"),
        {"cells": rows(method=text, mean=number, low=known_or_none, high=known_or_none), "paths": number, "per": text},
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every file the commands of the table read."""
    from mechdesign.cli import main

    path = tmp_path_factory.mktemp("json")
    (path / "data.csv").write_text("x\n" + "\n".join(f"{k / 200:.3f}" for k in range(200)) + "\n")
    (path / "labels.csv").write_text("\n".join("abcd"[k * k % 4] for k in range(800)))
    (path / "problem.json").write_text('{"kind": "piecewise", "epsilon": 1}')
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
            arguments, _ = TABLE[name]
            outcome = run(*arguments, "--json", *(["--force"] if arguments[0] in ("plot", "export", "apply") else []))
            assert outcome.code == 0, outcome.err
            seen[name] = only_object(outcome.out)
        return seen[name]

    return answer


def command_of(name: str) -> str:
    """The command of a line of the table, as `schema` takes it."""
    arguments, _ = TABLE[name]
    return " ".join(arguments[: 2 if arguments[0] == "trajectory" else 1])


def test_the_table_has_every_command() -> None:
    assert {arguments[0] for arguments, _ in TABLE.values()} == set(NAMES)


@pytest.mark.parametrize("name", TABLE)
def test_keys_and_types_are_as_published(answered: Answered, name: str) -> None:
    document = answered(name)
    for path, kind in TABLE[name][1].items():
        assert kind(at(document, path)), f"{path}: {at(document, path)!r}"


# -- schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in TABLE if name != "schema"])
def test_answers_fit_the_schema_of_their_command(answered: Answered, name: str) -> None:
    document = answered(name)
    errors = list(Draft202012Validator(json.loads(schema_of(command_of(name)))).iter_errors(document))
    assert not errors, "\n".join(f"{list(error.path)}: {error.message[:300]}" for error in errors)


def test_every_command_has_a_schema_that_an_answer_was_tried_on() -> None:
    assert set(shapes()) == {command_of(name) for name in TABLE} - {"schema"} | {ERROR}


@pytest.mark.parametrize("command", sorted(shapes()))
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


def test_a_schema_of_no_command_is_refused_with_those_there_are(run: Any) -> None:
    outcome = run("schema", "minimum")
    assert outcome.code == 2
    assert "be one of" in outcome.err
    assert "minimax" in outcome.err


# -- streams ----------------------------------------------------------------------------------------------------------


def test_progress_goes_to_stderr_beside_the_json(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(output, "_FIRST_TICK", 1e-3)
    arguments, search = TABLE["budget"][0], runner.run

    def unhurried(*given: Any, **more: Any) -> Any:
        time.sleep(0.5)
        return search(*given, **more)

    monkeypatch.setattr(runner, "run", unhurried)
    outcome = run(*arguments, "--json")
    assert re.search(r"mechdesign: .* s\n", outcome.err)
    assert only_object(outcome.out)
    assert run(*arguments, "--json", "--quiet").err == ""


@pytest.mark.parametrize("command", sorted({arguments[0] for arguments, _ in TABLE.values()} - {"trajectory"}))
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
        "schema": ("minimum",),
        "show": (missing,),
        "sign": (missing, "--key", missing),
        "solve": (missing,),
        "table": ("--eps", "1", "--bits", "7"),
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
    assert document["epsilon_conditional"][-1] == "inf"


def test_several_questions_have_a_list_and_no_lone_answer(run: Any) -> None:
    document = only_object(run("capacity", "-p", "grr,oue", *WATER, "--at-eps", "1", "--json").out)
    assert "probability" not in document
    assert [row["protocol"] for row in document["cases"][0]["protocols"]] == ["grr", "oue"]


@pytest.mark.parametrize("command", [name for name in NAMES if name != "trajectory"])
def test_every_command_takes_json_and_quiet(run: Any, command: str) -> None:
    shown = run(command, "--help").out
    assert "--json" in shown
    assert "--quiet" in shown
