"""Tables: reports beside raw draws of the same randomness, the checker beside a JSON parser, what rounding loses.

A raw draw is a uniform double of 53 bits from 64 of the operating system's randomness, in the chunks in which that is
medians. A report needs fewer: 16 for a choice from a table or a chance that the first digits nearly always decide, 48
for a place among cells. The others of its number are drawn only where these leave it open, so it can cost less.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import mechdesign as md
from benchmarks.clock import Task, measured, medians
from benchmarks.peers import peers
from benchmarks.rows import Row, Target
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms.window import Window
from mechdesign.methods.registry import solve
from mechdesign.tables import Table, apply, checker, estimate, export_table, make_table, privacy_checker, sample
from mechdesign.tables.kinds import ItemsLaw
from mechdesign.words.domains import UNIT, Finite, Interval
from mechdesign.words.losses import Absolute, Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

POWER = 7
REPORTS = 10**POWER
CHUNK = 1 << 14
TURNS = 3
RAW = f"10^{POWER} raw draws"
SAMPLED = Target(ratio=2.0, seconds=REPORTS / 1e7)
CHECKED = Target(seconds=1.0)
CATEGORIES = 1000
MANY_LABELS, USERS = 4096, 1000
WHOLE = Target(seconds=2.0)
LABELS, EPSILON, MANY, FEW = 16, 1.0, 10**6, 20_000
SQUARE = Target(seconds=2.0)  # a million entries, rounded and checked
LOSSES = {16: 4e-3, 32: 5e-8}  # the most a table may lose to rounding, relative to the design
DESIGNS = ((1.0, 2.0), (1.0, 6.0), (2.0, 2.0), (2.0, 6.0), (2.0, 8.0))  # exponent and eps


def rows() -> Iterator[Row]:
    yield from _sampling()
    yield from _beside_opendp()
    yield _checking()
    yield from _many_categories()
    yield from _many_labels()
    yield from _rounding()


def _sampling() -> Iterator[Row]:
    rng = np.random.default_rng(20240517)
    tasks: dict[str, Task] = {"raw": partial(raw_draw, REPORTS)}
    tables = _tables()
    for name, table in tables.items():
        domain = table.domain
        inputs = (
            rng.choice(domain.points, REPORTS)
            if isinstance(domain, Finite)
            else rng.uniform(domain.lower, domain.upper, REPORTS)
        )
        tasks[name] = partial(sample, table, inputs)
    tasks["window, 32 bits, one input"] = partial(sample, tables["window, 32 bits"], 0.3, REPORTS)
    times = medians(tasks, TURNS)
    yardstick = times.pop("raw")
    for name, taken in times.items():
        yield Row(f"10^{POWER} reports, {name}", RAW, taken, yardstick, SAMPLED)


def _beside_opendp() -> Iterator[Row]:
    """Both exact to the bit: OpenDP is called for every report, which is what it offers."""
    with peers(("opendp",)) as published:
        if published is None:
            return
        labels = Finite(tuple(range(LABELS)))
        law = md.catalogue.randomised_response(EPSILON, labels)
        table, inputs = make_table(law), np.zeros(MANY)
        theirs = published.task("opendp", chance=float(law.probabilities[0, 0]), items=LABELS, reports=FEW)
        times = medians({"here": partial(sample, table, inputs), "opendp": theirs}, TURNS)
        here, there = times["here"], times["opendp"] * (MANY / FEW)
        yield Row(f"{MANY} reports of randomised response over {LABELS} labels", "OpenDP", here, there)


def raw_draw(count: int) -> NDArray[np.float64]:
    """Uniform doubles on [0, 1) of 53 bits each."""
    doubles = np.empty(count)
    for k in range(0, count, CHUNK):
        size = min(CHUNK, count - k)
        doubles[k : k + size] = (np.frombuffer(os.urandom(8 * size), dtype="<u8") >> np.uint64(11)) * 2.0**-53
    return doubles


def _tables() -> dict[str, Table]:
    line = Interval(-1, 1)
    window = solve(Problem(inputs=UNIT, loss=Absolute(), privacy=Pure(2.0)), gap=1e-3)
    average, among = md.Average(), md.Unbiased()
    means = Problem(inputs=line, loss=md.Squared(), privacy=Pure(2.0), criterion=average, among=among)
    return {
        "window, 32 bits": make_table(window),
        "window, 53 bits": make_table(window, 53),
        "unbiased": make_table(solve(means)),
        "finite": make_table(md.catalogue.randomised_response(2.0, Finite(tuple(range(16))))),
        "pieces": make_table(md.catalogue.ogpm(2.0)),
        "additive": make_table(md.catalogue.laplace(2.0)),
    }


def _checking() -> Row:
    points = np.linspace(0, 1, 1001)
    mechanism = Window(1.0, Interval(0, 1), points, np.full(1001, 0.5 / 1001), math.e * (1 - 1e-12))
    content = make_table(mechanism).content
    times = medians({"check": partial(checker.check, content), "parse": partial(json.loads, content)}, TURNS)
    return Row("check of a table with 1001 outputs", "json.loads", times["check"], times["parse"], CHECKED)


def _many_categories() -> Iterator[Row]:
    mechanism = md.catalogue.randomised_response(2.0, Finite(tuple(range(CATEGORIES))))
    content = make_table(mechanism).content
    tasks: dict[str, Task] = {
        f"table of randomised response on {CATEGORIES} categories": partial(make_table, mechanism),
        f"check of a table with {CATEGORIES} rows of {CATEGORIES}": partial(checker.check, content),
    }
    times = medians(tasks | {"parse": partial(json.loads, content)}, TURNS)
    parsed = times.pop("parse")
    for name, taken in times.items():
        yield Row(name, "json.loads", taken, parsed, SQUARE)


def _many_labels() -> Iterator[Row]:
    """Table, both checkers, export, apply and estimate, beside the randomness that the reports take."""
    for protocol in ("oue", "ss", "olh", "hr"):
        with TemporaryDirectory() as folder:
            work = partial(_whole_way, protocol, Path(folder))
            work()  # what is imported once
            table = md.frequencies.protocol_table(protocol, 1.0, MANY_LABELS)
            assert isinstance(table.law, ItemsLaw)
            times = medians({"all": work, "raw": partial(os.urandom, USERS * table.law.least_bytes)}, TURNS)
        name = f"{MANY_LABELS} labels and {USERS} users end to end, {protocol}"
        yield Row(name, "their randomness", *times.values(), WHOLE)


def _whole_way(protocol: str, folder: Path) -> None:
    labels = [f"label {i}" for i in range(MANY_LABELS)]
    table = md.frequencies.protocol_table(protocol, 1.0, labels)
    checker.check(table.content)
    privacy_checker.check(table.content)
    export_table(table, "c", folder, overwrite=True)
    held = np.random.default_rng(1).integers(0, MANY_LABELS, USERS)
    reports = apply(table, np.array(labels, dtype=object)[held])
    estimate(table, reports)


def _rounding() -> Iterator[Row]:
    for exponent, epsilon in DESIGNS:
        problem = Problem(inputs=UNIT, loss=Power(exponent), privacy=Pure(epsilon))
        design = solve(problem)
        assert isinstance(design.mechanism, Window)
        search = measured(partial(solve, problem))
        error = exact_worst_error(design.mechanism, int(exponent))
        for bits, most in LOSSES.items():
            lost = float(make_table(design, bits).worst_error(int(exponent)) / error - 1)
            note = f"error + {lost:.1e}" + ("" if lost <= most else f", above {most:g}")
            name = f"table of {problem.loss.name}, eps = {epsilon:g}, {bits} bits"
            yield Row(name, "the search", measured(partial(make_table, design, bits)), search, note=note)
