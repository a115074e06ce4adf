"""A reader written from the text of FORMAT.md alone agrees with the package on random tables of all kinds.

It recomputes every entry of a table in fractions, draws from given bytes, and decides every edit of one entry as the
package's checker does. So what the text says is enough to read a table, and no more is asked of one.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods import solve
from mechdesign.tables import (
    BITS,
    Labels,
    Table,
    checker,
    export_table,
    make_table,
    repaired,
    test_vectors as vectors_of_table,
)
from mechdesign.tables.device import Device
from mechdesign.tables.device.vectors import lines, vectors
from mechdesign.tables.kinds import Encoding
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.losses import Absolute, Squared
from mechdesign.words.pairs import Pairwise
from mechdesign.words.workloads import Prefix, Ranges
from tests.methods.problems import numbers, unbiased_under, workload_problem
from tests.oracles import format_reader as by_text
from tests.oracles.format_devices import DeviceByText, replay_states
from tests.tables.test_random_designs import bits_for, random_mechanism, ship

SEED = 18_118

PASSED_OVER = {  # what the text says that no reader notices, whatever it is changed to
    ("name",),
    ("provenance",),
    ("labels",),
    ("repair",),
    ("domain",),
    ("certificate", "atoms"),
    ("workload", "queries"),
    ("workload", "rows"),
    ("workload", "estimator"),
    ("law", "pairs"),
}


def number(rng: np.random.Generator, least: int, most: int) -> int:
    return int(rng.integers(least, most + 1))


def epsilon_of(rng: np.random.Generator) -> float:
    return float(np.exp(rng.uniform(np.log(0.05), np.log(8))))


def bits_of(rng: np.random.Generator) -> int:
    return int(rng.choice(BITS))


def real(rng: np.random.Generator) -> Table | None:
    """One of the kinds on numbers."""
    mechanism = random_mechanism(rng)
    return ship(mechanism, bits_for(mechanism, rng), Counter())


def on_items(rng: np.random.Generator) -> Table | None:
    size, kind = number(rng, 2, 300), str(rng.choice(by_text.ITEM_KINDS))
    options: dict[str, Any] = {
        "response": {},
        "unary": {"form": str(rng.choice(["symmetric", "optimised"]))},
        "hashing": {"hashes": number(rng, 2, 400)},
        "subset": {"subset": number(rng, 1, size - 1)},
        "hadamard": {"blocks": 1 << number(rng, 0, (size - 1).bit_length())},
        "sketch": {"functions": 1 << number(rng, 1, 6), "buckets": number(rng, 2, 60)},
    }[kind]
    made = Encoding(kind, max(0.1, epsilon_of(rng)), size, kind, options)
    if rng.random() < 0.3:
        return make_table(made, 53, labels=Labels(tuple(f"item {v}" for v in range(size)), None))
    return ship(made, bits_of(rng), Counter())


def on_circle(rng: np.random.Generator) -> Table:
    return make_table(catalogue.ogpm_circle(epsilon_of(rng), Circle(float(rng.uniform(0.1, 400)))), bits_of(rng))


def clamped(rng: np.random.Generator) -> Table:
    lower = float(rng.choice([0.0, -1.0, 5.0]))
    build = [catalogue.pm, catalogue.sw, catalogue.laplace][number(rng, 0, 2)]
    inputs = Interval(lower, lower + float(rng.uniform(0.5, 3)))
    return make_table(catalogue.truncated(build(max(0.3, epsilon_of(rng)), inputs)), 32)


def channel(rng: np.random.Generator) -> tuple[Finite, Finite, np.ndarray]:
    inputs, outputs = number(rng, 2, 6), number(rng, 2, 6)
    chances = rng.dirichlet(np.full(outputs, 3.0), inputs) + 0.02
    points = Finite(tuple(np.cumsum(rng.integers(1, 9, inputs)).tolist()))
    return points, Finite(tuple(range(outputs))), chances / chances.sum(axis=1, keepdims=True)


def losses_of(chances: np.ndarray) -> np.ndarray:
    """The loss of each pair of rows."""
    logs = np.log(chances)
    return np.array([[float(np.abs(a - b).max()) for b in logs] for a in logs])


def with_labels(rng: np.random.Generator) -> Table:
    inputs, outputs, chances = channel(rng)
    texts = ["no", "never, ever", "é", "2", "日本", "\U0001f600", '"']
    labels = Labels(tuple(texts[: len(inputs)]), tuple(texts[: len(outputs)]) if rng.random() < 0.5 else None)
    epsilon = float(losses_of(chances).max()) * 1.01
    return make_table(Discrete(epsilon, inputs, outputs, chances), bits_of(rng), labels=labels)


def raw(rng: np.random.Generator) -> Table:
    """A channel that has to be repaired."""
    inputs, outputs, chances = channel(rng)
    return repaired(float(losses_of(chances).max()) * 0.95, inputs, outputs, chances)


def for_pairs(rng: np.random.Generator) -> Table:
    """An epsilon for each pair, some without: what is left of a random symmetric pattern."""
    inputs, outputs, chances = channel(rng)
    losses = losses_of(chances)
    asked = losses * (1 + rng.uniform(0.01, 0.5))
    free = np.triu(rng.random(losses.shape) < 0.3, 1)
    asked[free | free.T] = math.inf
    privacy = Pairwise(asked)
    return make_table(Discrete(float(losses.max()) * 1.01, inputs, outputs, chances), bits_of(rng), privacy=privacy)


def with_workload(rng: np.random.Generator) -> Table:
    workload = [Prefix, Ranges][number(rng, 0, 1)](number(rng, 2, 5))
    return make_table(md.solve(workload_problem(float(rng.uniform(0.5, 3)), workload), gap=0.1), bits_of(rng))


def certified(rng: np.random.Generator) -> Table:
    loss = [Absolute(), Squared()][number(rng, 0, 1)]
    lower = float(rng.choice([0.0, -2.0, 7.0]))
    problem = numbers(float(rng.uniform(0.5, 3)), loss, Interval(lower, lower + 1.5))
    return make_table(solve(problem), int(rng.choice([16, 32, 53])))


def unbiased_optimum(rng: np.random.Generator) -> Table:
    inputs = Interval(-1, float(rng.uniform(0, 3)))
    problem = unbiased_under(float(rng.uniform(0.5, 3)), "uniform", inputs)
    return make_table(solve(problem, gap=0.1, size=5), 32)


KINDS = {  # and how many of 200 tables
    real: 80,
    on_items: 60,
    on_circle: 8,
    clamped: 10,
    with_labels: 10,
    raw: 8,
    for_pairs: 12,
    with_workload: 4,
    certified: 5,
    unbiased_optimum: 3,
}


def random_tables(seed: int, times: int = 1) -> list[Table]:
    rng = np.random.default_rng(seed)
    made = [build(rng) for build, count in KINDS.items() for _ in range(count * times)]
    return [table for table in made if table is not None]


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return random_tables(SEED)


def require_every_entry_recomputed(tables: list[Table]) -> None:
    seen: Counter[str] = Counter()
    for table in tables:
        read = by_text.read_table(table.content)
        assert (read.privacy, read.sha256, read.epsilon) == (table.ratio, table.sha256, table.epsilon)
        seen[read.kind] += 1
        seen["circle"] += read.period is not None
        seen["clamped"] += read.clamp is not None
        seen.update(key for key in ("labels", "certificate", "repair", "workload") if table.document.get(key))
        seen["pairs"] += "pairs" in read.law
    features = {"circle", "clamped", "labels", "certificate", "repair", "workload", "pairs"}
    assert {name for name, count in seen.items() if count} == {*by_text.REAL_KINDS, *by_text.ITEM_KINDS, *features}


def test_every_entry_of_random_tables_is_recomputed_from_the_text_alone(tables: list[Table]) -> None:
    assert len(tables) >= 190
    require_every_entry_recomputed(tables)


@pytest.mark.slow
def test_every_entry_of_two_thousand_random_tables_is_recomputed_from_the_text_alone() -> None:
    require_every_entry_recomputed(random_tables(SEED + 1, 10))


def test_a_sampler_written_from_the_text_replays_the_vectors_of_random_tables(tables: list[Table]) -> None:
    for table in tables[::4]:
        document = vectors_of_table(table, 10, most=100)
        read = by_text.read_table(table.content)
        assert by_text.replay_json(read, by_text.canonical(document)) == len(document["cases"])


@pytest.mark.parametrize("kind", ["window", "unbiased", "finite", "pieces", "additive", "hashing"])
def test_a_sampler_written_from_the_text_replays_the_text_file_beside_exported_sources(
    tables: list[Table], kind: str, tmp_path: Path
) -> None:
    table = next(table for table in tables if table.kind == kind and len(table.content) < 5_000)
    export_table(table, "c", tmp_path)
    (path,) = tmp_path.glob("*_vectors.txt")
    replayed, refused = by_text.replay_text(by_text.read_table(table.content), path.read_text())
    assert replayed >= 100
    assert refused >= (2 if kind == "hashing" else 5)


def entries(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """The places of all texts, numbers and nulls."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from entries(inner, (*path, key))
    else:
        yield path, value


def other(value: Any, rng: np.random.Generator) -> Any:
    """Another value, often one that is only just wrong."""
    if value is None:
        return [{}, "x", 0, []][number(rng, 0, 3)]
    if type(value) is int:
        return [value + 1, value - 1, 2 * value + 1, str(value)][number(rng, 0, 3)]
    try:
        exact = Fraction(value)
    except ValueError:
        return value + "x"
    if number(rng, 0, 1) and abs(exact) < 2**1000 and Fraction(float(exact)) == exact:
        return by_text.write_decimal(math.nextafter(float(exact), [-math.inf, math.inf][number(rng, 0, 1)]))
    return str(exact + [1, -1, Fraction(1, 10**9)][number(rng, 0, 2)])


def edited(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> bytes:
    """The document with one other entry, and a hash that fits."""
    changed = copy.deepcopy(document)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return by_text.canonical(changed | {"sha256": by_text.hash_of(changed)})


def passes(content: bytes) -> bool:
    try:
        checker.check(content)
    except checker.Failed:
        return False
    return True


def reads(content: bytes) -> bool:
    try:
        by_text.read_table(content)
    except by_text.Refused:
        return False
    return True


def test_an_edited_entry_is_noticed_unless_the_text_says_that_it_is_not_and_the_checker_decides_the_same(
    tables: list[Table],
) -> None:
    rng, passed = np.random.default_rng(7), Counter[tuple[Any, ...]]()
    for table in tables:
        document = table.document
        if len(table.content) > 20_000:
            continue
        places = [place for place in entries(document) if place[0][0] != "sha256"]
        for i in rng.choice(len(places), min(len(places), 6), replace=False):
            path, value = places[i]
            content = edited(document, path, other(value, rng))
            accepted = reads(content)
            assert accepted == passes(content), (table.kind, path)
            if accepted:
                passed[tuple(itertools.takewhile(lambda key: isinstance(key, str), path))] += 1
    assert all(any(path[: len(said)] == said for said in PASSED_OVER) for path in passed), passed


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("certificate", "criterion"), "average case"),
        (("law", "outputs", 1), "-5"),
        (("labels", "inputs", 0), "a "),
        (("labels", "inputs", 0), "\ud800"),
        (("labels", "inputs", 0), "a\x85"),
        (("labels", "inputs", 0), "\u3000a"),
        (("workload", "queries", 0), ""),
        (("repair", "mixed"), "2"),
        (("bits",), 17),
    ],
    ids=str,
)
def test_a_form_that_the_text_forbids_is_refused_by_reader_and_checker(
    tables: list[Table], path: tuple[Any, ...], value: Any
) -> None:
    found = [table for table in tables if table.document.get(path[0]) is not None]
    table = next(t for t in found if path[-2:-1] != ("outputs",) or t.kind == "finite")
    content = edited(table.document, path, value)
    assert not reads(content)
    assert not passes(content)


def devices() -> list[tuple[Table, Table | None, int, int]]:
    six = Finite(tuple(range(6)))
    return [
        (make_table(catalogue.randomised_response(1.0, Finite((0, 1))), 16), None, 2, 5),
        (
            make_table(catalogue.randomised_response(3.0, six), 32),
            make_table(catalogue.two_sided_geometric(2.0, six)),
            3,
            7,
        ),
        (make_table(catalogue.laplace(3.0, Interval(-2, 3)), 16), None, 3, 3),
        (make_table(catalogue.pm(0.7)), None, 0, 3),
        (make_table(catalogue.duchi(0.5), 16), None, 1, 1),
        (make_table(Encoding("hashing", 1.0, 9, "hashing", {"hashes": 3}), 32), None, 3, 5),
        (make_table(Encoding("unary", 1.0, 11, "unary", {"form": "optimised"}), 32), None, 2, 4),
        (make_table(Encoding("response", 1.0, 300, "response"), 32), None, 0, 3),
    ]


@pytest.mark.parametrize("which", range(8))
def test_a_device_written_from_the_text_replays_the_vectors_of_states(which: int) -> None:
    table, again, values, reports = devices()[which]
    device = Device(table, again, values, reports)
    steps = vectors(device)
    mine = DeviceByText(
        by_text.parsed(device.content),
        by_text.read_table(table.content),
        None if again is None else by_text.read_table(again.content),
    )
    assert replay_states(mine, lines(device, steps)) == len(steps) > 50
