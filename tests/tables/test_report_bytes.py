"""Reports that are bytes: in files and frames, and read by a reader that was written from FORMAT.md alone."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.studies.frequencies import designed, protocol_table
from mechdesign.studies.frequencies.shipping import SHIPPED
from mechdesign.tables import (
    Table,
    Tally,
    apply,
    apply_table,
    estimate,
    report,
    sample,
    test_vectors as vectors_of_table,
)
from mechdesign.tables.misfits import Misfits
from mechdesign.tables.reports.payload import rows_of_list, texts_of

LABELS = ("ape", "bee", "cat", "dog", "eel")
SMALL = {"cms": {"functions": 8, "buckets": 16}}


def table_of(name: str, labels: bool = True, epsilon: float = 2.0) -> Table:
    return protocol_table(name, epsilon, LABELS if labels else len(LABELS), **SMALL.get(name, {}))


# -- a reader from the text of FORMAT.md -------------------------------------------------------------------------------


def bytes_of(n: int) -> int:
    return max(1, ((n - 1).bit_length() + 7) // 8)


def xxh64(v: int, s: int) -> int:
    m, p1, p2 = 2**64, 11400714785074694791, 14029467366897019727
    p3, p4, p5 = 1609587929392839161, 9650029242287828579, 2870177450012600261

    def rot(a: int, r: int) -> int:
        return (a << r | a >> (64 - r)) % m

    a = (rot(v * p2 % m, 31) * p1 % m) ^ ((s + p5 + 8) % m)
    a = (rot(a, 27) * p1 + p4) % m
    a = (a ^ (a >> 33)) * p2 % m
    a = (a ^ (a >> 29)) * p3 % m
    return a ^ (a >> 32)


class Reader:
    """The sampling rules and the supports of the section on items, over the JSON of a table."""

    def __init__(self, content: bytes) -> None:
        self.said = json.loads(content)
        self.law, self.k = self.said["law"], self.said["domain"]["count"]

    def draw(self, bits: int) -> int:
        size = (bits + 7) // 8
        part, self.left, self.used = self.left[:size], self.left[size:], self.used + size
        return int.from_bytes(part, "little") % 2**bits

    def below(self, n: int) -> int:
        while (r := self.draw((n - 1).bit_length())) >= n:
            pass
        return r

    def choose(self, g: int, mine: int) -> int:
        u = self.draw(self.said["bits"])
        if u < self.law["own"]:
            return mine
        return (mine + 1 + (u - self.law["own"]) // self.law["other"]) % g

    def coins(self, w: int, mine: int) -> bytes:
        found = bytearray((w + 7) // 8)
        for v in range(w):
            counts = self.law["own_bit"] if v == mine else self.law["other_bit"]
            if self.draw(self.said["bits"]) < counts[1]:
                found[v // 8] += 1 << v % 8
        return bytes(found)

    def sample(self, v: int, stream: bytes) -> tuple[str, int]:
        self.left, self.used, law = stream, 0, self.law
        return getattr(self, self.said["kind"])(v, law).hex(), self.used

    def response(self, v: int, law: Any) -> bytes:
        return self.choose(self.k, v).to_bytes(bytes_of(self.k), "little")

    def unary(self, v: int, law: Any) -> bytes:
        return self.coins(self.k, v)

    def hashing(self, v: int, law: Any) -> bytes:
        g, s = law["hashes"], self.draw(64)
        return s.to_bytes(8, "little") + self.choose(g, xxh64(v, s) % g).to_bytes(bytes_of(g), "little")

    def sketch(self, v: int, law: Any) -> bytes:
        m, w = law["functions"], law["buckets"]
        j = self.draw(m.bit_length() - 1)
        return j.to_bytes(bytes_of(m), "little") + self.coins(w, xxh64(v, j) % w)

    def subset(self, v: int, law: Any) -> bytes:
        holds = self.draw(self.said["bits"]) < law["own"]
        others = [(v + step) % self.k for step in range(1, self.k)]
        for i in range(law["subset"]):
            j = i + self.below(self.k - 1 - i)
            others[i], others[j] = others[j], others[i]
        members = [*others[: law["subset"] - 1], v if holds else others[law["subset"] - 1]]
        return sum(1 << u for u in members).to_bytes((self.k + 7) // 8, "little")

    def hadamard(self, v: int, law: Any) -> bytes:
        blocks = law["blocks"]
        t = (-(-self.k // blocks)).bit_length()
        r, h = v // blocks + 1, self.choose(2 * blocks, 2 * (v % blocks))
        z = self.draw(t)
        if (z & r).bit_count() % 2 != h % 2:
            z ^= r & -r
        return (h // 2 * 2**t + z).to_bytes(bytes_of(blocks * 2**t), "little")

    def supports(self, y: bytes) -> list[Fraction]:
        law, items, number = self.law, range(self.k), int.from_bytes(y, "little")
        match self.said["kind"]:
            case "response":
                return [Fraction(v == number) for v in items]
            case "unary" | "subset":
                return [Fraction(number >> v & 1) for v in items]
            case "hashing":
                s, said, g = number % 2**64, number >> 64, law["hashes"]
                return [Fraction(xxh64(v, s) % g == said) for v in items]
            case "sketch":
                size, w = bytes_of(law["functions"]), law["buckets"]
                j, bits = number % 256**size, number >> 8 * size
                return [Fraction(bits >> xxh64(v, j) % w & 1) for v in items]
        blocks = law["blocks"]
        t = (-(-self.k // blocks)).bit_length()
        c, z = divmod(number, 2**t)
        inside = [v % blocks == c for v in items]
        even = [(z & (v // blocks + 1)).bit_count() % 2 == 0 for v in items]
        return [Fraction(e) if i else Fraction(1, 2) for i, e in zip(inside, even, strict=True)]

    def estimates(self, reports: list[bytes]) -> list[float]:
        p, q = (Fraction(self.said["estimator"][name]) for name in ("p", "q"))
        total = [sum(parts) for parts in zip(*map(self.supports, reports), strict=True)]
        return [float((Fraction(part) / len(reports) - q) / (p - q)) for part in total]


@pytest.mark.parametrize("seed", range(80))
def test_a_reader_written_from_the_format_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    name = SHIPPED[seed % len(SHIPPED)]
    size, bits = int(rng.integers(3, 40)), int(rng.choice([32, 53, 62]))
    table = protocol_table(name, float(rng.uniform(0.2, 5)), size, bits, **SMALL.get(name, {}))
    reader = Reader(table.content)
    for case in vectors_of_table(table, 5)["cases"][:: 1 + seed % 3]:
        assert reader.sample(int(case["x"]), bytes.fromhex(case["bytes"])) == (case["y"], case["used"])
    reports = sample(table, np.arange(size)).tolist()
    found = Tally(table).add(reports).frequencies()
    assert np.allclose(found.estimates, reader.estimates(reports), rtol=1e-9, atol=1e-9)


# -- files and frames --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("form", [".csv", ".parquet"])
def test_files_of_reports_come_back(name: str, form: str, tmp_path: Path) -> None:
    table, data, out = table_of(name), tmp_path / "data.csv", tmp_path / f"reports{form}"
    data.write_text("pet\n" + "\n".join(LABELS * 20) + "\n")
    assert apply_table(table, data, "pet", out).rows == 100
    found = estimate(table, out, "pet")
    assert found.count == 100
    assert getattr(found, "labels", None) == LABELS


def test_frames_hold_digits_and_rows_that_do_not_fit_go_by_policy() -> None:
    pd = pytest.importorskip("pandas")
    table = table_of("oue")
    frame = pd.DataFrame({"pet": ["ape", None, "yak", "eel"]})
    with pytest.raises(InvalidData, match="data row 2"):
        apply(table, frame, "pet")
    assert len(apply(table, frame, "pet", misfits=Misfits("drop"))) == 2
    assert apply(table, frame, "pet", misfits=Misfits("null"))["pet"].isna().tolist() == [False, True, True, False]
    told = apply(table, frame, "pet", misfits=Misfits("category", "cat"))
    assert set(told["pet"].str.len()) == {2}
    assert estimate(table, told, "pet").count == 4


def test_binary_columns_are_read_too() -> None:
    pl = pytest.importorskip("polars")
    table = table_of("olh")
    reports = sample(table, list(LABELS)).tolist()
    told = [estimate(table, pl.DataFrame({"r": rows}), "r") for rows in (reports, [y.hex() for y in reports])]
    assert np.array_equal(told[0].estimates, told[1].estimates)


@pytest.mark.parametrize("values", [[1, 2], ["07", "0"], ["07", None], ["07", "zz"], ["07", "ff"], [b"\x07", b""]])
def test_a_report_that_is_none_is_named_by_its_row_and_not_shown(values: list[Any]) -> None:
    pd = pytest.importorskip("pandas")
    table = table_of("oue")
    with pytest.raises(InvalidInput) as caught:
        estimate(table, pd.DataFrame({"r": values}), "r")
    said = str(caught.value)
    assert "hexadecimal digits" in said
    assert isinstance(values[0], int) or "data row 2" in said
    assert "zz" not in said


def test_digits_may_be_of_either_case_and_nothing_else() -> None:
    law = table_of("olh").law
    reports = [[0xAB] * 8 + [1], [1] * 9]
    texts = texts_of(np.array(reports, dtype=np.uint8)).tolist()
    rows, wrong = rows_of_list(law, [texts[0].upper(), texts[1]])  # type: ignore[arg-type]
    assert (rows.tolist(), wrong) == (reports, None)
    for bad in (" " + texts[0][1:], "+" + texts[0][1:], "é" + texts[0][1:], texts[0] + "0", "", 5):
        assert rows_of_list(law, [texts[1], bad])[1] == 1  # type: ignore[arg-type]


def test_one_report_is_bytes() -> None:
    table = table_of("grr", labels=False)
    y = report(table, 3)
    assert isinstance(y, bytes)
    assert y[0] < len(LABELS)
    assert sample(table, [[0, 1], [2, 3]]).shape == (2, 2)
    assert sample(table, 4, 7).shape == (7,)
    assert sample(table, []).shape == (0,)


def test_rows_of_probabilities_are_not_to_be_had() -> None:
    with pytest.raises(InvalidInput, match=r"take as_protocol\(table\)"):
        designed(table_of("oue"))
