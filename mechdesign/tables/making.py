"""Tables made from mechanisms and designs, or from the raw table that a solver left."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from mechdesign.errors import CheckFailed, FileProblem, InvalidInput, require_epsilon
from mechdesign.exact.privacy import prove
from mechdesign.mechanisms.additive import BoundedLaplace
from mechdesign.mechanisms.axes import AxisResponse
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.directions import DirectionResponse, SignedSets
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.from_density import FromDensity
from mechdesign.mechanisms.hidden import TogetherLaw
from mechdesign.mechanisms.mixture import Mixture
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.truncated import Truncated
from mechdesign.methods.line import line_of
from mechdesign.methods.minimax.proof import MinimaxBound
from mechdesign.methods.minimax.supports import supports
from mechdesign.methods.result import Design, versions
from mechdesign.methods.sign_patterns.proof import SignPatternsBound
from mechdesign.methods.sign_patterns.response import PatternResponse
from mechdesign.methods.workload.grid_proof import GridBound
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.supports import workload_of
from mechdesign.tables import checker
from mechdesign.tables.document import decimals, rational, with_hash
from mechdesign.tables.kinds import Encoding, FiniteLaw, Order, Rounded, domain_written, kind_of
from mechdesign.tables.labels import NO_LABELS, Labels
from mechdesign.tables.pairs import least_epsilon
from mechdesign.tables.rounding import BITS, require_size
from mechdesign.tables.table import Table
from mechdesign.tables.workloads import written_workload
from mechdesign.values.declare import Floats
from mechdesign.words.domains import Finite
from mechdesign.words.finite_losses import FiniteLoss
from mechdesign.words.pairs import Pairs
from mechdesign.words.privacy import Approximate

MOST_MIXED = 1e-6
NOISE = 1e-6
"""How far below 0, or from a sum of 1, a raw table may be."""

Source = Design | Mechanism | Encoding
Made = Mechanism | Product | Encoding


def make_table(
    source: Source | Product,
    bits: int = 32,
    *,
    provenance: Mapping[str, str] | None = None,
    most_mixed: float = MOST_MIXED,
    labels: Labels | None = None,
    privacy: Pairs | None = None,
) -> Table:
    """Round a mechanism, or a design with its certificate, to a table of probabilities ``count / 2^bits``.

    Finite channels that break their epsilon are repaired if that takes a share of at most ``most_mixed``. ``labels``
    name the inputs and outputs of a finite mechanism; left out, those of the design's problem do if it has any. With
    ``privacy`` an epsilon for each pair of inputs, left out that of the design's problem, every pair keeps its own, and
    the table's one epsilon is what it gives away between any two inputs.
    """
    bits = _require_bits(bits)
    mechanism = _mechanism_of(source)
    epsilon = Fraction(require_epsilon(mechanism.epsilon))
    cap = checker.exponential(epsilon)
    named = _require_fit(_labels_of(source) if labels is None else labels, mechanism)
    pairs = _pairs_of(source, privacy, mechanism)
    built = _rounded(mechanism, bits, cap, most_mixed, pairs)
    if pairs is not None:
        assert isinstance(built.law, FiniteLaw)
        epsilon = least_epsilon(built.law.rows)
        cap = checker.exponential(epsilon)
    law = built.law.written()
    document = {
        "format": "mechdesign table",
        "version": 2,
        "kind": built.law.kind,
        "name": mechanism.name,
        "epsilon": rational(epsilon),
        "bits": bits,
        "cap": str(cap),
        "domain": domain_written(built.law),
        "law": law,
        "labels": Labels(named.inputs, _kept(named.outputs, built.columns)).to_json(),
        "certificate": None,
        "repair": built.repair,
        "provenance": versions("numpy", "scipy") | _design_in_words(source) | dict(provenance or {}),
    }
    try:
        ratio, document["estimator"], error_of = built.law.check(document, law, 1 << bits, cap)
        document["privacy"] = rational(ratio)
        if isinstance(source, Design) and error_of is not None:
            document["certificate"] = _certificate(source, cap, error_of)
        if isinstance(source, Design) and isinstance(source.evidence, WorkloadBound | GridBound):
            asked, rows = source.problem, cast(FiniteLaw, built.law).rows
            prior = source.evidence.weights_of_types(asked)
            document["workload"] = written_workload(workload_of(asked).queries, prior, rows, bits)
        content = checker.canonical(with_hash(document))
        require_size(len(content))
        return Table(content)
    except (checker.Failed, FileProblem) as failure:
        raise CheckFailed(f"the table of {mechanism.name} failed its own check, please report it: {failure}") from None


def _pairs_of(source: Source | Product, privacy: Pairs | None, mechanism: Made) -> Pairs | None:
    """The requirement on pairs that a table must keep, of a mechanism that was proven to keep it."""
    asked = source.problem.privacy if isinstance(source, Design) else None
    pairs = privacy if privacy is not None else asked if isinstance(asked, Pairs) else None
    if pairs is None:
        return None
    if not isinstance(pairs, Pairs):
        raise InvalidInput("privacy", privacy, "be an epsilon for each pair, a Pairwise or a Metric")
    if not isinstance(mechanism, Discrete) or len(mechanism.inputs) != len(pairs):
        raise InvalidInput("privacy", f"{len(pairs)} inputs", "be about the inputs of a finite mechanism")
    prove(pairs, mechanism)
    return pairs


def _mechanism_of(source: Source | Product) -> Made:
    mechanism = source.mechanism if isinstance(source, Design) else source
    if isinstance(mechanism, TogetherLaw):
        rule = "have a law of each user's own report: a group draws its truths together, and no table holds that"
        step = "draw it between the users with run_parties (jrr --run-parties), or ship randomised_response at this eps"
        raise InvalidInput("design", "a joint response", rule, step)
    if isinstance(mechanism, DirectionResponse):
        if isinstance(mechanism.reports, SignedSets):
            return AxisResponse(mechanism).channel()
        rule = "have finitely many reports that a table can list: these are directions"
        step = "ask for the coordinates as several numbers: vector ships sign patterns"
        raise InvalidInput("design", "directions", rule, step)
    if isinstance(source, Design) and isinstance(source.problem.privacy, Approximate):
        rule = "be 0 for what ships: a table keeps its epsilon without exception"
        raise InvalidInput("delta", source.problem.privacy.delta, rule, "design without --delta")
    if not hasattr(mechanism, "epsilon") or isinstance(mechanism, Table):
        raise InvalidInput("source", source, "be a design or a mechanism", "read a design file with load_design")
    return mechanism


def _labels_of(source: Source | Product) -> Labels:
    """The labels of the rows and columns of a loss matrix, the patterns of signs, or the signed coordinates."""
    mechanism = source.mechanism if isinstance(source, Design) else source
    if isinstance(mechanism, DirectionResponse):
        axes = AxisResponse(mechanism)
        return Labels(axes.names, axes.report_names)
    if not isinstance(source, Design) or not isinstance(source.mechanism, Discrete):
        return NO_LABELS
    if isinstance(source.evidence, SignPatternsBound):
        names = PatternResponse.of(source.mechanism)[0].names
        return Labels(names, names)
    if not isinstance(source.problem.loss, FiniteLoss):
        return NO_LABELS
    table = source.problem.table
    return Labels(table.names[0], table.names_of(source.mechanism.outputs))


def _require_fit(labels: Labels, mechanism: Made) -> Labels:
    """Labels of a finite mechanism, as many as it has inputs and outputs."""
    for side in ("inputs", "outputs"):
        texts, points = getattr(labels, side), getattr(mechanism, side, None)
        if texts is None:
            continue
        if isinstance(mechanism, Encoding) and side == "inputs":
            if len(texts) != mechanism.size:
                raise InvalidInput(f"labels.{side}", len(texts), f"be one for each of the {mechanism.size} items")
            continue
        if not isinstance(mechanism, Discrete) or not isinstance(points, Finite):
            rule = "be left out: only tables of a finite domain have labels"
            raise InvalidInput(f"labels.{side}", len(texts), rule)
        if len(texts) != len(points):
            raise InvalidInput(f"labels.{side}", len(texts), f"be one for each of the {len(points)} {side}")
    return labels


def _kept(texts: tuple[str, ...] | None, columns: Sequence[int]) -> tuple[str, ...] | None:
    return None if texts is None else tuple(texts[j] for j in columns)


def _require_bits(bits: int) -> int:
    try:
        whole = operator.index(bits)
    except TypeError:
        whole = 0
    if isinstance(bits, bool) or whole not in BITS:
        raise InvalidInput("bits", bits, f"be one of {', '.join(map(str, BITS))}", "32 suits most tables")
    return whole


def _design_in_words(source: Source | Product) -> dict[str, str]:
    """How the mechanism was found, and between which bounds it is best, as its design says."""
    if not isinstance(source, Design):
        return {}
    certificate = source.certificate
    optimum = "claimed optimum" if certificate.claimed else "optimum"
    bounds = f"between {certificate.lower!r} and {certificate.upper!r}"
    return {"solver": source.report.solver, "design": f"{optimum} over {certificate.valid_for} {bounds}"}


def _rounded(mechanism: Made, bits: int, cap: int, most_mixed: float, pairs: Pairs | None) -> Rounded:
    clamp = None
    if isinstance(mechanism, Truncated):
        clamp, mechanism = mechanism.inputs, mechanism.base
    kind = kind_of(mechanism)
    if kind is None:
        raise InvalidInput("mechanism", mechanism.name, "be of a kind that can become a table", _instead(mechanism))
    return kind.made(mechanism, Order(bits, cap, clamp, most_mixed, pairs))


def _instead(mechanism: Made) -> str:
    match mechanism:
        case Product():
            return "make a table of each part, design.mechanism.parts; their epsilons add up"
        case Mixture():
            return "take pm or duchi, or minimax --unbiased, which has less variance"
        case BoundedLaplace():
            return "take t-laplace, or ogpm, which has less error"
        case FromDensity():
            return "its privacy cannot be proven: cut it into cells, as a Discrete table of probabilities"
        case ConditionalNoise():
            return "take the free form (aaa --form free), which has no more variance"
    return "take one with finitely many outputs, a window of one interval, or Laplace, geometric or staircase noise"


def repaired(
    epsilon: float,
    inputs: Finite,
    outputs: Finite,
    rows: Sequence[Sequence[float]] | Floats,
    bits: int = 32,
    name: str = "custom",
    *,
    provenance: Mapping[str, str] | None = None,
    labels: Labels | None = None,
) -> Table:
    """The table nearest to a raw one, such as a solver leaves: whatever repair takes is done, and reported in the file.

    >>> raw = [[0.9, 0.1 + 1e-17, -1e-17], [0.25, 0.75, 0.0]]
    >>> table = repaired(math.log(3), Finite((0, 1)), Finite((0, 1, 2)), raw)
    >>> table.document["repair"]["dropped"], round(float(Fraction(table.document["repair"]["mixed"])), 6)
    (1, 0.310345)
    """
    if len(rows) != len(inputs) or any(len(row) != len(outputs) for row in rows):
        shape = (len(rows), sorted({len(row) for row in rows}))
        raise InvalidInput("probabilities", shape, f"have {len(inputs)} rows of {len(outputs)}")
    if not all(math.isfinite(entry) for row in rows for entry in row):
        raise InvalidInput("probabilities", "an entry that is no number", "be finite")
    for i, row in enumerate(rows):
        if min(row) < -NOISE or abs(math.fsum(row) - 1) > NOISE:
            raise InvalidInput(f"probabilities[{i}]", (min(row), math.fsum(row)), "be at least 0 and sum to 1")
    clipped = np.maximum(np.array(rows, dtype=np.float64), 0.0)
    clipped /= clipped.sum(axis=1, keepdims=True)
    raw = Discrete(epsilon, inputs, outputs, clipped, name)
    return make_table(raw, bits, provenance=provenance, most_mixed=1.0, labels=labels)


def _certificate(design: Design, cap: int, error_of: Any) -> dict[str, Any] | None:
    """The atoms of a minimax bound, what they prove, and the error of the table beside it."""
    evidence = design.evidence
    if not isinstance(evidence, MinimaxBound):
        return None
    exponent, prior = int(line_of(design.problem, supports).exponent), evidence.atoms
    arrays = (prior.inputs.tolist(), prior.radii.tolist(), prior.weights.tolist())
    atoms = [decimals(atom) for atom in zip(*arrays, strict=True) if atom[2] > 0]
    return {
        "criterion": "worst case",
        "exponent": exponent,
        "atoms": atoms,
        "lower": rational(checker.proven_lower(atoms, cap, exponent)),
        "error": rational(error_of(exponent)),
    }
