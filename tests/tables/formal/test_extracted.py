"""The checker that is extracted from Coq refuses altered tables exactly where the page that decides privacy does."""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mechdesign import Pairwise, Problem, solve
from mechdesign.mechanisms import catalogue
from mechdesign.tables import Table, checker, make_table, privacy_checker
from mechdesign.tables.formal.laws import KINDS
from mechdesign.words.domains import Finite
from tests.tables.conftest import rehashed

CHANCES = {
    "finite": "rows",
    "window": "base caps starts",
    "unbiased": "base caps starts",
    "pieces": "cells inside weight",
    "additive": "weights tail",
    "response": "own other",
    "unary": "own_bit other_bit",
    "hashing": "hashes own other",
    "subset": "subset own other",
    "hadamard": "blocks own other",
    "sketch": "functions buckets own_bit other_bit",
}
"""The entries of a law that chances of reports are made of."""

Places = list[tuple[Any, Any]]


def places(value: Any, key: Any) -> Places:
    """Where the whole numbers of an entry stand: the list or object, and the place in it."""
    inside = value[key]
    if not isinstance(inside, list):
        return [(value, key)]
    return [place for i in range(len(inside)) for place in places(inside, i)]


def mutant(table: Table, rng: random.Random) -> bytes:
    """One number is another one, or a part of a number is moved to another one; or another epsilon, cap or bits.

    Without a certificate, which the page does not read.
    """
    document = json.loads(table.content) | {"certificate": None}
    law = document["law"]
    numbers = [place for name in CHANCES[table.kind].split() for place in places(law, name)]
    (here, i), (there, j) = rng.choice(numbers), rng.choice(numbers)
    step = rng.choice((1, -1)) * rng.choice((1, 1, 2, 1 << rng.randrange(1, document["bits"])))
    match rng.randrange(8):
        case 0 | 1:
            here[i] += step
        case 2:
            here[i] = rng.choice((0, -1, here[i] * 2, here[i] // 2, there[j]))
        case 3 | 4 | 5:
            here[i], there[j] = here[i] + step, there[j] - step if (here is not there or i != j) else here[i]
        case 6:
            epsilon = float(Fraction(document["epsilon"])) * (1 + step / 2 ** rng.randrange(1, 52))
            epsilon = min(max(epsilon, 1e-9), 64.0)
            document["epsilon"] = str(Fraction(epsilon))
            document["cap"] = str(checker.exponential(Fraction(epsilon)))
        case _:
            if rng.random() < 0.5:
                document["cap"] = str(int(document["cap"]) + step)
            elif "count" in document["domain"] and rng.random() < 0.7:
                document["domain"]["count"] = max(0, document["domain"]["count"] + step)
            else:
                document["bits"] = rng.choice((16, 32, 53, 62, 17))
    return rehashed(document)


def is_private(content: bytes) -> bool:
    try:
        privacy_checker.check(content)
    except privacy_checker.Failed:
        return False
    return True


def verdicts(extracted: Path, contents: list[bytes], folder: Path) -> list[bool]:
    """What the extracted program says of each."""
    paths = [folder / f"{i}.json" for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    done = subprocess.run([extracted, *paths], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == len(paths), done.stderr
    assert all(line.startswith((f"PASS {path}", f"FAIL {path}")) for line, path in zip(lines, paths, strict=True))
    return [line.startswith("PASS") for line in lines]


def in_pairs() -> Table:
    limits = [[0, 1, 2], [1, 0, 0.5], [2, 0.5, 0]]
    return make_table(solve(Problem(loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]], privacy=Pairwise(limits))))


def mutant_in_pairs(table: Table, rng: random.Random) -> bytes:
    """A count or a limit is another one."""
    document = json.loads(table.content)
    pairs, rows = document["law"]["pairs"], document["law"]["rows"]
    match rng.randrange(3):
        case 0:
            here, i = rng.choice(places(pairs, "of"))
            here[i] = rng.choice((-1, *range(len(pairs["epsilons"])), rng.randrange(-2, 5)))
        case 1:
            i = rng.randrange(len(pairs["epsilons"]))
            pairs["epsilons"][i] = str(Fraction(pairs["epsilons"][i]) * Fraction(rng.randrange(50, 1200), 1000))
        case _:
            row, step = rng.choice(rows), rng.choice((1, 2, 1 << rng.randrange(1, 28)))
            i, j = rng.sample(range(len(row)), 2)
            row[i], row[j] = row[i] + step, row[j] - step
    return rehashed(document)


def test_a_thousand_altered_limits_of_pairs_are_refused_where_the_page_refuses_them(
    extracted: Path, tmp_path: Path
) -> None:
    rng, table = random.Random("pairs 1"), in_pairs()
    contents = [table.content, *(mutant_in_pairs(table, rng) for _ in range(1000))]
    found = verdicts(extracted, contents, tmp_path)
    assert found == [is_private(content) for content in contents]
    assert found[0]
    assert 250 < found.count(False) < 1000


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_altered_tables_of_every_kind_are_refused_where_the_page_refuses_them(
    kinds: dict[str, Table], extracted: Path, tmp_path: Path, kind: str
) -> None:
    rng = random.Random(f"{kind} 1")
    contents = [kinds[kind].content, *(mutant(kinds[kind], rng) for _ in range(1000))]
    found = verdicts(extracted, contents, tmp_path)
    assert found == [is_private(content) for content in contents]
    assert found[0]
    assert 250 < found.count(False) < 1000  # some are private all the same


def completed(content: bytes) -> bytes:
    """The same law with what the checker computes from it: the largest ratio, and the estimator."""
    document = json.loads(content)
    whole, cap = 1 << document["bits"], int(document["cap"])
    check = getattr(checker, f"check_{document['kind']}")
    try:
        ratio, estimator, _ = check(document, document["law"], whole, cap)
    except checker.Failed:
        return content
    return rehashed(document | {"privacy": str(ratio), "estimator": estimator})


def refusal_of(content: bytes) -> str | None:
    """What the whole checker says is wrong."""
    try:
        checker.check(content)
    except checker.Failed as failure:
        return str(failure)
    return None


ABOUT_PRIVACY = re.compile(r"over cap|above cap|must be floor\(2\^96|sums? to|must not increase|ratio .* is above")
"""The checker's own words where a line is marked ``# privacy``."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_of_a_thousand_altered_tables_the_whole_checker_refuses_more_but_never_for_their_privacy(
    kinds: dict[str, Table], extracted: Path, tmp_path: Path, kind: str
) -> None:
    rng = random.Random(f"{kind} 2")
    contents = [completed(mutant(kinds[kind], rng)) for _ in range(1000)]
    pairs = list(zip(verdicts(extracted, contents, tmp_path), map(refusal_of, contents), strict=True))
    assert not [refusal for found, refusal in pairs if not found and refusal is None]
    others = [refusal for found, refusal in pairs if found and refusal is not None]
    assert not [refusal for refusal in others if ABOUT_PRIVACY.search(refusal)]
    assert len(others) < 500


def test_whatever_the_whole_checker_passes_is_private(
    tables: dict[str, Table], extracted: Path, tmp_path: Path
) -> None:
    known = [table for table in tables.values() if table.kind in KINDS]
    assert {table.kind for table in known} >= {"finite", "window"}
    assert all(verdicts(extracted, [table.content for table in known], tmp_path))


def test_the_exponential_is_that_of_tables_at_every_size_of_epsilon(extracted: Path, tmp_path: Path) -> None:
    epsilons = [1e-9, 1e-3, 0.1, 0.5, 1.0, 2.5, 7.3]
    contents = [make_table(catalogue.randomised_response(eps, Finite((0, 1))), 62).content for eps in epsilons]
    assert all(verdicts(extracted, contents, tmp_path))
    for content in contents:  # and one unit less or more is another number
        document = json.loads(content)
        for step in (-1, 1):
            other = copy.deepcopy(document) | {"cap": str(int(document["cap"]) + step)}
            assert verdicts(extracted, [rehashed(other)], tmp_path) == [False]


@pytest.mark.parametrize("said", ["0x{:x}", "+{}", "0{}", "{:_}", " {}"])
def test_a_number_that_is_not_written_in_digits_alone_is_refused(
    kinds: dict[str, Table], extracted: Path, tmp_path: Path, said: str
) -> None:
    document = json.loads(kinds["finite"].content)
    content = rehashed(document | {"cap": said.format(int(document["cap"]))})
    assert not is_private(content)
    assert verdicts(extracted, [content], tmp_path) == [False]


def test_an_entry_that_stands_there_twice_is_refused_however_its_name_is_written(
    kinds: dict[str, Table], extracted: Path, tmp_path: Path
) -> None:
    content = kinds["response"].content
    for name in (b"law", rb"\u006caw"):
        twice = content[:-2] + b',"' + name + b'":{"other":0,"own":65536}}\n'
        assert json.loads(twice)["law"]["other"] == 0
        assert verdicts(extracted, [twice, content], tmp_path) == [False, True]


@pytest.mark.parametrize(
    "content",
    [b"[" * 10**7, b"", b'{"a\\', b"{}\n", b'{"a":1', b"[1,2]\n", b'{"format":"mechdesign table","version":1}\n'],
)
def test_what_is_no_table_is_refused(extracted: Path, tmp_path: Path, content: bytes) -> None:
    assert verdicts(extracted, [content], tmp_path) == [False]
