"""Tables: mechanisms rounded to whole numbers, exactly private, ready to ship."""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy import checker
from mechdesign.deploy.channels import finite_counts, repair
from mechdesign.deploy.densities import additive_law, pieces_law
from mechdesign.deploy.document import decimal, decimals, rational
from mechdesign.deploy.labels import NO_LABELS, Labels, Names, labels_from
from mechdesign.deploy.parties import require_own_law
from mechdesign.deploy.rounding import BITS
from mechdesign.deploy.windows import unbiased_law, window_law
from mechdesign.design.minimax.proof import MinimaxBound
from mechdesign.design.result import FORMAT, Certificate, Design, versions
from mechdesign.design.saved import SavedDesign
from mechdesign.domains import Circle, Finite, Interval
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput, require_epsilon
from mechdesign.mechanisms.additive import Additive, BoundedLaplace
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.discrete import Discrete, TwoSidedGeometric
from mechdesign.mechanisms.mixture import Mixture
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.mechanisms.truncated import Truncated
from mechdesign.mechanisms.two_point import TwoPoint
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window
from mechdesign.values import files

Floats = NDArray[np.float64]

MOST_MIXED = 1e-6
_DAMAGED = "was it edited, cut short or saved anew by another program? take the original"
NOISE = 1e-6  # how far below 0, or from a sum of 1, a raw table may be


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A mechanism in whole numbers, as the canonical bytes of its file. It exists only if the checker passes it.

    *Guarantee.* A report's probability is a count over ``2^bits``; in each output the counts of two inputs differ by at
    most a factor ``c <= e^epsilon``, all in integers. Anyone can check this with `mechdesign.deploy.checker`.

    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> table = make_table(randomised_response(math.log(3), Finite((0, 1))), bits=16)
    >>> table.law["rows"]
    [[49152, 16384], [16384, 49152]]
    """

    content: bytes = field(repr=False)
    document: Mapping[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            checker.check(self.content)
        except checker.Failed as failure:
            step = "" if str(failure).startswith(checker.VERSION_1) else _DAMAGED
            raise FileProblem("table", str(failure), "pass its check", step) from None
        object.__setattr__(self, "document", files.parse_json(self.content))
        try:
            _ = self.domain
        except InvalidInput as problem:
            raise FileProblem("table", str(problem), "have a domain that this package can use") from None

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {self.kind}, epsilon={self.epsilon}, bits={self.bits}, sha256={self.sha256[:12]})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)

    @property
    def kind(self) -> str:
        return str(self.document["kind"])

    @property
    def name(self) -> str:
        return str(self.document["name"])

    @property
    def epsilon(self) -> Fraction:
        return Fraction(self.document["epsilon"])

    @property
    def bits(self) -> int:
        return int(self.document["bits"])

    @property
    def law(self) -> Mapping[str, Any]:
        law: Mapping[str, Any] = self.document["law"]
        return law

    @property
    def labels(self) -> Labels:
        """The names of the inputs and of the outputs, for each side that has them: data of this side hold names only.

        >>> from mechdesign.mechanisms.catalogue import randomised_response
        >>> make_table(randomised_response(1.0, Finite((0, 1))), labels=Labels(("no", "yes"), ("no", "yes"))).labels
        Labels(inputs=('no', 'yes'), outputs=('no', 'yes'))
        """
        return labels_from(self.document["labels"])

    @property
    def input_names(self) -> Names | None:
        """How data of a labelled domain are read; ``None`` where inputs are numbers."""
        texts = self.labels.inputs
        return None if texts is None else Names(texts, tuple(self.document["domain"]["points"]))

    @property
    def output_names(self) -> Names | None:
        """How labelled reports are written and read; ``None`` where reports are numbers."""
        texts = self.labels.outputs
        return None if texts is None else Names(texts, tuple(self.law["outputs"]))

    @property
    def sha256(self) -> str:
        return str(self.document["sha256"])

    @property
    def domain(self) -> Interval | Circle | Finite:
        fields = self.document["domain"]
        if fields["kind"] == "interval":
            return Interval(float(fields["lower"]), float(fields["upper"]))
        if fields["kind"] == "circle":
            return Circle(float(fields["period"]))
        return Finite(tuple(float(point) for point in fields["points"]))

    @property
    def ratio(self) -> Fraction:
        """The largest likelihood ratio between two rows: exact, and for some kinds more than any two inputs reach."""
        return Fraction(self.document["privacy"])

    @property
    def privacy_loss(self) -> float:
        """The logarithm of `ratio`, to the nearest double."""
        return LikelihoodRatio(self.ratio).loss

    def worst_error(self, exponent: int) -> Fraction:
        """``max over inputs of E|Y - x|^exponent`` of a window table, exactly, for exponents 1 and 2."""
        if self.kind != "window" or exponent not in (1, 2):
            raise InvalidInput("table", self.kind, "be a window table, and the exponent 1 or 2")
        document = dict(self.document)
        _, _, error = checker.check_window(document, document["law"], 1 << self.bits, int(document["cap"]))
        assert error is not None
        return error(exponent)

    def save(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Write the file, all of it or nothing."""
        return files.write_atomically(path, self.content, overwrite=overwrite)


def load_table(path: Path | str) -> Table:
    """Read a table file; anything but a canonical file that passes its whole check is a `FileProblem`."""
    content = files.read_bytes(path)
    try:
        return Table(content)
    except FileProblem as problem:
        if is_design(content):
            step = f"make one: python -m mechdesign table {Path(path).name} --out table.json"
            raise FileProblem("file", str(path), "be a table, and is a design", step) from None
        raise FileProblem("table", str(path), f"pass its check: {problem.value}", problem.next_step) from None


def is_design(content: bytes) -> bool:
    """Whether the bytes look like a file of a design, which a table is made from."""
    return f'"{FORMAT}"'.encode() in content[:4096]


Source = Design | SavedDesign | Mechanism


def make_table(
    source: Source | Product,
    bits: int = 32,
    *,
    provenance: Mapping[str, str] | None = None,
    most_mixed: float = MOST_MIXED,
    labels: Labels | None = None,
) -> Table:
    """Round a mechanism, or a design with its certificate, to a table of probabilities ``count / 2^bits``.

    Finite channels that break their epsilon are repaired if that takes a share of at most ``most_mixed``. ``labels``
    name the inputs and outputs of a finite mechanism; left out, those of the design's problem do if it has any.
    """
    bits = _require_bits(bits)
    mechanism = source.mechanism if isinstance(source, Design | SavedDesign) else source
    certificate = source.certificate if isinstance(source, Design | SavedDesign) else None
    require_own_law(mechanism)
    if not hasattr(mechanism, "epsilon"):
        raise InvalidInput("source", source, "be a design or a mechanism", "read a design file with load_design")
    epsilon = Fraction(require_epsilon(mechanism.epsilon))
    cap = checker.exponential(epsilon)
    named = _require_fit(_labels_of(source) if labels is None else labels, mechanism)
    built = _build(mechanism, bits, cap, most_mixed)
    document = {
        "format": "mechdesign table",
        "version": 2,
        "kind": built.kind,
        "name": mechanism.name,
        "epsilon": rational(epsilon),
        "bits": bits,
        "cap": str(cap),
        "domain": built.domain,
        "law": built.law,
        "labels": Labels(named.inputs, _kept(named.outputs, built.columns)).to_json(),
        "certificate": None,
        "repair": built.repair,
        "provenance": versions("numpy", "scipy") | _design_in_words(source) | dict(provenance or {}),
    }
    check = getattr(checker, f"check_{built.kind}")
    try:
        ratio, document["estimator"], error_of = check(document, built.law, 1 << bits, cap)
        document["privacy"] = rational(ratio)
        if certificate is not None and built.kind == "window":
            document["certificate"] = _certificate(certificate, cap, error_of)
        document["sha256"] = hashlib.sha256(checker.canonical(document)).hexdigest()
        content = checker.canonical(document)
        _require_size(len(content))
        checker.check(content)
    except checker.Failed as failure:
        raise CheckFailed(f"the table of {mechanism.name} failed its own check, please report it: {failure}") from None
    return Table(content)


def _require_size(size: float) -> None:
    if size > checker.LARGEST:
        rule = f"be a file of at most {checker.LARGEST // 2**20} MB"
        raise InvalidInput("table", f"{size / 2**20:.0f} MB", rule, "take fewer bits, or fewer inputs and outputs")


def _labels_of(source: Source | Product) -> Labels:
    """The labels of the rows and columns that a design of a loss matrix is for."""
    if isinstance(source, Design):
        said = {side: getattr(source.problem, side, None) for side in ("input_labels", "output_labels")}
    elif isinstance(source, SavedDesign):
        said = {side: source.problem.get(side) for side in ("input_labels", "output_labels")}
    else:
        return NO_LABELS
    mechanism, outputs = source.mechanism, said["output_labels"]
    if isinstance(mechanism, Discrete) and outputs is not None:
        columns = [int(column) for column in mechanism.outputs.points]
        if not isinstance(outputs, list | tuple) or len(outputs) <= max(columns):
            raise FileProblem("output_labels", type(outputs).__name__, "be a list with a text for each column")
        outputs = tuple(outputs[column] for column in columns)
    return Labels(said["input_labels"], outputs)


def _require_fit(labels: Labels, mechanism: Mechanism | Product) -> Labels:
    """Labels of a finite mechanism, as many as it has inputs and outputs."""
    for side in ("inputs", "outputs"):
        texts, points = getattr(labels, side), getattr(mechanism, side, None)
        if texts is None:
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
    if not isinstance(source, Design | SavedDesign):
        return {}
    certificate = source.certificate
    solver = source.report.solver if isinstance(source, Design) else source.report.get("solver")
    optimum = "claimed optimum" if certificate.claimed else "optimum"
    bounds = f"between {certificate.lower!r} and {certificate.upper!r}"
    return {"solver": str(solver), "design": f"{optimum} over {certificate.valid_for} {bounds}"}


@dataclass(frozen=True, slots=True)
class _Built:
    kind: str
    domain: dict[str, Any]
    law: dict[str, Any]
    repair: dict[str, Any] | None = None
    columns: Sequence[int] = ()  # of finite ones: which of the mechanism's outputs are left


def _build(mechanism: Mechanism | Product, bits: int, cap: int, most_mixed: float) -> _Built:
    clamp = None
    if isinstance(mechanism, Truncated):
        clamp, mechanism = mechanism.inputs, mechanism.base
    match mechanism:
        case Window():
            law = window_law(mechanism.inputs, mechanism.points, mechanism.base, bits, cap)
            return _Built("window", _domain(mechanism.inputs), law)
        case UnbiasedWindow():
            points, base = mechanism.points.tolist(), mechanism.base.tolist()
            return _Built(
                "unbiased", _domain(mechanism.inputs), unbiased_law(mechanism.inputs, points, base, bits, cap)
            )
        case TwoPoint():
            law = unbiased_law(mechanism.inputs, mechanism.outputs.points, [mechanism.rare] * 2, bits, cap)
            return _Built("unbiased", _domain(mechanism.inputs), law)
        case Discrete():
            return _finite(mechanism, bits, cap, most_mixed)
        case Piecewise():
            return _Built("pieces", _domain(mechanism.inputs), pieces_law(mechanism, clamp, bits, cap))
        case Additive() | TwoSidedGeometric():
            inputs = Interval(mechanism.inputs.lower, mechanism.inputs.upper)
            return _Built("additive", _domain(inputs), additive_law(mechanism, clamp, bits, cap))
    raise InvalidInput("mechanism", mechanism.name, "be of a kind that can become a table", _instead(mechanism))


def _instead(mechanism: Mechanism | Product) -> str:
    match mechanism:
        case Product():
            return "make a table of each part, design.mechanism.parts; their epsilons add up"
        case Mixture():
            return "take pm or duchi, or minimax --unbiased, which has less variance"
        case BoundedLaplace():
            return "take t-laplace, or ogpm, which has less error"
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


def _finite(mechanism: Discrete, bits: int, cap: int, most_mixed: float) -> _Built:
    # what the counts take at least, digits and a comma each: known before the minutes that so large a table takes
    digits = np.floor(np.log10(np.maximum(mechanism.probabilities * 2.0**bits / 2, 1.0)))
    _require_size(float(digits.sum()) + 2 * digits.size)
    fixed = repair(mechanism.probabilities.tolist(), Fraction(cap, 1 << 96))
    if fixed.mixed > most_mixed:
        rule = f"be private after mixing in at most {most_mixed:g} of the uniform law"
        raise InvalidInput("probabilities", float(fixed.mixed), rule, "check epsilon, or allow more with most_mixed")
    rows, columns = finite_counts(fixed, bits, cap)
    left = [fixed.columns[j] for j in columns]
    outputs = [mechanism.outputs.points[j] for j in left]
    dropped = len(mechanism.outputs) - len(outputs)
    report = {"mixed": rational(fixed.mixed), "dropped": dropped} if fixed.mixed or dropped else None
    return _Built("finite", _domain(mechanism.inputs), {"outputs": decimals(outputs), "rows": rows}, report, left)


def _domain(domain: Interval | Circle | Finite) -> dict[str, Any]:
    match domain:
        case Interval():
            return {"kind": "interval", "lower": decimal(domain.lower), "upper": decimal(domain.upper)}
        case Circle():
            return {"kind": "circle", "period": decimal(domain.period)}
    return {"kind": "finite", "points": decimals(domain.points)}


def _certificate(certificate: Certificate, cap: int, error_of: Any) -> dict[str, Any] | None:
    """The atoms of a minimax bound, what they prove, and the error of the table beside it."""
    evidence = certificate.evidence
    if not isinstance(evidence, MinimaxBound):
        return None
    arrays = (evidence.inputs.tolist(), evidence.radii.tolist(), evidence.weights.tolist())
    atoms = [decimals(atom) for atom in zip(*arrays, strict=True) if atom[2] > 0]
    return {
        "criterion": "worst case",
        "exponent": evidence.exponent,
        "atoms": atoms,
        "lower": rational(checker.proven_lower(atoms, cap, evidence.exponent)),
        "error": rational(error_of(evidence.exponent)),
    }
