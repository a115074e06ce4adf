"""How mechanisms with a base measure are told: outputs, where the mass is, the least-favourable prior, tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.question import Labels, counted, measured_prior
from mechdesign.design import Certificate, Design
from mechdesign.design.minimax.proof import MinimaxBound
from mechdesign.design.prior.proof import BinsBound
from mechdesign.domains import Interval
from mechdesign.losses import Power
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.plot.certified import Based
from mechdesign.plot.noise import noise_map
from mechdesign.priors import Atoms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_MOST_LISTED = 12
_STRETCHES = 10
_CLOSE = 2e-3  # a relative gap that no picture shows
_SPREAD = (np.arange(16) + 0.5) / 16


def is_based(mechanism: Mechanism) -> TypeGuard[Based]:
    """Whether a mechanism has finitely many outputs with a base measure under the laws of an interval of inputs."""
    has_base = hasattr(mechanism, "points") and hasattr(mechanism, "base")
    return has_base and isinstance(mechanism.inputs, Interval)


def is_certified_optimum(mechanism: Mechanism | Product) -> bool:
    """Whether a mechanism is of a kind that only certified optima have."""
    return not isinstance(mechanism, Product) and (isinstance(mechanism, Discrete) or is_based(mechanism))


def least_favourable(certificate: Certificate) -> Atoms | None:
    """The prior against which no mechanism does better: the weights of the atoms of a worst-case proof."""
    evidence = certificate.evidence
    if not isinstance(evidence, MinimaxBound):
        return None
    return gathered(evidence.inputs, evidence.weights)


def _prior_to_draw(certificate: Certificate) -> tuple[Atoms | None, str | None]:
    """The prior a proof rests on, the least favourable one or the one that was asked about, and a title for it."""
    evidence = certificate.evidence
    rounded = measured_prior(certificate)
    if rounded is not None:
        return rounded, f"Prior, on {rounded.points.size} inputs"
    if not isinstance(evidence, BinsBound):
        return least_favourable(certificate), None
    cells = evidence.cells
    if cells.are_atoms:
        return gathered(cells.means, cells.weights), f"Prior: {cells.means.size} values"
    # cells spread evenly over their ranges: their means alone would beat against the bars of a picture
    places = np.concatenate([cells.lows + (cells.highs - cells.lows) * share for share in _SPREAD])
    return gathered(places, np.tile(cells.weights, _SPREAD.size)), f"Prior, known by {cells.means.size} cells"


def gathered(places: Floats, weights: Floats) -> Atoms:
    """Weights on places as a prior: sorted, repeats added up, divided by their sum."""
    points, position = np.unique(places, return_inverse=True)
    masses = np.bincount(position, weights=weights)
    return Atoms(points, masses / masses.sum())


def print_mechanism(mechanism: Mechanism, prior: Atoms | None, labels: Labels | None = None) -> None:
    """Whatever kind of mechanism a certified optimum is."""
    if is_based(mechanism):
        print_based(mechanism, prior)
    elif isinstance(mechanism, Discrete):
        output.console.print()
        print_finite(mechanism, *_names(mechanism, labels))


def figure(
    mechanism: Mechanism | Product,
    certificate: Certificate,
    loss: Power | None,
    criterion: str,
    labels: Labels | None = None,
) -> Figure:
    """The picture of any mechanism that can be designed, with what its certificate knows; ``criterion`` in words."""
    if isinstance(mechanism, Discrete):
        return plot.probability_table(mechanism, _names(mechanism, labels))
    prior = measured_prior(certificate)
    if isinstance(mechanism, ConditionalNoise) and prior is not None:
        return noise_figure(mechanism, prior)
    if isinstance(mechanism, Product) or not is_based(mechanism):
        return output.density_figure(mechanism)
    kind = "claimed" if certificate.claimed else "certified"
    is_close = certificate.relative_gap <= _CLOSE
    optimum = f"{kind} optimum" if is_close else f"{kind} upper bound, gap {output.gap_text(certificate)}"
    level = plot.Line(certificate.upper, optimum if criterion.startswith("worst") else f"{optimum} (average)")
    return plot.window_law(mechanism, loss or Power(2.0), *_prior_to_draw(certificate), level, criterion)


def noise_figure(mechanism: ConditionalNoise | UnbiasedWindow, prior: Atoms) -> Figure:
    """Conditional noise as a heat map over a prior on the inputs of a grid."""
    laws = mechanism.rows() if isinstance(mechanism, ConditionalNoise) else mechanism.rows(prior.points)
    title = f"{mechanism.name}, ε = {mechanism.epsilon:g}"
    return noise_map(prior.points, prior.weights, mechanism.points, laws, title)


def noise_in_words(noise: ConditionalNoise) -> str:
    return (
        f"additive noise: {noise.bins + 1} laws on a grid of step {float(noise.step):.6g}, "
        f"tails of ratio {noise.tail}/{noise.tail + 1} from {noise.reach} steps beyond the inputs"
    )


def print_based(mechanism: Based, prior: Atoms | None) -> None:
    """The outputs and base measure, all of them or by tenths of the range, with the least-favourable prior."""
    if isinstance(mechanism, ConditionalNoise):
        output.console.print(f"{noise_in_words(mechanism)}\n", soft_wrap=True)
        return
    count, total = mechanism.points.size, float(mechanism.base.sum())
    output.console.print(
        f"\nmechanism: {counted(count, 'output')} in [{mechanism.points[0]:.6g}, {mechanism.points[-1]:.6g}], "
        f"base measure of mass {total:.6g}\n"
        "  every output has at least its base probability; the rest goes to the outputs around the input,\n"
        f"  at most e^{mechanism.epsilon:g} times the base each\n",
        soft_wrap=True,
    )
    if count <= _MOST_LISTED:
        rows = [
            [f"{place:.10g}", output.number(mass)] for place, mass in zip(mechanism.points, mechanism.base, strict=True)
        ]
        output.print_table("Outputs", ["output", "base"], rows, left=0)
        output.console.print()
    if prior is not None and prior.points.size <= _MOST_LISTED:
        rows = [[f"{place:.10g}", output.number(mass)] for place, mass in zip(prior.points, prior.weights, strict=True)]
        output.print_table("Least-favourable prior", ["input", "weight"], rows, left=0)
        output.console.print()
    _print_stretches(mechanism, prior)


def _print_stretches(mechanism: Based, prior: Atoms | None) -> None:
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
    output.print_table("Where the mass is", ["from", "to", *(name for name, _ in columns)], rows, left=0)
    output.console.print()


def _names(mechanism: Discrete, labels: Labels | None) -> tuple[Sequence[str], Sequence[str]]:
    """Names of the inputs and of those outputs that are used; without labels, their numbers."""
    if labels is None:
        return [f"{row:g}" for row in mechanism.inputs.points], [f"{column:g}" for column in mechanism.outputs.points]
    return labels[0], [labels[1][int(column)] for column in mechanism.outputs.points]


def print_finite(mechanism: Discrete, row_names: Sequence[str], column_names: Sequence[str]) -> None:
    """A finite mechanism's table if it is small, else how large it is and which outputs are used most."""
    table = np.asarray(mechanism.probabilities)
    rows, columns = table.shape
    if rows <= _MOST_LISTED and columns <= _MOST_LISTED:
        lines = [[name, *(f"{value:.6f}" for value in row)] for name, row in zip(row_names, table, strict=True)]
        output.print_table("Probability of each output (column) for each input (row)", ["", *column_names], lines)
    else:
        share = table.mean(axis=0)
        best = np.argsort(-share)[:_MOST_LISTED]
        lines = [
            [column_names[j], f"{share[j]:.6f}", f"{table[:, j].min():.3g}", f"{table[:, j].max():.3g}"] for j in best
        ]
        title = f"{counted(rows, 'input')}, {counted(columns, 'output')}; those used most"
        output.print_table(title, ["output", "mean probability", "least", "most"], lines)
    output.console.print()


def mechanism_fields(mechanism: Mechanism) -> dict[str, Any]:
    """Outputs and base measure for JSON, whatever the kind of mechanism: ``base`` is under every law."""
    if is_based(mechanism):
        return {"outputs": mechanism.points.tolist(), "base": mechanism.base.tolist()}
    if isinstance(mechanism, Discrete):
        return {"outputs": list(mechanism.outputs.points), "base": mechanism.probabilities.min(axis=0).tolist()}
    return {}


def prior_fields(prior: Atoms | None) -> dict[str, Any]:
    """What JSON says about a least-favourable prior, if there is one."""
    if prior is None:
        return {}
    return {"least_favourable": {"points": prior.points.tolist(), "weights": prior.weights.tolist()}}


def document(design: Design) -> dict[str, Any]:
    """A design as JSON shows it."""
    mechanism = design.mechanism
    assert not isinstance(mechanism, Product)
    fields = design.to_dict()
    fields["mechanism"] |= mechanism_fields(mechanism)
    return fields | prior_fields(least_favourable(design.certificate))
