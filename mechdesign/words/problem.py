"""A design problem, said in five words: inputs, loss, privacy, criterion, and among which mechanisms.

It says nothing of how it is solved. Which methods answer it is asked of `mechdesign.methods.registry.methods`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, get_args

import attrs
import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import Floats, evolved, field, frozen, settle
from mechdesign.words.classes import All, Class, InPlane, Onto
from mechdesign.words.counts import Count
from mechdesign.words.criteria import Criteria, Worst
from mechdesign.words.domains import POINTS_OPTION, Circle, Finite, Inputs, Interval, Product
from mechdesign.words.finite_losses import Distances, FiniteLoss, LossTable, Matrix, coordinates, table_of_places
from mechdesign.words.fits import counts, distances, models, objectives, tables, workloads
from mechdesign.words.fits.words import Words
from mechdesign.words.losses import OPTION as LOSS_OPTION, Custom, Loss, Power, parse_loss
from mechdesign.words.models import Binned, GaussianLocation, LogisticLocation, Model
from mechdesign.words.objectives import Formula, Objective, WholeLoss
from mechdesign.words.privacy import Metric, Privacy
from mechdesign.words.vectors import Vectors
from mechdesign.words.workloads import AnyQueries, Workload


def _word(name: str, *kinds: type, step: str, **options: Any) -> Any:
    """A field with one of the values of a vocabulary."""

    def convert(said: Any) -> Any:
        if not isinstance(said, kinds):
            raise InvalidInput(name, said, f"be {' or '.join(kind.__name__ for kind in kinds)}", step)
        return said

    return field(kw_only=True, converter=convert, **options)


def _losses(said: Any) -> Any:
    if isinstance(said, str):
        return parse_loss(said)
    if isinstance(said, AnyQueries):
        return Workload(said)
    return said if attrs.has(type(said)) else Matrix(said)


def _inputs(said: Any) -> Any:
    """A domain; two ends in a tuple are an interval, other numbers points."""
    if said is None or isinstance(said, Finite | Interval | Circle | Product | Vectors):
        return said
    return Interval(*said) if isinstance(said, tuple) and len(said) == 2 else Finite(said)


class Fit(Protocol):
    """What words must have in common where the loss is of one kind, and how a problem is said: a module of `fits`."""

    def settled(self, problem: Any, /) -> dict[str, Any]:
        """The fields that follow from the other words, or `InvalidInput` where words do not fit."""
        ...

    def words(self, problem: Any, /) -> Words: ...


FITS: Mapping[type, Fit] = {
    Power: distances,
    Custom: distances,
    Matrix: tables,
    Distances: tables,
    GaussianLocation: models,
    LogisticLocation: models,
    Binned: models,
    Workload: workloads,
    Count: counts,
    Objective: objectives,
    Formula: objectives,
}
"""By the kind of loss."""


@frozen
class Problem:
    """The least expected loss that privacy leaves: over which inputs, and among which mechanisms.

    ``inputs`` may be left out: they are the numbers of the rows of a loss matrix, or the places of a metric. A matrix
    stands for a `Matrix` loss, queries for a `Workload` of them. Where a criterion has a prior and
    none is given it is uniform.

    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.privacy import Pure
    >>> problem = Problem(loss=[[0, 1], [1, 0]], privacy=Pure(1.0), criterion=Average())
    >>> problem.inputs.points, problem.weights.tolist()
    ((0.0, 1.0), [0.5, 0.5])
    >>> places = Problem(loss=Distances(), privacy=Metric([0, 1, 2], 1.0))
    >>> places.inputs.points, places.epsilon < 2
    ((0.0, 1.0, 2.0), True)
    """

    kind: ClassVar[str] = "problem"

    inputs: Inputs | Vectors = field(default=None, kw_only=True, converter=_inputs, metadata=POINTS_OPTION)
    loss: FiniteLoss | Loss | Model | Workload | Count | WholeLoss = field(
        kw_only=True, converter=_losses, metadata=LOSS_OPTION
    )
    privacy: Privacy = _word("privacy", *get_args(Privacy), step="one epsilon for all inputs is privacy.Pure(1.0)")
    criterion: Criteria = _word("criterion", *get_args(Criteria), step="for example criteria.Worst()", default=Worst())
    among: Class = _word("among", *get_args(Class), step="for example classes.All()", default=All())

    def __attrs_post_init__(self) -> None:
        settle(self, **self._fit.settled(self))

    @property
    def _fit(self) -> Fit:
        found = FITS.get(type(self.loss))
        if found is None:
            names = " or ".join(kind.__name__ for kind in FITS)
            step = "a matrix has a row for each input and a column for each output"
            raise InvalidInput("loss", self.loss, f"be of kind {names}", step)
        return found

    @property
    def words(self) -> Words:
        """How the problem is said where results are shown."""
        return self._fit.words(self)

    @property
    def epsilon(self) -> float:
        """That of any two inputs; where every pair has its own the largest, at most 64."""
        return self.privacy.epsilon

    @property
    def weights(self) -> Floats | None:
        """The prior where inputs are finitely many: a weight for each; None for the worst case."""
        prior = self.criterion.prior
        return prior if isinstance(prior, np.ndarray) else None

    @property
    def numbers(self) -> Finite:
        """The inputs where they are finitely many."""
        if not isinstance(self.inputs, Finite):
            raise InvalidInput("inputs", str(self.inputs), "be finitely many")
        return self.inputs

    @property
    def table(self) -> LossTable:
        """What every input loses to every output, where both are finitely many."""
        if not isinstance(self.loss, FiniteLoss):
            raise InvalidInput("loss", self.loss, "be one of finitely many inputs and outputs")
        if isinstance(self.loss, Distances):
            assert isinstance(self.privacy, Metric)
            assert isinstance(self.among, All | Onto | InPlane)
            return table_of_places(self.loss, self.privacy, self.among)
        table = self.loss.table
        if isinstance(self.privacy, Metric) and self.privacy.points.shape[1] > 1 and table.names[0] is None:
            return evolved(table, names=(coordinates(self.privacy.points), table.names[1]))
        return table

    @property
    def is_of_plane(self) -> bool:
        """Whether inputs and outputs are places of a plane or a globe, which a map can show."""
        places = self.table.places if isinstance(self.loss, FiniteLoss) else None
        return places is not None and places.shape[1] == 2

    @property
    def negligible(self) -> float:
        """What bounds may be apart whatever gap is asked: a share of the largest loss."""
        if isinstance(self.loss, Formula):
            return self.loss.negligible
        if isinstance(self.loss, FiniteLoss):
            return self.privacy.resolved * float(self.table.up.max())
        if isinstance(self.loss, Power) and isinstance(self.inputs, Finite):
            return self.privacy.resolved * float(self.inputs.length**self.loss.exponent)
        return 0.0

    @property
    def as_published(self) -> Problem:
        """The same with reports among the places that were given: what rivals are about."""
        return evolved(self, among=All()) if isinstance(self.among, InPlane) else self
