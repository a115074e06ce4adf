"""How designs are told: as JSON, and for mechanisms with a base measure outputs, priors and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from mechdesign.field import Row
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse, TogetherLaw
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.kinds import KINDS
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window
from mechdesign.methods.result import Design, Report
from mechdesign.methods.summary import gap_words, mechanism_words, worst_variance_words
from mechdesign.plot.certified import Based
from mechdesign.plot.designs import gathered, is_based, names_of
from mechdesign.values.answers import if_shown, merged
from mechdesign.values.codec import kind_of
from mechdesign.values.declare import field, frozen
from mechdesign.values.schema import Schemas, shaped
from mechdesign.values.tables import Grid, number
from mechdesign.words.fits.words import Labels, counted
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_MOST_LISTED = 12
_STRETCHES = 10


def is_certified_optimum(mechanism: Mechanism | TogetherLaw) -> TypeGuard[Mechanism]:
    """Whether a mechanism is of a kind that only certified optima have."""
    return isinstance(mechanism, Discrete) or (not isinstance(mechanism, Product | TogetherLaw) and is_based(mechanism))


def mechanism_lines(mechanism: Mechanism, prior: Atoms | None, labels: Labels | None = None) -> Iterator[Grid | str]:
    """Whatever kind of mechanism a certified optimum is."""
    if is_based(mechanism):
        yield from based_lines(mechanism, prior)
    elif isinstance(mechanism, Discrete):
        yield ""
        yield from finite_lines(mechanism, *names_of(mechanism, labels))


def based_lines(mechanism: Based, prior: Atoms | None) -> Iterator[Grid | str]:
    """The outputs and base measure, all of them or by tenths of the range, with the least-favourable prior."""
    if isinstance(mechanism, ConditionalNoise):
        yield f"{mechanism_words(mechanism)}\n"
        return
    yield f"\nmechanism: {mechanism_words(mechanism)}\n"
    if mechanism.points.size <= _MOST_LISTED:
        rows = [[f"{place:.10g}", number(mass)] for place, mass in zip(mechanism.points, mechanism.base, strict=True)]
        yield grid("Outputs", ["output", "base"], rows, left=0)
        yield ""
    if prior is not None and prior.points.size <= _MOST_LISTED:
        rows = [[f"{place:.10g}", number(mass)] for place, mass in zip(prior.points, prior.weights, strict=True)]
        yield grid("Least-favourable prior", ["input", "weight"], rows, left=0)
        yield ""
    yield from _stretches(mechanism, prior)


def _stretches(mechanism: Based, prior: Atoms | None) -> Iterator[Grid | str]:
    """Shares of the base measure (and of the prior) by tenths of the range, where either is too long to list."""
    columns: list[tuple[str, Atoms]] = []
    if mechanism.points.size > _MOST_LISTED:
        columns.append(("base measure", gathered(mechanism.points, mechanism.base)))
    if prior is not None and prior.points.size > _MOST_LISTED:
        columns.append((f"least-favourable prior ({counted(prior.points.size, 'atom')})", prior))
    if not columns:
        return
    low = min(float(law.points[0]) for _, law in columns)
    high = max(float(law.points[-1]) for _, law in columns)
    edges = np.linspace(low, high, _STRETCHES + 1)
    shares = [np.histogram(law.points, bins=edges, weights=law.weights)[0] for _, law in columns]
    rows = [
        [f"{edges[k]:.4g}", f"{edges[k + 1]:.4g}", *(f"{100 * share[k]:.2f}%" for share in shares)]
        for k in range(_STRETCHES)
    ]
    yield grid("Where the mass is", ["from", "to", *(name for name, _ in columns)], rows, left=0)
    yield ""


def finite_lines(mechanism: Discrete, row_names: Sequence[str], column_names: Sequence[str]) -> Iterator[Grid | str]:
    """A finite mechanism's table if it is small, else how large it is and which outputs are used most."""
    table = np.asarray(mechanism.probabilities)
    rows, columns = table.shape
    if rows <= _MOST_LISTED and columns <= _MOST_LISTED:
        lines = [[name, *(f"{value:.6f}" for value in row)] for name, row in zip(row_names, table, strict=True)]
        yield grid("Probability of each output (column) for each input (row)", ["", *column_names], lines)
    else:
        share = table.mean(axis=0)
        best = np.argsort(-share)[:_MOST_LISTED]
        lines = [
            [column_names[j], f"{share[j]:.6f}", f"{table[:, j].min():.3g}", f"{table[:, j].max():.3g}"] for j in best
        ]
        title = f"{counted(rows, 'input')}, {counted(columns, 'output')}; those used most"
        yield grid(title, ["output", "mean probability", "least", "most"], lines)
    yield ""


def pieces_lines(mechanism: Piecewise) -> Iterator[Grid | str]:
    """The pieces at three inputs as a table."""
    rows = []
    outputs = mechanism.outputs
    far = max(abs(outputs.lower), abs(outputs.upper)) / outputs.length
    digits = 6 + max(0, math.ceil(math.log10(far)))
    for pieces in pieces_of(mechanism):
        spans = zip(pieces.edges[:-1], pieces.edges[1:], pieces.densities, strict=True)
        for k, (start, stop, density) in enumerate(spans):
            place, *ends = (f"{value:.{digits}g}" for value in (pieces.x, start, stop))
            rows.append(["" if k else place, *ends, number(density)])
    yield grid("Pieces", ["input x", "from", "to", "density"], rows)
    yield ""


# -- as JSON ----------------------------------------------------------------------------------------------------------


@frozen
class Pieces:
    """The density of a piecewise mechanism at one input."""

    x: float
    edges: tuple[float, ...]
    densities: tuple[float, ...]


@frozen
class AlsoPieces:
    """What is said about a piecewise mechanism beside its parameters: its height, and its pieces at three inputs."""

    p: float
    pieces: tuple[Pieces, ...]


@frozen
class AlsoBase:
    """What is said about a mechanism with finitely many outputs: where they are, and what is under every law."""

    outputs: tuple[float, ...]
    base: tuple[float, ...]


@frozen
class AlsoSplit:
    """What is said about a mechanism in parts: how epsilon is split."""

    epsilons: tuple[float, ...]


_ALSO: dict[type, type] = {
    Piecewise: AlsoPieces,
    Discrete: AlsoBase,
    Window: AlsoBase,
    UnbiasedWindow: AlsoBase,
    ConditionalNoise: AlsoBase,
    Product: AlsoSplit,
}


def _also(mechanism: Mechanism | TogetherLaw) -> dict[str, Any]:
    more: Any = None
    if isinstance(mechanism, Piecewise):
        more = AlsoPieces(mechanism.high, pieces_of(mechanism))
    elif isinstance(mechanism, Discrete):
        more = AlsoBase(tuple(mechanism.outputs.points), tuple(mechanism.probabilities.min(axis=0).tolist()))
    elif isinstance(mechanism, Product):
        split = AlsoSplit(tuple(part.epsilon for part in mechanism.parts))
        return merged(split) | {"parts": [mechanism_document(part) for part in mechanism.parts]}
    elif not isinstance(mechanism, TogetherLaw) and is_based(mechanism):
        more = AlsoBase(tuple(mechanism.points.tolist()), tuple(mechanism.base.tolist()))
    return merged(more)


def pieces_of(mechanism: Piecewise) -> tuple[Pieces, ...]:
    """The pieces at the lower end, the middle and the upper end of the inputs."""
    domain = mechanism.inputs
    found = ((x, mechanism.pieces(x)) for x in (domain.lower, domain.middle, domain.upper))
    return tuple(Pieces(x, tuple(one.edges.tolist()), tuple(one.densities.tolist())) for x, one in found)


def mechanism_document(mechanism: Mechanism | TogetherLaw) -> dict[str, Any]:
    """A mechanism as files have it, and what it looks like."""
    return merged(mechanism) | _also(mechanism)


def _mechanism_shape(schemas: Schemas) -> dict[str, Any]:
    kinds = []
    for kind in (*KINDS, JointResponse, PeakedResponse, CountedResponse):
        name = f"shown {kind_of(kind)}"
        schemas.definitions[name] = schemas.merged(kind, *([_ALSO[kind]] if kind in _ALSO else []))
        kinds.append({"$ref": f"#/$defs/{name}"})
    parts = {"type": "array", "items": {"type": "object", "required": ["kind"]}}
    schemas.definitions[f"shown {Product.kind}"]["properties"]["parts"] = parts
    return {"anyOf": kinds}


def _evidence_shape(schemas: Schemas) -> dict[str, Any]:
    from mechdesign.methods.registry import EVIDENCE

    return schemas.any_of(*EVIDENCE)


@frozen
class ShownCertificate:
    """The interval on the optimum, whom it is about, and what the mechanism gives away."""

    lower: float
    upper: float
    valid_for: str
    claimed: bool
    privacy_loss: float
    privacy: Mapping[str, Any]
    evidence: Mapping[str, Any] = field(metadata=shaped(_evidence_shape))


@frozen
class Designed:
    """A design: what was asked, what was found, what is proven of it, and how it was found."""

    problem: Mapping[str, Any] = field(metadata=shaped(lambda schemas: schemas.of(Problem)))
    mechanism: Mapping[str, Any] = field(metadata=shaped(_mechanism_shape))
    certificate: Mapping[str, Any] = field(metadata=shaped(lambda schemas: schemas.of(ShownCertificate)))
    report: Report

    @classmethod
    def of(cls, design: Design) -> Designed:
        said = design.document()
        return cls(said["problem"], mechanism_document(design.mechanism), said["certificate"], design.report)


@frozen
class Beside:
    """What commands say beside a design: the prior no mechanism does better against, the variance at the worst input
    where an average is least, and the field."""

    least_favourable: Atoms | None = if_shown()
    worst_case_variance: float | None = if_shown()
    comparison: tuple[Row, ...] | None = if_shown()


Several = tuple[Mapping[str, Any], ...]
"""Designs in one answer."""


def designs(*kinds: type) -> Any:
    """A field with designs, each with the fields of these classes beside it."""
    return field(metadata=shaped(lambda schemas: {"type": "array", "items": schemas.merged(Designed, *kinds)}))


def gap_lines(design: Design) -> Iterator[str]:
    """What the interval means for anyone who wants a better mechanism, and the worst case where that is another."""
    yield gap_words(design.certificate)
    beside = worst_variance_words(design)
    if beside is not None:
        yield beside


def above(percent: float | None, *, at_least: bool = False) -> str:
    """Per cent above the optimum, as tables show it; ``at_least`` rounds down."""
    from mechdesign import plot

    return "" if percent is None else plot.above(1 + percent / 100, 1.0, at_least=at_least)


def grid(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Grid:
    """A table from lists."""
    return Grid(title, tuple(headings), tuple(map(tuple, rows)), left)
