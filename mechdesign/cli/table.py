"""A mechanism rounded to whole numbers, exactly private and ready to ship: from a saved design, or from options."""

from __future__ import annotations

import shlex
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, Quiet, parse_domain
from mechdesign.deploy import Table, make_table
from mechdesign.deploy.table import Source
from mechdesign.design import MinimaxProblem, load_design, optimal_minimax
from mechdesign.design.constants import rounded_down, rounded_up
from mechdesign.domains import Interval
from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.losses import parse_loss
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.product import Product
from mechdesign.proof import float_down, float_up

_BIT_CHOICES = "Probabilities are multiples of 2^-BITS: 16, 32, 53 or 62."


def run(
    file: Annotated[Path | None, typer.Argument(help="A design written with --out.", metavar="[FILE]")] = None,
    eps: Annotated[float | None, typer.Option("--eps", help="Privacy parameter, without FILE.")] = None,
    loss: Annotated[str | None, typer.Option("--loss", help="absolute or squared, without FILE.")] = None,
    domain: Annotated[str | None, typer.Option("--domain", help="Inputs, as LO,HI.", metavar="LO,HI")] = None,
    mechanism: Annotated[str | None, typer.Option("--mechanism", help="A published one, such as pm or duchi.")] = None,
    bits: Annotated[int, typer.Option("--bits", help=_BIT_CHOICES)] = 32,
    out: Annotated[Path | None, typer.Option("--out", help="Save the table.")] = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(out, force=force)
    if (file is None) == (eps is None):
        raise InvalidInput("options", "FILE, --eps", "be given one or the other", "for example --eps 2 --out t.json")
    if file is not None:
        for name, value in (("--loss", loss), ("--domain", domain), ("--mechanism", mechanism)):
            if value is not None:
                raise InvalidInput(name, value, "be left out with FILE: the design says it", f"drop {name}")
    with output.progress("designing and rounding", quiet=quiet or as_json):
        source = load_design(file) if file is not None else _designed(eps, loss, domain, mechanism)
        table = make_table(source, bits, provenance={"command": shlex.join(sys.argv[1:])})
    if out is not None:
        table.save(out, overwrite=force)
    if as_json:
        output.print_json(_document(table, out))
        return
    _print(table)
    if out is not None:
        output.console.print(f"saved {out}", markup=False, soft_wrap=True)


def _designed(eps: float | None, loss: str | None, domain: str | None, name: str | None) -> Source | Product:
    assert eps is not None
    epsilon, inputs = require_epsilon(eps), parse_domain(domain, circular=False)
    assert isinstance(inputs, Interval)
    power = parse_loss(loss or "absolute")
    if name is None:
        return optimal_minimax(MinimaxProblem(epsilon, power, inputs))
    return catalogue.build(name, epsilon, inputs, power)


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
