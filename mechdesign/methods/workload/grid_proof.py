"""What proves the least noise of tables of several attributes, or of parities, with hundreds of types: their symmetry.

Where the workload treats the values of each attribute alike, and attributes of equal sizes, and all types have equal
shares, ``G = W'W`` is ``sum_S g_S E_S`` over the parts of a grid (`mechdesign.exact.grids`), n_S being the dimension of
E_S. With ``X = sum_S mu_S E_S W'`` the bound of `mechdesign.methods.workload.proof` needs one number nu that has

    ``sum_S g_S mu_S^2 z'E_S z <= nu (mean of z)^2`` for all z in {1, c}^k, S not empty,

and it depends on z through counts of pairs alone. Then, with ``t = sum_S g_S n_S mu_S`` over S that are not empty,

    **noise >= t^2 / nu + g_0 / k - tr(G) / k** for every epsilon-LDP mechanism with any outputs:

the part of the mean is known, as ``M 1 = k`` (``M p = 1``), and mu_0 = 1/k is the best for it. A mechanism that is
best for even shares is not beaten in the worst case either: the least noise is concave in the shares, and the same
for all permutations of them that the workload does not notice. So the bound holds there, too.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.grids import Grid, greatest_by_pairs
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.evidence import column, require_mechanism
from mechdesign.methods.workload.proof import attained_noise, ratio_above
from mechdesign.methods.workload.supports import workload_of
from mechdesign.values.declare import Floats, array, frozen, several, stored
from mechdesign.words.criteria import Family, Scope, Worst
from mechdesign.words.domains import require_numbers
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import Workload

_MOST_WHOLE = 1 << 53


def _rows(said: Any) -> Floats:
    numbers = stored(require_numbers(said, "multipliers"))
    if numbers.ndim != 2 or not np.isfinite(numbers).all():
        raise InvalidInput("multipliers", numbers.shape, "be rows of finite numbers")
    return numbers


def _size(said: Any) -> int:
    if isinstance(said, bool) or not isinstance(said, int | np.integer) or said < 2:
        raise InvalidInput("shape", said, "be whole numbers of at least 2, the sizes of attributes")
    return int(said)


@frozen
class GridBound:
    """The sizes of the attributes, mu for each class of parts but the empty one, and multipliers for counts of pairs.

    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.privacy import Pure
    >>> from mechdesign.words.workloads import Marginals
    >>> problem = Problem(loss=Marginals((2, 2), 1), privacy=Pure(1.0), criterion=Average())
    >>> bound = GridBound((2, 2), [1.0, 0.0], np.zeros((1, 9)))
    >>> round(float(bound.value(problem)), 3)
    8.365
    """

    kind: ClassVar[str] = "workload grid"
    claimed: ClassVar[bool] = False

    shape: tuple[int, ...] = several("shape", _size)
    scales: Floats = array(column("scales"))
    multipliers: Floats = array(_rows)

    def value(self, problem: Problem) -> Fraction:
        """The bound, exactly."""
        workload = workload_of(problem)
        if prod(self.shape) != workload.size:
            raise CheckFailed(f"the evidence is about {prod(self.shape)} types, the problem {workload.size}")
        if not has_even_types(problem):
            raise CheckFailed("evidence that rests on symmetry needs types with equal shares")
        grid = Grid(self.shape)
        if self.scales.shape != (len(grid.classes) - 1,):
            raise CheckFailed(f"the evidence must have {len(grid.classes) - 1} scales")
        parts, diagonal = parts_of(workload, grid)
        scales = [Fraction(scale) for scale in self.scales.tolist()]
        weights = [part * scale**2 for part, scale in zip(parts[1:], scales, strict=True)]
        greatest = max(greatest_by_pairs(grid, weights, self.multipliers, ratio_above(problem.epsilon)))
        trace = sum(
            (n * part * scale for n, part, scale in zip(grid.valencies[1:], parts[1:], scales, strict=True)),
            Fraction(0),
        )
        known = diagonal - Fraction(parts[0], grid.size)
        return trace**2 / greatest - known if greatest > 0 and trace > 0 else Fraction(0)

    def weights_of_types(self, problem: Problem) -> Floats:
        """Equal shares."""
        size = workload_of(problem).size
        return np.full(size, 1 / size)

    def bound(self, problem: Any, mechanism: Any) -> float:
        return max(0.0, float_down(self.value(problem)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        weights = self.weights_of_types(problem)
        table = require_mechanism(mechanism, Discrete, problem)
        return float_up(max(Fraction(0), attained_noise(problem, table, weights)))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        workload_of(problem)
        return Scope(Family.UNBIASED_LINEAR)


def parts_of(workload: Workload, grid: Grid) -> tuple[list[int], int]:
    """``g_S`` for each class, and the diagonal of G; `CheckFailed` where the workload is not as symmetric as the grid.

    >>> from mechdesign.words.workloads import Parity
    >>> parts_of(Workload(Parity(3, 2)), Grid((2, 2, 2)))
    ([0, 8, 8, 0], 6)
    """
    gram = _gram(workload)
    found: list[int | None] = [None] * len(grid.classes)
    for pair, entry in zip(grid.relation[0].tolist(), gram[0].tolist(), strict=True):
        found[pair] = entry
    entries = np.array(found, dtype=np.int64)
    if not np.array_equal(entries[grid.relation], gram):
        raise CheckFailed("the queries are not alike in the values of each attribute, and in attributes of equal sizes")
    whole = entries.astype(object)
    return (whole @ grid.characters).tolist(), int(entries[0])


def _gram(workload: Workload) -> NDArray[np.int64]:
    """W'W of whole queries, whose sums doubles hold exactly."""
    queries = workload.queries.matrix
    if workload.weights is not None or (queries != np.rint(queries)).any():
        raise CheckFailed("evidence that rests on symmetry needs whole queries without weights")
    if float(abs(queries).max()) ** 2 * len(queries) >= _MOST_WHOLE:
        raise CheckFailed("the queries are too large for evidence that rests on symmetry")
    return np.asarray(queries.T @ queries).astype(np.int64)


def has_even_types(problem: Problem) -> bool:
    """Whether no type has a weight of its own."""
    return isinstance(problem.criterion, Worst) or (problem.weights is not None and bool(np.ptp(problem.weights) == 0))
