"""The design for several numbers of each person with its bound, beside the program for the same signs as a workload.

Up to seven numbers all sets of sign patterns are tried, beyond counts of pairs of patterns are priced. The design for a
direction stands beside floats that integrate over angles and prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.clock import measured
from benchmarks.rows import Row, Target
from mechdesign.exact import caps, sign_patterns
from mechdesign.methods.registry import solve
from mechdesign.methods.result import Design
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.domains import cube_of
from mechdesign.words.losses import Squared
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import Sphere
from mechdesign.words.workloads import Parity, Workload

EPSILON, BITS = 2.0, 4
COORDINATES = 1024
COUNTS = {BITS: Target(ratio=1.0, seconds=1.0), 7: Target(seconds=5.0), 20: Target(seconds=5.0)}


def _designed(count: int) -> Design:
    """From nothing: sets that were tried before are forgotten."""
    sign_patterns._largest_sums.cache_clear()
    problem = Problem(inputs=cube_of(count), loss=Squared(), privacy=Pure(EPSILON), among=Unbiased())
    return solve(problem, method="sign_patterns")


def _direction() -> Design:
    """From nothing, too."""
    for kept in (caps.cap_above, caps.lean_by_caps, caps.best_height, caps._density):
        kept.cache_clear()
    return solve(Problem(inputs=Sphere(COORDINATES), loss=Squared(), privacy=Pure(EPSILON), among=Unbiased()))


def rows() -> Iterator[Row]:
    asked = Problem(loss=Workload(Parity(BITS, 1)), privacy=Pure(EPSILON), criterion=Average())
    signs = measured(partial(solve, asked, gap=1e-4))
    for count, target in COUNTS.items():
        found = measured(partial(_designed, count))
        yield Row(f"{count} numbers of each person, with the bound", f"workload of {BITS} signs", found, signs, target)
    from mechdesign.papers.gallery.best_cap import by_angles  # after the others: it loads what draws pictures

    angles = measured(partial(by_angles, EPSILON, COORDINATES))
    floats = "integration over angles, no bound"
    yield Row(f"a direction of {COORDINATES} coordinates", floats, measured(_direction), angles, Target(seconds=1.0))
