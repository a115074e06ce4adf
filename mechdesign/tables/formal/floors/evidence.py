"""Which certificate a design's evidence becomes, and whether the design is the table's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.methods.result import Design
from mechdesign.tables.formal.floors.line import average_on_line, exact_line, worst_on_line
from mechdesign.tables.formal.floors.matrix import loss_matrix, loss_matrix_in_pairs
from mechdesign.tables.formal.floors.stated import StatedFloor
from mechdesign.tables.formal.floors.unbiased import without_bias
from mechdesign.tables.formal.floors.workload import workload_floor
from mechdesign.tables.pairs import Limits
from mechdesign.tables.table import Table
from mechdesign.words.pairs import Pairs
from mechdesign.words.workloads import Workload

_MAKERS: Mapping[str, Callable[[Table, Any, Any], StatedFloor]] = {
    "finite": loss_matrix,
    "pairs": loss_matrix_in_pairs,
    "minimax": worst_on_line,
    "bins": average_on_line,
    "unbiased prior": without_bias,
    "workload": workload_floor,
}
"""By the kind of evidence: from table, problem and evidence."""


def stated_floor(table: Table, design: Design | None) -> StatedFloor | None:
    """What the design's evidence proves, or what the table's own certificate does; nothing where there is neither."""
    if design is None:
        return None if table.document["certificate"] is None else exact_line(table)
    _require_of(table, design)
    kind = design.evidence.kind
    if kind not in _MAKERS:
        rule = f"have evidence of a kind that Coq checks: {', '.join(_MAKERS)}"
        raise InvalidInput(
            "design", kind, rule, "leave the design out: that the table is private is proven for every kind"
        )
    return _MAKERS[kind](table, design.problem, design.evidence)


def _require_of(table: Table, design: Design) -> None:
    own = "give the table's own design"
    pairs = table.document["law"].get("pairs")
    if pairs is not None:
        privacy = design.problem.privacy
        if not isinstance(privacy, Pairs) or Limits.of_privacy(privacy).written() != pairs:
            raise InvalidInput("design", "its privacy", "have the table's limit for each pair of inputs", own)
    else:
        found = design.problem.epsilon
        if Fraction(found) != table.epsilon:
            raise InvalidInput("design", found, f"have the table's epsilon, {float(table.epsilon)!r}", own)
    said = table.document.get("workload")
    loss = design.problem.loss
    matrix = loss.queries.matrix if isinstance(loss, Workload) else None
    if matrix is not None and (said is None or [[float(n) for n in line] for line in said["rows"]] != matrix.tolist()):
        raise InvalidInput("design", "a workload", "ask the queries of the table", own)
