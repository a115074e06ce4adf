"""How answers leave a command: one JSON object, or tables for people; progress goes to stderr."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from mechdesign import files, plot
from mechdesign.design import Certificate
from mechdesign.errors import FileProblem
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.proof import IN_CLASS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLAIN_WIDTH = 120  # a pipe or a file has no width of its own

_is_terminal = sys.stdout is not None and sys.stdout.isatty()

console = Console(highlight=False, width=None if _is_terminal else _PLAIN_WIDTH)


def print_json(document: dict[str, Any]) -> None:
    """Exactly one JSON object on stdout."""
    sys.stdout.write(files.dump_json(document))
    sys.stdout.flush()


@contextlib.contextmanager
def progress(message: str, *, quiet: bool) -> Iterator[None]:
    """A spinner with the elapsed time on stderr while something slow runs."""
    if quiet:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(message, total=None)
        yield


def require_outputs(out: Path | None, plot_file: Path | None, *, force: bool) -> None:
    """Refuse unwritable or existing files before any work is done."""
    if plot_file is not None:
        plot.require_plot_format(plot_file)
    for path in (out, plot_file):
        if path is not None:
            files.require_writable(path, overwrite=force)
    if out is not None and plot_file is not None and out.resolve() == plot_file.resolve():
        raise FileProblem("plot file", str(plot_file), "differ from the --out file")


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """A plain table; the first ``left`` columns are text, the rest are numbers aligned right."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2))
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="left" if k < left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_certificate(certificate: Certificate, what: str, mechanism: Mechanism | Product) -> None:
    """The interval on the optimum in plain words, the outputs its class is tied to included."""
    basis = "claimed, not proven" if certificate.claimed else "proven in rational arithmetic"
    onto = f" onto {mechanism.outputs}" if certificate.valid_for == IN_CLASS else ""
    bounds = f"[{certificate.lower:.10g}, {certificate.upper:.10g}]"
    console.print(
        f"{what}: {number(certificate.upper)}\n"
        f"  optimum over {certificate.valid_for}{onto}: {bounds} ({basis})\n"
        f"  privacy loss: {certificate.privacy_loss:.12g} (computed exactly, at most eps)",
        soft_wrap=True,
    )


def piece_rows(mechanism: Piecewise) -> list[dict[str, Any]]:
    """The pieces at the lower end, the middle and the upper end of the inputs, as JSON shows them."""
    domain = mechanism.inputs
    rows = []
    for x in (domain.lower, domain.middle, domain.upper):
        pieces = mechanism.pieces(x)
        rows.append({"x": x, "edges": pieces.edges.tolist(), "densities": pieces.densities.tolist()})
    return rows


def print_pieces(mechanism: Piecewise) -> None:
    """The same pieces as a table."""
    rows = []
    outputs = mechanism.outputs
    far = max(abs(outputs.lower), abs(outputs.upper)) / outputs.length
    digits = 6 + max(0, math.ceil(math.log10(far)))
    for row in piece_rows(mechanism):
        spans = zip(row["edges"][:-1], row["edges"][1:], row["densities"], strict=True)
        for k, (start, stop, density) in enumerate(spans):
            place, *ends = (f"{value:.{digits}g}" for value in (row["x"], start, stop))
            rows.append(["" if k else place, *ends, number(density)])
    print_table("Pieces", ["input x", "from", "to", "density"], rows)
    console.print()


def density_figure(mechanism: Mechanism | Product) -> Figure:
    """The picture of a mechanism: its density, or for polar coordinates the density around one input."""
    if isinstance(mechanism, Product):
        inside = [part.inputs.lower + 0.6 * part.inputs.length for part in mechanism.parts]
        return plot.polar_density(mechanism, inside)
    return plot.densities(mechanism)


def number(value: float) -> str:
    """Six significant digits."""
    return f"{value:.6g}"
