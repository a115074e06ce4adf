"""Parts of problems as data and texts have them: priors of columns, weights, places with the loss of reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mechdesign.data.matrices import read_matrix
from mechdesign.data.numbers import require_number_text
from mechdesign.data.places import GLOBE, LINE, PLANE, FoundPlaces
from mechdesign.errors import InvalidData, InvalidInput, require_finite
from mechdesign.plot.designs import gathered
from mechdesign.values.declare import Floats
from mechdesign.words.classes import All, InPlane
from mechdesign.words.criteria import CRITERIA, Lexicographic, Worst, named_criterion
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.finite_losses import Distances, FiniteLoss, Matrix
from mechdesign.words.pairs import Metric
from mechdesign.words.places import EUCLIDEAN, GREAT_CIRCLE
from mechdesign.words.priors import Prior, prior_of_file
from mechdesign.words.problem import Problem

LOSSES_OF_PLACES = {"euclidean": 1.0, "distance": 1.0, "squared": 2.0}
"""The power of the distance that is lost, by name."""

_MATRICES = (".csv", ".npy")


# -- priors -----------------------------------------------------------------------------------------------------------


def prior_of_column(data: Path, column: str | None, inputs: Interval | Finite) -> Prior:
    """The values of a column, all of them inputs."""
    law = prior_of_file(data, column)
    if isinstance(inputs, Finite):
        is_point = np.isin(law.points, inputs.points)
        if not is_point.all():
            rule = f"be whole numbers of the domain {inputs}: {int((~is_point).sum())} of the values are not"
            raise InvalidInput("prior data", data.name, rule, "correct the data, or take the interval LO,HI")
        return law
    low, high = float(law.points[0]), float(law.points[-1])
    if low < inputs.lower or high > inputs.upper:
        wrong = float(law.weights[(law.points < inputs.lower) | (law.points > inputs.upper)].sum())
        rule = f"lie in the domain {inputs}, as {100 * wrong:.3g}% of the rows do not"
        raise InvalidData("prior data", f"{low!r} to {high!r}", rule, "widen --domain to what values can be")
    return law


def prior_in_bounds(data: Path, column: str | None, inputs: Interval, *, clip: bool) -> tuple[Prior, float]:
    """The values of a column, and the share of them that was moved to the nearer end, which has to be allowed."""
    values = prior_of_file(data, column)
    outside = (values.points < inputs.lower) | (values.points > inputs.upper)
    if not outside.any():
        return values, 0.0
    share = float(values.weights[outside].sum())
    if not clip:
        span = f"{float(values.points[0]):.10g} to {float(values.points[-1]):.10g}"
        rule = f"lie in the bounds [{inputs.lower:g}, {inputs.upper:g}], as {100 * share:.3g}% of the rows do not"
        where = "the column" if column is None else f"column {column!r}"
        raise InvalidData(where, span, rule, "widen --bounds, or pass --clip to move them to the ends")
    return gathered(np.clip(values.points, inputs.lower, inputs.upper), values.weights), share


def prior_of_types(data: Path, column: str | None, size: int) -> Floats:
    """The shares of types in a column."""
    law = prior_of_file(data, column)
    if not np.isin(law.points, np.arange(size)).all():
        raise InvalidInput("prior data", data.name, f"hold types, which are whole numbers from 0 to {size - 1}")
    prior = np.zeros(size)
    prior[law.points.astype(int)] = law.weights
    return prior


def parse_weights(text: str | None, count: int) -> list[float]:
    """Weights of the rows of a loss matrix.

    >>> parse_weights("uniform", 4), parse_weights("1,3", 2)
    ([0.25, 0.25, 0.25, 0.25], [1.0, 3.0])
    """
    if text is None or text.strip().lower() == "uniform":
        return [1 / count] * count
    try:
        weights = [require_number_text(part) for part in text.split(",")]
    except ValueError:
        weights = []
    if len(weights) != count:
        raise InvalidInput("prior", text, f"be uniform or {count} weights W1,W2,... with this loss matrix")
    return weights


# -- places -----------------------------------------------------------------------------------------------------------


def places_problem(
    found: FoundPlaces,
    eps: float,
    per: float | None = None,
    loss: str = "euclidean",
    criterion: str = "prior",
    slack: float | None = None,
    *,
    free: bool = False,
) -> Problem:
    """Metric privacy of eps for ``per`` units between places; with ``free`` reports are anywhere in the plane.

    ``loss`` is one of `LOSSES_OF_PLACES`, or a matrix in a file.
    """
    if per is None and found.form == GLOBE:
        step = "--per 1 if eps is for a kilometre, --per 0.1 for a hundred metres"
        raise InvalidInput("per", None, "say for how many kilometres eps is, where places are on the globe", step)
    unit = 1.0 if per is None else require_finite(per, "per")
    if not unit > 0:
        raise InvalidInput("per", per, "be above 0", "for example --per 100, if eps is for a hundred units")
    order = np.argsort(found.points[:, 0], kind="stable") if found.form == LINE else np.arange(len(found.points))
    names = None if found.names is None else tuple(found.names[k] for k in order.tolist())
    weights = None if found.weights is None else _shares(found.weights[order])
    if weights is not None and CRITERIA.get(criterion) is Worst:
        raise InvalidInput("prior", "a column", "be left out for the worst case", "drop --prior")
    distance = GREAT_CIRCLE if found.form == GLOBE else EUCLIDEAN
    privacy = Metric(found.points[order], eps / unit, distance)
    asked = named_criterion(criterion, weights, slack)
    if free:
        _require_free(found.form, asked, criterion, loss)
    if loss in LOSSES_OF_PLACES:
        losses: FiniteLoss = Distances(LOSSES_OF_PLACES[loss], names, None if free else names)
    else:
        matrix = read_matrix(_matrix_file(loss))
        values = matrix.values[order] if len(matrix.values) == len(order) else matrix.values
        losses = Matrix(values, names, matrix.output_labels)
    return Problem(loss=losses, privacy=privacy, criterion=asked, among=InPlane() if free else All())


def _require_free(form: str, asked: object, criterion: str, loss: str) -> None:
    """Reports anywhere in the plane, or the reason why not."""
    if form != PLANE:
        raise InvalidInput("free", form, "come with columns x and y: reports are places of a plane", "drop --free")
    if isinstance(asked, Lexicographic):
        raise InvalidInput("criterion", criterion, "be prior or worst with --free", "drop --free")
    if loss not in LOSSES_OF_PLACES:
        raise InvalidInput("loss", loss, "be euclidean or squared with --free")


def _matrix_file(loss: str) -> Path:
    if Path(loss).suffix not in _MATRICES:
        raise InvalidInput("loss", loss, "be euclidean, squared, or a matrix in a .csv or .npy file")
    return Path(loss)


def _shares(weights: Floats) -> Floats:
    if (weights < 0).any() or not weights.sum() > 0:
        raise InvalidInput("prior", "a column", "hold weights of at least 0, with a positive sum")
    return np.asarray(weights / weights.sum())
