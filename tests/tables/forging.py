"""Tables that are forged: a change, and all else in the file made to fit it, with a hash of its own."""

from __future__ import annotations

import contextlib
import copy
import importlib.util
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.window import Window
from mechdesign.methods.registry import solve
from mechdesign.tables import Labels, checker, make_table, repaired
from mechdesign.tables.kinds import Encoding
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.losses import Absolute, Squared
from tests.methods.problems import numbers
from tests.oracles import format_reader as by_text
from tests.tables.conftest import rehashed

Document = dict[str, Any]


def _lenient() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lenient_checker", checker.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.need = lambda true, entry: None  # type: ignore[attr-defined]
    return module


LENIENT = _lenient()


def _window(bits: int = 16) -> Any:
    points, base = np.array([0.0, 0.3, 0.55, 1.0]), np.array([0.15, 0.1, 0.1, 0.15])
    return make_table(Window(1.0, Interval(0, 1), points, base, 2.7), bits)


MADE: dict[str, Callable[[], Any]] = {
    "window": _window,
    "wide window": lambda: _window(62),
    "absolute": lambda: make_table(solve(numbers(2.0, Absolute(), Interval(0, 1)), gap=0.1), 16),
    "squared": lambda: make_table(solve(numbers(1.0, Squared(), Interval(2, 3)), gap=0.1), 16),
    "unbiased": lambda: make_table(catalogue.duchi(1.0), 16),
    "unbiased afar": lambda: make_table(catalogue.duchi(1.0, Interval(-1001, -1000)), 16),
    "finite": lambda: make_table(catalogue.randomised_response(1.0, Finite((0, 1, 5))), 16),
    "labelled": lambda: make_table(
        catalogue.randomised_response(1.0, Finite((0, 1))), 16, labels=Labels(("no", "yes"), ("-", "+"))
    ),
    "repaired": lambda: repaired(1.0, Finite((0, 1)), Finite((0, 1, 2)), [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]),
    "pieces": lambda: make_table(catalogue.pm(1.0), 16),
    "wave": lambda: make_table(catalogue.sw(1.0, Interval(3, 4)), 32),
    "clamped": lambda: make_table(catalogue.truncated(catalogue.pm(1.0)), 16),
    "circle": lambda: make_table(catalogue.ogpm_circle(2.0), 16),
    "small circle": lambda: make_table(catalogue.ogpm_circle(1.0, Circle(2.0**-60)), 16),
    "additive": lambda: make_table(catalogue.two_sided_geometric(1.0, Finite(range(7))), 16),
    "laplace": lambda: make_table(catalogue.laplace(1.0, Interval(5, 6)), 16),
    "clamped noise": lambda: make_table(catalogue.truncated(catalogue.laplace(1.0, Interval(0, 1))), 16),
    "response": lambda: make_table(Encoding("", 1.0, 5, "response"), 16),
    "unary": lambda: make_table(Encoding("", 1.0, 5, "unary", {"form": "symmetric"}), 16),
    "optimised": lambda: make_table(Encoding("", 1.0, 5, "unary", {"form": "optimised"}), 16),
    "hashing": lambda: make_table(Encoding("", 1.0, 5, "hashing", {"hashes": 3}), 16),
    "subset": lambda: make_table(Encoding("", 1.0, 5, "subset", {"subset": 2}), 16),
    "hadamard": lambda: make_table(Encoding("", 1.0, 5, "hadamard", {"blocks": 2}), 16),
    "sketch": lambda: make_table(Encoding("", 1.0, 5, "sketch", {"functions": 4, "buckets": 3}), 16),
}


@cache
def _document(kind: str) -> Document:
    return dict(MADE[kind]().document)


def document(kind: str) -> Document:
    return copy.deepcopy(_document(kind))


def fitted(forged: Document) -> bytes:
    """The file with the cap, ratio and estimator that belong to its epsilon and law, and a hash of its own."""
    with contextlib.suppress(Exception):
        forged["cap"] = str(LENIENT.exponential(Fraction(forged["epsilon"])))
        check = getattr(LENIENT, f"check_{forged['kind']}")
        ratio, estimator, _ = check(forged, forged["law"], 1 << forged["bits"], int(forged["cap"]))
        forged |= {"privacy": str(ratio), "estimator": estimator}
    return rehashed(forged)


def changed(forged: Document, path: str, value: Any) -> Document:
    *parents, last = (int(key) if key.lstrip("-").isdigit() else key for key in path.split("."))
    inner: Any = forged
    for key in parents:
        inner = inner[key]
    inner[last] = value(inner[last]) if callable(value) else value
    return forged


def moved(row: list[int], first: int, last: int, step: int) -> list[int]:
    other = list(row)
    other[first] += step
    other[last] -= step
    return other


def cap_of(forged: Document) -> Fraction:
    return Fraction(by_text.cap_of(by_text.rational(forged["epsilon"], "epsilon")), 2**96)


def largest(fits: Callable[[int], bool], most: int) -> int:
    """The largest number of those from 1 on that fit: they are the first ones."""
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def edges() -> list[tuple[str, Callable[[Document, int], None], Callable[[Fraction], int]]]:
    """Kind, law with n (more is less private), and from c the last n that is private."""
    whole = 2**16

    def response(forged: Document, n: int) -> None:
        forged["domain"]["count"] = 2
        forged["law"] |= {"own": n, "other": whole - n}

    def hashing(forged: Document, n: int) -> None:
        forged["law"] |= {"hashes": 2, "own": n, "other": whole - n}

    def hadamard(forged: Document, n: int) -> None:
        forged["law"] |= {"blocks": 1, "own": n, "other": whole - n}

    def subset(forged: Document, n: int) -> None:
        forged["law"] |= {"own": n, "other": whole - n}  # 2 of 5

    def bits(forged: Document, n: int) -> None:
        forged["law"] |= {"own_bit": [2**15, 2**15], "other_bit": [n, whole - n]}

    def pieces(forged: Document, n: int) -> None:
        forged["law"] |= {
            "cells": 11,
            "inside": 3,
            "weight": n,
            "step": "0.5",
            "first": -5,
            "anchor": "-1",
            "scale": "2",
        }

    def tail(forged: Document, n: int) -> None:
        forged["law"]["tail"] = whole - n

    def weights(forged: Document, n: int) -> None:
        forged["law"]["weights"] = [n, *[9000] * 4, whole - n - 36000]

    def finite(forged: Document, n: int) -> None:
        forged["domain"]["points"], forged["law"]["outputs"] = ["0", "1"], ["0", "1"]
        forged["law"]["rows"] = [[n, whole - n], [2**15, 2**15]]

    two = lambda c: largest(lambda n: n <= c * (whole - n), whole - 1)  # noqa: E731
    return [
        ("response", response, two),
        ("hashing", hashing, two),
        ("hadamard", hadamard, two),
        ("subset", subset, lambda c: largest(lambda n: n * 3 <= c * (whole - n) * 2, whole - 1)),
        ("unary", bits, two),
        ("sketch", bits, two),
        ("pieces", pieces, lambda c: largest(lambda n: n * 8 <= c * (whole - n) * 3, whole - 1)),
        ("additive", tail, lambda c: largest(lambda n: whole <= c * (whole - n), whole - 1)),
        ("additive", weights, lambda c: largest(lambda n: n <= c * (whole - n - 36000), whole - 36001)),
        ("finite", finite, lambda c: largest(lambda n: c * (whole - n) >= 2**15, whole - 1)),
    ]


HALF, ONE = "1/2", "1"
WHOLE = 2**16


def with_pairs(rows: list[list[int]], epsilons: list[str], of: list[list[int]]) -> bytes:
    forged = document("finite") | {"epsilon": "2"}
    forged["domain"]["points"] = [str(n) for n in range(len(rows))]
    forged["law"] |= {"outputs": ["0", "1"], "rows": rows, "pairs": {"epsilons": epsilons, "of": of}}
    return fitted(forged)


def rows_at(*first: int) -> list[list[int]]:
    return [[n, WHOLE - n] for n in first]


def most_beside(n: int, epsilon: str) -> int:
    """The most that a count may be beside n, for rows of two counts that are nearer to one half from above."""
    cap = Fraction(by_text.cap_of(by_text.rational(epsilon, "epsilon")), 2**96)
    return largest(lambda m: m <= cap * n and WHOLE - n <= cap * (WHOLE - m), WHOLE - 1)


def more(step: int) -> Callable[[int], int]:
    return lambda number: number + step
