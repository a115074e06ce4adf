"""An answer that is always the same place keeps every hotspot.

Chapter 6 counts the hotspots that a report loses, ``CD = sum 1[t in H] - sum 1[t in H and t' in H]``, and reads a
smaller CD as better. What is reported *at* a hotspot by those who are elsewhere does not count. So the constant answer
"the busiest point" tells nothing and has CD = 0, less than any mechanism that follows the places.

Ours is the package's CD of that answer; the reference is that of k-RR on 100 points at eps = 8, which keeps a visit
with ``(e^eps + h - 1) / (e^eps + 99)`` for h hotspots. Ours is the smaller number.

From: Refined mechanism design, section 6.3.2 (chapter 6), figure 6.10; erratum 13.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import at_most
from mechdesign.papers.gallery.reference import Floats
from mechdesign.studies.places.metrics import busiest_points, hotspots_lost
from mechdesign.studies.places.paths import Paths, uniform_paths
from mechdesign.studies.places.regions import Rectangle

CHAPTER = "Directions and places"
TOLERANCE = at_most(0.0)
SIDE, SHARE, EPSILON = 10, 0.2, 8.0
ACROSS = (np.arange(SIDE) + 0.5) / SIDE
POINTS = np.column_stack([np.repeat(ACROSS, SIDE), np.tile(ACROSS, SIDE)])
WALKS = uniform_paths(Rectangle(0, 1, 0, 1), 20, 50, np.random.default_rng(13))
HOTSPOTS = busiest_points(WALKS, POINTS, SHARE)


def visits() -> float:
    """How many locations of a path are at a hotspot, on average."""
    nearest = [int(np.argmin(np.hypot(*(POINTS - place).T))) for place in WALKS.places]
    return float(np.isin(nearest, HOTSPOTS).sum() / len(WALKS))


def lost_by_answering(epsilon: float | Floats) -> float | Floats:
    return visits() * (SIDE**2 - HOTSPOTS.size) / (np.exp(epsilon) + SIDE**2 - 1)


def answer() -> tuple[float, float]:
    constant = Paths(np.broadcast_to(POINTS[HOTSPOTS[0]], WALKS.places.shape), WALKS.starts)
    return float(hotspots_lost(WALKS, constant, POINTS, HOTSPOTS).mean()), float(lost_by_answering(EPSILON))


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.5, 10, 60)
    axes.plot(epsilons, lost_by_answering(epsilons), label="k-RR on 100 points")
    axes.axhline(answer()[0], color="black", linestyle="--", label="always the busiest point")
    axes.set(title="Hotspots lost, 50 uniform places a path", xlabel="eps of a location", ylabel="CD (visits a path)")
    axes.set_ylim(bottom=-0.3)
    axes.legend()
