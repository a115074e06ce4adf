"""The picture of a design: its mechanism, with what its certificate knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np

from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.directions import DirectionResponse
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.line import line_of
from mechdesign.methods.minimax.proof import MinimaxBound
from mechdesign.methods.prior.proof import BinsBound
from mechdesign.methods.prior.supports import supports
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import as_atoms
from mechdesign.methods.summary import gap_text, name_of
from mechdesign.methods.trade_off.proof import TradeOffBound
from mechdesign.methods.trade_off.supports import capped_of
from mechdesign.methods.words import power_of
from mechdesign.plot.canvas import Floats
from mechdesign.plot.certified import Based, Line, probability_table, window_law
from mechdesign.plot.directions import cosines
from mechdesign.plot.laws import densities, polar_density
from mechdesign.plot.noise import noise_map
from mechdesign.plot.places import places_map
from mechdesign.values.declare import evolved
from mechdesign.words.cells import Cells
from mechdesign.words.domains import Interval
from mechdesign.words.fits.words import Labels
from mechdesign.words.losses import Power
from mechdesign.words.priors import Atoms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CLOSE = 2e-3  # a relative gap that no picture shows
_SPREAD = (np.arange(16) + 0.5) / 16


def of(design: Design) -> Figure:
    """The picture of any mechanism that can be designed, with what its certificate knows."""
    certificate, problem = design.certificate, design.problem
    if isinstance(design.mechanism, JointResponse):
        from mechdesign.plot.joint import joint_design

        return joint_design(design)
    if isinstance(design.mechanism, PeakedResponse | CountedResponse):
        from mechdesign.plot.hidden import hidden_design

        return hidden_design(design)
    mechanism, name = design.mechanism, name_of(design)
    if mechanism.name != name:  # its own name is what a file says
        mechanism = evolved(mechanism, name=name)
    if problem.is_of_plane:
        return places_map(problem, cast(Discrete, mechanism))
    if isinstance(mechanism, Discrete):
        return probability_table(mechanism, names_of(mechanism, problem.words.labels))
    if isinstance(mechanism, DirectionResponse):
        return cosines(mechanism)
    prior = problem.criterion.prior
    if isinstance(mechanism, ConditionalNoise) and isinstance(prior, Atoms):
        return noise_figure(mechanism, prior)
    if not is_based(mechanism):
        return density_figure(mechanism)
    kind = "claimed" if certificate.claimed else "certified"
    is_close = certificate.relative_gap <= _CLOSE
    optimum = f"{kind} optimum" if is_close else f"{kind} upper bound, gap {gap_text(certificate)}"
    criterion = problem.criterion.words
    level = Line(certificate.upper, optimum if criterion.startswith("worst") else f"{optimum} (average)")
    return window_law(mechanism, power_of(problem) or Power(2.0), *_prior_to_draw(design), level, criterion)


def noise_figure(mechanism: ConditionalNoise | UnbiasedWindow, prior: Atoms) -> Figure:
    """Conditional noise as a heat map over a prior on the inputs of a grid."""
    laws = mechanism.rows() if isinstance(mechanism, ConditionalNoise) else mechanism.rows(prior.points)
    title = f"{mechanism.name}, ε = {mechanism.epsilon:g}"
    return noise_map(prior.points, prior.weights, mechanism.points, laws, title)


def density_figure(mechanism: Mechanism | Product) -> Figure:
    """The picture of a mechanism: its density, or for polar coordinates the density around one input."""
    if isinstance(mechanism, Product):
        inside = [part.inputs.lower + 0.6 * part.inputs.length for part in mechanism.parts]
        return polar_density(mechanism, inside)
    return densities(mechanism)


def is_based(mechanism: Mechanism) -> TypeGuard[Based]:
    """Whether a mechanism has finitely many outputs with a base measure under the laws of an interval of inputs."""
    has_base = hasattr(mechanism, "points") and hasattr(mechanism, "base")
    return has_base and isinstance(mechanism.inputs, Interval)


def least_favourable(design: Design) -> Atoms | None:
    """The prior against which no mechanism does better: the weights of the atoms of a worst-case proof."""
    if not isinstance(design.evidence, MinimaxBound):
        return None
    atoms = design.evidence.atoms
    return gathered(atoms.inputs, atoms.weights)


def _prior_to_draw(design: Design) -> tuple[Atoms | None, str | None]:
    """The prior a proof rests on, the least favourable one or the one that was asked about, and a title for it."""
    problem, evidence = design.problem, design.evidence
    if not isinstance(evidence, BinsBound):
        is_capped = isinstance(evidence, TradeOffBound)
        rounded = as_atoms(capped_of(problem).atoms) if is_capped else problem.criterion.prior
        if isinstance(rounded, Atoms):
            return rounded, f"Prior, on {rounded.points.size} inputs"
        return least_favourable(design), None
    cells: Cells = evidence.cells(line_of(problem, supports).prior)
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


def names_of(mechanism: Discrete, labels: Labels | None) -> tuple[Sequence[str], Sequence[str]]:
    """Names of the inputs and of those outputs that are used; without labels, their numbers."""
    if labels is None:
        return [f"{row:g}" for row in mechanism.inputs.points], [f"{column:g}" for column in mechanism.outputs.points]
    return labels[0], [labels[1][int(column)] for column in mechanism.outputs.points]
