"""What a CVXPY expression says, as sums of maxima, squares and norms of linear functions of the table: to be proven.

An expression is read entry by entry: what is affine by its coefficients, and of the rest every atom that is a maximum,
an absolute value, a square or a Euclidean norm of affine entries, below any affine atom. Whatever else there is stays
unread.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import Floats, frozen

_NOTHING = 1e-15  # of the largest scale of a quadratic form: what rounding makes of 0
_ROUNDED = 1e-9  # of it: what is below 0 by more is no rounding
_MOST_PIECES = 256
"""Of a maximum of sums of maxima whose pieces are multiplied out."""


class Unread(Exception):
    """No sum of maxima, squares and norms: the reason names the atom."""


@frozen
class Affine:
    """``costs . q + offset``."""

    costs: Floats
    offset: float

    def times(self, factor: float) -> Affine:
        return Affine(factor * self.costs, factor * self.offset)

    def plus(self, other: Affine) -> Affine:
        return Affine(self.costs + other.costs, self.offset + other.offset)


@frozen
class Term:
    """``affine + sum of the greatest of each of maxima + sum scale (square)^2 + sum |norm|``, with scales above 0."""

    affine: Affine
    maxima: tuple[tuple[Term, ...], ...] = ()
    squares: tuple[tuple[float, Affine], ...] = ()
    norms: tuple[tuple[Affine, ...], ...] = ()

    @property
    def is_affine(self) -> bool:
        return not (self.maxima or self.squares or self.norms)

    def times(self, factor: float) -> Term:
        """The term a positive number of times."""
        maxima = tuple(tuple(piece.times(factor) for piece in pieces) for pieces in self.maxima)
        norms = tuple(tuple(entry.times(factor) for entry in entries) for entries in self.norms)
        squares = tuple((factor * scale, one) for scale, one in self.squares)
        return Term(self.affine.times(factor), maxima, squares, norms)

    def plus(self, other: Term) -> Term:
        affine = self.affine.plus(other.affine)
        return Term(affine, self.maxima + other.maxima, self.squares + other.squares, self.norms + other.norms)

    @property
    def size(self) -> int:
        """How many linear functions it has."""
        return (
            1
            + sum(piece.size for pieces in self.maxima for piece in pieces)
            + len(self.squares)
            + sum(map(len, self.norms))
        )

    @property
    def pieces(self) -> list[Term]:
        """The term as one maximum, unless that has very many pieces: then it is one piece with maxima of its own."""
        if math.prod(map(len, self.maxima)) > _MOST_PIECES:
            return [self]
        alone = Term(self.affine, (), self.squares, self.norms)
        return [sum_of([alone, *chosen]) for chosen in itertools.product(*self.maxima)]


def sum_of(parts: Sequence[Linear]) -> Linear:
    """At least one function, added up."""
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    return total


Linear = TypeVar("Linear", Affine, Term)

Coefficients = Callable[[Any], tuple[Floats, Floats]]
"""``A`` and ``b`` of an affine expression ``A . q + b`` in the table q."""


class Reader:
    """Reads expressions in q; ``coefficients`` reads those that are affine."""

    def __init__(self, coefficients: Coefficients) -> None:
        import cvxpy

        self._cvxpy, self._coefficients = cvxpy, coefficients

    def terms(self, expression: Any, sign: int = 1) -> list[Term]:
        """``sign`` times every entry, in CVXPY's (column-major) order, or `Unread`."""
        if expression.is_affine():
            rows, offsets = self._coefficients(expression)
            return [Term(Affine(sign * row, sign * float(offset))) for row, offset in zip(rows, offsets, strict=True)]
        if isinstance(expression, self._cvxpy.atoms.affine.affine_atom.AffAtom):
            return self._combined(expression, sign)
        name = type(expression).__name__.removesuffix("Approx").lower()
        read = _CONVEX.get(name) if sign == 1 else _CONCAVE.get(name)
        if read is None:
            raise Unread(f"{name} in {_short(expression)}")
        return read(self, expression)

    def _combined(self, expression: Any, sign: int) -> list[Term]:
        """An affine atom: how much of every entry of its arguments each of its own entries has."""
        shapes = [argument.shape for argument in expression.args]
        stand_ins = [
            self._cvxpy.Variable(shape) if argument.variables() else argument
            for shape, argument in zip(shapes, expression.args, strict=True)
        ]
        alone = expression.copy(stand_ins)
        for stand_in in stand_ins:
            if isinstance(stand_in, self._cvxpy.Variable):
                stand_in.value = np.zeros(stand_in.shape)
        constants = np.ravel(np.asarray(alone.value, dtype=np.float64), order="F")
        zero = self._zero()
        found = [Term(Affine(zero, sign * float(constant))) for constant in constants]
        for stand_in, argument in zip(stand_ins, expression.args, strict=True):
            if stand_in is argument:
                continue
            gradient = alone.grad[stand_in]
            dense = gradient.toarray() if hasattr(gradient, "toarray") else np.asarray(gradient, dtype=np.float64)
            shares = sign * dense.reshape(stand_in.size, len(found))
            signs = {way: self.terms(argument, way) for way in (1, -1) if (way * shares > 0).any()}
            for entry, own in zip(*np.nonzero(shares), strict=True):
                share = float(shares[entry, own])
                found[own] = found[own].plus(signs[1 if share > 0 else -1][entry].times(abs(share)))
        return found

    def _zero(self) -> Floats:
        (zero,), _ = self._coefficients(self._cvxpy.Constant(0.0))
        return np.asarray(zero, dtype=np.float64)

    # -- atoms, by the names that CVXPY gives them

    def greatest(self, expression: Any, sign: int = 1) -> list[Term]:
        """``max`` of an array, along an axis or of all; with the sign turned ``min``."""
        terms = self.terms(expression.args[0], sign)
        groups = _groups(expression)
        return [self._of_pieces([piece for place in group for piece in terms[place].pieces]) for group in groups]

    def lengths(self, expression: Any) -> list[Term]:
        """``norm`` of a vector, or of all entries (``"fro"``), or along an axis."""
        if float(expression.p) != 2.0:
            raise Unread(f"a norm with p = {float(expression.p):g} in {_short(expression)}")
        entries, zero = self._all_affine(expression.args[0]), Affine(self._zero(), 0.0)
        return [Term(zero, norms=(tuple(entries[place] for place in group),)) for group in _groups(expression)]

    def quadratic_form(self, expression: Any) -> list[Term]:
        """``x' P x`` with a constant P: squares along its axes."""
        argument, matrix = expression.args
        if matrix.variables():
            raise Unread(f"a form that is not constant in {_short(expression)}")
        values = np.asarray(matrix.value.toarray() if hasattr(matrix.value, "toarray") else matrix.value)
        scales, axes = np.linalg.eigh((values + values.T) / 2)
        if scales[0] < -_ROUNDED * abs(scales).max():
            rule = (
                "have no matrix with an eigenvalue below 0 in a quadratic form: it is not convex, whatever is assumed"
            )
            raise InvalidInput("objective or constraint", _short(expression), rule)
        entries = self._all_affine(argument)
        used = [number for number, scale in enumerate(scales) if scale > _NOTHING * abs(scales).max()]
        along = {n: [one.times(float(part)) for one, part in zip(entries, axes[:, n], strict=True)] for n in used}
        squares = tuple((float(scales[number]), sum_of(along[number])) for number in used)
        return [Term(Affine(self._zero(), 0.0), squares=squares)]

    def each_greatest(self, expression: Any, sign: int = 1) -> list[Term]:
        """``maximum`` of several arrays, entry by entry; with the sign turned ``minimum``."""
        read = [self.terms(argument, sign) for argument in expression.args]
        return [
            self._of_pieces([p for terms in read for p in terms[k if len(terms) > 1 else 0].pieces])
            for k in range(expression.size)
        ]

    def sizes(self, expression: Any) -> list[Term]:
        """``abs``."""
        (argument,) = expression.args
        return [self._of_pieces([Term(one), Term(one.times(-1.0))]) for one in self._all_affine(argument)]

    def sum_of_sizes(self, expression: Any) -> list[Term]:
        """``norm1``."""
        total = Term(Affine(self._zero(), 0.0))
        for term in self.sizes(expression):
            total = total.plus(term)
        return [total]

    def greatest_size(self, expression: Any) -> list[Term]:
        """``norm_inf``."""
        (argument,) = expression.args
        entries = self._all_affine(argument)
        return [self._of_pieces([Term(piece) for one in entries for piece in (one, one.times(-1.0))])]

    def squares(self, expression: Any) -> list[Term]:
        """``x^2``, entry by entry."""
        power = expression.p
        if float(getattr(power, "value", power)) != 2.0:
            raise Unread(f"a power other than 2 in {_short(expression)}")
        (argument, *_) = expression.args
        zero = Affine(self._zero(), 0.0)
        return [Term(zero, squares=((1.0, one),)) for one in self._all_affine(argument)]

    def sum_of_squares(self, expression: Any) -> list[Term]:
        """``|x|^2 / y`` with a constant y, as ``sum_squares`` is written too."""
        argument, below = expression.args
        if below.variables() or getattr(expression, "axis", None) is not None:
            raise Unread(f"a quotient in {_short(expression)}")
        scale = 1 / float(below.value)
        squares = tuple((scale, one) for one in self._all_affine(argument))
        return [Term(Affine(self._zero(), 0.0), squares=squares)]

    def _all_affine(self, argument: Any) -> list[Affine]:
        terms = self.terms(argument) if argument.is_affine() else None
        if terms is None:
            raise Unread(f"what is not linear below a square, a size or a norm, in {_short(argument)}")
        return [term.affine for term in terms]

    def _of_pieces(self, pieces: list[Term]) -> Term:
        zero = Affine(self._zero(), 0.0)
        return pieces[0] if len(pieces) == 1 else Term(zero, (tuple(pieces),))


_CONVEX: dict[str, Callable[[Reader, Any], list[Term]]] = {
    "max": Reader.greatest,
    "maximum": Reader.each_greatest,
    "abs": Reader.sizes,
    "norm1": Reader.sum_of_sizes,
    "norm_inf": Reader.greatest_size,
    "power": Reader.squares,
    "quad_over_lin": Reader.sum_of_squares,
    "pnorm": Reader.lengths,
    "quadform": Reader.quadratic_form,
}
_CONCAVE: dict[str, Callable[[Reader, Any], list[Term]]] = {
    "min": lambda reader, expression: reader.greatest(expression, -1),
    "minimum": lambda reader, expression: reader.each_greatest(expression, -1),
}


def _groups(expression: Any) -> list[NDArray[np.intp]]:
    """Which entries of its argument each entry of an atom with an axis is about, in CVXPY's order."""
    (argument,), axis = expression.args, expression.axis
    places = np.arange(argument.size).reshape(argument.shape, order="F")
    if axis is None:
        return [places.ravel()]
    if not isinstance(axis, int):
        raise Unread(f"several axes in {_short(expression)}")
    kept = np.moveaxis(places, axis, -1)
    return list(kept.reshape(-1, kept.shape[-1], order="F"))


def _short(expression: Any) -> str:
    text = str(expression)
    return text if len(text) <= 60 else f"{text[:57]}..."
