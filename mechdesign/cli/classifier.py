"""How often a classifier keeps its labels when its inputs are sent through a mechanism: theory, exact, simulated."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from mechdesign.classifier import (
    Classifier,
    Perturbation,
    Record,
    Robust,
    all_cells,
    exact_survival,
    indicator_delta,
    label_optimum,
    load_model,
    perturbation,
    rho_curve,
    robust_box,
    simulate_all,
    smallest_epsilon,
    structure,
    trade_off,
    utility,
    where_it_lies,
    with_indicator,
    without_cap,
    zones_of,
)
from mechdesign.classifier.cells import Boxes
from mechdesign.classifier.models import PICKLES, UNPICKLING_RUNS_CODE, columns_named, require_features
from mechdesign.classifier.pac import composed, require_delta
from mechdesign.cli import output
from mechdesign.cli.looks import save_picture
from mechdesign.cli.options import AsJson, Force, PlotFile, Quiet, parse_epsilons
from mechdesign.data.columns import require_columns
from mechdesign.data.numbers import number_of
from mechdesign.data.sources import open_data
from mechdesign.errors import InvalidInput
from mechdesign.plot.classifier import Survival, label_against_error, survival
from mechdesign.priors import values_of_file

Row = dict[str, Any]
Floats = NDArray[np.float64]

_MOST_ROWS = 10_000
_LOOKED_AT = 2000
_PARTS = ("average", "worst")


def run(
    model: Annotated[Path, typer.Argument(help="A .skops or .onnx file; a pickle with --unpickle.", metavar="MODEL")],
    data: Annotated[Path, typer.Option("--data", help="CSV or Parquet with the features, in [0, 1].")],
    eps: Annotated[str, typer.Option("--eps", help="Of each coordinate: E, A,B,C or FROM:TO:COUNT.")],
    columns: Annotated[
        str | None, typer.Option("--columns", help="Features that are sent through a mechanism (all of them).")
    ] = None,
    mechanism: Annotated[
        str, typer.Option("--mechanism", help="Names, comma-separated; pm is the chapter's PM, which is OGPM.")
    ] = "pm,laplace,k-rr",
    label: Annotated[
        str | None, typer.Option("--label", help="Column of true labels: rows misclassified already are left out.")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", help="Records to analyse, from the first.")] = 20,
    samples: Annotated[int, typer.Option("--samples", help="Simulated reports a record, mechanism and eps.")] = 2000,
    tau: Annotated[float, typer.Option("--tau", help="Share of a tested box that may lose the label.")] = 0.01,
    omega: Annotated[float, typer.Option("--omega", help="Chance that a box of a record is less robust.")] = 0.05,
    delta: Annotated[
        float | None, typer.Option("--delta", help="PAC-LDP: the indicator's delta; the Gaussian mechanism needs it.")
    ] = None,
    target: Annotated[
        float | None, typer.Option("--target", help="Find the smallest eps at which the average rho reaches it.")
    ] = None,
    cap: Annotated[
        str | None, typer.Option("--caps", help="One column: labels kept under caps A,B,C on the worst error.")
    ] = None,
    black_box: Annotated[bool, typer.Option("--black-box", help="Test boxes even where they can be proven.")] = False,
    unpickle: Annotated[bool, typer.Option("--unpickle", help="Open a pickle, which runs its author's code.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Makes tests and simulations repeatable.")] = None,
    plot_file: PlotFile = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(None, plot_file, force=force)
    output.require_apart([plot_file], [model, data])
    epsilons = parse_epsilons(eps)
    names = list(dict.fromkeys(name.strip().lower() for name in mechanism.split(",")))
    caps = [] if cap is None else parse_epsilons(cap, "--caps")
    if not 1 <= rows <= _MOST_ROWS:
        raise InvalidInput("rows", rows, f"be a whole number from 1 to {_MOST_ROWS}")
    if seed is not None and seed < 0:
        raise InvalidInput("seed", seed, "be a whole number, at least 0")
    if delta is not None:
        require_delta(delta)
    laws = {name: [perturbation(name, value, delta) for value in epsilons] for name in names}
    if model.suffix.lower() in PICKLES and unpickle:
        output.warn(UNPICKLING_RUNS_CODE)
        sys.stderr.flush()
    start = secrets.randbits(53) if seed is None else seed
    rng = np.random.default_rng(start)
    with output.progress("reading", quiet=quiet) as say:
        classifier = load_model(model, unpickle=unpickle)
        records, wrong = _records(classifier, data, columns, label, rows)
        if caps and len(records[0].columns) != 1:
            raise InvalidInput("caps", cap, "come with one column", "pass --columns NAME")
        if caps:
            without_cap(zones_of(records[0]), epsilons[0])  # says early whether its zones are too many
        say(f"boxes of {len(records)} records")
        boxes = [robust_box(record, rng, tau, omega, black_box=black_box) for record in records]
        is_known = all(structure(record) is not None for record in records)
        has_exact = is_known and not black_box
        cells = [all_cells(record) if has_exact and len(epsilons) * len(names) > 1 else None for record in records]
        study = _Study(records, boxes, delta, has_exact, cells)
        results = []
        for name in names:
            say(f"{name}: theory and {samples} reports of each record at {len(epsilons)} eps")
            results += [study.row(law, samples, rng) for law in laws[name]]
        chosen = [study.smallest(name, target) for name in names] if target is not None else []
        optimum = study.optimum(epsilons)
        say("labels against errors" if caps else "done")
        curves = [
            _curve(records[0], value, caps, [laws[name][k] for name in names]) for k, value in enumerate(epsilons)
        ]
        curves = curves if caps else []
    if plot_file is not None:
        save_picture(_figure(classifier, results, names, epsilons, optimum, curves), plot_file, overwrite=force)
    document = {
        "model": str(model),
        "data": str(data),
        "columns": [_name(records[0].classifier, k) for k in records[0].columns],
        "records": len(records),
        "misclassified": wrong,
        "boxes": boxes[0].basis,
        "tau": boxes[0].tau,
        "omega": boxes[0].omega,
        "delta": delta,
        "samples": samples,
        "seed": start,
        "results": results,
        "best_guarantee": [
            dict(zip(("epsilon", *_PARTS), row, strict=True)) for row in zip(epsilons, *optimum.values(), strict=True)
        ],
        "smallest_epsilon": chosen,
        "label_against_error": curves,
        "zones_are_all": is_known,
    }
    if as_json:
        output.print_json(document)
        return
    _print(document, epsilons, optimum)
    if plot_file is not None:
        output.say_saved(plot_file)


@dataclass(frozen=True, slots=True)
class _Study:
    """Records with their boxes."""

    records: list[Record]
    boxes: list[Robust]
    delta: float | None
    has_exact: bool
    cells: list[Boxes | None]

    def row(self, law: Perturbation, samples: int, rng: np.random.Generator) -> Row:
        """What is known about one mechanism at one eps, over the records."""
        pairs = list(zip(self.records, self.boxes, strict=True))
        found = [utility(box, law, record.sent) for record, box in pairs]
        delta = 0.0 if self.delta is None or law.delta else self.delta  # of the indicator; noise has its own
        rho = [with_indicator(one.rho, delta) for one in found]
        bound = [with_indicator(one.bound, delta) for one in found]
        exact: Row = dict.fromkeys(_PARTS)
        if self.has_exact:
            ends = [
                exact_survival(record, law) if cells is None else cells.survival(law, record.sent)
                for record, cells in zip(self.records, self.cells, strict=True)
            ]
            low = [with_indicator(one.lower, delta) for one in ends]
            high = [with_indicator(one.upper, delta) for one in ends]
            exact = {"average": [float(np.mean(low)), float(np.mean(high))], "worst": [min(low), min(high)]}
        average, worst = simulate_all(self.records, law, samples, rng)
        seen = {
            part: {key: with_indicator(getattr(one, key), delta) for key in ("share", "lower", "upper")}
            for part, one in zip(_PARTS, (average, worst), strict=True)
        }
        total, failing = law.epsilon * len(self.records[0].columns), 0.0
        if law.delta:
            total, failing = composed(law.epsilon, law.delta, len(self.records[0].columns))
        elif delta:
            failing = indicator_delta(delta, law.self_mass ** len(self.records[0].columns))
        return {
            "mechanism": law.name,
            "epsilon": law.epsilon,
            "total_epsilon": total,
            "pac_delta": failing,
            "rho": {"average": float(np.mean(rho)), "worst": min(rho)},
            "rho_is": found[0].says,
            "proven_bound": {"average": float(np.mean(bound)), "worst": min(bound)},
            "exact": exact,
            "simulated": seen,
        }

    def smallest(self, name: str, target: float) -> Row:
        """The smallest eps whose average rho reaches the target."""

        def reaches(value: float) -> float:
            pairs = zip(self.records, self.boxes, strict=True)
            rho = float(np.mean([rho_curve(name, [value], box, one.sent, self.delta)[0] for one, box in pairs]))
            return rho if self.delta is None or name.startswith("gaussian") else with_indicator(rho, self.delta)

        found = smallest_epsilon(reaches, target)
        is_least = found.below > 0
        return {
            "mechanism": name,
            "target": target,
            "epsilon": found.epsilon,
            "rho": found.reached,
            "is_least": is_least,
        }

    def optimum(self, epsilons: Sequence[float]) -> dict[str, list[float]]:
        """What randomised response on the labels of a public classifier keeps: no mechanism guarantees more."""
        counts = [_labels_around(record) for record in self.records]
        size = len(self.records[0].columns)
        kept = [[label_optimum(min(64.0, size * value), count) for count in counts] for value in epsilons]
        return {"average": [float(np.mean(row)) for row in kept], "worst": [min(row) for row in kept]}


def _labels_around(record: Record) -> int:
    """Labels given as the columns that are sent vary, seen at points: to miss one can only raise the optimum."""
    points = np.random.default_rng(0).random((_LOOKED_AT, len(record.columns)))
    points[0] = record.sent
    return int(np.unique(record.classifier.labels(record.filled(points))).size)


def _records(
    classifier: Classifier, path: Path, columns: str | None, label: str | None, rows: int
) -> tuple[list[Record], int]:
    """The first records that are classified rightly, and how many were left out."""
    source = open_data(path)
    names = list(classifier.names) or [name for name in source.names if name != label]
    require_columns([*names, *([label] if label else [])], source.names, str(path), source.hint)
    if len(names) != classifier.features:
        step = "keep only the features in the file, in the model's order, and name the label by --label"
        raise InvalidInput("data", len(names), f"have the model's {classifier.features} features", step)
    known = Classifier(classifier.predict, classifier.features, classifier.name, tuple(names), classifier.model)
    sent = columns_named(known, [name.strip() for name in columns.split(",")]) if columns else ()
    table = require_features(np.column_stack([values_of_file(path, name) for name in names]), known)
    truth = _texts(source, label) if label else None
    records: list[Record] = []
    wrong = 0
    for k, features in enumerate(table):
        if len(records) == rows:
            break
        record = Record(known, features, sent, row=k + 1)
        if truth is not None and not _is_same(record.label, truth[k]):
            wrong += 1
            continue
        records.append(record)
    if not records:
        raise InvalidInput("label", label, "agree with the classifier in some row", "is it the right column?")
    return records, wrong


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


def _curve(record: Record, epsilon: float, caps: list[float], laws: list[Perturbation]) -> Row:
    """Labels kept against the worst error, and where the mechanisms lie, for the first record's classifier."""
    if not caps:
        return {}
    zones = zones_of(record)
    points = trade_off(zones, epsilon, caps)
    lie = {law.name: where_it_lies(zones, law) for law in laws}
    return {
        "epsilon": epsilon,
        "optimum": without_cap(zones, epsilon),
        "caps": [{"cap": point.cap, "attained": point.attained, "bound": point.bound} for point in points],
        "mechanisms": {name: {"worst_error": error, "kept": kept} for name, (error, kept) in lie.items()},
    }


def _figure(
    classifier: Classifier,
    results: list[Row],
    names: list[str],
    epsilons: list[float],
    optimum: dict[str, list[float]],
    curves: list[Row],
) -> Any:
    if curves:
        last = curves[-1]
        return label_against_error(
            [point["cap"] for point in last["caps"]],
            [point["attained"] for point in last["caps"]],
            [point["bound"] for point in last["caps"]],
            {name: (at["worst_error"], at["kept"]) for name, at in last["mechanisms"].items()},
            last["optimum"],
            f"Labels kept against the error of the value, ε = {last['epsilon']:g}",
        )
    panels = {}
    for part in _PARTS:
        lines = {}
        for name in names:
            of = [row for row in results if row["mechanism"] == name]
            exact = None if of[0]["exact"][part] is None else [tuple(row["exact"][part]) for row in of]
            seen = [tuple(row["simulated"][part][key] for key in ("share", "lower", "upper")) for row in of]
            lines[name] = Survival([row["rho"][part] for row in of], exact, seen)
        panels[part] = lines
    return survival(epsilons, panels, optimum, f"{classifier.name}: labels kept under perturbed inputs")


def _best(results: list[Row], epsilon: float) -> str:
    """The mechanism of the largest average rho at an eps."""
    rows = [row for row in results if row["epsilon"] == epsilon]
    return str(max(rows, key=lambda row: float(row["rho"]["average"]))["mechanism"])


def _print(document: Row, epsilons: list[float], optimum: dict[str, list[float]]) -> None:
    sent = ", ".join(document["columns"][:6]) + (", ..." if len(document["columns"]) > 6 else "")
    title = f"Chance that the label is kept: {document['records']} records, columns {sent}, boxes {document['boxes']}"
    lines = []
    for row in document["results"]:
        exact, seen = row["exact"]["average"], row["simulated"]
        ends = "-" if exact is None else f"[{exact[0]:.4f}, {exact[1]:.4f}]"
        cells = [f"{row['rho']['average']:.4f}", f"{row['proven_bound']['average']:.4f}", ends]
        cells += [f"[{seen['average']['lower']:.4f}, {seen['average']['upper']:.4f}]", f"{row['rho']['worst']:.4f}"]
        lines.append([row["mechanism"], f"{row['epsilon']:g}", *cells, f"{seen['worst']['share']:.4f}"])
    for value, kept, least in zip(epsilons, *optimum.values(), strict=True):
        lines.append(["best guarantee", f"{value:g}", "", "", f"{kept:.4f}", "", "", f"{least:.4f}"])
    heads = ["mechanism", "eps", "theory rho", "proven", "exact", "simulated 95%", "worst rho", "worst seen"]
    output.print_table(title, heads, lines)
    says = document["results"][0]["rho_is"]
    sure = "what is sure" if says == "bound" else f"sure with confidence {1 - document['omega']:g} for each record"
    notes = [
        f"theory rho is {'a bound: boxes are proven' if says == 'bound' else 'an estimate'}; proven: {sure}.",
        "eps is of each column; a record spends eps times the number of columns.",
        "best guarantee: randomised response on the labels of a public classifier, with the same eps in all and no",
        "delta. No mechanism keeps more at every input; at the inputs of these records others may.",
    ]
    if says == "estimate":
        notes.insert(1, "(a mechanism's law in a box is not uniform: what fails may lie where reports are dense)")
    if len({row["mechanism"] for row in document["results"]}) > 1:
        best = ", ".join(f"{value:g}: {_best(document['results'], value)}" for value in epsilons)
        notes.append(f"largest average rho at eps {best}.")
    if document["misclassified"]:
        notes.append(f"Left out, as misclassified without noise: {document['misclassified']} rows.")
    for row in document["smallest_epsilon"]:
        at = f"{row['target']:g} at eps = {row['epsilon']:.6g}"
        how = "first reaches" if row["is_least"] else "is at least"
        smaller = "." if row["is_least"] else ", the smallest that was tried."
        notes.append(f"{row['mechanism']}: average rho {how} {at}{smaller}")
    if document["label_against_error"] and not document["zones_are_all"]:
        notes.append("The label was looked at in 2001 points; zones that are narrower are not in these bounds.")
    for one in document["label_against_error"]:
        for point in one["caps"]:
            says = f"the most kept lies between {point['attained']:.4f} and {point['bound']:.4f}"
            if not point["attained"]:
                says = f"no mechanism was found; none keeps more than {point['bound']:.4f}"
            notes.append(f"eps = {one['epsilon']:g}, worst error at most {point['cap']:g}: {says}.")
        for name, at in one["mechanisms"].items():
            notes.append(f"  {name}: worst error {at['worst_error']:.4f}, keeps {at['kept']:.4f} on average.")
    output.console.print("\n".join(f"  {note}" for note in notes), soft_wrap=True)
