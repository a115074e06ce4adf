"""Collections: one exact total that follows from the tables, and files that say nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import Table, make_table
from mechdesign.tables.kinds import FiniteLaw
from mechdesign.tables.reports import Attribute, Collection, Spending, load_collection


def canonical(document: dict[str, Any]) -> bytes:
    body = {key: value for key, value in document.items() if key != "sha256"}

    def written(said: dict[str, Any]) -> bytes:
        return (json.dumps(said, sort_keys=True, separators=(",", ":")) + "\n").encode()

    return written(body | {"sha256": hashlib.sha256(written(body)).hexdigest()})


def test_split_adds_epsilons_and_multiplies_ratios(vote: Table, pay: Table, survey: Collection) -> None:
    assert survey.epsilon == vote.epsilon + pay.epsilon == Fraction(3, 2)
    assert survey.ratio == vote.ratio * pay.ratio
    assert survey.shares == (Fraction(2, 3), Fraction(1, 3))


def test_sampling_spends_the_largest(vote: Table, pay: Table) -> None:
    sampled = Collection("survey", "sample", (Attribute("vote", vote), Attribute("pay", pay)))
    assert (sampled.epsilon, sampled.ratio) == (vote.epsilon, max(vote.ratio, pay.ratio))
    assert sampled.shares == (Fraction(1, 2), Fraction(1, 2))


def test_the_total_is_the_largest_ratio_of_all_that_one_person_sends(vote: Table, newer_vote: Table) -> None:
    """Exactly, by enumeration of all pairs of people and of all they can send."""
    parts = (Attribute("old", vote), Attribute("new", newer_vote))
    laws = [part.table.law for part in parts]
    assert all(isinstance(law, FiniteLaw) for law in laws)
    rows = [law.rows for law in laws]
    split = {
        (i, j): [Fraction(a * b) for a in rows[0][i] for b in rows[1][j]] for i in range(2) for j in range(2)
    }  # denominators are the same for all
    sampled = {(i, j): [Fraction(a) for a in (*rows[0][i], *rows[1][j])] for i in range(2) for j in range(2)}
    for spending, sent in (("split", split), ("sample", sampled)):
        worst = max(a / b for one in sent.values() for other in sent.values() for a, b in zip(one, other, strict=True))
        assert Collection("both", spending, parts).ratio == worst


def test_a_file_comes_back_as_the_same_collection(survey: Collection, tmp_path: Path) -> None:
    path = survey.save(tmp_path / "survey.json")
    assert load_collection(path) == survey
    assert path.read_bytes() == survey.content == canonical(json.loads(path.read_text()))


def test_the_file_holds_what_the_format_says(survey: Collection, vote: Table, pay: Table) -> None:
    said = json.loads(survey.content)
    assert set(said) == {"attributes", "epsilon", "format", "name", "privacy", "sha256", "spending", "version"}
    assert said["attributes"][0] == {
        "name": "vote",
        "report": {"kind": "index", "outputs": 2, "size": 1},
        "share": "2/3",
        "table": json.loads(vote.content),
    }
    assert said["attributes"][1]["report"] == {"kind": "double", "size": 8}
    assert said["epsilon"] == "3/2"
    assert Fraction(said["privacy"]) == vote.ratio * pay.ratio


WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a smaller total": lambda said: said.update(epsilon="1"),
    "another ratio": lambda said: said.update(privacy="2"),
    "another way of spending": lambda said: said.update(spending="sample"),
    "an unknown way": lambda said: said.update(spending="twice"),
    "another share": lambda said: said["attributes"][0].update(share="1/3"),
    "another report": lambda said: said["attributes"][0]["report"].update(outputs=3),
    "a report of another kind": lambda said: said["attributes"][0].update(report={"kind": "double", "size": 8}),
    "two of one name": lambda said: said["attributes"][1].update(name="vote"),
    "a name with a blank at its end": lambda said: said.update(name="survey "),
    "no attributes": lambda said: said.update(attributes=[]),
    "a table edited": lambda said: said["attributes"][0]["table"].update(epsilon="2"),
    "a table that is none": lambda said: said["attributes"][0].update(table={}),
    "a key more": lambda said: said.update(more=1),
    "a key less": lambda said: said.pop("privacy"),
    "a later version": lambda said: said.update(version=2),
    "version true": lambda said: said.update(version=True),
    "another format": lambda said: said.update(format="mechdesign table"),
    "nested without end": lambda said: said["attributes"][0].update(table=json.loads("[" * 500 + "]" * 500)),
}


@pytest.mark.parametrize("change", WRONG)
def test_what_a_file_says_is_decided_not_believed(survey: Collection, change: str) -> None:
    said = json.loads(survey.content)
    WRONG[change](said)
    with pytest.raises(FileProblem):
        Collection.of_content(canonical(said))


def test_a_hash_that_does_not_fit_and_bytes_that_are_not_canonical_are_refused(survey: Collection) -> None:
    said = json.loads(survey.content)
    for content in (
        survey.content.replace(said["sha256"].encode(), b"0" * 64),
        survey.content.replace(b",", b", ", 1),
        survey.content.rstrip(),
        survey.content + b"\n",
    ):
        with pytest.raises(FileProblem):
            Collection.of_content(content)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_byte_damaged_anywhere_is_refused_with_a_typed_error(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(SMALL.content) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != SMALL.content[place]))
    content = SMALL.content[:place] + bytes([byte]) + SMALL.content[place + 1 :]
    with pytest.raises(FileProblem):
        Collection.of_content(content)


SMALL = Collection("s", "split", [Attribute("a", make_table(catalogue.duchi(1.0), 16))])


def test_split_sends_one_report_of_every_attribute(survey: Collection) -> None:
    sent = survey.enveloped({"vote": "yes", "pay": 0.5}, date(2030, 1, 1))
    assert [envelope.subject for envelope in sent] == [survey.subject(0), survey.subject(1)]
    assert len({envelope.nonce for envelope in sent}) == 2


def test_sampling_sends_one_of_an_attribute_drawn_uniformly(vote: Table, newer_vote: Table) -> None:
    """3 attributes, 3000 draws: each within 6 standard deviations of a third, false alarm below 1e-8."""
    parts = tuple(Attribute(name, vote) for name in "abc")
    sampled = Collection("three", Spending.SAMPLE, parts)
    drawn = [sampled.drawn() for _ in range(3000)]
    assert all(len(one) == 1 for one in drawn)
    for number in range(3):
        assert abs(drawn.count((number,)) - 1000) < 6 * (3000 * 2 / 9) ** 0.5


def test_more_attributes_than_a_file_may_have_are_refused(vote: Table) -> None:
    assert Collection("many", "split", [Attribute(str(i), vote) for i in range(100)]).epsilon == 100
    with pytest.raises(InvalidInput, match="at most 100"):
        Collection("many", "split", [Attribute(str(i), vote) for i in range(101)])


def test_the_largest_product_of_ratios_is_read_again() -> None:
    table = make_table(catalogue.laplace(1.0), 62)
    largest = Collection("many", "split", [Attribute(str(i), table) for i in range(100)])
    assert Collection.of_content(largest.content) == largest
    assert abs(largest.privacy_loss - 100) < 1e-3
