"""Surveys: what clients run is fixed when it is written, comes back the same, and is not believed but decided."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.frequencies.clients import OWN, PACKAGES
from mechdesign.studies.frequencies.protocols import PROTOCOLS, LocalHashing, hashing, protocol
from mechdesign.studies.frequencies.survey import Survey
from tests.oracles.format_surveys import chances

ITEMS = ("ape", "bee", "çat", "dog", "eel")


def rewritten(path: Path, **changes: Any) -> Path:
    """The file with other values in its question, canonical and with its right hash."""
    document = json.loads(path.read_text())
    del document["sha256"]
    document["questions"][0] |= changes
    plain = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    document["sha256"] = hashlib.sha256(plain.encode()).hexdigest()
    path.write_text(json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n")
    return path


@pytest.mark.parametrize("name", [line.key for line in PROTOCOLS])
def test_a_file_comes_back_the_same(tmp_path: Path, name: str) -> None:
    options = {"limit": 2.5} if name.startswith("l-") else {}
    survey = Survey(name, 1.1, ITEMS, parameters=options)
    path = survey.write(tmp_path / "survey.json")
    again = Survey.read(path)
    assert again == survey
    assert again.write(tmp_path / "again.json").read_bytes() == path.read_bytes()
    law = protocol(name, 1.1, 5, **options)
    assert (again.law.p, again.law.q) == (law.p, law.q)


@pytest.mark.parametrize(
    "survey",
    [
        Survey("olh", 1.0, ITEMS, client="pure-ldp"),
        Survey("l-grr", 1.0, ITEMS, client="multi-freq-ldpy", parameters={"limit": 2.0}),
        Survey("l-olh", 2.0, ITEMS, client="multi-freq-ldpy", parameters={"limit": 4.0}),
        Survey("l-blh", 2.0, ITEMS, client="multi-freq-ldpy", parameters={"limit": 4.0}),
        Survey("oue", 1.0, ITEMS, p=0.6, q=0.3),
        Survey("grr", 1.0, ITEMS, p=0.6),
        Survey("olh", 1.0, ITEMS, parameters={"g": 7}, p=0.6),
        Survey("the", 1.0, ITEMS, parameters={"threshold": 0.8}),
        Survey("ss", 1.0, ITEMS, parameters={"subset": 3}),
    ],
    ids=lambda survey: f"{survey.protocol}-{survey.client}-{survey.p}",
)
def test_other_clients_and_chances_come_back_too(tmp_path: Path, survey: Survey) -> None:
    again = Survey.read(survey.write(tmp_path / "survey.json"))
    assert again == survey
    assert (again.law.p, again.law.q, again.hash) == (survey.law.p, survey.law.q, survey.hash)


def test_a_rule_that_changes_later_leaves_written_surveys_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The g of local hashing is read, not derived."""
    survey = Survey("olh", 1.0, ITEMS)
    path = survey.write(tmp_path / "survey.json")
    monkeypatch.setattr(hashing, "best_hashes", lambda epsilon, size: 17)
    fresh = Survey("olh", 1.0, ITEMS).law
    again = Survey.read(path).law
    assert isinstance(fresh, LocalHashing)
    assert isinstance(again, LocalHashing)
    assert (fresh.hashes, again.hashes) == (17, survey.options["g"])


def test_files_are_canonical_and_have_no_json_floats(tmp_path: Path) -> None:
    text = Survey("olh", 0.1, ITEMS).write(tmp_path / "survey.json").read_text()
    document = json.loads(text, parse_float=lambda number: pytest.fail(f"{number} is a float"))
    assert text == json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    assert text.isascii()
    assert document["questions"][0]["epsilon"] == "0.1000000000000000055511151231257827021181583404541015625"


def test_reports_are_counted_by_their_survey(tmp_path: Path) -> None:
    survey = Survey("olh", 1.0, ITEMS)
    reports = survey.law.report(np.arange(5).repeat(20), np.random.default_rng(1))
    np.save(tmp_path / "reports.npy", reports)
    assert survey.count(tmp_path / "reports.npy").support.tolist() == survey.law.support(reports).tolist()


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    survey = Survey("grr", 1.0, ITEMS)
    path = survey.write(tmp_path / "survey.json")
    with pytest.raises(FileProblem, match="not exist"):
        survey.write(path)
    survey.write(path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["survey.json"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"p": "0.875"}, "p in .*as the rest says"),
        ({"q": "0.25"}, "q in .*as the rest says"),
        ({"p": 0.5}, "exact decimal"),
        ({"p": "1e-1"}, "exact decimal"),
        ({"p": "nan"}, "exact decimal"),
        ({"p": None}, "p and q"),
        ({"epsilon": "-1"}, "eps in .*above 0"),
        ({"epsilon": None}, "eps in"),
        ({"epsilon": "0.10"}, "exact decimal"),
        ({"parameters": {"g": 1}}, "g in .*whole number"),
        ({"parameters": {"g": 3.0}}, "g in .*exact decimal"),
        ({"parameters": {"g": "3"}}, "g in .*whole number"),
        ({"parameters": {"g": True}}, "g in .*exact decimal"),
        ({"parameters": {"g": None}}, "g in .*whole number"),
        ({"parameters": {"g": 5}}, "p in .*as the rest says"),
        ({"parameters": {}}, "parameters in .*as the rest says"),
        ({"parameters": []}, "parameters in .*object"),
        ({"parameters": {"g": 3, "subset": 2}}, "option in .*option of olh"),
        ({"hash": "xxh32-decimal"}, "hash in .*xxh64"),
        ({"items": ["a", "a", "b"]}, "domain in .*once"),
        ({"items": "abc"}, "items in .*list"),
        ({"items": [1, 2]}, "items in .*texts"),
        ({"protocol": "OLH"}, "protocol in .*'olh'"),
        ({"protocol": "xyz"}, "protocol in"),
        ({"protocol": 7}, "protocol in"),
        ({"client": "nobody"}, "client in"),
        ({"stated": 1}, "stated in .*true or false"),
        ({"extra": 1}, "extra in .*keys of the question"),
    ],
    ids=str,
)
def test_files_that_cannot_be_true_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    path = rewritten(Survey("olh", 1.0, ITEMS).write(tmp_path / "survey.json"), **changes)
    with pytest.raises(FileProblem, match=words):
        Survey.read(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"g":3', '"g":4', "sha256"),
        ('"version":1', '"version":2', "version"),
        ('"version":1', '"version":true', "version"),
        ("mechdesign survey", "mechdesign table", "format"),
        ('"questions":[{', '"questions": [{', "canonical"),
        ('"g":3', '"g":3,"g":3', "twice"),
        ("}\n", "", "JSON"),
        ("[{", "7", "JSON"),
    ],
)
def test_files_that_were_touched_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = Survey("olh", 1.0, ITEMS).write(tmp_path / "survey.json")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(FileProblem, match=words):
        Survey.read(path)


@pytest.mark.parametrize("questions", [[], [{}, {}], {}, [7], None])
def test_a_survey_has_one_question_in_this_version(tmp_path: Path, questions: Any) -> None:
    content = {"format": "mechdesign survey", "version": 1, "questions": questions}
    plain = json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n"
    content["sha256"] = hashlib.sha256(plain.encode()).hexdigest()
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n")
    with pytest.raises(FileProblem, match="questions"):
        Survey.read(path)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("l-oue", 1.0, ITEMS), {}, "limit must be given"),
        (("grr", 1.0, ITEMS), {"q": 0.1}, "p must be given"),
        (("grr", 1.0, ITEMS), {"parameters": {"g": 3}}, "option"),
        (("grr", 1.0, "ab"), {}, "domain"),
        (("grr", 1.0, ("a",)), {}, "two items"),
        (("grr", float("nan"), ITEMS), {}, "eps"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(arguments: Any, options: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Survey(*arguments, **options)


FORMULAS = (Path(__file__).parents[3] / "FORMAT.md").read_text(encoding="utf-8").rpartition("| protocol | p | q |")[2]
FORMS = [
    (client, name)
    for client, names in ((OWN, [line.key for line in PROTOCOLS]), *((p.key, p.protocols) for p in PACKAGES))
    for name in names
    if re.search(rf"^\|[^|]*`{name}`", FORMULAS, re.MULTILINE)
]


def test_every_protocol_that_is_published_has_its_formulas_in_the_text_of_the_format() -> None:
    assert {name for _, name in FORMS} >= {"grr", "sue", "oue", "blh", "olh", "ss", "she", "the", "hr"}
    assert {name for _, name in FORMS} >= {"l-grr", "l-sue", "l-oue", "l-soue", "l-osue", "l-blh", "l-olh"}


@pytest.mark.parametrize(("client", "name"), FORMS, ids=lambda text: text)
def test_p_and_q_are_those_of_the_formulas_in_the_text_of_the_format(client: str, name: str) -> None:
    parameters = {"limit": 2.5} if name.startswith("l-") else {}
    for size, epsilon in ((2, 0.4), (6, 1.5), (40, 0.4), (40, 1.5)):
        survey = Survey(name, epsilon, tuple(f"item {v}" for v in range(size)), client, parameters)
        (question,) = survey.document()["questions"]
        said = float(question["p"]), float(question["q"])
        assert chances(question) == pytest.approx(said, rel=1e-9, abs=0)
