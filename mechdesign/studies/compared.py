"""What mechanisms are compared on: numbers of a domain, or the rows and columns of a matrix; and with which optimum."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mechdesign.data.matrices import read_matrix
from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.field import THIS, Field, field_of, ranked
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.finite.rivalry import SINGLE
from mechdesign.methods.floor import Floor, floor_of
from mechdesign.methods.registry import solve
from mechdesign.studies.own import Own, numbers_of
from mechdesign.values.declare import Floats, array, evolved, frozen
from mechdesign.words.classes import Piecewise
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.finite_losses import Matrix as Loss
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

OPTIMUM = "optimal piecewise"
BY_PROGRAM = "linear program"
"""The bound of a floor over matrices."""

_SECONDS = 60.0
_ROUNDING = 1e-12  # of errors in doubles
_RESPONSE = "grr"
_FOR_MATRICES = {_RESPONSE: _RESPONSE, "rr": _RESPONSE, "randomised response": _RESPONSE, SINGLE: SINGLE}


def names_for(asked: Sequence[str] | None, inputs: Interval | Circle) -> tuple[str, ...]:
    """The mechanisms of the catalogue: those asked for, or all for these inputs."""
    if asked is not None:
        return tuple(name for name in dict.fromkeys(asked) if name != OPTIMUM)
    entries = catalogue.ON_CIRCLES if isinstance(inputs, Circle) else catalogue.ON_INTERVALS
    return tuple(entry.key for entry in entries)


def _spends_more(mine: Sequence[Own], epsilon: float) -> dict[str, str]:
    """Of mechanisms of one's own those that do not keep an epsilon, and why."""
    return {
        one.name: f"its privacy loss is {one.loss_above(epsilon)}, computed exactly"
        for one in mine
        if not one.keeps(epsilon)
    }


@frozen
class Numbers:
    """A comparison over all numbers of an interval or circle."""

    inputs: Interval | Circle
    loss: Power
    names: tuple[str, ...]
    mine: tuple[Own, ...]

    @property
    def count(self) -> int:
        return len(self.names) + len(self.mine) + 1

    @property
    def loss_name(self) -> str:
        return self.loss.name

    def at(self, epsilon: float) -> tuple[Floor, Field]:
        """The certified optimum at an epsilon, and the mechanisms that keep it."""
        floor = floor_of(epsilon, self.loss, self.inputs)
        asked = Problem(inputs=self.inputs, loss=self.loss, privacy=Pure(epsilon), among=Piecewise())
        optimum = solve(asked).own_law
        built = {name: catalogue.build(name, epsilon, self.inputs, self.loss) for name in self.names}
        kept = {one.name: one.mechanism for one in self.mine if one.keeps(epsilon)}
        for name, mechanism in kept.items():  # what one's own file attains is above the optimum, too
            attained = mechanism.worst_case(self.loss)[0] * (1 + _ROUNDING)
            if attained < floor.upper:
                floor = evolved(floor, upper=max(attained, floor.lower), attained_by=name)
        field = ranked({OPTIMUM: optimum} | built | kept, self.loss, floor.upper)
        return floor, evolved(field, left_out=dict(field.left_out) | _spends_more(self.mine, epsilon))

    @property
    def measure(self) -> str:
        """What is measured."""
        return f"{self.loss.name} error"


@frozen
class Matrix:
    """A comparison over the rows of a loss matrix; mechanisms have its columns as outputs.

    ``mine`` are tables from the numbers of rows to the numbers of columns.
    """

    losses: Floats = array(np.asarray)
    loss_name: str
    names: tuple[str, ...] | None
    mine: tuple[Own, ...]

    @property
    def inputs(self) -> str:
        rows, columns = self.losses.shape
        return f"{rows} inputs and {columns} outputs"

    @property
    def count(self) -> int:
        return len(self.mine) + 2

    @property
    def measure(self) -> str:
        """What is measured."""
        return self.loss_name if self.loss_name == "loss" else f"{self.loss_name} error"

    def at(self, epsilon: float) -> tuple[Floor, Field]:
        """The certified optimum from these inputs to these outputs, and the mechanisms that keep the epsilon."""
        problem = Problem(loss=Loss(self.losses), privacy=Pure(epsilon))
        try:
            design = solve(problem, _SECONDS)
        except NoAnswer as stopped:
            if stopped.design is None:
                raise
            design = stopped.design
        found = design.certificate
        field = field_of(design, {one.name: one.mechanism for one in self.mine if one.keeps(epsilon)})
        files = {one.name for one in self.mine}
        rows = [row for row in field.rows if row.name != THIS and self._is_asked(row.name, files)]
        floor = Floor(found.lower, found.upper, BY_PROGRAM, "the certified optimum", found.claimed)
        left_out = dict(field.left_out) | _spends_more(self.mine, epsilon)
        return floor, evolved(field, rows=tuple(rows), left_out=left_out)

    def _is_asked(self, name: str, files: set[str]) -> bool:
        return self.names is None or name in files or name in self.names


def matrix_of(mine: Sequence[Own], names: Sequence[str] | None, loss: Power, file: Path | None) -> Matrix:
    """The comparison of files with finitely many inputs, under the losses of a file or of their numbers."""
    for name in names or ():
        if name not in _FOR_MATRICES:
            rule = f"be {_RESPONSE} or {SINGLE} beside a matrix: others are for numbers of an interval"
            raise InvalidInput("mechanism", name, rule, "leave it out")
    for one in mine:
        if not isinstance(one.mechanism, Discrete):
            rule = "be finitely many, as those of the matrix"
            raise InvalidInput(f"inputs of {one.name}", str(one.mechanism.inputs), rule, "compare it on its own")
    wanted = None if names is None else tuple(_FOR_MATRICES[name] for name in names)
    if file is None:
        inputs, outputs = _numbers(mine)
        losses = loss(np.array(outputs)[None, :], np.array(inputs)[:, None])
        return Matrix(losses, loss.name, wanted, tuple(_coded(one, inputs, outputs) for one in mine))
    matrix = read_matrix(file)
    rows, columns = (
        _keys(labels, count)
        for labels, count in zip((matrix.input_labels, matrix.output_labels), matrix.values.shape, strict=True)
    )
    return Matrix(matrix.values, "loss", wanted, tuple(_coded(one, rows, columns) for one in mine))


Keys = Sequence[float | str]


def _numbers(mine: Sequence[Own]) -> tuple[Keys, Keys]:
    """The inputs that all files have, and the outputs that any has; they are numbers, so that a loss is known."""
    for one in mine:
        if one.is_coded or one.labels != (None, None):
            rule = "be increasing numbers where no --loss-matrix says what each output costs"
            raise InvalidInput(f"inputs and outputs of {one.name}", "names", rule, "add --loss-matrix FILE")
    outputs = sorted({float(point) for one in mine for point in one.mechanism.outputs.points})
    return mine[0].mechanism.inputs.points, outputs


def _keys(labels: tuple[str, ...] | None, count: int) -> Keys:
    """What rows or columns are called: numbers, words, or 0, 1, ..."""
    if labels is None:
        return tuple(map(float, range(count)))
    return numbers_of(labels) or labels


def _coded(one: Own, rows: Keys, columns: Keys) -> Own:
    """The same table from numbers of rows to numbers of columns."""
    law: Discrete = one.mechanism
    names = [labels or points.points for labels, points in zip(one.labels, (law.inputs, law.outputs), strict=True)]
    if list(names[0]) != list(rows):
        raise InvalidInput(f"inputs of {one.name}", _told(names[0]), f"be {_told(rows)}, in this order")
    places = {key: place for place, key in enumerate(columns)}
    if not {*names[1]} <= places.keys():
        raise InvalidInput(f"outputs of {one.name}", _told(names[1]), f"be among {_told(columns)}")
    chosen = np.array([places[key] for key in names[1]])
    order = np.argsort(chosen)
    outputs = Finite(tuple(map(float, chosen[order])))
    inputs = Finite(tuple(map(float, range(len(rows)))))
    return evolved(one, mechanism=Discrete(law.epsilon, inputs, outputs, law.probabilities[:, order], law.name))


def _told(keys: Keys) -> str:
    shown = [f"{key:g}" if isinstance(key, float) else key for key in keys]
    return ", ".join(shown if len(shown) <= _MOST_TOLD else [*shown[:_MOST_TOLD], f"... ({len(shown)} in all)"])


_MOST_TOLD = 6
