"""Several attributes a user: split the budget, sample one attribute, or sample one and send fakes for the others.

What a loss means depends on which records must look alike, the *neighbour relation*: records that differ in any way
("record", the usual local model), or in one attribute only ("attribute", which is weaker). RS+FD's gain from hiding
the attribute that was sampled is a gain for "attribute" neighbours; for whole records there is none. Its published
amplification ``eps' = ln[d (e^eps - 1) + 1]`` holds for attributes of one size; for GRR on attributes of sizes 2 and
100 at eps = 1 the loss is 1.250. Here eps' is solved from the exact loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import MAX_EPSILON, InvalidInput, require_epsilon, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.protocols import arguments, catalogue, pure, unary
from mechdesign.studies.frequencies.protocols.grr import Grr, grr
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol, Support
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.studies.frequencies.protocols.unary import Unary
from mechdesign.values.declare import Counts, Floats, frozen
from mechdesign.values.later import optimize

RECORD, ATTRIBUTE = "record", "attribute"

_P = TypeVar("_P")
_V = TypeVar("_V")


@frozen
class SplitBudget:
    """Every attribute is reported by its own protocol with a share of the budget.

    *Guarantee.* For "record" neighbours the losses add up; for "attribute" neighbours the largest one counts.

    >>> split_budget(2.0, (4, 4), "grr").privacy_loss(RECORD)
    2.0
    """

    epsilon: float
    parts: tuple[FrequencyProtocol, ...]

    def privacy_loss(self, neighbours: str = RECORD) -> float:
        losses = [part.privacy_loss() for part in self.parts]
        return math.fsum(losses) if _require_relation(neighbours) == RECORD else max(losses)

    def report(self, records: ArrayLike, rng: Randomness) -> tuple[NDArray[Any], ...]:
        """The reports of each attribute."""
        columns = _columns(records, self.parts)
        return tuple(part.report(column, rng) for part, column in zip(self.parts, columns, strict=True))

    def support(self, reports: Sequence[ArrayLike]) -> tuple[Support, ...]:
        return tuple(part.support(column) for part, column in _paired(self.parts, reports, "reports"))

    def simulate(self, counts: Sequence[ArrayLike], rng: np.random.Generator) -> tuple[Support, ...]:
        """Supports for the counts of each attribute: exact in joint law, reports are independent given the records."""
        held = _counts(counts, self.parts)
        return tuple(part.simulate(column, rng) for part, column in zip(self.parts, held, strict=True))

    def estimate(self, supports: Sequence[ArrayLike], n: int) -> tuple[Floats, ...]:
        return tuple(part.estimate(support, n) for part, support in _paired(self.parts, supports, "supports"))

    def variance(self, attribute: int, f: ArrayLike, n: int) -> Floats:
        return _part(self.parts, attribute).variance(f, n)


@frozen
class SampledAttribute:
    """Every user reports one attribute, drawn uniformly and disclosed, with the whole budget.

    *Guarantee.* The choice does not depend on the record, so the loss is that of one report, for either relation.
    """

    epsilon: float
    parts: tuple[FrequencyProtocol, ...]

    def privacy_loss(self, neighbours: str = RECORD) -> float:
        _require_relation(neighbours)
        return max(part.privacy_loss() for part in self.parts)

    def report(self, records: ArrayLike, rng: Randomness) -> tuple[NDArray[Any], ...]:
        """For each attribute the reports of the users who drew it, in the order of the users."""
        columns, source = _columns(records, self.parts), require_randomness(rng)
        drawn = source.integers(0, len(self.parts), len(columns[0]), np.int64)
        pairs = enumerate(zip(self.parts, columns, strict=True))
        return tuple(part.report(column[drawn == j], rng) for j, (part, column) in pairs)

    def support(self, reports: Sequence[NDArray[Any]]) -> tuple[tuple[Support, int], ...]:
        """For each attribute the supports and the number of its users."""
        return tuple((part.support(column), len(column)) for part, column in _paired(self.parts, reports, "reports"))

    def simulate(self, counts: Sequence[ArrayLike], rng: np.random.Generator) -> tuple[tuple[Support, int], ...]:
        """The same for the counts of each attribute. Each attribute is exact in law; they are drawn independently."""
        generator = require_generator(rng)
        drawn = [generator.binomial(column, 1 / len(self.parts)) for column in _counts(counts, self.parts)]
        pairs = zip(self.parts, drawn, strict=True)
        return tuple((part.simulate(column, generator), int(column.sum())) for part, column in pairs)

    def estimate(self, supports: Sequence[tuple[ArrayLike, int]]) -> tuple[Floats, ...]:
        return tuple(part.estimate(*support) for part, support in _paired(self.parts, supports, "supports"))

    def variance(self, attribute: int, f: ArrayLike, n: int) -> Floats:
        """The variance where exactly ``n / d`` users drew the attribute, their choice included.

        To the protocol's own variance the sample adds ``f (1 - f) (n - m) / (m (n - 1))`` for ``m = n / d``.
        """
        part, d = _part(self.parts, attribute), len(self.parts)
        users = require_whole(n, "n", max(2, d), arguments.MOST_USERS)
        share = arguments.require_shares(f, "f")
        drawn = users / d
        return np.asarray(
            part.variance(share, 1) / drawn + share * (1 - share) * (users - drawn) / (drawn * (users - 1))
        )


@frozen
class SampledWithFakes:
    """RS+FD: one attribute, drawn uniformly and *not* disclosed, is reported; fakes go out for the others.

    Fakes are uniform items for GRR, and randomised zero vectors for unary encodings (RS+FD[UE-z]). With the inner
    ``p, q`` at epsilon', a report supports the own item with ``p* = p / d + (1 - 1/d) r`` and another with
    ``q* = q / d + (1 - 1/d) r``, where r is ``1/k`` for GRR and q for unary encodings.

    *Guarantee.* Let ``L_j`` be the likelihood of the j-th report over that of a fake: the report's likelihood is
    proportional to ``sum_j L_j``, of which `privacy_loss` takes the largest ratio for the relation named.

    >>> law = sampled_with_fakes(1.0, (2, 100), "grr", ATTRIBUTE)
    >>> round(law.privacy_loss(ATTRIBUTE), 9), round(law.privacy_loss(RECORD), 3)
    (1.0, 1.253)
    """

    epsilon: float
    neighbours: str
    parts: tuple[Grr | Unary, ...]

    def privacy_loss(self, neighbours: str = RECORD) -> float:
        return _fakes_loss(self.parts, _require_relation(neighbours))

    def chances(self, attribute: int) -> tuple[float, float]:
        """``p*`` and ``q*``."""
        part, d = _part(self.parts, attribute), len(self.parts)
        fake = (1 - 1 / d) * (1 / part.size if isinstance(part, Grr) else part.q)
        return part.p / d + fake, part.q / d + fake

    def report(self, records: ArrayLike, rng: Randomness) -> tuple[NDArray[Any], ...]:
        """The reports of each attribute, true or fake."""
        columns, source = _columns(records, self.parts), require_randomness(rng)
        users = len(columns[0])
        drawn = source.integers(0, len(self.parts), users, np.int64)
        reports: list[NDArray[Any]] = []
        for j, (part, column) in enumerate(zip(self.parts, columns, strict=True)):
            said: NDArray[Any] = part.report(column, rng)
            fakes = drawn != j
            count = int(fakes.sum())
            if isinstance(part, Grr):
                said[fakes] = source.integers(0, part.size, count, np.int64)
            else:
                said[fakes] = source.random((count, part.size)) < part.q
            reports.append(said)
        return tuple(reports)

    def support(self, reports: Sequence[ArrayLike]) -> tuple[Counts, ...]:
        return tuple(part.support(column) for part, column in _paired(self.parts, reports, "reports"))

    def simulate(self, counts: Sequence[ArrayLike], rng: np.random.Generator) -> tuple[Counts, ...]:
        """Supports for the counts of each attribute. Each attribute is exact in law; they are drawn independently."""
        generator = require_generator(rng)
        supports = []
        for part, column in zip(self.parts, _counts(counts, self.parts), strict=True):
            true = generator.binomial(column, 1 / len(self.parts))
            fakes = int((column - true).sum())
            if isinstance(part, Grr):
                made = generator.multinomial(fakes, np.full(part.size, 1 / part.size))
            else:
                made = generator.binomial(fakes, part.q, part.size)
            supports.append(part.simulate(true, generator) + made)
        return tuple(supports)

    def estimate(self, supports: Sequence[ArrayLike], n: int) -> tuple[Floats, ...]:
        """``(support / n - q*) / (p* - q*)``."""
        users = arguments.require_users(n)
        estimates = []
        for j, (part, support) in enumerate(_paired(self.parts, supports, "supports")):
            p, q = self.chances(j)
            estimates.append((arguments.require_support(support, part.size) / users - q) / (p - q))
        return tuple(estimates)

    def variance(self, attribute: int, f: ArrayLike, n: int) -> Floats:
        p, q = self.chances(attribute)
        return pure.variance(_Chances(_part(self.parts, attribute).size, p, q), f, n)


@frozen
class _Chances:
    size: int
    p: float
    q: float


def split_budget(epsilon: float, sizes: Sequence[int], name: str = "oue", neighbours: str = RECORD) -> SplitBudget:
    """The named protocol with ``eps / d`` for each attribute; with eps for each where only one attribute may differ."""
    budget, counts = require_epsilon(epsilon), _sizes(sizes)
    share = budget / len(counts) if _require_relation(neighbours) == RECORD else budget
    return SplitBudget(budget, tuple(catalogue.protocol(name, share, size) for size in counts))


def sampled_attribute(epsilon: float, sizes: Sequence[int], name: str = "oue") -> SampledAttribute:
    """The named protocol with the whole eps for the one attribute a user draws."""
    budget, counts = require_epsilon(epsilon), _sizes(sizes)
    return SampledAttribute(budget, tuple(catalogue.protocol(name, budget, size) for size in counts))


def sampled_with_fakes(
    epsilon: float, sizes: Sequence[int], name: str = "grr", neighbours: str = RECORD
) -> SampledWithFakes:
    """RS+FD with GRR, SUE or OUE inside, at the eps' whose exact loss for the neighbour relation is epsilon."""
    budget, counts = require_epsilon(epsilon), _sizes(sizes)
    relation = _require_relation(neighbours)
    key = name.strip().lower() if isinstance(name, str) else name
    builders: dict[str, Callable[[float, int], Grr | Unary]] = {"grr": grr, "sue": unary.sue, "oue": unary.oue}
    if key not in builders:
        raise InvalidInput("protocol", name, f"be one of {', '.join(builders)} for RS+FD")

    def parts(inner: float) -> tuple[Grr | Unary, ...]:
        return tuple(builders[key](inner, size) for size in counts)

    most = math.log1p(len(counts) * math.expm1(budget))
    inner = budget
    if relation == ATTRIBUTE and most > budget:
        if most > MAX_EPSILON:
            raise InvalidInput(
                "eps", epsilon, f"be at most {MAX_EPSILON - math.log(len(counts)):.4g} for that many attributes"
            )
        if _fakes_loss(parts(most), ATTRIBUTE) <= budget:
            inner = most
        else:
            inner = float(
                optimize.brentq(
                    lambda e: _fakes_loss(parts(e), ATTRIBUTE) - budget, budget, most, xtol=1e-14, rtol=1e-14
                )
            )
    return SampledWithFakes(budget, relation, parts(inner))


def _fakes_loss(parts: Sequence[Grr | Unary], neighbours: str) -> float:
    """The largest ratio of ``sum_j L_j`` between two records.

    ``L_j`` lies between a least value a_j, where the report speaks against the item, and ``a_j e^eps'``, and one report
    can take a_j for one item and the other end for another. So whole records give eps', and a change of attribute j
    gives most where the others are least: ``1 + (e^eps' - 1) a_j / sum_i a_i``.
    """
    inner = max(part.privacy_loss() for part in parts)
    if neighbours == RECORD:
        return inner
    least = [part.size * part.q if isinstance(part, Grr) else part.miss / (1 - part.q) for part in parts]
    return math.log1p(math.expm1(inner) * max(least) / math.fsum(least))


def _require_relation(neighbours: str) -> str:
    if neighbours not in (RECORD, ATTRIBUTE):
        raise InvalidInput("neighbours", neighbours, f"be {RECORD!r} or {ATTRIBUTE!r}")
    return neighbours


def _sizes(sizes: Sequence[int]) -> list[int]:
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise InvalidInput("sizes", sizes, "be a list with the number of items of each attribute", "such as (4, 10)")
    counts = [arguments.require_item_count(size) for size in sizes]
    if not counts:
        raise InvalidInput("sizes", counts, "name at least one attribute")
    return counts


def _part(parts: Sequence[_P], attribute: int) -> _P:
    return parts[require_whole(attribute, "attribute", 0, len(parts) - 1)]


def _paired(parts: Sequence[_P], values: Sequence[_V], field: str) -> list[tuple[_P, _V]]:
    """Each attribute with its own of some values."""
    if not isinstance(values, Sequence | np.ndarray) or len(values) != len(parts):
        raise InvalidInput(field, values, f"be {len(parts)} in a list, one for each attribute")
    return list(zip(parts, values, strict=True))


def _columns(records: ArrayLike, parts: Sequence[FrequencyProtocol]) -> list[Counts]:
    table = arguments.as_array(records, "records")
    if table.ndim != 2 or table.shape[1] != len(parts):
        raise InvalidInput("records", table.shape, f"be a table with {len(parts)} columns, one row a user")
    return [arguments.require_items(table[:, j], part.size, f"column {j}") for j, part in enumerate(parts)]


def _counts(counts: Sequence[ArrayLike], parts: Sequence[FrequencyProtocol]) -> list[Counts]:
    pairs = enumerate(_paired(parts, counts, "counts"))
    held = [arguments.require_counts(column, part.size, f"counts[{j}]") for j, (part, column) in pairs]
    if len({int(column.sum()) for column in held}) > 1:
        raise InvalidInput("counts", [int(column.sum()) for column in held], "add up to the same number of users")
    return held
