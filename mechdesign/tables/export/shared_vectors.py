"""The vectors that every runtime passes, in ``runtimes/vectors``: small tables of every kind, devices, a collection.

``python -m mechdesign.tables.export.shared_vectors`` writes the folder. A table that is there stays: its counts came
from doubles whose last digits depend on the machine, and only its vectors follow from the file alone.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.truncated import Truncated
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window
from mechdesign.tables.checker import canonical
from mechdesign.tables.device.description import Device
from mechdesign.tables.device.vectors import lines as device_lines, vectors as device_vectors
from mechdesign.tables.export.envelopes import envelope_lines
from mechdesign.tables.kinds import Encoding
from mechdesign.tables.labels import Labels
from mechdesign.tables.making import make_table
from mechdesign.tables.reports.collection import Attribute, Collection, Spending
from mechdesign.tables.reports.envelope import Subject
from mechdesign.tables.table import Table, load_table
from mechdesign.tables.vectors import vector_lines, vectors, vectors_with_refusals
from mechdesign.values import files
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.pairs import Pairwise

FOLDER = Path(__file__).parents[2] / "runtimes" / "vectors"

_CASES = 6
"""Cases of random bytes for each table, after those at its boundaries."""

_MOST = 700
"""The most cases at boundaries: all of them, but for the one of 257 items."""

_FEWER = 120
"""The same of tables that are there for their shape alone."""

_ODD = ('a "quote"', "back\\slash", "\u00e9t\u00e9", "\U0001f600", "\ufb01n", "z")
"""Texts that sort differently in UTF-8 and in UTF-16."""


def _window(bits: int) -> Table:
    points, base = np.array([0.0, 0.3, 0.55, 1.0]), np.array([0.15, 0.1, 0.1, 0.15])
    return make_table(Window(1.0, Interval(0, 1), points, base, 2.7), bits)


def _items(kind: str, size: int, bits: int, labels: Labels | None = None, **options: object) -> Table:
    return make_table(Encoding(kind, 1.0, size, kind, options), bits, labels=labels)


def _finite(points: tuple[float, ...], bits: int, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> Table:
    labels = Labels(inputs or None, outputs or None)
    return make_table(catalogue.randomised_response(1.0, Finite(points)), bits, labels=labels)


def _means() -> Table:
    """Five rows, on a domain that lies beside 0."""
    points, base = np.array([1.5, 3.0, 4.0, 5.0, 6.5]), np.array([0.16, 0.05, 0.04, 0.05, 0.16])
    return make_table(UnbiasedWindow(1.5, Interval(3, 5), points, base, math.exp(1.5) * (1 - 1e-12)), 16)


def _many_outputs() -> Table:
    """Places of outputs need two bytes."""
    rows = np.ones((2, 300))
    rows[0, :150] = rows[1, 150:] = 2.5
    outputs = Finite(tuple(range(300)))
    return make_table(Discrete(1.0, Finite((0, 1)), outputs, rows / rows.sum(axis=1, keepdims=True)), 16)


def _near() -> Table:
    """Two inputs next to each other, and the ends of the domain, keep an epsilon of their own."""
    rows = np.array([[0.5, 0.3, 0.2], [0.35, 0.35, 0.3], [0.2, 0.3, 0.5]])
    distances = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    return make_table(Discrete(2.0, Finite((0, 1, 2)), Finite((0, 1, 2)), rows), 32, privacy=Pairwise(distances))


_TABLES: Mapping[str, Callable[[], Table]] = {
    "window": lambda: _window(32),
    "window_62": lambda: _window(62),
    "unbiased": lambda: make_table(catalogue.duchi(1.0), 16),
    "finite": lambda: _finite((-1.5, 0.0, 1e300), 53),
    "finite_pairs": _near,
    "labels": lambda: _finite((0, 1, 2, 3, 4, 5), 32, _ODD, _ODD[::-1]),
    "labels_in": lambda: _finite((0, 1, 2), 16, ("no", "yes", "neither, nor")),
    "labels_out": lambda: _finite((0, 1, 2), 16, (), ("no", "yes", "neither, nor")),
    "labels_again": lambda: _finite((0, 1, 2, 3, 4, 5), 16, (), _ODD),
    "pieces": lambda: make_table(catalogue.pm(1.0)),
    "pieces_53": lambda: make_table(catalogue.ogpm(2.0, Interval(-3, 10)), 53),
    "circle": lambda: make_table(catalogue.ogpm_circle(2.0)),
    "clamped_wave": lambda: make_table(catalogue.truncated(catalogue.sw(1.0, Interval(0, 1))), 62),
    "additive": lambda: make_table(catalogue.laplace(1.0, Interval(0, 1)), 16),
    "clamped_noise": lambda: make_table(Truncated(catalogue.staircase(16.0, Interval(-1, 1)), "T-staircase"), 16),
    "response": lambda: _items("response", 6, 32, Labels(_ODD, None)),
    "response_many": lambda: _items("response", 257, 32),
    "unary": lambda: _items("unary", 9, 16, form="optimised"),
    "unary_labels": lambda: _items("unary", 6, 62, Labels(_ODD, None), form="symmetric"),
    "hashing": lambda: _items("hashing", 5, 53, hashes=3),
    "subset": lambda: _items("subset", 9, 32, subset=3),
    "hadamard": lambda: _items("hadamard", 5, 16, blocks=2),
    "hadamard_one": lambda: _items("hadamard", 7, 62, blocks=1),
    "sketch": lambda: _items("sketch", 5, 32, functions=4, buckets=11),
}
_SHAPES: Mapping[str, Callable[[], Table]] = {
    "means": _means,
    "means_again": lambda: _finite((1.5, 3.0, 4.0, 5.0, 6.5), 16),
    "noise": lambda: make_table(catalogue.laplace(2.5, Interval(-10, 0.03125)), 16),
    "moved_noise": lambda: make_table(catalogue.laplace(1.0, Interval(3, 5)), 16),
    "many_outputs": _many_outputs,
    "one_byte": lambda: _items("response", 256, 32),
    "all_but_one": lambda: _items("subset", 8, 32, subset=7),
    "two_bytes": lambda: _items("hadamard", 300, 32, blocks=4),
    "whole_bytes": lambda: _items("sketch", 9, 16, functions=256, buckets=32),
    "broken_bytes": lambda: _items("sketch", 9, 16, functions=512, buckets=25),
}
"""Tables that are there for their shape alone: another one of their kind has all cases."""
_DEVICES: Mapping[str, tuple[int, int]] = {
    "labels": (2, 3),
    "labels_in": (1, 4),
    "labels_out": (1, 2),
    "finite": (1, 3),
    "window": (1, 2),
    "pieces": (0, 3),
    "additive": (1, 3),
    "response": (2, 4),
    "unary": (1, 2),
    "means": (3, 4),
}
"""How many values each device remembers, and how many reports it makes. Its second table is the one with ``_again``."""
_TWICE = "finite"
"""This device draws again from its own table."""
_COLLECTION = "labels", "unary_labels", "pieces"


def shared_vectors(folder: Path = FOLDER) -> dict[str, bytes]:
    """The files of the folder as they should be, by their names: tables as they are where they are there."""
    tables = {name: _kept(folder / f"{name}.json", made) for name, made in {**_TABLES, **_SHAPES}.items()}
    made: dict[str, str | bytes] = {}
    for name, table in tables.items():
        cases = vectors_with_refusals(table, _CASES, _FEWER if name in _SHAPES else _MOST)
        made[f"{name}.json"] = table.content
        made[f"{name}.txt"] = vector_lines(cases, table.sha256)
        made[f"{name}_envelopes.txt"] = envelope_lines(table, Subject(table.sha256), cases)
        if name in _DEVICES:
            device = Device(table, table if name == _TWICE else tables.get(f"{name}_again"), *_DEVICES[name])
            subject = Subject(device.sha256, is_device=True)
            made[f"{name}_device.json"] = device.content
            made[f"{name}_device.txt"] = device_lines(device, device_vectors(device))
            made[f"{name}_device_envelopes.txt"] = envelope_lines(
                device.reporting, subject, list(vectors(device.reporting, _CASES))
            )
    collection = Collection("people", Spending.SPLIT, tuple(Attribute(name, tables[name]) for name in _COLLECTION))
    made["collection.json"] = collection.content
    for number, name in enumerate(_COLLECTION):
        text = envelope_lines(tables[name], collection.subject(number), list(vectors(tables[name], _CASES)))
        made[f"collection_{number}_envelopes.txt"] = text
    return {name: text.encode() if isinstance(text, str) else text for name, text in made.items()}


def _kept(path: Path, made: Callable[[], Table]) -> Table:
    if path.is_file():
        return load_table(path)
    table = made()
    body: dict[str, object] = dict(table.document) | {"provenance": {}}
    del body["sha256"]
    return Table(canonical(body | {"sha256": hashlib.sha256(canonical(body)).hexdigest()}))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in shared_vectors().items():
        files.write_atomically(FOLDER / name, content, overwrite=True)
