"""A mechanism rounded to whole numbers, exactly private and ready to ship.

It comes from a saved design (FILE); or with --eps it is the certified optimum for --loss, a published mechanism,
randomised response (--mechanism grr with --size K or --labels A,B,...), or a channel of your own
(--channel FILE, a row of probabilities for each input; apply and estimate know its labels).
"""

from __future__ import annotations

import shlex
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, Quiet, parse_domain
from mechdesign.data.numbers import require_number_text
from mechdesign.deploy import Table, make_table, repaired
from mechdesign.deploy.frames_columns import labels_of, provenance_of
from mechdesign.deploy.table import NOISE, Source
from mechdesign.design import MinimaxProblem, SavedDesign, load_design, optimal_minimax
from mechdesign.design.constants import rounded_down, rounded_up
from mechdesign.domains import Finite, Interval
from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.losses import parse_loss
from mechdesign.matrix_files import read_matrix
from mechdesign.mechanisms import catalogue
from mechdesign.plot import printable
from mechdesign.proof import float_down, float_up

_BIT_CHOICES = "Probabilities are multiples of 2^-BITS: 16, 32, 53 or 62."
_GRR = "grr"
_MOST_POINTS = 4096
_MOST_SHOWN = 20
_MUCH_MIXED = 0.01


def run(
    file: Annotated[Path | None, typer.Argument(help="A design written with --out.", metavar="[FILE]")] = None,
    eps: Annotated[float | None, typer.Option("--eps", help="Privacy parameter, without FILE.")] = None,
    loss: Annotated[str | None, typer.Option("--loss", help="absolute or squared, without FILE.")] = None,
    domain: Annotated[str | None, typer.Option("--domain", help="Inputs, as LO,HI.", metavar="LO,HI")] = None,
    mechanism: Annotated[str | None, typer.Option("--mechanism", help="A published one: pm, duchi, grr ...")] = None,
    size: Annotated[int | None, typer.Option("--size", help="Number of categories 0, 1, ... for grr.")] = None,
    labels: Annotated[
        str | None, typer.Option("--labels", help="Categories by name for grr, instead of --size.", metavar="A,B,...")
    ] = None,
    channel: Annotated[
        Path | None, typer.Option("--channel", help="Probabilities, .csv or .npy; repaired where not private.")
    ] = None,
    bits: Annotated[int, typer.Option("--bits", help=_BIT_CHOICES)] = 32,
    out: Annotated[Path | None, typer.Option("--out", help="Save the table.")] = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(out, force=force)
    if (file is None) == (eps is None):
        raise InvalidInput("options", "FILE, --eps", "be given one or the other", "for example --eps 2 --out t.json")
    given: dict[str, Any] = {"--loss": loss, "--domain": domain, "--mechanism": mechanism, "--size": size}
    given |= {"--labels": labels, "--channel": channel}
    if file is not None:
        _require_absent(given, "with FILE: the design says it")
    provenance = {"command": _command(file, {"--eps": eps} | given | {"--bits": bits})}
    with output.progress("designing and rounding", quiet=quiet):
        if eps is None:
            assert file is not None
            design = load_design(file)
            table = make_table(design, bits, provenance=provenance | _said(design))
        elif channel is not None:
            _require_absent({**given, "--channel": None}, "with --channel: the file says it")
            table = _of_channel(require_epsilon(eps), channel, bits, provenance)
        else:
            names = _names(labels)
            designed = _designed(require_epsilon(eps), loss, domain, mechanism, size, names)
            table = make_table(designed, bits, provenance=provenance | provenance_of(names, names))
    if out is not None:
        table.save(out, overwrite=force)
    mixed = _mixed(table)
    if mixed > _MUCH_MIXED:
        output.warn(
            f"the channel was far from private: {100 * mixed:.3g}% of the uniform law was mixed in, so the table is "
            "another mechanism than the file's; was it made for a larger eps?"
        )
    if as_json:
        output.print_json(_document(table, out))
        return
    _print(table)
    if out is not None:
        output.console.print(f"saved {out}", markup=False, soft_wrap=True)


def _command(file: Path | None, options: dict[str, Any]) -> str:
    """The options that matter for the table, with names of files only: the same on every machine."""
    words = ["table", *([file.name] if file is not None else [])]
    for name, value in options.items():
        if value is not None:
            words.append(f"{name}={value.name if isinstance(value, Path) else value}")
    return shlex.join(words)


def _said(design: SavedDesign) -> dict[str, str]:
    """How a saved design was found, as far as its file says."""
    said = {name: design.report.get(name) for name in ("solver", "seed", "command")}
    versions = design.report.get("versions")
    if isinstance(versions, dict):
        said |= {f"design {name}": version for name, version in versions.items()}
    return {name: str(value) for name, value in said.items() if isinstance(value, str | int)}


def _names(labels: str | None) -> tuple[str, ...] | None:
    if labels is None:
        return None
    names = tuple(name.strip() for name in labels.split(","))
    example = "for example --labels no,maybe,yes"
    if not 2 <= len(names) <= _MOST_POINTS:
        raise InvalidInput("--labels", labels, f"name from 2 to {_MOST_POINTS} categories", example)
    if not all(name and name.isprintable() for name in names) or len(set(names)) < len(names):
        raise InvalidInput("--labels", labels, "be different names of printable letters", example)
    return names


def _require_absent(options: dict[str, Any], where: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InvalidInput(name, value, f"be left out {where}", f"drop {name}")


def _designed(
    epsilon: float,
    loss: str | None,
    domain: str | None,
    name: str | None,
    size: int | None,
    labels: tuple[str, ...] | None,
) -> Source:
    if name is not None and name.strip().lower() == _GRR:
        _require_absent({"--loss": loss, "--domain": domain}, "with --mechanism grr, which takes --size or --labels")
        if labels is not None:
            _require_absent({"--size": size}, "with --labels, which say it")
            size = len(labels)
        if size is None or not 2 <= size <= _MOST_POINTS:
            rule = f"be a number of categories from 2 to {_MOST_POINTS} for --mechanism grr"
            step = "for example --mechanism grr --size 10, or --labels no,maybe,yes"
            raise InvalidInput("--size", size, rule, step)
        return catalogue.randomised_response(epsilon, Finite(tuple(range(size))))
    _require_absent({"--size": size, "--labels": labels}, "here: it says the categories of --mechanism grr")
    inputs, power = parse_domain(domain, circular=False), parse_loss(loss or "absolute")
    if name is not None:
        known = [entry.key for entry in catalogue.ON_INTERVALS]
        if name.strip().lower() not in known:
            rule = f"be one of {', '.join(known)}, or {_GRR} with --size or --labels"
            raise InvalidInput("mechanism", name, rule)
        return catalogue.build(name, epsilon, inputs, power)
    assert isinstance(inputs, Interval)
    return optimal_minimax(MinimaxProblem(epsilon, power, inputs))


def _of_channel(epsilon: float, file: Path, bits: int, provenance: dict[str, str]) -> Table:
    """A table of the probabilities in a file; labels that are no increasing numbers are numbered and kept by name."""
    matrix = read_matrix(file, "channel", least=-NOISE)
    inputs, input_names = _points(matrix.input_labels, matrix.values.shape[0], "input")
    outputs, output_names = _points(matrix.output_labels, matrix.values.shape[1], "output")
    told = provenance | provenance_of(input_names, output_names)
    return repaired(epsilon, inputs, outputs, matrix.values, bits, file.stem, provenance=told)


def _points(labels: tuple[str, ...] | None, count: int, what: str) -> tuple[Finite, tuple[str, ...] | None]:
    """The numbers of inputs or outputs, and their labels if they are not these numbers."""
    if count > _MOST_POINTS:
        raise InvalidInput("channel", count, f"have at most {_MOST_POINTS} {what}s")
    if labels is None:
        return Finite(tuple(range(count))), None
    try:
        values = np.array([require_number_text(label) for label in labels])
    except ValueError:
        values = np.array([np.nan])
    if np.isfinite(values).all() and (np.diff(values) > 0).all():
        return Finite(tuple(values.tolist())), None
    return Finite(tuple(range(count))), labels


def _mixed(table: Table) -> float:
    repair = table.document["repair"]
    return 0.0 if repair is None else float(Fraction(repair["mixed"]))


def _document(table: Table, out: Path | None) -> dict[str, Any]:
    law = table.law
    certificate = table.document["certificate"]
    return {
        "kind": table.kind,
        "name": table.name,
        "epsilon": float(table.epsilon),
        "bits": table.bits,
        "privacy_loss": table.privacy_loss,
        "outputs": len(law["outputs"]) if "outputs" in law else law.get("cells"),
        "input_labels": labels_of(table).inputs,
        "output_labels": labels_of(table).outputs,
        "estimator": table.document["estimator"],
        "repair": table.document["repair"],
        "error": None if certificate is None else float_up(Fraction(certificate["error"])),
        "lower": None if certificate is None else float_down(Fraction(certificate["lower"])),
        "sha256": table.sha256,
        "file": None if out is None else str(out),
    }


def _print(table: Table) -> None:
    said = _document(table, None)
    lines = [f"{table.name}: {table.kind} table, probabilities are multiples of 2^-{table.bits}"]
    lines.append(f"  privacy loss: {table.privacy_loss:.12g} (computed exactly, at most eps)")
    if said["outputs"] is not None:
        lines.append(f"  outputs: {said['outputs']}")
    if said["input_labels"] is not None:
        lines.append(f"  inputs by name: {', '.join(map(printable, said['input_labels'][:_MOST_SHOWN]))}")
    if said["error"] is not None:
        lower = rounded_down(said["lower"])
        lines.append(f"  worst error: {rounded_up(said['error'])}; no eps-private mechanism has less than {lower}")
    if said["estimator"] is not None:
        bias, variance = (float(Fraction(said["estimator"][name])) for name in ("bias", "variance"))
        lines.append(f"  debiased report: bias at most {bias:.6g}, variance at most {variance:.6g}")
    if said["repair"] is not None:
        lines.append(
            f"  repaired: {_mixed(table):.3g} of the uniform law mixed in, {said['repair']['dropped']} outputs dropped"
        )
    lines.append(f"  sha256: {table.sha256}")
    output.console.print("\n".join(lines), markup=False, soft_wrap=True)
