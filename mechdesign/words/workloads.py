"""Workloads: what is asked of the shares of k types, as a matrix with one row a query.

>>> Prefix(3).matrix
array([[1., 0., 0.],
       [1., 1., 0.],
       [1., 1., 1.]])
"""

from __future__ import annotations

from itertools import combinations, product
from math import comb, prod
from typing import Any, ClassVar

import numpy as np

from mechdesign.data.numbers import require_number_text, require_whole_text
from mechdesign.errors import InvalidInput, did_you_mean, require_whole
from mechdesign.values.codec import if_any
from mechdesign.values.declare import Floats, array, field, frozen, optional, several, stored, whole
from mechdesign.values.fingerprint import numbers_in_words
from mechdesign.words.domains import require_numbers

MOST_TYPES, MOST_COMBINATIONS = 512, 1024
"""Of a workload, and of one of several attributes."""
MOST_ENTRIES = 10**7
"""Of the matrix of a workload: queries times types."""


@frozen
class Histogram:
    """The share of each type."""

    kind: ClassVar[str] = "types"

    size: int = whole("size", 2, MOST_TYPES)

    @property
    def matrix(self) -> Floats:
        return np.eye(self.size)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"type {k}" for k in range(self.size))

    @property
    def words(self) -> str:
        return f"the shares of {self.size} types"


@frozen
class Prefix:
    """The distribution function: the share of the types up to each."""

    kind: ClassVar[str] = "prefix"

    size: int = whole("size", 2, MOST_TYPES)

    @property
    def matrix(self) -> Floats:
        return np.tri(self.size)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"up to {k}" for k in range(self.size))

    @property
    def words(self) -> str:
        return f"the distribution function of {self.size} types"


@frozen
class Ranges:
    """The share of every range of neighbouring types."""

    kind: ClassVar[str] = "ranges"

    size: int = whole("size", 2, 256)

    @property
    def matrix(self) -> Floats:
        types = np.arange(self.size)
        first, last = np.triu_indices(self.size)
        return np.asarray((first[:, None] <= types) & (types <= last[:, None]), dtype=np.float64)

    @property
    def names(self) -> tuple[str, ...]:
        first, last = np.triu_indices(self.size)
        return tuple(f"{i} to {j}" for i, j in zip(first.tolist(), last.tolist(), strict=True))

    @property
    def words(self) -> str:
        return f"all {self.size * (self.size + 1) // 2} ranges of {self.size} types"


def _values(said: Any) -> Floats:
    values = stored(np.atleast_1d(require_numbers(said, "values")))
    if values.ndim != 1 or not 2 <= values.size <= MOST_TYPES:
        raise InvalidInput("values", values.shape, f"be 2 to {MOST_TYPES} numbers, one a type")
    if not np.isfinite(values).all():
        raise InvalidInput("values", "an entry that is no number", "be finite")
    if np.ptp(values) == 0:
        raise InvalidInput("values", float(values[0]), "differ: the mean of equal values is known")
    return values


@frozen
class Mean:
    """The mean of the values that the types have."""

    kind: ClassVar[str] = "mean"

    values: Floats = array(_values)

    @property
    def size(self) -> int:
        return int(self.values.size)

    @property
    def matrix(self) -> Floats:
        return self.values[None, :].copy()

    @property
    def names(self) -> tuple[str, ...]:
        return ("mean",)

    @property
    def words(self) -> str:
        return f"the mean of {self.size} values"


@frozen
class Moments:
    """The means of the powers 1 to ``order`` of the values that the types have."""

    kind: ClassVar[str] = "power moments"

    values: Floats = array(_values)
    order: int = whole("order", 1, 16, default=2)

    def __attrs_post_init__(self) -> None:
        if not np.isfinite(self.values**self.order).all():
            raise InvalidInput("values", float(abs(self.values).max()), "have powers that doubles can hold", "rescale")

    @property
    def size(self) -> int:
        return int(self.values.size)

    @property
    def matrix(self) -> Floats:
        return np.asarray(self.values[None, :] ** np.arange(1, self.order + 1)[:, None])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"moment {k}" for k in range(1, self.order + 1))

    @property
    def words(self) -> str:
        return f"{self.order} moments of {self.size} values"


def _shape(said: Any) -> int:
    return require_whole(said, "shape", 2, MOST_TYPES)


@frozen
class Marginals:
    """The tables of every ``order`` of several attributes; types are all combinations, the last attribute fastest."""

    kind: ClassVar[str] = "marginals"

    shape: tuple[int, ...] = several("shape", _shape)
    order: int = whole("order", 1, 16, default=1)

    def __attrs_post_init__(self) -> None:
        if prod(self.shape) > MOST_COMBINATIONS:
            rule = f"have at most {MOST_COMBINATIONS} combinations"
            raise InvalidInput("shape", self.shape, rule, "take fewer attributes")
        if self.order > len(self.shape):
            raise InvalidInput("order", self.order, f"be at most {len(self.shape)}, the number of attributes")

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def _tables(self) -> list[tuple[int, ...]]:
        return list(combinations(range(len(self.shape)), self.order))

    @property
    def matrix(self) -> Floats:
        types = np.array(list(product(*map(range, self.shape))))
        rows = []
        for table in self._tables:
            cells = np.array(list(product(*(range(self.shape[k]) for k in table))))
            rows.append((types[None, :, list(table)] == cells[:, None, :]).all(axis=2))
        return np.concatenate(rows).astype(np.float64)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(
            ", ".join(f"{k}={value}" for k, value in zip(table, cell, strict=True))
            for table in self._tables
            for cell in product(*(range(self.shape[k]) for k in table))
        )

    @property
    def words(self) -> str:
        sizes = " x ".join(map(str, self.shape))
        return f"{comb(len(self.shape), self.order)} tables of {self.order} of the attributes {sizes}"


@frozen
class Parity:
    """The parities ``E[(-1)^(sum of bits in S)]`` of all sets S of 1 to ``order`` of several bits."""

    kind: ClassVar[str] = "parity"

    bits: int = whole("bits", 1, 10)
    order: int = whole("order", 1, 10, default=1)

    def __attrs_post_init__(self) -> None:
        if self.order > self.bits:
            raise InvalidInput("order", self.order, f"be at most {self.bits}, the number of bits")

    @property
    def size(self) -> int:
        return 1 << self.bits

    @property
    def shape(self) -> tuple[int, ...]:
        """The bits as attributes."""
        return (2,) * self.bits

    @property
    def _sets(self) -> list[tuple[int, ...]]:
        return [chosen for order in range(1, self.order + 1) for chosen in combinations(range(self.bits), order)]

    @property
    def matrix(self) -> Floats:
        signs = np.array(list(product((1.0, -1.0), repeat=self.bits)))
        return np.array([signs[:, list(chosen)].prod(axis=1) for chosen in self._sets])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple("bits " + ",".join(map(str, chosen)) for chosen in self._sets)

    @property
    def words(self) -> str:
        return f"the parities of up to {self.order} of {self.bits} bits"


LEAST_SCALE, MOST_SCALE = 1e-60, 1e60
"""Of the largest query: fourth powers of it are computed."""


def require_scale(largest: float) -> None:
    """The largest entry of all queries (times the root of its weight) is one whose powers doubles can hold."""
    if not LEAST_SCALE <= largest <= MOST_SCALE:
        rule = f"have a largest entry, times the root of its weight, between {LEAST_SCALE:g} and {MOST_SCALE:g} in size"
        raise InvalidInput("queries", largest, rule, "choose another unit")


def require_queries(said: Any) -> Floats:
    """A matrix of queries: finite numbers of a moderate size, no query of zeros, at least two types."""
    try:
        queries = stored(require_numbers(said, "queries"))
    except InvalidInput:
        raise InvalidInput("queries", said, "be rows of numbers, all of one length") from None
    if queries.ndim != 2 or not queries.size or not 2 <= queries.shape[1] <= MOST_TYPES:
        raise InvalidInput("queries", queries.shape, f"be one row a query, with a column for each of 2 to {MOST_TYPES}")
    if queries.size > MOST_ENTRIES:
        raise InvalidInput("queries", queries.shape, f"have at most {MOST_ENTRIES} entries")
    bad = np.argwhere(~np.isfinite(queries))
    if bad.size:
        row, column = bad[0].tolist()
        raise InvalidInput(f"queries[{row}, {column}]", float(queries[row, column]), "be finite")
    empty = np.flatnonzero(~queries.any(axis=1))
    if empty.size:
        raise InvalidInput(f"queries[{empty[0]}]", "zeros", "ask something", "leave the row out: its answer is 0")
    if (np.ptp(queries, axis=1) == 0).all():
        raise InvalidInput("queries", "rows of equal entries", "ask something that is not known without any report")
    require_scale(float(abs(queries).max()))
    return queries


def _texts(said: Any) -> tuple[str, ...] | None:
    if said is None:
        return None
    texts = tuple(said)
    if isinstance(said, str) or not all(isinstance(text, str) for text in texts):
        raise InvalidInput("labels", said, "be a sequence of texts, one a query")
    return texts


@frozen
class Queries:
    """Any matrix: one row a query, one column a type; ``labels`` name the queries."""

    kind: ClassVar[str] = "queries"

    rows: Floats = array(require_queries)
    labels: tuple[str, ...] | None = field(default=None, converter=_texts)

    def __attrs_post_init__(self) -> None:
        if self.labels is not None and len(self.labels) != len(self.rows):
            raise InvalidInput("labels", len(self.labels), f"be one for each of the {len(self.rows)} queries")

    @property
    def size(self) -> int:
        return int(self.rows.shape[1])

    @property
    def matrix(self) -> Floats:
        return self.rows.copy()

    @property
    def names(self) -> tuple[str, ...]:
        return self.labels or tuple(f"query {k}" for k in range(len(self.rows)))

    @property
    def words(self) -> str:
        return f"{len(self.rows)} queries of {self.size} types"


AnyQueries = Histogram | Prefix | Ranges | Mean | Moments | Marginals | Parity | Queries
"""What files hold: each has a number of types, its ``size``, a ``matrix`` of one row a query, and their ``names``."""


def _known(said: Any) -> AnyQueries:
    if not isinstance(said, AnyQueries):
        raise InvalidInput("workload", said, "be a workload", "for example workloads.Prefix(16)")
    return said


def _weights(said: Any) -> Floats:
    numbers = stored(np.atleast_1d(require_numbers(said, "weights")))
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InvalidInput("weights", numbers.shape, "be finite numbers in a row")
    return numbers


@frozen
class Workload:
    """A loss: the variance that noise adds to one user's answers, summed over the queries times their ``weights``.

    >>> Workload(Prefix(3), [1, 4, 1]).weighted[1].tolist()
    [2.0, 2.0, 0.0]
    """

    kind: ClassVar[str] = "workload"

    queries: AnyQueries = field(converter=_known)
    weights: Floats | None = array(optional(_weights), default=None, metadata=if_any())

    def __attrs_post_init__(self) -> None:
        count = len(self.queries.names)
        if self.weights is not None and (self.weights.size != count or not (self.weights > 0).all()):
            rule = f"be {count} numbers above 0, one for each query"
            raise InvalidInput("weights", self.weights.shape, rule, "leave queries out that do not matter")
        has_values = isinstance(self.queries, Mean | Moments | Queries)
        sizes = abs(self.queries.matrix).max(axis=1) if has_values else np.ones(1)
        require_scale(float((sizes if self.weights is None else sizes * np.sqrt(self.weights)).max()))
        if self.weights is not None:
            self.require_few()

    def require_few(self) -> None:
        """`InvalidInput` where there are more types than may have weights of their own, or queries."""
        if self.size > MOST_TYPES:
            rule = f"be at most {MOST_TYPES} where types or queries have weights of their own"
            raise InvalidInput("types", self.size, rule, "leave the weights out, or take fewer attributes")

    @property
    def size(self) -> int:
        """The number of types."""
        return self.queries.size

    @property
    def weighted(self) -> Floats:
        """The queries times the roots of their weights, one row a query."""
        matrix = self.queries.matrix
        return matrix if self.weights is None else np.asarray(matrix * np.sqrt(self.weights)[:, None])

    @property
    def summed(self) -> str:
        """What is added up: all queries, or so much of each."""
        if self.weights is None:
            return "all queries"
        return f"the sum of the queries with weights {numbers_in_words(self.weights)}"


NAMES = ("histogram", "prefix", "ranges", "mean", "moments:ORDER", "marginals:AxBxC[,ORDER]", "parity:BITS[,ORDER]")
"""How `parse_workload` has them."""


def query_words() -> list[str]:
    """How each of `NAMES` begins.

    >>> query_words()[-2:]
    ['marginals:', 'parity:']
    """
    return ["".join(name.partition(":")[:2]) for name in NAMES]


def parse_workload(text: str, size: int | None = None) -> AnyQueries:
    """A named workload. ``size`` is the number of types; means and moments are of equispaced values from 0 to 1.

    >>> parse_workload("prefix", 8)
    Prefix(size=8)
    >>> parse_workload("marginals:2x3,2").words
    '1 tables of 2 of the attributes 2 x 3'
    """
    name, _, rest = text.strip().lower().partition(":")
    if name in ("marginals", "parity"):
        return _of_attributes(name, rest, text, size)
    if name not in ("histogram", "prefix", "ranges", "mean", "moments") or (rest and name != "moments"):
        step = did_you_mean(name, (known.partition(":")[0] for known in NAMES))
        raise InvalidInput("queries", text, f"be one of {', '.join(NAMES)}, or a .csv or .npy file", step)
    if size is None:
        raise InvalidInput("size", None, "be given: the number of types", f"for example --queries {name} --size 16")
    if name in ("mean", "moments"):
        values = np.linspace(0, 1, require_whole(size, "size", 2, MOST_TYPES))
        return Mean(values) if name == "mean" else Moments(values, _count(rest or "2", "order"))
    if name == "histogram":
        return Histogram(size)
    return Prefix(size) if name == "prefix" else Ranges(size)


def _of_attributes(name: str, rest: str, text: str, size: int | None) -> AnyQueries:
    sizes, _, order = rest.partition(",")
    if not sizes:
        example = "marginals:2x3x4" if name == "marginals" else "parity:4"
        raise InvalidInput("queries", text, f"say of which {name}", f"for example {example}")
    many = _count(order, "order") if order else 1
    counts = [_count(part, "shape") for part in sizes.split("x")]
    found = Marginals(tuple(counts), many) if name == "marginals" else Parity(_count(sizes, "bits"), many)
    if size is not None and size != found.size:
        raise InvalidInput("size", size, f"be left out, or {found.size}, the number of combinations")
    return found


def _count(text: str, name: str) -> int:
    try:
        return require_whole_text(text)
    except ValueError:
        raise InvalidInput(name, text, "be a whole number") from None


def parse_values(text: str) -> Floats:
    """Numbers ``A,B,C``."""
    try:
        return _values([require_number_text(part) for part in text.split(",")])
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("values", text, "be numbers A,B,C, one a type") from None
