"""How often a classifier keeps its labels when its inputs are sent through a mechanism: theory, exact, simulated."""

from __future__ import annotations

import secrets
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.data.columns import require_columns
from mechdesign.data.numbers import number_of
from mechdesign.data.sources import open_data
from mechdesign.data.texts import epsilons as increasing, names, parts
from mechdesign.errors import InvalidInput, require_whole
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.declare import Floats, asked, field, finite, frozen, needed, option, whole
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.values.schema import shaped
from mechdesign.values.tables import Column, Grid, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mechdesign.studies.classifiers.cells import Boxes
    from mechdesign.studies.classifiers.concentration import Perturbation
    from mechdesign.studies.classifiers.models import Classifier, Record
    from mechdesign.studies.classifiers.robustness import BoxSearch, Robust

_LOOKED_AT = 2000
_PARTS = ("average", "worst")
_SEARCHED = (1.0, 2.0, 4.0, 8.0)
_MECHANISMS = ("pm", "laplace", "k-rr", "gaussian", "gaussian-analytic")


def _columns(said: Any) -> tuple[str, ...]:
    return tuple(str(name).strip() for name in parts(said))


@frozen
class ClassifierStudy:
    """Labels kept by a public classifier, record by record, where its inputs are perturbed.

    ``epsilons`` are of each coordinate. A pickle runs its author's code and is opened only with ``unpickle``.
    """

    model: Path = needed("MODEL", "A .skops or .onnx file; a pickle with --unpickle.", read=Path, metavar="MODEL")
    data: Path = needed("--data", "CSV or Parquet with the features, in [0, 1].", read=Path)
    epsilons: tuple[float, ...] = needed("--eps", "Of each coordinate: E, A,B,C or FROM:TO:COUNT.", read=increasing())
    columns: tuple[str, ...] | None = asked(
        "--columns", "Features that are sent through a mechanism (all of them).", read=_columns
    )
    mechanism: tuple[str, ...] = asked(
        "--mechanism",
        "Names, comma-separated; pm is the chapter's PM, which is OGPM.",
        read=names("mechanism"),
        default=("pm", "laplace", "k-rr"),
        words=lambda: _MECHANISMS,
    )
    label: str | None = asked("--label", "Column of true labels: rows misclassified already are left out.")
    rows: int = whole("rows", 1, 10_000, default=20, metadata=option("--rows", "Records to analyse, from the first."))
    samples: int = field(default=2000, metadata=option("--samples", "Simulated reports a record, mechanism and eps."))
    tau: float = finite("tau", default=0.01, metadata=option("--tau", "Share of a tested box that may lose the label."))
    omega: float = finite(
        "omega", default=0.05, metadata=option("--omega", "Chance that a box of a record is less robust.")
    )
    delta: float | None = asked("--delta", "PAC-LDP: the indicator's delta; the Gaussian mechanism needs it.")
    target: float | None = asked("--target", "Find the smallest eps at which the average rho reaches it.")
    caps: tuple[float, ...] | None = asked(
        "--caps", "One column: labels kept under caps A,B,C on the worst error.", read=increasing("--caps")
    )
    box: str | None = asked("--box", "LOWER:UPPER for each column: decide this box, search none.")
    clip: bool = field(default=False, metadata=option("--clip", "Move values outside [0, 1] to the nearer end."))
    black_box: bool = field(default=False, metadata=option("--black-box", "Test boxes even where they can be proven."))
    unpickle: bool = field(default=False, metadata=option("--unpickle", "Open a pickle, which runs its author's code."))
    seed: int | None = asked("--seed", "Makes tests and simulations repeatable.")

    @property
    def doing(self) -> str:
        return "reading"

    @property
    def reads(self) -> Sequence[Path]:
        return self.model, self.data

    @property
    def keeps(self) -> Sequence[Path]:
        return ()

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> LabelsKept:
        """Theory, exact and simulated shares over the records."""
        from mechdesign.studies.classifiers.concentration import perturbation
        from mechdesign.studies.classifiers.floor import without_cap, zones_of
        from mechdesign.studies.classifiers.linear import LinearRegion
        from mechdesign.studies.classifiers.models import PICKLES, UNPICKLING_RUNS_CODE, load_model
        from mechdesign.studies.classifiers.pac import require_delta
        from mechdesign.studies.classifiers.robustness import BoxSearch, given_box, structure
        from mechdesign.studies.classifiers.trees import TreeRegion

        at, caps = self.epsilons, list(self.caps or ())
        start = secrets.randbits(53) if self.seed is None else require_whole(self.seed, "seed", 0)
        if self.delta is not None:
            require_delta(self.delta)
        laws = {name: [perturbation(name, value, self.delta) for value in at] for name in self.mechanism}
        if self.model.suffix.lower() in PICKLES and self.unpickle:
            warn(UNPICKLING_RUNS_CODE)
            sys.stderr.flush()
        rng = np.random.default_rng(start)
        classifier = load_model(self.model, unpickle=self.unpickle)
        records, wrong, moved = self._records(classifier)
        sent = records[0].columns
        if caps and len(sent) != 1:
            raise InvalidInput("caps", ",".join(map(str, caps)), "come with one column", "pass --columns NAME")
        if caps:
            without_cap(zones_of(records[0]), at[0])  # says early whether its zones are too many
        say(f"boxes of {len(records)} records")
        ends = None if self.box is None else _bounds(self.box, len(sent))
        told = self.tau, self.omega
        searches = [
            BoxSearch.of(record, rng, *told, black_box=self.black_box)
            if ends is None
            else BoxSearch(record, (given_box(record, *ends, rng, *told, black_box=self.black_box),))
            for record in records
        ]
        regions = [structure(record) for record in records]
        has_exact = None not in regions and not self.black_box
        cells = [_cells(one) if has_exact and len(at) * len(self.mechanism) > 1 else None for one in searches]
        analysed = _Records(records, searches, self.delta, has_exact, cells)
        results = []
        for name in self.mechanism:
            say(f"{name}: theory and {self.samples} reports of each record at {len(at)} eps")
            results += [analysed.row(law, self.samples, rng) for law in laws[name]]
        wanted = self.mechanism if self.target is not None else ()
        chosen = [analysed.smallest(name, laws[name], self.target or 0.0) for name in wanted]
        optimum = analysed.optimum(at)
        say("labels against errors" if caps else "done")
        curves = [
            _curve(records[0], value, caps, [laws[name][k] for name in self.mechanism])
            for k, value in enumerate(at if caps else ())
        ]
        first = searches[0].found[0]
        return LabelsKept(
            str(self.model),
            str(self.data),
            tuple(_name(records[0].classifier, k) for k in sent),
            len(records),
            wrong,
            moved,
            first.basis,
            self.box is not None,
            first.tau,
            first.omega,
            self.delta,
            self.samples,
            start,
            tuple(results),
            tuple(optimum),
            tuple(chosen),
            tuple(curves),
            all(isinstance(region, LinearRegion | TreeRegion) for region in regions),
        )

    def _records(self, classifier: Classifier) -> tuple[list[Record], int, tuple[Moved, ...] | None]:
        """The first records that are classified rightly, how many were left out, and what was clipped."""
        from mechdesign.studies.classifiers.models import Classifier, Record, columns_named, require_features
        from mechdesign.words.priors import values_of_file

        source = open_data(self.data)
        names = list(classifier.names) or [name for name in source.names if name != self.label]
        require_columns([*names, *([self.label] if self.label else [])], source.names, str(self.data), source.hint)
        if len(names) != classifier.features:
            step = "keep only the features in the file, in the model's order, and name the label by --label"
            raise InvalidInput("data", len(names), f"have the model's {classifier.features} features", step)
        known = Classifier(classifier.predict, classifier.features, classifier.name, tuple(names), classifier.model)
        sent = columns_named(known, self.columns) if self.columns else ()
        table = np.column_stack([values_of_file(self.data, name) for name in names])
        outside = (table < 0) | (table > 1)
        moved = tuple(Moved(name, int(many)) for name, many in zip(names, outside.sum(axis=0), strict=True) if many)
        table = require_features(np.clip(table, 0.0, 1.0) if self.clip else table, known)
        truth = _texts(source, self.label) if self.label else None
        records: list[Record] = []
        wrong = 0
        for k, features in enumerate(table):
            if len(records) == self.rows:
                break
            record = Record(known, features, sent, row=k + 1)
            if truth is not None and not _is_same(record.label, truth[k]):
                wrong += 1
                continue
            records.append(record)
        if not records:
            raise InvalidInput("label", self.label, "agree with the classifier in some row", "is it the right column?")
        return records, wrong, moved if self.clip else None


@frozen
class _Records:
    """Records with their boxes."""

    records: list[Record]
    searches: list[BoxSearch]
    delta: float | None
    has_exact: bool
    cells: list[Boxes | None]

    def row(self, law: Perturbation, samples: int, rng: np.random.Generator) -> Kept:
        """What is known about one mechanism at one eps, over the records."""
        from mechdesign.studies.classifiers.pac import composed, indicator_delta, with_indicator
        from mechdesign.studies.classifiers.survival import exact_survival, simulate_all, utility

        boxes = [search.box(law) for search in self.searches]
        found = [utility(box, law, record.sent) for record, box in zip(self.records, boxes, strict=True)]
        delta = 0.0 if self.delta is None or law.delta else self.delta  # of the indicator; noise has its own
        rho = [with_indicator(one.rho, delta) for one in found]
        bound = [with_indicator(one.bound, delta) for one in found]
        exact = Exact(None, None)
        if self.has_exact:
            ends = [
                exact_survival(record, law) if cells is None else cells.survival(law, record.sent)
                for record, cells in zip(self.records, self.cells, strict=True)
            ]
            low = [with_indicator(one.lower, delta) for one in ends]
            high = [with_indicator(one.upper, delta) for one in ends]
            exact = Exact((float(np.mean(low)), float(np.mean(high))), (min(low), min(high)))
        average, worst = simulate_all(self.records, law, samples, rng)
        seen = Simulated(*(_seen(one, delta) for one in (average, worst)))
        total, failing = law.epsilon * len(self.records[0].columns), 0.0
        if law.delta:
            total, failing = composed(law.epsilon, law.delta, len(self.records[0].columns))
        elif delta:
            failing = indicator_delta(delta, law.self_mass ** len(self.records[0].columns))
        rho_and_bound = Parts(float(np.mean(rho)), min(rho)), Parts(float(np.mean(bound)), min(bound))
        said = law.name, law.epsilon, total, failing, rho_and_bound[0], found[0].says, rho_and_bound[1]
        return Kept(*said, exact, seen, _sides(self.records[0], boxes[0]) if len(boxes) == 1 else None)

    def smallest(self, name: str, laws: Sequence[Perturbation], target: float) -> Smallest:
        """The smallest eps whose average rho reaches the target, with the boxes of the laws asked about and of four
        more."""
        from mechdesign.studies.classifiers.choice import rho_curve, smallest_epsilon
        from mechdesign.studies.classifiers.concentration import perturbation
        from mechdesign.studies.classifiers.pac import with_indicator

        laws = [*laws, *(perturbation(name, value, self.delta) for value in _SEARCHED)]
        boxes = [_largest([*search.found, *(search.box(law) for law in laws)]) for search in self.searches]

        def most(record: Record, several: list[Robust], value: float) -> float:
            return max(float(rho_curve(name, [value], box, record.sent, self.delta)[0]) for box in several)

        def reaches(value: float) -> float:
            rho = float(np.mean([most(*pair, value) for pair in zip(self.records, boxes, strict=True)]))
            return rho if self.delta is None or name.startswith("gaussian") else with_indicator(rho, self.delta)

        found = smallest_epsilon(reaches, target)
        return Smallest(name, target, found.epsilon, found.reached, found.below > 0)

    def optimum(self, epsilons: Sequence[float]) -> list[Guarantee]:
        """What randomised response on the labels of a public classifier keeps: no mechanism guarantees more."""
        from mechdesign.studies.classifiers.floor import label_optimum

        counts = [_labels_around(record) for record in self.records]
        size = len(self.records[0].columns)
        kept = [[label_optimum(min(64.0, size * value), count) for count in counts] for value in epsilons]
        return [Guarantee(value, float(np.mean(row)), min(row)) for value, row in zip(epsilons, kept, strict=True)]


def _seen(one: Any, delta: float) -> Seen:
    from mechdesign.studies.classifiers.pac import with_indicator

    return Seen(*(with_indicator(getattr(one, key), delta) for key in ("share", "lower", "upper")))


def _labels_around(record: Record) -> int:
    """Labels given as the columns that are sent vary, seen at points: to miss one can only raise the optimum."""
    points = np.random.default_rng(0).random((_LOOKED_AT, len(record.columns)))
    points[0] = record.sent
    return int(np.unique(record.classifier.labels(record.filled(points))).size)


def _cells(search: BoxSearch) -> Boxes | None:
    """The whole region of a tree, where it is known."""
    from mechdesign.studies.classifiers.survival import all_cells

    if search.cells is None:
        return all_cells(search.record)
    return search.cells if search.cells.is_exact else None


def _largest(boxes: list[Robust]) -> list[Robust]:
    """Those that lie in no other one."""
    kept: list[Robust] = []
    for one in sorted(boxes, key=lambda box: -float((box.upper - box.lower).sum())):
        if not any((box.lower <= one.lower).all() and (one.upper <= box.upper).all() for box in kept):
            kept.append(one)
    return kept


def _sides(record: Record, box: Robust) -> tuple[Side, ...]:
    names = [_name(record.classifier, column) for column in record.columns]
    return tuple(Side(*side) for side in zip(names, box.lower.tolist(), box.upper.tolist(), strict=True))


def _bounds(text: str, size: int) -> tuple[Floats, Floats]:
    """The ends of a box, from LOWER:UPPER for each column."""
    sides = [[number_of(end.strip()) for end in side.split(":")] for side in text.split(",")]
    if len(sides) != size or any(len(side) != 2 or None in side for side in sides):
        step = "in the order of --columns, for example 0.6:1,0:1"
        raise InvalidInput("box", text, f"be LOWER:UPPER for each of the {size} columns that are sent", step)
    ends = np.array(sides, dtype=np.float64).T
    return ends[0], ends[1]


def _texts(source: Any, label: str) -> list[str]:
    return [str(value).strip() for batch in source.read([label]) for value in batch.column(0).to_pylist()]


def _is_same(label: Any, written: str) -> bool:
    """Whether a label is what the file says: the same word, or the same number, as 1 and 1.0 are."""
    if str(label) == written:
        return True
    number = number_of(written)
    return number is not None and isinstance(label, int | np.integer | np.bool_) and float(label) == number


def _name(classifier: Classifier, column: int) -> str:
    return classifier.names[column] if classifier.names else str(column)


def _curve(record: Record, epsilon: float, caps: list[float], laws: list[Perturbation]) -> LabelCurve:
    """Labels kept against the worst error, and where the mechanisms lie, for the first record's classifier."""
    from mechdesign.studies.classifiers.floor import trade_off, where_it_lies, without_cap, zones_of

    zones = zones_of(record)
    points = tuple(trade_off(zones, epsilon, caps))
    lie = {law.name: Place(*where_it_lies(zones, law)) for law in laws}
    return LabelCurve(epsilon, without_cap(zones, epsilon), points, lie)


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class Parts:
    """Over the records: on average, and for the worst of them."""

    average: float
    worst: float


@frozen
class Exact:
    """Between which ends the exact chance lies, where that can be computed."""

    average: tuple[float, float] | None
    worst: tuple[float, float] | None


@frozen
class Seen:
    """A share of simulated reports, and its interval."""

    share: float
    lower: float
    upper: float


@frozen
class Simulated:
    """Shares over the records."""

    average: Seen
    worst: Seen


@frozen
class Side:
    """What a box holds of a column."""

    column: str
    lower: float
    upper: float


@frozen
class Kept:
    """How often labels are kept under one mechanism at one epsilon: theory, exactly, and simulated.

    ``box`` is the box that theory rests on, where one record is asked about.
    """

    mechanism: str
    epsilon: float
    total_epsilon: float
    pac_delta: float
    rho: Parts
    rho_is: str
    proven_bound: Parts
    exact: Exact
    simulated: Simulated
    box: tuple[Side, ...] | None


@frozen
class Moved:
    """How many rows of a file had a value of a column outside [0, 1], which was moved to the nearer end."""

    column: str
    rows: int


@frozen
class Guarantee:
    """What no mechanism exceeds at every input."""

    epsilon: float
    average: float
    worst: float


@frozen
class Smallest:
    """The smallest epsilon at which a target is reached."""

    mechanism: str
    target: float
    epsilon: float
    rho: float
    is_least: bool


@frozen
class Place:
    """Where a mechanism lies."""

    worst_error: float
    kept: float


def _points() -> dict[str, Any]:
    def shape(schemas: Any) -> dict[str, Any]:
        from mechdesign.studies.classifiers.floor import TradeOffPoint

        return dict(schemas.of(tuple[TradeOffPoint, ...]))

    return shaped(shape)


@frozen
class LabelCurve:
    """Labels kept against the worst error at one epsilon."""

    epsilon: float
    optimum: float
    caps: tuple[Any, ...] = field(metadata=_points())
    mechanisms: Mapping[str, Place]


def _kept(entry: Kept | Guarantee, text: Any) -> str:
    return str(text(entry)) if isinstance(entry, Kept) else ""


def _exact(row: Kept) -> str:
    ends = row.exact.average
    return "-" if ends is None else f"[{ends[0]:.4f}, {ends[1]:.4f}]"


def _seen_between(row: Kept) -> str:
    return f"[{row.simulated.average.lower:.4f}, {row.simulated.average.upper:.4f}]"


_COLUMNS = (
    Column("mechanism", lambda row: row.mechanism if isinstance(row, Kept) else "best guarantee"),
    Column("eps", lambda row: f"{row.epsilon:g}"),
    Column("theory rho", lambda row: _kept(row, lambda kept: f"{kept.rho.average:.4f}")),
    Column("proven", lambda row: _kept(row, lambda kept: f"{kept.proven_bound.average:.4f}")),
    Column("exact", lambda row: _exact(row) if isinstance(row, Kept) else f"{row.average:.4f}"),
    Column("simulated 95%", lambda row: _kept(row, _seen_between)),
    Column("worst rho", lambda row: _kept(row, lambda kept: f"{kept.rho.worst:.4f}")),
    Column("worst seen", lambda row: f"{row.simulated.worst.share if isinstance(row, Kept) else row.worst:.4f}"),
)


@frozen
class LabelsKept(Answer):
    """How often the classifier keeps its labels."""

    model: str
    data: str
    columns: tuple[str, ...]
    records: int
    misclassified: int
    clipped: tuple[Moved, ...] | None
    boxes: str
    box_is_given: bool
    tau: float
    omega: float
    delta: float | None
    samples: int
    seed: int
    results: tuple[Kept, ...]
    best_guarantee: tuple[Guarantee, ...]
    smallest_epsilon: tuple[Smallest, ...]
    label_against_error: tuple[LabelCurve, ...]
    zones_are_all: bool

    @property
    def rows(self) -> Sequence[Kept]:
        return self.results

    def shown(self) -> Iterator[Grid | str]:
        columns = ", ".join(self.columns[:6]) + (", ..." if len(self.columns) > 6 else "")
        boxes = f"{'given box' if self.box_is_given else 'boxes'} {self.boxes}"
        title = f"Chance that the label is kept: {self.records} records, columns {columns}, {boxes}"
        entries = [*self.results, *self.best_guarantee]
        yield table_of(title, _COLUMNS, entries)
        says = self.results[0].rho_is
        sure = "what is sure" if says == "bound" else f"sure with confidence {1 - self.omega:g} for each record"
        notes = [
            f"theory rho is {'a bound: boxes are proven' if says == 'bound' else 'an estimate'}; proven: {sure}.",
            "eps is of each column; a record spends eps times the number of columns.",
            "best guarantee: randomised response on the labels of a public classifier, with the same eps in all and no",
            "delta. No mechanism keeps more at every input; at the inputs of these records others may.",
        ]
        if says == "estimate":
            notes.insert(1, "(a mechanism's law in a box is not uniform: what fails may lie where reports are dense)")
        if len({row.mechanism for row in self.results}) > 1:
            told = (f"{best.epsilon:g}: {_best(self.results, best.epsilon)}" for best in self.best_guarantee)
            notes.append(f"largest average rho at eps {', '.join(told)}.")
        notes += _boxes_used(self)
        if self.clipped is not None:
            moved = ", ".join(f"{one.rows} of column {one.column}" for one in self.clipped) or "none"
            notes.append(f"Values moved into [0, 1], over all rows of the file: {moved}.")
        if self.misclassified:
            notes.append(f"Left out, as misclassified without noise: {self.misclassified} rows.")
        for least in self.smallest_epsilon:
            at = f"{least.target:g} at eps = {least.epsilon:.6g}"
            how = "first reaches" if least.is_least else "is at least"
            smaller = "." if least.is_least else ", the smallest that was tried."
            notes.append(f"{least.mechanism}: average rho {how} {at}{smaller}")
        if self.label_against_error and not self.zones_are_all:
            notes.append("The label was looked at in 2001 points; zones that are narrower are not in these bounds.")
        for one in self.label_against_error:
            for point in one.caps:
                says = f"the most kept lies between {point.attained:.4f} and {point.bound:.4f}"
                if not point.attained:
                    says = f"no mechanism was found; none keeps more than {point.bound:.4f}"
                notes.append(f"eps = {one.epsilon:g}, worst error at most {point.cap:g}: {says}.")
            for name, place in one.mechanisms.items():
                notes.append(f"  {name}: worst error {place.worst_error:.4f}, keeps {place.kept:.4f} on average.")
        yield from (f"  {note}" for note in notes)

    def plot(self) -> Figure:
        """Shares over eps, on average and for the worst record; with caps, labels kept against the worst error."""
        from mechdesign.plot.classifier import Survival, label_against_error, survival

        if self.label_against_error:
            last = self.label_against_error[-1]
            return label_against_error(
                [point.cap for point in last.caps],
                [point.attained for point in last.caps],
                [point.bound for point in last.caps],
                {name: (at.worst_error, at.kept) for name, at in last.mechanisms.items()},
                last.optimum,
                f"Labels kept against the error of the value, ε = {last.epsilon:g}",
            )
        panels = {}
        for part in _PARTS:
            lines = {}
            for name in dict.fromkeys(row.mechanism for row in self.results):
                of = [row for row in self.results if row.mechanism == name]
                ends = [getattr(row.exact, part) for row in of]
                seen = [getattr(row.simulated, part) for row in of]
                shares = [(one.share, one.lower, one.upper) for one in seen]
                lines[name] = Survival([getattr(row.rho, part) for row in of], None if None in ends else ends, shares)
            panels[part] = lines
        best = {part: [getattr(row, part) for row in self.best_guarantee] for part in _PARTS}
        epsilons = [row.epsilon for row in self.best_guarantee]
        return survival(epsilons, panels, best, f"{Path(self.model).name}: labels kept under perturbed inputs")


def _boxes_used(answer: LabelsKept) -> list[str]:
    """The boxes of the only record: as given, or rounded inwards."""
    notes = []
    for row in answer.results[: 1 if answer.box_is_given else None]:
        if row.box is None:
            continue
        if answer.box_is_given:
            sides = [f"{one.column} [{one.lower:.10g}, {one.upper:.10g}]" for one in row.box]
            notes.append(f"given box: {' x '.join(sides)}.")
        else:
            sides = [f"{one.column} [{rounded_up(one.lower, 6)}, {rounded_down(one.upper, 6)}]" for one in row.box]
            notes.append(f"{answer.boxes} box of {row.mechanism} at eps {row.epsilon:g}: {' x '.join(sides)}.")
    return notes


def _best(results: Sequence[Kept], epsilon: float) -> str:
    """The mechanism of the largest average rho at an eps."""
    return max((row for row in results if row.epsilon == epsilon), key=lambda row: row.rho.average).mechanism


ANSWERS = ((LabelsKept,),)
