"""Certified optima for a loss matrix: finitely many inputs (rows) and outputs (columns), any losses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mechdesign.cli.question import (
    LEXICOGRAPHIC,
    PARETO,
    PRIOR,
    THIS,
    WORST,
    Labels,
    Row,
    counted,
    one_by_one,
    with_excess,
)
from mechdesign.data.matrices import LabelledMatrix, read_matrix
from mechdesign.data.numbers import require_number_text
from mechdesign.design import Design
from mechdesign.design.finite.proof import LexicographicBound
from mechdesign.design.finite.search import FiniteProblem, optimal_finite
from mechdesign.errors import InvalidInput
from mechdesign.losses import Power
from mechdesign.mechanisms.discrete import Discrete

Floats = NDArray[np.float64]

_GAP = 1e-6
_SLACK = 1e-5


@dataclass(frozen=True, slots=True)
class MatrixQuestion:
    """A certified optimum for the losses in a file."""

    table: LabelledMatrix
    criterion: str
    prior: Floats | None
    gap: float
    slack: float = _SLACK

    def problem(self, epsilon: float) -> FiniteProblem:
        table = self.table
        return FiniteProblem(
            epsilon,
            table.values,
            self.criterion,
            self.prior,
            self.gap,
            slack=self.slack,
            input_labels=table.input_labels,
            output_labels=table.output_labels,
        )

    def answers(self, epsilons: Sequence[float], seconds: float, *, best_so_far: bool) -> Iterator[Design]:
        def answer(epsilon: float, left: float) -> Design:
            return optimal_finite(self.problem(epsilon), left)

        return one_by_one(answer, epsilons, seconds, best_so_far=best_so_far)

    @property
    def subject(self) -> str:
        rows, columns = self.table.values.shape
        return f"{counted(rows, 'input')} and {counted(columns, 'output')}"

    @property
    def labels(self) -> Labels:
        rows, columns = self.table.values.shape
        return (
            self.table.input_labels or tuple(map(str, range(rows))),
            self.table.output_labels or tuple(map(str, range(columns))),
        )

    @property
    def loss(self) -> Power | None:
        return None

    @property
    def measure(self) -> str:
        return "loss"

    @property
    def excess(self) -> str:
        return "worst above least" if self.criterion == LEXICOGRAPHIC else "above optimum"

    @property
    def headline(self) -> str:
        if self.criterion == WORST:
            return "worst-case loss"
        return "average loss under the prior" + (" at the least worst case" if self.criterion == LEXICOGRAPHIC else "")

    @property
    def ranks_by(self) -> str:
        return "average" if self.criterion == PRIOR else "worst"

    def comparison(self, design: Design) -> list[Row]:
        """This design, randomised response where there is an output for each input, and the best single output."""
        mechanism, losses = design.mechanism, self.table.values
        assert isinstance(mechanism, Discrete)
        columns = np.asarray(mechanism.outputs.points, dtype=np.intp)
        law = mechanism.probabilities / mechanism.probabilities.sum(axis=1, keepdims=True)
        rows = [self._row(THIS, np.sum(law * losses[:, columns], axis=1))]
        count = losses.shape[0]
        if losses.shape[1] == count:
            other = 1 / (math.exp(mechanism.epsilon) + count - 1)
            table = np.full((count, count), other)
            np.fill_diagonal(table, 1 - (count - 1) * other)
            rows.append(self._row("randomised response", np.sum(table * losses, axis=1)))
        singles = [self._row("best single output", losses[:, j]) for j in range(losses.shape[1])]
        rows.append(min(singles, key=lambda row: row[self.ranks_by]))
        evidence = design.certificate.evidence
        if isinstance(evidence, LexicographicBound) and evidence.average.cap is not None:
            return with_excess(rows, self.ranks_by, least=evidence.average.cap / (1 + self.slack))
        return with_excess(rows, self.ranks_by)

    def _row(self, name: str, errors: Floats) -> Row:
        average = float(errors.mean() if self.prior is None else errors @ self.prior)
        return {"name": name, "worst": float(errors.max()), "average": average}


def ask(file: Path, criterion: str, prior: str | None, gap: float | None, slack: float | None) -> MatrixQuestion:
    """The question a loss-matrix file and the options beside it ask."""
    if criterion == PARETO:
        raise InvalidInput("criterion", criterion, "be worst, prior or lexicographic with --loss-matrix")
    table = read_matrix(file)
    weights = _weights(prior, criterion, table.values.shape[0])
    return MatrixQuestion(table, criterion, weights, _GAP if gap is None else gap, _SLACK if slack is None else slack)


def _weights(text: str | None, criterion: str, count: int) -> Floats | None:
    if criterion == WORST:
        if text is not None:
            raise InvalidInput("prior", text, "be left out for the worst case", "add --criterion prior")
        return None
    if text is None or text.strip().lower() == "uniform":
        return np.full(count, 1 / count)
    try:
        weights = np.array([require_number_text(part) for part in text.split(",")])
    except ValueError:
        weights = np.empty(0)
    if weights.size != count:
        raise InvalidInput("prior", text, f"be uniform or {count} weights W1,W2,... with this loss matrix")
    return weights
