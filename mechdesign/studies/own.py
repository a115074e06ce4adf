"""Mechanisms of one's own, from files, for comparisons: saved designs, tables, and matrices of probabilities.

What they give away is decided: from the evidence of a design, the check of a table, and the numbers of a matrix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechdesign.data.matrices import LabelledMatrix, read_matrix
from mechdesign.data.numbers import require_number_text
from mechdesign.errors import MAX_EPSILON, FileProblem, InvalidInput
from mechdesign.exact.privacy import PrivacyProof
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.values import files
from mechdesign.values.declare import frozen
from mechdesign.values.tables import printable
from mechdesign.words.domains import Finite
from mechdesign.words.finite_losses import FiniteLoss
from mechdesign.words.problem import Problem

Sides = tuple[tuple[str, ...] | None, tuple[str, ...] | None]

_STEP = "take a larger --eps, or none: then it is what the file spends; `table --channel` repairs a matrix"


@frozen
class Own:
    """A mechanism of one's own, under the name of its file, with its exact likelihood ratio.

    ``declared`` is the epsilon that it was designed for. ``labels`` name inputs and outputs where these are no numbers;
    ``is_coded`` says that its numbers are those of rows and columns of a loss matrix.
    """

    name: str
    mechanism: Any
    ratio: LikelihoodRatio
    declared: float | None = None
    labels: Sides = (None, None)
    is_coded: bool = False

    def keeps(self, epsilon: float) -> bool:
        """Whether it is epsilon-LDP, decided in rational arithmetic."""
        return PrivacyProof(epsilon, self.ratio).holds

    def require(self, epsilons: Sequence[float]) -> None:
        """`InvalidInput` unless it keeps one of them at least."""
        if not any(map(self.keeps, epsilons)):
            most = max(epsilons)
            said = f"{most:g}" if float(f"{most:g}") == most else repr(most)
            raise InvalidInput(self.name, f"a privacy loss of {self.loss_above(most)}", f"keep eps = {said}", _STEP)

    def loss_above(self, epsilon: float) -> str:
        """Its privacy loss in words, where that is above an epsilon, maybe by less than doubles can show."""
        loss = self.ratio.loss
        return repr(loss) if loss > epsilon else f"a little more than {epsilon!r}"

    @property
    def spends(self) -> float:
        """The epsilon that it was designed for; of a matrix the least, as a double, that it keeps."""
        if self.declared is not None and self.keeps(self.declared):
            return self.declared
        if self.ratio.ratio is None:
            rule = "have a finite privacy loss: some output is possible from one input and not from another"
            raise InvalidInput(self.name, math.inf, rule, "`table --channel FILE --eps E` repairs it")
        epsilon = self.ratio.loss
        if not 0 < epsilon <= MAX_EPSILON:
            raise InvalidInput(self.name, epsilon, "tell something of its inputs, and not all", "pass --eps")
        while not self.keeps(epsilon):
            epsilon *= 1 + 2.0**-52
        return epsilon


def is_file(name: str) -> bool:
    """Whether a name among mechanisms is that of a file: names of the catalogue have no dot."""
    return name.lower().endswith(".json")


def read_files(names: Sequence[str], epsilons: Sequence[float] = ()) -> tuple[Own, ...]:
    """Saved designs and tables under different names, each of which keeps one of the epsilons, if any are given."""
    found = tuple(read_file(Path(name)) for name in names)
    require_different(found)
    for one in found if epsilons else ():
        one.require(epsilons)
    return found


def require_different(found: Sequence[Own]) -> None:
    """`InvalidInput` where two files have one name."""
    called = [one.name for one in found]
    for name in called:
        if called.count(name) > 1:
            raise InvalidInput("files", name, "have different names", "rename one of them")


def read_file(path: Path) -> Own:
    """A saved design or a table."""
    from mechdesign.methods.saved import load_design
    from mechdesign.tables.measured import measured
    from mechdesign.tables.table import is_design, load_table

    called = printable(path.name)
    if not is_design(files.read_bytes(path)):
        table = load_table(path)
        law, names = measured(table), (table.labels.inputs, table.labels.outputs)
        return Own(called, law, LikelihoodRatio(table.ratio), law.epsilon, names)
    design = load_design(path)
    if isinstance(design.mechanism, JointResponse | Product):
        raise FileProblem("design", str(path), "be of one user's number, to be compared", "compare its parts")
    mechanism = design.own_law
    is_coded = design.problem.words.labels is not None
    ratio, names = mechanism.likelihood_ratio(), _labels_of(design.problem, mechanism)
    return Own(called, mechanism, ratio, mechanism.epsilon, names, is_coded)


def _labels_of(problem: Problem, mechanism: Any) -> Sides:
    """The labels of a loss matrix, for the outputs that are used."""
    if not isinstance(problem.loss, FiniteLoss):
        return None, None
    return problem.table.names[0], problem.table.names_of(mechanism.outputs)


def read_channel(path: Path) -> Own:
    """A matrix of probabilities: labels that are increasing numbers are the inputs and outputs, else 0, 1, ... are."""
    matrix = read_matrix(path, "channel")
    sums = matrix.values.sum(axis=1)
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > 1e-9:
        rule = f"have rows that sum to 1: row {worst + 1} sums to {sums[worst]:.12g}"
        raise FileProblem("channel file", str(path), rule, "a row is an input, a column an output")
    inputs, outputs = (_points(*side) for side in _sides(matrix))
    mechanism = Discrete(1.0, inputs, outputs, matrix.values, path.stem)
    return Own(printable(path.name), mechanism, mechanism.likelihood_ratio(), labels=_labels(matrix))


def _sides(matrix: LabelledMatrix) -> tuple[tuple[tuple[str, ...] | None, int], tuple[tuple[str, ...] | None, int]]:
    rows, columns = matrix.values.shape
    return (matrix.input_labels, rows), (matrix.output_labels, columns)


def _labels(matrix: LabelledMatrix) -> Sides:
    """Labels that are no increasing numbers."""
    kept = [labels if labels is not None and numbers_of(labels) is None else None for labels, _ in _sides(matrix)]
    return kept[0], kept[1]


def _points(labels: tuple[str, ...] | None, count: int) -> Finite:
    numbers = None if labels is None else numbers_of(labels)
    return Finite(tuple(range(count))) if numbers is None else Finite(numbers)


def numbers_of(labels: Sequence[str]) -> tuple[float, ...] | None:
    """Labels as increasing numbers, if they are.

    >>> numbers_of(["0", "0.5"]), numbers_of(["low", "high"]), numbers_of(["1", "0"])
    ((0.0, 0.5), None, None)
    """
    try:
        values = np.array([require_number_text(label) for label in labels])
    except ValueError:
        return None
    return tuple(values.tolist()) if np.isfinite(values).all() and (np.diff(values) > 0).all() else None
