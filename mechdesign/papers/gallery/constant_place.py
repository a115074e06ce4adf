"""At eps = 2 both TraCS mechanisms are farther off than the answer "the centre".

A constant answer is perfectly private. In the unit square the centre is ``(sqrt 2 + ln(1 + sqrt 2)) / 6 = 0.383``
away from a uniform place on average. TraCS-C and TraCS-D at eps = 2 are farther off.

Ours is the smaller one of their average errors by simulation (200,000 locations, standard error 0.0006); the
reference is the formula. Ours is the larger number.

From: Refined mechanism design, section 6.3.1 (chapter 6); erratum 13.
"""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import at_least
from mechdesign.studies.places.metrics import average_error
from mechdesign.studies.places.paths import uniform_paths
from mechdesign.studies.places.regions import Rectangle
from mechdesign.studies.places.tracs import PathMechanism, tracs_c, tracs_d

CHAPTER = "Directions and places"
TOLERANCE = at_least(0.0)
SQUARE = Rectangle(0, 1, 0, 1)


def simulated(epsilon: float, make: Callable[[Rectangle, float], PathMechanism] = tracs_c, paths: int = 2000) -> float:
    rng = np.random.default_rng(6)
    places = uniform_paths(SQUARE, paths, 100, rng)
    return float(average_error(places, make(SQUARE, epsilon).perturb(places, rng)).mean())


def answer() -> tuple[float, float]:
    return min(simulated(2.0), simulated(2.0, tracs_d)), float((np.sqrt(2) + np.log(1 + np.sqrt(2))) / 6)


def picture(axes: Axes) -> None:
    epsilons = np.arange(1, 11)
    for make, name, style in ((tracs_c, "TraCS-C", "o-"), (tracs_d, "TraCS-D", "s--")):
        axes.plot(epsilons, [simulated(float(e), make, 100) for e in epsilons], style, label=name)
    axes.axhline(answer()[1], color="black", linewidth=0.8, label="always the centre")
    axes.set(title="Average error in the unit square", xlabel="eps of a location", ylabel="error (sides of the square)")
    axes.set_ylim(bottom=0)
    axes.legend()
