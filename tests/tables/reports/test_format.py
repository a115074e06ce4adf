"""A reader of collections and envelopes that was written from the text of FORMAT.md alone agrees with the package."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from datetime import date, timedelta
from fractions import Fraction
from math import prod
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies.shipping import encoding
from mechdesign.tables import Table, checker, make_table
from mechdesign.tables.reports import Attribute, Collection, Envelope, Subject, enveloped, payload_of
from mechdesign.words.domains import Finite

TABLES = (
    make_table(catalogue.randomised_response(1.0, Finite((0, 1))), 16),
    make_table(catalogue.duchi(1.5), 16),
    make_table(catalogue.pm(0.5)),
    make_table(catalogue.laplace(2.0), 16),
    *(make_table(encoding(name, 1.0, 20)) for name in ("grr", "oue", "olh", "ss", "hr", "cms")),
)
LARGE = make_table(catalogue.randomised_response(0.25, Finite(tuple(range(300)))), 32)
"""Its reports have two bytes."""

# -- the reader: the standard library, and the stand-alone checker for tables -----------------------------------------


def canonical(said: Any) -> bytes:
    return (json.dumps(said, sort_keys=True, separators=(",", ":")) + "\n").encode()


def report_of(table: dict[str, Any]) -> dict[str, Any]:
    if table["kind"] in ("window", "unbiased", "finite"):
        count = len(table["law"]["outputs"])
        size = 1
        while 256**size <= count - 1:
            size += 1
        return {"kind": "index", "outputs": count, "size": size}
    if table["domain"]["kind"] == "items":
        return {"kind": "bytes", "size": size_on_items(table)}
    return {"kind": "double", "size": 8}


def size_on_items(table: dict[str, Any]) -> int:
    """From the table of kinds on items."""
    k, law = table["domain"]["count"], table["law"]

    def bytes_of(n: int) -> int:
        return max(1, -(-(n - 1).bit_length() // 8))

    match table["kind"]:
        case "response":
            return bytes_of(k)
        case "unary" | "subset":
            return -(-k // 8)
        case "hashing":
            return 8 + bytes_of(law["hashes"])
        case "hadamard":
            return bytes_of(law["blocks"] * 2 ** (-(-k // law["blocks"])).bit_length())
    return bytes_of(law["functions"]) + -(-law["buckets"] // 8)


def read_collection(content: bytes) -> dict[str, Any]:
    said = json.loads(content)
    assert canonical(said) == content
    assert set(said) == {"format", "version", "name", "spending", "attributes", "epsilon", "privacy", "sha256"}
    body = {key: value for key, value in said.items() if key != "sha256"}
    assert said["sha256"] == hashlib.sha256(canonical(body)).hexdigest()
    each = said["attributes"]
    for attribute in each:
        assert set(attribute) == {"name", "table", "share", "report"}
        checker.check(canonical(attribute["table"]))
        assert attribute["report"] == report_of(attribute["table"])
    epsilons = [Fraction(attribute["table"]["epsilon"]) for attribute in each]
    ratios = [Fraction(attribute["table"]["privacy"]) for attribute in each]
    if said["spending"] == "split":
        assert said["epsilon"] == str(sum(epsilons))
        assert said["privacy"] == str(prod(ratios))
        assert [a["share"] for a in each] == [str(epsilon / sum(epsilons)) for epsilon in epsilons]
    else:
        assert said["epsilon"] == str(max(epsilons))
        assert said["privacy"] == str(max(ratios))
        assert {a["share"] for a in each} == {str(Fraction(1, len(each)))}
    return said


def read_envelope(line: bytes) -> tuple[int, int, date, str, bytes, bytes]:
    assert line.endswith(b"\n")
    content = base64.b64decode(line[:-1], validate=True)
    assert content[:5] == b"mdre\x01"
    form, number = content[5], int.from_bytes(content[6:8], "little")
    day = date(1970, 1, 1) + timedelta(days=int.from_bytes(content[8:12], "little"))
    return form, number, day, content[12:44].hex(), content[44:60], content[60:]


def read_report(table: dict[str, Any], report: bytes) -> Any:
    if report_of(table)["kind"] == "bytes":
        assert len(report) == report_of(table)["size"]
        return list(report)
    if report_of(table)["kind"] == "double":
        return struct.unpack("<d", report)[0]
    return float(table["law"]["outputs"][int.from_bytes(report, "little")])


# -- both agree --------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    tables=st.lists(st.sampled_from(TABLES), min_size=1, max_size=6),
    spending=st.sampled_from(["split", "sample"]),
    name=st.text("abc é\U0001f600", min_size=1, max_size=8).filter(lambda text: text.strip() == text),
)
def test_the_reader_agrees_on_collections(tables: list[Table], spending: str, name: str) -> None:
    made = Collection(name, spending, [Attribute(f"{name}{i}", table) for i, table in enumerate(tables)])
    said = read_collection(made.content)
    assert (said["name"], said["sha256"]) == (made.name, made.sha256)
    assert Fraction(said["epsilon"]) == made.epsilon
    assert Fraction(said["privacy"]) == made.ratio
    assert Collection.of_content(made.content) == made


@pytest.mark.parametrize("table", [*TABLES, LARGE], ids=lambda table: f"{table.kind} {table.name}")
@pytest.mark.parametrize("attribute", [None, 0, 513, "device"])
def test_the_reader_agrees_on_envelopes_and_reports(table: Table, attribute: int | str | None) -> None:
    is_device = attribute == "device"
    subject = Subject(table.sha256, None if is_device else attribute, is_device)
    for _ in range(20):
        envelope = enveloped(table, 1.0, date(2031, 5, 6), subject)
        form, number, day, named, nonce, report = read_envelope(envelope.line)
        assert (form, number) == ((2, 0) if is_device else (0, 0) if attribute is None else (1, attribute))
        assert (day, named, nonce) == (date(2031, 5, 6), table.sha256, envelope.nonce)
        found = payload_of(table).read(report, table)
        assert read_report(dict(table.document), report) == (found.tolist() if hasattr(found, "tolist") else found)
        assert Envelope.of_line(envelope.line) == envelope
