"""A mechanism rounded to whole numbers, exactly private and ready to ship.

It comes from a saved design (FILE); or with --eps it is the certified optimum for --loss, a published mechanism,
randomised response (--mechanism grr --size K), or a channel of your own
(--channel FILE, a row of probabilities for each input).
"""

from __future__ import annotations

import shlex
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, Quiet, parse_domain
from mechdesign.deploy import Table, make_table, repaired
from mechdesign.deploy.table import NOISE, Source
from mechdesign.design import MinimaxProblem, load_design, optimal_minimax
from mechdesign.design.constants import rounded_down, rounded_up
from mechdesign.domains import Finite, Interval
from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.losses import parse_loss
from mechdesign.matrix_files import read_matrix
from mechdesign.mechanisms import catalogue
from mechdesign.proof import float_down, float_up

_BIT_CHOICES = "Probabilities are multiples of 2^-BITS: 16, 32, 53 or 62."
_GRR = "grr"
_MOST_POINTS = 4096


def run(
    file: Annotated[Path | None, typer.Argument(help="A design written with --out.", metavar="[FILE]")] = None,
    eps: Annotated[float | None, typer.Option("--eps", help="Privacy parameter, without FILE.")] = None,
    loss: Annotated[str | None, typer.Option("--loss", help="absolute or squared, without FILE.")] = None,
    domain: Annotated[str | None, typer.Option("--domain", help="Inputs, as LO,HI.", metavar="LO,HI")] = None,
    mechanism: Annotated[str | None, typer.Option("--mechanism", help="A published one: pm, duchi, grr ...")] = None,
    size: Annotated[int | None, typer.Option("--size", help="Number of categories 0, 1, ... for grr.")] = None,
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
    given = {"--loss": loss, "--domain": domain, "--mechanism": mechanism, "--size": size, "--channel": channel}
    if file is not None:
        _require_absent(given, "with FILE: the design says it")
    provenance = {"command": shlex.join(sys.argv[1:])}
    with output.progress("designing and rounding", quiet=quiet or as_json):
        if eps is None:
            assert file is not None
            table = make_table(load_design(file), bits, provenance=provenance)
        elif channel is not None:
            _require_absent({**given, "--channel": None}, "with --channel: the file says it")
            table = _of_channel(require_epsilon(eps), channel, bits, provenance)
        else:
            designed = _designed(require_epsilon(eps), loss, domain, mechanism, size)
            table = make_table(designed, bits, provenance=provenance)
    if out is not None:
        table.save(out, overwrite=force)
    if as_json:
        output.print_json(_document(table, out))
        return
    _print(table)
    if out is not None:
        output.console.print(f"saved {out}", markup=False, soft_wrap=True)


def _require_absent(options: dict[str, Any], where: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InvalidInput(name, value, f"be left out {where}", f"drop {name}")


def _designed(epsilon: float, loss: str | None, domain: str | None, name: str | None, size: int | None) -> Source:
    if name == _GRR:
        _require_absent({"--loss": loss, "--domain": domain}, "with --mechanism grr, which takes --size")
        if size is None or not 2 <= size <= _MOST_POINTS:
            rule = f"be a number of categories from 2 to {_MOST_POINTS} for --mechanism grr"
            raise InvalidInput("--size", size, rule, "for example --mechanism grr --size 10")
        return catalogue.randomised_response(epsilon, Finite(tuple(range(size))))
    _require_absent({"--size": size}, "here: it is the number of categories of --mechanism grr")
    inputs, power = parse_domain(domain, circular=False), parse_loss(loss or "absolute")
    if name is not None:
        return catalogue.build(name, epsilon, inputs, power)
    assert isinstance(inputs, Interval)
    return optimal_minimax(MinimaxProblem(epsilon, power, inputs))


def _of_channel(epsilon: float, file: Path, bits: int, provenance: dict[str, str]) -> Table:
    """A table of the probabilities in a file; labels that are no increasing numbers are numbered and told."""
    matrix = read_matrix(file, "channel", least=-NOISE)
    inputs, input_names = _points(matrix.input_labels, matrix.values.shape[0], "input")
    outputs, output_names = _points(matrix.output_labels, matrix.values.shape[1], "output")
    told = provenance | input_names | output_names
    return repaired(epsilon, inputs, outputs, matrix.values, bits, file.stem, provenance=told)


def _points(labels: tuple[str, ...] | None, count: int, what: str) -> tuple[Finite, dict[str, str]]:
    if count > _MOST_POINTS:
        raise InvalidInput("channel", count, f"have at most {_MOST_POINTS} {what}s")
    if labels is None:
        return Finite(tuple(range(count))), {}
    try:
        values = np.array([float(label) for label in labels])
    except ValueError:
        values = np.array([np.nan])
    if np.isfinite(values).all() and (np.diff(values) > 0).all():
        return Finite(tuple(values.tolist())), {}
    return Finite(tuple(range(count))), {f"{what}s": ", ".join(f"{i} = {label}" for i, label in enumerate(labels))}


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
    if said["error"] is not None:
        lower = rounded_down(said["lower"])
        lines.append(f"  worst error: {rounded_up(said['error'])}; no eps-private mechanism has less than {lower}")
    if said["estimator"] is not None:
        bias, variance = (float(Fraction(said["estimator"][name])) for name in ("bias", "variance"))
        lines.append(f"  debiased report: bias at most {bias:.6g}, variance at most {variance:.6g}")
    if said["repair"] is not None:
        mixed = float(Fraction(said["repair"]["mixed"]))
        lines.append(
            f"  repaired: {mixed:.3g} of the uniform law mixed in, {said['repair']['dropped']} outputs dropped"
        )
    lines.append(f"  sha256: {table.sha256}")
    output.console.print("\n".join(lines), markup=False, soft_wrap=True)
