"""The law of a table: a probability for each input and report, or for cells of reports where they are many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechdesign.errors import InvalidInput, marked
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.plot.canvas import drawable
from mechdesign.plot.certified import probability_table
from mechdesign.plot.channel import channel_map
from mechdesign.tables.kinds import Listed
from mechdesign.tables.table import Table
from mechdesign.values.declare import Floats
from mechdesign.words.domains import Finite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INPUTS, _CELLS = 65, 257


def table_law(table: Table) -> Figure:
    """P(report | input) of a table: of each of its outputs, or of equal cells where it has too many or a continuum."""
    from mechdesign.studies.frequencies.protocols.designed import (
        designed,  # simulations, which other pictures do without
    )

    domain = table.domain
    if table.chances is not None:
        rule = "have rows to draw: of a frequency protocol p and q say all"
        step = "protocols prints its variances, and bench --plot its errors on data"
        raise InvalidInput("table", f"{table.kind} table", rule, step)
    channel = designed(table, None if isinstance(domain, Finite) else _INPUTS, _CELLS)
    title = f"{drawable(marked(table.name))}, ε = {float(table.epsilon):g}: {table.bits}-bit table of kind {table.kind}"
    names = table.labels
    if channel.edges is not None:
        return channel_map(channel.items, channel.edges, channel.matrix, title)
    assert isinstance(table.law, Listed)
    outputs = table.law.outputs
    if isinstance(domain, Finite):
        columns = names.outputs or [f"{value:.10g}" for value in outputs]
        rows = names.inputs or [f"{value:.10g}" for value in channel.items]
        law = Discrete(float(table.epsilon), domain, Finite(outputs), channel.matrix, marked(table.name))
        return probability_table(law, (rows, columns))
    return _gathered(channel.items, np.array(outputs), channel.matrix, title)


def _gathered(items: Floats, outputs: Floats, matrix: Floats, title: str) -> Figure:
    """Listed outputs, gathered into equal cells where they stand."""
    edges = np.linspace(outputs[0], outputs[-1], _INPUTS + 1)
    cell = np.clip(np.searchsorted(edges, outputs, side="right") - 1, 0, edges.size - 2)
    gathered = np.zeros((items.size, edges.size - 1))
    np.add.at(gathered.T, cell, matrix.T)
    return channel_map(items, edges, gathered, title)
