"""What a table says of itself in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechdesign.errors import marked, plain
from mechdesign.exact.rational import float_down, float_up
from mechdesign.tables.kinds import ItemsLaw
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.words.privacy import Pure

if TYPE_CHECKING:
    from mechdesign.tables.table import Table
    from mechdesign.words.pairs import Pairwise

_MOST_SHOWN = 20


def summary(table: Table) -> str:
    """Kind and size, privacy, outputs, labels, proven errors, repairs, and the hash of the file.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.mechanisms.catalogue import pm
    >>> print(summary(make_table(pm(1.0))).rpartition("  sha256")[0])
    pieces table 'PM' (named in the file), probabilities are multiples of 2^-32
      privacy loss: 0.999999999798 (computed exactly, at most eps)
      outputs: 4294967296
      debiased report: bias at most 3.7405e-10, variance at most 5.2236
    <BLANKLINE>
    """
    labels = table.labels
    lines = [
        f"{table.kind} table {marked(table.name)}, probabilities are multiples of 2^-{table.bits}",
        *kept_words(table),
    ]
    if table.law.size is not None and not isinstance(table.law, ItemsLaw):
        lines.append(f"  outputs: {table.law.size}")
    if isinstance(table.law, ItemsLaw):
        law, chances = table.law, table.chances
        assert chances is not None
        lines.append(
            f"  reports: {law.report_bytes} bytes on one of {law.count} items, from {law.least_bytes} random bytes"
        )
        lines.append(
            f"  a report supports the own item with p = {float(chances.p):.6g}, another with q = {float(chances.q):.6g}"
        )
    if labels.inputs is not None:
        lines.append(f"  labels of the inputs: {_listed(labels.inputs)}")
    if labels.outputs not in (None, labels.inputs):
        lines.append(f"  labels of the outputs: {_listed(labels.outputs or ())}")
    proven, estimator, repair = table.proven, table.estimator, table.repair
    if proven is not None:
        least = rounded_down(float_down(proven.lower))
        worst = rounded_up(float_up(proven.error))
        lines.append(f"  worst error: {worst}; no eps-private mechanism has less than {least}")
    if table.workload is not None:
        asked = table.workload
        lines.append(f"  answers {len(asked.names)} queries, bias at most {rounded_up(asked.bias, 2)}")
    elif estimator is not None and estimator.of == "mean" and labels.inputs is None:
        bias, variance = float(estimator.bias), float(estimator.variance)
        lines.append(f"  debiased report: bias at most {bias:.6g}, variance at most {variance:.6g}")
    if repair is not None:
        mixed = float(repair.mixed)
        lines.append(f"  repaired: {mixed:.3g} of the uniform law mixed in, {repair.dropped} outputs dropped")
    return "\n".join([*lines, f"  sha256: {table.sha256}"])


def kept_words(table: Table) -> list[str]:
    """What is kept, and what one report gives away between any two inputs."""
    privacy = table.privacy
    if isinstance(privacy, Pure):
        return [f"  privacy loss: {table.privacy_loss:.12g} (computed exactly, at most eps)"]
    between = f"  between any two inputs: {table.privacy_loss:.12g} (computed exactly)"
    own = f"  every pair of inputs keeps its own eps: {_limits(privacy)}"
    return [own, between, *(f"  {note}" for note in privacy.notes)]


def counted_words(table: Table) -> str | None:
    """Where each pair of inputs has its own eps: which of them sums over reports count. None for other tables.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> counted_words(make_table(randomised_response(1.0, Finite((0, 1))))) is None
    True
    """
    if isinstance(table.privacy, Pure):
        return None
    return (
        f"each pair of inputs has its own eps ({_limits(table.privacy)}); counted is {float(table.epsilon):.6g}, the "
        "most that a report gives away between any two inputs, near, far or without a limit"
    )


def _limits(privacy: Pairwise) -> str:
    limits = privacy.epsilons[np.isfinite(privacy.epsilons) & (privacy.epsilons > 0)]
    return f"from {limits.min():.6g} to {limits.max():.6g}" if limits.size else "none"


def _listed(labels: tuple[str, ...]) -> str:
    """How many labels there are, and the first of them, each in quotes so that its ends are seen."""
    shown = ", ".join(f'"{plain(label)}"' for label in labels[:_MOST_SHOWN])
    return f"{len(labels)}: {shown}{', ...' if len(labels) > _MOST_SHOWN else ''}"
