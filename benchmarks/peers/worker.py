"""The other end of the pipe: runs in the peers' environment, where neither this package nor its libraries are.

A line is a request, ``{"task": name, "given": {...}}``; a line is its answer, what the task took.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.clock import Measured, measured


def versions(names: Sequence[str]) -> dict[str, str]:
    return {name: version(name) for name in names}


def multi_freq_ldpy(protocol: str, epsilon: float, items: int, values: Sequence[int]) -> Measured:
    """A client call for every value, and the server's estimate."""
    client, server = _multi_freq_ldpy(protocol)
    shape = () if protocol == "oue" else (items,)

    def collect() -> Any:
        return server([client(value, items, epsilon) for value in values], *shape, epsilon)

    return measured(collect)


@cache
def _multi_freq_ldpy(protocol: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    module = {"grr": "GRR", "oue": "UE", "olh": "LH", "ss": "SS"}[protocol]
    functions = import_module(f"multi_freq_ldpy.pure_frequency_oracles.{module}")
    return getattr(functions, f"{module}_Client"), getattr(functions, f"{module}_Aggregator_MI")


def pure_ldp(protocol: str, epsilon: float, items: int, values: Sequence[int]) -> Measured:
    """A client call and a server update for every value, and the estimates."""
    folder, kind, options = {
        "grr": ("direct_encoding", "DE", {}),
        "oue": ("unary_encoding", "UE", {"use_oue": True}),
        "olh": ("local_hashing", "LH", {"use_olh": True}),
    }[protocol]
    module = import_module(f"pure_ldp.frequency_oracles.{folder}")
    # items are numbered from 0 here, from 1 there
    shared = options | {"index_mapper": int}
    client = getattr(module, f"{kind}Client")(epsilon, items, **shared)
    server = getattr(module, f"{kind}Server")(epsilon, items, **shared)

    def collect() -> Any:
        for value in values:
            server.aggregate(client.privatise(value))
        return [server.estimate(item, suppress_warnings=True) for item in range(items)]

    return measured(collect)


def ibu(p: float, q: float, shares: Sequence[float], steps: int) -> Measured:
    """So many steps of multi-freq-ldpy's iterative Bayesian update."""
    estimator = import_module("multi_freq_ldpy.estimators.Histogram_estimator").IBU
    counted, size = np.array(shares), len(shares)
    channel = (p - q) * np.eye(size) + q
    return measured(lambda: estimator(size, channel, counted, steps, 1e-300, "max_abs"))


def opendp(chance: float, items: int, reports: int) -> Measured:
    """OpenDP's randomised response, a call for every report."""
    module = import_module("opendp.prelude")
    module.enable_features("contrib")
    report = module.m.make_randomized_response(categories=list(range(items)), prob=chance)
    return measured(lambda: [report(0) for _ in range(reports)])


def qif(side: int, epsilon: float) -> Measured:
    """libqif's optimum for a square grid: an epsilon of so much times the distance, Euclidean loss, even prior."""
    library = import_module("qif")
    places = [(i, j) for i in range(side) for j in range(side)]
    prior = library.probab.uniform(len(places))

    def distance(a: int, b: int) -> float:
        return math.dist(places[a], places[b])

    def limit(a: int, b: int) -> float:
        return epsilon * distance(a, b)

    return measured(lambda: library.mechanism.d_privacy.min_loss_given_d(prior, len(places), limit, distance))


TASKS: dict[str, Callable[..., Measured]] = {
    "multi-freq-ldpy": multi_freq_ldpy,
    "pure-ldp": pure_ldp,
    "ibu": ibu,
    "opendp": opendp,
    "qif": qif,
}


def main() -> None:
    pipe, sys.stdout = sys.stdout, sys.stderr  # whatever a package prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        if request["task"] == "versions":
            answer: dict[str, Any] = versions(**request["given"])
        else:
            answer = dataclasses.asdict(TASKS[request["task"]](**request["given"]))
        print(json.dumps(answer), file=pipe, flush=True)


if __name__ == "__main__":
    main()
