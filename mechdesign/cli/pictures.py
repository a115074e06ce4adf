"""The picture of any file this package writes: a saved design, a table, or the results of a benchmark."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign import plot
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms.directions import DirectionResponse
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.hidden import TogetherLaw
from mechdesign.mechanisms.product import Product
from mechdesign.methods.result import FORMAT as DESIGN, Design
from mechdesign.methods.saved import design_of_document
from mechdesign.methods.summary import name_of
from mechdesign.methods.words import power_of
from mechdesign.studies.bench import HEAT, LINES, bench_figure
from mechdesign.studies.frequencies import bench
from mechdesign.tables.table import load_table
from mechdesign.values import files
from mechdesign.words.losses import Power

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAW, ERROR = "law", "error"
KINDS = (LAW, ERROR, LINES, HEAT)
_TABLE = "mechdesign table"


def picture(path: Path, kind: str) -> Figure:
    """What the file says it is, drawn; ``error`` is for designs whose inputs are an interval or a circle, ``lines``
    and ``heat`` for the results of a benchmark."""
    document = files.read_json(path)
    form = document.get("format")
    if kind in (LINES, HEAT) and document.get("kind") != bench.KIND:
        raise InvalidInput("kind", kind, f"be {LAW} or {ERROR} for a file that is no --results of bench")
    if kind == ERROR and form != DESIGN:
        raise InvalidInput("kind", kind, f"be {LAW} for a file that is no saved design")
    if form == DESIGN:
        design = design_of_document(document, str(path))
        return _error_figure(design) if kind == ERROR else plot.of(design)
    if form == _TABLE:
        return plot.table_law(load_table(path))
    if document.get("kind") == bench.KIND:
        return _results_figure(path, None if kind == LAW else kind)
    rule = "be a saved design, a table or the --results of bench"
    raise FileProblem("file", str(path), rule, "budget and capacity draw theirs with --plot as they answer")


def _error_figure(design: Design) -> Figure:
    mechanism = design.mechanism
    if isinstance(mechanism, Product | Discrete | DirectionResponse | TogetherLaw):
        rule = f"be {LAW} for a mechanism of pairs, groups, vectors or rows of a matrix"
        raise InvalidInput("kind", ERROR, rule)
    loss = power_of(design.problem) or Power(2.0)
    name = name_of(design)
    return plot.errors_over_inputs({name: mechanism}, loss, f"{name}, ε = {mechanism.epsilon:g}")


def _results_figure(path: Path, kind: str | None) -> Figure:
    kept = bench.read_results(path)
    if not kept.rows:
        raise FileProblem("results file", str(path), "hold at least one finished cell", "let bench run on")
    name = kept.metrics[0]
    order = (_listed(row.protocol for row in kept.rows), _listed(row.method for row in kept.rows))
    ranks = bench.ranking(kept.rows, name, kept.items)
    if kind == LINES and len({rank.epsilon for rank in ranks}) == 1:
        raise InvalidInput("kind", kind, f"be {HEAT} for results of one eps")
    return bench_figure(ranks, name, order, kept.items, kept.users, kind)


def _listed(names: Any) -> list[str]:
    """Each name once, in the order of the catalogue; names of one's own last."""
    known = [*bench.ONE_TIME, *bench.LONGITUDINAL, *bench.METHODS, *bench.SLOW_METHODS]
    return sorted(set(names), key=lambda name: (known.index(name) if name in known else math.inf, name))
