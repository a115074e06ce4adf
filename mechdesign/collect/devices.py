"""The two-phase protocol on devices: tables in whole numbers, and reports from the operating system's randomness.

The simulation in `mechdesign.collect.two_phase` draws from a generator that can be seeded, which no device may do. Here
each group gets a table (`mechdesign.deploy`), exactly private in integers, and the server reads the same reports.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.collect.quantise import edges_of
from mechdesign.collect.two_phase import TwoPhasePlan
from mechdesign.deploy import Table, make_table, sample
from mechdesign.deploy.draws import whole
from mechdesign.domains import Finite, require_numbers
from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.values.declare import Floats, Whole


def edge_table(plan: TwoPhasePlan, bits: int = 32) -> Table:
    """What the devices of the first group get: randomised response on the plan's edges."""
    return make_table(plan.response.mechanism, bits)


def number_table(plan: TwoPhasePlan, mechanism: Mechanism, bits: int = 32) -> Table:
    """What the devices of the second group get: the mechanism designed for the descriptor.

    Tables are made of free forms (`two_phase.free_form`) and published mechanisms, not of additive ones.
    """
    return make_table(plan.require_mechanism(mechanism), bits)


def send_edges(table: Table, values: ArrayLike) -> Floats:
    """On devices of the first group: each value rounded to an edge at random, and the edge reported by the table.

    >>> from mechdesign.domains import Interval
    >>> plan = TwoPhasePlan(2.0, 100, Interval(0, 8), bins=2)
    >>> reports = send_edges(edge_table(plan), [0.0, 3.5, 8.0])
    >>> set(reports.tolist()) <= {0.0, 4.0, 8.0}
    True
    """
    if not isinstance(table.domain, Finite):
        raise InvalidInput("table", table.kind, "be one for edges", "see edge_table")
    edges = np.asarray(table.domain.points)
    data = require_numbers(values, "data")
    outside = ~((data >= edges[0]) & (data <= edges[-1]))
    if outside.any():
        place = int(np.argmax(outside))
        raise InvalidData(f"data[{place}]", float(data.ravel()[place]), f"lie in [{edges[0]:g}, {edges[-1]:g}]")
    place = (data - edges[0]) / (edges[-1] - edges[0]) * (edges.size - 1)
    return sample(table, edges[whole(place)])


def send_numbers(table: Table, values: ArrayLike) -> Floats:
    """On devices of the second group: the reports of the table."""
    return sample(table, values)


def edges_received(plan: TwoPhasePlan, reports: ArrayLike) -> Whole:
    """On the server: the numbers of the reported edges, as `TwoPhasePlan.describe` takes them."""
    seen = require_numbers(reports, "histogram reports").ravel()
    assert plan.bins is not None
    return Finite(tuple(edges_of(plan.inputs, plan.bins).tolist())).index(seen, "histogram reports").astype(np.int64)
