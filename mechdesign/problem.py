"""A design problem, said in five words: inputs, loss, privacy, criterion, and among which mechanisms.

It says nothing of how it is solved. Which methods answer it is asked of `mechdesign.design.registry.methods`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from mechdesign.classes import All, Class, InPlane, Onto, UnbiasedPiecewise
from mechdesign.criteria import Average, Lexicographic, OverInputs, Worst
from mechdesign.domains import Finite, Interval
from mechdesign.errors import InvalidInput
from mechdesign.finite_losses import (
    Distances,
    FiniteLoss,
    LossTable,
    Matrix,
    are_numbers,
    coordinates,
    require_labels,
    table_of_places,
)
from mechdesign.losses import Power, parse_loss
from mechdesign.places import EUCLIDEAN, GREAT_CIRCLE
from mechdesign.privacy import Metric, Pairwise, Pure
from mechdesign.values.declare import Floats, evolved, field, frozen, settle
from mechdesign.values.fingerprint import fingerprint, weights_in_words


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
    return said if attrs.has(type(said)) else Matrix(said)


def _inputs(said: Any) -> Any:
    """A domain; two ends in a tuple are an interval, other numbers points."""
    if said is None or isinstance(said, Finite | Interval):
        return said
    return Interval(*said) if isinstance(said, tuple) and len(said) == 2 else Finite(said)


@frozen
class Problem:
    """The least expected loss that privacy leaves: over which inputs, and among which mechanisms.

    ``inputs`` may be left out: they are the numbers of the rows of a loss matrix, or the places of a metric. A matrix
    stands for a `Matrix` loss. Where a criterion has a prior and none is given it is uniform.

    >>> problem = Problem(loss=[[0, 1], [1, 0]], privacy=Pure(1.0), criterion=Average())
    >>> problem.inputs.points, problem.prior.tolist()
    ((0.0, 1.0), [0.5, 0.5])
    >>> places = Problem(loss=Distances(), privacy=Metric([0, 1, 2], 1.0))
    >>> places.inputs.points, places.epsilon < 2
    ((0.0, 1.0, 2.0), True)
    """

    kind: ClassVar[str] = "problem"

    inputs: Finite | Interval = field(default=None, kw_only=True, converter=_inputs)
    loss: FiniteLoss | Power = field(kw_only=True, converter=_losses)
    privacy: Pure | Pairwise | Metric = _word(
        "privacy", Pure, Pairwise, Metric, step="one epsilon for all inputs is privacy.Pure(1.0)"
    )
    criterion: OverInputs = _word(
        "criterion", Worst, Average, Lexicographic, step="for example criteria.Worst()", default=Worst()
    )
    among: Class = _word(
        "among", All, Onto, InPlane, UnbiasedPiecewise, step="for example classes.All()", default=All()
    )

    def __attrs_post_init__(self) -> None:
        if isinstance(self.loss, Power):
            self._require_interval()
            return
        if not isinstance(self.loss, Matrix | Distances):
            step = "a matrix has a row for each input and a column for each output"
            raise InvalidInput("loss", self.loss, "be a Matrix, Distances or a Power of the distance", step)
        self._require_fit(self.loss)
        inputs = self._own_inputs()
        if self.inputs is not None and self.inputs != inputs:
            raise InvalidInput("inputs", str(self.inputs), f"be {inputs}, those of privacy and loss", "leave them out")
        settle(self, inputs=inputs, criterion=self.criterion.over(len(inputs)))
        size, prior = len(inputs), self.criterion.prior
        if prior is not None and prior.shape != (size,):
            raise InvalidInput("prior", prior.shape, f"be one weight for each of the {size} inputs")
        require_labels(self.loss.input_labels, size, "input_labels")

    def _own_inputs(self) -> Finite:
        """The points where they are increasing numbers, else the numbers of rows."""
        if isinstance(self.privacy, Metric) and are_numbers(self.privacy.points):
            return Finite(tuple(self.privacy.points[:, 0].tolist()))
        if isinstance(self.privacy, Pure):
            return Finite(tuple(range(len(self.table.up))))
        return Finite(tuple(range(len(self.privacy))))

    def _require_interval(self) -> None:
        """Inputs are an interval, and all words are about one, or `InvalidInput`."""
        if not isinstance(self.inputs, Interval):
            step = "for example Interval(0, 1); a Matrix has the losses of finitely many inputs"
            raise InvalidInput(
                "domain", str(self.inputs), "be an interval where the loss is a power of the distance", step
            )
        if not isinstance(self.privacy, Pure):
            raise InvalidInput(
                "privacy", self.privacy, "be one epsilon for all inputs of an interval", "take Pure(eps)"
            )
        if self.criterion.prior is not None:
            raise InvalidInput("prior", "weights", "be left out for an interval", "take Worst()")
        if isinstance(self.among, Onto | InPlane):
            raise InvalidInput("among", self.among, "be about numbers", "take All() or UnbiasedPiecewise()")

    def _require_fit(self, loss: FiniteLoss) -> None:
        """Loss, privacy and the class are about the same inputs and outputs, or `InvalidInput`."""
        privacy, among = self.privacy, self.among
        if isinstance(among, UnbiasedPiecewise):
            raise InvalidInput("among", among, "be asked of an interval", "take All()")
        if isinstance(loss, Matrix):
            if not isinstance(among, All):
                raise InvalidInput("among", among, "be All() for a matrix: outputs are its columns", "leave it out")
            if not isinstance(privacy, Pure) and len(loss.values) != len(privacy):
                rule = f"have a row for each of the {len(privacy)} inputs of the privacy"
                raise InvalidInput("loss matrix", loss.values.shape, rule)
            return
        if not isinstance(privacy, Metric):
            raise InvalidInput("loss", loss, "be a matrix where privacy is no Metric: there are no places")
        coordinates = privacy.points.shape[1]
        if isinstance(among, InPlane):
            if privacy.distance != EUCLIDEAN or coordinates != 2:
                raise InvalidInput("among", among, "be asked of points of the plane", "take All() or Onto(places)")
            if loss.output_labels is not None:
                raise InvalidInput("output_labels", "texts", "be left out where the places to report are to be found")
        elif isinstance(among, Onto) and among.places.shape[1] != coordinates:
            raise InvalidInput("outputs", among.places.shape, f"have {coordinates} coordinates like the points")
        require_labels(loss.output_labels, self.table.width, "output_labels")

    @property
    def epsilon(self) -> float:
        """That of any two inputs; where every pair has its own the largest, at most 64."""
        return self.privacy.epsilon

    @property
    def prior(self) -> Floats | None:
        """The weights of the inputs; None for the worst case."""
        return self.criterion.prior

    @property
    def numbers(self) -> Finite:
        """The inputs where they are finitely many."""
        if not isinstance(self.inputs, Finite):
            raise InvalidInput("inputs", str(self.inputs), "be finitely many")
        return self.inputs

    @property
    def table(self) -> LossTable:
        """What every input loses to every output, where both are finitely many."""
        if isinstance(self.loss, Power):
            raise InvalidInput("loss", self.loss, "be one of finitely many inputs and outputs")
        if isinstance(self.loss, Distances):
            assert isinstance(self.privacy, Metric)
            assert not isinstance(self.among, UnbiasedPiecewise)
            return table_of_places(self.loss, self.privacy, self.among)
        table = self.loss.table
        if isinstance(self.privacy, Metric) and self.privacy.points.shape[1] > 1 and table.names[0] is None:
            return evolved(table, names=(coordinates(self.privacy.points), table.names[1]))
        return table

    @property
    def is_of_plane(self) -> bool:
        """Whether inputs and outputs are places of a plane or a globe, which a map can show."""
        places = None if isinstance(self.loss, Power) else self.table.places
        return places is not None and places.shape[1] == 2

    @property
    def negligible(self) -> float:
        """What bounds may be apart whatever gap is asked: a share of the largest loss."""
        return 0.0 if isinstance(self.loss, Power) else self.privacy.resolved * float(self.table.up.max())

    @property
    def as_published(self) -> Problem:
        """The same with reports among the places that were given: what rivals are about."""
        return evolved(self, among=All()) if isinstance(self.among, InPlane) else self

    # -- in words ------------------------------------------------------------------------------------------------------

    @property
    def measure(self) -> str:
        if isinstance(self.loss, Power):
            return "variance" if isinstance(self.among, UnbiasedPiecewise) else f"{self.loss.name} error"
        return "loss"

    @property
    def subject(self) -> str:
        if isinstance(self.loss, Power):
            return str(self.inputs)
        rows, columns = self.table.up.shape
        if isinstance(self.loss, Matrix):
            return f"{_counted(rows, 'input')} and {_counted(columns, 'output')}"
        if isinstance(self.among, InPlane):
            return f"{_counted(rows, 'place')} and reports anywhere in the plane"
        return f"{_counted(rows, 'place')} and {_counted(columns, 'place')} to report"

    @property
    def privacy_in_words(self) -> str:
        match self.privacy:
            case Pure(epsilon=epsilon):
                return f"eps = {epsilon:g}"
            case Metric(per_unit=rate, distance=kind):
                return f"eps = {rate:g} a {'kilometre' if kind == GREAT_CIRCLE else 'unit of distance'}"
        return "an eps for each pair"

    @property
    def loss_in_words(self) -> str:
        return self.loss.name if isinstance(self.loss, Power) else self.loss.words

    @property
    def prior_in_words(self) -> str | None:
        return None if self.prior is None else weights_in_words(self.prior)

    @property
    def asked_in_words(self) -> str:
        said = self.criterion.headline(self.measure)
        return said if isinstance(self.loss, Power) else f"{said}, {self.loss.words}"

    @property
    def particulars(self) -> tuple[str, ...]:
        if isinstance(self.loss, Power):
            return ()
        said = [f"loss: {self.loss.words}"]
        if isinstance(self.loss, Matrix):
            said = [f"loss matrix: {fingerprint(self.loss.values)}"]
        if isinstance(self.privacy, Pairwise):
            said.append(f"eps of the pairs: {fingerprint(self.privacy.epsilons)}")
        if isinstance(self.privacy, Metric):
            said.append(f"places: {fingerprint(self.privacy.points)}")
        if isinstance(self.among, Onto):
            said.append(f"places to report: {fingerprint(self.among.places)}")
        return tuple(said)

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        return None if isinstance(self.loss, Power) else self.table.labels


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
